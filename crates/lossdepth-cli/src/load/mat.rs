//! MAT 5: the matrices of a MATLAB file, packed or not, in either byte order. Numbers may be stored as smaller types
//! than they have: that is where they are read from.

use super::arrays::{self, Array, Data, cut_off};
use super::open::Opened;
use super::scalar::{Kind, Scalar};
use crate::error::Problem;
use bytes::Bytes;
use flate2::read::ZlibDecoder;
use std::io::{Cursor, Read};

const MAT: &str = "MAT";

/// The most a compressed matrix may unpack to.
const UNPACKED: u64 = 1 << 31;

/// The text, the version and the byte order.
const HEADER: usize = 128;

const COMPRESSED: u32 = 15;
const MATRIX: u32 = 14;

pub(super) fn open(file: &Bytes) -> Opened {
    let big_endian = match file.get(126..HEADER) {
        Some(b"MI") => true,
        Some(b"IM") => false,
        Some(_) => return Err(damaged("no byte order in its header")),
        None => return Err(cut_off(MAT)),
    };
    let mut elements = Elements { bytes: file.slice(HEADER..), big_endian };
    let mut arrays = Vec::new();
    let mut refused = None;
    while let Some((kind, element)) = elements.next(false)? {
        let (kind, element) = match kind {
            COMPRESSED => match (Elements { bytes: unpack(&element)?, big_endian }).next(true)? {
                Some(inner) => inner,
                None => continue,
            },
            _ => (kind, element),
        };
        if kind != MATRIX {
            continue;
        }
        match matrix(element, big_endian)? {
            Ok(array) => arrays.push(array),
            // Whether that matters depends on its name.
            Err((name, what)) if name == "X" || name == "y" => {
                refused = Some(format!("`{name}` is {what}, not an array of real numbers"));
            }
            Err(_) => {}
        }
    }
    match refused {
        Some(why) => Err(Problem::Unsupported(why)),
        None => arrays::many(MAT, arrays),
    }
}

/// A zlib stream in an element.
fn unpack(element: &[u8]) -> Result<Bytes, Problem> {
    let mut bytes = Vec::new();
    let read = ZlibDecoder::new(element).take(UNPACKED + 1).read_to_end(&mut bytes);
    match read {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Err(cut_off(MAT)),
        Err(error) => Err(damaged(&error.to_string())),
        Ok(_) if bytes.len() as u64 > UNPACKED => Err(Problem::Unpack),
        Ok(_) => Ok(bytes.into()),
    }
}

/// A tagged run of bytes after another.
struct Elements {
    bytes: Bytes,
    big_endian: bool,
}

impl Elements {
    /// The next element: its type and its bytes. Within a matrix, elements are padded to eight bytes.
    fn next(&mut self, padded: bool) -> Result<Option<(u32, Bytes)>, Problem> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        if self.bytes.len() < 8 {
            return Err(cut_off(MAT));
        }
        let (first, second) = (self.u32(0), self.u32(4));
        // Up to four bytes fit into the tag itself.
        if first >> 16 != 0 {
            let length = (first >> 16) as usize;
            if length > 4 {
                return Err(damaged("an element is longer than its tag"));
            }
            let element = self.bytes.slice(4..4 + length);
            self.bytes = self.bytes.slice(8..);
            return Ok(Some((first & 0xffff, element)));
        }
        let length = second as usize;
        if length > self.bytes.len() - 8 {
            return Err(cut_off(MAT));
        }
        let element = self.bytes.slice(8..8 + length);
        let padding = if padded { length.next_multiple_of(8) } else { length };
        self.bytes = self.bytes.slice((8 + padding).min(self.bytes.len())..);
        Ok(Some((first, element)))
    }

    /// The next element of a matrix, which must be there.
    fn part(&mut self) -> Result<(u32, Bytes), Problem> {
        self.next(true)?.ok_or_else(|| cut_off(MAT))
    }

    fn u32(&self, at: usize) -> u32 {
        number(&self.bytes[at..], self.big_endian)
    }
}

fn number(bytes: &[u8], big_endian: bool) -> u32 {
    let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// A matrix; or its name and what it is instead of numbers.
fn matrix(bytes: Bytes, big_endian: bool) -> Result<Result<Array, (String, &'static str)>, Problem> {
    let mut parts = Elements { bytes, big_endian };
    // An empty element stands for an empty matrix.
    if parts.bytes.is_empty() {
        return Ok(Err((String::new(), "empty")));
    }
    let (_, flags) = parts.part()?;
    if flags.len() < 8 {
        return Err(damaged("a matrix without its flags"));
    }
    let flags = number(&flags, big_endian);
    let (class, complex) = (flags & 0xff, flags & 0x800 != 0);
    // An opaque object has no dimensions.
    if class == 17 {
        return Ok(Err((String::new(), "an object")));
    }
    let (_, dimensions) = parts.part()?;
    let shape: Vec<u64> =
        dimensions.chunks_exact(4).map(|bytes| u64::from(number(bytes, big_endian))).collect();
    if !(2..=32).contains(&shape.len()) {
        return Err(damaged("a matrix without its dimensions"));
    }
    let (_, name) = parts.part()?;
    let name = String::from_utf8_lossy(&name).into_owned();
    let what = match class {
        _ if complex => "complex",
        6..=15 => {
            let (kind, values) = parts.part()?;
            return array(name, shape, kind, values, big_endian).map(Ok);
        }
        1 => "a cell array",
        2 => "a structure",
        3 => "an object",
        4 => "text",
        5 => "a sparse matrix",
        16 => "a function",
        _ => "of an unknown class",
    };
    Ok(Err((name, what)))
}

fn array(
    name: String,
    shape: Vec<u64>,
    kind: u32,
    values: Bytes,
    big_endian: bool,
) -> Result<Array, Problem> {
    let (kind, size) = match kind {
        1 => (Kind::Signed, 1),
        2 => (Kind::Unsigned, 1),
        3 => (Kind::Signed, 2),
        4 => (Kind::Unsigned, 2),
        5 => (Kind::Signed, 4),
        6 => (Kind::Unsigned, 4),
        7 => (Kind::Float, 4),
        9 => (Kind::Float, 8),
        12 => (Kind::Signed, 8),
        13 => (Kind::Unsigned, 8),
        other => return Err(damaged(&format!("`{name}` has numbers of the unknown type {other}"))),
    };
    let length = values.len() as u64;
    let data = Data::Columns(Box::new(Cursor::new(values)), 0);
    let array = Array { name, shape, scalar: Scalar { kind, size, big_endian }, data };
    if array.size() > length {
        return Err(damaged(&format!("`{}` has fewer numbers than it says", array.name)));
    }
    Ok(array)
}

fn damaged(why: &str) -> Problem {
    Problem::Damaged { format: MAT, why: why.to_owned() }
}
