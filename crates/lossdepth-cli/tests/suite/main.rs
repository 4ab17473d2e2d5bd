//! All tests of the program as its users run it, in one program: it is linked once.

mod behaviour;
mod common;
mod evaluate;
mod formats;
mod hostile;
mod kernels;
mod models;
mod shell;
