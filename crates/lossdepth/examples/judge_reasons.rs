//! How often the reasons name the columns that were corrupted: simulated tables, every method alike.
//!
//! ```text
//! cargo run --release -p lossdepth --example judge_reasons -- [--methods svm,forest] [--designs product,mixture]
//!     [--rows 25] [--size 1000] [--seed 2026] [--new] [--write DIR]
//! ```
//!
//! A table has `size` rows, of which `rows` have one corrupted column and as many have two. By default the table is its
//! own reference, as in `lossdepth outliers`; with `--new` the corrupted rows are scored against the clean ones. `--write`
//! saves the tables, for `benchmarks/reasons.py` to compare with other explanations.

use lossdepth::data::{GroupKind, Layout};
use lossdepth::model::{Explainer, ReasonOptions, Reasons};
use lossdepth::numerics::Random;
use lossdepth::{Method, Preset, Reference, Rows, Run, Settings};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// How a table is drawn, and by how much a corrupted value is off.
struct Design {
    name: &'static str,
    width: usize,
    draw: fn(&mut Random, usize) -> Vec<f64>,
    corrupt: fn(&mut Random, &[f64], usize) -> f64,
    /// How many levels each column has, 0 for a number; empty if all are numbers.
    levels: &'static [usize],
}

/// Correlated normal columns: neighbours in a chain with correlation 0.8.
fn chain(random: &mut Random, width: usize) -> Vec<f64> {
    let mut row = vec![random.normal()];
    for j in 1..width {
        let next = 0.8 * row[j - 1] + 0.6 * random.normal();
        row.push(next);
    }
    row
}

/// Three common factors and as much noise, in different units; loadings are fixed.
fn factors(random: &mut Random, width: usize) -> Vec<f64> {
    let factor = [random.normal(), random.normal(), random.normal()];
    let mut loading = Random::new(77);
    let mut value = |unit: f64| {
        let common: f64 = factor.iter().map(|f| f * loading.between(-1.0, 1.0)).sum();
        unit * (common + 0.7 * random.normal())
    };
    (0..width).map(|j| value(10f64.powi(i32::try_from(j % 4).unwrap_or(0)))).collect()
}

/// Student's t with three degrees of freedom, all columns with one divisor, then the chain.
fn heavy(random: &mut Random, width: usize) -> Vec<f64> {
    let chi: f64 = (0..3).map(|_| random.normal().powi(2)).sum();
    chain(random, width).iter().map(|x| x / (chi / 3.0).sqrt()).collect()
}

/// Orders: quantity, unit price, amount = quantity · price up to 2 %, weight, days to pay, discount.
fn product(random: &mut Random, _: usize) -> Vec<f64> {
    let quantity = (3.0 + 0.5 * random.normal()).exp().round();
    let price = (2.0 + 0.6 * random.normal()).exp();
    let amount = quantity * price * (1.0 + 0.02 * random.normal());
    let weight = quantity * (0.5 + 0.05 * random.normal());
    let days = (2.5 + 0.5 * random.normal()).exp();
    vec![quantity, price, amount, weight, days, random.between(0.0, 0.3)]
}

/// Three clusters.
fn mixture(random: &mut Random, width: usize) -> Vec<f64> {
    let cluster = random.below(3);
    let centre = |j: usize| if j % 3 == cluster { 6.0 } else { 0.0 };
    (0..width).map(|j| centre(j) + random.normal()).collect()
}

/// One factor that every column follows closely.
fn hidden(random: &mut Random, width: usize) -> Vec<f64> {
    let factor = random.normal();
    (0..width).map(|_| factor + 0.15 * random.normal()).collect()
}

/// The levels of the columns of [`shop`].
const SHOP: [usize; 8] = [5, 0, 0, 0, 4, 4, 4, 0];

/// A product with its price, weight and size; a country with its currency and language, which are usually its own;
/// a quantity. Levels are numbers from 0.
fn shop(random: &mut Random, _: usize) -> Vec<f64> {
    let (product, country) = (random.below(5) as f64, random.below(4) as f64);
    let price = 10.0 * 1.6f64.powf(product) * (1.0 + 0.08 * random.normal());
    let weight = (6.0 - product) * (1.0 + 0.08 * random.normal());
    let size = (1.0 + (2.0 * product) % 5.0) * (1.0 + 0.08 * random.normal());
    let quantity = (2.0 + 0.4 * random.normal()).exp();
    vec![product, price, weight, size, country, country, country, quantity]
}

/// Another level, or ten times the number.
fn miscoded(random: &mut Random, row: &[f64], j: usize) -> f64 {
    match SHOP[j] {
        0 => 10.0 * row[j],
        levels => (row[j] + 1.0 + random.below(levels - 1) as f64) % levels as f64,
    }
}

/// Skewed, independent columns.
fn skewed(random: &mut Random, width: usize) -> Vec<f64> {
    (0..width).map(|_| (0.5 * random.normal()).exp()).collect()
}

/// Eight to twelve standard deviations off, up or down.
fn shifted(random: &mut Random, row: &[f64], j: usize) -> f64 {
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    row[j] + sign * random.between(8.0, 12.0)
}

