//! All tests of the program as its users run it, in one program: it is linked once.

mod behaviour;
mod build;
mod common;
mod evaluate;
mod formats;
mod fuzz;
mod hostile;
mod kernels;
mod models;
mod shell;
mod tables;
