//! Losses: derivatives, conjugates, extremes, and blocks that do what single margins do.

use crate::common::Random;
use lossdepth::loss::{Dual, Exponential, Hinge, Logistic, Loss, Smooth, SquaredHinge};
use proptest::prelude::*;
use std::f64::consts::LOG2_E;

const ALL: [(&str, &dyn Dual); 4] = [
    ("logistic", &Logistic),
    ("hinge", &Hinge),
    ("squared hinge", &SquaredHinge),
    ("exponential", &Exponential),
];
const SMOOTH: [(&str, &dyn Smooth); 3] =
    [("logistic", &Logistic), ("squared hinge", &SquaredHinge), ("exponential", &Exponential)];

#[test]
fn a_corner_has_two_sides_however_near() {
    assert_eq!(SquaredHinge.derivatives_near(1.0, 1e-30), (0.0, 0.0));
    assert_eq!(SquaredHinge.derivatives_near(1.0, -1e-30), (-2e-30, 2.0));
}

#[test] // Margins beyond the range of the exponential: a slope that rounds to the end of its domain costs next to nothing.
fn excess_is_finite_far_out() {
    for m in [-1e4, -800.0, 800.0, 1e4] {
        let best = -Logistic.grad(m);
        let excess = Logistic.excess(m, 0.0, 8.0 * f64::EPSILON * best);
        assert!((0.0..1e-10).contains(&excess), "{m}: {excess:e}");
    }
    assert_eq!(Exponential.excess(800.0, 0.0, 0.0), 0.0);
}

/// Where the hinges have no further derivative.
const KINK: f64 = 1.0;
const STEP: f64 = 1e-5;

/// A central difference of `f`, and how far rounding and the third derivative may carry it from the truth.
fn difference(f: impl Fn(f64) -> f64, m: f64) -> (f64, f64) {
    let (up, down) = (f(m + STEP), f(m - STEP));
    ((up - down) / (2.0 * STEP), 1e-9 * (1.0 + up.abs() + down.abs()))
}

