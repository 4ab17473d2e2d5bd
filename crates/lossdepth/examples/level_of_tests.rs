//! How often the two-sample tests reject samples of one distribution, and how often a shifted one, at the level of 5 %.
//!
//! ```text
//! cargo run --release -p lossdepth --example level_of_tests                       10,000 pairs of samples, 39 permutations
//! cargo run --release -p lossdepth --example level_of_tests -- 2000 199 0.5       other numbers; the second sample shifted by 0.5
//! ```
//!
//! Sizes 20/20, 30/14 and 100/40, two columns: normal numbers, normal numbers rounded to whole ones, four equally likely values,
//! and two. `docs/math/two-sample.md` has the table.

use lossdepth::data::{Column, EncodingOptions, Table, Values};
use lossdepth::numerics::Random;
use lossdepth::stats::two_sample::{CompareOptions, Comparison};
use lossdepth::{Method, Run, Settings};
use std::error::Error;

type Draw = fn(&mut Random, f64) -> f64;

const DISTRIBUTIONS: [(&str, Draw); 4] = [
    ("continuous", |random, shift| random.normal() + shift),
    ("whole numbers", |random, shift| (random.normal() + shift).round()),
    ("four values", |random, shift| (random.below(4) as f64 + shift).round()),
    ("two values", |random, shift| (random.below(2) as f64 + shift).round()),
];

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let at = |place: usize, default: &'static str| given.get(place).map_or(default, String::as_str);
    let (pairs, permutations) = (at(0, "10000").parse()?, at(1, "39").parse()?);
    let shift: f64 = at(2, "0").parse()?;
    println!("{pairs} pairs, {permutations} permutations, shift {shift}: rejected at 5 %, in percent");
    println!("values         sizes    rank  kernel  classifier  a column");
    for (name, draw) in DISTRIBUTIONS {
        for sizes in [[20, 20], [30, 14], [100, 40]] {
            let shares = rejected(sizes, draw, pairs, permutations, shift)?;
            let [rank, kernel, classifier, column] = shares.map(|share| 100.0 * share);
            let [first, second] = sizes;
            println!(
                "{name:13} {first:4}/{second:<3}  {rank:5.2}   {kernel:5.2}       {classifier:5.2}     {column:5.2}"
            );
        }
    }
    Ok(())
}

/// The shares of the pairs that each test rejects; last, by the adjusted p-value of any column.
fn rejected(
    sizes: [usize; 2],
    draw: Draw,
    pairs: u32,
    permutations: usize,
    shift: f64,
) -> Result<[f64; 4], Box<dyn Error>> {
    let mut random = Random::new(24);
    // Faster than `auto`; whichever depth it is, the test is the same.
    let settings = Settings::new(Method::Logistic);
    let mut counts = [0u32; 4];
    for seed in 0..u64::from(pairs) {
        let mut sample = |rows: usize, shift: f64| {
            let mut column = |name: &str| Column {
                name: name.into(),
                values: Values::Numbers((0..rows).map(|_| draw(&mut random, shift)).collect()),
            };
            Table::new(vec![column("a"), column("b")])
        };
        let tables = [sample(sizes[0], 0.0)?, sample(sizes[1], shift)?];
        let encoding = EncodingOptions { guess: false, ..EncodingOptions::default() };
        let options =
            CompareOptions { permutations, seed, settings: settings.clone(), ..CompareOptions::default() };
        let of = [&tables[0], &tables[1]];
        let (found, _) = Comparison::of_tables(of, [None, None], &encoding, &options, &Run::default())?;
        for (count, test) in counts.iter_mut().zip(&found.tests) {
            *count += u32::from(test.p <= 0.05);
        }
        counts[3] += u32::from(found.columns.iter().any(|column| column.adjusted <= 0.05));
    }
    Ok(counts.map(|count| f64::from(count) / f64::from(pairs)))
}
