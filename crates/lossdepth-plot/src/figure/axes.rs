//! What most figures have in common: a frame with ticks and names, a title, a legend, a caption.

use super::colour::Colour;
use super::font;
use super::scene::{Anchor, Path, Point, Rect, Scene, Stroke, Text};
use lossdepth::view::{log_ticks, ticks};

/// What the user says about how a picture looks.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) title: Option<String>,
    pub(crate) caption: String,
    /// How much larger than usual letters and lines are; more than 1 in a small part of a larger picture.
    pub(crate) letters: f64,
}

/// Sizes in pixels, in proportion to the picture.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) unit: f64,
    pub(super) title: f64,
    pub(super) name: f64,
    pub(super) tick: f64,
    pub(super) caption: f64,
    pub(super) margin: f64,
}

impl Style {
    /// The size of the picture, in terms of one of 1800 × 1500 pixels.
    pub(super) fn unit(&self) -> f64 {
        (f64::from(self.width) / 1800.0).min(f64::from(self.height) / 1500.0)
    }

    /// The letters of a figure 1800 pixels wide are those of a page when it is printed 20 cm wide.
    pub(super) fn sizes(&self) -> Sizes {
        let unit = self.letters * self.unit();
        Sizes {
            unit,
            title: 44.0 * unit,
            name: 36.0 * unit,
            tick: 31.0 * unit,
            caption: 27.0 * unit,
            margin: 36.0 * unit,
        }
    }
}

/// One of the two directions of a figure.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Ticks,
}

/// What is written along an axis, and how far apart numbers are.
#[derive(Debug, Clone)]
pub(super) enum Ticks {
    /// Round numbers.
    Round,
    /// Powers of ten; equal ratios are equally far apart.
    Powers,
    /// Words at some places, without a line there.
    Words(Vec<(f64, String)>),
}

impl Axis {
    pub(super) fn new(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self { name: name.into(), low, high, ticks: Ticks::Round }
    }

    /// Where a number is, from 0 at the low end to 1.
    fn share(&self, value: f64) -> f64 {
        let place = |v: f64| if matches!(self.ticks, Ticks::Powers) { v.ln() } else { v };
        (place(value) - place(self.low)) / (place(self.high) - place(self.low))
    }

    /// At most `count` ticks with their words, and what the numbers have to be multiplied with.
    fn labels(&self, count: usize) -> (Vec<(f64, String)>, String) {
        match &self.ticks {
            Ticks::Round => {
                let values = ticks(self.low, self.high, count);
                let (words, factor) = format_ticks(&values);
                (values.into_iter().zip(words).collect(), factor)
            }
            Ticks::Powers => {
                let values = log_ticks(self.low, self.high, count);
                let plain = values.iter().all(|v| (1e-3..1e5).contains(v));
                let word =
                    |v: &f64| if plain { format!("{v}") } else { format!("10{}", superscript(v.log10())) };
                let words: Vec<String> = values.iter().map(word).collect();
                (values.into_iter().zip(words).collect(), String::new())
            }
            Ticks::Words(words) => (words.clone(), String::new()),
        }
    }
}

/// An entry of a legend.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(super) text: String,
    pub(super) sign: Sign,
}

/// How something is marked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    Mark(Shape, Colour),
    Patch(Colour),
    Frame(Stroke),
    Line(Stroke),
}

/// The outline of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Triangle,
    Square,
    Diamond,
    Wedge,
    Cross,
}

impl Shape {
    pub(super) const ALL: [Self; 7] =
        [Self::Circle, Self::Triangle, Self::Square, Self::Diamond, Self::Wedge, Self::Circle, Self::Square];

