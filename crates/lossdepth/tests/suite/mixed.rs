//! Samples with categories: which columns belong together, and what every method makes of them.

use crate::common::{Failures, LINEAR, Random};
use lossdepth::data::GroupKind::{self, Category, Gap, Number};
use lossdepth::data::{Layout, Scale, Scaling, ScalingWarning, Transform};
use lossdepth::methods::Forest;
use lossdepth::methods::forest::MaxFeatures;
use lossdepth::methods::halfspace::Regions;
use lossdepth::stats::conformal::Conformal;
use lossdepth::{Depth, DepthError, Fit, Method, Reference, Rows, Run, Settings, Stop};

fn sample() -> Reference {
    Reference::new(&[[1.5, 2.0, 0.0], [0.5, 0.0, 2.0], [0.0, 0.0, 2.0]]).unwrap()
}

#[test]
fn a_layout_must_be_that_of_the_columns() {
    let good = [(0, Number, 1), (1, Category, 2)];
    let kept = sample().with_layout(Layout::new(good)).unwrap();
    assert_eq!(kept.clone().layout(), Some(&Layout::new(good)));
    assert!(sample().with_layout(Layout::new([(0, Number, 1), (0, Gap, 2)])).is_ok());
    assert_eq!(sample().with_layout(Layout::numbers(3)).unwrap().layout(), None, "numbers are the default");
    let bad = [
        (vec![(0, Number, 1), (1, Category, 1)], "the layout has 2 encoded columns, the rows have 3"),
        (vec![(0, Number, 1), (1, Category, 3)], "group 1 of the layout"),
        (vec![(0, Number, 1), (1, Category, 0), (2, Category, 2)], "group 1 of the layout"),
        (vec![(0, Number, 3)], "column 0 is a number, but has 3 encoded columns"),
        (vec![(0, Number, 1), (7, Category, 2)], "is of column 7, but there are 2 groups only"),
        (vec![(0, Category, 2), (1, Number, 1)], "row 0 must have exactly one number other than 0 among its"),
        (vec![(0, Category, 3)], "encoded columns 0 to 2, the levels of column 0"),
        (vec![], "the layout has 0 encoded columns"),
    ];
    for (groups, message) in bad {
        match sample().with_layout(Layout::new(groups)) {
            Err(DepthError::Table(text)) => assert!(text.contains(message), "{text} | {message}"),
            other => panic!("{message}: {other:?}"),
        }
    }
}

#[test]
fn a_layout_from_a_file_is_checked() {
    let text = r#"{"groups": [{"column": 0, "kind": "number", "start": 0, "width": 1},
                              {"column": 1, "kind": "category", "start": 18446744073709551615, "width": 2}]}"#;
    let layout: Layout = serde_json::from_str(text).unwrap();
    assert!(matches!(sample().with_layout(layout), Err(DepthError::Table(_))));
}

/// A table of numbers and levels: a value for each feature, where the level of a category is a whole number.
#[derive(Clone, Debug)]
struct Mixed {
    /// The number of levels of each category; `None` for a number.
    levels: Vec<Option<usize>>,
    rows: Vec<Vec<f64>>,
}

/// The factor of every coordinate of a category.
const C: f64 = 1.25;

impl Mixed {
    fn random(random: &mut Random, n: usize, levels: &[Option<usize>], values: usize) -> Self {
        let mut value = |levels: &Option<usize>| random.below(levels.unwrap_or(values)) as f64;
        let rows = (0..n).map(|_| levels.iter().map(&mut value).collect()).collect();
        Self { levels: levels.to_vec(), rows }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.levels.iter().enumerate().map(|(column, levels)| match levels {
            Some(count) => (column, GroupKind::Category, *count),
            None => (column, GroupKind::Number, 1),
        }))
    }

    fn encoded(&self, row: &[f64]) -> Vec<f64> {
        let coordinates = |(levels, x): (&Option<usize>, &f64)| match levels {
            Some(count) => (0..*count).map(|level| if level as f64 == *x { C } else { 0.0 }).collect(),
            None => vec![*x],
        };
        self.levels.iter().zip(row).flat_map(coordinates).collect()
    }

    fn encoded_rows(&self) -> Vec<Vec<f64>> {
        self.rows.iter().map(|row| self.encoded(row)).collect()
    }

    fn sample(&self, weights: &[f64]) -> Reference {
        Reference::weighted(&self.encoded_rows(), weights).unwrap().with_layout(self.layout()).unwrap()
    }
}

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

