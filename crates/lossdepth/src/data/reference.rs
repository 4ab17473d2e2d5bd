//! The sample that queries are compared with: checked once, when it is made.

use super::{AsRows, Layout, Rows, Scale, Scaling, Transform};
use crate::error::{DepthError, Result};
use crate::numerics::double_double::Twofold;
use crate::numerics::linalg::dot;
use crate::numerics::simd::sum_of;
use std::sync::Arc;

/// A reference sample $x_1, \dots, x_n$ with weights $\omega_i \ge 0$, $\sum_i \omega_i = 1$.
///
/// Built only from finite numbers of one width, at least two rows with a positive weight. A row of
/// weight $k$ is the same as $k$ copies of it. A clone shares the numbers.
///
/// ```
/// use lossdepth::Reference;
/// let sample = Reference::new(&[[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]])?;
/// assert_eq!((sample.len(), sample.width()), (3, 2));
/// assert!(Reference::new(&[[0.0, f64::NAN], [2.0, 3.0]]).is_err());
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    data: Arc<Vec<f64>>,
    width: usize,
    weights: Arc<Vec<f64>>,
    /// What rounding took from each weight: with it, a weight is known to twice the digits. Empty if nothing is known.
    weights_low: Arc<Vec<f64>>,
    /// The weights before they were made to sum to one; none if all rows are alike, or if this was made from another.
    given: Option<Arc<Vec<f64>>>,
    mass: Mass,
    /// Which columns belong together; none if each is a number of its own.
    layout: Option<Arc<Layout>>,
    /// What these rows were scaled by, if it was learned on them, and how many columns: those that are added later are not scaled.
    learned: Option<(Scale, usize)>,
    zero: Zero,
}

/// What became of the zeros of the columns when the rows were mapped.
#[derive(Debug, Clone, PartialEq)]
enum Zero {
    /// The rows are as they were given.
    Kept,
    /// Each column was mapped by itself, 0 to this number.
    Moved(Arc<Vec<f64>>),
    /// The columns were mixed.
    Lost,
}

/// The different rows of a sample that have a weight, in a fixed order.
pub(crate) struct Distinct {
    /// The first row of each.
    pub(crate) first: Vec<usize>,
    /// The weight of all its copies.
    pub(crate) weights: Vec<f64>,
    /// For every row of the sample which of these it is, if it has a weight.
    pub(crate) place: Vec<Option<usize>>,
}

/// What the weights say about how many independent observations there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Mass {
    /// Every weight is a whole number: the rows stand for this many observations.
    Counts(f64),
    /// Weights of any kind on a sample whose standard errors are those of this many observations.
    Effective(f64),
    /// Weights of importance: each row is one observation.
    Importance,
}

impl Mass {
    /// The standard error of $\sum_i \omega_i y_i$ for weights given as $\frac12 \omega_i$.
    ///
    /// Whole-number weights count observations: $\sqrt{\sum_i \omega_i (y_i - \bar y)^2 / N}$ with
    /// $N$ their sum. Other weights give importance to single observations:
    /// $\sqrt{\sum_i \omega_i^2 (y_i - \bar y)^2}$.
    pub(crate) fn standard_error(self, y: &[f64], half_weights: &[f64]) -> f64 {
        let mean = 2.0 * dot(y, half_weights);
        let rows = y.len().min(half_weights.len());
        let (y, weights) = (&y[..rows], &half_weights[..rows]);
        match self {
            Mass::Counts(n) | Mass::Effective(n) => {
                let squares = sum_of(rows, |i| weights[i] * ((y[i] - mean) * (y[i] - mean)));
                (2.0 * squares / n).sqrt()
            }
            Mass::Importance => {
                let part = |i: usize| 2.0 * weights[i] * (y[i] - mean);
                sum_of(rows, |i| part(i) * part(i)).sqrt()
            }
        }
    }
}

impl Reference {
    /// Copies and checks the rows; every row gets the same weight.
    ///
    /// # Errors
    /// Fewer than two rows, no column, rows of different width, or a number that is not finite.
    pub fn new(rows: &(impl AsRows + ?Sized)) -> Result<Self> {
        rows.with_rows(|rows| Self::from_vec(rows.as_slice().to_vec(), rows.width(), None))
    }

