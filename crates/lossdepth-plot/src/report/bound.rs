//! A page as it may be written: masked values removed, texts shortened, sizes bounded.
//!
//! The budgets are chosen so that a page stays below 3 MB whatever it is given. Each is about three times what a table of fifty
//! columns with a hundred odd rows needs.

use super::map::rounded;
use super::page::{Cell, Column, OddRow, Page};
use super::{Distribution, Map, text};

/// Letters of a level, of a name, of a cell, and of a sentence.
const LEVEL: usize = 64;
const NAME: usize = 80;
const CELL: usize = 160;
const SENTENCE: usize = 480;
/// Columns whose values are shown.
const COLUMNS: usize = 120;
/// Entries of lists of notes, settings and columns left out.
const ENTRIES: usize = 100;
/// Bytes of names and reasons, which are written twice; of values; and of values of neighbours.
const REASON_BYTES: usize = 350_000;
const CELL_BYTES: usize = 500_000;
const NEIGHBOUR_BYTES: usize = 500_000;
/// Coordinates of a map.
const COORDINATES: usize = 48_000;
const AXES: usize = 32;
/// What stands for the sentence of a masked column.
const MASKED: &str = "unusual; its values are masked";

/// A page within bounds.
#[derive(Debug, Clone)]
pub(crate) struct Bounded {
    pub page: Page,
    /// `quantity 900` for each reason of each row; empty where a reason is about several columns or none.
    pub leads: Vec<Vec<String>>,
    /// How many columns were compared, those not shown included.
    pub compared: u64,
    /// What was left out for the sake of size.
    pub notes: Vec<String>,
}

impl Bounded {
    pub(crate) fn new(page: &Page) -> Self {
        let mut page = page.clone();
        let mut notes = Vec::new();
        let compared = page.columns.len() as u64;
        let listed = page.rows.len();
        for row in &mut page.rows {
            row.cells.truncate(page.columns.len());
            row.contributions.truncate(page.columns.len());
            row.neighbours.iter_mut().for_each(|neighbour| neighbour.cells.truncate(page.columns.len()));
            row.reasons
                .iter_mut()
                .for_each(|reason| reason.columns.retain(|column| *column < page.columns.len()));
        }
        mask(&mut page);
        shorten(&mut page);
        let leads: Vec<Vec<String>> = page.rows.iter().map(|row| leads(row, &page)).collect();
        keep_columns(&mut page);
        if page.columns.len() as u64 != compared {
            notes.push(format!(
                "Of {} columns the {} that say most about the rows below are shown.",
                text::count(compared),
                text::count(page.columns.len() as u64)
            ));
        }
        keep_rows(&mut page, &leads);
        if page.rows.len() < listed {
            notes.push(format!(
                "Of {} odd rows the first {} are listed, to keep this page small.",
                text::count(listed as u64),
                text::count(page.rows.len() as u64)
            ));
        }
        if let Some(from) = keep_cells(&mut page) {
            notes.push(format!(
                "Values are shown for the first {}, to keep this page small.",
                text::counted(from as u64, "row", "rows")
            ));
        }
        page.thresholds.start = page.thresholds.start.min(page.thresholds.steps.len().saturating_sub(1));
        page.left_out.truncate(ENTRIES);
        page.findings.truncate(ENTRIES);
        page.method.sentences.truncate(ENTRIES);
        page.method.settings.truncate(ENTRIES);
        page.method.audit.truncate(ENTRIES);
        if let Some(map) = page.map.take() {
            page.map = bounded_map(map, page.rows.len(), listed);
        }
        Self { page, leads, compared, notes }
    }
}