    /// Marks at some points, all alike; areas are about the same for every shape.
    pub(super) fn marks(self, points: &[Point], radius: f64, fill: Colour, edge: Stroke) -> Path {
        let corners: &[Point] = match self {
            Self::Circle => {
                return Path {
                    lines: vec![points.to_vec()],
                    dots: Some(radius),
                    fill: Some(fill),
                    stroke: Some(edge),
                    ..Path::default()
                };
            }
            Self::Triangle => &[[0.0, -1.3], [1.17, 0.75], [-1.17, 0.75]],
            Self::Wedge => &[[0.0, 1.3], [-1.17, -0.75], [1.17, -0.75]],
            Self::Square => &[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
            Self::Diamond => &[[0.0, -1.3], [1.3, 0.0], [0.0, 1.3], [-1.3, 0.0]],
            Self::Cross => &[
                [-0.35, -1.5],
                [0.35, -1.5],
                [0.35, -0.35],
                [1.5, -0.35],
                [1.5, 0.35],
                [0.35, 0.35],
                [0.35, 1.5],
                [-0.35, 1.5],
                [-0.35, 0.35],
                [-1.5, 0.35],
                [-1.5, -0.35],
                [-0.35, -0.35],
            ],
        };
        let around =
            |[x, y]: &Point| corners.iter().map(|[dx, dy]| [x + radius * dx, y + radius * dy]).collect();
        Path {
            lines: points.iter().map(around).collect(),
            closed: true,
            separate: true,
            fill: Some(fill),
            stroke: Some(edge),
            ..Path::default()
        }
    }
}

/// The rectangle in which the data is, and where everything around it goes.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) area: Rect,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) sizes: Sizes,
    caption: Vec<String>,
    keys: Vec<Vec<(f64, Key)>>,
    title: String,
}

const CAPTION_LINE: f64 = 1.4;
pub(super) const KEY_LINE: f64 = 1.7;

impl Frame {
    /// Lays out a figure; `right` is kept free on that side, and with `equal` a unit is as long across as up.
    pub(super) fn new(style: &Style, x: Axis, y: Axis, keys: Vec<Key>, right: f64, equal: bool) -> Self {
        let sizes = style.sizes();
        let (width, height) = (f64::from(style.width), f64::from(style.height));
        let inner = width - 2.0 * sizes.margin;
        let caption = font::wrap(&style.caption, inner / sizes.caption);
        let keys = rows(keys, inner, sizes);
        let title = font::fitted(style.title.as_deref().unwrap_or_default(), inner / sizes.title);
        let titled = if title.is_empty() { 0.0 } else { 1.5 * sizes.title };
        let top = sizes.margin + titled + KEY_LINE * sizes.tick * keys.len() as f64;
        let captioned = if caption.is_empty() { 0.0 } else { CAPTION_LINE * caption.len() as f64 + 0.9 };
        let below = captioned * sizes.caption + 1.45 * sizes.name + 2.1 * sizes.tick;
        let mut frame = Self {
            area: Rect {
                left: 0.0,
                top,
                right: width - sizes.margin - right,
                bottom: height - sizes.margin - below,
            },
            x,
            y,
            sizes,
            caption,
            keys,
            title,
        };
        // The width of the labels depends on the ticks, these on the range, and that on the width.
        for _ in 0..3 {
            let (labels, _) = frame.y_ticks();
            let widest = labels.iter().map(|(_, label)| font::width(label)).fold(0.0, f64::max);
            frame.area.left = sizes.margin + 1.5 * sizes.name + (widest + 0.9) * sizes.tick;
            if equal {
                frame.equalise();
            }
        }
        frame
    }

    /// Widens one of the ranges until a unit is as long across as up.
    fn equalise(&mut self) {
        let across = (self.x.high - self.x.low) / self.area.width();
        let up = (self.y.high - self.y.low) / self.area.height();
        let widen = |axis: &mut Axis, factor: f64| {
            let (middle, half) = (f64::midpoint(axis.low, axis.high), factor * (axis.high - axis.low) / 2.0);
            (axis.low, axis.high) = (middle - half, middle + half);
        };
        if across < up { widen(&mut self.x, up / across) } else { widen(&mut self.y, across / up) }
    }

    /// Where a point of the data is in the picture.
    pub(super) fn place(&self, [x, y]: Point) -> Point {
        let (across, up) = (self.x.share(x), self.y.share(y));
        [self.area.left + across * self.area.width(), self.area.bottom - up * self.area.height()]
    }

