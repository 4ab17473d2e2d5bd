//! Record batches, from Arrow or Parquet, into rows of numbers.

use super::table::{Outline, Piece, Source, Wanted, finite};
use super::text::duplicate;
use crate::error::{Place, Problem, Wrong};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
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
    if let Some((first, second)) = duplicate(&names) {
        return Err(Problem::Duplicate { line: None, name: names[first].clone(), first, second });
    }
    Ok(Outline { compared: names.len(), names, named: true, label: None, doubtful: None })
}

impl<B: Batches> Columnar<B> {
    pub(super) fn new(format: &'static str, schema: &Schema, batches: B) -> Self {
        let types = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        Self { format, batches, types, batch: None, chosen: false }
    }

    /// Tells the reader what is needed, and the user what cannot be.
    fn choose(&mut self, wanted: &Wanted<'_>) -> Result<(), Problem> {
        for column in wanted.numbers() {
            let kind = &self.types[column];
            if !is_number(kind) {
                let (column, what) = (wanted.names[column].clone(), describe(kind));
                return Err(if is_text(kind) {
                    Problem::Text { column, kind: what }
                } else {
                    Problem::Nested { column, kind: what }
                });
            }
        }
        let copied = wanted.columns.id.into_iter().chain(wanted.columns.label);
        for column in copied.clone() {
            let kind = &self.types[column];
            if !is_text(kind) && !is_number(kind) {
                let kind = describe(kind);
                return Err(Problem::Nested { column: wanted.names[column].clone(), kind });
            }
        }
        let mut columns: Vec<usize> = wanted.numbers().chain(copied).collect();
        columns.sort_unstable();
        columns.dedup();
        self.batches.choose(&columns)
    }

    fn add(&self, batch: &RecordBatch, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let (start, rows) = (piece.rows, batch.num_rows());
        let get = |column: usize| -> Result<&ArrayRef, Problem> {
            let found = batch.columns().get(self.batches.place(column));
            found.ok_or_else(|| Problem::Damaged {
                format: self.format,
                why: "a column is not there".to_owned(),
            })
        };
        // Such a column has as many rows as it says, without a byte for them.
        if let Some(column) =
            wanted.numbers().find(|&column| rows > 0 && self.types[column] == DataType::Null)
        {
            let at = Place { line: None, row: piece.first + start };
            return Err(wanted.cell(at, column, Wrong::Empty));
        }
        piece.grow(rows, wanted.columns)?;
        for (place, column) in wanted.numbers().enumerate() {
            let mut wrong = None;
            let known =
                numbers(get(column)?, &mut |row, value| match value.ok_or(Wrong::Empty).and_then(finite) {
                    Ok(value) => piece.set(start + row, place, value),
                    Err(fault) if wrong.is_none() => wrong = Some((row, fault)),
                    Err(_) => {}
                });
            if let Some((row, wrong)) = wrong {
                let at = Place { line: None, row: piece.first + start + row };
                return Err(wanted.cell(at, column, wrong));
            }
            if !known {
                let kind = describe(&self.types[column]);
                return Err(Problem::Nested { column: wanted.names[column].clone(), kind });
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
                let kind = describe(&self.types[column]);
                return Err(Problem::Nested { column: wanted.names[column].clone(), kind });
            }
        }
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

fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_number(values),
        DataType::Boolean | DataType::Null => true,
        kind => kind.is_numeric(),
    }
}

/// What can be copied, but not compared.
fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        kind => matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)),
    }
}

/// A type, as a user would call it.
fn describe(kind: &DataType) -> String {
    let word = match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return "text".to_owned(),
        DataType::Dictionary(_, values) if !is_number(values) => return describe(values),
        DataType::Date32 | DataType::Date64 => return "dates".to_owned(),
        DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => return "times".to_owned(),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..) => "lists",
        DataType::Struct(_) => "structures",
        DataType::Map(..) => "maps",
        DataType::Union(..) => "unions",
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "bytes"
        }
        _ => return format!("values of type {kind}"),
    };
    word.to_owned()
}

