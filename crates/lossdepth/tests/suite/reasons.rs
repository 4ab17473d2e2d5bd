//! Reasons for every method: additive, deterministic, and about the columns that are odd.

use crate::common::Random;
use lossdepth::data::{GroupKind, Layout};
use lossdepth::kernel::KernelChoice;
use lossdepth::model::reasons::CombinationKind;
use lossdepth::model::{Explainer, Model, ReasonOptions, Reasons};
use lossdepth::{DepthError, Method, Preset, Reference, Rows, Run, Scale, Settings};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Rows of a common factor with some noise, a constant column last.
fn table(seed: u64, n: usize, d: usize) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut row = || {
        let factor = random.normal();
        let mut row: Vec<f64> = (1..d).map(|_| factor + 0.4 * random.normal()).collect();
        row.push(3.0);
        row
    };
    (0..n).flat_map(|_| row()).collect()
}

fn fitted(method: Method, data: Vec<f64>, width: usize) -> Model {
    let sample = Reference::from_vec(data, width, None).unwrap();
    let values = Preset::Recommended.values(method, sample.observations()).unwrap();
    let values = values.into_iter().chain([("scale", "robust".into())]);
    let values = values.filter(|(name, _)| method.settings().contains(name));
    Settings::with(method, values).unwrap().fit(&sample).unwrap()
}

fn explain(model: &Model, rows: &[f64], options: &ReasonOptions, run: &Run<'_>) -> Vec<Reasons> {
    let rows = Rows::new(rows, model.width()).unwrap();
    Explainer::new(model, run).unwrap().reasons(rows, options, run).unwrap()
}

fn reasons(model: &Model, rows: &[f64]) -> Vec<Reasons> {
    explain(model, rows, &ReasonOptions::default(), &Run::default())
}

/// What holds for every explanation.
fn check(model: &Model, rows: &[f64], found: &[Reasons]) {
    let width = model.width();
    for (row, reasons) in rows.chunks(width).zip(found) {
        let sum: f64 = reasons.columns.iter().map(|column| column.contribution).sum();
        let total = reasons.outlyingness - reasons.baseline;
        // Rounding of at most 2^10 terms of the size of the largest number of bits.
        assert!((sum - total).abs() <= 1e-12 * reasons.outlyingness.max(1.0), "{sum} {total}");
        assert!(reasons.outlyingness.is_finite() && reasons.outlyingness >= 0.0);
        assert!(reasons.baseline <= reasons.outlyingness);
        assert_eq!(reasons.columns.len(), width);
        for reason in &reasons.columns {
            let j = reason.column;
            assert!(reason.replaced || reason.contribution == 0.0);
            assert_eq!(reason.fits.is_some(), reason.replaced);
            assert!(reason.fits.is_some() == (reasons.repaired[j] != row[j]));
            if let Some(fits) = &reason.fits {
                assert_eq!(fits.number, Some(reasons.repaired[j]));
                let (low, high) = fits.range.unwrap();
                assert!(low <= reasons.repaired[j] && reasons.repaired[j] <= high);
            }
        }
        let change = reasons.counterfactual.as_ref().unwrap();
        let again = model.score(Rows::new(&change.row, width).unwrap(), &Run::default()).unwrap()[0];
        assert_eq!(again.depth.to_bits(), change.depth.to_bits());
        assert!(change.met && change.percentile > change.target);
        let changed: Vec<usize> = (0..width).filter(|&j| change.row[j] != row[j]).collect();
        assert_eq!(changed, change.columns);
    }
}

const METHODS: [Method; 6] =
    [Method::Svm, Method::Logistic, Method::Forest, Method::Gp, Method::Klr, Method::Halfspace];

#[test]
fn one_corrupted_column_is_the_first_reason_for_every_method() {
    for method in METHODS {
        let data = table(1, 120, 5);
        let model = fitted(method, data.clone(), 5);
        let mut rows = data[..20].to_vec();
        for (j, row) in rows.chunks_mut(5).enumerate() {
            row[j] += 9.0;
        }
        let found = reasons(&model, &rows);
        check(&model, &rows, &found);
        for (j, reasons) in found.iter().enumerate() {
            assert_eq!(reasons.columns[0].column, j, "{method} {reasons:?}");
            assert!(reasons.columns[0].contribution > 2.0, "{method} {reasons:?}");
            assert_eq!(reasons.columns[0].facts.above, 0.0);
            assert_eq!(reasons.columns[0].facts.below, 120.0);
        }
    }
}

