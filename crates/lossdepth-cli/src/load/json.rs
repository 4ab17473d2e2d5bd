//! JSON: an object a line, or an array of objects. Their keys are the columns, those of objects in objects joined by points;
//! lists are left out.

use super::cells::{Cells, Words};
use super::open::Opened;
use super::table::{Outline, Piece, Reading, Source, Wanted, within_memory};
use crate::error::{Place, Problem};
use bytes::Bytes;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

const JSON: &str = "JSON";

/// About how many bytes of memory a byte of JSON may take: a value of three bytes with its place.
const GROWTH: usize = 16;

/// Whole numbers beyond are kept as texts: their neighbours could not be told from them.
const EXACT: u64 = 1 << 53;

/// Objects are columns up to this depth, and up to this length of the keys around them: the names of the columns take little
/// memory whatever the file says (heuristics).
const DEPTH: usize = 8;
const PREFIX: usize = 64;

const NO_TABLE: &str = "JSON, but no table: that is an array of objects, or an object a line";

/// A value of an object.
#[derive(Debug)]
enum Value {
    Null,
    Boolean(bool),
    Number(f64),
    Text(Box<str>),
}

/// What was read so far.
#[derive(Default)]
struct Objects {
    names: Vec<String>,
    places: HashMap<String, usize>,
    nested: BTreeSet<usize>,
    /// Whether a value was a list or an object.
    document: bool,
    /// The values of each object with their columns.
    rows: Vec<Vec<(usize, Value)>>,
}

/// The rows of a file.
struct Table {
    rows: Vec<Vec<(usize, Value)>>,
    width: usize,
    done: usize,
    words: Words,
}

pub(super) fn open(file: &Bytes, reading: &Reading) -> Opened {
    within_memory(file.len().saturating_mul(GROWTH))?;
    let text = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file).trim_ascii_start();
    let mut objects = Objects::default();
    let mut input = serde_json::Deserializer::from_slice(text);
    let damaged = |error: serde_json::Error| match error.classify() {
        serde_json::error::Category::Data => Problem::Unsupported(NO_TABLE.to_owned()),
        _ => Problem::Damaged { format: JSON, why: error.to_string() },
    };
    if text.starts_with(b"[") {
        Array(&mut objects).deserialize(&mut input).map_err(damaged)?;
        input.end().map_err(damaged)?;
    } else {
        let mut lines = 0;
        while input.end().is_err() {
            Object(&mut objects).deserialize(&mut input).map_err(damaged)?;
            lines += 1;
        }
        // One object with others in it is a document.
        if lines == 1 && objects.document {
            return Err(Problem::Unsupported(NO_TABLE.to_owned()));
        }
    }
    let Objects { names, nested, rows, .. } = objects;
    if names.is_empty() {
        return Err(Problem::Empty);
    }
    let width = names.len();
    let mut outline = Outline::new(names, true);
    outline.leave_out(nested.into_iter().map(|column| (column, "lists or objects".to_owned())).collect());
    outline.untyped = true;
    outline.decimal = reading.decimal;
    let words = Words { gaps: reading.gaps.clone(), comma: reading.decimal == Some(',') };
    Ok((outline, Box::new(Table { rows, width, done: 0, words })))
}

/// An array of objects.
struct Array<'a>(&'a mut Objects);

impl<'de> DeserializeSeed<'de> for Array<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Array<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Object(self.0))?.is_some() {}
        Ok(())
    }
}

/// One object.
struct Object<'a>(&'a mut Objects);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let objects = self.0;
        let mut row = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(Single { objects, row: &mut row, key, depth: 0 })?;
        }
        row.shrink_to_fit();
        objects.rows.push(row);
        Ok(())
    }
}

impl Objects {
    /// The column of a key.
    fn column(&mut self, key: String) -> usize {
        self.places.get(&key).copied().unwrap_or_else(|| {
            self.names.push(key.clone());
            self.places.insert(key, self.names.len() - 1);
            self.names.len() - 1
        })
    }
}

/// The value of a key, into the row. Lists and what is nested too deep are skipped.
struct Single<'a> {
    objects: &'a mut Objects,
    row: &'a mut Vec<(usize, Value)>,
    key: String,
    depth: usize,
}

impl Single<'_> {
    fn put(self, value: Value) {
        let column = self.objects.column(self.key);
        self.row.push((column, value));
    }

    fn leave_out(self) {
        let column = self.objects.column(self.key);
        self.objects.nested.insert(column);
    }
}

impl<'de> DeserializeSeed<'de> for Single<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Single<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        self.put(Value::Null);
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Self::Value, E> {
        self.put(Value::Boolean(value));
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        if value.is_finite() {
            self.put(Value::Number(value));
            Ok(())
        } else {
            Err(E::custom("a number is too large"))
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
        self.put(if value <= EXACT {
            Value::Number(value as f64)
        } else {
            Value::Text(value.to_string().into())
        });
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
        self.put(if value.unsigned_abs() <= EXACT {
            Value::Number(value as f64)
        } else {
            Value::Text(value.to_string().into())
        });
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Self::Value, E> {
        self.put(Value::Text(value.into()));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        self.objects.document = true;
        self.leave_out();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        self.objects.document = true;
        if self.depth == DEPTH || self.key.len() > PREFIX {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            self.leave_out();
            return Ok(());
        }
        let Self { objects, row, key: around, depth } = self;
        while let Some(key) = map.next_key::<String>()? {
            let key = format!("{around}.{key}");
            map.next_value_seed(Single { objects, row, key, depth: depth + 1 })?;
        }
        Ok(())
    }
}

impl Table {
    fn add(&self, cells: &mut Cells, value: Option<&Value>) -> usize {
        match value {
            None | Some(Value::Null) => cells.gap(),
            Some(Value::Boolean(value)) => cells.boolean(*value),
            Some(Value::Number(value)) => cells.number(*value),
            Some(Value::Text(text)) => return cells.text(text.trim(), &self.words),
        }
        0
    }
}

/// A value as a text.
fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::Boolean(value)) => value.to_string(),
        Some(Value::Number(value)) => value.to_string(),
        Some(Value::Text(text)) => text.trim().to_owned(),
    }
}

impl Source for Table {
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let columns = wanted.columns;
        let end = self.rows.len().min(self.done.saturating_add(wanted.limit));
        piece.reserve(end - self.done, columns)?;
        let mut wrong = Vec::new();
        // Where the values of a row are: an object has its keys in any order.
        let mut places = vec![usize::MAX; self.width];
        for number in self.done..end {
            let row = &self.rows[number];
            row.iter().enumerate().for_each(|(at, (column, _))| places[*column] = at);
            let value = |column: usize| row.get(places[column]).map(|(_, value)| value);
            let at = Place { line: None, row: number };
            for (cells, column) in piece.cells.iter_mut().zip(columns.cells()) {
                piece.letters += self.add(cells, value(column));
            }
            if let Some(column) = columns.weights {
                match super::cells::number(&text(value(column)), &self.words) {
                    Ok(weight) => piece.weights.push(weight),
                    Err(fault) => wrong.push(wanted.cell(at, column, fault)),
                }
            }
            piece.ids.extend(columns.id.map(|column| text(value(column))));
            piece.labels.extend(columns.label.map(|column| text(value(column))));
            piece.rows += 1;
            for (column, _) in row {
                places[*column] = usize::MAX;
            }
        }
        self.done = end;
        Problem::all(wrong)
    }
}
