//! The depth over a plane, with the rows on top.

use super::Colouring;
use super::contours::{percentile_contours, zone_polygons};
use super::window::window;
use super::words::{listed, percent, zone_name};
use super::work::Work;
use crate::console::Progress;
use crate::error::Result;
use lossdepth::methods::halfspace::Regions;
use lossdepth::model::Percentiles;
use lossdepth::{Method, Model, Rows, Run};
use lossdepth_plot::{Background, EmpiricalDistribution, Field, Map, Scene};

impl Work<'_> {
    /// Two columns or more.
    pub(super) fn map(&mut self, model: &Model) -> Result<Scene> {
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
}