    /// As [`new`](Self::new), with a weight for each row; they need not sum to one.
    ///
    /// Rows of weight 0 are kept, so that row numbers stay what they were, but have no effect.
    ///
    /// # Errors
    /// As for [`new`](Self::new); or a weight that is negative or not finite, or not one for each row.
    pub fn weighted(rows: &(impl AsRows + ?Sized), weights: &[f64]) -> Result<Self> {
        rows.with_rows(|rows| Self::from_vec(rows.as_slice().to_vec(), rows.width(), Some(weights.to_vec())))
    }

    /// As [`new`](Self::new) or [`weighted`](Self::weighted), from numbers row by row that need not be copied.
    ///
    /// # Errors
    /// As for [`weighted`](Self::weighted).
    pub fn from_vec(data: Vec<f64>, width: usize, weights: Option<Vec<f64>>) -> Result<Self> {
        let rows = Rows::new(&data, width)?;
        let n = rows.len();
        let Some(given) = weights else {
            Self::check(rows, n)?;
            let (count, weight) = (n as f64, 1.0 / n as f64);
            let low = (-weight).mul_add(count, 1.0) / count;
            let (weights, weights_low) = (Arc::new(vec![weight; n]), Arc::new(vec![low; n]));
            let mass = Mass::Counts(count);
            return Ok(Self::as_given(data, width, (weights, weights_low), None, mass));
        };
        if given.len() != n {
            return Err(DepthError::WeightCount { expected: n, got: given.len() });
        }
        let wrong = |w: &f64| !w.is_finite() || *w < 0.0;
        if let Some(row) = given.iter().position(wrong) {
            return Err(DepthError::Weight { row, value: given[row] });
        }
        Self::check(rows, given.iter().filter(|w| **w > 0.0).count())?;
        // Dividing by the largest first keeps the sum from overflowing.
        let largest = given.iter().fold(0.0f64, |m, w| m.max(*w));
        let mut total = Twofold::default();
        for w in &given {
            total.add(w / largest);
        }
        let total = total.value();
        let whole = given.iter().all(|w| w.fract() == 0.0 && *w < 1e15);
        let weights: Vec<f64> = given.iter().map(|w| w / largest / total).collect();
        let weights_low = Arc::new(quotients_low(&given, &weights, largest));
        let mass = if whole { Mass::Counts(given.iter().sum()) } else { Mass::Importance };
        let weights = (Arc::new(weights), weights_low);
        Ok(Self::as_given(data, width, weights, Some(Arc::new(given)), mass))
    }

    /// Rows that no map was applied to, each column a number of its own.
    fn as_given(
        data: Vec<f64>,
        width: usize,
        (weights, weights_low): (Arc<Vec<f64>>, Arc<Vec<f64>>),
        given: Option<Arc<Vec<f64>>>,
        mass: Mass,
    ) -> Self {
        let (data, zero) = (Arc::new(data), Zero::Kept);
        Self { data, width, weights, weights_low, given, mass, layout: None, learned: None, zero }
    }

    /// Says which columns belong together. Without a layout every column is a number.
    ///
    /// ```
    /// use lossdepth::Reference;
    /// use lossdepth::data::{GroupKind, Layout};
    /// let layout = Layout::new([(0, GroupKind::Number, 1), (1, GroupKind::Category, 2)]);
    /// let sample = Reference::new(&[[4.5, 1.0, 0.0], [3.5, 0.0, 1.0]])?.with_layout(layout.clone())?;
    /// assert_eq!(sample.layout(), Some(&layout));
    /// assert!(Reference::new(&[[4.5, 1.0, 1.0], [3.5, 0.0, 1.0]])?.with_layout(layout).is_err());
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// If the groups of the layout are not the columns here, one after the other; or if a row does not have exactly one
    /// number other than 0 among the columns of a category.
    pub fn with_layout(mut self, layout: Layout) -> Result<Self> {
        layout.check(self.rows())?;
        self.layout = (layout != Layout::numbers(self.width)).then(|| Arc::new(layout));
        Ok(self)
    }

