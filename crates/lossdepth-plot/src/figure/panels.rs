//! Several pictures in one, with a title and a caption for all of them.

use super::axes::{KEY_LINE, Key, Style, draw_keys, rows, write_caption};
use super::colour::Colour;
use super::font;
use super::scene::{Anchor, Item, Point, Rect, Scene, Text};

/// Rows and columns of pictures of the same size.
#[derive(Debug)]
pub(crate) struct Panels {
    style: Style,
    columns: u32,
    /// The size of each.
    cell: (u32, u32),
    /// Where the first begins.
    corner: (u32, u32),
    caption: Vec<String>,
    keys: Vec<Vec<(f64, Key)>>,
}

impl Panels {
    /// Divides a picture; `keys` are the legend of all parts.
    pub(crate) fn new(style: Style, (columns, lines): (u32, u32), keys: Vec<Key>) -> Self {
        let sizes = style.sizes();
        let inner = f64::from(style.width) - 2.0 * sizes.margin;
        let caption = font::wrap(&style.caption, inner / sizes.caption);
        let titled = if style.title.is_some() { 1.5 * sizes.title } else { 0.0 };
        let captioned = if caption.is_empty() { 0.0 } else { 1.4 * caption.len() as f64 + 0.6 };
        let margin = 0.4 * sizes.margin;
        let keys = rows(keys, inner, sizes);
        let named = KEY_LINE * sizes.tick * keys.len() as f64;
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

    /// How a part is to look.
    pub(crate) fn part(&self, title: impl Into<String>) -> Style {
        let part = Style {
            width: self.cell.0,
            height: self.cell.1,
            title: Some(title.into()),
            caption: String::new(),
            letters: 1.0,
        };
        // Somewhat smaller letters than those of a picture of its own.
        let letters = 0.8 * self.style.letters * self.style.unit() / part.unit();
        Style { letters, ..part }
    }

    /// Puts the parts in their places, row by row.
    pub(crate) fn arrange(self, parts: Vec<Scene>) -> Scene {
        let Style { width, height, title, caption, .. } = &self.style;
        let sizes = self.style.sizes();
        let mut scene = Scene::new(*width, *height, caption.clone());
        let inner = f64::from(*width) - 2.0 * sizes.margin;
        scene.text(Text {
            text: font::fitted(title.as_deref().unwrap_or_default(), inner / sizes.title),
            at: [f64::from(*width) / 2.0, 0.4 * sizes.margin + font::CAPITAL * sizes.title],
            anchor: Anchor::Middle,
            size: sizes.title,
            colour: Colour::INK,
            turn: 0.0,
            halo: None,
        });
        for (i, row) in self.keys.iter().enumerate() {
            let length: f64 = row.iter().map(|(width, _)| width).sum();
            let up = KEY_LINE * sizes.tick * (self.keys.len() - i) as f64;
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
    /// Draws another picture, its top left corner at the given place.
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
    use super::super::chart::{Chart, Look, Trace, chart};
    use super::super::scene::overlap;
    use super::*;

    #[test]
    fn parts_have_places_of_their_own_and_letters_that_can_be_read() {
        let style = Style {
            width: 1800,
            height: 1500,
            title: Some("all of them".into()),
            caption: "words ".repeat(50),
            letters: 1.0,
        };
        let panels = Panels::new(style, (2, 2), Vec::new());
        let part = |name: &str| {
            let trace =
                Trace { name: "a line".into(), points: vec![[0.0, 1.0], [1.0, 2.0]], look: Look::Line(4) };
            chart(&panels.part(name), &Chart { traces: vec![trace], ..Chart::new("x", "y") })
        };
        let parts = ["(a) one", "(b) two", "(c) three", "(d) four"].map(part).into();
        let scene = panels.arrange(parts);
        scene.assert_tidy();
        let texts: Vec<&Text> = scene.texts().collect();
        for (i, text) in texts.iter().enumerate() {
            assert!(text.size >= 20.0, "{text:?}");
            for other in &texts[..i] {
                assert!(!overlap(&text.corners(), &other.corners()), "{text:?} {other:?}");
            }
        }
        for name in ["all of them", "(a) one", "(d) four"] {
            assert!(texts.iter().any(|text| text.text == name), "{name}");
        }
    }
}