/// Removes every value of masked columns, and the sentences about them.
fn mask(page: &mut Page) {
    let masked: Vec<bool> = page.columns.iter().map(|column| column.masked).collect();
    let is_masked = |column: &usize| masked.get(*column).copied().unwrap_or(false);
    for column in page.columns.iter_mut().filter(|column| column.masked) {
        column.distribution = Distribution::Hidden;
        column.usual = Distribution::Hidden.usual();
    }
    let hide = |cells: &mut Vec<Cell>| {
        for (cell, masked) in cells.iter_mut().zip(&masked) {
            if *masked {
                *cell = Cell::Masked;
            }
        }
    };
    for row in &mut page.rows {
        hide(&mut row.cells);
        row.neighbours.iter_mut().for_each(|neighbour| hide(&mut neighbour.cells));
        for reason in row.reasons.iter_mut().filter(|reason| reason.columns.iter().any(is_masked)) {
            MASKED.clone_into(&mut reason.sentence);
        }
        row.counterfactual.take_if(|counterfactual| counterfactual.columns.iter().any(is_masked));
    }
    page.findings.retain(|finding| !finding.columns.iter().any(is_masked));
    if let Some(map) = &mut page.map {
        let start = map.start.map(|axis| map.axes.get(axis).map(|axis| axis.label.clone()));
        map.axes.retain(|axis| !axis.column.as_ref().is_some_and(is_masked));
        let place =
            |label: &Option<String>| map.axes.iter().position(|axis| Some(&axis.label) == label.as_ref());
        let across = place(&start[0]).unwrap_or(0);
        let up = place(&start[1]).filter(|up| *up != across).unwrap_or(usize::from(across == 0));
        map.start = [across, up];
    }
    if let Some(drift) = &mut page.drift {
        for column in drift.columns.iter_mut().filter(|drift| is_masked(&drift.column)) {
            MASKED.clone_into(&mut column.sentence);
            (column.levels, column.before, column.now) = (Vec::new(), Vec::new(), Vec::new());
        }
    }
}

