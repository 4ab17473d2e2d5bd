//! `lossdepth plot`: the depth as a picture.

use super::inputs::Inputs;
use super::{Outcome, announce};
use crate::args::{Against, Question, Roles, Running};
use crate::console::{self, Progress};
use crate::error::{Error, Result, count};
use crate::load::{is_numeric, list};
use crate::write::PictureTarget;
use clap::{Args, ValueEnum};
use lossdepth::data::Scaling;
use lossdepth::methods::halfspace::Regions;
use lossdepth::model::{Percentiles, Value};
use lossdepth::{Fit, Method, Model, Rows, Run, Scale, Settings, Stop, Variant};
use lossdepth_plot::{
    Background, Curve, EmpiricalDistribution, Field, Line, MAX_KINDS, Map, Mark, Plane, Points, Polygon,
    Scene, Style, ticks,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

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
    pub(crate) against: Against,

    #[command(flatten)]
    pub(crate) question: Question,

    #[command(flatten)]
    pub(crate) roles: Roles,

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

fn contamination(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=0.5).contains(&share) => Ok(share),
        _ => Err("it must be between 0 and 0.5".to_owned()),
    }
}

/// Some numbers between 0 and 1, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Shares(Vec<f64>);

fn shares(text: &str) -> Result<Shares, String> {
    let number = |text: &str| match text.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err(format!("`{text}` is not between 0 and 1")),
    };
    let mut shares = text.split(',').map(number).collect::<Result<Vec<f64>, _>>()?;
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    Ok(Shares(shares))
}

/// Shares, or a number of them.
fn zones(text: &str) -> Result<Shares, String> {
    match text.parse::<u32>() {
        Ok(count @ 1..=9) => Ok(Shares((1..=count).map(|i| f64::from(i) / f64::from(count + 1)).collect())),
        Ok(_) => Err("the number of zones must be from 1 to 9".to_owned()),
        Err(_) => shares(text),
    }
}

/// `WxH`, or the other way round for those who say so.
pub(super) fn size(text: &str) -> Result<(u32, u32), String> {
    let (first, second) = pair(text)?;
    let side = |n: usize| u32::try_from(n).ok().filter(|n| (200..=10_000).contains(n));
    match (side(first), side(second)) {
        (Some(width), Some(height)) => Ok((width, height)),
        _ => Err("each side must be from 200 to 10000 pixels".to_owned()),
    }
}

/// Two whole numbers with an `x` between them.
pub(super) fn pair(text: &str) -> Result<(usize, usize), String> {
    let wrong = || format!("`{text}` is not of the form 28x28");
    let (first, second) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse().ok().filter(|n: &usize| *n > 0).ok_or_else(wrong);
    Ok((number(first)?, number(second)?))
}

pub(crate) fn plot(args: &Plot) -> Result<Outcome> {
    let mut inputs = Inputs::read(&args.data, &args.against, &args.roles, args.running.quiet)?;
    let settings = inputs.settings(&args.question)?;
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
    let model = if args.bagplot { None } else { Some(inputs.model(&args.question)?) };
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

/// What is drawn from, and how the computation went.
struct Work<'a> {
    args: &'a Plot,
    settings: &'a Settings,
    inputs: &'a Inputs,
    unconverged: usize,
    asked: usize,
    largest: f64,
}

