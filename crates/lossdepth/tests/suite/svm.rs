//! The support vector machine depth: its definition, its theory, its two ways to the answer.

use crate::common::{Failures, Random, reference};
use lossdepth::kernel::{Gamma, Kernel, KernelChoice, Sigma, Standard};
use lossdepth::methods::Svm;
use lossdepth::{
    Depth, DepthError, Fit, FittedDepth, Intercept, Method, Reference, Run, Scale, Settings, Stop, Variant,
};

pub(crate) const KERNELS: [KernelChoice; 6] = [
    KernelChoice::Gaussian { gamma: Gamma::Auto },
    KernelChoice::Gaussian { gamma: Gamma::Value(25.0) },
    KernelChoice::Laplacian { sigma: Sigma::Auto },
    KernelChoice::Imq { c: 1.0, beta: -0.5 },
    KernelChoice::Linear,
    KernelChoice::Polynomial { gamma: Gamma::Value(0.4), degree: 2, coef0: 1.0 },
];

pub(crate) const VARIANTS: [Variant; 3] =
    [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 1.5 }];

pub(crate) fn fitted(svm: Svm, sample: &Reference) -> FittedDepth<Svm> {
    Depth::new(svm).fit(sample).expect("good settings")
}

pub(crate) fn svm(kernel: KernelChoice, intercept: Intercept, variant: Variant, reg: f64) -> Svm {
    Svm::new().kernel(kernel).intercept(intercept).variant(variant).reg(reg)
}

/// Two clusters, one of them small.
pub(crate) fn clusters(random: &mut Random, n: usize, d: usize) -> Vec<Vec<f64>> {
    (0..n)
        .map(|i| {
            let center = if i % 4 == 0 { 3.0 } else { -1.0 };
            (0..d).map(|_| center + random.normal()).collect()
        })
        .collect()
}

pub(crate) fn queries(random: &mut Random, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let d = rows[0].len();
    let mut queries = vec![rows[0].clone(), rows[5].clone(), vec![0.0; d], vec![1.0; d], vec![30.0; d]];
    queries.extend(random.cloud(4, d));
    queries
}

/// The kernel matrix of the sample with the query last, from the kernel's own formula.
pub(crate) fn matrix(kernel: &Standard, rows: &[Vec<f64>], z: &[f64], shift: f64) -> Vec<Vec<f64>> {
    let all: Vec<&[f64]> = rows.iter().map(Vec::as_slice).chain([z]).collect();
    all.iter().map(|x| all.iter().map(|y| kernel.value(x, y) + shift).collect()).collect()
}

/// The dual objective over the box, by coordinate ascent until nothing moves: slow and simple. Returns the bare risk and
/// the penalised one.
pub(crate) fn by_coordinates(k: &[Vec<f64>], weights: &[f64], reg: f64) -> (f64, f64) {
    let n = weights.len();
    let mass = |j: usize| if j == n { 0.5 } else { 0.5 * weights[j] };
    let sign = |j: usize| if j == n { -1.0 } else { 1.0 };
    let mut alpha: Vec<f64> = (0..=n).map(mass).collect();
    let mut pulled: Vec<f64> = (0..=n).map(|i| (0..=n).map(|j| sign(j) * alpha[j] * k[i][j]).sum()).collect();
    for _ in 0..200_000 {
        let mut moved = 0.0f64;
        for j in 0..=n {
            let gradient = 2.0 * reg - sign(j) * pulled[j];
            let best = if k[j][j] > 0.0 { alpha[j] + gradient / k[j][j] } else { mass(j) };
            let change = best.clamp(0.0, mass(j)) - alpha[j];
            if change != 0.0 {
                alpha[j] += change;
                for i in 0..=n {
                    pulled[i] += change * sign(j) * k[i][j];
                }
                moved = moved.max(change.abs() * k[j][j]);
            }
        }
        if moved < 1e-16 {
            break;
        }
    }
    let risk = (0..=n).map(|j| mass(j) * (1.0 - sign(j) * pulled[j] / (2.0 * reg)).max(0.0)).sum::<f64>();
    let square: f64 = (0..=n).map(|j| sign(j) * alpha[j] * pulled[j]).sum();
    (risk, risk + square / (4.0 * reg))
}