    fn x_ticks(&self) -> (Vec<(f64, String)>, String) {
        // As many as fit with room between them.
        for count in (2..=9).rev() {
            let found = self.x.labels(count);
            let needed: f64 =
                found.0.iter().map(|(_, label)| (font::width(label) + 1.4) * self.sizes.tick).sum();
            if needed <= self.area.width() {
                return found;
            }
        }
        self.x.labels(1)
    }

    /// How large the labels of the horizontal axis are: words that would touch are smaller.
    fn word_size(&self, labels: &[(f64, String)]) -> f64 {
        let widest = labels.iter().map(|(_, label)| font::width(label) + 0.6).fold(0.0, f64::max);
        match self.x.ticks {
            Ticks::Words(_) => self.sizes.tick.min(self.area.width() / (widest * labels.len().max(1) as f64)),
            _ => self.sizes.tick,
        }
    }

    fn y_ticks(&self) -> (Vec<(f64, String)>, String) {
        let room = (self.area.height() / (2.2 * self.sizes.tick)).clamp(2.0, 9.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 2 to 9")]
        let count = room as usize;
        self.y.labels(count)
    }

    /// Faint lines across the data where the ticks of the vertical axis are; and of the other one, if they are numbers.
    pub(super) fn draw_lines(&self, scene: &mut Scene) {
        let faint = Stroke { colour: Colour::grey(225), width: 1.6 * self.sizes.unit, dash: None };
        for (value, _) in self.y_ticks().0 {
            let [_, y] = self.place([self.x.low, value]);
            scene.line([self.area.left, y], [self.area.right, y], faint);
        }
        if !matches!(self.x.ticks, Ticks::Words(_)) {
            for (value, _) in self.x_ticks().0 {
                let [x, _] = self.place([value, self.y.low]);
                scene.line([x, self.area.top], [x, self.area.bottom], faint);
            }
        }
    }

    /// Everything around the data: on top of it, so that nothing is drawn over the frame.
    pub(super) fn draw(&self, scene: &mut Scene) {
        let Sizes { unit, tick, name, .. } = self.sizes;
        let (area, thin) = (self.area, Stroke { colour: Colour::INK, width: 2.2 * unit, dash: None });
        let word = |text: String, at: Point, anchor: Anchor, size: f64| Text {
            text,
            at,
            anchor,
            size,
            colour: Colour::INK,
            turn: 0.0,
            halo: None,
        };
        let ((across, x_factor), (up, y_factor)) = (self.x_ticks(), self.y_ticks());
        let small = self.word_size(&across);
        for (value, label) in across {
            let [x, _] = self.place([value, self.y.low]);
            if !matches!(self.x.ticks, Ticks::Words(_)) {
                scene.line([x, area.bottom], [x, area.bottom + 0.32 * tick], thin);
            }
            scene.text(word(label, [x, area.bottom + 1.35 * tick], Anchor::Middle, small));
        }
        for (value, label) in up {
            let [_, y] = self.place([self.x.low, value]);
            scene.line([area.left, y], [area.left - 0.32 * tick, y], thin);
            let at = [area.left - 0.55 * tick, y + 0.5 * font::CAPITAL * tick];
            scene.text(word(label, at, Anchor::End, tick));
        }
        scene.path(Path { lines: vec![area.corners()], closed: true, stroke: Some(thin), ..Path::default() });
        let middle = f64::midpoint(area.left, area.right);
        let x_name = font::fitted(&format!("{}{x_factor}", self.x.name), area.width() / name);
        let under = area.bottom + 1.35 * tick + 1.45 * name;
        scene.text(word(x_name, [middle, under], Anchor::Middle, name));
        let y_name = font::fitted(&format!("{}{y_factor}", self.y.name), area.height() / name);
        let beside = [self.sizes.margin + font::CAPITAL * name, f64::midpoint(area.top, area.bottom)];
        scene.text(Text { turn: -90.0, ..word(y_name, beside, Anchor::Middle, name) });
        let headline = [middle, self.sizes.margin + font::CAPITAL * self.sizes.title];
        scene.text(word(self.title.clone(), headline, Anchor::Middle, self.sizes.title));
        self.legend(scene);
        write_caption(scene, &self.caption, self.sizes);
    }

    fn legend(&self, scene: &mut Scene) {
        let tick = self.sizes.tick;
        let lines = self.keys.len() as f64;
        for (i, row) in self.keys.iter().enumerate() {
            let line = self.area.top - KEY_LINE * tick * (lines - i as f64) + 0.9 * tick;
            let width: f64 = row.iter().map(|(width, _)| width).sum();
            // Over the data if it fits there, else as far to the left as there is room.
            let start = self.area.left.min(f64::from(scene.width) - self.sizes.margin - width);
            draw_keys(scene, row, [start.max(self.sizes.margin), line], self.sizes);
        }
    }
}

/// A line of a legend, from its left end.
pub(super) fn draw_keys(scene: &mut Scene, row: &[(f64, Key)], [mut x, line]: Point, sizes: Sizes) {
    let Sizes { unit, tick, .. } = sizes;
    for (width, key) in row {
        draw_key(scene, key, [x + 0.7 * tick, line - 0.5 * font::CAPITAL * tick], tick, unit);
        scene.text(Text {
            text: key.text.clone(),
            at: [x + 1.7 * tick, line],
            anchor: Anchor::Start,
            size: tick,
            colour: Colour::INK,
            turn: 0.0,
            halo: None,
        });
        x += width;
    }
}

fn draw_key(scene: &mut Scene, key: &Key, [x, y]: Point, tick: f64, unit: f64) {
    let edge = |colour| Stroke { colour, width: 1.6 * unit, dash: None };
    match key.sign {
        Sign::Mark(shape, colour) => {
            scene.path(shape.marks(&[[x, y]], 0.33 * tick, colour, edge(Colour::WHITE)));
        }
        Sign::Patch(colour) => {
            let (half, tall) = (0.6 * tick, 0.38 * tick);
            let patch = Rect { left: x - half, top: y - tall, right: x + half, bottom: y + tall };
            scene.path(Path {
                lines: vec![patch.corners()],
                closed: true,
                fill: Some(colour),
                stroke: Some(edge(Colour::GREY)),
                ..Path::default()
            });
        }
        Sign::Frame(stroke) => {
            let (half, tall) = (0.6 * tick, 0.36 * tick);
            let patch = Rect { left: x - half, top: y - tall, right: x + half, bottom: y + tall };
            scene.path(Path {
                lines: vec![patch.corners()],
                closed: true,
                stroke: Some(stroke),
                ..Path::default()
            });
        }
        Sign::Line(stroke) => scene.line([x - 0.7 * tick, y], [x + 0.7 * tick, y], stroke),
    }
}

/// Entries with their widths, in as few lines as they fit in.
pub(super) fn rows(keys: Vec<Key>, inner: f64, sizes: Sizes) -> Vec<Vec<(f64, Key)>> {
    let mut rows: Vec<Vec<(f64, Key)>> = Vec::new();
    for key in keys {
        let key = Key { text: font::fitted(&key.text, inner / sizes.tick - 3.5), ..key };
        let width = (font::width(&key.text) + 3.2) * sizes.tick;
        match rows.last_mut() {
            Some(row) if row.iter().map(|(width, _)| width).sum::<f64>() + width <= inner => {
                row.push((width, key));
            }
            _ => rows.push(vec![(width, key)]),
        }
    }
    rows
}

/// Lines of words at the foot of the picture.
pub(super) fn write_caption(scene: &mut Scene, lines: &[String], sizes: Sizes) {
    let foot = f64::from(scene.height) - sizes.margin - font::DESCENT * sizes.caption;
    for (i, line) in lines.iter().enumerate() {
        let up = CAPTION_LINE * sizes.caption * (lines.len() - 1 - i) as f64;
        scene.text(Text {
            text: line.clone(),
            at: [sizes.margin, foot - up],
            anchor: Anchor::Start,
            size: sizes.caption,
            colour: Colour::GREY,
            turn: 0.0,
            halo: None,
        });
    }
}

/// Ticks as words with as many decimals as they need, and what they have to be multiplied with if that is a large or a
/// small number.
pub(super) fn format_ticks(values: &[f64]) -> (Vec<String>, String) {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let power =
        if largest >= 1e5 || (largest > 0.0 && largest < 1e-3) { largest.log10().floor() } else { 0.0 };
    let scaled: Vec<f64> = values.iter().map(|v| v / 10f64.powf(power)).collect();
    let step = scaled.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let rest = |decimals: i32| {
        let factor = 10f64.powi(decimals);
        scaled.iter().map(|v| (v * factor - (v * factor).round()).abs() / factor).fold(0.0, f64::max)
    };
    let enough = |decimals: &i32| rest(*decimals) <= 1e-6 * if step.is_finite() { step } else { 1.0 };
    let decimals = usize::try_from((0..=12).find(enough).unwrap_or(12)).unwrap_or(0);
    let label = |v: &f64| format!("{v:.decimals$}").replace('-', "−");
    let factor = if power == 0.0 { String::new() } else { format!(" (×10{})", superscript(power)) };
    (scaled.iter().map(label).collect(), factor)
}

fn superscript(power: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |letter: char| match letter.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    };
    format!("{power:.0}").chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_the_decimals_they_need() {
        let (labels, factor) = format_ticks(&[-0.5, 0.0, 0.5]);
        assert_eq!((labels.join(" ").as_str(), factor.as_str()), ("−0.5 0.0 0.5", ""));
        let (labels, factor) = format_ticks(&[0.0, 2e6, 4e6]);
        assert_eq!((labels.join(" ").as_str(), factor.as_str()), ("0 2 4", " (×10⁶)"));
        let (labels, factor) = format_ticks(&[2.5e-5, 5e-5]);
        assert_eq!((labels.join(" ").as_str(), factor.as_str()), ("2.5 5.0", " (×10⁻⁵)"));
        assert_eq!(format_ticks(&[]), (Vec::new(), String::new()));
    }

