//! The sample in coordinates in which every query's problem is easy.
//!
//! A linear depth with penalty $\|w\|^2$ is invariant under rotations of the data, so the sample
//! is rotated into its principal axes once. There its second moments are a diagonal
//! $\sigma_1^2 \ge \sigma_2^2 \ge \dots$, and so is the metric that preconditions the solver: no
//! query factors a matrix for it. Directions in which the sample is constant are dropped; of a query only its
//! distance $\rho$ from the sample's span is kept, as one extra coordinate that no sample point has. So a problem in
//! $d > n$ dimensions costs as much as one in $n$.
//!
//! A free intercept is a first column of ones, and the sample is centred so that it is orthogonal
//! to the rest.

mod displacement;
mod queries;
mod rotation;
mod scaling_influence;

pub(crate) use self::displacement::gamma;
pub(crate) use self::scaling_influence::{Reaction, ShiftResponse};

use self::displacement::Displacement;
use self::rotation::{product, rotate, second_moment};
use self::scaling_influence::LearnedScaling;
use crate::data::{Mass, Reference};
use crate::numerics::double_double::{TwofoldVector, two_sum};
use crate::numerics::linalg::{COLUMN_GROUP, Matrix, Real, axpy, dot, norm, orthonormal_basis};
use crate::numerics::simd::{sum_of, vectorised};

/// The sample rotated into its principal axes: what all queries of a linear depth share.
#[derive(Debug, Clone)]
pub struct Features {
    /// n × q: the sample, one column a coordinate.
    pub(crate) tall: Matrix,
    /// q × n: the same, one column a point.
    pub(crate) wide: Matrix,
    /// Σ ωᵢ tᵢⱼ² for every coordinate.
    pub(crate) moments: Vec<f64>,
    /// ½ωᵢ.
    pub(crate) half_weights: Vec<f64>,
    /// One over each of them.
    inverse_half_weights: Vec<f64>,
    /// Which row of the reference each row here is: those without weight are left out.
    pub(crate) origin: Vec<usize>,
    /// 1 if the first coordinate is the constant of a free intercept, which is not penalised.
    pub(crate) free: usize,
    /// The largest norm of a row.
    pub(crate) largest_norm: f64,
    /// The largest size of each coordinate.
    extents: Vec<f64>,
    mass: Mass,
    /// Σ ω² over the rows that each point stands for.
    squares: Vec<f64>,
    center: Vec<f64>,
    /// d × k with orthonormal columns, k ≥ rank.
    axes: Matrix,
    /// Their transpose.
    axes_transposed: Matrix,
    rank: usize,
    sample_len: usize,
    /// Differences below this are rounding.
    noise: f64,
    /// How far the rotation displaces rows.
    displacement: Displacement,
    /// The rounding errors of `half_weights`; empty if they are not known.
    half_weights_low: Vec<f64>,
    /// The rows as they were given; none where the coordinates themselves are (those of a kernel).
    sample: Option<Reference>,
    /// What the rows were scaled by, if it was learned on them.
    scaling: Option<LearnedScaling>,
    single: Option<SingleSample>,
}

/// The sample in single precision.
#[derive(Debug, Clone)]
pub(crate) struct SingleSample {
    pub(crate) tall: Matrix<f32>,
    pub(crate) wide: Matrix<f32>,
    pub(crate) half_weights: Vec<f32>,
}

/// The rotation of the points.
struct RotatedFrame {
    center: Vec<f64>,
    axes: Matrix,
    axes_transposed: Matrix,
    noise: f64,
}

/// Differences below this are rounding, or have no square.
fn noise(largest: f64, columns: usize) -> f64 {
    (8.0 * f64::EPSILON * largest * (columns as f64).sqrt()).max(1e-150)
}

