//! Tick positions of an axis: round numbers in a range.

/// Equally spaced round numbers in a range: multiples of 1, 2, 2.5 or 5 times a power of ten, as many as possible but
/// at most `count`.
///
/// Empty if the range is empty, or too narrow for floating-point numbers to divide.
///
/// ```
/// use lossdepth_plot::ticks;
/// assert_eq!(ticks(0.0, 1.0, 6), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
/// assert_eq!(ticks(-3.1, 8.9, 5), [-2.5, 0.0, 2.5, 5.0, 7.5]);
/// ```
pub fn ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    let width = high - low;
    let resolution = 64.0 * f64::EPSILON * low.abs().max(high.abs());
    if !width.is_finite() || width <= resolution || count == 0 {
        return Vec::new();
    }
    // The ends of the range count as inside despite rounding.
    let slack = 1e-9 * width;
    let between = |step: f64| (((low - slack) / step).ceil(), ((high + slack) / step).floor());
    let exponent = (width / count as f64).log10().floor();
    for power in [exponent - 1.0, exponent, exponent + 1.0, exponent + 2.0] {
        for (mantissa, divisor) in [(1.0, 1.0), (2.0, 1.0), (5.0, 2.0), (5.0, 1.0)] {
            let (first, last) = between(mantissa / divisor * 10f64.powf(power));
            if last - first + 1.0 <= count as f64 {
                return multiples(first, last, mantissa / divisor, power);
            }
        }
    }
    Vec::new()
}

/// Ticks of a logarithmic axis: the powers of ten in a positive range, or every second, third, … of them so that there are
/// at most `count`; [`ticks`] where the range holds fewer than two powers of ten.
///
/// ```
/// use lossdepth_plot::log_ticks;
/// assert_eq!(log_ticks(0.02, 300.0, 5), [0.1, 1.0, 10.0, 100.0]);
/// assert_eq!(log_ticks(20.0, 50.0, 4), [20.0, 30.0, 40.0, 50.0]);
/// ```
pub fn log_ticks(low: f64, high: f64, count: usize) -> Vec<f64> {
    if low.is_nan() || low <= 0.0 || !high.is_finite() || high <= low || count == 0 {
        return Vec::new();
    }
    let (first, last) = ((low.log10() - 1e-9).ceil(), (high.log10() + 1e-9).floor());
    if last - first < 1.0 {
        return ticks(low, high, count);
    }
    let step = ((last - first + 1.0) / count as f64).ceil().max(1.0);
    let start = (first / step).ceil() * step;
    #[expect(clippy::cast_possible_truncation, reason = "exponents of floating-point numbers")]
    let power = |exponent: f64| 10f64.powi(exponent as i32);
    std::iter::successors(Some(start), |at| Some(at + step)).take_while(|at| *at <= last).map(power).collect()
}

/// The multiples `first` to `last` of `mantissa` · 10^`power`, each rounded once.
fn multiples(first: f64, last: f64, mantissa: f64, power: f64) -> Vec<f64> {
    let scaled = |k: f64| {
        if power < 0.0 { k * mantissa / 10f64.powf(-power) } else { k * mantissa * 10f64.powf(power) }
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a few dozen")]
    let count = (last - first + 1.0).max(0.0) as usize;
    // Adding 0 changes −0 to 0.
    (0..count).map(|i| scaled(first + i as f64) + 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ticks_are_round_equally_spaced_and_within_the_range(
            low in -1e6..1e6f64, width in 1e-3..1e6f64, count in 2usize..12,
        ) {
            let found = ticks(low, low + width, count);
            prop_assert!(found.len() <= count);
            // A step 2.5 times as fine would have been too many.
            prop_assert!(2.5 * (found.len() + 1) as f64 >= count as f64, "{found:?}");
            prop_assert!(found.iter().all(|t| *t >= low - 1e-8 * width && *t <= low + width * (1.0 + 1e-8)));
            for pair in found.windows(2) {
                let step = pair[1] - pair[0];
                let lead = step / 10f64.powf(step.log10().floor());
                let round = [1.0, 2.0, 2.5, 5.0, 10.0].iter().any(|r| (lead - r).abs() < 1e-6 * r);
                prop_assert!(round, "{step} in {found:?}");
            }
        }
    }

    #[test]
    fn an_empty_range_has_no_ticks() {
        assert!(ticks(1.0, 1.0, 5).is_empty());
        assert!(ticks(2.0, 1.0, 5).is_empty());
        assert!(ticks(f64::NAN, 1.0, 5).is_empty());
        assert!(ticks(0.0, 1.0, 0).is_empty());
        assert!(ticks(1e17, 1e17 + 16.0, 5).is_empty());
    }

    #[test]
    fn ticks_are_the_nearest_doubles_to_their_decimals() {
        assert_eq!(ticks(0.05, 0.95, 10), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]);
        assert_eq!(ticks(-1e-12, 1e-12, 3), [-1e-12, 0.0, 1e-12]);
        assert_eq!(ticks(0.0, 3e12, 4), [0.0, 1e12, 2e12, 3e12]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_in_the_range() {
        assert_eq!(log_ticks(1e-3, 1e3, 7), [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3]);
        assert_eq!(log_ticks(1e-6, 1e6, 5), [1e-6, 1e-3, 1.0, 1e3, 1e6]);
        assert!(log_ticks(2.0, 7.0, 5).len() > 2);
        for (low, high) in
            [(0.0, 1.0), (-1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)]
        {
            assert!(log_ticks(low, high, 5).is_empty());
        }
    }
}
