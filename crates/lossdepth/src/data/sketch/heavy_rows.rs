//! Rows with many copies, found by counts that can be added: docs/math/scale.md, (B3) and (B4).
//!
//! Rows are distributed over buckets by their hash. A bucket counts its rows and, for each bit of the hash, those that have
//! it. Where one row is most of a bucket, the counts give its number of copies. They are sums, so the order of
//! the rows and how they were divided do not matter. The content comes from a majority vote (Boyer and Moore 1991), which
//! keeps the majority of a bucket however parts are merged.

use super::cell::Cell;
use crate::numerics::random::mix;
use std::collections::BTreeMap;

/// How many independent ways to distribute the rows.
pub(super) const TABLES: usize = 3;
/// How many buckets each of them has.
pub(super) const BUCKETS: usize = 512;
/// How many bits of a hash are counted.
pub(super) const BITS: usize = 128;

/// A row with at least so many copies may be heavy.
const LEAST: u64 = 8;
/// A heavy row is at least one of so many rows, so that there are at most so many of them.
const SHARE: u64 = 256;

/// Rows with many copies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HeavyRows {
    pub(super) buckets: Vec<Bucket>,
}

/// What is known of the rows of a bucket.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bucket {
    pub(super) rows: u64,
    /// For each bit of the hash, how many rows have it.
    pub(super) bits: Box<[u64; BITS]>,
    /// The row that may be the majority, and by how many votes.
    pub(super) candidate: Option<Candidate>,
}

/// A row that may be the majority of its bucket.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub(super) votes: u64,
    pub(super) hash: u128,
    pub(super) weight: f64,
    pub(super) cells: Box<[Cell]>,
}

impl Default for Bucket {
    fn default() -> Self {
        Self { rows: 0, bits: Box::new([0; BITS]), candidate: None }
    }
}

impl Bucket {
    fn add(&mut self, hash: u128, copies: u64, weight: f64, cells: &impl Fn() -> Box<[Cell]>) {
        self.rows += copies;
        for (counts, half) in self.bits.chunks_exact_mut(64).zip(halves(hash)) {
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += copies * ((half >> bit) & 1);
            }
        }
        self.vote(hash, copies, weight, cells);
    }

    fn vote(&mut self, hash: u128, votes: u64, weight: f64, cells: &impl Fn() -> Box<[Cell]>) {
        match &mut self.candidate {
            Some(known) if known.hash == hash => known.votes = known.votes.saturating_add(votes),
            Some(known) if known.votes >= votes => known.votes -= votes,
            other => {
                let votes = votes - other.as_ref().map_or(0, |known| known.votes);
                *other = Some(Candidate { votes, hash, weight, cells: cells() });
            }
        }
    }

    fn merge(&mut self, other: &Self) {
        self.rows = self.rows.saturating_add(other.rows);
        for (count, more) in self.bits.iter_mut().zip(other.bits.iter()) {
            *count = count.saturating_add(*more);
        }
        if let Some(Candidate { votes, hash, weight, cells }) = &other.candidate {
            self.vote(*hash, *votes, *weight, &|| cells.clone());
        }
    }

    /// The number of copies of a row, as far as the bits tell: the mean over all bits of those that agree less those
    /// that do not. Rows other than this one agree with every second bit.
    fn copies(&self, hash: u128) -> u64 {
        let rows = i128::from(self.rows);
        let agreeing = |bit: usize| {
            let set = i128::from(self.bits[bit]);
            if (hash >> bit) & 1 == 1 { set } else { rows - set }
        };
        let sum: i128 = (0..BITS).map(|bit| 2 * agreeing(bit) - rows).sum();
        u64::try_from(sum.max(0) / BITS as i128).unwrap_or(0)
    }
}

/// The low and the high half of a hash.
#[expect(clippy::cast_possible_truncation, reason = "each half has 64 bits")]
fn halves(hash: u128) -> [u64; 2] {
    [hash as u64, (hash >> 64) as u64]
}

/// Which bucket of a table a row belongs to.
fn bucket(table: usize, hash: u128) -> usize {
    let [low, high] = halves(hash);
    let shift = u32::try_from(17 * (table + 1)).unwrap_or(0);
    let word = mix(low ^ high.rotate_left(shift));
    table * BUCKETS + usize::try_from(word % BUCKETS as u64).unwrap_or(0)
}

impl HeavyRows {
    pub(super) fn new() -> Self {
        Self { buckets: vec![Bucket::default(); TABLES * BUCKETS] }
    }

    pub(super) fn add(&mut self, hash: u128, copies: u64, weight: f64, cells: impl Fn() -> Box<[Cell]>) {
        for table in 0..TABLES {
            self.buckets[bucket(table, hash)].add(hash, copies, weight, &cells);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (bucket, more) in self.buckets.iter_mut().zip(&other.buckets) {
            bucket.merge(more);
        }
    }

    /// The rows that are at least three quarters of a bucket and at least 1/256 of all, with their copies, by hash.
    pub(super) fn found(&self) -> BTreeMap<u128, (&Candidate, u64)> {
        let mut found: BTreeMap<u128, (&Candidate, u64, u64)> = BTreeMap::new();
        let total: u64 = self.buckets[..BUCKETS].iter().map(|bucket| bucket.rows).sum();
        for bucket in &self.buckets {
            let Some(candidate) = &bucket.candidate else { continue };
            let copies = bucket.copies(candidate.hash);
            let dominates = u128::from(copies) * 4 >= u128::from(bucket.rows) * 3;
            if !dominates || copies < LEAST.max(total / SHARE) {
                continue;
            }
            // The bucket with the fewest other rows knows best.
            let others = bucket.rows.saturating_sub(copies);
            match found.get(&candidate.hash) {
                Some((_, _, fewest)) if *fewest <= others => {}
                _ => {
                    found.insert(candidate.hash, (candidate, copies, others));
                }
            }
        }
        found.into_iter().map(|(hash, (candidate, copies, _))| (hash, (candidate, copies))).collect()
    }
}
