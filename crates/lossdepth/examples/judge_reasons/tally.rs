//! What is counted for a table and a method.

use lossdepth::data::{Group, Layout};
use lossdepth::model::Reasons;

/// How many of how many.
#[derive(Default, Clone, Copy)]
struct Share(usize, usize);

impl Share {
    fn add(&mut self, hit: bool) {
        self.0 += usize::from(hit);
        self.1 += 1;
    }

    fn join(&mut self, other: Self) {
        self.0 += other.0;
        self.1 += other.1;
    }

    fn percent(self) -> String {
        if self.1 == 0 { "–".to_owned() } else { format!("{:.0}", 100.0 * self.0 as f64 / self.1 as f64) }
    }
}

/// What is known about a corrupted row.
pub(crate) struct Truth<'a> {
    pub(crate) corrupted: &'a [usize],
    /// The columns of which one determines another.
    pub(crate) relation: &'a [usize],
    /// The encoded row before it was corrupted, and after.
    pub(crate) before: &'a [f64],
    pub(crate) after: &'a [f64],
    /// Whether the method finds the row odd because of every corrupted column.
    pub(crate) seen: bool,
    /// Whether it is among as many oddest rows as were corrupted.
    pub(crate) found: bool,
}

/// How often the corrupted columns came first, by their number.
#[derive(Default)]
pub(crate) struct Tally {
    single: Share,
    pair: Share,
    seen: Share,
    seen_single: Share,
    seen_pair: Share,
    found: Share,
    related: Share,
    repaired: Share,
    near: Share,
    met: Share,
    changed: [usize; 4],
    evaluations: usize,
    pub(crate) seconds: f64,
}

/// The titles of [`Tally::line`], and their alignment.
pub(crate) const TITLE: &str = "\
| method | table | first % | both % | seen % | first of seen % | both of seen % | found % | relation % | repaired % | near % \
| rows scored | ms a row | target met % | 0 changed | 1 | 2 | more |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

impl Tally {
    /// Counts a row.
    pub(crate) fn add(&mut self, truth: &Truth<'_>, reasons: &Reasons, layout: &Layout) {
        let Truth { corrupted, relation, before, after, seen, found } = *truth;
        let first: Vec<usize> = reasons.columns.iter().take(3).map(|reason| reason.column).collect();
        self.seen.add(seen);
        self.found.add(found);
        if let [column] = corrupted {
            let hit = first.first() == Some(column);
            self.single.add(hit);
            if seen {
                self.seen_single.add(hit);
                self.repair(*column, before, after, reasons, layout);
            }
        } else {
            let hit = corrupted.iter().all(|column| first.contains(column));
            self.pair.add(hit);
            if seen {
                self.seen_pair.add(hit);
            }
        }
        if !relation.is_empty() && found {
            let named = reasons.columns.first().filter(|reason| reason.replaced);
            let right = named.is_some_and(|reason| {
                let by = reason.fits.as_ref().map_or(&[][..], |fits| &fits.determined_by);
                let others = by.iter().filter(|&column| relation.contains(column)).count();
                relation.contains(&reason.column) && others == by.len() && others >= 2
            });
            self.related.add(right);
        }
        self.evaluations += reasons.evaluations;
        if let Some(change) = &reasons.counterfactual {
            self.met.add(change.met);
            self.changed[change.columns.len().min(3)] += 1;
        }
    }

    /// Whether the repair of a row with one corrupted column changes this column alone, and brings a number to within a
    /// quarter of its error, or a level back.
    fn repair(&mut self, column: usize, before: &[f64], after: &[f64], reasons: &Reasons, layout: &Layout) {
        let Some(change) = &reasons.counterfactual else { return };
        let own = change.columns == [column];
        self.repaired.add(own);
        if own {
            let apart = |row: &[f64]| -> f64 {
                let groups = layout.groups().iter().filter(|group| group.column == column);
                groups.flat_map(Group::range).map(|at| (row[at] - before[at]).abs()).sum()
            };
            self.near.add(apart(&change.row) <= 0.25 * apart(after));
        }
    }

    /// A row of a table in Markdown.
    pub(crate) fn line(&self, method: &str, design: &str) -> String {
        let rows = (self.single.1 + self.pair.1).max(1);
        let shares = [
            self.single,
            self.pair,
            self.seen,
            self.seen_single,
            self.seen_pair,
            self.found,
            self.related,
            self.repaired,
            self.near,
        ];
        let [none, one, two, more] = self.changed;
        format!(
            "| {method} | {design} | {} | {} | {:.1} | {} | {none} | {one} | {two} | {more} |",
            shares.map(Share::percent).join(" | "),
            self.evaluations / rows,
            1e3 * self.seconds / rows as f64,
            self.met.percent(),
        )
    }

    /// Adds what was counted for another table.
    pub(crate) fn join(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.single, other.single),
            (&mut self.pair, other.pair),
            (&mut self.seen, other.seen),
            (&mut self.seen_single, other.seen_single),
            (&mut self.seen_pair, other.seen_pair),
            (&mut self.found, other.found),
            (&mut self.related, other.related),
            (&mut self.repaired, other.repaired),
            (&mut self.near, other.near),
            (&mut self.met, other.met),
        ] {
            sum.join(more);
        }
        for k in 0..4 {
            self.changed[k] += other.changed[k];
        }
        self.evaluations += other.evaluations;
        self.seconds += other.seconds;
    }
}
