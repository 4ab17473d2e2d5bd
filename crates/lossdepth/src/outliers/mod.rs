//! The oddest rows of a table: how odd, why in words, and what would make them ordinary.
//!
//! [`Outliers::find`] scores every row, gives each a p-value and a percentile, and explains the shallowest ones by the columns
//! that account for it (`docs/math/reasons.md`). Every face shows what is found here: the command line as text, Python and R as
//! data frames, the report as a page.

mod numbers;
mod words;
mod written;

use crate::data::{CellNote, CellNoteKind, Encoded, Encoding, GroupKind, Rows, Table, Values};
use crate::error::{DepthError, Result};
use crate::model::reasons::Combination;
use crate::model::{Explainer, Model, ReasonOptions, Reasons};
use crate::problem::{Fit, Run, Stop};
use crate::stats::conformal::{Conformal, own_p_values};
use words::Words;

/// What is asked about the oddest rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutlierOptions {
    /// How many of the oddest rows to explain; 10 by default.
    pub top: usize,
    /// How many reasons to give for a row at most; 3 by default.
    pub reasons: usize,
    /// The percentile above which a changed row counts as ordinary; 0.1 by default.
    pub target: f64,
}

impl Default for OutlierOptions {
    fn default() -> Self {
        Self { top: 10, reasons: 3, target: 0.1 }
    }
}

/// A table of queries, encoded as its model wants it.
#[derive(Debug, Clone, Copy)]
pub struct Queries<'a> {
    /// The table as it was read.
    pub table: &'a Table,
    /// The encoding of the reference.
    pub encoding: &'a Encoding,
    /// The rows of the table under that encoding.
    pub rows: Rows<'a>,
    /// The row of the table that each of them is.
    pub numbers: &'a [usize],
    /// Cells that are not simply a value, by row of the table.
    pub notes: &'a [CellNote],
    /// The names of the rows, one for each; found in the column that names them if there are none here.
    pub names: Option<&'a [String]>,
    /// The weights of the rows if the table is its own reference and has weights.
    pub weights: Option<&'a [f64]>,
    /// Whether the table is its own reference.
    pub own: bool,
}

impl<'a> Queries<'a> {
    /// An encoded table; `own` if it is its own reference.
    ///
    /// # Errors
    /// The encoded rows have no column.
    pub fn new(table: &'a Table, encoding: &'a Encoding, encoded: &'a Encoded, own: bool) -> Result<Self> {
        let rows = Rows::new(&encoded.values, encoded.width)?;
        let (numbers, notes) = (&encoded.rows[..], &encoded.notes[..]);
        Ok(Self { table, encoding, rows, numbers, notes, names: None, weights: None, own })
    }

    /// The name of an encoded row: from `names`, or from the column that names the rows.
    pub fn name(&self, at: usize) -> Option<String> {
        match self.names {
            Some(names) => names.get(at).cloned(),
            None => self.encoding.id().and_then(|id| cell(self.table, id, self.numbers[at])),
        }
    }
}

/// The rows of a table from the oddest on.
#[derive(Debug, Clone, PartialEq)]
pub struct Outliers {
    /// The depth of every encoded row, in the order of the table.
    pub fits: Vec<Fit>,
    /// The p-value of every encoded row.
    pub p_values: Vec<f64>,
    /// For every encoded row the share of the reference that is at most as deep.
    pub percentiles: Vec<f64>,
    /// The depths of the reference's own rows, where the table is compared with another one; empty otherwise.
    pub reference_depths: Vec<f64>,
    /// How many rows missed the tolerance.
    pub unconverged: usize,
    /// The oddest rows, the shallowest first; among rows of the same depth the first one of the table.
    pub found: Vec<Outlier>,
}

/// One of the oddest rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlier {
    /// The row of the table, from 0.
    pub row: usize,
    /// The text of the column that names the rows, if there is one.
    pub name: Option<String>,
    /// Its depth.
    pub fit: Fit,
    /// The chance that a row from where the reference came from is as shallow.
    pub p: f64,
    /// The share of the reference that is at most as deep.
    pub percentile: f64,
    /// How odd the row is, in bits: about $-\log_2$ of its percentile, continued beyond the shallowest reference row.
    pub outlyingness: f64,
    /// The columns that account for it, the most important first.
    pub reasons: Vec<WordedReason>,
    /// What would make the row ordinary; empty if no change was found that does.
    pub changes: Vec<Change>,
    /// The depth and the percentile of the row after the changes.
    pub changed: Option<(f64, f64)>,
    /// Columns that are odd in combination only.
    pub combinations: Vec<Combination>,
    /// The bits that each compared column accounts for, in the order of [`Encoding::columns`].
    pub contributions: Vec<f64>,
}

