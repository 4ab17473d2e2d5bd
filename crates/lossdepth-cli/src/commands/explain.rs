//! `lossdepth explain`: why rows have the depth they have.

mod report;
mod table;

use super::inputs::{Inputs, Read};
use super::plot::{pair, size};
use super::{Outcome, announce};
use crate::args::{Asked, Running, at_least_one};
use crate::console::{self, Progress};
use crate::error::{Error, Result, count, shorten};
use crate::load::list;
use crate::suggest::nearest;
use crate::write::{self, Whole, print};
use clap::{Args, ValueEnum};
use lossdepth::{DepthError, Fit, Model, Rows, Run, Stop};
use lossdepth_plot::{EmpiricalDistribution, ImagePair, Scene, Style};
use report::Report;
use std::path::PathBuf;

const EXPLAIN_NOTES: &str = "\
For a linear method the classifier that tells the row from the sample is f(x) = baseline + a contribution of each column; \
f is positive for the sample and negative for the row, so the most negative contributions give the row away, and \
they add up to f(z) exactly. For methods with a kernel and networks the table has the slopes of f at the row, for a forest \
the cuts that its trees make around it, for the halfspace depth the direction of the emptiest halfspace. `auto` and \
forests with rotations have no one classifier to show: for them the reasons are in words, as `lossdepth outliers` gives them.

The rows of the sample with the most influence are named with the change in depth that leaving them out would make.

With --image the rows are images, line by line: each is drawn beside its coefficients, white where they are \
negative, black where they are positive.

Examples:
  lossdepth explain data.csv --scale standard --row 17 --row 42
  lossdepth explain data.csv --id name --row \"sensor 12\"
  lossdepth explain new.csv --reference old.csv --shallowest 5 --method svm --json
  lossdepth explain shoes.csv --image 28x28 --shallowest 4 --reg 0.1 --out shoes.png";

/// Say why rows have the depth they have: depth, rank, and what gives each row away
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_NOTES)]
pub(crate) struct Explain {
    /// The table with the rows; `-` is standard input
    pub(crate) data: PathBuf,

    /// A row by its number, from 0, or by its id if there is an --id column; may be repeated
    #[arg(long, value_name = "ROW", allow_hyphen_values = true, help_heading = "Rows")]
    pub(crate) row: Vec<String>,

    /// The K rows of the lowest depth [default: 3, if nothing else is asked for]
    #[arg(long, value_name = "K", help_heading = "Rows")]
    pub(crate) shallowest: Option<usize>,

    /// The K rows of the highest depth
    #[arg(long, value_name = "K", help_heading = "Rows")]
    pub(crate) deepest: Option<usize>,

    #[command(flatten)]
    pub(crate) asked: Asked,

    /// How many columns or cuts to show for each row; JSON has all
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = at_least_one, allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) top: usize,

    /// Leave out the rank among the reference, which takes the depth of every row of it
    #[arg(long, help_heading = "Output")]
    pub(crate) no_rank: bool,

    /// How to say it
    #[arg(long, value_name = "FORMAT", value_enum, help_heading = "Output")]
    pub(crate) format: Option<Format>,

    /// The same as --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,

    /// The rows are images of this height and width: draw each beside its coefficients
    #[arg(long, value_name = "HxW", value_parser = pair, help_heading = "Output")]
    pub(crate) image: Option<(usize, usize)>,

    /// The size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1800x1500", value_parser = size, help_heading = "Output")]
    pub(crate) size: (u32, u32),

    /// The title of the picture [default: none]
    #[arg(long, value_name = "TEXT", requires = "image", help_heading = "Output")]
    pub(crate) title: Option<String>,

    /// Write to this file: .png or .svg with --image, .json or .txt without
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) running: Running,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
}

/// Where the result goes.
enum Sink {
    Standard,
    File(Whole),
    Picture(write::PictureFile),
}