/// Hands out every number of a column, `None` for null; false if it has none.
fn numbers(array: &ArrayRef, put: &mut dyn FnMut(usize, Option<f64>)) -> bool {
    fn primitive<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        to: impl Fn(T::Native) -> f64,
        put: &mut dyn FnMut(usize, Option<f64>),
    ) -> bool {
        array.as_primitive::<T>().iter().enumerate().for_each(|(row, value)| put(row, value.map(&to)));
        true
    }
    fn decimal<T: DecimalType>(array: &ArrayRef, put: &mut dyn FnMut(usize, Option<f64>)) -> bool {
        let array = array.as_primitive::<T>();
        // The text is exact, so the number is the nearest one.
        let value = |row| array.is_valid(row).then(|| array.value_as_string(row).parse().unwrap_or(f64::NAN));
        (0..array.len()).for_each(|row| put(row, value(row)));
        true
    }
    match array.data_type() {
        DataType::Float64 => primitive::<Float64Type>(array, |v| v, put),
        DataType::Float32 => primitive::<Float32Type>(array, f64::from, put),
        DataType::Float16 => primitive::<Float16Type>(array, f64::from, put),
        DataType::Int8 => primitive::<Int8Type>(array, f64::from, put),
        DataType::Int16 => primitive::<Int16Type>(array, f64::from, put),
        DataType::Int32 => primitive::<Int32Type>(array, f64::from, put),
        DataType::Int64 => primitive::<Int64Type>(array, |v| v as f64, put),
        DataType::UInt8 => primitive::<UInt8Type>(array, f64::from, put),
        DataType::UInt16 => primitive::<UInt16Type>(array, f64::from, put),
        DataType::UInt32 => primitive::<UInt32Type>(array, f64::from, put),
        DataType::UInt64 => primitive::<UInt64Type>(array, |v| v as f64, put),
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array, put),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array, put),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array, put),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(array, put),
        DataType::Boolean => {
            let values = array.as_boolean().iter().enumerate();
            values.for_each(|(row, value)| put(row, value.map(|v| f64::from(u8::from(v)))));
            true
        }
        DataType::Null => {
            (0..array.len()).for_each(|row| put(row, None));
            true
        }
        DataType::Dictionary(_, of) if **of == DataType::Null => {
            (0..array.len()).for_each(|row| put(row, None));
            true
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut values = vec![None; dictionary.values().len()];
            numbers(dictionary.values(), &mut |key, value| values[key] = value)
                && through_keys(array, &mut |row, key| put(row, key.and_then(|key| values[key])))
        }
        _ => false,
    }
}

/// Hands out every value of a column that is not null as text; false if it cannot be.
fn texts(array: &ArrayRef, put: &mut dyn FnMut(usize, String)) -> bool {
    macro_rules! each {
        ($values:expr) => {{
            let values = $values.iter().enumerate();
            values.for_each(|(row, value)| value.into_iter().for_each(|value| put(row, value.to_string())));
            true
        }};
    }
    macro_rules! moments {
        ($type:ty, $of:ident) => {{
            let values = array.as_primitive::<$type>();
            let text =
                |row| values.is_valid(row).then(|| values.$of(row)).flatten().map(|value| value.to_string());
            (0..values.len()).for_each(|row| text(row).into_iter().for_each(|text| put(row, text)));
            true
        }};
    }
    match array.data_type() {
        DataType::Utf8 => each!(array.as_string::<i32>()),
        DataType::LargeUtf8 => each!(array.as_string::<i64>()),
        DataType::Utf8View => each!(array.as_string_view()),
        DataType::Int64 => each!(array.as_primitive::<Int64Type>()),
        DataType::UInt64 => each!(array.as_primitive::<UInt64Type>()),
        DataType::Date32 => moments!(Date32Type, value_as_date),
        DataType::Date64 => moments!(Date64Type, value_as_datetime),
        DataType::Timestamp(TimeUnit::Second, _) => moments!(TimestampSecondType, value_as_datetime),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            moments!(TimestampMillisecondType, value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            moments!(TimestampMicrosecondType, value_as_datetime)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => moments!(TimestampNanosecondType, value_as_datetime),
        DataType::Dictionary(_, of) if **of == DataType::Null => true,
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut values = vec![None; dictionary.values().len()];
            texts(dictionary.values(), &mut |key, text| values[key] = Some(text))
                && through_keys(array, &mut |row, key| {
                    if let Some(text) = key.and_then(|key| values[key].clone()) {
                        put(row, text);
                    }
                })
        }
        _ => {
            numbers(array, &mut |row, value| value.into_iter().for_each(|value| put(row, value.to_string())))
        }
    }
}

/// The key of every row of a dictionary; what points nowhere is null.
fn through_keys(array: &ArrayRef, put: &mut dyn FnMut(usize, Option<usize>)) -> bool {
    let dictionary = array.as_any_dictionary();
    let keys =
        if dictionary.values().is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
    let size = dictionary.values().len();
    let valid = |row: usize| dictionary.keys().is_valid(row);
    (0..array.len()).for_each(|row| put(row, Some(keys[row]).filter(|key| valid(row) && *key < size)));
    true
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
