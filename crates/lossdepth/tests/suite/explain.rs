//! Explanations: what adds up exactly, what is true within rounding, what is true to first order.

use crate::common::{Failures, Random, dot, methods, reference, score_one, settings};
use lossdepth::{
    DepthError, Explanation, Intercept, Method, Model, Reason, Reference, Rows, Run, Scale, Settings, Variant,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn explain(settings: &Settings, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Explanation> {
    let data = queries.concat();
    let rows = Rows::new(&data, sample.width()).unwrap();
    settings.fit(sample).unwrap().explain(rows, &Run::default()).unwrap()
}

/// Skew columns in mixed units, one of them constant, and queries near, far and off the constant.
fn mixed_units(random: &mut Random) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let row = |random: &mut Random| {
        let (a, b) = (random.normal(), random.normal());
        vec![100.0 + 10.0 * a, 0.01 * b.exp(), a + b, 4.0]
    };
    let rows: Vec<Vec<f64>> = (0..25).map(|_| row(random)).collect();
    let mut queries: Vec<Vec<f64>> = (0..4).map(|_| row(random)).collect();
    queries.push(vec![300.0, -1.0, 5.0, 4.0]);
    queries.push(vec![100.0, 0.01, 0.0, 4.5]);
    queries.push(rows[0].clone());
    (rows, queries)
}

#[test]
fn contributions_add_up_in_every_scale() {
    let (mut failures, mut random) = (Failures::default(), Random::new(31));
    let (rows, queries) = mixed_units(&mut random);
    let weights: Vec<f64> = rows.iter().map(|_| random.between(0.1, 3.0)).collect();
    let sample = Reference::weighted(&rows, &weights).unwrap();
    let total: f64 = weights.iter().sum();
    let mean: Vec<f64> =
        (0..4).map(|j| rows.iter().zip(&weights).map(|(x, w)| w * x[j]).sum::<f64>() / total).collect();
    for (method, intercept) in methods() {
        for scale in Scale::ALL {
            for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 0.5 }] {
                let settings = Settings { scale, ..settings(method, intercept, variant, 0.1) };
                for (why, z) in explain(&settings, &sample, &queries).iter().zip(&queries) {
                    let Reason::Linear { weights, intercept, contributions } = &why.reason else {
                        panic!("{why:?}")
                    };
                    let exact = contributions.iter().fold(why.baseline, |sum, c| sum + c) == why.value;
                    failures.check(exact, || format!("{settings:?}: {why:?}"));
                    let at = |x: &[f64]| dot(weights, x) + intercept;
                    let size = intercept.abs()
                        + weights.iter().zip(z).map(|(w, z)| (w * z).abs()).sum::<f64>()
                        + weights.iter().zip(&mean).map(|(w, m)| (w * m).abs()).sum::<f64>();
                    let rounding = 1e-12 * size;
                    let value = (at(z) - why.value).abs() <= rounding;
                    let baseline = (at(&mean) - why.baseline).abs() <= rounding;
                    failures.check(value && baseline, || format!("{settings:?}: {why:?}"));
                }
            }
        }
    }
    failures.report();
}

#[test] // The classifier shown has the risk that was reported.
fn the_classifier_has_the_depth_as_its_risk() {
    let (mut failures, mut random) = (Failures::default(), Random::new(32));
    let (rows, queries) = mixed_units(&mut random);
    let sample = reference(&rows);
    let loss = |method, m: f64| match method {
        Method::Logistic => (-m).exp().ln_1p() / std::f64::consts::LN_2,
        Method::Hinge => (1.0 - m).max(0.0),
        Method::SquaredHinge => (1.0 - m).max(0.0).powi(2),
        Method::Exponential => (-m).exp(),
        other => unreachable!("{other} is not linear"),
    };
    for (method, intercept) in methods() {
        for scale in Scale::ALL {
            let settings = Settings { scale, ..settings(method, intercept, Variant::Risk, 0.1) };
            for (why, z) in explain(&settings, &sample, &queries).iter().zip(&queries) {
                let at = |x: &[f64]| dot(why.gradient().unwrap(), x) + why.intercept().unwrap();
                let inside: f64 = rows.iter().map(|x| loss(method, at(x))).sum::<f64>() / rows.len() as f64;
                let risk = 0.5 * inside + 0.5 * loss(method, -at(z));
                failures
                    .check((risk - why.fit.depth).abs() <= 1e-9, || format!("{settings:?}: {risk} {why:?}"));
            }
        }
    }
    failures.report();
}

