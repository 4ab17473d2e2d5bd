//! Pictures that need no script: SVG without style attributes, which the content security policy forbids.

use super::escape::{Name, Sentence, Text};
use crate::compute::{log_ticks, ticks};
use crate::report::text::{count, date, listed, number};
use crate::report::{AxisScale, Bounded, ColumnDrift, Distribution, Histogram, Map, MapAxis, Thresholds};
use std::fmt::Write;

/// Width and height of the drawing of depths; it is stretched to the space there is.
const WIDE: f64 = 1000.0;
const HIGH: f64 = 200.0;

/// Rounded to tenths.
fn r(x: f64) -> f64 {
    (x * 10.0).round() / 10.0 + 0.0
}

/// Bars of heights between 0 and 1 from `left`, each `width` wide, in a drawing `high` tall. Bars that are not 0 are visible.
fn bars(heights: impl Iterator<Item = f64>, left: f64, width: f64, gap: f64, high: f64) -> String {
    let mut path = String::new();
    for (bar, height) in heights.enumerate().filter(|(_, height)| *height > 0.0) {
        let tall = (height * high).max(0.02 * high);
        let x = left + bar as f64 * width + gap / 2.0;
        let _ = write!(path, "M{} {high}v-{}h{}v{}z", r(x), r(tall), r(width - gap), r(tall));
    }
    path
}

/// A range with round ends, and the round numbers in it at equal distances.
fn round_range(low: f64, high: f64) -> (f64, f64, Vec<f64>) {
    let inner = ticks(low, high, 6);
    let [first, second, ..] = inner[..] else { return (low, high, vec![low, high]) };
    let step = second - first;
    let (from, to) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most eight")]
    let steps = ((to - from) / step).round() as usize;
    (from, to, (0..=steps).map(|k| from + step * k as f64).collect())
}

/// The histogram of all depths with the threshold, and the odd rows beneath.
pub(super) fn depths(out: &mut String, bounded: &Bounded) {
    let Histogram { low, high, counts } = &bounded.page.depths;
    let Thresholds { steps, start, .. } = &bounded.page.thresholds;
    let (from, to, labels) = round_range(*low, *high);
    let place = |depth: f64| ((depth - from) / (to - from) * WIDE).clamp(0.0, WIDE);
    let most = counts.iter().copied().max().unwrap_or(1).max(1) as f64;
    let width = (place(*high) - place(*low)) / counts.len().max(1) as f64;
    let path = bars(counts.iter().map(|count| *count as f64 / most), place(*low), width, 2.0, HIGH);
    let cut = steps.get(*start).map_or(0.0, |step| place(step.cut));
    let label = format!(
        "Histogram of the depths of {} rows, from {} to {}. The tallest bar has {} rows.",
        count(counts.iter().sum()),
        number(*low),
        number(*high),
        count(counts.iter().copied().max().unwrap_or(0))
    );
    let _ = write!(
        out,
        "<figure class=\"depths\"><svg id=\"depths\" viewBox=\"0 0 {WIDE} {HIGH}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{}\" data-from=\"{from}\" data-to=\"{to}\"><clipPath id=\"below\"><rect id=\"below-rect\" width=\"{}\" \
         height=\"{HIGH}\"/></clipPath><path class=\"bars\" d=\"{path}\"/><path class=\"bars odd\" clip-path=\"url(#below)\" \
         d=\"{path}\"/><line id=\"cut\" class=\"cut\" x1=\"{cut}\" x2=\"{cut}\" y1=\"0\" y2=\"{HIGH}\"/></svg>",
        Text(&label),
        r(cut),
        cut = r(cut)
    );
    let mut rug = String::new();
    for row in &bounded.page.rows {
        let _ = write!(rug, "M{} 0v10", r(place(row.depth)));
    }
    let _ = write!(
        out,
        "<svg class=\"rug\" viewBox=\"0 0 {WIDE} 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"{rug}\"/></svg>"
    );
    out.push_str("<div class=\"ticks\" aria-hidden=\"true\">");
    for label in labels {
        let _ = write!(out, "<span>{}</span>", number(label));
    }
    out.push_str(
        "</div><figcaption>Depth of each row: the lower, the easier it is to tell the row from the others. \
         The ticks beneath are the rows listed on this page.</figcaption></figure>",
    );
}

