//! The combined depth: its definition written out, and what it promises.

use crate::common::Random;
use lossdepth::methods::Auto;
use lossdepth::{Depth, Fit, Method, Reference, Rows, Run, Scale, Settings};

/// Columns with different tails: symmetric, skewed, with ties.
fn cloud(n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut row = || vec![random.normal(), (1.5 * random.normal()).exp(), (2.0 * random.normal()).round()];
    (0..n).map(|_| row()).collect()
}

fn score(rows: &[Vec<f64>], queries: &[Vec<f64>]) -> Vec<Fit> {
    Depth::new(Auto::new()).fit(&Reference::new(rows).unwrap()).unwrap().score(queries).unwrap()
}

/// The definition of docs/math/auto.md for different rows of equal weight, with nothing shared or rearranged.
mod written_out {
    fn quantile(sorted: &[f64], level: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
        let at = ((level * sorted.len() as f64 - 1e-6).ceil() as usize).max(1);
        sorted[at - 1]
    }

    fn column(rows: &[Vec<f64>], j: usize) -> Vec<f64> {
        let mut column: Vec<f64> = rows.iter().map(|row| row[j]).collect();
        column.sort_by(f64::total_cmp);
        column
    }

    fn robust(sorted: &[f64], x: f64) -> f64 {
        let spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349;
        assert!(spread > 0.0);
        ((x - quantile(sorted, 0.5)) / spread).asinh()
    }

