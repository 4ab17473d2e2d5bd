//! The closest part of a weighted sample, by mass.

use super::quantile::{Weighted, reached};

/// The weights of the rows with the smallest `distances` that together have the mass `h`; 0 for the others.
///
/// Rows at the boundary, within a relative $10^{-10}$ of it, take part with the same fraction of their
/// weight. So a row of weight $k$ counts as $k$ rows, rows that tie by symmetry are treated alike, and
/// rounding moves the result by no more than rounding.
pub(super) fn closest(distances: &[f64], weights: &[f64], h: f64) -> Vec<f64> {
    let mut numbers: Vec<Weighted> = distances.iter().copied().zip(weights.iter().copied()).collect();
    let boundary = reached(&mut numbers, h);
    let (inside, outside) = (boundary * (1.0 - 1e-10), boundary * (1.0 + 1e-10));
    let mass = |keep: &dyn Fn(f64) -> bool| -> f64 {
        distances.iter().zip(weights).filter(|(d, _)| keep(**d)).map(|(_, w)| w).sum()
    };
    let within = mass(&|d| d < inside);
    let tied = mass(&|d| d >= inside && d <= outside);
    let part = ((h - within) / tied).clamp(0.0, 1.0);
    let share = |d: f64| {
        if d < inside {
            1.0
        } else if d <= outside {
            part
        } else {
            0.0
        }
    };
    distances.iter().zip(weights).map(|(d, w)| w * share(*d)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_row_takes_part_in_part() {
        let kept = closest(&[3.0, 1.0, 2.0], &[0.25, 0.5, 0.25], 0.6);
        assert!((kept[1] - 0.5).abs() < 1e-15 && (kept[2] - 0.1).abs() < 1e-15 && kept[0] == 0.0, "{kept:?}");
    }

    #[test]
    fn tied_rows_share() {
        let kept = closest(&[1.0, 2.0, 2.0], &[0.5, 0.25, 0.25], 0.75);
        assert!((kept[1] - 0.125).abs() < 1e-15 && (kept[2] - 0.125).abs() < 1e-15, "{kept:?}");
    }

    #[test]
    fn the_whole_mass_is_the_whole_sample() {
        assert_eq!(closest(&[0.0, 5.0, 1.0], &[0.2, 0.3, 0.5], 1.0), [0.2, 0.3, 0.5]);
    }
}
