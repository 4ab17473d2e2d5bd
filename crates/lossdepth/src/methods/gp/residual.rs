//! What the leading directions leave of the Gram matrix.
//!
//! $E = K - X X^\top$ as it is, or, where its eigenvalues fall fast, as a thin product and what that leaves,
//! $E = F F^\top + R$: a pass costs $2 n k$ instead of $n^2$. Of $R$ three numbers are enough: its diagonal and two norms.

use super::basis::Spectrum;
use crate::numerics::linalg::{
    MIXED_ERROR, Matrix, Real, dot, hadamard, multiply_first, multiply_mixed, norm, subtract_outer,
};
use crate::numerics::simd::vectorised;
use std::sync::Arc;

/// Columns of squares that are made and multiplied at a time.
const STRETCH: usize = 64;

/// What is left of the Gram matrix.
#[derive(Debug)]
pub(super) enum Rest {
    /// The directions are all there are.
    Nothing,
    Dense(Dense),
    Thin(Box<Thin>),
}

/// The rest as it is.
#[derive(Debug)]
pub(super) struct Dense {
    matrix: Matrix,
    /// The same in single precision, for corrections that need no more.
    pub(super) single: Option<Matrix<f32>>,
    /// Its diagonal, and the norms of its rows.
    pub(super) diagonal: Vec<f64>,
    pub(super) norms: Vec<f64>,
}

/// The rest as a thin product.
#[derive(Debug)]
pub(super) struct Thin {
    /// $F$, n × k, and its transpose.
    pub(super) tall: Matrix,
    pub(super) wide: Matrix,
    /// Both in single precision, for corrections that need no more.
    pub(super) single: Option<(Matrix<f32>, Matrix<f32>)>,
    /// $F F^\top$, if variances are asked for; and how far its entries may be off: by the product of these numbers for both
    /// points.
    whole: Option<Matrix<f32>>,
    off: Vec<f64>,
    /// The squared norms of the rows of $F$, and the root of their sum.
    pub(super) diagonal: Vec<f64>,
    pub(super) size: f64,
    pub(super) beyond: Arc<Beyond>,
}

/// What a thin product leaves, $R$.
#[derive(Debug)]
pub(super) struct Beyond {
    matrix: Matrix<f32>,
    pub(super) diagonal: Vec<f64>,
    /// Bounds on $\|R\|$ and on $\|C^{1/2} R C^{1/2}\|$ with the counts $C$ of the points.
    pub(super) norm: f64,
    pub(super) weighted: f64,
    /// $\|R\|_F$.
    frobenius: f64,
}

impl Rest {
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Whether more directions could take something off.
    pub(super) fn is_something(&self) -> bool {
        self.thin().map_or(!self.is_nothing(), |thin| thin.tall.cols() > 0)
    }

    pub(super) fn thin(&self) -> Option<&Thin> {
        if let Self::Thin(thin) = self { Some(thin) } else { None }
    }

    /// Rows of the room that [`apply`](Self::apply) needs.
    pub(super) fn room(&self) -> usize {
        self.thin().map_or(0, |thin| thin.tall.cols())
    }

    /// $E$, or its thin product, times each of the first `count` columns.
    pub(super) fn apply(&self, columns: &Matrix, room: &mut Matrix, out: &mut Matrix, count: usize) {
        match self {
            Self::Nothing => {}
            Self::Dense(dense) => multiply_first(out, &dense.matrix, columns, count),
            Self::Thin(thin) => {
                multiply_first(room, &thin.wide, columns, count);
                multiply_first(out, &thin.tall, room, count);
            }
        }
    }

    /// $\sum_j E_{ij}^2 c_j$ for each column, where $E$ may be its thin product.
    pub(super) fn apply_squares(&self, columns: &Matrix, out: &mut Matrix) {
        match self {
            Self::Nothing => {}
            Self::Dense(dense) => apply_squares(&dense.matrix, columns, out),
            Self::Thin(thin) => {
                if let Some(whole) = &thin.whole {
                    apply_squares(whole, columns, out);
                }
            }
        }
    }

