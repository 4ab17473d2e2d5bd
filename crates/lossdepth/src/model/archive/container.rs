//! The container of a model: the safetensors format, as much of it as tables of doubles need.
//!
//! A file is the length of its header (eight bytes, little-endian), the header (JSON: for each tensor its type, shape and
//! place, and a map of text under `__metadata__`), and the tensors one after the other without a gap. What is written is
//! the same for the same content; what is read is checked before anything of its size is allocated.

use crate::error::{DepthError, Result};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// The longest header that readers of the format accept.
const LONGEST_HEADER: usize = 100_000_000;

/// Where the checksum is in the metadata.
const CHECKSUM: &str = "checksum";

/// Text by name; sorted, so that the same text gives the same bytes.
pub(super) type Metadata = BTreeMap<String, String>;

/// Numbers to write.
pub(super) struct Numbers<'a> {
    pub(super) name: &'static str,
    pub(super) shape: Vec<usize>,
    pub(super) values: &'a [f64],
}

/// Numbers that were read: little-endian doubles, as many as the shape says.
#[derive(Debug)]
pub(super) struct Tensor<'a> {
    pub(super) shape: Vec<usize>,
    bytes: &'a [u8],
}

impl Tensor<'_> {
    pub(super) fn values(&self) -> Vec<f64> {
        self.bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
    }
}

/// What is in a file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) metadata: Metadata,
    pub(super) tensors: BTreeMap<String, Tensor<'a>>,
}

/// A tensor in the header.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// One line of the header.
#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Metadata(&'a Metadata),
    Tensor(Entry),
}

/// Writes a file; `metadata` gets its checksum.
pub(super) fn write(mut metadata: Metadata, numbers: &[Numbers<'_>]) -> Result<Vec<u8>> {
    metadata.insert(CHECKSUM.to_owned(), written(&[0; 32]));
    let head = header(&metadata, numbers)?;
    let size = numbers.iter().map(|n| 8 * n.values.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(8 + head.len() + size);
    bytes.extend((head.len() as u64).to_le_bytes());
    bytes.extend(&head);
    for value in numbers.iter().flat_map(|n| n.values) {
        bytes.extend(value.to_le_bytes());
    }
    let mut start = 8 + head.len();
    let mut tensors = BTreeMap::new();
    for n in numbers {
        let end = start + 8 * n.values.len();
        tensors.insert(n.name.to_owned(), Tensor { shape: n.shape.clone(), bytes: &bytes[start..end] });
        start = end;
    }
    let sum = checksum(&metadata, &tensors);
    metadata.insert(CHECKSUM.to_owned(), sum);
    // As long as the first one: only the digits of the checksum differ.
    let head = header(&metadata, numbers)?;
    bytes[8..8 + head.len()].copy_from_slice(&head);
    Ok(bytes)
}

/// The header, padded so that the numbers begin at a multiple of eight.
fn header(metadata: &Metadata, numbers: &[Numbers<'_>]) -> Result<Vec<u8>> {
    let mut lines = vec![("__metadata__", Line::Metadata(metadata))];
    let mut end = 0;
    for n in numbers {
        let start = end;
        end += 8 * n.values.len();
        let (dtype, shape) = ("F64".to_owned(), n.shape.clone());
        lines.push((n.name, Line::Tensor(Entry { dtype, shape, data_offsets: (start, end) })));
    }
    let failed = |reason: String| DepthError::Unsaved { reason };
    let map = Lines(&lines);
    let mut head = serde_json::to_vec(&map).map_err(|e| failed(e.to_string()))?;
    head.resize(head.len().next_multiple_of(8), b' ');
    if head.len() > LONGEST_HEADER {
        let length = head.len();
        return Err(failed(format!(
            "names and notes take {length} bytes, more than the {LONGEST_HEADER} there is room for"
        )));
    }
    Ok(head)
}

/// A map in the order of its lines.
struct Lines<'a>(&'a [(&'static str, Line<'a>)]);

impl Serialize for Lines<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, line)| (name, line)))
    }
}

impl Container<'_> {
    /// Whether all is as it was when it was written.
    pub(super) fn verify(&self) -> Result<()> {
        let Some(said) = self.metadata.get(CHECKSUM) else {
            return Err(damaged("it has no checksum"));
        };
        if *said != checksum(&self.metadata, &self.tensors) {
            return Err(damaged(
                "the checksum is wrong: it was changed after it was saved, or not copied whole",
            ));
        }
        Ok(())
    }
}

/// Takes a file apart; whether its checksum is right is for [`verify`](Container::verify) to say.
pub(super) fn read(bytes: &[u8]) -> Result<Container<'_>> {
    let foreign = |reason: &str| DepthError::NotAModel { reason: reason.to_owned() };
    if bytes.is_empty() {
        return Err(foreign("it is empty"));
    }
    let Some((length, rest)) = bytes.split_first_chunk() else {
        return Err(foreign("not in safetensors format"));
    };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    // Every header begins with a brace, which tells a model that was cut off from a file of another kind.
    if length > LONGEST_HEADER || !rest.starts_with(b"{") {
        return Err(foreign("not in safetensors format"));
    }
    let Some((head, data)) = rest.split_at_checked(length) else {
        return Err(damaged("it is cut off"));
    };
    let Header { metadata, entries } = serde_json::from_slice(head)
        .map_err(|e| damaged(format!("its header is not as it should be: {e}")))?;
    Ok(Container { metadata: metadata.0, tensors: cut(entries, data)? })
}

