//! Tables as they are: what their encoding guarantees, whatever is in them.

use crate::common::Random;
use lossdepth::data::{
    CellNoteKind, Column, ColumnKind, Encoded, Encoding, EncodingOptions, GroupKind, LeftOutReason, Missing,
    Table, Texts, Values,
};
use lossdepth::model::archive::Archive;
use lossdepth::{DepthError, Method, Model, Reference, Rows, Run, Scale, Settings};
use std::collections::BTreeMap;

fn numbers(values: &[f64]) -> Values {
    Values::Numbers(values.to_vec())
}

fn texts<'a>(all: impl IntoIterator<Item = &'a str>) -> Values {
    let mut texts = Texts::default();
    all.into_iter().for_each(|text| texts.push(Some(text)));
    Values::Texts(texts)
}

fn table(columns: Vec<(&str, Values)>) -> Table {
    let column = |(name, values): (&str, Values)| Column { name: name.into(), values };
    Table::new(columns.into_iter().map(column).collect()).unwrap()
}

fn learn(table: &Table) -> (Encoding, Encoded) {
    Encoding::learn(table, None, &EncodingOptions::default()).unwrap()
}

fn row(encoded: &Encoded, at: usize) -> &[f64] {
    &encoded.values[at * encoded.width..(at + 1) * encoded.width]
}

const REGIONS: [&str; 4] = ["north", "south", "east", "west"];

/// A mixed table with gaps in every tenth row or so.
fn mixed(rows: usize, seed: u64) -> Table {
    let mut random = Random::new(seed);
    let (mut price, mut region, mut day, mut paid) = (vec![], Texts::default(), vec![], vec![]);
    for _ in 0..rows {
        let x = random.normal();
        price.push(if random.unit() < 0.1 { f64::NAN } else { 20.0 + 5.0 * x });
        let place = usize::from(x > 0.0) + 2 * usize::from(random.unit() < 0.3);
        region.push((random.unit() > 0.04).then_some(REGIONS[place]));
        day.push(1.7e9 + 86_400.0 * (100.0 * random.unit()).floor());
        paid.push((random.unit() > 0.03).then_some(random.unit() < 0.8));
    }
    table(vec![
        ("price", Values::Numbers(price)),
        ("region", Values::Texts(region)),
        ("day", Values::Times(day)),
        ("paid", Values::Booleans(paid)),
    ])
}

/// The rows of a table in another order, or with copies.
fn rows_of(table: &Table, rows: &[usize]) -> Table {
    let pick = |values: &Values| match values {
        Values::Numbers(v) => Values::Numbers(rows.iter().map(|&row| v[row]).collect()),
        Values::Times(v) => Values::Times(rows.iter().map(|&row| v[row]).collect()),
        Values::Booleans(v) => Values::Booleans(rows.iter().map(|&row| v[row]).collect()),
        Values::Texts(v) => {
            let mut picked = Texts::default();
            for &row in rows {
                picked.push(v.get(row));
            }
            Values::Texts(picked)
        }
    };
    let column = |c: &Column| Column { name: c.name.clone(), values: pick(&c.values) };
    Table::new(table.columns().iter().map(column).collect()).unwrap()
}

#[test]
fn complete_numbers_keep_their_bits() {
    let values = [1.5, -0.0, 0.1 + 0.2, 5e-324, -7.25, 1e99, 3.0, 2.0];
    let two = table(vec![("a", numbers(&values[..4])), ("b", numbers(&values[4..]))]);
    let (encoding, encoded) = learn(&two);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let expected: Vec<f64> = (0..4).flat_map(|row| [values[row], values[4 + row]]).collect();
    assert_eq!(bits(&encoded.values), bits(&expected));
    assert!(encoding.is_plain() && encoding.layout().is_numeric());
    assert_eq!((encoded.notes.len(), encoded.rows), (0, vec![0, 1, 2, 3]));
}

