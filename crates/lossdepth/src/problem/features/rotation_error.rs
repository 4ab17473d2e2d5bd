//! How far the turn into the principal axes carries a row off.
//!
//! The depth is that of the rows as they were given; what the solvers see are coordinates $t_i$ along computed axes $U$. With
//! $Q$ the nearest axes that are exactly orthonormal, the depth does not notice the turn from $x_i$ to $Q^\top x_i$, and what it
//! does notice is the drift $x_i - c - Q t_i$. In the axes it is, up to second order,
//!
//! $$ Q^\top (x_i - c) - t_i = U^\top (x_i - c - U t_i) + \tfrac12 (U^\top U - I) t_i, $$
//!
//! and both terms can be measured, with twice the digits. That takes a pass over the sample, so a bound known beforehand is
//! tried first.

use super::Features;
use crate::data::Rows;
use crate::numerics::double_double::{Twofold, TwofoldVector, dot_twofold};
use crate::numerics::linalg::{Matrix, axpy, dot, norm};
use crate::numerics::simd::vectorised;

/// How many products it may take to measure the sample's drift; beyond that the bound known beforehand has to do.
const AFFORDABLE: usize = 1_000_000_000;

/// Whether the drift of so many rows is worth measuring.
pub(super) fn affordable(rows: usize, columns: usize, rank: usize) -> bool {
    rows.saturating_mul(columns).saturating_mul(rank) <= AFFORDABLE
}

/// What was measured of the axes and of the sample.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// $U^\top U - I$.
    skew: Matrix,
    /// n × rank: what the coordinates of the sample lack, $Q^\top (x_i - c) - t_i$,
    low: Matrix,
    /// and how far rows are from the span of the axes.
    beyond: Vec<f64>,
}

/// How far the turn has carried the sample and one query off, measured: in the axes, and out of their span.
#[derive(Debug, Clone)]
pub(crate) struct Drift<'a> {
    /// n × rank,
    pub(crate) sample: &'a Matrix,
    pub(crate) sample_beyond: &'a [f64],
    /// and the query's.
    pub(crate) query: Vec<f64>,
    pub(crate) query_beyond: f64,
}

impl Drift<'_> {
    /// Corrects margins of the sample and the value of the query at a classifier $w$: to the coordinates that were turned exactly.
    pub(crate) fn correct(&self, w: &[f64], margins: &mut TwofoldVector, value: &mut Twofold) {
        let (inside, mut more) = (&w[..self.query.len()], vec![0.0; margins.high.len()]);
        inside.iter().enumerate().for_each(|(j, w)| axpy(*w, self.sample.col(j), &mut more));
        margins.add(1.0, &more);
        value.add(dot(&self.query, inside));
    }

    /// What the coordinates lack in $\sum_i a_i t_i + a_z \hat z$, coordinate by coordinate.
    pub(crate) fn sum(&self, sample: &[f64], at_query: f64) -> Vec<f64> {
        let entry = |j: usize| dot(self.sample.col(j), sample) + at_query * self.query[j];
        (0..self.query.len()).map(entry).collect()
    }

    /// What such a sum may be off by out of the span of the axes.
    pub(crate) fn beyond(&self, sample: impl Iterator<Item = f64>, at_query: f64) -> f64 {
        sample.zip(self.sample_beyond).map(|(a, beyond)| a.abs() * beyond).sum::<f64>()
            + at_query.abs() * self.query_beyond
    }

    /// What the margins of sample and query may be off by for that reason.
    pub(crate) fn blur(&self, w: &[f64]) -> (f64, f64) {
        let along = w[self.query.len()].abs();
        let farthest = self.sample_beyond.iter().fold(0.0f64, |m, x| m.max(*x));
        (along * farthest, along * self.query_beyond)
    }
}