pub(crate) fn explain(args: &Explain) -> Result<Outcome> {
    let mut inputs = Inputs::read(&args.data, &args.asked.against, &args.asked.roles, args.running.quiet)?;
    let settings = inputs.settings(&args.asked.question)?;
    check_image(args, &inputs)?;
    let (sink, format) = sink(args)?;
    let model = inputs.model(&args.asked.question)?;
    announce::subsample(model.settings(), model.reference_len(), args.running.quiet);
    let depths = Depths::found(args, &inputs, &model)?;
    let rows = chosen(args, &inputs.data, depths.data.as_deref())?;
    let report = Report::new(&settings, &inputs, &model, &rows, &depths, run(args, None))?;
    match sink {
        Sink::Picture(out) => {
            out.draw(&pictures(args, &inputs, &report)?)?;
            print(&text(&report, format, args.top))?;
        }
        Sink::File(file) => file.write(text(&report, format, args.top).as_bytes())?,
        Sink::Standard => print(&text(&report, format, args.top))?,
    }
    Ok(outcome(&report))
}

fn run<'a>(args: &Explain, progress: Option<&'a (dyn Fn(usize) + Sync)>) -> Run<'a> {
    Run { threads: args.running.threads.map(usize::from), progress, depths_only: true, ..Run::default() }
}

fn text(report: &Report, format: Format, top: usize) -> String {
    match format {
        Format::Table => table::page(report, top),
        Format::Json => report.json(),
    }
}

fn outcome(report: &Report) -> Outcome {
    let unconverged = report.rows.iter().filter(|row| row.stop != Stop::Converged).count();
    if unconverged == 0 {
        return Outcome::Done;
    }
    console::warning(format_args!("{unconverged} of {} did not converge", count(report.rows.len(), "row")));
    Outcome::NotConverged
}

/// The file to write and the format, which follow from one another.
fn sink(args: &Explain) -> Result<(Sink, Format)> {
    let asked = if args.json { Some(Format::Json) } else { args.format };
    let usage = |text: &str| Err(Error::Usage(text.to_owned()));
    let Some(path) = &args.out else {
        if args.image.is_some() {
            return usage("`--image` needs a file for the picture: `--out rows.png` or `--out rows.svg`");
        }
        return Ok((Sink::Standard, asked.unwrap_or(Format::Table)));
    };
    if args.image.is_some() {
        let target = write::PictureTarget::parse(&path.to_string_lossy())
            .map_err(|why| Error::Usage(format!("{}: {why}", path.display())))?;
        return Ok((Sink::Picture(target.open()?), asked.unwrap_or(Format::Table)));
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let format = match (extension.as_deref(), asked) {
        (Some("json"), None | Some(Format::Json)) => Format::Json,
        (Some("txt"), asked) => asked.unwrap_or(Format::Table),
        (Some("png" | "svg"), _) => {
            return usage("a picture needs `--image HxW`: the height and width of the rows");
        }
        (Some("json"), _) => return usage("a table goes into a .txt file"),
        _ => return Err(Error::Usage(format!("{}: the name must end in .json or .txt", path.display()))),
    };
    Ok((Sink::File(Whole::open(path)?), format))
}

fn check_image(args: &Explain, inputs: &Inputs) -> Result<()> {
    let Some((height, width)) = args.image else { return Ok(()) };
    let columns = inputs.reference.width();
    if height.checked_mul(width) == Some(columns) {
        return Ok(());
    }
    let problem = format!("`--image {height}x{width}` needs rows of as many columns, there are {columns}");
    Err(Error::Usage(problem))
}

/// The depths that are needed before rows can be chosen and ranked.
struct Depths {
    /// Of the reference, in order.
    ranked: Option<EmpiricalDistribution>,
    /// Of all rows of the data, where they are to be compared.
    data: Option<Vec<f64>>,
}

impl Depths {
    fn found(args: &Explain, inputs: &Inputs, model: &Model) -> Result<Self> {
        let compared = args.row.is_empty() || args.shallowest.is_some() || args.deepest.is_some();
        let own = inputs.is_its_own_reference();
        let (data, sample) = (inputs.data.part()?.rows, inputs.reference.rows());
        let score_sample = !args.no_rank || (own && compared);
        let score_data = compared && !own;
        let total = if score_sample { sample.len() } else { 0 } + if score_data { data.len() } else { 0 };
        let progress = Progress::new(args.running.quiet, Some(total));
        let advance = |rows| progress.advance(rows);
        let score = |rows: Rows<'_>| -> Result<Vec<f64>, DepthError> {
            let fits: Vec<Fit> = model.score(rows, &run(args, Some(&advance)))?;
            Ok(fits.iter().map(|fit| fit.depth).collect())
        };
        let of_sample = score_sample.then(|| score(sample)).transpose();
        let of_sample = of_sample.map_err(|error| inputs.locate_reference(error))?;
        let of_data = score_data.then(|| score(data)).transpose().map_err(|error| inputs.locate(error))?;
        let ranked = match &of_sample {
            Some(depths) if !args.no_rank => {
                Some(EmpiricalDistribution::new(depths, inputs.reference.weights())?)
            }
            _ => None,
        };
        let data = if own && compared { of_sample } else { of_data };
        Ok(Self { ranked, data })
    }
}

