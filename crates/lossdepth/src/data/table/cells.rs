//! The cells of a column, read as what the column is known to hold.

use super::boolean;
use super::column::{Content, EncodedColumn};
use super::date::DateForm;
use super::gap::{is_gap, is_gap_word};
use super::kind::ColumnKind;
use super::number::NumberForm;
use super::part::Part;
use super::{Column, Texts, Values};
use std::borrow::Cow;
use std::collections::HashMap;

/// How many seconds a day has.
const DAY: f64 = 86_400.0;

/// So many cells that all cannot be read, and no other, are a column of another kind rather than odd cells.
const OTHER_KIND: usize = 8;

/// How many cells of a column need not be of its kind.
pub(super) const ODD: Odd = Odd { share: 20, rows_for_one: 8 };

/// One cell in `share`, or a single one of at least `rows_for_one`: a heuristic.
pub(super) struct Odd {
    share: usize,
    rows_for_one: usize,
}

impl Odd {
    /// Whether so many of all cells may be odd.
    pub(super) fn allows(&self, odd: usize, cells: usize) -> bool {
        odd * self.share <= cells || (odd == 1 && cells >= self.rows_for_one)
    }
}

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    /// A number, or days since 1970.
    Number(f64),
    /// A level, by its coordinate.
    Level(usize),
    /// Nothing.
    Gap,
    /// Something that cannot be read as the column's kind.
    Unread,
}

impl Cell {
    /// Whether there is no value.
    pub(super) fn is_gap(self) -> bool {
        matches!(self, Self::Gap | Self::Unread)
    }
}

/// The cells of a column.
pub(super) enum Cells<'a> {
    /// Numbers, each divided by the same; NaN is a gap.
    Numbers { values: Cow<'a, [f64]>, divisor: f64 },
    /// Texts, each different one read once.
    Texts { codes: Cow<'a, [u32]>, read: Vec<Cell> },
}

impl Cells<'_> {
    #[inline]
    pub(super) fn get(&self, row: usize) -> Cell {
        match self {
            Self::Numbers { values, divisor } => {
                let value = values[row];
                if value.is_nan() { Cell::Gap } else { Cell::Number(value / divisor) }
            }
            Self::Texts { codes, read } => read.get(codes[row] as usize).copied().unwrap_or(Cell::Gap),
        }
    }
}

/// The numbers of a column; `None` if it holds times.
pub(super) fn numbers<'a>(
    column: &'a Column,
    form: &NumberForm,
    part: Option<&Part>,
    gap_words: &[String],
) -> Option<Cells<'a>> {
    let read = |text: &str| match part {
        Some(part) => form.parse(&part.of(text)?),
        None => form.parse(text),
    };
    match &column.values {
        // A number is not several of them.
        Values::Numbers(_) | Values::Booleans(_) if matches!(part, Some(Part::Piece { .. })) => None,
        Values::Numbers(values) if !form.gaps.is_empty() => {
            let number = |value: &f64| if form.is_gap(*value) { f64::NAN } else { *value };
            Some(Cells::Numbers { values: values.iter().map(number).collect(), divisor: 1.0 })
        }
        Values::Numbers(values) => Some(Cells::Numbers { values: Cow::Borrowed(values), divisor: 1.0 }),
        Values::Booleans(values) => {
            let number = |value: &Option<bool>| value.map_or(f64::NAN, f64::from);
            Some(Cells::Numbers { values: values.iter().map(number).collect(), divisor: 1.0 })
        }
        Values::Times(_) => None,
        Values::Texts(texts) => {
            let mut cells = texts_as(texts, gap_words, read);
            if let Cells::Texts { read, .. } = &mut cells {
                for cell in read.iter_mut().filter(|cell| matches!(cell, Cell::Number(n) if form.is_gap(*n)))
                {
                    *cell = Cell::Gap;
                }
            }
            Some(cells)
        }
    }
}

/// The times of a column in days; `None` if it holds truth values, or numbers that are no dates.
pub(super) fn times<'a>(column: &'a Column, form: DateForm, gap_words: &[String]) -> Option<Cells<'a>> {
    match &column.values {
        Values::Times(values) => Some(Cells::Numbers { values: Cow::Borrowed(values), divisor: DAY }),
        Values::Texts(texts) => {
            Some(texts_as(texts, gap_words, |text| form.parse(text).map(|seconds| seconds / DAY)))
        }
        Values::Numbers(values) if form.compact => Some(compact_dates(values)),
        Values::Numbers(values) if form.epoch > 0 => {
            Some(Cells::Numbers { values: Cow::Borrowed(values), divisor: DAY * f64::from(form.epoch) })
        }
        Values::Numbers(_) | Values::Booleans(_) => None,
    }
}

/// Numbers of eight digits that are dates.
fn compact_dates<'a>(values: &[f64]) -> Cells<'a> {
    let (mut read, mut known) = (Vec::new(), HashMap::new());
    let mut code = |value: &f64| {
        if value.is_nan() {
            return Texts::GAP;
        }
        *known.entry(value.to_bits()).or_insert_with(|| {
            read.push(DateForm::compact_days(*value).map_or(Cell::Unread, Cell::Number));
            // 2^32 different numbers in one column do not fit into memory.
            u32::try_from(read.len() - 1).unwrap_or(Texts::GAP)
        })
    };
    let codes: Vec<u32> = values.iter().map(&mut code).collect();
    Cells::Texts { codes: Cow::Owned(codes), read }
}