/// The same in the units of [`factors`], whose columns have a standard deviation of about 1.2 units.
fn shifted_units(random: &mut Random, row: &[f64], j: usize) -> f64 {
    let unit = 10f64.powi(i32::try_from(j % 4).unwrap_or(0));
    row[j] + 1.2 * unit * (shifted(random, &[0.0], 0))
}

/// Far beyond heavy tails: 40 to 60 off.
fn far(random: &mut Random, row: &[f64], j: usize) -> f64 {
    row[j] + 5.0 * (shifted(random, &[0.0], 0))
}

/// A decimal point one place off.
fn slipped(_: &mut Random, row: &[f64], j: usize) -> f64 {
    if j == 5 { 3.0 + row[j] } else { 10.0 * row[j] }
}

/// Beyond the clusters, or 8 off on the far side of the own one.
fn between_clusters(random: &mut Random, row: &[f64], j: usize) -> f64 {
    let sign = if row[j] > 3.0 { -1.0 } else { 1.0 };
    if random.below(2) == 0 { 3.0 + sign * 9.0 } else { row[j] - sign * 8.0 }
}

/// Well within the range of the column, but ten to sixteen standard deviations of its noise off.
fn inside(random: &mut Random, row: &[f64], j: usize) -> f64 {
    row[j] - row[j].signum() * random.between(1.5, 2.4)
}

/// Ten times as large as a value ever is.
fn tenfold(_: &mut Random, row: &[f64], j: usize) -> f64 {
    10.0 * row[j].max(1.0)
}

const DESIGNS: [Design; 10] = [
    Design { name: "chain5", width: 5, draw: chain, corrupt: shifted, levels: &[] },
    Design { name: "chain10", width: 10, draw: chain, corrupt: shifted, levels: &[] },
    Design { name: "chain20", width: 20, draw: chain, corrupt: shifted, levels: &[] },
    Design { name: "factors12", width: 12, draw: factors, corrupt: shifted_units, levels: &[] },
    Design { name: "heavy8", width: 8, draw: heavy, corrupt: far, levels: &[] },
    Design { name: "product6", width: 6, draw: product, corrupt: slipped, levels: &[] },
    Design { name: "mixture6", width: 6, draw: mixture, corrupt: between_clusters, levels: &[] },
    Design { name: "hidden8", width: 8, draw: hidden, corrupt: inside, levels: &[] },
    Design { name: "skewed8", width: 8, draw: skewed, corrupt: tenfold, levels: &[] },
    Design { name: "mixed8", width: 8, draw: shop, corrupt: miscoded, levels: &SHOP },
];

struct Table {
    clean: Vec<f64>,
    odd: Vec<f64>,
    corrupted: Vec<Vec<usize>>,
    width: usize,
    levels: &'static [usize],
}

impl Table {
    /// Which encoded columns belong together.
    fn layout(&self) -> Layout {
        let group = |(j, &levels): (usize, &usize)| match levels {
            0 => (j, GroupKind::Number, 1),
            levels => (j, GroupKind::Category, levels),
        };
        if self.levels.is_empty() {
            Layout::numbers(self.width)
        } else {
            Layout::new(self.levels.iter().enumerate().map(group))
        }
    }

    /// Rows with a coordinate for each level; two independent rows are at a squared distance of 2 on average.
    fn encoded(&self, rows: &[f64]) -> Vec<f64> {
        if self.levels.is_empty() {
            return rows.to_vec();
        }
        let value = |(x, &levels): (&f64, &usize)| match levels {
            0 => vec![*x],
            levels => {
                let size = (1.0 - 1.0 / levels as f64).sqrt().recip();
                (0..levels).map(|level| if *x == level as f64 { size } else { 0.0 }).collect()
            }
        };
        rows.chunks(self.width).flat_map(|row| row.iter().zip(self.levels).flat_map(value)).collect()
    }
}

impl Design {
    fn table(&self, seed: u64, size: usize, rows: usize) -> Table {
        let width = self.width;
        let mut random = Random::stream(seed, width as u64 + 100 * u64::from(self.name.as_bytes()[0]));
        let clean =
            (0..size.saturating_sub(2 * rows)).flat_map(|_| (self.draw)(&mut random, width)).collect();
        let (mut odd, mut corrupted) = (Vec::new(), Vec::new());
        for i in 0..2 * rows {
            let mut row = (self.draw)(&mut random, width);
            let mut columns = random.choose(1 + i % 2, width);
            columns.sort_unstable();
            let before = row.clone();
            for &j in &columns {
                row[j] = (self.corrupt)(&mut random, &before, j);
            }
            odd.extend(row);
            corrupted.push(columns);
        }
        Table { clean, odd, corrupted, width, levels: self.levels }
    }
}

/// How often the corrupted columns came first, by their number.
#[derive(Default)]
struct Tally {
    single: [usize; 2],
    pair: [usize; 2],
    met: usize,
    changed: [usize; 4],
    evaluations: usize,
    seconds: f64,
}

