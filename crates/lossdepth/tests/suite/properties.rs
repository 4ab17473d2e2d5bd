//! What every score guarantees, whatever the data: purity, weights, the theory, degenerate samples, clear errors.

use crate::common::{
    Failures, LINEAR, Random, between, dot, methods, norm, reference, score, score_one, settings,
};
use lossdepth::hypothesis::Hypothesis;
use lossdepth::reference::Scaling;
use lossdepth::{
    Depth, DepthError, Fit, FittedDepth, Intercept, Method, Reference, Rows, Run, Scale, Settings, Stop,
    Variant,
};
use proptest::prelude::*;
use std::sync::atomic::AtomicBool;

/// The bits of everything a fit says.
fn bits(fit: &Fit) -> (u64, u64, u64, usize, Stop) {
    (fit.depth.to_bits(), fit.error.to_bits(), fit.stderr.to_bits(), fit.iterations, fit.stop)
}

fn all_bits(fits: &[Fit]) -> Vec<(u64, u64, u64, usize, Stop)> {
    fits.iter().map(bits).collect()
}

/// Every variant with penalties and radii from tiny to large.
fn variants() -> Vec<(Variant, f64)> {
    let penalised = [1e-6, 1e-2, 1.0, 1e3].map(|reg| [(Variant::Risk, reg), (Variant::Objective, reg)]);
    let constrained = [0.05, 3.0].map(|radius| (Variant::Constrained { radius }, 1.0));
    penalised.into_iter().flatten().chain(constrained).collect()
}

/// Sample points, points nearby, far points and repeated points.
fn mixed_queries(rows: &[Vec<f64>], random: &mut Random) -> Vec<Vec<f64>> {
    let d = rows[0].len();
    let mut queries = random.cloud(9, d);
    queries.extend_from_slice(&rows[..3]);
    queries.extend(random.cloud(3, d).iter().map(|z| z.iter().map(|x| 20.0 * x).collect::<Vec<_>>()));
    queries.push(vec![0.0; d]);
    queries.push(rows[0].clone());
    queries
}

fn purity(settings: &Settings, sample: &Reference, queries: &[Vec<f64>], random: &mut Random) -> bool {
    let (data, d) = (queries.concat(), sample.width());
    let all = Rows::new(&data, d).unwrap();
    let model = settings.fit(sample).unwrap();
    let run = |rows: Rows<'_>, threads: usize| {
        all_bits(&model.score(rows, &Run { threads: Some(threads), ..Run::default() }).unwrap())
    };
    let expected = run(all, 1);
    let mut same = run(all, 2) == expected && run(all, 3) == expected;
    // One row alone, and a split anywhere.
    same &= (0..queries.len()).all(|i| run(all.range(i, i + 1), 1)[0] == expected[i]);
    let cut = random.below(queries.len() + 1);
    let (head, tail) = (run(all.range(0, cut), 1), run(all.range(cut, queries.len()), 2));
    same &= [head, tail].concat() == expected;
    // Any order, with some rows repeated.
    let mut order = random.permutation(queries.len());
    order.extend((0..30).map(|_| random.below(queries.len())));
    let shuffled: Vec<f64> = order.iter().flat_map(|&i| queries[i].clone()).collect();
    let found = run(Rows::new(&shuffled, d).unwrap(), 2);
    same && order.iter().zip(&found).all(|(&i, fit)| *fit == expected[i])
}

#[test]
fn a_score_is_a_pure_function_of_model_and_row() {
    let (mut failures, mut random) = (Failures::default(), Random::new(11));
    for (n, d) in [(50, 3), (8, 20)] {
        let rows = random.cloud(n, d);
        let (sample, queries) = (reference(&rows), mixed_queries(&rows, &mut random));
        for (method, intercept) in methods() {
            for (variant, reg) in variants() {
                let settings = settings(method, intercept, variant, reg);
                let pure = purity(&settings, &sample, &queries, &mut random);
                failures.check(pure, || format!("{n} x {d}: {settings:?}"));
            }
        }
    }
    failures.report();
}

#[test] // Large samples are worked on with fewer queries side by side.
fn large_samples_and_scalings_are_pure_too() {
    let mut random = Random::new(12);
    let rows = random.cloud(5000, 6);
    let (sample, queries) = (reference(&rows), mixed_queries(&rows, &mut random));
    for reg in [1e-4, 0.1] {
        let settings = settings(Method::Logistic, Intercept::Free, Variant::Risk, reg);
        assert!(purity(&settings, &sample, &queries, &mut random), "{reg}");
    }
    let sample = reference(&rows[..60]);
    for scale in Scale::ALL {
        let settings = Settings { scale, reg: 0.01, ..Settings::new(Method::Logistic) };
        assert!(purity(&settings, &sample, &queries, &mut random), "{scale}");
    }
}

#[test]
fn explaining_reports_the_same_fits() {
    let mut random = Random::new(13);
    let rows = random.cloud(30, 4);
    let (sample, queries) = (reference(&rows), mixed_queries(&rows, &mut random));
    let data = queries.concat();
    for (method, intercept) in methods() {
        let model = settings(method, intercept, Variant::Risk, 0.1).fit(&sample).unwrap();
        let all = Rows::new(&data, 4).unwrap();
        let (fits, why) = (model.score(all, &Run::default()), model.explain(all, &Run::default()));
        let explained: Vec<Fit> = why.unwrap().iter().map(|e| e.fit).collect();
        assert_eq!(all_bits(&fits.unwrap()), all_bits(&explained), "{method} {intercept}");
    }
}

// Weights.

/// Rows of small whole quarters: sums and shifts of them are exact.
fn exact_rows(n: std::ops::Range<usize>, d: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let number = (-40i32..40).prop_map(|k| f64::from(k) / 4.0);
    prop::collection::vec(prop::collection::vec(number, d), n)
}

