//! Kernel logistic regression: the definition, the linear depth it contains, and the guarantees.

use crate::common::{Failures, Random, golden, numbers, reference, table};
use lossdepth::kernel::{Gamma, KernelChoice, Sigma};
use lossdepth::loss::{Exponential, Logistic, SquaredHinge};
use lossdepth::methods::{Kernelised, Linear};
use lossdepth::{Depth, Intercept, Reference, Run, Scale, Stop, Variant};

fn gaussian(gamma: f64) -> KernelChoice {
    KernelChoice::Gaussian { gamma: Gamma::Value(gamma) }
}

const VARIANTS: [Variant; 3] = [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 1.5 }];

#[test]
fn a_linear_kernel_is_the_linear_depth() {
    let (mut random, mut failures) = (Random::new(1), Failures::default());
    for (n, d) in [(40, 3), (7, 12), (2, 2), (130, 5)] {
        let (rows, queries) = (random.cloud(n, d), random.cloud(6, d));
        let weights: Vec<f64> = (0..n).map(|_| random.unit()).collect();
        let sample = Reference::weighted(&rows, &weights).unwrap();
        for intercept in Intercept::ALL {
            for variant in VARIANTS {
                for reg in [1.0, 0.01, 1e-4] {
                    let linear = Linear::new(Logistic).intercept(intercept).variant(variant).reg(reg);
                    let kernel = Kernelised::new(Logistic).kernel(KernelChoice::Linear);
                    let kernel = kernel.intercept(intercept).variant(variant).reg(reg);
                    let a = Depth::new(linear).fit(&sample).unwrap().score(&queries).unwrap();
                    let b = Depth::new(kernel).fit(&sample).unwrap().score(&queries).unwrap();
                    for (a, b) in a.iter().zip(&b) {
                        let close = (a.depth - b.depth).abs() <= a.error + b.error
                            && b.stop == Stop::Converged
                            && (a.stderr - b.stderr).abs() <= 0.05 * a.stderr + 1e-6;
                        failures
                            .check(close, || format!("{n}x{d} {intercept} {variant:?} {reg}: {a:?} {b:?}"));
                    }
                }
            }
        }
    }
    failures.report();
}

/// The kernel of a golden case.
fn choice(name: &str, setting: f64) -> KernelChoice {
    match name {
        "gaussian" => gaussian(setting),
        "laplacian" => KernelChoice::Laplacian { sigma: Sigma::Value(setting) },
        "imq" => KernelChoice::Imq { c: setting, beta: -0.5 },
        "polynomial" => KernelChoice::Polynomial { gamma: Gamma::Value(setting), degree: 3, coef0: 1.0 },
        other => panic!("{other}"),
    }
}

fn agrees(name: &str) {
    let (file, mut failures) = (golden(name), Failures::default());
    let sample = Reference::weighted(&table(&file["rows"]), &numbers(&file["counts"])).unwrap();
    let queries = table(&file["queries"]);
    for case in file["cases"].as_array().unwrap() {
        let kernel = choice(case["kernel"].as_str().unwrap(), case["setting"].as_f64().unwrap());
        let intercept: Intercept = case["intercept"].as_str().unwrap().parse().unwrap();
        let reg = case["reg"].as_f64().unwrap();
        for variant in [Variant::Risk, Variant::Objective] {
            let method = Kernelised::new(Logistic).kernel(kernel).intercept(intercept);
            let method = method.variant(variant).reg(reg).tol(1e-8);
            let fits = Depth::new(method).fit(&sample).unwrap().score(&queries).unwrap();
            let theirs = numbers(&case[variant.name()]);
            assert_eq!(theirs.len(), fits.len());
            for (fit, theirs) in fits.iter().zip(theirs) {
                // A polynomial of far-away points is large, and so is what its rounding may do.
                let good = if matches!(kernel, KernelChoice::Polynomial { .. }) { 1e-5 } else { 1e-8 };
                let close = (fit.depth - theirs).abs() <= fit.error + 1e-9 && fit.error <= good;
                failures
                    .check(close, || format!("{kernel:?} {intercept} {variant:?} {reg}: {theirs} {fit:?}"));
            }
        }
    }
    failures.report();
}

