//! A page from a fitted model, a table and what was found in it: what all faces share.

mod audit;
mod drift;
mod findings;
mod map;
mod method;
mod neighbours;
mod rows;
mod sample;

use super::{Column, Distribution, Fact, Finding, Histogram, LeftOut, PValues, Page, Source, Thresholds};
use lossdepth::data::{CellNote, ColumnKind, EncodedColumn, LeftOutReason};
use lossdepth::outliers::{Outliers, Queries};
use lossdepth::{Model, Result, Rows};
use sample::{Sample, is_category};

/// From more decimals on, what is usual is said with four digits.
const MANY_DECIMALS: usize = 4;

/// All that a page is made of. [`page`](Self::page) puts it together.
///
/// ```
/// use lossdepth::data::{Column, Encoding, EncodingOptions, Table, Values};
/// use lossdepth::outliers::{OutlierOptions, Outliers, Queries};
/// use lossdepth::{Method, Reference, Run, Settings};
/// use lossdepth_plot::report::Assembly;
/// let numbers = |name: &str, f: fn(u32) -> u32| Column {
///     name: name.into(),
///     values: Values::Numbers((0..60).map(|i| f64::from(f(i))).chain([900.0]).collect()),
/// };
/// let table = Table::new(vec![numbers("quantity", |i| i % 7), numbers("price", |i| i * i % 11)])?;
/// let (encoding, encoded) = Encoding::learn(&table, None, &EncodingOptions::default())?;
/// let sample = Reference::from_vec(encoded.values.clone(), encoded.width, None)?;
/// let model = Settings::new(Method::Auto).fit(&sample.with_layout(encoding.layout().clone())?)?;
/// let queries = Queries::new(&table, &encoding, &encoded, true)?;
/// let found = Outliers::find(&model, queries, &OutlierOptions::default(), &Run::default())?;
/// let assembly = Assembly {
///     model: &model,
///     queries,
///     found: &found,
///     name: "orders.csv",
///     columns: 2,
///     reference: None,
///     title: None,
///     masked: &[],
///     id: None,
///     notes: &[],
///     audit: &[],
/// };
/// let html = assembly.page()?.to_html();
/// assert!(html.contains("Odd rows in orders.csv") && html.contains("row 60"));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Assembly<'a> {
    /// What the rows were scored with.
    pub model: &'a Model,
    /// The rows.
    pub queries: Queries<'a>,
    /// What was found in them.
    pub found: &'a Outliers,
    /// What readers know the table by, such as the name of its file.
    pub name: &'a str,
    /// How many columns the table has, compared or not.
    pub columns: usize,
    /// What the rows were compared with; none for a table that is its own reference.
    pub reference: Option<ComparedWith<'a>>,
    /// The heading of the page; `Odd rows in` with the name of the table if there is none.
    pub title: Option<&'a str>,
    /// Columns whose values are not written.
    pub masked: &'a [String],
    /// The column that names the rows, where that is not the one of the encoding.
    pub id: Option<&'a str>,
    /// What is to be known of how the table was read, a sentence each.
    pub notes: &'a [String],
    /// What else is needed to repeat it, such as the checksums of files.
    pub audit: &'a [Fact],
}

/// What rows were compared with.
#[derive(Debug, Clone, Copy)]
pub struct ComparedWith<'a> {
    /// What readers know it by.
    pub name: &'a str,
    /// How many columns it had, compared or not.
    pub columns: usize,
    /// The table, as far as it was kept.
    pub table: Option<ReferenceTable<'a>>,
}

/// The reference as it was read. A model keeps its rows only, gaps filled in.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceTable<'a> {
    /// The row of the table that each row of the reference is.
    pub numbers: &'a [usize],
    /// Cells that are not simply a value, by row of the table.
    pub notes: &'a [CellNote],
}

