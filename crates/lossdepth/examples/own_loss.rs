//! A loss of your own makes a depth of its own.
//!
//! The smoothed hinge is quadratic near its kink and straight further out: unlike the squared hinge it does not
//! care about points that are far on the wrong side, unlike the hinge it has a derivative everywhere.
//!
//! Run with `cargo run --release --example own_loss`.

use lossdepth::loss::{Dual, Loss, Smooth};
use lossdepth::methods::Linear;
use lossdepth::{Depth, DepthError, Fit, Reference};

/// $\ell(m) = 0$ beyond 1, $(1 - m)^2$ between 0 and 1, $1 - 2m$ below 0.
#[derive(Debug, Clone, Copy)]
struct SmoothedHinge;

impl Loss for SmoothedHinge {
    fn value(&self, m: f64) -> f64 {
        if m < 0.0 { 1.0 - 2.0 * m } else { (1.0 - m).max(0.0).powi(2) }
    }
    fn grad(&self, m: f64) -> f64 {
        -2.0 * (1.0 - m).clamp(0.0, 1.0)
    }
    fn lipschitz(&self) -> f64 {
        2.0
    }
}

// Smooth: the solver for differentiable losses accepts it.
impl Smooth for SmoothedHinge {
    fn hess(&self, m: f64) -> f64 {
        if (0.0..1.0).contains(&m) { 2.0 } else { 0.0 }
    }
    // What the proofs need to know: how fast the slope may change between two margins.
    fn curvature_bound(&self, low: f64, high: f64) -> f64 {
        if low < 1.0 && high > 0.0 { 2.0 } else { 0.0 }
    }
}

// Dual: every depth gets a proven error.
impl Dual for SmoothedHinge {
    fn conjugate(&self, a: f64) -> f64 {
        if (0.0..=2.0).contains(&a) { a * (0.25 * a - 1.0) } else { f64::INFINITY }
    }
}

fn main() -> Result<(), DepthError> {
    // A ring of points, and two that do not belong to it.
    let mut rows: Vec<[f64; 2]> = (0..40)
        .map(|i| {
            let angle = f64::from(i) * 0.9;
            [2.0 * angle.cos(), angle.sin()]
        })
        .collect();
    rows.extend([[30.0, 1.0], [25.0, -4.0]]);
    let sample = Reference::new(rows.as_slice())?;
    let queries = [[0.0, 0.0], [2.0, 1.0], [4.0, 4.0], [30.0, 1.0]];

    let own = Depth::new(Linear::new(SmoothedHinge).reg(0.05)).fit(&sample)?.score(&queries)?;
    let hinge = Depth::hinge().reg(0.05).fit(&sample)?.score(&queries)?;
    let squared = Depth::squared_hinge().reg(0.05).fit(&sample)?.score(&queries)?;

    println!("{:>12} {:>14} {:>8} {:>14}", "query", "smoothed hinge", "hinge", "squared hinge");
    let depth = |fit: &Fit| format!("{:.4}", fit.depth);
    for (z, ((a, b), c)) in queries.iter().zip(own.iter().zip(&hinge).zip(&squared)) {
        println!("{:>12} {:>14} {:>8} {:>14}", format!("{z:?}"), depth(a), depth(b), depth(c));
    }
    let largest = own.iter().map(|fit| fit.error).fold(0.0, f64::max);
    println!("proven error of the smoothed hinge: at most {largest:.0e}");
    Ok(())
}
