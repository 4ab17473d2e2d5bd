//! ROC curves of several methods.

use super::axes::{Axis, Frame, Style};
use super::legend::{KeySymbol, LegendKey};
use crate::scene::colour::{CATEGORIES, Colour};
use crate::scene::{Path, Point, Scene, Stroke};

/// An ROC curve.
#[derive(Debug, Clone)]
pub struct Roc {
    /// Its legend entry.
    pub name: String,
    /// The area under it.
    pub auc: f64,
    /// False and true positive rates, from (0, 0) to (1, 1).
    pub points: Vec<[f64; 2]>,
}

/// Draws ROC curves, ordered by area, and the diagonal of a random ranking.
pub fn roc(style: &Style, curves: &[Roc]) -> Scene {
    let sizes = style.sizes();
    let mut order: Vec<&Roc> = curves.iter().collect();
    order.sort_by(|a, b| b.auc.total_cmp(&a.auc));
    // Colours first, then dashes.
    let dashes = [None, Some([16.0, 8.0]), Some([5.0, 6.0])];
    let stroke = |i: usize| Stroke {
        colour: CATEGORIES[(i + 4) % CATEGORIES.len()],
        width: 4.0 * sizes.unit,
        dash: dashes[(i / CATEGORIES.len()) % dashes.len()]
            .map(|dash: [f64; 2]| dash.map(|d| d * sizes.unit)),
    };
    let key = |(i, roc): (usize, &&Roc)| LegendKey {
        text: format!("{} (AUC {:.3})", roc.name, roc.auc),
        symbol: KeySymbol::Line(stroke(i)),
    };
    let axis = |name: &str| Axis::new(name, 0.0, 1.0);
    let (x, y) = (axis("other rows taken for outliers"), axis("outliers found"));
    let frame = Frame::new(style, x, y, order.iter().enumerate().map(key).collect(), 0.6 * sizes.tick, false);
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    let guess = Stroke {
        colour: Colour::grey(160),
        width: 2.5 * sizes.unit,
        dash: Some([12.0 * sizes.unit, 9.0 * sizes.unit]),
    };
    scene.line(frame.to_pixels([0.0, 0.0]), frame.to_pixels([1.0, 1.0]), guess);
    // The largest area is drawn last.
    for (i, roc) in order.iter().enumerate().rev() {
        let points: Vec<Point> = roc.points.iter().map(|p| frame.to_pixels(*p)).collect();
        scene.path(Path { lines: vec![points], stroke: Some(stroke(i)), ..Path::default() });
    }
    frame.draw(&mut scene);
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_names_every_curve_and_its_area() {
        let one = |i: u32| Roc {
            name: format!("method {i}"),
            auc: 1.0 - f64::from(i) / 20.0,
            points: vec![[0.0, 0.0], [0.0, 0.5], [0.5, 1.0], [1.0, 1.0]],
        };
        let style = Style {
            width: 1500,
            height: 1500,
            title: Some("ROC".into()),
            caption: "a caption".into(),
            text_scale: 1.0,
        };
        let scene = roc(&style, &(0..12).map(one).collect::<Vec<_>>());
        scene.assert_text_inside();
        for text in ["method 0 (AUC 1.000)", "method 11 (AUC 0.450)"] {
            assert!(scene.texts().any(|found| found.text == text), "{text}");
        }
    }
}
