//! The forest depth against its definition: trees grown literally, every order of the features at every node.

use crate::common::{Failures, Random, golden, numbers, reference, table, tries};
use lossdepth::Reported;
use lossdepth::methods::Forest;
use lossdepth::methods::forest::{ForestLoss, MaxFeatures};
use lossdepth::{Depth, DepthError, Fit, FittedDepth, Reference, Run, Scale, Stop};
use proptest::prelude::*;

fn fit(forest: Forest, sample: &Reference) -> FittedDepth<Forest> {
    Depth::new(forest).fit(sample).expect("good settings")
}

fn score(forest: Forest, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    fit(forest, sample).score(queries).expect("finite queries")
}

fn permutations(width: usize) -> Vec<Vec<usize>> {
    if width == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for shorter in permutations(width - 1) {
        for at in 0..width {
            let mut order = shorter.clone();
            order.insert(at, width - 1);
            all.push(order);
        }
    }
    all
}

/// Trees that are grown as scikit-learn grows them, on points of two classes, the last of which is the query.
struct Literal<'a> {
    points: &'a [Vec<f64>],
    weights: &'a [f64],
    max_features: usize,
    orders: Vec<Vec<usize>>,
}

impl Literal<'_> {
    fn weight(&self, rows: &[usize]) -> f64 {
        rows.iter().map(|&i| self.weights[i]).sum()
    }

    fn query_weight(&self, rows: &[usize]) -> f64 {
        rows.iter().filter(|&&i| i + 1 == self.points.len()).map(|&i| self.weights[i]).sum()
    }

    /// Weight times entropy, in nats.
    fn impurity(&self, rows: &[usize]) -> f64 {
        let (all, query) = (self.weight(rows), self.query_weight(rows));
        let part = |w: f64| if w > 0.0 { -w * (w / all).ln() } else { 0.0 };
        part(query) + part(all - query)
    }

    /// All splits of a feature that are as good as its best, with what they leave of the impurity.
    fn best(&self, rows: &[usize], feature: usize) -> Option<(f64, Vec<[Vec<usize>; 2]>)> {
        let mut values: Vec<f64> = rows.iter().map(|&i| self.points[i][feature]).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut best: Option<(f64, Vec<[Vec<usize>; 2]>)> = None;
        for pair in values.windows(2) {
            let threshold = f64::midpoint(pair[0], pair[1]);
            let (low, high): (Vec<usize>, Vec<usize>) =
                rows.iter().partition(|&&i| self.points[i][feature] <= threshold);
            let left = self.impurity(&low) + self.impurity(&high);
            match &mut best {
                Some((least, splits)) if (left - *least).abs() < 1e-12 => splits.push([low, high]),
                Some((least, _)) if left > *least => {}
                _ => best = Some((left, vec![[low, high]])),
            }
        }
        best
    }

    /// Adds the probability of the query's class at each point, averaged over all trees below a node.
    fn grow(&self, rows: &[usize], depth: usize, chance: f64, out: &mut [f64]) {
        let found: Vec<_> = (0..self.points[0].len()).map(|j| self.best(rows, j)).collect();
        if depth == 0 || self.impurity(rows) < 1e-12 || found.iter().all(Option::is_none) {
            let p = self.query_weight(rows) / self.weight(rows);
            for &i in rows {
                out[i] += chance * p;
            }
            return;
        }
        let each_order = chance / self.orders.len() as f64;
        for order in &self.orders {
            let mut winner: Option<&(f64, Vec<[Vec<usize>; 2]>)> = None;
            for (visited, &feature) in order.iter().enumerate() {
                if visited >= self.max_features && winner.is_some() {
                    break;
                }
                if let Some(candidate) = &found[feature]
                    && winner.is_none_or(|w| candidate.0 < w.0 - 1e-12)
                {
                    winner = Some(candidate);
                }
            }
            let (_, splits) = winner.expect("a feature that is not constant");
            for sides in splits {
                for side in sides {
                    self.grow(side, depth - 1, each_order / splits.len() as f64, out);
                }
            }
        }
    }
}

