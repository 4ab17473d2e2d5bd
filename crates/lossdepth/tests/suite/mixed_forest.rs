//! Forests of samples with categories against their definition, and what is left out of them.

use crate::common::{Failures, Random};
use crate::mixed::{C, Mixed};
use lossdepth::data::Scale;
use lossdepth::methods::Forest;
use lossdepth::methods::forest::MaxFeatures;
use lossdepth::{Depth, Fit, Stop};

/// All orders of the numbers below `count`.
fn orders(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let longer =
        |order: Vec<usize>| (0..count).map(move |at| [&order[..at], &[count - 1], &order[at..]].concat());
    orders(count - 1).into_iter().flat_map(longer).collect()
}

/// Trees grown literally: a number is split at every threshold, a category into any two sets of levels.
struct Literal<'a> {
    table: &'a Mixed,
    /// The rows of the table, and last the query.
    points: Vec<Vec<f64>>,
    masses: Vec<f64>,
    max_features: usize,
    orders: Vec<Vec<usize>>,
}

impl Literal<'_> {
    fn query(&self) -> usize {
        self.points.len() - 1
    }

    fn mass(&self, node: &[usize]) -> f64 {
        node.iter().map(|&i| self.masses[i]).sum()
    }

    /// Mass times entropy.
    fn impurity(&self, node: &[usize]) -> f64 {
        let all = self.mass(node);
        let query = if node.contains(&self.query()) { self.masses[self.query()] } else { 0.0 };
        let part = |mass: f64| if mass > 1e-12 { -mass * (mass / all).ln() } else { 0.0 };
        part(query) + part(all - query)
    }

    /// The different ways to part a node by a feature: the points on the query's side.
    fn splits(&self, node: &[usize], feature: usize) -> Vec<Vec<usize>> {
        let of = |i: usize| self.points[i][feature];
        let mut values: Vec<f64> = node.iter().map(|&i| of(i)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let with = |inside: &dyn Fn(f64) -> bool| -> Vec<usize> {
            let side = inside(of(self.query()));
            node.iter().copied().filter(|&i| inside(of(i)) == side).collect()
        };
        let mut sides: Vec<Vec<usize>> = match self.table.levels[feature] {
            None => values.windows(2).map(|pair| with(&|x| x <= 0.5 * (pair[0] + pair[1]))).collect(),
            Some(_) => (1..(1usize << values.len()) - 1)
                .map(|set| {
                    with(&|x| values.iter().position(|v| *v == x).is_some_and(|at| set & (1 << at) != 0))
                })
                .collect(),
        };
        sides.sort();
        sides.dedup();
        sides
    }

    /// What the best splits of a feature leave of the impurity, and all of them.
    fn best(&self, node: &[usize], feature: usize) -> Option<(f64, Vec<Vec<usize>>)> {
        let left = |side: &Vec<usize>| {
            let others: Vec<usize> = node.iter().copied().filter(|i| !side.contains(i)).collect();
            self.impurity(side) + self.impurity(&others)
        };
        let splits = self.splits(node, feature);
        let least = splits.iter().map(left).min_by(f64::total_cmp)?;
        Some((least, splits.into_iter().filter(|side| left(side) < least + 1e-12).collect()))
    }

    /// Adds the probability of the query's class at each point. Nodes without the query are pure and add nothing.
    fn grow(&self, node: &[usize], depth: usize, probability: f64, out: &mut [f64]) {
        let best: Vec<_> = (0..self.table.levels.len()).map(|j| self.best(node, j)).collect();
        if depth == 0 || node.len() == 1 || best.iter().all(Option::is_none) {
            let p = self.masses[self.query()] / self.mass(node);
            for &i in node {
                out[i] += probability * p;
            }
            return;
        }
        for order in &self.orders {
            let mut winner: Option<&(f64, Vec<Vec<usize>>)> = None;
            for (visited, &feature) in order.iter().enumerate() {
                if visited >= self.max_features && winner.is_some() {
                    break;
                }
                if let Some(found) = &best[feature]
                    && winner.is_none_or(|w| found.0 < w.0 - 1e-12)
                {
                    winner = Some(found);
                }
            }
            let (_, sides) = winner.expect("some feature is not constant");
            let each = probability / self.orders.len() as f64 / sides.len() as f64;
            for side in sides {
                self.grow(side, depth - 1, each, out);
            }
        }
    }

    /// The depth by the log-loss.
    fn depth(table: &Mixed, weights: &[f64], z: &[f64], depth: usize, max_features: usize) -> f64 {
        let total: f64 = weights.iter().sum();
        let points: Vec<Vec<f64>> = table.rows.iter().cloned().chain([z.to_vec()]).collect();
        let masses: Vec<f64> = weights.iter().map(|w| 0.5 * w / total).chain([0.5]).collect();
        let trees = Literal { table, points, masses, max_features, orders: orders(z.len()) };
        let mut p = vec![0.0; trees.points.len()];
        trees.grow(&(0..trees.points.len()).collect::<Vec<_>>(), depth, 1.0, &mut p);
        let loss: f64 =
            p.iter().zip(&trees.masses).map(|(p, m)| -m * (1.0 - p).log2()).take(weights.len()).sum();
        loss - 0.5 * p[weights.len()].log2()
    }
}

