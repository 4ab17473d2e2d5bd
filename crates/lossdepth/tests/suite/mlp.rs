//! The network depth: its definition, its theory, tiny cases by brute force, and networks that scikit-learn trained.

use crate::common::{Failures, Random, between, dot, golden, norm, numbers, reference, table};
use lossdepth::loss::{Logistic, Loss};
use lossdepth::methods::Mlp;
use lossdepth::{Depth, DepthError, Explanation, Fit, Reference, Rows, Run, Scale, Stop, Variant};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const ONE: Run<'static> = Run { threads: Some(1), progress: None, cancel: None, depths_only: false };

fn scored(mlp: &Mlp, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    Depth::new(mlp.clone()).fit(sample).unwrap().score_with(queries, &ONE).unwrap()
}

fn objective(mlp: &Mlp, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    scored(&mlp.clone().variant(Variant::Objective), sample, queries)
}

fn explained(mlp: &Mlp, scale: Scale, sample: &Reference, query: &[f64]) -> Explanation {
    let depth = Depth::new(mlp.clone()).scale(scale).fit(sample).unwrap();
    depth.explain(&[query.to_vec()]).unwrap().remove(0)
}

/// A network written down in full, as anyone would: one hidden layer, all biases.
#[derive(Clone)]
struct Network {
    into: Vec<Vec<f64>>,
    biases: Vec<f64>,
    out: Vec<f64>,
    bias: f64,
}

impl Network {
    fn random(random: &mut Random, units: usize, d: usize, size: f64) -> Self {
        let mut many = |n: usize| (0..n).map(|_| size * random.normal()).collect::<Vec<f64>>();
        Self {
            into: (0..units).map(|_| many(d)).collect(),
            biases: many(units),
            out: many(units),
            bias: many(1)[0],
        }
    }

    fn at(&self, x: &[f64]) -> f64 {
        let units = self.into.iter().zip(&self.biases).zip(&self.out);
        self.bias + units.map(|((w, b), a)| a * (dot(w, x) + b).max(0.0)).sum::<f64>()
    }

    fn objective(&self, rows: &[Vec<f64>], z: &[f64], reg: f64) -> f64 {
        let risk: f64 = rows.iter().map(|x| Logistic.value(self.at(x))).sum::<f64>() / rows.len() as f64;
        let weights: f64 = self.into.iter().map(|w| dot(w, w)).sum::<f64>() + dot(&self.out, &self.out);
        0.5 * risk + 0.5 * Logistic.value(-self.at(z)) + reg * weights
    }

    /// One step of plain gradient descent, by the chain rule.
    fn step(&mut self, rows: &[Vec<f64>], z: &[f64], reg: f64, length: f64) {
        let before = self.clone();
        let share = 0.5 / rows.len() as f64;
        let mut pull = |x: &[f64], slope: f64| {
            self.bias -= length * slope;
            for k in 0..before.out.len() {
                let p = dot(&before.into[k], x) + before.biases[k];
                if p > 0.0 {
                    self.out[k] -= length * slope * p;
                    self.biases[k] -= length * slope * before.out[k];
                    for (w, x) in self.into[k].iter_mut().zip(x) {
                        *w -= length * slope * before.out[k] * x;
                    }
                }
            }
        };
        for x in rows {
            pull(x, share * Logistic.grad(before.at(x)));
        }
        pull(z, -0.5 * Logistic.grad(-before.at(z)));
        for k in 0..before.out.len() {
            self.out[k] -= length * 2.0 * reg * before.out[k];
            for (w, b) in self.into[k].iter_mut().zip(&before.into[k]) {
                *w -= length * 2.0 * reg * b;
            }
        }
    }
}