    /// Φ⁻¹ by bisection of the series of the error function.
    fn normal_quantile(p: f64) -> f64 {
        let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
        let cdf = |x: f64| {
            let (mut term, mut sum, mut k) = (x, x, 1.0);
            while f64::abs(term) > 1e-18 {
                term *= x * x / (2.0 * k + 1.0);
                sum += term;
                k += 1.0;
            }
            0.5 + density(x) * sum
        };
        let (mut low, mut high) = (-6.0, 6.0);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if cdf(middle) < p { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    fn rank(sorted: &[f64], x: f64) -> f64 {
        let n = sorted.len() as f64;
        let score = |v: f64| {
            let below = sorted.iter().filter(|y| **y < v).count() as f64;
            let up_to = sorted.iter().filter(|y| **y <= v).count() as f64;
            normal_quantile((0.5 * (below + up_to) + 0.5) / (n + 1.0))
        };
        let (first, last, middle) = (sorted[0], sorted[sorted.len() - 1], quantile(sorted, 0.5));
        if x < first {
            return score(first) - ((first - x) / (middle - quantile(sorted, 0.05))).ln_1p();
        }
        if x > last {
            return score(last) + ((x - last) / (quantile(sorted, 0.95) - middle)).ln_1p();
        }
        let a = sorted.iter().copied().filter(|v| *v <= x).fold(first, f64::max);
        let b = sorted.iter().copied().filter(|v| *v >= x).fold(last, f64::min);
        if a == b { score(a) } else { score(a) + (x - a) / (b - a) * (score(b) - score(a)) }
    }

    fn distances(points: &[Vec<f64>], z: &[f64]) -> Vec<f64> {
        points.iter().map(|x| x.iter().zip(z).map(|(x, z)| (x - z).abs()).sum()).collect()
    }

    /// The distances of those that count: not of row `own`, nor of those that are dropped.
    fn others(points: &[Vec<f64>], dropped: &[bool], z: &[f64], own: Option<usize>) -> Vec<f64> {
        let all = distances(points, z).into_iter().enumerate();
        let mut left: Vec<f64> =
            all.filter(|(i, _)| Some(*i) != own && !dropped[*i]).map(|(_, d)| d).collect();
        left.sort_by(f64::total_cmp);
        left
    }

    fn width(points: &[Vec<f64>], k: usize) -> f64 {
        let none = vec![false; points.len()];
        let mut all: Vec<f64> =
            (0..points.len()).map(|i| others(points, &none, &points[i], Some(i))[k - 1]).collect();
        all.sort_by(f64::total_cmp);
        quantile(&all, 0.5)
    }

    fn log_mean(left: &[f64], width: f64, n: usize) -> f64 {
        (left.iter().map(|d| (-d / width).exp()).sum::<f64>() / n as f64).ln()
    }

    fn dropped(points: &[Vec<f64>], k: usize) -> Vec<bool> {
        let (n, width, none) = (points.len(), width(points, k), vec![false; points.len()]);
        let scores: Vec<f64> =
            (0..n).map(|i| log_mean(&others(points, &none, &points[i], Some(i)), width, n)).collect();
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        scores.iter().map(|s| *s < sorted[n / 10]).collect()
    }

    fn probability(scores: &[f64], s: f64) -> f64 {
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len() as f64;
        let level = |v: f64| {
            let below = sorted.iter().filter(|y| **y < v - 1e-7).count() as f64;
            let up_to = sorted.iter().filter(|y| **y <= v + 1e-7).count() as f64;
            (0.5 * (below + up_to) + 0.5) / (n + 1.0)
        };
        let unit = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
        let (first, last) = (sorted[0], sorted[sorted.len() - 1]);
        if s < first {
            return level(first) / (1.0 + (first - s) / unit);
        }
        if s > last {
            return 1.0 - (1.0 - level(last)) / (1.0 + (s - last) / unit);
        }
        let a = sorted.iter().copied().filter(|v| *v <= s).fold(first, f64::max);
        let b = sorted.iter().copied().filter(|v| *v >= s).fold(last, f64::min);
        if b - a <= 1e-7 { level(a) } else { level(a) + (s - a) / (b - a) * (level(b) - level(a)) }
    }

    /// By how much $-\ln P(X > x)$ exceeds `expected` (A9), `sorted` ascending.
    fn excess(sorted: &[f64], x: f64, expected: f64) -> f64 {
        let (n, median) = (sorted.len() as f64, quantile(sorted, 0.5));
        let threshold = quantile(sorted, 0.9);
        assert!(threshold > median);
        let unit = threshold - median;
        let logs: Vec<f64> =
            sorted.iter().filter(|v| **v > threshold).map(|v| ((v - threshold) / unit).ln_1p()).collect();
        let censored = (0.02 * n).floor();
        let kept = logs.len() as f64 - censored;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
        let known = &logs[..kept.max(0.0) as usize];
        let sum = known.iter().sum::<f64>() + censored * known.last().copied().unwrap_or(0.0);
        let index = if known.is_empty() { 3.0 } else { (kept + 3.0) / (sum + 1.0) };
        let margin = (expected + (logs.len().max(1) as f64 / n).ln()).max(0.0);
        (index * ((x - threshold) / unit).max(0.0).ln_1p() - margin).max(0.0)
    }

    fn largest_excess(sample: &[f64], x: f64, expected: f64) -> f64 {
        let mut sorted = sample.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut negated: Vec<f64> = sorted.iter().map(|v| -v).collect();
        negated.reverse();
        excess(&sorted, x, expected).max(excess(&negated, -x, expected))
    }

    /// Solves by elimination: what `target` is regressed to by the others, minimising the mean square plus the ridge.
    fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for k in 0..n {
            for i in 0..n {
                if i != k {
                    let factor = a[i][k] / a[k][k];
                    for j in 0..n {
                        a[i][j] -= factor * a[k][j];
                    }
                    b[i] -= factor * b[k];
                }
            }
        }
        (0..n).map(|k| b[k] / a[k][k]).collect()
    }

    /// The residuals of a column given the others, of the rows and of the query last.
    fn residuals(points: &[Vec<f64>], z: &[f64], target: usize) -> Vec<f64> {
        let (n, d) = (points.len() as f64, z.len());
        let mean: Vec<f64> = (0..d).map(|j| points.iter().map(|x| x[j]).sum::<f64>() / n).collect();
        let spread: Vec<f64> = (0..d)
            .map(|j| (points.iter().map(|x| (x[j] - mean[j]).powi(2)).sum::<f64>() / n).sqrt())
            .collect();
        let standard = |x: &[f64]| -> Vec<f64> { (0..d).map(|j| (x[j] - mean[j]) / spread[j]).collect() };
        let rows: Vec<Vec<f64>> = points.iter().map(|x| standard(x)).collect();
        let others: Vec<usize> = (0..d).filter(|j| *j != target).collect();
        let correlation = |i: usize, j: usize| rows.iter().map(|x| x[i] * x[j]).sum::<f64>() / n;
        let ridge = 0.01 + d as f64 / n;
        let row = |i: &usize| -> Vec<f64> {
            others.iter().map(|j| correlation(*i, *j) + if i == j { ridge } else { 0.0 }).collect()
        };
        let beta =
            solve(others.iter().map(row).collect(), others.iter().map(|j| correlation(*j, target)).collect());
        let residual = |x: &[f64]| x[target] - others.iter().zip(&beta).map(|(j, b)| b * x[*j]).sum::<f64>();
        rows.iter().map(|x| residual(x)).chain([residual(&standard(z))]).collect()
    }

    pub(super) fn depth(rows: &[Vec<f64>], z: &[f64]) -> f64 {
        let (n, d) = (rows.len(), z.len());
        let columns: Vec<Vec<f64>> = (0..d).map(|j| column(rows, j)).collect();
        let map = |f: &dyn Fn(&[f64], f64) -> f64, x: &[f64]| -> Vec<f64> {
            (0..d).map(|j| f(&columns[j], x[j])).collect()
        };
        let robust_points: Vec<Vec<f64>> = rows.iter().map(|x| map(&robust, x)).collect();
        let rank_points: Vec<Vec<f64>> = rows.iter().map(|x| map(&rank, x)).collect();
        let root = n.isqrt();
        let (narrow, wide) = (width(&robust_points, 1), width(&rank_points, (n / 10).max(5)));
        let (robust_dropped, rank_dropped) = (dropped(&robust_points, root), dropped(&rank_points, root));
        let (none, ball) = (vec![false; n], 20.min(n.div_ceil(4)));
        let scores = |robust_z: &[f64], rank_z: &[f64], own: Option<usize>| {
            let first = log_mean(&others(&robust_points, &none, robust_z, own), narrow, n);
            let second = -(others(&robust_points, &robust_dropped, robust_z, own)[ball - 1] + 1e-9).ln();
            let third = log_mean(&others(&rank_points, &rank_dropped, rank_z, own), wide, n);
            [first, second, third]
        };
        let sample: Vec<[f64; 3]> =
            (0..n).map(|i| scores(&robust_points[i], &rank_points[i], Some(i))).collect();
        let own = rows.iter().position(|row| row == z);
        let query = scores(&map(&robust, z), &map(&rank, z), own);
        let skewness: f64 = columns
            .iter()
            .map(|c| {
                let [a, b, c] = [0.05, 0.5, 0.95].map(|level| quantile(c, level));
                (a + c - 2.0 * b).abs() / (c - a)
            })
            .sum::<f64>()
            / d as f64;
        let weights = [1.0, 2.0, 0.5 + 2.5 * ((skewness - 0.1) / 0.3).clamp(0.0, 1.0)];
        let log: f64 = (0..3)
            .map(|k| {
                let part: Vec<f64> = sample.iter().map(|s| s[k]).collect();
                weights[k] * probability(&part, query[k]).ln()
            })
            .sum();
        let expected = 0.7 * (2.0 * n as f64 * d as f64).ln();
        let (robust_z, mut gross) = (map(&robust, z), 0.0f64);
        for j in 0..d {
            let left = residuals(&robust_points, &robust_z, j);
            gross = gross.max(largest_excess(&columns[j], z[j], expected));
            gross = gross.max(largest_excess(&left[..n], left[n], expected));
        }
        (log / weights.iter().sum::<f64>()).exp() * (1.0 + gross).powi(-8)
    }
}

#[test]
fn the_depth_is_its_definition() {
    for n in [40, 95, 230] {
        let rows = cloud(n, n as u64);
        let mut queries = cloud(12, 99);
        queries.extend([rows[0].clone(), rows[n / 2].clone(), vec![30.0, -4.0, 0.0], vec![0.0, 1e7, 50.0]]);
        for (fit, query) in score(&rows, &queries).iter().zip(&queries) {
            let exact = written_out::depth(&rows, query);
            // What was prepared is taken as computed; scores differ by rounding, which ties of 1e-7 make harmless.
            assert!((fit.depth - exact).abs() <= fit.error + 1e-9, "{n} {query:?}: {fit:?} {exact}");
            assert!(fit.error <= 1e-6 && fit.stderr.is_nan(), "{fit:?}");
        }
    }
}

#[test]
fn far_outliers_are_ordered() {
    let rows = cloud(300, 4);
    let far = |direction: [f64; 3]| -> Vec<Vec<f64>> {
        [1e2, 1e3, 1e4, 1e6, 1e9, 1e12, 1e30, 1e90]
            .iter()
            .map(|r| direction.map(|x| r * x).to_vec())
            .collect()
    };
    for direction in [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.5, 2.0, -1.0], [0.0, 0.0, 3.0]] {
        let fits = score(&rows, &far(direction));
        assert!(fits.windows(2).all(|pair| pair[0].depth > pair[1].depth && pair[1].depth > 0.0), "{fits:?}");
    }
}

