//! Texts of bounded length, without invisible characters.

use crate::report::page::{Cell, Column, Page};
use crate::report::{AxisScale, Distribution, text};
use std::fmt::Write;

/// Letters of a level, of a name, of a cell, and of a sentence.
const LEVEL: usize = 64;
const NAME: usize = 80;
const CELL: usize = 160;
const SENTENCE: usize = 480;

/// Shortens every text, and makes invisible characters visible.
pub(super) fn shorten(page: &mut Page) {
    clip(&mut page.title, 2 * NAME);
    for source in std::iter::once(&mut page.data).chain(&mut page.reference) {
        clip(&mut source.name, 2 * NAME);
    }
    for column in &mut page.columns {
        clip(&mut column.name, NAME);
        clip(&mut column.kind, NAME);
        clip(&mut column.usual, CELL);
        if let Distribution::Levels { levels, .. } = &mut column.distribution {
            for level in levels {
                clip(&mut level.0, LEVEL);
            }
        }
    }
    for column in &mut page.left_out {
        clip(&mut column.name, NAME);
        clip(&mut column.why, CELL);
    }
    page.findings.iter_mut().for_each(|finding| clip(&mut finding.sentence, SENTENCE));
    for row in &mut page.rows {
        clip(&mut row.name, NAME);
        clip_cells(&mut row.cells, &page.columns);
        row.reasons.truncate(6);
        row.reasons.iter_mut().for_each(|reason| clip(&mut reason.sentence, SENTENCE));
        if let Some(counterfactual) = &mut row.counterfactual {
            clip(&mut counterfactual.sentence, SENTENCE);
            counterfactual.values.iter_mut().for_each(|value| clip(value, CELL));
        }
        row.neighbours.truncate(5);
        for neighbour in &mut row.neighbours {
            clip(&mut neighbour.name, NAME);
            clip_cells(&mut neighbour.cells, &page.columns);
        }
    }
    for column in page.drift.iter_mut().flat_map(|drift| &mut drift.columns) {
        clip(&mut column.sentence, SENTENCE);
        column.levels.iter_mut().for_each(|level| clip(level, LEVEL));
    }
    page.method.sentences.iter_mut().for_each(|sentence| clip(sentence, SENTENCE));
    for fact in page.method.settings.iter_mut().chain(&mut page.method.audit) {
        clip(&mut fact.name, NAME);
        clip(&mut fact.value, SENTENCE);
    }
    if let Some(map) = &mut page.map {
        map.names.iter_mut().for_each(|name| clip(name, LEVEL));
        for axis in &mut map.axes {
            clip(&mut axis.label, NAME);
            clip(&mut axis.detail, CELL);
            if let AxisScale::Levels(levels) = &mut axis.scale {
                for level in levels {
                    clip(level, LEVEL);
                }
            }
        }
    }
}

/// A level is as long as in the column's distribution, where the script looks for it.
fn clip_cells(cells: &mut [Cell], columns: &[Column]) {
    for (cell, column) in cells.iter_mut().zip(columns) {
        let most = if matches!(column.distribution, Distribution::Levels { .. }) { LEVEL } else { CELL };
        if let Cell::Number { text, .. } | Cell::Text(text) = cell {
            clip(text, most);
        }
    }
}

/// At most `most` letters, and a note of how many there were. Characters that are invisible or change the direction of what
/// follows are named.
fn clip(text: &mut String, most: usize) {
    let letters = text.chars().count();
    let invisible = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{2028}' | '\u{2029}')
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if letters <= most && !text.chars().any(invisible) {
        return;
    }
    let mut short = String::new();
    for letter in text.chars().take(most) {
        match letter {
            '\n' | '\t' | '\r' => short.push(' '),
            letter if invisible(letter) => {
                let _ = write!(short, "⟨U+{:04X}⟩", u32::from(letter));
            }
            letter => short.push(letter),
        }
    }
    if letters > most {
        let _ = write!(short, "… ({} letters)", text::count(letters as u64));
    }
    *text = short;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_invisible_text_is_made_readable() {
        let mut long = "x".repeat(10_000);
        clip(&mut long, 80);
        assert_eq!(long, format!("{}… (10,000 letters)", "x".repeat(80)));
        let mut hidden = "a\u{202e}b\u{0}c\nd".to_owned();
        clip(&mut hidden, 80);
        assert_eq!(hidden, "a⟨U+202E⟩b⟨U+0000⟩c d");
        let mut hebrew = "שלום".to_owned();
        clip(&mut hebrew, 80);
        assert_eq!(hebrew, "שלום");
    }
}