#[test] // The definition: whatever networks plain gradient descent finds, from any start, with any kinks.
fn no_network_beats_the_bound_and_few_beat_ours() {
    let mut random = Random::new(1);
    let mut failures = Failures::default();
    let (mut better, mut tried) = (0, 0);
    for (n, d, reg) in [(12, 1, 0.01), (15, 2, 0.02), (25, 3, 0.01), (20, 2, 0.1), (9, 4, 0.003)] {
        let rows = random.cloud(n, d);
        let sample = reference(&rows);
        for z in [rows[0].clone(), vec![0.1; d], vec![1.5; d]] {
            let fit = objective(&Mlp::new().reg(reg), &sample, std::slice::from_ref(&z))[0];
            for units in [1, 2, 5, 12] {
                let mut network = Network::random(&mut random, units, d, 0.7);
                for round in 0..1500 {
                    network.step(&rows, &z, reg, if round < 1000 { 0.3 } else { 0.05 });
                }
                let theirs = network.objective(&rows, &z, reg);
                tried += 1;
                better += usize::from(theirs < fit.depth * (1.0 - 1e-4));
                failures
                    .check(theirs >= fit.depth - fit.error, || format!("{n} {d} {reg}: {theirs} {fit:?}"));
            }
        }
    }
    failures.report();
    assert!(better * 50 <= tried, "{better} of {tried} networks are better than ours");
}

#[test] // On a line there are four functions to choose from, and their best mixture is a small convex problem.
fn brute_force_on_a_line() {
    let mut random = Random::new(2);
    let mut failures = Failures::default();
    for (n, reg) in [(2, 0.05), (3, 0.01), (7, 0.01), (20, 0.02), (20, 0.3)] {
        let rows: Vec<Vec<f64>> = (0..n).map(|_| vec![2.0 * random.normal()]).collect();
        let sample = reference(&rows);
        for z in [rows[1][0], 0.0, -3.0, 6.0] {
            // f(x) = c + a |y|₊ + b |-y|₊ + v y; the straight one may have either sign. Cyclic exact line searches.
            let value = |p: &[f64; 5]| {
                let f = |y: f64| p[0] + p[1] * y.max(0.0) + p[2] * (-y).max(0.0) + (p[3] - p[4]) * y;
                let risk: f64 = rows.iter().map(|x| Logistic.value(f(x[0] - z))).sum::<f64>() / f64::from(n);
                0.5 * risk + 0.5 * Logistic.value(-p[0]) + 2.0 * reg * p[1..].iter().sum::<f64>()
            };
            let mut best = [0.0; 5];
            for _ in 0..3000 {
                // Along each axis, and along pairs with the constant, which bends the valley.
                for direction in [(1, 0.0), (2, 0.0), (3, 0.0), (4, 0.0), (0, 1.0), (1, -1.0), (2, -1.0)] {
                    let along = |t: f64| {
                        let mut p = best;
                        p[direction.0] += t;
                        if direction.0 > 0 {
                            p[0] += direction.1 * t;
                        }
                        p
                    };
                    let least = if direction.0 > 0 { -best[direction.0] } else { -50.0 };
                    best = along(golden_section(|t| value(&along(t)), least, least + 100.0));
                }
            }
            let (exact, fit) = (value(&best), objective(&Mlp::new().reg(reg), &sample, &[vec![z]])[0]);
            let close = fit.depth <= exact * (1.0 + 2e-4) + 1e-6 && fit.depth - fit.error <= exact + 1e-9;
            failures.check(close, || format!("n {n}, reg {reg}, z {z}: {exact}, {fit:?}"));
        }
    }
    failures.report();
}

fn golden_section(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = 0.5 * (5.0f64.sqrt() - 1.0);
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut fa, mut fb) = (f(a), f(b));
    for _ in 0..60 {
        if fa <= fb {
            (high, b, fb) = (b, a, fa);
            a = high - ratio * (high - low);
            fa = f(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = low + ratio * (high - low);
            fb = f(b);
        }
    }
    let middle = 0.5 * (low + high);
    // The end itself may be best: a unit that is not there.
    if f(low) <= f(middle) { low } else { middle }
}

