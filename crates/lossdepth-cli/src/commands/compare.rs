//! `lossdepth compare`: whether two tables come from one distribution, and which columns moved.

use super::{Outcome, announce, open, tell};
use crate::args::{Question, Roles, Running};
use crate::console;
use crate::error::{Error, Problem, Result, count, shorten};
use crate::load::{Columns, Table, list, typed};
use crate::write::{PictureTarget, Whole, print};
use clap::{Args, ValueEnum};
use lossdepth::stats::two_sample::{
    ColumnShift, CompareOptions, Comparison, DepthPairs, TestResult, TwoSampleTest,
};
use lossdepth::{DepthError, Run, Settings};
use lossdepth_plot::{Chart, Scene, Style, Trace, TraceStyle};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const COMPARE_NOTES: &str = "\
rank compares how deep the rows of both tables are in a random half of the first (Liu and Singh); kernel is the maximum mean \
discrepancy; classifier is the risk of logistic regression on rows that it was not trained on. All p-values are by random \
permutation, valid for every sample size, and adjusted for the number of tests or columns (Holm). Columns are matched by name.

--plot draws a DD-plot: each row at its depths in the first and in the second table. Without a difference the rows lie along \
the diagonal; a shift or another spread pulls them off it (Liu, Parelius and Singh).

Examples:
  lossdepth compare old.csv new.csv
  lossdepth compare old.csv new.csv --exclude comment --permutations 9999
  lossdepth compare a.parquet b.parquet --tests kernel --format json --out drift.json
  lossdepth compare old.csv new.csv --method halfspace --plot dd.png";

/// Test whether two tables come from one distribution, and show which columns moved
#[derive(Debug, Args)]
#[command(after_help = COMPARE_NOTES)]
pub(crate) struct CompareArgs {
    /// The first table; `-` is standard input
    pub(crate) first: PathBuf,

    /// The second table; `-` is standard input
    pub(crate) second: PathBuf,

    /// The tests to do, as `rank,kernel` [default: rank,kernel,classifier]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tests: Vec<TwoSampleTest>,

    /// How many random permutations to draw
    #[arg(long, value_name = "N", default_value_t = 999)]
    pub(crate) permutations: usize,

    /// How many rows of both tables together to use at most, chosen at random
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub(crate) max_rows: usize,

    /// Where the random choices of the tests start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) permutation_seed: u64,

    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) roles: Roles,

    /// How to write it [default: text, or as the name of --out says]
    #[arg(long, value_name = "FORMAT", value_enum, help_heading = "Output")]
    pub(crate) format: Option<Format>,

    /// Write to this file: .txt or .json
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Draw the depths of the rows in both tables to this file: .png or .svg
    #[arg(long, value_name = "FILE", value_parser = PictureTarget::parse, help_heading = "Output")]
    pub(crate) plot: Option<PictureTarget>,

    #[command(flatten)]
    pub(crate) running: Running,
}

/// A form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// A column whose adjusted p-value is at most this is said to have moved.
const LEVEL: f64 = 0.05;

