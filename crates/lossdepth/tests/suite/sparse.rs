//! Sparse rows: the depths of the same rows made dense, within the errors of both.

use lossdepth::data::{Scale, SparseReference, SparseRows};
use lossdepth::kernel::{Gamma, KernelChoice, Sigma};
use lossdepth::model::archive::{Archive, SparseArchive};
use lossdepth::{Intercept, Method, Reason, Reference, Rows, Run, Settings, Variant};

/// Numbers in about a `share` of the places; some columns are nearly full, one is empty, and rows repeat.
fn table(n: usize, d: usize, share: f64, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut data = vec![0.0; n * d];
    for i in 0..n {
        for j in 0..d {
            let present = uniform() < if j % 7 == 0 { 0.9 } else { share };
            let value = (10.0 * uniform()).round() / 4.0 - 0.5;
            if present && j != 3 {
                // A column far from the origin.
                data[i * d + j] = if j == 7 { 1000.0 + value } else { value };
            }
        }
    }
    if n > 4 {
        data.copy_within(0..d, 3 * d);
    }
    data
}

fn sparse(data: &[f64], d: usize) -> SparseRows {
    let mut parts = (vec![0], Vec::new(), Vec::new());
    for row in data.chunks_exact(d) {
        for (column, value) in (0u32..).zip(row).filter(|(_, value)| **value != 0.0) {
            parts.1.push(column);
            parts.2.push(*value);
        }
        parts.0.push(parts.1.len());
    }
    SparseRows::new(parts.0, parts.1, parts.2, d).unwrap()
}

/// Rows of the sample, new ones, and one with a number in the column that the sample lacks.
fn queries(sample: &[f64], d: usize) -> Vec<f64> {
    let mut data = sample[..(4 * d).min(sample.len())].to_vec();
    data.extend(table(4, d, 0.3, 99));
    let last = data.len() - d;
    data[last + 3.min(d - 1)] = 2.0;
    data
}

fn settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for method in [Method::Logistic, Method::Hinge, Method::SquaredHinge, Method::Exponential] {
        for reg in [1.0, 0.05] {
            for scale in [Scale::Standard, Scale::None] {
                all.push(Settings { reg, scale, ..Settings::new(method) });
            }
        }
    }
    for intercept in [Intercept::None, Intercept::Penalised] {
        all.push(Settings { intercept, ..Settings::new(Method::Logistic) });
    }
    for variant in [Variant::Objective, Variant::Constrained { radius: 0.5 }] {
        all.push(Settings { variant, ..Settings::new(Method::Logistic) });
    }
    let kernels = [
        KernelChoice::default(),
        KernelChoice::Gaussian { gamma: Gamma::Quartile },
        KernelChoice::Gaussian { gamma: Gamma::Neighbours },
        KernelChoice::Laplacian { sigma: Sigma::Auto },
        KernelChoice::Imq { c: 3.0, beta: -0.5 },
        KernelChoice::Polynomial { gamma: Gamma::Auto, degree: 2, coef0: 1.0 },
    ];
    for kernel in kernels {
        for method in [Method::Svm, Method::Klr] {
            for reg in [1.0, 0.01] {
                all.push(Settings { kernel, reg, ..Settings::new(method) });
            }
        }
        all.push(Settings { kernel, ..Settings::new(Method::Gp) });
    }
    all
}