    /// The diagonal of $E$ or of its thin product.
    pub(super) fn diagonal(&self) -> &[f64] {
        match self {
            Self::Nothing => &[],
            Self::Dense(dense) => &dense.diagonal,
            Self::Thin(thin) => &thin.diagonal,
        }
    }
}

impl Dense {
    /// `matrix` is the rest; `single` asks for a copy in single precision.
    pub(super) fn new(matrix: Matrix, single: bool) -> Self {
        let n = matrix.cols();
        let diagonal = (0..n).map(|i| matrix.at(i, i).max(0.0)).collect();
        let norms = (0..n).map(|i| norm(matrix.col(i))).collect();
        let single = single.then(|| matrix.single());
        Self { matrix, single, diagonal, norms }
    }
}

impl Thin {
    /// All directions of a spectrum but the first `width`.
    pub(super) fn new(spectrum: &Spectrum, width: usize, averaged: bool, single: bool) -> Self {
        let (points, n) = (&spectrum.points, spectrum.points.rows());
        let tall = Matrix::from_fn(n, points.cols() - width, |i, j| points.at(i, width + j));
        let wide = tall.transposed();
        let diagonal: Vec<f64> = (0..n).map(|i| norm(wide.col(i)).powi(2)).collect();
        let size = diagonal.iter().sum::<f64>().sqrt();
        let whole = averaged.then(|| {
            let (mut whole, tall) = (Matrix::zeros(n, n), tall.single());
            multiply_first(&mut whole, &tall, &wide.single(), n);
            whole
        });
        let single = single.then(|| (tall.single(), wide.single()));
        // Each entry is a sum of k products in single precision, less one of at most k more: see `without`.
        let unit = (points.cols() as f64 * f64::from(f32::EPSILON)).sqrt();
        let off = diagonal.iter().map(|d| unit * d.sqrt()).collect();
        Self { tall, wide, single, whole, off, diagonal, size, beyond: spectrum.beyond.clone() }
    }

    /// How far rounding may carry a sum of `apply_squares` off: at point `i`, where it is `sum`, with `mass` the weighted
    /// sum of the squares of [`off`](Self::off).
    pub(super) fn rounding(&self, i: usize, sum: f64, mass: f64) -> f64 {
        let entries = self.off[i] * mass.sqrt();
        let sums = 0.5 * (STRETCH + 4) as f64 * f64::from(f32::EPSILON);
        2.0 * sum.max(0.0).sqrt() * entries + entries * entries + sums * sum.abs()
    }

    /// $\sum_i c_i o_i^2$ with what the entries of the product may be off by.
    pub(super) fn mass(&self, columns: &[f64]) -> f64 {
        self.off.iter().zip(columns).map(|(o, c)| o * o * c).sum()
    }

    /// The same with `width` directions fewer.
    pub(super) fn without(mut self, width: usize) -> Self {
        let n = self.tall.rows();
        let taken = Matrix::from_fn(n, width, |i, j| f32::rounded(self.tall.at(i, j)));
        if let Some(whole) = &mut self.whole {
            subtract_outer(whole, &taken, &taken, width, n);
        }
        let tall = Matrix::from_fn(n, self.tall.cols() - width, |i, j| self.tall.at(i, width + j));
        let wide = tall.transposed();
        let diagonal: Vec<f64> = (0..n).map(|i| norm(wide.col(i)).powi(2)).collect();
        let size = diagonal.iter().sum::<f64>().sqrt();
        let single = self.single.map(|_| (tall.single(), wide.single()));
        Self { tall, wide, single, diagonal, size, ..self }
    }
}

