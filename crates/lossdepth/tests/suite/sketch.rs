//! References in pieces: the same sample for any division and order of the same rows.

use crate::common::Random;
use lossdepth::data::{Column, Encoding, EncodingOptions, ReferenceSketch, Table, Texts, Values};
use lossdepth::{Method, Model, Reference, Rows, Run, Settings};

/// A row of a messy table: a number or a gap, a text or a gap, a truth value.
type Row = (f64, Option<String>, Option<bool>);

fn table(rows: &[Row]) -> Table {
    let mut texts = Texts::default();
    for row in rows {
        texts.push(row.1.as_deref());
    }
    Table::new(vec![
        Column { name: "x".into(), values: Values::Numbers(rows.iter().map(|row| row.0).collect()) },
        Column { name: "city".into(), values: Values::Texts(texts) },
        Column { name: "paid".into(), values: Values::Booleans(rows.iter().map(|row| row.2).collect()) },
    ])
    .unwrap()
}

fn empty(capacity: usize) -> ReferenceSketch {
    ReferenceSketch::new(["x", "city", "paid"]).unwrap().with_capacity(capacity).unwrap().with_seed(3)
}

fn sketch(rows: &[Row], capacity: usize) -> ReferenceSketch {
    let mut sketch = empty(capacity);
    sketch.add(&table(rows), None).unwrap();
    sketch
}

/// Rows of which about one in three is a copy of an earlier one.
fn rows(count: usize) -> Vec<Row> {
    let mut random = Random::new(5);
    (0..count)
        .map(|_| {
            let city = ["Ulm", "Rom", "Paris", "Oslo"][random.below(4)].to_owned();
            let x = if random.unit() < 0.5 { (random.normal() * 20.0).round() } else { random.normal() };
            let gap = random.unit() < 0.05;
            let city = (random.unit() > 0.05).then_some(city);
            (if gap { f64::NAN } else { x }, city, Some(random.unit() < 0.5))
        })
        .collect()
}

fn shuffled(rows: &[Row], random: &mut Random) -> Vec<Row> {
    random.permutation(rows.len()).into_iter().map(|i| rows[i].clone()).collect()
}

/// Whether two sketches have the same rows in the same order with the same weights; a gap is a gap.
fn same(a: &ReferenceSketch, b: &ReferenceSketch) -> bool {
    let written = |values: &Values, row: usize| match values {
        Values::Numbers(values) | Values::Times(values) => values[row].to_bits().to_string(),
        Values::Texts(texts) => format!("{:?}", texts.get(row)),
        Values::Booleans(values) => format!("{:?}", values[row]),
    };
    let content = |sketch: &ReferenceSketch| {
        let (table, weights) = sketch.table().unwrap();
        let cells = |column: &Column| (0..table.rows()).map(|row| written(&column.values, row)).collect();
        (table.columns().iter().map(cells).collect::<Vec<Vec<String>>>(), weights)
    };
    content(a) == content(b)
}

/// The bytes of the model of a sketch.
fn model(sketch: &ReferenceSketch) -> Vec<u8> {
    let (table, weights) = sketch.table().unwrap();
    let (encoding, encoded) =
        Encoding::learn(&table, weights.as_deref(), &EncodingOptions::default()).unwrap();
    let reference = Reference::from_vec(encoded.values, encoded.width, weights).unwrap();
    let reference = reference.with_layout(encoding.layout().clone()).unwrap();
    let model = Settings::new(Method::Logistic).fit(&reference).unwrap().with_encoding(encoding);
    model.to_bytes().unwrap()
}

#[test]
fn any_division_and_order_gives_the_same_model_to_the_last_bit() {
    let all = rows(3000);
    // All different rows fit; or most of them are dropped.
    for capacity in [5000, 100] {
        let whole = sketch(&all, capacity);
        assert_eq!(whole.is_complete(), capacity == 5000);
        let expected = model(&whole);
        for (parts, seed) in [(1, 1), (7, 2), (64, 3)] {
            let mut random = Random::new(seed);
            let shuffled = shuffled(&all, &mut random);
            let pieces: Vec<ReferenceSketch> =
                shuffled.chunks(all.len().div_ceil(parts)).map(|part| sketch(part, capacity)).collect();
            // Merged in any order, also as a tree, and through bytes.
            let mut sketches: Vec<ReferenceSketch> =
                random.permutation(parts).into_iter().map(|i| pieces[i].clone()).collect();
            while sketches.len() > 1 {
                let other = sketches.pop().unwrap();
                let other = ReferenceSketch::from_bytes(&other.to_bytes().unwrap()).unwrap();
                let into = random.below(sketches.len());
                sketches[into].merge(&other).unwrap();
            }
            let merged = &sketches[0];
            assert_eq!(merged.observations(), 3000);
            assert!(same(merged, &whole), "{parts} parts");
            assert!(model(merged) == expected, "{parts} parts");
        }
    }
}

