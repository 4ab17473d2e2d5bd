//! `lossdepth score`: from tables to scores.

mod job;
mod passes;

use super::announce::{self, Tally};
use super::inputs::{note_unused, open_both};
use super::labels::{Judge, Labels};
use super::model::Saved;
use super::{Outcome, fit, learn, open, tell};
use crate::args::{Asked, Running, at_least_one};
use crate::console;
use crate::error::{Error, Result};
use crate::load::{Block, Columns, Table, fitting, pair};
use crate::write::Target;
use clap::Args;
use job::{Job, Names, Scorer};
use lossdepth::data::Encoding;
use lossdepth::model::Percentiles;
use lossdepth::{Model, Run};
use std::path::{Path, PathBuf};
use std::time::Instant;

// One line a paragraph: clap wraps them.
const SCORE_NOTES: &str = "\
Files are CSV (commas, semicolons, tabs or bars; UTF-8, UTF-16, Windows-1252), Excel, OpenDocument, JSON (objects, one a line or in an array), ARFF, Parquet, Arrow (Feather), \
NPY, NPZ, MAT 5 or IDX, told by their content; all may be gzipped. A first line of numbers is data, any other is the header. \
Columns are called by name or by number, from 0; those of arrays have numbers only. NPZ and MAT files have the table in `X` \
and the label in `y`; IDX images have their labels in the file next to them. With --reference or --model the data is read piece by \
piece and may be of any size. So may the reference with `--reference-rows passes`, for logistic, squared-hinge, exponential and svm: it is \
read several times, what columns hold is found from its first 65,536 rows, and percentiles are those of a sample.

What a column holds is found by its content and told on standard error: numbers (also with currency signs, percent, thousands), \
categories, yes or no, dates; a column of ids names the rows, free text is left out. --as says otherwise. A category weighs as much \
as one column of numbers. With --reference or --model the other table decides, and columns are matched by name in any order. A row \
with gaps is compared on what it has; --missing does something else.

The output has one line a row, in order: row (from 0, or the id), depth, error (a proven bound on how far the \
depth is from the exact one), stderr (how much it would vary from sample to sample; empty for auto and forest, and far \
out for potential, zonoid and simplicial), percentile (the share of the reference \
that is at most as deep; of a reference of more than 5,000 rows so many stand for all), then outlier (1 or 0), p and q where \
asked for, the label if given, and with --keep all columns of the table as they were. --top K writes the K shallowest rows, the \
shallowest first. Numbers have six digits on a terminal and all digits in files and pipes.

--contamination draws the line where that share of the reference is below it, as scikit-learn does. --p-values compares with \
the reference whatever its distribution: p is the chance that a row from where the reference came from is as shallow as this \
one. `split` is exact and sets half of the reference aside to calibrate a model of the other half; `cross` (ten folds) and \
`leave-one-out` use all of it, take as many fits, and are approximate: the worst known, halfspace with very heavy tails, has \
p at most 0.2 in 23 to 25 % of normal rows. Data that is its own reference gets exact p-values by \
rank, without another fit; but ranks are the same whatever the data, so --fdr needs a reference. With --fdr, q is the smallest \
false discovery rate at which a row is chosen (Benjamini and Hochberg), and outlier says whether that is at most the rate given.

With a label of two values the AUC-ROC is printed on standard error: the chance that an outlier has a lower depth \
than another row, ties counted half. The outlier is 1 of {0, 1}; else a word like `outlier`, `anomaly`, `fault` or \
`true`; else the rarer value.

Exit codes: 0 done, 1 done but some rows did not converge, 2 failed.

Examples:
  lossdepth score data.csv --top 20 --keep
  lossdepth score orders.xlsx --sheet 2 --as zip=category,customer=text --missing drop
  lossdepth score new.csv --reference old.csv --out scores.csv.gz
  lossdepth score new.csv --model model.safetensors
  lossdepth score data.csv --contamination 0.05
  lossdepth score new.csv --reference old.csv --p-values=leave-one-out --fdr 0.1
  lossdepth score data.csv --id id --label y --reg 0.01 --out scores.json
  lossdepth score large.parquet --reference old.parquet --columns a,b,c --out scores.parquet
  lossdepth score new.csv --reference huge.parquet --method logistic --reference-rows passes
  zcat data.csv.gz | lossdepth score - --columns a,b,c --method hinge | sort -t, -gk2 | head";