impl Work<'_> {
    fn style(&self, caption: &str) -> Style {
        let (width, height) = self.args.size;
        Style {
            width,
            height,
            title: self.args.title.clone(),
            caption: format!("{} {caption}", self.about()).trim_end().to_owned(),
            text_scale: 1.0,
        }
    }

    /// What was computed, from what.
    fn about(&self) -> String {
        let rows = count(self.inputs.reference.len(), "row");
        let of = if self.inputs.is_its_own_reference() {
            format!("the {rows} of {}", file_name(self.inputs.reference_file()))
        } else {
            let data = &self.inputs.data;
            let drawn = count(data.part().map_or(0, |part| part.rows.len()), "row");
            format!(
                "{drawn} of {} against {rows} of {}",
                file_name(data.file()),
                file_name(self.inputs.reference_file())
            )
        };
        format!("{} of {of}.", in_words(self.settings))
    }

    fn threads(&self) -> Option<usize> {
        self.args.running.threads.map(usize::from)
    }

    fn score(
        &mut self,
        model: &Model,
        rows: Rows<'_>,
        progress: &Progress,
        depths_only: bool,
    ) -> Result<Vec<Fit>> {
        let advance = |rows| progress.advance(rows);
        let run = Run { threads: self.threads(), progress: Some(&advance), depths_only, ..Run::default() };
        let fits = model.score(rows, &run)?;
        self.asked += fits.len();
        self.unconverged += fits.iter().filter(|fit| fit.stop != Stop::Converged).count();
        self.largest = fits.iter().fold(self.largest, |largest, fit| largest.max(fit.error));
        Ok(fits)
    }

    fn finish(&self) -> Outcome {
        if self.unconverged == 0 {
            return Outcome::Done;
        }
        let Self { unconverged, asked, largest, .. } = self;
        console::warning(format_args!(
            "at {unconverged} of {asked} points the depth did not converge, largest error {largest:.1e}"
        ));
        Outcome::NotConverged
    }

    /// One column.
    fn curve(&mut self, model: &Model) -> Result<Scene> {
        const STEPS: usize = 600;
        let inputs = self.inputs;
        let sample = inputs.data.part()?.rows.as_slice().to_vec();
        let (low, high) = widened(range(sample.iter().chain(inputs.reference.rows().as_slice()).copied()));
        let at: Vec<f64> = (0..=STEPS).map(|i| low + (high - low) * i as f64 / STEPS as f64).collect();
        let progress = Progress::new(self.args.running.quiet, Some(at.len()));
        let fits = self.score(model, Rows::new(&at, 1)?, &progress, false)?;
        let within = |x: f64| x.clamp(0.0, 1.0);
        // Not every method has standard errors.
        let known = fits.iter().all(|fit| fit.stderr.is_finite());
        let spread = |fit: &Fit| if known { 1.96 * fit.stderr } else { 0.0 };
        let band = |fit: &Fit| (within(fit.depth - spread(fit)), within(fit.depth + spread(fit)));
        let band = fits.iter().map(band).collect();
        let depth = fits.iter().map(|fit| fit.depth).collect();
        let name = column_name(&inputs.names[0]);
        let caption =
            if known { "The band is 1.96 standard errors of the sampling to both sides." } else { "" };
        Ok(lossdepth_plot::curve(&self.style(caption), &Curve { name, at, depth, band, sample }))
    }

    fn bagplot(&mut self) -> Result<Scene> {
        let inputs = self.inputs;
        let bagplot = Regions::new(&inputs.reference)?.bagplot(3.0)?;
        let rows = inputs.reference.rows();
        let points = |keep: &dyn Fn(usize) -> bool| -> Vec<[f64; 2]> {
            (0..rows.len()).filter(|i| keep(*i)).map(|i| [rows.row(i)[0], rows.row(i)[1]]).collect()
        };
        let outlying = |i: usize| bagplot.outliers.binary_search(&i).is_ok();
        let polygon = |name: &str, ring: &Vec<[f64; 2]>, shade| Polygon {
            name: name.to_owned(),
            rings: vec![ring.clone()],
            shade,
        };
        let polygons = vec![
            polygon("fence", &bagplot.fence, None),
            polygon("loop", &bagplot.hull, Some(0.12)),
            polygon("bag", &bagplot.bag, Some(0.42)),
        ];
        let kinds = vec![
            Points { name: Some("rows".to_owned()), at: points(&|i| !outlying(i)), mark: Mark::Kind(0) },
            Points {
                name: Some(format!("outliers ({})", bagplot.outliers.len())),
                at: points(&outlying),
                mark: Mark::Outlier,
            },
            Points { name: Some("median".to_owned()), at: vec![bagplot.median.point], mark: Mark::Centre },
        ];
        let names = two_names(&inputs.names);
        let all = points(&|_| true);
        let inner = window(|| all.iter());
        // The fence may be far away: what matters is who is beyond it.
        let outer = window(|| all.iter().chain(&bagplot.fence));
        let window = [0, 1].map(|k| {
            let room = 0.25 * (inner[k].1 - inner[k].0);
            (outer[k].0.max(inner[k].0 - room), outer[k].1.min(inner[k].1 + room))
        });
        let caption = format!(
            "Bagplot: the bag holds the deepest half of the rows; the fence is three times as far from the median \
             (depth {:.3}), the loop is the convex hull of the rows within it.",
            bagplot.median.depth
        );
        let map = Map {
            names,
            window,
            background: Background::Polygons(polygons),
            contours: Vec::new(),
            points: kinds,
            labels: Vec::new(),
            legend: true,
        };
        Ok(lossdepth_plot::map(&self.style(&caption), &map))
    }

    /// Two columns or more.
    fn map(&mut self, model: &Model) -> Result<Scene> {
        let inputs = self.inputs;
        let (plane, names, about) = self.plane()?;
        let mut points = self.points(&plane)?;
        let mut caption = about;
        let heat = self.args.zones.is_none();
        let mut window = window(|| points.iter().flat_map(|points| &points.at));
        if let Some(zones) = &self.args.zones {
            let shares: Vec<String> = zones.0.iter().map(|share| percent(*share)).collect();
            let of = if inputs.is_its_own_reference() { "rows" } else { "reference" };
            caption = format!("{caption} Zones hold the deepest {} of the {of}.", listed(&shares));
        }
        let by_percentile = heat && self.colouring() == Colouring::Percentile;
        if by_percentile {
            caption += " Colours and lines: the share of the reference that is at most as deep.";
        }
        let exact = self.exact();
        if exact {
            caption += if heat { " Contours are exact." } else { " Their borders are exact." };
        }
        let data = inputs.data.part()?.rows;
        let (across, up) = self.resolution();
        let ranked =
            if heat { inputs.reference.len().min(Percentiles::MOST) } else { 2 * inputs.reference.len() };
        let scored = data.len() + across * up + ranked;
        let progress = Progress::new(self.args.running.quiet, Some(scored));
        let advance = |rows| progress.advance(rows);
        let run = Run { threads: self.threads(), progress: Some(&advance), ..Run::default() };
        let shares = model.percentiles(&run)?;
        let depths: Vec<f64> =
            self.score(model, data, &progress, true)?.iter().map(|fit| fit.depth).collect();
        let odd = self.odd_rows(&plane, shares, &depths)?;
        points.extend(odd.marked);
        let style = self.style(&caption);
        if plane.shares().is_some() {
            let zone_names =
                self.args.zones.iter().flat_map(|zones| zones.0.iter().map(|share| zone_name(*share)));
            let legend = points.iter().filter_map(|points| points.name.clone()).chain(zone_names);
            window = lossdepth_plot::equal_window(&style, &names, window, &legend.collect::<Vec<_>>(), heat);
        }
        let (xs, ys) = self.lines(window);
        let nodes: Vec<f64> = ys.iter().flat_map(|y| xs.iter().flat_map(|x| plane.row([*x, *y]))).collect();
        let nodes = Rows::new(&nodes, inputs.reference.width())?;
        let values = self.score(model, nodes, &progress, true)?.iter().map(|fit| fit.depth).collect();
        let ranked = match self.args.zones {
            Some(_) => {
                let fits = self.score(model, inputs.reference.rows(), &progress, true)?;
                let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
                Some(EmpiricalDistribution::new(&depths, inputs.reference.weights())?)
            }
            None => None,
        };
        drop(progress);
        let mut field = Field::new(xs, ys, values)?;
        if !self.steps() {
            field = field.refined(3);
        }
        let regions = if exact { Some(Regions::new(&inputs.reference)?) } else { None };
        let labels = odd.labels;
        let map = |background: Background<'_>, contours| {
            lossdepth_plot::map(
                &style,
                &Map { names, window, background, contours, points, labels, legend: true },
            )
        };
        Ok(if let (Some(zones), Some(depths)) = (&self.args.zones, ranked) {
            map(Background::Polygons(zone_polygons(zones, &depths, &field, regions.as_ref())?), Vec::new())
        } else if by_percentile {
            let contours = percentile_contours(shares, &field, regions.as_ref())?;
            map(Background::Percentiles(&field.mapped(|depth| shares.of(depth))), contours)
        } else {
            map(Background::Heat(&field), self.contours(&field, regions.as_ref())?)
        })
    }

    fn colouring(&self) -> Colouring {
        let default = if self.args.levels.is_some() { Colouring::Depth } else { Colouring::Percentile };
        self.args.colour.unwrap_or(default)
    }

    /// Which rows are marked as outliers, and which have their names written beside them.
    fn odd_rows(&self, plane: &Plane, shares: &Percentiles, depths: &[f64]) -> Result<OddRows> {
        let data = self.inputs.data.part()?;
        let at = |row: usize| plane.coordinates(data.rows.row(row));
        let mut order: Vec<usize> = (0..depths.len()).collect();
        order.sort_by(|a, b| depths[*a].total_cmp(&depths[*b]));
        let share = self.args.contamination;
        let outlying = order.iter().filter(|row| share > 0.0 && shares.of(depths[**row]) <= share);
        let outlying: Vec<[f64; 2]> = outlying.map(|row| at(*row)).collect();
        let name = format!("outliers: oddest {} ({})", percent(share), outlying.len());
        let marked =
            (!outlying.is_empty()).then_some(Points { name: Some(name), at: outlying, mark: Mark::Ring });
        let written =
            |row: usize| data.ids.map_or_else(|| data.numbers[row].to_string(), |ids| ids[row].clone());
        let labels = order.iter().take(self.args.top).map(|row| (at(*row), written(*row))).collect();
        Ok(OddRows { marked, labels })
    }

    /// Whether the depth is constant but for steps, which do not mind the units; other depths are smooth.
    fn steps(&self) -> bool {
        matches!(self.settings.method, Method::Forest | Method::Halfspace)
    }

    /// Whether the contours of the halfspace depth can be had without a grid, in a time that one would wait.
    fn exact(&self) -> bool {
        const PATIENCE: usize = 2500;
        let reference = &self.inputs.reference;
        self.settings.method == Method::Halfspace && reference.width() == 2 && reference.len() <= PATIENCE
    }

    /// The plane, the names of its coordinates, and how that is said.
    fn plane(&self) -> Result<(Plane, [String; 2], String)> {
        let (inputs, columns) = (self.inputs, &self.inputs.names);
        let reference = &inputs.reference;
        if columns.len() == 2 {
            if self.args.axes != "pca" {
                self.axes(columns)?;
            }
            return Ok((Plane::of_columns(reference, [0, 1])?, two_names(columns), String::new()));
        }
        if self.args.axes == "pca" {
            let scale = match self.settings.scale {
                Scale::None if self.steps() => Scale::Standard,
                scale => scale,
            };
            let fraction = self.settings.support_fraction;
            let (scaling, _) = Scaling::of(scale, reference, fraction)?;
            let plane = Plane::principal(reference, &scaling)?;
            let [first, second] = plane.shares().unwrap_or_default().map(percent);
            let scaled = if scale == Scale::None { "" } else { " of the scaled columns" };
            let about = format!(
                "Depth in all {} columns, on the plane through the mean along the first two principal axes{scaled} \
                 ({first} and {second} of the variance); rows are projected on it.",
                columns.len()
            );
            let name =
                |which: &str, share: String| format!("{which} principal axis ({share} of the variance)");
            return Ok((plane, [name("first", first), name("second", second)], about));
        }
        let axes = self.axes(columns)?;
        let names = axes.map(|column| columns[column].clone());
        let about = format!(
            "Depth in all {} columns, on the plane of {} and {} with the others at their medians; rows are projected on it.",
            columns.len(),
            names[0],
            names[1]
        );
        Ok((Plane::of_columns(reference, axes)?, names, about))
    }

    /// The two columns that `--axes` names.
    fn axes(&self, columns: &[String]) -> Result<[usize; 2]> {
        let asked = crate::load::split(&self.args.axes);
        let find = |name: &String| {
            columns.iter().position(|column| column == name).or_else(|| {
                let number: usize = name.parse().ok()?;
                (number < columns.len()).then_some(number)
            })
        };
        match asked.iter().map(find).collect::<Vec<_>>()[..] {
            [Some(first), Some(second)] if first != second => Ok([first, second]),
            _ => {
                let (axes, names) = (&self.args.axes, crate::load::list(columns));
                Err(Error::Usage(format!("`--axes` must be `pca` or two of {names}, got `{axes}`")))
            }
        }
    }

    /// How many points of the grid there are in both directions: its cells are about square in the picture.
    fn resolution(&self) -> (usize, usize) {
        let default = match self.settings.method {
            // Two columns are fast, and it has edges to show.
            Method::Forest if self.inputs.reference.width() == 2 => 512,
            Method::Forest | Method::Halfspace => 256,
            _ => 128,
        };
        let across = self.args.grid.map_or(default, usize::from);
        let (width, height) = self.args.size;
        (across, (across * height as usize / width as usize).clamp(8, 2048))
    }

    /// The lines of the grid.
    fn lines(&self, window: [(f64, f64); 2]) -> (Vec<f64>, Vec<f64>) {
        let (across, up) = self.resolution();
        let side = |(low, high): (f64, f64), count: usize| -> Vec<f64> {
            (0..count).map(|i| low + (high - low) * i as f64 / (count - 1) as f64).collect()
        };
        (side(window[0], across), side(window[1], up))
    }

    /// The rows, sorted by their labels: the most frequent first.
    fn points(&self, plane: &Plane) -> Result<Vec<Points>> {
        let data = self.inputs.data.part()?;
        let at =
            |rows: &[usize]| rows.iter().map(|i| plane.coordinates(data.rows.row(*i))).collect::<Vec<_>>();
        let Some(labels) = data.labels else {
            let all: Vec<usize> = (0..data.rows.len()).collect();
            return Ok(vec![Points { name: None, at: at(&all), mark: Mark::Kind(0) }]);
        };
        let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, label) in labels.iter().enumerate() {
            found.entry(label).or_default().push(i);
        }
        let mut kinds: Vec<(&str, Vec<usize>)> = found.into_iter().collect();
        kinds.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
        if kinds.len() > MAX_KINDS {
            let others: Vec<usize> = kinds.drain(MAX_KINDS - 1..).flat_map(|(_, rows)| rows).collect();
            kinds.push(("others", others));
        }
        // The formats that name a label themselves call it so.
        let column = self.args.roles.label.as_deref().unwrap_or("y");
        let points = |(kind, (label, rows)): (usize, &(&str, Vec<usize>))| Points {
            name: Some(format!("{column}: {label} ({})", rows.len())),
            at: at(rows),
            mark: Mark::Kind(kind),
        };
        Ok(kinds.iter().enumerate().map(points).collect())
    }

    fn contours(&self, field: &Field, regions: Option<&Regions>) -> Result<Vec<(f64, Vec<Line>)>> {
        let (low, high) = field.range();
        // At the ends of the range there is no line, but perhaps a speck of rounding.
        let inside = |level: &f64| *level > low + 1e-9 && *level < high - 1e-9;
        let round = || ticks(low, high, 11).into_iter().filter(inside).collect();
        let levels = self.args.levels.as_ref().map_or_else(round, |levels| levels.0.clone());
        levels.into_iter().map(|level| Ok((level, lines_at(field, regions, level)?))).collect()
    }
}

