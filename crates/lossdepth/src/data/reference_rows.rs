//! How many rows of the reference are compared with, and the sample that they are.

use super::{Column, Reference, ReferenceSketch, Table, Values};
use crate::error::{DepthError, Result};
use std::fmt;
use std::str::FromStr;

/// How many rows of the reference a method compares with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReferenceRows {
    /// All of them.
    #[default]
    All,
    /// All of at most [`EXACT`](Self::EXACT), otherwise a sample whose size follows from the standard errors of depths.
    Auto,
    /// A random sample of so many different rows, if there are more.
    Count(usize),
    /// All of them, read several times: depths are found on a sample, improved and proven by passes over all rows.
    Passes,
}

impl ReferenceRows {
    /// The names that are no numbers.
    pub const NAMES: [&'static str; 3] = ["all", "auto", "passes"];

    /// Up to so many rows `auto` takes all.
    pub const EXACT: usize = 20_000;
}

impl fmt::Display for ReferenceRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Auto => f.write_str("auto"),
            Self::Passes => f.write_str("passes"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

impl FromStr for ReferenceRows {
    type Err = DepthError;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "all" => Ok(Self::All),
            "auto" => Ok(Self::Auto),
            "passes" => Ok(Self::Passes),
            _ => Err(DepthError::Name {
                name: "reference_rows",
                expected: "all, auto, passes, or a whole number".to_owned(),
                got: name.to_owned(),
            }),
        }
    }
}

impl Reference {
    /// A random sample of at most `rows` of the different rows, with their weights; rows with very many copies are in it in
    /// any case. The same for any order of the rows.
    ///
    /// ```
    /// use lossdepth::Reference;
    /// let rows: Vec<[f64; 1]> = (0..100).map(|i| [f64::from(i)]).collect();
    /// let sample = Reference::new(&rows[..])?.sampled(10, 0)?;
    /// assert_eq!(sample.len(), 10);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// Fewer than two rows asked for.
    pub fn sampled(&self, rows: usize, seed: u64) -> Result<Self> {
        let column = |at: usize| Column {
            name: at.to_string(),
            values: Values::Numbers(self.rows().iter().map(|row| row[at]).collect()),
        };
        let table = Table::new((0..self.width()).map(column).collect())?;
        let names = (0..self.width()).map(|at| at.to_string());
        let mut sketch = ReferenceSketch::new(names)?.with_capacity(rows)?.with_seed(seed);
        sketch.add(&table, self.given_weights())?;
        let sample = sketch.reference()?;
        match self.layout() {
            Some(layout) => sample.with_layout(layout.clone()),
            None => Ok(sample),
        }
    }
}