#[test]
fn a_score_does_not_depend_on_batch_order_threads_or_the_order_of_the_sample() {
    let rows = cloud(500, 7);
    let mut queries = cloud(40, 8);
    queries.push(rows[3].clone());
    let fitted = Depth::new(Auto::new()).fit(&Reference::new(&rows).unwrap()).unwrap();
    let all = fitted.score(&queries).unwrap();
    for threads in [1, 3] {
        let run = Run { threads: Some(threads), ..Run::default() };
        assert_eq!(fitted.score_with(&queries, &run).unwrap(), all);
    }
    for (query, fit) in queries.iter().zip(&all) {
        assert_eq!(fitted.score(std::slice::from_ref(query)).unwrap()[0], *fit);
    }
    let mut reversed = rows;
    reversed.reverse();
    assert_eq!(score(&reversed, &queries), all);
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let (rows, queries) = (cloud(120, 9), cloud(20, 10));
    let weights: Vec<f64> = (0..120).map(|i| f64::from(i % 4)).collect();
    let copies: Vec<Vec<f64>> = (0..120).flat_map(|i| vec![rows[i].clone(); i % 4]).collect();
    for most in [2000, 50] {
        let scores = |sample: Reference| {
            let fitted = Depth::new(Auto::new().reference_rows(most)).fit(&sample).unwrap();
            (fitted.score(&queries).unwrap(), fitted.score(&rows[..30]).unwrap())
        };
        let weighted = scores(Reference::weighted(&rows, &weights).unwrap());
        assert_eq!(weighted, scores(Reference::new(&copies).unwrap()));
    }
}