fn forest(table: &Mixed, weights: &[f64], forest: Forest, queries: &[Vec<f64>]) -> Vec<Fit> {
    let queries: Vec<Vec<f64>> = queries.iter().map(|z| table.encoded(z)).collect();
    Depth::new(forest).fit(&table.sample(weights)).unwrap().score(&queries).unwrap()
}

#[test]
fn forest_by_brute_force_over_all_orders_of_features() {
    let (mut failures, mut random) = (Failures::default(), Random::new(20));
    for case in 0..120 {
        let width = 1 + random.below(4);
        // A third of the samples are categories only; the others have some.
        let mut levels: Vec<Option<usize>> = (0..width)
            .map(|_| (case % 3 == 0 || random.below(2) == 0).then(|| 2 + random.below(3)))
            .collect();
        levels[0].get_or_insert(3);
        let n = 2 + random.below(6);
        let mut table = Mixed::random(&mut random, n, &levels, 4);
        if case % 4 == 0 {
            table.rows.iter_mut().for_each(|row| row[0] = 1.0);
        }
        let weights: Vec<f64> =
            (0..n).map(|_| if case % 2 == 0 { 1.0 } else { (1 + random.below(3)) as f64 }).collect();
        let mut z = if case % 5 == 0 {
            table.rows[0].clone()
        } else {
            Mixed::random(&mut random, 1, &levels, 5).rows.remove(0)
        };
        if case % 7 == 0 {
            // A level that no row has.
            table.levels[0] = levels[0].map(|count| count + 1);
            z[0] = levels[0].unwrap() as f64;
        }
        let (depth, count) = (1 + random.below(3), 1 + random.below(width));
        let exact = Literal::depth(&table, &weights, &z, depth, count);
        let settings = Forest::new().max_depth(depth).max_features(MaxFeatures::Count(count));
        let ours = forest(&table, &weights, settings, std::slice::from_ref(&z))[0];
        // The sum over all orders has up to 24³ terms.
        let good = (ours.depth - exact).abs() <= ours.error + 1e-12 && ours.error < 1e-12;
        failures.check(good && ours.stop == Stop::Converged, || {
            format!("{table:?} {weights:?} {z:?} depth {depth}, {count} features: {exact}, {ours:?}")
        });
    }
    failures.report();
}

#[test]
fn a_level_that_the_sample_lacks_is_as_shallow_as_can_be() {
    let mut random = Random::new(21);
    let levels = [Some(3), None, Some(4)];
    let mut table = Mixed::random(&mut random, 40, &levels, 9);
    table.levels[0] = Some(4);
    let weights = vec![1.0; 40];
    let all = Forest::new().max_features(MaxFeatures::All);
    let known = table.rows[3].clone();
    let unseen = vec![3.0, known[1], known[2]];
    let fits = forest(&table, &weights, all, &[known, unseen]);
    assert!(fits[0].depth > 0.0 && fits[1].depth == 0.0, "{fits:?}");
    // The same without a coordinate for the level: the query has none of those that the sample has.
    table.levels[0] = Some(3);
    let sample = table.sample(&weights);
    let z = [&[0.0; 3][..], &[table.rows[3][1]], &[C, 0.0, 0.0, 0.0]].concat();
    let depth = Depth::new(all).fit(&sample).unwrap();
    assert_eq!(depth.score(std::slice::from_ref(&z)).unwrap()[0].depth, 0.0);
    let why = &depth.explain(&[z]).unwrap()[0];
    assert_eq!(why.cuts().unwrap()[0].level, None);
}

#[test]
fn finite_forests_approach_the_average_over_all_trees() {
    let mut random = Random::new(22);
    let table = Mixed::random(&mut random, 60, &[Some(3), None, Some(5), None, Some(2)], 30);
    let weights = vec![1.0; 60];
    let queries = Mixed::random(&mut random, 8, &table.levels, 30).rows;
    let all = forest(&table, &weights, Forest::new(), &queries);
    let some = forest(&table, &weights, Forest::new().trees(20_000).seed(7), &queries);
    for (all, some) in all.iter().zip(&some) {
        // By Hoeffding, the mean of 20,000 probabilities is off by more than 0.02 once in five million times; at these
        // depths that moves the depth by less than 0.05.
        assert!((all.depth - some.depth).abs() < 0.05, "{all:?} {some:?}");
    }
    let again = forest(&table, &weights, Forest::new().trees(20_000).seed(7), &queries[3..4]);
    assert_eq!(again[0], some[3]);
}