/// Rows that stand out in a map.
struct OddRows {
    marked: Option<Points>,
    labels: Vec<([f64; 2], String)>,
}

/// The shares of the reference at which lines are drawn.
const SHARES: [f64; 7] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9];

/// Lines around the points that are deeper than these shares of the reference.
fn percentile_contours(
    shares: &Percentiles,
    field: &Field,
    regions: Option<&Regions>,
) -> Result<Vec<(f64, Vec<Line>)>> {
    let mut found: Vec<(f64, f64)> = SHARES.map(|share| (share, shares.depth_at(share))).to_vec();
    // Of several shares with one line the largest is true of what is inside.
    found.reverse();
    found.dedup_by_key(|(_, depth)| *depth);
    found.reverse();
    found.into_iter().map(|(share, depth)| Ok((share, lines_at(field, regions, depth)?))).collect()
}

/// The lines of a depth, exact where that is possible.
fn lines_at(field: &Field, regions: Option<&Regions>, depth: f64) -> Result<Vec<Line>> {
    Ok(match regions {
        Some(regions) => {
            polygon(regions, depth)?.into_iter().map(|points| Line { points, closed: true }).collect()
        }
        None => field.lines(depth),
    })
}

/// An exact region of the halfspace depth, if there is one.
fn polygon(regions: &Regions, depth: f64) -> Result<Vec<Vec<[f64; 2]>>> {
    let vertices = if depth > 0.0 { regions.contour(depth)?.vertices } else { Vec::new() };
    Ok(if vertices.len() > 2 { vec![vertices] } else { Vec::new() })
}

