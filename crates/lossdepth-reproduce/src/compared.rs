//! What the figures have in common: who is compared, the depth over a window, words for numbers.

use crate::error::Result;
use lossdepth::depth::Value;
use lossdepth::view::{Field, Line, ticks};
use lossdepth::{Method, Preset, Reference, Rows, Run, Settings};

/// A method with its settings, under the name that readers see.
#[derive(Debug, Clone)]
pub(super) struct Contender {
    /// In words, for figures and tables.
    pub(super) name: &'static str,
    /// In file names.
    pub(super) key: &'static str,
    /// Whether the paper has it.
    pub(super) printed: bool,
    pub(super) settings: Settings,
}

impl Contender {
    /// As the paper's text has it.
    pub(super) fn of_text(name: &'static str, key: &'static str, method: Method) -> Result<Self> {
        let settings = Settings::with(method, Preset::Paper.values(method, 1.0)?)?;
        Ok(Self { name, key, printed: true, settings })
    }

    /// As the paper's scripts have it, for a sample of `n` rows.
    pub(super) fn of_code(name: &'static str, key: &'static str, method: Method, n: usize) -> Result<Self> {
        let settings = Settings::with(method, Preset::PaperCode.values(method, n as f64)?)?;
        Ok(Self { name, key, printed: false, settings })
    }

    /// One that the paper does not have.
    pub(super) fn ours(
        name: &'static str,
        key: &'static str,
        method: Method,
        values: &[(&'static str, Value)],
    ) -> Result<Self> {
        let settings = Settings::with(method, values.iter().cloned())?;
        Ok(Self { name, key, printed: false, settings })
    }
}

/// Depths of some rows in a sample.
pub(super) fn depths(
    settings: &Settings,
    sample: &[f64],
    rows: &[f64],
    width: usize,
    run: &Run<'_>,
) -> Result<Vec<f64>> {
    let sample = Reference::new(&Rows::new(sample, width)?)?;
    let fits = settings.fit(&sample)?.score(Rows::new(rows, width)?, run)?;
    Ok(fits.iter().map(|fit| fit.depth).collect())
}

/// The nodes of a grid over a window.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    xs: Vec<f64>,
    ys: Vec<f64>,
}

impl Grid {
    pub(super) fn new([(left, right), (low, high)]: [(f64, f64); 2], across: usize, up: usize) -> Self {
        let side = |from: f64, to: f64, count: usize| -> Vec<f64> {
            (0..count).map(|i| from + (to - from) * i as f64 / (count.max(2) - 1) as f64).collect()
        };
        Self { xs: side(left, right, across), ys: side(low, high, up) }
    }

    /// All nodes, line by line, one after the other.
    pub(super) fn rows(&self) -> Vec<f64> {
        self.ys.iter().flat_map(|y| self.xs.iter().flat_map(|x| [*x, *y])).collect()
    }

    /// What there is at the nodes.
    pub(super) fn field(&self, values: &[f64]) -> Result<Field> {
        Ok(Field::new(self.xs.clone(), self.ys.clone(), values.to_vec())?)
    }
}

/// Lines at round levels strictly within the range of a field.
pub(super) fn contours(field: &Field, count: usize) -> Vec<(f64, Vec<Line>)> {
    let (low, high) = field.range();
    let inside = |level: &f64| *level > low + 1e-9 && *level < high - 1e-9;
    ticks(low, high, count).into_iter().filter(inside).map(|level| (level, field.lines(level))).collect()
}

/// Every second number with the one after it.
pub(super) fn points(rows: &[f64]) -> Vec<[f64; 2]> {
    rows.chunks_exact(2).map(|row| [row[0], row[1]]).collect()
}

/// The median.
pub(super) fn median(values: &[f64]) -> Result<f64> {
    Ok(lossdepth::view::Boxed::new(values)?.median)
}

/// The smallest and the largest number.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// `.123`, `−.123`, `1.000`: a number up to 1 as the paper's tables write it.
pub(super) fn share(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let text = text.strip_prefix("0.").map_or(text.clone(), |rest| format!(".{rest}"));
    text.strip_prefix("-0.").map_or(text.clone(), |rest| format!("−.{rest}"))
}

/// Whole percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// `1.2e-5` as `1.2 · 10⁻⁵`, but plain where that is short.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) {
        return format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').replace('-', "−");
    }
    let text = format!("{value:.1e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let raised: String =
        power.chars().filter_map(|digit| "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth("-0123456789".find(digit)?)).collect();
    format!("{} · 10{raised}", mantissa.replace('-', "−"))
}

/// `(a)`, `(b)`, …
pub(super) fn letter(place: usize) -> String {
    let letter = u8::try_from(place).ok().and_then(|place| b'a'.checked_add(place)).map_or('z', char::from);
    format!("({letter})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_readers() {
        assert_eq!([0.5, -0.25, 1.0, 0.0].map(|v| share(v, 2)), [".50", "−.25", "1.00", ".00"]);
        assert_eq!(
            [0.0, 12.5, -3.0, 1.5e-5, 2e6].map(number),
            ["0", "12.5", "−3", "1.5 · 10⁻⁵", "2.0 · 10⁶"]
        );
        assert_eq!((percent(0.123), letter(2)), ("12 %".to_owned(), "(c)".to_owned()));
    }

    #[test]
    fn a_grid_ends_where_its_window_does() {
        let grid = Grid::new([(-1.0, 1.0), (0.0, 4.0)], 3, 2);
        assert_eq!(grid.rows(), [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 4.0, 0.0, 4.0, 1.0, 4.0]);
        assert_eq!(grid.field(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap().at([1.0, 4.0]), 5.0);
    }
}