impl Beyond {
    /// `gram` less the product of the points' coordinates with themselves; `dropped` are the eigenvalues, by the counts, of the
    /// directions of a longer factor that are not among the coordinates, each right up to `noise`.
    ///
    /// $R = S + S'$ with the part $S$ of those directions and what the longer factor leaves. As both are positive semidefinite,
    /// $\|R\|_F^2 \ge \|S\|_F^2 + \|S'\|_F^2$; so that $\|R\| \le \|S\| + (\|R\|_F^2 - \|S\|_F^2)^{1/2}$, of which all is known.
    pub(super) fn new(
        mut gram: Matrix,
        points: &Matrix,
        counts: &[f64],
        (dropped, noise): (&[f64], f64),
    ) -> Self {
        let n = gram.cols();
        subtract_outer(&mut gram, points, points, points.cols(), n);
        let diagonal: Vec<f64> = (0..n).map(|i| gram.at(i, i).max(0.0)).collect();
        let (mut plain, mut weighted) = (0.0, 0.0);
        let mut squares = vec![0.0; n];
        for j in 0..n {
            hadamard(gram.col(j), gram.col(j), &mut squares);
            plain += squares.iter().sum::<f64>();
            weighted += counts[j] * dot(&squares, counts);
        }
        let known: f64 = dropped.iter().map(|l| (l - noise).max(0.0).powi(2)).sum();
        let largest = dropped.iter().fold(0.0f64, |m, l| m.max(*l)) + noise;
        // A thousandth for the rounding of the sums.
        let spectral = largest + (1.001 * weighted - 0.999 * known).max(0.0).sqrt();
        let weighted = weighted.sqrt().min(spectral);
        let least = counts.iter().fold(f64::INFINITY, |m, c| m.min(*c));
        let frobenius = plain.sqrt();
        Self { matrix: gram.single(), diagonal, norm: frobenius.min(weighted / least), weighted, frobenius }
    }

    /// $R$ times each of the first `count` columns, right up to [`rounding`](Self::rounding).
    pub(super) fn apply(&self, columns: &Matrix, out: &mut Matrix, count: usize) {
        let (mut single, mut part) = (Matrix::zeros(columns.rows(), count), Matrix::zeros(out.rows(), count));
        for j in 0..count {
            for (to, x) in single.col_mut(j).iter_mut().zip(columns.col(j)) {
                *to = f32::rounded(*x);
            }
        }
        multiply_mixed(out, &self.matrix, &single, count, &mut part);
    }

    /// How far rounding may carry such a product off, in norm, for a column of norm `length`.
    pub(super) fn rounding(&self, length: f64) -> f64 {
        MIXED_ERROR * self.frobenius * length
    }
}

/// $\sum_j E_{ij}^2 c_j$ for each column.
fn apply_squares<T: Real>(matrix: &Matrix<T>, columns: &Matrix, out: &mut Matrix) {
    let n = matrix.cols();
    let (mut squares, mut part) = (Matrix::<T>::zeros(n, STRETCH), Matrix::<T>::zeros(n, columns.cols()));
    (0..out.cols()).for_each(|j| out.col_mut(j).fill(0.0));
    for first in (0..n).step_by(STRETCH) {
        let count = STRETCH.min(n - first);
        for j in 0..STRETCH {
            if j < count {
                hadamard(matrix.col(first + j), matrix.col(first + j), squares.col_mut(j));
            } else {
                squares.col_mut(j).fill(T::default());
            }
        }
        let slice = Matrix::from_fn(STRETCH, columns.cols(), |i, j| {
            if i < count { T::rounded(columns.at(first + i, j)) } else { T::default() }
        });
        multiply_first(&mut part, &squares, &slice, columns.cols());
        for j in 0..out.cols() {
            let (to, from) = (out.col_mut(j), part.col(j));
            vectorised(
                #[inline(always)]
                || to.iter_mut().zip(from).for_each(|(t, x)| *t += x.widened()),
            );
        }
    }
}