#[test] // The definition.
fn is_the_minimum_found_by_coordinate_ascent() {
    let mut failures = Failures::default();
    let kernels = [
        (KernelChoice::Gaussian { gamma: Gamma::Value(0.3) }, Standard::Gaussian { gamma: 0.3 }),
        (KernelChoice::Laplacian { sigma: Sigma::Value(2.0) }, Standard::Laplacian { sigma: 2.0 }),
        (KernelChoice::Imq { c: 1.0, beta: -1.0 }, Standard::Imq { c: 1.0, beta: -1.0 }),
    ];
    for seed in 0..3 {
        let mut random = Random::new(seed);
        let rows = clusters(&mut random, 25, 2);
        let counts: Vec<f64> = (0..25).map(|i| f64::from(1 + i % 3)).collect();
        let weights: Vec<f64> = counts.iter().map(|c| c / counts.iter().sum::<f64>()).collect();
        let sample = Reference::weighted(&rows, &counts).unwrap();
        for (choice, kernel) in kernels {
            for (intercept, shift) in [(Intercept::None, 0.0), (Intercept::Penalised, 1.0)] {
                for reg in [0.5, 0.05, 0.01] {
                    for z in queries(&mut random, &rows) {
                        let (risk, objective) =
                            by_coordinates(&matrix(&kernel, &rows, &z, shift), &weights, reg);
                        for (variant, theirs) in [(Variant::Risk, risk), (Variant::Objective, objective)] {
                            let ours = fitted(svm(choice, intercept, variant, reg), &sample)
                                .score(std::slice::from_ref(&z));
                            let ours = ours.unwrap()[0];
                            let close = (ours.depth - theirs).abs() <= ours.error + 1e-8;
                            failures.check(close && ours.error <= 1e-6, || {
                                format!("{kernel:?} {intercept} {variant:?} {reg}: {theirs}, {ours:?}")
                            });
                        }
                    }
                }
            }
        }
    }
    failures.report();
}

#[test] // The closed form against the formula, and against the general solver just beyond it.
fn the_closed_form_and_the_general_solver_meet() {
    let mut random = Random::new(1);
    let rows = clusters(&mut random, 60, 3);
    let sample = Reference::new(&rows).unwrap();
    let kernel = Standard::Gaussian { gamma: 0.2 };
    let choice = KernelChoice::Gaussian { gamma: Gamma::Value(0.2) };
    for intercept in [Intercept::None, Intercept::Free] {
        for z in queries(&mut random, &rows) {
            let k = matrix(&kernel, &rows, &z, 0.0);
            let mean: Vec<f64> = (0..=60).map(|i| k[i][..60].iter().sum::<f64>() / 60.0).collect();
            let square = mean[..60].iter().sum::<f64>() / 60.0 - 2.0 * mean[60] + k[60][60];
            // The penalty at which the first margin reaches 1.
            let largest = (0..60).map(|i| mean[i] - k[i][60]).fold(f64::MIN, f64::max);
            let at_query = k[60][60] - mean[60];
            let edge = if intercept == Intercept::Free {
                (largest + at_query) / 8.0
            } else {
                largest.max(at_query) / 4.0
            };
            let score = |reg: f64, variant| {
                fitted(svm(choice, intercept, variant, reg), &sample).score(std::slice::from_ref(&z))
            };
            for reg in [1.0, edge * (1.0 + 1e-9)] {
                let fit = score(reg, Variant::Risk).unwrap()[0];
                assert_eq!(fit.iterations, 0, "in the closed form no round is needed");
                assert!((fit.depth - (1.0 - square / (8.0 * reg))).abs() <= fit.error + 1e-13);
                let fit = score(reg, Variant::Objective).unwrap()[0];
                assert!((fit.depth - (1.0 - square / (16.0 * reg))).abs() <= fit.error + 1e-13);
            }
            let (inside, beyond) = (edge * (1.0 + 1e-9), edge * (1.0 - 1e-9));
            for variant in [Variant::Risk, Variant::Objective] {
                let (a, b) = (score(inside, variant).unwrap()[0], score(beyond, variant).unwrap()[0]);
                assert!((a.depth - b.depth).abs() <= a.error + b.error + 1e-7, "{variant:?} {a:?} {b:?}");
            }
            let radius = square.sqrt() / 4.0;
            let fit = score(1.0, Variant::Constrained { radius }).unwrap()[0];
            assert!((fit.depth - (1.0 - 0.5 * radius * square.sqrt())).abs() <= fit.error + 1e-9, "{fit:?}");
        }
    }
}

