//! Comparing two samples: the definitions, the level of the tests, and what does not change a result.

use crate::common::Random;
use lossdepth::data::{Column, EncodingOptions, Table, Texts, Values};
use lossdepth::stats::two_sample::{CompareOptions, Comparison, Shifted, TwoSampleTest};
use lossdepth::{DepthError, Method, Run, Scale, Settings};

fn numbers(name: &str, values: Vec<f64>) -> Column {
    Column { name: name.to_owned(), values: Values::Numbers(values) }
}

fn texts(name: &str, values: &[&str]) -> Column {
    let mut texts = Texts::default();
    for text in values {
        texts.push(Some(*text).filter(|text| !text.is_empty()));
    }
    Column { name: name.to_owned(), values: Values::Texts(texts) }
}

/// Two columns of normal numbers around `shift`.
fn cloud(rows: usize, shift: f64, random: &mut Random) -> Table {
    let mut column = |name: &str| numbers(name, (0..rows).map(|_| random.normal() + shift).collect());
    Table::new(vec![column("a"), column("b")]).unwrap()
}

fn compare(first: &Table, second: &Table, options: &CompareOptions) -> Comparison {
    let encoding = EncodingOptions { guess: false, ..EncodingOptions::default() };
    Comparison::of_tables([first, second], [None, None], &encoding, options, &Run::default()).unwrap().0
}