/// A column's distribution as a line of small bars.
pub(super) fn sparkline(distribution: &Distribution) -> String {
    let heights: Vec<u64> = match distribution {
        Distribution::Numbers { histogram, .. } => histogram.counts.clone(),
        Distribution::Levels { levels, .. } => levels.iter().map(|level| level.1).collect(),
        Distribution::Hidden => Vec::new(),
    };
    if heights.is_empty() {
        return String::new();
    }
    let most = heights.iter().copied().max().unwrap_or(1).max(1) as f64;
    let (width, gap) = match distribution {
        Distribution::Levels { .. } => (120.0 / 12.0, 3.0),
        _ => (120.0 / heights.len() as f64, 0.6),
    };
    let path = bars(heights.iter().map(|count| *count as f64 / most), 0.0, width, gap, 24.0);
    format!(
        "<svg class=\"spark\" viewBox=\"0 0 120 24\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <path class=\"bars\" d=\"{path}\"/></svg>"
    )
}

/// A column before and now: bars, and an outline above them.
pub(super) fn change(drift: &ColumnDrift) -> String {
    let most = drift.before.iter().chain(&drift.now).copied().fold(0.0, f64::max);
    if most <= 0.0 {
        return String::new();
    }
    let width = 160.0 / drift.before.len().max(1) as f64;
    let before = bars(drift.before.iter().map(|share| share / most), 0.0, width, 0.6, 40.0);
    let mut now = String::from("M0 40");
    for (bar, share) in drift.now.iter().enumerate() {
        let (left, y) = (bar as f64 * width, 40.0 - 39.0 * share / most);
        let _ = write!(now, "L{} {}H{}", r(left), r(y), r(left + width));
    }
    now.push_str("V40");
    format!(
        "<svg class=\"change\" viewBox=\"0 0 160 40\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <path class=\"bars\" d=\"{before}\"/><path class=\"now\" d=\"{now}\"/></svg>"
    )
}