#[test]
fn two_corrupted_columns_are_the_first_reasons() {
    for method in [Method::Svm, Method::Logistic, Method::Forest] {
        let data = table(2, 150, 6);
        let model = fitted(method, data.clone(), 6);
        let mut rows = data[..24].to_vec();
        for (j, row) in rows.chunks_mut(6).enumerate() {
            row[j] += 12.0;
            row[(j + 2) % 5] -= 12.0;
        }
        let found = reasons(&model, &rows);
        check(&model, &rows, &found);
        for (j, reasons) in found.iter().enumerate() {
            let mut first: Vec<usize> = reasons.columns[..2].iter().map(|reason| reason.column).collect();
            first.sort_unstable();
            let mut both = [j, (j + 2) % 5];
            both.sort_unstable();
            assert_eq!(first, both, "{method} {reasons:?}");
        }
    }
}

#[test]
fn the_odd_column_is_found_however_far_it_is() {
    for method in [Method::Svm, Method::Logistic, Method::Gp, Method::Halfspace] {
        let data = table(3, 80, 4);
        let model = fitted(method, data.clone(), 4);
        let mut rows = Vec::new();
        for far in [10.0, 1e3, 1e6, 1e30] {
            let mut row = data[..4].to_vec();
            row[1] += far;
            rows.extend(row);
        }
        let found = reasons(&model, &rows);
        check(&model, &rows, &found);
        for pair in found.windows(2) {
            assert!(pair[0].outlyingness <= pair[1].outlyingness + 1e-6, "{method} {pair:?}");
        }
        for reasons in &found {
            assert_eq!(reasons.columns[0].column, 1);
            assert!(reasons.outlyingness > 5.0 && reasons.baseline < 4.0, "{method} {reasons:?}");
        }
    }
}

#[test]
fn constant_columns_and_ordinary_rows_have_no_reasons() {
    let data = table(4, 100, 4);
    let model = fitted(Method::Svm, data.clone(), 4);
    // A column that is the same everywhere is the reason if a row differs there, and only then.
    let mut row = data[..4].to_vec();
    row[3] = 30.0;
    let found = reasons(&model, &row);
    check(&model, &row, &found);
    assert_eq!(found[0].columns[0].column, 3, "{found:?}");
    row = vec![9.0, 0.0, -9.0, 3.0];
    for reason in &reasons(&model, &row)[0].columns {
        assert!(reason.column != 3 || (reason.contribution == 0.0 && reason.fits.is_none()));
    }
    let ordinary = reasons(&model, &data);
    check(&model, &data, &ordinary);
    let deep = ordinary.iter().filter(|reasons| reasons.percentile > 0.5);
    assert!(deep.clone().count() > 30);
    for reasons in deep {
        assert!(reasons.columns.iter().all(|reason| reason.contribution == 0.0));
        assert!(reasons.counterfactual.as_ref().unwrap().columns.is_empty());
    }
}

#[test]
fn reasons_do_not_depend_on_batch_order_or_threads() {
    let data = table(5, 90, 5);
    let model = fitted(Method::Logistic, data.clone(), 5);
    let mut rows = data[..50].to_vec();
    for (i, row) in rows.chunks_mut(5).enumerate() {
        row[i % 4] += f64::from(u8::try_from(i).unwrap());
    }
    let whole = reasons(&model, &rows);
    let backward: Vec<f64> = rows.chunks(5).rev().flatten().copied().collect();
    for threads in [1, 3] {
        let run = Run { threads: Some(threads), ..Run::default() };
        let mut other = explain(&model, &backward, &ReasonOptions::default(), &run);
        other.reverse();
        assert_eq!(whole, other);
    }
    for (row, one) in rows.chunks(5).zip(&whole) {
        assert_eq!(&reasons(&model, row)[0], one);
    }
    // Neither on the order of the reference.
    let shuffled: Vec<f64> = data.chunks(5).rev().flatten().copied().collect();
    let model = fitted(Method::Forest, data, 5);
    let other = fitted(Method::Forest, shuffled, 5);
    let names = |found: &[Reasons]| -> Vec<usize> { found.iter().map(|r| r.columns[0].column).collect() };
    assert_eq!(names(&reasons(&model, &rows)), names(&reasons(&other, &rows)));
}