/// A sample of three numbers and two categories, some of its rows repeated, and queries of all kinds.
fn several(seed: u64) -> (Mixed, Vec<Vec<f64>>) {
    let mut random = Random::new(seed);
    let levels = [None, Some(4), None, Some(3), None];
    let mut table = Mixed::random(&mut random, 36, &levels, 1000);
    // The last level of the second category is one that no row has.
    table.rows.iter_mut().for_each(|row| row[3] = row[3].min(1.0));
    table.rows.iter_mut().for_each(|row| row[2] = random.normal());
    let copied = table.rows[4].clone();
    table.rows[5] = copied;
    let mut queries = Mixed::random(&mut random, 4, &levels, 1000).rows;
    queries.push(table.rows[0].clone());
    queries.push(vec![500.0, 1.0, 0.3, 2.0, 9000.0]);
    (table, queries)
}

fn score(settings: &Settings, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    crate::common::score(settings, sample, queries)
}

/// The methods that take categories, with a penalty that leaves something to do.
fn all_methods() -> Vec<Settings> {
    let with_penalty =
        |method: &Method| Settings { reg: 0.02, scale: Scale::Standard, ..Settings::new(*method) };
    let others = [Method::Svm, Method::Klr, Method::Gp, Method::Mlp, Method::Forest];
    LINEAR.iter().chain(&others).map(with_penalty).collect()
}

#[test]
fn errors_are_honest_with_categories() {
    let mut failures = Failures::default();
    for seed in 30..33 {
        let (table, queries) = several(seed);
        let sample = table.sample(&[1.0; 36]);
        let queries: Vec<Vec<f64>> = queries.iter().map(|z| table.encoded(z)).collect();
        for settings in all_methods() {
            let tight = Settings { tol: 1e-9, ..settings.clone() };
            let loose = Settings { tol: 1e-3, ..settings.clone() };
            let both = score(&tight, &sample, &queries).into_iter().zip(score(&loose, &sample, &queries));
            for (tight, loose) in both {
                let honest = (tight.depth - loose.depth).abs() <= tight.error + loose.error;
                // A network is not convex: its error reaches down to the bound of networks of any width.
                let close = loose.error <= 1e-3 || settings.method == Method::Mlp;
                failures.check(honest && close && tight.error.is_finite(), || {
                    format!("{}: {tight:?} {loose:?}", settings.method)
                });
            }
        }
    }
    failures.report();
}

#[test]
fn a_weight_is_a_number_of_copies_and_the_order_does_not_matter() {
    let (table, queries) = several(40);
    let mut random = Random::new(41);
    let counts: Vec<usize> = (0..36).map(|i| 1 + i % 3).collect();
    let weights: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
    let copied: Vec<Vec<f64>> = (table.rows.iter().zip(&counts))
        .flat_map(|(row, count)| std::iter::repeat_n(row.clone(), *count))
        .collect();
    let order = random.permutation(copied.len());
    let copies = Mixed { rows: order.iter().map(|&i| copied[i].clone()).collect(), ..table.clone() };
    // Other columns first, and other names of the levels.
    let columns = [3, 0, 4, 1, 2];
    let renamed = |row: &[f64]| -> Vec<f64> {
        let value = |&j: &usize| match table.levels[j] {
            Some(count) => (count - 1) as f64 - row[j],
            None => row[j],
        };
        columns.iter().map(value).collect()
    };
    let moved = Mixed {
        levels: columns.map(|j| table.levels[j]).to_vec(),
        rows: copies.rows.iter().map(|row| renamed(row)).collect(),
    };
    let ones = vec![1.0; copied.len()];
    let mut failures = Failures::default();
    for settings in all_methods() {
        let [weighted, copies, moved] = [
            (&table, &weights, queries.clone()),
            (&copies, &ones, queries.clone()),
            (&moved, &ones, queries.iter().map(|z| renamed(z)).collect()),
        ]
        .map(|(table, weights, queries)| {
            let queries: Vec<Vec<f64>> = queries.iter().map(|z| table.encoded(z)).collect();
            score(&settings, &table.sample(weights), &queries)
        });
        for ((a, b), c) in weighted.iter().zip(&copies).zip(&moved) {
            // The factors of the scaling are rounded: a few units in the last place of the numbers.
            let same = |other: &Fit| (a.depth - other.depth).abs() <= a.error + other.error + 1e-12;
            failures.check(same(b) && same(c), || format!("{}: {a:?} {b:?} {c:?}", settings.method));
        }
    }
    failures.report();
}

