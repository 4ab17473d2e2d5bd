//! The command line of `lossdepth`: score the rows of a table by how hard they are to tell apart from the data.
//!
//! `args` → `load` → `commands` → `write`, with `auc` for labels and `console` for messages on standard error. Depths are
//! computed by the crate `lossdepth`, figures are drawn by `lossdepth-plot`, the paper's experiments are in
//! `lossdepth-reproduce`.
//!
//! The program is this library's [`run`]; it is a library so that tests can reach what reads files.

mod args;
mod auc;
mod commands;
mod console;
mod error;
mod load;
mod method_list;
mod settings;
mod short_help;
mod suggest;
#[doc(hidden)]
pub mod testing;
mod write;

use args::Command;
use commands::{
    Outcome, central, compare, evaluate, explain, fit, info, methods, outliers, plot, report, reproduce,
    score, shell,
};
use std::process::ExitCode;

/// Does what the arguments of this process ask for.
///
/// Exit codes: 0 done, 1 done but some rows did not converge, 2 failed.
pub fn run() -> ExitCode {
    let result = match short_help::parse().command {
        Command::Outliers(args) => outliers::outliers(&args),
        Command::Report(args) => report::report(&args),
        Command::Score(args) => score::score(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Plot(args) => plot::plot(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Central(args) => central::run(&args),
        Command::Evaluate(args) => evaluate::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Methods => methods::list(),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::manual(&args),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotConverged) => ExitCode::from(1),
        // Whoever reads the output has seen enough.
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            console::error(&error);
            ExitCode::from(2)
        }
    }
}
