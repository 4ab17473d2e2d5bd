//! Sampling: rates of convergence, standard errors and the coverage of intervals, in seeded simulations.

mod common;

use common::{Random, reference, score, settings};
use lossdepth::{Fit, Intercept, Method, Settings, Variant};

/// Correlated, heavy-tailed rows: Student's t with five degrees of freedom, mixed.
fn sample(random: &mut Random, n: usize) -> Vec<Vec<f64>> {
    let row = |random: &mut Random| {
        let (a, b) = (random.t5(), random.t5());
        vec![a, 0.5 * a + b]
    };
    (0..n).map(|_| row(random)).collect()
}

fn queries() -> Vec<Vec<f64>> {
    vec![vec![0.5, 0.0], vec![1.5, 1.0], vec![-2.0, 2.0]]
}

fn fits(settings: &Settings, random: &mut Random, n: usize) -> Vec<Fit> {
    score(settings, &reference(&sample(random, n)), &queries())
}

/// The depths in a sample so large that its own error does not matter here.
fn truth(settings: &Settings, n: usize) -> Vec<f64> {
    fits(settings, &mut Random::new(999), n).iter().map(|fit| fit.depth).collect()
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    numbers.clone().sum::<f64>() / numbers.count() as f64
}

/// The slope of the least-squares line through points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let (x, y) = (mean(points.iter().map(|p| p.0)), mean(points.iter().map(|p| p.1)));
    points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

#[test]
fn depths_converge_at_the_root_n_rate() {
    let cases = [
        (Method::Logistic, Variant::Risk),
        (Method::Logistic, Variant::Constrained { radius: 1.0 }),
        (Method::Hinge, Variant::Risk),
    ];
    for (method, variant) in cases {
        let settings = settings(method, Intercept::Free, variant, 0.1);
        let (exact, mut random) = (truth(&settings, 400_000), Random::new(41));
        let points = [100, 400, 1600, 6400].map(|n| {
            let squares: Vec<f64> = (0..60)
                .flat_map(|_| fits(&settings, &mut random, n))
                .zip(exact.iter().cycle())
                .map(|(fit, exact)| (fit.depth - exact).powi(2))
                .collect();
            ((n as f64).ln(), 0.5 * mean(squares.iter().copied()).ln())
        });
        let rate = slope(&points);
        println!("{method} {variant:?}: error ~ n^{rate:.3}");
        assert!((rate + 0.5).abs() <= 0.12, "{method} {variant:?}: {points:?}");
    }
}

/// For each query: how often depth ± 1.96 stderr covers the truth, and mean stderr over the true spread.
fn coverage(settings: &Settings, samples: usize) -> Vec<(f64, f64)> {
    let (exact, mut random) = (truth(settings, 400_000), Random::new(42));
    let all: Vec<Vec<Fit>> = (0..samples).map(|_| fits(settings, &mut random, 200)).collect();
    (0..exact.len())
        .map(|q| {
            let of = |f: fn(&Fit) -> f64| mean(all.iter().map(|fits| f(&fits[q])));
            let covered = |fit: &Fit| (fit.depth - exact[q]).abs() <= 1.96 * fit.stderr;
            let centre = of(|fit| fit.depth);
            let spread = mean(all.iter().map(|fits| (fits[q].depth - centre).powi(2))).sqrt();
            let share = all.iter().filter(|fits| covered(&fits[q])).count() as f64 / samples as f64;
            let stderr = mean(all.iter().map(|fits| fits[q].stderr.powi(2))).sqrt();
            (share, stderr / spread)
        })
        .collect()
}

#[track_caller]
fn covers(settings: &Settings, samples: usize, range: std::ops::RangeInclusive<f64>, spread: f64) {
    for (query, (share, ratio)) in coverage(settings, samples).into_iter().enumerate() {
        let what = format!("{} {:?} query {query}: covers {share:.4}, stderr / spread {ratio:.4}", settings.method, settings.variant);
        println!("{what}");
        assert!(range.contains(&share) && (ratio - 1.0).abs() <= spread, "{what}");
    }
}

#[test]
fn logistic_intervals_cover() {
    for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 1.0 }] {
        covers(&settings(Method::Logistic, Intercept::Free, variant, 0.1), 2000, 0.92..=0.97, 0.06);
    }
}

#[test]
fn hinge_intervals_cover() {
    for variant in [Variant::Risk, Variant::Objective] {
        covers(&settings(Method::Hinge, Intercept::Free, variant, 0.1), 1000, 0.90..=0.98, 0.12);
    }
}

#[test]
fn squared_hinge_intervals_cover() {
    covers(&settings(Method::SquaredHinge, Intercept::Free, Variant::Risk, 0.1), 1000, 0.91..=0.98, 0.12);
}
