//! ROC curves of several methods.

use super::axes::{Axis, Frame, Key, Sign, Style};
use super::colour::{CATEGORIES, Colour};
use super::scene::{Path, Point, Scene, Stroke};

/// A curve with its name for the legend.
#[derive(Debug, Clone)]
pub(crate) struct Roc {
    pub(crate) name: String,
    pub(crate) auc: f64,
    /// The share of false alarms and of outliers found, from (0, 0) to (1, 1).
    pub(crate) points: Vec<[f64; 2]>,
}

/// Draws the curves, best first, over the diagonal of those who guess.
pub(crate) fn roc(style: &Style, curves: &[Roc]) -> Scene {
    let sizes = style.sizes();
    let mut order: Vec<&Roc> = curves.iter().collect();
    order.sort_by(|a, b| b.auc.total_cmp(&a.auc));
    // Colours first, then kinds of dashes: any number of curves can be told apart.
    let dashes = [None, Some([16.0, 8.0]), Some([5.0, 6.0])];
    let look = |i: usize| Stroke {
        colour: CATEGORIES[(i + 4) % CATEGORIES.len()],
        width: 4.0 * sizes.unit,
        dash: dashes[(i / CATEGORIES.len()) % dashes.len()]
            .map(|dash: [f64; 2]| dash.map(|d| d * sizes.unit)),
    };
    let key = |(i, roc): (usize, &&Roc)| Key {
        text: format!("{} (AUC {:.3})", roc.name, roc.auc),
        sign: Sign::Line(look(i)),
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
    scene.line(frame.place([0.0, 0.0]), frame.place([1.0, 1.0]), guess);
    // The best on top.
    for (i, roc) in order.iter().enumerate().rev() {
        let points: Vec<Point> = roc.points.iter().map(|p| frame.place(*p)).collect();
        scene.path(Path { lines: vec![points], stroke: Some(look(i)), ..Path::default() });
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
            letters: 1.0,
        };
        let scene = roc(&style, &(0..12).map(one).collect::<Vec<_>>());
        scene.assert_tidy();
        for text in ["method 0 (AUC 1.000)", "method 11 (AUC 0.450)"] {
            assert!(scene.texts().any(|found| found.text == text), "{text}");
        }
    }
}
