//! `lossdepth score`: from tables to scores.

use super::announce::Tally;
use super::inputs::{names_of, note_unused, open_both};
use super::labels::{Judge, Labels};
use super::model::Saved;
use super::{Outcome, fit, learn, open, summary, tell};
use crate::args::{Against, Question, Roles, Running};
use crate::auc::{Auc, Classes};
use crate::console::{self, Progress};
use crate::error::{Error, Result, count, shorten};
use crate::load::{Block, Columns, Part, Table, fitting, pair};
use crate::write::{About, Field, Kind, Output, Target, Values, score_fields, scores};
use clap::Args;
use lossdepth::data::Encoding;
use lossdepth::{DepthError, Fit, Method, Model, Run, Stop};
use std::path::{Path, PathBuf};
use std::time::Instant;

// One line a paragraph: clap wraps them.
const SCORE_NOTES: &str = "\
Files are CSV (commas, semicolons, tabs or bars; UTF-8, UTF-16, Windows-1252), Excel, OpenDocument, Parquet, Arrow (Feather), \
NPY, NPZ, MAT 5 or IDX, told by their content; all may be gzipped. A first line of numbers is data, any other is the header. \
Columns are called by name or by number, from 0; those of arrays have numbers only. NPZ and MAT files have the table in `X` \
and the label in `y`; IDX images have their labels in the file next to them. With --reference or --model the data is read piece by \
piece and may be of any size.

What a column holds is found by its content and told on standard error: numbers (also with currency signs, percent, thousands), \
categories, yes or no, dates; a column of ids names the rows, free text is left out. --as says otherwise. A category weighs as much \
as one column of numbers. With --reference or --model the other table decides, and columns are matched by name in any order. A row \
with gaps is compared on what it has; --missing does something else.

The output has one line a row, in order: row (from 0, or the id), depth, error (a proven bound on how far the \
depth is from the exact one), stderr (how much it would vary from sample to sample), then outlier (1 or 0), p and q where \
asked for, and the label if given.

--contamination draws the line where that share of the reference is below it, as scikit-learn does. --p-values compares with \
the reference whatever its distribution: p is the chance that a row from where the reference came from is as shallow as this \
one. `split` is exact and sets half of the reference aside to calibrate a model of the other half; `cross` (ten folds) and \
`leave-one-out` use all of it, take as many fits, and are approximate. Data that is its own reference gets exact p-values by \
rank, without another fit; but ranks are the same whatever the data, so --fdr needs a reference. With --fdr, q is the smallest \
false discovery rate at which a row is chosen (Benjamini and Hochberg), and outlier says whether that is at most the rate given.

With a label of two values the AUC-ROC is printed on standard error: the chance that an outlier has a lower depth \
than another row, ties counted half. The outlier is 1 of {0, 1}; else a word like `outlier`, `anomaly`, `fault` or \
`true`; else the rarer value.

Exit codes: 0 done, 1 done but some rows did not converge, 2 failed.

Examples:
  lossdepth score data.csv --scale standard
  lossdepth score orders.xlsx --sheet 2 --as zip=category,customer=text --missing drop
  lossdepth score new.csv --reference old.csv --out scores.csv.gz
  lossdepth score new.csv --model model.safetensors
  lossdepth score data.csv --contamination 0.05
  lossdepth score new.csv --reference old.csv --p-values=leave-one-out --fdr 0.1
  lossdepth score data.csv --id id --label y --reg 0.01 --out scores.json
  lossdepth score large.parquet --reference old.parquet --columns a,b,c --out scores.parquet
  zcat data.csv.gz | lossdepth score - --columns a,b,c --method hinge | sort -t, -gk2 | head";

/// Score the rows of a table: one depth a row, high is central, low is outlying
#[derive(Debug, Args)]
#[command(after_help = SCORE_NOTES)]
pub(crate) struct Score {
    /// The table to score; `-` is standard input
    pub(crate) data: PathBuf,

