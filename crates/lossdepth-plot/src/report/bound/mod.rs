//! A page as it may be written: masked values removed, texts shortened, sizes bounded.
//!
//! Each budget is about three times what a table of fifty columns with a hundred odd rows needs. Where names and values of
//! hundreds of letters make a page too large all the same, it is written again with a part of the budgets.

mod mask;
mod shorten;

use super::map::rounded;
use super::page::{Cell, OddRow, Page};
use super::{Map, MapAxis, text};
use mask::mask;
use shorten::shorten;

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
    /// Whether a row is flagged at the threshold that is shown first.
    pub(crate) fn is_flagged(&self, row: &OddRow) -> bool {
        let thresholds = &self.page.thresholds;
        thresholds.steps.get(thresholds.start).is_some_and(|step| row.p_value <= step.p)
    }

    /// Within the budgets divided by `divisor`.
    pub(crate) fn new(page: &Page, divisor: usize) -> Self {
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
        keep_columns(&mut page, COLUMNS / divisor);
        if page.columns.len() as u64 != compared {
            notes.push(format!(
                "Of {} columns the {} that say most about the rows below are shown.",
                text::count(compared),
                text::count(page.columns.len() as u64)
            ));
        }
        keep_rows(&mut page, &leads, REASON_BYTES / divisor);
        if page.rows.len() < listed {
            notes.push(format!(
                "Of {} odd rows the first {} are listed, to keep this page small.",
                text::count(listed as u64),
                text::count(page.rows.len() as u64)
            ));
        }
        if let Some(from) = keep_cells(&mut page, divisor) {
            notes.push(format!(
                "Values are shown for the first {}, to keep this page small.",
                text::counted(from as u64, "row", "rows")
            ));
        }
        page.thresholds.start = page.thresholds.start.min(page.thresholds.steps.len().saturating_sub(1));
        page.left_out.truncate(ENTRIES / divisor);
        page.findings.truncate(ENTRIES / divisor);
        page.method.sentences.truncate(ENTRIES / divisor);
        page.method.settings.truncate(ENTRIES / divisor);
        page.method.audit.truncate(ENTRIES / divisor);
        if let Some(map) = page.map.take() {
            page.map = bounded_map(map, page.rows.len(), listed, COORDINATES / divisor);
        }
        Self { page, leads, compared, notes }
    }
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
fn keep_columns(page: &mut Page, most: usize) {
    let all = page.columns.len();
    if all <= most {
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
    order.truncate(most);
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
fn keep_rows(page: &mut Page, leads: &[Vec<String>], mut left: usize) {
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
fn keep_cells(page: &mut Page, divisor: usize) -> Option<usize> {
    let (mut cells, mut neighbours, mut first) = (CELL_BYTES / divisor, NEIGHBOUR_BYTES / divisor, None);
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
fn bounded_map(mut map: Map, rows: usize, listed: usize, coordinates: usize) -> Option<Map> {
    let points = map.percentiles.len();
    let fits = |axis: &MapAxis| axis.ordinary.len() == points && axis.odd.len() == listed;
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
    let most = (coordinates / map.axes.len()).saturating_sub(rows).clamp(200, 1500).min(points);
    let kept: Vec<usize> = (0..most).map(|k| k * points / most).collect();
    map.percentiles = kept.iter().map(|&point| rounded(map.percentiles[point])).collect();
    map.names = kept.iter().map(|&point| map.names.get(point).cloned().unwrap_or_default()).collect();
    for axis in &mut map.axes {
        axis.ordinary = kept.iter().map(|&point| rounded(axis.ordinary[point])).collect();
        axis.odd = axis.odd.iter().take(rows).map(|x| rounded(*x)).collect();
    }
    Some(map)
}
