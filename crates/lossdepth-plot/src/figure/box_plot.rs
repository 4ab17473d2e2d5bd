//! Grouped box plots.

use super::axes::{Axis, Frame, Style, Ticks};
use super::legend::{KeySymbol, LegendKey};
use crate::compute::BoxStatistics;
use crate::scene::colour::{CATEGORIES, Colour};
use crate::scene::{Path, Point, Rect, Scene, Stroke};

/// The data of a grouped box plot.
pub struct BoxPlot {
    /// Names of the x and y axes.
    pub names: [String; 2],
    /// The label of each group.
    pub groups: Vec<String>,
    /// The boxes of each group, side by side.
    pub kinds: Vec<BoxKind>,
    /// The range of the y axis; by default that of the data.
    pub range: Option<(f64, f64)>,
    /// Whether to draw the legend.
    pub legend: bool,
}

/// A kind of box, with one box in each group.
pub struct BoxKind {
    /// Its legend entry; empty for none.
    pub name: String,
    /// The values of each group; an empty list has no box.
    pub values: Vec<Vec<f64>>,
    /// Draw the outline of the box only.
    pub hollow: bool,
    /// Index of the categorical palette.
    pub colour: usize,
}

impl BoxKind {
    fn stroke(&self, unit: f64) -> Stroke {
        Stroke { colour: CATEGORIES[self.colour % CATEGORIES.len()], width: 3.0 * unit, dash: None }
    }

    fn fill(&self) -> Colour {
        if self.hollow { Colour::WHITE } else { self.stroke(1.0).colour.with_opacity(0.45) }
    }
}

/// The legend of a box plot.
pub fn box_plot_legend(style: &Style, plot: &BoxPlot) -> Vec<LegendKey> {
    let unit = style.sizes().unit;
    let symbol = |kind: &BoxKind| {
        if kind.hollow { KeySymbol::Frame(kind.stroke(unit)) } else { KeySymbol::Patch(kind.fill()) }
    };
    let keys = plot.kinds.iter().map(|kind| LegendKey { text: kind.name.clone(), symbol: symbol(kind) });
    keys.filter(|key| !key.text.is_empty()).collect()
}

/// The fraction of a group's width that its boxes take.
const FILLED: f64 = 0.86;

/// Up to this many values are all drawn as points (heuristic).
const MAX_POINTS: usize = 40;

/// Draws box plots by [`BoxStatistics`], with the values as points.
pub fn box_plot(style: &Style, plot: &BoxPlot) -> Scene {
    let sizes = style.sizes();
    let unit = sizes.unit;
    let all = || plot.kinds.iter().flat_map(|kind| kind.values.iter().flatten()).filter(|v| v.is_finite());
    let (low, high) = plot.range.unwrap_or_else(|| {
        let (low, high) =
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        let room = if high > low { 0.06 * (high - low) } else { 0.5 };
        if low > high { (0.0, 1.0) } else { (low - room, high + room) }
    });
    let labels = (0..).map(f64::from).zip(plot.groups.iter().cloned()).collect();
    let end = plot.groups.len().max(1) as f64 - 0.5;
    let x = Axis { ticks: Ticks::Labels(labels), ..Axis::new(plot.names[0].clone(), -0.5, end) };
    let y = Axis::new(plot.names[1].clone(), low, high);
    let keys = if plot.legend { box_plot_legend(style, plot) } else { Vec::new() };
    let frame = Frame::new(style, x, y, keys, 0.6 * sizes.tick, false);
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    frame.draw_grid(&mut scene);
    let between =
        Stroke { colour: Colour::grey(190), width: 2.0 * unit, dash: Some([8.0 * unit, 8.0 * unit]) };
    for group in 1..plot.groups.len() {
        let [x, _] = frame.to_pixels([group as f64 - 0.5, low]);
        scene.line([x, frame.area.top], [x, frame.area.bottom], between);
    }
    let room = FILLED / plot.kinds.len().max(1) as f64;
    for (i, kind) in plot.kinds.iter().enumerate() {
        for (group, values) in kind.values.iter().enumerate() {
            let Ok(statistics) = BoxStatistics::new(values) else { continue };
            let middle = group as f64 + room * (i as f64 + 0.5) - 0.5 * FILLED;
            let position = BoxPosition { frame: &frame, middle, half: 0.36 * room };
            // Of many values only the outliers are drawn.
            let dots = if values.len() <= MAX_POINTS { values } else { &statistics.outliers };
            position.draw(&mut scene, &statistics, dots, kind.fill(), kind.stroke(unit));
        }
    }
    frame.draw(&mut scene);
    scene
}