impl Features {
    /// Centres (if the intercept is free) and rotates the sample.
    pub(crate) fn new(sample: &Reference, free_intercept: bool) -> Self {
        let origin: Vec<usize> = (0..sample.len()).filter(|&i| sample.weights()[i] > 0.0).collect();
        let (rows, n, d) = (sample.rows(), origin.len(), sample.width());
        let weights: Vec<f64> = origin.iter().map(|&i| sample.weights()[i]).collect();
        let center = if free_intercept { sample.mean() } else { vec![0.0; d] };
        let points = Matrix::from_fn(n, d, |i, j| rows.row(origin[i])[j] - center[j]);
        // Of the centred numbers: how far the centre is from 0, or rounded, shifts all of them alike, and the query.
        let largest = (0..d).flat_map(|j| points.col(j)).fold(0.0f64, |m, v| m.max(v.abs()));
        let noise = noise(largest, d);

        // In the span of the sample first, where that is smaller than the space.
        let axes = if n < d {
            let span = orthonormal_basis(&points.transposed());
            let (_, rotation) = rotate(&product(&points, &span), &weights);
            product(&span, &rotation)
        } else {
            rotate(&points, &weights).1
        };
        // One product with the final axes, so that (C18) bounds its rounding.
        let rotated = product(&points, &axes);
        let frame = RotatedFrame { center, axes_transposed: axes.transposed(), axes, noise };
        let squares = weights.iter().map(|w| w * w).collect();
        let mut features =
            Self::from_rotated(&rotated, frame, &weights, squares, sample.mass(), free_intercept);
        features.displacement = Displacement::new(&points, &features.axes, &rotated, features.rank, noise);
        let low = sample.weights_low();
        features.half_weights_low =
            if low.is_empty() { Vec::new() } else { origin.iter().map(|&i| 0.5 * low[i]).collect() };
        let scaling = LearnedScaling::of(sample, &origin);
        Self { origin, sample_len: sample.len(), sample: Some(sample.clone()), scaling, ..features }
    }

    /// Points by coordinates of which the first carry most of the variance, as in a pivoted Cholesky factor: only
    /// these are rotated.
    ///
    /// `squares` holds $\sum \omega^2$ over the rows that each point stands for. Queries come through
    /// [`query_coordinates`](Self::query_coordinates).
    pub(crate) fn of_points(
        mut points: Matrix,
        weights: &[f64],
        squares: Vec<f64>,
        mass: Mass,
        free_intercept: bool,
    ) -> Self {
        let (n, d) = (points.rows(), points.cols());
        let largest = (0..d).flat_map(|j| points.col(j)).fold(0.0f64, |m, v| m.max(v.abs()));
        let noise = noise(largest, d);
        let mut center = vec![0.0; d];
        if free_intercept {
            for j in 0..d {
                center[j] = dot(points.col(j), weights);
                points.col_mut(j).iter_mut().for_each(|x| *x -= center[j]);
            }
        }
        let lead = d.min(LEADING);
        let (rotated, axes) = rotate(&Matrix::from_fn(n, lead, |i, j| points.at(i, j)), weights);
        for j in 0..lead {
            points.col_mut(j).copy_from_slice(rotated.col(j));
        }
        let frame = RotatedFrame { center, axes_transposed: axes.transposed(), axes, noise };
        Self::from_rotated(&points, frame, weights, squares, mass, free_intercept)
    }

    /// From points in their principal axes.
    fn from_rotated(
        points: &Matrix,
        frame: RotatedFrame,
        weights: &[f64],
        squares: Vec<f64>,
        mass: Mass,
        free_intercept: bool,
    ) -> Self {
        let n = points.rows();
        let moments: Vec<f64> = (0..points.cols()).map(|j| second_moment(points.col(j), weights)).collect();
        let rank = moments.iter().rposition(|m| m.sqrt() > frame.noise).map_or(0, |j| j + 1);
        let free = usize::from(free_intercept);
        let tall =
            Matrix::from_fn(n, rank + free, |i, j| if j < free { 1.0 } else { points.at(i, j - free) });
        let wide = tall.transposed();
        let largest_norm = (0..n).fold(0.0f64, |m, i| m.max(norm(wide.col(i))));
        let largest = |j: usize| tall.col(j).iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let extents = (0..tall.cols()).map(largest).collect();
        let moments = std::iter::repeat_n(1.0, free).chain(moments[..rank].iter().copied()).collect();
        let RotatedFrame { center, axes, axes_transposed, noise } = frame;
        let half_weights = weights.iter().map(|w| 0.5 * w).collect();
        let inverse_half_weights = weights.iter().map(|w| 2.0 / w).collect();
        Self {
            tall,
            wide,
            moments,
            half_weights,
            inverse_half_weights,
            origin: (0..n).collect(),
            free,
            largest_norm,
            extents,
            mass,
            squares,
            center,
            axes,
            axes_transposed,
            rank,
            sample_len: n,
            noise,
            displacement: Displacement::NONE,
            half_weights_low: Vec::new(),
            sample: None,
            scaling: None,
            single: None,
        }
    }

