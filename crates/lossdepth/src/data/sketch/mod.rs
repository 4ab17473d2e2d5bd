//! A reference in pieces: a bounded sample of the rows of a table that pieces can be added to and merged into.

mod bytes;
mod cell;
mod heavy_rows;
mod row_hash;

use super::{Column, Table, Values};
use crate::error::{DepthError, Result};
use crate::numerics::whole_part;
use cell::Cell;
use heavy_rows::HeavyRows;
use row_hash::{HashedColumn, RowHash};
use std::collections::BTreeMap;

/// A sample of the rows of a table, of bounded size, that is the same however the rows are divided and ordered.
///
/// Every row has a hash of its content. The sketch keeps the different rows with the smallest hashes, at most
/// [`capacity`](Self::capacity) of them, each with its exact number of copies: a row among the smallest of all is among
/// the smallest of every part, so no copy of it is ever dropped. Up to that many different rows nothing is lost. Beyond,
/// the rows that are kept are a random sample of the different rows, weighted by their copies; rows with very many copies
/// are found by other means and always kept (docs/math/scale.md).
///
/// ```
/// use lossdepth::data::{Column, ReferenceSketch, Table, Values};
/// let table = |x: &[f64]| Table::new(vec![Column { name: "x".into(), values: Values::Numbers(x.to_vec()) }]);
/// let mut whole = ReferenceSketch::new(["x"])?;
/// whole.add(&table(&[1.0, 2.0, 2.0, 5.0])?, None)?;
///
/// let mut part = ReferenceSketch::new(["x"])?;
/// part.add(&table(&[5.0, 2.0])?, None)?;
/// let mut other = ReferenceSketch::new(["x"])?;
/// other.add(&table(&[2.0, 1.0])?, None)?;
/// part.merge(&other)?;
/// assert_eq!(part.table()?, whole.table()?);
/// assert_eq!((part.observations(), part.len()), (4, 3));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceSketch {
    names: Vec<String>,
    /// The columns in the order of their names, in which rows are hashed.
    sorted: Vec<usize>,
    capacity: usize,
    seed: u64,
    notes: BTreeMap<String, String>,
    /// The different rows with the smallest hashes.
    kept: BTreeMap<u128, Kept>,
    observations: u64,
    /// Rows with many copies; counted from when the first row was dropped.
    heavy: Option<HeavyRows>,
}

/// A row that is kept.
#[derive(Debug, Clone, PartialEq)]
struct Kept {
    cells: Box<[Cell]>,
    /// The weight of one copy.
    weight: f64,
    copies: u64,
}

impl ReferenceSketch {
    /// How many different rows are kept unless something else is said.
    pub const CAPACITY: usize = 20_000;

