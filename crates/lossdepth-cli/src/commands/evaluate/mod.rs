//! `lossdepth evaluate`: how well methods tell known outliers from the rest.

mod report;

use super::inputs::names_of;
use super::{Outcome, announce, learn, open, tell, warn_of_spreads};
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
use lossdepth_reproduce::baseline::Baseline;
use lossdepth_reproduce::{Candidate, Scores};
use report::{LEVEL, Layout as TableLayout, Line, Report, Skipped};
use std::path::{Path, PathBuf};
use std::time::Instant;

const NOTES: &str = "\
The label must have two values; which of them are the outliers is found as by `lossdepth score`. Every row is scored; rows \
without a label count in the reference alone. Without --reference the data is its own, and the neighbours of a row are then \
other rows.

AUC-ROC is the chance that an outlier has a lower score than another row, ties counted half; its interval is DeLong's on the \
logit scale. Average precision is the area under the steps of the precision-recall curve, with Wilson's interval for \
as many outliers. The times are those of one run on this machine.

Baselines that are no depths: oc-svm (one-class support vector machine; nu, kernel, gamma, …), lof (local outlier factor; k), \
knn (distance to the k-th neighbour; k, distance) and iforest (isolation forest; trees, max_samples, seed); their columns are standardised unless --scale says otherwise. With \
--methods every method is run. Without, each is first tried on a part of the rows, and those that would take longer than --max-time are skipped.

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

    /// Skip methods that would take more seconds than that, unless --methods names them
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, conflicts_with = "methods")]
    pub(crate) max_time: f64,

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

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 => Ok(seconds),
        _ => Err("it must be a number of seconds, not negative".to_owned()),
    }
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
    let tried = asked.is_none();
    let mut candidates = match asked {
        Some(candidates) => candidates,
        None => method_list::parse(&defaults(args, &sample, weighted), &args.given)?,
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
    let raw =
        candidates.iter().filter_map(Candidate::settings).find(|s| s.unequal_spreads(&sample).is_some());
    if let Some(settings) = raw {
        warn_of_spreads(settings, args.given.preset_name(), &sample, &encoding);
    }
    let format = args.out.as_ref().map(|(_, format)| *format).or(args.format).unwrap_or(Format::Table);
    let (results, skipped) = compare.all(&candidates, tried, format)?;
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
        skipped,
    };
    present(args, &report, format)?;
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

/// The methods that can compare these columns, and the baselines.
fn defaults(args: &Evaluate, sample: &Reference, weighted: bool) -> Vec<String> {
    let quiet = args.running.quiet;
    let has_categories = !sample.layout().is_none_or(Layout::is_numeric);
    let known = |method: &Method| args.given.preset(*method, sample.len() as f64).is_ok();
    let (left, run): (Vec<Method>, Vec<Method>) =
        Method::ALL.into_iter().filter(known).partition(|method| has_categories && method.numbers_only());
    let names =
        |methods: &[Method]| methods.iter().map(|method| method.name().to_owned()).collect::<Vec<_>>();
    if !left.is_empty() {
        let left = names(&left).join(", ");
        console::note(quiet, format_args!("note: left out, for they compare numbers only: {left}"));
    }
    let (unweighted, weighable): (Vec<&str>, Vec<&str>) =
        Baseline::NAMES.into_iter().partition(|name| *name != "oc-svm");
    let mut all = names(&run);
    all.extend(weighable.iter().map(ToString::to_string));
    if weighted {
        let left = unweighted.join(", ");
        console::note(quiet, format_args!("note: left out, for they take no weights: {left}"));
    } else {
        all.extend(unweighted.iter().map(ToString::to_string));
    }
    all
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
    /// Runs the candidates one after the other, all of them or those that do not take too long; the row of a table is shown
    /// when it is known.
    fn all(
        &self,
        candidates: &[Candidate],
        tried: bool,
        format: Format,
    ) -> Result<(Vec<Line>, Vec<Skipped>)> {
        let quiet = self.args.running.quiet;
        let layout = TableLayout::of(candidates.iter().map(|candidate| candidate.name.as_str()));
        let (mut results, mut skipped) = (Vec::new(), Vec::new());
        for candidate in candidates {
            let name = &candidate.name;
            if let Some(seconds) = if tried { self.too_long(candidate)? } else { None } {
                let about = announce::duration(seconds);
                console::note(
                    quiet,
                    format_args!(
                        "{name}: skipped as too slow for this table (about {about}); name it with --methods"
                    ),
                );
                skipped.push(Skipped { method: name.clone(), seconds });
                continue;
            }
            if let Some(settings) = candidate.settings() {
                announce::subsample_of(name, settings, self.sample.len(), quiet);
            }
            let line = self.line(candidate)?;
            if format == Format::Table {
                let head = if results.is_empty() { layout.head() } else { String::new() };
                write::print(&(head + &layout.row(&line)))?;
            }
            results.push(line);
        }
        if results.is_empty() {
            let hint = "a larger --max-time waits longer, --methods names those to run";
            return Err(Error::Usage(format!("every method was skipped: {hint}")));
        }
        Ok((results, skipped))
    }

    /// How many seconds a candidate would take, if that is too long.
    fn too_long(&self, candidate: &Candidate) -> Result<Option<f64>> {
        let threads = self.args.running.threads.map(usize::from);
        let run = Run { threads, depths_only: true, ..Run::default() };
        let forecast = || candidate.forecast(self.sample, self.rows.rows, &run).map_err(|e| (self.locate)(e));
        let too_long = |seconds: &f64| *seconds > self.args.max_time;
        // What else this machine does may have disturbed the first one.
        let Some(first) = forecast()?.filter(too_long) else { return Ok(None) };
        Ok(forecast()?.filter(too_long).map(|second| second.min(first)))
    }

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

/// Writes the whole; of a table on standard output only the end is left to say.
fn present(args: &Evaluate, report: &Report, format: Format) -> Result<()> {
    let text = match format {
        Format::Table => report.best(),
        Format::Csv => report.csv(b',')?,
        Format::Tsv => report.csv(b'\t')?,
        Format::Json => report.json()?,
    };
    match &args.out {
        Some((path, _)) => write::whole(path, text.as_bytes()),
        None => write::print(&text),
    }
}