/// A reason in words.
#[derive(Debug, Clone, PartialEq)]
pub struct WordedReason {
    /// The column, among [`Encoding::columns`].
    pub column: usize,
    /// Its name.
    pub name: String,
    /// The value of the row as it is written in the table; `gap` where there is none.
    pub value: String,
    /// What is odd about it, as in `highest of all; nine in ten are 5 to 27`.
    pub text: String,
    /// The columns that determine the value, where the text tells which one would fit them; empty otherwise.
    pub beside: Vec<usize>,
    /// The share of the row's outlyingness that the column accounts for, between 0 and 1.
    pub share: f64,
}

/// A change of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The column, among [`Encoding::columns`].
    pub column: usize,
    /// Its name.
    pub name: String,
    /// The value of the row.
    pub from: String,
    /// The value that makes it ordinary, together with the other changes: the one that was scored again.
    pub to: String,
    /// The same in words: a number as `about 470`, since values near to it do too.
    pub about: String,
}

/// How many reference rows are left out in turn, at most, to calibrate p-values of other rows.
const FOLDS: usize = 10;

/// Beyond so many reference rows half of them calibrate the p-values, which takes one fit more instead of ten (heuristic).
const CROSS_ROWS: usize = 20_000;

impl Outliers {
    /// Scores all rows and explains the oddest.
    ///
    /// # Errors
    /// As for [`Model::score`]; a model of kernel values, which has no columns to speak of; or
    /// [`Cancelled`](DepthError::Cancelled).
    pub fn find(
        model: &Model,
        queries: Queries<'_>,
        options: &OutlierOptions,
        run: &Run<'_>,
    ) -> Result<Self> {
        let rows = queries.rows;
        let fits = model.score(rows, run)?;
        let Standing { p_values, percentiles, reference_depths } = standing(model, queries, &fits, run)?;
        let unconverged = fits.iter().filter(|fit| fit.stop != Stop::Converged).count();
        let mut order: Vec<usize> = (0..fits.len()).collect();
        order.sort_by(|&a, &b| fits[a].depth.total_cmp(&fits[b].depth).then(a.cmp(&b)));
        order.truncate(options.top);
        let found = (order.iter().zip(&reasons(model, queries, &order, Some(options.target), run)?))
            .map(|(&at, reasons)| {
                let place = Place { p: p_values[at], percentile: percentiles[at], fit: fits[at], at };
                outlier(queries, place, rows.row(at), reasons, options)
            })
            .collect();
        Ok(Self { fits, p_values, percentiles, reference_depths, unconverged, found })
    }
}

/// Why some encoded rows, by their number, are as odd as they are: at most `most` reasons each.
///
/// # Errors
/// As for [`Outliers::find`].
pub fn reasons_in_words(
    model: &Model,
    queries: Queries<'_>,
    rows: &[usize],
    most: usize,
    run: &Run<'_>,
) -> Result<Vec<Vec<WordedReason>>> {
    let found = reasons(model, queries, rows, None, run)?;
    let worded = |(&at, reasons): (&usize, &Reasons)| {
        Words::new(queries, at, queries.rows.row(at), &reasons.columns).reasons(most, &[])
    };
    Ok(rows.iter().zip(&found).map(worded).collect())
}

/// The reasons of some encoded rows, with a change that makes them ordinary at the target if there is one.
fn reasons(
    model: &Model,
    queries: Queries<'_>,
    rows: &[usize],
    target: Option<f64>,
    run: &Run<'_>,
) -> Result<Vec<Reasons>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let quiet = Run { progress: None, ..*run };
    let chosen: Vec<f64> = rows.iter().flat_map(|&i| queries.rows.row(i)).copied().collect();
    let asked = ReasonOptions { target, ..ReasonOptions::default() };
    let explainer = Explainer::new(model, &quiet)?;
    let mut found = explainer.reasons(Rows::new(&chosen, queries.rows.width())?, &asked, &quiet)?;
    written::score_as_written(queries, rows, &mut found, model, &explainer, &quiet)?;
    Ok(found)
}

/// What there is to say about each of some encoded rows.
fn reasons_rows<'a>(
    queries: Queries<'a>,
    rows: &'a [usize],
    found: &'a [Reasons],
) -> impl Iterator<Item = Words<'a>> {
    let words = move |(&at, reasons): (&usize, &'a Reasons)| {
        Words::new(queries, at, queries.rows.row(at), &reasons.columns)
    };
    rows.iter().zip(found).map(words)
}