impl Tally {
    fn add(&mut self, corrupted: &[usize], reasons: &Reasons) {
        let first: Vec<usize> = reasons.columns.iter().take(3).map(|reason| reason.column).collect();
        if let [column] = corrupted {
            self.single[1] += 1;
            self.single[0] += usize::from(first.first() == Some(column));
        } else {
            self.pair[1] += 1;
            self.pair[0] += usize::from(corrupted.iter().all(|column| first.contains(column)));
        }
        self.evaluations += reasons.evaluations;
        if let Some(change) = &reasons.counterfactual {
            self.met += usize::from(change.met);
            self.changed[change.columns.len().min(3)] += 1;
        }
    }

    fn line(&self, method: &str, design: &str) -> String {
        let share = |[hits, all]: [usize; 2]| 100.0 * hits as f64 / all.max(1) as f64;
        let rows = self.single[1] + self.pair[1];
        let [none, one, two, more] = self.changed;
        format!(
            "| {method} | {design} | {:.0} | {:.0} | {} | {:.1} | {} of {rows} | {none} | {one} | {two} | {more} |",
            share(self.single),
            share(self.pair),
            self.evaluations / rows.max(1),
            1e3 * self.seconds / rows.max(1) as f64,
            self.met,
        )
    }

    fn join(&mut self, other: &Self) {
        for k in 0..2 {
            self.single[k] += other.single[k];
            self.pair[k] += other.pair[k];
        }
        for k in 0..4 {
            self.changed[k] += other.changed[k];
        }
        self.met += other.met;
        self.evaluations += other.evaluations;
        self.seconds += other.seconds;
    }
}

/// The processor time of this thread; where the system does not tell, the time of day.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = text.split(' ').next().and_then(|number| number.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    nanoseconds.map_or_else(now, |nanoseconds| 1e-9 * nanoseconds)
}

fn judge(method: Method, table: &Table, new: bool, verbose: bool) -> Result<Tally, Box<dyn Error>> {
    let (mut data, odd, layout) = (table.encoded(&table.clean), table.encoded(&table.odd), table.layout());
    let width = layout.width();
    if !new {
        data.extend_from_slice(&odd);
    }
    let sample = Reference::from_vec(data, width, None)?.with_layout(layout)?;
    let settings = Settings::with(method, Preset::Recommended.values(method, sample.observations())?)?;
    let model = settings.fit(&sample)?;
    let run = Run { threads: Some(1), ..Run::default() };
    let explainer = Explainer::new(&model, &run)?;
    let start = seconds();
    let rows = Rows::new(&odd, width)?;
    let reasons = explainer.reasons(rows, &ReasonOptions::default(), &run)?;
    let mut tally = Tally { seconds: seconds() - start, ..Tally::default() };
    for (i, (reasons, corrupted)) in reasons.iter().zip(&table.corrupted).enumerate() {
        tally.add(corrupted, reasons);
        if verbose {
            let first =
                reasons.columns.iter().take(4).map(|r| (r.column, (10.0 * r.contribution).round() / 10.0));
            let change = reasons.counterfactual.as_ref().map(|change| (&change.columns, change.percentile));
            eprintln!(
                "{i}: corrupted {corrupted:?}, {:.1} to {:.1} bits, {:?}, {change:?}",
                reasons.outlyingness,
                reasons.baseline,
                first.collect::<Vec<_>>()
            );
        }
    }
    Ok(tally)
}

fn save(table: &Table, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    let none = vec![Vec::new(); table.clean.len() / table.width];
    let rows = table.clean.chunks(table.width).chain(table.odd.chunks(table.width));
    for (row, corrupted) in rows.zip(none.iter().chain(&table.corrupted)) {
        for value in row {
            write!(text, "{value},")?;
        }
        let names: Vec<String> = corrupted.iter().map(ToString::to_string).collect();
        writeln!(text, "{}", names.join(" "))?;
    }
    Ok(std::fs::write(path, text)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut methods, mut designs, mut rows) = (String::from("svm,logistic,forest,gp"), String::new(), 25);
    let (mut new, mut verbose, mut write, mut size) = (false, false, None, 1000);
    let mut seed = 2026;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--methods" => methods = value()?,
            "--designs" => designs = value()?,
            "--rows" => rows = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--size" => size = value()?.parse()?,
            "--write" => write = Some(value()?),
            "--new" => new = true,
            "--verbose" => verbose = true,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let chosen = |design: &&Design| designs.is_empty() || designs.split(',').any(|name| name == design.name);
    let tables: Vec<(&Design, Table)> =
        DESIGNS.iter().filter(chosen).map(|design| (design, design.table(seed, size, rows))).collect();
    if let Some(folder) = write {
        for (design, table) in &tables {
            save(table, &Path::new(&folder).join(format!("{}.csv", design.name)))?;
        }
    }
    println!(
        "| method | table | first % | both % | rows scored | ms a row | target met | 0 changed | 1 | 2 | more |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for name in methods.split(',').filter(|name| !name.is_empty()) {
        let mut all = Tally::default();
        for (design, table) in &tables {
            let tally = judge(name.parse()?, table, new, verbose)?;
            println!("{}", tally.line(name, design.name));
            all.join(&tally);
        }
        println!("{}", all.line(name, "**all**"));
    }
    Ok(())
}
