//! `lossdepth score`: from tables to scores.

use super::model::Saved;
use super::{Outcome, fit, open, summary};
use crate::args::{FromModel, Question, Roles, Running};
use crate::auc::{Auc, Classes};
use crate::console::{self, Progress};
use crate::error::{Error, Result, count};
use crate::load::{Columns, Part, Table, fitting, list, pair};
use crate::write::{About, Field, Kind, Output, Target, Values, score_fields, scores};
use clap::Args;
use lossdepth::{DepthError, Fit, Model, Run, Settings, Stop};
use std::path::{Path, PathBuf};
use std::time::Instant;

// One line a paragraph: clap wraps them.
const SCORE_NOTES: &str = "\
Files are CSV with commas, semicolons or tabs, in UTF-8, gzipped or not. A first line of numbers is data, any \
other is the header. Columns are called by name or by number, from 0. Missing values are errors.

The output has one line a row, in order: row (from 0, or the id), depth, error (a proven bound on how far the \
depth is from the exact one), stderr (how much it would vary from sample to sample), and the label if given.

With a label of two values the AUC-ROC is printed on standard error: the chance that an outlier has a lower depth \
than another row, ties counted half. The outlier is 1 of {0, 1}; else a word like `outlier`, `anomaly`, `fault` or \
`true`; else the rarer value.

Exit codes: 0 done, 1 done but some rows did not converge, 2 failed.

Examples:
  lossdepth score data.csv --scale standard
  lossdepth score new.csv --reference old.csv --out scores.csv.gz
  lossdepth score new.csv --model model.safetensors
  lossdepth score data.csv --id id --label y --reg 0.01 --out scores.json
  zcat data.csv.gz | lossdepth score - --columns a,b,c --method hinge | sort -t, -gk2 | head";

/// Score the rows of a table: one depth a row, high is central, low is outlying
#[derive(Debug, Args)]
#[command(after_help = SCORE_NOTES)]
pub(crate) struct Score {
    /// The table to score; `-` is standard input
    pub(crate) data: PathBuf,

    /// The table to compare with [default: the data itself]
    ///
    /// Columns are matched by name if both tables have a header, by position otherwise. The data is then read
    /// piece by piece and may be of any size.
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) from: FromModel,

    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) roles: Roles,

    /// Write to this file: .csv, .tsv or .json, and .gz after it [default: CSV to standard output]
    ///
    /// The file appears when all rows are done, or not at all.
    #[arg(long, value_name = "FILE", value_parser = Target::parse, help_heading = "Output")]
    pub(crate) out: Option<Target>,

    #[command(flatten)]
    pub(crate) running: Running,
}

/// How many rows are scored, and held in memory, at a time.
const PIECE: usize = 1 << 16;

pub(crate) fn score(args: &Score) -> Result<Outcome> {
    let started = Instant::now();
    let job = match (&args.from.model, &args.reference) {
        (Some(model), _) => score_by(args, model)?,
        (None, None) => score_itself(args, &args.question.settings()?)?,
        (None, Some(_)) => score_against(args, &args.question.settings()?)?,
    };
    job.finish(started)
}

/// The data is its own reference: all of it is in memory.
fn score_itself<'a>(args: &'a Score, settings: &Settings) -> Result<Job<'a>> {
    let mut table = open(&args.data, &args.roles, args.running.quiet)?;
    let columns = Columns::of(&table, &args.roles)?;
    let piece = table.read(&columns, usize::MAX)?;
    let all = piece.whole()?;
    let model = fit(settings, &all, piece.weights()).map_err(|error| table.locate(&all, &columns, error))?;
    let mut job = Job::new(args, model, columns.names(&table), Some(all.rows.len()))?;
    for part in all.pieces(PIECE) {
        job.score(&part, |error| table.locate(&part, &columns, error))?;
    }
    Ok(job)
}

/// The data goes by piece by piece.
fn score_against<'a>(args: &'a Score, settings: &Settings) -> Result<Job<'a>> {
    let path = args.reference.as_deref().unwrap_or(&args.data);
    if path == args.data && path.as_os_str() == "-" {
        return Err(Error::Usage("only one of the data and the reference can be standard input".to_owned()));
    }
    let mut reference = open(path, &args.roles, args.running.quiet)?;
    let mut data = open(&args.data, &args.roles, args.running.quiet)?;
    let (ours, theirs) = pair(&reference, &data, &args.roles)?;
    note_unused(args, &data, &theirs, reference.file());
    let sample = reference.read(&ours, usize::MAX)?;
    let all = sample.whole()?;
    let model =
        fit(settings, &all, sample.weights()).map_err(|error| reference.locate(&all, &ours, error))?;
    drop(sample);
    stream(Job::new(args, model, ours.names(&reference), None)?, &mut data, &theirs)
}

