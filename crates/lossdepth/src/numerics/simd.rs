//! Loops for the widest vector instructions of the machine.
//!
//! The loops are plain Rust without branches; [`pulp`] compiles them once for each instruction set and
//! picks one at run time. Sums run over [`LANES`] interleaved accumulators, so the order of summation
//! depends on the length alone, and the result on the numbers alone.

/// Interleaved accumulators: two AVX-512 registers.
pub(crate) const LANES: usize = 16;

/// Evaluates an expression compiled for the widest vectors this machine has.
macro_rules! vectorised_expression {
    ($expression:expr) => {
        $crate::numerics::simd::vectorised(
            #[inline(always)]
            || $expression,
        )
    };
}
pub(crate) use vectorised_expression as vectorised;

/// Runs `f`, which must be inlined, compiled for the widest vectors this machine has; see the macro.
#[inline]
pub(crate) fn vectorised<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}

/// Sums the accumulators pairwise.
#[inline(always)]
pub(crate) fn fold(mut lanes: [f64; LANES]) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for k in 0..half {
            lanes[k] += lanes[k + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Sums `rows` numbers in an order that depends on their number alone.
#[inline(always)]
pub(crate) fn sum_rows(rows: usize, row: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let body = rows - rows % LANES;
    for start in (0..body).step_by(LANES) {
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane += row(start + k);
        }
    }
    (body..rows).fold(fold(lanes), |sum, j| sum + row(j))
}

/// [`sum_rows`], compiled for wide vectors.
#[inline]
pub(crate) fn sum_of(rows: usize, row: impl Fn(usize) -> f64) -> f64 {
    vectorised!(sum_rows(rows, row))
}
