//! `lossdepth evaluate`: how well methods tell known outliers from the rest.

mod report;

use super::inputs::names_of;
use super::{Outcome, learn, open, tell};
use crate::args::{Roles, Running};
use crate::auc::{Classes, Split};
use crate::console::{self, Progress};
use crate::error::{Error, Result, count, shorten};
use crate::load::{Block, Columns, Part, Table, pair};
use crate::settings::Given;
use crate::{method_list, write};
use clap::{Args, ValueEnum};
use lossdepth::data::Layout;
use lossdepth::stats::evaluation::Ranking;
use lossdepth::{DepthError, Method, Reference, Run};
use lossdepth_plot::{Roc, Scene, Style, roc};
use lossdepth_reproduce::{Candidate, Scores};
use report::{LEVEL, Line, Report};
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

const NOTES: &str = "\
The label must have two values; which of them are the outliers is found as by `lossdepth score`. Every row is scored; rows \
without a label count in the reference alone. Without --reference the data is its own, and the neighbours of a row are then \
other rows.

AUC-ROC is the chance that an outlier has a lower score than another row, ties counted half; its interval is DeLong's on the \
logit scale. Average precision is the area under the steps of the precision-recall curve, with Wilson's interval for \
as many outliers. The times are those of one run on this machine.

Baselines that are no depths: oc-svm (one-class support vector machine; nu, kernel, gamma, …), lof (local outlier factor; k) and \
knn (distance to the k-th neighbour; k, distance). With --methods every method is run; without, those that take seconds \
rather than hours on data of this size.

Exit codes: 0 done, 1 done but some rows did not converge, 2 failed.

Examples:
  lossdepth evaluate data.csv --label y
  lossdepth evaluate data.csv --label y --scale standard --methods logistic,svm:reg=0.05,svm:reg=0.01,lof:k=10
  lossdepth evaluate new.csv --reference old.csv --label y --out table.json
  lossdepth evaluate data.csv --label y --methods svm,forest,lof --plot roc.png";

/// Compare methods and baselines on data with known outliers: AUC-ROC, average precision, time
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct Evaluate {
    /// The table to score; `-` is standard input
    pub(crate) data: PathBuf,

    /// The table to compare with [default: the data itself]
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: Option<PathBuf>,

    /// What to compare, as `svm,forest,lof:k=10`, settings after a colon; may be said several times
    /// [default: all that take reasonable time]
    #[arg(long, value_name = "LIST")]
    pub(crate) methods: Vec<String>,

    #[command(flatten)]
    pub(crate) given: Given,

    #[command(flatten)]
    pub(crate) roles: Roles,

    /// Write to this file: .csv, .tsv or .json [default: a table to standard output]
    #[arg(long, value_name = "FILE", value_parser = target, help_heading = "Output")]
    pub(crate) out: Option<(PathBuf, Format)>,

    /// How to write to standard output
    #[arg(long, value_name = "NAME", value_enum, conflicts_with = "out", help_heading = "Output")]
    pub(crate) format: Option<Format>,

    /// Draw the ROC curves to this file: .png or .svg
    #[arg(long, value_name = "FILE", value_parser = write::PictureTarget::parse, help_heading = "Output")]
    pub(crate) plot: Option<write::PictureTarget>,

    #[command(flatten)]
    pub(crate) running: Running,
}

/// How the results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns
    Table,
    /// Comma-separated values
    Csv,
    /// Tab-separated values
    Tsv,
    /// A document with all settings
    Json,
}

fn target(path: &str) -> Result<(PathBuf, Format), String> {
    let extension = Path::new(path).extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let format = match extension.as_ref().and_then(|e| e.to_str()) {
        Some("csv") => Format::Csv,
        Some("tsv") => Format::Tsv,
        Some("json") => Format::Json,
        _ => return Err("the name must end in .csv, .tsv or .json".to_owned()),
    };
    Ok((path.into(), format))
}

