//! The arguments of the command line.

use crate::commands::central::Central;
use crate::commands::compare::CompareArgs;
use crate::commands::evaluate::Evaluate;
use crate::commands::explain::Explain;
use crate::commands::fit::Fit;
use crate::commands::info::Info;
use crate::commands::outliers::OutliersArgs;
use crate::commands::plot::Plot;
use crate::commands::report::ReportArgs;
use crate::commands::reproduce::Reproduce;
use crate::commands::score::Score;
use crate::commands::shell::{Completions, Manual};
use crate::error::{Result, shorten};
use crate::load::{Header, Reading};
use crate::settings::{Given, PRESET};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use lossdepth::data::{ColumnKind, Missing, ReferenceRows};
use lossdepth::model::Setting;
use lossdepth::{DepthError, Method, Reference, Settings};
use std::num::IntErrorKind;
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  lossdepth outliers orders.csv                        the oddest rows, each with its reasons
  lossdepth report orders.csv --out odd.html           the same as a page to send to someone
  lossdepth score new.csv --reference old.csv          numbers: new rows against old ones
  lossdepth fit old.csv --out model.safetensors        a model, to score new rows with:
  lossdepth score new.csv --model model.safetensors
  zcat data.csv.gz | lossdepth score - --columns a,b,c --top 10
  lossdepth compare old.csv new.csv                    do two tables differ, and where
  lossdepth plot data.csv --columns a,b --method svm --out map.png
  lossdepth evaluate data.csv --label y                which method finds the outliers
  lossdepth methods                                    methods, settings and defaults";

const METHODS_EXAMPLES: &str = "\
Examples:
  lossdepth methods
  lossdepth methods | grep -A1 halfspace";

/// How central is each row? As hard as it is to tell it apart from the data.
///
/// A loss depth is the risk that remains when the best classifier of a family is trained to separate one row
/// from the data: close to 1 for central rows, close to 0 for outliers.
#[derive(Debug, Parser)]
#[command(name = "lossdepth", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the oddest rows of a table, each with its reasons
    Outliers(Box<OutliersArgs>),
    /// Write a page about the oddest rows, to read in a browser
    Report(Box<ReportArgs>),
    /// Score the rows of a table
    Score(Box<Score>),
    /// Say why rows have the depth they have
    Explain(Box<Explain>),
    /// Draw the depth as a map with contours
    Plot(Box<Plot>),
    /// Fit a model to a table and save it
    Fit(Box<Fit>),
    /// Test whether two tables come from one distribution, and show which columns moved
    Compare(Box<CompareArgs>),
    /// Find the deepest point of a table, and the mean of its deepest rows
    Central(Box<Central>),
    /// Compare methods on data with known outliers
    Evaluate(Box<Evaluate>),
    /// Redo the experiments of the paper
    Reproduce(Reproduce),
    /// Show what is in a model file
    Info(Info),
    /// List every method, its settings and their defaults
    #[command(after_help = METHODS_EXAMPLES)]
    Methods,
    /// Print completions for a shell
    Completions(Completions),
    /// Print or install the manual pages
    Man(Manual),
}

/// What the data are compared with: themselves, another table, or a model.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Against {
    /// The table to compare with [default: the data itself]
    ///
    /// Columns are matched by name if both tables have a header, by position otherwise.
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: Option<PathBuf>,

    /// The model to compare with, saved by `lossdepth fit` or from Python
    ///
    /// Its method and settings are part of it. Columns are matched by name if the model has names and the data a
    /// header, by position otherwise; with --columns those are taken, in that order.
    #[arg(long, value_name = "FILE", conflicts_with_all = fixed_by_a_model())]
    pub(crate) model: Option<PathBuf>,
}

/// The flags that a fitted model excludes: all settings except the memory limit.
fn fixed_by_a_model() -> impl Iterator<Item = &'static str> {
    let settings = Setting::ALL.iter().map(|setting| setting.name).filter(|name| *name != "memory");
    ["reference", "method", "weights", PRESET].into_iter().chain(settings)
}

/// Which columns play which part, and how files are read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct Roles {
    /// The columns to compare, as `a,b` [default: all but label, id and weights]
    #[arg(long, value_name = "COLS")]
    pub(crate) columns: Option<String>,

    /// Columns not to compare, as `a,b`
    #[arg(long, value_name = "COLS", conflicts_with = "columns")]
    pub(crate) exclude: Option<String>,

    /// The column with the label: copied to the output, never compared
    #[arg(long, value_name = "COL")]
    pub(crate) label: Option<String>,

    /// The column with the id: replaces the row number in the output, never compared [default: found by its content]
    #[arg(long, value_name = "COL")]
    pub(crate) id: Option<String>,

    /// The column of the reference with the weights of its rows: a row of weight 2 counts as two copies; weights that are
    /// not all whole numbers are importance weights
    #[arg(long, value_name = "COL")]
    pub(crate) weights: Option<String>,

    /// What columns hold, as `zip=category,customer=text`: number, category, boolean, date, id or text [default: guessed]
    #[arg(long = "as", value_name = "COL=KIND,…")]
    pub(crate) kinds: Vec<String>,

    /// What is done with gaps: compare rows on what they have, refuse them (error), leave their rows out (drop), or take the
    /// median, and of a category the most frequent level (median)
    #[arg(long, value_name = "HOW", default_value_t, value_parser = named::<Missing>(Missing::ALL.map(Missing::name)))]
    pub(crate) missing: Missing,

    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// How text files and workbooks are read; found by their content where nothing is said.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// The first line is the header, even if it is all numbers
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,

    /// The first line is data, even if it has text
    #[arg(long)]
    pub(crate) no_header: bool,

    /// How many lines are above the header [default: found]
    #[arg(long, value_name = "N")]
    pub(crate) skip: Option<u64>,

    /// Words for a gap, as `unknown,999`, beyond empty cells, NA, N/A, null, -, ? and the like
    #[arg(long, value_name = "WORDS")]
    pub(crate) na: Option<String>,

    /// The decimal mark, `.` or `,` [default: found for each column]
    #[arg(long, value_name = "MARK", value_parser = ["," , "."], hide_possible_values = true)]
    pub(crate) decimal: Option<String>,

    /// Dates as 1/2/2024 are the first of February [default: found for each column]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(crate) day_first: Option<bool>,

    /// The encoding of texts, as windows-1252 or utf-16le [default: found]
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,

    /// The sheet of a workbook, by its name or its number from 1 [default: the first with something in it]
    #[arg(long, value_name = "SHEET")]
    pub(crate) sheet: Option<String>,
}

