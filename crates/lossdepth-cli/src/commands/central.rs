//! `lossdepth central`: the deepest point of a table, and the mean of its deepest rows.

use super::announce;
use super::methods::table;
use super::model::Saved;
use super::{Outcome, fit, inputs, learn, open, summary};
use crate::args::{Question, Roles, Running};
use crate::console;
use crate::error::{Error, Problem, Result, count, shorten};
use crate::load::Columns;
use crate::write::print;
use clap::Args;
use lossdepth::stats::central::{CentralRegion, Deepest, Found, central_region, deepest};
use lossdepth::{Model, Run, Settings};
use serde::Serialize;
use std::path::PathBuf;

const NOTES: &str = "\
The deepest point is a median of all columns at once. It is proven for mahalanobis, for zonoid, and for halfspace with two \
columns; for other methods it is the result of a local search from the deepest row, the mean and the medians of the columns. \
It needs columns of numbers. The trimmed mean is the mean of the deepest rows.

Examples:
  lossdepth central data.csv --method zonoid
  lossdepth central data.csv --method spatial --share 0.9
  lossdepth central --model model.safetensors --json";

/// Find the deepest point of a table, and the mean of its deepest rows
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct Central {
    /// The table; `-` is standard input
    #[arg(required_unless_present = "model")]
    pub(crate) data: Option<PathBuf>,

    /// Take the reference of this model, saved by `lossdepth fit` or from Python or R
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "method", "weights"])]
    pub(crate) model: Option<PathBuf>,

    /// The share of the weight that the deepest rows have at least, above 0 and at most 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub(crate) share: f64,

    /// Write JSON instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) roles: Roles,

    #[command(flatten)]
    pub(crate) running: Running,
}

pub(crate) fn run(args: &Central) -> Result<Outcome> {
    let quiet = args.running.quiet;
    let (file, model, names) = match (&args.model, &args.data) {
        (Some(model), _) => {
            let saved = Saved::open(model)?;
            let names = match (saved.archive.encoding(), saved.archive.column_names()) {
                (Some(encoding), _) => inputs::names_of(encoding),
                (None, Some(names)) => names.to_vec(),
                (None, None) => (1..=saved.archive.reference().width()).map(|j| j.to_string()).collect(),
            };
            (saved.file().to_owned(), saved.model(args.question.given.memory())?, names)
        }
        (None, Some(data)) => {
            args.question.check()?;
            let mut data = open(data, &args.roles, quiet)?;
            let columns = Columns::of(&data, &args.roles)?;
            let (encoding, mut block) = learn(&mut data, &columns, &args.roles, quiet)?;
            let sample = block.reference(&encoding);
            let locate = |error| block.locate(&data, &columns, &encoding, error);
            let model = fit(&args.question, &sample.map_err(locate)?, &encoding)?.map_err(locate)?;
            announce::subsample(model.settings(), model.reference_len(), quiet);
            (data.file().to_owned(), model, inputs::names_of(&encoding))
        }
        (None, None) => return Err(Error::Usage("there is no table and no model".to_owned())),
    };
    if let Some(warning) = model.warning() {
        console::warning(warning);
    }
    let run = Run { threads: args.running.threads.map(usize::from), ..Run::default() };
    let problem = |error| Error::Input { file: file.clone(), problem: Problem::Depth(error) };
    let point = deepest(&model, &run).map_err(problem)?;
    let region = central_region(&model, args.share, &run).map_err(Error::Depth)?;
    let answer = Answer { file: &file, model: &model, names: &names, point: &point, region: &region };
    print(&if args.json { answer.json() } else { answer.text() })?;
    Ok(Outcome::Done)
}

/// What is said of a sample.
struct Answer<'a> {
    file: &'a str,
    model: &'a Model,
    names: &'a [String],
    point: &'a Deepest,
    region: &'a CentralRegion,
}

impl Answer<'_> {
    fn text(&self) -> String {
        let (point, region) = (self.point, self.region);
        let mut lines = vec![["column", "deepest point", "trimmed mean"].map(str::to_owned).to_vec()];
        let columns = self.names.iter().zip(&point.point).zip(&region.mean);
        lines.extend(
            columns.map(|((name, at), mean)| vec![shorten(name), format!("{at:.6}"), format!("{mean:.6}")]),
        );
        let known = match point.found {
            Found::Proven => "no point is deeper".to_owned(),
            Found::LocalSearch if point.upper < 1.0 => {
                format!("by local search; no point is deeper than {:.6}", point.upper)
            }
            Found::LocalSearch => "by local search; other points may be deeper".to_owned(),
        };
        format!(
            "{} ({}): {}\n\n{}\nThe deepest point has depth {:.6}: {known}. The deepest row is {} with depth {:.6}.\n\
             The mean is that of the {} with depth {:.6} or more, {:.1} % of the weight.\n",
            self.file,
            count(self.model.reference_len(), "row"),
            summary(self.model.settings()),
            table(&lines),
            point.depth,
            point.row + 1,
            point.row_depth,
            count(region.rows.len(), "row"),
            region.depth,
            100.0 * region.mass,
        )
    }

    fn json(&self) -> String {
        let (point, region) = (self.point, self.region);
        let answer = Json {
            version: 1,
            file: self.file,
            settings: self.model.settings(),
            columns: self.names,
            deepest_point: JsonPoint {
                point: &point.point,
                depth: point.depth,
                upper: point.upper,
                found: point.found.name(),
                row: point.row + 1,
                row_depth: point.row_depth,
            },
            central_region: JsonRegion {
                depth: region.depth,
                rows: region.rows.iter().map(|row| row + 1).collect(),
                share: region.mass,
                mean: &region.mean,
            },
        };
        serde_json::to_string_pretty(&answer).unwrap_or_default() + "\n"
    }
}

#[derive(Serialize)]
struct Json<'a> {
    version: u32,
    file: &'a str,
    settings: &'a Settings,
    columns: &'a [String],
    deepest_point: JsonPoint<'a>,
    central_region: JsonRegion<'a>,
}

/// Rows are counted from 1.
#[derive(Serialize)]
struct JsonPoint<'a> {
    point: &'a [f64],
    depth: f64,
    upper: f64,
    found: &'static str,
    row: usize,
    row_depth: f64,
}

#[derive(Serialize)]
struct JsonRegion<'a> {
    depth: f64,
    rows: Vec<usize>,
    share: f64,
    mean: &'a [f64],
}
