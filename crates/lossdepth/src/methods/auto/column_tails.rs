//! Single values that do not fit: beyond the tail of their own column, or of what the other columns let expect.

use super::compared::Compared;
use super::coordinates::{Column, RobustMap};
use super::level_pairs::LevelPairs;
use super::regressions::Regressions;
use super::side::{CENSORED, Sides};
use super::space::Space;
use crate::data::{Group, Layout};

/// The share of $\ln 2 n d$ from which on a value is in excess; heuristic, chosen on tables.
const EXPECTED: f64 = 0.7;

/// The tails of all columns, and of the residuals of each given the others.
pub(super) struct ColumnTails {
    /// The encoded column of each number, with its tails.
    numbers: Vec<(usize, Sides)>,
    regressions: Regressions,
    levels: Vec<Levels>,
    pairs: LevelPairs,
    observations: f64,
    /// What is expected of the pairs.
    expected: f64,
}

/// The excess of each level of a category.
struct Levels {
    group: Group,
    excess: Vec<f64>,
    /// That of a level that the sample lacks.
    unseen: f64,
}

impl ColumnTails {
    /// `zeros` are where the zero of each column is, if that is known.
    pub(super) fn new(
        zeros: &[Option<f64>],
        compared: &Compared,
        columns: &[Column],
        layout: &Layout,
        robust: &Space<RobustMap>,
    ) -> Self {
        let n = compared.observations;
        let expected = EXPECTED * (2.0 * n * layout.groups().len() as f64).ln();
        let rows = compared.rows();
        let tails = |j: usize| {
            Sides::learn(rows.iter().map(|row| row[j]), &compared.masses, n, expected, 0.0, CENSORED)
        };
        let numbers = layout.number_groups().map(|group| (group.start, tails(group.start))).collect();
        let levels = layout.categories().map(|group| Levels::new(*group, compared, expected)).collect();
        let regressions = Regressions::learn(zeros, compared, columns, layout, robust, expected);
        let pairs = LevelPairs::learn(compared, layout);
        let expected = EXPECTED * (2.0 * n * (layout.groups().len() + pairs.len()) as f64).ln();
        Self { numbers, regressions, levels, pairs, observations: n, expected }
    }

    /// The largest excess of a value of the query, whose coordinates in robust units are given, with a bound on its
    /// rounding.
    pub(super) fn excess(&self, query: &[f64], coordinates: &[f64], centred: &mut Vec<f64>) -> (f64, f64) {
        let mut largest = (0.0f64, 0.0f64);
        let mut add = |(value, error): (f64, f64)| largest = (largest.0.max(value), largest.1.max(error));
        for (j, sides) in &self.numbers {
            add(sides.excess(query[*j], 0.0));
        }
        self.regressions.excesses(query, coordinates, centred, &mut add);
        for levels in &self.levels {
            let seen = levels.group.level(query).map_or(levels.unseen, |level| levels.excess[level]);
            add((seen, 0.0));
        }
        add((self.pairs.excess(query, self.observations, self.expected), 0.0));
        largest
    }
}

impl Levels {
    /// A level is as odd as the share $p$ of the rows whose levels are at most as frequent is small, and as the next level is
    /// more frequent than all of these together: $-\ln p + \frac12 \ln (p_\text{next} / p)$. The half is a heuristic.
    fn new(group: Group, compared: &Compared, expected: f64) -> Self {
        let n = compared.observations;
        let mut shares = vec![0.0; group.width];
        for (row, mass) in compared.rows().iter().zip(&compared.masses) {
            if let Some(level) = group.level(row) {
                shares[level] += mass;
            }
        }
        let excess = |share: f64| {
            // Sums of masses have rounding errors.
            let (rarer, others): (Vec<f64>, Vec<f64>) =
                shares.iter().partition(|other| **other <= share * (1.0 + 1e-9));
            // A level that the sample lacks is as rare as if one more row had it.
            let together = rarer.iter().sum::<f64>().max(1.0 / (n + 1.0));
            let next = others.iter().fold(f64::INFINITY, |least, share| least.min(*share));
            let jump = if next.is_finite() { 0.5 * (next / together).ln().max(0.0) } else { 0.0 };
            (jump - together.ln() - expected).max(0.0)
        };
        let unseen = excess(0.0);
        Self { group, excess: shares.iter().map(|share| excess(*share)).collect(), unseen }
    }
}
