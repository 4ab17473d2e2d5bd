//! NPY: one array, as NumPy saves it.

use super::arrays::{self, Array, Data, cut_off};
use super::open::{Anywhere, Input, Opened};
use super::record::unreadable;
use super::scalar::{Kind, Scalar};
use crate::error::Problem;
use std::io::{Cursor, Read};

const NPY: &str = "NPY";

/// A longer header is taken for damage.
const HEADER: usize = 1 << 16;

/// What the header of an array says.
#[derive(Debug, PartialEq)]
pub(super) struct Head {
    pub(super) shape: Vec<u64>,
    pub(super) scalar: Scalar,
    pub(super) column_major: bool,
    /// Where the values start.
    pub(super) start: u64,
}

impl Head {
    /// With one long dimension there is only one order.
    pub(super) fn by_columns(&self) -> bool {
        self.column_major && self.shape.iter().filter(|n| **n != 1).count() > 1
    }
}

pub(super) fn open(input: Input) -> Opened {
    let anywhere: Option<Box<dyn Anywhere>> =
        if matches!(input, Input::Stream(_)) { None } else { Some(input.again()?) };
    let (mut stream, length) = input.stream()?;
    let head = head(&mut stream)?;
    let start = head.start;
    let data = match anywhere {
        _ if !head.by_columns() => Data::Rows(stream),
        Some(anywhere) => Data::Columns(anywhere, start),
        None => {
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).map_err(unreadable)?;
            return table(
                head,
                bytes.len() as u64,
                |bytes| Data::Columns(Box::new(Cursor::new(bytes)), 0),
                bytes,
            );
        }
    };
    table(head, length.map_or(u64::MAX, |length| length.saturating_sub(start)), |data| data, data)
}

fn table<T>(head: Head, length: u64, data: impl FnOnce(T) -> Data, from: T) -> Opened {
    let array = Array { name: "X".to_owned(), shape: head.shape, scalar: head.scalar, data: data(from) };
    if array.size() > length {
        return Err(cut_off(NPY));
    }
    arrays::one(NPY, array)
}

/// Reads the header, up to where the values start.
pub(super) fn head(input: &mut dyn Read) -> Result<Head, Problem> {
    let mut magic = [0; 8];
    exactly(input, &mut magic)?;
    if !magic.starts_with(b"\x93NUMPY") {
        return Err(damaged("it does not start as one"));
    }
    let (length, before) = match magic[6] {
        1 => {
            let mut bytes = [0; 2];
            exactly(input, &mut bytes)?;
            (usize::from(u16::from_le_bytes(bytes)), 10)
        }
        2 | 3 => {
            let mut bytes = [0; 4];
            exactly(input, &mut bytes)?;
            (usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX), 12)
        }
        version => return Err(Problem::Unsupported(format!("NPY version {version} is not known"))),
    };
    if length > HEADER {
        return Err(damaged("its header is too long"));
    }
    let mut text = vec![0; length];
    exactly(input, &mut text)?;
    parse(&String::from_utf8_lossy(&text), (before + length) as u64)
}

fn exactly(input: &mut dyn Read, bytes: &mut [u8]) -> Result<(), Problem> {
    input.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => cut_off(NPY),
        _ => unreadable(error),
    })
}

fn damaged(why: &str) -> Problem {
    Problem::Damaged { format: NPY, why: why.to_owned() }
}

/// A dictionary as Python writes it: `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
fn parse(text: &str, start: u64) -> Result<Head, Problem> {
    let after = |key: &str| {
        let at = text.find(&format!("'{key}'")).or_else(|| text.find(&format!("\"{key}\"")))?;
        text[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
    };
    let missing = |key: &str| damaged(&format!("no `{key}` in its header"));
    let descr = after("descr").ok_or_else(|| missing("descr"))?;
    if descr.starts_with('[') {
        return Err(Problem::Unsupported(
            "the array has named fields: save its columns as a plain array".to_owned(),
        ));
    }
    let quote = descr.chars().next().filter(|c| "'\"".contains(*c)).ok_or_else(|| missing("descr"))?;
    let descr = descr[1..].split(quote).next().unwrap_or_default();
    let order = after("fortran_order").ok_or_else(|| missing("fortran_order"))?;
    let column_major = match () {
        () if order.starts_with("True") => true,
        () if order.starts_with("False") => false,
        () => return Err(missing("fortran_order")),
    };
    let shape =
        after("shape").and_then(|text| text.strip_prefix('(')).and_then(|text| text.split(')').next());
    let numbers = shape.ok_or_else(|| missing("shape"))?.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape: Result<Vec<u64>, _> = numbers.map(str::parse).collect();
    let shape = shape.map_err(|_| missing("shape"))?;
    if shape.len() > 32 {
        return Err(damaged("it has more than 32 dimensions"));
    }
    Ok(Head { shape, scalar: scalar(descr)?, column_major, start })
}

/// `<f8` and the like.
fn scalar(descr: &str) -> Result<Scalar, Problem> {
    let unknown = || {
        let what = match descr.trim_start_matches(['<', '>', '|', '=']).chars().next() {
            Some('O') => "Python objects",
            Some('c') => "complex numbers",
            Some('M') => "dates",
            Some('m') => "time differences",
            _ => "values of another kind",
        };
        Problem::Unsupported(format!("the array holds {what} (`{descr}`), not real numbers"))
    };
    let (big_endian, rest) = match descr.split_at_checked(1).ok_or_else(unknown)? {
        (">", rest) => (true, rest),
        ("<" | "|" | "=", rest) => (false, rest),
        _ => (false, descr),
    };
    let (kind, size) = rest.split_at_checked(1).ok_or_else(unknown)?;
    let size: usize = size.parse().map_err(|_| unknown())?;
    let (kind, size) = match kind {
        "f" => (Kind::Float, size),
        "i" => (Kind::Signed, size),
        "u" => (Kind::Unsigned, size),
        "b" => (Kind::Bool, size),
        "S" => (Kind::Bytes, size),
        "U" => (Kind::Unicode, size.saturating_mul(4)),
        _ => return Err(unknown()),
    };
    Scalar::new(kind, size, big_endian).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_numpy_writes_them() {
        let head = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }     \n", 128).unwrap();
        let scalar = Scalar { kind: Kind::Float, size: 8, big_endian: false };
        assert_eq!(head, Head { shape: vec![3, 4], scalar, column_major: false, start: 128 });
        let head = parse("{'shape': (7,), 'fortran_order': True, 'descr': \">i2\"}", 64).unwrap();
        assert_eq!((head.shape.as_slice(), head.scalar.size, head.scalar.big_endian), (&[7][..], 2, true));
        assert!(!head.by_columns());
        assert_eq!(
            parse("{'descr': '|b1', 'fortran_order': True, 'shape': ()}", 0).unwrap().shape,
            [0u64; 0]
        );
    }

    #[test]
    fn other_arrays_are_refused_by_name() {
        for (descr, what) in [
            ("'|O'", "Python objects"),
            ("'<c16'", "complex numbers"),
            ("'<M8[ns]'", "dates"),
            ("'<f16'", "`<f16`"),
            ("[('a', '<f8')]", "named fields"),
        ] {
            let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}");
            let message = parse(&text, 0).unwrap_err().to_string();
            assert!(message.contains(what), "{message}");
        }
    }
}
