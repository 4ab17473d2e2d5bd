//! Tables of other kinds, which the search was not developed on.

use lossdepth::numerics::Random;

/// A chain with correlation 0.5.
pub(crate) fn loose(random: &mut Random, width: usize) -> Vec<f64> {
    let mut row = vec![random.normal()];
    for j in 1..width {
        let next = 0.5 * row[j - 1] + 0.75f64.sqrt() * random.normal();
        row.push(next);
    }
    row
}

/// Five factors and less noise than signal, columns with means far from 0; loadings are fixed.
pub(crate) fn wide(random: &mut Random, width: usize) -> Vec<f64> {
    let factor: Vec<f64> = (0..5).map(|_| random.normal()).collect();
    let mut loading = Random::new(5);
    let mut value = |mean: f64| {
        mean + factor.iter().map(|f| f * loading.between(-1.0, 1.0)).sum::<f64>() + 0.5 * random.normal()
    };
    (0..width).map(|j| value(100.0 * j as f64)).collect()
}

/// The exponential of the loose chain: skewed and dependent.
pub(crate) fn skewed_chain(random: &mut Random, width: usize) -> Vec<f64> {
    loose(random, width).iter().map(|x| (0.8 * x).exp()).collect()
}

/// Six to nine standard deviations off, up or down.
pub(crate) fn six(random: &mut Random, row: &[f64], j: usize) -> f64 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    row[j] + sign * random.between(6.0, 9.0)
}

/// Thirty times as large as the larger of the value and 1.
pub(crate) fn thirtyfold(_: &mut Random, row: &[f64], j: usize) -> f64 {
    30.0 * row[j].max(1.0)
}

/// The levels of the columns of [`clinic`].
pub(crate) const CLINIC: [usize; 10] = [3, 9, 9, 0, 0, 12, 0, 0, 2, 0];

/// Patients: a department, three in four in the first; a diagnosis with its treatment (usually the same number), not
/// equally frequent; two results that depend on the diagnosis; a doctor; age and pressure; a yes or no that depends on age;
/// a stay.
pub(crate) fn clinic(random: &mut Random, _: usize) -> Vec<f64> {
    let department = if random.below(4) < 3 { 0.0 } else { 1.0 + random.below(2) as f64 };
    let diagnosis = (9.0 * random.between(0.0, 1.0).powi(2)).floor();
    let treatment = if random.below(20) == 0 { random.below(9) as f64 } else { diagnosis };
    let first = 40.0 + 12.0 * diagnosis + 3.0 * random.normal();
    let second = (0.3 * ((5.0 * diagnosis) % 9.0) + 0.15 * random.normal()).exp();
    let doctor = random.below(12) as f64;
    let age = random.between(20.0, 85.0);
    let pressure = 95.0 + 0.6 * age + 6.0 * random.normal();
    let retired = if age + 4.0 * random.normal() > 64.0 { 1.0 } else { 0.0 };
    let stay = (1.0 + 0.15 * diagnosis + 0.4 * random.normal()).exp();
    vec![department, diagnosis, treatment, first, second, doctor, age, pressure, retired, stay]
}

/// Another level, or a number five times as large.
pub(crate) fn mistaken(random: &mut Random, row: &[f64], j: usize) -> f64 {
    match CLINIC[j] {
        0 => 5.0 * row[j],
        levels => (row[j] + 1.0 + random.below(levels - 1) as f64) % levels as f64,
    }
}

fn cents(x: f64) -> f64 {
    (100.0 * x).round() / 100.0
}

/// Invoices: quantity, price, discount, total = price · quantity · (1 - discount), weight, days to pay.
pub(crate) fn invoice(random: &mut Random, _: usize) -> Vec<f64> {
    let quantity = (2.5 + 0.6 * random.normal()).exp().ceil();
    let price = cents((3.0 + 0.8 * random.normal()).exp());
    let discount = if random.below(2) == 0 { 0.0 } else { 0.05 * (1 + random.below(6)) as f64 };
    let total = cents(price * quantity * (1.0 - discount));
    let weight = quantity * (0.4 + 0.2 * random.normal().abs());
    vec![quantity, price, discount, total, weight, (2.5 + 0.6 * random.normal()).exp().round()]
}

/// Patients: height in metres, weight, body mass index = weight / height², age, pulse.
pub(crate) fn body(random: &mut Random, _: usize) -> Vec<f64> {
    let height = cents(1.7 + 0.09 * random.normal());
    let weight = (height * height * (25.0 + 4.0 * random.normal())).max(35.0).round();
    let index = (10.0 * weight / (height * height)).round() / 10.0;
    vec![height, weight, index, random.between(18.0, 90.0).round(), (70.0 + 9.0 * random.normal()).round()]
}

/// Stays: start and end in days, their difference, cost of a day, guests.
pub(crate) fn stay(random: &mut Random, _: usize) -> Vec<f64> {
    let start = random.between(19000.0, 20000.0).round();
    let duration = (2.0 + 0.8 * random.normal()).exp().ceil();
    let cost = (4.5 + 0.4 * random.normal()).exp().round();
    vec![start, start + duration, duration, cost, 1.0 + random.below(4) as f64]
}

/// Receipts: net, tax at one of three rates, net + tax, items, hour.
pub(crate) fn receipt(random: &mut Random, _: usize) -> Vec<f64> {
    let net = cents((3.5 + 0.9 * random.normal()).exp());
    let tax = cents(net * [0.0, 0.07, 0.19][random.below(3)]);
    let hour = (14.0 + 3.0 * random.normal()).round();
    vec![net, tax, cents(net + tax), 1.0 + random.below(9) as f64, hour]
}

/// Journeys: distance, hours, speed = distance / hours, stops, load.
pub(crate) fn journey(random: &mut Random, _: usize) -> Vec<f64> {
    let distance = (5.0 + 0.7 * random.normal()).exp().round();
    let hours = cents(distance / (60.0 + 15.0 * random.normal()).max(15.0)).max(0.05);
    let speed = (10.0 * distance / hours).round() / 10.0;
    vec![distance, hours, speed, random.below(6) as f64, random.between(0.0, 20.0)]
}

/// The value of another row of the table, at least a fifth away from the own; for dates (large numbers) 10 to 60 days off.
fn of_another(draw: fn(&mut Random, usize) -> Vec<f64>, random: &mut Random, row: &[f64], j: usize) -> f64 {
    if row[j] > 10_000.0 {
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        return row[j] + sign * random.between(10.0, 60.0).round();
    }
    loop {
        let other = draw(random, row.len())[j];
        if (other - row[j]).abs() > (0.2 * row[j].abs()).max(0.1) {
            return other;
        }
    }
}

pub(crate) fn other_invoice(random: &mut Random, row: &[f64], j: usize) -> f64 {
    of_another(invoice, random, row, j)
}

pub(crate) fn other_body(random: &mut Random, row: &[f64], j: usize) -> f64 {
    // Heights differ by less than a fifth.
    if j == 0 {
        row[j] + 0.2 * if row[j] > 1.7 { -1.0 } else { 1.0 }
    } else {
        of_another(body, random, row, j)
    }
}

pub(crate) fn other_stay(random: &mut Random, row: &[f64], j: usize) -> f64 {
    if j == 2 { row[j] + random.between(8.0, 30.0).round() } else { of_another(stay, random, row, j) }
}

pub(crate) fn other_receipt(random: &mut Random, row: &[f64], j: usize) -> f64 {
    of_another(receipt, random, row, j)
}

pub(crate) fn other_journey(random: &mut Random, row: &[f64], j: usize) -> f64 {
    of_another(journey, random, row, j)
}
