//! The embedded font: a subset of DejaVu Sans.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static FACE: LazyLock<Option<Face<'static>>> =
    LazyLock::new(|| Face::parse(include_bytes!("../../assets/DejaVuSans.ttf"), 0).ok());

/// The height of capitals and digits, relative to the font size.
pub(crate) const CAPITAL: f64 = 0.729;
/// The depth of descenders below the baseline, relative to the font size.
pub(crate) const DESCENT: f64 = 0.236;

fn glyph(face: &Face<'_>, letter: char) -> GlyphId {
    // Glyph 0 is a box: it stands for characters that are not in the subset.
    face.glyph_index(letter).unwrap_or(GlyphId(0))
}

/// The width of a text, relative to the font size.
pub(crate) fn width(text: &str) -> f64 {
    let Some(face) = FACE.as_ref() else { return 0.6 * text.chars().count() as f64 };
    let advance = |letter| f64::from(face.glyph_hor_advance(glyph(face, letter)).unwrap_or(0));
    text.chars().map(advance).sum::<f64>() / f64::from(face.units_per_em())
}

/// The outline of a text at font size 1, from the left end of its baseline; y points up.
pub(crate) fn outline(text: &str, pen: &mut impl OutlineBuilder) {
    let Some(face) = FACE.as_ref() else { return };
    let em = f32::from(face.units_per_em());
    let mut x = 0.0;
    for letter in text.chars() {
        let id = glyph(face, letter);
        face.outline_glyph(id, &mut Translated { pen, x, em });
        x += f32::from(face.glyph_hor_advance(id).unwrap_or(0));
    }
}

/// Translates a glyph and scales it to font size 1.
struct Translated<'a, P> {
    pen: &'a mut P,
    x: f32,
    em: f32,
}

impl<P: OutlineBuilder> OutlineBuilder for Translated<'_, P> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.pen.move_to((self.x + x) / self.em, y / self.em);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.pen.line_to((self.x + x) / self.em, y / self.em);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.pen.quad_to((self.x + x1) / self.em, y1 / self.em, (self.x + x) / self.em, y / self.em);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b) = ((self.x + x1) / self.em, (self.x + x2) / self.em);
        self.pen.curve_to(a, y1 / self.em, b, y2 / self.em, (self.x + x) / self.em, y / self.em);
    }
    fn close(&mut self) {
        self.pen.close();
    }
}

/// Breaks a text into lines no wider than `limit`, relative to the font size.
pub(crate) fn wrap(text: &str, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(truncated(word, limit)),
        }
    }
    lines
}

/// The text, truncated with an ellipsis if it is wider than `limit`.
pub(crate) fn truncated(text: &str, limit: f64) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if width(&short) + width(&letter.to_string()) + width("…") > limit {
            break;
        }
        short.push(letter);
    }
    short + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_characters_of_labels() {
        let face = FACE.as_ref().unwrap();
        for letter in "abzAZ019.,%()−–·×≤≥½²₁äßéñçøλγμσΣωЖя…".chars() {
            assert!(face.glyph_index(letter).is_some(), "{letter}");
        }
        let capital = face.glyph_bounding_box(glyph(face, 'H')).unwrap().y_max;
        assert!((f64::from(capital) / f64::from(face.units_per_em()) - CAPITAL).abs() < 1e-3);
        assert!(width("mm") > 2.0 * width("il"));
    }

    #[test]
    fn long_texts_are_truncated_and_wrapped() {
        assert_eq!(truncated("short", 10.0), "short");
        let cut = truncated("a very long name of a column", 5.0);
        assert!(cut.ends_with('…') && width(&cut) <= 5.0);
        let lines = wrap("one two three four five six seven", 8.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line) <= 8.0));
        assert_eq!(lines.join(" "), "one two three four five six seven");
        assert!(wrap(&"x".repeat(500), 8.0).iter().all(|line| width(line) <= 8.0));
    }
}
