//! `lossdepth reproduce`: the experiments of the paper.

use super::Outcome;
use crate::args::{Roles, Running};
use crate::console::{self, Progress};
use crate::error::{Error, Problem, Result};
use crate::load::{Block, Columns, Reading, Table, is_numeric};
use crate::write;
use clap::{Args, ValueEnum};
use lossdepth::data::{EncodingOptions, Missing};
use lossdepth_reproduce::{Data, Experiment, Host, HostError, Options};
use std::fs;
use std::path::{Path, PathBuf};

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
    let default = if args.quick { "reproduction-quick" } else { "reproduction" };
    let options = Options {
        data: args.data.clone(),
        out: args.out.clone().unwrap_or_else(|| default.into()),
        quick: args.quick,
        fresh: args.fresh,
        threads: args.running.threads.map(usize::from),
        memory: lossdepth_files::memory::half(),
    };
    let asked = |experiment: &Experiment| {
        args.what.iter().any(|what| matches!(what, What::All) || *what == What::One(*experiment))
    };
    let experiments: Vec<Experiment> = Experiment::ALL.into_iter().filter(asked).collect();
    lossdepth_reproduce::run(&experiments, options, &Program { quiet: args.running.quiet })?;
    Ok(Outcome::Done)
}

/// What the experiments use of this program: its file formats, its way to write files, its messages.
struct Program {
    quiet: bool,
}

impl Host for Program {
    fn load(&self, path: &Path) -> Result<Data, HostError> {
        Ok(load(path)?)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError> {
        if let Some(folder) = path.parent() {
            let file = folder.display().to_string();
            fs::create_dir_all(folder).map_err(|source| Error::Output { file, source })?;
        }
        Ok(write::whole(path, bytes)?)
    }

    fn note(&self, text: &str) {
        console::note(self.quiet, text);
    }

    fn progress(&self, rows: Option<usize>) -> Box<dyn Fn(usize) + Sync + '_> {
        let progress = Progress::new(self.quiet, rows);
        Box::new(move |rows| progress.advance(rows))
    }
}

/// Reads a file of a format that has labels of its own.
fn load(path: &Path) -> Result<Data> {
    let roles = Roles { missing: Missing::Error, ..Roles::default() };
    let mut table = Table::open(path, &Reading::default())?;
    let columns = Columns::of(&table, &roles)?;
    let options = EncodingOptions { guess: false, ..columns.options(&table, &roles)? };
    let piece = table.read(&columns, usize::MAX)?;
    let (encoding, block) = Block::learn(&table, &columns, piece, &options)?;
    let all = block.whole()?;
    if !is_numeric(&encoding) {
        return Err(table.problem(Problem::Unsupported("the experiments are on numbers alone".to_owned())));
    }
    let labels = all.labels.unwrap_or_default().iter().map(|label| class(label));
    let labels = labels.collect::<Option<Vec<u8>>>().filter(|labels| labels.len() == all.rows.len());
    let Some(labels) = labels else {
        let problem = "there must be a label for each row, a whole number from 0 to 255".to_owned();
        return Err(table.problem(Problem::Unsupported(problem)));
    };
    Ok(Data::new(all.rows.iter().flatten().copied().collect(), all.rows.width(), labels)?)
}

/// A label as the number of a class.
fn class(label: &str) -> Option<u8> {
    let number: f64 = label.parse().ok()?;
    (0..=u8::MAX).find(|class| f64::from(*class) == number)
}