/// The numbers of the rows asked for, without repetition.
fn chosen(args: &Explain, data: &Read, depths: Option<&[f64]>) -> Result<Vec<usize>> {
    let part = data.part()?;
    let mut rows = Vec::new();
    for asked in &args.row {
        rows.extend(find(asked, part.ids, part.rows.len(), data.file(), args.asked.roles.id.is_some())?);
    }
    if let Some(depths) = depths {
        let mut order: Vec<usize> = (0..depths.len()).collect();
        order.sort_by(|&a, &b| depths[a].total_cmp(&depths[b]));
        let nothing = args.row.is_empty() && args.shallowest.is_none() && args.deepest.is_none();
        rows.extend(order.iter().take(args.shallowest.unwrap_or(if nothing { 3 } else { 0 })));
        rows.extend(order.iter().rev().take(args.deepest.unwrap_or(0)));
    }
    let mut seen = std::collections::HashSet::new();
    rows.retain(|row| seen.insert(*row));
    if rows.is_empty() {
        return Err(Error::Usage(format!("{}: no row to explain", data.file())));
    }
    Ok(rows)
}

/// A row by its id, all of that id; or by its number, where there are no ids or nobody asked for them.
fn find(asked: &str, ids: Option<&[String]>, rows: usize, file: &str, by_id: bool) -> Result<Vec<usize>> {
    if let Some(ids) = ids {
        let found: Vec<usize> = (0..ids.len()).filter(|&i| ids[i] == asked).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        if let Some(row) = asked.parse().ok().filter(|row| !by_id && *row < rows) {
            return Ok(vec![row]);
        }
        return Err(Error::Usage(format!(
            "{file}: no row has the id `{}`{}",
            shorten(asked),
            hint(asked, ids)
        )));
    }
    match asked.parse::<usize>() {
        Ok(row) if row < rows => Ok(vec![row]),
        Ok(row) if rows > 0 => {
            Err(Error::Usage(format!("{file}: no row {row}: the rows are numbered from 0 to {}", rows - 1)))
        }
        Ok(_) => Err(Error::Usage(format!("{file}: there are no rows"))),
        Err(_) => Err(Error::Usage(format!(
            "`--row {asked}` is not the number of a row; to find rows by a name, say in which column with --id"
        ))),
    }
}

/// Which id may have been meant. Numbers are not mistyped words: the nearest one is as good as any.
fn hint(asked: &str, ids: &[String]) -> String {
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    match nearest(asked, ids.iter().map(String::as_str)).filter(|id| !is_number(asked) || !is_number(id)) {
        Some(id) => format!("; did you mean `{}`?", shorten(id)),
        None => format!("; there are {}", list(ids)),
    }
}

/// The rows as images, each beside its coefficients.
fn pictures(args: &Explain, inputs: &Inputs, report: &Report) -> Result<Scene> {
    let data = inputs.data.part()?.rows;
    let pair = |row: &report::Row| {
        let Some(coefficients) = row.gradient.clone() else {
            return Err(Error::Usage(format!("method {} has no coefficients to draw", report.method)));
        };
        Ok(ImagePair {
            name: format!("{}: depth {:.3}", row.name, row.depth),
            pixels: data.row(row.number).to_vec(),
            coefficients,
        })
    };
    let pairs = report.rows.iter().map(pair).collect::<Result<Vec<_>>>()?;
    let what = if report.rows.iter().all(|row| row.linear) { "coefficients" } else { "slopes at the row" };
    let caption = format!(
        "Left: the row, from its lowest value (white) to its highest (black). Right: the {what} of the classifier that tells \
         it from the sample, negative white, zero grey, positive black: white is what gives the row away. {}",
        report.about
    );
    let (width, height) = args.size;
    let style = Style { width, height, title: args.title.clone(), caption, text_scale: 1.0 };
    Ok(lossdepth_plot::images(&style, args.image.unwrap_or((1, data.width())), &pairs))
}