#[test]
fn a_model_of_a_complete_table_scores_as_one_of_its_rows() {
    let mut random = Random::new(3);
    let rows = random.cloud(30, 3);
    let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<f64>>();
    let (a, b, c) = (column(0), column(1), column(2));
    let sample = table(vec![("a", numbers(&a)), ("b", numbers(&b)), ("c", numbers(&c))]);
    let flat = rows.concat();
    let queries = Rows::new(&flat, 3).unwrap();
    for method in Method::ALL {
        let settings = Settings { scale: Scale::Standard, ..Settings::new(method) };
        let plain = settings.fit(&Reference::new(&rows).unwrap()).unwrap();
        let model = settings.fit_table(&sample, None, &EncodingOptions::default()).unwrap();
        let score = |model: &Model| model.score(queries, &Run::default()).unwrap();
        assert_eq!(score(&model), score(&plain), "{method}");
    }
}

#[test]
fn categories_weigh_as_much_as_one_standardised_number() {
    let mut random = Random::new(5);
    for levels in [2, 5, 40, 300] {
        let names: Vec<String> = (0..2000).map(|_| format!("l{}", random.below(levels))).collect();
        let (encoding, encoded) = learn(&table(vec![("x", texts(names.iter().map(String::as_str)))]));
        let group = encoding.layout().groups()[0];
        assert_eq!((group.kind, group.width), (GroupKind::Category, encoded.width));
        // The mean squared distance of all pairs of rows, drawn with replacement, is 2.
        let n = 2000.0;
        let means: Vec<f64> =
            (0..encoded.width).map(|k| (0..2000).map(|i| row(&encoded, i)[k]).sum::<f64>() / n).collect();
        let squares: f64 = encoded.values.iter().map(|v| v * v).sum::<f64>() / n;
        let distance = 2.0 * (squares - means.iter().map(|m| m * m).sum::<f64>());
        assert!((distance - 2.0).abs() < 1e-9, "{levels} levels: {distance}");
        assert!(means[encoded.width - 1] == 0.0, "no reference row has a level that the reference lacks");
        assert!(encoded.width <= 150, "{levels} levels have {} coordinates", encoded.width);
    }
}

#[test]
fn rare_levels_share_coordinates_by_their_frequency() {
    // 70 levels with 20 rows each, 40 with one row and one with two.
    let mut names: Vec<String> = (0..1400).map(|i| format!("common{}", i % 70)).collect();
    names.extend((0..40).map(|i| format!("typo{i}")));
    names.extend(["twice".to_owned(), "twice".to_owned()]);
    let (encoding, _) = learn(&table(vec![("x", texts(names.iter().map(String::as_str)))]));
    let levels = encoding.columns()[0].levels();
    let coordinate = |name: &str| levels.iter().find(|level| level.name == name).unwrap().coordinate;
    assert_eq!((coordinate("typo3"), coordinate("typo9")), (71, 71));
    assert_eq!((coordinate("twice"), encoding.layout().width()), (70, 73));
    let common: std::collections::BTreeSet<usize> =
        (0..70).map(|i| coordinate(&format!("common{i}"))).collect();
    assert_eq!(common.len(), 70);
}

#[test]
fn a_million_levels_are_bounded_and_still_known() {
    let mut all = Texts::default();
    for i in 0..1_000_000u32 {
        all.push(Some(&format!("code {i}")));
    }
    let wide = table(vec![("code", Values::Texts(all)), ("x", numbers(&vec![0.0; 1_000_000]))]);
    let mut options = EncodingOptions::default();
    let (guessed, _) = Encoding::learn(&wide, None, &options).unwrap();
    assert_eq!((guessed.left_out()[0].name.as_str(), guessed.columns().len()), ("code", 1));
    options.kinds.insert("code".into(), ColumnKind::Category);
    let (encoding, encoded) = Encoding::learn(&wide, None, &options).unwrap();
    assert!(encoded.width < 20 && encoding.columns()[0].levels().len() == 1000);
    let (others, count) = encoding.columns()[0].other_levels();
    assert_eq!((others, count), (999_000, 999_000.0));
    let seen = "code 999999";
    assert!(encoding.columns()[0].levels().iter().all(|level| level.name != seen));
    let query = table(vec![("x", numbers(&[0.0, 0.0])), ("code", texts([seen, "code x"]))]);
    let found = encoding.encode(&query).unwrap().notes;
    assert_eq!(
        found.iter().map(|note| (note.row, note.what.clone())).collect::<Vec<_>>(),
        [(1, CellNoteKind::NewLevel("code x".into()))]
    );
}

