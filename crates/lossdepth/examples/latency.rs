//! One row at a time: `latency MODEL CALLS` prints p50 and p99 in microseconds; `benchmarks/latency.py` runs it.

use lossdepth::model::archive::Archive;
use lossdepth::{Rows, Run};
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, calls] = &arguments[..] else { return Err("usage: latency MODEL CALLS".into()) };
    let model = Archive::from_bytes(&std::fs::read(path)?)?.model()?;
    let calls: usize = calls.parse()?;
    let run = Run { threads: Some(1), depths_only: true, ..Run::default() };
    // The rows of the reference, a little off: none is a copy.
    let rows: Vec<Vec<f64>> =
        model.reference().rows().iter().map(|row| row.iter().map(|value| value * 1.01).collect()).collect();
    let mut times = Vec::with_capacity(calls);
    for call in 0..calls + 50 {
        let row = Rows::new(&rows[call % rows.len()], model.width())?;
        let started = Instant::now();
        black_box(model.score(row, &run)?);
        times.push(started.elapsed().as_secs_f64() * 1e6);
    }
    let mut times = times.split_off(50);
    times.sort_by(f64::total_cmp);
    println!("{} {}", times[times.len() / 2], times[times.len() * 99 / 100]);
    Ok(())
}
