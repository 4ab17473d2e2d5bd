//! How fast kernel blocks, exact forests and the default depth are.
//!
//! ```text
//! cargo run --release -p lossdepth --example throughput -- kernels [ROWS] [COLUMNS]
//! cargo run --release -p lossdepth --example throughput -- forest ROWS COLUMNS [THREADS] [QUERIES]
//! cargo run --release -p lossdepth --example throughput -- auto ROWS COLUMNS [THREADS] [QUERIES]
//! ```
//!
//! `kernels` prints kernel values a second on one core, by the depth that is nothing but a mean of them, beside the
//! multiplications with an addition a second of a loop in registers. `forest` and `auto` score rows against their own table: correlated
//! normal columns, every twentieth row farther out. Rates are by processor time where the system tells it, so that other
//! programs on the machine do not matter much.

use lossdepth::kernel::KernelChoice;
use lossdepth::methods::{Auto, Forest, Hypothesis, Svm};
use lossdepth::numerics::Random;
use lossdepth::{Depth, Reference, Run};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

/// The processor time of this program in seconds, from Linux; elsewhere the time of the day.
fn seconds(started: Instant) -> f64 {
    let ticks = std::fs::read_to_string("/proc/self/stat").ok().and_then(|stat| {
        // After the name in parentheses; the user's and the system's time are the numbers 14 and 15.
        let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    });
    ticks.map_or_else(|| started.elapsed().as_secs_f64(), |ticks| ticks / 100.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: usize| arguments.get(at).map_or(Ok(default), |text| text.parse());
    match arguments.first().map(String::as_str) {
        Some("kernels") => kernels(number(1, 20_000)?, number(2, 10)?),
        Some(method @ ("forest" | "auto")) => {
            let size = (number(1, 3_062)?, number(2, 166)?, number(3, 1)?, number(4, usize::MAX)?);
            if method == "forest" { scores(Forest::new(), size) } else { scores(Auto::new(), size) }
        }
        _ => Err("usage: throughput kernels [ROWS] [COLUMNS] | forest|auto ROWS COLUMNS [THREADS] [QUERIES]"
            .into()),
    }
}

/// Normal rows whose neighbouring columns have correlation 0.8; every twentieth is three times as far out.
fn table(rows: usize, columns: usize) -> Vec<Vec<f64>> {
    let mut random = Random::new(22);
    let mut row = |i: usize| {
        let scale = if i.is_multiple_of(20) { 3.0 } else { 1.0 };
        let mut x = 0.0;
        let mut next = |j: usize| {
            x = if j == 0 { random.normal() } else { 0.8 * x + 0.6 * random.normal() };
            scale * x
        };
        (0..columns).map(&mut next).collect()
    };
    (0..rows).map(&mut row).collect()
}

fn kernels(rows: usize, columns: usize) -> Result<(), Box<dyn Error>> {
    let peak = peak()?;
    println!("peak          {:6.2} 10^9 multiply-adds/s", peak / 1e9);
    let table = table(rows, columns);
    let sample = Reference::new(&table)?;
    let run = Run { threads: Some(1), depths_only: true, ..Run::default() };
    // Vector instructions a value: differences and their squares or absolute values; the exponential has 20, the root and the
    // division of the inverse multiquadric are counted as one each.
    for (name, instructions) in
        [("gaussian", 2 * columns + 21), ("laplacian", 3 * columns + 22), ("imq", 2 * columns + 4)]
    {
        let svm = Svm::new().kernel(KernelChoice::parse(name)?);
        let depth = Depth::new(svm).fit(&sample)?;
        let queries = &table[..rows.min(4_000)];
        let best = fastest(|| {
            black_box(depth.score_with(queries, &run)?);
            Ok(())
        })?;
        let values = (queries.len() * rows) as f64 / best;
        let share = 100.0 * values * instructions as f64 / peak;
        println!(
            "{name:<12}  {:6.3} 10^9 values/s, {instructions} instructions each: {share:.0} % of the peak",
            values / 1e9
        );
    }
    Ok(())
}

/// The shortest time of a call, of five times as many as take half a second.
fn fastest(mut call: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let origin = Instant::now();
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (first, mut calls) = (seconds(origin), 0);
        while calls == 0 || seconds(origin) - first < 0.5 {
            call()?;
            calls += 1;
        }
        best = best.min((seconds(origin) - first) / f64::from(calls));
    }
    Ok(best)
}

/// Multiplications with an addition a second: independent sums in registers.
fn peak() -> Result<f64, Box<dyn Error>> {
    const SUMS: usize = 128;
    const ROUNDS: usize = 1_000_000;
    let best = fastest(|| {
        let (factor, mut sums) = (black_box(0.999), black_box([1.0f64; SUMS]));
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for _ in 0..ROUNDS {
                    for sum in &mut sums {
                        *sum = sum.mul_add(factor, factor);
                    }
                }
            },
        );
        black_box(sums);
        Ok(())
    })?;
    Ok((SUMS * ROUNDS) as f64 / best)
}

fn scores(
    method: impl Hypothesis,
    (rows, columns, threads, queries): (usize, usize, usize, usize),
) -> Result<(), Box<dyn Error>> {
    let table = table(rows, columns);
    let sample = Reference::new(&table)?;
    let started = Instant::now();
    let first = seconds(started);
    let depth = Depth::new(method).fit(&sample)?;
    println!(
        "fit    {:.2} s, {:.2} s of processor time",
        started.elapsed().as_secs_f64(),
        seconds(started) - first
    );
    let queries = &table[..rows.min(queries)];
    let started = Instant::now();
    let first = seconds(started);
    let run = Run { threads: Some(threads), depths_only: true, ..Run::default() };
    let fits = depth.score_with(queries, &run)?;
    let (elapsed, used) = (started.elapsed().as_secs_f64(), seconds(started) - first);
    let error = fits.iter().fold(0.0f64, |error, fit| error.max(fit.error));
    let each = 1e3 * used / fits.len() as f64;
    println!(
        "score  {elapsed:.2} s, {used:.2} s of processor time, {each:.4} ms a row; largest error {error:.1e}"
    );
    // The sum of all bits tells whether two programs give the same depths.
    let bits = fits.iter().fold(0u64, |sum, fit| sum.rotate_left(1) ^ fit.depth.to_bits());
    println!(
        "depths {:?} ..., bits {bits:016x}",
        fits.iter().take(3).map(|fit| fit.depth).collect::<Vec<_>>()
    );
    Ok(())
}