#[test]
fn units_do_not_matter_and_degenerate_samples_have_depths() {
    let rows = cloud(150, 11);
    let queries = cloud(10, 12);
    let model = |rows: &[Vec<f64>]| Settings::new(Method::Auto).fit(&Reference::new(rows).unwrap()).unwrap();
    let rescaled = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        rows.iter().map(|x| vec![1e6 * x[0] - 3.0, x[1], 1e-5 * x[2]]).collect()
    };
    let scored = |rows: &[Vec<f64>], queries: &[Vec<f64>]| {
        model(rows).score(Rows::new(&queries.concat(), rows[0].len()).unwrap(), &Run::default()).unwrap()
    };
    let (plain, other) = (scored(&rows, &queries), scored(&rescaled(&rows), &rescaled(&queries)));
    for (a, b) in plain.iter().zip(&other) {
        assert!((a.depth - b.depth).abs() < 1e-6, "{a:?} {b:?}");
    }
    let constant: Vec<Vec<f64>> = rows.iter().map(|x| vec![x[0], 5.0]).collect();
    let small = [
        vec![vec![1.0], vec![2.0]],
        vec![vec![1.0], vec![1.0]],
        vec![vec![0.0], vec![1.0], vec![7.0]],
        vec![vec![0.0; 9], vec![1.0; 9], vec![7.0; 9]],
        vec![vec![3.0, 3.0]; 400],
        constant,
        (0..400).map(|i| vec![f64::from(i % 2), f64::from(i % 3)]).collect(),
    ];
    for rows in small {
        let width = rows[0].len();
        let queries = [rows[0].clone(), rows[1].clone(), vec![40.0; width], vec![-1e9; width]];
        let fits = scored(&rows, &queries);
        for fit in &fits {
            assert!(
                fit.depth > 0.0 && fit.depth < 1.0 && fit.error <= 1e-6 && fit.stderr.is_nan(),
                "{rows:?} {fit:?}"
            );
        }
        assert!(fits[0].depth > fits[2].depth && fits[2].depth > fits[3].depth, "{rows:?} {fits:?}");
    }
}