#[test]
fn the_kernel_statistic_is_the_definition() {
    let mut random = Random::new(1);
    let (first, second) = (cloud(12, 0.0, &mut random), cloud(9, 0.7, &mut random));
    let options = CompareOptions { tests: vec![TwoSampleTest::Kernel], ..CompareOptions::default() };
    let found = compare(&first, &second, &options).tests[0].statistic;
    // Standardise both samples together, then the mean kernel values within and between them.
    let values = |table: &Table, at: usize| match &table.columns()[at].values {
        Values::Numbers(values) => values.clone(),
        _ => unreachable!(),
    };
    let mut rows = vec![[0.0; 2]; 21];
    for at in 0..2 {
        let all: Vec<f64> = values(&first, at).into_iter().chain(values(&second, at)).collect();
        let mean = all.iter().sum::<f64>() / 21.0;
        let sd = (all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 21.0).sqrt();
        all.iter().zip(&mut rows).for_each(|(x, row)| row[at] = (x - mean) / sd);
    }
    let squared = |i: usize, j: usize| (rows[i][0] - rows[j][0]).powi(2) + (rows[i][1] - rows[j][1]).powi(2);
    let mut distances: Vec<f64> =
        (0..21).flat_map(|i| (0..21).map(move |j| (i, j))).map(|(i, j)| squared(i, j)).collect();
    distances.sort_by(f64::total_cmp);
    let gamma = 1.0 / distances[220];
    let mean = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| {
        let pairs = (a.len() * b.len()) as f64;
        a.flat_map(|i| b.clone().map(move |j| (i, j)))
            .map(|(i, j)| (-gamma * squared(i, j)).exp())
            .sum::<f64>()
            / pairs
    };
    let expected = mean(0..12, 0..12) + mean(12..21, 12..21) - 2.0 * mean(0..12, 12..21);
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

/// How many of 10,000 pairs of samples of one distribution each test rejects at the level 0.05; last, any column.
fn rejected_under_the_null(sizes: [usize; 2], draw: impl Fn(&mut Random) -> f64) -> [usize; 4] {
    let mut random = Random::new(2);
    // With 39 permutations, p is at most 0.05 for 2 of 40 equally likely ranks.
    let settings = Settings { scale: Scale::None, ..Settings::new(Method::Logistic) };
    let options = CompareOptions { permutations: 39, settings, ..CompareOptions::default() };
    let mut rejected = [0; 4];
    for seed in 0..10_000 {
        let [first, second] = sizes.map(|rows| {
            let mut column = |name: &str| numbers(name, (0..rows).map(|_| draw(&mut random)).collect());
            Table::new(vec![column("a"), column("b")]).unwrap()
        });
        let found = compare(&first, &second, &CompareOptions { seed, ..options.clone() });
        for (count, test) in rejected.iter_mut().zip(&found.tests) {
            *count += usize::from(test.p <= 0.05);
        }
        rejected[3] += usize::from(found.columns.iter().any(|column| column.adjusted <= 0.05));
    }
    rejected
}

/// `cargo run --release -p lossdepth --example level_of_tests` has more sizes and distributions.
fn level_is_kept(sizes: [usize; 2], draw: impl Fn(&mut Random) -> f64) {
    let rejected = rejected_under_the_null(sizes, draw);
    println!("{sizes:?}: {rejected:?} of 10,000");
    assert!(rejected[..3].iter().all(|count| (450..=550).contains(count)), "{sizes:?}: {rejected:?}");
    assert!(rejected[3] <= 550, "{sizes:?}: {rejected:?}");
}

#[test]
fn samples_of_one_distribution_are_rejected_as_often_as_the_level_says() {
    for sizes in [[20, 20], [30, 14], [100, 40]] {
        level_is_kept(sizes, Random::normal);
    }
}

/// Sixteen different rows: the quotient of the rank test has few values, and the finer statistic decides between equal ones.
#[test]
fn samples_with_ties_are_rejected_as_often_as_the_level_says() {
    for sizes in [[20, 20], [30, 14], [100, 40]] {
        level_is_kept(sizes, |random| random.below(4) as f64);
    }
}

/// Four different rows: many divisions are the same as the samples are, and nothing can decide between these.
#[test]
fn tests_of_few_different_rows_are_conservative() {
    let rejected = rejected_under_the_null([20, 20], |random| random.below(2) as f64);
    println!("{rejected:?} of 10,000");
    assert!(rejected.iter().all(|count| (200..=550).contains(count)), "{rejected:?}");
}

/// The depth of the rank test learns its scaling on a half of the first sample, whose labels are not permuted. The other two tests
/// always standardise both samples together.
#[test]
fn the_rank_test_keeps_its_level_with_standardised_columns() {
    let tests = vec![TwoSampleTest::Rank];
    for (sizes, shift) in [([20, 20], 0.0), ([30, 14], 100.0)] {
        let mut random = Random::new(5);
        let options = CompareOptions {
            permutations: 39,
            tests: tests.clone(),
            settings: Settings::new(Method::Logistic),
            ..CompareOptions::default()
        };
        assert_eq!(options.settings.scale, Scale::Standard);
        let mut rejected = 0;
        for seed in 0..40_000 {
            let [first, second] = sizes.map(|rows| cloud(rows, shift, &mut random));
            let found = compare(&first, &second, &CompareOptions { seed, ..options.clone() });
            rejected += usize::from(found.tests[0].p <= 0.05);
        }
        println!("{sizes:?}: {rejected} of 40,000");
        // The standard deviation of the number is 44.
        assert!((1_800..=2_200).contains(&rejected), "{sizes:?}: {rejected}");
    }
}

#[test]
fn equal_samples_are_not_told_apart() {
    let constant = Table::new(vec![numbers("a", vec![3.0; 20])]).unwrap();
    let same = cloud(20, 0.0, &mut Random::new(9));
    for table in [&constant, &same] {
        let found = compare(table, table, &CompareOptions::default());
        let kernel = found.tests.iter().find(|test| test.test == TwoSampleTest::Kernel).unwrap();
        assert_eq!((kernel.p, found.columns.first().map_or(1.0, |column| column.p)), (1.0, 1.0));
    }
}

#[test]
fn a_shift_is_found_by_every_test_and_in_its_column() {
    let mut random = Random::new(3);
    let first = cloud(200, 0.0, &mut random);
    let mut second = cloud(150, 0.0, &mut random).columns().to_vec();
    second[1] = numbers("b", (0..150).map(|_| random.normal() + 1.5).collect());
    let found = compare(&first, &Table::new(second).unwrap(), &CompareOptions::default());
    assert!(found.tests.iter().all(|test| test.p <= 0.01), "{:?}", found.tests);
    assert!(found.tests[0].statistic < 0.4 && found.tests[2].statistic < 0.95, "{:?}", found.tests);
    assert_eq!(found.columns[0].name, "b");
    assert!(found.columns[0].adjusted <= 0.01 && found.columns[1].adjusted > 0.05, "{:?}", found.columns);
}

#[test]
fn categories_and_gaps_that_moved_are_named() {
    let first: Vec<&str> = (0..120).map(|i| ["web", "shop", "phone"][i % 3]).collect();
    let second: Vec<&str> = (0..90)
        .map(|i| {
            if i % 3 == 0 {
                "web"
            } else if i % 3 == 1 {
                ""
            } else {
                "shop"
            }
        })
        .collect();
    let table = |values: &[&str]| Table::new(vec![texts("channel", values)]).unwrap();
    let encoding = EncodingOptions::default();
    let (tables, options) = ([&table(&first), &table(&second)], CompareOptions::default());
    let (found, _) =
        Comparison::of_tables(tables, [None, None], &encoding, &options, &Run::default()).unwrap();
    assert_eq!(found.columns.len(), 2);
    for column in &found.columns {
        assert!(column.adjusted <= 0.01, "{column:?}");
        match &column.shifted {
            Shifted::Level { level, shares } => {
                assert_eq!(level, "phone");
                assert!((shares[0] - 1.0 / 3.0).abs() < 1e-12 && shares[1] == 0.0, "{shares:?}");
            }
            Shifted::Gaps { shares } => assert!(shares[0] == 0.0 && (shares[1] - 1.0 / 3.0).abs() < 1e-12),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn threads_and_names_of_levels_do_not_change_a_result() {
    let mut random = Random::new(4);
    let (first, second) = (cloud(60, 0.0, &mut random), cloud(50, 0.3, &mut random));
    let options = CompareOptions::default();
    let encoding = EncodingOptions::default();
    let with = |threads| {
        let run = Run { threads: Some(threads), ..Run::default() };
        Comparison::of_tables([&first, &second], [None, None], &encoding, &options, &run).unwrap().0
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn weights_of_one_are_no_weights_and_large_samples_are_cut() {
    let mut random = Random::new(5);
    let (first, second) = (cloud(300, 0.0, &mut random), cloud(100, 0.0, &mut random));
    let ones = vec![1.0; 300];
    let encoding = EncodingOptions::default();
    let options = CompareOptions { max_rows: 80, ..CompareOptions::default() };
    let of = |weights| {
        let tables = [&first, &second];
        Comparison::of_tables(tables, [weights, None], &encoding, &options, &Run::default()).unwrap().0
    };
    let found = of(None);
    assert_eq!((found.rows, found.used), ([300, 100], [60, 20]));
    assert_eq!(of(Some(&ones)), found);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let mut random = Random::new(6);
    let (first, few) = (cloud(30, 0.0, &mut random), cloud(7, 0.0, &mut random));
    let other = Table::new(vec![numbers("c", vec![1.0; 30])]).unwrap();
    let encoding = EncodingOptions::default();
    let error = |second: &Table, options: &CompareOptions| {
        let tables = [&first, second];
        Comparison::of_tables(tables, [None, None], &encoding, options, &Run::default()).unwrap_err()
    };
    let options = CompareOptions::default();
    let said = error(&few, &options).to_string();
    assert_eq!(said, "the second sample has 7 rows, a comparison needs at least 8");
    assert!(error(&other, &options).to_string().contains("no column of the same name"));
    let wrong = CompareOptions { permutations: 5, ..options };
    assert!(matches!(error(&first, &wrong), DepthError::Setting { name: "permutations", .. }));
}

#[test]
fn a_change_of_spread_is_told_by_ranges_and_one_of_place_by_medians() {
    let column = |name: &str, values: Vec<f64>| Column { name: name.into(), values: Values::Numbers(values) };
    let grid = |scale: f64, shift: f64| (0..201).map(|i| scale * (f64::from(i) - 100.0) + shift).collect();
    let table = |scale, shift| {
        Table::new(vec![column("wide", grid(scale, 0.0)), column("far", grid(1.0, shift))]).unwrap()
    };
    let (first, second) = (table(1.0, 0.0), table(2.0, 60.0));
    let (encoding, options) = (EncodingOptions::default(), CompareOptions::default());
    let (found, _) =
        Comparison::of_tables([&first, &second], [None, None], &encoding, &options, &Run::default()).unwrap();
    let words =
        |name: &str| found.columns.iter().find(|column| column.name == name).unwrap().shifted.in_words();
    assert_eq!(words("wide"), ("nine in ten are".into(), ["-90 to 90".into(), "-180 to 180".into()]));
    assert_eq!(words("far"), ("median".into(), ["0".into(), "60".into()]));
}
