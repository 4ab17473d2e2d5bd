//! Sampling: rates of convergence, standard errors and the coverage of intervals, in seeded simulations.

use crate::common::{Random, reference, score, settings};
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
    points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>()
        / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
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

/// How often the 95 % interval covers the truth, and stderr over the true spread.
#[derive(Debug, Clone, Copy)]
struct Coverage {
    share: f64,
    ratio: f64,
}

fn coverage(settings: &Settings, n: usize, samples: usize) -> [Coverage; 3] {
    let (exact, mut random) = (truth(settings, 400_000), Random::new(42));
    let all: Vec<Vec<Fit>> = (0..samples).map(|_| fits(settings, &mut random, n)).collect();
    [0, 1, 2].map(|q| {
        let centre = mean(all.iter().map(|fits| fits[q].depth));
        let spread = mean(all.iter().map(|fits| (fits[q].depth - centre).powi(2))).sqrt();
        let stderr = mean(all.iter().map(|fits| fits[q].stderr.powi(2))).sqrt();
        let covers = |fits: &&Vec<Fit>| {
            let (low, high) = fits[q].interval(0.95).unwrap();
            (low..=high).contains(&exact[q])
        };
        let share = all.iter().filter(covers).count() as f64 / samples as f64;
        let found = Coverage { share, ratio: stderr / spread };
        println!("{} {:?}, n = {n}, query {q}: {found:.4?}", settings.method, settings.variant);
        found
    })
}

fn free(method: Method, variant: Variant) -> Settings {
    settings(method, Intercept::Free, variant, 0.1)
}

// 1000 samples leave 0.7 % of chance in a coverage, and 2 % in a spread.

#[test]
fn logistic_intervals_cover() {
    for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 1.0 }] {
        intervals_cover(Method::Logistic, variant);
    }
}

#[test]
fn hinge_intervals_cover() {
    for variant in [Variant::Risk, Variant::Objective] {
        intervals_cover(Method::Hinge, variant);
    }
}

fn intervals_cover(method: Method, variant: Variant) {
    for found in coverage(&free(method, variant), 800, 1000) {
        assert!((found.ratio - 1.0).abs() <= 0.05, "{method} {variant:?}: {found:?}");
        assert!((0.92..=0.97).contains(&found.share), "{method} {variant:?}: {found:?}");
    }
}

/// The outlying query's depth hangs on the few sample points beyond it. Two hundred heavy-tailed points are too few
/// for its distribution to be normal, whatever the standard error; it is worst for the squared hinge, which the tails
/// pull at with all their length, and it passes as the sample grows.
#[test]
fn coverage_of_outlying_points_grows_with_the_sample() {
    let shares = |method, sizes: &[usize]| -> Vec<f64> {
        sizes.iter().map(|&n| coverage(&free(method, Variant::Risk), n, 600)[2].share).collect()
    };
    for method in [Method::Logistic, Method::Hinge] {
        let shares = shares(method, &[200, 3200]);
        assert!(
            (0.88..=0.97).contains(&shares[0]) && (0.92..=0.97).contains(&shares[1]),
            "{method}: {shares:?}"
        );
    }
    let shares = shares(Method::SquaredHinge, &[200, 800, 3200]);
    assert!(shares.is_sorted() && shares[2] >= 0.92, "{shares:?}");
}