    /// Which columns belong together; `None` if each is a number of its own.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_deref()
    }

    fn check(rows: Rows<'_>, positive: usize) -> Result<()> {
        if positive < 2 {
            return Err(DepthError::TooFewRows { expected: 2, got: positive });
        }
        rows.check_finite()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Never: a reference has at least two rows.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows, as given.
    pub fn rows(&self) -> Rows<'_> {
        Rows::new(&self.data, self.width).unwrap_or_else(|_| unreachable!("checked when it was made"))
    }

    /// The weights, scaled to sum to one.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What rounding took from [`weights`](Self::weights); empty if that is not known.
    pub(crate) fn weights_low(&self) -> &[f64] {
        &self.weights_low
    }

    /// The weights as they were given, if they were.
    pub fn given_weights(&self) -> Option<&[f64]> {
        self.given.as_deref().map(Vec::as_slice)
    }

    /// The same weights on other rows of as many columns, or more: those that come last are numbers.
    pub(super) fn with_data(&self, data: Vec<f64>, width: usize) -> Self {
        let layout = self.layout.as_ref().map(|layout| match width - self.width {
            0 => Arc::clone(layout),
            more => Arc::new(layout.with_numbers(more)),
        });
        Self { data: Arc::new(data), width, given: None, layout, ..self.clone() }
    }

    /// The sample after an affine map of its rows.
    #[must_use]
    pub fn mapped(&self, scaling: &Scaling) -> Self {
        let mut data = vec![0.0; self.data.len()];
        for (row, out) in self.rows().iter().zip(data.chunks_exact_mut(self.width)) {
            scaling.apply(row, out);
        }
        let mut mapped = self.with_data(data, self.width);
        mapped.zero = match (scaling.transform(), &self.zero) {
            (Transform::Full(_), _) | (_, Zero::Lost) => Zero::Lost,
            _ => {
                let before: Vec<f64> = (0..self.width).filter_map(|j| self.zero(j)).collect();
                let mut after = vec![0.0; self.width];
                scaling.apply(&before, &mut after);
                Zero::Moved(Arc::new(after))
            }
        };
        mapped
    }

    /// Where the zero of a column is after the maps that the rows went through; `None` if they mixed the columns.
    pub(crate) fn zero(&self, column: usize) -> Option<f64> {
        match &self.zero {
            Zero::Kept => Some(0.0),
            Zero::Moved(zeros) => zeros.get(column).copied(),
            Zero::Lost => None,
        }
    }

    /// [`mapped`](Self::mapped) by a scaling of this kind that was learned on these rows: standard errors take into account that it was.
    pub(crate) fn scaled(&self, scale: Scale, scaling: &Scaling) -> Self {
        Self { learned: Some((scale, self.width)), ..self.mapped(scaling) }
    }

    /// What these rows were scaled by, if it was learned on them, and how many of the columns.
    pub(crate) fn learned_scale(&self) -> Option<(Scale, usize)> {
        self.learned
    }

    /// Whether the rows are still numbers to work with after an affine map.
    pub(crate) fn check_mapped(&self, scaling: &Scaling) -> Result<()> {
        let mut out = vec![0.0; self.width];
        self.rows().iter().try_for_each(|row| {
            scaling.apply(row, &mut out);
            Rows::new(&out, self.width)?.check_finite()
        })
    }

    /// The sample with a last column of ones.
    pub(crate) fn with_constant(&self) -> Self {
        let data = self.rows().iter().flat_map(|row| row.iter().copied().chain([1.0])).collect();
        self.with_data(data, self.width + 1)
    }

    /// The different rows with a positive weight in a fixed order, each with the weight of all its copies; and for
    /// every row here, which one of them it is, if it has a weight.
    ///
    /// Where weights count observations, samples that are the same up to the order of the rows, or up to copies
    /// written as weights, come out the same to the last bit.
    pub(crate) fn merged(&self) -> (Self, Vec<Option<usize>>) {
        let Distinct { first, weights, place } = self.distinct();
        let mut data = Vec::with_capacity(first.len() * self.width);
        for &row in &first {
            self.extend_with(&mut data, row);
        }
        let (data, weights, weights_low) = (Arc::new(data), Arc::new(weights), Arc::new(Vec::new()));
        (Self { data, weights, weights_low, given: None, ..self.clone() }, place)
    }

    /// Adds a row as [`merged`](Self::merged) has it.
    pub(crate) fn extend_with(&self, data: &mut Vec<f64>, row: usize) {
        // Adding 0 makes -0 and 0 the same.
        data.extend(self.rows().row(row).iter().map(|x| x + 0.0));
    }

    /// Which rows [`merged`](Self::merged) has, without a copy of them.
    pub(crate) fn distinct(&self) -> Distinct {
        self.distinct_as(|_, x| x)
    }

    /// The same for the rows that a map of each column makes of these.
    pub(crate) fn distinct_as(&self, map: impl Fn(usize, f64) -> f64) -> Distinct {
        let rows = self.rows();
        let order = |a: &[f64], b: &[f64]| {
            let value = |j: usize, x: f64| map(j, x) + 0.0;
            let mut each =
                a.iter().zip(b).enumerate().map(|(j, (a, b))| value(j, *a).total_cmp(&value(j, *b)));
            each.find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        };
        let mut sorted: Vec<usize> = (0..self.len()).filter(|&i| self.weights[i] > 0.0).collect();
        sorted.sort_by(|&a, &b| order(rows.row(a), rows.row(b)));
        let (mut first, mut weights) = (Vec::new(), Vec::<f64>::new());
        let mut place = vec![None; self.len()];
        for (k, &i) in sorted.iter().enumerate() {
            let copy = k > 0 && order(rows.row(sorted[k - 1]), rows.row(i)).is_eq();
            match weights.last_mut() {
                Some(weight) if copy => *weight += self.weights[i],
                _ => {
                    first.push(i);
                    weights.push(self.weights[i]);
                }
            }
            place[i] = Some(weights.len() - 1);
        }
        if let Mass::Counts(total) = self.mass
            && total < 1e9
        {
            // The counts themselves, so that the quotients are rounded once.
            for w in &mut weights {
                *w = (*w * total).round() / total;
            }
        }
        Distinct { first, weights, place }
    }

    /// The weighted mean of the rows; exact for a constant column, whatever its value.
    pub fn mean(&self) -> Vec<f64> {
        let counted = self.weights.iter().position(|w| *w > 0.0).unwrap_or(0);
        let first = self.rows().row(counted);
        let mut shift = vec![0.0; self.width];
        for (row, w) in self.rows().iter().zip(self.weights.iter()).filter(|(_, w)| **w > 0.0) {
            for ((s, x), f) in shift.iter_mut().zip(row).zip(first) {
                *s += w * (x - f);
            }
        }
        first.iter().zip(&shift).map(|(f, s)| f + s).collect()
    }

    /// How many observations its rows stand for: the sum of whole-number weights, or the number of rows with a
    /// weight; of a sample of a larger reference those of all of it.
    pub fn observations(&self) -> f64 {
        match self.mass {
            Mass::Counts(n) | Mass::Effective(n) => n,
            Mass::Importance => self.weights.iter().filter(|&&weight| weight > 0.0).count() as f64,
        }
    }

    /// The same rows, whose standard errors are those of a reference of so many rows.
    pub(super) fn with_effective_size(mut self, rows: f64) -> Self {
        self.mass = Mass::Effective(rows);
        self
    }

    /// The first rows, whose standard errors are those of all.
    pub(crate) fn first(&self, rows: usize) -> Result<Self> {
        if rows >= self.len() {
            return Ok(self.clone());
        }
        let data = self.rows().range(0, rows).as_slice().to_vec();
        let few = Self::from_vec(data, self.width, Some(self.weights[..rows].to_vec()))?;
        let mass = match self.mass {
            Mass::Counts(n) => Mass::Effective(n),
            other => other,
        };
        Ok(Self { mass, ..few })
    }

    pub(crate) fn mass(&self) -> Mass {
        self.mass
    }
}

/// What the rounded `quotients` of the given weights and their sum lack, for the digits beyond the first 53 bits.
fn quotients_low(given: &[f64], quotients: &[f64], largest: f64) -> Vec<f64> {
    // A power of two keeps the sum from overflowing and changes no digit.
    let exponent = (largest.to_bits() >> 52) & 0x7ff;
    let scale = f64::from_bits((2046 - exponent.min(2045)).min(2045) << 52);
    let mut total = Twofold::default();
    for g in given {
        total.add(g * scale);
    }
    let (high, low) = total.parts();
    let rest = |(g, q): (&f64, &f64)| ((-q).mul_add(high, g * scale) - q * low) / high;
    given.iter().zip(quotients).map(rest).collect()
}
