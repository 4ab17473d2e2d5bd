//! NPZ: a zip archive with an NPY file for each array. Each array is read on its own, through its own window.

use super::arrays::{self, Array, Data, cut_off};
use super::npy;
use super::open::{Anywhere, Input, Opened};
use super::record::unreadable;
use crate::error::Problem;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::io::{self, BufReader, Cursor, Read, SeekFrom};

const NPZ: &str = "NPZ";

/// The end of the directory is this close to the end of the file.
const TAIL: u64 = 22 + 0xffff;

/// The longest directory that is read: tens of thousands of arrays.
const DIRECTORY: u64 = 1 << 23;

/// A file in the archive.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    deflated: bool,
    packed: u64,
    unpacked: u64,
    crc: u32,
    /// Where its own header is.
    header: u64,
}

pub(super) fn open(input: &Input) -> Opened {
    let mut archive = input.again()?;
    let mut arrays = Vec::new();
    let entries = directory(&mut *archive)?;
    let is_array = |entry: &Entry| entry.name.strip_suffix(".npy").is_some();
    if !entries.is_empty() && !entries.iter().any(is_array) {
        let names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
        return Err(Problem::Unsupported(format!(
            "a zip archive of {}: unpack it first",
            super::list(&names)
        )));
    }
    for entry in entries {
        let Some(name) = entry.name.strip_suffix(".npy") else { continue };
        let start = contents(&mut *archive, &entry)?;
        let mut stream = entry.window(input.again()?, start)?;
        let head = match npy::head(&mut stream) {
            Ok(head) => head,
            // What is not asked for does no harm, whatever it is.
            Err(Problem::Unsupported(_)) if !["X", "x", "y"].contains(&name) => continue,
            Err(problem) => return Err(problem),
        };
        let room = entry.unpacked.saturating_sub(head.start);
        let data = match () {
            () if !head.by_columns() => Data::Rows(stream),
            () if !entry.deflated => Data::Columns(input.again()?, start + head.start),
            () => {
                let mut bytes = Vec::new();
                stream.take(room).read_to_end(&mut bytes).map_err(unreadable)?;
                Data::Columns(Box::new(Cursor::new(bytes)), 0)
            }
        };
        let array = Array { name: name.to_owned(), shape: head.shape, scalar: head.scalar, data };
        if array.size() > room {
            return Err(cut_off(NPZ));
        }
        arrays.push(array);
    }
    arrays::many(NPZ, arrays)
}

/// Refuses a zip archive whose files unpack to more than so many bytes in all, or are not as their checksums say.
pub(super) fn check(input: &Input, limit: u64) -> Result<(), Problem> {
    let mut archive = input.again()?;
    let mut total = 0;
    for entry in directory(&mut *archive)? {
        let start = contents(&mut *archive, &entry)?;
        archive.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let packed = (&mut archive).take(entry.packed);
        let room = limit.saturating_sub(total) + 1;
        total += if entry.deflated {
            io::copy(&mut DeflateDecoder::new(BufReader::new(packed)).take(room), &mut io::sink())
        } else {
            io::copy(&mut packed.take(room), &mut io::sink())
        }
        .map_err(unreadable)?;
        if total > limit {
            return Err(Problem::Unpack);
        }
    }
    Ok(())
}

impl Entry {
    /// The contents, unpacked; their checksum is compared at the end.
    fn window(&self, mut archive: Box<dyn Anywhere>, start: u64) -> Result<Box<dyn Read>, Problem> {
        archive.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let packed = archive.take(self.packed);
        let unpacked: Box<dyn Read> = if self.deflated {
            Box::new(DeflateDecoder::new(BufReader::new(packed)))
        } else {
            Box::new(packed)
        };
        let checked = Checked { input: unpacked.take(self.unpacked), crc: Crc::new(), expected: self.crc };
        Ok(Box::new(BufReader::with_capacity(1 << 16, checked)))
    }
}

/// Bytes with a checksum behind the last one.
struct Checked {
    input: io::Take<Box<dyn Read>>,
    crc: Crc,
    expected: u32,
}

impl Read for Checked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.crc.update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() && self.input.limit() == 0 && self.crc.sum() != self.expected {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "wrong checksum"));
        }
        Ok(read)
    }
}

