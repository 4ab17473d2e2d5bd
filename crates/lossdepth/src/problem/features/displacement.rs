//! A-priori bound on how far the rotation into the principal axes displaces a row: (C18) of `docs/math/certificates.md`.
//!
//! The depth is that of the rows as they were given; solvers see coordinates $t_i = \mathrm{fl}(U^\top (x_i - c))$ along
//! computed axes $U$. With the polar factor $Q$ of $U$, whose columns are exactly orthonormal, the depth of the rows
//! $Q^\top (x_i - c)$ is that of the rows as given. What is displaced is $x_i - c - Q t_i$. Its bound needs the defect
//! $\eta = \|U^\top U - I\|$, which is measured once.

use crate::numerics::linalg::{Matrix, multiply, multiply_symmetric};

/// Half a unit in the last place of 1.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// How far rows are displaced by the rotation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Displacement {
    /// Bound for every row of the sample.
    pub(super) sample: f64,
    /// Bound for a query, per unit of its distance from the centre.
    relative: f64,
    /// Distances from the span below this are taken for zero.
    noise: f64,
}

impl Displacement {
    /// Coordinates that are the problem itself: nothing is displaced.
    pub(super) const NONE: Self = Self { sample: 0.0, relative: 0.0, noise: 0.0 };

    /// For centred rows (one row a point) with the coordinates `rotated` along all axes, of which the first `rank` are kept.
    pub(super) fn new(centred: &Matrix, axes: &Matrix, rotated: &Matrix, rank: usize, noise: f64) -> Self {
        let (n, d, k) = (centred.rows(), axes.rows(), axes.cols());
        let defect = orthogonality_defect(axes);
        let root = (k as f64).sqrt();
        // One rounding for the difference from the centre, and a sum of d products for each of k coordinates.
        let inside = defect + gamma(d + 2) * root * (1.0 + defect);
        // The same once more for what is left outside of the span of the axes.
        let outside = inside + defect + gamma(k + 3) * (1.0 + root) * (1.0 + defect);
        let relative = if k < d { 2.0 * inside + outside } else { 2.0 * inside } + 8.0 * f64::EPSILON;
        let largest = largest_norm(centred, 0);
        let mut left = largest_norm(rotated, rank);
        if k < d {
            let mut back = Matrix::zeros(d, n);
            multiply(&mut back, axes, &rotated.transposed());
            let beyond = Matrix::from_fn(n, d, |i, j| centred.at(i, j) - back.at(j, i));
            left += largest_norm(&beyond, 0);
        }
        let sample = relative * largest + 1.02 * left;
        // The bounds above take the defect for small.
        let valid = relative < 0.01 && sample.is_finite();
        if valid {
            Self { sample, relative, noise }
        } else {
            Self { sample: f64::INFINITY, relative: f64::INFINITY, noise }
        }
    }

    /// Bound for a query whose coordinates have this norm.
    pub(super) fn query(&self, coordinates: f64) -> f64 {
        if self.relative == 0.0 {
            return 0.0;
        }
        // The coordinates are as long as the row up to the displacement itself; distances from the span up to `noise` and
        // 8 units in the last place were dropped.
        let length = 1.02 * (coordinates + 2.0 * self.noise);
        (self.relative + 8.0 * f64::EPSILON) * length + self.noise
    }
}

/// $N u / (1 - N u)$.
pub(crate) fn gamma(terms: usize) -> f64 {
    let product = terms as f64 * UNIT;
    product / (1.0 - product)
}

/// The largest norm of a row, of its columns from `first` on; at least the exact one.
fn largest_norm(m: &Matrix, first: usize) -> f64 {
    let columns = || (first..m.cols()).map(|j| m.col(j));
    let scale = columns().flatten().fold(0.0f64, |largest, x| largest.max(x.abs()));
    if scale == 0.0 {
        return 0.0;
    }
    let mut squares = vec![0.0; m.rows()];
    for column in columns() {
        squares.iter_mut().zip(column).for_each(|(s, x)| *s += (x / scale) * (x / scale));
    }
    scale * squares.into_iter().fold(0.0, f64::max).sqrt() * (1.0 + gamma(m.cols() + 8))
}

/// An upper bound on $\|U^\top U - I\|$, the spectral norm.
///
/// $U = U_1 + U_2$ with so few digits in $U_1$ that $U_1^\top U_1$ is computed without rounding; what is left,
/// $U_2^\top V + V^\top U_2$ with $V = U_1 + \frac12 U_2$, is so small that its rounding does not matter. (Ozaki et al., *Error-free
/// transformations of matrix multiplication*, 2012.)
fn orthogonality_defect(axes: &Matrix) -> f64 {
    let (d, k) = (axes.rows(), axes.cols());
    // Products of numbers with β digits after the point, below 2 in size, sum up exactly: 2β + 2 + log₂ d ≤ 53.
    let digits = (51 - i32::try_from(d.next_power_of_two().trailing_zeros()).unwrap_or(51)) / 2;
    let step = 2f64.powi(-digits);
    let round = |x: f64| (x / step).round() * step;
    if (0..k).any(|j| axes.col(j).iter().any(|x| x.is_nan() || x.abs() >= 1.5)) {
        return f64::INFINITY;
    }
    let coarse = Matrix::from_fn(d, k, |i, j| round(axes.at(i, j)));
    let fine = Matrix::from_fn(d, k, |i, j| axes.at(i, j) - coarse.at(i, j));
    let middle = Matrix::from_fn(d, k, |i, j| coarse.at(i, j) + 0.5 * fine.at(i, j));
    let mut exact = Matrix::zeros(k, k);
    multiply_symmetric(&mut exact, &coarse, &coarse);
    let mut rest = Matrix::zeros(k, k);
    multiply(&mut rest, &fine.transposed(), &middle);
    let mut square = 0.0;
    for j in 0..k {
        for i in j..k {
            let identity = if i == j { 1.0 } else { 0.0 };
            let entry = (exact.at(i, j) - identity) + (rest.at(i, j) + rest.at(j, i));
            square += if i == j { entry * entry } else { 2.0 * entry * entry };
        }
    }
    // Rounding of `rest`: entries are sums of d products of at most step/2 and 1.5; each of `entry` is rounded twice more.
    let rounding = k as f64 * (1.5 * step * d as f64).min(1.5 * (d as f64).sqrt() * step) * gamma(d + 4);
    (1.0 + gamma(2 * k * k + 8)) * square.sqrt() + 2.0 * rounding + 4.0 * f64::EPSILON * square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defect_of_computed_axes_is_measured() {
        // A rotation by an angle, with an error put into one entry.
        let (c, s) = (0.3f64.cos(), 0.3f64.sin());
        for off in [0.0, 1e-14, 1e-9] {
            let axes = Matrix::from_fn(2, 2, |i, j| [[c + off, -s], [s, c]][i][j]);
            let found = orthogonality_defect(&axes);
            assert!(found >= 1.9 * c * off && found <= 3.0 * off + 1e-15, "{off}: {found}");
        }
        // Of exact axes nothing but the allowance for rounding is left.
        let exact = orthogonality_defect(&Matrix::from_fn(3, 2, |i, j| f64::from(u8::from(i == j))));
        assert!((0.0..1e-20).contains(&exact), "{exact}");
    }
}