proptest! {
    #![proptest_config(crate::common::tries(256))]

    #[test]
    fn gradients_match_differences(m in -20.0..30.0f64) {
        prop_assume!((m - KINK).abs() > 2.0 * STEP);
        for (name, loss) in ALL {
            let (slope, off) = difference(|m| loss.value(m), m);
            prop_assert!((slope - loss.grad(m)).abs() <= off, "{name} at {m}: {slope} {}", loss.grad(m));
        }
    }

    #[test]
    fn curvatures_match_differences(m in -20.0..30.0f64) {
        prop_assume!((m - KINK).abs() > 2.0 * STEP);
        for (name, loss) in SMOOTH {
            let (slope, off) = difference(|m| loss.grad(m), m);
            prop_assert!((slope - loss.hess(m)).abs() <= off, "{name} at {m}: {slope} {}", loss.hess(m));
        }
    }

    #[test]
    fn convex_and_non_increasing(a in -50.0..50.0f64, b in -50.0..50.0f64) {
        for (name, loss) in ALL {
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(loss.value(high) >= 0.0 && loss.value(low) >= loss.value(high), "{name}");
            prop_assert!(loss.grad(low) <= loss.grad(high) && loss.grad(high) <= 0.0, "{name}");
            // The graph lies above each of its tangents.
            let tangent = loss.value(a) + loss.grad(a) * (b - a);
            let rounding = 1e-14 * (loss.value(a) + loss.grad(a).abs() * (b - a).abs());
            prop_assert!(loss.value(b) >= tangent - rounding, "{name} from {a} to {b}");
        }
    }

    #[test] // Fenchel and Young: equality at the slope, inequality elsewhere.
    fn conjugates_match_slopes(m in -40.0..40.0f64, other in -40.0..40.0f64) {
        for (name, loss) in ALL {
            let gap = |a: f64| loss.value(m) + loss.conjugate(a) + a * m;
            let (a, b) = (-loss.grad(m), -loss.grad(other));
            let rounding = |a: f64| 1e-14 * (loss.value(m) + (a * m).abs() + loss.conjugate(a).abs());
            prop_assert!(gap(a).abs() <= rounding(a), "{name} at {m}: {:e}", gap(a));
            prop_assert!(gap(b) >= -rounding(b), "{name} at {m}, {other}: {:e}", gap(b));
        }
    }

    #[test] // What a multiplier beside the best one costs: never less than the definition, nor much more for a small shift.
    fn excess_bounds_the_definition(m in -30.0..30.0f64, share in -1.0..1.0f64, slack in 0.0..1e-3f64) {
        for (name, loss) in [("logistic", &Logistic as &dyn Dual), ("squared hinge", &SquaredHinge), ("exponential", &Exponential)] {
            let best = -loss.grad(m);
            let shift = share * best;
            let at = |a: f64| loss.value(m) + loss.conjugate(a) + a * m;
            let bound = loss.excess(m, shift, 0.0);
            let rounding = 1e-13 * (loss.value(m) + (best + slack) * (1.0 + m.abs()) + best * best);
            let truth = at(best + shift);
            prop_assert!(bound >= truth - rounding, "{name} at {m}, {shift}: {bound:e} {truth:e}");
            if truth.is_finite() && share.abs() <= 0.1 {
                prop_assert!(bound <= 2.5 * truth + rounding || bound.is_infinite(), "{name} at {m}, {shift}: {bound:e} {truth:e}");
            }
            // Anything within the slack, as far as the domain goes.
            let wide = loss.excess(m, 0.0, slack);
            for near in [(best - slack).max(0.0), best + slack].map(at).into_iter().filter(|x| x.is_finite()) {
                prop_assert!(wide >= near - rounding, "{name} at {m}, slack {slack}: {wide:e} {near:e}");
            }
        }
    }

    #[test]
    fn derivatives_near_a_margin(m in -20.0..20.0f64, rest in -1e-7..1e-7f64) {
        for (name, loss) in SMOOTH {
            let (slope, curvature) = loss.derivatives_near(m, rest);
            let off = 1e-12 * (1.0 + loss.hess(m));
            prop_assert!((slope - loss.grad(m + rest)).abs() <= off, "{name} at {m}: {slope}");
            prop_assert!((curvature - loss.hess(m)).abs() <= off, "{name} at {m}: {curvature}");
        }
    }

    #[test]
    fn conjugates_match_a_search(share in 0.0..1.0f64) {
        // Where each conjugate is finite, less the parts whose best margin is beyond the grid.
        for ((name, loss), end) in ALL.into_iter().zip([LOG2_E, 1.0, 30.0, 30.0]) {
            let a = share * end;
            let on_grid = (-20_000..=20_000).map(|k| f64::from(k) * 2e-3);
            let found = on_grid.map(|m| -a * m - loss.value(m)).fold(f64::NEG_INFINITY, f64::max);
            let known = loss.conjugate(a);
            prop_assert!(found <= known + 1e-12, "{name} at {a}: {found} {known}");
            // The nearest grid point is 1e-3 from the best one; curvatures there are at most 30.
            prop_assert!(found >= known - 2e-5, "{name} at {a}: {found} {known}");
        }
    }

    #[test]
    fn lipschitz_constants_hold(a in -200.0..200.0f64, b in -200.0..200.0f64) {
        for (name, loss) in ALL.into_iter().filter(|(_, loss)| loss.lipschitz().is_finite()) {
            let change = (loss.value(a) - loss.value(b)).abs();
            prop_assert!(change <= loss.lipschitz() * (a - b).abs() + 1e-12, "{name} {a} {b}");
        }
    }
}

#[test]
fn lipschitz_constants_are_the_smallest() {
    for (name, loss) in ALL {
        let steepest = -loss.grad(-300.0);
        if loss.lipschitz().is_finite() {
            assert!((steepest - loss.lipschitz()).abs() <= 1e-15, "{name}");
        } else {
            assert!(-loss.grad(-600.0) >= 1.9 * steepest, "{name}");
        }
    }
}

#[test]
fn normalised_at_zero() {
    for (name, loss) in ALL {
        assert_eq!(loss.value(0.0), 1.0, "{name}");
    }
}