/// The files in the archive, from the directory at its end.
fn directory(archive: &mut dyn Anywhere) -> Result<Vec<Entry>, Problem> {
    let length = archive.seek(SeekFrom::End(0)).map_err(unreadable)?;
    let tail = window(archive, length.saturating_sub(TAIL), TAIL)?;
    let end = (0..tail.len().saturating_sub(21)).rev().find(|&at| tail[at..].starts_with(b"PK\x05\x06"));
    let end = end.ok_or_else(|| cut_off(NPZ))?;
    let record = Fields(&tail[end..]);
    let (mut count, mut size, mut start) =
        (u64::from(record.u16(10)), u64::from(record.u32(12)), u64::from(record.u32(16)));
    // Large archives say it in a record before this one.
    if let Some(locator) =
        end.checked_sub(20).map(|at| Fields(&tail[at..])).filter(|l| l.0.starts_with(b"PK\x06\x07"))
    {
        let large = window(archive, locator.u64(8), 56)?;
        let large = Fields(&large);
        if !large.0.starts_with(b"PK\x06\x06") || large.0.len() < 56 {
            return Err(damaged("its directory is not where it should be"));
        }
        (count, size, start) = (large.u64(32), large.u64(40), large.u64(48));
    }
    if size > DIRECTORY {
        return Err(damaged("its directory is too long"));
    }
    let bytes = window(archive, start, size)?;
    let (mut entries, mut rest) = (Vec::new(), &bytes[..]);
    while (entries.len() as u64) < count {
        let fields = Fields(rest);
        let lengths = [fields.u16(28), fields.u16(30), fields.u16(32)].map(usize::from);
        let whole = 46 + lengths.iter().sum::<usize>();
        if !rest.starts_with(b"PK\x01\x02") || rest.len() < whole {
            return Err(damaged("its directory is broken"));
        }
        entries.push(entry(&fields, &rest[46..46 + lengths[0]], &rest[46 + lengths[0]..][..lengths[1]])?);
        rest = &rest[whole..];
    }
    Ok(entries)
}

fn entry(fields: &Fields<'_>, name: &[u8], extra: &[u8]) -> Result<Entry, Problem> {
    let name = String::from_utf8_lossy(name).into_owned();
    if fields.u16(8) & 1 != 0 {
        return Err(Problem::Unsupported(format!("`{name}` in the archive is encrypted")));
    }
    let method = fields.u16(10);
    if !matches!(method, 0 | 8) {
        return Err(Problem::Unsupported(format!(
            "`{name}` in the archive is packed by an unknown method ({method})"
        )));
    }
    let mut large = Fields(large_sizes(extra));
    let mut size = |at: usize| match fields.u32(at) {
        u32::MAX if large.0.len() >= 8 => {
            let size = large.u64(0);
            large = Fields(&large.0[8..]);
            size
        }
        small => u64::from(small),
    };
    let (unpacked, packed, header) = (size(24), size(20), size(42));
    let deflated = method == 8;
    if !deflated && packed != unpacked {
        return Err(damaged("its directory is broken"));
    }
    Ok(Entry { name, deflated, packed, unpacked, crc: fields.u32(16), header })
}

/// The sizes of a large file, in the extra field 1.
fn large_sizes(mut extra: &[u8]) -> &[u8] {
    while extra.len() >= 4 {
        let (kind, length) = (Fields(extra).u16(0), usize::from(Fields(extra).u16(2)));
        let Some((field, rest)) = extra[4..].split_at_checked(length) else { break };
        if kind == 1 {
            return field;
        }
        extra = rest;
    }
    &[]
}

/// Where the contents of a file start: behind its own header.
fn contents(archive: &mut dyn Anywhere, entry: &Entry) -> Result<u64, Problem> {
    let bytes = window(archive, entry.header, 30)?;
    let fields = Fields(&bytes);
    if !bytes.starts_with(b"PK\x03\x04") || bytes.len() < 30 {
        return Err(damaged("an array is not where its directory says"));
    }
    Ok(entry.header.saturating_add(30 + u64::from(fields.u16(26)) + u64::from(fields.u16(28))))
}

/// At most so many bytes from a position: fewer if there are no more.
fn window(archive: &mut dyn Anywhere, start: u64, length: u64) -> Result<Vec<u8>, Problem> {
    if i64::try_from(start).is_err() {
        return Err(damaged("its directory is broken"));
    }
    let mut bytes = Vec::new();
    archive.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    archive.take(length).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

fn damaged(why: &str) -> Problem {
    Problem::Damaged { format: NPZ, why: why.to_owned() }
}

/// Numbers at fixed places; 0 beyond the end.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        self.0.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }
}