pub(crate) fn run(args: &Evaluate) -> Result<Outcome> {
    // Before any work is done.
    let asked =
        if args.methods.is_empty() { None } else { Some(method_list::parse(&args.methods, &args.given)?) };
    let path = args.reference.as_deref().unwrap_or(&args.data);
    if args.reference.is_some() && path == args.data && path.as_os_str() == "-" {
        return Err(Error::Usage("only one of the data and the reference can be standard input".to_owned()));
    }
    let quiet = args.running.quiet;
    let mut data = open(&args.data, &args.roles, quiet)?;
    let mut other = args.reference.as_ref().map(|path| open(path, &args.roles, quiet)).transpose()?;
    let no_label = || Error::Usage("`evaluate` needs the column with the labels: --label COL".to_owned());
    let (theirs, encoding, sample, block) = if let Some(other) = &mut other {
        let ours = Columns::of_reference(other, &data, &args.roles)?;
        let (encoding, sample) = learn(other, &ours, &args.roles, quiet)?;
        let mut sample = sample.encoded();
        let theirs = pair(other, &ours, &data, &args.roles, &encoding)?;
        theirs.label.ok_or_else(no_label)?;
        let piece = data.read(&theirs, usize::MAX)?;
        tell(data.file(), &piece.notes, quiet);
        let block = Block::encode(&data, &theirs, piece, &encoding)?;
        let reference = sample.reference(&encoding);
        let reference = reference.map_err(|error| sample.locate(other, &ours, &encoding, error))?;
        (theirs, encoding, reference, block)
    } else {
        let columns = Columns::of(&data, &args.roles)?;
        columns.label.ok_or_else(no_label)?;
        let (encoding, mut block) = learn(&mut data, &columns, &args.roles, quiet)?;
        let sample = block.reference(&encoding);
        let sample = sample.map_err(|error| block.locate(&data, &columns, &encoding, error))?;
        (columns, encoding, sample, block)
    };
    let block = block.encoded();
    let all = block.whole()?;
    // Some formats say themselves which column is the label.
    let label = theirs.label.map(|label| data.names()[label].clone()).unwrap_or_default();
    let split = split(&data, &label, &all)?;
    let weighted = sample.weights().iter().any(|w| *w != sample.weights()[0]);
    let mut candidates = match asked {
        Some(candidates) => candidates,
        None => method_list::parse(&defaults(args, &sample, weighted, all.rows.len()), &args.given)?,
    };
    for candidate in &mut candidates {
        candidate.resolve(&sample)?;
    }
    let (rows, outliers) = (split.outliers.len() + split.others.len(), split.outliers.len());
    let columns = names_of(&encoding);
    console::note(
        quiet,
        format_args!(
            "{}: {} of {} are outliers (`{}` = {}), {}, {} to compare with",
            data.file(),
            outliers,
            count(rows, "row"),
            shorten(&label),
            shorten(&split.outlier),
            count(columns.len(), "column"),
            count(sample.len(), "row"),
        ),
    );
    let locate = |error| block.locate(&data, &theirs, &encoding, error);
    let compare = Compare { args, locate: &locate, sample: &sample, rows: &all, split: &split };
    let results = candidates.iter().map(|candidate| compare.line(candidate)).collect::<Result<Vec<_>>>()?;
    let troubled = results.iter().any(|line| line.not_converged > 0);
    let report = Report {
        format: Report::FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        data: data.file().to_owned(),
        reference: other.as_ref().map(|other| other.file().to_owned()),
        reference_rows: sample.len(),
        columns,
        label: label.clone(),
        outlier: split.outlier.clone(),
        rows,
        outliers,
        unlabelled: split.unlabelled,
        level: LEVEL,
        results,
    };
    present(args, &report)?;
    if let Some(target) = &args.plot {
        target.open()?.draw(&curves(&report))?;
    }
    Ok(if troubled { Outcome::NotConverged } else { Outcome::Done })
}

fn split(data: &Table, label: &str, all: &Part<'_>) -> Result<Split<usize>> {
    let mut classes = Classes::default();
    for (row, label) in all.labels.unwrap_or_default().iter().enumerate() {
        classes.add(label, row);
    }
    let file = data.file();
    classes
        .split()
        .map_err(|why| Error::Usage(format!("{file}: label `{}` {why}; it needs two", shorten(label))))
}