/// Compares with the networks that golden/make_mlp.py got from scikit-learn.
fn agrees(name: &str) {
    let (file, mut failures) = (golden(name), Failures::default());
    let sample = Reference::weighted(&table(&file["rows"]), &numbers(&file["counts"])).unwrap();
    let queries = table(&file["queries"]);
    for case in file["cases"].as_array().unwrap() {
        let hidden: Vec<usize> = serde_json::from_value(case["hidden"].clone()).unwrap();
        let mlp = Mlp::new().hidden(&hidden).reg(case["reg"].as_f64().unwrap());
        let (objectives, risks) = (objective(&mlp, &sample, &queries), scored(&mlp, &sample, &queries));
        let (theirs, their_risks) = (numbers(&case["objective"]), numbers(&case["risk"]));
        for (k, (ours, risk)) in objectives.iter().zip(&risks).enumerate() {
            // No network is better than proven; and ours are at least as good as the best of theirs.
            let proven = theirs[k] >= ours.depth - ours.error;
            let slack = if hidden.len() == 1 { 1.0 + 1e-4 } else { 1.01 };
            failures.check(proven && ours.depth <= theirs[k] * slack, || {
                format!("{name} {hidden:?} query {k}: {} {ours:?}", theirs[k])
            });
            failures.check(risk.depth < ours.depth && their_risks[k] <= theirs[k], || format!("{risk:?}"));
        }
    }
    failures.report();
}

#[test]
fn networks_of_scikit_learn_iris() {
    agrees("mlp_iris.json");
}

#[test]
fn networks_of_scikit_learn_wine() {
    agrees("mlp_wine.json");
}

#[test]
fn networks_of_scikit_learn_wine_in_raw_units() {
    agrees("mlp_wine_raw.json");
}

#[test]
fn networks_of_scikit_learn_breast_cancer() {
    agrees("mlp_breast_cancer.json");
}

#[test] // A linear classifier is a network of one unit, so the best network is at least as good.
fn never_above_the_linear_depth_plus_what_it_costs() {
    let mut random = Random::new(3);
    let rows = random.cloud(60, 3);
    let sample = reference(&rows);
    let mut queries = random.cloud(6, 3);
    queries.push(vec![3.0, -2.0, 1.0]);
    for reg in [0.003, 0.03] {
        let fits = objective(&Mlp::new().reg(reg), &sample, &queries);
        for weak in [0.3, 0.03, 0.003] {
            let linear = Depth::logistic().reg(weak).fit(&sample).unwrap().explain(&queries).unwrap();
            for (fit, linear) in fits.iter().zip(&linear) {
                let cost = linear.fit.depth + 2.0 * reg * norm(linear.gradient().unwrap());
                assert!(fit.depth - fit.error <= cost, "{fit:?} {cost}");
                assert!(fit.depth <= cost * (1.0 + 1e-3), "{fit:?} {cost}");
            }
        }
    }
}

#[test]
fn same_bits_for_any_batch_order_and_threads() {
    let mut random = Random::new(4);
    let rows = random.cloud(70, 4);
    let sample = reference(&rows);
    let queries: Vec<Vec<f64>> = rows[..9].iter().cloned().chain(random.cloud(12, 4)).collect();
    for mlp in [Mlp::new(), Mlp::new().restarts(2).seed(9), Mlp::new().hidden(&[7, 5])] {
        let depth = Depth::new(mlp.clone()).fit(&sample).unwrap();
        let all = depth.score_with(&queries, &ONE).unwrap();
        let alone: Vec<Fit> =
            queries.iter().map(|z| depth.score(std::slice::from_ref(z)).unwrap()[0]).collect();
        assert_eq!(all, alone);
        for threads in [2, 3] {
            let run = Run { threads: Some(threads), ..Run::default() };
            let order = random.permutation(queries.len());
            let shuffled: Vec<Vec<f64>> = order.iter().map(|&i| queries[i].clone()).collect();
            let fits = depth.score_with(&shuffled, &run).unwrap();
            assert!(order.iter().zip(&fits).all(|(&i, fit)| *fit == all[i]));
        }
        let explained: Vec<Fit> = depth.explain(&queries).unwrap().iter().map(|e| e.fit).collect();
        assert_eq!(all, explained);
        // A second fit, and one to the rows in another order.
        let order = random.permutation(rows.len());
        let shuffled: Vec<Vec<f64>> = order.iter().map(|&i| rows[i].clone()).collect();
        assert_eq!(scored(&mlp, &reference(&shuffled), &queries), all);
    }
}

