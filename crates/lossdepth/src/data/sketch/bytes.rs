//! A sketch as bytes, for files and for other processes.
//!
//! Eight bytes that name the format, a header of JSON with its length before it, the rows, the counts of rows with many copies
//! if there are any, and the SHA-256 of all that. Numbers are little-endian. Nothing is allocated because the
//! bytes say so.

use super::cell::Cell;
use super::heavy_rows::{BITS, BUCKETS, Bucket, Candidate, HeavyRows, TABLES};
use super::row_hash::RowHash;
use super::{Kept, ReferenceSketch};
use crate::error::{DepthError, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// What the bytes begin with: name and version of the format.
const MAGIC: &[u8; 8] = b"LDPART01";
/// How long a SHA-256 is.
const DIGEST: usize = 32;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    names: Vec<String>,
    capacity: usize,
    seed: u64,
    notes: BTreeMap<String, String>,
    observations: u64,
    rows: u64,
    complete: bool,
}

impl ReferenceSketch {
    /// Whether bytes are those of a sketch, by how they begin.
    pub fn is_sketch(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC[..6])
    }

    /// The sketch as bytes.
    ///
    /// Those of a complete sketch depend only on the rows. Otherwise they also hold candidates for rows with many copies,
    /// which may depend on the order of the parts; [`table`](Self::table) does not.
    ///
    /// # Errors
    /// Names or notes that cannot be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let header = Header {
            names: self.names.clone(),
            capacity: self.capacity,
            seed: self.seed,
            notes: self.notes.clone(),
            observations: self.observations,
            rows: self.kept.len() as u64,
            complete: self.heavy.is_none(),
        };
        let header =
            serde_json::to_vec(&header).map_err(|e| DepthError::Unsaved { reason: e.to_string() })?;
        let mut out = MAGIC.to_vec();
        put_bytes(&mut out, &header);
        for kept in self.kept.values() {
            put_row(&mut out, kept.copies, kept.weight, &kept.cells);
        }
        for bucket in self.heavy.iter().flat_map(|heavy| &heavy.buckets) {
            put(&mut out, bucket.rows);
            bucket.bits.iter().for_each(|&count| put(&mut out, count));
            out.push(u8::from(bucket.candidate.is_some()));
            if let Some(candidate) = &bucket.candidate {
                put_row(&mut out, candidate.votes, candidate.weight, &candidate.cells);
            }
        }
        let digest = Sha256::digest(&out);
        out.extend(digest);
        Ok(out)
    }

    /// A sketch from its bytes.
    ///
    /// # Errors
    /// Bytes of something else, or damaged ones.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        if !Self::is_sketch(bytes) {
            return Err(damaged("it is no part of a reference, as `fit --partial` writes them"));
        }
        if !bytes.starts_with(MAGIC) {
            return Err(damaged("it was written by another version of lossdepth"));
        }
        let Some((content, digest)) = bytes.split_last_chunk::<DIGEST>() else {
            return Err(damaged("it is cut off"));
        };
        if Sha256::digest(content)[..] != digest[..] {
            return Err(damaged("the checksum is wrong: it was changed, or not copied whole"));
        }
        let mut input = Input(&content[MAGIC.len()..]);
        let header: Header = serde_json::from_slice(input.bytes()?).map_err(|e| damaged(&e.to_string()))?;
        let empty = Self::new(header.names)?.with_capacity(header.capacity)?.with_seed(header.seed);
        let mut sketch = Self { notes: header.notes, observations: header.observations, ..empty };
        let width = sketch.names.len();
        let mut copies_of_all = 0u64;
        for _ in 0..header.rows {
            let (copies, weight, cells) = input.row(width)?;
            copies_of_all = copies_of_all.saturating_add(copies);
            let hash = sketch.hash(weight, &cells);
            sketch.kept.insert(hash, Kept { cells, weight, copies });
        }
        if !header.complete {
            let mut buckets = Vec::new();
            for _ in 0..TABLES * BUCKETS {
                buckets.push(input.bucket(&sketch)?);
            }
            sketch.heavy = Some(HeavyRows { buckets });
        }
        let fits = sketch.kept.len() as u64 == header.rows
            && sketch.kept.len() <= sketch.capacity
            && copies_of_all <= sketch.observations
            && sketch.observations <= 1 << 56
            && (!header.complete || copies_of_all == sketch.observations);
        if !fits || !input.0.is_empty() {
            return Err(damaged("its parts do not fit together"));
        }
        Ok(sketch)
    }

    fn hash(&self, weight: f64, cells: &[Cell]) -> u128 {
        RowHash::of_cells(self.seed, weight, self.sorted.iter().map(|&at| &cells[at]))
    }
}

fn damaged(reason: &str) -> DepthError {
    DepthError::Table(format!("not a part that can be read: {reason}"))
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend(bytes);
}

fn put_row(out: &mut Vec<u8>, copies: u64, weight: f64, cells: &[Cell]) {
    put(out, copies);
    put(out, weight.to_bits());
    for cell in cells {
        match cell {
            Cell::Gap => out.push(0),
            Cell::Number(value) => {
                out.push(1);
                put(out, value.to_bits());
            }
            Cell::Text(text) => {
                out.push(2);
                put_bytes(out, text.as_bytes());
            }
            Cell::Boolean(value) => out.push(3 + u8::from(*value)),
            Cell::Time(value) => {
                out.push(5);
                put(out, value.to_bits());
            }
        }
    }
}

/// Bytes that are still to be read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| damaged("it is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64> {
        let (number, rest) = self.0.split_first_chunk().ok_or_else(|| damaged("it is cut off"))?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn value(&mut self) -> Result<f64> {
        let value = f64::from_bits(self.number()?);
        if value.abs() <= 1e100 { Ok(value + 0.0) } else { Err(damaged("a number is not finite")) }
    }

    fn row(&mut self, width: usize) -> Result<(u64, f64, Box<[Cell]>)> {
        let (copies, weight) = (self.number()?, f64::from_bits(self.number()?));
        if copies > 1 << 62 || !(weight > 0.0 && weight.is_finite()) {
            return Err(damaged("a weight is no weight"));
        }
        let mut cells = Vec::new();
        for _ in 0..width {
            cells.push(match self.take(1)?[0] {
                0 => Cell::Gap,
                1 => Cell::Number(self.value()?),
                2 => {
                    let text = std::str::from_utf8(self.bytes()?);
                    Cell::Text(text.map_err(|_| damaged("a text is no text"))?.into())
                }
                3 => Cell::Boolean(false),
                4 => Cell::Boolean(true),
                5 => Cell::Time(self.value()?),
                _ => return Err(damaged("a cell is of an unknown kind")),
            });
        }
        Ok((copies, weight, cells.into()))
    }

    fn bucket(&mut self, sketch: &ReferenceSketch) -> Result<Bucket> {
        let mut bucket = Bucket { rows: self.number()?, ..Bucket::default() };
        for bit in 0..BITS {
            bucket.bits[bit] = self.number()?;
            if bucket.bits[bit] > bucket.rows {
                return Err(damaged("its counts do not fit together"));
            }
        }
        if bucket.rows > sketch.observations {
            return Err(damaged("its counts do not fit together"));
        }
        if self.take(1)?[0] == 1 {
            let (votes, weight, cells) = self.row(sketch.names.len())?;
            let hash = sketch.hash(weight, &cells);
            bucket.candidate = Some(Candidate { votes, hash, weight, cells });
        }
        Ok(bucket)
    }
}