#[test]
fn the_column_that_gives_a_query_away_comes_first() {
    let mut random = Random::new(33);
    let sample = reference(&random.cloud(50, 4));
    let settings = settings(Method::Logistic, Intercept::Free, Variant::Risk, 0.1);
    let why = &explain(&settings, &sample, &[vec![0.1, -0.2, 6.0, 0.3]])[0];
    assert_eq!(why.top_contributions(2).unwrap()[0], 2);
    assert_eq!(why.top_contributions(9).unwrap().len(), 4);
    let strongest = why.most_influential(1).unwrap()[0];
    let influence = why.influence.as_ref().unwrap();
    assert!(influence.iter().all(|i| i.abs() <= influence[strongest].abs()));
    assert!(why.without(strongest, 0.02).is_some() && why.without(50, 0.02).is_none());
}

#[test]
fn influence_has_weighted_mean_zero() {
    let mut random = Random::new(34);
    let rows = random.cloud(30, 3);
    let mut weights: Vec<f64> = rows.iter().map(|_| random.between(0.1, 3.0)).collect();
    weights[4] = 0.0;
    let sample = Reference::weighted(&rows, &weights).unwrap();
    let queries = [random.cloud(3, 3), vec![rows[0].clone(), vec![5.0, 5.0, 5.0]]].concat();
    for (method, intercept) in methods() {
        for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 0.5 }] {
            let settings = settings(method, intercept, variant, 0.05);
            for why in explain(&settings, &sample, &queries) {
                let influence = why.influence.unwrap();
                assert_eq!(influence.len(), rows.len());
                assert_eq!(influence[4], 0.0, "a row without weight");
                let size = influence.iter().map(|i| i.abs()).fold(0.0, f64::max);
                let mean = dot(sample.weights(), &influence);
                assert!(mean.abs() <= 1e-14 * (1.0 + size), "{settings:?}: {mean:e}");
            }
        }
    }
}

/// Influence is the derivative of the depth in the mass of a row, with the scaling learned again.
#[test]
fn influence_matches_a_change_of_weight() {
    let mut failures = Failures::default();
    let variants = [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 0.8 }];
    for scale in [Scale::None, Scale::Standard, Scale::Whiten] {
        for (method, intercept) in methods().filter(|(method, _)| *method != Method::Hinge) {
            for variant in variants {
                for reg in [1.0, 0.05] {
                    let settings =
                        Settings { scale, tol: 1e-12, ..settings(method, intercept, variant, reg) };
                    check_influence(&settings, &mut failures);
                }
            }
        }
        // The risk of the hinge has no derivative in a sample; the two minima have.
        for variant in [Variant::Objective, Variant::Constrained { radius: 0.8 }] {
            for intercept in Intercept::ALL {
                let settings = settings(Method::Hinge, intercept, variant, 0.05);
                check_influence(&Settings { scale, tol: 1e-12, ..settings }, &mut failures);
            }
        }
    }
    failures.report();
}

fn check_influence(settings: &Settings, failures: &mut Failures) {
    let rows = Random::new(35).cloud(15, 2);
    let rows: Vec<Vec<f64>> =
        rows.iter().map(|row| vec![row[0] + 0.3, 0.5 * row[0] + 1.5 * row[1]]).collect();
    let queries = [vec![0.3, -0.2], vec![2.0, 1.5], rows[3].clone()];
    let depth = |row: usize, change: f64, z: &[f64]| {
        let mut weights = vec![1.0; rows.len()];
        weights[row] += change;
        score_one(settings, &Reference::weighted(&rows, &weights).unwrap(), z).depth
    };
    for (why, z) in explain(settings, &reference(&rows), &queries).iter().zip(&queries) {
        for (row, influence) in why.influence.iter().flatten().enumerate().step_by(4) {
            let step = 1e-4;
            let change = (depth(row, step, z) - depth(row, -step, z)) / (2.0 * step);
            let expected = influence / rows.len() as f64;
            // A difference over 2e-4 leaves 1e-8 of curvature, and the depths their own error; squares in single precision 1e-7.
            failures.check((change - expected).abs() <= 1e-6, || {
                format!("{settings:?} row {row} {z:?}: {change:e} {expected:e}")
            });
        }
    }
}

/// The standard error that is found with the depth, by conjugate gradients, is that of the influence values to 1 %.
#[test]
fn standard_errors_are_those_of_the_influence() {
    let rows = Random::new(38).cloud(600, 4);
    let rows: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().enumerate().map(|(j, x)| x.powi(3) + x + j as f64).collect())
        .collect();
    let queries = [vec![0.3, 1.0, 2.0, 3.2], vec![4.0, 2.0, -3.0, 5.0], vec![-9.0, 3.0, 0.0, 9.0]];
    for scale in [Scale::None, Scale::Standard, Scale::Whiten] {
        for (method, intercept) in methods() {
            for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 0.7 }] {
                let settings = Settings { scale, ..settings(method, intercept, variant, 0.1) };
                for why in explain(&settings, &reference(&rows), &queries) {
                    let squares: f64 = why.influence.iter().flatten().map(|y| y * y).sum();
                    let (expected, found) = (squares.sqrt() / 600.0, why.fit.stderr);
                    assert!((found / expected - 1.0).abs() <= 0.01, "{settings:?}: {found:e} {expected:e}");
                }
            }
        }
    }
}

