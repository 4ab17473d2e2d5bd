//! Record batches, from Arrow or Parquet, into columns of the same types.

use super::cells::Cells;
use super::table::{Outline, Piece, Source, Wanted};
use crate::error::{Problem, Wrong};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
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
    Ok(Outline::new(names, true))
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

fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_number(values),
        DataType::Boolean | DataType::Null => true,
        kind => kind.is_numeric(),
    }
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Lengths of time, and times of the day: numbers of seconds.
fn is_duration(kind: &DataType) -> bool {
    matches!(kind, DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_))
}

/// What can be compared and copied.
fn is_known(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_known(values),
        kind => is_number(kind) || is_text(kind) || is_time(kind) || is_duration(kind),
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

/// Hands out every time of a column in seconds since the beginning of 1970; false if it has none.
fn seconds(array: &ArrayRef, put: &mut dyn FnMut(Option<f64>)) -> bool {
    macro_rules! each {
        ($type:ty, $scale:expr) => {{
            array
                .as_primitive::<$type>()
                .iter()
                .for_each(|value| put(value.map(|value| i64::from(value) as f64 * $scale.0 / $scale.1)));
            true
        }};
    }
    match array.data_type() {
        DataType::Date32 => each!(Date32Type, (86400.0, 1.0)),
        DataType::Date64 => each!(Date64Type, (1.0, 1e3)),
        DataType::Timestamp(TimeUnit::Second, _) => each!(TimestampSecondType, (1.0, 1.0)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => each!(TimestampMillisecondType, (1.0, 1e3)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => each!(TimestampMicrosecondType, (1.0, 1e6)),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => each!(TimestampNanosecondType, (1.0, 1e9)),
        _ => false,
    }
}

/// A type, as a user would call it.
fn describe(kind: &DataType) -> String {
    let word = match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return "text".to_owned(),
        DataType::Dictionary(_, values) if !is_number(values) => return describe(values),
        DataType::Date32 | DataType::Date64 => return "dates".to_owned(),
        DataType::Timestamp(..) => return "times".to_owned(),
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
        DataType::Duration(TimeUnit::Second) => primitive::<DurationSecondType>(array, |v| v as f64, put),
        DataType::Duration(TimeUnit::Millisecond) => {
            primitive::<DurationMillisecondType>(array, |v| v as f64 / 1e3, put)
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            primitive::<DurationMicrosecondType>(array, |v| v as f64 / 1e6, put)
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            primitive::<DurationNanosecondType>(array, |v| v as f64 / 1e9, put)
        }
        DataType::Time32(TimeUnit::Second) => primitive::<Time32SecondType>(array, f64::from, put),
        DataType::Time32(_) => primitive::<Time32MillisecondType>(array, |v| f64::from(v) / 1e3, put),
        DataType::Time64(TimeUnit::Microsecond) => {
            primitive::<Time64MicrosecondType>(array, |v| v as f64 / 1e6, put)
        }
        DataType::Time64(_) => primitive::<Time64NanosecondType>(array, |v| v as f64 / 1e9, put),
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
