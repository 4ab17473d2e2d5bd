//! The Gaussian process depth: scikit-learn's values, the definition by dense algebra, and the guarantees.

use crate::common::{Failures, Random, golden, numbers, reference, table};
use lossdepth::kernel::{Gamma, KernelChoice, Sigma};
use lossdepth::loss::Logistic;
use lossdepth::methods::gp::Probabilities;
use lossdepth::methods::{GaussianProcess, Kernelised};
use lossdepth::{Depth, Fit, Reference, Run, Scale, Stop};

fn gaussian(gamma: f64) -> KernelChoice {
    KernelChoice::Gaussian { gamma: Gamma::Value(gamma) }
}

fn score(method: GaussianProcess, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    Depth::new(method).fit(sample).unwrap().score(queries).unwrap()
}

fn agrees(name: &str) {
    let (file, mut failures) = (golden(name), Failures::default());
    let sample = Reference::weighted(&table(&file["rows"]), &numbers(&file["counts"])).unwrap();
    let queries = table(&file["queries"]);
    for value in Probabilities::ALL {
        for tol in [1e-4, 1e-6, 1e-9] {
            let theirs = numbers(&file[value.name()]);
            let fits = score(GaussianProcess::new().probabilities(value).tol(tol), &sample, &queries);
            assert_eq!(fits.len(), theirs.len());
            for (fit, theirs) in fits.iter().zip(theirs) {
                let close = (fit.depth - theirs).abs() <= fit.error + 1e-9 && fit.error <= tol;
                failures.check(close, || format!("{value} {tol:e}: {theirs} {fit:?}"));
            }
        }
    }
    failures.report();
}

#[test] // With scikit-learn's length scale, the first quartile of all distances.
fn iris() {
    agrees("gp_iris.json");
}

#[test]
fn wine() {
    agrees("gp_wine.json");
}

#[test]
fn breast_cancer() {
    agrees("gp_breast_cancer.json");
}

#[test]
fn wine_with_weights() {
    agrees("gp_wine_counted.json");
}

/// Laplace's approximation with dense matrices, nothing shared with the library: mode by Newton's method, then the loss of
/// the logistic function averaged by quadrature in place of error functions.
fn dense(points: &[Vec<f64>], counts: &[f64], kernel: impl Fn(&[f64], &[f64]) -> f64) -> (f64, f64) {
    let n = points.len();
    let gram: Vec<Vec<f64>> = points.iter().map(|x| points.iter().map(|y| kernel(x, y)).collect()).collect();
    let sign = |i: usize| if i + 1 == n { -1.0 } else { 1.0 };
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (mut f, mut covariance) = (vec![0.0; n], Vec::new());
    for _ in 0..60 {
        // (I + K W) f' = K (W f + g)
        let p: Vec<f64> = f.iter().map(|f| sigmoid(*f)).collect();
        let w: Vec<f64> = (0..n).map(|i| counts[i] * p[i] * (1.0 - p[i])).collect();
        let b: Vec<f64> = (0..n).map(|i| w[i] * f[i] + counts[i] * (0.5 * (1.0 + sign(i)) - p[i])).collect();
        let system: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| gram[i][j] * w[j] + f64::from(u8::from(i == j))).collect())
            .collect();
        // All columns of K, and the step, by one elimination.
        let rhs: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let step = (0..n).map(|j| gram[i][j] * b[j]).sum();
                gram[i].iter().copied().chain([step]).collect()
            })
            .collect();
        let solved = eliminate(system, rhs);
        let next: Vec<f64> = solved.iter().map(|row| row[n]).collect();
        let change = next.iter().zip(&f).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        covariance = (0..n).map(|i| solved[i][i]).collect();
        f = next;
        if change < 1e-13 {
            break;
        }
    }
    let total: f64 = counts[..n - 1].iter().sum();
    let loss = |p: f64| -p.log2();
    let (mut averaged, mut mode) = (0.0, 0.0);
    for i in 0..n {
        let weight = if i + 1 == n { 0.5 } else { 0.5 * counts[i] / total };
        let (mut integral, mut mass) = (0.0, 0.0);
        for k in -800..=800 {
            let x = f64::from(k) * 0.01;
            let density = (-0.5 * x * x).exp();
            integral += density * sigmoid(sign(i) * (f[i] + x * f64::sqrt(covariance[i])));
            mass += density;
        }
        averaged += weight * loss(integral / mass);
        mode += weight * loss(sigmoid(sign(i) * f[i]));
    }
    (averaged, mode)
}

fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        let (row, right) = (a[k].clone(), b[k].clone());
        for i in 0..n {
            let factor = a[i][k] / row[k];
            if i != k && factor != 0.0 {
                (k..n).for_each(|j| a[i][j] -= factor * row[j]);
                (0..right.len()).for_each(|j| b[i][j] -= factor * right[j]);
            }
        }
    }
    (0..n).map(|k| b[k].iter().map(|x| x / a[k][k]).collect()).collect()
}

#[test]
fn the_definition_by_dense_algebra() {
    let (mut random, mut failures) = (Random::new(11), Failures::default());
    // On both sides of the size above which the Gram matrix is split.
    for (n, d) in [(2, 1), (20, 2), (47, 3), (49, 2), (120, 5)] {
        let rows = random.cloud(n, d);
        let counts: Vec<f64> = (0..n).map(|_| 1.0 + random.below(3) as f64).collect();
        let total: f64 = counts.iter().sum();
        let sample = Reference::weighted(&rows, &counts).unwrap();
        let queries = [vec![0.1; d], rows[n / 2].clone(), vec![9.0; d]];
        let (gamma, sigma) = (0.4, 3.0);
        for kernel in
            [gaussian(gamma), KernelChoice::Laplacian { sigma: Sigma::Value(sigma) }, KernelChoice::Linear]
        {
            let function = |x: &[f64], y: &[f64]| {
                let pairs = || x.iter().zip(y);
                match kernel {
                    KernelChoice::Linear => pairs().map(|(a, b)| a * b).sum(),
                    KernelChoice::Laplacian { .. } => {
                        f64::exp(-pairs().map(|(a, b)| (a - b).abs()).sum::<f64>() / sigma)
                    }
                    _ => f64::exp(-gamma * pairs().map(|(a, b)| (a - b) * (a - b)).sum::<f64>()),
                }
            };
            let new = || GaussianProcess::new().kernel(kernel);
            let averaged = score(new(), &sample, &queries);
            let mode = score(new().probabilities(Probabilities::Mode).tol(1e-9), &sample, &queries);
            for (k, z) in queries.iter().enumerate() {
                let points: Vec<Vec<f64>> = rows.iter().chain([z]).cloned().collect();
                let counts: Vec<f64> = counts.iter().copied().chain([total]).collect();
                let exact = dense(&points, &counts, function);
                // A linear kernel is 400 at the far query, and so is what rounding does there.
                let reach = if matches!(kernel, KernelChoice::Linear) { 3e-8 } else { 1e-9 };
                let close =
                    (mode[k].depth - exact.1).abs() <= mode[k].error + 1e-10 && mode[k].error <= reach;
                failures.check(close, || format!("mode {n}x{d} {kernel:?} {k}: {exact:?} {:?}", mode[k]));
                // The error functions are right to about one part in a thousand where it matters.
                let size = 4e-3 * exact.0 + 2e-4;
                let close = (averaged[k].depth - exact.0).abs() <= size && averaged[k].error <= 1e-6;
                failures.check(close || exact.0 > 0.99, || {
                    format!("{n}x{d} {kernel:?} {k}: {exact:?} {:?}", averaged[k])
                });
            }
        }
    }
    failures.report();
}

#[test]
fn the_mode_is_kernel_logistic_regression() {
    let mut random = Random::new(12);
    let (rows, queries) = (random.cloud(90, 3), random.cloud(6, 3));
    let sample = reference(&rows);
    let reg = 1.0 / (4.0 * 90.0 * std::f64::consts::LN_2);
    let klr = Kernelised::new(Logistic).kernel(gaussian(0.7)).reg(reg);
    let a = Depth::new(klr).fit(&sample).unwrap().score(&queries).unwrap();
    let b = score(
        GaussianProcess::new().kernel(gaussian(0.7)).probabilities(Probabilities::Mode),
        &sample,
        &queries,
    );
    for (a, b) in a.iter().zip(&b) {
        assert!((a.depth - b.depth).abs() <= a.error + b.error, "{a:?} {b:?}");
        assert!((a.stderr - b.stderr).abs() <= 0.05 * a.stderr, "{a:?} {b:?}");
    }
}