#[test] // To the last bit, where weights are whole numbers.
fn weight_k_is_k_copies() {
    let mut random = Random::new(5);
    let rows = random.cloud(30, 3);
    let counts: Vec<usize> = (0..30).map(|i| i % 4).collect();
    let copies: Vec<Vec<f64>> =
        (0..30).flat_map(|i| std::iter::repeat_n(rows[i].clone(), counts[i])).collect();
    let weights: Vec<f64> = counts.iter().map(|&c| c as f64).collect();
    let thirds: Vec<f64> = weights.iter().map(|w| w / 3.0).collect();
    let queries = random.cloud(5, 3);
    for mlp in [Mlp::new(), Mlp::new().hidden(&[6, 4])] {
        let copied = scored(&mlp, &reference(&copies), &queries);
        assert_eq!(scored(&mlp, &Reference::weighted(&rows, &weights).unwrap(), &queries), copied);
        let importance = scored(&mlp, &Reference::weighted(&rows, &thirds).unwrap(), &queries);
        for (a, b) in importance.iter().zip(&copied) {
            assert!((a.depth - b.depth).abs() <= a.error + b.error);
        }
    }
}

#[test] // The best network does not notice where the origin is and how the axes lie; the search for it hardly does.
fn moved_and_turned() {
    let mut random = Random::new(6);
    let (rows, queries) = (random.cloud(80, 2), random.cloud(8, 2));
    let turn = |x: &Vec<f64>| vec![0.6 * x[0] - 0.8 * x[1] + 30.0, 0.8 * x[0] + 0.6 * x[1] - 7.0];
    let turned: Vec<Vec<f64>> = rows.iter().map(turn).collect();
    let turned_queries: Vec<Vec<f64>> = queries.iter().map(turn).collect();
    let here = objective(&Mlp::new(), &reference(&rows), &queries);
    let there = objective(&Mlp::new(), &reference(&turned), &turned_queries);
    for (a, b) in here.iter().zip(&there) {
        assert!((a.depth - b.depth).abs() <= a.error.max(b.error));
        assert!((a.depth / b.depth - 1.0).abs() < 1e-3, "{a:?} {b:?}");
    }
}

#[test] // Other random numbers, much the same depth: one hidden layer is a convex problem.
fn seeds_hardly_matter() {
    let mut random = Random::new(7);
    let sample = reference(&random.cloud(100, 4));
    let queries = random.cloud(10, 4);
    let first = objective(&Mlp::new(), &sample, &queries);
    for seed in 1..4 {
        for (a, b) in objective(&Mlp::new().seed(seed), &sample, &queries).iter().zip(&first) {
            assert!((a.depth / b.depth - 1.0).abs() < 1e-2, "{a:?} {b:?}");
        }
    }
}

#[test]
fn more_restarts_and_more_units_do_no_harm() {
    let mut random = Random::new(8);
    let sample = reference(&random.cloud(50, 3));
    let queries = random.cloud(6, 3);
    for hidden in [vec![100], vec![6, 6]] {
        let one = objective(&Mlp::new().hidden(&hidden), &sample, &queries);
        let three = objective(&Mlp::new().hidden(&hidden).restarts(3), &sample, &queries);
        for (one, three) in one.iter().zip(&three) {
            assert!(three.depth <= one.depth && three.iterations > one.iterations);
        }
    }
    let many = objective(&Mlp::new(), &sample, &queries);
    for units in [1, 2, 3] {
        for (few, many) in objective(&Mlp::new().hidden(&[units]), &sample, &queries).iter().zip(&many) {
            assert!(many.depth <= few.depth * (1.0 + 1e-3) && few.depth - few.error <= many.depth);
        }
    }
}