fn any_method() -> impl Strategy<Value = (Method, Intercept)> {
    prop::sample::select(methods().collect::<Vec<_>>())
}

fn any_variant() -> impl Strategy<Value = (Variant, f64)> {
    (0..3usize, -4.0..1.0f64).prop_map(|(kind, log)| {
        let reg = 10f64.powf(log);
        let radius = 0.3 / reg.sqrt();
        ([Variant::Risk, Variant::Objective, Variant::Constrained { radius }][kind], reg)
    })
}

/// What adding up a depth of at most 1 may cost on top of the proven error.
const ROUNDING: f64 = 1e-14;

fn close(a: &Fit, b: &Fit, slack: f64) -> bool {
    (a.depth - b.depth).abs() <= a.error + b.error + slack
}

/// Standard errors have no bound: the part that comes from the shift of the classifier is found to one percent, and
/// two parts of about the depth's size may nearly cancel. That of the hinge's risk hangs on the side of the kink on which
/// rounding leaves the margins, so in samples as small as these two ways to the same classifier may differ.
fn same_stderr(settings: &Settings, a: &Fit, b: &Fit) -> bool {
    let by_chance = settings.method == Method::Hinge && settings.variant == Variant::Risk;
    by_chance || (a.stderr - b.stderr).abs() <= 0.02 * b.stderr + 1e-2 * b.depth + 1e-6
}

proptest! {
    #![proptest_config(crate::common::tries(400))]

    #[test]
    fn weight_k_is_k_copies(
        rows in exact_rows(3..12, 2),
        counts in prop::collection::vec(0usize..4, 12),
        (method, intercept) in any_method(),
        (variant, reg) in any_variant(),
        z in prop::collection::vec(-12.0..12.0f64, 2),
    ) {
        let counts = &counts[..rows.len()];
        prop_assume!(counts.iter().filter(|c| **c > 0).count() >= 2);
        let repeated: Vec<Vec<f64>> =
            rows.iter().zip(counts).flat_map(|(row, &k)| std::iter::repeat_n(row.clone(), k)).collect();
        let weights: Vec<f64> = counts.iter().map(|&k| k as f64).collect();
        // Solved well, so that standard errors, which carry no bound, can be compared too.
        let settings = Settings { tol: 1e-9, ..settings(method, intercept, variant, reg) };
        let a = score_one(&settings, &Reference::weighted(&rows, &weights).unwrap(), &z);
        let b = score_one(&settings, &reference(&repeated), &z);
        prop_assert!(close(&a, &b, ROUNDING), "{settings:?}: {a:?} {b:?}");
        prop_assert!(same_stderr(&settings, &a, &b), "{settings:?}: {a:?} {b:?}");
    }

    #[test]
    fn weight_zero_is_removal(
        rows in exact_rows(3..12, 2),
        (method, intercept) in any_method(),
        (variant, reg) in any_variant(),
        z in prop::collection::vec(-12.0..12.0f64, 2),
        size in 0..100i32,
        first in any::<bool>(),
    ) {
        let mut random = Random::new(5);
        let mut weights: Vec<f64> = rows.iter().map(|_| random.between(0.5, 2.0)).collect();
        let settings = Settings { tol: 1e-9, ..settings(method, intercept, variant, reg) };
        let a = score_one(&settings, &Reference::weighted(&rows, &weights).unwrap(), &z);
        let at = if first { 0 } else { rows.len() };
        let mut more = rows.clone();
        more.insert(at, vec![10f64.powi(size), -3.0]);
        weights.insert(at, 0.0);
        let b = score_one(&settings, &Reference::weighted(&more, &weights).unwrap(), &z);
        prop_assert!(close(&a, &b, 1e-12), "{settings:?}: {a:?} {b:?}");
        prop_assert!(same_stderr(&settings, &a, &b), "{settings:?}: {a:?} {b:?}");
    }
}

// The theory.

fn turn(rows: &[Vec<f64>], angle: f64) -> Vec<Vec<f64>> {
    let (s, c) = angle.sin_cos();
    rows.iter().map(|x| vec![c * x[0] - s * x[1], s * x[0] + c * x[1]]).collect()
}

