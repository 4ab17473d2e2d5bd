//! A file into a table: gzip, byte-order marks and the format are found by content; a name that says otherwise is
//! an error.

use super::cells::Words;
use super::decode::{self, Coding, Transcoded};
use super::record::{Records, unreadable};
use super::shape::shape;
use super::table::{Outline, Reading, Source};
use super::text::Text;
use super::{arff, idx, ipc, json, mat, npy, npz, parquet, workbook};
use crate::error::Problem;
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much of a file is looked at before it is read.
const HEAD: u64 = 1 << 16;

/// The most that is unpacked into memory, for formats that cannot be read front to back.
const UNPACKED: u64 = 1 << 31;

/// An open table: what is known of it, and where its rows come from.
pub(super) type Opened = Result<(Outline, Box<dyn Source>), Problem>;

/// The bytes of a file.
pub(super) enum Input {
    /// On disk: any part of it can be read.
    File(File),
    Memory(Bytes),
    /// Front to back only.
    Stream(Box<dyn Read>),
}

/// What can be read anywhere.
pub(super) trait Anywhere: Read + Seek {}
impl<T: Read + Seek> Anywhere for T {}

impl Input {
    /// Front to back, from the start; and how long it is, if that is known.
    pub(super) fn stream(self) -> Result<(Box<dyn Read>, Option<u64>), Problem> {
        Ok(match self {
            Self::File(file) => {
                let length = file.metadata().map_err(Problem::Read)?.len();
                (Box::new(BufReader::with_capacity(1 << 16, file)), Some(length))
            }
            Self::Memory(bytes) => {
                let length = bytes.len() as u64;
                (Box::new(Cursor::new(bytes)), Some(length))
            }
            Self::Stream(stream) => (Box::new(BufReader::with_capacity(1 << 16, stream)), None),
        })
    }

    /// As something on disk or in memory: a stream is read to its end.
    pub(super) fn whole(self) -> Result<Self, Problem> {
        match self {
            Self::Stream(stream) => Ok(Self::Memory(read_all(stream)?)),
            whole => Ok(whole),
        }
    }

    /// All of it, in memory.
    pub(super) fn bytes(self) -> Result<Bytes, Problem> {
        match self {
            Self::File(file) => read_all(Box::new(file)),
            Self::Memory(bytes) => Ok(bytes),
            Self::Stream(stream) => read_all(stream),
        }
    }

    /// A second, independent way to read the same bytes; none for a stream.
    pub(super) fn again(&self) -> Result<Box<dyn Anywhere>, Problem> {
        match self {
            Self::File(file) => {
                Ok(Box::new(BufReader::new(Shared { file: file.try_clone().map_err(Problem::Read)?, at: 0 })))
            }
            Self::Memory(bytes) => Ok(Box::new(Cursor::new(bytes.clone()))),
            Self::Stream(_) => Err(Problem::Unpack),
        }
    }
}

/// A file whose position is its own, although others read it too.
struct Shared {
    file: File,
    at: u64,
}

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(self.at))?;
        let read = self.file.read(buffer)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // Relative to where this reader is, not to where the last one left the file.
        self.file.seek(SeekFrom::Start(self.at))?;
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}

fn read_all(input: Box<dyn Read>) -> Result<Bytes, Problem> {
    let mut bytes = Vec::new();
    input.take(UNPACKED + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > UNPACKED { Err(Problem::Unpack) } else { Ok(bytes.into()) }
}

/// The name of a file, for messages.
pub(super) fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Whether a path stands for standard input.
fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens a file, or standard input.
pub(super) fn open(path: &Path, reading: &Reading) -> Opened {
    let input = if is_stdin(path) { Input::Stream(Box::new(io::stdin().lock())) } else { on_disk(path)? };
    recognise(path, input, reading)
}

/// Opens bytes in memory under a name.
pub(super) fn open_bytes(path: &Path, bytes: Vec<u8>, reading: &Reading) -> Opened {
    recognise(path, Input::Memory(bytes.into()), reading)
}

/// Opens a file that goes with another one.
pub(super) fn beside(path: &Path) -> Result<Input, Problem> {
    let (_, input) = unpack(on_disk(path)?)?;
    Ok(input)
}

fn on_disk(path: &Path) -> Result<Input, Problem> {
    let file = File::open(path).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Problem::Missing,
        _ => Problem::Read(e),
    })?;
    let about = file.metadata().map_err(Problem::Read)?;
    match () {
        () if about.is_dir() => Err(Problem::Directory),
        () if about.is_file() => Ok(Input::File(file)),
        () => Ok(Input::Stream(Box::new(file))),
    }
}