#[test]
fn rings_and_lines() {
    // The centre of a ring is outlying for a network, not for a linear classifier.
    let ring: Vec<Vec<f64>> =
        (0..80).map(|i| f64::from(i) * 0.078_54).map(|t| vec![5.0 * t.cos(), 5.0 * t.sin()]).collect();
    let sample = reference(&ring);
    let queries = [vec![0.0, 0.0], vec![5.0, 0.0], vec![20.0, 0.0]];
    for mlp in [Mlp::new(), Mlp::new().hidden(&[10, 10])] {
        let fits = scored(&mlp, &sample, &queries);
        assert!(fits[0].depth < 0.5 * fits[1].depth && fits[2].depth < 0.5 * fits[1].depth, "{fits:?}");
    }
    let linear = Depth::logistic().reg(0.01).fit(&sample).unwrap().score(&queries).unwrap();
    assert!(linear[0].depth > 0.99);
}

#[test]
fn degenerate_data_works() {
    let mut random = Random::new(9);
    let cloud = random.cloud(6, 3);
    let cases: [(&str, Vec<Vec<f64>>); 12] = [
        ("two rows", vec![vec![0.0, 1.0], vec![1.0, 0.0]]),
        ("three rows", vec![vec![0.0], vec![1.0], vec![5.0]]),
        ("all the same", vec![vec![2.0, -1.0]; 5]),
        ("two places", [vec![vec![0.0, 0.0]; 4], vec![vec![1.0, 1.0]; 3]].concat()),
        ("constant column", cloud.iter().map(|x| vec![x[0], 7.0, x[1]]).collect()),
        ("collinear", (0..9).map(|i| vec![f64::from(i), 2.0 * f64::from(i), -f64::from(i)]).collect()),
        ("more columns than rows", random.cloud(4, 12)),
        ("tiny", cloud.iter().map(|x| x.iter().map(|v| v * 1e-12).collect()).collect()),
        ("huge", cloud.iter().map(|x| x.iter().map(|v| v * 1e12).collect()).collect()),
        ("far from the origin", cloud.iter().map(|x| x.iter().map(|v| v + 1e9).collect()).collect()),
        ("mixed scales", cloud.iter().map(|x| vec![x[0] * 1e9, x[1] * 1e-9, x[2]]).collect()),
        (
            "integer ties",
            (0..40).map(|i| vec![f64::from(i % 3), f64::from(i % 4), f64::from(i % 2)]).collect(),
        ),
    ];
    for (name, rows) in cases {
        let sample = reference(&rows);
        let d = rows[0].len();
        let largest = rows.iter().flatten().fold(1.0f64, |m, v| m.max(v.abs()));
        let queries = [
            rows[0].clone(),
            between(&rows[0], &rows[1], 0.5),
            vec![0.0; d],
            vec![3.0 * largest; d],
            vec![-1e60; d],
        ];
        for mlp in [Mlp::new(), Mlp::new().hidden(&[4, 3]), Mlp::new().hidden(&[1])] {
            for variant in [Variant::Risk, Variant::Objective] {
                let mlp = mlp.clone().variant(variant);
                for (k, fit) in scored(&mlp, &sample, &queries).iter().enumerate() {
                    let sound = (-1e-12..=1.0 + 1e-9).contains(&fit.depth)
                        && fit.error.is_finite()
                        && fit.error > 0.0
                        && fit.stderr.is_finite();
                    assert!(sound, "{name}, query {k}, {mlp:?}: {fit:?}");
                }
                for query in &queries {
                    let e = explained(&mlp, Scale::None, &sample, query);
                    assert!(e.gradient().unwrap().iter().all(|w| w.is_finite()), "{name}: {e:?}");
                }
            }
        }
    }
}

