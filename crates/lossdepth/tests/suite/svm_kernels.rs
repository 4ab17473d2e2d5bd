//! Support vector machines with other kernels: the linear one, kernel values that are given, kernels of a user, values out of range.

use crate::common::Random;
use crate::svm::{VARIANTS, clusters, fitted, queries, svm};
use lossdepth::kernel::{Columns, Gamma, Kernel, KernelChoice, Points, Standard};
use lossdepth::methods::Svm;
use lossdepth::{Depth, DepthError, Intercept, Reference, Rows, Stop, Variant};

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