#[test]
fn rotations_turn_numbers_only() {
    let mut random = Random::new(23);
    let mut table = Mixed::random(&mut random, 50, &[Some(3), None, None], 30);
    let (weights, queries) = (vec![1.0; 50], Mixed::random(&mut random, 6, &table.levels, 30).rows);
    let rotated = Forest::new().rotations(5).seed(3);
    let fits = forest(&table, &weights, rotated, &queries);
    // A level that no row has separates the query in every frame, as soon as it is drawn.
    table.levels[0] = Some(4);
    let unseen: Vec<Vec<f64>> = queries.iter().map(|z| vec![3.0, z[1], z[2]]).collect();
    let all = forest(&table, &weights, rotated.max_features(MaxFeatures::All), &unseen);
    assert!(all.iter().all(|fit| fit.depth == 0.0) && fits.iter().all(|fit| fit.depth > 0.0), "{fits:?}");
    // Without numbers there is nothing to rotate.
    let levels = Mixed::random(&mut random, 50, &[Some(3), Some(4), Some(2)], 1);
    let queries = &levels.rows[..6];
    let [plain, turned] = [Forest::new(), rotated].map(|f| forest(&levels, &weights, f, queries));
    for (plain, turned) in plain.iter().zip(&turned) {
        assert!((plain.depth - turned.depth).abs() <= plain.error + turned.error, "{plain:?} {turned:?}");
    }
}

#[test]
fn cuts_name_the_level() {
    let mut random = Random::new(24);
    let mut table = Mixed::random(&mut random, 30, &[None, Some(3)], 30);
    for row in &mut table.rows {
        row[1] = row[1].min(1.0);
    }
    table.rows[0][1] = 2.0;
    let sample = table.sample(&[1.0; 30]);
    let forest = Forest::new().max_features(MaxFeatures::All).max_depth(1);
    for scale in [Scale::None, Scale::Standard, Scale::Robust] {
        let z = table.encoded(&[15.0, 2.0]);
        let why = Depth::new(forest).scale(scale).fit(&sample).unwrap().explain(&[z]).unwrap().remove(0);
        let [cut] = why.cuts().unwrap()[..] else { panic!("{why:?}") };
        assert_eq!((cut.feature, cut.level, cut.above, cut.threshold), (3, Some(2), false, 0.5 * C));
        assert_eq!((cut.probability, cut.share), (1.0, 1.0 / 30.0));
    }
}

#[test]
fn boxes_left_out_are_certified() {
    let mut random = Random::new(25);
    let levels: Vec<Option<usize>> = (0..12).map(|j| (j % 2 == 0).then_some(2 + j % 5)).collect();
    let table = Mixed::random(&mut random, 80, &levels, 40);
    let (weights, queries) = (vec![1.0; 80], Mixed::random(&mut random, 4, &levels, 40).rows);
    for depth in [3, 4] {
        let settings = Forest::new().max_depth(depth).max_features(MaxFeatures::Count(2));
        let exact = forest(&table, &weights, settings.tol(1e-13).max_boxes(1_000_000), &queries);
        let loose = [settings.tol(1e-2), settings.tol(1e-4), settings.max_boxes(7)];
        for settings in loose {
            for (pruned, exact) in forest(&table, &weights, settings, &queries).iter().zip(&exact) {
                let apart = (pruned.depth - exact.depth).abs();
                assert!(apart <= pruned.error + exact.error && exact.error < 1e-10, "{pruned:?} {exact:?}");
            }
        }
    }
}

// Wide enough for the least probable splits of the last level not to be made.
#[test]
fn splits_left_out_are_certified() {
    let mut random = Random::new(26);
    for categories in [false, true] {
        let levels: Vec<Option<usize>> = (0..140).map(|j| (categories && j % 2 == 0).then_some(3)).collect();
        let table = Mixed::random(&mut random, 50, &levels, 1000);
        let weights: Vec<f64> =
            (0..50).map(|i| if categories { f64::from(1 + i % 2) } else { 1.0 }).collect();
        let mut queries = Mixed::random(&mut random, 3, &levels, 1000).rows;
        queries.push(table.rows[0].clone());
        let exact = forest(&table, &weights, Forest::new().tol(1e-14), &queries);
        for tol in [1e-2, 1e-4, 1e-6] {
            for (some, all) in forest(&table, &weights, Forest::new().tol(tol), &queries).iter().zip(&exact) {
                let apart = (some.depth - all.depth).abs();
                assert!(apart <= some.error + all.error && all.error < 1e-10, "{tol}: {some:?} {all:?}");
                let left_out = some.error > 1e-3 * tol && some.depth != all.depth;
                assert!(left_out && some.error <= tol && some.stop == Stop::Converged, "{tol}: {some:?}");
            }
        }
    }
}
