//! The settings of the paper, and the number that its scripts print.

use crate::common::{Failures, Random, dot, reference, score};
use lossdepth::{Fit, Intercept, Method, Preset, Reference, Reported, Rows, Run, Settings};
use std::f64::consts::LN_2;

/// What the paper's scripts print of a classifier, in nats.
fn printed(rows: &[Vec<f64>], query: &[f64], weights: &[f64], intercept: f64) -> f64 {
    let value = |x: &[f64]| dot(weights, x) + intercept;
    let loss = |margin: f64| (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
    let n = rows.len() as f64;
    let mean = rows.iter().map(|x| loss(value(x))).sum::<f64>() / n;
    0.5 * mean / n + 0.5 * loss(-value(query))
}

type Table = Vec<Vec<f64>>;

fn cases() -> Vec<(Table, Table)> {
    let mut random = Random::new(5);
    [(20, 3), (150, 2), (30, 40), (600, 4)]
        .into_iter()
        .map(|(n, d)| {
            let queries =
                random.cloud(6, d).iter().map(|row| row.iter().map(|x| 2.0 * x).collect()).collect();
            (random.cloud(n, d), queries)
        })
        .collect()
}

fn asking(reg: f64, intercept: Intercept, tol: f64) -> Settings {
    Settings {
        reg,
        intercept,
        tol,
        value: Reported::PaperCode,
        scale: lossdepth::Scale::None,
        ..Settings::new(Method::Logistic)
    }
}

#[test]
fn the_printed_number_is_that_of_the_classifier_and_its_error_is_proven() {
    let mut failures = Failures::default();
    for (rows, queries) in cases() {
        let sample = reference(&rows);
        for intercept in [Intercept::Free, Intercept::Penalised, Intercept::None] {
            for reg in [1.0, 0.01, 1e-4] {
                let exact = score(&asking(reg, intercept, 1e-12), &sample, &queries);
                let data: Vec<f64> = queries.concat();
                let table = Rows::new(&data, sample.width()).unwrap();
                let model = asking(reg, intercept, 1e-12).fit(&sample).unwrap();
                for (i, why) in model.explain(table, &Run::default()).unwrap().iter().enumerate() {
                    let expected =
                        printed(&rows, &queries[i], why.gradient().unwrap(), why.intercept().unwrap());
                    let off = (why.fit.depth - expected).abs();
                    failures
                        .check(off <= 1e-12 + 1e-9 * expected, || format!("{reg} {intercept} {i}: {off:e}"));
                }
                for tol in [1e-1, 1e-2, 1e-4, 1e-6] {
                    for (i, fit) in score(&asking(reg, intercept, tol), &sample, &queries).iter().enumerate()
                    {
                        let off = (fit.depth - exact[i].depth).abs();
                        failures.check(off <= fit.error + exact[i].error && fit.error <= tol, || {
                            format!(
                                "reg {reg} {intercept} tol {tol} query {i}: off {off:e}, error {:e}",
                                fit.error
                            )
                        });
                    }
                }
            }
        }
    }
    failures.report();
}

#[test]
fn its_standard_error_is_that_of_the_influence_of_the_rows() {
    let mut random = Random::new(11);
    let rows = random.cloud(40, 2);
    let settings = asking(0.05, Intercept::Free, 1e-12);
    let query = vec![1.5, -0.5];
    let model = settings.fit(&reference(&rows)).unwrap();
    let why = &model.explain(Rows::new(&query, 2).unwrap(), &Run::default()).unwrap()[0];
    let influence = why.influence.as_ref().unwrap();
    let n = rows.len() as f64;
    let at = |weights: &[f64]| -> Fit {
        // Weights that are no counts leave the n of the double division alone.
        let sample = Reference::weighted(&rows, weights).unwrap();
        score(&settings, &sample, std::slice::from_ref(&query))[0]
    };
    let step = 1e-4;
    let base = vec![1.0 + 1e-9; 40];
    for row in (0..40).step_by(7) {
        let (mut up, mut down) = (base.clone(), base.clone());
        (up[row], down[row]) = (up[row] + step * n, down[row] - step * n);
        // Effective sizes differ by a part in 1e8 or so; the sample's share of the value is small besides.
        let slope = (at(&up).depth - at(&down).depth) / (2.0 * step);
        let expected = influence[row];
        assert!((slope - expected).abs() < 2e-3 * (1.0 + expected.abs()), "{row}: {slope} {expected}");
    }
    let variance = influence.iter().map(|i| i * i).sum::<f64>() / n;
    let expected = (variance / n).sqrt();
    assert!((why.fit.stderr / expected - 1.0).abs() < 0.02, "{} {expected}", why.fit.stderr);
}

#[test]
fn the_printed_number_is_for_the_risk() {
    let settings = Settings {
        variant: lossdepth::Variant::Objective,
        value: Reported::PaperCode,
        scale: lossdepth::Scale::None,
        ..Settings::new(Method::Logistic)
    };
    let error = settings.fit(&reference(&[vec![0.0], vec![1.0]])).unwrap_err();
    assert_eq!(error.to_string(), "value `paper-code` goes with variant `risk`, not with `objective`");
}

#[test]
fn presets_are_the_formulas_of_the_scripts() {
    let n = 129.0;
    let with = |preset: Preset, method| Settings::with(method, preset.values(method, n).unwrap()).unwrap();
    // C = 1 / n with balanced weights (n + 1) / (2 n) and (n + 1) / 2, in nats and with ½‖w‖².
    let logistic = with(Preset::PaperCode, Method::Logistic);
    assert!((logistic.reg * LN_2 * (n + 1.0) / n - 0.5).abs() < 1e-15);
    // C = 1 with the same weights.
    assert_eq!(with(Preset::PaperCode, Method::Svm).reg, 1.0 / 260.0);
    assert_eq!(with(Preset::Paper, Method::Svm).reg, 1.0);
    assert_eq!(with(Preset::Paper, Method::Logistic).intercept, Intercept::Penalised);
}
