//! What most figures share: a frame with axes, a title, a caption.

use super::legend::{LEGEND_LINE, LegendKey, draw_keys, legend_rows};
use crate::compute::{log_ticks, ticks};
use crate::scene::colour::Colour;
use crate::scene::font;
use crate::scene::{Anchor, Path, Point, Rect, Scene, Stroke, Text};

/// Size, title and caption of a figure.
#[derive(Debug, Clone)]
pub struct Style {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// Above the figure.
    pub title: Option<String>,
    /// Below the figure; also the title element of an SVG.
    pub caption: String,
    /// A factor on the size of text and lines; more than 1 in a small panel of a larger picture.
    pub text_scale: f64,
}

/// Sizes in pixels, proportional to the picture: `unit` scales line widths, the others are font sizes and the margin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) unit: f64,
    pub(crate) title: f64,
    pub(crate) name: f64,
    pub(crate) tick: f64,
    pub(crate) caption: f64,
    pub(crate) margin: f64,
}

impl Style {
    /// The scale of the picture relative to 1800 × 1500 pixels.
    pub(crate) fn unit(&self) -> f64 {
        (f64::from(self.width) / 1800.0).min(f64::from(self.height) / 1500.0)
    }

    /// Chosen so that a figure of 1800 pixels printed 20 cm wide has text of the size of a page (heuristic).
    pub(crate) fn sizes(&self) -> Sizes {
        let unit = self.text_scale * self.unit();
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

/// An axis: its label, range and ticks.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) ticks: Ticks,
}

/// The kind of an axis.
#[derive(Debug, Clone)]
pub(crate) enum Ticks {
    /// Round numbers on a linear scale.
    Linear,
    /// Powers of ten on a logarithmic scale.
    Logarithmic,
    /// Categories: text at some positions, without tick marks.
    Labels(Vec<(f64, String)>),
}

impl Axis {
    pub(crate) fn new(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self { name: name.into(), low, high, ticks: Ticks::Linear }
    }

    /// The position of a value, from 0 at the low end to 1 at the high end.
    fn fraction(&self, value: f64) -> f64 {
        let scale = |v: f64| if matches!(self.ticks, Ticks::Logarithmic) { v.ln() } else { v };
        (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))
    }

    /// At most `count` ticks with their labels, and the factor to append to the name of the axis.
    fn labels(&self, count: usize) -> (Vec<(f64, String)>, String) {
        match &self.ticks {
            Ticks::Linear => {
                let values = ticks(self.low, self.high, count);
                let (words, factor) = format_ticks(&values);
                (values.into_iter().zip(words).collect(), factor)
            }
            Ticks::Logarithmic => {
                let values = log_ticks(self.low, self.high, count);
                let plain = values.iter().all(|v| (1e-3..1e5).contains(v));
                let word =
                    |v: &f64| if plain { format!("{v}") } else { format!("10{}", superscript(v.log10())) };
                let words: Vec<String> = values.iter().map(word).collect();
                (values.into_iter().zip(words).collect(), String::new())
            }
            Ticks::Labels(words) => (words.clone(), String::new()),
        }
    }
}

/// The layout of a figure: the rectangle of the data, and the axes, title, legend and caption around it.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) area: Rect,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) sizes: Sizes,
    caption: Vec<String>,
    keys: Vec<Vec<(f64, LegendKey)>>,
    title: String,
}

const CAPTION_LINE: f64 = 1.4;

