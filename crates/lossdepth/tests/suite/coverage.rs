//! What `stderr` and `interval` are worth, method by method, from a central to a far query: the table of
//! docs/math/inference.md, simulated again.

use crate::common::{Failures, Random, reference, score, settings};
use lossdepth::kernel::{Gamma, KernelChoice};
use lossdepth::{Fit, Intercept, Method, Scale, Settings, Variant};

/// Rows of a sample.
const N: usize = 800;

/// Two correlated columns, Student's t with five degrees of freedom, mixed.
fn sample(random: &mut Random, n: usize) -> Vec<Vec<f64>> {
    let row = |random: &mut Random| {
        let (a, b) = (random.t5(), random.t5());
        vec![a, 0.5 * a + b]
    };
    (0..n).map(|_| row(random)).collect()
}

/// A central query, a middling one, a far one, and one beyond almost all rows.
fn queries() -> Vec<Vec<f64>> {
    vec![vec![0.1, 0.0], vec![1.5, 1.0], vec![-2.5, 2.5], vec![5.0, 6.0]]
}

/// What is simulated, and what is stated of it.
struct Case {
    settings: Settings,
    samples: usize,
    /// Rows of a sample so large that its depth is the truth; 0 where the depth has no limit or it takes too long. The mean over
    /// the samples takes its place then.
    large: usize,
    /// The range in which the coverage of 95 % intervals is stated to be, for each query; [`WITHHELD`] if there are none.
    stated: [(f64, f64); 4],
}

/// What is stated where too few rows decide for a standard error. One may be given in a tenth of the samples.
const WITHHELD: (f64, f64) = (f64::NAN, f64::NAN);

fn linear(method: Method, reg: f64) -> Settings {
    settings(method, Intercept::Free, Variant::Risk, reg)
}

fn plain(method: Method) -> Settings {
    Settings { scale: Scale::None, ..Settings::new(method) }
}

/// The settings that a user has who sets `reg` only.
fn default(method: Method, reg: f64) -> Settings {
    Settings { reg, ..Settings::new(method) }
}

/// The coverage of the intervals that are given; not a number if fewer than a tenth are.
fn coverage(case: &Case) -> [f64; 4] {
    let mut random = Random::new(42);
    let fits = |random: &mut Random, n| score(&case.settings, &reference(&sample(random, n)), &queries());
    let all: Vec<Vec<Fit>> = (0..case.samples).map(|_| fits(&mut random, N)).collect();
    let large = (case.large > 0).then(|| fits(&mut Random::new(999), case.large));
    [0, 1, 2, 3].map(|q| {
        let mean = all.iter().map(|fits| fits[q].depth).sum::<f64>() / case.samples as f64;
        let truth = large.as_ref().map_or(mean, |fits| fits[q].depth);
        let given: Vec<(f64, f64)> = all
            .iter()
            .filter(|fits| fits[q].stderr.is_finite())
            .map(|fits| fits[q].interval(0.95).unwrap())
            .collect();
        if given.len() * 10 < case.samples {
            return f64::NAN;
        }
        given.iter().filter(|(low, high)| (*low..=*high).contains(&truth)).count() as f64 / given.len() as f64
    })
}

// 400 samples leave about 1.5 % of chance in a coverage of 90 %; the ranges allow for three times that.