#[test] // Four kernels, two intercepts, by Newton's method on dense matrices.
fn wine() {
    agrees("klr_wine.json");
}

#[test]
fn iris_with_weights() {
    agrees("klr_iris_counted.json");
}

#[test] // A query may see of a row that the factor takes to be in the span of others what no kernel value of the sample shows.
fn rows_that_only_the_query_tells_apart() {
    let (file, mut failures) = (golden("klr_near.json"), Failures::default());
    for case in file["cases"].as_array().unwrap() {
        let number = |name: &str| case[name].as_f64().unwrap();
        let kernel = case["gamma"].as_f64().map_or(KernelChoice::Linear, gaussian);
        let (sample, query) = (reference(&table(&case["rows"])), numbers(&case["query"]));
        let intercept: Intercept = case["intercept"].as_str().unwrap().parse().unwrap();
        for (variant, truth) in [
            (Variant::Risk, number("risk")),
            (Variant::Objective, number("objective")),
            (Variant::Constrained { radius: number("norm") }, number("risk")),
        ] {
            for tol in [1e-6, 1e-9, 1e-12] {
                let method = Kernelised::new(Logistic).kernel(kernel).intercept(intercept);
                let method = method.variant(variant).reg(number("reg")).tol(tol);
                let depth = Depth::new(method).fit(&sample).unwrap();
                let fit = depth.score(std::slice::from_ref(&query)).unwrap()[0];
                let close = (fit.depth - truth).abs() <= fit.error + 1e-15;
                // Kernel values are rounded, and that is divided by the penalty. What is proven under a constraint is coarser:
                // the multiplier of the constraint is known up to that rounding, too.
                let times = if matches!(variant, Variant::Constrained { .. }) { 40.0 } else { 1.0 };
                let good = tol.max(times * 5e-14 / number("reg")).max(1e-11);
                let good = close && fit.error <= good;
                failures.check(good, || format!("{case} {variant:?} {tol}: {fit:?}"));
                let why = depth.explain(std::slice::from_ref(&query)).unwrap().remove(0);
                failures.check(why.fit == fit, || format!("{case} {variant:?} {tol}: {:?} {fit:?}", why.fit));
            }
        }
    }
    failures.report();
}

#[test] // The exact depth is 1 - 4.26584e-8: what is left of the query outside of the span is part of the error.
fn a_query_next_to_the_span_is_within_its_error() {
    let sample = Reference::new(&[[1.0, 1.0], [1.0, 1.0]]).unwrap();
    for intercept in [Intercept::None, Intercept::Free] {
        let method = Kernelised::new(Logistic).kernel(KernelChoice::Precomputed).intercept(intercept);
        let method = method.variant(Variant::Constrained { radius: 1.0 });
        let depth = Depth::new(method).fit(&sample).unwrap();
        let near = 0.999_999_999_999_993;
        let fit = depth.score(&[[near, near]]).unwrap()[0];
        assert!((fit.depth - (1.0 - 4.26584e-8)).abs() <= fit.error, "{fit:?}");
    }
}

#[test]
fn other_smooth_losses_come_along() {
    let mut random = Random::new(3);
    let (rows, queries) = (random.cloud(30, 3), random.cloud(5, 3));
    let sample = reference(&rows);
    let linear =
        Depth::new(Linear::new(SquaredHinge).reg(0.05).intercept(Intercept::None)).fit(&sample).unwrap();
    let kernel = Kernelised::new(SquaredHinge).kernel(KernelChoice::Linear).reg(0.05);
    let kernel = Depth::new(kernel).fit(&sample).unwrap();
    for (a, b) in linear.score(&queries).unwrap().iter().zip(kernel.score(&queries).unwrap()) {
        assert!((a.depth - b.depth).abs() <= a.error + b.error);
    }
    let exponential = Depth::new(Kernelised::new(Exponential).reg(0.05)).fit(&sample).unwrap();
    assert!(exponential.score(&queries).unwrap().iter().all(|f| f.error <= 1e-6 && f.depth < 1.0));
}

