//! Several figures in one picture, with a common title, legend and caption.

use super::axes::{Style, write_caption};
use super::legend::{LEGEND_LINE, LegendKey, draw_keys, legend_rows};
use crate::scene::colour::Colour;
use crate::scene::font;
use crate::scene::{Anchor, Item, Point, Rect, Scene, Text};

/// A grid of figures of the same size.
#[derive(Debug)]
pub struct Panels {
    style: Style,
    columns: u32,
    /// The size of a panel.
    cell: (u32, u32),
    /// The top left corner of the first panel.
    corner: (u32, u32),
    caption: Vec<String>,
    keys: Vec<Vec<(f64, LegendKey)>>,
}

impl Panels {
    /// Divides a picture into `(columns, rows)` of panels with a common legend.
    pub fn new(style: Style, (columns, lines): (u32, u32), keys: Vec<LegendKey>) -> Self {
        let sizes = style.sizes();
        let inner = f64::from(style.width) - 2.0 * sizes.margin;
        let caption = font::wrap(&style.caption, inner / sizes.caption);
        let titled = if style.title.is_some() { 1.5 * sizes.title } else { 0.0 };
        let captioned = if caption.is_empty() { 0.0 } else { 1.4 * caption.len() as f64 + 0.6 };
        let margin = 0.4 * sizes.margin;
        let keys = legend_rows(keys, inner, sizes);
        let named = LEGEND_LINE * sizes.tick * keys.len() as f64;
        let (top, foot) = (margin + titled + named, captioned * sizes.caption + sizes.margin);
        let whole = |length: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "pixels of a picture"
            )]
            let pixels = length.max(1.0) as u32;
            pixels
        };
        let cell = (
            whole((f64::from(style.width) - 2.0 * margin) / f64::from(columns)),
            whole((f64::from(style.height) - top - foot) / f64::from(lines)),
        );
        Self { columns, cell, corner: (whole(margin), whole(top)), caption, keys, style }
    }

    /// The style of a panel.
    pub fn panel_style(&self, title: impl Into<String>) -> Style {
        let part = Style {
            width: self.cell.0,
            height: self.cell.1,
            title: Some(title.into()),
            caption: String::new(),
            text_scale: 1.0,
        };
        // Text is somewhat smaller than in a figure of its own (heuristic).
        let text_scale = 0.8 * self.style.text_scale * self.style.unit() / part.unit();
        Style { text_scale, ..part }
    }

    /// Arranges the panels row by row.
    pub fn arrange(self, parts: Vec<Scene>) -> Scene {
        let Style { width, height, title, caption, .. } = &self.style;
        let sizes = self.style.sizes();
        let mut scene = Scene::new(*width, *height, caption.clone());
        let inner = f64::from(*width) - 2.0 * sizes.margin;
        scene.text(Text {
            text: font::truncated(title.as_deref().unwrap_or_default(), inner / sizes.title),
            at: [f64::from(*width) / 2.0, 0.4 * sizes.margin + font::CAPITAL * sizes.title],
            anchor: Anchor::Middle,
            size: sizes.title,
            colour: Colour::INK,
            rotation: 0.0,
            halo: None,
        });
        for (i, row) in self.keys.iter().enumerate() {
            let length: f64 = row.iter().map(|(width, _)| width).sum();
            let up = LEGEND_LINE * sizes.tick * (self.keys.len() - i) as f64;
            let start =
                [0.5 * (f64::from(*width) - length), f64::from(self.corner.1) - up + 0.9 * sizes.tick];
            draw_keys(&mut scene, row, start, sizes);
        }
        for (place, part) in (0..).zip(parts) {
            let (row, column) = (place / self.columns, place % self.columns);
            let left = self.corner.0 + column * self.cell.0;
            let top = self.corner.1 + row * self.cell.1;
            scene.inset(part, [f64::from(left), f64::from(top)]);
        }
        write_caption(&mut scene, &self.caption, sizes);
        scene
    }
}

impl Scene {
    /// Adds the items of another scene, translated.
    fn inset(&mut self, part: Scene, [dx, dy]: Point) {
        let move_rect = |rect: &mut Rect| {
            *rect = Rect {
                left: rect.left + dx,
                top: rect.top + dy,
                right: rect.right + dx,
                bottom: rect.bottom + dy,
            };
        };
        for mut item in part.items {
            match &mut item {
                Item::Path(path) => {
                    for [x, y] in path.lines.iter_mut().flatten() {
                        (*x, *y) = (*x + dx, *y + dy);
                    }
                    path.clip.iter_mut().for_each(move_rect);
                }
                Item::Text(text) => text.at = [text.at[0] + dx, text.at[1] + dy],
                Item::Image(image) => move_rect(&mut image.area),
            }
            self.items.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::chart::{Chart, Trace, TraceStyle, chart};
    use crate::scene::boxes_overlap;

    #[test]
    fn panels_do_not_overlap_and_their_text_is_readable() {
        let style = Style {
            width: 1800,
            height: 1500,
            title: Some("all of them".into()),
            caption: "words ".repeat(50),
            text_scale: 1.0,
        };
        let panels = Panels::new(style, (2, 2), Vec::new());
        let part = |name: &str| {
            let trace = Trace {
                name: "a line".into(),
                points: vec![[0.0, 1.0], [1.0, 2.0]],
                style: TraceStyle::Line(4),
            };
            chart(&panels.panel_style(name), &Chart { traces: vec![trace], ..Chart::new("x", "y") })
        };
        let parts = ["(a) one", "(b) two", "(c) three", "(d) four"].map(part).into();
        let scene = panels.arrange(parts);
        scene.assert_text_inside();
        let texts: Vec<&Text> = scene.texts().collect();
        for (i, text) in texts.iter().enumerate() {
            assert!(text.size >= 20.0, "{text:?}");
            for other in &texts[..i] {
                assert!(!boxes_overlap(&text.corners(), &other.corners()), "{text:?} {other:?}");
            }
        }
        for name in ["all of them", "(a) one", "(d) four"] {
            assert!(texts.iter().any(|text| text.text == name), "{name}");
        }
    }
}