proptest! {
    #![proptest_config(crate::common::tries(400))]

    #[test] // Quarters shifted by whole numbers are exact, so little but the proven errors is allowed.
    fn translation_invariant(
        rows in exact_rows(2..15, 3),
        z in exact_rows(1..2, 3),
        shift in prop::collection::vec(-1000i32..1000, 3),
        (method, _) in any_method(),
        (variant, reg) in any_variant(),
    ) {
        let moved = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            rows.iter().map(|x| x.iter().zip(&shift).map(|(x, s)| x + f64::from(*s)).collect()).collect()
        };
        let settings = settings(method, Intercept::Free, variant, reg);
        let a = score_one(&settings, &reference(&rows), &z[0]);
        let b = score_one(&settings, &reference(&moved(&rows)), &moved(&z)[0]);
        prop_assert!(close(&a, &b, ROUNDING), "{settings:?}: {a:?} {b:?}");
    }

    #[test]
    fn rotation_invariant(
        rows in exact_rows(2..15, 2),
        z in exact_rows(1..2, 2),
        angle in 0.0..std::f64::consts::TAU,
        (method, intercept) in any_method(),
        (variant, reg) in any_variant(),
    ) {
        let settings = settings(method, intercept, variant, reg);
        let a = score_one(&settings, &reference(&rows), &z[0]);
        let b = score_one(&settings, &reference(&turn(&rows, angle)), &turn(&z, angle)[0]);
        // Turning rounds the coordinates by 1e-15, and slopes are at most 1/√reg.
        prop_assert!(close(&a, &b, 1e-11), "{settings:?}: {a:?} {b:?}");
    }

    #[test]
    fn affine_invariant_after_whitening(
        seed in any::<u64>(),
        method in prop::sample::select(LINEAR.to_vec()),
        intercept in prop::sample::select(Intercept::ALL.to_vec()),
        (variant, reg) in any_variant(),
    ) {
        let mut random = Random::new(seed);
        let rows = random.cloud(20, 3);
        let queries = random.cloud(3, 3);
        // Far from singular: a random matrix on top of a strong diagonal, and a shift.
        let mut a = random.cloud(3, 3);
        (0..3).for_each(|j| a[j][j] += 5.0);
        let shift = &random.cloud(1, 3)[0];
        let mapped = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            rows.iter().map(|x| a.iter().zip(shift).map(|(a, s)| dot(a, x) + 10.0 * s).collect()).collect()
        };
        let settings = Settings { scale: Scale::Whiten, ..settings(method, intercept, variant, reg) };
        let plain = score(&settings, &reference(&rows), &queries);
        let turned = score(&settings, &reference(&mapped(&rows)), &mapped(&queries));
        for (a, b) in plain.iter().zip(&turned) {
            prop_assert!(close(a, b, 1e-9), "{settings:?}: {a:?} {b:?}");
        }
    }

    #[test] // Jensen: at the mean no classifier does better than a coin.
    fn the_mean_has_depth_one(
        rows in exact_rows(2..10, 2),
        (method, intercept) in any_method(),
        (variant, reg) in any_variant(),
    ) {
        let n = rows.len() as f64;
        let mean: Vec<f64> = (0..2).map(|j| rows.iter().map(|x| x[j]).sum::<f64>() / n).collect();
        let fit = score_one(&settings(method, intercept, variant, reg), &reference(&rows), &mean);
        prop_assert!((fit.depth - 1.0).abs() <= fit.error + 1e-12, "{fit:?}");
    }

    #[test] // The zero classifier has risk 1 and no penalty; losses are not negative.
    fn depths_lie_in_their_range_and_order(
        rows in exact_rows(2..15, 3),
        z in prop::collection::vec(-30.0..30.0f64, 3),
        (method, intercept) in any_method(),
        log in -5.0..2.0f64,
    ) {
        let (sample, reg) = (reference(&rows), 10f64.powf(log));
        let of = |variant, reg| score_one(&settings(method, intercept, variant, reg), &sample, &z);
        let (risk, objective) = (of(Variant::Risk, reg), of(Variant::Objective, reg));
        for fit in [&risk, &objective] {
            prop_assert!((0.0..=1.0).contains(&fit.depth) && fit.stderr >= 0.0, "{fit:?}");
        }
        prop_assert!(risk.depth <= objective.depth + risk.error + objective.error);
        // A stronger penalty isolates worse.
        let (more_risk, more_objective) = (of(Variant::Risk, 2.0 * reg), of(Variant::Objective, 2.0 * reg));
        prop_assert!(risk.depth <= more_risk.depth + risk.error + more_risk.error);
        prop_assert!(objective.depth <= more_objective.depth + objective.error + more_objective.error);
    }

    #[test] // Lagrange: at the norm that a penalty leads to, the constraint leads to the same risk.
    fn constraint_and_penalty_meet(
        rows in exact_rows(3..15, 2),
        z in exact_rows(1..2, 2),
        (method, intercept) in any_method(),
        log in -3.0..0.5f64,
    ) {
        let (sample, reg) = (reference(&rows), 10f64.powf(log));
        let penalised = settings(method, intercept, Variant::Risk, reg);
        let why = penalised.fit(&sample).unwrap().explain(Rows::new(&z[0], 2).unwrap(), &Run::default()).unwrap();
        let mut length = norm(&why[0].weights);
        if intercept == Intercept::Penalised {
            length = length.hypot(why[0].intercept);
        }
        prop_assume!(length > 1e-9);
        let constrained = Settings { variant: Variant::Constrained { radius: length }, ..penalised };
        let (a, b) = (why[0].fit, score_one(&constrained, &sample, &z[0]));
        prop_assert!(close(&a, &b, 1e-12), "{constrained:?}: {a:?} {b:?}");
    }

    #[test] // Between two points the depth is no smaller than at the shallower of them.
    fn level_sets_are_convex(
        rows in exact_rows(3..15, 2),
        ends in exact_rows(2..3, 2),
        t in 0.0..1.0f64,
        (method, intercept) in any_method(),
        (variant, reg) in any_variant(),
    ) {
        // The risk of a penalised minimiser is not a minimum of risks: see below.
        prop_assume!(variant != Variant::Risk);
        let settings = settings(method, intercept, variant, reg);
        let queries = [ends[0].clone(), ends[1].clone(), between(&ends[0], &ends[1], t)];
        let fits = score(&settings, &reference(&rows), &queries);
        let shallower = (fits[0].depth - fits[0].error).min(fits[1].depth - fits[1].error);
        prop_assert!(fits[2].depth + fits[2].error >= shallower - 1e-12, "{settings:?}: {fits:?}");
    }

    #[test]
    fn lipschitz_in_the_query(
        rows in exact_rows(3..15, 2),
        ends in exact_rows(2..3, 2),
        t in 0.0..1.0f64,
        logistic in any::<bool>(),
        intercept in prop::sample::select(Intercept::ALL.to_vec()),
        (variant, reg) in any_variant(),
    ) {
        // The norm of a minimiser: at most the radius, or what the penalty of the zero classifier's risk allows.
        let steepest = match variant {
            Variant::Risk => return Ok(()),
            Variant::Objective => reg.recip().sqrt(),
            Variant::Constrained { radius } => radius,
        };
        let (method, lipschitz) =
            if logistic { (Method::Logistic, std::f64::consts::LOG2_E) } else { (Method::Hinge, 1.0) };
        let settings = settings(method, intercept, variant, reg);
        let queries = [ends[0].clone(), between(&ends[0], &ends[1], t)];
        let fits = score(&settings, &reference(&rows), &queries);
        let apart: Vec<f64> = queries[0].iter().zip(&queries[1]).map(|(a, b)| a - b).collect();
        let bound = 0.5 * lipschitz * steepest * norm(&apart);
        prop_assert!(close(&fits[0], &fits[1], bound + 1e-12), "{settings:?}: {fits:?}");
    }
}