#[test]
fn settings_are_checked_and_parts_add_up() {
    let sample = Reference::new(&cloud(50, 13)).unwrap();
    for wrong in [
        Auto::new().reference_rows(1),
        Auto::new().trim(0.6),
        Auto::new().trim(f64::NAN),
        Auto::new().tol(0.0),
    ] {
        assert!(Depth::new(wrong).fit(&sample).is_err(), "{wrong:?}");
    }
    let fitted = Depth::auto().fit(&sample).unwrap();
    let queries = cloud(5, 14);
    let fits = fitted.score(&queries).unwrap();
    for (why, fit) in fitted.explain(&queries).unwrap().iter().zip(&fits) {
        let parts = why.parts().unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name).collect();
        assert_eq!(names, ["narrow kernel", "ball", "wide kernel", "column tails"]);
        let log: f64 = parts.iter().map(|part| part.weight * part.probability.ln()).sum();
        assert!((log.exp() - fit.depth).abs() < 1e-12 && why.fit == *fit);
        assert_eq!(why.value, log);
        assert!(why.baseline < 0.0 && why.influence.is_none());
    }
    assert_eq!(Settings::new(Method::Auto).scale, Scale::Standard);
}

/// Columns that depend on each other, one of them with a heavy tail.
fn dependent(n: usize, width: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    let mut row = || {
        let common = random.normal();
        let number =
            |j: usize, noise: f64| if j == 1 { (common + noise).exp() } else { common + 0.1 * noise };
        (0..width).map(|j| number(j, random.normal())).collect()
    };
    (0..n).map(|_| row()).collect()
}

/// The place of each of these rows of the sample when all are ordered by depth, the oddest 0.
fn places(rows: &[Vec<f64>], which: &[usize]) -> Vec<usize> {
    let fits = score(rows, rows);
    which.iter().map(|i| fits.iter().filter(|fit| fit.depth < fits[*i].depth).count()).collect()
}

#[test]
fn gross_errors_in_single_columns_come_first() {
    for (n, width) in [(1000, 6), (300, 3), (400, 200)] {
        let mut rows = dependent(n, width, 31);
        rows[5][0] = 60.0;
        rows[17][2] = -45.0;
        rows[40][1] = 1e7;
        assert!(places(&rows, &[5, 17, 40]).iter().all(|place| *place < 3), "{n} {width}");
    }
}

#[test]
fn a_value_that_does_not_fit_the_other_columns_comes_first() {
    let mut rows = dependent(1000, 6, 32);
    // Both are usual values of their columns, 20 and more residual deviations from what the others say.
    (rows[5][0], rows[17][2]) = (rows[5][0].signum() * -1.5, rows[17][2].signum() * -1.5);
    let found = places(&rows, &[5, 17]);
    assert!(found.iter().all(|place| *place < 4), "{found:?}");
}

#[test]
fn collinear_and_constant_columns_and_wide_tables_have_column_tails() {
    let base = cloud(80, 33);
    let collinear = |x: &Vec<f64>| vec![x[0], 2.0 * x[0] - 1.0, 7.0, x[0] + x[2], x[2]];
    let tables: [Vec<Vec<f64>>; 4] = [
        base.iter().map(collinear).collect(),
        dependent(20, 60, 34),
        dependent(40, 300, 35),
        base.iter().map(|x| vec![x[0]]).collect(),
    ];
    for rows in tables {
        let width = rows[0].len();
        let gross = {
            let mut row = rows[3].clone();
            row[0] = 1e4;
            row
        };
        let fits = score(&rows, &[rows[3].clone(), gross, vec![-1e9; width]]);
        assert!(fits.iter().all(|fit| fit.depth > 0.0 && fit.error <= 1e-6), "{width}: {fits:?}");
        assert!(fits[0].depth > fits[1].depth && fits[1].depth < 1e-3, "{width}: {fits:?}");
        let parts = Depth::auto().fit(&Reference::new(&rows).unwrap()).unwrap().explain(&rows).unwrap();
        let quiet = parts.iter().filter(|why| why.parts().unwrap()[3].probability == 1.0).count();
        assert!(quiet * 10 >= rows.len() * 8, "{width}: {quiet} of {}", rows.len());
    }
}
