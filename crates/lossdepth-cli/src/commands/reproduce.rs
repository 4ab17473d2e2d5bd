//! `lossdepth reproduce`: the experiments of the paper.

use super::Outcome;
use crate::args::Running;
use crate::console;
use crate::error::{Result, count};
use crate::reproduce::{Experiment, Table, Workshop};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Instant;

const NOTES: &str = "\
Every experiment becomes a Markdown page with the paper's printed numbers beside ours, CSV files with all digits, and \
PNG and SVG pictures, in the folder --out. Both readings of the paper are run: its definitions (--preset paper) and what its \
scripts do (--preset paper-code).

The folder --data has odds/*.mat, adbench/14_glass.npz, adbench/21_Lymphography.npz, and mnist/ and fashion-mnist/ with their \
IDX files. Experiments on simulated data need none.

What is finished is kept in the folder cells of --out: a run that was interrupted goes on where it was, and a cell is \
computed again only if its settings, its data or the version of lossdepth change. Numbers do not depend on threads or on interruptions.

Examples:
  lossdepth reproduce odds --data data --out results
  lossdepth reproduce ranking contamination --out results
  lossdepth reproduce all --data data --out results
  lossdepth reproduce all --quick --out trial            everything in two minutes, on made-up data";

/// Redo the experiments of the paper: tables, figures, and what differs
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct Reproduce {
    /// Which experiments
    #[arg(required = true, value_name = "WHAT", value_enum)]
    pub(crate) what: Vec<What>,

    /// The folder with the data sets
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,

    /// The folder for the results [default: reproduction, or reproduction-quick]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Do little of everything, to see that it works; on made-up data where --data is not given
    #[arg(long)]
    pub(crate) quick: bool,

    /// Compute finished cells again
    #[arg(long)]
    pub(crate) fresh: bool,

    #[command(flatten)]
    pub(crate) running: Running,
}

/// An experiment, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    One(Experiment),
    All,
}

impl ValueEnum for What {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [What; Experiment::ALL.len() + 1] = {
            let mut all = [What::All; Experiment::ALL.len() + 1];
            let mut i = 0;
            while i < Experiment::ALL.len() {
                all[i] = What::One(Experiment::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(match self {
            Self::One(experiment) => {
                clap::builder::PossibleValue::new(experiment.name()).help(experiment.summary())
            }
            Self::All => clap::builder::PossibleValue::new("all").help("All of them"),
        })
    }
}

pub(crate) fn run(args: &Reproduce) -> Result<Outcome> {
    let usual = if args.quick { "reproduction-quick" } else { "reproduction" };
    let out = args.out.clone().unwrap_or_else(|| usual.into());
    let shop = Workshop {
        quick: args.quick,
        fresh: args.fresh,
        quiet: args.running.quiet,
        threads: args.running.threads.map(usize::from),
        ..Workshop::new(args.data.clone(), out)
    };
    let asked = |experiment: &Experiment| {
        args.what.iter().any(|what| matches!(what, What::All) || *what == What::One(*experiment))
    };
    let mut index = Table::new(["experiment", "cells", "seconds"]);
    for experiment in Experiment::ALL.into_iter().filter(asked) {
        let (started, name) = (Instant::now(), experiment.name());
        experiment.run(&shop)?.write(&shop, name)?;
        let tally = shop.take_tally();
        let (page, seconds) = (shop.out.join(format!("{name}.md")), started.elapsed().as_secs_f64());
        let cells = count(tally.computed + tally.kept, "cell");
        let (page, computed) = (page.display(), tally.computed);
        console::note(
            shop.quiet,
            format_args!("{page}: {cells}, {computed} of them computed now; {seconds:.1} s"),
        );
        let cells = (tally.computed + tally.kept).to_string();
        index.row([format!("[{name}]({name}.md)"), cells, format!("{:.1}", tally.seconds)]);
    }
    crate::reproduce::index(index).write(&shop, "index")?;
    Ok(Outcome::Done)
}