#[test]
fn level_names_column_order_and_row_order_do_not_matter() {
    let sample = mixed(150, 9);
    let order: Vec<usize> = (0..150).map(|i| i * 67 % 150).collect();
    let mut shuffled = rows_of(&sample, &order).columns().to_vec();
    // Names in another order of the alphabet, columns in another order.
    for column in &mut shuffled {
        if let Values::Texts(old) = &column.values {
            let renamed = |name: &str| ["z", "y", "b", "a"][REGIONS.iter().position(|r| *r == name).unwrap()];
            let mut new = Texts::default();
            (0..150).for_each(|row| new.push(old.get(row).map(renamed)));
            column.values = Values::Texts(new);
        }
    }
    shuffled.rotate_left(1);
    let shuffled = Table::new(shuffled).unwrap();
    let ((a, first), (b, second)) = (learn(&sample), learn(&shuffled));
    for (at, &source) in order.iter().enumerate() {
        // The same numbers in another order.
        let mut rows = [row(&first, source).to_vec(), row(&second, at).to_vec()];
        for row in &mut rows {
            row.sort_by(f64::total_cmp);
        }
        assert_eq!(rows[0], rows[1], "row {source}");
    }
    for method in [Method::Logistic, Method::Svm, Method::Forest] {
        let settings = Settings { scale: Scale::Robust, ..Settings::new(method) };
        let score = |table: &Table| {
            let model = settings.fit_table(table, None, &EncodingOptions::default()).unwrap();
            let rows = model.encoding().unwrap().encode(table).unwrap();
            model.score(Rows::new(&rows.values, rows.width).unwrap(), &Run::default()).unwrap()
        };
        let (one, two) = (score(&sample), score(&shuffled));
        for (at, &source) in order.iter().enumerate() {
            let (one, two) = (&one[source], &two[at]);
            assert!((one.depth - two.depth).abs() <= one.error + two.error, "{method}, row {source}");
        }
    }
    assert_eq!(a.columns().len(), b.columns().len());
}

#[test]
fn a_weight_is_as_many_copies() {
    let sample = mixed(60, 4);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 4)).collect();
    let copies: Vec<usize> = (0..60).flat_map(|i| std::iter::repeat_n(i, i % 4)).collect();
    for missing in Missing::ALL.into_iter().filter(|missing| *missing != Missing::Error) {
        let options = EncodingOptions { missing, ..EncodingOptions::default() };
        let (weighted, rows) = Encoding::learn(&sample, Some(&weights), &options).unwrap();
        let (copied, _) = Encoding::learn(&rows_of(&sample, &copies), None, &options).unwrap();
        assert_eq!(weighted, copied, "{missing}");
        assert_eq!(copied.encode(&sample).unwrap(), rows);
    }
}

#[test]
fn weights_of_importance_have_no_unit() {
    let sample = mixed(60, 4);
    let weights: Vec<f64> = (0..60).map(|i| 0.25 + f64::from(i % 4)).collect();
    let scaled: Vec<f64> = weights.iter().map(|w| w * 8.0).collect();
    let halves: Vec<f64> = weights.iter().map(|w| w / 1024.0).collect();
    let options = EncodingOptions::default();
    let learn = |weights: &[f64]| Encoding::learn(&sample, Some(weights), &options).unwrap().1;
    assert_eq!(learn(&weights).values, learn(&halves).values);
    assert_eq!(learn(&scaled).rows, learn(&halves).rows);
}