    #[command(flatten)]
    pub(crate) against: Against,

    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) roles: Roles,

    #[command(flatten)]
    pub(crate) labels: Labels,

    /// Write to this file: .csv, .tsv or .json (with .gz or not), .parquet, .arrow; `-` is CSV to standard output
    ///
    /// The file appears when all rows are done, or not at all.
    #[arg(long, value_name = "FILE", value_parser = Target::parse, default_value = "-", help_heading = "Output")]
    pub(crate) out: Target,

    #[command(flatten)]
    pub(crate) running: Running,
}

/// How many rows are scored, and held in memory, at a time.
const PIECE: usize = 1 << 16;

pub(crate) fn score(args: &Score) -> Result<Outcome> {
    let started = Instant::now();
    args.labels.check(args.against.reference.is_some() || args.against.model.is_some())?;
    if matches!(args.out, Target::Standard) && lossdepth_files::is_stdout_discarded() {
        return Err(Error::Usage(
            "standard output is closed, or /dev/null open for reading too, and the scores would be lost: write them to a file \
             with --out, or drop them with `> /dev/null`"
                .to_owned(),
        ));
    }
    let read = [Some(&args.data), args.against.reference.as_ref(), args.against.model.as_ref()];
    if read.into_iter().flatten().any(|path| args.out.is(path)) {
        return Err(Error::Usage(format!(
            "{}: cannot be read and written at once; --out needs another name",
            args.out.name()
        )));
    }
    let job = match (&args.against.model, &args.against.reference) {
        (Some(model), _) => score_by(args, model)?,
        (None, Some(reference)) => score_against(args, reference)?,
        (None, None) => score_itself(args)?,
    };
    job.finish(started)
}

/// The data is its own reference: all of it is in memory.
fn score_itself(args: &Score) -> Result<Job<'_>> {
    args.question.check()?;
    let mut table = open(&args.data, &args.roles, args.running.quiet)?;
    let columns = Columns::of(&table, &args.roles)?;
    let (encoding, block) = learn(&mut table, &columns, &args.roles, args.running.quiet)?;
    let mut block = block.encoded();
    let sample = block.reference(&encoding);
    let locate = |error| block.locate(&table, &columns, &encoding, error);
    let question = args.question.or_sampled(block.len());
    let model = fit(&question, &sample.map_err(locate)?, &encoding)?.map_err(locate)?;
    let all = block.whole()?;
    let judge = Judge::of_own(&args.labels, block.weights())?;
    let names = Names { ids: all.ids.is_some(), ..Names::of(&table, &columns, &encoding) };
    let mut job = Job::new(args, model, judge, names, Some(all.rows.len()))?;
    job.reference = all.rows.len();
    for part in all.pieces(PIECE) {
        job.score(&part, locate)?;
    }
    Ok(job)
}

/// The data goes by piece by piece.
fn score_against<'a>(args: &'a Score, path: &Path) -> Result<Job<'a>> {
    args.question.check()?;
    let quiet = args.running.quiet;
    let (mut reference, mut data) = open_both(path, &args.data, &args.roles, quiet)?;
    let ours = Columns::of_reference(&reference, &data, &args.roles)?;
    let (encoding, sample) = learn(&mut reference, &ours, &args.roles, quiet)?;
    let mut sample = sample.encoded();
    // Before the work is done.
    let theirs = pair(&reference, &ours, &data, &args.roles, &encoding)?;
    note_unused(&data, &theirs, &args.roles, &encoding, reference.file(), quiet);
    let rows = sample.reference(&encoding);
    let locate = |error| sample.locate(&reference, &ours, &encoding, error);
    let model = fit(&args.question, &rows.map_err(locate)?, &encoding)?.map_err(locate)?;
    let reference = sample.len();
    drop(sample);
    let judge = Judge::of_others(&args.labels, &model, args.running)?;
    let names = Names::of(&data, &theirs, &encoding);
    let job = Job { reference, ..Job::new(args, model, judge, names, None)? };
    stream(job, &mut data, &theirs, &encoding)
}

