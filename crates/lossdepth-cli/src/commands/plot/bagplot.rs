//! The bagplot of two columns.

use super::window::window;
use super::words::two_names;
use super::work::Work;
use crate::error::Result;
use lossdepth::methods::halfspace::Regions;
use lossdepth_plot::{Background, Map, Mark, Points, Polygon, Scene};

impl Work<'_> {
    /// The half of the rows that is deepest, those within the fence, and the outliers.
    pub(super) fn bagplot(&mut self) -> Result<Scene> {
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
}
