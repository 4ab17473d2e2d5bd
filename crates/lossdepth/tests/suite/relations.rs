//! Columns of which one is a sum or a product of others: a broken relation is found, named and repaired.

use crate::common::Random;
use lossdepth::model::{Explainer, ReasonOptions, Reasons};
use lossdepth::{Method, Model, Reference, Rows, Run, Scale, Settings};

const ROWS: usize = 500;
/// The rows that are broken.
const BROKEN: [usize; 4] = [3, 111, 250, 444];

/// Quantity, price, discount, total, days: total = quantity · price · (1 - discount).
fn invoices() -> Vec<[f64; 5]> {
    let mut random = Random::new(91);
    let mut row = || {
        let quantity = (2.5 + 0.6 * random.normal()).exp().ceil();
        let price = (3.0 + 0.8 * random.normal()).exp();
        let discount = if random.normal() > 0.0 { 0.0 } else { 0.2 * random.normal().abs().min(2.0) };
        let days = (2.5 + 0.6 * random.normal()).exp().round();
        [quantity, price, discount, quantity * price * (1.0 - discount), days]
    };
    let mut rows: Vec<[f64; 5]> = (0..ROWS).map(|_| row()).collect();
    // A usual total, half or twice as large as it should be.
    BROKEN.iter().enumerate().for_each(|(k, &i)| rows[i][3] *= [0.5, 2.0][k % 2]);
    rows
}

/// Start and end in days, their difference, a cost.
fn stays() -> Vec<[f64; 4]> {
    let mut random = Random::new(92);
    let mut row = || {
        let start = (19_500.0 + 300.0 * random.normal()).round();
        let duration = (2.0 + 0.8 * random.normal()).exp().ceil();
        [start, start + duration, duration, (4.5 + 0.4 * random.normal()).exp().round()]
    };
    let mut rows: Vec<[f64; 4]> = (0..ROWS).map(|_| row()).collect();
    for i in BROKEN {
        rows[i][1] += 14.0;
    }
    rows
}

fn fitted(rows: &[impl AsRef<[f64]>], scale: Scale) -> Model {
    let width = rows[0].as_ref().len();
    let data = rows.iter().flat_map(|row| row.as_ref().to_vec()).collect();
    let settings = Settings { scale, ..Settings::new(Method::Auto) };
    settings.fit(&Reference::from_vec(data, width, None).unwrap()).unwrap()
}

/// The broken rows among as many oddest ones.
fn found(model: &Model) -> Vec<usize> {
    let fits = model.score(model.reference().rows(), &Run::default()).unwrap();
    let mut order: Vec<usize> = (0..fits.len()).collect();
    order.sort_by(|&a, &b| fits[a].depth.total_cmp(&fits[b].depth));
    order.truncate(BROKEN.len());
    order.sort_unstable();
    order
}

fn reasons(model: &Model) -> Vec<Reasons> {
    let rows: Vec<f64> = BROKEN.iter().flat_map(|&i| model.reference().rows().row(i)).copied().collect();
    let explainer = Explainer::new(model, &Run::default()).unwrap();
    let rows = Rows::new(&rows, model.width()).unwrap();
    explainer.reasons(rows, &ReasonOptions::default(), &Run::default()).unwrap()
}

#[test]
fn broken_products_and_sums_are_the_oddest_rows() {
    for scale in [Scale::None, Scale::Standard, Scale::Robust] {
        assert_eq!(found(&fitted(&invoices(), scale)), BROKEN, "{scale:?}");
        assert_eq!(found(&fitted(&stays(), scale)), BROKEN, "{scale:?}");
    }
}

#[test]
fn a_broken_product_is_named_with_the_columns_that_determine_it() {
    for found in reasons(&fitted(&invoices(), Scale::Standard)) {
        let first = &found.columns[0];
        assert!(first.column < 4 && first.replaced, "{found:?}");
        let fits = first.fits.as_ref().unwrap();
        assert!(fits.determined_by.len() >= 2 && !fits.determined_by.contains(&4), "{fits:?}");
        // The relation holds after the repair: to a tenth of the error, a factor of two.
        let [quantity, price, discount, total, _] = found.repaired[..] else { unreachable!("five columns") };
        let ratio: f64 = total / (quantity * price * (1.0 - discount));
        assert!(ratio.ln().abs() < 0.1 * 2f64.ln(), "{ratio}: {found:?}");
        assert!(found.counterfactual.as_ref().is_some_and(|change| change.met));
    }
}

#[test]
fn a_broken_sum_is_named_with_the_columns_that_determine_it() {
    for found in reasons(&fitted(&stays(), Scale::Standard)) {
        let first = &found.columns[0];
        assert!(first.column < 3 && first.replaced, "{found:?}");
        let mut by = first.fits.as_ref().unwrap().determined_by.clone();
        by.push(first.column);
        by.sort_unstable();
        assert_eq!(by, [0, 1, 2], "{found:?}");
        // Two weeks are the error.
        let [start, end, duration, _] = found.repaired[..] else { unreachable!("four columns") };
        assert!((end - start - duration).abs() < 3.0, "{found:?}");
    }
}

#[test]
fn a_scaling_that_mixes_columns_has_depths_for_positive_columns() {
    for scale in [Scale::Whiten, Scale::Mcd] {
        let model = fitted(&invoices(), scale);
        let fits = model.score(model.reference().rows(), &Run::default()).unwrap();
        assert!(fits.iter().all(|fit| fit.depth > 0.0 && fit.error <= 1e-6), "{scale:?}");
    }
}

#[test]
fn numbers_that_the_reference_cannot_have_are_odd_and_finite() {
    let model = fitted(&invoices(), Scale::Standard);
    let usual = invoices()[0];
    let with = |j: usize, x: f64| {
        let mut row = usual;
        row[j] = x;
        row
    };
    for (j, x) in [(3, -100.0), (3, 0.0), (1, -1e100), (3, 1e100), (0, 5e-324)] {
        let fit = model.score(Rows::new(&with(j, x), 5).unwrap(), &Run::default()).unwrap()[0];
        let ordinary = model.score(Rows::new(&usual, 5).unwrap(), &Run::default()).unwrap()[0];
        assert!(fit.depth > 0.0 && fit.depth < ordinary.depth && fit.error <= 1e-6, "{j} {x}: {fit:?}");
    }
}
