//! Kernel logistic regression: the definition, the linear depth it contains, and the guarantees.

mod common;

use common::{Failures, Random, reference};
use lossdepth::hypothesis::kernel::{Gamma, KernelChoice, Sigma};
use lossdepth::hypothesis::{Kernelised, Linear};
use lossdepth::loss::{Exponential, Logistic, SquaredHinge};
use lossdepth::{Depth, DepthError, Fit, Intercept, Reference, Rows, Run, Scale, Stop, Variant};

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