#[test]
fn a_complete_sketch_has_the_depths_of_all_rows() {
    let mut random = Random::new(11);
    let values: Vec<f64> = (0..400).map(|_| (random.normal() * 3.0).round()).collect();
    let column = |values: Vec<f64>| Column { name: "x".into(), values: Values::Numbers(values) };
    let mut sketch = ReferenceSketch::new(["x"]).unwrap();
    sketch.add(&Table::new(vec![column(values.clone())]).unwrap(), None).unwrap();
    let (table, weights) = sketch.table().unwrap();
    let Values::Numbers(kept) = &table.columns()[0].values else { panic!("numbers") };
    assert!(kept.len() < 30, "different values only");
    let fit = |reference: &Reference| -> Model { Settings::new(Method::Logistic).fit(reference).unwrap() };
    let of_sketch = fit(&Reference::from_vec(kept.clone(), 1, weights).unwrap());
    let of_rows = fit(&Reference::from_vec(values, 1, None).unwrap());
    let queries = [-9.0, 0.0, 0.5, 4.0];
    let score = |model: &Model| model.score(Rows::new(&queries, 1).unwrap(), &Run::default()).unwrap();
    for (a, b) in score(&of_sketch).iter().zip(&score(&of_rows)) {
        assert!((a.depth - b.depth).abs() <= a.error + b.error, "{a:?} {b:?}");
        assert!((a.stderr - b.stderr).abs() <= 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn whole_weights_are_copies_and_others_are_kept() {
    let all = rows(60);
    let mut copied = Vec::new();
    let weights: Vec<f64> = (0..60).map(|i| f64::from(i % 4)).collect();
    for (row, weight) in all.iter().zip(&weights) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]
        let copies = *weight as usize;
        copied.extend(std::iter::repeat_n(row.clone(), copies));
    }
    let mut weighted = empty(1000);
    weighted.add(&table(&all), Some(&weights)).unwrap();
    assert!(weighted == sketch(&copied, 1000));
    // Weights of importance: two parts are the whole.
    let weights: Vec<f64> = (0..60).map(|i| 0.25 + f64::from(i % 5)).collect();
    let mut whole = empty(1000);
    whole.add(&table(&all), Some(&weights)).unwrap();
    let (mut a, mut b) = (empty(1000), empty(1000));
    a.add(&table(&all[40..]), Some(&weights[40..])).unwrap();
    b.add(&table(&all[..40]), Some(&weights[..40])).unwrap();
    a.merge(&b).unwrap();
    assert!(a == whole);
    let total: f64 = whole.table().unwrap().1.unwrap().iter().sum();
    assert!((total - weights.iter().sum::<f64>()).abs() < 1e-9);
}

#[test]
fn a_window_moves_by_removal_and_by_parts() {
    let all = rows(500);
    let mut window = sketch(&all[..300], 1000);
    window.add(&table(&all[300..]), None).unwrap();
    window.remove(&table(&all[..200]), None).unwrap();
    assert!(window == sketch(&all[200..], 1000));
    // What is not there is not removed, and nothing else is then.
    let before = window.clone();
    let mut more = all[200..210].to_vec();
    more.push((123.456, None, None));
    let error = window.remove(&table(&more), None).unwrap_err();
    assert!(error.to_string().contains("row 10 cannot be removed"), "{error}");
    assert!(window == before);
    // Rows that were dropped cannot be removed; the parts of a window can be merged.
    let mut full = sketch(&all, 50);
    assert!(full.remove(&table(&all[..1]), None).unwrap_err().to_string().contains("merge them"));
    let parts: Vec<ReferenceSketch> = all.chunks(100).map(|part| sketch(part, 50)).collect();
    let mut merged = parts[1].clone();
    parts[2..].iter().for_each(|part| merged.merge(part).unwrap());
    assert!(same(&merged, &sketch(&all[100..], 50)));
}

#[test]
fn a_row_with_many_copies_is_not_lost() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let heavy: Row = (7.5, Some("Ulm".into()), Some(true));
        let fourth: Row = (1.5, Some("Rom".into()), None);
        let all: Vec<Row> = (0..20_000)
            .map(|_| match random.unit() {
                u if u < 0.6 => heavy.clone(),
                u if u < 0.65 => fourth.clone(),
                _ => (random.normal(), None, None),
            })
            .collect();
        let share = |row: &Row| all.iter().filter(|other| *other == row).count() as f64 / all.len() as f64;
        let mut whole = empty(200).with_seed(seed);
        whole.add(&table(&all), None).unwrap();
        let (rows, weights) = whole.table().unwrap();
        let weights = weights.unwrap();
        let Values::Numbers(x) = &rows.columns()[0].values else { panic!("numbers") };
        let total: f64 = weights.iter().sum();
        let of = |value: f64| x.iter().zip(&weights).map(move |(x, w)| if *x == value { *w } else { 0.0 });
        let found = |value: f64| of(value).sum::<f64>() / total;
        // Counts from bits are off by a few rows, and weights are rounded to whole numbers.
        assert!((found(7.5) - share(&heavy)).abs() < 0.01, "{}", found(7.5));
        assert!((found(1.5) - share(&fourth)).abs() < 0.01, "{}", found(1.5));
        // The same from parts.
        let mut merged = empty(200).with_seed(seed);
        for part in all.chunks(1777).rev() {
            let mut other = empty(200).with_seed(seed);
            other.add(&table(part), None).unwrap();
            merged.merge(&other).unwrap();
        }
        assert!(same(&merged, &whole));
    }
}