impl ReadingArgs {
    /// The words in `--na`.
    pub(crate) fn gaps(&self) -> Vec<String> {
        list(self.na.as_deref())
    }

    /// The same, for those who read.
    pub(crate) fn reading(&self) -> Reading {
        let header = match (self.header, self.no_header) {
            (true, _) => Header::Yes,
            (_, true) => Header::No,
            _ => Header::Detect,
        };
        let decimal = self.decimal.as_deref().and_then(|mark| mark.chars().next());
        let (encoding, sheet) = (self.encoding.clone(), self.sheet.clone());
        Reading { header, skip: self.skip, encoding, sheet, gaps: self.gaps(), decimal }
    }
}

impl Roles {
    /// The names in `--columns`; quoted as in CSV where a name has a comma in it.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        self.columns.as_deref().map(|names| list(Some(names)))
    }

    /// The names in `--exclude`.
    pub(crate) fn exclude(&self) -> Vec<String> {
        list(self.exclude.as_deref())
    }

    /// The columns and kinds in `--as`; all that is wrong with them in one message.
    pub(crate) fn kinds(&self) -> Result<Vec<(String, ColumnKind)>, String> {
        let (mut kinds, mut wrong) = (Vec::new(), Vec::new());
        for entry in self.kinds.iter().flat_map(|kinds| list(Some(kinds))) {
            let Some((name, kind)) = entry.rsplit_once('=') else {
                wrong.push(format!("`{}` is not of the form column=kind", shorten(&entry)));
                continue;
            };
            let known = match kind.trim().to_lowercase().as_str() {
                "numeric" => Some(ColumnKind::Number),
                "bool" => Some(ColumnKind::Boolean),
                "time" | "datetime" => Some(ColumnKind::Time),
                "string" => Some(ColumnKind::Text),
                name => name.parse().ok(),
            };
            if let Some(kind) = known {
                kinds.push((name.trim().to_owned(), kind));
            } else {
                let kinds = ColumnKind::ALL.map(ColumnKind::name).join(", ");
                wrong.push(format!("`{}` is no kind of column; there are {kinds}", shorten(kind)));
            }
        }
        if wrong.is_empty() { Ok(kinds) } else { Err(format!("`--as`: {}", wrong.join("; "))) }
    }
}

/// A list as it is written: commas between, quotes where there is one in a name.
pub(crate) fn list(text: Option<&str>) -> Vec<String> {
    text.map(|text| crate::load::split(text).into_iter().filter(|name| !name.is_empty()).collect())
        .unwrap_or_default()
}

/// A method and its settings.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct Question {
    /// The method, see `lossdepth methods`
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = methods())]
    #[arg(hide_possible_values = true)]
    pub(crate) method: Method,

    #[command(flatten)]
    pub(crate) given: Given,
}

impl Question {
    /// Checks the settings as far as that is possible without the data.
    pub(crate) fn check(&self) -> Result<()> {
        self.given.settings(self.method, 2.0).map(|_| ())
    }

    /// The same, comparing with a sample if the reference is large and nothing was said about it.
    #[must_use]
    pub(crate) fn or_sampled(&self, rows: usize) -> Self {
        let mut question = self.clone();
        let has = self.method.settings().contains(&"reference_rows");
        if rows > ReferenceRows::EXACT && has && self.method != Method::Auto {
            question.given.set_default("reference_rows", ReferenceRows::Auto.to_string());
        }
        question
    }

    /// The defaults of the method, overridden by the preset, overridden by the flags.
    pub(crate) fn settings(&self, reference: &Reference) -> Result<Settings> {
        self.given.settings(self.method, reference.observations())
    }
}

/// What a table is compared with, by which method, and which of its columns.
#[derive(Debug, Clone, Args)]
pub(crate) struct Asked {
    #[command(flatten)]
    pub(crate) against: Against,

    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) roles: Roles,
}

/// How a command runs; no result depends on it.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Running {
    /// Show no progress, notes or summary; results, warnings and errors remain
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// How many threads to use [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Options")]
    pub(crate) threads: Option<u16>,
}

/// Parses a method by its name, or by another one that it has, as `tukey` for `halfspace`.
fn methods() -> impl TypedValueParser<Value = Method> {
    let value = |method: Method| PossibleValue::new(method.name()).aliases(method.aliases().iter().copied());
    PossibleValuesParser::new(Method::ALL.map(value)).try_map(|name| name.parse::<Method>())
}

/// Parses values that are chosen by name; clap lists them and suggests the nearest.
fn named<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = DepthError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}

/// A number of rows or columns.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Ok(usize::MAX),
        Err(_) => Err("it must be a whole number, as 10".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_interface_is_consistent() {
        Cli::command().debug_assert();
    }
}