/// The map as it is before anything is moved.
pub(super) fn map(out: &mut String, map: &Map, bounded: &Bounded) {
    const SIZE: [f64; 2] = [640.0, 420.0];
    const MARGIN: [f64; 4] = [10.0, 12.0, 44.0, 58.0]; // top, right, bottom, left
    let [across, up] = map.start.map(|axis| drawn(&map.axes[axis]));
    let (across, up) = (&across, &up);
    let (x_range, y_range) = (range(across), range(up));
    let (width, height) = (SIZE[0] - MARGIN[1] - MARGIN[3], SIZE[1] - MARGIN[0] - MARGIN[2]);
    let x = |value: f64| MARGIN[3] + (value - x_range.0) / (x_range.1 - x_range.0) * width;
    let y = |value: f64| MARGIN[0] + height - (value - y_range.0) / (y_range.1 - y_range.0) * height;
    let label = format!(
        "Map of {} ordinary rows and {} odd rows: {} across, {} up.",
        count(map.percentiles.len() as u64),
        count(across.odd.len() as u64),
        across.label,
        up.label
    );
    let _ = write!(
        out,
        "<svg id=\"map\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
        SIZE[0],
        SIZE[1],
        Text(&label)
    );
    for (at, words) in axis_ticks(across, x_range) {
        let (x, bottom) = (r(x(at)), MARGIN[0] + height);
        let _ = write!(out, "<path class=\"grid\" d=\"M{x} {}V{bottom}\"/>", MARGIN[0]);
        let _ = write!(
            out,
            "<text class=\"tick middle\" x=\"{x}\" y=\"{}\">{}</text>",
            bottom + 16.0,
            Text(&words)
        );
    }
    for (at, words) in axis_ticks(up, y_range) {
        let y = r(y(at));
        let _ = write!(out, "<path class=\"grid\" d=\"M{} {y}H{}\"/>", MARGIN[3], MARGIN[3] + width);
        let _ = write!(
            out,
            "<text class=\"tick end\" x=\"{}\" y=\"{}\">{}</text>",
            MARGIN[3] - 6.0,
            y + 4.0,
            Text(&words)
        );
    }
    let mut classes = vec![String::new(); 5];
    for (point, percentile) in map.percentiles.iter().enumerate() {
        let (at, over) = (across.ordinary[point], up.ordinary[point]);
        if at.is_finite() && over.is_finite() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let class = (percentile * 5.0).clamp(0.0, 4.0) as usize;
            let _ = write!(classes[class], "M{} {}h0", r(x(at)), r(y(over)));
        }
    }
    for (class, path) in classes.iter().enumerate() {
        let _ = write!(out, "<path class=\"point p{class}\" d=\"{path}\"/>");
    }
    let (mut flagged, mut others) = (String::new(), String::new());
    for (row, (at, over)) in bounded.page.rows.iter().zip(across.odd.iter().zip(&up.odd)) {
        if at.is_finite() && over.is_finite() {
            let (x, y) = (r(x(*at)), r(y(*over)));
            let _ = if bounded.is_flagged(row) {
                write!(flagged, "M{x} {}l5 5l-5 5l-5-5z", r(y - 5.0))
            } else {
                write!(others, "M{x} {}l4 4l-4 4l-4-4z", r(y - 4.0))
            };
        }
    }
    let _ = write!(
        out,
        "<path class=\"odd-point faint\" d=\"{others}\"/><path class=\"odd-point\" d=\"{flagged}\"/>"
    );
    let _ = write!(
        out,
        "<text class=\"axis middle\" x=\"{}\" y=\"{}\">{}</text>",
        r(MARGIN[3] + width / 2.0),
        SIZE[1] - 8.0,
        Text(&across.label)
    );
    let _ = write!(
        out,
        "<text class=\"axis middle\" transform=\"translate(14 {}) rotate(-90)\">{}</text></svg>",
        r(MARGIN[0] + height / 2.0),
        Text(&up.label)
    );
}

/// The axis in the coordinates it is drawn in.
fn drawn(axis: &MapAxis) -> MapAxis {
    let mut axis = axis.clone();
    let AxisScale::SignedLog(linear) = axis.scale else {
        if axis.scale == AxisScale::Log {
            axis.ordinary.iter_mut().chain(&mut axis.odd).for_each(|x| *x = x.log10());
        }
        return axis;
    };
    axis.ordinary.iter_mut().chain(&mut axis.odd).for_each(|x| *x = (*x / linear).asinh());
    axis
}

/// What an axis spans, with a margin.
fn range(axis: &MapAxis) -> (f64, f64) {
    let values = || axis.ordinary.iter().chain(&axis.odd).copied().filter(|x| x.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return (0.0, 1.0);
    }
    let pad = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
    (low - pad, high + pad)
}

/// Positions, in the coordinates of the drawing, and their labels.
fn axis_ticks(axis: &MapAxis, (low, high): (f64, f64)) -> Vec<(f64, String)> {
    match &axis.scale {
        AxisScale::Levels(levels) => {
            levels.iter().enumerate().take(12).map(|(index, level)| (index as f64, short(level))).collect()
        }
        AxisScale::Date => ticks(low, high, 4).into_iter().map(|at| (at, date(at.round()))).collect(),
        AxisScale::Log => {
            let labels = log_ticks(10f64.powf(low), 10f64.powf(high), 6);
            labels.into_iter().map(|at| (at.log10(), number(at))).collect()
        }
        AxisScale::SignedLog(linear) => signed_log_ticks(*linear, low, high),
        AxisScale::Number => ticks(low, high, 6).into_iter().map(|at| (at, number(at))).collect(),
    }
}