    /// An empty sketch of tables with these columns.
    ///
    /// # Errors
    /// No column, or two of the same name.
    pub fn new<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Result<Self> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let empty = |name: &String| Column { name: name.clone(), values: Values::Numbers(Vec::new()) };
        // The table checks the names.
        Table::new(names.iter().map(empty).collect())?;
        let mut sorted: Vec<usize> = (0..names.len()).collect();
        sorted.sort_by(|&a, &b| names[a].cmp(&names[b]));
        Ok(Self {
            names,
            sorted,
            capacity: Self::CAPACITY,
            seed: 0,
            notes: BTreeMap::new(),
            kept: BTreeMap::new(),
            observations: 0,
            heavy: None,
        })
    }

    /// The same, empty, with room for so many different rows.
    ///
    /// # Errors
    /// Fewer than 2, or more than $2^{32}$.
    pub fn with_capacity(self, capacity: usize) -> Result<Self> {
        if !(2..=1 << 32).contains(&capacity) {
            return Err(DepthError::Setting {
                name: "reference_rows",
                expected: "between 2 and 4294967296",
                got: capacity as f64,
            });
        }
        Ok(Self { capacity, ..self.emptied() })
    }

    /// The same, empty, with another seed, which decides which rows are kept.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self.emptied() }
    }

    /// With a note of the caller's, such as how files are to be read. Only sketches with the same notes are merged.
    #[must_use]
    pub fn with_note(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.notes.insert(name.into(), text.into());
        self
    }

    fn emptied(self) -> Self {
        Self { kept: BTreeMap::new(), observations: 0, heavy: None, ..self }
    }

    /// Adds the rows of a table. Columns are found by their names.
    ///
    /// A whole-number weight is a number of copies. Rows with another weight are kept with it: copies of
    /// them count as the same row only where the weights are the same.
    ///
    /// # Errors
    /// A column that is missing or not known here, a number that is not finite or too large, weights that are not one for
    /// each row, negative or not finite. Then nothing was added.
    pub fn add(&mut self, table: &Table, weights: Option<&[f64]>) -> Result<()> {
        let columns = self.columns_of(table)?;
        let hashes = self.hashes(&columns, table.rows(), weights)?;
        for (row, (hash, copies, weight)) in hashes.into_iter().enumerate().filter(|(_, h)| h.1 > 0) {
            let cells = || columns.iter().map(|column| Cell::of(&column.values, row)).collect();
            self.insert(hash, copies, weight, cells);
        }
        Ok(())
    }

    /// Takes the rows of a table out again, as for a window that moves.
    ///
    /// # Errors
    /// As for [`add`](Self::add); rows that are not there; or a sketch that [is not complete](Self::is_complete), from
    /// which rows that were dropped cannot be taken: keep a sketch for each piece of the window then, and merge those.
    /// Then nothing was removed.
    pub fn remove(&mut self, table: &Table, weights: Option<&[f64]>) -> Result<()> {
        if !self.is_complete() {
            return Err(DepthError::Table(format!(
                "rows cannot be removed: the sketch holds {} of more different rows; keep a sketch for each part of \
                 the window and merge them, or raise `reference_rows`",
                self.kept.len()
            )));
        }
        let columns = self.columns_of(table)?;
        let hashes = self.hashes(&columns, table.rows(), weights)?;
        let mut removed: BTreeMap<u128, u64> = BTreeMap::new();
        for (row, (hash, copies, _)) in hashes.into_iter().enumerate() {
            let there = self.kept.get(&hash).map_or(0, |kept| kept.copies);
            let sum = removed.entry(hash).or_default();
            *sum += copies;
            if *sum > there {
                return Err(DepthError::Table(format!(
                    "row {row} cannot be removed: it is not in the sketch"
                )));
            }
        }
        for (hash, copies) in removed {
            self.observations -= copies;
            if let Some(kept) = self.kept.get_mut(&hash) {
                kept.copies -= copies;
                if kept.copies == 0 {
                    self.kept.remove(&hash);
                }
            }
        }
        Ok(())
    }

    /// Adds the rows of another sketch, as if they had been added here.
    ///
    /// # Errors
    /// Other columns, another capacity, seed or notes.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let order = self.matched(other)?;
        if self.heavy.is_some() || other.heavy.is_some() {
            let mut heavy = self.heavy.take().unwrap_or_else(|| self.all_as_heavy());
            match &other.heavy {
                Some(more) if order.iter().enumerate().all(|(at, &from)| at == from) => heavy.merge(more),
                Some(more) => heavy.merge(&reordered(more, &order)),
                None => heavy.merge(&other.all_as_heavy_in(&order)),
            }
            self.heavy = Some(heavy);
        }
        self.observations = self.observations.saturating_add(other.observations);
        for (&hash, kept) in &other.kept {
            if let Some(known) = self.kept.get_mut(&hash) {
                known.copies = known.copies.saturating_add(kept.copies);
            } else {
                let cells = order.iter().map(|&at| kept.cells[at].clone()).collect();
                self.kept.insert(hash, Kept { cells, weight: kept.weight, copies: kept.copies });
            }
        }
        self.shrink();
        Ok(())
    }

    /// The rows to compare with, and their weights; none if all are 1. Rows come in the order of their hashes.
    ///
    /// Of a complete sketch these are all rows, and a weight is the number of copies. Otherwise weights are in the
    /// proportion of the estimated copies (docs/math/scale.md, (B4)).
    ///
    /// # Errors
    /// No row.
    pub fn table(&self) -> Result<(Table, Option<Vec<f64>>)> {
        if self.kept.is_empty() {
            return Err(DepthError::TooFewRows { expected: 2, got: 0 });
        }
        let rows = self.weighted();
        let column =
            |(at, name): (usize, &String)| cell::column(name, rows.values().map(move |row| &row.0[at]));
        let table = Table::new(self.names.iter().enumerate().map(column).collect())?;
        let weights: Vec<f64> = rows.values().map(|row| row.1).collect();
        Ok((table, weights.iter().any(|weight| *weight != 1.0).then_some(weights)))
    }

    /// The rows that are kept or have many copies, with their weights.
    fn weighted(&self) -> BTreeMap<u128, (&[Cell], f64)> {
        let exact = |kept: &Kept| kept.weight * kept.copies as f64;
        let mut rows: BTreeMap<u128, (&[Cell], f64)> =
            self.kept.iter().map(|(&hash, kept)| (hash, (&kept.cells[..], exact(kept)))).collect();
        let Some(heavy) = self.heavy.as_ref().map(HeavyRows::found).filter(|heavy| !heavy.is_empty()) else {
            return rows;
        };
        // What is not heavy is represented by the kept rows that are not.
        let copies_of = |hash: &u128, counted: u64| self.kept.get(hash).map_or(counted, |kept| kept.copies);
        let of_heavy: u64 = heavy.iter().map(|(hash, (_, counted))| copies_of(hash, *counted)).sum();
        let light = self.kept.iter().filter(|(hash, _)| !heavy.contains_key(*hash));
        let of_light: u64 = light.map(|(_, kept)| kept.copies).sum();
        let others = self.observations.saturating_sub(of_heavy).max(of_light);
        let share = if others > 0 { of_light as f64 / others as f64 } else { 1.0 };
        for (hash, (row, counted)) in heavy {
            let copies = copies_of(&hash, counted) as f64 * share;
            rows.insert(hash, (&row.cells, row.weight * copies.round().max(1.0)));
        }
        rows
    }

    /// Whether no row was dropped: [`table`](Self::table) has all of them.
    pub fn is_complete(&self) -> bool {
        self.heavy.is_none()
    }

    /// How many rows were added, copies counted.
    pub fn observations(&self) -> u64 {
        self.observations
    }

    /// How many different rows are kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no row is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How many different rows are kept at most.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// What decides which rows are kept.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The caller's notes.
    pub fn notes(&self) -> &BTreeMap<String, String> {
        &self.notes
    }

    fn insert(&mut self, hash: u128, copies: u64, weight: f64, cells: impl Fn() -> Box<[Cell]>) {
        self.observations += copies;
        if let Some(heavy) = &mut self.heavy {
            heavy.add(hash, copies, weight, &cells);
        }
        if let Some(known) = self.kept.get_mut(&hash) {
            known.copies += copies;
            return;
        }
        let full = self.heavy.is_some() && self.kept.last_key_value().is_some_and(|(&last, _)| hash > last);
        if !full {
            self.kept.insert(hash, Kept { cells: cells(), weight, copies });
            self.shrink();
        }
    }

    /// Drops the rows with the largest hashes until the others fit.
    fn shrink(&mut self) {
        if self.kept.len() > self.capacity && self.heavy.is_none() {
            self.heavy = Some(self.all_as_heavy());
        }
        while self.kept.len() > self.capacity {
            self.kept.pop_last();
        }
    }

    fn all_as_heavy(&self) -> HeavyRows {
        self.all_as_heavy_in(&(0..self.names.len()).collect::<Vec<_>>())
    }

    /// All rows of a complete sketch, counted as rows that may have many copies, with their cells in this order.
    fn all_as_heavy_in(&self, order: &[usize]) -> HeavyRows {
        let mut heavy = HeavyRows::new();
        for (&hash, kept) in &self.kept {
            let cells = || order.iter().map(|&at| kept.cells[at].clone()).collect();
            heavy.add(hash, kept.copies, kept.weight, cells);
        }
        heavy
    }

    /// The columns of a table in the order of the names here.
    fn columns_of<'a>(&self, table: &'a Table) -> Result<Vec<&'a Column>> {
        let missing = |name: &String| DepthError::Table(format!("column `{name}` is missing"));
        let columns = self.names.iter().map(|name| table.column(name).ok_or_else(|| missing(name)));
        let columns: Vec<&Column> = columns.collect::<Result<_>>()?;
        match table.columns().iter().find(|column| !self.names.contains(&column.name)) {
            Some(column) => {
                Err(DepthError::Table(format!("column `{}` is not in the rows before", column.name)))
            }
            None => Ok(columns),
        }
    }

    /// Hash, copies and weight of a copy of each row.
    fn hashes(
        &self,
        columns: &[&Column],
        rows: usize,
        weights: Option<&[f64]>,
    ) -> Result<Vec<(u128, u64, f64)>> {
        if let Some(weights) = weights.filter(|weights| weights.len() != rows) {
            return Err(DepthError::WeightCount { expected: rows, got: weights.len() });
        }
        for (at, column) in columns.iter().enumerate() {
            let (Values::Numbers(values) | Values::Times(values)) = &column.values else { continue };
            if let Some(row) = values.iter().position(|value| value.abs() > 1e100) {
                let (column, value) = (at, values[row]);
                return Err(if value.is_finite() {
                    DepthError::TooLarge { row, column, value }
                } else {
                    DepthError::NotFinite { row, column, value }
                });
            }
        }
        let hashed: Vec<HashedColumn<'_>> =
            self.sorted.iter().map(|&at| HashedColumn::new(columns[at])).collect();
        let one = |row: usize| {
            let given = weights.map_or(1.0, |weights| weights[row]);
            if !given.is_finite() || given < 0.0 {
                return Err(DepthError::Weight { row, value: given });
            }
            // Larger weights are kept as they are, so that counts do not overflow.
            let whole = given.fract() == 0.0 && given <= 1e9;
            let (copies, weight) = if whole { (whole_part(given), 1.0) } else { (1, given) };
            let mut hash = RowHash::new(self.seed);
            hash.word(f64::to_bits(weight));
            for column in &hashed {
                column.add_to(&mut hash, row);
            }
            Ok((hash.finish(), copies, weight))
        };
        (0..rows).map(one).collect()
    }

    /// Where the columns of another sketch are, if the two can be merged.
    fn matched(&self, other: &Self) -> Result<Vec<usize>> {
        let different = |what: &str, ours: &dyn std::fmt::Display, theirs: &dyn std::fmt::Display| {
            Err(DepthError::Table(format!(
                "parts with different {what} cannot be merged: {ours} and {theirs}"
            )))
        };
        if self.capacity != other.capacity {
            return different("`reference_rows`", &self.capacity, &other.capacity);
        }
        if self.seed != other.seed {
            return different("`seed`", &self.seed, &other.seed);
        }
        for name in self.notes.keys().chain(other.notes.keys()) {
            let note = |sketch: &Self| sketch.notes.get(name).map_or("none", String::as_str).to_owned();
            if self.notes.get(name) != other.notes.get(name) {
                return different(&format!("`{name}`"), &note(self), &note(other));
            }
        }
        let place = |name: &String| other.names.iter().position(|known| known == name);
        let lost = |name: &String| DepthError::Table(format!("a part to be merged has no column `{name}`"));
        let order: Vec<usize> =
            self.names.iter().map(|name| place(name).ok_or_else(|| lost(name))).collect::<Result<_>>()?;
        match other.names.iter().find(|name| !self.names.contains(name)) {
            Some(name) => Err(lost(name)),
            None => Ok(order),
        }
    }
}

/// Rows with many copies, with their cells in another order.
fn reordered(heavy: &HeavyRows, order: &[usize]) -> HeavyRows {
    let mut heavy = heavy.clone();
    for candidate in heavy.buckets.iter_mut().filter_map(|bucket| bucket.candidate.as_mut()) {
        candidate.cells = order.iter().map(|&at| candidate.cells[at].clone()).collect();
    }
    heavy
}
