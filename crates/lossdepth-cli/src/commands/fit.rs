//! `lossdepth fit`: from a table to a model file.

use super::{Outcome, announce, fit, learn, open, parts, summary};
use crate::args::{Question, Roles};
use crate::console;
use crate::error::{Error, Result, bytes, count};
use crate::load::Columns;
use crate::write::Whole;
use clap::Args;
use lossdepth::model::archive::Archive;
use lossdepth::{Run, Settings};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Instant;

const NOTES: &str = "\
The file holds the reference, its weights, what was learned to scale it, the method with its settings, the names of the \
columns, and the depths of up to 5,000 rows of the reference for the percentiles (unless --no-percentile), in the safetensors format: no code, nothing is executed when it is read. `lossdepth score --model` and Python's \
`lossdepth.load` give the same depths as with the reference itself, to the last bit on the same machine; `lossdepth info` \
shows what is in it.

Examples:
  lossdepth fit clean.csv --method svm --scale standard --reg 0.01 --out model.safetensors
  lossdepth score new.csv --model model.safetensors
  lossdepth fit clean.csv --columns a,b,c --weights w --out model.safetensors
  lossdepth fit monday.csv --partial --out monday.part          a table in pieces:
  lossdepth fit tuesday.csv --partial --out tuesday.part
  lossdepth fit --merge monday.part tuesday.part --out model.safetensors";

/// Fit a model to a table and save it, for other tables to be scored with
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
#[expect(clippy::struct_excessive_bools, reason = "flags")]
pub(crate) struct Fit {
    /// The table to compare with later; `-` is standard input. With --merge, parts
    #[arg(required = true, value_name = "REFERENCE")]
    pub(crate) reference: Vec<PathBuf>,

    /// Write a part of a reference, for --merge: its rows, or a sample of 20,000 (--reference-rows) if there are more
    ///
    /// The sample depends on the rows and on --seed only, not on their order or on how they are divided into parts. What
    /// columns hold is decided when parts are merged. To move a window, keep a part for each piece of it.
    #[arg(long, help_heading = "Parts")]
    pub(crate) partial: bool,

    /// Fit to the rows of several parts, or with --partial make one part of them
    #[arg(long, help_heading = "Parts")]
    pub(crate) merge: bool,

    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) roles: Roles,

    /// Write to this file: .safetensors, or .part with --partial
    ///
    /// The file appears when it is complete, or not at all.
    #[arg(long, value_name = "FILE", required = true, help_heading = "Output")]
    pub(crate) out: PathBuf,

    /// Do not score the reference for the percentiles: a faster fit, and a smaller file that older versions read
    #[arg(long, help_heading = "Output")]
    pub(crate) no_percentile: bool,

    /// Show no summary; warnings and errors remain
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}

/// Refuses a name that would mislead.
fn check_target(args: &Fit) -> Result<()> {
    let wanted = if args.partial { "part" } else { "safetensors" };
    let extension = args.out.extension().map(OsStr::to_ascii_lowercase);
    if extension.is_some_and(|extension| extension == wanted) {
        return Ok(());
    }
    let (name, with) = (args.out.display(), if args.partial { " with --partial" } else { "" });
    Err(Error::Usage(format!("`--out {name}`: the name must end in .{wanted}{with}")))
}

pub(crate) fn run(args: &Fit) -> Result<Outcome> {
    let started = Instant::now();
    check_target(args)?;
    if args.partial {
        return parts::partial(args);
    }
    if args.merge {
        return parts::merge(args);
    }
    let [reference] = &args.reference[..] else {
        return Err(Error::Usage(
            "`fit` takes one table; tables in pieces become parts with --partial, and a model with --merge"
                .to_owned(),
        ));
    };
    args.question.check()?;
    let mut table = open(reference, &args.roles, args.quiet)?;
    let columns = Columns::of(&table, &args.roles)?;
    let (encoding, block) = learn(&mut table, &columns, &args.roles, args.quiet)?;
    let mut block = block.encoded();
    // What cannot be written is known before the work is done.
    let out = Whole::open(&args.out)?;
    let sample = block.reference(&encoding);
    let locate = |error| block.locate(&table, &columns, &encoding, error);
    let model = fit(&args.question, &sample.map_err(locate)?, &encoding)?.map_err(locate)?;
    drop(block);
    if let Some(warning) = model.warning() {
        console::warning(warning);
    }
    announce::subsample(model.settings(), model.reference_len(), args.quiet);
    if !args.no_percentile {
        model.percentiles(&Run::default())?;
        announce::percentiles(model.reference_len(), args.quiet);
    }
    // How much memory this machine has does not belong in the file.
    let settings = Settings { memory: args.question.given.memory(), ..model.settings().clone() };
    let mut archive = Archive::of(&model).memory(settings.memory);
    let (rows, width) = (count(model.reference_len(), "row"), count(encoding.columns().len(), "column"));
    drop(model);
    if table.has_header() && encoding.is_plain() {
        archive = archive.columns(columns.names(&table))?;
    }
    let file = archive.to_bytes()?;
    out.write(&file)?;
    let (name, size) = (args.out.display(), bytes(file.len()));
    let (settings, seconds) = (summary(&settings), started.elapsed().as_secs_f64());
    console::note(args.quiet, format_args!("{name}: {rows} in {width}: {settings}; {size}, {seconds:.2} s"));
    Ok(Outcome::Done)
}
