//! Words beside points: where nothing else is written.

use super::axes::Frame;
use crate::scene::colour::Colour;
use crate::scene::font;
use crate::scene::{Anchor, Point, Text, boxes_overlap};

/// Texts for the points, in the order of importance, each beside its point: on the first of six places that is inside of the
/// map and free of `marks`, of `others` and of the texts before it. A point without such a place has no text.
pub(super) fn place(
    labels: &[([f64; 2], String)],
    frame: &Frame,
    marks: impl Iterator<Item = [f64; 2]>,
    others: &[Text],
) -> Vec<Text> {
    let size = 0.85 * frame.sizes.tick;
    let around = |at: [f64; 2]| {
        let ([x, y], r) = (frame.to_pixels(at), 0.5 * size);
        [[x - r, y - r], [x + r, y - r], [x + r, y + r], [x - r, y + r]]
    };
    let mut taken: Vec<[Point; 4]> = others.iter().map(Text::corners).chain(marks.map(around)).collect();
    let mut placed = Vec::new();
    for (at, text) in labels {
        let [x, y] = frame.to_pixels(*at);
        let (far, middle) = (0.85 * size, 0.5 * font::CAPITAL * size);
        let (above, below) = (y - 0.8 * size, y + 0.8 * size + font::CAPITAL * size);
        let places = [
            ([x + far, y + middle], Anchor::Start),
            ([x - far, y + middle], Anchor::End),
            ([x, above], Anchor::Middle),
            ([x, below], Anchor::Middle),
            ([x + 0.5 * far, above], Anchor::Start),
            ([x - 0.5 * far, below], Anchor::End),
        ];
        let text = |(at, anchor): (Point, Anchor)| Text {
            text: font::truncated(text, 9.0),
            at,
            anchor,
            size,
            colour: Colour::INK,
            rotation: 0.0,
            halo: Some((Colour::WHITE, 0.22 * size)),
        };
        let free = |text: &Text| {
            let corners = text.corners();
            corners.iter().all(|corner| frame.area.contains(*corner))
                && !taken.iter().any(|other| boxes_overlap(&corners, other))
        };
        let found = places.map(text).into_iter().find(free);
        taken.extend(found.as_ref().map(Text::corners));
        placed.extend(found);
    }
    placed
}
