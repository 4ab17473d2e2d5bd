//! Coordinates in which a scatter estimate of the sample is the identity.

use crate::data::{Mass, Reference, Rows, Scale, Scaling, Transform};
use crate::error::{DepthError, Result, named};
use crate::methods::halfspace::modular_rank::ExactSpan;
use crate::numerics::linalg::dot;
use crate::numerics::simd::{LANES, vectorised};
use serde::{Deserialize, Serialize};

/// By which scatter matrix distances are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scatter {
    /// The identity: the columns as they are.
    None,
    /// The covariance of the sample.
    #[default]
    Moment,
    /// The minimum covariance determinant, with its own centre.
    Mcd,
}

named!(Scatter, "scatter", None => "none", Moment => "moment", Mcd => "mcd");

/// The map $x \mapsto W (x - m)$ on columns in which the sample has full rank.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// Where the sample lives; `None` if queries may be anywhere.
    span: Option<ExactSpan>,
    columns: Vec<usize>,
    center: Vec<f64>,
    /// $W$ row by row; `None` for the identity.
    matrix: Option<Vec<f64>>,
    width: usize,
    /// First-order relative error of $W$ by the rounding of its estimation.
    rounding: f64,
    /// Whether the scatter is singular up to rounding though not exactly: then nothing is known of distances.
    singular: bool,
    /// For the covariance, what makes it unbiased.
    unbiased: Option<f64>,
}

/// The coordinates of up to [`LANES`] rows in a frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Coordinates {
    differences: Vec<[f64; LANES]>,
    at: Vec<[f64; LANES]>,
    /// The squared Euclidean norms.
    pub(super) square: [f64; LANES],
    /// Bounds on the Euclidean norms of the errors.
    pub(super) noise: [f64; LANES],
}

impl Coordinates {
    /// The coordinates of one of the rows.
    pub(super) fn of(&self, lane: usize) -> impl Iterator<Item = f64> + '_ {
        self.at.iter().map(move |t| t[lane])
    }
}

impl Frame {
    /// From a sample without copies and without rows of weight 0.
    pub(super) fn new(sample: &Reference, scatter: Scatter, support_fraction: f64) -> Result<Self> {
        let (rows, width) = (sample.rows(), sample.width());
        let plain = Self {
            span: None,
            columns: (0..width).collect(),
            center: sample.mean(),
            matrix: None,
            width,
            rounding: 0.0,
            singular: false,
            unbiased: None,
        };
        if scatter == Scatter::None {
            return Ok(plain);
        }
        let span = ExactSpan::new(rows.iter().skip(1), rows.row(0));
        let columns = span.columns();
        let center: Vec<f64> = columns.iter().map(|&k| plain.center[k]).collect();
        let mut frame = Self { span: Some(span), columns, center, ..plain };
        if !frame.columns.is_empty() {
            match scatter {
                Scatter::Mcd => frame.by_mcd(sample, support_fraction)?,
                _ => frame.by_moments(sample),
            }
        }
        Ok(frame)
    }

    /// The dimension of the coordinates.
    pub(super) fn rank(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn center(&self) -> Vec<f64> {
        let mut center = vec![0.0; self.width];
        self.columns.iter().zip(&self.center).for_each(|(&k, m)| center[k] = *m);
        center
    }

    pub(super) fn is_singular(&self) -> bool {
        self.singular
    }

    /// For the covariance of the sample, what makes it unbiased.
    pub(super) fn unbiased(&self) -> Option<f64> {
        self.unbiased
    }

    /// Whether no row is off the span of the sample.
    pub(super) fn is_onto(&self) -> bool {
        self.rank() == self.width
    }

    /// Whether a row is off the span of the sample, exactly.
    pub(super) fn is_outside(&self, x: &[f64]) -> bool {
        self.span.as_ref().is_some_and(|span| span.outside(x).is_some())
    }

    /// Writes the coordinates of a row to `out`; returns a bound on the Euclidean norm of their error.
    pub(super) fn apply(&self, x: &[f64], out: &mut [f64]) -> f64 {
        let mut coordinates = Coordinates::default();
        self.apply_all([x].into_iter(), &mut coordinates);
        out.iter_mut().zip(coordinates.of(0)).for_each(|(o, t)| *o = t);
        coordinates.noise[0]
    }

    /// The coordinates of up to [`LANES`] rows; they do not depend on the rows beside them.
    pub(super) fn apply_all<'a>(&self, rows: impl Iterator<Item = &'a [f64]>, out: &mut Coordinates) {
        let r = self.rank();
        let Coordinates { differences, at, square, noise } = out;
        differences.resize(r, [0.0; LANES]);
        at.resize(r, [0.0; LANES]);
        for (lane, x) in rows.take(LANES).enumerate() {
            for ((d, &k), m) in differences.iter_mut().zip(&self.columns).zip(&self.center) {
                d[lane] = x[k] - m;
            }
        }
        let (factor, rounding) = ((r as f64 + 3.0) * f64::EPSILON, self.rounding);
        vectorised!({
            let (mut squares, mut sizes) = ([0.0; LANES], [0.0; LANES]);
            for (i, at) in at.iter_mut().enumerate() {
                let (mut sum, mut terms) = ([0.0; LANES], [0.0f64; LANES]);
                if let Some(matrix) = &self.matrix {
                    for (w, d) in matrix[i * r..(i + 1) * r].iter().zip(differences.iter()) {
                        for l in 0..LANES {
                            let term = w * d[l];
                            sum[l] += term;
                            terms[l] += term.abs();
                        }
                    }
                } else {
                    sum = differences[i];
                }
                for l in 0..LANES {
                    squares[l] += sum[l] * sum[l];
                    sizes[l] += terms[l] * terms[l];
                }
                *at = sum;
            }
            *square = squares;
            for l in 0..LANES {
                noise[l] = match self.matrix {
                    Some(_) => factor * sizes[l].sqrt() + rounding * squares[l].sqrt(),
                    None => f64::EPSILON * squares[l].sqrt(),
                };
            }
        });
    }