/// The methods that take seconds, and the baselines.
fn defaults(args: &Evaluate, sample: &Reference, weighted: bool, rows: usize) -> Vec<String> {
    let quiet = args.running.quiet;
    // Kernel values of the reference for each of the rows, roughly; the constants are from a few runs.
    let (n, d) = (sample.len() as f64, sample.width() as f64);
    let work = n * rows as f64;
    let reasonable = |method: Method| match method {
        Method::Klr | Method::Gp => work <= 4e6,
        Method::Mlp => work * d <= 4e6,
        method if method.numbers_only() && !sample.layout().is_none_or(Layout::is_numeric) => false,
        Method::Simplicial => d <= 2.0 || (d <= 3.0 && work * n <= 1e8),
        Method::Projection => work <= 4e6,
        Method::Zonoid => work * d <= 1e9,
        Method::Halfspace => d <= 2.0 || (d <= 3.0 && work <= 1e6),
        Method::Hinge | Method::SquaredHinge | Method::Exponential => work * d * d <= 1e9,
        _ => true,
    };
    let known = Method::ALL.into_iter().filter(|method| args.given.preset(*method, n).is_ok());
    let (run, left): (Vec<Method>, Vec<Method>) = known.partition(|m| reasonable(*m));
    let baselines: &[&str] = if weighted { &["oc-svm"] } else { &["oc-svm", "lof", "knn"] };
    if !left.is_empty() {
        let names = left.iter().map(|method| method.name()).collect::<Vec<_>>().join(", ");
        console::note(
            quiet,
            format_args!("note: left out, for they take long here: {names}; --methods has them run"),
        );
    }
    if weighted {
        console::note(quiet, "note: left out, for they take no weights: lof, knn");
    }
    run.iter()
        .map(|method| method.name().to_owned())
        .chain(baselines.iter().map(ToString::to_string))
        .collect()
}

/// What every candidate is asked.
struct Compare<'a> {
    args: &'a Evaluate,
    locate: &'a dyn Fn(DepthError) -> Error,
    sample: &'a Reference,
    rows: &'a Part<'a>,
    split: &'a Split<usize>,
}

impl Compare<'_> {
    fn line(&self, candidate: &Candidate) -> Result<Line> {
        let own = self.args.reference.is_none();
        let progress = Progress::new(self.args.running.quiet, Some(self.rows.rows.len()));
        let advance = |rows| progress.advance(rows);
        let threads = self.args.running.threads.map(usize::from);
        let run = Run { threads, progress: Some(&advance), depths_only: true, ..Run::default() };
        let named = |error| match error {
            Error::Depth(error) => Error::Usage(format!("{}: {error}", candidate.name)),
            other => other,
        };
        let locate = |error| named((self.locate)(error));
        let started = Instant::now();
        let fitted = candidate.fit(self.sample, &Run { progress: None, ..run }).map_err(locate)?;
        let fit_seconds = started.elapsed().as_secs_f64();
        let started = Instant::now();
        let Scores { values, not_converged } = fitted.score(self.rows.rows, own, &run).map_err(locate)?;
        let row_seconds = started.elapsed().as_secs_f64() / values.len().max(1) as f64;
        drop(progress);
        if let Some(warning) = fitted.warning() {
            console::warning(format_args!("{}: {warning}", candidate.name));
        }
        let of = |rows: &[usize]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let ranking = Ranking::new(of(&self.split.outliers), of(&self.split.others))?;
        Ok(Line {
            method: candidate.name.clone(),
            settings: Line::settings(candidate),
            auc: ranking.auc(LEVEL)?,
            average_precision: ranking.average_precision(LEVEL)?,
            fit_seconds,
            row_seconds,
            not_converged,
            roc: ranking.roc(),
        })
    }
}

/// The ROC curves of all methods.
fn curves(report: &Report) -> Scene {
    let curve = |line: &Line| Roc {
        name: line.method.clone(),
        auc: line.auc.value,
        points: line.roc.iter().map(|point| [point.false_positives, point.true_positives]).collect(),
    };
    let Report { rows, outliers, label, outlier, .. } = report;
    let file = report.data.rsplit(['/', '\\']).next().unwrap_or_default();
    let caption = format!(
        "ROC curves on {file}: {outliers} of {rows} rows are outliers ({label} = {outlier}). The dashed line is guessing."
    );
    let style = Style { width: 1500, height: 1500, title: None, caption, text_scale: 1.0 };
    roc(&style, &report.results.iter().map(curve).collect::<Vec<_>>())
}

fn present(args: &Evaluate, report: &Report) -> Result<()> {
    let format = args.out.as_ref().map(|(_, format)| *format).or(args.format).unwrap_or(Format::Table);
    let colour = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let text = match format {
        Format::Table => report.table(colour),
        Format::Csv => report.csv(b',')?,
        Format::Tsv => report.csv(b'\t')?,
        Format::Json => report.json()?,
    };
    match &args.out {
        Some((path, _)) => write::whole(path, text.as_bytes()),
        None => write::print(&text),
    }
}