#[test]
fn coverage_is_as_stated() {
    let case = |settings, samples, large, stated| Case { settings, samples, large, stated };
    let fixed = KernelChoice::Gaussian { gamma: Gamma::Value(0.2) };
    let kernel = |method, reg| Settings { reg, kernel: fixed, ..plain(method) };
    let cases = [
        case(
            linear(Method::Logistic, 0.1),
            400,
            300_000,
            [(0.84, 0.97), (0.90, 0.98), (0.90, 0.98), (0.80, 0.92)],
        ),
        case(
            linear(Method::Logistic, 0.01),
            400,
            300_000,
            [(0.84, 0.97), (0.90, 0.98), (0.84, 0.95), (0.68, 0.82)],
        ),
        case(
            linear(Method::Hinge, 0.1),
            400,
            100_000,
            [(0.84, 0.97), (0.90, 0.98), (0.90, 0.98), (0.85, 0.96)],
        ),
        case(
            linear(Method::Hinge, 0.01),
            400,
            100_000,
            [(0.84, 0.97), (0.88, 0.98), (0.88, 0.98), (0.72, 0.88)],
        ),
        case(
            linear(Method::SquaredHinge, 0.1),
            400,
            300_000,
            [(0.84, 0.97), (0.87, 0.97), (0.82, 0.93), (0.68, 0.83)],
        ),
        case(
            linear(Method::SquaredHinge, 0.01),
            400,
            300_000,
            [(0.84, 0.97), (0.87, 0.97), (0.64, 0.80), (0.38, 0.54)],
        ),
        case(
            linear(Method::Exponential, 0.1),
            400,
            300_000,
            [(0.84, 0.97), (0.45, 0.65), (0.12, 0.32), (0.03, 0.20)],
        ),
        case(kernel(Method::Svm, 1.0), 300, 20_000, [(0.90, 1.0), (0.90, 0.99), (0.90, 0.99), (0.90, 1.0)]),
        case(kernel(Method::Svm, 0.01), 200, 8_000, [(0.88, 1.0), (0.88, 1.0), (0.88, 1.0), (0.88, 1.0)]),
        case(kernel(Method::Klr, 1.0), 100, 0, [(0.88, 1.0), (0.88, 1.0), (0.88, 1.0), (0.88, 1.0)]),
        case(
            Settings { kernel: fixed, ..plain(Method::Gp) },
            60,
            0,
            [(0.85, 1.0), (0.85, 1.0), (0.80, 1.0), (0.80, 1.0)],
        ),
        case(plain(Method::Halfspace), 400, 20_000, [(0.70, 0.85), (0.87, 0.97), (0.93, 1.0), (0.93, 1.0)]),
        case(plain(Method::Mlp), 40, 0, [(0.8, 1.0), (0.8, 1.0), (0.8, 1.0), (0.7, 1.0)]),
    ];
    check(&cases);
}

fn check(cases: &[Case]) {
    let mut failures = Failures::default();
    for case in cases {
        let found = coverage(case);
        println!("{} reg {}: {found:.3?}", case.settings.method, case.settings.reg);
        for (share, (low, high)) in found.iter().zip(case.stated) {
            let withheld = low.is_nan() && share.is_nan();
            failures.check(withheld || (low..=high).contains(share), || {
                format!("{} reg {}: {found:?}", case.settings.method, case.settings.reg)
            });
        }
    }
    failures.report();
}