/// Probabilities at the rows, and last at the query.
fn literal(rows: &[Vec<f64>], weights: &[f64], z: &[f64], depth: usize, max_features: usize) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let points: Vec<Vec<f64>> = rows.iter().cloned().chain([z.to_vec()]).collect();
    let weights: Vec<f64> = weights.iter().map(|w| 0.5 * w / total).chain([0.5]).collect();
    let orders = permutations(z.len());
    let trees = Literal { points: &points, weights: &weights, max_features, orders };
    let mut out = vec![0.0; points.len()];
    trees.grow(&(0..points.len()).collect::<Vec<_>>(), depth, 1.0, &mut out);
    out
}

fn risk(p: &[f64], weights: &[f64], loss: ForestLoss, value: Reported) -> f64 {
    let total: f64 = weights.iter().sum();
    let of = |right: f64| match loss {
        ForestLoss::Log => -right.log2(),
        ForestLoss::Brier => 4.0 * (1.0 - right) * (1.0 - right),
        ForestLoss::ZeroOne => f64::from(u8::from(right < 0.5 - 1e-9)),
    };
    let mean: f64 = p.iter().zip(weights).map(|(p, w)| w / total * of(1.0 - p)).sum();
    let query = of(p[weights.len()]);
    let nats = if loss == ForestLoss::Log { std::f64::consts::LN_2 } else { 1.0 };
    match value {
        Reported::Risk => 0.5 * mean + 0.5 * query,
        Reported::PaperCode => nats * (0.5 * mean / total + 0.5 * query),
    }
}

/// Whole numbers, so that there are ties of all kinds.
fn coarse(random: &mut Random, n: usize, d: usize, values: usize) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..d).map(|_| random.below(values) as f64).collect()).collect()
}

#[test]
fn brute_force_over_all_trees() {
    let mut failures = Failures::default();
    let mut random = Random::new(1);
    for case in 0..150 {
        let (n, d) = (2 + random.below(6), 1 + random.below(4));
        let mut rows = coarse(&mut random, n, d, 2 + case % 4);
        if case % 3 == 0 {
            let constant = random.below(d);
            for row in &mut rows {
                row[constant] = 1.0;
            }
        }
        let weights: Vec<f64> =
            (0..n).map(|_| if case % 2 == 0 { 1.0 } else { (1 + random.below(3)) as f64 }).collect();
        let sample = Reference::weighted(&rows, &weights).unwrap();
        let z = if case % 5 == 0 { rows[0].clone() } else { coarse(&mut random, 1, d, 5).remove(0) };
        let (depth, features) = (1 + random.below(3), 1 + random.below(d));
        let p = literal(&rows, &weights, &z, depth, features);
        for loss in ForestLoss::ALL {
            for value in Reported::ALL {
                let forest = Forest::new()
                    .max_depth(depth)
                    .max_features(MaxFeatures::Count(features))
                    .loss(loss)
                    .value(value);
                let ours = score(forest, &sample, std::slice::from_ref(&z))[0];
                let exact = risk(&p, &weights, loss, value);
                // A probability of one half, up to rounding, has both values of the 0-1 loss.
                let allowed = if loss == ForestLoss::ZeroOne { ours.error } else { 1e-12 };
                let good = (ours.depth - exact).abs() <= allowed + 1e-14 && ours.stop == Stop::Converged;
                failures.check(good, || {
                    format!(
                        "{rows:?} {weights:?} {z:?} depth {depth}, {features} features: {exact}, {ours:?}"
                    )
                });
            }
        }
    }
    failures.report();
}

/// scikit-learn's trees, on data of many kinds; golden/make_forest.py tells how.
fn agrees(name: &str) {
    let (file, mut failures) = (golden(name), Failures::default());
    let sample = Reference::weighted(&table(&file["rows"]), &numbers(&file["counts"])).unwrap();
    let queries = table(&file["queries"]);
    let forest = Forest::new()
        .max_depth(usize::try_from(file["max_depth"].as_u64().unwrap()).unwrap())
        .max_features(file["max_features"].as_str().unwrap().parse().unwrap());
    for (name, forest) in [
        ("log", forest),
        ("brier", forest.loss(ForestLoss::Brier)),
        ("paper-code", forest.value(Reported::PaperCode)),
    ] {
        for (row, ours) in score(forest, &sample, &queries).iter().enumerate() {
            let witness = numbers(&file["witnesses"][row][name]);
            let (theirs, noise) = (witness[0], witness[1]);
            // The noise is itself an estimate from twenty forests; Student's t with 19 degrees of freedom exceeds
            // 5 once in ten thousand.
            let close = (ours.depth - theirs).abs() <= 5.0 * noise + ours.error + 1e-12;
            failures
                .check(close && ours.error < 1e-10, || format!("{name} query {row}: {witness:?}, {ours:?}"));
        }
    }
    failures.report();
}