#[test]
fn scalings_see_numbers_only() {
    let (table, _) = several(50);
    let weights: Vec<f64> = (0..36).map(|i| f64::from(1 + i % 2)).collect();
    let sample = table.sample(&weights);
    let numbers = [0, 5, 9];
    let rows: Vec<Vec<f64>> =
        table.encoded_rows().iter().map(|row| numbers.iter().map(|&j| row[j]).collect()).collect();
    let plain = Reference::weighted(&rows, &weights).unwrap();
    for scale in Scale::ALL {
        let (all, warning) = Scaling::of(scale, &sample, 0.75).unwrap();
        let (some, same) = Scaling::of(scale, &plain, 0.75).unwrap();
        assert_eq!(warning, same);
        let z: Vec<f64> = (0..10).map(|j| f64::from(j) - 3.5).collect();
        let (mut out, mut few) = ([0.0; 10], [0.0; 3]);
        all.apply(&z, &mut out);
        some.apply(&numbers.map(|j| z[j]), &mut few);
        assert_eq!(numbers.map(|j| out[j]), few, "{scale}");
        let others = |j: &usize| !numbers.contains(j);
        assert!((0..10).filter(others).all(|j| out[j] == z[j]), "{scale} {out:?}");
        // Back to the columns: the transpose of the same blocks.
        let w: Vec<f64> = (0..10).map(|j| 1.0 / f64::from(j + 1)).collect();
        all.pull_back(&w, &mut out);
        some.pull_back(&numbers.map(|j| w[j]), &mut few);
        assert_eq!(numbers.map(|j| out[j]), few, "{scale}");
        assert!((0..10).filter(others).all(|j| out[j] == w[j]), "{scale} {out:?}");
    }
}

#[test]
fn scalings_without_enough_numbers() {
    let mut random = Random::new(51);
    // Seven rows are enough for three numbers, however many levels there are; six are not.
    for (rows, enough) in [(7, true), (6, false)] {
        let mut table = Mixed::random(&mut random, rows, &[Some(6), None, None, Some(9), None], 1);
        table.rows.iter_mut().for_each(|row| [1, 2, 4].iter().for_each(|&j| row[j] = random.normal()));
        let (_, warning) = Scaling::of(Scale::Mcd, &table.sample(&vec![1.0; rows]), 0.75).unwrap();
        let few = ScalingWarning::TooFewRows { distinct: 6, needed: 7 };
        assert_eq!(warning == Some(few), !enough);
    }
    let table = Mixed::random(&mut random, 9, &[Some(2), Some(3)], 1);
    let sample = table.sample(&[1.0; 9]);
    for scale in Scale::ALL {
        let (scaling, warning) = Scaling::of(scale, &sample, 0.75).unwrap();
        let mut out = [0.0; 5];
        scaling.apply(&[1.0, 2.0, 3.0, 4.0, 5.0], &mut out);
        assert_eq!((out, warning), ([1.0, 2.0, 3.0, 4.0, 5.0], None), "{scale}");
        assert_eq!(scaling.transform() == &Transform::Identity, scale == Scale::None, "{scale}");
    }
    assert!(Scaling::of(Scale::Standard, &sample, 0.2).is_err());
    let tiny = Reference::new(&[[1.0, 0.0, 0.0], [0.0, 1.0, 1e-150]]).unwrap();
    let layout = Layout::new([(0, GroupKind::Category, 2), (1, GroupKind::Number, 1)]);
    let refused = Scaling::of(Scale::Standard, &tiny.with_layout(layout).unwrap(), 0.75);
    assert!(matches!(refused, Err(DepthError::TooSmall { column: 2, .. })), "{refused:?}");
}

#[test]
fn samples_of_categories_only() {
    let mut random = Random::new(52);
    let table = Mixed::random(&mut random, 30, &[Some(2), Some(5), Some(3)], 1);
    let sample = table.sample(&[1.0; 30]);
    let queries: Vec<Vec<f64>> =
        Mixed::random(&mut random, 5, &table.levels, 1).rows.iter().map(|z| table.encoded(z)).collect();
    for settings in all_methods() {
        for scale in Scale::ALL {
            for fit in score(&Settings { scale, ..settings.clone() }, &sample, &queries) {
                let sound = (0.0..=1.0).contains(&fit.depth) && fit.error.is_finite();
                assert!(sound, "{} {scale}: {fit:?}", settings.method);
            }
        }
    }
}

