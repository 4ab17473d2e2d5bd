//! One column: the best window of the sorted numbers, found exactly.

use super::cloud::Cloud;

/// Squared distances from the mean of the window of mass `h` that has the least variance.
///
/// In one dimension the best $h$-subset is a run of neighbours. Slide a run of mass $h$ along the sorted
/// numbers, parts of the first and the last number counting in part: between two positions where either end
/// is a whole number, mass moves from one number to another, mean and second moment change linearly and the
/// variance is concave, so the minimum is among the positions with a whole number at one end.
pub(super) fn distances(z: &Cloud, h: f64) -> Vec<f64> {
    let mean = best_window_mean(z, h);
    z.data.iter().map(|x| (x - mean).powi(2)).collect()
}

fn best_window_mean(z: &Cloud, h: f64) -> f64 {
    // Far outliers would leave the running sums no digits for the rest; the concentration steps see them as they are.
    let mut numbers: Vec<_> = z.column(0).into_iter().map(|(x, w)| (x.clamp(-1e5, 1e5), w)).collect();
    numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let forward = sweep(numbers.iter().copied(), h);
    let backward = sweep(numbers.iter().rev().copied(), h);
    if backward.variance < forward.variance { backward.mean } else { forward.mean }
}

struct Window {
    mean: f64,
    variance: f64,
}

/// The best of the windows that begin with a whole number and end where their mass reaches `h`.
fn sweep(numbers: impl Iterator<Item = (f64, f64)> + Clone, h: f64) -> Window {
    let mut best = Window { mean: 0.0, variance: f64::INFINITY };
    let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
    let mut ends = numbers.clone().peekable();
    for (x, w) in numbers {
        if w >= h {
            return Window { mean: x, variance: 0.0 };
        }
        while let Some(&(y, v)) = ends.peek().filter(|(_, v)| mass + v <= h) {
            mass += v;
            first += v * y;
            second += v * y * y;
            ends.next();
        }
        // The number at the far end takes part with what is missing; at the very end rounding may leave a little mass.
        let (y, part) = ends.peek().map_or((0.0, 0.0), |&(y, _)| (y, h - mass));
        if ends.peek().is_none() && mass < h * (1.0 - 1e-9) {
            break;
        }
        let total = mass + part;
        let mean = (first + part * y) / total;
        let variance = (second + part * y * y) / total - mean * mean;
        if variance < best.variance {
            best = Window { mean, variance };
        }
        mass -= w;
        first -= w * x;
        second -= w * x * x;
    }
    best
}
