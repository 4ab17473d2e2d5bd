//! A file into text: gzip and byte-order marks are found by content.

use super::record::{Records, sniff, unreadable};
use crate::error::Problem;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

/// How much of a file is looked at before it is read.
const HEAD: u64 = 1 << 16;

/// Whether a path stands for standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Opens a file, or standard input, as records.
pub(super) fn open(path: &Path) -> Result<Records, Problem> {
    let raw: Box<dyn Read> = if is_stdin(path) {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Problem::Missing,
            _ => Problem::Read(e),
        })?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            return Err(Problem::Directory);
        }
        Box::new(file)
    };
    let (magic, raw) = peek(raw, 2)?;
    let text: Box<dyn Read> =
        if magic == [0x1f, 0x8b] { Box::new(MultiGzDecoder::new(raw)) } else { Box::new(raw) };
    let (head, text) = peek(text, HEAD)?;
    let delimiter = sniff(check(&head)?);
    let mark = byte_order_mark(&head);
    let mut text = BufReader::with_capacity(1 << 16, text);
    io::copy(&mut (&mut text).take(mark), &mut io::sink()).map_err(unreadable)?;
    Ok(Records::new(Box::new(text), delimiter))
}

/// The first bytes, and the whole again.
fn peek(mut input: Box<dyn Read>, bytes: u64) -> Result<(Vec<u8>, Box<dyn Read>), Problem> {
    let mut head = Vec::new();
    input.by_ref().take(bytes).read_to_end(&mut head).map_err(unreadable)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(input))))
}

fn byte_order_mark(head: &[u8]) -> u64 {
    if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// The whole lines at the start of the file, if it is text at all.
fn check(head: &[u8]) -> Result<&str, Problem> {
    let whole = if (head.len() as u64) < HEAD {
        head.len()
    } else {
        head.iter().rposition(|b| *b == b'\n').map_or(head.len(), |at| at + 1)
    };
    let body = &head[usize::try_from(byte_order_mark(head)).unwrap_or(0)..whole];
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(Problem::Empty);
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(Problem::Utf16);
    }
    let control = |b: &u8| *b < 0x20 && !b.is_ascii_whitespace();
    if let Some(at) = head.iter().position(control) {
        return Err(Problem::Binary { byte: head[at], at });
    }
    if body.contains(&b'\r') && !body.contains(&b'\n') {
        return Err(Problem::CarriageReturns);
    }
    // What is not UTF-8 is reported with its line when it is read.
    Ok(match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(e) => std::str::from_utf8(&body[..e.valid_up_to()]).unwrap_or_default(),
    })
}