    /// $W^\top g$ in all columns: a gradient in these coordinates becomes one in the columns.
    pub(super) fn pull_back(&self, gradient: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.width];
        let r = self.rank();
        match &self.matrix {
            None => self.columns.iter().zip(gradient).for_each(|(&k, g)| out[k] = *g),
            Some(matrix) => {
                for (row, g) in matrix.chunks_exact(r).zip(gradient) {
                    self.columns.iter().zip(row).for_each(|(&k, w)| out[k] += g * w);
                }
            }
        }
        out
    }

    /// $W = R^{-\top}$ with the triangular factor of the centred, weighted columns (N2).
    fn by_moments(&mut self, sample: &Reference) {
        let (r, n, rows) = (self.rank(), sample.len(), sample.rows());
        let roots: Vec<f64> = sample.weights().iter().map(|w| w.sqrt()).collect();
        let mut sizes = vec![0.0; r];
        let mut basis: Vec<Vec<f64>> = Vec::with_capacity(r);
        let mut upper = vec![0.0; r * r];
        for j in 0..r {
            let (column, m) = (self.columns[j], self.center[j]);
            let mut v: Vec<f64> = (0..n).map(|i| roots[i] * (rows.row(i)[column] - m)).collect();
            sizes[j] = dot(&v, &v).sqrt();
            let size = if sizes[j] > 0.0 { sizes[j] } else { 1.0 };
            for v in &mut v {
                *v /= size;
            }
            sizes[j] = size;
            // Twice is enough: the second pass removes what rounding left of the first.
            for _ in 0..2 {
                for (k, q) in basis.iter().enumerate() {
                    let along = dot(q, &v);
                    upper[k * r + j] += along;
                    v.iter_mut().zip(q).for_each(|(v, q)| *v -= along * q);
                }
            }
            let length = dot(&v, &v).sqrt();
            // Below this a column is a combination of the others up to rounding.
            if length < 64.0 * r as f64 * f64::EPSILON {
                self.singular = true;
            }
            let length = length.max(f64::EPSILON);
            upper[j * r + j] = length;
            for v in &mut v {
                *v /= length;
            }
            basis.push(v);
        }
        // The inverse of the lower triangular Rᵀ, row by row.
        let mut inverse = vec![0.0; r * r];
        for i in 0..r {
            inverse[i * r + i] = 1.0 / upper[i * r + i];
            for j in 0..i {
                let sum: f64 = (j..i).map(|k| upper[k * r + i] * inverse[k * r + j]).sum();
                inverse[i * r + j] = -sum / upper[i * r + i];
            }
        }
        let norm = |a: &[f64]| dot(a, a).sqrt();
        self.rounding = 8.0 * (r as f64 + 4.0) * f64::EPSILON * norm(&upper) * norm(&inverse);
        let unbiased = unbiased(sample);
        self.unbiased = Some(unbiased);
        let matrix = inverse.iter().enumerate().map(|(at, w)| w / (sizes[at % r] * unbiased.sqrt()));
        self.matrix = Some(matrix.collect());
    }

    fn by_mcd(&mut self, sample: &Reference, support_fraction: f64) -> Result<()> {
        let r = self.rank();
        let data: Vec<f64> =
            sample.rows().iter().flat_map(|row| self.columns.iter().map(|&k| row[k])).collect();
        let rows = Rows::new(&data, r)?;
        let (scaling, warning) = Scaling::learn(Scale::Mcd, rows, sample.weights(), support_fraction)?;
        if let Some(warning) = warning {
            let why = warning.to_string();
            let why = why.split(": used").next().unwrap_or_default().replace("scale `mcd`", "scatter `mcd`");
            return Err(DepthError::Settings(format!("{why}: `moment` does without")));
        }
        self.center = scaling.center().to_vec();
        self.matrix = Some(match scaling.transform() {
            Transform::Full(matrix) => matrix.clone(),
            Transform::Diagonal(a) => {
                (0..r * r).map(|at| if at / r == at % r { a[at % r] } else { 0.0 }).collect()
            }
            Transform::Identity => (0..r * r).map(|at| f64::from(u8::from(at / r == at % r))).collect(),
        });
        Ok(())
    }
}

/// What makes the covariance unbiased: $N / (N - 1)$ for counts, $1 / (1 - \sum_i \omega_i^2)$ for other weights.
pub(super) fn unbiased(sample: &Reference) -> f64 {
    match sample.mass() {
        Mass::Counts(n) | Mass::Effective(n) => n / (n - 1.0),
        Mass::Importance => {
            1.0 / (1.0 - sample.weights().iter().map(|w| w * w).sum::<f64>()).max(f64::MIN_POSITIVE)
        }
    }
}