    /// Adds the sample in single precision, unless its numbers are out of range or there are too few rows for it to be
    /// faster. (For small samples weights and copies then lead to the same depths almost to the last bit, not only within
    /// their proven errors.)
    pub(crate) fn with_single(mut self) -> Self {
        const FASTER_FROM: usize = 512;
        if self.len() >= FASTER_FROM && (1e-6..1e10).contains(&self.largest_norm) {
            let (tall, wide) = (self.tall.single(), self.wide.single());
            let half_weights = self.half_weights.iter().map(|&w| f32::rounded(w)).collect();
            self.single = Some(SingleSample { tall, wide, half_weights });
        }
        self
    }

    pub(crate) fn single(&self) -> Option<&SingleSample> {
        self.single.as_ref()
    }

    /// The direction of a principal axis in the space of the columns, of length 1.
    pub(crate) fn axis(&self, k: usize) -> &[f64] {
        self.axes.col(k)
    }

    /// How many sample points there are.
    pub(crate) fn len(&self) -> usize {
        self.half_weights.len()
    }

    /// How many coordinates a sample point has.
    pub(crate) fn width(&self) -> usize {
        self.moments.len()
    }

    /// How many coordinates a query has: those of the sample, and ρ.
    pub(crate) fn query_width(&self) -> usize {
        self.width() + 1
    }

    /// $\langle t_i, \theta \rangle$ for every row of the sample; the last coordinate of a query has no part in it.
    pub(crate) fn products(&self, theta: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (j, t) in theta[..self.width()].iter().enumerate() {
            axpy(*t, self.tall.col(j), out);
        }
    }

    /// $\sum_i s_i t_i$.
    pub(crate) fn combination(&self, s: &[f64]) -> Vec<f64> {
        (0..self.width()).map(|j| dot(self.tall.col(j), s)).collect()
    }

    /// Bounds on how far the rotation displaces any row of the sample, and a query whose coordinates have this norm.
    pub(crate) fn displacement(&self, query: f64) -> (f64, f64) {
        (self.displacement.sample, self.displacement.query(query))
    }

    /// Row `i` of the sample as it was given, relative to the centre, behind the constant of a free intercept: the sum of `high`
    /// and `low`, without rounding. Where no rows were given, the coordinates.
    pub(crate) fn given_row(&self, i: usize, high: &mut Vec<f64>, low: &mut Vec<f64>) {
        if let Some(sample) = &self.sample {
            return self.centred(sample.rows().row(self.origin[i]), high, low);
        }
        high.clear();
        high.extend_from_slice(self.wide.col(i));
        low.clear();
        low.resize(high.len(), 0.0);
    }

    /// A query as it was given, likewise; `coordinates` stand for it where no rows were given.
    pub(crate) fn given_query(&self, query: &[f64], coordinates: &[f64]) -> TwofoldVector {
        if self.sample.is_none() {
            return TwofoldVector::new(coordinates.to_vec());
        }
        let (mut high, mut low) = (Vec::new(), Vec::new());
        self.centred(query, &mut high, &mut low);
        TwofoldVector { high, low }
    }

    fn centred(&self, row: &[f64], high: &mut Vec<f64>, low: &mut Vec<f64>) {
        high.clear();
        low.clear();
        high.resize(self.free, 1.0);
        low.resize(self.free, 0.0);
        for (x, c) in row.iter().zip(&self.center) {
            let (sum, rest) = two_sum(*x, -c);
            high.push(sum);
            low.push(rest);
        }
    }

    /// The axes that the coordinates refer to, one column each; none where the coordinates themselves were given.
    pub(crate) fn axes(&self) -> Option<impl ExactSizeIterator<Item = &[f64]>> {
        self.sample.is_some().then(|| (0..self.rank).map(|j| self.axes.col(j)))
    }

