//! What a picture spans.

pub(super) fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// Room around the data; some also where it does not move.
pub(super) fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let width = high - low;
    let margin =
        if width > 1e-9 * low.abs().max(high.abs()) { 0.09 * width } else { (0.1 * low.abs()).max(1.0) };
    (low - margin, high + margin)
}

pub(super) fn window<'a, P: Iterator<Item = &'a [f64; 2]>>(points: impl Fn() -> P) -> [(f64, f64); 2] {
    [0, 1].map(|k| widened(range(points().map(|point| point[k]))))
}