#[test] // Whole numbers, ties and duplicates.
fn sklearn_iris() {
    agrees("forest_iris.json");
}

#[test]
fn sklearn_wine() {
    agrees("forest_wine.json");
}

#[test] // Weights, zeros among them, and three levels.
fn sklearn_wine_with_weights() {
    agrees("forest_wine_counted.json");
}

#[test] // Columns that do not vary.
fn sklearn_digits() {
    agrees("forest_digits.json");
}

#[test] // Draws that find nothing but constants and go on.
fn sklearn_constants() {
    agrees("forest_constants.json");
}

#[test] // Few values: copies of the query, sides that tie.
fn sklearn_duplicates() {
    agrees("forest_duplicates.json");
}

#[test] // Four levels.
fn sklearn_normal() {
    agrees("forest_normal.json");
}

#[test] // One level, heavy tails, a fraction of the features.
fn sklearn_tails() {
    agrees("forest_tails.json");
}

#[test] // Three rows.
fn sklearn_few() {
    agrees("forest_few.json");
}

#[test]
fn finite_forests_converge_like_one_over_root_trees() {
    let mut random = Random::new(5);
    let rows = coarse(&mut random, 60, 6, 9);
    let sample = reference(&rows);
    let queries: Vec<Vec<f64>> = rows[..12].to_vec();
    let forest = Forest::new().max_depth(3).max_features(MaxFeatures::Count(2));
    let exact = score(forest, &sample, &queries);
    // The log of the root mean square distance, over queries and seeds, against the log of the number of trees.
    let sizes = [25usize, 100, 400, 1600, 6400];
    let distances: Vec<f64> = sizes
        .iter()
        .map(|&trees| {
            let squares: Vec<f64> = (0..30)
                .flat_map(|seed| score(forest.trees(trees).seed(seed), &sample, &queries))
                .zip(exact.iter().cycle())
                .map(|(ours, exact)| (ours.depth - exact.depth).powi(2))
                .collect();
            (squares.iter().sum::<f64>() / squares.len() as f64).sqrt()
        })
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) =
        sizes.iter().zip(&distances).map(|(n, d)| ((*n as f64).ln(), d.ln())).unzip();
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let slope = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum::<f64>()
        / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>();
    assert!((-0.56..-0.44).contains(&slope), "slope {slope}: {distances:?}");
    assert!(distances[4] < 2e-3, "{distances:?}");
}

#[test] // Constants beyond the first draws, both sides equal: the finite forest makes the same choices as often.
fn finite_forests_have_the_same_mean() {
    let mut random = Random::new(6);
    let mut rows = coarse(&mut random, 12, 5, 3);
    for row in &mut rows {
        (row[1], row[3], row[4]) = (2.0, 2.0, 2.0);
    }
    let sample = reference(&rows);
    let queries = [vec![1.0, 2.0, 1.0, 2.0, 2.0], rows[0].clone()];
    for depth in [1, 2, 4] {
        let forest = Forest::new().max_depth(depth).max_features(MaxFeatures::Count(2));
        let exact = score(forest, &sample, &queries);
        let finite = score(forest.trees(200_000).seed(3), &sample, &queries);
        for (exact, finite) in exact.iter().zip(&finite) {
            assert!((exact.depth - finite.depth).abs() < 3e-3, "{depth}: {exact:?} {finite:?}");
            assert!(finite.error < 1e-12 && finite.stop == Stop::Converged);
        }
    }
}