#[test]
fn conjugates_at_the_ends_of_their_domain() {
    for ((name, loss), end) in ALL.into_iter().zip([LOG2_E, 1.0, f64::INFINITY, f64::INFINITY]) {
        assert_eq!(loss.conjugate(0.0), 0.0, "{name}");
        assert_eq!(loss.conjugate(-1e-9), f64::INFINITY, "{name}");
        if end.is_finite() {
            assert_eq!(loss.conjugate(end * (1.0 + 1e-9)), f64::INFINITY, "{name}");
        } else {
            assert!(loss.conjugate(1e6).is_finite(), "{name}");
        }
    }
    assert!(Logistic.conjugate(LOG2_E).abs() < 1e-14);
    assert_eq!(Hinge.conjugate(1.0), -1.0);
}

#[test]
fn extreme_margins_do_not_break() {
    for m in [1e4, 1e3, 750.0, 1e-300, 0.0, -1e-300, -750.0, -1e3, -1e4] {
        for (name, loss) in ALL {
            assert!(!loss.value(m).is_nan() && !loss.grad(m).is_nan(), "{name} at {m}");
            if name != "exponential" {
                assert!(loss.value(m).is_finite() && loss.grad(m).is_finite(), "{name} at {m}");
            }
        }
        for (name, loss) in SMOOTH {
            let hess = loss.hess(m);
            assert!(hess >= 0.0 && (hess.is_finite() || name == "exponential"), "{name} at {m}");
            let (mut slope, mut value, mut curve) = ([0.0], [0.0], [0.0]);
            let walk = loss.slopes_along(&[m], &[1.0], 0.5, &[1.0], &mut slope);
            let total = loss.losses_and_curvatures(&[m], &[1.0], &mut value, &mut curve);
            let mut all = vec![slope[0], value[0], curve[0], walk.along, walk.total, walk.curvature];
            all.extend([total, loss.total(&[m], &[1.0])]);
            assert!(all.iter().all(|x| !x.is_nan()), "{name} at {m}: {all:?}");
            assert!(name == "exponential" || all.iter().all(|x| x.is_finite()), "{name} at {m}: {all:?}");
        }
    }
}

/// Margins, directions and weights of one length, with some extremes among them.
fn block(length: usize, random: &mut Random, reach: f64) -> [Vec<f64>; 3] {
    let mut margins: Vec<f64> = (0..length).map(|_| random.between(-reach, 40.0)).collect();
    for m in margins.iter_mut().skip(3).step_by(7) {
        *m = [0.0, 1.0, 800.0][random.below(3)];
    }
    let directions = (0..length).map(|_| random.normal()).collect();
    let weights = (0..length).map(|_| random.unit()).collect();
    [margins, directions, weights]
}

#[track_caller]
fn close(ours: f64, theirs: f64, size: f64, what: &str) {
    // Margins of up to 40 carry their own rounding into the exponential.
    assert!((ours - theirs).abs() <= 1e-13 * size + 1e-300, "{what}: {ours:e} {theirs:e}");
}

#[test]
fn blocks_equal_single_margins() {
    let mut random = Random::new(1);
    for length in 1..=70 {
        for (name, loss) in ALL {
            let reach = if name == "exponential" { 10.0 } else { 60.0 };
            let [m, _, c] = block(length, &mut random, reach);
            let terms: Vec<f64> = m.iter().zip(&c).map(|(&m, c)| c * loss.value(m)).collect();
            let sum: f64 = terms.iter().sum();
            close(loss.total(&m, &c), sum, sum, &format!("{name}: total of {length}"));
        }
        for (name, loss) in SMOOTH {
            let reach = if name == "exponential" { 10.0 } else { 60.0 };
            let [m, d, c] = block(length, &mut random, reach);
            walks_equal_single_steps(name, loss, &m, &d, &c, random.unit());
        }
    }
}