#[test] // ‖w‖ at a penalty is the radius whose constrained depth is the risk there.
fn a_constraint_is_a_penalty() {
    let mut random = Random::new(2);
    let rows = clusters(&mut random, 80, 2);
    let sample = Reference::new(&rows).unwrap();
    for kernel in KERNELS {
        for intercept in Intercept::ALL {
            for reg in [0.3, 0.02] {
                for z in &queries(&mut random, &rows)[..4] {
                    let score = |variant| {
                        fitted(svm(kernel, intercept, variant, reg), &sample)
                            .score(std::slice::from_ref(z))
                            .unwrap()[0]
                    };
                    let (risk, objective) = (score(Variant::Risk), score(Variant::Objective));
                    let radius = ((objective.depth - risk.depth) / reg).max(0.0).sqrt();
                    if radius < 1e-3 {
                        continue;
                    }
                    let fit = score(Variant::Constrained { radius });
                    // An error e of the norm changes the depth by at most e.
                    let slack = 2.0 * (risk.error + objective.error) / (reg * radius);
                    let close =
                        (fit.depth - risk.depth).abs() <= fit.error + risk.error + slack * 2.0 * reg * radius;
                    assert!(close && fit.error <= 1e-6, "{kernel:?} {intercept} {reg}: {fit:?} {risk:?}");
                }
            }
        }
    }
}

pub(crate) fn each_setting(mut check: impl FnMut(Svm, String)) {
    for kernel in KERNELS {
        for intercept in Intercept::ALL {
            for variant in VARIANTS {
                for reg in [1.0, 0.02] {
                    if reg == 1.0 || variant != VARIANTS[2] {
                        let what = format!("{kernel:?} {intercept} {variant:?} {reg}");
                        check(svm(kernel, intercept, variant, reg), what);
                    }
                }
            }
        }
    }
}

#[test]
fn a_score_depends_on_nothing_but_its_row() {
    let mut random = Random::new(3);
    let rows = clusters(&mut random, 90, 3);
    let sample = Reference::new(&rows).unwrap();
    let mut all = queries(&mut random, &rows);
    all.extend(random.cloud(80, 3));
    each_setting(|svm, what| {
        let depth = fitted(svm.clone(), &sample);
        let together = depth.score(&all).unwrap();
        let reversed: Vec<Vec<f64>> = all.iter().rev().cloned().collect();
        let run = Run { threads: Some(3), ..Run::default() };
        let backwards = fitted(svm.clone(), &sample).score_with(&reversed, &run).unwrap();
        // With columns computed on demand, and room for hardly any.
        let poor = fitted(svm.memory(40_000), &sample).score(&all[..20]).unwrap();
        for (i, fit) in together.iter().enumerate() {
            assert_eq!(*fit, backwards[all.len() - 1 - i], "{what}, query {i}");
        }
        for i in [0, 4, 17] {
            assert_eq!(together[i], depth.score(&all[i..=i]).unwrap()[0], "{what}, query {i} alone");
            assert_eq!(together[i], poor[i], "{what}, query {i} without a Gram matrix");
        }
    });
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let mut random = Random::new(4);
    let rows = clusters(&mut random, 40, 2);
    let counts: Vec<usize> = (0..40).map(|i| i % 4).collect();
    let weights: Vec<f64> = counts.iter().map(|&c| c as f64).collect();
    let weighted = Reference::weighted(&rows, &weights).unwrap();
    let copies: Vec<Vec<f64>> = (0..40).flat_map(|i| vec![rows[i].clone(); counts[i]]).collect();
    let copied = Reference::new(&copies).unwrap();
    let all = queries(&mut random, &rows);
    each_setting(|svm, what| {
        let one = fitted(svm.clone(), &weighted).score(&all).unwrap();
        let other = fitted(svm, &copied).score(&all).unwrap();
        for (a, b) in one.iter().zip(&other) {
            assert!((a.depth - b.depth).abs() <= a.error + b.error, "{what}: {a:?} {b:?}");
            assert!((a.stderr - b.stderr).abs() <= 1e-6 + 1e-3 * b.stderr, "{what}: {a:?} {b:?}");
        }
    });
}