/// Cuts the data into tensors, which must cover it without a gap.
fn cut(entries: BTreeMap<String, Entry>, data: &[u8]) -> Result<BTreeMap<String, Tensor<'_>>> {
    let mut places: Vec<(usize, usize)> = entries.values().map(|e| e.data_offsets).collect();
    places.sort_unstable();
    let end = places.iter().try_fold(0, |end, place| (place.0 == end && end <= place.1).then_some(place.1));
    match end {
        Some(end) if end == data.len() => {}
        Some(end) if end > data.len() => return Err(damaged("it is cut off")),
        Some(_) => return Err(damaged("there is more in it than its header says")),
        None => return Err(damaged("its tensors do not follow each other")),
    }
    let tensor = |(name, entry): (String, Entry)| {
        if entry.dtype != "F64" {
            let (name, dtype) = (short(&name), short(&entry.dtype));
            return Err(damaged(format!("tensor `{name}` is of type {dtype}, not F64")));
        }
        let size = entry.shape.iter().try_fold(8usize, |size, n| size.checked_mul(*n));
        let bytes = &data[entry.data_offsets.0..entry.data_offsets.1];
        if size != Some(bytes.len()) {
            return Err(damaged(format!("tensor `{}` is not as large as its shape", short(&name))));
        }
        Ok((name, Tensor { shape: entry.shape, bytes }))
    };
    entries.into_iter().map(tensor).collect()
}

/// SHA-256 of everything but itself, as `sha256:` and 64 digits.
///
/// Hashed are the number of metadata entries, each entry's name and text, each tensor's name, shape and bytes, in the order of
/// their names. Numbers are eight bytes, little-endian; before text, shapes and bytes comes their length.
fn checksum(metadata: &Metadata, tensors: &BTreeMap<String, Tensor<'_>>) -> String {
    let mut hash = Sha256::new();
    let number = |hash: &mut Sha256, n: usize| hash.update((n as u64).to_le_bytes());
    let part = |hash: &mut Sha256, bytes: &[u8]| {
        number(hash, bytes.len());
        hash.update(bytes);
    };
    let entries = || metadata.iter().filter(|(name, _)| *name != CHECKSUM);
    number(&mut hash, entries().count());
    for (name, text) in entries() {
        part(&mut hash, name.as_bytes());
        part(&mut hash, text.as_bytes());
    }
    for (name, tensor) in tensors {
        part(&mut hash, name.as_bytes());
        number(&mut hash, tensor.shape.len());
        tensor.shape.iter().for_each(|&n| number(&mut hash, n));
        part(&mut hash, tensor.bytes);
    }
    written(&hash.finalize())
}

fn written(digest: &[u8]) -> String {
    digest.iter().fold("sha256:".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(super) fn damaged(reason: impl Into<String>) -> DepthError {
    DepthError::DamagedModel { reason: reason.into() }
}

/// Enough of a foreign name to recognise it by.
pub(super) fn short(name: &str) -> String {
    let mut chars = name.chars();
    let start: String = chars.by_ref().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.next().is_some() { start + "…" } else { start }
}

/// The header of a file that is read. No name comes twice: readers would differ on which one counts.
#[derive(Default)]
struct Header {
    metadata: Unique,
    entries: BTreeMap<String, Entry>,
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Lines;
        impl<'de> Visitor<'de> for Lines {
            type Value = Header;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of tensors")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header, A::Error> {
                let mut header = Header::default();
                let mut described = false;
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        if std::mem::replace(&mut described, true) {
                            return Err(twice(&name));
                        }
                        header.metadata = map.next_value()?;
                    } else {
                        let entry = map.next_value()?;
                        insert(&mut header.entries, name, entry)?;
                    }
                }
                Ok(header)
            }
        }
        deserializer.deserialize_map(Lines)
    }
}

/// Text by name, no name twice.
#[derive(Default)]
struct Unique(Metadata);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = Unique;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of text")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Unique, A::Error> {
                let mut texts = Metadata::new();
                while let Some((name, text)) = map.next_entry::<String, String>()? {
                    insert(&mut texts, name, text)?;
                }
                Ok(Unique(texts))
            }
        }
        deserializer.deserialize_map(Texts)
    }
}

fn insert<T, E: serde::de::Error>(map: &mut BTreeMap<String, T>, name: String, value: T) -> Result<(), E> {
    if map.contains_key(&name) {
        return Err(twice(&name));
    }
    map.insert(name, value);
    Ok(())
}

fn twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format!("`{}` is there twice", short(name)))
}