#[test]
fn the_sample_is_a_fair_one() {
    // The mean over a sample of 100 of 2000 different rows, over many seeds: unbiased, with the spread of such samples.
    let mut random = Random::new(1);
    let values: Vec<f64> = (0..2000).map(|_| random.normal()).collect();
    let column = Column { name: "x".into(), values: Values::Numbers(values.clone()) };
    let table = Table::new(vec![column]).unwrap();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = (0..400)
        .map(|seed| {
            let mut sketch = ReferenceSketch::new(["x"]).unwrap().with_capacity(100).unwrap().with_seed(seed);
            sketch.add(&table, None).unwrap();
            let (table, weights) = sketch.table().unwrap();
            assert_eq!(weights, None);
            let Values::Numbers(kept) = &table.columns()[0].values else { panic!("numbers") };
            assert_eq!(kept.len(), 100);
            mean(kept)
        })
        .collect();
    let truth = mean(&values);
    let variance = values.iter().map(|x| (x - truth).powi(2)).sum::<f64>() / 2000.0;
    let expected = (variance / 100.0 * (1.0 - 0.05)).sqrt();
    let bias = mean(&means) - truth;
    let spread = (means.iter().map(|m| (m - truth).powi(2)).sum::<f64>() / 400.0).sqrt();
    // Four standard errors of a mean, and of a standard deviation, of 400.
    assert!(bias.abs() < 4.0 * expected / 20.0, "{bias} {expected}");
    assert!((spread / expected - 1.0).abs() < 4.0 / 800f64.sqrt(), "{spread} {expected}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let all = rows(10);
    let mut a = sketch(&all, 100);
    let says =
        |error: lossdepth::DepthError, words: &str| assert!(error.to_string().contains(words), "{error}");
    says(a.merge(&sketch(&all, 99)).unwrap_err(), "different `reference_rows`");
    says(a.merge(&empty(100).with_seed(4)).unwrap_err(), "different `seed`");
    says(
        a.merge(&empty(100).with_note("decimal", ",")).unwrap_err(),
        "different `decimal` cannot be merged: none and ,",
    );
    says(a.merge(&other_columns()).unwrap_err(), "no column `city`");
    let number = |x: f64| Column { name: "x".into(), values: Values::Numbers(vec![x]) };
    let mut sketch = ReferenceSketch::new(["x"]).unwrap();
    let inf = Table::new(vec![number(f64::INFINITY)]).unwrap();
    says(sketch.add(&inf, None).unwrap_err(), "row 0, column 0 is not finite");
    let one = Table::new(vec![number(1.0)]).unwrap();
    says(sketch.add(&one, Some(&[-1.0])).unwrap_err(), "weight");
    says(sketch.table().unwrap_err(), "at least 2 rows");
    assert!(ReferenceSketch::new(["x"]).unwrap().with_capacity(1).is_err());
    assert!(ReferenceSketch::new(["x", "x"]).is_err());
}

fn other_columns() -> ReferenceSketch {
    ReferenceSketch::new(["x", "paid"]).unwrap().with_capacity(100).unwrap().with_seed(3)
}

#[test]
fn damaged_bytes_are_refused() {
    for capacity in [1000, 20] {
        let bytes = sketch(&rows(60), capacity).to_bytes().unwrap();
        assert_eq!(ReferenceSketch::from_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
        let mut random = Random::new(9);
        for _ in 0..200 {
            let mut bytes = bytes.clone();
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            assert!(ReferenceSketch::from_bytes(&bytes).is_err());
            assert!(ReferenceSketch::from_bytes(&bytes[..at]).is_err());
        }
    }
    assert!(ReferenceSketch::from_bytes(b"").is_err());
}

#[test]
fn columns_in_another_order_are_the_same_columns() {
    let all = rows(300);
    for capacity in [1000, 50] {
        let whole = sketch(&all, capacity);
        let mut reversed = ReferenceSketch::new(["paid", "city", "x"]).unwrap();
        reversed = reversed.with_capacity(capacity).unwrap().with_seed(3);
        reversed.add(&table(&all[100..]), None).unwrap();
        let mut merged = sketch(&all[..100], capacity);
        merged.merge(&reversed).unwrap();
        assert!(same(&merged, &whole));
    }
}