    /// $\frac12 \omega_i$ to twice the digits.
    pub(crate) fn half_weight(&self, i: usize) -> (f64, f64) {
        (self.half_weights[i], self.half_weights_low.get(i).copied().unwrap_or(0.0))
    }

    /// A bound on $\sum_j |t_{ij} \theta_j|$, the absolute terms of a margin.
    pub(crate) fn term_sizes(&self, theta: &[f64]) -> f64 {
        self.extents.iter().zip(theta).map(|(e, t)| e * t.abs()).sum()
    }

    /// A bound on the rounding of a margin that is a sum of one term for each coordinate, with absolute sum `span`, computed
    /// in so many steps.
    pub(crate) fn margin_rounding(&self, span: f64, steps: usize) -> f64 {
        // Four of the units are for the loss, which may be evaluated at a margin that is off by so many.
        0.5 * f64::EPSILON * (self.width() + 2 * steps + 12) as f64 * span
    }

    /// The number of independent observations: the sample size, or Kish's effective sample size.
    pub(crate) fn observations(&self) -> f64 {
        match self.mass {
            Mass::Counts(n) | Mass::Effective(n) => n,
            Mass::Importance => 1.0 / self.squares.iter().sum::<f64>(),
        }
    }

    /// How many rows the sample has, copies counted: see [`Reference::observations`].
    pub(crate) fn rows(&self) -> f64 {
        match self.mass {
            Mass::Counts(n) | Mass::Effective(n) => n,
            Mass::Importance => self.len() as f64,
        }
    }

    /// The sampling standard error of a depth; `losses` become the influence values. Without a `reaction` the scaling is taken for
    /// given.
    pub(crate) fn standard_error(
        &self,
        losses: &mut [f64],
        slopes: &[f64],
        shifts: &[f64],
        reaction: Option<Reaction<'_>>,
    ) -> f64 {
        self.influence_values(losses, slopes, shifts);
        if let Some(reaction) = reaction {
            self.add_scaling_influence(losses, reaction);
        }
        match self.mass {
            Mass::Counts(_) | Mass::Effective(_) => self.mass.standard_error(losses, &self.half_weights),
            Mass::Importance => {
                let mean = 2.0 * dot(losses, &self.half_weights);
                let (y, squares) = (&*losses, &self.squares[..losses.len()]);
                sum_of(y.len(), |i| squares[i] * ((y[i] - mean) * (y[i] - mean))).sqrt()
            }
        }
    }

    /// The influence of every row of the reference on a depth: see [`Explanation`](crate::Explanation).
    ///
    /// Rows without weight have no margin here and get 0.
    pub(crate) fn influence(
        &self,
        mut losses: Vec<f64>,
        slopes: &[f64],
        shifts: &[f64],
        reaction: Reaction<'_>,
    ) -> Vec<f64> {
        self.influence_values(&mut losses, slopes, shifts);
        self.add_scaling_influence(&mut losses, reaction);
        let mean = 2.0 * dot(&losses, &self.half_weights);
        let mut influence = vec![0.0; self.sample_len];
        for (&row, value) in self.origin.iter().zip(&losses) {
            influence[row] = value - mean;
        }
        influence
    }

    /// Replaces the losses by $\frac12 (\ell(m_i) + \ell'(m_i) s_i)$; `slopes` are weighted.
    fn influence_values(&self, losses: &mut [f64], slopes: &[f64], shifts: &[f64]) {
        let inverse = &self.inverse_half_weights;
        vectorised!({
            for (((l, s), c), shift) in losses.iter_mut().zip(slopes).zip(inverse).zip(shifts) {
                *l = 0.5 * (*l + s * c * shift);
            }
        });
    }
}

/// How many of the coordinates of [`Features::of_points`] are rotated: what lies beyond is too small for the metric.
const LEADING: usize = 768;

/// How many queries are solved side by side: enough to keep the products efficient, few enough for their columns
/// (five of the sample's length each) to stay in cache, and in bounded memory for large samples.
pub(crate) fn block_width(features: &Features, queries: usize, workers: usize) -> usize {
    let widest = match features.len() {
        0..=4_096 => 64,
        4_097..=131_072 => 32,
        _ => 8,
    };
    queries.div_ceil(workers.max(1)).next_multiple_of(COLUMN_GROUP).min(widest)
}