#[test]
fn a_seed_is_a_forest() {
    let mut random = Random::new(7);
    let rows = random.cloud(50, 5);
    let sample = reference(&rows);
    let forest = Forest::new().trees(40);
    let depths = |seed| -> Vec<f64> {
        score(forest.seed(seed), &sample, &rows[..10]).iter().map(|f| f.depth).collect()
    };
    assert_eq!(depths(1), depths(1));
    assert_ne!(depths(1), depths(2));
}

#[test] // Deep enough for every box to end in itself: cutting goes on past any number of levels.
fn deep_trees_end_by_themselves() {
    let mut random = Random::new(8);
    let rows = coarse(&mut random, 30, 3, 6);
    let sample = reference(&rows);
    for forest in [Forest::new(), Forest::new().trees(50)] {
        let depths = |depth| score(forest.max_depth(depth), &sample, &rows);
        assert_eq!(depths(6), depths(7));
        assert_eq!(depths(6), depths(usize::MAX));
    }
}

#[test] // What is left out is within the bound that is reported, and the bound is of use.
fn remainders_are_certified() {
    let mut random = Random::new(9);
    let rows = random.cloud(80, 12);
    let sample = reference(&rows);
    let queries = [rows[0].clone(), rows[1].clone(), vec![0.0; 12], vec![0.3; 12]];
    for (depth, loss) in
        [(3, ForestLoss::Log), (4, ForestLoss::Log), (4, ForestLoss::Brier), (4, ForestLoss::ZeroOne)]
    {
        let forest = Forest::new().max_depth(depth).max_features(MaxFeatures::Count(2)).loss(loss);
        let exact = score(forest.tol(1e-13).max_boxes(1_000_000), &sample, &queries);
        for tol in [1e-2, 1e-4, 1e-6] {
            for (pruned, exact) in score(forest.tol(tol), &sample, &queries).iter().zip(&exact) {
                let apart = (pruned.depth - exact.depth).abs();
                assert!(apart <= pruned.error + exact.error, "{depth} {tol}: {pruned:?} {exact:?}");
                if loss != ForestLoss::ZeroOne {
                    assert!(pruned.error <= tol && pruned.stop == Stop::Converged, "{tol}: {pruned:?}");
                }
            }
        }
        for boxes in [1, 7] {
            for (pruned, exact) in score(forest.max_boxes(boxes), &sample, &queries).iter().zip(&exact) {
                let apart = (pruned.depth - exact.depth).abs();
                assert!(apart <= pruned.error + exact.error, "{depth} {boxes}: {pruned:?} {exact:?}");
                assert!(loss == ForestLoss::ZeroOne || pruned.stop == Stop::IterationLimit, "{pruned:?}");
            }
        }
    }
}

#[test]
fn wide_samples() {
    let mut random = Random::new(10);
    let rows = random.cloud(40, 700);
    let sample = reference(&rows);
    let fits = score(Forest::new(), &sample, &[rows[0].clone(), vec![0.0; 700]]);
    assert!(fits.iter().all(|f| f.error <= 1e-6 && f.stop == Stop::Converged), "{fits:?}");
    let finite = score(Forest::new().trees(20_000), &sample, &[rows[0].clone(), vec![0.0; 700]]);
    assert!(fits.iter().zip(&finite).all(|(a, b)| (a.depth - b.depth).abs() < 1e-3), "{fits:?} {finite:?}");
}

#[test]
fn batch_order_and_threads_do_not_matter() {
    let mut random = Random::new(11);
    let rows = random.cloud(70, 6);
    let sample = reference(&rows);
    for forest in
        [Forest::new(), Forest::new().max_depth(4), Forest::new().trees(30), Forest::new().rotations(3)]
    {
        let depth = fit(forest, &sample);
        let run = |threads| Run { threads: Some(threads), ..Run::default() };
        let all = depth.score_with(&rows, &run(1)).unwrap();
        assert_eq!(all, depth.score_with(&rows, &run(3)).unwrap());
        let order = random.permutation(rows.len());
        let shuffled: Vec<Vec<f64>> = order.iter().map(|&i| rows[i].clone()).collect();
        let scores = depth.score(&shuffled).unwrap();
        for (&i, fit) in order.iter().zip(&scores) {
            assert_eq!(all[i], *fit);
            assert_eq!(depth.score(std::slice::from_ref(&rows[i])).unwrap()[0], *fit);
        }
        // Nor the order of the rows, nor that of the columns but for the last bits.
        let other = fit(forest, &reference(&shuffled)).score(&rows).unwrap();
        for (a, b) in all.iter().zip(&other) {
            assert!((a.depth - b.depth).abs() <= a.error + b.error, "{a:?} {b:?}");
        }
    }
}

