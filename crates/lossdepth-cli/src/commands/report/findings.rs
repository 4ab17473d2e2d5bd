//! Problems of the data that were noticed on the way, a sentence each.

use crate::error::{count, shorten};
use lossdepth::data::{CellNote, CellNoteKind, EncodedColumn};
use lossdepth_plot::report::Finding;

/// How many cells of a kind are quoted.
const QUOTED: usize = 3;

/// What there is to say about each column of the data, beyond the gaps and repeated rows that the page counts.
pub(super) fn findings(
    columns: &[EncodedColumn],
    notes: &[CellNote],
    rows: usize,
    own: bool,
) -> Vec<Finding> {
    let mut all = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let name = shorten(column.name());
        let of_column = || notes.iter().filter(|note| note.column == at);
        let mut say = |sentence: String| all.push((vec![at], sentence));
        if column.is_constant() {
            let whose = if own { "" } else { " of the reference" };
            say(format!("{name} has the same value in all rows{whose}."));
        }
        let gaps = of_column().filter(|note| note.what == CellNoteKind::Gap).count();
        if gaps > 0 && column.gaps() == 0.0 {
            say(format!(
                "{name} has no value in {gaps} of {}, and always one in the reference.",
                count(rows, "row")
            ));
        }
        let unread = of_column().filter_map(|note| match &note.what {
            CellNoteKind::Unread(text) => Some(text.as_str()),
            _ => None,
        });
        if let Some((cells, quoted)) = quoted(unread) {
            let (cells, kind) = (count(cells, "cell"), column.kind());
            say(format!("{name} has {cells} that cannot be read as a {kind}, taken for gaps: {quoted}."));
        }
        let new = of_column().filter_map(|note| match &note.what {
            CellNoteKind::NewLevel(text) => Some(text.as_str()),
            _ => None,
        });
        if let Some((cells, quoted)) = quoted(new) {
            let rows = count(cells, "row");
            say(format!("{name} has a value that the reference lacks in {rows}: {quoted}."));
        }
    }
    all.into_iter().map(|(columns, sentence)| Finding { columns, sentence }).collect()
}

/// How many there are, and the first few different ones.
fn quoted<'a>(texts: impl Iterator<Item = &'a str>) -> Option<(usize, String)> {
    let (mut all, mut first): (usize, Vec<&str>) = (0, Vec::new());
    let mut more = false;
    for text in texts {
        all += 1;
        if first.contains(&text) {
            continue;
        }
        if first.len() < QUOTED { first.push(text) } else { more = true }
    }
    let quoted: Vec<String> = first.iter().map(|text| format!("\"{}\"", shorten(text))).collect();
    let rest = if more { " and others" } else { "" };
    (all > 0).then(|| (all, format!("{}{rest}", quoted.join(", "))))
}
