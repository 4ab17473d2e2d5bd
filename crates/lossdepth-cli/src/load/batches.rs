//! Record batches, from Arrow or Parquet, into columns of the same types.

use super::cells::Cells;
use super::table::{Outline, Piece, Source, Wanted};
use crate::error::{Problem, Wrong};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use lossdepth_arrow::{
    describe, is_known, is_number, is_text, is_time, numbers, seconds, texts, through_keys,
};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Where batches come from.
pub(super) trait Batches {
    /// Says which columns are needed, before the first batch is read.
    fn choose(&mut self, columns: &[usize]) -> Result<(), Problem>;

    /// The next batch; none at the end.
    fn next(&mut self) -> Result<Option<RecordBatch>, Problem>;

    /// How many rows there are in all, as far as that is said before they are read.
    fn rows(&self) -> Option<usize>;

    /// Where a column is in a batch.
    fn place(&self, column: usize) -> usize;
}

/// A table that comes in batches.
pub(super) struct Columnar<B> {
    format: &'static str,
    batches: B,
    types: Vec<DataType>,
    /// The batch being read, and how many of its rows are done.
    batch: Option<(RecordBatch, usize)>,
    chosen: bool,
}

/// A table with these columns.
pub(super) fn outline(schema: &Schema) -> Result<Outline, Problem> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if names.is_empty() {
        return Err(Problem::NothingToCompare);
    }
    let mut outline = Outline::new(names, true);
    let fields = schema.fields().iter().enumerate();
    let nested = fields.filter(|(_, field)| !is_known(field.data_type()));
    outline.leave_out(nested.map(|(column, field)| (column, describe(field.data_type()))).collect());
    Ok(outline)
}

impl<B: Batches> Columnar<B> {
    pub(super) fn new(format: &'static str, schema: &Schema, batches: B) -> Self {
        let types = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        Self { format, batches, types, batch: None, chosen: false }
    }

    /// Tells the reader what is needed, and the user what cannot be.
    fn choose(&mut self, wanted: &Wanted<'_>) -> Result<(), Problem> {
        let mut wrong = Vec::new();
        let mut refuse = |column: usize, fits: fn(&DataType) -> bool| {
            let kind = &self.types[column];
            let (column, what) = (wanted.names[column].clone(), describe(kind));
            match () {
                () if fits(kind) => {}
                () if is_known(kind) => wrong.push(Problem::Text { column, kind: what }),
                () => wrong.push(Problem::Nested { column, kind: what }),
            }
        };
        let copied = wanted.columns.id.into_iter().chain(wanted.columns.label);
        let columns = wanted.columns.cells().chain(copied);
        columns.clone().for_each(|column| refuse(column, is_known));
        wanted.columns.weights.into_iter().for_each(|column| refuse(column, is_number));
        Problem::all(wrong)?;
        let mut columns: Vec<usize> = columns.chain(wanted.columns.weights).collect();
        columns.sort_unstable();
        columns.dedup();
        self.batches.choose(&columns)
    }

