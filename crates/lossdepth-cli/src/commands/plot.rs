//! `lossdepth plot`: the depth as a picture.

mod bagplot;
mod contours;
mod curve;
mod map;
mod plane;
mod rows;
mod values;
mod window;
mod words;
mod work;

use super::inputs::Inputs;
use super::{Outcome, announce};
use crate::args::{Asked, Running};
use crate::error::{Error, Result};
use crate::load::{is_numeric, list};
use crate::write::PictureTarget;
use clap::{Args, ValueEnum};
use lossdepth::Method;
use std::path::PathBuf;
use values::{Shares, contamination, shares, zones};
use work::Work;

pub(super) use values::{pair, size};
pub(super) use words::in_words;

const PLOT_NOTES: &str = "\
With two columns the picture shows the depth over both of them. With more it shows the depth in all columns on the plane \
through the mean along the first two principal axes, with the rows projected on it; `--axes a,b` takes the plane of two \
columns instead, the others at their medians, and `--columns a,b` computes the depth in these two columns alone. One \
column makes a curve. The caption says what was done.

Colours and lines say which share of the reference is at most as deep (--colour depth: the depth itself). Rows among the oddest \
5 % of the reference have a ring (--contamination), and the five oddest have their number or --id beside them (--top), where \
there is room for it.

Principal axes are those of the scaled columns (--scale); methods that do not mind the units have them scaled to a variance \
of 1.

Examples:
  lossdepth plot data.csv --columns a,b --method svm --out map.png
  lossdepth plot data.csv --label y --id name --top 10 --out map.svg
  lossdepth plot data.csv --columns a,b --colour depth --out depth.png
  lossdepth plot data.csv --columns a,b --zones 0.5,0.9 --out zones.png
  lossdepth plot data.csv --columns a,b --method halfspace --bagplot --out bag.svg
  lossdepth plot new.csv --reference old.csv --method forest --axes a,b --out map.png";

/// Draw the depth over a plane: a map with labelled contours and the rows on top
#[derive(Debug, Args)]
#[command(after_help = PLOT_NOTES)]
pub(crate) struct Plot {
    /// The rows to draw; `-` is standard input
    pub(crate) data: PathBuf,

    #[command(flatten)]
    pub(crate) asked: Asked,

    /// The plane, where there are more than two columns: `pca`, or two columns as `a,b`
    #[arg(long, value_name = "AXES", default_value = "pca", help_heading = "Picture")]
    pub(crate) axes: String,

    /// What the colours mean: the percentile, or the depth itself [default: percentile; depth with --levels]
    ///
    /// The percentile is the share of the reference that is at most as deep.
    #[arg(
        long,
        alias = "color",
        value_name = "NAME",
        value_enum,
        conflicts_with = "zones",
        help_heading = "Picture"
    )]
    pub(crate) colour: Option<Colouring>,

    /// Write the names of so many of the oddest rows into the map
    #[arg(long, value_name = "K", default_value_t = 5, help_heading = "Picture")]
    pub(crate) top: usize,

    /// Mark rows as outliers that are among the oddest share of the reference; 0 for no marks
    #[arg(long, value_name = "SHARE", default_value = "0.05", value_parser = contamination, help_heading = "Picture")]
    pub(crate) contamination: f64,

    /// The depths to draw lines at, as `0.1,0.5` [default: round numbers]
    #[arg(long, value_name = "DEPTHS", value_parser = shares, help_heading = "Picture")]
    pub(crate) levels: Option<Shares>,

    /// Fill the regions of the deepest rows instead of the map: shares as `0.5,0.9`, or how many
    #[arg(long, value_name = "SHARES", value_parser = zones, conflicts_with = "levels", help_heading = "Picture")]
    pub(crate) zones: Option<Shares>,

    /// Draw a bagplot: the half of the rows that is deepest, the others within three times it, and outliers (halfspace)
    #[arg(long, conflicts_with_all = ["levels", "zones"], help_heading = "Picture")]
    pub(crate) bagplot: bool,

    /// How many points across the depth is computed at [default: 128; 256 or 512 where it has steps]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..=2048), help_heading = "Picture")]
    pub(crate) grid: Option<u16>,

    /// The size in pixels
    #[arg(long, value_name = "WxH", default_value = "1800x1500", value_parser = size, help_heading = "Picture")]
    pub(crate) size: (u32, u32),

    /// The title [default: none]
    #[arg(long, value_name = "TEXT", help_heading = "Picture")]
    pub(crate) title: Option<String>,

    /// Write to this file: .png or .svg
    ///
    /// The file appears when it is complete, or not at all.
    #[arg(long, value_name = "FILE", value_parser = PictureTarget::parse, help_heading = "Output")]
    pub(crate) out: PictureTarget,

    #[command(flatten)]
    pub(crate) running: Running,
}

/// What colours mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colouring {
    /// The share of the reference that is at most as deep
    Percentile,
    /// The depth
    Depth,
}

pub(crate) fn plot(args: &Plot) -> Result<Outcome> {
    let mut inputs = Inputs::read(&args.data, &args.asked.against, &args.asked.roles, args.running.quiet)?;
    let settings = inputs.settings(&args.asked.question)?;
    check_numbers(&inputs)?;
    let columns = inputs.reference.width();
    if args.bagplot {
        if settings.method != Method::Halfspace || columns != 2 || !inputs.is_its_own_reference() {
            let needs = "`--bagplot` needs `--method halfspace`, two columns (`--columns a,b`) and no other reference";
            return Err(Error::Usage(needs.to_owned()));
        }
    } else if columns == 1 && (args.zones.is_some() || args.levels.is_some()) {
        return Err(Error::Usage("one column makes a curve, which has no zones or contours".to_owned()));
    }
    let data = inputs.data.part()?;
    if data.rows.is_empty() {
        return Err(Error::Usage(format!("{}: there are no rows to draw", inputs.data.file())));
    }
    data.rows.check_finite().map_err(|error| inputs.locate(error))?;
    let out = args.out.open()?;
    let model = if args.bagplot { None } else { Some(inputs.model(&args.asked.question)?) };
    if let Some(model) = &model {
        announce::subsample(model.settings(), model.reference_len(), args.running.quiet);
    }
    let mut work =
        Work { args, settings: &settings, inputs: &inputs, unconverged: 0, asked: 0, largest: 0.0 };
    let scene = match (&model, columns) {
        (None, _) => work.bagplot()?,
        (Some(model), 1) => work.curve(model)?,
        (Some(model), _) => work.map(model)?,
    };
    out.draw(&scene)?;
    Ok(work.finish())
}

/// A picture has axes of numbers.
fn check_numbers(inputs: &Inputs) -> Result<()> {
    if is_numeric(&inputs.encoding) {
        return Ok(());
    }
    let of = |wanted: bool| -> Vec<String> {
        let columns = inputs.encoding.columns().iter();
        columns.filter(|column| column.quantiles().is_some() == wanted).map(|c| c.name().to_owned()).collect()
    };
    let (numbers, categories) = (of(true), of(false));
    Err(Error::Usage(if categories.is_empty() {
        "a picture needs complete numbers; `--missing drop` leaves rows with gaps out, `--missing median` fills them".to_owned()
    } else {
        let some = numbers.iter().take(2).cloned().collect::<Vec<_>>().join(",");
        let hint = if numbers.is_empty() {
            String::new()
        } else {
            format!("; choose columns of numbers, as --columns {some}")
        };
        let (names, are) =
            (list(&categories), if categories.len() == 1 { "is a category" } else { "are categories" });
        format!("a picture needs numbers, and {names} {are}{hint}")
    }))
}
