//! Rows that are images, each beside the coefficients of its classifier.

use super::axes::{Sizes, Style, write_caption};
use crate::scene::colour::Colour;
use crate::scene::font;
use crate::scene::{Anchor, Image, Path, Rect, Scene, Stroke, Text};

/// An image and its coefficients.
pub struct ImagePair {
    /// The text above.
    pub name: String,
    /// Row by row.
    pub pixels: Vec<f64>,
    /// Row by row.
    pub coefficients: Vec<f64>,
}

/// Draws pairs of images on a grid; `shape` is the height and width of an image.
pub fn images(style: &Style, shape: (usize, usize), pairs: &[ImagePair]) -> Scene {
    let sizes = style.sizes();
    let Sizes { unit, tick, margin, .. } = sizes;
    let mut scene = Scene::new(style.width, style.height, style.caption.clone());
    let inner = f64::from(style.width) - 2.0 * margin;
    let caption = font::wrap(&style.caption, inner / sizes.caption);
    let title = font::truncated(style.title.as_deref().unwrap_or_default(), inner / sizes.title);
    let titled = if title.is_empty() { 0.0 } else { 1.5 * sizes.title };
    let top = margin + titled;
    let room = f64::from(style.height) - top - margin - (1.4 * caption.len() as f64 + 0.9) * sizes.caption;
    let (rows, columns) = grid(pairs.len(), inner, room, shape);
    let (head, gap) = (1.5 * tick, 0.6 * tick);
    let (cell_width, cell_height) = (inner / columns as f64, room / rows as f64);
    let scale =
        ((cell_width - 2.0 * gap) / (2 * shape.1) as f64).min((cell_height - head - gap) / shape.0 as f64);
    let (width, height) = (scale.max(0.1) * shape.1 as f64, scale.max(0.1) * shape.0 as f64);
    let word = |text: String, at, size| Text {
        text,
        at,
        anchor: Anchor::Middle,
        size,
        colour: Colour::INK,
        rotation: 0.0,
        halo: None,
    };
    let middle = f64::from(style.width) / 2.0;
    scene.text(word(title, [middle, margin + font::CAPITAL * sizes.title], sizes.title));
    for (i, pair) in pairs.iter().enumerate() {
        let centre = margin + cell_width * ((i % columns) as f64 + 0.5);
        let above = top + cell_height * (i / columns) as f64;
        let name = font::truncated(&pair.name, (cell_width - gap) / tick);
        scene.text(word(name, [centre, above + tick], tick));
        for (left, pixels) in [
            (centre - gap / 2.0 - width, greys(&pair.pixels, range(&pair.pixels))),
            (centre + gap / 2.0, greys(&pair.coefficients, symmetric(&pair.coefficients))),
        ] {
            let area = Rect { left, top: above + head, right: left + width, bottom: above + head + height };
            scene.image(Image { area, columns: shape.1, rows: shape.0, pixels, smooth: false });
            let thin = Stroke { colour: Colour::INK, width: 1.6 * unit, dash: None };
            scene.path(Path {
                lines: vec![area.corners()],
                closed: true,
                stroke: Some(thin),
                ..Path::default()
            });
        }
    }
    write_caption(&mut scene, &caption, sizes);
    scene
}

/// The numbers of rows and columns of pairs that make the images largest.
fn grid(count: usize, width: f64, height: f64, shape: (usize, usize)) -> (usize, usize) {
    let size = |columns: usize| {
        let rows = count.max(1).div_ceil(columns);
        (width / (2 * columns * shape.1) as f64).min(height / (rows * shape.0) as f64)
    };
    let best = (1..=count.max(1)).max_by(|&a, &b| size(a).total_cmp(&size(b)).then(b.cmp(&a))).unwrap_or(1);
    (count.max(1).div_ceil(best), best)
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
}

/// A range around zero, which is mid-grey.
fn symmetric(values: &[f64]) -> (f64, f64) {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    (-largest, largest)
}

/// Grey levels: white is low, black is high.
fn greys(values: &[f64], (low, high): (f64, f64)) -> Vec<Colour> {
    let share = |v: &f64| if high > low { (v - low) / (high - low) } else { 0.5 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range")]
    let level = |v: &f64| 255 - (255.0 * share(v).clamp(0.0, 1.0)).round() as u8;
    values.iter().map(|v| Colour::grey(level(v))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Item;

    #[test]
    fn negative_is_white_positive_is_black_and_zero_between() {
        let style =
            Style { width: 900, height: 600, title: None, caption: "a caption".into(), text_scale: 1.0 };
        let pair = || ImagePair {
            name: "row 0".into(),
            pixels: vec![0.0, 128.0, 255.0, 0.0, 0.0, 0.0],
            coefficients: vec![-2.0, 0.0, 1.0, 2.0, 0.0, 0.0],
        };
        let scene = images(&style, (2, 3), &[pair(), pair(), pair()]);
        scene.assert_text_inside();
        let images: Vec<&Image> = scene
            .items
            .iter()
            .filter_map(|item| if let Item::Image(image) = item { Some(image) } else { None })
            .collect();
        assert_eq!(images.len(), 6);
        let [row, coefficients] = [images[0], images[1]];
        assert_eq!((row.pixels[0], row.pixels[2]), (Colour::WHITE, Colour::grey(0)));
        let greys: Vec<u8> = coefficients.pixels.iter().map(|colour| colour.rgb[0]).collect();
        assert_eq!(greys, [255, 127, 64, 0, 127, 127]);
        for image in images {
            assert!(image.area.left >= 0.0 && image.area.right <= 900.0 && image.area.bottom <= 600.0);
        }
    }

    #[test]
    fn constant_images_are_drawn() {
        let style = Style { width: 300, height: 300, title: None, caption: String::new(), text_scale: 1.0 };
        let pair = ImagePair { name: "x".repeat(200), pixels: vec![1.0; 4], coefficients: vec![0.0; 4] };
        images(&style, (2, 2), &[pair]).assert_text_inside();
    }
}
