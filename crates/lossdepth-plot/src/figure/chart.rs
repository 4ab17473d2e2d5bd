//! Charts: lines, bands and markers on linear or logarithmic axes.

use super::axes::{Axis, Frame, Style, Ticks};
use super::legend::{KeySymbol, LegendKey, Shape};
use crate::scene::colour::{CATEGORIES, Colour};
use crate::scene::{Path, Point, Scene, Stroke};

/// The data of a chart.
pub struct Chart {
    /// Names of the x and y axes.
    pub names: [String; 2],
    /// Which of the axes are logarithmic.
    pub logarithmic: [bool; 2],
    /// The range of the y axis; by default that of the data.
    pub range: Option<(f64, f64)>,
    /// Lines and markers.
    pub traces: Vec<Trace>,
    /// Filled areas between a lower and an upper line, drawn first.
    pub bands: Vec<Band>,
    /// Whether to draw the legend.
    pub legend: bool,
}

/// A sequence of points.
pub struct Trace {
    /// Its legend entry; empty for none.
    pub name: String,
    /// Coordinates, in order.
    pub points: Vec<[f64; 2]>,
    /// Line or markers.
    pub style: TraceStyle,
}

/// How a trace is drawn; the numbers are indices of the categorical palette.
#[derive(Debug, Clone, Copy)]
pub enum TraceStyle {
    /// A solid line.
    Line(usize),
    /// A dashed line.
    Dashes(usize),
    /// Markers without a line.
    Marks(usize),
    /// A thin dotted grey line, for comparison.
    Guide,
}

/// A filled area between two lines.
pub struct Band {
    /// Its legend entry; empty for none.
    pub name: String,
    /// x, lower y, upper y.
    pub points: Vec<[f64; 3]>,
    /// Index of the categorical palette.
    pub colour: usize,
}

impl Chart {
    /// An empty chart.
    pub fn new(x: impl Into<String>, y: impl Into<String>) -> Self {
        Self {
            names: [x.into(), y.into()],
            logarithmic: [false; 2],
            range: None,
            traces: Vec::new(),
            bands: Vec::new(),
            legend: true,
        }
    }

    fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        let bands = self.bands.iter().flat_map(|band| &band.points);
        let edges = bands.flat_map(|[x, low, high]| [[*x, *low], [*x, *high]]);
        self.traces.iter().flat_map(|trace| &trace.points).copied().chain(edges)
    }

    /// An axis: the given range, or that of the data with a margin.
    fn axis(&self, k: usize) -> Axis {
        let usable = |v: &f64| v.is_finite() && (!self.logarithmic[k] || *v > 0.0);
        let (low, high) = self
            .points()
            .map(|point| point[k])
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let ticks = if self.logarithmic[k] { Ticks::Logarithmic } else { Ticks::Linear };
        let name = self.names[k].clone();
        if let Some((low, high)) = self.range.filter(|_| k == 1) {
            return Axis { name, low, high, ticks };
        }
        if low > high {
            return Axis { name, low: 0.1, high: 1.0, ticks };
        }
        let (low, high) = if self.logarithmic[k] {
            let room = (high / low).powf(0.06).max(1.2);
            (low / room, high * room)
        } else {
            let room = if high > low { 0.06 * (high - low) } else { 0.5 };
            (low - room, high + room)
        };
        Axis { name, low, high, ticks }
    }
}

fn colour(number: usize) -> Colour {
    CATEGORIES[number % CATEGORIES.len()]
}

impl TraceStyle {
    fn stroke(self, unit: f64) -> Option<Stroke> {
        let line = |number, dash| Stroke { colour: colour(number), width: 4.0 * unit, dash };
        match self {
            Self::Line(number) => Some(line(number, None)),
            Self::Dashes(number) => Some(line(number, Some([14.0 * unit, 8.0 * unit]))),
            Self::Marks(_) => None,
            Self::Guide => Some(Stroke {
                colour: Colour::grey(140),
                width: 2.5 * unit,
                dash: Some([5.0 * unit, 6.0 * unit]),
            }),
        }
    }
}

fn faint(number: usize) -> Colour {
    colour(number).with_opacity(0.22)
}

