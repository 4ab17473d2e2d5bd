//! Rank correlations and simulated data: SciPy's values, the definition over all pairs, moments and densities that agree.

use crate::common::{Random as Draws, golden, numbers, table};
use lossdepth::numerics::Random;
use lossdepth::simulate::{Mixture, Part};
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
fn densities_are_those_of_scipy() {
    for case in golden("correlation.json")["mixtures"].as_array().unwrap() {
        let part = |part: &serde_json::Value| Part {
            share: part["share"].as_f64().unwrap(),
            mean: numbers(&part["mean"]),
            sd: part["sd"].as_f64().unwrap(),
        };
        let mixture = Mixture::new(case["parts"].as_array().unwrap().iter().map(part).collect()).unwrap();
        for (point, expected) in table(&case["points"]).iter().zip(numbers(&case["log_density"])) {
            let got = mixture.log_density(point).unwrap();
            assert!((got - expected).abs() < 1e-12 * expected.abs().max(1.0), "{got} {expected}");
        }
    }
}

#[test]
fn samples_have_the_moments_of_their_mixture() {
    let mixture = Mixture::new(vec![
        Part { share: 3.0, mean: vec![-1.0, 2.0], sd: 0.5 },
        Part { share: 1.0, mean: vec![4.0, 0.0], sd: 2.0 },
    ])
    .unwrap();
    assert_eq!([mixture.parts()[0].share, mixture.parts()[1].share], [0.75, 0.25]);
    let n = 40_000;
    let rows = mixture.draw(&[n, n], &mut Random::new(5)).unwrap();
    assert_eq!(rows, mixture.draw(&[n, n], &mut Random::new(5)).unwrap());
    assert_ne!(rows, mixture.draw(&[n, n], &mut Random::new(6)).unwrap());
    for (part, rows) in mixture.parts().iter().zip(rows.chunks_exact(2 * n)) {
        for k in 0..2 {
            let column = rows.iter().skip(k).step_by(2);
            let mean = column.clone().sum::<f64>() / n as f64;
            let variance = column.map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            // Five standard errors.
            assert!((mean - part.mean[k]).abs() < 5.0 * part.sd / (n as f64).sqrt());
            assert!((variance / part.sd.powi(2) - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
        }
    }
    assert!(mixture.draw(&[1], &mut Random::new(0)).is_err());
    assert!(mixture.log_density(&[1.0]).is_err());
    for (share, sd) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert!(Mixture::new(vec![Part { share, mean: vec![0.0], sd }]).is_err());
    }
    assert!(Mixture::new(Vec::new()).is_err() && Mixture::two_modes(1.0, 0).is_err());
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
