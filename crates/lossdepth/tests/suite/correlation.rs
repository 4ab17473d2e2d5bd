//! Rank correlations: SciPy's values, the definition over all pairs. Random numbers: uniform, and chosen without repetition.

use crate::common::{Random as Draws, golden, numbers};
use lossdepth::numerics::Random;
use lossdepth::stats::evaluation::{kendall, spearman};

#[test]
fn values_are_those_of_scipy() {
    for case in golden("correlation.json")["pairs"].as_array().unwrap() {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let (tau, rho) = (kendall(&a, &b).unwrap(), spearman(&a, &b).unwrap());
        assert!((tau - case["kendall"].as_f64().unwrap()).abs() < 1e-14, "{tau} {case}");
        assert!((rho - case["spearman"].as_f64().unwrap()).abs() < 1e-14, "{rho} {case}");
    }
}

/// The definition, over all pairs.
fn slow_kendall(a: &[f64], b: &[f64]) -> f64 {
    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
    let (mut sum, mut left, mut right) = (0.0, 0.0, 0.0);
    for i in 0..a.len() {
        for j in 0..i {
            let (x, y) = (sign(a[i] - a[j]), sign(b[i] - b[j]));
            sum += x * y;
            left += x * x;
            right += y * y;
        }
    }
    sum / f64::sqrt(left) / f64::sqrt(right)
}

/// Ranks counted one by one, and the textbook formula.
fn slow_spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |list: &[f64]| -> Vec<f64> {
        let place = |x: &f64| {
            list.iter()
                .map(|y| {
                    if y < x {
                        1.0
                    } else if y == x {
                        0.5
                    } else {
                        0.0
                    }
                })
                .sum::<f64>()
        };
        list.iter().map(place).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = a.len() as f64 / 2.0;
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

#[test]
fn values_are_those_of_the_definition() {
    let mut random = Draws::new(3);
    for n in [2, 3, 5, 16, 63, 200] {
        for levels in [2, 7, 1_000_000] {
            let mut list = || -> Vec<f64> { (0..n).map(|_| random.below(levels) as f64 - 3.0).collect() };
            let (mut a, mut b) = (list(), list());
            // Something to rank, whatever was drawn, and both zeros.
            (a[0], a[1], b[0], b[1]) = (-0.0, 1.0, 0.0, -1.0);
            let (tau, rho) = (kendall(&a, &b).unwrap(), spearman(&a, &b).unwrap());
            assert!((tau - slow_kendall(&a, &b)).abs() < 1e-12, "{n} {levels}");
            assert!((rho - slow_spearman(&a, &b)).abs() < 1e-12, "{n} {levels}");
            assert_eq!((tau, rho), (kendall(&b, &a).unwrap(), spearman(&b, &a).unwrap()));
            // What does not change an order does not change its correlation; not a bit.
            let bent: Vec<f64> = b.iter().map(|x| (x / 1e6).exp()).collect();
            assert_eq!((tau, rho), (kendall(&a, &bent).unwrap(), spearman(&a, &bent).unwrap()));
            assert_eq!((kendall(&a, &a).unwrap(), spearman(&b, &b).unwrap()), (1.0, 1.0));
        }
    }
    let up = [f64::NEG_INFINITY, 0.0, f64::INFINITY];
    assert_eq!(
        (kendall(&up, &[3.0, 2.0, 1.0]).unwrap(), spearman(&up, &[3.0, 2.0, 1.0]).unwrap()),
        (-1.0, -1.0)
    );
}

#[test]
fn what_has_no_order_is_refused() {
    let cases: [(&[f64], &[f64]); 5] = [
        (&[], &[]),
        (&[1.0], &[1.0]),
        (&[1.0, 1.0], &[1.0, 2.0]),
        (&[1.0, 2.0], &[1.0, 2.0, 3.0]),
        (&[1.0, f64::NAN], &[1.0, 2.0]),
    ];
    for (a, b) in cases {
        assert!(kendall(a, b).is_err() && kendall(b, a).is_err(), "{a:?} {b:?}");
        assert!(spearman(a, b).is_err() && spearman(b, a).is_err(), "{a:?} {b:?}");
    }
}

#[test]
fn draws_are_uniform_and_choices_are_different() {
    let mut random = Random::stream(1, 2);
    let mut counts = [0u32; 7];
    (0..70_000).for_each(|_| counts[random.below(7)] += 1);
    // Six standard deviations.
    assert!(counts.iter().all(|count| count.abs_diff(10_000) < 560), "{counts:?}");
    let mut chosen = random.choose(300, 1000);
    chosen.sort_unstable();
    chosen.dedup();
    assert!(chosen.len() == 300 && chosen[299] < 1000);
    let mut all = random.choose(50, 9);
    assert_ne!(all, (0..9).collect::<Vec<_>>());
    all.sort_unstable();
    assert_eq!(all, (0..9).collect::<Vec<_>>());
    assert_eq!(random.below(0), 0);
}
