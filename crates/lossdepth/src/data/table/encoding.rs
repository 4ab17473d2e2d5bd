//! The encoding of tables as rows of numbers: learned on the reference, applied to queries by the names of columns.

use super::column::{Content, EncodedColumn};
use super::donors::Donors;
use super::encoded::Encoded;
use super::gap::is_gap;
use super::guess::{Plan, plans};
use super::kind::ColumnKind;
use super::learn::{learn_column, not_finite, observations};
use super::left_out::{LeftOut, LeftOutReason};
use super::options::{EncodingOptions, Missing};
use super::write::{Writer, refill};
use super::{Column, Table, Values};
use crate::data::{GroupKind, Layout};
use crate::error::{DepthError, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// How many problems of a table are said.
const PROBLEMS: usize = 20;

/// How the columns of a table become rows of numbers.
///
/// ```
/// use lossdepth::data::{Column, Encoding, EncodingOptions, Table, Texts, Values};
/// let texts = |all: &[&str]| {
///     let mut texts = Texts::default();
///     all.iter().for_each(|text| texts.push(Some(text)));
///     Values::Texts(texts)
/// };
/// let table = |price: Vec<f64>, region: &[&str]| {
///     let price = Column { name: "price".into(), values: Values::Numbers(price) };
///     Table::new(vec![price, Column { name: "region".into(), values: texts(region) }])
/// };
/// let reference = table(vec![2.5, 3.0, 2.0, 4.0], &["north", "south", "north", "south"])?;
/// let (encoding, encoded) = Encoding::learn(&reference, None, &EncodingOptions::default())?;
/// // A price, and a coordinate each for north, south and other regions.
/// assert_eq!((encoded.width, encoding.columns().len()), (4, 2));
/// let query = encoding.encode(&table(vec![9.0], &["east"])?)?;
/// assert_eq!(query.notes.len(), 1);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Encoding {
    columns: Vec<EncodedColumn>,
    layout: Layout,
    left_out: Vec<LeftOut>,
    id: Option<String>,
    missing: Missing,
    gap_words: Vec<String>,
    donors: Donors,
}

/// An encoding as it is stored: without what follows from the rest, and not yet checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    columns: Vec<EncodedColumn>,
    left_out: Vec<LeftOut>,
    id: Option<String>,
    missing: Missing,
    gap_words: Vec<String>,
    donors: Donors,
}

impl From<Encoding> for Stored {
    fn from(encoding: Encoding) -> Self {
        let Encoding { columns, left_out, id, missing, gap_words, donors, .. } = encoding;
        Self { columns, left_out, id, missing, gap_words, donors }
    }
}

impl TryFrom<Stored> for Encoding {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { columns, left_out, id, missing, gap_words, donors } = stored;
        if columns.is_empty() {
            return Err("no column is compared".to_owned());
        }
        let mut names = HashSet::new();
        if !columns.iter().all(|column| names.insert(column.name.as_str())) {
            return Err("two columns have the same name".to_owned());
        }
        columns.iter().try_for_each(EncodedColumn::check)?;
        donors.check(&columns)?;
        Ok(Self { layout: layout(&columns), columns, left_out, id, missing, gap_words, donors })
    }
}

impl Encoding {
    /// Learns how to encode a table, and encodes it.
    ///
    /// Kinds are guessed, but for those that are said; how is in docs/math/tables.md.
    ///
    /// # Errors
    /// A kind said of a column that is not there or cannot be that kind, a number that is not finite, no column to
    /// compare, gaps under [`Missing::Error`]: all problems in one message. Weights that are not one for each row,
    /// negative or not finite; no row.
    pub fn learn(
        table: &Table,
        weights: Option<&[f64]>,
        options: &EncodingOptions,
    ) -> Result<(Self, Encoded)> {
        let mut weights = observations(table.rows(), weights)?;
        let mut problems = Vec::new();
        for name in options.kinds.keys() {
            if table.column(name).is_none() {
                problems.push(format!("there is no column {} to be of a kind", quoted(name)));
            }
        }
        if let Some(mark) = options.decimal.filter(|mark| !matches!(mark, '.' | ',')) {
            problems.push(format!("the decimal mark must be `.` or `,`, got `{mark}`"));
        }
        let plans = plans(table, &weights, options);
        let mut encoding = Self::learned(table, &plans, &weights, options, &mut problems)?;
        let mut writer = encoding.writer(table)?;
        if options.missing == Missing::Drop {
            let kept = writer.complete_rows();
            if kept.len() < table.rows() {
                let mut complete = vec![0.0; weights.len()];
                for &row in &kept {
                    complete[row] = weights[row];
                }
                if complete.iter().all(|weight| *weight == 0.0) {
                    return Err(DepthError::Table(
                        "every row has a gap: none is left to compare with".to_owned(),
                    ));
                }
                weights = complete;
                encoding = Self::learned(table, &plans, &weights, options, &mut problems)?;
                writer = encoding.writer(table)?;
            }
        }
        if options.missing == Missing::Compare {
            let donors = Donors::choose(&encoding.columns, writer.cells(), &weights);
            drop(writer);
            encoding.donors = donors;
        }
        let encoded = encoding.encode(table)?;
        Ok((encoding, encoded))
    }