/// The position and half width of a box, in x coordinates.
struct BoxPosition<'a> {
    frame: &'a Frame,
    middle: f64,
    half: f64,
}

impl BoxPosition<'_> {
    fn draw(&self, scene: &mut Scene, statistics: &BoxStatistics, dots: &[f64], fill: Colour, edge: Stroke) {
        let unit = self.frame.sizes.unit;
        let clip = Some(self.frame.area);
        let at = |share: f64, y: f64| self.frame.to_pixels([self.middle + share * self.half, y]);
        let ([left, top], [right, bottom]) =
            (at(-1.0, statistics.upper_quartile), at(1.0, statistics.lower_quartile));
        let cap = |y: f64| vec![at(-0.5, y), at(0.5, y)];
        let whiskers = vec![
            vec![at(0.0, statistics.lower_whisker), at(0.0, statistics.lower_quartile)],
            vec![at(0.0, statistics.upper_quartile), at(0.0, statistics.upper_whisker)],
            cap(statistics.lower_whisker),
            cap(statistics.upper_whisker),
        ];
        scene.path(Path { lines: whiskers, stroke: Some(edge), clip, ..Path::default() });
        let body = Rect { left, top, right, bottom };
        scene.path(Path {
            lines: vec![body.corners()],
            closed: true,
            fill: Some(fill),
            stroke: Some(edge),
            clip,
            ..Path::default()
        });
        let dots: Vec<Point> = dots.iter().map(|v| at(0.0, *v)).collect();
        let thin = Stroke { colour: edge.colour, width: 1.2 * unit, dash: None };
        scene.path(Path {
            lines: vec![dots],
            dots: Some(3.4 * unit),
            fill: Some(Colour::WHITE.with_opacity(0.8)),
            stroke: Some(thin),
            clip,
            ..Path::default()
        });
        let median = Stroke { colour: Colour::INK, width: 4.5 * unit, dash: None };
        let line = vec![at(-1.0, statistics.median), at(1.0, statistics.median)];
        scene.path(Path { lines: vec![line], stroke: Some(median), clip, ..Path::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Item;

    #[test]
    fn every_kind_with_values_has_a_box_in_every_group() {
        let kind = |name: &str, hollow| BoxKind {
            name: name.into(),
            values: vec![vec![0.1, 0.2, 0.4, 0.9], vec![0.5], Vec::new()],
            hollow,
            colour: 3,
        };
        let plot = BoxPlot {
            names: ["dimension".into(), "correlation".into()],
            groups: vec!["2".into(), "4".into(), "none".into()],
            kinds: vec![kind("forest", false), kind("rotated forest", true)],
            range: None,
            legend: true,
        };
        let style =
            Style { width: 1500, height: 900, title: None, caption: "a caption".into(), text_scale: 1.0 };
        let scene = box_plot(&style, &plot);
        scene.assert_text_inside();
        let drawn = |want: &dyn Fn(&Path) -> bool| {
            scene.items.iter().filter(|item| matches!(item, Item::Path(path) if want(path))).count()
        };
        // Two groups with numbers, two kinds; the frame itself is not clipped.
        assert_eq!(drawn(&|path| path.closed && path.clip.is_some()), 4);
        assert_eq!(drawn(&|path| path.dots == Some(3.4 * style.sizes().unit)), 4);
        for word in ["2", "4", "none", "forest", "rotated forest", "dimension", "correlation"] {
            assert!(scene.texts().any(|text| text.text == word), "{word}");
        }
    }

    #[test]
    fn a_plot_without_values_is_an_empty_frame() {
        let plot = BoxPlot {
            names: ["x".into(), "y".into()],
            groups: vec![],
            kinds: vec![],
            range: None,
            legend: true,
        };
        let style = Style { width: 600, height: 400, title: None, caption: String::new(), text_scale: 1.0 };
        box_plot(&style, &plot).assert_text_inside();
    }
}