/// The reference is in a model file; the data goes by piece by piece.
fn score_by<'a>(args: &'a Score, path: &Path) -> Result<Job<'a>> {
    let saved = Saved::open(path)?;
    let mut data = open(&args.data, &args.roles, args.running.quiet)?;
    let (encoding, named) = saved.encoding(&args.roles)?;
    let columns = fitting(&data, &args.roles, &encoding, named, saved.file())?;
    note_unused(&data, &columns, &args.roles, &encoding, saved.file(), args.running.quiet);
    let mut names = Names::of(&data, &columns, &encoding);
    if !named {
        names.features = columns.names(&data);
    }
    let model = saved.model(args.question.given.memory())?;
    let judge = Judge::of_others(&args.labels, &model, args.running)?;
    stream(Job::new(args, model, judge, names, None)?, &mut data, &columns, &encoding)
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

/// What the columns of the data are called.
struct Names {
    features: Vec<String>,
    label: Option<String>,
    /// Whether a column names the rows.
    ids: bool,
}

impl Names {
    fn of(table: &Table, columns: &Columns, encoding: &Encoding) -> Self {
        let label = columns.label.map(|label| table.names()[label].clone());
        Self { features: names_of(encoding), label, ids: columns.id.is_some() }
    }
}

/// A model at work: scores go out as they come, and what is said of them at the end is gathered.
struct Job<'a> {
    args: &'a Score,
    model: Model,
    judge: Judge,
    output: Output,
    /// What cannot be written before all rows are known.
    held: Vec<Held>,
    progress: Progress,
    classes: Option<Classes<f64>>,
    label: String,
    /// How many columns are compared.
    columns: usize,
    rows: usize,
    unconverged: usize,
    largest: f64,
    /// The largest standard error.
    stderr: f64,
    /// How many rows the reference had before a sample was taken; 0 where that is not known.
    reference: usize,
}

/// Some rows on hold: their scores, and their labels.
struct Held {
    columns: Vec<Values<'static>>,
    depths: Vec<f64>,
    p: Option<Vec<f64>>,
    labels: Option<Values<'static>>,
}

