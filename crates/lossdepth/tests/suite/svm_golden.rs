//! Independent witnesses of the support vector machine depth: golden/make_svm.py asked scikit-learn's SVC and an
//! interior-point method.

use crate::common::{Failures, golden, numbers, table};
use lossdepth::kernel::{Gamma, KernelChoice, Sigma};
use lossdepth::methods::Svm;
use lossdepth::{Depth, Intercept, Reference, Scale, Variant};
use serde_json::Value;

fn kernel(spec: &Value) -> KernelChoice {
    let number = |name: &str| spec[name].as_f64().unwrap();
    match spec["name"].as_str().unwrap() {
        "gaussian" => KernelChoice::Gaussian { gamma: Gamma::Value(number("gamma")) },
        "laplacian" => KernelChoice::Laplacian { sigma: Sigma::Value(number("sigma")) },
        "imq" => KernelChoice::Imq { c: number("c"), beta: number("beta") },
        "linear" => KernelChoice::Linear,
        "polynomial" => KernelChoice::Polynomial {
            gamma: Gamma::Value(number("gamma")),
            degree: 3,
            coef0: number("coef0"),
        },
        other => panic!("{other}"),
    }
}

fn agrees(name: &str) {
    let (file, mut failures) = (golden(name), Failures::default());
    let scale: Scale = file["scale"].as_str().unwrap().parse().unwrap();
    let sample = Reference::weighted(&table(&file["rows"]), &numbers(&file["counts"])).unwrap();
    let queries = table(&file["queries"]);
    for case in file["cases"].as_array().unwrap() {
        let reg = case["reg"].as_f64().unwrap();
        let intercept: Intercept = case["intercept"].as_str().unwrap().parse().unwrap();
        for variant in [Variant::Risk, Variant::Objective] {
            let svm =
                Svm::new().kernel(kernel(&case["kernel"])).reg(reg).variant(variant).intercept(intercept);
            let fits = Depth::new(svm).scale(scale).fit(&sample).unwrap().score(&queries).unwrap();
            let theirs = numbers(&case[variant.name()]);
            assert_eq!(theirs.len(), queries.len());
            for (row, (ours, theirs)) in fits.iter().zip(theirs).enumerate() {
                let close = (ours.depth - theirs).abs() <= ours.error + 1e-7 && ours.error <= 1e-6;
                failures.check(close && ours.stderr.is_finite(), || {
                    format!(
                        "{} {intercept} {variant:?} {reg} query {row}: {theirs}, {ours:?}",
                        case["kernel"]
                    )
                });
            }
        }
    }
    failures.report();
}

#[test]
fn wine_with_every_kernel() {
    agrees("svm_wine.json");
}

#[test]
fn wine_with_weights() {
    agrees("svm_wine_counted.json");
}

#[test]
fn breast_cancer() {
    agrees("svm_breast_cancer.json");
}

#[test] // With columns that do not vary.
fn digits() {
    agrees("svm_digits.json");
}
