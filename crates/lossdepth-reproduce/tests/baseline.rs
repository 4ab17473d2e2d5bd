//! The baselines against scikit-learn (golden/make_baseline.py), against their definitions, and on data that is hard.

use lossdepth::kernel::{Gamma, KernelChoice};
use lossdepth::model::Value;
use lossdepth::numerics::Random;
use lossdepth::{Reference, Run, Scale};
use lossdepth_reproduce::baseline::{Baseline, Knn, KnnDistance, Lof, OneClassSolver, OneClassSvm};
use serde_json::Value as Json;
use std::path::Path;

const RUN: Run<'static> = Run { threads: None, progress: None, cancel: None, depths_only: false };

const FILES: [&str; 4] =
    ["baseline_wine.json", "baseline_breast_cancer.json", "baseline_copies.json", "baseline_counted.json"];

/// A file that golden/make_baseline.py wrote.
fn golden(name: &str) -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Json) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn table(value: &Json) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

/// `n` standard normal points in `d` dimensions.
fn cloud(random: &mut Random, n: usize, d: usize) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..d).map(|_| random.normal()).collect()).collect()
}

/// What went wrong over a table of cases.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn check(&mut self, good: bool, what: impl FnOnce() -> String) {
        if !good {
            self.0.push(what());
        }
    }

    #[track_caller]
    fn report(self) {
        assert!(self.0.is_empty(), "{} cases:\n{}", self.0.len(), self.0[..self.0.len().min(20)].join("\n"));
    }
}

fn same(failures: &mut Failures, what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len());
    for (row, (a, b)) in ours.iter().zip(theirs).enumerate() {
        let close = (a - b).abs() <= tolerance * (1.0 + b.abs());
        failures.check(close, || format!("{what}, row {row}: {a}, not {b}"));
    }
}

fn kernel(spec: &Json) -> KernelChoice {
    let gamma = Gamma::Value(spec["gamma"].as_f64().unwrap());
    match spec["name"].as_str().unwrap() {
        "gaussian" => KernelChoice::Gaussian { gamma },
        "polynomial" => KernelChoice::Polynomial { gamma, degree: 3, coef0: 1.0 },
        other => panic!("{other}"),
    }
}

#[test]
fn one_class_machines_agree_with_scikit_learn() {
    let mut failures = Failures::default();
    for name in FILES {
        let file = golden(name);
        let sample = Reference::weighted(&table(&file["rows"]), &numbers(&file["counts"])).unwrap();
        for case in file["oc-svm"].as_array().unwrap() {
            let nu = case["nu"].as_f64().unwrap();
            let svm = OneClassSvm { kernel: kernel(&case["kernel"]).into(), nu, ..OneClassSvm::default() };
            let fitted = Baseline::from(svm).fit(&sample, &RUN).unwrap();
            let what = format!("{name} {} nu {nu}", case["kernel"]);
            failures.check(fitted.converged(), || format!("{what}: not converged"));
            let own = numbers(&case["own"]);
            let size = own.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            same(&mut failures, &what, &fitted.score_own(&RUN).unwrap(), &own, 1e-7 * size);
            let new = fitted.score(&table(&file["queries"]), &RUN).unwrap();
            same(&mut failures, &what, &new, &numbers(&case["new"]), 1e-7 * size);
            let offset = [case["offset"].as_f64().unwrap()];
            same(&mut failures, &what, &[fitted.offset().unwrap()], &offset, 1e-7 * size);
        }
    }
    failures.report();
}

/// libsvm's path, step by step: its tolerance leaves 1e-3, and we leave the same.
#[test]
fn following_libsvm_ends_where_it_ends() {
    let mut failures = Failures::default();
    for case in golden("libsvm.json")["cases"].as_array().unwrap() {
        let sample = Reference::new(&table(&golden(case["file"].as_str().unwrap())["rows"])).unwrap();
        let (nu, gamma) = (case["nu"].as_f64().unwrap(), Gamma::Value(case["gamma"].as_f64().unwrap()));
        let exact =
            OneClassSvm { kernel: KernelChoice::Gaussian { gamma }.into(), nu, ..OneClassSvm::default() };
        let svm = OneClassSvm { solver: OneClassSolver::Libsvm, ..exact.clone() };
        let fitted = Baseline::from(svm).fit(&sample, &RUN).unwrap();
        let (ours, theirs) = (fitted.score_own(&RUN).unwrap(), numbers(&case["own"]));
        // Kernel values in single precision, each rounded in its own way.
        same(&mut failures, &format!("{} {nu} {gamma}", case["file"]), &ours, &theirs, 1e-5);
        let best = Baseline::from(exact).fit(&sample, &RUN).unwrap().score_own(&RUN).unwrap();
        for (row, (near, far)) in best.iter().zip(&ours).enumerate() {
            let error = fitted.error(sample.rows().row(row)).unwrap();
            failures.check((near - far).abs() <= error, || format!("row {row}: {near} {far} {error}"));
        }
    }
    failures.report();
}