#[test]
fn bits_do_not_depend_on_the_other_queries() {
    let mut random = Random::new(4);
    for n in [9, 150] {
        let (rows, queries) = (random.cloud(n, 4), random.cloud(70, 4));
        for intercept in [Intercept::None, Intercept::Free] {
            let method = Kernelised::new(Logistic).reg(0.003).intercept(intercept);
            let depth = Depth::new(method).fit(&reference(&rows)).unwrap();
            let run = |threads| Run { threads: Some(threads), ..Run::default() };
            let all = depth.score_with(&queries, &run(1)).unwrap();
            assert_eq!(all, depth.score_with(&queries, &run(2)).unwrap());
            let order = random.permutation(70);
            let shuffled: Vec<Vec<f64>> = order.iter().map(|&i| queries[i].clone()).collect();
            for (fit, &i) in depth.score_with(&shuffled, &run(1)).unwrap().iter().zip(&order) {
                assert_eq!(*fit, all[i]);
            }
            assert_eq!(depth.score(&queries[33..34]).unwrap()[0], all[33]);
        }
    }
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let (mut random, mut failures) = (Random::new(5), Failures::default());
    let rows = random.cloud(25, 3);
    let counts: Vec<f64> = (0..25).map(|i| f64::from(i % 4)).collect();
    let copies: Vec<Vec<f64>> = (0..25).flat_map(|i| vec![rows[i].clone(); i % 4]).collect();
    let queries: Vec<Vec<f64>> = [&random.cloud(4, 3)[..], &rows[..4]].concat();
    for intercept in Intercept::ALL {
        for variant in VARIANTS {
            let score = |sample: &Reference| {
                let method = Kernelised::new(Logistic).reg(0.01).intercept(intercept).variant(variant);
                Depth::new(method).fit(sample).unwrap().score(&queries).unwrap()
            };
            let (a, b) = (score(&Reference::weighted(&rows, &counts).unwrap()), score(&reference(&copies)));
            for (a, b) in a.iter().zip(&b) {
                let same = (a.depth - b.depth).abs() <= a.error + b.error
                    && (a.stderr - b.stderr).abs() <= 0.02 * a.stderr;
                failures.check(same, || format!("{intercept} {variant:?}: {a:?} {b:?}"));
            }
        }
    }
    failures.report();
}

#[test]
fn degenerate_samples_work() {
    let far = vec![vec![1e12, -1e12], vec![1e12, 1e-12]];
    for rows in [vec![vec![1.0, 2.0]; 3], vec![vec![0.0, 0.0], vec![1e-12, 0.0]], far] {
        for variant in VARIANTS {
            for intercept in Intercept::ALL {
                let method = Kernelised::new(Logistic).intercept(intercept).variant(variant).reg(0.1);
                let depth = Depth::new(method).fit(&reference(&rows)).unwrap();
                for fit in depth.score(&[rows[0].clone(), vec![5.0, 5.0]]).unwrap() {
                    assert!(fit.error <= 1e-6 && (0.0..=1.0).contains(&fit.depth), "{rows:?} {fit:?}");
                }
            }
        }
    }
    // A query that is the whole sample cannot be told from it.
    let depth = Depth::new(Kernelised::new(Logistic)).fit(&reference(&[vec![1.0], vec![1.0]])).unwrap();
    let fit = depth.score(&[[1.0]]).unwrap()[0];
    assert!((fit.depth - 1.0).abs() <= fit.error);
}

