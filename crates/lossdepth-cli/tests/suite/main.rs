//! All tests of the program as its users run it, in one program: it is linked once.

mod behaviour;
mod common;
mod explain;
mod formats;
mod hostile;
mod kernels;
mod models;
mod plot;
mod shell;