impl<'a> Job<'a> {
    fn new(args: &'a Score, model: Model, judge: Judge, names: Names, rows: Option<usize>) -> Result<Self> {
        if let Some(warning) = model.warning() {
            console::warning(warning);
        }
        let mut fields = score_fields(names.ids);
        fields.extend(judge.fields());
        if names.label.is_some() {
            fields.push(Field::new("label", Kind::Text));
        }
        let columns = names.features.len();
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            settings: model.settings().clone(),
            columns: names.features,
            reference_rows: model.reference_len(),
            warning: model.warning().map(ToString::to_string),
            fields,
        };
        Ok(Self {
            args,
            model,
            judge,
            held: Vec::new(),
            output: Output::open(&args.out, about)?,
            progress: Progress::new(args.running.quiet, rows),
            classes: names.label.is_some().then(Classes::default),
            label: names.label.unwrap_or_default(),
            columns,
            rows: 0,
            unconverged: 0,
            largest: 0.0,
            stderr: 0.0,
            reference: 0,
        })
    }

    fn score(&mut self, part: &Part<'_>, locate: impl FnOnce(DepthError) -> Error) -> Result<()> {
        let advance = |rows| self.progress.advance(rows);
        let run = Run {
            threads: self.args.running.threads.map(usize::from),
            progress: Some(&advance),
            ..Run::default()
        };
        let fits = self.model.score(part.rows, &run).map_err(locate)?;
        let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
        let p = self.judge.p_values(part.rows, &depths, &Run { progress: None, ..run })?;
        let columns = scores(part, &fits);
        let labels = part.labels.map(|labels| Values::Texts(labels.into()));
        if self.judge.waits() {
            let columns = columns.into_iter().map(Values::into_owned).collect();
            self.held.push(Held { columns, depths, p, labels: labels.map(Values::into_owned) });
        } else {
            let judged = self.judge.columns(&depths, p.as_deref(), None);
            let columns: Vec<Values<'_>> = columns.into_iter().chain(judged).chain(labels).collect();
            self.progress.aside(|| self.output.rows(&columns))?;
        }
        self.gather(part, &fits);
        Ok(())
    }

    /// Writes what was on hold.
    fn release(&mut self) -> Result<()> {
        if !self.judge.waits() {
            return Ok(());
        }
        let depths: Vec<f64> = self.held.iter().flat_map(|held| &held.depths).copied().collect();
        let known: Option<Vec<f64>> =
            self.held.iter().map(|held| held.p.clone()).collect::<Option<Vec<_>>>().map(|p| p.concat());
        let [p, q] = self.judge.conclude(&depths, known)?;
        let mut first = 0;
        for held in std::mem::take(&mut self.held) {
            let rows = first..first + held.depths.len();
            let slice = |list: &Option<Vec<f64>>| list.as_ref().map(|list| list[rows.clone()].to_vec());
            let judged = self.judge.columns(&held.depths, slice(&p).as_deref(), slice(&q).as_deref());
            let columns: Vec<Values<'_>> =
                held.columns.into_iter().chain(judged).chain(held.labels).collect();
            self.progress.aside(|| self.output.rows(&columns))?;
            first = rows.end;
        }
        Ok(())
    }

    fn gather(&mut self, part: &Part<'_>, fits: &[Fit]) {
        self.rows += fits.len();
        self.unconverged += fits.iter().filter(|fit| fit.stop != Stop::Converged).count();
        self.largest = fits.iter().fold(self.largest, |largest, fit| largest.max(fit.error));
        self.stderr = fits.iter().fold(self.stderr, |largest, fit| largest.max(fit.stderr));
        if let (Some(classes), Some(labels)) = (&mut self.classes, part.labels) {
            labels.iter().zip(fits).for_each(|(label, fit)| classes.add(label, fit.depth));
        }
    }

    fn finish(mut self, started: Instant) -> Result<Outcome> {
        self.release()?;
        let Self {
            args,
            model,
            judge,
            held: _,
            output,
            progress,
            classes,
            label,
            columns,
            rows,
            unconverged,
            largest,
            stderr,
            reference,
        } = self;
        drop(progress);
        let auc = classes.map(Classes::auc);
        output.finish(auc.as_ref().and_then(|found| found.as_ref().ok()))?;
        match auc {
            Some(Ok(auc)) => console::result(describe(&auc, &label)),
            Some(Err(why)) => {
                console::note(
                    args.running.quiet,
                    format_args!("note: no AUC-ROC: label `{}` {why}", shorten(&label)),
                );
            }
            None => {}
        }
        if let Some(text) = judge.summary() {
            console::note(args.running.quiet, text);
        }
        let (settings, seconds) = (summary(model.settings()), started.elapsed().as_secs_f64());
        if model.settings().method != Method::Auto && reference > model.reference_len() {
            // Time grows with the rows compared with.
            let factor = reference as f64 / model.reference_len() as f64;
            console::note(
                args.running.quiet,
                format_args!(
                    "compared with {} of {reference} rows; standard error of a depth at most {stderr:.1e}; \
                     --reference-rows all takes about {}",
                    model.reference_len(),
                    duration(seconds * factor)
                ),
            );
        }
        let (scored, against, columns) =
            (count(rows, "row"), model.reference_len(), count(columns, "column"));
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

/// A time in words, to one or two digits.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

fn describe(auc: &Auc, label: &str) -> String {
    let Auc { value, outlier, outliers, others, unlabelled } = auc;
    let without =
        if *unlabelled > 0 { format!(", {unlabelled} rows without a label") } else { String::new() };
    let rows = outliers + others;
    let (label, outlier) = (shorten(label), shorten(outlier));
    format!("AUC-ROC {value:.4} (outlier: `{label}` = {outlier}, {outliers} of {rows} rows{without})")
}