#[test]
fn neighbours_agree_with_scikit_learn() {
    let mut failures = Failures::default();
    for name in FILES {
        let file = golden(name);
        let (sample, queries) = (Reference::new(&table(&file["rows"])).unwrap(), table(&file["queries"]));
        for case in file["lof"].as_array().unwrap() {
            let k = usize::try_from(case["k"].as_u64().unwrap()).unwrap();
            let fitted = Baseline::from(Lof { k }).fit(&sample, &RUN).unwrap();
            let what = format!("{name} lof {k}");
            same(&mut failures, &what, &fitted.score_own(&RUN).unwrap(), &numbers(&case["own"]), 1e-9);
            same(&mut failures, &what, &fitted.score(&queries, &RUN).unwrap(), &numbers(&case["new"]), 1e-9);
        }
        for case in file["knn"].as_array().unwrap() {
            let k = usize::try_from(case["k"].as_u64().unwrap()).unwrap();
            for distance in [KnnDistance::Largest, KnnDistance::Mean] {
                let fitted = Baseline::from(Knn { k, distance }).fit(&sample, &RUN).unwrap();
                let negative =
                    |list: &Json| numbers(&list[distance.name()]).iter().map(|x| -x).collect::<Vec<_>>();
                let what = format!("{name} knn {k} {distance:?}");
                same(&mut failures, &what, &fitted.score_own(&RUN).unwrap(), &negative(&case["own"]), 1e-7);
                let new = fitted.score(&queries, &RUN).unwrap();
                same(&mut failures, &what, &new, &negative(&case["new"]), 1e-7);
            }
        }
    }
    failures.report();
}

#[test] // The conditions of Karush, Kuhn and Tucker, from scores alone.
fn about_a_share_nu_is_outside_and_never_more() {
    let rows = cloud(&mut Random::new(5), 400, 3);
    let sample = Reference::new(&rows).unwrap();
    for nu in [0.01, 0.1, 0.3, 0.9] {
        let svm = OneClassSvm { nu, ..OneClassSvm::default() };
        let fitted = Baseline::from(svm).fit(&sample, &RUN).unwrap();
        let offset = fitted.offset().unwrap();
        let slack = 2.0 * fitted.error(&rows[0]).unwrap() + 1e-9;
        let own = fitted.score_own(&RUN).unwrap();
        let outside = own.iter().filter(|s| **s < offset - slack).count() as f64 / 400.0;
        let upto = own.iter().filter(|s| **s <= offset + slack).count() as f64 / 400.0;
        assert!(outside <= nu && nu <= upto, "{outside} {nu} {upto}");
        assert!(fitted.error(&rows[0]).unwrap() <= 1e-6 * nu * 400.0);
    }
}

fn all() -> Vec<Baseline> {
    Baseline::NAMES.iter().map(|name| Baseline::named(name).unwrap()).collect()
}

#[test]
fn neither_threads_nor_batches_change_a_bit() {
    let mut random = Random::new(9);
    let sample = Reference::new(&cloud(&mut random, 333, 4)).unwrap();
    let queries = cloud(&mut random, 45, 4);
    for baseline in all() {
        let one = Run { threads: Some(1), ..RUN };
        let fitted = baseline.fit(&sample, &one).unwrap();
        let (scores, own) = (fitted.score(&queries, &one).unwrap(), fitted.score_own(&one).unwrap());
        let three = Run { threads: Some(3), ..RUN };
        let again = baseline.fit(&sample, &three).unwrap();
        assert_eq!(scores, again.score(&queries, &three).unwrap());
        assert_eq!(own, again.score_own(&three).unwrap());
        for (query, score) in queries.iter().zip(&scores) {
            assert_eq!(fitted.score(std::slice::from_ref(query), &one).unwrap(), [*score]);
        }
    }
}

