//! Arrow IPC: the file format (Feather is one) and the stream format, message by message.
//!
//! A file is a stream between two marks, with an index behind it that reading front to back does not need. Messages are
//! cut out here, so that what they claim can be compared with what is there before anything is allocated.

use super::arrays::cut_off;
use super::batches::{Batches, Columnar, guard, outline};
use super::open::{Anywhere, Input, Opened};
use super::record::unreadable;
use crate::error::Problem;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{Endianness, RecordBatch as Layout, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use std::collections::VecDeque;
use std::io::{Read, SeekFrom};
use std::sync::Arc;

const ARROW: &str = "Arrow";

/// Before the messages of a file: the mark, filled up to eight bytes.
const START: u64 = 8;

/// Behind them: the length of the index and the mark.
const END: u64 = 10;

/// The most a compressed buffer may unpack to, and how many times its size.
const UNPACKED: u64 = 1 << 31;
const RATIO: u64 = 1 << 16;

/// A message of no length.
const END_OF_STREAM: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

struct Messages {
    input: Box<dyn Read>,
    decoder: StreamDecoder,
    ready: VecDeque<RecordBatch>,
    finished: bool,
}

pub(super) fn open_file(input: &Input) -> Opened {
    let mut file = input.again()?;
    let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
    let end = length.checked_sub(START + END).ok_or_else(|| cut_off(ARROW))? + START;
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(end)).map_err(unreadable)?;
    file.by_ref().take(END).read_to_end(&mut tail).map_err(unreadable)?;
    let [a, b, c, d, b'A', b'R', b'R', b'O', b'W', b'1'] = tail[..] else { return Err(cut_off(ARROW)) };
    let index = u64::from(u32::from_le_bytes([a, b, c, d]));
    let index = end.checked_sub(index).ok_or_else(|| cut_off(ARROW))?;
    let start = START + padding(&mut *file)?;
    let messages = index.checked_sub(start).ok_or_else(|| cut_off(ARROW))?;
    file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
    table(Box::new(file.take(messages)))
}

/// Some programs fill up to more than eight bytes.
fn padding(file: &mut dyn Anywhere) -> Result<u64, Problem> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(START)).map_err(unreadable)?;
    file.take(512).read_to_end(&mut bytes).map_err(unreadable)?;
    let zeros = bytes.iter().position(|byte| *byte != 0).unwrap_or(0) as u64;
    Ok(zeros / 8 * 8)
}

pub(super) fn open_stream(input: Input) -> Opened {
    table(input.stream()?.0)
}

fn table(input: Box<dyn Read>) -> Opened {
    let mut messages =
        Messages { input, decoder: StreamDecoder::new(), ready: VecDeque::new(), finished: false };
    let schema = messages.schema()?;
    let outline = outline(&schema)?;
    Ok((outline, Box::new(Columnar::new(ARROW, &schema, messages))))
}

impl Messages {
    /// The first message.
    fn schema(&mut self) -> Result<SchemaRef, Problem> {
        let first = self.message()?.ok_or_else(|| cut_off(ARROW))?;
        let start = if first.starts_with(&END_OF_STREAM[..4]) { 8 } else { 4 };
        let schema = guard(ARROW, || {
            let message = root_as_message(&first[start..]).map_err(|_| damaged("a broken message"))?;
            let schema = message.header_as_schema().ok_or_else(|| damaged("no names of columns"))?;
            if schema.endianness() != Endianness::Little {
                return Err(Problem::Unsupported("the Arrow file is big-endian".to_owned()));
            }
            try_fb_to_schema(schema).map_err(|error| damaged(&error.to_string()))
        })??;
        self.decode(first)?;
        Ok(Arc::new(schema))
    }

    /// The next message with its body; none at the end.
    fn message(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        let mut message = Vec::new();
        let mut more = |message: &mut Vec<u8>, length: u64| -> Result<bool, Problem> {
            // Memory grows with what is there, not with what is claimed.
            let read = self.input.by_ref().take(length).read_to_end(message).map_err(unreadable)?;
            match read as u64 {
                read if read == length => Ok(true),
                0 => Ok(false),
                _ => Err(cut_off(ARROW)),
            }
        };
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        // The end may be marked or not.
        if !more(&mut message, 4)? {
            return Ok(None);
        }
        if word(&message) == u32::MAX && !more(&mut message, 4)? {
            return Err(cut_off(ARROW));
        }
        let start = message.len();
        let length = u64::from(word(&message[start - 4..]));
        if length == 0 {
            return Ok(None);
        }
        if !more(&mut message, length)? {
            return Err(cut_off(ARROW));
        }
        let body = inspect(&message[start..], None)?;
        let start_of_body = message.len();
        if body > 0 && !more(&mut message, body)? {
            return Err(cut_off(ARROW));
        }
        inspect(&message[start..start_of_body], Some(&message[start_of_body..]))?;
        Ok(Some(message))
    }

    /// Takes a message in. One without a body shows its effect with the next.
    fn decode(&mut self, message: Vec<u8>) -> Result<(), Problem> {
        let mut bytes = Buffer::from_vec(message);
        let (decoder, ready) = (&mut self.decoder, &mut self.ready);
        let decoded = guard(ARROW, || {
            while !bytes.is_empty() {
                ready.extend(decoder.decode(&mut bytes)?);
            }
            Ok::<_, ArrowError>(())
        })?;
        decoded.map_err(|error| damaged(&error.to_string()))
    }
}

/// The length of the body of a message; given the body, also checks what its parts claim to unpack to.
fn inspect(head: &[u8], body: Option<&[u8]>) -> Result<u64, Problem> {
    let message = guard(ARROW, || root_as_message(head))?.map_err(|_| damaged("a broken message"))?;
    let length = u64::try_from(message.bodyLength()).map_err(|_| damaged("a message of negative length"))?;
    let Some(body) = body else { return Ok(length) };
    let layout = message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()));
    match layout {
        Some(layout) => check(&layout, body).map(|()| length),
        None => Ok(length),
    }
}

/// A compressed buffer starts with the length it unpacks to.
fn check(layout: &Layout<'_>, body: &[u8]) -> Result<(), Problem> {
    let compressed = layout.compression().is_some();
    for buffer in layout.buffers().into_iter().flatten() {
        let (Ok(offset), Ok(length)) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
        else {
            return Err(damaged("a buffer of negative length"));
        };
        let bytes = body.get(offset..).and_then(|rest| rest.get(..length)).ok_or_else(|| cut_off(ARROW))?;
        let Some(claimed) =
            bytes.first_chunk().filter(|_| compressed).map(|claim| i64::from_le_bytes(*claim))
        else {
            continue;
        };
        let most = (length as u64).saturating_mul(RATIO).min(UNPACKED);
        if claimed != -1 && u64::try_from(claimed).map_or(true, |claimed| claimed > most) {
            return Err(damaged("a buffer claims more than it can hold"));
        }
    }
    Ok(())
}

impl Batches for Messages {
    fn choose(&mut self, _: &[usize]) -> Result<(), Problem> {
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Problem> {
        while self.ready.is_empty() && !self.finished {
            let message = self.message()?;
            self.finished = message.is_none();
            self.decode(message.unwrap_or_else(|| END_OF_STREAM.to_vec()))?;
        }
        Ok(self.ready.pop_front())
    }

    fn rows(&self) -> Option<usize> {
        None
    }

    fn place(&self, column: usize) -> usize {
        column
    }
}

fn damaged(why: &str) -> Problem {
    Problem::Damaged { format: ARROW, why: why.to_owned() }
}
