//! Steps along one coordinate, or along two if the variables must sum to zero (sequential minimal optimisation).
//!
//! A step costs one pass over the residuals and two columns of the small matrix, much less than a pivot of the active-set
//! method. It finds most of the active bounds; the pivots solve for the variables that remain free.

use super::working_set_problem::{PACK, ProblemConstants, WorkingSetProblem};

/// Steps end when the largest violation has fallen to this share of its first value (heuristic).
const VIOLATION_REDUCTION: f64 = 0.02;

impl WorkingSetProblem {
    /// Moves the variables with the largest violation until that is small.
    #[inline(always)]
    pub(super) fn coordinate_steps(&mut self, constants: ProblemConstants, sum: &mut f64) {
        let stride = self.beta.len();
        self.up_residuals.clear();
        self.down_residuals.clear();
        for k in 0..stride {
            let r = self.residual[k];
            self.up_residuals.push(if self.beta[k] < self.high[k] { r } else { f64::NEG_INFINITY });
            self.down_residuals.push(if self.beta[k] > self.low[k] { r } else { f64::INFINITY });
        }
        let (mut max_up, mut min_down) = (f64::NEG_INFINITY, f64::INFINITY);
        for k in 0..stride {
            let (up, down) = (self.up_residuals[k], self.down_residuals[k]);
            max_up = if up > max_up { up } else { max_up };
            min_down = if down < min_down { down } else { min_down };
        }
        let violation = |up: f64, down: f64| {
            let larger = if up > -down { up } else { -down };
            if constants.free_intercept { up - down } else { larger }
        };
        let target = constants.noise.max(VIOLATION_REDUCTION * violation(max_up, min_down));
        for _ in 0..4 * self.len {
            let current = violation(max_up, min_down);
            // Infinite if no variable can increase, or none can decrease.
            if !(current > target && current < f64::INFINITY) {
                break;
            }
            (max_up, min_down) = if constants.free_intercept {
                let up = index_of(&self.up_residuals, max_up);
                let down = index_of(&self.down_residuals, min_down);
                let (Some(up), Some(down)) = (up, down) else { break };
                self.pair_step(up, down, current, constants)
            } else {
                let upward = max_up > -min_down;
                let (list, r) =
                    if upward { (&self.up_residuals, max_up) } else { (&self.down_residuals, min_down) };
                let Some(k) = index_of(list, r) else { break };
                self.single_step(k, r, constants, sum)
            };
        }
        for k in 0..self.len {
            let (up, down) = (self.up_residuals[k], self.down_residuals[k]);
            self.residual[k] = if up > f64::NEG_INFINITY { up } else { down };
        }
    }

    /// Increases one variable and decreases another by the same amount; returns the new extreme residuals.
    #[inline(always)]
    fn pair_step(
        &mut self,
        up: usize,
        down: usize,
        violation: f64,
        constants: ProblemConstants,
    ) -> (f64, f64) {
        let stride = self.beta.len();
        let first = &self.matrix[up * stride..(up + 1) * stride];
        let second = &self.matrix[down * stride..(down + 1) * stride];
        // For nearly equal points rounding can make the curvature negative.
        let curvature = (first[up] + second[down] - 2.0 * first[down]).max(0.0) + constants.ridge;
        let (room_up, room_down) = (self.high[up] - self.beta[up], self.beta[down] - self.low[down]);
        let step = (violation / curvature).min(room_up).min(room_down);
        self.beta[up] = if step == room_up { self.high[up] } else { self.beta[up] + step };
        self.beta[down] = if step == room_down { self.low[down] } else { self.beta[down] - step };
        // Each has left one bound, and may have arrived at the other.
        (self.down_residuals[up], self.up_residuals[down]) =
            (self.up_residuals[up], self.down_residuals[down]);
        if step == room_up {
            self.up_residuals[up] = f64::NEG_INFINITY;
        }
        if step == room_down {
            self.down_residuals[down] = f64::INFINITY;
        }
        update_residuals(&mut self.up_residuals, &mut self.down_residuals, first, second, step)
    }

    /// Moves one variable along its residual `r`; returns the new extreme residuals.
    #[inline(always)]
    fn single_step(&mut self, k: usize, r: f64, constants: ProblemConstants, sum: &mut f64) -> (f64, f64) {
        let stride = self.beta.len();
        let column = &self.matrix[k * stride..(k + 1) * stride];
        let before = self.beta[k];
        self.beta[k] = (before + r / (column[k] + constants.ridge)).clamp(self.low[k], self.high[k]);
        let change = self.beta[k] - before;
        *sum += change;
        self.up_residuals[k] = if self.beta[k] < self.high[k] { r } else { f64::NEG_INFINITY };
        self.down_residuals[k] = if self.beta[k] > self.low[k] { r } else { f64::INFINITY };
        let zeros = &self.zeros[..stride];
        update_residuals(&mut self.up_residuals, &mut self.down_residuals, column, zeros, change)
    }
}

/// The first index of a value that is in the list.
#[expect(clippy::needless_bitwise_bool, reason = "no branches")]
#[inline(always)]
fn index_of(list: &[f64], value: f64) -> Option<usize> {
    let (chunks, _) = list.as_chunks::<PACK>();
    let chunk = chunks.iter().position(|chunk| chunk.iter().fold(false, |here, x| here | (*x == value)))?;
    chunks[chunk].iter().position(|x| *x == value).map(|k| chunk * PACK + k)
}

/// Updates the residuals after a step along the difference of two columns; returns the largest of `up` and the smallest
/// of `down`.
#[inline(always)]
fn update_residuals(
    up: &mut [f64],
    down: &mut [f64],
    first: &[f64],
    second: &[f64],
    step: f64,
) -> (f64, f64) {
    let (mut max_up, mut min_down) = ([f64::NEG_INFINITY; PACK], [f64::INFINITY; PACK]);
    let (up, down) = (up.as_chunks_mut::<PACK>().0, down.as_chunks_mut::<PACK>().0);
    let (first, second) = (first.as_chunks::<PACK>().0, second.as_chunks::<PACK>().0);
    for ((up, down), (a, b)) in up.iter_mut().zip(down).zip(first.iter().zip(second)) {
        for k in 0..PACK {
            let change = step * (a[k] - b[k]);
            up[k] -= change;
            down[k] -= change;
            max_up[k] = if up[k] > max_up[k] { up[k] } else { max_up[k] };
            min_down[k] = if down[k] < min_down[k] { down[k] } else { min_down[k] };
        }
    }
    let mut half = PACK / 2;
    while half > 0 {
        for k in 0..half {
            max_up[k] = if max_up[k + half] > max_up[k] { max_up[k + half] } else { max_up[k] };
            min_down[k] = if min_down[k + half] < min_down[k] { min_down[k + half] } else { min_down[k] };
        }
        half /= 2;
    }
    (max_up[0], min_down[0])
}
