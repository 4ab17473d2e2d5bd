//! Levels of two categories that do not go together, as a city with the post code of another one.

use super::compared::Compared;
use crate::data::{Group, GroupKind, Layout};
use std::collections::BTreeMap;

/// Two categories are compared if knowing one takes at least this share of the entropy of the other (heuristic).
const DEPENDENT: f64 = 0.5;

/// With more categories than these no pairs are compared: their number is quadratic in it.
const MOST: usize = 64;

/// The pairs of categories that depend on each other.
#[derive(Default)]
pub(super) struct LevelPairs {
    pairs: Vec<Pair>,
}

struct Pair {
    groups: [Group; 2],
    /// The share of the rows with each level.
    shares: [Vec<f64>; 2],
    /// How often the levels of each combination come together, over how often they would if the categories did not depend on
    /// each other: ascending, with the share of all rows up to and with each.
    lifts: Vec<(f64, f64)>,
    /// The lift of each combination that there is.
    lift: BTreeMap<(usize, usize), f64>,
}

impl LevelPairs {
    pub(super) fn learn(compared: &Compared, layout: &Layout) -> Self {
        let groups: Vec<Group> =
            layout.categories().filter(|group| group.kind == GroupKind::Category).copied().collect();
        if !(2..=MOST).contains(&groups.len()) {
            return Self::default();
        }
        let rows = compared.rows();
        let levels: Vec<Vec<Option<usize>>> =
            groups.iter().map(|group| rows.iter().map(|row| group.level(row)).collect()).collect();
        let each = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
        let pairs = each
            .filter_map(|(a, b)| Pair::learn([groups[a], groups[b]], [&levels[a], &levels[b]], compared))
            .collect();
        Self { pairs }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The largest excess of a combination of levels of the query, beyond what is `expected`, in a sample of so many
    /// observations.
    pub(super) fn excess(&self, query: &[f64], observations: f64, expected: f64) -> f64 {
        self.pairs.iter().map(|pair| pair.excess(query, observations, expected)).fold(0.0, f64::max)
    }
}

impl Pair {
    fn learn(groups: [Group; 2], levels: [&[Option<usize>]; 2], compared: &Compared) -> Option<Self> {
        let mut shares = groups.map(|group| vec![0.0; group.width]);
        let mut joint: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for ((a, b), mass) in levels[0].iter().zip(levels[1]).zip(&compared.masses) {
            let (Some(a), Some(b)) = (*a, *b) else { continue };
            shares[0][a] += mass;
            shares[1][b] += mass;
            *joint.entry((a, b)).or_default() += mass;
        }
        let entropy =
            |shares: &[f64]| -> f64 { shares.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum() };
        let present = |shares: &[f64]| shares.iter().filter(|p| **p > 0.0).count() as f64;
        let least = entropy(&shares[0]).min(entropy(&shares[1]));
        let lift: BTreeMap<(usize, usize), f64> =
            joint.iter().map(|(&(a, b), share)| ((a, b), share / (shares[0][a] * shares[1][b]))).collect();
        let information: f64 = joint.iter().map(|(cell, share)| share * lift[cell].ln()).sum();
        // What independent categories have in a sample of this size (Miller and Madow).
        let chance =
            (present(&shares[0]) - 1.0) * (present(&shares[1]) - 1.0) / (2.0 * compared.observations);
        if least <= 0.0 || information - chance < DEPENDENT * least {
            return None;
        }
        let mut lifts: Vec<(f64, f64)> = joint.iter().map(|(cell, share)| (lift[cell], *share)).collect();
        lifts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut sum = 0.0;
        for (_, share) in &mut lifts {
            sum += *share;
            *share = sum;
        }
        Some(Self { groups, shares, lifts, lift })
    }

    /// (A11p): $-\ln p + \ln (l_\text{next} / l)$ beyond what is expected, with $p$ the share of the rows whose combinations
    /// have a lift of at most $l$, and the next larger lift.
    fn excess(&self, query: &[f64], observations: f64, expected: f64) -> f64 {
        let (Some(a), Some(b)) = (self.groups[0].level(query), self.groups[1].level(query)) else {
            return 0.0;
        };
        // As if one more row had a combination that the sample lacks; a level that it lacks is odd by itself.
        let once = 1.0 / (observations + 1.0);
        let both = self.shares[0][a] * self.shares[1][b];
        if both <= 0.0 {
            return 0.0;
        }
        let lift = self.lift.get(&(a, b)).copied().unwrap_or(once / both);
        // Sums of masses have rounding errors.
        let above = self.lifts.partition_point(|(other, _)| *other <= lift * (1.0 + 1e-9));
        let together = above.checked_sub(1).map_or(0.0, |last| self.lifts[last].1).max(once);
        let jump = self.lifts.get(above).map_or(0.0, |(next, _)| (next / lift).ln());
        (jump - together.ln() - expected).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Reference;

    /// Rows of two categories of `levels` levels each.
    fn pairs(rows: &[(usize, usize)], levels: usize) -> (LevelPairs, Compared, Vec<Vec<f64>>) {
        let encode = |&(a, b): &(usize, usize)| {
            let mut row = vec![0.0; 2 * levels];
            (row[a], row[levels + b]) = (1.0, 1.0);
            row
        };
        let data: Vec<Vec<f64>> = rows.iter().map(encode).collect();
        let layout = Layout::new([(0, GroupKind::Category, levels), (1, GroupKind::Category, levels)]);
        let compared = Compared::new(&Reference::new(&data).unwrap(), 2000);
        (LevelPairs::learn(&compared, &layout), compared, data)
    }

    #[test]
    fn a_level_beside_that_of_another_one_is_odd() {
        let mut rows: Vec<(usize, usize)> = (0..200).map(|i| (i % 5, i % 5)).collect();
        rows[17] = (2, 4);
        let (found, compared, data) = pairs(&rows, 6);
        let expected = 0.7 * (2.0 * compared.observations * 3.0).ln();
        let excess = |row: &[f64]| found.excess(row, compared.observations, expected);
        assert_eq!(found.len(), 1);
        assert!(excess(&data[17]) > 2.0, "{}", excess(&data[17]));
        for (i, row) in data.iter().enumerate().filter(|(i, _)| *i != 17) {
            assert_eq!(excess(row), 0.0, "{i}");
        }
        // A combination of new rows, and a level that the sample lacks, which is odd by itself.
        let query = |a: usize, b: usize| {
            let mut row = vec![0.0; 12];
            (row[a], row[6 + b]) = (1.0, 1.0);
            row
        };
        assert!(excess(&query(1, 3)) > 2.0);
        assert_eq!(excess(&query(5, 3)), 0.0);
    }

    #[test]
    fn categories_that_do_not_depend_on_each_other_are_not_compared() {
        let rows: Vec<(usize, usize)> = (0..300).map(|i| (i * 7 % 11 % 5, i * 13 % 17 % 4)).collect();
        assert_eq!(pairs(&rows, 5).0.len(), 0);
        let constant: Vec<(usize, usize)> = (0..50).map(|i| (0, i % 3)).collect();
        assert_eq!(pairs(&constant, 3).0.len(), 0);
    }
}