#[test]
fn tiny_references_duplicates_and_one_column() {
    for (data, width) in [
        (vec![0.0, 1.0], 1),
        (vec![0.0, 1.0, 1.0, 2.0, 5.0, 5.0], 2),
        (vec![1.0, 1.0, 1.0, 2.0], 1),
        (vec![2.0; 8], 2),
    ] {
        for method in [Method::Svm, Method::Logistic, Method::Forest, Method::Halfspace] {
            let values = [("scale", "none".into())].into_iter();
            let values = values.filter(|(name, _)| method.settings().contains(name));
            let sample = Reference::from_vec(data.clone(), width, None).unwrap();
            let model = Settings::with(method, values).unwrap().fit(&sample).unwrap();
            let rows: Vec<f64> = [0.5, 1.0, 700.0].iter().flat_map(|x| vec![*x; width]).collect();
            for reasons in reasons(&model, &rows) {
                let sum: f64 = reasons.columns.iter().map(|column| column.contribution).sum();
                let total = reasons.outlyingness - reasons.baseline;
                assert!((sum - total).abs() <= 1e-12 * reasons.outlyingness.max(1.0));
                let change = reasons.counterfactual.unwrap();
                // All columns of the last table are constant: there is nothing to change them to that is searched, but
                // the row of the reference itself.
                assert!(change.met, "{method} {data:?} {change:?}");
            }
        }
    }
}

#[test]
fn a_value_that_fits_follows_the_other_columns() {
    let mut random = Random::new(6);
    let mut data = Vec::new();
    for _ in 0..600 {
        let (quantity, price) = (random.between(5.0, 30.0), random.between(10.0, 60.0));
        data.extend([quantity, price, quantity * price, random.normal()]);
    }
    let sample = Reference::from_vec(data, 4, None).unwrap();
    let values = Preset::Recommended.values(Method::Svm, 600.0).unwrap();
    let model = Settings::with(Method::Svm, values).unwrap().fit(&sample).unwrap();
    let row = [12.0, 35.0, 4200.0, 0.1];
    let found = &reasons(&model, &row)[0];
    let first = &found.columns[0];
    assert_eq!(first.column, 2, "{found:?}");
    let fits = first.fits.as_ref().unwrap();
    let (low, high) = fits.range.unwrap();
    assert!(low < 500.0 && high > 350.0 && high < 900.0, "{fits:?}");
    assert!((fits.number.unwrap() - 420.0).abs() < 200.0, "{fits:?}");
    let mut by = fits.determined_by.clone();
    by.sort_unstable();
    assert_eq!(by, [0, 1]);
}

#[test]
fn values_that_do_not_fit_together_are_a_combination() {
    let mut random = Random::new(7);
    let mut data = Vec::new();
    for _ in 0..300 {
        let x = random.normal();
        data.extend([x, x + 0.1 * random.normal(), random.normal()]);
    }
    let sample = Reference::from_vec(data, 3, None).unwrap();
    let values = Preset::Recommended.values(Method::Svm, 300.0).unwrap();
    let model = Settings::with(Method::Svm, values).unwrap().fit(&sample).unwrap();
    // Both values are ordinary, and either would fit the other.
    let found = &reasons(&model, &[0.8, -0.8, 0.0])[0];
    let either = found.combinations.iter().find(|c| c.kind == CombinationKind::Either);
    assert_eq!(either.map(|c| c.columns.clone()), Some(vec![0, 1]), "{found:?}");
}

#[test]
fn the_coordinates_of_a_category_move_together() {
    let mut random = Random::new(8);
    // A number and a category of three levels that goes with its sign; level 2 is rare.
    let level = |k: usize| -> Vec<f64> { (0..3).map(|at| if at == k { 1.2 } else { 0.0 }).collect() };
    let mut data = Vec::new();
    for i in 0..200 {
        let x: f64 = random.normal();
        data.push(x);
        data.extend(level(if i == 7 { 2 } else { usize::from(x > 0.0) }));
        data.push(random.normal());
    }
    let layout =
        Layout::new([(0, GroupKind::Number, 1), (1, GroupKind::Category, 3), (2, GroupKind::Number, 1)]);
    let sample = Reference::from_vec(data, 5, None).unwrap().with_layout(layout).unwrap();
    let settings = Settings::with(Method::Svm, [("gamma", 2.0.into())]).unwrap();
    let model = settings.fit(&sample).unwrap();
    let mut row = vec![0.3];
    row.extend(level(2));
    row.push(0.0);
    let found = &reasons(&model, &row)[0];
    assert_eq!(found.columns.len(), 3);
    assert_eq!(found.columns[0].column, 1, "{found:?}");
    assert_eq!(found.columns[0].fits.as_ref().unwrap().encoded, level(1));
    assert_eq!(found.columns[0].facts.equal, 1.0);
    assert_eq!(found.columns[0].facts.quantiles, None);
    assert_eq!(found.repaired[1..4], level(1));
}

