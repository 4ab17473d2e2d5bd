//! One row at a time: p50 and p99 in microseconds, one thread.
//!
//! ```text
//! cargo run --release -p lossdepth --example latency
//! cargo run --release -p lossdepth --example latency -- MODEL CALLS
//! ```
//!
//! Without arguments, four methods on a reference of 2,000 rows and 10 columns. With a model file, that model;
//! `benchmarks/latency.py` does this with the models that it measures from Python.

use lossdepth::model::archive::Archive;
use lossdepth::model::{Method, Model, Settings};
use lossdepth::numerics::Random;
use lossdepth::{Reference, Rows, Run};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => {
            let mut random = Random::new(0);
            let table: Vec<Vec<f64>> =
                (0..2_000).map(|_| (0..10).map(|_| random.normal()).collect()).collect();
            let reference = Reference::new(&table)?;
            for method in [Method::Auto, Method::Svm, Method::Logistic, Method::Forest] {
                let model = Settings::new(method).fit(&reference)?;
                let (p50, p99) = latency(&model, 5_000)?;
                println!("{:10} p50 {p50:6.0} us   p99 {p99:6.0} us", method.name());
            }
            Ok(())
        }
        [path, calls] => {
            let model = Archive::from_bytes(&std::fs::read(path)?)?.model()?;
            let (p50, p99) = latency(&model, calls.parse()?)?;
            println!("{p50} {p99}");
            Ok(())
        }
        _ => Err("usage: latency [MODEL CALLS]".into()),
    }
}

/// The median and the 99th percentile of so many calls, after a few that are not counted.
fn latency(model: &Model, calls: usize) -> Result<(f64, f64), Box<dyn Error>> {
    const FIRST: usize = 50;
    let run = Run { threads: Some(1), depths_only: true, ..Run::default() };
    // The rows of the reference, a little off: none is a copy.
    let rows: Vec<Vec<f64>> =
        model.reference().rows().iter().map(|row| row.iter().map(|value| value * 1.01).collect()).collect();
    let mut times = Vec::with_capacity(calls);
    for call in 0..calls + FIRST {
        let row = Rows::new(&rows[call % rows.len()], model.width())?;
        let started = Instant::now();
        black_box(model.score(row, &run)?);
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    let mut times = times.split_off(FIRST);
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(f64::NAN);
    Ok((at(50), at(99)))
}