impl Assembly<'_> {
    /// The page.
    ///
    /// # Errors
    /// There are no rows, or a p-value is not one.
    pub fn page(&self) -> Result<Page> {
        let (found, queries) = (self.found, self.queries);
        let data = self.data();
        let reference = self.compared_rows();
        // Rows of the table are in ascending order, some may be missing.
        let places: Vec<usize> =
            found.found.iter().filter_map(|row| queries.numbers.binary_search(&row.row).ok()).collect();
        let depths: Vec<f64> = found.fits.iter().map(|fit| fit.depth).collect();
        let kind = if queries.own { PValues::Ranks } else { PValues::Calibrated };
        Ok(Page {
            title: self.heading(),
            data: source(self.name, self.columns, data),
            reference: self.reference.map(|other| source(other.name, other.columns, reference)),
            columns: self.page_columns(data, reference),
            left_out: self.left_out(),
            findings: {
                let noted = |note: &String| Finding { columns: Vec::new(), sentence: note.clone() };
                let found = findings::findings(data, queries.own);
                self.notes.iter().map(noted).chain(found).collect()
            },
            depths: Histogram::new(&depths),
            thresholds: Thresholds::new(&found.p_values, &depths, kind)?,
            rows: rows::rows(self, data, &places),
            map: map::map(self, data, &places),
            drift: (!queries.own).then(|| drift::drift(self, data, reference, &places)),
            method: method::method(self),
        })
    }

    fn data(&self) -> Sample<'_> {
        let Queries { table, encoding, rows, numbers, notes, .. } = self.queries;
        Sample { encoding, rows, numbers, notes, table: Some(table) }
    }

    /// The rows that the data are compared with.
    fn compared_rows(&self) -> Sample<'_> {
        if self.queries.own {
            return self.data();
        }
        let table = self.reference.and_then(|other| other.table);
        let (numbers, notes): (&[usize], &[CellNote]) =
            table.map_or((&[], &[]), |table| (table.numbers, table.notes));
        let rows: Rows<'_> = self.model.reference().rows();
        Sample { encoding: self.queries.encoding, rows, numbers, notes, table: None }
    }

    fn heading(&self) -> String {
        match (self.title, self.reference) {
            (Some(title), _) => title.to_owned(),
            (None, Some(other)) => format!("Odd rows in {} against {}", self.name, other.name),
            (None, None) => format!("Odd rows in {}", self.name),
        }
    }

    /// What a compared column is called: `column 3` in a table without names, where it is a number.
    fn column_name(&self, at: usize) -> String {
        let columns = self.queries.encoding.columns();
        let is_number = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let unnamed = columns.iter().all(|column| is_number(column.name()));
        let name = columns[at].name();
        if unnamed { format!("column {name}") } else { name.to_owned() }
    }

    fn is_masked(&self, column: &str) -> bool {
        self.masked.iter().any(|masked| masked == column)
    }

    /// What an encoded row is called. The names are values of a column, which may be masked.
    fn row_name(&self, at: usize) -> String {
        let id = self.id.or(self.queries.encoding.id());
        let name = if id.is_some_and(|id| self.is_masked(id)) { None } else { self.queries.name(at) };
        name.filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| format!("row {}", self.queries.numbers[at]))
    }

    fn page_columns(&self, data: Sample<'_>, reference: Sample<'_>) -> Vec<Column> {
        let one = |(at, column): (usize, &EncodedColumn)| {
            let distribution = match column.kind() {
                _ if is_category(column) => levels(column),
                ColumnKind::Time => Distribution::dates(&reference.numbers(at)),
                _ => Distribution::numbers(&reference.numbers(at)),
            };
            let usual = match column.quantiles() {
                // Measurements with many digits: four of them say what is usual.
                Some(_) if column.decimals() > MANY_DECIMALS => distribution.usual(),
                Some(q) if q.low == q.high => column.format_value(q.low),
                Some(q) => format!("{} to {}", column.format_value(q.low), column.format_value(q.high)),
                None => distribution.usual(),
            };
            let (name, kind) = (self.column_name(at), column.kind().to_string());
            let masked = self.is_masked(column.name()) || self.is_masked(column.source());
            Column { name, kind, gaps: data.gap_count(at), usual, distribution, masked }
        };
        self.queries.encoding.columns().iter().enumerate().map(one).collect()
    }

    fn left_out(&self) -> Vec<LeftOut> {
        let encoding = self.queries.encoding;
        let why = |name: &str, why: LeftOutReason| match why {
            LeftOutReason::Id if encoding.id() == Some(name) => "names the rows".to_owned(),
            LeftOutReason::Id => "all different".to_owned(),
            LeftOutReason::Empty => "has no values".to_owned(),
            other => other.to_string(),
        };
        let left = encoding.left_out().iter();
        left.map(|left| LeftOut { name: left.name.clone(), why: why(&left.name, left.why) }).collect()
    }
}

fn source(name: &str, columns: usize, sample: Sample<'_>) -> Source {
    let gaps = (0..sample.encoding.columns().len()).map(|column| sample.gap_count(column)).sum();
    let (rows, repeated) = (sample.rows.len() as u64, sample.rows.repeated() as u64);
    Source { name: name.to_owned(), rows, columns: columns as u64, gaps, repeated }
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
