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

/// How often depth ± 1.96 stderr covers the truth, and stderr over the true spread.
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
        let covers = |fits: &&Vec<Fit>| (fits[q].depth - exact[q]).abs() <= 1.96 * fits[q].stderr;
        let share = all.iter().filter(covers).count() as f64 / samples as f64;
        let found = Coverage { share, ratio: stderr / spread };
        println!("{} {:?}, n = {n}, query {q}: {found:.4?}", settings.method, settings.variant);
        found
    })
}

fn free(method: Method, variant: Variant) -> Settings {
    settings(method, Intercept::Free, variant, 0.1)
}

// 2000 samples leave half a percent of chance in a coverage, and 2 % in a spread.
//
// The outlying query's depth hangs on the few sample points beyond it; two hundred heavy-tailed points are
// too few for its distribution to be normal, whatever the standard error. The last test shows that this passes.

#[test]
fn logistic_intervals_cover() {
    // A weak constraint fits a central point a little too well: the depth is biased by a fifth of its spread.
    let constrained = Variant::Constrained { radius: 1.0 };
    for (variant, least) in [(Variant::Risk, 0.92), (Variant::Objective, 0.92), (constrained, 0.91)] {
        let [central, between, outlying] = coverage(&free(Method::Logistic, variant), 200, 2000);
        for found in [central, between, outlying] {
            assert!((found.ratio - 1.0).abs() <= 0.05, "{variant:?}: {found:?}");
        }
        for found in [central, between] {
            assert!((least..=0.97).contains(&found.share), "{variant:?}: {found:?}");
        }
        assert!((0.88..=0.97).contains(&outlying.share), "{variant:?}: {outlying:?}");
    }
}

#[test]
fn hinge_intervals_cover() {
    for variant in [Variant::Risk, Variant::Objective] {
        let [central, between, outlying] = coverage(&free(Method::Hinge, variant), 200, 2000);
        for found in [central, between, outlying] {
            assert!((found.ratio - 1.0).abs() <= 0.05, "{variant:?}: {found:?}");
        }
        for found in [central, between] {
            assert!((0.92..=0.98).contains(&found.share), "{variant:?}: {found:?}");
        }
        assert!((0.88..=0.98).contains(&outlying.share), "{variant:?}: {outlying:?}");
    }
}

#[test] // Worst for the squared hinge, which heavy tails pull at with all their length.
fn coverage_of_outlying_points_grows_with_the_sample() {
    let shares = |method| [200, 800, 3200].map(|n| coverage(&free(method, Variant::Risk), n, 600)[2].share);
    for method in [Method::Logistic, Method::Hinge] {
        let [_, middle, last] = shares(method);
        assert!((0.92..=0.98).contains(&middle) && (0.92..=0.98).contains(&last), "{method}");
    }
    let [first, middle, last] = shares(Method::SquaredHinge);
    assert!(first < middle && middle < last && last >= 0.87, "{first} {middle} {last}");
}
