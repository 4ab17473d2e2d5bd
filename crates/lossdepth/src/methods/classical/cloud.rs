//! The sample in the coordinates of a frame, column by column.

use super::frame::{Frame, Scatter};
use crate::data::{Mass, Reference};
use crate::error::Result;
use crate::numerics::simd::{sum_of, vectorised};

/// Different rows of the sample in the coordinates of a frame, with their weights.
#[derive(Debug, Clone)]
pub(super) struct Cloud {
    pub(super) frame: Frame,
    /// One coordinate after the other.
    columns: Vec<f64>,
    pub(super) weights: Vec<f64>,
    half_weights: Vec<f64>,
    /// A bound on the error of the coordinates of any point.
    noise: f64,
    place: Vec<Option<usize>>,
    mass: Mass,
    observations: f64,
}

/// A query in the coordinates of the frame, and its distances from all points.
#[derive(Debug, Default)]
pub(super) struct Distances {
    pub(super) at: Vec<f64>,
    /// Distances, one a point.
    pub(super) distance: Vec<f64>,
    /// A bound on the absolute error of a distance, beside its relative error.
    pub(super) noise: f64,
    /// A bound on the relative error of a distance.
    pub(super) relative: f64,
    /// Scratch memory, one number a point.
    pub(super) terms: Vec<f64>,
}

impl Cloud {
    pub(super) fn new(sample: &Reference, scatter: Scatter, support_fraction: f64) -> Result<Self> {
        let (merged, place) = sample.merged();
        let frame = Frame::new(&merged, scatter, support_fraction)?;
        let (n, r) = (merged.len(), frame.rank());
        let (mut columns, mut point, mut noise) = (vec![0.0; n * r], vec![0.0; r], 0.0f64);
        for (i, row) in merged.rows().iter().enumerate() {
            noise = noise.max(frame.apply(row, &mut point));
            point.iter().enumerate().for_each(|(j, x)| columns[j * n + i] = *x);
        }
        let weights = merged.weights().to_vec();
        let half_weights = weights.iter().map(|w| 0.5 * w).collect();
        let (mass, observations) = (sample.mass(), sample.observations());
        Ok(Self { frame, columns, weights, half_weights, noise, place, mass, observations })
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn observations(&self) -> f64 {
        self.observations
    }

    pub(super) fn column(&self, j: usize) -> &[f64] {
        &self.columns[j * self.len()..(j + 1) * self.len()]
    }

    /// $\sum_i \omega_i y_i$.
    pub(super) fn mean(&self, y: &[f64]) -> f64 {
        let (n, w) = (self.len(), &self.weights);
        sum_of(n, |i| w[i] * y[i])
    }

    /// A bound on the rounding of such a sum, relative to the sum of the absolute terms.
    pub(super) fn sum_rounding(&self) -> f64 {
        // Interleaved sums: a term passes through at most n / 16 + 20 additions.
        (self.len() as f64 / 16.0 + 24.0) * f64::EPSILON
    }

    /// The standard error of $\sum_i \omega_i y_i$.
    pub(super) fn standard_error(&self, y: &[f64]) -> f64 {
        self.mass.standard_error(y, &self.half_weights)
    }

    /// Numbers of the points as numbers of the rows of the sample; 0 for rows without weight.
    pub(super) fn by_row(&self, y: &[f64]) -> Vec<f64> {
        self.place.iter().map(|place| place.map_or(0.0, |i| y[i])).collect()
    }

    /// Fills in the coordinates of a query and its distances from all points; false if it is off the span of the sample.
    pub(super) fn measure(&self, query: &[f64], out: &mut Distances) -> bool {
        if self.frame.is_outside(query) {
            return false;
        }
        let (n, r) = (self.len(), self.frame.rank());
        out.at.resize(r, 0.0);
        out.noise = self.noise + self.frame.apply(query, &mut out.at);
        out.relative = (r as f64 + 4.0) * f64::EPSILON;
        if self.frame.is_singular() {
            out.noise = f64::INFINITY;
        }
        out.distance.clear();
        out.distance.resize(n, 0.0);
        let squares = &mut out.distance[..n];
        for j in 0..r {
            let (column, t) = (self.column(j), out.at[j]);
            vectorised!({
                for i in 0..n {
                    let d = column[i] - t;
                    squares[i] = d.mul_add(d, squares[i]);
                }
            });
        }
        vectorised!({
            for square in squares.iter_mut() {
                *square = square.sqrt();
            }
        });
        out.terms.resize(n, 0.0);
        true
    }
}