#[test]
fn gaps_are_filled_from_similar_rows_whatever_the_batch() {
    // Two clusters: a gap takes the value of its own cluster, not the middle.
    let mut random = Random::new(6);
    let (mut x, mut y, mut group) = (vec![], vec![], Texts::default());
    for i in 0..200 {
        let right = i % 2 == 1;
        let centre = if right { 100.0 } else { 0.0 };
        x.push(centre + random.normal());
        y.push(if i % 7 == 0 { f64::NAN } else { centre + random.normal() });
        group.push((i % 11 != 0).then_some(if right { "right" } else { "left" }));
    }
    let sample = table(vec![("x", numbers(&x)), ("y", numbers(&y)), ("group", Values::Texts(group.clone()))]);
    let (encoding, encoded) = learn(&sample);
    let levels = encoding.columns()[2].levels();
    for i in 0..200 {
        let row = row(&encoded, i);
        let right = i % 2 == 1;
        assert_eq!(row[1] > 50.0, right, "row {i}: {row:?}");
        let level = levels.iter().find(|level| level.name == if right { "right" } else { "left" }).unwrap();
        assert!(row[2 + level.coordinate] > 0.0, "row {i}: {row:?}");
    }
    // Gaps are not pulled together: the filled values differ.
    let mut filled: Vec<u64> =
        (0..200).filter(|i| i % 7 == 0).map(|i| row(&encoded, i)[1].to_bits()).collect();
    let count = filled.len();
    filled.sort_unstable();
    filled.dedup();
    assert!(filled.len() > count / 2, "{} of {count}", filled.len());
    // A row is encoded the same alone as among others, and with another column between.
    let alone = encoding.encode(&rows_of(&sample, &[14])).unwrap();
    assert_eq!(row(&alone, 0), row(&encoded, 14));
    assert_eq!(alone.notes[0].what, CellNoteKind::Gap);
    let gaps = encoded.notes.iter().filter(|note| note.column == 1).count();
    assert_eq!((gaps, encoding.columns()[1].gaps()), (29, 29.0));
}

#[test]
fn rare_gaps_count_by_themselves() {
    let values = |gaps: usize| {
        numbers(&(0..100).map(|i| if i < gaps { f64::NAN } else { i as f64 / 3.0 }).collect::<Vec<_>>())
    };
    let sample = table(vec![("none", values(0)), ("rare", values(5)), ("many", values(6))]);
    let (encoding, encoded) = learn(&sample);
    let kinds: Vec<(usize, GroupKind)> =
        encoding.layout().groups().iter().map(|g| (g.column, g.kind)).collect();
    let expected =
        [(0, GroupKind::Number), (1, GroupKind::Number), (1, GroupKind::Gap), (2, GroupKind::Number)];
    assert_eq!(kinds, expected);
    let size = (1.0f64 / (2.0 * 0.05 * 0.95)).sqrt();
    assert!((row(&encoded, 0)[3] - size).abs() < 1e-12 && row(&encoded, 0)[2] == 0.0);
    assert!((row(&encoded, 50)[2] - size).abs() < 1e-12 && row(&encoded, 50)[3] == 0.0);
    // A gap where there never was one is noted, and takes a value of the reference.
    let query =
        table(vec![("none", numbers(&[f64::NAN])), ("rare", numbers(&[9.0])), ("many", numbers(&[9.0]))]);
    let found = encoding.encode(&query).unwrap();
    assert_eq!((found.notes.len(), found.notes[0].column), (1, 0));
    assert!(row(&found, 0)[0].is_finite());
}

