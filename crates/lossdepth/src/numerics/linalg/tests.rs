use super::*;
use std::cmp::Ordering;

#[test]
fn norms_know_what_is_no_number() {
    assert!(norm(&[0.0, f64::NAN, 3.0]).is_nan() && norm(&[f64::NAN]).is_nan());
    assert_eq!((norm(&[3e200, 0.0]), norm(&[3.0, -4.0]), norm(&[])), (3e200, 5.0, 0.0));
    assert_eq!(norm(&[1.0, f64::NEG_INFINITY]), f64::INFINITY);
}

const SHAPES: [(usize, usize); 14] = [
    (1, 300),
    (2, 200),
    (3, 1),
    (3, 2),
    (3, 150),
    (4, 100),
    (6, 72),
    (7, 5),
    (9, 9),
    (50, 3),
    (49, 12),
    (130, 600),
    (1100, 9),
    (20, 1500),
];

// Sizes on both sides of every threshold inside the product: tiny, odd, deeper than its inner block.
fn check<T: Real + PartialEq>(product: impl Fn(&Matrix<T>, &Matrix<T>) -> Matrix<T>, transposed: bool) {
    let value = |i: usize, j: usize| T::rounded(((i * 31 + j * 17) as f64 * 0.7).sin());
    for (rows, inner) in SHAPES {
        let a = if transposed {
            Matrix::from_fn(inner, rows, |i, j| value(j, i))
        } else {
            Matrix::from_fn(rows, inner, value)
        };
        let b = Matrix::from_fn(inner, 64, |i, j| value(j, i + 3));
        let all = product(&a, &b);
        for width in [8, 16, 24, 40, 64] {
            for first in [0, 1, 5, 7, 64 - width] {
                let first = first.min(64 - width);
                let part = Matrix::from_fn(inner, width, |i, j| b.at(i, j + first));
                let out = product(&a, &part);
                for j in 0..width {
                    assert_eq!(out.col(j), all.col(j + first), "{rows}x{inner}, width {width}");
                }
            }
        }
    }
}

#[test]
fn products_do_not_depend_on_the_neighbours() {
    fn product<T: Real>(a: &Matrix<T>, b: &Matrix<T>) -> Matrix<T> {
        let mut out = Matrix::zeros(a.rows(), b.cols());
        multiply_first(&mut out, a, b, b.cols());
        out
    }
    check(product::<f64>, false);
    check(product::<f32>, false);
    let mixed = |a: &Matrix<f32>, b: &Matrix<f32>| {
        let mut out = Matrix::zeros(a.rows(), b.cols());
        multiply_mixed(&mut out, a, b, b.cols(), &mut Matrix::zeros(a.rows(), b.cols()));
        out.single()
    };
    check(mixed, false);
}

#[test]
fn mixed_products_are_as_good_as_they_say() {
    for (rows, inner) in SHAPES {
        let a = Matrix::from_fn(rows, inner, |i, j| ((i * 31 + j * 17) as f64 * 0.7).sin());
        let b = Matrix::from_fn(inner, 8, |i, j| ((i * 13 + j * 5) as f64 * 0.3).cos());
        let (mut exact, mut ours) = (Matrix::zeros(rows, 8), Matrix::zeros(rows, 8));
        multiply(&mut exact, &a, &b);
        multiply_mixed(&mut ours, &a.single(), &b.single(), 8, &mut Matrix::zeros(rows, 8));
        for (i, j) in (0..rows).flat_map(|i| (0..8).map(move |j| (i, j))) {
            let sizes: f64 = (0..inner).map(|k| (a.at(i, k) * b.at(k, j)).abs()).sum();
            let off = (exact.at(i, j) - ours.at(i, j)).abs();
            assert!(off <= MIXED_ERROR * sizes, "{rows}x{inner}: {off} {sizes}");
        }
    }
}

#[test]
fn triangular_solutions_do_not_depend_on_the_neighbours() {
    let product = |a: &Matrix, b: &Matrix| {
        let n = b.rows();
        let lower = Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
            Ordering::Equal => 2.0 + n as f64,
            Ordering::Greater => a.at(i % a.rows(), j),
            Ordering::Less => f64::NAN,
        });
        let mut out = b.clone();
        solve_lower(&lower, &mut out);
        out
    };
    check(product, false);
}

#[test]
fn accumulated_products_do_not_depend_on_the_neighbours() {
    let product = |a: &Matrix, b: &Matrix| {
        let mut out = Matrix::zeros(a.cols(), b.cols());
        accumulate_transposed(&mut out, a, b, 0, a.rows(), b.cols());
        out
    };
    check(product, true);
}
