//! The support vector machine depth: its definition, its theory, its two ways to the answer.

use crate::common::{Failures, Random, reference};
use lossdepth::kernel::{Columns, Gamma, Kernel, KernelChoice, Points, Sigma, Standard};
use lossdepth::methods::Svm;
use lossdepth::{
    Depth, DepthError, Fit, FittedDepth, Intercept, Method, Reference, Rows, Run, Scale, Settings, Stop,
    Variant,
};

const KERNELS: [KernelChoice; 6] = [
    KernelChoice::Gaussian { gamma: Gamma::Auto },
    KernelChoice::Gaussian { gamma: Gamma::Value(25.0) },
    KernelChoice::Laplacian { sigma: Sigma::Auto },
    KernelChoice::Imq { c: 1.0, beta: -0.5 },
    KernelChoice::Linear,
    KernelChoice::Polynomial { gamma: Gamma::Value(0.4), degree: 2, coef0: 1.0 },
];

const VARIANTS: [Variant; 3] = [Variant::Risk, Variant::Objective, Variant::Constrained { radius: 1.5 }];

fn fitted(svm: Svm, sample: &Reference) -> FittedDepth<Svm> {
    Depth::new(svm).fit(sample).expect("good settings")
}

fn svm(kernel: KernelChoice, intercept: Intercept, variant: Variant, reg: f64) -> Svm {
    Svm::new().kernel(kernel).intercept(intercept).variant(variant).reg(reg)
}

/// Two clusters, one of them small.
fn clusters(random: &mut Random, n: usize, d: usize) -> Vec<Vec<f64>> {
    (0..n)
        .map(|i| {
            let center = if i % 4 == 0 { 3.0 } else { -1.0 };
            (0..d).map(|_| center + random.normal()).collect()
        })
        .collect()
}

fn queries(random: &mut Random, rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let d = rows[0].len();
    let mut queries = vec![rows[0].clone(), rows[5].clone(), vec![0.0; d], vec![1.0; d], vec![30.0; d]];
    queries.extend(random.cloud(4, d));
    queries
}

/// The kernel matrix of the sample with the query last, from the kernel's own formula.
fn matrix(kernel: &Standard, rows: &[Vec<f64>], z: &[f64], shift: f64) -> Vec<Vec<f64>> {
    let all: Vec<&[f64]> = rows.iter().map(Vec::as_slice).chain([z]).collect();
    all.iter().map(|x| all.iter().map(|y| kernel.value(x, y) + shift).collect()).collect()
}

