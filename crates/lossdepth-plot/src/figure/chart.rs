//! Lines, bands and points over a number, on plain or logarithmic axes.

use super::axes::{Axis, Frame, Key, Shape, Sign, Style, Ticks};
use super::colour::{CATEGORIES, Colour};
use super::scene::{Path, Point, Scene, Stroke};

/// What is drawn.
pub(crate) struct Chart {
    pub(crate) names: [String; 2],
    /// Which of the axes are logarithmic.
    pub(crate) powers: [bool; 2],
    /// From where to where upwards, if not by the data.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) traces: Vec<Trace>,
    /// Areas between a lower and an upper line, below everything else.
    pub(crate) bands: Vec<Band>,
    /// Whether its legend is part of it.
    pub(crate) legend: bool,
}

/// Points that belong together.
pub(crate) struct Trace {
    /// For the legend; none if it has no name.
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
    pub(crate) look: Look,
}

/// How a trace looks: colours by number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Look {
    /// A line.
    Line(usize),
    /// A broken line.
    Dashes(usize),
    /// Marks, without a line.
    Marks(usize),
    /// A thin grey line: something to compare with.
    Guide,
}

/// An area: where, from, to.
pub(crate) struct Band {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) colour: usize,
}

impl Chart {
    /// An empty chart.
    pub(crate) fn new(x: impl Into<String>, y: impl Into<String>) -> Self {
        Self {
            names: [x.into(), y.into()],
            powers: [false; 2],
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

    /// From where to where in one direction, with some room.
    fn axis(&self, k: usize) -> Axis {
        let usable = |v: &f64| v.is_finite() && (!self.powers[k] || *v > 0.0);
        let (low, high) = self
            .points()
            .map(|point| point[k])
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let ticks = if self.powers[k] { Ticks::Powers } else { Ticks::Round };
        let name = self.names[k].clone();
        if let Some((low, high)) = self.range.filter(|_| k == 1) {
            return Axis { name, low, high, ticks };
        }
        if low > high {
            return Axis { name, low: 0.1, high: 1.0, ticks };
        }
        let (low, high) = if self.powers[k] {
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

impl Look {
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
pub(crate) fn chart_keys(style: &Style, chart: &Chart) -> Vec<Key> {
    let unit = style.sizes().unit;
    let sign = |look: Look| match (look, look.stroke(unit)) {
        (Look::Marks(number), _) => Sign::Mark(Shape::ALL[number % Shape::ALL.len()], colour(number)),
        (_, Some(stroke)) => Sign::Line(stroke),
        (_, None) => Sign::Patch(Colour::WHITE),
    };
    let traces = chart.traces.iter().map(|trace| Key { text: trace.name.clone(), sign: sign(trace.look) });
    let bands =
        chart.bands.iter().map(|band| Key { text: band.name.clone(), sign: Sign::Patch(faint(band.colour)) });
    traces.chain(bands).filter(|key| !key.text.is_empty()).collect()
}

/// Draws a chart.
pub(crate) fn chart(style: &Style, chart: &Chart) -> Scene {
    let sizes = style.sizes();
    let unit = sizes.unit;
    let keys = if chart.legend { chart_keys(style, chart) } else { Vec::new() };
    let frame = Frame::new(style, chart.axis(0), chart.axis(1), keys, 0.6 * sizes.tick, false);
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    frame.draw_lines(&mut scene);
    let clip = Some(frame.area);
    for band in &chart.bands {
        let mut ring: Vec<Point> = band.points.iter().map(|[x, low, _]| frame.place([*x, *low])).collect();
        ring.extend(band.points.iter().rev().map(|[x, _, high]| frame.place([*x, *high])));
        let fill = Some(faint(band.colour));
        scene.path(Path { lines: vec![ring], closed: true, fill, clip, ..Path::default() });
    }
    for trace in &chart.traces {
        let points: Vec<Point> = trace.points.iter().map(|point| frame.place(*point)).collect();
        match (trace.look, trace.look.stroke(unit)) {
            (Look::Marks(number), _) => {
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
    use super::super::scene::Item;
    use super::*;

    fn style() -> Style {
        Style {
            width: 1200,
            height: 900,
            title: Some("a title".into()),
            caption: "a caption".into(),
            letters: 1.0,
        }
    }

    #[test]
    fn what_is_drawn_is_within_the_frame_and_named() {
        let points: Vec<[f64; 2]> = (1..9).map(|i| [f64::from(1 << i), 0.5f64.powi(i)]).collect();
        let trace = |name: &str, look| Trace { name: name.into(), points: points.clone(), look };
        let powers = Chart {
            powers: [true; 2],
            traces: vec![
                trace("bound", Look::Dashes(1)),
                trace("median", Look::Marks(4)),
                trace("", Look::Guide),
            ],
            bands: vec![Band {
                name: "nine in ten".into(),
                points: points.iter().map(|[x, y]| [*x, 0.5 * y, 2.0 * y]).collect(),
                colour: 4,
            }],
            ..Chart::new("n", "error")
        };
        let scene = chart(&style(), &powers);
        scene.assert_tidy();
        for name in ["bound", "median", "nine in ten", "a title", "100"] {
            assert!(scene.texts().any(|text| text.text == name), "{name}");
        }
        for item in &scene.items {
            let Item::Path(Path { lines, clip: Some(area), .. }) = item else { continue };
            assert!(lines.iter().flatten().all(|point| area.contains(*point)));
        }
    }

    #[test]
    fn nothing_and_next_to_nothing_can_be_drawn() {
        chart(&style(), &Chart::new("x", "y")).assert_tidy();
        let one = Trace { name: "one".into(), points: vec![[1.0, 1.0]], look: Look::Line(0) };
        chart(&style(), &Chart { traces: vec![one], powers: [true, false], ..Chart::new("x", "y") })
            .assert_tidy();
        // Zero has no place on a logarithmic axis.
        let zero = Trace { name: "zero".into(), points: vec![[1.0, 0.0], [2.0, 1.0]], look: Look::Marks(2) };
        chart(&style(), &Chart { traces: vec![zero], powers: [true; 2], ..Chart::new("x", "y") })
            .assert_tidy();
    }
}
