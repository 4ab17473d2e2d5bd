//! Fits a method to a large sparse sample and scores it: wall time, and on Linux the processor time and peak memory.
//!
//! ```sh
//! cargo run --release -p lossdepth --example sparse -- svm 5000 200000
//! ```
//!
//! Columns are drawn like words, the j-th with a chance of 1 / j^0.9, 115 times a row.

use lossdepth::data::{SparseReference, SparseRows};
use lossdepth::{DepthError, Method, Run, Settings};
use std::collections::BTreeMap;
use std::time::Instant;

/// How often a column is drawn for each row.
const DRAWN: usize = 115;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, rows, columns] = &arguments[..] else {
        return Err("give a method, the number of rows and the number of columns".into());
    };
    let (method, rows, columns): (Method, usize, usize) = (method.parse()?, rows.parse()?, columns.parse()?);
    let words = words(rows, columns)?;
    println!("{rows} x {columns}, {} numbers a row", words.nonzeros() / rows.max(1));
    let started = Instant::now();
    let sample = SparseReference::new(words.clone(), None)?;
    let model = Settings::new(method).fit_sparse(&sample, Some(16 << 30))?;
    println!("{method}: fitted after {:.1} s{}", started.elapsed().as_secs_f64(), used());
    let fits = model.score(&words, &Run::default())?;
    let error = fits.iter().fold(0.0f64, |most, fit| most.max(fit.error));
    println!("scored after {:.1} s{}; largest error {error:.1e}", started.elapsed().as_secs_f64(), used());
    Ok(())
}

/// Logarithms of counts of words.
fn words(rows: usize, columns: usize) -> Result<SparseRows, DepthError> {
    let mut sum = 0.0;
    let cumulative: Vec<f64> = (1..=columns)
        .map(|j| {
            sum += (j as f64).powf(-0.9);
            sum
        })
        .collect();
    // Xorshift: the same rows everywhere.
    let mut state = 88_172_645_463_325_252_u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
        for _ in 0..DRAWN {
            let drawn = uniform() * sum;
            let column = cumulative.partition_point(|c| *c < drawn).min(columns.saturating_sub(1));
            *counts.entry(column).or_default() += 1;
        }
        for (column, count) in counts {
            places.push(u32::try_from(column).unwrap_or(u32::MAX));
            values.push(f64::from(count).ln_1p());
        }
        starts.push(places.len());
    }
    SparseRows::new(starts, places, values, columns)
}

/// Processor time and peak memory of this process so far, where Linux tells.
fn used() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let (stat, status) = (read("/proc/self/stat"), read("/proc/self/status"));
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    // Hundredths of a second in user and in system mode.
    let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    format!(", processor {:.1} s, peak {}", ticks.sum::<f64>() / 100.0, peak.trim())
}