#[test]
fn degenerate_samples_work() {
    let line: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i % 4), 2.0 * f64::from(i % 4), 7.0]).collect();
    let samples: [Vec<Vec<f64>>; 7] = [
        vec![vec![1.0], vec![2.0]],
        vec![vec![1.0], vec![1.0]],
        vec![vec![0.0], vec![0.0], vec![0.0]],
        vec![vec![1.0, 0.0, 5.0, 2.0], vec![0.0, 1.0, 5.0, 2.0], vec![3.0, 1.0, 5.0, 2.0]],
        line,
        vec![vec![1e12, 1.0], vec![1e12 + 1.0, 2.0], vec![-1e12, 1.5], vec![0.0, 0.0]],
        vec![vec![1e-12, 0.0], vec![2e-12, 1e-12], vec![-1e-12, 3e-12]],
    ];
    let mut failures = Failures::default();
    for rows in &samples {
        let sample = Reference::new(rows).unwrap();
        let mut all =
            vec![rows[0].clone(), rows[1].iter().map(|x| x + 0.5).collect(), vec![0.0; rows[0].len()]];
        all.push(rows[0].iter().map(|x| -3.0 * x + 1.0).collect());
        each_setting(|svm, what| {
            for fit in fitted(svm, &sample).score(&all).unwrap() {
                let sound = (0.0..=1.0).contains(&fit.depth) && fit.error >= 0.0 && !fit.error.is_nan();
                // Under a constraint that does not bind, kernel values of 50 leave a bit less than 1e-6.
                let precise = fit.stop == Stop::Converged || fit.error <= 1e-5 || rows[0][0].abs() >= 1e12;
                failures.check(sound && precise && fit.stderr >= 0.0, || format!("{rows:?} {what}: {fit:?}"));
            }
        });
    }
    failures.report();
}

#[test] // Turning or moving sample and query together changes nothing where the kernel does not see it.
fn invariances() {
    let mut random = Random::new(5);
    let rows = clusters(&mut random, 70, 2);
    let all = queries(&mut random, &rows);
    let (sin, cos) = 0.7f64.sin_cos();
    let turn = |x: &Vec<f64>| vec![cos * x[0] - sin * x[1] + 5.0, sin * x[0] + cos * x[1] - 3.0];
    let shift = |x: &Vec<f64>| vec![x[0] + 5.0, x[1] - 3.0];
    let compare = |kernel, intercept, map: &dyn Fn(&Vec<f64>) -> Vec<f64>| {
        for reg in [1.0, 0.05, 0.005] {
            let (mapped, targets): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
                (rows.iter().map(map).collect(), all.iter().map(map).collect());
            let svm = svm(kernel, intercept, Variant::Risk, reg);
            let before = fitted(svm.clone(), &Reference::new(&rows).unwrap()).score(&all).unwrap();
            let after = fitted(svm, &Reference::new(&mapped).unwrap()).score(&targets).unwrap();
            for (a, b) in before.iter().zip(&after) {
                assert!((a.depth - b.depth).abs() <= a.error + b.error + 1e-9, "{kernel:?} {a:?} {b:?}");
            }
        }
    };
    for intercept in Intercept::ALL {
        compare(KERNELS[0], intercept, &turn);
        compare(KERNELS[3], intercept, &turn);
        compare(KERNELS[2], intercept, &shift);
    }
    // A linear kernel with a free intercept is the linear hinge, and does not notice where the origin is.
    compare(KernelChoice::Linear, Intercept::Free, &turn);
}

