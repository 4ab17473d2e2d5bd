//! Box plots: some groups across, the same kinds of boxes in each.

use super::axes::{Axis, Frame, Key, Sign, Style, Ticks};
use super::colour::{CATEGORIES, Colour};
use super::scene::{Path, Point, Rect, Scene, Stroke};
use lossdepth::view::Boxed;

/// What is drawn.
pub(crate) struct BoxPlot {
    pub(crate) names: [String; 2],
    /// The words below each group.
    pub(crate) groups: Vec<String>,
    pub(crate) kinds: Vec<BoxKind>,
    /// From where to where upwards, if not by the data.
    pub(crate) range: Option<(f64, f64)>,
    /// Whether its legend is part of it.
    pub(crate) legend: bool,
}

/// A kind of box.
pub(crate) struct BoxKind {
    pub(crate) name: String,
    /// The numbers in each group; nothing where there is no box.
    pub(crate) values: Vec<Vec<f64>>,
    /// An empty box instead of a filled one.
    pub(crate) hollow: bool,
    /// By number.
    pub(crate) colour: usize,
}

impl BoxKind {
    fn stroke(&self, unit: f64) -> Stroke {
        Stroke { colour: CATEGORIES[self.colour % CATEGORIES.len()], width: 3.0 * unit, dash: None }
    }

    fn fill(&self) -> Colour {
        if self.hollow { Colour::WHITE } else { self.stroke(1.0).colour.with_opacity(0.45) }
    }
}

/// The legend of a plot.
pub(crate) fn box_keys(style: &Style, plot: &BoxPlot) -> Vec<Key> {
    let unit = style.sizes().unit;
    let sign =
        |kind: &BoxKind| if kind.hollow { Sign::Frame(kind.stroke(unit)) } else { Sign::Patch(kind.fill()) };
    let keys = plot.kinds.iter().map(|kind| Key { text: kind.name.clone(), sign: sign(kind) });
    keys.filter(|key| !key.text.is_empty()).collect()
}

/// The share of a group's width that has boxes in it.
const FILLED: f64 = 0.86;

/// More numbers than these cannot be told apart.
const MANY: usize = 40;

/// Draws box plots: the box from quartile to quartile, its line the median, whiskers to the last number within 1.5 times
/// its height, the numbers as points.
pub(crate) fn box_plot(style: &Style, plot: &BoxPlot) -> Scene {
    let sizes = style.sizes();
    let unit = sizes.unit;
    let all = || plot.kinds.iter().flat_map(|kind| kind.values.iter().flatten()).filter(|v| v.is_finite());
    let (low, high) = plot.range.unwrap_or_else(|| {
        let (low, high) =
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        let room = if high > low { 0.06 * (high - low) } else { 0.5 };
        if low > high { (0.0, 1.0) } else { (low - room, high + room) }
    });
    let words = (0..).map(f64::from).zip(plot.groups.iter().cloned()).collect();
    let end = plot.groups.len().max(1) as f64 - 0.5;
    let x = Axis { ticks: Ticks::Words(words), ..Axis::new(plot.names[0].clone(), -0.5, end) };
    let y = Axis::new(plot.names[1].clone(), low, high);
    let keys = if plot.legend { box_keys(style, plot) } else { Vec::new() };
    let frame = Frame::new(style, x, y, keys, 0.6 * sizes.tick, false);
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    frame.draw_lines(&mut scene);
    let between =
        Stroke { colour: Colour::grey(190), width: 2.0 * unit, dash: Some([8.0 * unit, 8.0 * unit]) };
    for group in 1..plot.groups.len() {
        let [x, _] = frame.place([group as f64 - 0.5, low]);
        scene.line([x, frame.area.top], [x, frame.area.bottom], between);
    }
    let room = FILLED / plot.kinds.len().max(1) as f64;
    for (i, kind) in plot.kinds.iter().enumerate() {
        for (group, values) in kind.values.iter().enumerate() {
            let Ok(boxed) = Boxed::new(values) else { continue };
            let middle = group as f64 + room * (i as f64 + 0.5) - 0.5 * FILLED;
            let place = Place { frame: &frame, middle, half: 0.36 * room };
            // A few numbers are all shown; of many only those beyond the whiskers.
            let dots = if values.len() <= MANY { values } else { &boxed.beyond };
            place.draw(&mut scene, &boxed, dots, kind.fill(), kind.stroke(unit));
        }
    }
    frame.draw(&mut scene);
    scene
}

/// Where a box goes.
struct Place<'a> {
    frame: &'a Frame,
    middle: f64,
    half: f64,
}

impl Place<'_> {
    fn draw(&self, scene: &mut Scene, boxed: &Boxed, dots: &[f64], fill: Colour, edge: Stroke) {
        let unit = self.frame.sizes.unit;
        let clip = Some(self.frame.area);
        let at = |share: f64, y: f64| self.frame.place([self.middle + share * self.half, y]);
        let ([left, top], [right, bottom]) = (at(-1.0, boxed.third), at(1.0, boxed.first));
        let cap = |y: f64| vec![at(-0.5, y), at(0.5, y)];
        let whiskers = vec![
            vec![at(0.0, boxed.low), at(0.0, boxed.first)],
            vec![at(0.0, boxed.third), at(0.0, boxed.high)],
            cap(boxed.low),
            cap(boxed.high),
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
        let line = vec![at(-1.0, boxed.median), at(1.0, boxed.median)];
        scene.path(Path { lines: vec![line], stroke: Some(median), clip, ..Path::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Item;
    use super::*;

    #[test]
    fn every_group_has_a_box_of_every_kind_that_has_numbers() {
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
            Style { width: 1500, height: 900, title: None, caption: "a caption".into(), letters: 1.0 };
        let scene = box_plot(&style, &plot);
        scene.assert_tidy();
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
    fn no_numbers_make_an_empty_frame() {
        let plot = BoxPlot {
            names: ["x".into(), "y".into()],
            groups: vec![],
            kinds: vec![],
            range: None,
            legend: true,
        };
        let style = Style { width: 600, height: 400, title: None, caption: String::new(), letters: 1.0 };
        box_plot(&style, &plot).assert_tidy();
    }
}