#[test]
fn options_out_of_range_and_columns_without_meaning_are_refused() {
    let model = fitted(Method::Logistic, table(9, 20, 3), 3);
    let explainer = Explainer::new(&model, &Run::default()).unwrap();
    let row = [0.0, 0.0, 3.0];
    let ask = |options: &ReasonOptions, row: &[f64], width| {
        explainer.reasons(Rows::new(row, width).unwrap(), options, &Run::default())
    };
    let default = ReasonOptions::default();
    for wrong in [
        ReasonOptions { max_columns: 0, ..default },
        ReasonOptions { max_columns: 11, ..default },
        ReasonOptions { price: 0.0, ..default },
        ReasonOptions { target: Some(1.0), ..default },
        ReasonOptions { target: Some(f64::NAN), ..default },
    ] {
        assert!(matches!(ask(&wrong, &row, 3), Err(DepthError::Setting { .. })));
    }
    assert!(matches!(ask(&default, &row[..2], 2), Err(DepthError::Dimension { .. })));
    assert!(matches!(ask(&default, &[f64::NAN, 0.0, 0.0], 3), Err(DepthError::NotFinite { .. })));
    let sample = Reference::new(&[[1.0, 0.5], [0.5, 1.0]]).unwrap();
    let settings = Settings { kernel: KernelChoice::Precomputed, ..Settings::new(Method::Svm) };
    let model = Settings { scale: Scale::None, ..settings }.fit(&sample).unwrap();
    assert!(Explainer::new(&model, &Run::default()).is_err());
}

#[test]
fn a_limit_on_changes_is_kept_and_the_call_can_be_cancelled() {
    let data = table(10, 80, 5);
    let model = fitted(Method::Svm, data.clone(), 5);
    let mut row = data[..5].to_vec();
    (row[0], row[2]) = (row[0] + 20.0, row[2] - 20.0);
    let options = ReasonOptions { max_changes: Some(1), ..ReasonOptions::default() };
    let change = explain(&model, &row, &options, &Run::default())[0].counterfactual.clone().unwrap();
    assert!(change.columns.len() <= 1 && !change.met, "{change:?}");
    let finished = AtomicUsize::new(0);
    let count = |rows: usize| {
        finished.fetch_add(rows, Ordering::Relaxed);
    };
    let run = Run { progress: Some(&count), ..Run::default() };
    explain(&model, &data[..15], &options, &run);
    assert_eq!(finished.into_inner(), 3);
    let cancel = AtomicBool::new(false);
    let explainer = Explainer::new(&model, &Run::default()).unwrap();
    cancel.store(true, Ordering::Relaxed);
    let run = Run { cancel: Some(&cancel), ..Run::default() };
    let cancelled = explainer.reasons(Rows::new(&data, 5).unwrap(), &options, &run);
    assert_eq!(cancelled, Err(DepthError::Cancelled));
}

#[test]
fn wide_tables_are_searched_in_bounded_work_and_the_odd_column_is_found() {
    let (n, d) = (60, 900);
    let mut random = Random::new(8);
    let mut data: Vec<f64> = (0..n * d).map(|_| random.normal()).collect();
    data[7 * d + 411] = 40.0;
    let row = data[7 * d..8 * d].to_vec();
    let all_odd: Vec<f64> = (0..d).map(|_| 6.0 * random.normal()).collect();
    let rows = [row, all_odd].concat();
    let model = fitted(Method::Svm, data, d);
    let found = reasons(&model, &rows);
    check(&model, &rows, &found);
    assert_eq!(found[0].columns[0].column, 411);
    // A step tries 145 values; there are 12 steps at most, 3 paths either way, and what is bisected.
    assert!(found.iter().all(|reasons| reasons.evaluations < 8_000), "{}", found[1].evaluations);
}