/// A format, told by how a file starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Parquet,
    ArrowFile,
    ArrowStream,
    Npy,
    Npz,
    Mat,
    Idx,
    /// Excel or OpenDocument, in a zip archive or of the old kind.
    Workbook,
    Json,
    Arff,
    Text,
}

impl Format {
    fn of(head: &[u8]) -> Result<Self, Problem> {
        if let Some(what) = unsupported(head) {
            return Err(Problem::Unsupported(what.to_owned()));
        }
        Ok(match head {
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [b'P', b'A', b'R', b'E', ..] => {
                return Err(Problem::Unsupported("the Parquet file is encrypted".to_owned()));
            }
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Self::ArrowFile,
            [b'F', b'E', b'A', b'1', ..] => {
                return Err(Problem::Unsupported(
                    "a Feather file of version 1: save it as version 2".to_owned(),
                ));
            }
            [0xff, 0xff, 0xff, 0xff, ..] => Self::ArrowStream,
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Self::Npy,
            [b'P', b'K', 3, 4, ..] if is_workbook(head) => Self::Workbook,
            [0xd0, 0xcf, 0x11, 0xe0, ..] => Self::Workbook,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Npz,
            [0x89, b'H', b'D', b'F', ..] => return Err(Problem::Unsupported(HDF5.to_owned())),
            [0, 0, 8 | 9 | 11..=14, 1..=u8::MAX, ..] => Self::Idx,
            _ if head.starts_with(b"MATLAB 7.3") => return Err(Problem::Unsupported(HDF5.to_owned())),
            _ if head.starts_with(b"MATLAB 5.0") => Self::Mat,
            _ if matches!(head.get(124..128), Some([0, 1, b'I', b'M'] | [1, 0, b'M', b'I'])) => Self::Mat,
            _ if is_json(head) => Self::Json,
            _ if arff::is_arff(head) => Self::Arff,
            _ => Self::Text,
        })
    }

    /// What a name promises.
    fn expected(path: &Path) -> Option<&'static str> {
        let lower = path.file_name()?.to_string_lossy().to_lowercase();
        let stem = PathBuf::from(lower.strip_suffix(".gz").unwrap_or(&lower));
        Some(match stem.extension()?.to_str()? {
            "parquet" | "pq" => "Parquet",
            "arrow" | "feather" | "ipc" | "arrows" => "Arrow",
            "npy" => "NPY",
            "npz" => "NPZ",
            "mat" => "MAT",
            "xlsx" | "xlsm" | "xlsb" | "xls" => "Excel",
            "ods" => "OpenDocument",
            "arff" => "ARFF",
            _ => return None,
        })
    }
}

/// Whether a zip archive starts as a workbook does: NPZ files have arrays in them only.
fn is_workbook(head: &[u8]) -> bool {
    let entry = head.get(30..).unwrap_or_default();
    let starts: [&[u8]; 6] =
        [b"[Content_Types].xml", b"_rels/", b"mimetype", b"xl/", b"docProps/", b"content.xml"];
    starts.iter().any(|start| entry.starts_with(start))
}

