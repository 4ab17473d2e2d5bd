//! `lossdepth score`: from tables to scores.

use crate::args::Score;
use crate::auc::{Auc, Classes};
use crate::console::{self, Progress};
use crate::error::{Error, Result, count};
use crate::load::{Columns, Part, Table, list, pair};
use crate::settings::half_of_memory;
use crate::write::{About, Output};
use lossdepth::depth::Value;
use lossdepth::{DepthError, Fit, Model, Reference, Run, Scale, Settings, Stop, Variant};
use std::time::Instant;

/// How many rows are scored, and held in memory, at a time.
const PIECE: usize = 1 << 16;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Done, but some rows have a larger error than asked for.
    NotConverged,
}

pub(crate) fn score(args: &Score) -> Result<Outcome> {
    let started = Instant::now();
    let settings = args.settings()?;
    let job = match &args.reference {
        None => score_itself(args, &settings)?,
        Some(_) => score_against(args, &settings)?,
    };
    job.finish(started)
}

/// The data is its own reference: all of it is in memory.
fn score_itself<'a>(args: &'a Score, settings: &Settings) -> Result<Job<'a>> {
    let mut table = open(args, &args.data)?;
    let columns = Columns::of(&table, args)?;
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
    let mut reference = open(args, path)?;
    let mut data = open(args, &args.data)?;
    let (ours, theirs) = pair(&reference, &data, args)?;
    let unused = theirs.unused(&data);
    if args.columns.is_none() && !unused.is_empty() {
        let (from, to, names) = (data.file(), reference.file(), list(&unused));
        console::note(args.quiet, format_args!("note: {from}: not in {to}, so left out: {names}"));
    }
    let sample = reference.read(&ours, usize::MAX)?;
    let all = sample.whole()?;
    let model =
        fit(settings, &all, sample.weights()).map_err(|error| reference.locate(&all, &ours, error))?;
    drop(sample);
    let mut job = Job::new(args, model, ours.names(&reference), None)?;
    loop {
        let piece = data.read(&theirs, PIECE)?;
        if piece.is_empty() {
            return Ok(job);
        }
        let part = piece.whole()?;
        job.score(&part, |error| data.locate(&part, &theirs, error))?;
    }
}

fn open(args: &Score, path: &std::path::Path) -> Result<Table> {
    let table = Table::open(path, args.header())?;
    if let Some(line) = table.doubtful_header() {
        let file = table.file();
        console::note(
            args.quiet,
            format_args!("note: {file}: line {line} is taken for the header; if it is data, say --no-header"),
        );
    }
    Ok(table)
}

fn fit(settings: &Settings, sample: &Part<'_>, weights: Option<&[f64]>) -> Result<Model, DepthError> {
    let reference = match weights {
        Some(weights) => Reference::weighted(&sample.rows, weights)?,
        None => Reference::new(&sample.rows)?,
    };
    let memory = settings.memory.or_else(half_of_memory);
    Settings { memory, ..settings.clone() }.fit(&reference)
}

/// A model at work: scores go out as they come, and what is said of them at the end is gathered.
struct Job<'a> {
    args: &'a Score,
    model: Model,
    output: Output,
    progress: Progress,
    classes: Option<Classes>,
    rows: usize,
    unconverged: usize,
    largest: f64,
}

impl<'a> Job<'a> {
    fn new(args: &'a Score, model: Model, columns: Vec<String>, rows: Option<usize>) -> Result<Self> {
        if let Some(warning) = model.warning() {
            console::warning(warning);
        }
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            settings: model.settings().clone(),
            columns,
            reference_rows: model.reference_len(),
            labelled: args.label.is_some(),
        };
        Ok(Self {
            args,
            model,
            output: Output::open(args.out.as_ref(), about)?,
            progress: Progress::new(args.quiet, rows),
            classes: args.label.as_ref().map(|_| Classes::default()),
            rows: 0,
            unconverged: 0,
            largest: 0.0,
        })
    }

    fn score(&mut self, part: &Part<'_>, locate: impl FnOnce(DepthError) -> Error) -> Result<()> {
        let advance = |rows| self.progress.advance(rows);
        let run = Run { threads: self.args.threads.map(usize::from), progress: Some(&advance), cancel: None };
        let fits = self.model.score(part.rows, &run).map_err(locate)?;
        self.progress.aside(|| self.output.rows(part, &fits))?;
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
        let label = args.label.as_deref().unwrap_or_default();
        match auc {
            Some(Ok(auc)) => console::result(describe(&auc, label)),
            Some(Err(why)) => {
                console::note(args.quiet, format_args!("note: no AUC-ROC: label `{label}` {why}"));
            }
            None => {}
        }
        let (settings, seconds) = (summary(model.settings()), started.elapsed().as_secs_f64());
        let (scored, against, columns) =
            (count(rows, "row"), model.reference_len(), count(model.width(), "column"));
        console::note(
            args.quiet,
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

/// The settings in a line.
fn summary(settings: &Settings) -> String {
    let tells = |name: &str| match name {
        "max_iter" | "memory" => false,
        "reg" => !matches!(settings.variant, Variant::Constrained { .. }),
        "support_fraction" => settings.scale == Scale::Mcd,
        _ => true,
    };
    let values = settings.values();
    let told = values.iter().filter(|(name, value)| tells(name) && *value != Value::None);
    told.fold(settings.method.to_string(), |line, (name, value)| {
        format!("{line}, {} {value}", name.replace('_', " "))
    })
}