#[test]
fn coverage_of_default_settings_is_as_stated() {
    let case = |settings, samples, large, stated| Case { settings, samples, large, stated };
    check(&[
        case(
            default(Method::Logistic, 0.1),
            400,
            300_000,
            [(0.84, 0.94), (0.89, 0.97), (0.89, 0.98), (0.86, 0.95)],
        ),
        case(
            default(Method::Logistic, 0.01),
            400,
            300_000,
            [(0.84, 0.94), (0.89, 0.97), (0.87, 0.96), (0.72, 0.84)],
        ),
        case(
            default(Method::Hinge, 0.1),
            400,
            100_000,
            [(0.88, 0.97), (0.89, 0.98), (0.90, 0.98), (0.87, 0.96)],
        ),
        case(
            default(Method::Hinge, 0.01),
            400,
            100_000,
            [(0.84, 0.94), (0.88, 0.97), (0.89, 0.98), (0.78, 0.89)],
        ),
        case(
            default(Method::SquaredHinge, 0.1),
            400,
            300_000,
            [(0.84, 0.94), (0.87, 0.96), (0.86, 0.95), (0.74, 0.85)],
        ),
        case(
            default(Method::SquaredHinge, 0.01),
            400,
            300_000,
            [(0.84, 0.94), (0.86, 0.96), (0.69, 0.82), (0.49, 0.65)],
        ),
        case(
            default(Method::Exponential, 0.1),
            400,
            300_000,
            [(0.83, 0.93), (0.51, 0.67), (0.34, 0.50), (0.10, 0.25)],
        ),
        case(default(Method::Svm, 1.0), 300, 20_000, [(0.95, 1.0), (0.76, 0.90), (0.89, 0.99), (0.95, 1.0)]),
        case(default(Method::Svm, 0.01), 200, 8_000, [(0.93, 1.0), (0.79, 0.94), (0.88, 1.0), (0.90, 1.0)]),
        case(default(Method::Klr, 1.0), 100, 0, [(0.95, 1.0), (0.68, 0.92), (0.90, 1.0), (0.95, 1.0)]),
        case(Settings::new(Method::Gp), 60, 0, [(0.88, 1.0), (0.78, 1.0), (0.68, 0.98), (0.78, 1.0)]),
        case(default(Method::Mlp, 0.01), 40, 0, [(0.8, 1.0), (0.8, 1.0), (0.8, 1.0), (0.7, 1.0)]),
    ]);
}

/// At the outlying queries few rows or none decide about the last three, which withhold the standard error. Two independent simulations, this one and one in NumPy, set the ranges: at the centre they differ by up to 9 %, as the depth is near its largest value.
#[test]
fn coverage_of_classical_depths_is_as_stated() {
    let case = |method, samples, large, stated| {
        let settings = Settings::new(method);
        Case { settings, samples, large, stated }
    };
    check(&[
        case(Method::Mahalanobis, 400, 300_000, [(0.84, 0.98), (0.87, 0.97), (0.88, 0.98), (0.87, 0.99)]),
        case(Method::Spatial, 400, 100_000, [(0.84, 1.0), (0.90, 0.99), (0.87, 0.98), (0.85, 0.96)]),
        case(Method::L2, 400, 100_000, [(0.80, 0.94), (0.87, 0.97), (0.88, 0.98), (0.88, 0.99)]),
        case(Method::Potential, 400, 0, [(0.90, 1.0), (0.89, 0.99), WITHHELD, WITHHELD]),
        case(Method::Zonoid, 400, 50_000, [(0.83, 0.99), (0.87, 0.98), WITHHELD, WITHHELD]),
        case(Method::Simplicial, 400, 20_000, [(0.79, 0.97), (0.88, 0.99), WITHHELD, WITHHELD]),
    ]);
}

#[test]
fn forests_and_combined_depths_have_no_standard_error() {
    for method in [Method::Forest, Method::Auto] {
        let fits = score(&plain(method), &reference(&sample(&mut Random::new(1), 100)), &queries());
        assert!(fits.iter().all(|fit| fit.stderr.is_nan() && fit.interval(0.9).unwrap().0.is_nan()));
    }
}

/// The standard errors of random halves, with the default settings: what is covered is the mean depth over samples of this size.
#[test]
fn coverage_of_resampled_standard_errors_is_as_stated() {
    let case = |method, reg, samples, stated| {
        let settings = Settings { resamples: 20, reg, ..Settings::new(method) };
        Case { settings, samples, large: 0, stated }
    };
    check(&[
        case(Method::Auto, 1.0, 200, [(0.82, 0.97), (0.77, 0.93), (0.82, 0.97), (0.53, 0.73)]),
        case(Method::Forest, 1.0, 100, [(0.78, 0.97), (0.86, 1.0), (0.0, 0.1), (0.0, 0.1)]),
        case(Method::Logistic, 0.1, 200, [(0.90, 1.0), (0.88, 1.0), (0.80, 0.95), (0.83, 0.97)]),
        case(Method::Svm, 1.0, 200, [(0.87, 0.99), (0.88, 1.0), (0.80, 0.95), (0.84, 0.98)]),
    ]);
}