/// Shortens every text, and makes invisible characters visible.
fn shorten(page: &mut Page) {
    clip(&mut page.title, 2 * NAME);
    for source in std::iter::once(&mut page.data).chain(&mut page.reference) {
        clip(&mut source.name, 2 * NAME);
    }
    for column in &mut page.columns {
        clip(&mut column.name, NAME);
        clip(&mut column.kind, NAME);
        clip(&mut column.usual, CELL);
        if let Distribution::Levels { levels, .. } = &mut column.distribution {
            levels.iter_mut().for_each(|level| clip(&mut level.0, LEVEL));
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
            if let super::AxisScale::Levels(levels) = &mut axis.scale {
                levels.iter_mut().for_each(|level| clip(level, LEVEL));
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
            letter if invisible(letter) => short.push_str(&format!("⟨U+{:04X}⟩", u32::from(letter))),
            letter => short.push(letter),
        }
    }
    if letters > most {
        short.push_str(&format!("… ({} letters)", text::count(letters as u64)));
    }
    *text = short;
}

/// The name and value that each reason of a row is about.
fn leads(row: &OddRow, page: &Page) -> Vec<String> {
    let lead = |columns: &[usize]| {
        let (&first, rest) = columns.split_first()?;
        let column = page.columns.get(first)?;
        let cell = row.cells.get(first).filter(|cell| !matches!(cell, Cell::Masked));
        match (cell, rest) {
            (Some(cell), _) => Some(format!("{} {}", column.name, cell.text())),
            (None, []) => Some(column.name.clone()),
            (None, _) => None,
        }
    };
    row.reasons.iter().map(|reason| lead(&reason.columns).unwrap_or_default()).collect()
}

/// Keeps the columns that reasons name most often, then those that contribute most, and renumbers them.
fn keep_columns(page: &mut Page) {
    let all = page.columns.len();
    if all <= COLUMNS {
        return;
    }
    let mut merit = vec![0.0f64; all];
    for row in &page.rows {
        for column in row.reasons.iter().flat_map(|reason| &reason.columns).filter(|column| **column < all) {
            merit[*column] += 1.0;
        }
        let total: f64 = row.contributions.iter().filter(|x| **x > 0.0).sum();
        for (merit, contribution) in merit.iter_mut().zip(&row.contributions) {
            *merit += if total > 0.0 { contribution.max(0.0) / total } else { 0.0 };
        }
    }
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by(|&a, &b| merit[b].total_cmp(&merit[a]).then(a.cmp(&b)));
    order.truncate(COLUMNS);
    order.sort_unstable();
    let mut place = vec![None; all];
    for (new, &old) in order.iter().enumerate() {
        place[old] = Some(new);
    }
    let renumber = |columns: &mut Vec<usize>| {
        *columns = columns.iter().filter_map(|&column| place.get(column).copied().flatten()).collect();
    };
    page.columns = order.iter().map(|&column| page.columns[column].clone()).collect();
    let kept_cells = |cells: &mut Vec<Cell>| {
        *cells = order.iter().filter_map(|&column| cells.get(column).cloned()).collect();
    };
    for row in &mut page.rows {
        kept_cells(&mut row.cells);
        row.neighbours.iter_mut().for_each(|neighbour| kept_cells(&mut neighbour.cells));
        row.contributions =
            order.iter().map(|&column| row.contributions.get(column).copied().unwrap_or(0.0)).collect();
        row.reasons.iter_mut().for_each(|reason| renumber(&mut reason.columns));
    }
    page.findings.iter_mut().for_each(|finding| renumber(&mut finding.columns));
    if let Some(drift) = &mut page.drift {
        drift.columns.retain_mut(|drift| {
            let kept = place.get(drift.column).copied().flatten();
            drift.column = kept.unwrap_or(0);
            kept.is_some()
        });
    }
}

/// Bytes of a text once `<` is written as `\u003c`.
fn bytes(text: &str) -> usize {
    text.len() + 5 * text.bytes().filter(|byte| b"<>&\"'\\".contains(byte)).count() + 4
}

fn cell_bytes(cells: &[Cell]) -> usize {
    cells
        .iter()
        .map(|cell| match cell {
            Cell::Number { text, .. } => bytes(text) + 22,
            Cell::Text(text) => bytes(text),
            Cell::Gap | Cell::Masked => 6,
        })
        .sum()
}

/// Drops the last rows where names and reasons exceed their budget.
fn keep_rows(page: &mut Page, leads: &[Vec<String>]) {
    let mut left = REASON_BYTES;
    let fits = |(row, leads): (&OddRow, &Vec<String>)| {
        let reasons: usize = row.reasons.iter().map(|reason| bytes(&reason.sentence) + 40).sum();
        let leads: usize = leads.iter().map(|lead| bytes(lead)).sum();
        let counterfactual = row.counterfactual.as_ref().map_or(0, |words| bytes(&words.sentence));
        let cost = 700 + bytes(&row.name) + reasons + leads + counterfactual;
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    };
    let kept = page.rows.iter().zip(leads).map(fits).take_while(|fits| *fits).count();
    page.rows.truncate(kept);
}

/// Drops values and neighbours of the last rows where they exceed their budgets; the first row without values, if any.
fn keep_cells(page: &mut Page) -> Option<usize> {
    let (mut cells, mut neighbours, mut first) = (CELL_BYTES, NEIGHBOUR_BYTES, None);
    for (index, row) in page.rows.iter_mut().enumerate() {
        let cost = cell_bytes(&row.cells) + 8 * row.contributions.len();
        if first.is_some() || cost > cells {
            first = first.or(Some(index));
            row.cells.clear();
            row.contributions.clear();
            row.neighbours.clear();
            continue;
        }
        cells -= cost;
        let cost: usize = row
            .neighbours
            .iter()
            .map(|neighbour| bytes(&neighbour.name) + cell_bytes(&neighbour.cells))
            .sum();
        if cost > neighbours {
            neighbours = 0;
            row.neighbours.clear();
        } else {
            neighbours -= cost;
        }
    }
    first
}

/// A map with few enough points, or none if it does not fit the page.
fn bounded_map(mut map: Map, rows: usize, listed: usize) -> Option<Map> {
    let points = map.percentiles.len();
    let fits = |axis: &super::MapAxis| axis.ordinary.len() == points && axis.odd.len() == listed;
    if map.axes.len() < 2
        || !map.axes.iter().all(fits)
        || map.start.iter().any(|axis| *axis >= map.axes.len())
    {
        return None;
    }
    if map.start.iter().any(|axis| *axis >= AXES) {
        // The first axes are kept; those shown first go to the front.
        map.axes.swap(0, map.start[0]);
        let up = if map.start[1] == 0 { map.start[0] } else { map.start[1] };
        map.axes.swap(1, up);
        map.start = [0, 1];
    }
    map.axes.truncate(AXES);
    let most = (COORDINATES / map.axes.len()).saturating_sub(rows).clamp(200, 1500).min(points);
    let kept: Vec<usize> = (0..most).map(|k| k * points / most).collect();
    map.percentiles = kept.iter().map(|&point| rounded(map.percentiles[point])).collect();
    map.names = kept.iter().map(|&point| map.names.get(point).cloned().unwrap_or_default()).collect();
    for axis in &mut map.axes {
        axis.ordinary = kept.iter().map(|&point| rounded(axis.ordinary[point])).collect();
        axis.odd = axis.odd.iter().take(rows).map(|x| rounded(*x)).collect();
    }
    Some(map)
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