#[test]
fn explanations() {
    let mut random = Random::new(9);
    let rows = clusters(&mut random, 60, 2);
    let weights: Vec<f64> = (0..60).map(|i| if i % 7 == 0 { 0.0 } else { 1.0 }).collect();
    let sample = Reference::weighted(&rows, &weights).unwrap();
    let z = vec![1.0, 0.7];
    for kernel in KERNELS {
        for intercept in Intercept::ALL {
            for reg in [2.0, 0.02] {
                let svm = svm(kernel, intercept, Variant::Risk, reg);
                let depth = Depth::new(svm).scale(Scale::Standard).fit(&sample).unwrap();
                let why = &depth.explain(std::slice::from_ref(&z)).unwrap()[0];
                assert_eq!(why.fit, depth.score(std::slice::from_ref(&z)).unwrap()[0]);
                let (witness, influence) = (why.witness().unwrap(), why.influence.as_ref().unwrap());
                assert_eq!((witness.len(), influence.len(), why.gradient().unwrap().len()), (60, 60, 2));
                assert!(why.contributions().is_none());
                // The witness function is the classifier: its risk is the depth, and it pulls the query down.
                let total: f64 = weights.iter().sum();
                let losses = witness.iter().zip(&weights).map(|(f, w)| w / total * (1.0 - f).max(0.0));
                let risk = 0.5 * losses.sum::<f64>() + 0.5 * (1.0 + why.value).max(0.0);
                assert!(
                    (risk - why.fit.depth).abs() < 1e-9,
                    "{kernel:?} {intercept} {reg}: {risk} {:?}",
                    why.fit
                );
                let mean: f64 = witness.iter().zip(&weights).map(|(f, w)| w / total * f).sum();
                assert!((mean - why.baseline).abs() < 1e-9 && why.value <= why.baseline + 1e-9);
                let sum: f64 = influence.iter().zip(&weights).map(|(i, w)| w * i).sum();
                assert!(sum.abs() < 1e-9 && why.most_influential(3).unwrap().len() == 3);
                // A reference row that is the query has the query's value.
                let mut with = rows.clone();
                with[7].clone_from(&z);
                let same = Reference::weighted(&with, &weights).unwrap();
                let there = &Depth::new(Svm::new().reg(reg))
                    .fit(&same)
                    .unwrap()
                    .explain(std::slice::from_ref(&z))
                    .unwrap()[0];
                assert!((there.witness().unwrap()[7] - there.value).abs() < 1e-9);
            }
        }
    }
}

#[test] // In the closed form the influence is exact: take a row away and see.
fn influence_is_what_a_row_does() {
    let mut random = Random::new(10);
    let rows = clusters(&mut random, 50, 2);
    let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(0.3) };
    for variant in [Variant::Risk, Variant::Objective] {
        let depth = |weights: &[f64]| {
            fitted(svm(kernel, Intercept::None, variant, 1.0), &Reference::weighted(&rows, weights).unwrap())
        };
        let z = [vec![0.5, 0.2]];
        let why = &depth(&[1.0; 50]).explain(&z).unwrap()[0];
        let influence = why.influence.as_ref().unwrap();
        for row in [0, 3, 20] {
            let mut weights = vec![1.0; 50];
            weights[row] += 1e-4;
            let moved = depth(&weights).score(&z).unwrap()[0].depth - why.fit.depth;
            let slope = moved / (1e-4 / 50.0);
            assert!((slope - influence[row]).abs() < 1e-4, "{variant:?}: {slope} {}", influence[row]);
        }
    }
}

