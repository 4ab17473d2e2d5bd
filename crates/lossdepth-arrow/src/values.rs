//! The values of an array.

use crate::kinds::{is_known, is_number, is_text, is_time};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use lossdepth::data::{Texts, Values};

/// The values of an array as a column of a table; `None` if they cannot be compared.
pub fn values(array: &ArrayRef) -> Option<Values> {
    let kind = array.data_type();
    let has_texts = match kind {
        DataType::Dictionary(_, of) => !is_number(of) && **of != DataType::Null,
        kind => is_text(kind),
    };
    if !is_known(kind) {
        return None;
    }
    if *kind == DataType::Boolean {
        return Some(Values::Booleans(array.as_boolean().iter().collect()));
    }
    if is_time(kind) {
        let mut times = Vec::with_capacity(array.len());
        return seconds(array, &mut |value| times.push(value.unwrap_or(f64::NAN)))
            .then_some(Values::Times(times));
    }
    if has_texts {
        let mut found = vec![None; array.len()];
        if !texts(array, &mut |row, text| found[row] = Some(text)) {
            return None;
        }
        let mut texts = Texts::default();
        for text in &found {
            texts.push(text.as_deref());
        }
        return Some(Values::Texts(texts));
    }
    let mut found = Vec::with_capacity(array.len());
    numbers(array, &mut |_, value| found.push(value.unwrap_or(f64::NAN))).then_some(Values::Numbers(found))
}

/// Hands out every time of a column in seconds since the beginning of 1970; false if it has none.
pub fn seconds(array: &ArrayRef, put: &mut dyn FnMut(Option<f64>)) -> bool {
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
        DataType::Date32 => each!(Date32Type, (DAY, 1.0)),
        DataType::Date64 => each!(Date64Type, (1.0, 1e3)),
        DataType::Timestamp(TimeUnit::Second, _) => each!(TimestampSecondType, (1.0, 1.0)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => each!(TimestampMillisecondType, (1.0, 1e3)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => each!(TimestampMicrosecondType, (1.0, 1e6)),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => each!(TimestampNanosecondType, (1.0, 1e9)),
        _ => false,
    }
}

/// How many seconds a day has.
const DAY: f64 = 86_400.0;

/// Hands out every number of a column, lengths of time and times of the day in days, `None` for null; false if it has none.
pub fn numbers(array: &ArrayRef, put: &mut dyn FnMut(usize, Option<f64>)) -> bool {
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
        DataType::Duration(TimeUnit::Second) => {
            primitive::<DurationSecondType>(array, |v| v as f64 / DAY, put)
        }
        DataType::Duration(TimeUnit::Millisecond) => {
            primitive::<DurationMillisecondType>(array, |v| v as f64 / 1e3 / DAY, put)
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            primitive::<DurationMicrosecondType>(array, |v| v as f64 / 1e6 / DAY, put)
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            primitive::<DurationNanosecondType>(array, |v| v as f64 / 1e9 / DAY, put)
        }
        DataType::Time32(TimeUnit::Second) => {
            primitive::<Time32SecondType>(array, |v| f64::from(v) / DAY, put)
        }
        DataType::Time32(_) => primitive::<Time32MillisecondType>(array, |v| f64::from(v) / 1e3 / DAY, put),
        DataType::Time64(TimeUnit::Microsecond) => {
            primitive::<Time64MicrosecondType>(array, |v| v as f64 / 1e6 / DAY, put)
        }
        DataType::Time64(_) => primitive::<Time64NanosecondType>(array, |v| v as f64 / 1e9 / DAY, put),
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
pub fn texts(array: &ArrayRef, put: &mut dyn FnMut(usize, String)) -> bool {
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
pub fn through_keys(array: &ArrayRef, put: &mut dyn FnMut(usize, Option<usize>)) -> bool {
    let dictionary = array.as_any_dictionary();
    let keys =
        if dictionary.values().is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
    let size = dictionary.values().len();
    let valid = |row: usize| dictionary.keys().is_valid(row);
    (0..array.len()).for_each(|row| put(row, Some(keys[row]).filter(|key| valid(row) && *key < size)));
    true
}