/// The reference is in a model file; the data goes by piece by piece.
fn score_by<'a>(args: &'a Score, path: &Path) -> Result<Job<'a>> {
    let saved = Saved::open(path)?;
    let mut data = open(&args.data, &args.roles, args.running.quiet)?;
    let (names, width) = (saved.archive.column_names(), saved.archive.reference().width());
    let columns = fitting(&data, &args.roles, names, width, saved.file())?;
    note_unused(args, &data, &columns, saved.file());
    let names = names.map_or_else(|| columns.names(&data), <[String]>::to_vec);
    let model = saved.model(args.question.given.memory())?;
    stream(Job::new(args, model, names, None)?, &mut data, &columns)
}

/// Columns that are left out without anyone having asked for it.
fn note_unused(args: &Score, data: &Table, columns: &Columns, other: &str) {
    let unused = columns.unused(data);
    if args.roles.columns.is_none() && !unused.is_empty() {
        let (file, names) = (data.file(), list(&unused));
        console::note(args.running.quiet, format_args!("note: {file}: not in {other}, so left out: {names}"));
    }
}

/// Scores the data to its end, a piece at a time.
fn stream<'a>(mut job: Job<'a>, data: &mut Table, columns: &Columns) -> Result<Job<'a>> {
    loop {
        let piece = data.read(columns, PIECE)?;
        if piece.is_empty() {
            return Ok(job);
        }
        let part = piece.whole()?;
        job.score(&part, |error| data.locate(&part, columns, error))?;
    }
}

/// A model at work: scores go out as they come, and what is said of them at the end is gathered.
struct Job<'a> {
    args: &'a Score,
    model: Model,
    output: Output,
    progress: Progress,
    classes: Option<Classes<f64>>,
    rows: usize,
    unconverged: usize,
    largest: f64,
}

impl<'a> Job<'a> {
    fn new(args: &'a Score, model: Model, columns: Vec<String>, rows: Option<usize>) -> Result<Self> {
        if let Some(warning) = model.warning() {
            console::warning(warning);
        }
        let mut fields = score_fields(args.roles.id.is_some());
        if args.roles.label.is_some() {
            fields.push(Field::new("label", Kind::Text));
        }
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            settings: model.settings().clone(),
            columns,
            reference_rows: model.reference_len(),
            fields,
        };
        Ok(Self {
            args,
            model,
            output: Output::open(args.out.as_ref(), about)?,
            progress: Progress::new(args.running.quiet, rows),
            classes: args.roles.label.as_ref().map(|_| Classes::default()),
            rows: 0,
            unconverged: 0,
            largest: 0.0,
        })
    }

    fn score(&mut self, part: &Part<'_>, locate: impl FnOnce(DepthError) -> Error) -> Result<()> {
        let advance = |rows| self.progress.advance(rows);
        let run = Run {
            threads: self.args.running.threads.map(usize::from),
            progress: Some(&advance),
            cancel: None,
        };
        let fits = self.model.score(part.rows, &run).map_err(locate)?;
        let mut columns = scores(part, &fits);
        columns.extend(part.labels.map(|labels| Values::Texts(labels.into())));
        self.progress.aside(|| self.output.rows(&columns))?;
        self.gather(part, &fits);
        Ok(())
    }

    fn gather(&mut self, part: &Part<'_>, fits: &[Fit]) {
        self.rows += fits.len();
        self.unconverged += fits.iter().filter(|fit| fit.stop != Stop::Converged).count();
        self.largest = fits.iter().fold(self.largest, |largest, fit| largest.max(fit.error));
        if let (Some(classes), Some(labels)) = (&mut self.classes, part.labels) {
            labels.iter().zip(fits).for_each(|(label, fit)| classes.add(label, fit.depth));
        }
    }

    fn finish(self, started: Instant) -> Result<Outcome> {
        let Self { args, model, output, progress, classes, rows, unconverged, largest } = self;
        drop(progress);
        let auc = classes.map(Classes::auc);
        output.finish(auc.as_ref().and_then(|found| found.as_ref().ok()))?;
        let label = args.roles.label.as_deref().unwrap_or_default();
        match auc {
            Some(Ok(auc)) => console::result(describe(&auc, label)),
            Some(Err(why)) => {
                console::note(args.running.quiet, format_args!("note: no AUC-ROC: label `{label}` {why}"));
            }
            None => {}
        }
        let (settings, seconds) = (summary(model.settings()), started.elapsed().as_secs_f64());
        let (scored, against, columns) =
            (count(rows, "row"), model.reference_len(), count(model.width(), "column"));
        console::note(
            args.running.quiet,
            format_args!(
                "{scored} scored against {against} in {columns}: {settings}; \
                 {seconds:.2} s, largest error {largest:.1e}"
            ),
        );
        if unconverged == 0 {
            return Ok(Outcome::Done);
        }
        console::warning(format_args!(
            "{unconverged} of {rows} rows did not converge, largest error {largest:.1e}"
        ));
        Ok(Outcome::NotConverged)
    }
}

fn describe(auc: &Auc, label: &str) -> String {
    let Auc { value, outlier, outliers, others, unlabelled } = auc;
    let without =
        if *unlabelled > 0 { format!(", {unlabelled} rows without a label") } else { String::new() };
    let rows = outliers + others;
    format!("AUC-ROC {value:.4} (outlier: `{label}` = {outlier}, {outliers} of {rows} rows{without})")
}
