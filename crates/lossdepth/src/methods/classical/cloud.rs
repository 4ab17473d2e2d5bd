//! The sample in the coordinates of a frame, column by column.

use super::frame::{Coordinates, Frame, Scatter};
use crate::data::{Mass, Reference};
use crate::error::Result;
use crate::numerics::simd::{LANES, sum_of, vectorised};

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

/// A query in the coordinates of the frame, and its squared distances from all points.
#[derive(Debug, Default)]
pub(super) struct Distances {
    pub(super) at: Vec<f64>,
    /// Squared distances, one a point.
    pub(super) square: Vec<f64>,
    /// A bound on the absolute error of a distance, beside its relative error.
    pub(super) noise: f64,
    /// A bound on the relative error of a distance, that of its root included.
    pub(super) relative: f64,
    /// Scratch memory, one number a point.
    pub(super) terms: Vec<f64>,
}

impl Cloud {
    pub(super) fn new(sample: &Reference, scatter: Scatter, support_fraction: f64) -> Result<Self> {
        let (merged, place) = sample.merged();
        let frame = Frame::new(&merged, scatter, support_fraction)?;
        let (n, r) = (merged.len(), frame.rank());
        let (mut columns, mut points, mut noise) = (vec![0.0; n * r], Coordinates::default(), 0.0f64);
        for first in (0..n).step_by(LANES) {
            let end = (first + LANES).min(n);
            frame.apply_all(merged.rows().range(first, end).iter(), &mut points);
            for i in first..end {
                noise = noise.max(points.noise[i - first]);
                points.of(i - first).enumerate().for_each(|(j, x)| columns[j * n + i] = x);
            }
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

    /// What [`by_row`](Self::by_row) makes of zeros: the influence on a depth of 0 off the span.
    pub(super) fn no_influence(&self) -> Vec<f64> {
        vec![0.0; self.place.len()]
    }

    /// Fills in the coordinates of a query and its squared distances from all points; false if it is off the span of the sample.
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
        out.square.resize(n, 0.0);
        let (squares, at) = (&mut out.square[..n], &out.at);
        vectorised!({
            let body = n - n % LANES;
            for (first, out) in (0..body).step_by(LANES).zip(squares.chunks_exact_mut(LANES)) {
                let mut sums = [0.0; LANES];
                for (column, t) in self.columns.chunks_exact(n).zip(at) {
                    for (sum, x) in sums.iter_mut().zip(&column[first..first + LANES]) {
                        let d = x - t;
                        *sum = d.mul_add(d, *sum);
                    }
                }
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum);
            }
            for (i, out) in squares.iter_mut().enumerate().skip(body) {
                let apart = self.columns.iter().skip(i).step_by(n).zip(at).map(|(x, t)| x - t);
                *out = apart.fold(0.0, |sum, d| d.mul_add(d, sum));
            }
        });
        out.terms.resize(n, 0.0);
        true
    }
}

impl Distances {
    /// The distances themselves, in place of their squares.
    pub(super) fn take_roots(&mut self) -> &mut Vec<f64> {
        let squares = &mut self.square[..];
        vectorised!({
            for square in squares.iter_mut() {
                *square = square.sqrt();
            }
        });
        &mut self.square
    }
}