fn texts_as<'a>(texts: &'a Texts, gap_words: &[String], read: impl Fn(&str) -> Option<f64>) -> Cells<'a> {
    let cell = |text: &String| {
        let is_gap = is_gap(text, gap_words) || is_gap_word(text);
        if is_gap { Cell::Gap } else { read(text).map_or(Cell::Unread, Cell::Number) }
    };
    Cells::Texts { codes: Cow::Borrowed(texts.codes()), read: texts.levels().iter().map(cell).collect() }
}

/// The cells of a column as names of levels.
pub(super) struct Named<'a> {
    /// The code of each row, or [`Texts::GAP`].
    pub(super) codes: Cow<'a, [u32]>,
    /// The name of each code; `None` is a gap.
    pub(super) names: Vec<Option<Cow<'a, str>>>,
}

/// The levels of a column by name. `truth` has the names of false and true, whatever a cell has for them.
/// Of a `part`, cells without it have a gap.
pub(super) fn names<'a>(
    column: &'a Column,
    truth: Option<&[String; 2]>,
    part: Option<&Part>,
    gap_words: &[String],
) -> Named<'a> {
    let name_of = |value: bool| match truth {
        Some(names) => Cow::Owned(names[usize::from(value)].clone()),
        None => Cow::Borrowed(if value { "true" } else { "false" }),
    };
    match &column.values {
        Values::Texts(texts) => {
            let name = |text: &'a String| {
                if is_gap(text, gap_words) {
                    return None;
                }
                if let Some(part) = part {
                    return part.of(text);
                }
                let truth = if truth.is_some() { boolean::parse(text) } else { None };
                Some(truth.map_or_else(|| Cow::Borrowed(text.trim()), name_of))
            };
            Named { codes: Cow::Borrowed(texts.codes()), names: texts.levels().iter().map(name).collect() }
        }
        Values::Booleans(values) => {
            let code = |value: &Option<bool>| value.map_or(Texts::GAP, u32::from);
            let names = [false, true].map(|value| Some(name_of(value))).to_vec();
            Named { codes: values.iter().map(code).collect(), names }
        }
        Values::Numbers(values) | Values::Times(values) => {
            let (mut codes, mut names) = (Vec::with_capacity(values.len()), Vec::new());
            let mut known: HashMap<u64, u32> = HashMap::new();
            for value in values {
                codes.push(if value.is_nan() {
                    Texts::GAP
                } else {
                    // Adding 0 makes -0 and 0 the same.
                    let value = value + 0.0;
                    *known.entry(value.to_bits()).or_insert_with(|| {
                        let digit = value == 0.0 || value == 1.0;
                        let truth = truth.filter(|_| digit).map(|_| name_of(value == 1.0));
                        names.push(Some(truth.unwrap_or_else(|| Cow::Owned(value.to_string()))));
                        // 2^32 different numbers in one column do not fit into memory.
                        u32::try_from(names.len() - 1).unwrap_or(Texts::GAP)
                    })
                });
            }
            Named { codes: Cow::Owned(codes), names }
        }
    }
}

impl EncodedColumn {
    /// The cells of a column of a table, read as this one was; or what it holds instead.
    pub(super) fn cells<'a>(&self, column: &'a Column, gap_words: &[String]) -> Result<Cells<'a>, String> {
        let cells = match &self.content {
            Content::Number { form, .. } => numbers(column, form, self.part(), gap_words),
            Content::Time { form, .. } => times(column, *form, gap_words),
            Content::Levels { levels, truth } => {
                let index = levels.index();
                let Named { codes, names } = names(column, truth.as_ref(), self.part(), gap_words);
                let cell = |name: &Option<Cow<'_, str>>| {
                    let Some(name) = name else { return Cell::Gap };
                    // `5.0` is the level `5` of a column of numbers; `05` is not.
                    let number = || name.parse::<f64>().ok().filter(|_| name.contains('.'));
                    let found = index.coordinate(name).or_else(|| index.coordinate(&number()?.to_string()));
                    Cell::Level(found.unwrap_or(levels.seen))
                };
                Some(Cells::Texts { codes, read: names.iter().map(cell).collect() })
            }
        };
        let cells = cells.ok_or_else(|| held(column).to_owned())?;
        match odd_column(column, &cells) {
            Some(text) => Err(format!("texts such as {}", super::encoding::quoted(&text))),
            None => Ok(cells),
        }
    }
}

/// A text of a column none of whose cells can be read.
pub(super) fn odd_column(column: &Column, cells: &Cells<'_>) -> Option<String> {
    let (Cells::Texts { codes, read }, Values::Texts(texts)) = (cells, &column.values) else { return None };
    let mut unread = vec![false; read.len()];
    let mut count = 0;
    for &code in codes.iter() {
        match read.get(code as usize) {
            Some(Cell::Unread) => (unread[code as usize], count) = (true, count + 1),
            Some(Cell::Gap) | None => {}
            Some(_) => return None,
        }
    }
    let first = unread.iter().position(|unread| *unread)?;
    (count >= OTHER_KIND).then(|| texts.levels()[first].trim().to_owned())
}

/// What a column holds, in the plural.
pub(super) fn held(column: &Column) -> &'static str {
    match column.values {
        Values::Numbers(_) => ColumnKind::Number.plural(),
        Values::Texts(_) => ColumnKind::Text.plural(),
        Values::Booleans(_) => ColumnKind::Boolean.plural(),
        Values::Times(_) => ColumnKind::Time.plural(),
    }
}

/// What is in a cell, as text.
pub(super) fn text_of(column: &Column, row: usize) -> String {
    match &column.values {
        Values::Texts(texts) => texts.get(row).unwrap_or("").trim().to_owned(),
        Values::Booleans(values) => values[row].map_or_else(String::new, |value| value.to_string()),
        Values::Numbers(values) | Values::Times(values) => values[row].to_string(),
    }
}
