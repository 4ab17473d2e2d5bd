//! What a scaling that is learned on the sample adds to the influence of a row on a depth: (I17) to (I20).

use super::Features;
use crate::data::{Reference, Scale};
use crate::numerics::linalg::{Matrix, axpy, dot};
use crate::problem::Functional;

/// Which statistics of the sample the rows are scaled by.
#[derive(Debug, Clone)]
pub(super) enum LearnedScaling {
    /// The standard deviation of each column. Squares of the scaled numbers, one column each that is scaled, with its place.
    StandardDeviations { columns: Vec<usize>, squares: Matrix<f32> },
    /// The covariance of these columns.
    Covariance { columns: Vec<usize> },
}

/// A minimiser, and how it reacts to a change of the sample.
#[derive(Clone, Copy)]
pub(crate) struct Reaction<'a> {
    pub(crate) theta: &'a [f64],
    /// $q$ with $H q = -\nabla(\text{depth})$; none where the envelope theorem holds the minimiser fixed.
    pub(crate) q: Option<&'a [f64]>,
    /// The penalty, or the multiplier of the constraint.
    pub(crate) reg: f64,
    /// The derivatives (I20) for a shift of all rows and the query; zero with a free intercept, which takes the shift.
    pub(crate) shift: ShiftResponse,
}

/// A shift of all rows and of the query by $\delta$ changes the depth by $a \langle w, \delta \rangle + b \langle q, \delta \rangle$.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ShiftResponse {
    pub(crate) along_w: f64,
    pub(crate) along_q: f64,
}

impl ShiftResponse {
    /// From what the sample and the query add to the derivative of the depth, and to that of the risk, in a constant added to the
    /// classifier; and from $\sum_j c_j \ell''(m_j) \langle x_j, q \rangle$.
    pub(crate) fn new(functional: Functional, [sample, query]: [f64; 2], of_slopes: f64) -> Self {
        let of_depth = functional.sample * sample + functional.query * query;
        Self { along_w: of_depth + of_slopes, along_q: sample + query }
    }
}

impl LearnedScaling {
    /// None if the rows were not scaled, or by statistics whose influence is not known here.
    pub(super) fn of(sample: &Reference, origin: &[usize]) -> Option<Self> {
        let (learned, width) = sample.learned_scale()?;
        let columns: Vec<usize> = match sample.layout() {
            Some(layout) => layout.number_groups().map(|group| group.start).filter(|&j| j < width).collect(),
            None => (0..width).collect(),
        };
        match learned {
            Scale::Standard => {
                let rows = sample.rows();
                let square = |i: usize, j: usize| rows.row(origin[i])[columns[j]].powi(2);
                let squares = Matrix::from_fn(origin.len(), columns.len(), square).single();
                Some(Self::StandardDeviations { columns, squares })
            }
            Scale::Whiten => Some(Self::Covariance { columns }),
            Scale::None | Scale::Robust | Scale::Mcd => None,
        }
    }
}

impl Features {
    /// Whether a shift of the rows matters to standard errors: the mean is learned, and no intercept takes it.
    pub(crate) fn learns_shift(&self) -> bool {
        self.free == 0 && self.scaling.is_some()
    }

    /// Adds what the scaling contributes to influence values, up to a constant. Where rounding has made it no number it is left out.
    pub(super) fn add_scaling_influence(&self, values: &mut [f64], at: Reaction<'_>) {
        let (Some(scaling), Some(sample)) = (&self.scaling, &self.sample) else { return };
        let w = self.in_columns(at.theta);
        // With the minimiser held fixed half as much: the penalty is a square.
        let (q, factor) = at.q.map_or_else(|| (w.clone(), 0.5), |q| (self.in_columns(q), 1.0));
        let factor = 2.0 * at.reg * factor;
        let mut added = vec![0.0; values.len()];
        match scaling {
            LearnedScaling::StandardDeviations { columns, squares } => {
                // Single precision is enough for what squares in single precision are multiplied with.
                let mut sums = vec![0.0f32; added.len()];
                for (k, &j) in columns.iter().enumerate() {
                    axpy(single(factor * w[j] * q[j]), squares.col(k), &mut sums);
                }
                added.iter_mut().zip(&sums).for_each(|(value, sum)| *value = f64::from(*sum));
            }
            LearnedScaling::Covariance { columns } => {
                let (w, q) = (restricted(&w, columns), restricted(&q, columns));
                for (value, &i) in added.iter_mut().zip(&self.origin) {
                    let row = sample.rows().row(i);
                    *value = factor * dot(&w, row) * dot(&q, row);
                }
            }
        }
        if at.shift != ShiftResponse::default() {
            // The mean of the rows takes the place of 0, so they move by minus what it does.
            let ShiftResponse { along_w, along_q } = at.shift;
            let along_q = if at.q.is_some() { along_q } else { 0.0 };
            let moved: Vec<f64> = w.iter().zip(&q).map(|(w, q)| along_w * w + along_q * q).collect();
            for (value, &i) in added.iter_mut().zip(&self.origin) {
                *value -= dot(&moved, sample.rows().row(i));
            }
        }
        if added.iter().all(|x| x.is_finite()) {
            values.iter_mut().zip(&added).for_each(|(value, added)| *value += added);
        }
    }

    /// Coordinates of a classifier as weights of the columns; the part off the span of the sample is left out.
    fn in_columns(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut w = vec![0.0; self.axes.rows()];
        for (j, x) in coordinates[self.free..self.free + self.rank].iter().enumerate() {
            axpy(*x, self.axes.col(j), &mut w);
        }
        w
    }
}

/// The numbers of these columns, 0 in the others.
fn restricted(w: &[f64], columns: &[usize]) -> Vec<f64> {
    let mut kept = vec![0.0; w.len()];
    for &j in columns {
        kept[j] = w[j];
    }
    kept
}

#[expect(clippy::cast_possible_truncation, reason = "that is the point")]
fn single(x: f64) -> f32 {
    x as f32
}