#[test]
fn halfspace_wants_numbers() {
    let refused = |groups: &[(usize, GroupKind, usize)], rows: &[[f64; 3]]| {
        let sample = Reference::new(rows).unwrap().with_layout(Layout::new(groups.to_vec())).unwrap();
        Settings::new(Method::Halfspace).fit(&sample).err().map(|error| error.to_string())
    };
    let rows = [[1.5, 2.0, 0.0], [0.5, 0.0, 2.0]];
    assert_eq!(
        refused(&[(0, Number, 1), (1, Category, 2)], &rows).unwrap(),
        "method `halfspace` compares numbers only; column 1 is a category: leave it out, or use another method such \
         as `forest`"
    );
    assert_eq!(
        refused(&[(0, Number, 1), (0, Gap, 2)], &rows).unwrap(),
        "method `halfspace` compares numbers only; column 0 has gaps: leave it out, or use another method such as \
         `forest`"
    );
    assert_eq!(
        refused(&[(0, Category, 1), (2, Category, 1), (2, Gap, 1)], &[[1.0; 3], [2.0; 3]]).unwrap(),
        "method `halfspace` compares numbers only; columns 0 and 2 are categories and column 2 has gaps: leave them \
         out, or use another method such as `forest`"
    );
    assert_eq!(refused(&[(0, Number, 1), (2, Number, 1), (1, Number, 1)], &rows), None);
    let plane = Reference::new(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
    let plane = plane.with_layout(Layout::new([(0, Category, 2)])).unwrap();
    assert!(matches!(Regions::new(&plane), Err(DepthError::Categories { .. })));
}

#[test]
fn contributions_of_a_column_add_up() {
    let (table, queries) = several(60);
    let sample = table.sample(&[1.0; 36]);
    let data: Vec<f64> = queries.iter().flat_map(|z| table.encoded(z)).collect();
    let (rows, run) = (Rows::new(&data, 10).unwrap(), Run::default());
    for scale in [Scale::None, Scale::Standard, Scale::Whiten] {
        let model = Settings { reg: 0.1, scale, ..Settings::new(Method::Logistic) }.fit(&sample).unwrap();
        for why in model.explain(rows, &run).unwrap() {
            let (all, by) = (why.contributions().unwrap(), why.by_column(&table.layout()).unwrap());
            assert_eq!(by.contributions.iter().fold(by.baseline, |sum, c| sum + c), by.value);
            assert!((by.value - why.value).abs() <= 1e-14 * (1.0 + why.value.abs()), "{by:?} {why:?}");
            assert_eq!(by.contributions[1], all[1] + all[2] + all[3] + all[4]);
            assert_eq!(by.contributions[4], all[9]);
            assert_eq!(why.by_column(&Layout::numbers(3)), None);
        }
    }
    // A number and its gap are one column.
    let layout = Layout::new([(0, GroupKind::Number, 1), (1, GroupKind::Number, 1), (0, GroupKind::Gap, 2)]);
    let rows = [[1.5, 0.1, 2.0, 0.0], [0.5, 0.3, 0.0, 2.0], [0.0, 0.9, 0.0, 2.0]];
    let sample = Reference::new(&rows).unwrap().with_layout(layout.clone()).unwrap();
    let model = Settings::new(Method::Logistic).fit(&sample).unwrap();
    let why = model.explain(Rows::new(&rows[0], 4).unwrap(), &run).unwrap().remove(0);
    let (all, by) = (why.contributions().unwrap(), why.by_column(&layout).unwrap());
    assert_eq!(by.contributions, [all[0] + (all[2] + all[3]), all[1]]);
    let forest = Settings::new(Method::Forest).fit(&sample).unwrap();
    assert_eq!(forest.explain(Rows::new(&rows[0], 4).unwrap(), &run).unwrap()[0].by_column(&layout), None);
}

// p-values come from fits to parts of the sample, which must know of the categories too.
#[test]
fn parts_of_a_sample_keep_the_layout() {
    let sample = several(70).0.sample(&[1.0; 36]);
    let settings = Settings::new(Method::Halfspace);
    let refused = Conformal::LeaveOneOut.calibrate(&settings, &sample, &Run::default());
    assert!(matches!(refused, Err(DepthError::Categories { .. })));
}
