//! The levels of a category: how often each came, and which coordinate it has.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How many levels have a coordinate of their own.
const OWN: usize = 64;

/// How many levels may have one where levels of the same count would otherwise be treated differently.
const OWN_TIED: usize = 128;

/// How many levels are kept by name.
const NAMED: usize = 1000;

/// A level of a category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// How many reference rows have it; rows count with their weights.
    pub count: f64,
    /// Its coordinate within the group of the column; rare levels of like frequency share one.
    pub coordinate: usize,
}

/// The levels of a category with their coordinates: equations (T1) to (T3) of docs/math/tables.md.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Levels {
    /// The most frequent ones, by count, then by name.
    pub(super) named: Vec<Level>,
    /// The hashes of the names of all others with their coordinates, by hash.
    pub(super) unnamed: Vec<(u64, u32)>,
    /// How many reference rows have a level without a name here.
    pub(super) unnamed_count: f64,
    /// How many coordinates the reference uses; the next one is that of levels it lacks.
    pub(super) seen: usize,
    /// The size of each coordinate, the last one for levels that the reference lacks.
    pub(super) sizes: Vec<f64>,
}

impl Levels {
    /// Of different names with positive counts.
    pub(super) fn learn(mut counted: Vec<(&str, f64)>) -> Self {
        counted.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let own = own(&counted);
        let (mut shares, mut bucket) = (Vec::<f64>::new(), None);
        let mut coordinates = Vec::with_capacity(counted.len());
        for (at, &(_, count)) in counted.iter().enumerate() {
            // Counts come in descending order, so levels of one power of two follow each other.
            let power = if at < own { None } else { Some(exponent(count)) };
            if power.is_none() || power != bucket {
                shares.push(0.0);
            }
            bucket = power;
            if let Some(share) = shares.last_mut() {
                *share += count;
            }
            coordinates.push(shares.len().saturating_sub(1));
        }
        let sizes = coordinate_sizes(&shares);
        let rest = counted.get(NAMED..).unwrap_or(&[]);
        let mut unnamed: Vec<(u64, u32)> = rest
            .iter()
            .zip(coordinates.iter().skip(NAMED))
            .map(|((name, _), &coordinate)| (hash(name), u32::try_from(coordinate).unwrap_or(u32::MAX)))
            .collect();
        unnamed.sort_unstable();
        let named = counted.iter().zip(&coordinates).take(NAMED);
        let named =
            named.map(|(&(name, count), &coordinate)| Level { name: name.to_owned(), count, coordinate });
        Self {
            named: named.collect(),
            unnamed,
            unnamed_count: rest.iter().map(|(_, count)| count).sum(),
            seen: shares.len(),
            sizes,
        }
    }

    /// How many coordinates there are.
    pub(super) fn width(&self) -> usize {
        self.seen + 1
    }

    /// For looking up many names.
    pub(super) fn index(&self) -> LevelIndex<'_> {
        let named = self.named.iter().map(|level| (level.name.as_str(), level.coordinate)).collect();
        LevelIndex { levels: self, named }
    }

    /// What is wrong with levels that were read from a file.
    pub(super) fn check(&self) -> Result<(), String> {
        let positive = |count: f64| count.is_finite() && count > 0.0;
        let sized = |size: &f64| positive(*size) && *size < 1e50;
        if self.seen == 0 || self.sizes.len() != self.seen + 1 || !self.sizes.iter().all(sized) {
            return Err("the coordinates of a category are not as they should be".to_owned());
        }
        let named = self.named.iter().map(|level| (level.coordinate, level.count));
        let counted = |coordinate: usize, count: f64| coordinate < self.seen && positive(count);
        if !named.clone().all(|(coordinate, count)| counted(coordinate, count)) {
            return Err("a level has no coordinate".to_owned());
        }
        let placed = self.unnamed.iter().all(|&(_, coordinate)| (coordinate as usize) < self.seen);
        let counted = self.unnamed_count.is_finite() && self.unnamed_count >= 0.0;
        if !(placed && counted && self.unnamed.is_sorted()) {
            return Err("the levels without a name are not as they should be".to_owned());
        }
        if self.index().named.len() != self.named.len() {
            return Err("a level is there twice".to_owned());
        }
        Ok(())
    }
}

/// The coordinates of levels by name.
pub(super) struct LevelIndex<'a> {
    levels: &'a Levels,
    named: HashMap<&'a str, usize>,
}

impl LevelIndex<'_> {
    /// The coordinate of a level, if the reference has it.
    pub(super) fn coordinate(&self, name: &str) -> Option<usize> {
        if let Some(&coordinate) = self.named.get(name) {
            return Some(coordinate);
        }
        let unnamed = &self.levels.unnamed;
        if unnamed.is_empty() {
            return None;
        }
        let hash = hash(name);
        let at = unnamed.partition_point(|(other, _)| *other < hash);
        unnamed.get(at).filter(|(other, _)| *other == hash).map(|&(_, coordinate)| coordinate as usize)
    }
}

/// How many of the levels, sorted by count, have a coordinate of their own. Levels of the same count are treated alike,
/// so that names do not matter.
fn own(counted: &[(&str, f64)]) -> usize {
    if counted.len() <= OWN {
        return counted.len();
    }
    let last = counted[OWN - 1].1;
    let end = counted.partition_point(|(_, count)| *count >= last);
    if end <= OWN_TIED { end } else { counted.partition_point(|(_, count)| *count > last) }
}

/// The power of two of a count.
fn exponent(count: f64) -> u64 {
    (count.to_bits() >> 52) & 0x7ff
}

/// The sizes of the coordinates with these counts, then that of levels that the reference lacks: (T2) and (T3).
fn coordinate_sizes(counts: &[f64]) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let seen = counts.len() as f64;
    // A constant is as if one more row had another level.
    let others = (seen - 1.0).max(1.0);
    let new = (total + 1.0) / seen.max(1.0);
    counts.iter().map(|count| total / (others * count)).chain([new]).map(f64::sqrt).collect()
}

/// The size of both coordinates of a category of two levels with these counts: (T4).
pub(super) fn pair_size(one: f64, other: f64) -> f64 {
    let total = one + other;
    (2.0 * (one / total) * (other / total)).recip().sqrt()
}

/// A hash of a name that is the same everywhere: FNV-1a, mixed as in SplitMix64.
pub(super) fn hash(name: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    let hash = name.bytes().fold(start, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    mix(hash)
}

/// The output function of SplitMix64.
pub(super) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