#[test]
fn strict_and_simple_ways_with_gaps() {
    let sample = table(vec![
        ("x", numbers(&[1.0, f64::NAN, 3.0, 8.0, f64::NAN])),
        ("c", texts(["a", "a", "b", "", "a"])),
    ]);
    let with = |missing| {
        let options = EncodingOptions { missing, ..EncodingOptions::default() };
        Encoding::learn(&sample, None, &options)
    };
    let message = with(Missing::Error).unwrap_err().to_string();
    assert_eq!(message, "column `x` has 2 gaps, the first in row 1\ncolumn `c` has a gap in row 3");
    let (encoding, dropped) = with(Missing::Drop).unwrap();
    assert_eq!((dropped.rows.clone(), dropped.notes.len()), (vec![0, 2], 0));
    assert_eq!((encoding.columns()[0].observations(), encoding.columns()[0].gaps()), (2.0, 0.0));
    let (_, median) = with(Missing::Median).unwrap();
    assert_eq!([1, 4].map(|at| row(&median, at)[0]), [3.0, 3.0]);
    assert!(row(&median, 3)[1] > 0.0, "the most frequent level");
    let all = table(vec![("x", numbers(&[f64::NAN, 1.0])), ("y", numbers(&[1.0, f64::NAN]))]);
    let options = EncodingOptions { missing: Missing::Drop, ..EncodingOptions::default() };
    let message = Encoding::learn(&all, None, &options).unwrap_err().to_string();
    assert_eq!(message, "every row has a gap: none is left to compare with");
}