    fn add(&self, batch: &RecordBatch, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let rows = batch.num_rows();
        let get = |column: usize| -> Result<&ArrayRef, Problem> {
            let found = batch.columns().get(self.batches.place(column));
            found.ok_or_else(|| Problem::Damaged {
                format: self.format,
                why: "a column is not there".to_owned(),
            })
        };
        let unknown = |column: usize| Problem::Nested {
            column: wanted.names[column].clone(),
            kind: describe(&self.types[column]),
        };
        // Such columns have as many rows as they say, without a byte for them: something else must bear them out.
        let is_null = |column: usize| self.types[column] == DataType::Null;
        if rows > 0 && wanted.columns.used().all(is_null) {
            let at = crate::error::Place { line: None, row: piece.first + piece.rows };
            return Err(wanted.cell(at, wanted.columns.features[0], Wrong::Empty));
        }
        piece.reserve(rows, wanted.columns)?;
        for (place, column) in wanted.columns.cells().enumerate() {
            let letters = add(&mut piece.cells[place], get(column)?).ok_or_else(|| unknown(column))?;
            piece.letters += letters;
        }
        if let Some(column) = wanted.columns.weights {
            let (mut wrong, first) = (Vec::new(), piece.first + piece.rows);
            let known = numbers(get(column)?, &mut |row, value| match value {
                Some(value) if value.is_finite() => piece.weights.push(value),
                value => wrong.push((row, value)),
            });
            let fault = |(row, value): (usize, Option<f64>)| {
                let at = crate::error::Place { line: None, row: first + row };
                let wrong = value.map_or(Wrong::Empty, |value| Wrong::NotFinite(value.to_string()));
                wanted.cell(at, column, wrong)
            };
            Problem::all(wrong.into_iter().map(fault).collect())?;
            if !known {
                return Err(unknown(column));
            }
        }
        for (column, copied) in
            [(wanted.columns.id, &mut piece.ids), (wanted.columns.label, &mut piece.labels)]
        {
            let Some(column) = column else { continue };
            let from = copied.len();
            copied.resize(from + rows, String::new());
            let mut letters = 0;
            let known = texts(get(column)?, &mut |row, text| {
                letters += text.len();
                copied[from + row] = text;
            });
            piece.letters += letters;
            if !known {
                return Err(unknown(column));
            }
        }
        piece.rows += rows;
        Ok(())
    }
}

impl<B: Batches> Source for Columnar<B> {
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        if !std::mem::replace(&mut self.chosen, true) {
            self.choose(wanted)?;
            // A few bytes can stand for any number of equal rows: they must fit before the first is read.
            piece.check_room(self.batches.rows().unwrap_or(0).min(wanted.limit), wanted.columns)?;
        }
        while piece.rows < wanted.limit {
            let (batch, done) = match self.batch.take() {
                Some(batch) => batch,
                None => match self.batches.next()? {
                    Some(batch) => (batch, 0),
                    None => break,
                },
            };
            let rows = (wanted.limit - piece.rows).min(batch.num_rows() - done);
            guard(self.format, || self.add(&batch.slice(done, rows), wanted, piece))??;
            if done + rows < batch.num_rows() {
                self.batch = Some((batch, done + rows));
            }
        }
        Ok(())
    }
}

/// Adds the values of an array to a column; the bytes of its texts, or nothing if it cannot be.
fn add(cells: &mut Cells, array: &ArrayRef) -> Option<usize> {
    let mut letters = 0;
    let kind = array.data_type();
    let known = match kind {
        DataType::Boolean => {
            array.as_boolean().iter().for_each(|value| match value {
                Some(value) => cells.boolean(value),
                None => cells.gap(),
            });
            true
        }
        DataType::Dictionary(_, values) if is_number(values) => numbers(array, &mut |_, value| match value {
            Some(value) => cells.number(value),
            None => cells.gap(),
        }),
        DataType::Dictionary(_, values) if !is_number(values) && **values != DataType::Null => {
            let dictionary = array.as_any_dictionary();
            let mut levels = vec![None; dictionary.values().len()];
            texts(dictionary.values(), &mut |key, text| levels[key] = Some(text))
                && through_keys(array, &mut |_, key| match key.and_then(|key| levels[key].as_deref()) {
                    Some(text) => letters += cells.word(text),
                    None => cells.gap(),
                })
        }
        kind if is_time(kind) => seconds(array, &mut |value| match value {
            Some(value) => cells.time(value),
            None => cells.gap(),
        }),
        kind if is_text(kind) => {
            let mut next = 0;
            let known = texts(array, &mut |row, text| {
                (next..row).for_each(|_| cells.gap());
                letters += cells.word(&text);
                next = row + 1;
            });
            (next..array.len()).for_each(|_| cells.gap());
            known
        }
        _ => numbers(array, &mut |_, value| match value {
            Some(value) => cells.number(value),
            None => cells.gap(),
        }),
    };
    known.then_some(letters)
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Damaged files can bring these libraries to a panic: it becomes an error like any other.
pub(super) fn guard<T>(format: &'static str, work: impl FnOnce() -> T) -> Result<T, Problem> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                hook(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.map_err(|_| Problem::Damaged { format, why: "its parts contradict each other".to_owned() })
}