#[test] // A point that all of the sample shares cannot be told from it.
fn the_only_point_there_is_has_depth_one() {
    let sample = reference(&std::array::from_fn::<_, 5, _>(|_| vec![2.0, -1.0]));
    for mlp in [Mlp::new(), Mlp::new().hidden(&[4, 3])] {
        let fit = scored(&mlp, &sample, &[vec![2.0, -1.0]])[0];
        assert!((fit.depth - 1.0).abs() < 1e-9, "{fit:?}");
    }
    assert!(scored(&Mlp::new(), &sample, &[vec![2.0, 30.0]])[0].depth < 0.1);
}

#[test] // 1/n, n times, may be a rounding more than 1.
fn never_above_one_not_even_by_rounding() {
    let mut random = Random::new(8);
    for n in 2..60 {
        let rows = random.cloud(n, 2);
        let fits = scored(&Mlp::new().reg(1e3), &reference(&rows), &rows[..2]);
        assert!(fits.iter().all(|fit| fit.depth <= 1.0), "{n}: {fits:?}");
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let sample = reference(&[vec![0.0], vec![1.0], vec![2.0]]);
    let refused = |mlp: Mlp| Depth::new(mlp).fit(&sample).err().expect("refused");
    for (mlp, name) in [
        (Mlp::new().reg(0.0), "reg"),
        (Mlp::new().reg(f64::NAN), "reg"),
        (Mlp::new().tol(-1.0), "tol"),
        (Mlp::new().max_iter(0), "max_iter"),
        (Mlp::new().restarts(0), "restarts"),
        (Mlp::new().hidden(&[]), "hidden"),
        (Mlp::new().hidden(&[10, 0]), "hidden"),
        (Mlp::new().hidden(&[1_000_000_000]), "hidden"),
    ] {
        let error = refused(mlp);
        assert!(matches!(&error, DepthError::Setting { name: n, .. } if *n == name), "{error}");
    }
    let error = refused(Mlp::new().variant(Variant::Constrained { radius: 1.0 }));
    assert!(error.to_string().contains("constrained"), "{error}");
}

#[test]
fn a_limit_of_iterations_is_reported() {
    let mut random = Random::new(10);
    let sample = reference(&random.cloud(60, 3));
    let queries = random.cloud(5, 3);
    for mlp in [Mlp::new(), Mlp::new().hidden(&[5, 5])] {
        let fits = scored(&mlp.clone().max_iter(3), &sample, &queries);
        assert!(fits.iter().all(|f| f.stop == Stop::IterationLimit && f.iterations == 3), "{fits:?}");
        assert!(scored(&mlp, &sample, &queries).iter().all(|f| f.stop == Stop::Converged));
    }
}

#[test]
fn cancelling_and_progress() {
    let mut random = Random::new(11);
    let sample = reference(&random.cloud(60, 3));
    let data = random.cloud(20, 3).concat();
    let depth = Depth::new(Mlp::new()).fit(&sample).unwrap();
    let (done, cancel) = (AtomicUsize::new(0), AtomicBool::new(false));
    let count = |n: usize| {
        done.fetch_add(n, Ordering::Relaxed);
    };
    let run = Run { threads: Some(2), progress: Some(&count), cancel: Some(&cancel), ..Run::default() };
    let rows = Rows::new(&data, 3).unwrap();
    depth.score_with(&rows, &run).unwrap();
    assert_eq!(done.load(Ordering::Relaxed), 20);
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(depth.score_with(&rows, &run), Err(DepthError::Cancelled));
}

#[test] // An outlier becomes less of one in the direction of the slope.
fn the_slope_points_to_the_sample() {
    let mut random = Random::new(12);
    let rows = random.cloud(80, 3);
    let sample = reference(&rows);
    let z = vec![0.2, 5.0, -0.3];
    for mlp in [Mlp::new(), Mlp::new().hidden(&[10, 5])] {
        let e = explained(&mlp, Scale::None, &sample, &z);
        assert!(e.contributions().is_none() && e.influence.is_none());
        assert!(e.value < 0.0 && e.baseline > 0.0, "{e:?}");
        let g = e.gradient().unwrap();
        assert!(g[1] < 0.0 && g[1].abs() > 3.0 * g[0].abs().max(g[2].abs()), "{e:?}");
        assert!((dot(g, &z) + e.intercept().unwrap() - e.value).abs() < 1e-9);
        let closer: Vec<f64> = z.iter().zip(g).map(|(z, w)| z + w / norm(g)).collect();
        let fits = scored(&mlp, &sample, &[z.clone(), closer]);
        assert!(fits[1].depth > fits[0].depth, "{fits:?}");
    }
}

#[test] // In units of the original columns.
fn the_slope_is_in_original_columns() {
    let mut random = Random::new(13);
    let rows: Vec<Vec<f64>> = random.cloud(80, 2).iter().map(|x| vec![x[0] * 100.0, x[1] * 0.01]).collect();
    let sample = reference(&rows);
    let z = vec![400.0, 0.03];
    let e = explained(&Mlp::new(), Scale::Standard, &sample, &z);
    let (mean, sd) = moments(&rows);
    let scaled = |x: &Vec<f64>| -> Vec<f64> { (0..2).map(|j| (x[j] - mean[j]) / sd[j]).collect() };
    let by_hand: Vec<Vec<f64>> = rows.iter().map(scaled).collect();
    let other = explained(&Mlp::new(), Scale::None, &reference(&by_hand), &scaled(&z));
    let (g, by_hand) = (e.gradient().unwrap(), other.gradient().unwrap());
    for j in 0..2 {
        assert!((g[j] * sd[j] - by_hand[j]).abs() < 1e-2 * norm(by_hand), "{e:?} {other:?}");
    }
    assert!((e.value - other.value).abs() < 1e-2 && (e.baseline - other.baseline).abs() < 1e-2);
}

fn moments(rows: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let n = rows.len() as f64;
    let mean: Vec<f64> = (0..rows[0].len()).map(|j| rows.iter().map(|x| x[j]).sum::<f64>() / n).collect();
    let sd = (0..mean.len()).map(|j| (rows.iter().map(|x| (x[j] - mean[j]).powi(2)).sum::<f64>() / n).sqrt());
    (mean.clone(), sd.collect())
}

#[test] // The envelope theorem: how the objective follows the weights.
fn influence_predicts_what_more_weight_does() {
    let mut random = Random::new(14);
    let rows = random.cloud(40, 2);
    let z = vec![0.9, 0.4];
    let mlp = Mlp::new().variant(Variant::Objective).tol(1e-9).max_iter(5000);
    let e = explained(&mlp, Scale::None, &reference(&rows), &z);
    let influence = e.influence.as_ref().unwrap();
    assert_eq!(influence.len(), 40);
    assert!(influence.iter().sum::<f64>().abs() < 1e-9);
    let mut found = 0;
    for i in e.most_influential(4).unwrap() {
        let mut weights = vec![1.0; 40];
        weights[i] += 0.4;
        let more = scored(&mlp, &Reference::weighted(&rows, &weights).unwrap(), std::slice::from_ref(&z))[0];
        let predicted = 0.4 / 40.4 * influence[i];
        let change = more.depth - e.fit.depth;
        found += usize::from((change - predicted).abs() <= 0.25 * predicted.abs());
        assert!(change * predicted > 0.0, "{change} {predicted}");
    }
    assert!(found >= 3);
}

#[test] // stderr of the objective: as large as the spread over samples.
fn standard_errors_are_of_the_right_size() {
    let mut random = Random::new(15);
    let z = [vec![1.0, 0.5]];
    let (mut depths, mut stderrs) = (Vec::new(), Vec::new());
    for _ in 0..60 {
        let fit = objective(&Mlp::new().reg(0.03), &reference(&random.cloud(100, 2)), &z)[0];
        depths.push(fit.depth);
        stderrs.push(fit.stderr);
    }
    let n = depths.len() as f64;
    let mean = depths.iter().sum::<f64>() / n;
    let spread = (depths.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let typical = stderrs.iter().sum::<f64>() / n;
    // The spread itself is known to about 9 %.
    assert!((0.65..1.5).contains(&(typical / spread)), "{typical} {spread}");
}