/// Files of other kinds that users may have: what such a file is, and what to do.
fn unsupported(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "compressed by Zstandard: unpack it, or compress it by gzip",
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => "compressed by bzip2: unpack it, or compress it by gzip",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "compressed by xz: unpack it, or compress it by gzip",
        [0x80, 2..=5, b'c' | b'}' | b']' | 0x95, ..] => {
            "a Python pickle, which could run anything: save it as NPY, NPZ, Parquet or CSV"
        }
        // The length of a header that is JSON.
        [_, _, _, _, 0, 0, 0, 0, b'{', b'"', ..] => {
            "a safetensors file: a model goes after --model, and a table is saved as NPY, NPZ, Parquet or CSV"
        }
        _ if head.starts_with(b"SQLite format 3\0") => "an SQLite database: save the table as CSV",
        _ if head.starts_with(b"%PDF") => {
            "a PDF document, not a table: save the table in it as CSV or a workbook"
        }
        _ if is_markup(head) => {
            "an HTML or XML document, not a table: save the table in it as CSV or a workbook"
        }
        _ => return None,
    })
}

/// Whether a text starts with a tag, as HTML and XML do.
fn is_markup(head: &[u8]) -> bool {
    const STARTS: [&[u8]; 6] = [b"<!doctype", b"<html", b"<?xml", b"<table", b"<!--", b"<head"];
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    STARTS.iter().any(|start| head.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start)))
}

/// Whether a text starts like lists or objects of JSON, which no table does.
fn is_json(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut marks = head.iter().filter(|b| !b.is_ascii_whitespace());
    matches!(
        (marks.next(), marks.next()),
        (Some(b'{'), Some(b'"' | b'}')) | (Some(b'['), Some(b'[' | b'{' | b'"' | b']'))
    )
}

const HDF5: &str = "an HDF5 file (MAT 7.3 is one): save it as MAT 5 (`-v7` in MATLAB), Parquet, NPZ or CSV";

fn recognise(path: &Path, input: Input, reading: &Reading) -> Opened {
    let (head, input) = unpack(input)?;
    match Format::of(&head)? {
        Format::Parquet => parquet::open(input.whole()?),
        Format::ArrowFile => ipc::open_file(&input.whole()?),
        Format::ArrowStream => ipc::open_stream(input),
        Format::Npy => npy::open(input),
        Format::Npz => npz::open(&input.whole()?),
        Format::Mat => mat::open(&input.bytes()?),
        Format::Idx => idx::open(input, path),
        Format::Workbook => workbook::open(input.bytes()?, reading),
        Format::Json => json::open(&input.bytes()?, reading),
        Format::Arff => arff(&head, input, reading),
        Format::Text => match Format::expected(path) {
            Some(_) if head.is_empty() => Err(Problem::Empty),
            Some(format) => Err(Problem::NotA(format)),
            None => text(&head, input, reading),
        },
    }
}

/// What a file starts with, and the whole from the start, without gzip.
fn unpack(input: Input) -> Result<(Vec<u8>, Input), Problem> {
    let (magic, input) = peek(input, 2)?;
    let input = match magic[..] {
        [0x1f, 0x8b] => Input::Stream(Box::new(MultiGzDecoder::new(input.stream()?.0))),
        _ => input,
    };
    peek(input, HEAD)
}

/// The first bytes, and the whole again.
fn peek(input: Input, bytes: u64) -> Result<(Vec<u8>, Input), Problem> {
    let mut head = Vec::new();
    match input {
        Input::File(mut file) => {
            file.by_ref().take(bytes).read_to_end(&mut head).map_err(unreadable)?;
            file.rewind().map_err(Problem::Read)?;
            Ok((head, Input::File(file)))
        }
        Input::Memory(all) => {
            let length = usize::try_from(bytes).unwrap_or(usize::MAX).min(all.len());
            Ok((all[..length].to_vec(), Input::Memory(all)))
        }
        Input::Stream(mut stream) => {
            stream.by_ref().take(bytes).read_to_end(&mut head).map_err(unreadable)?;
            Ok((head.clone(), Input::Stream(Box::new(Cursor::new(head).chain(stream)))))
        }
    }
}