    /// The encoding of a table whose columns are to be read so, without donors.
    fn learned(
        table: &Table,
        plans: &[Plan],
        weights: &[f64],
        options: &EncodingOptions,
        problems: &mut Vec<String>,
    ) -> Result<Self> {
        let compared = |plan: &Plan| !matches!(plan.kind, ColumnKind::Id | ColumnKind::Text);
        let found: Vec<Result<Vec<EncodedColumn>, String>> = table
            .columns()
            .par_iter()
            .zip(plans)
            .map(|(column, plan)| {
                if !plan.parts.is_empty() {
                    let learn = |part| learn_column(column, part, weights, &options.gap_words);
                    let parts: Vec<_> = plan.parts.iter().map(learn).collect::<Result<_, _>>()?;
                    return Ok(parts.into_iter().flatten().collect());
                }
                if !compared(plan) {
                    return Ok(Vec::new());
                }
                Ok(learn_column(column, plan, weights, &options.gap_words)?.into_iter().collect())
            })
            .collect();
        let (mut columns, mut left_out) = (Vec::new(), Vec::new());
        for ((found, plan), column) in found.into_iter().zip(plans).zip(table.columns()) {
            match found {
                Ok(learned) if !learned.is_empty() => columns.extend(learned),
                Ok(_) => {
                    let why = match plan.kind {
                        ColumnKind::Id => LeftOutReason::Id,
                        ColumnKind::Text => plan.why.unwrap_or(LeftOutReason::Text),
                        _ => LeftOutReason::Empty,
                    };
                    left_out.push(LeftOut { name: column.name.clone(), why });
                }
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() && columns.is_empty() {
            problems.push("there is no column to compare: all are ids, texts or empty".to_owned());
        }
        refuse(problems)?;
        let named = |said: bool| {
            let is_id = |(_, plan): &(&Column, &Plan)| plan.kind == ColumnKind::Id && plan.said == said;
            table.columns().iter().zip(plans).find(is_id).map(|(column, _)| column.name.clone())
        };
        Ok(Self {
            layout: layout(&columns),
            columns,
            left_out,
            id: named(true).or_else(|| named(false)),
            missing: options.missing,
            gap_words: options.gap_words.clone(),
            donors: Donors::default(),
        })
    }

    /// Encodes a table. Its columns are found by their names, in any order; others are ignored.
    ///
    /// A row is encoded the same whatever the other rows are.
    ///
    /// # Errors
    /// A column that is missing or holds something else than it did, a number that is not finite, gaps under
    /// [`Missing::Error`]: all problems in one message. Rows that take more memory than can be had.
    pub fn encode(&self, table: &Table) -> Result<Encoded> {
        let writer = self.writer(table)?;
        let rows = match self.missing {
            Missing::Error => {
                let problem = |(learned, count, first): (&EncodedColumn, usize, usize)| {
                    let name = quoted(&learned.name);
                    match count {
                        1 => format!("column {name} has a gap in row {first}"),
                        _ => format!("column {name} has {count} gaps, the first in row {first}"),
                    }
                };
                refuse(&writer.gaps().map(problem).collect::<Vec<_>>())?;
                (0..table.rows()).collect()
            }
            Missing::Drop => writer.complete_rows(),
            Missing::Compare | Missing::Median => (0..table.rows()).collect(),
        };
        let search = (self.missing == Missing::Compare).then(|| self.donors.search(&self.columns));
        writer.write(rows, search.as_ref())
    }

    /// An encoded row with the gaps of these [`columns`](Self::columns) filled in anew, as [`encode`](Self::encode) would after
    /// a change of its other values.
    #[must_use]
    pub fn refilled(&self, mut encoded: Vec<f64>, gaps: &[usize]) -> Vec<f64> {
        if encoded.len() == self.layout.width() && !gaps.is_empty() {
            let search = (self.missing == Missing::Compare).then(|| self.donors.search(&self.columns));
            refill(&self.columns, &self.layout, search, gaps, &mut encoded);
        }
        encoded
    }

    /// Finds the columns of a table.
    fn writer<'a>(&'a self, table: &'a Table) -> Result<Writer<'a>> {
        let by_name: HashMap<&str, &Column> =
            table.columns().iter().map(|column| (column.name.as_str(), column)).collect();
        let (mut problems, mut sources, mut cells) = (Vec::new(), Vec::new(), Vec::new());
        for learned in &self.columns {
            let (name, had) = (quoted(&learned.name), learned.kind.plural());
            let found = by_name.get(learned.name.as_str()).or_else(|| by_name.get(learned.source()));
            let Some(&column) = found else {
                let name = quoted(learned.source());
                problems.push(format!("column {name} is missing; the reference has {had} there"));
                continue;
            };
            problems.extend(not_finite(column));
            match learned.cells(column, &self.gap_words) {
                Ok(read) => {
                    sources.push(column);
                    cells.push(read);
                }
                Err(held) => {
                    problems.push(format!("column {name} holds {held}; the reference has {had} there"));
                }
            }
        }
        refuse(&problems)?;
        Ok(Writer::new(table, &self.columns, &self.layout, sources, cells))
    }

    /// What a cell of a table has in one of the [`columns`](Self::columns), as it would be written there; `None` for a
    /// gap or without the column.
    pub fn written(&self, table: &Table, column: usize, row: usize) -> Option<String> {
        let learned = self.columns.get(column)?;
        let source = learned.find(table).filter(|_| row < table.rows())?;
        match &source.values {
            Values::Texts(_) => learned.text_in(table, row).filter(|text| !is_gap(text, &self.gap_words)),
            Values::Booleans(values) => {
                let name = |value: bool| match &learned.content {
                    Content::Levels { truth: Some(names), .. } => names[usize::from(value)].clone(),
                    _ => value.to_string(),
                };
                values[row].map(name)
            }
            Values::Numbers(values) | Values::Times(values) if values[row].is_nan() => None,
            Values::Times(values) => Some(learned.format_value(values[row] / 86_400.0)),
            Values::Numbers(values) => match learned.content {
                Content::Levels { .. } | Content::Time { .. } => Some(values[row].to_string()),
                Content::Number { .. } => Some(learned.format_value(values[row])),
            },
        }
    }

    /// Which encoded columns belong together, and to which of the [`columns`](Self::columns).
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The columns that are compared.
    pub fn columns(&self) -> &[EncodedColumn] {
        &self.columns
    }

    /// The columns that are not.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The column that names the rows, if there is one.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// What is done with gaps.
    pub fn missing(&self) -> Missing {
        self.missing
    }

    /// Whether there are complete columns of numbers only and none was left out: encoding them changes nothing.
    pub fn is_plain(&self) -> bool {
        let plain = |column: &EncodedColumn| {
            let written = match &column.content {
                Content::Number { form, .. } => {
                    form.decimal.is_none() && form.unit.is_none() && !form.duration
                }
                _ => false,
            };
            written && column.gaps == 0.0
        };
        self.left_out.is_empty() && self.columns.iter().all(plain)
    }
}

/// The groups of encoded columns.
fn layout(columns: &[EncodedColumn]) -> Layout {
    Layout::new(columns.iter().enumerate().flat_map(|(at, column)| {
        let value = match column.category() {
            Some(levels) => (at, GroupKind::Category, levels.width()),
            None => (at, GroupKind::Number, 1),
        };
        let gap = column.has_gap_group().then_some((at, GroupKind::Gap, 2));
        [value].into_iter().chain(gap)
    }))
}

/// An error that says all problems; none without problems.
fn refuse(problems: &[String]) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let said = problems[..problems.len().min(PROBLEMS)].join("\n");
    Err(DepthError::Table(match problems.len().saturating_sub(PROBLEMS) {
        0 => said,
        more => format!("{said}\nand {more} more problems"),
    }))
}

/// A name in an error message: short, and on one line.
pub(super) fn quoted(name: &str) -> String {
    let mut chars = name.chars();
    let start: String = chars.by_ref().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.next().is_some() { format!("`{start}…`") } else { format!("`{start}`") }
}

#[cfg(test)]
impl Encoding {
    pub(super) fn donors(&self) -> &Donors {
        &self.donors
    }
}