#[test] // The spread over fresh samples is what the standard error says.
fn standard_errors_are_the_spread_over_samples() {
    for (variant, reg, low, high) in [
        (Variant::Risk, 1.0, 0.9, 1.1),
        (Variant::Objective, 0.02, 0.85, 1.15),
        (Variant::Risk, 0.02, 0.7, 1.4),
    ] {
        let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(0.25) };
        let (mut random, z) = (Random::new(11), [vec![0.6, -0.4]]);
        let fits: Vec<Fit> = (0..300)
            .map(|_| {
                let sample = Reference::new(&random.cloud(150, 2)).unwrap();
                fitted(svm(kernel, Intercept::None, variant, reg), &sample).score(&z).unwrap()[0]
            })
            .collect();
        let n = fits.len() as f64;
        let mean = fits.iter().map(|f| f.depth).sum::<f64>() / n;
        let spread = (fits.iter().map(|f| (f.depth - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let said = fits.iter().map(|f| f.stderr).sum::<f64>() / n;
        assert!((low..high).contains(&(said / spread)), "{variant:?} {reg}: {said} {spread}");
    }
}

#[test]
fn bad_settings_are_refused() {
    let sample = Reference::new(&[[0.0], [1.0], [2.0]]).unwrap();
    let refused = |svm: Svm| Depth::new(svm).fit(&sample).err().expect("refused").to_string();
    assert!(refused(Svm::new().reg(0.0)).contains("reg"));
    assert!(refused(Svm::new().tol(f64::NAN)).contains("tol"));
    assert!(refused(Svm::new().max_iter(0)).contains("max_iter"));
    let kernel = |kernel: KernelChoice| refused(Svm::new().kernel(kernel));
    assert!(kernel(KernelChoice::Gaussian { gamma: Gamma::Value(-1.0) }).contains("gamma"));
    assert!(kernel(KernelChoice::Laplacian { sigma: Sigma::Value(0.0) }).contains("sigma"));
    assert!(kernel(KernelChoice::Imq { c: 0.0, beta: -0.5 }).contains("`c`"));
    assert!(kernel(KernelChoice::Imq { c: 1.0, beta: 0.5 }).contains("beta"));
    let polynomial = |degree, coef0| KernelChoice::Polynomial { gamma: Gamma::Auto, degree, coef0 };
    assert!(kernel(polynomial(0, 1.0)).contains("degree"));
    assert!(kernel(polynomial(2, -1.0)).contains("coef0"));
    // Kernel values beyond all numbers.
    let huge = Reference::new(&[[1e90], [2e90]]).unwrap();
    let error = Depth::new(Svm::new().kernel(polynomial(3, 1.0))).fit(&huge).err();
    assert!(error.is_none() || matches!(error, Some(DepthError::Kernel(_))));
    let fit = Depth::new(Svm::new().kernel(polynomial(3, 1.0))).fit(&sample).unwrap();
    assert!(matches!(fit.score(&[[1e99]]), Err(DepthError::Kernel(_))));
}

#[test] // It was 0 or 0.15: whether margins that are equal but for rounding were on the kink.
fn standard_errors_do_not_depend_on_the_order_of_four_rows() {
    let mut random = Random::new(31);
    let orders = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1], [0, 2, 1, 3]];
    for case in 0..200 {
        let (rows, z) = (random.cloud(4, 1 + case % 3), random.cloud(1, 1 + case % 3));
        let reg = 10f64.powf(random.between(-3.0, 0.0));
        let settings = Settings {
            reg,
            intercept: Intercept::Free,
            scale: lossdepth::Scale::None,
            ..Settings::new(Method::Svm)
        };
        let of = |order: [usize; 4]| -> f64 {
            let rows: Vec<Vec<f64>> = order.iter().map(|&i| rows[i].clone()).collect();
            crate::common::score(&settings, &reference(&rows), &z)[0].stderr
        };
        let found = orders.map(of);
        let (low, high) = found.iter().fold((f64::INFINITY, 0.0f64), |(l, h), s| (l.min(*s), h.max(*s)));
        assert!(high - low <= 1e-6 + 1e-3 * low, "{case}, reg {reg}: {found:?}");
    }
}
