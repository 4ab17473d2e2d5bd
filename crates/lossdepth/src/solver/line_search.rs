//! Line search on a convex function by its slope alone.

// All of these are heuristics.

/// A step is good once the slope has fallen to this share of what it was.
const GOOD: f64 = 0.3;
/// How often the step may be changed before the best one so far is taken.
const TRIALS: usize = 30;

/// How much shorter the next trial is after one that may have climbed.
const BACK: f64 = 0.1;
/// Without an upper end the next trial is between so many times the last.
const EXTRAPOLATION: (f64, f64) = (1.2, 10.0);
/// A secant closer to an end of the bracket than this share of its width is replaced by bisection, as are three in a row
/// that have moved the upper end only.
const MARGIN: f64 = 0.02;
const STUCK: usize = 3;
/// A bracket this narrow, relative to its upper end, is around a kink.
const NARROW: f64 = 1e-6;

/// Finds a step along which a convex function, falling at rate `-start` at 0, has become flat.
///
/// `slope(t)` is the derivative at step `t`; not a number or infinite counts as "far too long". The last
/// call is always for the step returned. `None` if no step improves.
///
/// Behind a kink a function may be nearly flat and still high up. By convexity
/// $f(t) - f(0) \le l f'(l) + (t - l) f'(t)$ for a step $l \le t$ that was too short, and where that is more than `room`, the
/// step is not taken.
pub(crate) fn search(start: f64, room: f64, mut slope: impl FnMut(f64) -> f64) -> Option<f64> {
    let (mut low, mut slope_low) = (0.0, start);
    let (mut high, mut slope_high) = (f64::INFINITY, f64::NAN);
    let mut t = 1.0;
    let mut stuck = 0;
    if !start.is_finite() {
        return None;
    }
    for _ in 0..TRIALS {
        let s = slope(t);
        let climbed = s > 0.0 && low * slope_low + (t - low) * s > room;
        if s.abs() <= GOOD * start.abs() && !climbed {
            return Some(t);
        }
        let right = s.is_nan() || s > 0.0;
        if right {
            stuck = if high.is_finite() && low == 0.0 { stuck } else { stuck + 1 };
            (high, slope_high) = (t, s);
        } else {
            (low, slope_low) = (t, s);
        }
        t = if high.is_infinite() {
            // Still falling: where the slopes so far meet zero, but no more than ten times as far.
            let secant = t * start / (start - slope_low);
            if secant.is_finite() && secant > t {
                secant.clamp(EXTRAPOLATION.0 * t, EXTRAPOLATION.1 * t)
            } else {
                EXTRAPOLATION.1 * t
            }
        } else {
            let width = high - low;
            let secant = low + width * (slope_low / (slope_low - slope_high));
            let inside = (low + MARGIN * width)..(high - MARGIN * width);
            if climbed {
                low + BACK * width
            } else if stuck < STUCK && slope_high.is_finite() && inside.contains(&secant) {
                secant
            } else {
                stuck = 0;
                low + 0.5 * width
            }
        };
        if t <= low || t >= high || !t.is_finite() {
            break;
        }
    }
    // A kink: beyond it, where there is curvature to work with, if that is as good as before it; else the end of the
    // bracket that is certain to lie below the start.
    let climbed = low * slope_low + (high - low) * slope_high > room;
    let beyond = high.is_finite() && slope_high.is_finite() && high - low <= NARROW * high && !climbed;
    let t = if beyond { high } else { low };
    (t > 0.0).then(|| {
        slope(t);
        t
    })
}

#[cfg(test)]
mod tests {
    use super::search;

    #[test]
    fn finds_flat_steps_near_and_far() {
        for minimum in [1e-6, 0.03, 1.0, 7.0, 4e5] {
            let slope = |t: f64| t - minimum;
            let t = search(slope(0.0), f64::INFINITY, slope).expect("a convex parabola");
            assert!((t - minimum).abs() <= 0.31 * minimum, "{minimum}: {t}");
        }
        // A wall: e^t overflows.
        let slope = |t: f64| (1e4 * t).exp() - 3.0;
        let t = search(-2.0, f64::INFINITY, slope).expect("falls before the wall");
        assert!(slope(t).abs() <= 0.61);
    }

    #[test]
    fn does_not_climb_beyond_a_kink() {
        // Falls steeply to its minimum at 1e-7, then rises gently forever.
        let slope = |t: f64| if t < 1e-7 { -1e6 } else { 2e5 };
        let value = |t: f64| if t < 1e-7 { -1e6 * t } else { -0.1 + 2e5 * (t - 1e-7) };
        assert_eq!(search(-1e6, f64::INFINITY, slope), Some(1.0));
        let t = search(-1e6, 0.5, slope).expect("it falls at first");
        assert!(t > 0.0 && value(t) <= 0.5, "{t}");
        // A wall that no step may end behind.
        let wall = |t: f64| if t < 0.7 { -1.0 } else { 1e9 };
        let t = search(-1.0, 0.5, wall).expect("it falls at first");
        assert!((0.6..0.7).contains(&t), "{t}");
    }
}