fn zone_polygons(
    zones: &Shares,
    depths: &EmpiricalDistribution,
    field: &Field,
    regions: Option<&Regions>,
) -> Result<Vec<Polygon>> {
    let count = zones.0.len() as f64;
    let polygon = |(i, share): (usize, &f64)| {
        let level = depths.quantile(1.0 - share);
        let rings = match regions {
            Some(regions) => polygon(regions, level)?,
            None => field.regions(level),
        };
        Ok(Polygon { name: zone_name(*share), rings, shade: Some(0.1 + 0.5 * (count - i as f64) / count) })
    };
    // The largest first.
    zones.0.iter().enumerate().map(polygon).rev().collect()
}

fn zone_name(share: f64) -> String {
    format!("deepest {}", percent(share))
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// Room around the data; some also where it does not move.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let width = high - low;
    let margin =
        if width > 1e-9 * low.abs().max(high.abs()) { 0.09 * width } else { (0.1 * low.abs()).max(1.0) };
    (low - margin, high + margin)
}

fn window<'a, P: Iterator<Item = &'a [f64; 2]>>(points: impl Fn() -> P) -> [(f64, f64); 2] {
    [0, 1].map(|k| widened(range(points().map(|point| point[k]))))
}

fn two_names(columns: &[String]) -> [String; 2] {
    [0, 1].map(|k| columns.get(k).map(|name| column_name(name)).unwrap_or_default())
}