#[test]
fn hard_data_is_no_problem() {
    let mut random = Random::new(2);
    let sized = |rows: Vec<Vec<f64>>, size: f64| -> Vec<Vec<f64>> {
        rows.iter().map(|row| row.iter().map(|x| x * size).collect()).collect()
    };
    let samples: Vec<Vec<Vec<f64>>> = vec![
        vec![vec![1.0], vec![2.0]],
        vec![vec![1.0, 1.0]; 5],
        (0..50).map(|i| vec![f64::from(i), 2.0 * f64::from(i), 7.0]).collect(),
        cloud(&mut random, 5, 40),
        sized(cloud(&mut random, 30, 2), 1e12),
        sized(cloud(&mut random, 30, 2), 1e-12),
        (0..60).map(|i| vec![f64::from(i % 4), f64::from(i % 3)]).collect(),
    ];
    for rows in samples {
        let sample = Reference::new(&rows).unwrap();
        for baseline in all() {
            for scale in [Scale::None, Scale::Standard] {
                let fitted = baseline.clone().scale(scale).fit(&sample, &RUN).unwrap();
                let own = fitted.score_own(&RUN).unwrap();
                let new = fitted.score(&rows, &RUN).unwrap();
                assert!(own.iter().chain(&new).all(|s| s.is_finite()), "{} {rows:?}", baseline.name());
                assert!(fitted.converged(), "{} {:?}", baseline.name(), rows[0]);
            }
        }
    }
}

#[test]
fn an_outlier_is_low_and_a_row_is_not_its_own_neighbour() {
    let mut rows: Vec<Vec<f64>> = cloud(&mut Random::new(3), 100, 2);
    rows.push(vec![50.0, 50.0]);
    let sample = Reference::new(&rows).unwrap();
    for name in ["lof", "knn"] {
        let own = Baseline::named(name).unwrap().fit(&sample, &RUN).unwrap().score_own(&RUN).unwrap();
        assert!(own[..100].iter().all(|s| *s > own[100]), "{name}");
    }
    // Asked as a new row, it is at distance 0 of the one in the reference.
    let knn = Baseline::from(Knn { k: 1, ..Knn::default() }).fit(&sample, &RUN).unwrap();
    assert_eq!(knn.score(&[vec![50.0, 50.0]], &RUN).unwrap(), [0.0]);
    assert!(knn.score_own(&RUN).unwrap()[100] < -50.0);
}

#[test]
fn a_weight_is_a_number_of_copies_or_refused() {
    let rows = cloud(&mut Random::new(4), 40, 2);
    let counts: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let copies: Vec<Vec<f64>> = (0..40).flat_map(|i| vec![rows[i].clone(); i % 3]).collect();
    let weighted = Reference::weighted(&rows, &counts).unwrap();
    let svm = Baseline::named("oc-svm").unwrap();
    let ours = svm.fit(&weighted, &RUN).unwrap().score(&rows, &RUN).unwrap();
    let theirs = svm.fit(&Reference::new(&copies).unwrap(), &RUN).unwrap().score(&rows, &RUN).unwrap();
    assert!(ours.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-6));
    for name in ["lof", "knn"] {
        let error = Baseline::named(name).unwrap().fit(&weighted, &RUN).unwrap_err();
        assert_eq!(error.to_string(), "`lof` and `knn` take no weights");
    }
}

#[test]
fn settings_go_by_name() {
    let mean = || ("distance", Value::Text("mean".into()));
    let knn = Baseline::with("knn", [("k", Value::Count(3)), mean()]).unwrap();
    assert_eq!(knn.values()[..2], [("k", Value::Count(3)), mean()]);
    let svm = Baseline::with("oc-svm", [("nu", Value::Number(0.5)), ("gamma", Value::Number(2.0))]).unwrap();
    assert!(svm.values().contains(&("gamma", Value::Number(2.0))));
    for (name, setting, value, message) in [
        (
            "lof",
            "nu",
            Value::Number(0.1),
            "method `lof` has no setting `nu`; it has k, scale, support_fraction",
        ),
        ("knn", "distance", Value::Text("far".into()), "`distance` must be one of largest, mean, got `far`"),
        ("oc-svm", "sigma", Value::Number(1.0), "`sigma` goes with kernel `laplacian`, not with `gaussian`"),
    ] {
        assert_eq!(Baseline::with(name, [(setting, value)]).unwrap_err().to_string(), message);
    }
    let sample = Reference::new(&[[0.0], [1.0], [3.0]]).unwrap();
    for (name, setting, value) in [
        ("lof", "k", Value::Count(0)),
        ("oc-svm", "nu", Value::Number(0.0)),
        ("oc-svm", "nu", Value::Number(1.5)),
        ("oc-svm", "nu", Value::Number(f64::NAN)),
        ("oc-svm", "tol", Value::Number(0.0)),
    ] {
        assert!(Baseline::with(name, [(setting, value)]).unwrap().fit(&sample, &RUN).is_err());
    }
    let fitted = Baseline::named("lof").unwrap().fit(&sample, &RUN).unwrap();
    assert!(fitted.score(&[[0.0, 1.0]], &RUN).is_err() && fitted.score(&[[f64::NAN]], &RUN).is_err());
}