/// 0 and powers of ten of either sign beyond the linear part; every second or third one where there are many.
fn signed_log_ticks(linear: f64, low: f64, high: f64) -> Vec<(f64, String)> {
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let first = linear.log10().ceil() as i32;
    let largest = linear * low.abs().max(high.abs()).sinh();
    #[expect(clippy::cast_possible_truncation, reason = "an exponent")]
    let last = (largest.log10().floor() as i32).max(first);
    let step = 1 + (last - first) / if low < 0.0 && high > 0.0 { 3 } else { 5 };
    let powers = (0..).map(|k| first + k * step).take_while(|power| *power <= last);
    let sizes: Vec<f64> = powers.map(|power| 10f64.powi(power)).collect();
    let values = sizes.iter().rev().map(|size| -size).chain([0.0]).chain(sizes.iter().copied());
    values
        .map(|value| ((value / linear).asinh(), number(value)))
        .filter(|(at, _)| (low..=high).contains(at))
        .collect()
}

fn short(text: &str) -> String {
    if text.chars().count() <= 9 { text.to_owned() } else { text.chars().take(8).chain(['…']).collect() }
}

/// The drift section.
pub(super) fn drift(out: &mut String, bounded: &Bounded) {
    let Some(drift) = &bounded.page.drift else { return };
    out.push_str("<section id=\"drift\" aria-labelledby=\"drift-h\"><h2 id=\"drift-h\">What changed</h2>");
    let thresholds = &bounded.page.thresholds;
    if let Some(step) = thresholds.steps.get(thresholds.start) {
        let words = drift.flagged(thresholds, step);
        let _ = write!(out, "<p class=\"lead\" id=\"drift-flagged\">{}</p>", Text(&words));
    }
    let beyond = drift.beyond_chance();
    let names = beyond.iter().filter_map(|column| bounded.page.columns.get(column.column));
    let names: Vec<&str> = names.map(|column| column.name.as_str()).collect();
    let _ = match names.len() {
        0 => write!(out, "<p>No column differs from the reference by more than chance explains.</p>"),
        some => write!(
            out,
            "<p>{} of {} from the reference by more than chance explains: {}.</p>",
            count(some as u64),
            match bounded.compared {
                1 => "1 column differs".to_owned(),
                all => format!("{} columns {}", count(all), if some == 1 { "differs" } else { "differ" }),
            },
            Sentence(&listed(&names, 12))
        ),
    };
    out.push_str(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"drift-h\"><table class=\"changes\"><thead><tr>\
         <th scope=\"col\">Column</th><th scope=\"col\" class=\"num\">Distance</th><th scope=\"col\">Before and now</th>\
         <th scope=\"col\">What changed</th></tr></thead><tbody>",
    );
    let tests = drift.columns.len();
    let mut order: Vec<&ColumnDrift> = drift.columns.iter().collect();
    order.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.column.cmp(&b.column)));
    for column in order {
        let Some(name) = bounded.page.columns.get(column.column).map(|column| &column.name) else { continue };
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"num\">{:.2}{}</td><td>{}</td><td>{}</td></tr>",
            Name(name),
            column.distance,
            if column.is_beyond_chance(tests) { "*" } else { "" },
            change(column),
            Sentence(&column.sentence)
        );
    }
    out.push_str(
        "</tbody></table></div><p class=\"note\">Grey bars: the reference. Line: the rows of this report. Distance 0: the same \
         distribution; 1: nothing in common (Kolmogorov–Smirnov for numbers and dates, total variation for categories). *: more than chance explains, at the 1% level over \
         all columns.</p></section>",
    );
}
