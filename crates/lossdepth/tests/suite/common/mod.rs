//! What the tests share: numbers that look random and are always the same, samples, golden files.

// Every test file is a crate of its own and uses only part of this.
#![allow(dead_code)]

use lossdepth::{Fit, Intercept, Method, Reference, Rows, Run, Settings, Variant};
use proptest::test_runner::{Config, FileFailurePersistence};
use serde_json::Value;
use std::path::Path;

/// SplitMix64: small, seeded, the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// In $(0, 1)$.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a usize")
    }

    /// Standard normal, by Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Student's t with five degrees of freedom: heavy tails, finite fourth moment.
    pub(crate) fn t5(&mut self) -> f64 {
        let chi: f64 = (0..5).map(|_| self.normal().powi(2)).sum();
        self.normal() / (chi / 5.0).sqrt()
    }

    /// `n` standard normal points in `d` dimensions.
    pub(crate) fn cloud(&mut self, n: usize, d: usize) -> Vec<Vec<f64>> {
        (0..n).map(|_| (0..d).map(|_| self.normal()).collect()).collect()
    }

    /// 0 to `n` - 1 in any order.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// The settings of a method, otherwise the defaults.
pub(crate) fn settings(method: Method, intercept: Intercept, variant: Variant, reg: f64) -> Settings {
    Settings { reg, variant, intercept, scale: lossdepth::Scale::None, ..Settings::new(method) }
}

/// The methods with a linear classifier.
pub(crate) const LINEAR: [Method; 4] =
    [Method::Logistic, Method::Hinge, Method::SquaredHinge, Method::Exponential];

/// Every linear method with every intercept.
pub(crate) fn methods() -> impl Iterator<Item = (Method, Intercept)> {
    LINEAR.into_iter().flat_map(|m| Intercept::ALL.into_iter().map(move |i| (m, i)))
}

/// Scores on one thread.
pub(crate) fn score(settings: &Settings, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    let run = Run { threads: Some(1), ..Run::default() };
    let data = queries.concat();
    let rows = Rows::new(&data, sample.width()).expect("queries as wide as the sample");
    settings.fit(sample).expect("good settings").score(rows, &run).expect("finite queries")
}

/// Scores one query.
pub(crate) fn score_one(settings: &Settings, sample: &Reference, query: &[f64]) -> Fit {
    score(settings, sample, &[query.to_vec()])[0]
}

pub(crate) fn reference(rows: &[Vec<f64>]) -> Reference {
    Reference::new(rows).expect("a good sample")
}

/// How often a property is tried; what it finds is kept in a file beside the test.
pub(crate) fn tries(cases: u32) -> Config {
    let file = FileFailurePersistence::WithSource("proptest-regressions");
    Config { cases, failure_persistence: Some(Box::new(file)), ..Config::default() }
}

/// Collects what went wrong over a table of cases, so that a failure shows its pattern.
#[derive(Default)]
pub(crate) struct Failures {
    cases: usize,
    found: Vec<String>,
}

impl Failures {
    pub(crate) fn check(&mut self, good: bool, what: impl FnOnce() -> String) {
        self.cases += 1;
        if !good {
            self.found.push(what());
        }
    }

    /// Panics with the first of them, if there are any.
    #[track_caller]
    pub(crate) fn report(self) {
        let (cases, bad) = (self.cases, self.found.len());
        let first = self.found[..bad.min(20)].join("\n");
        assert!(bad == 0, "{bad} of {cases} cases:\n{first}");
    }
}

/// A file that golden/make.py wrote.
pub(crate) fn golden(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
}

pub(crate) fn table(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().expect("a list of rows").iter().map(numbers).collect()
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// `a + t (b - a)`.
pub(crate) fn between(a: &[f64], b: &[f64], t: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + t * (b - a)).collect()
}

/// Every variant with penalties and radii from tiny to large.
pub(crate) fn variants() -> Vec<(Variant, f64)> {
    let penalised = [1e-6, 1e-2, 1.0, 1e3].map(|reg| [(Variant::Risk, reg), (Variant::Objective, reg)]);
    let constrained = [0.05, 3.0].map(|radius| (Variant::Constrained { radius }, 1.0));
    penalised.into_iter().flatten().chain(constrained).collect()
}

/// Sample points, points nearby, far points and repeated points.
pub(crate) fn mixed_queries(rows: &[Vec<f64>], random: &mut Random) -> Vec<Vec<f64>> {
    let d = rows[0].len();
    let mut queries = random.cloud(9, d);
    queries.extend_from_slice(&rows[..3]);
    queries.extend(random.cloud(3, d).iter().map(|z| z.iter().map(|x| 20.0 * x).collect::<Vec<_>>()));
    queries.push(vec![0.0; d]);
    queries.push(rows[0].clone());
    queries
}

/// A table of one column.
pub(crate) fn column(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|x| vec![*x]).collect()
}
