//! Columns as they are, of very different spread: the wide one then decides alone.

use super::settings::Settings;
use crate::data::{Reference, Scale, Scaling};

/// Two columns whose standard deviations differ by more than [`LIMIT`](Self::LIMIT), compared as they are.
///
/// ```
/// use lossdepth::{Method, Reference, Scale, Settings};
/// let sample = Reference::new(&[[1.0, 5e4], [2.0, 1e4], [3.0, 9e4]])?;
/// let unscaled = Settings { scale: Scale::None, ..Settings::new(Method::Logistic) };
/// let found = unscaled.unequal_spreads(&sample).expect("they differ");
/// assert_eq!((found.wide, found.narrow), (1, 0));
/// assert_eq!(Settings::new(Method::Logistic).unequal_spreads(&sample), None);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnequalSpreads {
    /// The column with the largest standard deviation, counted from 0 among those that are compared.
    pub wide: usize,
    /// The column with the smallest one other than 0.
    pub narrow: usize,
    /// How many times as large the one is.
    pub ratio: f64,
}

impl UnequalSpreads {
    /// The ratio from which on a user is told. A heuristic: the narrow column then has a part in ten thousand of the squared
    /// distances.
    pub const LIMIT: f64 = 100.0;

    /// What the user should know, with the names of the columns.
    pub fn in_words(&self, names: &[String]) -> String {
        let name = |column: usize| names.get(column).cloned().unwrap_or_else(|| column.to_string());
        let (wide, narrow) = (name(self.wide), name(self.narrow));
        let ratio = if self.ratio < 1e6 {
            // Two digits.
            let unit = 10f64.powf(self.ratio.log10().floor() - 1.0);
            format!("{:.0}", (self.ratio / unit).round() * unit)
        } else {
            format!("{:.0e}", self.ratio)
        };
        format!(
            "column `{wide}` varies {ratio} times as much as `{narrow}`, which hardly counts with scale `none`: \
             scale `standard` compares columns on one scale"
        )
    }
}

impl Settings {
    /// The widest and the narrowest of the number columns, if units matter and their spreads differ by more than
    /// [`UnequalSpreads::LIMIT`].
    pub fn unequal_spreads(&self, sample: &Reference) -> Option<UnequalSpreads> {
        if self.scale != Scale::None || !self.method.depends_on_units(self) {
            return None;
        }
        let spreads = Scaling::spreads(sample);
        let by_spread = |a: &&(usize, f64), b: &&(usize, f64)| a.1.total_cmp(&b.1);
        let (narrow, least) = *spreads.iter().min_by(by_spread)?;
        let (wide, most) = *spreads.iter().max_by(by_spread)?;
        let ratio = most / least;
        (ratio > UnequalSpreads::LIMIT).then_some(UnequalSpreads { wide, narrow, ratio })
    }
}
