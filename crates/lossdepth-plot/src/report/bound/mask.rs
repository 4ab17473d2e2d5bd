//! Values of masked columns are removed.

use crate::report::Distribution;
use crate::report::page::{Cell, Page};

/// What stands for the sentence of a masked column.
const MASKED: &str = "unusual; its values are masked";

/// What stands for a sentence that tells which value would fit masked ones.
const BESIDE_MASKED: &str = "unusual beside masked values";

/// Removes every value of masked columns, and the sentences about them.
pub(super) fn mask(page: &mut Page) {
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
        let mut hidden = Vec::new();
        for reason in row.reasons.iter_mut().filter(|reason| reason.columns.iter().any(is_masked)) {
            let own = reason.columns.first().is_some_and(is_masked);
            if own { MASKED } else { BESIDE_MASKED }.clone_into(&mut reason.sentence);
            hidden.extend(reason.columns.first());
        }
        // A value that would fit masked ones tells what they are.
        let tells = |column: &usize| is_masked(column) || hidden.contains(column);
        row.counterfactual.take_if(|counterfactual| counterfactual.columns.iter().any(tells));
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
        for (shares, row) in drift.alike.iter_mut().zip(&page.rows) {
            shares
                .take_if(|_| row.reasons.first().is_some_and(|reason| reason.columns.iter().any(is_masked)));
        }
        for column in drift.columns.iter_mut().filter(|drift| is_masked(&drift.column)) {
            MASKED.clone_into(&mut column.sentence);
            (column.levels, column.before, column.now) = (Vec::new(), Vec::new(), Vec::new());
        }
    }
}