#[test] // To first order in 1/n: the error falls like 1/n², the effect itself like 1/n.
fn influence_predicts_leaving_one_out() {
    let mut random = Random::new(36);
    let rows = random.cloud(200, 3);
    let query = vec![1.5, -0.5, 1.0];
    for (method, variant) in [
        (Method::Logistic, Variant::Risk),
        (Method::Logistic, Variant::Objective),
        (Method::SquaredHinge, Variant::Risk),
    ] {
        let settings = Settings { tol: 1e-10, ..settings(method, Intercept::Free, variant, 0.1) };
        let why = &explain(&settings, &reference(&rows), std::slice::from_ref(&query))[0];
        let omega = 1.0 / rows.len() as f64;
        let (mut missed, mut moved) = (0.0f64, 0.0f64);
        for row in (0..rows.len()).step_by(10) {
            let mut rest = rows.clone();
            rest.remove(row);
            let change = score_one(&settings, &reference(&rest), &query).depth - why.fit.depth;
            let expected = why.without(row, omega).unwrap();
            missed = missed.max((change - expected).abs());
            moved = moved.max(change.abs());
        }
        assert!(missed <= 0.1 * moved, "{settings:?}: {missed:e} of {moved:e}");
    }
}

/// Every method, fitted to weighted rows of which one has no weight, with a penalty weak enough for solvers to work.
fn every_model() -> Vec<(String, Model)> {
    let mut random = Random::new(37);
    let rows = random.cloud(24, 3);
    let mut weights: Vec<f64> = rows.iter().map(|_| random.between(0.1, 3.0)).collect();
    weights[4] = 0.0;
    let sample = Reference::weighted(&rows, &weights).unwrap();
    let mut all = Vec::new();
    for method in Method::ALL {
        let reg = if method.settings().contains(&"reg") { 0.01 } else { 1.0 };
        let plain = Settings { reg, scale: Scale::Standard, ..Settings::new(method) };
        let mut variants = vec![plain.clone()];
        if method.settings().contains(&"variant") {
            variants.push(Settings { variant: Variant::Objective, ..plain.clone() });
        }
        if method == Method::Mlp {
            variants.push(Settings { hidden: vec![6, 4], ..plain });
        }
        for settings in variants {
            all.push((format!("{settings:?}"), settings.fit(&sample).unwrap()));
        }
    }
    all
}

/// 200 rows of 3 columns, near the sample of [`every_model`] and far from it.
fn many_queries() -> Vec<f64> {
    let mut random = Random::new(38);
    (0..600).map(|_| 2.0 * random.normal()).collect()
}

#[test]
fn explanations_do_not_depend_on_other_queries_or_threads() {
    let data = many_queries();
    for (name, model) in every_model() {
        let explain = |data: &[f64], threads: usize| {
            let run = Run { threads: Some(threads), ..Run::default() };
            model.explain(Rows::new(data, 3).unwrap(), &run).unwrap()
        };
        let together = explain(&data, 2);
        assert_eq!(together.len(), 200, "{name}");
        for (query, why) in data.chunks_exact(3).zip(&together) {
            // As text: every digit, and the sign of a zero.
            assert_eq!(format!("{:?}", explain(query, 1)[0]), format!("{why:?}"), "{name} at {query:?}");
        }
    }
}

#[test]
fn progress_counts_every_explained_query_once() {
    let data = many_queries();
    let rows = Rows::new(&data, 3).unwrap();
    for (name, model) in every_model() {
        let done = AtomicUsize::new(0);
        let count = |n: usize| {
            done.fetch_add(n, Ordering::Relaxed);
        };
        let run = Run { threads: Some(2), progress: Some(&count), ..Run::default() };
        model.explain(rows, &run).unwrap();
        assert_eq!(done.into_inner(), 200, "{name}");
    }
}

#[test]
fn every_method_stops_explaining_when_cancelled() {
    let data = many_queries();
    let rows = Rows::new(&data, 3).unwrap();
    for (name, model) in every_model() {
        let cancel = AtomicBool::new(true);
        let before = Run { threads: Some(2), cancel: Some(&cancel), ..Run::default() };
        assert_eq!(model.explain(rows, &before), Err(DepthError::Cancelled), "{name}");

        // After the first explanation the other queries are given up.
        cancel.store(false, Ordering::Relaxed);
        let done = AtomicUsize::new(0);
        let at_first = |n: usize| {
            done.fetch_add(n, Ordering::Relaxed);
            cancel.store(true, Ordering::Relaxed);
        };
        let run =
            Run { threads: Some(1), progress: Some(&at_first), cancel: Some(&cancel), ..Run::default() };
        assert_eq!(model.explain(rows, &run), Err(DepthError::Cancelled), "{name}");
        assert!((1..200).contains(&done.into_inner()), "{name}");
    }
}