fn points(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f64>>> {
    let number = prop_oneof![(0i32..4).prop_map(f64::from), -3.0..3.0f64];
    prop::collection::vec(prop::collection::vec(number, 3), n)
}

proptest! {
    #![proptest_config(tries(200))]

    #[test] // A strictly increasing map of a column changes no order, a decreasing one swaps the sides.
    fn columns_may_be_bent_and_turned_over(rows in points(2..30), z in points(1..2), depth in 1usize..5) {
        let bend = |row: &Vec<f64>| vec![row[2].exp(), -row[0], row[1].powi(3) + 5.0];
        let forest = Forest::new().max_depth(depth).max_features(MaxFeatures::Count(2));
        let a = score(forest, &reference(&rows), &z)[0];
        let bent: Vec<_> = rows.iter().map(bend).collect();
        let b = score(forest, &reference(&bent), &[bend(&z[0])])[0];
        prop_assert!((a.depth - b.depth).abs() <= a.error + b.error, "{a:?} {b:?}");
    }

    #[test]
    fn a_weight_is_a_number_of_copies(
        rows in points(2..20), z in points(1..2), counts in prop::collection::vec(0usize..4, 20), depth in 1usize..4,
    ) {
        let counts: Vec<usize> = rows.iter().zip(&counts).enumerate().map(|(i, (_, c))| c + usize::from(i < 2)).collect();
        let copies: Vec<Vec<f64>> =
            rows.iter().zip(&counts).flat_map(|(row, count)| vec![row.clone(); *count]).collect();
        let weights: Vec<f64> = counts.iter().map(|c| *c as f64).collect();
        let tenths: Vec<f64> = counts.iter().map(|c| 0.1 * *c as f64).collect();
        for forest in [Forest::new(), Forest::new().trees(20), Forest::new().rotations(2)] {
            for loss in ForestLoss::ALL {
                let forest = forest.max_depth(depth).loss(loss);
                let a = score(forest, &Reference::weighted(&rows, &weights).unwrap(), &z)[0];
                let b = score(forest, &reference(&copies), &z)[0];
                let c = score(forest, &Reference::weighted(&rows, &tenths).unwrap(), &z)[0];
                prop_assert!((a.depth - b.depth).abs() <= a.error + b.error, "{a:?} {b:?}");
                prop_assert!((a.depth - c.depth).abs() <= a.error + c.error, "{a:?} {c:?}");
            }
        }
    }

    #[test]
    fn depths_are_between_zero_and_one(rows in points(2..30), z in points(1..2), depth in 1usize..5) {
        for loss in ForestLoss::ALL {
            for forest in [Forest::new(), Forest::new().trees(5), Forest::new().rotations(2)] {
                let fit = score(forest.max_depth(depth).loss(loss), &reference(&rows), &z)[0];
                prop_assert!(fit.depth >= 0.0 && fit.depth <= 1.0 + fit.error, "{fit:?}");
                prop_assert!(fit.error >= 0.0 && fit.error.is_finite() && fit.stderr.is_nan(), "{fit:?}");
            }
        }
    }
}

#[test] // Weights of any kind: those of a finer grid come close to those of a coarser one.
fn weights_of_importance() {
    let mut random = Random::new(12);
    let rows = random.cloud(40, 4);
    let weights: Vec<f64> = (0..40).map(|_| random.unit() * 1e-3).collect();
    let ours = score(Forest::new(), &Reference::weighted(&rows, &weights).unwrap(), &rows[..5]);
    let counts: Vec<f64> = weights.iter().map(|w| (w * 1e12).round()).collect();
    let rounded = score(Forest::new(), &Reference::weighted(&rows, &counts).unwrap(), &rows[..5]);
    for (a, b) in ours.iter().zip(&rounded) {
        assert!((a.depth - b.depth).abs() < 1e-8 && a.depth > 0.0, "{a:?} {b:?}");
    }
}

#[test]
fn degenerate_samples() {
    let same = reference(&vec![vec![1.0, 2.0]; 5]);
    let fits = score(Forest::new(), &same, &[vec![1.0, 2.0], vec![1.0, 3.0]]);
    assert_eq!((fits[0].depth, fits[1].depth), (1.0, 0.0));
    assert!(fits[1].depth.is_sign_positive());
    let zero_one = Forest::new().loss(ForestLoss::ZeroOne);
    let fit = score(zero_one, &same, &[vec![1.0, 2.0]])[0];
    assert!(fit.depth == 0.0 && fit.error == 0.0, "{fit:?}");
    let pair = reference(&[vec![0.0], vec![1.0]]);
    // Half the sample is left after one cut, on either side; after a second one nothing.
    let fit = score(Forest::new().max_depth(1), &pair, &[vec![0.5]])[0];
    let p: f64 = 1.0 / 1.5;
    assert!((fit.depth - 0.5 * (-(1.0 - p / 2.0).log2() - p.log2())).abs() < 1e-15, "{fit:?}");
    assert_eq!(score(Forest::new(), &pair, &[vec![0.5]])[0].depth, 0.0);
    // A box keeps the copy of the query and nothing else.
    let fit = score(Forest::new(), &pair, &[vec![0.0]])[0];
    let p: f64 = 1.0 / 1.5;
    assert!((fit.depth - 0.5 * (0.5 * -(1.0 - p).log2() - p.log2())).abs() < 1e-15, "{fit:?}");
    for size in [1e-12, 1e12] {
        let rows: Vec<Vec<f64>> =
            Random::new(1).cloud(9, 20).iter().map(|r| r.iter().map(|x| x * size).collect()).collect();
        assert!(
            score(Forest::new(), &reference(&rows), &rows).iter().all(|f| f.depth > 0.0 && f.depth < 1.0)
        );
    }
}

#[test]
fn settings_are_checked() {
    let sample = reference(&[vec![0.0, 1.0], vec![1.0, 0.0]]);
    let wrong = |forest: Forest| match Depth::new(forest).fit(&sample) {
        Err(DepthError::Setting { name, .. }) => name,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{forest:?}"),
    };
    assert_eq!(wrong(Forest::new().max_depth(0)), "max_depth");
    assert_eq!(wrong(Forest::new().max_boxes(0)), "max_boxes");
    assert_eq!(wrong(Forest::new().tol(0.0)), "tol");
    assert_eq!(wrong(Forest::new().tol(f64::NAN)), "tol");
    assert_eq!(wrong(Forest::new().trees(usize::MAX)), "trees");
    assert_eq!(wrong(Forest::new().rotations(usize::MAX)), "rotations");
    let error = Depth::new(Forest::new().rotations(10_000_000)).fit(&reference(&vec![vec![1.0; 200]; 3]));
    assert!(error.err().unwrap().to_string().contains("`rotations` can be 1789569 at most"));
    for features in ["0", "3", "0.0", "1.5", "-0.5"] {
        assert_eq!(
            wrong(Forest::new().max_features(features.parse().unwrap())),
            "max_features",
            "{features}"
        );
    }
    for features in ["", "some", "nan", "inf", "-1x"] {
        assert!(features.parse::<MaxFeatures>().is_err(), "{features}");
    }
    for features in ["sqrt", "log2", "all", "2", "0.5", "1.0"] {
        assert_eq!(features.parse::<MaxFeatures>().unwrap().to_string(), features);
    }
    let counts = [("sqrt", 4), ("log2", 4), ("all", 17), ("3", 3), ("0.5", 8), ("1.0", 17), ("0.001", 1)];
    for (name, count) in counts {
        assert_eq!(name.parse::<MaxFeatures>().unwrap().count(17).unwrap(), count, "{name}");
    }
    assert_eq!((MaxFeatures::Sqrt.count(1).unwrap(), MaxFeatures::Log2.count(1).unwrap()), (1, 1));
}

/// Two clouds of 100 points around plus and minus 3.5 in all coordinates: the paper's example.
fn two_clouds(random: &mut Random, d: usize) -> Vec<Vec<f64>> {
    let mut rows = random.cloud(200, d);
    for (i, row) in rows.iter_mut().enumerate() {
        for x in row.iter_mut() {
            *x += if i < 100 { 3.5 } else { -3.5 };
        }
    }
    rows
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64);
    ranks
}

fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let of = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    of(&a, &b) / (of(&a, &a) * of(&b, &b)).sqrt()
}

#[test] // Axis-parallel boxes see round clouds badly; boxes in many frames follow their density.
fn rotations_help_with_round_clouds() {
    let mut random = Random::new(13);
    for d in [2, 8] {
        let (mut plain, mut turned) = (0.0, 0.0);
        for run in 0..5 {
            let rows = two_clouds(&mut random, d);
            let density = |x: &Vec<f64>| -> f64 {
                let at = |c: f64| (-0.5 * x.iter().map(|x| (x - c).powi(2)).sum::<f64>()).exp();
                at(3.5) + at(-3.5)
            };
            let density: Vec<f64> = rows.iter().map(density).collect();
            let correlation = |forest: Forest| {
                let depths: Vec<f64> =
                    score(forest, &reference(&rows), &rows).iter().map(|f| f.depth).collect();
                spearman(&depths, &density) / 5.0
            };
            plain += correlation(Forest::new());
            turned += correlation(Forest::new().rotations(30).seed(run));
        }
        println!(
            "d = {d}: Spearman's correlation with the density {plain:.3}, with 30 rotations {turned:.3}"
        );
        assert!(turned > plain + 0.04, "d = {d}: {plain} {turned}");
    }
}

