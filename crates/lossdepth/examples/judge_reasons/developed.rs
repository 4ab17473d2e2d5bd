//! The tables that the search for reasons was developed on.

use lossdepth::numerics::Random;

/// Correlated normal columns: neighbours in a chain with correlation 0.8.
pub(crate) fn chain(random: &mut Random, width: usize) -> Vec<f64> {
    let mut row = vec![random.normal()];
    for j in 1..width {
        let next = 0.8 * row[j - 1] + 0.6 * random.normal();
        row.push(next);
    }
    row
}

/// Three common factors and as much noise, in different units; loadings are fixed.
pub(crate) fn factors(random: &mut Random, width: usize) -> Vec<f64> {
    let factor = [random.normal(), random.normal(), random.normal()];
    let mut loading = Random::new(77);
    let mut value = |unit: f64| {
        let common: f64 = factor.iter().map(|f| f * loading.between(-1.0, 1.0)).sum();
        unit * (common + 0.7 * random.normal())
    };
    (0..width).map(|j| value(10f64.powi(i32::try_from(j % 4).unwrap_or(0)))).collect()
}

/// Student's t with three degrees of freedom, all columns with one divisor, then the chain.
pub(crate) fn heavy(random: &mut Random, width: usize) -> Vec<f64> {
    let chi: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
    chain(random, width).iter().map(|x| x / (chi / 3.0).sqrt()).collect()
}

/// Orders: quantity, unit price, amount = quantity · price up to 2 %, weight, days to pay, discount.
pub(crate) fn product(random: &mut Random, _: usize) -> Vec<f64> {
    let quantity = (3.0 + 0.5 * random.normal()).exp().round();
    let price = (2.0 + 0.6 * random.normal()).exp();
    let amount = quantity * price * (1.0 + 0.02 * random.normal());
    let weight = quantity * (0.5 + 0.05 * random.normal());
    let days = (2.5 + 0.5 * random.normal()).exp();
    vec![quantity, price, amount, weight, days, random.between(0.0, 0.3)]
}

/// Three clusters.
pub(crate) fn mixture(random: &mut Random, width: usize) -> Vec<f64> {
    let cluster = random.below(3);
    let centre = |j: usize| if j % 3 == cluster { 6.0 } else { 0.0 };
    (0..width).map(|j| centre(j) + random.normal()).collect()
}

/// One factor that every column follows closely.
pub(crate) fn hidden(random: &mut Random, width: usize) -> Vec<f64> {
    let factor = random.normal();
    (0..width).map(|_| factor + 0.15 * random.normal()).collect()
}

/// The levels of the columns of [`shop`].
pub(crate) const SHOP: [usize; 8] = [5, 0, 0, 0, 4, 4, 4, 0];

/// A product with its price, weight and size; a country with its currency and language, which are usually its own;
/// a quantity. Levels are numbers from 0.
pub(crate) fn shop(random: &mut Random, _: usize) -> Vec<f64> {
    let (product, country) = (random.below(5) as f64, random.below(4) as f64);
    let price = 10.0 * 1.6f64.powf(product) * (1.0 + 0.08 * random.normal());
    let weight = (6.0 - product) * (1.0 + 0.08 * random.normal());
    let size = (1.0 + (2.0 * product) % 5.0) * (1.0 + 0.08 * random.normal());
    let quantity = (2.0 + 0.4 * random.normal()).exp();
    vec![product, price, weight, size, country, country, country, quantity]
}

/// Another level, or ten times the number.
pub(crate) fn miscoded(random: &mut Random, row: &[f64], j: usize) -> f64 {
    match SHOP[j] {
        0 => 10.0 * row[j],
        levels => (row[j] + 1.0 + random.below(levels - 1) as f64) % levels as f64,
    }
}

/// Skewed, independent columns.
pub(crate) fn skewed(random: &mut Random, width: usize) -> Vec<f64> {
    (0..width).map(|_| (0.5 * random.normal()).exp()).collect()
}

/// Eight to twelve standard deviations off, up or down.
pub(crate) fn shifted(random: &mut Random, row: &[f64], j: usize) -> f64 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    row[j] + sign * random.between(8.0, 12.0)
}

/// The same in the units of [`factors`], whose columns have a standard deviation of about 1.2 units.
pub(crate) fn shifted_units(random: &mut Random, row: &[f64], j: usize) -> f64 {
    let unit = 10f64.powi(i32::try_from(j % 4).unwrap_or(0));
    row[j] + 1.2 * unit * (shifted(random, &[0.0], 0))
}

/// Far beyond heavy tails: 40 to 60 off.
pub(crate) fn far(random: &mut Random, row: &[f64], j: usize) -> f64 {
    row[j] + 5.0 * (shifted(random, &[0.0], 0))
}

/// A decimal point one place off.
pub(crate) fn slipped(_: &mut Random, row: &[f64], j: usize) -> f64 {
    if j == 5 { 3.0 + row[j] } else { 10.0 * row[j] }
}

/// Beyond the clusters, or 8 off on the far side of the own one.
pub(crate) fn between_clusters(random: &mut Random, row: &[f64], j: usize) -> f64 {
    let sign = if row[j] > 3.0 { -1.0 } else { 1.0 };
    if random.below(2) == 0 { 3.0 + sign * 9.0 } else { row[j] - sign * 8.0 }
}

/// Well within the range of the column, but ten to sixteen standard deviations of its noise off.
pub(crate) fn inside(random: &mut Random, row: &[f64], j: usize) -> f64 {
    row[j] - row[j].signum() * random.between(1.5, 2.4)
}

/// Ten times as large as a value ever is.
pub(crate) fn tenfold(_: &mut Random, row: &[f64], j: usize) -> f64 {
    10.0 * row[j].max(1.0)
}