fn walks_equal_single_steps(name: &str, loss: &dyn Smooth, m: &[f64], d: &[f64], c: &[f64], step: f64) {
    let n = m.len();
    let (mut values, mut out) = (vec![f64::NAN; n], vec![f64::NAN; n]);
    let total = loss.losses_and_curvatures(m, c, &mut values, &mut out);
    close(total, loss.total(m, c), total, &format!("{name}: total of {n}"));
    for i in 0..n {
        let (value, curve) = (loss.value(m[i]), c[i] * loss.hess(m[i]));
        close(values[i], value, value, &format!("{name}: value at {}", m[i]));
        close(out[i], curve, curve, &format!("{name}: curvature at {}", m[i]));
    }
    let total = loss.losses_and_slopes(m, c, &mut values, &mut out);
    close(total, loss.total(m, c), total, &format!("{name}: assessed total of {n}"));
    for i in 0..n {
        let (value, slope) = (loss.value(m[i]), c[i] * loss.grad(m[i]));
        close(values[i], value, value, &format!("{name}: assessed value at {}", m[i]));
        close(out[i], slope, slope.abs() + 1e-2 * c[i], &format!("{name}: assessed slope at {}", m[i]));
    }
    let walk = loss.slopes_along(m, d, step, c, &mut out);
    let at: Vec<f64> = m.iter().zip(d).map(|(m, d)| m + step * d).collect();
    let slopes: Vec<f64> = at.iter().zip(c).map(|(&m, c)| c * loss.grad(m)).collect();
    let curves: Vec<f64> = at.iter().zip(c).map(|(&m, c)| c * loss.hess(m)).collect();
    let along: Vec<f64> = slopes.iter().zip(d).map(|(s, d)| s * d).collect();
    // A margin that rounds to the other side of the squared hinge's kink changes the curvature by 2.
    let clear = at.iter().all(|m| (m - KINK).abs() > 1e-9);
    for i in 0..n {
        close(out[i], slopes[i], slopes[i].abs() + 1e-2 * c[i], &format!("{name}: slope at {}", at[i]));
    }
    let size = |terms: &[f64]| terms.iter().map(|t| t.abs()).sum::<f64>() + 1e-2;
    let what = format!("{name}: walk of {n}");
    close(walk.along, along.iter().sum(), size(&along), &what);
    close(walk.total, slopes.iter().sum(), size(&slopes), &what);
    if clear || name != "squared hinge" {
        close(walk.curvature, curves.iter().sum(), size(&curves), &what);
    }
}

#[test]
fn single_precision_comes_close() {
    #[expect(clippy::cast_possible_truncation, reason = "single precision is what is tested")]
    let narrow = |xs: &[f64]| xs.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let widen = |xs: &[f32]| xs.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
    let mut random = Random::new(3);
    for length in 1..=100 {
        let [m, d, c] = block(length, &mut random, 40.0).map(|xs| narrow(&xs));
        for (name, loss) in SMOOTH {
            let Some(single) = loss.single() else { continue };
            let (mut slopes, mut curves) = (vec![f32::NAN; length], vec![f32::NAN; length]);
            let walk = single.slopes_along_single(&m, &d, 0.0, &c, &mut slopes);
            single.curvatures_single(&m, &c, &mut curves);
            let mut exact = vec![0.0; length];
            let (m, d, c) = (widen(&m), widen(&d), widen(&c));
            let sums = loss.slopes_along(&m, &d, 0.0, &c, &mut exact);
            for i in 0..length {
                // Slopes are right to a few units in the last place; tiny ones are cut off at e⁻⁶⁰.
                let off = (f64::from(slopes[i]) - exact[i]).abs();
                assert!(off <= 1e-6 * exact[i].abs() + 1e-25, "{name} at {}: {off:e}", m[i]);
                let off = (f64::from(curves[i]) - c[i] * loss.hess(m[i])).abs();
                assert!(off <= 2e-7 * c[i], "{name} at {}: {off:e}", m[i]);
            }
            let size = c.iter().sum::<f64>() * 4.0;
            for (ours, theirs) in
                [(walk.along, sums.along), (walk.total, sums.total), (walk.curvature, sums.curvature)]
            {
                assert!((ours - theirs).abs() <= 1e-6 * size, "{name}: {ours} {theirs}");
            }
        }
    }
}

#[test]
fn an_empty_block_sums_to_nothing() {
    for (name, loss) in SMOOTH {
        let walk = loss.slopes_along(&[], &[], 1.0, &[], &mut []);
        assert_eq!((walk.along, walk.total, walk.curvature), (0.0, 0.0, 0.0), "{name}");
        assert_eq!(loss.total(&[], &[]), 0.0, "{name}");
    }
}
