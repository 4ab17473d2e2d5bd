//! Texts that are not UTF-8: which encoding they have, and reading them as UTF-8.

use super::{east_asian, one_byte};
use crate::error::Problem;
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::io::{self, Read};

/// How a text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    /// UTF-8 as far as can be seen; if it turns out not to be, and no letter so far contradicts, Windows-1252.
    Assumed,
    /// UTF-8 because someone said so, or because of its mark.
    Utf8,
    Other(&'static Encoding),
}

/// The encoding of this name, as the web knows it.
pub(super) fn named(name: &str) -> Result<Coding, Problem> {
    let label = name.trim().to_lowercase().replace('_', "-");
    let label = match label.as_str() {
        // The same under the names of Python and Excel.
        "utf-16-le" => "utf-16le",
        "utf-16-be" => "utf-16be",
        "utf-8-sig" => "utf-8",
        "cp1252" | "ansi" | "latin-1" | "latin1" => "windows-1252",
        "mac-roman" | "macroman" => "macintosh",
        other => other,
    };
    match Encoding::for_label(label.as_bytes()) {
        Some(encoding) if encoding == UTF_8 => Ok(Coding::Utf8),
        Some(encoding) => Ok(Coding::Other(encoding)),
        None => Err(Problem::Unsupported(format!(
            "`--encoding {}` is not known; there are utf-8, utf-16le, utf-16be, windows-1252 (latin1), iso-8859-15, \
             windows-1251, macintosh, shift_jis, gb18030, …",
            crate::error::shorten(name)
        ))),
    }
}

/// The encoding that a text seems to have by its first bytes, and the length of its mark.
pub(super) fn guess(head: &[u8]) -> (Coding, u64) {
    match head {
        [0xef, 0xbb, 0xbf, ..] => (Coding::Utf8, 3),
        [0xff, 0xfe, ..] => (Coding::Other(UTF_16LE), 2),
        [0xfe, 0xff, ..] => (Coding::Other(UTF_16BE), 2),
        _ => (unmarked(head), 0),
    }
}

/// Latin letters have a zero byte in UTF-16, first or last; in other texts there is none.
fn unmarked(head: &[u8]) -> Coding {
    let pairs = head.chunks_exact(2);
    let (count, zeros) = (pairs.len(), |side: usize| pairs.clone().filter(|pair| pair[side] == 0).count());
    let (first, last) = (zeros(0), zeros(1));
    // Half of the characters at least, and on one side only.
    match () {
        () if count > 1 && last * 2 >= count && first == 0 => Coding::Other(UTF_16LE),
        () if count > 1 && first * 2 >= count && last == 0 => Coding::Other(UTF_16BE),
        () => match std::str::from_utf8(head) {
            // A character may be cut at the end.
            Err(error) if error.error_len().is_some() && head[..error.valid_up_to()].is_ascii() => {
                Coding::Other(east_asian::guess(head).unwrap_or_else(|| one_byte::guess(head)))
            }
            _ => Coding::Assumed,
        },
    }
}

/// A line in Windows-1252.
pub(super) fn windows(line: &[u8]) -> String {
    WINDOWS_1252.decode_without_bom_handling(line).0.into_owned()
}

/// The first bytes as UTF-8; what is cut off at the end is left out.
pub(super) fn preview(coding: Coding, head: &[u8]) -> String {
    match coding {
        Coding::Other(encoding) => {
            let text = encoding.decode_without_bom_handling(head).0;
            text.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned()
        }
        Coding::Assumed | Coding::Utf8 => match std::str::from_utf8(head) {
            Ok(text) => text.to_owned(),
            Err(error) => String::from_utf8_lossy(&head[..error.valid_up_to()]).into_owned(),
        },
    }
}

/// Bytes of an encoding, read as UTF-8.
pub(super) struct Transcoded {
    input: Box<dyn Read>,
    decoder: Decoder,
    raw: Vec<u8>,
    /// Where the bytes that were not decoded yet are.
    start: usize,
    end: usize,
    /// Whether there are no more bytes to come, and whether all of them are decoded.
    finished: bool,
    done: bool,
}

/// How many bytes are decoded at a time.
const CHUNK: usize = 1 << 16;

impl Transcoded {
    pub(super) fn new(input: Box<dyn Read>, encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder_without_bom_handling();
        Self { input, decoder, raw: vec![0; CHUNK], start: 0, end: 0, finished: false, done: false }
    }
}

impl Read for Transcoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Less than a character has no room for one.
        if buffer.len() < 8 {
            return Err(io::Error::other("a buffer of no size"));
        }
        while !self.done {
            if self.start == self.end && !self.finished {
                (self.start, self.end) = (0, self.input.read(&mut self.raw)?);
                self.finished = self.end == 0;
            }
            let (result, read, written, _) =
                self.decoder.decode_to_utf8(&self.raw[self.start..self.end], buffer, self.finished);
            self.start += read;
            self.done = self.finished && result == CoderResult::InputEmpty;
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], encoding: &'static Encoding) -> String {
        let mut text = String::new();
        let input = io::BufReader::new(Transcoded::new(Box::new(io::Cursor::new(bytes.to_vec())), encoding));
        io::BufReader::new(input).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn encodings_are_told_apart() {
        let text = "Stadt;Größe\nKöln;1\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(guess(&little), (Coding::Other(UTF_16LE), 0));
        assert_eq!(guess(&big), (Coding::Other(UTF_16BE), 0));
        assert_eq!(guess(text.as_bytes()), (Coding::Assumed, 0));
        let latin = WINDOWS_1252.encode(text).0;
        assert_eq!(guess(&latin), (Coding::Other(WINDOWS_1252), 0));
        assert_eq!(guess(b"\xef\xbb\xbfa"), (Coding::Utf8, 3));
        assert_eq!((read(&little, UTF_16LE), read(&big, UTF_16BE)), (text.to_owned(), text.to_owned()));
        assert_eq!((read(&latin, WINDOWS_1252), windows(&latin)), (text.to_owned(), text.to_owned()));
        assert!(named("latin1").is_ok() && named("utf_16_le").is_ok() && named("klingon").is_err());
    }
}
