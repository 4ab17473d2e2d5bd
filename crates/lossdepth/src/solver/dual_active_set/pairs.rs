//! A quick approach to the maximum: steps along two coordinates, or along one.
//!
//! A step costs one pass over the residuals and two columns of the small matrix, a small part of what a pivot costs. It
//! finds most of the bounds that variables end at; what is left between the bounds is for the pivots.

use super::inner::{Inner, PACK, Stiffness};

/// Goes on until what a variable could follow has shrunk to this part of what it was.
const PART: f64 = 0.02;

impl Inner {
    /// Moves variables, the most promising first, while that gains much.
    #[inline(always)]
    pub(super) fn approach(&mut self, stiff: Stiffness, sum: &mut f64) {
        let stride = self.beta.len();
        self.rising.clear();
        self.falling.clear();
        for k in 0..stride {
            let r = self.residual[k];
            self.rising.push(if self.beta[k] < self.high[k] { r } else { f64::NEG_INFINITY });
            self.falling.push(if self.beta[k] > self.low[k] { r } else { f64::INFINITY });
        }
        let (mut rise, mut fall) = (f64::NEG_INFINITY, f64::INFINITY);
        for k in 0..stride {
            rise = if self.rising[k] > rise { self.rising[k] } else { rise };
            fall = if self.falling[k] < fall { self.falling[k] } else { fall };
        }
        let promise = |rise: f64, fall: f64| {
            let either = if rise > -fall { rise } else { -fall };
            if stiff.balanced { rise - fall } else { either }
        };
        let enough = stiff.noise.max(PART * promise(rise, fall));
        for _ in 0..4 * self.len {
            let gain = promise(rise, fall);
            // Also if nothing can rise, or nothing can fall.
            if !(gain > enough && gain < f64::INFINITY) {
                break;
            }
            (rise, fall) = if stiff.balanced {
                let (Some(up), Some(down)) = (place(&self.rising, rise), place(&self.falling, fall)) else {
                    break;
                };
                self.pair(up, down, gain, stiff)
            } else {
                let (list, r) = if rise > -fall { (&self.rising, rise) } else { (&self.falling, fall) };
                let Some(k) = place(list, r) else { break };
                self.single(k, r, stiff, sum)
            };
        }
        for k in 0..self.len {
            let (rising, falling) = (self.rising[k], self.falling[k]);
            self.residual[k] = if rising > f64::NEG_INFINITY { rising } else { falling };
        }
    }

    /// One variable rises, another falls by as much; returns the new extremes.
    #[inline(always)]
    fn pair(&mut self, up: usize, down: usize, gain: f64, stiff: Stiffness) -> (f64, f64) {
        let stride = self.beta.len();
        let first = &self.matrix[up * stride..(up + 1) * stride];
        let second = &self.matrix[down * stride..(down + 1) * stride];
        // Rounded kernel values of rows that are nearly the same may bend the wrong way.
        let bend = (first[up] + second[down] - 2.0 * first[down]).max(0.0) + stiff.ridge;
        let (room, space) = (self.high[up] - self.beta[up], self.beta[down] - self.low[down]);
        let step = (gain / bend).min(room).min(space);
        self.beta[up] = if step == room { self.high[up] } else { self.beta[up] + step };
        self.beta[down] = if step == space { self.low[down] } else { self.beta[down] - step };
        // Either may now go where it could not before, or not go on.
        (self.falling[up], self.rising[down]) = (self.rising[up], self.falling[down]);
        if step == room {
            self.rising[up] = f64::NEG_INFINITY;
        }
        if step == space {
            self.falling[down] = f64::INFINITY;
        }
        follow(&mut self.rising, &mut self.falling, first, second, step)
    }

    /// One variable follows its residual `r`; returns the new extremes.
    #[inline(always)]
    fn single(&mut self, k: usize, r: f64, stiff: Stiffness, sum: &mut f64) -> (f64, f64) {
        let stride = self.beta.len();
        let column = &self.matrix[k * stride..(k + 1) * stride];
        let before = self.beta[k];
        self.beta[k] = (before + r / (column[k] + stiff.ridge)).clamp(self.low[k], self.high[k]);
        let change = self.beta[k] - before;
        *sum += change;
        self.rising[k] = if self.beta[k] < self.high[k] { r } else { f64::NEG_INFINITY };
        self.falling[k] = if self.beta[k] > self.low[k] { r } else { f64::INFINITY };
        follow(&mut self.rising, &mut self.falling, column, &self.zeros[..stride], change)
    }
}

#[expect(clippy::needless_bitwise_bool, reason = "no branches")]
#[inline(always)]
fn place(list: &[f64], value: f64) -> Option<usize> {
    let (chunks, _) = list.as_chunks::<PACK>();
    let chunk = chunks.iter().position(|chunk| chunk.iter().fold(false, |here, x| here | (*x == value)))?;
    chunks[chunk].iter().position(|x| *x == value).map(|k| chunk * PACK + k)
}

/// Residuals after a step along the difference of two columns, and what is then the largest that could rise and the smallest
/// that could fall.
#[inline(always)]
fn follow(rising: &mut [f64], falling: &mut [f64], first: &[f64], second: &[f64], step: f64) -> (f64, f64) {
    let (mut rise, mut fall) = ([f64::NEG_INFINITY; PACK], [f64::INFINITY; PACK]);
    let (up, down) = (rising.as_chunks_mut::<PACK>().0, falling.as_chunks_mut::<PACK>().0);
    let (first, second) = (first.as_chunks::<PACK>().0, second.as_chunks::<PACK>().0);
    for ((up, down), (a, b)) in up.iter_mut().zip(down).zip(first.iter().zip(second)) {
        for k in 0..PACK {
            let change = step * (a[k] - b[k]);
            up[k] -= change;
            down[k] -= change;
            rise[k] = if up[k] > rise[k] { up[k] } else { rise[k] };
            fall[k] = if down[k] < fall[k] { down[k] } else { fall[k] };
        }
    }
    let mut half = PACK / 2;
    while half > 0 {
        for k in 0..half {
            rise[k] = if rise[k + half] > rise[k] { rise[k + half] } else { rise[k] };
            fall[k] = if fall[k + half] < fall[k] { fall[k + half] } else { fall[k] };
        }
        half /= 2;
    }
    (rise[0], fall[0])
}