pub(crate) fn compare(args: &CompareArgs) -> Result<Outcome> {
    if args.first == args.second && args.first.as_os_str() == "-" {
        return Err(Error::Usage("only one of the two tables can be standard input".to_owned()));
    }
    let (file, format) = target(args)?;
    let picture = args.plot.as_ref().map(PictureTarget::open).transpose()?;
    let quiet = args.running.quiet;
    let mut first = open(&args.first, &args.roles, quiet)?;
    let mut second = open(&args.second, &args.roles, quiet)?;
    let columns = Columns::of(&first, &args.roles)?;
    let others = Columns::of_second(&second, &first, &columns)?;
    let asked = columns.options(&first, &args.roles)?;
    let names = columns.names(&first);
    let above = typed(&mut first, &columns, &names)?;
    let names = others.names_in(&second, &first);
    let below = typed(&mut second, &others, &names)?;
    tell(first.file(), &above.2, quiet);
    tell(second.file(), &below.2, quiet);
    let settings = args.question.given.settings(args.question.method, above.0.rows() as f64)?;
    let options = CompareOptions {
        tests: if args.tests.is_empty() { TwoSampleTest::ALL.to_vec() } else { args.tests.clone() },
        settings: super::within_memory(&settings),
        permutations: args.permutations,
        seed: args.permutation_seed,
        max_rows: args.max_rows,
    };
    let run = Run { threads: args.running.threads.map(usize::from), ..Run::default() };
    let weights = [weights(&above.1), weights(&below.1)];
    let found = Comparison::of_tables([&above.0, &below.0], weights, &asked, &options, &run);
    let (found, encoding) = found.map_err(|error| located(&first, &second, error))?;
    if found.used.iter().sum::<usize>() < found.rows.iter().sum::<usize>() {
        let [a, b] = found.used;
        console::note(
            quiet,
            format_args!("note: {a} and {b} rows were chosen at random for the tests; --max-rows uses more"),
        );
    }
    let answer = Answer {
        files: [first.file(), second.file()],
        encoding: &encoding,
        settings: &settings,
        found: &found,
    };
    if let Some(picture) = picture {
        let tables = [&above.0, &below.0];
        let pairs = DepthPairs::of_tables(tables, weights, &asked, &options, &run)
            .map_err(|error| located(&first, &second, error))?;
        picture.draw(&answer.picture(&pairs))?;
    }
    let text = match format {
        Format::Text => answer.text(),
        Format::Json => answer.json(&options)?,
    };
    match file {
        Some(file) => file.write(text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(Outcome::Done)
}

fn weights(all: &[f64]) -> Option<&[f64]> {
    (!all.is_empty()).then_some(all)
}

/// Gives an error about one of the tables, or both, the name of the file.
fn located(first: &Table, second: &Table, error: DepthError) -> Error {
    match error {
        DepthError::Table(text) if text.starts_with("the second sample") => {
            second.problem(Problem::Table(text))
        }
        DepthError::Table(text) if text.starts_with("the first sample") => {
            first.problem(Problem::Table(text))
        }
        DepthError::Table(text) => {
            Error::Usage(format!("{} and {}: {}", first.file(), second.file(), text.replace('\n', "; ")))
        }
        error => Error::Depth(error),
    }
}

/// The file to write and the form, which follow from one another.
fn target(args: &CompareArgs) -> Result<(Option<Whole>, Format)> {
    let Some(path) = &args.out else { return Ok((None, args.format.unwrap_or(Format::Text))) };
    if [&args.first, &args.second].contains(&path) {
        let path = path.display();
        return Err(Error::Usage(format!(
            "{path}: cannot be read and written at once; --out needs another name"
        )));
    }
    let extension = Path::new(path).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let named = match extension.as_deref() {
        Some("txt") => Some(Format::Text),
        Some("json") => Some(Format::Json),
        _ => None,
    };
    let Some(format) = args.format.or(named) else {
        return Err(Error::Usage(format!("{}: the name must end in .txt or .json", path.display())));
    };
    Ok((Some(Whole::open(path)?), format))
}

/// What is said about two tables.
struct Answer<'a> {
    files: [&'a str; 2],
    encoding: &'a lossdepth::data::Encoding,
    settings: &'a Settings,
    found: &'a Comparison,
}

impl Answer<'_> {
    /// A DD-plot.
    fn picture(&self, pairs: &DepthPairs) -> Scene {
        let [a, b] = self.files.map(shorten);
        let largest = pairs.first.iter().chain(&pairs.second).flatten().copied().fold(0.0, f64::max);
        let rows = |name: &str, points: &[[f64; 2]], colour| Trace {
            name: name.to_owned(),
            points: points.to_vec(),
            style: TraceStyle::Marks(colour),
        };
        let diagonal = vec![[0.0, 0.0], [largest, largest]];
        let chart = Chart {
            traces: vec![
                Trace { name: String::new(), points: diagonal, style: TraceStyle::Guide },
                rows(&a, &pairs.first, 4),
                rows(&b, &pairs.second, 1),
            ],
            ..Chart::new(format!("depth in {a}"), format!("depth in {b}"))
        };
        let caption = format!(
            "Depths ({}) of {} and {}. Without a difference they lie along the diagonal.",
            self.settings.method,
            count(pairs.first.len(), "row"),
            count(pairs.second.len(), "row")
        );
        let style = Style { width: 1500, height: 1600, title: None, caption, text_scale: 1.0 };
        lossdepth_plot::chart(&style, &chart)
    }

    fn text(&self) -> String {
        let ([first, second], found) = (self.files, self.found);
        let [a, b] = found.rows.map(|rows| count(rows, "row"));
        let mut out = format!("{first} ({a}) and {second} ({b})\n");
        let _ = writeln!(out, "  compared   {}", announce::compared(self.encoding));
        let left = self.encoding.left_out();
        if !left.is_empty() {
            let each: Vec<String> =
                left.iter().map(|left| format!("{} ({})", shorten(&left.name), left.why)).collect();
            let _ = writeln!(out, "  left out   {}", each.join(", "));
        }
        if !found.left_out.is_empty() {
            let _ = writeln!(out, "  unmatched  {}", list(&found.left_out));
        }
        let _ = writeln!(out, "\n{}", self.verdict());
        for test in &found.tests {
            let (p, adjusted) = (probability(test.p), probability(test.adjusted));
            let _ =
                writeln!(out, "  {:<10}  p {p:<6} adjusted {adjusted:<6}  {}", test.test, self.meaning(test));
        }
        let (moved, rest): (Vec<_>, Vec<_>) =
            found.columns.iter().partition(|column| column.adjusted <= LEVEL);
        if moved.is_empty() {
            let _ = writeln!(out, "\nNo single column moved by more than chance explains.");
            return out;
        }
        let _ = writeln!(out, "\nColumns that moved (adjusted p at most {LEVEL})");
        let width = moved.iter().map(|column| shorten(&column.name).chars().count()).max().unwrap_or(0);
        for column in moved {
            let (name, p) = (shorten(&column.name), probability(column.adjusted));
            let _ = writeln!(
                out,
                "  {name:<width$}  p {p:<6}  distance {:.2}  {}",
                column.distance,
                change(column)
            );
        }
        if !rest.is_empty() {
            let _ = writeln!(out, "  {} did not", count(rest.len(), "other comparison"));
        }
        out
    }

    fn verdict(&self) -> String {
        let least = self.found.tests.iter().min_by(|a, b| a.adjusted.total_cmp(&b.adjusted));
        match least {
            Some(test) if test.adjusted <= LEVEL => format!(
                "The tables differ: the {} test has p {}, {} after adjusting for {}",
                test.test,
                probability(test.p),
                probability(test.adjusted),
                count(self.found.tests.len(), "test")
            ),
            _ if self.found.columns.iter().any(|column| column.adjusted <= LEVEL) => {
                "Single columns moved; no test of whole rows finds a difference that chance does not explain"
                    .to_owned()
            }
            _ => "No difference was found that chance does not explain".to_owned(),
        }
    }

    fn meaning(&self, test: &TestResult) -> String {
        let (x, second) = (test.statistic, shorten(self.files[1]));
        match test.test {
            TwoSampleTest::Rank => {
                let how = if x < 0.5 { "more outlying" } else { "less outlying" };
                let share = 100.0 * if x < 0.5 { 1.0 - x } else { x };
                format!("a row of {second} is {how} than one of the first table in {share:.0} of 100 pairs")
            }
            TwoSampleTest::Kernel => format!("squared maximum mean discrepancy {x:.3e}"),
            TwoSampleTest::Classifier => {
                format!("risk {x:.3} of telling held-out rows apart; 1 is guessing")
            }
        }
    }

    fn json(&self, options: &CompareOptions) -> Result<String> {
        let found = self.found;
        let answer = Json {
            version: 1,
            first: self.files[0],
            second: self.files[1],
            rows: found.rows,
            used: found.used,
            permutations: options.permutations,
            seed: options.seed,
            settings: self.settings,
            tests: found.tests.iter().map(JsonTest::from).collect(),
            columns: found.columns.iter().map(JsonColumn::from).collect(),
            left_out: &found.left_out,
        };
        let text = serde_json::to_string_pretty(&answer)
            .map_err(|error| Error::Usage(format!("the result cannot be written: {error}")))?;
        Ok(text + "\n")
    }
}

/// What changed in a column.
fn change(column: &ColumnShift) -> String {
    let (what, [first, second]) = column.shifted.in_words();
    format!("{} {first} → {second}", shorten(&what))
}

fn probability(p: f64) -> String {
    if p < 0.000_1 {
        format!("{p:.0e}")
    } else if p < 0.1 {
        format!("{p:.4}")
    } else {
        format!("{p:.2}")
    }
}

#[derive(Serialize)]
struct Json<'a> {
    version: u32,
    first: &'a str,
    second: &'a str,
    rows: [usize; 2],
    used: [usize; 2],
    permutations: usize,
    seed: u64,
    settings: &'a Settings,
    tests: Vec<JsonTest>,
    columns: Vec<JsonColumn<'a>>,
    left_out: &'a [String],
}

#[derive(Serialize)]
struct JsonTest {
    test: &'static str,
    statistic: f64,
    p: f64,
    adjusted: f64,
}

impl From<&TestResult> for JsonTest {
    fn from(test: &TestResult) -> Self {
        let TestResult { test, statistic, p, adjusted } = *test;
        Self { test: test.name(), statistic, p, adjusted }
    }
}

#[derive(Serialize)]
struct JsonColumn<'a> {
    column: &'a str,
    distance: f64,
    p: f64,
    adjusted: f64,
    change: String,
}

impl<'a> From<&'a ColumnShift> for JsonColumn<'a> {
    fn from(column: &'a ColumnShift) -> Self {
        let ColumnShift { name, distance, p, adjusted, .. } = column;
        Self { column: name, distance: *distance, p: *p, adjusted: *adjusted, change: change(column) }
    }
}
