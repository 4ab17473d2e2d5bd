//! Samples with categories: which columns belong together, and what every method makes of them.

use crate::common::{Failures, LINEAR, Random};
use lossdepth::data::GroupKind::{self, Category, Gap, Number};
use lossdepth::data::{Layout, Scale, Scaling, ScalingWarning, Transform};
use lossdepth::methods::halfspace::Regions;
use lossdepth::stats::conformal::Conformal;
use lossdepth::{DepthError, Fit, Method, Reference, Rows, Run, Settings};

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
pub(crate) struct Mixed {
    /// The number of levels of each category; `None` for a number.
    pub(crate) levels: Vec<Option<usize>>,
    pub(crate) rows: Vec<Vec<f64>>,
}

/// The factor of every coordinate of a category.
pub(crate) const C: f64 = 1.25;

impl Mixed {
    pub(crate) fn random(random: &mut Random, n: usize, levels: &[Option<usize>], values: usize) -> Self {
        let mut value = |levels: &Option<usize>| random.below(levels.unwrap_or(values)) as f64;
        let rows = (0..n).map(|_| levels.iter().map(&mut value).collect()).collect();
        Self { levels: levels.to_vec(), rows }
    }

    pub(crate) fn layout(&self) -> Layout {
        Layout::new(self.levels.iter().enumerate().map(|(column, levels)| match levels {
            Some(count) => (column, GroupKind::Category, *count),
            None => (column, GroupKind::Number, 1),
        }))
    }

    pub(crate) fn encoded(&self, row: &[f64]) -> Vec<f64> {
        let coordinates = |(levels, x): (&Option<usize>, &f64)| match levels {
            Some(count) => (0..*count).map(|level| if level as f64 == *x { C } else { 0.0 }).collect(),
            None => vec![*x],
        };
        self.levels.iter().zip(row).flat_map(coordinates).collect()
    }

    pub(crate) fn encoded_rows(&self) -> Vec<Vec<f64>> {
        self.rows.iter().map(|row| self.encoded(row)).collect()
    }

    pub(crate) fn sample(&self, weights: &[f64]) -> Reference {
        Reference::weighted(&self.encoded_rows(), weights).unwrap().with_layout(self.layout()).unwrap()
    }
}

/// A sample of three numbers and two categories, some of its rows repeated, and queries of all kinds.
pub(crate) fn several(seed: u64) -> (Mixed, Vec<Vec<f64>>) {
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

pub(crate) fn score(settings: &Settings, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    crate::common::score(settings, sample, queries)
}

/// The methods that take categories, with a penalty that leaves something to do.
pub(crate) fn all_methods() -> Vec<Settings> {
    let with_penalty =
        |method: &Method| Settings { reg: 0.02, scale: Scale::Standard, ..Settings::new(*method) };
    let others = [Method::Svm, Method::Klr, Method::Gp, Method::Mlp, Method::Forest];
    LINEAR.iter().chain(&others).map(with_penalty).collect()
}

#[test]
fn errors_hold_for_samples_with_categories() {
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
