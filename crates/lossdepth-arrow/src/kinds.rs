//! What an array holds, by its type.

use arrow_schema::DataType;

/// Whether an array of this type holds numbers or truth values.
pub fn is_number(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_number(values),
        DataType::Boolean | DataType::Null => true,
        kind => kind.is_numeric(),
    }
}

/// Whether it holds texts.
pub fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Whether it holds dates or times.
pub fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Whether it holds lengths of time, or times of the day: numbers of days.
pub fn is_duration(kind: &DataType) -> bool {
    matches!(kind, DataType::Duration(_) | DataType::Time32(_) | DataType::Time64(_))
}

/// Whether it holds what can be compared and copied.
pub fn is_known(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_known(values),
        kind => is_number(kind) || is_text(kind) || is_time(kind) || is_duration(kind),
    }
}

/// A type, as a user would call it.
pub fn describe(kind: &DataType) -> String {
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
