//! What was found, as a page.

use super::findings::findings;
use super::masks::Masks;
use super::method::method;
use super::rows::{Names, map, rows};
use super::sample::{Sample, is_category};
use super::{ReportArgs, file_name};
use crate::commands::inputs::{Inputs, Read};
use crate::error::Result;
use crate::load::repeated;
use lossdepth::data::{ColumnKind, EncodedColumn, LeftOutReason};
use lossdepth::outliers::Outliers;
use lossdepth::{Model, Run};
use lossdepth_plot::report::{
    Column, ColumnDrift, Distribution, Drift, Histogram, LeftOut, PValues, Page, Source, Thresholds,
};

/// All that a page is made of.
#[derive(Clone, Copy)]
pub(super) struct Filling<'a> {
    pub(super) args: &'a ReportArgs,
    pub(super) inputs: &'a Inputs,
    pub(super) model: &'a Model,
    pub(super) found: &'a Outliers,
    pub(super) masks: &'a Masks,
    pub(super) run: &'a Run<'a>,
}

impl Filling<'_> {
    pub(super) fn page(&self) -> Result<Page> {
        let (inputs, found) = (self.inputs, self.found);
        let own = inputs.is_its_own_reference();
        let (data, part) = (self.sample(&inputs.data)?, inputs.data.part()?);
        let reference = match inputs.other() {
            Some(other) => self.sample(other)?,
            None if own => data,
            None => {
                let rows = inputs.reference.rows();
                Sample { encoding: &inputs.encoding, rows, numbers: &[], notes: &[], table: None }
            }
        };
        let places: Vec<usize> =
            found.found.iter().filter_map(|row| part.numbers.binary_search(&row.row).ok()).collect();
        let names = Names { ids: part.ids.filter(|_| !self.hides_names()), numbers: part.numbers };
        let depths: Vec<f64> = found.fits.iter().map(|fit| fit.depth).collect();
        let kind = if own { PValues::Ranks } else { PValues::Calibrated };
        let source = Self::source(&inputs.data, file_name(&self.args.data), data);
        Ok(Page {
            title: self.title(),
            findings: findings(inputs.encoding.columns(), &inputs.data.block.notes, part.rows.len(), own),
            reference: self.reference(reference),
            data: source,
            columns: self.columns(data, reference),
            left_out: self.left_out(),
            depths: Histogram::new(&depths),
            thresholds: Thresholds::new(&found.p_values, &depths, kind).map_err(|e| inputs.locate(e))?,
            rows: rows(self, data, &places, &names),
            map: map(self, data, &places, &names),
            drift: self.drift(data, reference)?,
            method: method(self),
        })
    }

    fn sample<'b>(&'b self, read: &'b Read) -> Result<Sample<'b>> {
        let (part, block) = (read.part()?, &read.block);
        let (rows, numbers, notes, table) = (part.rows, part.numbers, &block.notes[..], block.typed());
        Ok(Sample { encoding: &self.inputs.encoding, rows, numbers, notes, table })
    }

    fn title(&self) -> String {
        let against = &self.args.against;
        let data = file_name(&self.args.data);
        match (&self.args.title, against.reference.as_ref().or(against.model.as_ref())) {
            (Some(title), _) => title.clone(),
            (None, Some(other)) => format!("Odd rows in {data} against {}", file_name(other)),
            (None, None) => format!("Odd rows in {data}"),
        }
    }

    /// Whether the column that names the rows is masked.
    fn hides_names(&self) -> bool {
        let id = self.args.roles.id.as_deref().or(self.inputs.encoding.id());
        id.is_some_and(|id| self.masks.has(id))
    }

    fn source(read: &Read, name: String, sample: Sample<'_>) -> Source {
        let gaps = (0..sample.encoding.columns().len()).map(|column| sample.gap_count(column)).sum();
        let (rows, columns) = (sample.rows.len() as u64, read.names().len() as u64);
        Source { name, rows, columns, gaps, repeated: repeated(sample.rows) as u64 }
    }

    fn reference(&self, sample: Sample<'_>) -> Option<Source> {
        let against = &self.args.against;
        let name = against.reference.as_ref().or(against.model.as_ref()).map(|path| file_name(path))?;
        if let Some(other) = self.inputs.other() {
            return Some(Self::source(other, name, sample));
        }
        let columns = sample.encoding.columns();
        let gaps = rounded(columns.iter().map(EncodedColumn::gaps).sum());
        let rows = sample.rows.len() as u64;
        Some(Source {
            name,
            rows,
            columns: columns.len() as u64,
            gaps,
            repeated: repeated(sample.rows) as u64,
        })
    }

    fn columns(&self, data: Sample<'_>, reference: Sample<'_>) -> Vec<Column> {
        let one = |(at, column): (usize, &EncodedColumn)| {
            let distribution = match column.kind() {
                _ if is_category(column) => levels(column),
                ColumnKind::Time => Distribution::dates(&reference.numbers(at)),
                _ => Distribution::numbers(&reference.numbers(at)),
            };
            let usual = match column.quantiles() {
                Some(q) if q.low == q.high => column.format_value(q.low),
                Some(q) => format!("{} to {}", column.format_value(q.low), column.format_value(q.high)),
                None => distribution.usual(),
            };
            let (name, kind) = (column.name().to_owned(), column.kind().to_string());
            let masked = self.masks.has(&name);
            Column { name, kind, gaps: data.gap_count(at), usual, distribution, masked }
        };
        self.inputs.encoding.columns().iter().enumerate().map(one).collect()
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let encoding = &self.inputs.encoding;
        let why = |name: &str, why: LeftOutReason| match why {
            LeftOutReason::Id if encoding.id() == Some(name) => "names the rows".to_owned(),
            LeftOutReason::Id => "all different".to_owned(),
            LeftOutReason::Empty => "has no values".to_owned(),
            LeftOutReason::Text => "free text".to_owned(),
        };
        let left = encoding.left_out().iter();
        left.map(|left| LeftOut { name: left.name.clone(), why: why(&left.name, left.why) }).collect()
    }

    /// How the data differ from another table.
    fn drift(&self, data: Sample<'_>, reference: Sample<'_>) -> Result<Option<Drift>> {
        if self.inputs.other().is_none() {
            return Ok(None);
        }
        let one = |(at, column): (usize, &EncodedColumn)| {
            if is_category(column) {
                return ColumnDrift::levels(at, &reference.levels(at), &data.levels(at));
            }
            let dates = column.kind() == ColumnKind::Time;
            ColumnDrift::numbers(at, &reference.numbers(at), &data.numbers(at), dates)
        };
        let columns = self.inputs.encoding.columns().iter().enumerate().map(one).collect();
        let fits = self.model.score(self.inputs.reference.rows(), self.run);
        let fits = fits.map_err(|error| self.inputs.locate_reference(error))?;
        Ok(Some(Drift { columns, reference_depths: fits.iter().map(|fit| fit.depth).collect() }))
    }
}

/// The levels of a category in the reference.
fn levels(column: &EncodedColumn) -> Distribution {
    let named = column.levels().iter().map(|level| (level.name.clone(), rounded(level.count)));
    let mut distribution = Distribution::levels(named);
    if let Distribution::Levels { others, rows, .. } = &mut distribution {
        let (more, in_rows) = column.other_levels();
        *others += more as u64;
        *rows += rounded(in_rows);
    }
    distribution
}

/// A count with weights as a whole number.
fn rounded(count: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let whole = count.round() as u64;
    whole
}
