//! What every score guarantees, whatever the data: purity, weights, the theory, degenerate samples, clear errors.

use crate::common::{
    Failures, LINEAR, Random, between, column, dot, methods, mixed_queries, norm, reference, score,
    score_one, settings, variants,
};
use lossdepth::{Fit, Intercept, Method, Reference, Rows, Run, Scale, Settings, Stop, Variant};
use proptest::prelude::*;

/// The bits of everything a fit says.
fn bits(fit: &Fit) -> (u64, u64, u64, usize, Stop) {
    (fit.depth.to_bits(), fit.error.to_bits(), fit.stderr.to_bits(), fit.iterations, fit.stop)
}

fn all_bits(fits: &[Fit]) -> Vec<(u64, u64, u64, usize, Stop)> {
    fits.iter().map(bits).collect()
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
        let mut length = norm(why[0].gradient().unwrap());
        if intercept == Intercept::Penalised {
            length = length.hypot(why[0].intercept().unwrap());
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

#[test] // The multiplier of the query makes up for what the intercept leaves, at no cost but of second order.
fn a_free_intercept_does_not_limit_the_tolerance() {
    let (mut random, mut failures) = (Random::new(77), Failures::default());
    let rows = random.cloud(50, 3);
    let (queries, sample) = (mixed_queries(&rows, &mut random), reference(&rows));
    for method in [Method::Logistic, Method::SquaredHinge, Method::Exponential] {
        for reg in [1.0, 1e-2, 1e-4] {
            let fits = [1e-6, 1e-12].map(|tol| {
                score(
                    &Settings { reg, tol, scale: lossdepth::Scale::None, ..Settings::new(method) },
                    &sample,
                    &queries,
                )
            });
            for (coarse, fine) in fits[0].iter().zip(&fits[1]) {
                let met = fine.error <= 1e-12 && fine.stop == Stop::Converged;
                failures.check(met && close(coarse, fine, 0.0), || {
                    format!("{method} {reg}: {coarse:?} {fine:?}")
                });
            }
        }
    }
    failures.report();
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
            // Forests and combined depths have none, and these withhold it where few rows decide.
            let withheld = matches!(settings.method, Method::Potential | Method::Zonoid | Method::Simplicial)
                && with.depth < 0.3;
            let none = matches!(settings.method, Method::Forest | Method::Auto);
            let known = with.stderr.is_finite() || none || withheld;
            assert!(fit.stderr.is_nan() && known, "{settings:?}: {fit:?} {with:?}");
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
                    let mut settings =
                        Settings { reg: *reg, scale: lossdepth::Scale::None, ..Settings::new(method) };
                    settings.variant = if method == Method::Mlp { Variant::Risk } else { variant };
                    check(&settings, &small);
                }
            }
        }
    }
    for reg in [1.0, 1e-3, 1e-6] {
        for method in [Method::Logistic, Method::Klr, Method::Svm] {
            check(&Settings { reg, scale: lossdepth::Scale::None, ..Settings::new(method) }, &large);
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
            let settings =
                Settings { reg, max_iter: 5, scale: lossdepth::Scale::None, ..Settings::new(method) };
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