/// The legend of a chart.
pub fn chart_legend(style: &Style, chart: &Chart) -> Vec<LegendKey> {
    let unit = style.sizes().unit;
    let symbol = |style: TraceStyle| match (style, style.stroke(unit)) {
        (TraceStyle::Marks(number), _) => {
            KeySymbol::Mark(Shape::ALL[number % Shape::ALL.len()], colour(number))
        }
        (_, Some(stroke)) => KeySymbol::Line(stroke),
        (_, None) => KeySymbol::Patch(Colour::WHITE),
    };
    let traces =
        chart.traces.iter().map(|trace| LegendKey { text: trace.name.clone(), symbol: symbol(trace.style) });
    let bands = chart
        .bands
        .iter()
        .map(|band| LegendKey { text: band.name.clone(), symbol: KeySymbol::Patch(faint(band.colour)) });
    traces.chain(bands).filter(|key| !key.text.is_empty()).collect()
}

/// Draws a chart.
pub fn chart(style: &Style, chart: &Chart) -> Scene {
    let sizes = style.sizes();
    let unit = sizes.unit;
    let keys = if chart.legend { chart_legend(style, chart) } else { Vec::new() };
    let frame = Frame::new(style, chart.axis(0), chart.axis(1), keys, 0.6 * sizes.tick, false);
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    frame.draw_grid(&mut scene);
    let clip = Some(frame.area);
    for band in &chart.bands {
        let mut ring: Vec<Point> =
            band.points.iter().map(|[x, low, _]| frame.to_pixels([*x, *low])).collect();
        ring.extend(band.points.iter().rev().map(|[x, _, high]| frame.to_pixels([*x, *high])));
        let fill = Some(faint(band.colour));
        scene.path(Path { lines: vec![ring], closed: true, fill, clip, ..Path::default() });
    }
    for trace in &chart.traces {
        let points: Vec<Point> = trace.points.iter().map(|point| frame.to_pixels(*point)).collect();
        match (trace.style, trace.style.stroke(unit)) {
            (TraceStyle::Marks(number), _) => {
                let edge = Stroke { colour: Colour::WHITE, width: 1.6 * unit, dash: None };
                let shape = Shape::ALL[number % Shape::ALL.len()];
                scene.path(Path { clip, ..shape.marks(&points, 10.0 * unit, colour(number), edge) });
            }
            (_, stroke) => scene.path(Path { lines: vec![points], stroke, clip, ..Path::default() }),
        }
    }
    frame.draw(&mut scene);
    scene
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Item;

    fn style() -> Style {
        Style {
            width: 1200,
            height: 900,
            title: Some("a title".into()),
            caption: "a caption".into(),
            text_scale: 1.0,
        }
    }

    #[test]
    fn traces_are_inside_the_frame_and_named_in_the_legend() {
        let points: Vec<[f64; 2]> = (1..9).map(|i| [f64::from(1 << i), 0.5f64.powi(i)]).collect();
        let trace = |name: &str, style| Trace { name: name.into(), points: points.clone(), style };
        let plot = Chart {
            logarithmic: [true; 2],
            traces: vec![
                trace("bound", TraceStyle::Dashes(1)),
                trace("median", TraceStyle::Marks(4)),
                trace("", TraceStyle::Guide),
            ],
            bands: vec![Band {
                name: "nine in ten".into(),
                points: points.iter().map(|[x, y]| [*x, 0.5 * y, 2.0 * y]).collect(),
                colour: 4,
            }],
            ..Chart::new("n", "error")
        };
        let scene = chart(&style(), &plot);
        scene.assert_text_inside();
        for name in ["bound", "median", "nine in ten", "a title", "100"] {
            assert!(scene.texts().any(|text| text.text == name), "{name}");
        }
        for item in &scene.items {
            let Item::Path(Path { lines, clip: Some(area), .. }) = item else { continue };
            assert!(lines.iter().flatten().all(|point| area.contains(*point)));
        }
    }

    #[test]
    fn empty_and_degenerate_charts_are_drawn() {
        chart(&style(), &Chart::new("x", "y")).assert_text_inside();
        let one = Trace { name: "one".into(), points: vec![[1.0, 1.0]], style: TraceStyle::Line(0) };
        chart(&style(), &Chart { traces: vec![one], logarithmic: [true, false], ..Chart::new("x", "y") })
            .assert_text_inside();
        // Zero has no position on a logarithmic axis.
        let zero =
            Trace { name: "zero".into(), points: vec![[1.0, 0.0], [2.0, 1.0]], style: TraceStyle::Marks(2) };
        chart(&style(), &Chart { traces: vec![zero], logarithmic: [true; 2], ..Chart::new("x", "y") })
            .assert_text_inside();
    }
}