#[test] // With rotations the depth hardly depends on the frame it is given in; without, it does.
fn rotations_forget_the_axes() {
    let mut random = Random::new(14);
    let rows = random.cloud(150, 2);
    let (s, c) = 0.7f64.sin_cos();
    let turn = |r: &Vec<f64>| vec![c * r[0] - s * r[1], s * r[0] + c * r[1]];
    let turned: Vec<_> = rows.iter().map(turn).collect();
    let change = |forest: Forest| -> f64 {
        let a = score(forest, &reference(&rows), &rows);
        let b = score(forest, &reference(&turned), &turned);
        a.iter().zip(&b).map(|(a, b)| (a.depth - b.depth).abs()).sum::<f64>() / 150.0
    };
    let (plain, many) = (change(Forest::new()), change(Forest::new().rotations(400)));
    assert!(many < plain / 4.0, "{plain} {many}");
}

#[test]
fn explanations_name_the_cuts() {
    let mut random = Random::new(15);
    let mut rows = random.cloud(100, 4);
    for row in &mut rows {
        row[3] = 7.0;
    }
    let sample = reference(&rows);
    let z = vec![4.0, 0.1, -0.2, 7.0];
    let depth = Depth::new(Forest::new().max_features(MaxFeatures::All)).fit(&sample).unwrap();
    let why = &depth.explain(std::slice::from_ref(&z)).unwrap()[0];
    // The first column gives it away at once: one cut, below, and the box is empty.
    let &[cut] = why.cuts().unwrap() else { panic!("{why:?}") };
    assert!(cut.feature == 0 && !cut.above && cut.probability == 1.0 && cut.share == 0.0, "{cut:?}");
    let largest = rows.iter().fold(f64::MIN, |m, r| m.max(r[0]));
    assert_eq!(cut.threshold, f64::midpoint(4.0, largest));
    assert_eq!((why.fit.depth, why.value), (0.0, -1.0));
    assert!(why.contributions().is_none() && why.gradient().is_none() && why.baseline == 1.0);

    let z = vec![1.0, -0.5, 0.3, 7.0];
    for scale in [Scale::None, Scale::Standard] {
        let depth = Depth::new(Forest::new()).scale(scale).fit(&sample).unwrap();
        let why = &depth.explain(std::slice::from_ref(&z)).unwrap()[0];
        assert_eq!(why.fit, depth.score(std::slice::from_ref(&z)).unwrap()[0]);
        // Two cuts a tree, none in the constant column; each leaves the share of the sample it says.
        let cuts = why.cuts().unwrap();
        assert!((cuts.iter().map(|c| c.probability).sum::<f64>() - 2.0).abs() < 1e-12);
        assert!(cuts.windows(2).all(|c| c[0].probability >= c[1].probability));
        for cut in cuts {
            assert!(cut.feature < 3 && (z[cut.feature] < cut.threshold) == cut.above, "{cut:?}");
            let inside = rows.iter().filter(|r| (r[cut.feature] < cut.threshold) == cut.above).count();
            assert_eq!(inside as f64 / 100.0, cut.share, "{cut:?}");
        }
    }
    for depth in [
        Depth::new(Forest::new().rotations(2)).fit(&sample).unwrap(),
        Depth::new(Forest::new()).scale(Scale::Whiten).fit(&sample).unwrap(),
    ] {
        assert!(depth.explain(std::slice::from_ref(&z)).unwrap()[0].cuts().is_none());
    }
}