/// A column without a name is called by its number.
fn column_name(name: &str) -> String {
    if name.parse::<usize>().is_ok() { format!("column {name}") } else { name.to_owned() }
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (percent - percent.round()).abs() < 1e-6 || percent >= 10.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What the method is called, and how it is set, but for what changes nothing that can be seen.
pub(super) fn in_words(settings: &Settings) -> String {
    let defaults = Settings::defaults(settings.method);
    let tells = |name: &str, value: &Value| match name {
        "tol" | "max_iter" | "memory" | "budget" | "max_boxes" => false,
        "reg" => !matches!(settings.variant, Variant::Constrained { .. }),
        "kernel" | "gamma" | "sigma" | "max_depth" | "hidden" => true,
        "support_fraction" => settings.scale == Scale::Mcd,
        _ => !defaults.iter().any(|(known, default)| *known == name && default == value),
    };
    let values = settings.values();
    let told = values.iter().filter(|(name, value)| *value != Value::None && tells(name, value));
    let words: Vec<String> = told
        .map(|(name, value)| match *name {
            "kernel" => format!("{value} kernel"),
            name => format!("{} {value}", name.replace('_', " ")),
        })
        .collect();
    let name = settings.method.title();
    if words.is_empty() { name.to_owned() } else { format!("{name} ({})", words.join(", ")) }
}