fn text(head: &[u8], input: Input, reading: &Reading) -> Opened {
    let (coding, mark) = coding(head, reading)?;
    let body = &head[usize::try_from(mark).unwrap_or(0)..];
    let start = decode::preview(coding, whole_lines(body, coding, head.len() as u64));
    if start.trim().is_empty() && body.iter().all(|byte| byte.is_ascii_whitespace() || *byte == 0) {
        return Err(Problem::Empty);
    }
    // What is not UTF-8 is reported with its line when it is read.
    let control = |c: char| u32::from(c) < 0x20 && !c.is_ascii_whitespace();
    if start.contains(control) {
        let at = head.iter().position(|byte| control(char::from(*byte))).unwrap_or(0);
        return Err(Problem::Binary { byte: head[at], at });
    }
    let shape = shape(&start, reading.skip);
    let stream = decoded(input, coding, mark)?;
    let comma = reading.decimal.map_or(shape.comma, |mark| mark == ',');
    let words = Words { gaps: reading.gaps.clone(), comma };
    let records = Records::new(stream, shape.delimiter, line_end(&start), coding);
    let (mut outline, text) = Text::open(records, &shape, reading.header, words)?;
    outline.untyped = true;
    outline.decimal = reading.decimal.or(shape.comma.then_some(','));
    match shape.titles {
        _ if reading.skip.is_some() => {}
        0 => {}
        1 => outline.notes.push("line 1 is above the table and left out; --skip 0 reads it".to_owned()),
        n => outline
            .notes
            .push(format!("lines 1 to {n} are above the table and left out; --skip 0 reads them")),
    }
    outline.notes.extend(guessed_encoding(coding, reading));
    Ok((outline, Box::new(text)))
}

/// Which encoding was guessed, if it is not UTF-8.
fn guessed_encoding(coding: Coding, reading: &Reading) -> Option<String> {
    match (coding, &reading.encoding) {
        (Coding::Other(encoding), None) => {
            Some(format!("read as {}; --encoding says otherwise", encoding.name()))
        }
        _ => None,
    }
}

/// How a text is written, and the bytes of its mark.
fn coding(head: &[u8], reading: &Reading) -> Result<(Coding, u64), Problem> {
    let (guessed, mark) = decode::guess(head);
    let named = reading.encoding.as_deref().map(decode::named).transpose()?;
    Ok((named.unwrap_or(guessed), mark))
}

/// A text behind its mark, as UTF-8 where another encoding is known.
fn decoded(input: Input, coding: Coding, mark: u64) -> Result<Box<dyn io::BufRead>, Problem> {
    let (stream, _) = input.stream()?;
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    io::copy(&mut (&mut stream).take(mark), &mut io::sink()).map_err(unreadable)?;
    Ok(match coding {
        Coding::Other(encoding) => {
            Box::new(BufReader::with_capacity(1 << 16, Transcoded::new(Box::new(stream), encoding)))
        }
        Coding::Assumed | Coding::Utf8 => Box::new(stream),
    })
}

/// The last byte of a line of a text that starts so.
fn line_end(start: &str) -> u8 {
    if start.contains('\r') && !start.contains('\n') { b'\r' } else { b'\n' }
}

/// The lines of an ARFF file.
fn arff(head: &[u8], input: Input, reading: &Reading) -> Opened {
    let (coding, mark) = coding(head, reading)?;
    let end = line_end(&String::from_utf8_lossy(head));
    let records = Records::new(decoded(input, coding, mark)?, ',', end, coding);
    let (mut outline, source) = arff::open(records, reading)?;
    outline.notes.extend(guessed_encoding(coding, reading));
    Ok((outline, source))
}

/// The start of a file without a line that is cut off.
fn whole_lines(body: &[u8], coding: Coding, read: u64) -> &[u8] {
    if read < HEAD {
        return body;
    }
    let wide = matches!(coding, Coding::Other(encoding) if encoding.name().starts_with("UTF-16"));
    let end = |byte: u8| body.iter().rposition(|b| *b == byte).map(|at| at + 1);
    match end(b'\n').or_else(|| end(b'\r')) {
        Some(end) if wide => &body[..end.next_multiple_of(2).min(body.len())],
        Some(end) => &body[..end],
        None => body,
    }
}