#[test] // The influence is the derivative by the weights, as long as no two features change places.
fn influence_is_a_derivative() {
    let mut random = Random::new(16);
    let rows = random.cloud(60, 3);
    // Weights without ties.
    let weights: Vec<f64> = (0..60).map(|_| 1.0 + random.unit()).collect();
    let total: f64 = weights.iter().sum();
    let z = vec![vec![0.7, -1.1, 0.2]];
    for forest in [
        Forest::new(),
        Forest::new().loss(ForestLoss::Brier),
        Forest::new().value(Reported::PaperCode),
        Forest::new().rotations(3).max_depth(3),
    ] {
        let why = &fit(forest, &Reference::weighted(&rows, &weights).unwrap()).explain(&z).unwrap()[0];
        let influence = why.influence.as_ref().unwrap();
        let mean: f64 = influence.iter().zip(&weights).map(|(i, w)| i * w / total).sum();
        assert!(mean.abs() < 1e-14, "{mean}");
        for row in 0..60 {
            let moved = |step: f64| {
                let mut weights = weights.clone();
                weights[row] += total * step;
                score(forest, &Reference::weighted(&rows, &weights).unwrap(), &z)[0].depth
            };
            let step = 1e-6;
            // The weights are normalised: a mass `step` more at the row is a share step / (1 + step).
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            let apart = (slope - influence[row]).abs();
            assert!(apart < 1e-7, "{slope} {}", influence[row]);
        }
    }
}

#[test] // With a million columns a query took minutes.
fn too_many_columns_for_all_trees_are_refused() {
    let width = 100_001;
    let sample = reference(&[vec![0.0; width], vec![1.0; width], vec![2.0; width]]);
    let refused = Depth::new(Forest::new()).fit(&sample).err().expect("too many columns").to_string();
    assert!(refused.contains("at most 100000 columns") && refused.contains("`trees`"), "{refused}");
    let fit = score(Forest::new().trees(3), &sample, &[vec![1.0; width]])[0];
    assert!(fit.depth > 0.0, "{fit:?}");
}

#[test] // The mass of a row was cut off at 1e15 units, 22 % of all; sums of larger masses went over.
fn large_weights_are_weights() {
    let mut random = Random::new(23);
    let rows = random.cloud(30, 3);
    let queries = random.cloud(6, 3);
    let depths = |weights: &[f64]| -> Vec<f64> {
        let sample = Reference::weighted(&rows, weights).unwrap();
        score(Forest::new(), &sample, &queries).iter().map(|fit| fit.depth).collect()
    };
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-5);
    // One row has nine tenths; importance weights, and nearly the same ones as counts.
    let heavy: Vec<f64> =
        (0..30).map(|i| if i == 0 { 260.0 } else { 0.5 + (0.7 * f64::from(i)).sin().abs() }).collect();
    let counts: Vec<f64> = heavy.iter().map(|w| (w * 1e8).round()).collect();
    assert!(near(&depths(&heavy), &depths(&counts)));
    // Counts whose sum is more than 64 bits hold.
    let huge: Vec<f64> = (0..30).map(|i| 1e18 * f64::from(1 + i % 4) + 4096.0).collect();
    let small: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 4)).collect();
    assert!(near(&depths(&huge), &depths(&small)));
}