/// Score the rows of a table: one depth a row, high is central, low is outlying
#[derive(Debug, Args)]
#[command(after_help = SCORE_NOTES)]
pub(crate) struct Score {
    /// The table to score; `-` is standard input
    pub(crate) data: PathBuf,

    #[command(flatten)]
    pub(crate) asked: Asked,

    #[command(flatten)]
    pub(crate) labels: Labels,

    /// Write to this file: .csv, .tsv or .json (with .gz or not), .parquet, .arrow; `-` is CSV to standard output
    ///
    /// The file appears when all rows are done, or not at all.
    #[arg(long, value_name = "FILE", value_parser = Target::parse, default_value = "-", help_heading = "Output")]
    pub(crate) out: Target,

    /// Write the K shallowest rows only, the shallowest first
    #[arg(long, short = 'k', value_name = "K", value_parser = at_least_one, allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) top: Option<usize>,

    /// Write all columns of the table too, as they are in the file
    #[arg(long, help_heading = "Output")]
    pub(crate) keep: bool,

    /// Leave the percentile out, for which rows of a reference or an older model have to be scored
    #[arg(long, help_heading = "Output")]
    pub(crate) no_percentile: bool,

    #[command(flatten)]
    pub(crate) running: Running,
}

impl Score {
    /// The columns of the data, with those that are copied.
    fn columns(&self, columns: Columns, data: &Table) -> Columns {
        if self.keep { columns.keeping(data) } else { columns }
    }
}

/// How many rows are scored, and held in memory, at a time.
const PIECE: usize = 1 << 16;

pub(crate) fn score(args: &Score) -> Result<Outcome> {
    let started = Instant::now();
    args.labels.check(args.asked.against.reference.is_some() || args.asked.against.model.is_some())?;
    if matches!(args.out, Target::Standard) && !args.running.quiet && lossdepth_files::is_stdout_discarded() {
        console::warning(format_args!(
            "standard output is closed or /dev/null: the scores are not kept; --out writes them to a file"
        ));
    }
    let read = [Some(&args.data), args.asked.against.reference.as_ref(), args.asked.against.model.as_ref()];
    if read.into_iter().flatten().any(|path| args.out.is(path)) {
        return Err(Error::Usage(format!(
            "{}: cannot be read and written at once; --out needs another name",
            args.out.name()
        )));
    }
    let job = match (&args.asked.against.model, &args.asked.against.reference) {
        (None, reference) if passes::is_asked_for(args)? => {
            passes::score_by_passes(args, reference.as_ref().unwrap_or(&args.data))?
        }
        (Some(model), _) => score_by(args, model)?,
        (None, Some(reference)) => score_against(args, reference)?,
        (None, None) => score_itself(args)?,
    };
    job.finish(started)
}

/// The data is its own reference: all of it is in memory.
fn score_itself(args: &Score) -> Result<Job<'_>> {
    args.asked.question.check()?;
    let mut table = open(&args.data, &args.asked.roles, args.running.quiet)?;
    let columns = args.columns(Columns::of(&table, &args.asked.roles)?, &table);
    let (encoding, block) = learn(&mut table, &columns, &args.asked.roles, args.running.quiet)?;
    let mut block = block.encoded();
    let sample = block.reference(&encoding);
    let locate = |error| block.locate(&table, &columns, &encoding, error);
    let question = args.asked.question.or_sampled(block.len());
    let model = fit(&question, &sample.map_err(locate)?, &encoding)?.map_err(locate)?;
    let all = block.whole()?;
    let judge = Judge::of_own(&args.labels, block.weights())?;
    let mut names = Names::of(&table, &columns, &encoding);
    names.ids = all.ids.is_some();
    let mut job = Job::new(args, Scorer::Model(Box::new(model)), judge, names, Some(all.rows.len()))?;
    (job.own, job.weights) = (true, block.weights().map(<[f64]>::to_vec));
    job.reference = all.rows.len();
    for part in all.pieces(PIECE) {
        job.score(&part, locate)?;
    }
    Ok(job)
}