#[test] // No accident of the solver: the classifier that gives a far point away costs more, so it is used less.
fn level_sets_of_the_bare_risk_need_not_be_convex() {
    let sample = reference(&column(&[-2.0, -0.25, -2.75, -1.25]));
    let settings = settings(Method::Hinge, Intercept::Penalised, Variant::Risk, 2.0);
    let [far, near, other] = [5.5, 3.25, -3.5].map(|z| score_one(&settings, &sample, &[z]));
    assert!(near.depth + 0.05 < far.depth.min(other.depth), "{far:?} {near:?} {other:?}");
    assert!([far, near, other].iter().all(|fit| fit.error <= 1e-6));
}

// Degenerate samples.

type Table = Vec<Vec<f64>>;

fn column(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|x| vec![*x]).collect()
}

fn scaled(rows: &[Vec<f64>], factor: f64) -> Vec<Vec<f64>> {
    rows.iter().map(|x| x.iter().map(|x| factor * x).collect()).collect()
}

/// Samples that break promises, each with a name and queries.
fn degenerate() -> Vec<(String, Table, Table)> {
    let mut random = Random::new(21);
    let mut samples: Vec<(String, Table)> = Vec::new();
    let mut add = |name: &str, rows: Table| samples.push((name.to_owned(), rows));
    let cloud = random.cloud(12, 3);
    add("duplicates", cloud[..3].iter().cycle().take(12).cloned().collect());
    add("one point", vec![vec![1.5, -2.0]; 5]);
    add("one point at the origin", vec![vec![0.0, 0.0]; 3]);
    add("constant column", cloud.iter().map(|x| vec![x[0], 7.1, x[1]]).collect());
    add("tiny constant column", cloud.iter().map(|x| vec![x[0], 1e-12]).collect());
    add("collinear", cloud.iter().map(|x| vec![x[0], 2.0 * x[0], -x[0] + 1.0]).collect());
    add("collinear up to rounding", cloud.iter().map(|x| vec![x[0], 0.1 * x[0], x[0] / 3.0]).collect());
    add("more columns than rows", random.cloud(5, 12));
    add("two points", vec![vec![0.0, 1.0], vec![2.0, -1.0]]);
    add("two equal points", vec![vec![0.5], vec![0.5]]);
    add("three points", vec![vec![0.0], vec![1.0], vec![5.0]]);
    add("integer ties", (0..20).map(|_| vec![random.below(3) as f64, random.below(2) as f64]).collect());
    add("two far clusters", column(&[-1e6, -1e6, 1e6, 1e6, 1e6]));
    add("one far point", column(&[0.0, 1.0, 2.0, 1e9]));
    for (factor, name) in [(1e12, "1e12"), (1e-12, "1e-12"), (1e6, "1e6"), (1e-6, "1e-6")] {
        add(&format!("times {name}"), scaled(&cloud, factor));
    }
    add("plus 1e12", cloud.iter().map(|x| x.iter().map(|x| x + 1e12).collect()).collect());
    add("mixed units", cloud.iter().map(|x| vec![1e6 * x[0], 1e-6 * x[1], x[2]]).collect());
    samples
        .into_iter()
        .map(|(name, rows)| {
            let (mean, d) = (mean(&rows), rows[0].len());
            let reach = |j: usize| {
                let far = rows.iter().map(|x| (x[j] - mean[j]).abs()).fold(0.0, f64::max);
                if far > 0.0 { far } else { 1.0 }
            };
            let away: Vec<f64> = mean.iter().enumerate().map(|(j, m)| m + 2.0 * reach(j)).collect();
            let mut sideways = rows[1].clone();
            sideways[d - 1] += 0.3 * reach(d - 1);
            let queries = vec![rows[0].clone(), mean, away, sideways];
            (name, rows, queries)
        })
        .collect()
}