impl Features {
    /// How far the turn may carry a row of the sample off, and a query of this size: by the rounding of sums over the columns,
    /// along axes that are orthogonal up to rounding, and by directions that are left out as noise. (Kernels look after their
    /// coordinates themselves.)
    pub(crate) fn drift(&self, query: f64) -> (f64, f64) {
        if self.kernel {
            return (0.0, 0.0);
        }
        let (columns, axes) = (self.axes.rows(), self.axes.cols());
        // Four times the roundings of one sum: the basis, its axes, their product and the turn itself.
        let unit = 2.0 * f64::EPSILON * (columns + axes + 8) as f64;
        (unit * self.reach + 2.0 * self.dropped, (unit + 8.0 * f64::EPSILON) * query + self.noise)
    }

    /// How far a query is from the centre.
    pub(crate) fn size(&self, query: &[f64]) -> f64 {
        norm(&query.iter().zip(&self.center).map(|(z, c)| z - c).collect::<Vec<f64>>())
    }

    /// What it was; `None` where to measure that would take too long.
    ///
    /// With it come the coordinates of the query.
    pub(crate) fn measured_drift(&self, query: &[f64]) -> Option<(Drift<'_>, Vec<f64>)> {
        let Measured { skew, low, beyond } = self.measured()?;
        let located = self.locate(Rows::new(query, query.len()).ok()?);
        let (t, rest) = located.col(0)[self.free..].split_at(self.rank);
        let (along, outside) = self.split(skew, query, t);
        // What is outside of the span is the coordinate ρ.
        let query_beyond = (outside - rest[0]).abs() + 4.0 * f64::EPSILON * outside;
        let drift = Drift { sample: low, sample_beyond: beyond, query: along, query_beyond };
        Some((drift, located.col(0).to_vec()))
    }

    /// What all queries share of it, measured when it is first asked for.
    fn measured(&self) -> Option<&Measured> {
        let (sample, rank) = (self.sample.as_ref()?, self.rank);
        let measure = || {
            let mut skew = Matrix::zeros(rank, rank);
            for j in 0..rank {
                for i in j..rank {
                    let mut product = dot_twofold(self.axes.col(i), self.axes.col(j));
                    product.add(if i == j { -1.0 } else { 0.0 });
                    skew.set(i, j, product.value());
                    skew.set(j, i, product.value());
                }
            }
            let mut low = Matrix::zeros(self.len(), rank);
            let mut beyond = vec![0.0; self.len()];
            for (i, &row) in self.origin.iter().enumerate() {
                let t = &self.wide.col(i)[self.free..];
                let (along, outside) = self.split(&skew, sample.rows().row(row), t);
                along.iter().enumerate().for_each(|(j, x)| low.set(i, j, *x));
                beyond[i] = outside;
            }
            Measured { skew, low, beyond }
        };
        Some(self.measured.get_or_init(measure))
    }

    /// $Q^\top (x - c) - t = U^\top (x - c - U t) + \frac12 (U^\top U - I) t$ up to second order, and how far $x - c$ is from the span.
    fn split(&self, skew: &Matrix, x: &[f64], t: &[f64]) -> (Vec<f64>, f64) {
        let mut left = self.left(x, t);
        let inside: Vec<f64> = (0..self.rank).map(|k| dot(self.axes.col(k), &left)).collect();
        // Axes that span everything leave nothing outside.
        let outside = if self.rank == self.axes.rows() {
            0.0
        } else {
            inside.iter().enumerate().for_each(|(k, along)| axpy(-along, self.axes.col(k), &mut left));
            norm(&left)
        };
        let along = inside.iter().enumerate().map(|(k, x)| x + 0.5 * dot(skew.col(k), t)).collect();
        (along, outside)
    }

    /// $x - c - U t$, with twice the digits until it is rounded.
    fn left(&self, x: &[f64], t: &[f64]) -> Vec<f64> {
        let mut sums = vec![Twofold::default(); x.len()];
        vectorised(
            #[inline(always)]
            || {
                for ((sum, x), c) in sums.iter_mut().zip(x).zip(&self.center) {
                    sum.add(*x);
                    sum.add(-c);
                }
                for (k, t) in t.iter().enumerate() {
                    for (sum, u) in sums.iter_mut().zip(self.axes.col(k)) {
                        sum.add_product(-t, *u);
                    }
                }
            },
        );
        sums.into_iter().map(Twofold::value).collect()
    }
}