#[test]
fn depths_are_those_of_dense_rows() {
    for (n, d) in [(60, 12), (20, 50), (2, 9)] {
        let data = table(n, d, 0.2, 5);
        let weights: Vec<f64> =
            (0..n).map(|i| [1.0, 2.0, 1.0, 1.0, 0.0][if n > 4 { i % 5 } else { 0 }]).collect();
        let (dense, rows) = (Rows::new(&data, d).unwrap(), sparse(&data, d));
        let z = queries(&data, d);
        for weights in [None, Some(weights)] {
            let reference = Reference::from_vec(dense.as_slice().to_vec(), d, weights.clone()).unwrap();
            let sample = SparseReference::new(rows.clone(), weights).unwrap();
            for settings in settings() {
                let expected = settings.fit(&reference).unwrap();
                let expected = expected.score(Rows::new(&z, d).unwrap(), &Run::default()).unwrap();
                let model = settings.fit_sparse(&sample, None).unwrap();
                let found = model.score(&sparse(&z, d), &Run::default()).unwrap();
                for (j, (a, b)) in found.iter().zip(&expected).enumerate() {
                    let apart = (a.depth - b.depth).abs();
                    assert!(apart <= a.error + b.error, "{n} {d} {settings:?} {j}: {a:?} {b:?}");
                    // Rounding of kernel values counts more for columns as they are; for the hinge loss its root counts.
                    let hinge = [Method::Hinge, Method::Svm].contains(&settings.method);
                    if !hinge && settings.scale == Scale::Standard {
                        let tol = settings.tol.max(b.error);
                        assert!(a.error <= tol, "{n} {d} {settings:?} {j}: {a:?} {b:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_score_depends_on_its_row_alone_and_survives_a_file() {
    let (n, d) = (70, 40);
    let data = table(n, d, 0.1, 2);
    let rows = sparse(&data, d);
    let sample = SparseReference::new(rows.clone(), None).unwrap();
    for method in [Method::Logistic, Method::Svm, Method::Gp] {
        let model = Settings::new(method).fit_sparse(&sample, None).unwrap();
        let together = model.score(&rows, &Run::default()).unwrap();
        let archive = SparseArchive::of(&model).extra("note", "text");
        let bytes = archive.to_bytes().unwrap();
        let loaded = SparseArchive::from_bytes(&bytes).unwrap();
        assert_eq!(loaded.extras()["note"], "text");
        let loaded = loaded.model(None).unwrap();
        assert_eq!(loaded.score(&rows, &Run { threads: Some(1), ..Run::default() }).unwrap(), together);
        for i in [0, 33, n - 1] {
            let alone = model.score(&sparse(&data[i * d..(i + 1) * d], d), &Run::default()).unwrap();
            assert_eq!(alone[0], together[i], "{method} {i}");
        }
        let shares = model.percentiles(&Run::default()).unwrap();
        let deepest = together.iter().map(|fit| fit.depth).fold(0.0, f64::max);
        assert_eq!(shares.of(deepest), 1.0);
        // Percentiles are saved.
        let bytes = SparseArchive::of(&model).to_bytes().unwrap();
        let again = SparseArchive::from_bytes(&bytes).unwrap().model(None).unwrap();
        assert_eq!(again.known_percentiles(), Some(shares));
        assert!(SparseArchive::recognises(&bytes));
        let refused = Archive::from_bytes(&bytes).unwrap_err().to_string();
        assert!(refused.contains("sparse rows"), "{refused}");
        for cut in [0, 9, 200, bytes.len() / 2, bytes.len() - 1] {
            assert!(SparseArchive::from_bytes(&bytes[..cut]).is_err());
        }
    }
}

#[test]
fn linear_classifiers_are_explained_in_the_original_columns() {
    let (n, d) = (40, 60);
    let data = table(n, d, 0.1, 3);
    let reference = Reference::from_vec(data.clone(), d, None).unwrap();
    let sample = SparseReference::new(sparse(&data, d), None).unwrap();
    let z = queries(&data, d);
    for scale in [Scale::Standard, Scale::None] {
        for method in [Method::Logistic, Method::Hinge] {
            let settings = Settings { scale, reg: 0.1, tol: 1e-9, ..Settings::new(method) };
            let dense = settings.fit(&reference).unwrap();
            let dense = dense.explain(Rows::new(&z, d).unwrap(), &Run::default()).unwrap();
            let model = settings.fit_sparse(&sample, None).unwrap();
            let (all, some) = (d, 5);
            let found = model.explain(&sparse(&z, d), all, &Run::default()).unwrap();
            let few = model.explain(&sparse(&z, d), some, &Run::default()).unwrap();
            for ((found, few), dense) in found.iter().zip(&few).zip(&dense) {
                let Reason::Linear { weights, contributions, .. } = &dense.reason else { unreachable!() };
                let size = contributions.iter().fold(0.0f64, |m, c| m.max(c.abs()));
                let mut ours = vec![0.0; d];
                for column in &found.columns {
                    ours[column.column] = column.contribution;
                    let unit = weights.iter().fold(0.0f64, |m, w| m.max(w.abs()));
                    assert!((column.weight - weights[column.column]).abs() <= 1e-3 * unit);
                }
                for (a, b) in ours.iter().zip(contributions) {
                    assert!((a - b).abs() <= 1e-3 * size, "{method} {scale}: {a} {b}");
                }
                let sum: f64 = few.columns.iter().map(|column| column.contribution).sum();
                let value = few.explanation.baseline + sum + few.rest;
                assert!((value - few.explanation.value).abs() <= 1e-9 * (1.0 + size));
                assert!(few.columns.len() <= some && found.rest.abs() <= 1e-6 * (1.0 + size));
            }
        }
    }
}

#[test]
fn what_needs_dense_rows_is_refused_by_name() {
    let data = table(20, 12, 0.2, 1);
    let sample = SparseReference::new(sparse(&data, 12), None).unwrap();
    let refusal = |settings: Settings| settings.fit_sparse(&sample, None).unwrap_err().to_string();
    assert!(refusal(Settings::new(Method::Forest)).starts_with("method `forest` needs dense rows"));
    for scale in [Scale::Robust, Scale::Whiten, Scale::Mcd] {
        let message = refusal(Settings { scale, ..Settings::new(Method::Svm) });
        assert!(message.contains("`standard` or `none`"), "{message}");
    }
    let kernel = KernelChoice::Precomputed;
    assert!(refusal(Settings { kernel, ..Settings::new(Method::Svm) }).contains("precomputed"));
    assert!(sample_error(vec![1.0]).contains("1 weights for 20 rows"));
    assert!(sample_error(vec![0.0; 20]).contains("at least 2 rows"));
    let few = Settings::new(Method::Logistic).fit_sparse(&sample, Some(100)).unwrap_err().to_string();
    assert!(few.contains("20 sparse rows need"), "{few}");
    let model = Settings::new(Method::Logistic).fit_sparse(&sample, None).unwrap();
    let narrow = model.score(&sparse(&data, 10), &Run::default()).unwrap_err().to_string();
    assert_eq!(narrow, "row 0 has 10 features, expected 12");
}

fn sample_error(weights: Vec<f64>) -> String {
    let data = table(20, 12, 0.2, 1);
    SparseReference::new(sparse(&data, 12), Some(weights)).unwrap_err().to_string()
}

#[test] // A file of a few hundred bytes made an allocation of 34 GB.
fn columns_that_do_not_fit_into_memory_are_refused() {
    let rows = SparseRows::new(vec![0, 1, 2, 3], vec![5, 5, 7], vec![1.0, 2.0, 3.0], 4_294_967_295).unwrap();
    let sample = SparseReference::new(rows, None).unwrap();
    for method in [Method::Logistic, Method::Hinge, Method::Svm] {
        let error = Settings::new(method).fit_sparse(&sample, None).err().unwrap();
        let expected = "the 4294967295 columns of sparse rows need 512.0 GiB, more than the 4.0 GiB that `memory` allows";
        assert_eq!(error.to_string(), expected);
    }
    let few =
        SparseReference::new(SparseRows::new(vec![0, 1, 2], vec![0, 1], vec![1.0, 2.0], 2).unwrap(), None);
    let error = Settings::new(Method::Svm).fit_sparse(&few.unwrap(), Some(95)).err().unwrap();
    let expected =
        "the kernel values of 2 sparse rows need 96 bytes, more than the 95 bytes that `memory` allows";
    assert_eq!(error.to_string(), expected);
}