fn mean(rows: &[Vec<f64>]) -> Vec<f64> {
    (0..rows[0].len()).map(|j| rows.iter().map(|x| x[j]).sum::<f64>() / rows.len() as f64).collect()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// Numbers that mean something, whatever the data.
fn sane(fit: &Fit) -> bool {
    (0.0..=1.0).contains(&fit.depth) && fit.error >= 0.0 && fit.stderr >= 0.0 && fit.stderr.is_finite()
}

fn solved(fit: &Fit) -> bool {
    sane(fit) && fit.error <= 1e-6 + 1e-15 && fit.stop == Stop::Converged
}

/// Whether the problem can be solved to 1e-6 in double precision at all.
///
/// A classifier's norm is at most the radius or $1 / \sqrt{\text{reg}}$. Its slope is known up to rounding of the
/// points, so the depth can only be proven up to norm × size × 1e-16, with a factor for safety.
fn solvable(rows: &[Vec<f64>], z: &[f64], settings: &Settings) -> bool {
    let centre = if settings.intercept == Intercept::Free { mean(rows) } else { vec![0.0; z.len()] };
    let size = rows.iter().map(|x| distance(x, &centre)).fold(distance(z, &centre), f64::max);
    let steepest = match settings.variant {
        Variant::Constrained { radius } => radius,
        _ => settings.reg.recip().sqrt(),
    };
    steepest * size <= 1e7
}

#[test]
fn degenerate_samples_are_solved() {
    let mut failures = Failures::default();
    for (name, rows, mut queries) in degenerate() {
        queries.push(vec![0.0; rows[0].len()]);
        let sample = reference(&rows);
        for (method, intercept) in methods() {
            for (variant, reg) in variants() {
                let settings = settings(method, intercept, variant, reg);
                for (fit, z) in score(&settings, &sample, &queries).iter().zip(&queries) {
                    let good = if solvable(&rows, z, &settings) { solved(fit) } else { sane(fit) };
                    failures.check(good, || {
                        format!("{name}: {method} {intercept} {variant:?} {reg:e} {z:?}: {fit:?}")
                    });
                }
            }
        }
    }
    failures.report();
}

fn apply(scaling: &Scaling, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let scaled = |row: &Vec<f64>| {
        let mut out = vec![0.0; row.len()];
        scaling.apply(row, &mut out);
        out
    };
    rows.iter().map(scaled).collect()
}

#[test] // Scaling takes away what is extreme about the units.
fn degenerate_samples_are_scaled_and_solved() {
    let mut failures = Failures::default();
    for (name, rows, queries) in degenerate() {
        let sample = reference(&rows);
        for scale in [Scale::Standard, Scale::Robust, Scale::Whiten, Scale::Mcd] {
            let (scaling, _) = Scaling::learn(scale, sample.rows(), sample.weights(), 0.75).unwrap();
            let (near, at) = (apply(&scaling, &rows), apply(&scaling, &queries));
            for method in LINEAR {
                let settings = Settings { scale, reg: 0.01, ..Settings::new(method) };
                for (fit, (z, at)) in score(&settings, &sample, &queries).iter().zip(queries.iter().zip(&at))
                {
                    let good = if solvable(&near, at, &settings) { solved(fit) } else { sane(fit) };
                    failures.check(good, || format!("{name}: {method} {scale} {z:?}: {fit:?}"));
                }
            }
        }
    }
    failures.report();
}

#[test] // A problem depends on features and penalty through size² / reg alone, over 28 orders of magnitude here.
fn any_units_with_any_penalty() {
    let (mut failures, mut random) = (Failures::default(), Random::new(22));
    let rows = random.cloud(25, 3);
    let queries = mixed_queries(&rows, &mut random);
    for factor in [1e-6, 1e-3, 1.0, 1e3, 1e6] {
        let (sample, queries) = (reference(&scaled(&rows, factor)), scaled(&queries, factor));
        for (method, intercept) in methods() {
            for reg in [1e-8, 1e-5, 1e-2, 1.0, 1e4] {
                for variant in [Variant::Risk, Variant::Objective] {
                    let settings = settings(method, intercept, variant, reg);
                    for (fit, z) in score(&settings, &sample, &queries).iter().zip(&queries) {
                        failures.check(solved(fit), || {
                            format!(
                                "{method} {intercept} {variant:?} reg {reg:e} times {factor:e} {z:?}: {fit:?}"
                            )
                        });
                    }
                }
            }
        }
    }
    failures.report();
}

#[test] // As good as no penalty at all, on data of many kinds: near to separable, skewed, correlated, with ties.
fn hardly_any_penalty_on_skewed_data() {
    let (mut failures, mut random) = (Failures::default(), Random::new(24));
    let row = |_| {
        let z: Vec<f64> = (0..9).map(|_| random.normal()).collect();
        let skewed = [(1.5 * z[0]).exp(), z[1] * z[1] * z[1], (2.0 * z[2]).round(), z[3].max(0.0)];
        let correlated = [z[0] + 0.02 * z[4], z[1] + z[2] + 0.1 * z[5], 5.0 * z[6], z[7], z[8]];
        skewed.into_iter().chain(correlated).map(|x| 1e6 * x).collect()
    };
    let rows: Vec<Vec<f64>> = (0..240).map(row).collect();
    let sample = reference(&rows);
    let queries: Vec<Vec<f64>> = rows.iter().step_by(4).cloned().collect();
    for (method, intercept) in methods() {
        for (reg, variant) in [(1e-8, Variant::Risk), (1e-4, Variant::Risk), (1e-8, Variant::Objective)] {
            let settings = settings(method, intercept, variant, reg);
            for (row, fit) in score(&settings, &sample, &queries).iter().enumerate() {
                failures.check(solved(fit), || {
                    format!("{method} {intercept} {variant:?} reg {reg:e} row {}: {fit:?}", 4 * row)
                });
            }
        }
    }
    failures.report();
}

#[test] // Units, penalties and conditions of all kinds at once: where rounding is divided by the penalty.
fn any_units_with_any_penalty_on_ill_conditioned_data() {
    let (mut failures, mut random) = (Failures::default(), Random::new(26));
    let mut cloud = |n: usize, d: usize| random.cloud(n, d);
    let each = |rows: Table, f: &dyn Fn(&[f64]) -> Vec<f64>| rows.iter().map(|z| f(z)).collect::<Table>();
    let near = |size: f64| move |z: &[f64]| vec![z[0], z[1], z[0] + z[1] + size * z[2], z[3]];
    let sets = [
        ("near a plane", each(cloud(60, 4), &near(1e-3))),
        ("very near a plane", each(cloud(60, 4), &near(1e-6))),
        ("skewed", each(cloud(80, 4), &|z| z.iter().map(|x| (2.0 * x).exp()).collect())),
        ("away from the origin", each(cloud(50, 3), &|z| vec![z[0] + 1e3, z[1] + 1e3, z[2]])),
        ("columns of many sizes", each(cloud(50, 3), &|z| vec![1e3 * z[0] + 800.0, z[1], 1e-2 * z[2] + 1.5])),
        ("ties", each(cloud(60, 3), &|z| z.iter().map(|x| x.round()).collect())),
        ("more columns than rows", cloud(8, 20)),
    ];
    for (name, rows) in sets {
        let queries: Table = rows.iter().step_by(5).cloned().collect();
        for factor in [1e-6, 1.0, 1e6] {
            let (sample, queries) = (reference(&scaled(&rows, factor)), scaled(&queries, factor));
            for (method, intercept) in methods() {
                for reg in [1e-8, 1e-4, 1.0, 1e4] {
                    for variant in [Variant::Risk, Variant::Objective] {
                        let settings = settings(method, intercept, variant, reg);
                        for (row, fit) in score(&settings, &sample, &queries).iter().enumerate() {
                            failures.check(solved(fit), || {
                                format!(
                                    "{name}: {method} {intercept} {variant:?} reg {reg:e} times {factor:e} row {}: {fit:?}",
                                    5 * row
                                )
                            });
                        }
                    }
                }
            }
        }
    }
    failures.report();
}

#[test] // A column with a large offset, like a time, does not hide a column of small numbers.
fn offsets_do_not_hide_other_columns() {
    let (mut failures, mut random) = (Failures::default(), Random::new(25));
    let near: Vec<Vec<f64>> = (0..60).map(|i| vec![f64::from(i % 5), 1e-3 * random.normal()]).collect();
    let away = |rows: &[Vec<f64>]| rows.iter().map(|x| vec![x[0] + 1e12, x[1]]).collect::<Vec<_>>();
    let queries = vec![vec![2.0, 0.0024], vec![0.0, 0.0], vec![9.0, 0.0], vec![2.0, 0.5]];
    let moved = away(&near);
    for method in LINEAR {
        let settings = settings(method, Intercept::Free, Variant::Risk, 1e-6);
        let here = score(&settings, &reference(&near), &queries);
        let there = score(&settings, &reference(&moved), &away(&queries));
        for (a, b) in here.iter().zip(&there) {
            let same = (a.depth - b.depth).abs() <= a.error + b.error + 1e-12;
            failures.check(same, || format!("{method}: {a:?} {b:?}"));
        }
    }
    failures.report();
}

#[test]
fn far_queries_are_solved() {
    let (mut failures, mut random) = (Failures::default(), Random::new(23));
    let rows = random.cloud(12, 3);
    let queries: Vec<Vec<f64>> = (1..=6).map(|k| vec![10f64.powi(k), -3.0, 10f64.powi(k)]).collect();
    let sample = reference(&rows);
    for (method, intercept) in methods() {
        for (variant, reg) in variants() {
            let settings = settings(method, intercept, variant, reg);
            for (fit, z) in score(&settings, &sample, &queries).iter().zip(&queries) {
                let good = if solvable(&rows, z, &settings) { solved(fit) } else { sane(fit) };
                failures.check(good, || format!("{method} {intercept} {variant:?} {reg:e} {z:?}: {fit:?}"));
            }
        }
    }
    failures.report();
}

#[test] // Found by the test of degenerate samples: NaN had passed for a proven error of 0.
fn an_overflow_is_no_certificate() {
    let sample = reference(&[vec![2000.0, -6000.0], vec![-1000.0, 0.0], vec![6000.0, 1000.0]]);
    let variant = Variant::Constrained { radius: 3.0 };
    let settings = settings(Method::Exponential, Intercept::None, variant, 1.0);
    let fit = score_one(&settings, &sample, &[1000.0, 3000.0]);
    assert!(solved(&fit) && fit.depth < 0.99, "{fit:?}");
}

// Bad input.

#[track_caller]
fn message<T>(result: Result<T, DepthError>, expected: &str) {
    match result {
        Ok(_) => panic!("accepted, not refused with: {expected}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

fn good() -> Reference {
    Reference::new(&[[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]]).unwrap()
}

#[test]
fn bad_references_are_refused() {
    let nan = f64::NAN;
    message(Reference::new(&[[0.0, 1.0], [2.0, nan]]), "row 1, column 1 is not finite (NaN)");
    message(Reference::new(&[[0.0], [1.0], [f64::INFINITY]]), "row 2, column 0 is not finite (inf)");
    message(Reference::new(&[[0.0, -f64::INFINITY], [nan, 1.0]]), "row 0, column 1 is not finite (-inf)");
    message(
        Reference::new(&[[0.0, 1.0], [2e100, 1.0]]),
        "row 1, column 0 is too large to work with: |2e100| > 1e100",
    );
    let few = |got: usize| format!("the reference needs at least 2 rows with a positive weight, got {got}");
    message(Reference::new(&[[0.0, 1.0]]), &few(1));
    message(Reference::new(&Rows::new(&[], 3).unwrap()), &few(0));
    message(Reference::new(&[vec![0.0, 1.0], vec![2.0]]), "row 1 has 1 features, expected 2");
    message(Reference::new(&[vec![], vec![]]), "the data has no columns");
    message(Rows::new(&[1.0, 2.0], 0), "the data has no columns");
    message(Rows::new(&[1.0, 2.0, 3.0], 2), "row 1 has 1 features, expected 2");
}

#[test]
fn bad_weights_are_refused() {
    let weighted = |weights: &[f64]| Reference::weighted(&[[0.0], [1.0], [2.0]], weights);
    message(weighted(&[1.0, 2.0]), "2 weights for 3 rows");
    message(weighted(&[1.0, -0.5, 1.0]), "weight 1 must be finite and not negative, got -0.5");
    message(weighted(&[f64::NAN, 1.0, 1.0]), "weight 0 must be finite and not negative, got NaN");
    message(weighted(&[1.0, 1.0, f64::INFINITY]), "weight 2 must be finite and not negative, got inf");
    let few = |got: usize| format!("the reference needs at least 2 rows with a positive weight, got {got}");
    message(weighted(&[0.0, 0.0, 0.0]), &few(0));
    message(weighted(&[0.0, 3.0, 0.0]), &few(1));
}

#[test]
fn bad_queries_are_refused() {
    let fitted = Depth::logistic().fit(&good()).unwrap();
    message(fitted.score(&[[0.0, 1.0], [f64::NAN, 0.0]]), "row 1, column 0 is not finite (NaN)");
    message(fitted.score(&[[0.0, f64::NEG_INFINITY]]), "row 0, column 1 is not finite (-inf)");
    message(fitted.score(&[[0.0, -3e200]]), "row 0, column 1 is too large to work with: |-3e200| > 1e100");
    message(fitted.score(&[[0.0, 1.0, 2.0]]), "row 0 has 3 features, expected 2");
    message(fitted.score(&[vec![0.0, 1.0], vec![0.0]]), "row 1 has 1 features, expected 2");
    message(fitted.explain(&[[0.0]]), "row 0 has 1 features, expected 2");
    assert!(fitted.score(&Rows::new(&[], 2).unwrap()).unwrap().is_empty());
}

#[test]
fn bad_settings_are_refused() {
    let refused = |change: fn(&mut Settings), expected: &str| {
        for method in LINEAR {
            let mut settings = Settings::new(method);
            change(&mut settings);
            message(settings.fit(&good()), expected);
        }
    };
    refused(|s| s.reg = 0.0, "`reg` must be a positive, finite number, got 0");
    refused(|s| s.reg = -1.0, "`reg` must be a positive, finite number, got -1");
    refused(|s| s.reg = f64::NAN, "`reg` must be a positive, finite number, got NaN");
    refused(|s| s.reg = f64::INFINITY, "`reg` must be a positive, finite number, got inf");
    refused(|s| s.tol = 0.0, "`tol` must be a positive, finite number, got 0");
    refused(|s| s.tol = f64::NAN, "`tol` must be a positive, finite number, got NaN");
    refused(|s| s.max_iter = 0, "`max_iter` must be at least 1, got 0");
    refused(|s| s.support_fraction = 0.4, "`support_fraction` must be between 0.5 and 1, got 0.4");
    refused(|s| s.support_fraction = f64::NAN, "`support_fraction` must be between 0.5 and 1, got NaN");
    refused(
        |s| s.variant = Variant::Constrained { radius: 0.0 },
        "`radius` must be a positive, finite number, got 0",
    );
    refused(
        |s| s.variant = Variant::Constrained { radius: f64::NAN },
        "`radius` must be a positive, finite number, got NaN",
    );
    let no_threads = Run { threads: Some(0), ..Run::default() };
    let fitted = Depth::hinge().fit(&good()).unwrap();
    message(fitted.score_with(&[[0.0, 1.0]], &no_threads), "`threads` must be at least 1, got 0");
}

#[test]
fn unknown_names_are_refused() {
    let names = Method::ALL.map(Method::name).join(", ");
    message("logit".parse::<Method>(), &format!("`method` must be one of {names}, got `logit`"));
    message("yes".parse::<Intercept>(), "`intercept` must be one of free, penalised, none, got `yes`");
    message(
        "zscore".parse::<Scale>(),
        "`scale` must be one of none, standard, robust, whiten, mcd, got `zscore`",
    );
    message(
        Variant::parse("bare", None),
        "`variant` must be one of risk, objective, constrained, got `bare`",
    );
    message(Variant::parse("constrained", None), "variant `constrained` needs a `radius`");
    message(Variant::parse("risk", Some(1.0)), "`radius` goes with variant `constrained`, not with `risk`");
    message(Variant::parse("constrained", Some(-2.0)), "`radius` must be a positive, finite number, got -2");
    for method in Method::ALL {
        assert_eq!(method.name().parse::<Method>().unwrap(), method);
    }
}

fn is_interrupted<H: Hypothesis>(fitted: &FittedDepth<H>) {
    let stop = AtomicBool::new(true);
    let run = Run { cancel: Some(&stop), ..Run::default() };
    message(fitted.score_with(&[[0.0, 1.0]], &run), "interrupted");
    message(fitted.explain_with(&[[0.0, 1.0]], &run), "interrupted");
}

#[test]
fn a_cancelled_call_returns_no_numbers() {
    is_interrupted(&Depth::logistic().fit(&good()).unwrap());
    is_interrupted(&Depth::hinge().fit(&good()).unwrap());
}

/// Large samples are swept in single precision first; that must change neither the guarantee nor the bits.
#[test]
fn single_precision_leaves_no_trace() {
    let mut random = Random::new(77);
    let row = |random: &mut Random| (0..5).map(|_| 3.0 * random.normal()).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = (0..700).map(|_| row(&mut random)).collect();
    let queries: Vec<Vec<f64>> =
        (0..150).map(|i| row(&mut random).iter().map(|x| x * f64::from(i) / 30.0).collect()).collect();
    let sample = reference(&rows);
    for intercept in Intercept::ALL {
        for variant in [Variant::Risk, Variant::Objective] {
            for reg in [1.0, 1e-2, 1e-5] {
                let settings = settings(Method::Logistic, intercept, variant, reg);
                let tight = Settings { tol: 1e-11, ..settings.clone() };
                let fits = score(&settings, &sample, &queries);
                for (fit, best) in fits.iter().zip(score(&tight, &sample, &queries)) {
                    assert!(fit.error <= 1e-6, "{settings:?}: {fit:?}");
                    assert!(close(fit, &best, ROUNDING), "{settings:?}: {fit:?} {best:?}");
                }
                for (k, fit) in fits.iter().enumerate().step_by(29) {
                    assert_eq!(score_one(&settings, &sample, &queries[k]), *fit, "{settings:?}");
                }
                let backwards: Vec<Vec<f64>> = queries.iter().rev().cloned().collect();
                assert!(score(&settings, &sample, &backwards).iter().rev().eq(&fits), "{settings:?}");
            }
        }
    }
}

/// Blurred bars on a square of pixels from 0 to 255, all of them at about the same angle or each at another.
fn bars(random: &mut Random, count: usize, alike: bool) -> Vec<Vec<f64>> {
    const SIDE: usize = 12;
    let mut bar = |row: usize| {
        let class = if alike { 3.0 } else { (row % 10) as f64 };
        let (sin, cos) = (std::f64::consts::PI * (class + 0.3 * random.normal()) / 10.0).sin_cos();
        let middle = 0.5 * (SIDE as f64 - 1.0);
        let pixel = |at: usize| {
            let (x, y) = ((at % SIDE) as f64 - middle, (at / SIDE) as f64 - middle);
            let across = x * sin - y * cos;
            (255.0 * (-across * across).exp() + 10.0 * random.normal()).clamp(0.0, 255.0).round()
        };
        (0..SIDE * SIDE).map(pixel).collect()
    };
    (0..count).map(&mut bar).collect()
}

/// Large features and hardly any penalty make a kink of the risk along most steps, and steps must not end up high behind it.
#[test]
fn weak_penalties_on_raw_pixels() {
    for seed in 17..22 {
        let mut random = Random::new(seed);
        let (rows, queries) = (bars(&mut random, 520, true), bars(&mut random, 40, false));
        let sample = reference(&rows);
        for reg in [1e-2, 1e-4, 1e-6, 1e-8] {
            let settings = settings(Method::Logistic, Intercept::Free, Variant::Risk, reg);
            for fit in score(&settings, &sample, &queries) {
                assert!(fit.stop == Stop::Converged && fit.error <= 1e-6, "{seed}, {reg}: {fit:?}");
            }
        }
    }
}

/// Leaving out the standard errors leaves out nothing else, for samples that are swept in single precision first and others.
#[test]
fn depths_are_the_same_without_their_standard_errors() {
    let mut random = Random::new(78);
    let mut rows = |count: usize| -> Vec<Vec<f64>> {
        (0..count).map(|_| (0..3).map(|_| 2.0 * random.normal()).collect()).collect()
    };
    let (small, large, queries) = (rows(60), rows(600), rows(20));
    let bare = Run { depths_only: true, ..Run::default() };
    let check = |settings: &Settings, rows: &[Vec<f64>]| {
        let model = settings.fit(&reference(rows)).unwrap();
        let table = queries.concat();
        let table = Rows::new(&table, 3).unwrap();
        let all = model.score(table, &Run::default()).unwrap();
        for (fit, with) in model.score(table, &bare).unwrap().into_iter().zip(&all) {
            assert!(fit.stderr.is_nan() && with.stderr.is_finite(), "{settings:?}: {fit:?} {with:?}");
            assert_eq!(Fit { stderr: with.stderr, ..fit }, *with, "{settings:?}");
        }
        let explained = |run: &Run<'_>| model.explain(table, run).unwrap();
        assert_eq!(explained(&bare)[..2], explained(&Run::default())[..2], "{settings:?}");
    };
    for method in Method::ALL {
        let penalised = method.settings().contains(&"reg");
        for reg in if penalised { &[1.0, 1e-3, 1e-7][..] } else { &[1.0] } {
            for variant in [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 0.3 }] {
                if variant == Variant::Risk || method.settings().contains(&"variant") {
                    let mut settings = Settings { reg: *reg, ..Settings::new(method) };
                    settings.variant = if method == Method::Mlp { Variant::Risk } else { variant };
                    check(&settings, &small);
                }
            }
        }
    }
    for reg in [1.0, 1e-3, 1e-6] {
        for method in [Method::Logistic, Method::Klr, Method::Svm] {
            check(&Settings { reg, ..Settings::new(method) }, &large);
        }
    }
}

/// A penalty near nothing makes some bounds overflow; what is reported is never wider than what a depth can be.
#[test]
fn no_error_is_larger_than_the_range_of_a_depth() {
    let mut random = Random::new(4);
    let rows = random.cloud(30, 2);
    let (sample, queries) = (reference(&rows), [random.cloud(4, 2), vec![vec![50.0, -80.0]]].concat());
    for method in [Method::Svm, Method::Hinge, Method::Logistic, Method::Klr, Method::Gp, Method::Mlp] {
        for reg in [1e-300, 1e-30, 1e-9] {
            let settings = Settings { reg, max_iter: 5, ..Settings::new(method) };
            let fits = score(&settings, &sample, &queries);
            let explained = settings.fit(&sample).unwrap();
            let explained =
                explained.explain(Rows::new(&queries.concat(), 2).unwrap(), &Run::default()).unwrap();
            for fit in fits.iter().chain(explained.iter().map(|e| &e.fit)) {
                let Fit { depth, error, .. } = *fit;
                assert!((0.0..=1.0).contains(&depth), "{method} {reg}: {fit:?}");
                assert!(error >= 0.0 && error <= depth.max(1.0 - depth), "{method} {reg}: {fit:?}");
            }
        }
    }
}
