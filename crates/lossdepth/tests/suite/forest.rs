//! The forest depth against its definition: trees grown literally, every order of the features at every node.

use crate::common::{Random, reference, tries};
use lossdepth::Reported;
use lossdepth::methods::Forest;
use lossdepth::methods::forest::{ForestLoss, MaxFeatures};
use lossdepth::{Depth, DepthError, Fit, FittedDepth, Reference, Run, Scale, Stop};
use proptest::prelude::*;

pub(crate) fn fit(forest: Forest, sample: &Reference) -> FittedDepth<Forest> {
    Depth::new(forest).fit(sample).expect("good settings")
}

pub(crate) fn score(forest: Forest, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    fit(forest, sample).score(queries).expect("finite queries")
}

/// Whole numbers, so that there are ties of all kinds.
pub(crate) fn coarse(random: &mut Random, n: usize, d: usize, values: usize) -> Vec<Vec<f64>> {
    (0..n).map(|_| (0..d).map(|_| random.below(values) as f64).collect()).collect()
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