impl Frame {
    /// Lays out a figure. `right` is extra space to the right of the data; `equal` widens a range until both axes have the
    /// same scale.
    pub(crate) fn new(
        style: &Style,
        x: Axis,
        y: Axis,
        keys: Vec<LegendKey>,
        right: f64,
        equal: bool,
    ) -> Self {
        let sizes = style.sizes();
        let (width, height) = (f64::from(style.width), f64::from(style.height));
        let inner = width - 2.0 * sizes.margin;
        let caption = font::wrap(&style.caption, inner / sizes.caption);
        let keys = legend_rows(keys, inner, sizes);
        let title = font::truncated(style.title.as_deref().unwrap_or_default(), inner / sizes.title);
        let titled = if title.is_empty() { 0.0 } else { 1.5 * sizes.title };
        let top = sizes.margin + titled + LEGEND_LINE * sizes.tick * keys.len() as f64;
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
        // The label width depends on the ticks, the ticks on the range, and with `equal` the range on the label width:
        // three fixed-point iterations (heuristic).
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

    /// Widens one of the ranges until both axes have the same scale.
    fn equalise(&mut self) {
        let across = (self.x.high - self.x.low) / self.area.width();
        let up = (self.y.high - self.y.low) / self.area.height();
        let widen = |axis: &mut Axis, factor: f64| {
            let (middle, half) = (f64::midpoint(axis.low, axis.high), factor * (axis.high - axis.low) / 2.0);
            (axis.low, axis.high) = (middle - half, middle + half);
        };
        if across < up { widen(&mut self.x, up / across) } else { widen(&mut self.y, across / up) }
    }

    /// The pixel coordinates of a point of the data.
    pub(crate) fn to_pixels(&self, [x, y]: Point) -> Point {
        let (x, y) = (self.x.fraction(x), self.y.fraction(y));
        [self.area.left + x * self.area.width(), self.area.bottom - y * self.area.height()]
    }

    fn x_ticks(&self) -> (Vec<(f64, String)>, String) {
        // As many as fit.
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

    /// The font size of the labels of the x axis: categories are shrunk to fit.
    fn x_label_size(&self, labels: &[(f64, String)]) -> f64 {
        let widest = labels.iter().map(|(_, label)| font::width(label) + 0.6).fold(0.0, f64::max);
        match self.x.ticks {
            Ticks::Labels(_) => {
                self.sizes.tick.min(self.area.width() / (widest * labels.len().max(1) as f64))
            }
            _ => self.sizes.tick,
        }
    }

    fn y_ticks(&self) -> (Vec<(f64, String)>, String) {
        let room = (self.area.height() / (2.2 * self.sizes.tick)).clamp(2.0, 9.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 2 to 9")]
        let count = room as usize;
        self.y.labels(count)
    }

    /// Grid lines at the ticks of the y axis, and of the x axis unless its ticks are categories.
    pub(crate) fn draw_grid(&self, scene: &mut Scene) {
        let faint = Stroke { colour: Colour::grey(225), width: 1.6 * self.sizes.unit, dash: None };
        for (value, _) in self.y_ticks().0 {
            let [_, y] = self.to_pixels([self.x.low, value]);
            scene.line([self.area.left, y], [self.area.right, y], faint);
        }
        if !matches!(self.x.ticks, Ticks::Labels(_)) {
            for (value, _) in self.x_ticks().0 {
                let [x, _] = self.to_pixels([value, self.y.low]);
                scene.line([x, self.area.top], [x, self.area.bottom], faint);
            }
        }
    }

    /// Frame, ticks, names, title, legend and caption. To be drawn last, so that data does not cover the frame.
    pub(crate) fn draw(&self, scene: &mut Scene) {
        let Sizes { unit, tick, name, .. } = self.sizes;
        let (area, thin) = (self.area, Stroke { colour: Colour::INK, width: 2.2 * unit, dash: None });
        let word = |text: String, at: Point, anchor: Anchor, size: f64| Text {
            text,
            at,
            anchor,
            size,
            colour: Colour::INK,
            rotation: 0.0,
            halo: None,
        };
        let ((across, x_factor), (up, y_factor)) = (self.x_ticks(), self.y_ticks());
        let small = self.x_label_size(&across);
        for (value, label) in across {
            let [x, _] = self.to_pixels([value, self.y.low]);
            if !matches!(self.x.ticks, Ticks::Labels(_)) {
                scene.line([x, area.bottom], [x, area.bottom + 0.32 * tick], thin);
            }
            scene.text(word(label, [x, area.bottom + 1.35 * tick], Anchor::Middle, small));
        }
        for (value, label) in up {
            let [_, y] = self.to_pixels([self.x.low, value]);
            scene.line([area.left, y], [area.left - 0.32 * tick, y], thin);
            let at = [area.left - 0.55 * tick, y + 0.5 * font::CAPITAL * tick];
            scene.text(word(label, at, Anchor::End, tick));
        }
        scene.path(Path { lines: vec![area.corners()], closed: true, stroke: Some(thin), ..Path::default() });
        let middle = f64::midpoint(area.left, area.right);
        let x_name = font::truncated(&format!("{}{x_factor}", self.x.name), area.width() / name);
        let under = area.bottom + 1.35 * tick + 1.45 * name;
        scene.text(word(x_name, [middle, under], Anchor::Middle, name));
        let y_name = font::truncated(&format!("{}{y_factor}", self.y.name), area.height() / name);
        let beside = [self.sizes.margin + font::CAPITAL * name, f64::midpoint(area.top, area.bottom)];
        scene.text(Text { rotation: -90.0, ..word(y_name, beside, Anchor::Middle, name) });
        let headline = [middle, self.sizes.margin + font::CAPITAL * self.sizes.title];
        scene.text(word(self.title.clone(), headline, Anchor::Middle, self.sizes.title));
        self.legend(scene);
        write_caption(scene, &self.caption, self.sizes);
    }

    fn legend(&self, scene: &mut Scene) {
        let tick = self.sizes.tick;
        let lines = self.keys.len() as f64;
        for (i, row) in self.keys.iter().enumerate() {
            let line = self.area.top - LEGEND_LINE * tick * (lines - i as f64) + 0.9 * tick;
            let width: f64 = row.iter().map(|(width, _)| width).sum();
            // Aligned with the data if it fits there, otherwise moved left.
            let start = self.area.left.min(f64::from(scene.width) - self.sizes.margin - width);
            draw_keys(scene, row, [start.max(self.sizes.margin), line], self.sizes);
        }
    }
}

/// Writes the caption at the bottom of the picture.
pub(crate) fn write_caption(scene: &mut Scene, lines: &[String], sizes: Sizes) {
    let foot = f64::from(scene.height) - sizes.margin - font::DESCENT * sizes.caption;
    for (i, line) in lines.iter().enumerate() {
        let up = CAPTION_LINE * sizes.caption * (lines.len() - 1 - i) as f64;
        scene.text(Text {
            text: line.clone(),
            at: [sizes.margin, foot - up],
            anchor: Anchor::Start,
            size: sizes.caption,
            colour: Colour::GREY,
            rotation: 0.0,
            halo: None,
        });
    }
}

/// Tick labels with as many decimals as needed, and the power of ten to append to the axis name, if any.
pub(crate) fn format_ticks(values: &[f64]) -> (Vec<String>, String) {
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
    fn a_logarithmic_axis_has_equal_distances_for_equal_ratios() {
        let logarithmic = |low, high| Axis { ticks: Ticks::Logarithmic, ..Axis::new("n", low, high) };
        let style = Style { width: 900, height: 900, title: None, caption: String::new(), text_scale: 1.0 };
        let frame = Frame::new(&style, logarithmic(1.0, 1e4), logarithmic(1e-6, 1.0), Vec::new(), 0.0, false);
        let at = |x: f64| frame.to_pixels([x, 1e-3]);
        assert!((at(100.0)[0] - at(10.0)[0] - (at(1e4)[0] - at(1e3)[0])).abs() < 1e-9);
        assert!((at(1.0)[1] - f64::midpoint(frame.area.top, frame.area.bottom)).abs() < 1e-9);
        let words =
            |axis: &Axis| axis.labels(7).0.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ");
        assert_eq!(words(&frame.x), "1 10 100 1000 10000");
        assert_eq!(words(&frame.y), "10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 10⁰");
    }

    #[test]
    fn equal_axes_have_the_same_scale() {
        let axis = |low, high| Axis::new("x", low, high);
        let style =
            Style { width: 1800, height: 1500, title: None, caption: "a caption".into(), text_scale: 1.0 };
        let frame = Frame::new(&style, axis(0.0, 1.0), axis(-50.0, 70.0), Vec::new(), 100.0, true);
        let ([left, _], [right, _]) = (frame.to_pixels([0.0, 0.0]), frame.to_pixels([10.0, 0.0]));
        let ([_, low], [_, high]) = (frame.to_pixels([0.0, 0.0]), frame.to_pixels([0.0, 10.0]));
        assert!(((right - left) - (low - high)).abs() < 1e-6);
        assert!(frame.y.low <= -50.0 && frame.y.high >= 70.0);
    }
}
