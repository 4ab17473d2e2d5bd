//! What can be asked for.

use crate::error::Result;
use crate::load::Header;
use crate::settings::Given;
use crate::write::Target;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use lossdepth::{DepthError, Method, Settings};
use std::path::PathBuf;
use std::str::FromStr;

const EXAMPLES: &str = "\
Examples:
  lossdepth score data.csv --scale standard            each row against the others
  lossdepth score new.csv --reference old.csv          new rows against old ones
  lossdepth score data.csv --id id --label y --out scores.json
  zcat data.csv.gz | lossdepth score - --columns a,b,c --method hinge | sort -t, -gk2 | head
  lossdepth methods                                    methods, settings and defaults";

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
    /// Score the rows of a table
    Score(Box<Score>),
    /// List every method, its settings and their defaults
    Methods,
}

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

    /// The method, see `lossdepth methods`
    #[arg(long, value_name = "NAME", default_value = "logistic", value_parser = named::<Method>(Method::ALL.map(Method::name)))]
    #[arg(help_heading = "Settings", hide_possible_values = true)]
    pub(crate) method: Method,

    #[command(flatten)]
    pub(crate) settings: Given,

    /// The columns to compare, as `a,b` [default: all but label, id and weights]
    #[arg(long, value_name = "COLS", help_heading = "Columns")]
    pub(crate) columns: Option<String>,

    /// The column with the label: copied to the output, never compared
    #[arg(long, value_name = "COL", help_heading = "Columns")]
    pub(crate) label: Option<String>,

    /// The column with the id: takes the place of the row number in the output, never compared
    #[arg(long, value_name = "COL", help_heading = "Columns")]
    pub(crate) id: Option<String>,

    /// The column of the reference with the weights of its rows: a weight of 2 is as good as two copies
    #[arg(long, value_name = "COL", help_heading = "Columns")]
    pub(crate) weights: Option<String>,

    /// The first line is the header, even if it is all numbers
    #[arg(long, conflicts_with = "no_header", help_heading = "Columns")]
    pub(crate) header: bool,

    /// The first line is data, even if it has text
    #[arg(long, help_heading = "Columns")]
    pub(crate) no_header: bool,

    /// Write to this file: .csv, .tsv or .json, and .gz after it [default: CSV to standard output]
    ///
    /// The file appears when all rows are done, or not at all.
    #[arg(long, value_name = "FILE", value_parser = Target::parse, help_heading = "Output")]
    pub(crate) out: Option<Target>,

    /// Show no progress, notes or summary; warnings, errors and the AUC remain
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// How many threads to use [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

impl Score {
    /// The defaults of the method, and what was said otherwise.
    pub(crate) fn settings(&self) -> Result<Settings> {
        self.settings.settings(self.method)
    }

    pub(crate) fn header(&self) -> Header {
        match (self.header, self.no_header) {
            (true, _) => Header::Yes,
            (_, true) => Header::No,
            _ => Header::Detect,
        }
    }

    /// The names in `--columns`; quoted as in CSV where a name has a comma in it.
    pub(crate) fn columns(&self) -> Option<Vec<String>> {
        let list = self.columns.as_deref()?;
        Some(crate::load::split(list).into_iter().filter(|name| !name.is_empty()).collect())
    }
}

/// Values chosen by name: clap lists them and suggests the nearest.
fn named<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = DepthError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
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