#[test]
fn a_coarser_answer_is_within_its_error() {
    let (mut random, mut failures) = (Random::new(13), Failures::default());
    for (n, d) in [(260, 6), (700, 3)] {
        let (rows, queries) = (random.cloud(n, d), random.cloud(10, d));
        let queries = [&queries[..], &rows[..4], &[vec![30.0; d]]].concat();
        let sample = reference(&rows);
        let exact = score(GaussianProcess::new().tol(1e-10), &sample, &queries);
        for tol in [1e-2, 1e-4, 1e-5, 1e-6] {
            let coarse = score(GaussianProcess::new().tol(tol), &sample, &queries);
            for (a, b) in exact.iter().zip(&coarse) {
                let sound = (a.depth - b.depth).abs() <= a.error + b.error
                    && b.error <= tol
                    && b.stop == Stop::Converged;
                failures.check(sound, || format!("{n}x{d} {tol:e}: {a:?} {b:?}"));
            }
        }
    }
    failures.report();
}

#[test] // A function of the rows has a thin rest at this size, a matrix of numbers has a dense one.
fn a_small_residual_is_within_its_error() {
    let (mut random, mut failures) = (Random::new(23), Failures::default());
    for (d, gamma) in [(2, 1.0), (5, 0.05)] {
        let rows = random.cloud(1100, d);
        let counts: Vec<f64> = (0..rows.len()).map(|i| [1.0, 1.0, 3.0, 2.0][(i * d) % 4]).collect();
        let queries = [&random.cloud(9, d)[..], &rows[..3], &[vec![30.0; d], vec![-4.0; d]]].concat();
        let value = |x: &[f64], y: &[f64]| {
            f64::exp(-gamma * x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>())
        };
        let given = |x: &[Vec<f64>]| -> Vec<Vec<f64>> {
            x.iter().map(|x| rows.iter().map(|y| value(x, y)).collect()).collect()
        };
        let dense = Reference::weighted(&given(&rows), &counts).unwrap();
        let sample = Reference::weighted(&rows, &counts).unwrap();
        for probabilities in Probabilities::ALL {
            let new = |tol| GaussianProcess::new().probabilities(probabilities).tol(tol);
            let exact = score(new(1e-8).kernel(KernelChoice::Precomputed), &dense, &given(&queries));
            for tol in [1e-3, 1e-4, 1e-5, 1e-6, 1e-8] {
                let ours = score(new(tol).kernel(gaussian(gamma)), &sample, &queries);
                for (a, b) in exact.iter().zip(&ours) {
                    let sound = (a.depth - b.depth).abs() <= a.error + b.error
                        && a.error <= 1e-8
                        && b.error <= tol
                        && (a.stderr - b.stderr).abs() <= 0.2 * a.stderr;
                    failures.check(sound, || format!("{d} {probabilities} {tol:e}: {a:?} {b:?}"));
                }
            }
        }
    }
    failures.report();
}

