//! All tests of the program as its users run it, in one program: it is linked once.

mod behaviour;
mod build;
mod common;
mod compare;
mod defaults;
mod evaluate;
mod explain;
mod formats;
mod fuzz;
mod hostile;
mod hostile_parquet;
mod interrupts;
mod kernels;
mod limits;
mod messy;
mod models;
mod parts;
mod passes;
mod plot;
mod report;
mod reproduce;
mod reproduce_figures;
mod shell;
mod special_files;
mod tables;