/// The dual objective over the box, by coordinate ascent until nothing moves: slow and simple. Returns the bare risk and
/// the penalised one.
fn by_coordinates(k: &[Vec<f64>], weights: &[f64], reg: f64) -> (f64, f64) {
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

fn each_setting(mut check: impl FnMut(Svm, String)) {
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
fn a_linear_kernel_is_the_linear_hinge() {
    let mut random = Random::new(6);
    let rows = random.cloud(60, 4);
    let sample = Reference::new(&rows).unwrap();
    let mut all = queries(&mut random, &rows);
    all.retain(|z| z[0] < 20.0);
    for intercept in Intercept::ALL {
        for variant in VARIANTS {
            for reg in [1.0, 0.05, 0.002] {
                let ours =
                    fitted(svm(KernelChoice::Linear, intercept, variant, reg), &sample).score(&all).unwrap();
                let linear =
                    Depth::hinge().intercept(intercept).variant(variant).reg(reg).fit(&sample).unwrap();
                for (a, b) in ours.iter().zip(linear.score(&all).unwrap()) {
                    let close = (a.depth - b.depth).abs() <= a.error + b.error;
                    assert!(close && a.error <= 1e-6, "{intercept} {variant:?} {reg}: {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn precomputed_values_are_the_kernel() {
    let mut random = Random::new(7);
    let rows = clusters(&mut random, 30, 2);
    let all = queries(&mut random, &rows);
    let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
    let function = Reference::weighted(&rows, &weights).unwrap();
    for (kernel, choice) in [
        (Standard::Gaussian { gamma: 0.4 }, KernelChoice::Gaussian { gamma: Gamma::Value(0.4) }),
        (Standard::Linear, KernelChoice::Linear),
    ] {
        let constant = choice != KernelChoice::Linear;
        let values = |z: &Vec<f64>| -> Vec<f64> {
            let own = (!constant).then(|| kernel.value(z, z));
            rows.iter().map(|x| kernel.value(x, z)).chain(own).collect()
        };
        let given: Vec<Vec<f64>> = rows.iter().map(values).collect();
        let targets: Vec<Vec<f64>> = all.iter().map(values).collect();
        let sample = Reference::weighted(&given, &weights).unwrap();
        for intercept in Intercept::ALL {
            let settings = |kernel| svm(kernel, intercept, Variant::Risk, 0.03);
            let (a, b) =
                (fitted(settings(choice), &function), fitted(settings(KernelChoice::Precomputed), &sample));
            for (a, b) in a.score(&all).unwrap().iter().zip(b.score(&targets).unwrap()) {
                assert!((a.depth - b.depth).abs() <= a.error + b.error, "{a:?} {b:?}");
            }
            let (a, b) = (a.explain(&all).unwrap(), b.explain(&targets).unwrap());
            for (a, b) in a.iter().zip(&b) {
                assert!(b.gradient().is_none() && a.gradient().unwrap().len() == 2);
                let mut pairs = a.witness().unwrap().iter().zip(b.witness().unwrap());
                assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-6));
            }
        }
    }
    // A Gram matrix that is none.
    let fit = |rows: &[Vec<f64>]| {
        Depth::new(Svm::new().kernel(KernelChoice::Precomputed)).fit(&Reference::new(rows).unwrap()).err()
    };
    let says = |rows: &[Vec<f64>], what: &str| match fit(rows) {
        Some(DepthError::Kernel(text)) => assert!(text.contains(what), "{text}"),
        other => panic!("{other:?}"),
    };
    says(&[vec![1.0, 0.5, 0.2], vec![0.5, 1.0, 0.2]], "the last column");
    says(&[vec![1.0], vec![0.5]], "needs 2 columns");
    says(&[vec![1.0, 0.5], vec![0.2, 1.0]], "symmetric");
    says(&[vec![1.0, 0.5], vec![0.5, 2.0]], "constant diagonal");
    says(&[vec![-1.0, 0.5], vec![0.5, -1.0]], "with itself");
    says(&[vec![1.0, 2.0], vec![2.0, 1.0]], "row 1, column 0 is 2, more than the root of 1 times 1");
    says(&[vec![1.0, 0.9, -0.9], vec![0.9, 1.0, 0.9], vec![-0.9, 0.9, 1.0]], "negative eigenvalue");
    // A singular one is fine, and a query has to fit it.
    let singular = Reference::new(&[vec![1.0, 1.0], vec![1.0, 1.0]]).unwrap();
    let depth = Depth::new(Svm::new().kernel(KernelChoice::Precomputed)).fit(&singular).unwrap();
    let text = depth.score(&[[0.5, 1.5]]).unwrap_err().to_string();
    assert!(text.contains("with reference row 1 is 1.5, more than the root of 1 times 1"), "{text}");
}

/// A kernel of the caller's.
#[derive(Debug)]
struct Cauchy;

impl Kernel for Cauchy {
    fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        1.0 / (1.0 + x.iter().zip(z).map(|(x, z)| (x - z) * (x - z)).sum::<f64>())
    }
    fn gradient(&self, x: &[f64], z: &[f64], scale: f64, out: &mut [f64]) {
        let k = self.value(x, z);
        for ((o, x), z) in out.iter_mut().zip(x).zip(z) {
            *o += scale * 2.0 * k * k * (x - z);
        }
    }
}

/// The same, in blocks.
#[derive(Debug)]
struct FastCauchy;

impl Kernel for FastCauchy {
    fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        Cauchy.value(x, z)
    }
    fn gradient(&self, x: &[f64], z: &[f64], scale: f64, out: &mut [f64]) {
        Cauchy.gradient(x, z, scale, out);
    }
    fn block(&self, sample: &Points, queries: Rows<'_>, out: &mut Columns<'_>) {
        sample.squared_distances(queries, out);
        for j in 0..out.len() {
            out.column(j).iter_mut().for_each(|r2| *r2 = 1.0 / (1.0 + *r2));
        }
    }
}

/// Not a number where the first coordinate is 9.
#[derive(Debug)]
struct Broken;

impl Kernel for Broken {
    fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        if z[0] == 9.0 && x[0] != 9.0 { f64::NAN } else { 1.0 }
    }
    fn gradient(&self, _: &[f64], _: &[f64], _: f64, _: &mut [f64]) {}
}

#[test]
fn anyones_kernel() {
    let mut random = Random::new(8);
    let rows = clusters(&mut random, 50, 2);
    let sample = Reference::new(&rows).unwrap();
    let all = queries(&mut random, &rows);
    for reg in [1.0, 0.01] {
        let builtin = svm(KernelChoice::Imq { c: 1.0, beta: -1.0 }, Intercept::None, Variant::Risk, reg);
        let theirs = fitted(builtin, &sample).score(&all).unwrap();
        let slow = fitted(Svm::new().kernel(Cauchy).reg(reg), &sample).score(&all).unwrap();
        let fast = fitted(Svm::new().kernel(FastCauchy).reg(reg), &sample).score(&all).unwrap();
        for ((a, b), c) in theirs.iter().zip(&slow).zip(&fast) {
            assert!((a.depth - b.depth).abs() <= a.error + b.error + 1e-12);
            assert!((a.depth - c.depth).abs() <= a.error + c.error + 1e-12);
        }
    }
    let broken = fitted(Svm::new().kernel(Broken), &sample);
    assert!(broken.score(&[[0.0, 0.0]]).is_ok());
    assert!(matches!(broken.score(&[[0.0, 0.0], [9.0, 0.0]]), Err(DepthError::Kernel(_))));
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
fn standard_errors_are_honest() {
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

#[test] // Where points are so far apart that 2λK⁻¹y is inside the box, the machine interpolates.
fn interpolating_machines_are_within_their_error() {
    let (mut random, mut failures) = (Random::new(31), Failures::default());
    let mut tried = 0;
    for _ in 0..400 {
        let n = 2 + random.below(3);
        let step = |random: &mut Random| 0.3 + 0.1 * random.below(12) as f64;
        let mut place = 0.0;
        let mut all: Vec<f64> = (0..=n)
            .map(|_| {
                place += step(&mut random);
                place
            })
            .collect();
        let z = all.remove(random.below(n + 1));
        let (gamma, reg) =
            ([1.0, 2.0, 5.0][random.below(3)], [1e-5, 1e-6, 1e-7, 1e-8, 1e-9][random.below(5)]);
        let points: Vec<f64> = all.iter().copied().chain([z]).collect();
        let sign = |i: usize| if i == n { -1.0 } else { 1.0 };
        let kernel = |i: usize, j: usize| f64::exp(-gamma * (points[i] - points[j]).powi(2));
        // Elimination without pivots, which a positive definite matrix does not need.
        let mut rows: Vec<Vec<f64>> =
            (0..=n).map(|i| (0..=n).map(|j| kernel(i, j)).chain([sign(i)]).collect()).collect();
        for k in 0..=n {
            let row = rows[k].clone();
            for (_, other) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
                let factor = other[k] / row[k];
                other.iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
            }
        }
        let solution: Vec<f64> = (0..=n).map(|i| rows[i][n + 1] / rows[i][i]).collect();
        let inside = |i: usize| (0.0..0.25 / n as f64).contains(&(2.0 * reg * sign(i) * solution[i]));
        if !(0..=n).all(inside) {
            continue;
        }
        tried += 1;
        let energy: f64 = (0..=n).map(|i| sign(i) * solution[i]).sum();
        let sample: Vec<Vec<f64>> = all.iter().map(|x| vec![*x]).collect();
        let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(gamma) };
        for (variant, exact) in [(Variant::Risk, 0.0), (Variant::Objective, reg * energy)] {
            let machine = svm(kernel, Intercept::None, variant, reg);
            let fit = fitted(machine, &Reference::new(&sample).unwrap()).score(&[[z]]).unwrap()[0];
            let sound = (fit.depth - exact).abs() <= fit.error + 1e-14 * exact;
            failures.check(sound, || format!("{all:?} {z} {gamma} {reg:e} {variant:?}: {exact:e} {fit:?}"));
        }
    }
    assert!(tried > 50, "{tried}");
    failures.report();
}

#[test] // On a line between two others, by hand: 0.375 / 0.665.
fn a_free_intercept_is_within_its_error() {
    let sample = Reference::new(&[[-0.2], [-0.1], [1.2], [-1.8]]).unwrap();
    for tol in [1e-6, 1e-12] {
        let machine = svm(KernelChoice::Linear, Intercept::Free, Variant::Risk, 2.3e-5).tol(tol);
        let fit = fitted(machine, &sample).score(&[[0.465]]).unwrap()[0];
        assert!((fit.depth - 0.375 / 0.665).abs() <= fit.error, "{fit:?}");
    }
}

#[test]
fn a_precomputed_kernel_is_the_mean_of_both_halves() {
    let mut random = Random::new(32);
    let rows = random.cloud(12, 2);
    let value = |x: &[f64], y: &[f64]| f64::exp(-x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum::<f64>());
    let noise: Vec<Vec<f64>> =
        (0..12).map(|_| (0..12).map(|_| 4e-9 * random.normal().tanh()).collect()).collect();
    let entry = |i: usize, j: usize| value(&rows[i], &rows[j]) + 0.5 * (noise[i][j] - noise[j][i]);
    let given = |turned: bool| -> Vec<Vec<f64>> {
        (0..12).map(|i| (0..12).map(|j| if turned { entry(j, i) } else { entry(i, j) }).collect()).collect()
    };
    let query: Vec<f64> = rows.iter().map(|x| value(x, &[0.3, 0.4])).collect();
    let score = |turned| {
        let machine = svm(KernelChoice::Precomputed, Intercept::None, Variant::Risk, 1e-3);
        fitted(machine, &Reference::new(&given(turned)).unwrap()).score(std::slice::from_ref(&query)).unwrap()
            [0]
    };
    assert_eq!(score(false), score(true));
}

#[test] // By hand: half of the sample's loss is what remains, since ⟨w, z⟩ may be as large as 1e30.
fn squares_too_small_for_numbers_prove_nothing() {
    let sample = Reference::new(&[[0.0], [0.0]]).unwrap();
    let method = svm(KernelChoice::Linear, Intercept::None, Variant::Constrained { radius: 1e200 }, 1.0);
    let fit = fitted(method, &sample).score(&[[1e-170]]).unwrap()[0];
    assert!((fit.depth - 0.5).abs() <= fit.error, "{fit:?}");
}

#[test] // The dual of the three variables, maximised with fifty digits: kernel values of 3e11 cancel to 1e-7.
fn a_query_almost_equal_to_a_row_is_within_its_error() {
    let kernel = KernelChoice::Polynomial { gamma: Gamma::Value(100.0), degree: 5, coef0: 100.0 };
    let sample = Reference::new(&[[-1.0], [1.0]]).unwrap();
    let method = svm(kernel, Intercept::None, Variant::Constrained { radius: 1000.0 }, 1.0).tol(1e-4);
    let fit = fitted(method, &sample).score(&[[1.000_000_003]]).unwrap()[0];
    assert!((fit.depth - 0.025_658_345_672_386).abs() <= fit.error, "{fit:?}");
}

#[test] // A query that is a row cancels exactly what the row says: nothing of that is rounding.
fn queries_that_are_rows_meet_the_tolerance_under_wide_constraints() {
    let mut random = Random::new(77);
    let rows = random.cloud(30, 2);
    let sample = Reference::new(&rows).unwrap();
    let mut failures = Failures::default();
    for intercept in [Intercept::None, Intercept::Free] {
        for radius in [30.0, 1e3, 1e5] {
            let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(1.0) };
            let method = svm(kernel, intercept, Variant::Constrained { radius }, 1.0);
            for fit in fitted(method, &sample).score(&rows[..10]).unwrap() {
                // Every classifier is within reach: right but for the row itself, of which one side is lost.
                let far = radius < 1e3 || (fit.depth - 1.0 / 30.0).abs() <= fit.error;
                failures
                    .check(far && fit.stop == Stop::Converged, || format!("{intercept} {radius} {fit:?}"));
            }
        }
    }
    failures.report();
}

#[test] // Two solvers with nothing in common but the definition, on queries at and next to rows and balls of all sizes.
fn constraints_next_to_rows_are_within_their_errors() {
    let mut random = Random::new(78);
    let mut failures = Failures::default();
    for _ in 0..150 {
        let (n, d) = (2 + random.below(8), 1 + random.below(3));
        let rows = random.cloud(n, d);
        let sample = Reference::new(&rows).unwrap();
        let queries: Vec<Vec<f64>> = (0..6)
            .map(|k| {
                let off = if k == 0 { 0.0 } else { 10f64.powi(-2 * k) };
                rows[random.below(n)].iter().map(|x| x + off * random.normal()).collect()
            })
            .collect();
        let radius = 10f64.powf(random.between(-1.0, 4.0));
        let intercept = Intercept::ALL[random.below(3)];
        let method = svm(KernelChoice::Linear, intercept, Variant::Constrained { radius }, 1.0);
        let linear = Depth::hinge().intercept(intercept).variant(Variant::Constrained { radius });
        let kernel = fitted(method, &sample).score(&queries).unwrap();
        let linear = linear.fit(&sample).unwrap().score(&queries).unwrap();
        for (a, b) in kernel.iter().zip(&linear) {
            let close = (a.depth - b.depth).abs() <= a.error + b.error;
            failures.check(close, || format!("{rows:?} {intercept} {radius}: {a:?} {b:?}"));
        }
    }
    failures.report();
}

#[test] // Found by search: products of kernel values left the range of numbers, and what is not a number passed for 0.
fn kernel_values_out_of_range_are_refused_and_others_are_within_their_error() {
    let kernel = KernelChoice::Polynomial { gamma: Gamma::Value(1.0), degree: 5, coef0: 1.0 };
    let rows = [[-2_426_758_962_816_058.5], [-4_103_352_043_852_917.5], [-4_408_588_647_897_311.5]];
    for intercept in Intercept::ALL {
        let variant = Variant::Constrained { radius: 7.864_927_763_323_965e-79 };
        let refused = Depth::new(svm(kernel, intercept, variant, 1.0)).fit(&Reference::new(&rows).unwrap());
        assert!(matches!(refused, Err(DepthError::Kernel(text)) if text.ends_with("from 0 to 1e140")));
    }
    // The same problem in other units: a linear kernel and a radius that goes with it.
    for size in [1e-162, 1e-155, 1e-140, 1e-70, 1.0, 1e60, 2e69] {
        let sample = Reference::new(&[[size], [3.0 * size], [3.5 * size]]).unwrap();
        let variant = Variant::Constrained { radius: 0.1 / size };
        let fits = fitted(svm(KernelChoice::Linear, Intercept::None, variant, 1.0), &sample);
        let fit = fits.score(&[[-2.0 * size]]).unwrap()[0];
        // Everything counts: 1 - ½ · radius · (7.5 / 3 + 2) · size.
        assert!((fit.depth - 0.775).abs() <= fit.error, "{size:e} {fit:?}");
        assert!(fit.stop == Stop::Converged || size < 1e-145, "{size:e} {fit:?}");
    }
}

#[test] // Two points: 1 - ½ · radius · the distance of the means, with weights that are sums of many.
fn sums_of_many_weights_are_in_the_error() {
    for n in [10_000usize, 100_000] {
        let rows: Vec<Vec<f64>> = (0..n).map(|i| vec![f64::from(u8::from(i % 3 == 0))]).collect();
        let share = n.div_ceil(3) as f64 / n as f64;
        let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(1.0) };
        let method = svm(kernel, Intercept::None, Variant::Constrained { radius: 0.5 }, 1.0).tol(1e-9);
        let fit = fitted(method, &Reference::new(&rows).unwrap()).score(&[[3.0]]).unwrap()[0];
        let k = |t: f64| (-t * t).exp();
        let square =
            share * share + (1.0 - share) * (1.0 - share) + 2.0 * share * (1.0 - share) * k(1.0) + 1.0
                - 2.0 * (share * k(2.0) + (1.0 - share) * k(3.0));
        let truth = 1.0 - 0.25 * square.sqrt();
        assert!((fit.depth - truth).abs() <= fit.error + 2e-16, "{n} {fit:?} {truth}");
    }
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
