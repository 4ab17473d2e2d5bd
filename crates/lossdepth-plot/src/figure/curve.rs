//! The depth as a function of one column: a curve with a confidence band, and the sample as a rug.

use super::axes::{Axis, Frame, Style};
use super::legend::{KeySymbol, LegendKey};
use crate::scene::colour::{Colour, heat};
use crate::scene::{Path, Point, Scene, Stroke};

/// The data of a depth curve.
pub struct Curve {
    /// Name of the column.
    pub name: String,
    /// Where the depth was computed, ascending.
    pub at: Vec<f64>,
    /// The depth at each point.
    pub depth: Vec<f64>,
    /// The confidence band at each point; as wide as a line where there is none.
    pub band: Vec<(f64, f64)>,
    /// The values of the sample.
    pub sample: Vec<f64>,
}

/// Draws the depth as a function of one column.
pub fn curve(style: &Style, curve: &Curve) -> Scene {
    let sizes = style.sizes();
    let (low, high) = curve
        .band
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), band| (low.min(band.0), high.max(band.1)));
    let margin = 0.06 * (high - low).max(1e-3);
    let (from, to) = (curve.at.first().copied().unwrap_or(0.0), curve.at.last().copied().unwrap_or(1.0));
    let x = Axis::new(curve.name.clone(), from, to);
    // Space for the rug.
    let y = Axis::new("depth", low - 2.0 * margin, (high + margin).min(1.02).max(high));
    let (line, band) = (heat(0.95), heat(0.3));
    let stroke = Stroke { colour: line, width: 4.0 * sizes.unit, dash: None };
    let rug = Stroke { colour: Colour::INK.with_opacity(0.6), width: 2.0 * sizes.unit, dash: None };
    let mut keys = vec![
        LegendKey { text: "depth".to_owned(), symbol: KeySymbol::Line(stroke) },
        LegendKey { text: "sample (ticks below)".to_owned(), symbol: KeySymbol::Line(rug) },
    ];
    if curve.band.iter().any(|(low, high)| low < high) {
        let text = "± 1.96 standard errors".to_owned();
        keys.insert(1, LegendKey { text, symbol: KeySymbol::Patch(band) });
    }
    let frame = Frame::new(style, x, y, keys, 0.6 * sizes.tick, false);
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    let along = |value: &dyn Fn(usize) -> f64| -> Vec<Point> {
        (0..curve.at.len()).map(|i| frame.to_pixels([curve.at[i], value(i)])).collect()
    };
    let mut ring = along(&|i| curve.band[i].1);
    ring.extend(along(&|i| curve.band[i].0).into_iter().rev());
    let clip = Some(frame.area);
    scene.path(Path { lines: vec![ring], closed: true, fill: Some(band), clip, ..Path::default() });
    let depth = along(&|i| curve.depth[i]);
    scene.path(Path { lines: vec![depth], stroke: Some(stroke), clip, ..Path::default() });
    let tall = 0.7 * sizes.tick;
    let tick = |value: &f64| {
        let [x, _] = frame.to_pixels([*value, 0.0]);
        vec![[x, frame.area.bottom], [x, frame.area.bottom - tall]]
    };
    let lines = curve.sample.iter().map(tick).collect();
    scene.path(Path { lines, stroke: Some(rug), clip, ..Path::default() });
    frame.draw(&mut scene);
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_inside_also_where_the_depth_does_not_move() {
        let style =
            Style { width: 1200, height: 800, title: None, caption: "a caption".into(), text_scale: 1.0 };
        for depth in [vec![0.5; 3], vec![0.0, 1.0, 0.0]] {
            let band = depth.iter().map(|d| (*d, *d)).collect();
            let scene = curve(
                &style,
                &Curve { name: "x".into(), at: vec![0.0, 1.0, 2.0], depth, band, sample: vec![1.0] },
            );
            scene.assert_text_inside();
        }
    }
}