/// The p-value and the percentile of every row, and the depths that the percentiles are among.
#[derive(Default)]
struct Standing {
    p_values: Vec<f64>,
    percentiles: Vec<f64>,
    reference_depths: Vec<f64>,
}

fn standing(model: &Model, queries: Queries<'_>, fits: &[Fit], run: &Run<'_>) -> Result<Standing> {
    let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
    if depths.is_empty() {
        return Ok(Standing::default());
    }
    if queries.own {
        let p_values = own_p_values(&depths, queries.weights)?;
        return Ok(Standing { percentiles: p_values.clone(), p_values, reference_depths: Vec::new() });
    }
    let sample = model.reference();
    let quiet = Run { progress: None, depths_only: true, ..*run };
    let shares = model.percentiles(&quiet)?;
    let percentiles = depths.iter().map(|depth| shares.of(*depth)).collect();
    let reference_depths = model.score(sample.rows(), &quiet)?.iter().map(|fit| fit.depth).collect();
    let how = if sample.len() > CROSS_ROWS {
        Conformal::Split { share: 0.5, seed: 0 }
    } else {
        Conformal::Cross { folds: FOLDS.min(sample.len()), seed: 0 }
    };
    let p_values = match how.calibrate(model.settings(), sample, &quiet) {
        Ok(calibration) => calibration.p_values(queries.rows, &depths, &quiet)?,
        // Two reference rows cannot be divided; the only p-value that is certain is 1.
        Err(DepthError::TooFewRows { .. }) => vec![1.0; depths.len()],
        Err(other) => return Err(other),
    };
    Ok(Standing { p_values, percentiles, reference_depths })
}

/// Where a row stands.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    fit: Fit,
    p: f64,
    percentile: f64,
}

fn outlier(
    queries: Queries<'_>,
    place: Place,
    encoded: &[f64],
    reasons: &Reasons,
    options: &OutlierOptions,
) -> Outlier {
    let encoding = queries.encoding;
    let words = Words::new(queries, place.at, encoded, &reasons.columns);
    let name = queries.name(place.at);
    let mut contributions = vec![0.0; encoding.columns().len()];
    for reason in &reasons.columns {
        contributions[reason.column] = reason.contribution;
    }
    let met = reasons.counterfactual.as_ref().filter(|change| change.met && !change.columns.is_empty());
    let changed = met.map_or(&[][..], |change| &change.columns);
    let changes = met.map_or_else(Vec::new, |change| {
        let one = |&column: &usize| Change {
            column,
            name: encoding.columns()[column].name().to_owned(),
            from: words.value(column),
            to: words.encoded_value(column, &change.row),
            about: words.changed_value(column, &change.row),
        };
        change.columns.iter().map(one).collect()
    });
    Outlier {
        row: queries.numbers[place.at],
        name,
        fit: place.fit,
        p: place.p,
        percentile: place.percentile,
        outlyingness: reasons.outlyingness,
        reasons: words.reasons(options.reasons, changed),
        changes,
        changed: met.map(|change| (change.depth, change.percentile)),
        combinations: reasons.combinations.clone(),
        contributions,
    }
}

/// The notes about a row of the table.
fn notes_of(notes: &[CellNote], row: usize) -> &[CellNote] {
    let start = notes.partition_point(|note| note.row < row);
    let end = notes.partition_point(|note| note.row <= row);
    &notes[start..end]
}

/// A cell as it is written in the table; `None` for a gap or a column that is not there.
fn cell(table: &Table, column: &str, row: usize) -> Option<String> {
    match &table.column(column)?.values {
        Values::Numbers(numbers) | Values::Times(numbers) => {
            numbers.get(row).filter(|value| !value.is_nan()).map(f64::to_string)
        }
        Values::Texts(texts) => texts.get(row).map(str::to_owned),
        Values::Booleans(values) => values.get(row).copied().flatten().map(|value| value.to_string()),
    }
}

/// The first coordinate of a compared column, and how many it has without those of its gaps.
fn coordinates(encoding: &Encoding, column: usize) -> std::ops::Range<usize> {
    let groups = encoding.layout().groups();
    let group = groups.iter().find(|group| group.column == column && group.kind != GroupKind::Gap);
    group.map_or(0..0, crate::data::Group::range)
}

/// Whether the note is about a gap, or a cell that is taken for one.
fn is_gap(what: &CellNoteKind) -> bool {
    matches!(what, CellNoteKind::Gap | CellNoteKind::Unread(_))
}