#[test]
fn bits_do_not_depend_on_the_other_queries() {
    let mut random = Random::new(14);
    for (n, tol) in [(9, 1e-6), (150, 1e-6), (600, 1e-6), (1050, 1e-4), (1050, 1e-6)] {
        let (rows, queries) = (random.cloud(n, 4), random.cloud(70, 4));
        let depth = Depth::new(GaussianProcess::new().tol(tol)).fit(&reference(&rows)).unwrap();
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

#[test]
fn a_weight_is_a_number_of_copies() {
    let mut random = Random::new(15);
    let rows = random.cloud(80, 3);
    let counts: Vec<f64> = (0..80).map(|i| f64::from(i % 4)).collect();
    let copies: Vec<Vec<f64>> = (0..80usize).flat_map(|i| vec![rows[i].clone(); i % 4]).collect();
    let queries: Vec<Vec<f64>> = [&random.cloud(4, 3)[..], &rows[..4]].concat();
    for value in Probabilities::ALL {
        let new = || GaussianProcess::new().probabilities(value);
        let a = score(new(), &Reference::weighted(&rows, &counts).unwrap(), &queries);
        let b = score(new(), &reference(&copies), &queries);
        for (a, b) in a.iter().zip(&b) {
            assert!((a.depth - b.depth).abs() <= a.error + b.error, "{value}: {a:?} {b:?}");
            assert!((a.stderr - b.stderr).abs() <= 0.01 * a.stderr, "{value}: {a:?} {b:?}");
        }
    }
}

#[test] // What is known of their variances is divided by their weights.
fn rows_that_hardly_count_hardly_matter() {
    let mut random = Random::new(24);
    let (rows, queries) = (random.cloud(120, 6), random.cloud(9, 6));
    let new = || GaussianProcess::new().kernel(gaussian(0.2));
    for least in [1e-3, 1e-7, 1e-12, 1e-250] {
        let counts: Vec<f64> = (0..120).map(|i| if i % 3 == 0 { least } else { 1.0 }).collect();
        let without: Vec<Vec<f64>> = (0..120).filter(|i| i % 3 != 0).map(|i| rows[i].clone()).collect();
        let a = score(new(), &Reference::weighted(&rows, &counts).unwrap(), &queries);
        let b = score(new(), &reference(&without), &queries);
        for (a, b) in a.iter().zip(&b) {
            let close = (a.depth - b.depth).abs() <= a.error + b.error + 2.0 * least;
            assert!(close && a.error <= 1e-6, "{least:e}: {a:?} {b:?}");
        }
    }
}

#[test] // By Newton's method and the error functions with 100 digits.
fn a_query_next_to_a_row_is_within_its_error() {
    let sample = Reference::weighted(&[vec![0.0], vec![30.0]], &[1000.0, 1000.0]).unwrap();
    let method = GaussianProcess::new().kernel(gaussian(1.0)).tol(1e-10);
    let fit = score(method, &sample, &[vec![7e-7]])[0];
    assert!((fit.depth - 0.690_886_926_726_5).abs() <= fit.error + 1e-13, "{fit:?}");
}

#[test] // By Newton's method with 190 digits, and in the space of weights with 60: a pivot next to rounding, a query far beyond it.
fn a_query_along_a_direction_that_is_hardly_there_is_within_its_error() {
    let rows = reference(&[vec![1.0, 1e-7], vec![0.7, 3e-7], vec![-0.4, 2e-7]]);
    for (value, truth) in
        [(Probabilities::Mode, 0.688_660_176_298), (Probabilities::Averaged, 0.718_718_277_856)]
    {
        let method = GaussianProcess::new().kernel(KernelChoice::Linear).probabilities(value);
        let fit = score(method, &rows, &[vec![0.0, 1.0]])[0];
        assert!((fit.depth - truth).abs() <= fit.error + 1e-12, "{value} {truth} {fit:?}");
    }
}

#[test]
fn degenerate_samples_work() {
    let far = vec![vec![1e12, -1e12], vec![1e12, 1e-12]];
    let same = vec![vec![1.0, 2.0]; 100];
    let pair = vec![vec![0.0, 0.0], vec![1e-12, 0.0]];
    let line: Vec<Vec<f64>> = (0..120).map(|i| vec![f64::from(i % 60), 3.0]).collect();
    for rows in [same, pair, far, line] {
        for value in Probabilities::ALL {
            let queries = [rows[0].clone(), vec![5.0, 5.0], vec![-1e99, 1e99]];
            for fit in score(GaussianProcess::new().probabilities(value), &reference(&rows), &queries) {
                let sound = fit.error <= 1e-6 && (0.0..=1.0).contains(&fit.depth) && fit.stderr >= 0.0;
                assert!(sound, "{:?} {value} {fit:?}", rows[0]);
            }
        }
    }
}

#[test]
fn a_query_like_the_sample_is_deep_and_a_far_one_is_not() {
    let mut random = Random::new(16);
    let rows = random.cloud(200, 2);
    let fits =
        score(GaussianProcess::new(), &reference(&rows), &[vec![0.0, 0.0], vec![2.5, 0.0], vec![9.0, 0.0]]);
    assert!(fits[0].depth > fits[1].depth && fits[1].depth > fits[2].depth, "{fits:?}");
}

#[test]
fn the_explanation_is_about_the_latent_function() {
    let mut random = Random::new(17);
    let (mut rows, z) = (random.cloud(60, 2), vec![0.7, -0.4]);
    let h = 1e-5;
    for j in 0..2 {
        for step in [h, -h] {
            let mut beside = z.clone();
            beside[j] += step;
            rows.push(beside);
        }
    }
    rows.push(z.clone());
    let mut weights = vec![1.0; 60];
    weights.resize(65, 0.0);
    let sample = Reference::weighted(&rows, &weights).unwrap();
    for scale in [Scale::None, Scale::Standard] {
        let depth = Depth::new(GaussianProcess::new().tol(1e-8)).scale(scale).fit(&sample).unwrap();
        let why = &depth.explain(std::slice::from_ref(&z)).unwrap()[0];
        assert_eq!(why.fit, depth.score(std::slice::from_ref(&z)).unwrap()[0]);
        let (witness, gradient) = (why.witness().unwrap(), why.gradient().unwrap());
        assert!((witness[64] - why.value).abs() < 1e-6);
        for j in 0..2 {
            let slope = (witness[60 + 2 * j] - witness[61 + 2 * j]) / (2.0 * h);
            assert!((slope - gradient[j]).abs() < 1e-4 * (1.0 + slope.abs()));
        }
        assert!(why.influence.as_ref().unwrap().iter().sum::<f64>().abs() < 1e-9);
    }
}

#[test] // Mass moves from one row to another, so that the size of the sample stays what it is.
fn influence_is_the_derivative_in_the_weights() {
    let mut random = Random::new(18);
    // From all of the Gram matrix where the spectrum falls slowly, from a few directions otherwise.
    for (n, d, tol) in [(30, 2, 1e-10), (100, 2, 1e-10), (100, 6, 1e-7), (100, 6, 1e-10)] {
        let (rows, mut z) = (random.cloud(n, d), vec![0.3; d]);
        z[0] = 1.2;
        let at = |value, from: usize, to: usize, moved: f64| {
            let mut counts = vec![1e3; n];
            counts[from] -= moved;
            counts[to] += moved;
            let sample = Reference::weighted(&rows, &counts).unwrap();
            let method = GaussianProcess::new().kernel(gaussian(0.5)).probabilities(value).tol(tol);
            Depth::new(method).fit(&sample).unwrap().explain(std::slice::from_ref(&z)).unwrap().remove(0)
        };
        for value in Probabilities::ALL {
            let influence = at(value, 0, 1, 0.0).influence.unwrap();
            for (from, to) in [(0, 1), (5, 9), (20, 3)] {
                let slope =
                    (at(value, from, to, 10.0).fit.depth - at(value, from, to, -10.0).fit.depth) / 20.0;
                let expected = (influence[to] - influence[from]) / (1e3 * n as f64);
                let size = 1e-2 * expected.abs() + 1e-3 / (1e3 * n as f64);
                assert!((slope - expected).abs() < size, "{n}x{d} {value} {tol:e}: {slope:e} {expected:e}");
            }
        }
    }
}

#[test]
fn bad_settings_are_refused() {
    let sample = reference(&[vec![0.0], vec![1.0], vec![2.0]]);
    let refused =
        |method: GaussianProcess| Depth::new(method).fit(&sample).err().expect("refused").to_string();
    let new = GaussianProcess::new;
    assert!(refused(new().tol(0.0)).contains("`tol`"));
    assert!(refused(new().max_iter(0)).contains("`max_iter`"));
    assert!(refused(new().kernel(gaussian(f64::NAN))).contains("`gamma`"));
    assert!(refused(new().memory(10)).contains("`memory`"));
    assert!("best".parse::<Probabilities>().is_err());
}

#[test]
fn a_precomputed_kernel_is_the_same_kernel() {
    let mut random = Random::new(19);
    let (rows, queries) = (random.cloud(60, 3), random.cloud(4, 3));
    let value =
        |x: &[f64], y: &[f64]| f64::exp(-0.3 * x.iter().zip(y).map(|(a, b)| (a - b) * (a - b)).sum::<f64>());
    let given = |x: &[Vec<f64>]| -> Vec<Vec<f64>> {
        x.iter().map(|x| rows.iter().map(|y| value(x, y)).collect()).collect()
    };
    let a = score(GaussianProcess::new().kernel(gaussian(0.3)), &reference(&rows), &queries);
    let method = GaussianProcess::new().kernel(KernelChoice::Precomputed);
    let b = score(method, &reference(&given(&rows)), &given(&queries));
    for (a, b) in a.iter().zip(&b) {
        assert!((a.depth - b.depth).abs() <= a.error + b.error);
    }
}