#[test]
fn the_explanation_is_about_the_classifier() {
    let mut random = Random::new(6);
    let (mut rows, z) = (random.cloud(30, 2), vec![0.7, -0.4]);
    // Rows without weight ask for f at points of our choice: beside the query, along each column.
    let h = 1e-5;
    for j in 0..2 {
        for step in [h, -h] {
            let mut beside = z.clone();
            beside[j] += step;
            rows.push(beside);
        }
    }
    rows.push(z.clone());
    let mut weights = vec![1.0; 30];
    weights.resize(35, 0.0);
    let sample = Reference::weighted(&rows, &weights).unwrap();
    for intercept in Intercept::ALL {
        for variant in VARIANTS {
            for scale in [Scale::None, Scale::Standard] {
                let method =
                    Kernelised::new(Logistic).intercept(intercept).variant(variant).reg(0.02).tol(1e-10);
                let depth = Depth::new(method).scale(scale).fit(&sample).unwrap();
                let why = &depth.explain(&[&z[..]].map(<[f64]>::to_vec)).unwrap()[0];
                assert_eq!(why.fit, depth.score(std::slice::from_ref(&z)).unwrap()[0]);
                let (witness, gradient) = (why.witness().unwrap(), why.gradient().unwrap());
                let (there, value) = (witness[34], why.value);
                // The square of what f may be off is in the certificate: 1e-10, or its floor of 1e-8 with a free intercept.
                let near = 2e-3;
                assert!((there - value).abs() < near, "{intercept} {variant:?} {scale}: {there} {value}");
                for j in 0..2 {
                    let slope = (witness[30 + 2 * j] - witness[31 + 2 * j]) / (2.0 * h);
                    assert!(
                        (slope - gradient[j]).abs() < 1e-4 * (1.0 + slope.abs()),
                        "{intercept} {variant:?}"
                    );
                }
                assert!(why.contributions().is_none());
                let mean: f64 = why.influence.as_ref().unwrap().iter().sum();
                assert!(mean.abs() < 1e-9);
            }
        }
    }
}

#[test]
fn influence_is_the_derivative_in_the_weights() {
    let mut random = Random::new(7);
    let (rows, z) = (random.cloud(20, 2), vec![1.5, 0.2]);
    let depth_at = |weights: &[f64], variant| {
        let method = Kernelised::new(Logistic).kernel(gaussian(0.4)).reg(0.01).variant(variant).tol(1e-12);
        let depth = Depth::new(method).fit(&Reference::weighted(&rows, weights).unwrap()).unwrap();
        depth.explain(std::slice::from_ref(&z)).unwrap().remove(0)
    };
    for variant in VARIANTS {
        let influence = depth_at(&[1.0; 20], variant).influence.unwrap();
        for i in [0, 7, 19] {
            let at = |h: f64| {
                let mut weights = [1.0; 20];
                weights[i] += h;
                depth_at(&weights, variant).fit.depth
            };
            // One more unit of weight h among 20 is a share h / 20 of the mass.
            let slope = (at(1e-3) - at(-1e-3)) / 2e-3 * 20.0;
            assert!(
                (slope - influence[i]).abs() < 2e-3 * (0.1 + slope.abs()),
                "{variant:?} {slope} {}",
                influence[i]
            );
        }
    }
}

#[test]
fn bad_settings_are_refused() {
    let sample = reference(&[vec![0.0], vec![1.0], vec![2.0]]);
    let refused =
        |method: Kernelised<Logistic>| Depth::new(method).fit(&sample).err().expect("refused").to_string();
    let new = || Kernelised::new(Logistic);
    assert!(refused(new().reg(0.0)).contains("`reg`"));
    assert!(refused(new().tol(f64::NAN)).contains("`tol`"));
    assert!(refused(new().max_iter(0)).contains("`max_iter`"));
    assert!(refused(new().variant(Variant::Constrained { radius: -1.0 })).contains("`radius`"));
    assert!(refused(new().kernel(gaussian(-1.0))).contains("`gamma`"));
    assert!(refused(new().memory(100)).contains("`memory`"));
}