/// The data goes by piece by piece.
fn score_against<'a>(args: &'a Score, path: &Path) -> Result<Job<'a>> {
    args.asked.question.check()?;
    let quiet = args.running.quiet;
    let (mut reference, mut data) = open_both(path, &args.data, &args.asked.roles, quiet)?;
    let ours = Columns::of_reference(&reference, &data, &args.asked.roles)?;
    let (encoding, sample) = learn(&mut reference, &ours, &args.asked.roles, quiet)?;
    let mut sample = sample.encoded();
    // Before the work is done.
    let theirs = args.columns(pair(&reference, &ours, &data, &args.asked.roles, &encoding)?, &data);
    note_unused(&data, &theirs, &args.asked.roles, &encoding, reference.file(), quiet);
    let rows = sample.reference(&encoding);
    let locate = |error| sample.locate(&reference, &ours, &encoding, error);
    let model = fit(&args.asked.question, &rows.map_err(locate)?, &encoding)?.map_err(locate)?;
    let reference = sample.len();
    drop(sample);
    let shares = shares(args, &model)?;
    let judge = Judge::of_others(&args.labels, &model, args.running)?;
    let names = Names::of(&data, &theirs, &encoding);
    let mut job = Job::new(args, Scorer::Model(Box::new(model)), judge, names, None)?;
    (job.shares, job.reference) = (shares, reference);
    stream(job, &mut data, &theirs, &encoding)
}

/// The reference is in a model file; the data goes by piece by piece.
fn score_by<'a>(args: &'a Score, path: &Path) -> Result<Job<'a>> {
    let saved = Saved::open(path)?;
    let mut data = open(&args.data, &args.asked.roles, args.running.quiet)?;
    let (encoding, named) = saved.encoding(&args.asked.roles)?;
    let columns = args.columns(fitting(&data, &args.asked.roles, &encoding, named, saved.file())?, &data);
    note_unused(&data, &columns, &args.asked.roles, &encoding, saved.file(), args.running.quiet);
    let mut names = Names::of(&data, &columns, &encoding);
    if !named {
        names.features = columns.names(&data);
    }
    let model = saved.model(args.asked.question.given.memory())?;
    let shares = shares(args, &model)?;
    let judge = Judge::of_others(&args.labels, &model, args.running)?;
    let mut job = Job::new(args, Scorer::Model(Box::new(model)), judge, names, None)?;
    job.shares = shares;
    stream(job, &mut data, &columns, &encoding)
}

/// How deep the reference is, unless nobody wants to know.
fn shares(args: &Score, model: &Model) -> Result<Option<Percentiles>> {
    if args.no_percentile {
        return Ok(None);
    }
    let threads = args.running.threads.map(usize::from);
    let known = model.percentiles(&Run { threads, ..Run::default() })?;
    announce::percentiles(model.reference_len(), args.running.quiet);
    Ok(Some(known.clone()))
}

/// Scores the data to its end, a piece at a time.
fn stream<'a>(mut job: Job<'a>, data: &mut Table, columns: &Columns, encoding: &Encoding) -> Result<Job<'a>> {
    let quiet = job.args.running.quiet;
    let mut tally = Tally::default();
    loop {
        let piece = data.read(columns, PIECE)?;
        job.progress.aside(|| tell(data.file(), &piece.notes, quiet));
        if piece.is_empty() {
            job.progress.aside(|| tally.tell(data.file(), encoding, quiet));
            return Ok(job);
        }
        let block = Block::encode(data, columns, piece, encoding)?.encoded();
        tally.add(&block.notes);
        job.score(&block.whole()?, |error| block.locate(data, columns, encoding, error))?;
    }
}