    #[test]
    fn equal_ratios_are_equally_far_apart_on_a_logarithmic_axis() {
        let powers = |low, high| Axis { ticks: Ticks::Powers, ..Axis::new("n", low, high) };
        let style = Style { width: 900, height: 900, title: None, caption: String::new(), letters: 1.0 };
        let frame = Frame::new(&style, powers(1.0, 1e4), powers(1e-6, 1.0), Vec::new(), 0.0, false);
        let at = |x: f64| frame.place([x, 1e-3]);
        assert!((at(100.0)[0] - at(10.0)[0] - (at(1e4)[0] - at(1e3)[0])).abs() < 1e-9);
        assert!((at(1.0)[1] - f64::midpoint(frame.area.top, frame.area.bottom)).abs() < 1e-9);
        let words =
            |axis: &Axis| axis.labels(7).0.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ");
        assert_eq!(words(&frame.x), "1 10 100 1000 10000");
        assert_eq!(words(&frame.y), "10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰");
    }

    #[test]
    fn a_unit_is_as_long_across_as_up_if_it_should_be() {
        let axis = |low, high| Axis::new("x", low, high);
        let style =
            Style { width: 1800, height: 1500, title: None, caption: "a caption".into(), letters: 1.0 };
        let frame = Frame::new(&style, axis(0.0, 1.0), axis(-50.0, 70.0), Vec::new(), 100.0, true);
        let ([left, _], [right, _]) = (frame.place([0.0, 0.0]), frame.place([10.0, 0.0]));
        let ([_, low], [_, high]) = (frame.place([0.0, 0.0]), frame.place([0.0, 10.0]));
        assert!(((right - left) - (low - high)).abs() < 1e-6);
        assert!(frame.y.low <= -50.0 && frame.y.high >= 70.0);
    }
}