#[test]
fn texts_are_read_as_what_they_are() {
    let sample = table(vec![
        ("order", texts(["A-1", "A-2", "A-3", "A-4", "A-5", "A-6", "A-7", "A-8"])),
        ("price", texts(["$1,234.50", "$3.25", "$7.00", "see note", "$8.10", "$4.00", "($2.00)", "$9.99"])),
        (
            "date",
            texts(["31.12.2024", "1.2.2024", "", "3.4.2024", "5.6.2024", "7.8.2024", "9.9.2024", "1.1.2025"]),
        ),
        ("paid", texts(["yes", "no", "Yes", "no", "yes", "yes", "no", "NO"])),
        ("empty", texts([""; 8])),
        ("zip", texts(["01067", "10115", "01067", "10115", "01067", "10115", "01067", "10115"])),
    ]);
    let (encoding, encoded) = learn(&sample);
    let kinds: Vec<(&str, ColumnKind)> = encoding.columns().iter().map(|c| (c.name(), c.kind())).collect();
    let expected = [
        ("price", ColumnKind::Number),
        ("date", ColumnKind::Time),
        ("paid", ColumnKind::Boolean),
        ("zip", ColumnKind::Category),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(encoding.id(), Some("order"));
    let left: Vec<(&str, LeftOutReason)> =
        encoding.left_out().iter().map(|left| (left.name.as_str(), left.why)).collect();
    assert_eq!(left, [("order", LeftOutReason::Id), ("empty", LeftOutReason::Empty)]);
    assert_eq!([0, 1, 6].map(|at| row(&encoded, at)[0]), [1234.5, 3.25, -2.0]);
    // Days since 1970; the row without a date takes that of another row.
    assert_eq!(row(&encoded, 0)[1], 20_088.0);
    let notes: Vec<(usize, usize, CellNoteKind)> =
        encoded.notes.iter().map(|note| (note.row, note.column, note.what.clone())).collect();
    let unread = CellNoteKind::Unread("see note".into());
    assert_eq!(notes, [(2, 1, CellNoteKind::Gap), (3, 0, unread)]);
    let columns = encoding.columns();
    assert_eq!(columns[0].format_value(1234.5), "$1,234.50");
    assert_eq!(columns[1].format_value(20_088.0), "2024-12-31");
    let levels: Vec<(&str, f64)> = columns[2].levels().iter().map(|l| (l.name.as_str(), l.count)).collect();
    assert_eq!(levels, [("no", 4.0), ("yes", 4.0)]);
    assert_eq!(encoding.written(&sample, 0, 0).as_deref(), Some("$1,234.50"));
    assert_eq!(encoding.written(&sample, 1, 2), None);
    // Queries in other words and types, columns in another order, one too many.
    let query = table(vec![
        ("paid", Values::Booleans(vec![Some(true), None])),
        ("extra", texts(["?", "?"])),
        ("zip", texts(["10115", "99999"])),
        ("date", Values::Times(vec![20_088.0 * 86_400.0; 2])),
        ("price", numbers(&[1234.5, 2.0])),
    ]);
    let found = encoding.encode(&query).unwrap();
    assert_eq!(row(&found, 0)[..2], [1234.5, 20_088.0]);
    assert_eq!(row(&found, 0)[2..5], row(&encoded, 4)[2..5]);
    let what: Vec<CellNoteKind> = found.notes.into_iter().map(|note| note.what).collect();
    assert_eq!(what, [CellNoteKind::Gap, CellNoteKind::NewLevel("99999".into())]);
}

#[test]
fn what_the_caller_says_goes_before_what_is_guessed() {
    let sample = table(vec![
        ("id", numbers(&(0..10).map(f64::from).collect::<Vec<_>>())),
        ("grade", numbers(&[1.0, 2.0, 1.0, 3.0, 2.0, 1.0, 5.0, 2.0, 1.0, 1.0])),
        ("note", texts(["good", "bad", "good", "bad", "good", "bad", "good", "bad", "good", "k.A."])),
    ]);
    let (guessed, _) = learn(&sample);
    assert_eq!((guessed.id(), guessed.columns().len()), (Some("id"), 2));
    let options = EncodingOptions {
        kinds: BTreeMap::from([
            ("id".to_owned(), ColumnKind::Number),
            ("grade".to_owned(), ColumnKind::Category),
        ]),
        gap_words: vec!["k.A.".to_owned()],
        ..EncodingOptions::default()
    };
    let (said, encoded) = Encoding::learn(&sample, None, &options).unwrap();
    assert_eq!((said.id(), said.columns().len()), (None, 3));
    assert_eq!(said.columns()[1].levels()[0].name, "1");
    assert_eq!(said.columns()[2].gaps(), 1.0);
    assert_eq!(encoded.notes.len(), 1);
    let again = said.encode(&table(vec![
        ("id", numbers(&[1.0, 1.0])),
        ("grade", texts(["5.0", "6"])),
        ("note", texts(["good", "good"])),
    ]));
    assert_eq!(again.unwrap().notes[0].what, CellNoteKind::NewLevel("6".into()));
}

#[test]
fn all_problems_are_in_one_message() {
    let sample = table(vec![
        ("a", numbers(&[1.5, 2.5, 4.0])),
        ("b", texts(["x", "y", "x"])),
        ("c", Values::Times(vec![0.0, 86_400.0, 5.0])),
        ("d \"quoted\"\nname", numbers(&[1.0, 2.0, 2.0])),
    ]);
    let (encoding, _) = learn(&sample);
    let other = table(vec![
        ("a", texts(["p", "q", "r", "s", "t", "u", "v", "w"])),
        ("c", numbers(&[1.0; 8])),
        ("d \"quoted\"\nname", numbers(&[0.0, f64::INFINITY, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])),
    ]);
    let message = encoding.encode(&other).unwrap_err().to_string();
    let expected = "column `a` holds texts such as `p`; the reference has numbers there\n\
                    column `b` is missing; the reference has categories there\n\
                    column `c` holds numbers; the reference has dates there\n\
                    column `d \"quoted\" name`, row 1 is not finite (inf)";
    assert_eq!(message, expected);
    let options = EncodingOptions {
        kinds: BTreeMap::from([
            ("b".to_owned(), ColumnKind::Number),
            ("a".to_owned(), ColumnKind::Time),
            ("no such".to_owned(), ColumnKind::Id),
        ]),
        ..EncodingOptions::default()
    };
    let message = Encoding::learn(&sample, None, &options).unwrap_err().to_string();
    let expected = "there is no column `no such` to be of a kind\n\
                    column `a` holds numbers, which are not dates\n\
                    column `b` holds texts such as `x` in row 0, which are not numbers";
    assert_eq!(message, expected);
}

#[test]
fn tables_that_nothing_can_be_learned_from() {
    let learn = |table: &Table| Encoding::learn(table, None, &EncodingOptions::default());
    let message = |table: &Table| learn(table).unwrap_err().to_string();
    assert_eq!(message(&table(vec![("x", numbers(&[]))])), "the table has no rows");
    let none = "there is no column to compare: all are ids, texts or empty";
    assert_eq!(message(&table(vec![("x", numbers(&[f64::NAN; 3])), ("y", texts(["", "NA", "-"]))])), none);
    assert_eq!(message(&table(vec![("name", texts(["Ann", "Ben", "Cid"]))])), none);
    let infinite = table(vec![("x", numbers(&[1.0, f64::NEG_INFINITY])), ("y", numbers(&[1e101, 0.0]))]);
    let expected = "column `x`, row 1 is not finite (-inf)\n\
                    column `y`, row 0 is too large to work with: |1e101| > 1e100";
    assert_eq!(message(&infinite), expected);
    let two = table(vec![("x", numbers(&[1.0, 2.0]))]);
    let weighted = |weights: &[f64]| Encoding::learn(&two, Some(weights), &EncodingOptions::default());
    assert!(matches!(weighted(&[1.0]), Err(DepthError::WeightCount { expected: 2, got: 1 })));
    assert!(matches!(weighted(&[1.0, -1.0]), Err(DepthError::Weight { row: 1, .. })));
    assert!(matches!(weighted(&[0.0, 0.0]), Err(DepthError::TooFewRows { .. })));
    // One row is enough to encode, not to compare with.
    let one = table(vec![("x", numbers(&[1.0])), ("c", texts(["a"]))]);
    assert_eq!(learn(&one).unwrap().1.rows, [0]);
    let fitted = Settings::new(Method::Logistic).fit_table(&one, None, &EncodingOptions::default());
    assert!(matches!(fitted, Err(DepthError::TooFewRows { .. })));
    let decimal = EncodingOptions { decimal: Some(';'), ..EncodingOptions::default() };
    let message = Encoding::learn(&two, None, &decimal).unwrap_err().to_string();
    assert_eq!(message, "the decimal mark must be `.` or `,`, got `;`");
}

#[test]
fn a_constant_category_leaves_new_levels_far_away() {
    let sample = table(vec![
        ("x", numbers(&(0..40).map(|i| f64::from(i % 7)).collect::<Vec<_>>())),
        ("country", texts(["DE"; 40])),
    ]);
    let model = Settings { scale: Scale::Standard, ..Settings::new(Method::Svm) }
        .fit_table(&sample, None, &EncodingOptions::default())
        .unwrap();
    let encoding = model.encoding().unwrap();
    assert!(encoding.columns()[1].is_constant());
    let query = table(vec![("country", texts(["DE", "FR"])), ("x", numbers(&[3.0, 3.0]))]);
    let rows = encoding.encode(&query).unwrap();
    let fits = model.score(Rows::new(&rows.values, rows.width).unwrap(), &Run::default()).unwrap();
    assert!(fits[1].depth + fits[1].error < fits[0].depth - fits[0].error);
}

#[test]
fn models_of_tables_survive_as_files() {
    let sample = mixed(80, 2);
    let weights: Vec<f64> = (0..80).map(|i| f64::from(i % 3)).collect();
    for missing in Missing::ALL.into_iter().filter(|missing| *missing != Missing::Error) {
        let options = EncodingOptions { missing, ..EncodingOptions::default() };
        for method in [Method::Logistic, Method::Forest] {
            let settings = Settings { scale: Scale::Robust, ..Settings::new(method) };
            let model = settings.fit_table(&sample, Some(&weights), &options).unwrap();
            let bytes = model.to_bytes().unwrap();
            let loaded = Model::from_bytes(&bytes).unwrap();
            assert_eq!(loaded.encoding(), model.encoding());
            assert_eq!(loaded.reference(), model.reference());
            assert_eq!(loaded.to_bytes().unwrap(), bytes);
            let query = mixed(9, 77);
            let score = |model: &Model| {
                let rows = model.encoding().unwrap().encode(&query).unwrap();
                model.score(Rows::new(&rows.values, rows.width).unwrap(), &Run::default()).unwrap()
            };
            assert_eq!(score(&loaded), score(&model), "{method}, {missing}");
            assert_eq!(Archive::from_bytes(&bytes).unwrap().format(), 2);
        }
    }
}
