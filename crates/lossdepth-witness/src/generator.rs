//! Random and hostile problems, each a function of seed and index.

use crate::formulation::{Intercept, Problem, Variant};
use crate::loss::Loss;
use crate::random::Random;

/// What is hostile about a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Nothing.
    Plain,
    /// Columns of scales 1e-6 to 1e6.
    Scales,
    /// Columns far from zero, up to 1e8.
    Offsets,
    /// Columns that differ from a multiple of another by 1e-14 to 1e-4.
    Collinear,
    /// Columns below the rounding of another.
    Drowned,
    /// Few distinct rows, of small integers.
    Duplicates,
    /// The query is a row.
    Member,
    /// The query is the weighted mean, or nearly so.
    Centre,
    /// The query is 10 to 1e6 standard deviations away.
    Outlier,
    /// Columns of scales 1e-12 to 1e12 with little to hold the classifier down, so that the rounding of a margin counts.
    Extreme,
    /// More columns than rows.
    Underdetermined,
    /// Two or three rows.
    Tiny,
    /// Up to 2000 rows or 30 columns.
    Large,
    /// Up to 20000 rows, where the rounding of sums counts.
    Long,
    /// Any combination of the others.
    Mixed,
}

impl Kind {
    pub(crate) const ALL: [Self; 15] = [
        Self::Plain,
        Self::Scales,
        Self::Offsets,
        Self::Collinear,
        Self::Drowned,
        Self::Duplicates,
        Self::Member,
        Self::Centre,
        Self::Outlier,
        Self::Extreme,
        Self::Underdetermined,
        Self::Tiny,
        Self::Large,
        Self::Long,
        Self::Mixed,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Scales => "scales",
            Self::Offsets => "offsets",
            Self::Collinear => "collinear",
            Self::Drowned => "drowned",
            Self::Duplicates => "duplicates",
            Self::Member => "member",
            Self::Centre => "centre",
            Self::Outlier => "outlier",
            Self::Extreme => "extreme",
            Self::Underdetermined => "underdetermined",
            Self::Tiny => "tiny",
            Self::Large => "large",
            Self::Long => "long",
            Self::Mixed => "mixed",
        }
    }
}

impl Intercept {
    pub(crate) const ALL: [Self; 3] = [Self::Free, Self::Penalised, Self::None];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Penalised => "penalised",
            Self::None => "none",
        }
    }
}

impl Variant {
    pub(crate) const NAMES: [&'static str; 3] = ["risk", "objective", "constrained"];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Risk => Self::NAMES[0],
            Self::Objective => Self::NAMES[1],
            Self::Constrained { .. } => Self::NAMES[2],
        }
    }
}

/// A problem of the list that a seed stands for.
#[derive(Debug, Clone)]
pub(crate) struct Generated {
    pub(crate) index: u64,
    pub(crate) kind: Kind,
    pub(crate) problem: Problem,
}

/// The kind of a problem, its loss, variant and intercept, before any data is drawn.
fn settings(random: &mut Random) -> (Kind, Problem) {
    // Large problems take most of the time: one in a hundred is one, and one in four thousand a long one.
    let size = random.uniform();
    let kind = if size < 0.000_25 {
        Kind::Long
    } else if size < 0.01 {
        Kind::Large
    } else if random.chance(0.2) {
        Kind::Mixed
    } else {
        random.pick(&Kind::ALL[..12])
    };
    let loss = random.pick(&Loss::ALL);
    let intercept = random.pick(&Intercept::ALL);
    let (reg, radius) = if kind == Kind::Extreme {
        (random.magnitude(-8, -4), random.magnitude(0, 4))
    } else {
        (random.magnitude(-8, 4), random.magnitude(-3, 4))
    };
    let variant = match random.below(3) {
        0 => Variant::Risk,
        1 => Variant::Objective,
        _ => Variant::Constrained { radius },
    };
    let tol = random.magnitude(-10, -4);
    (kind, Problem { rows: Vec::new(), weights: None, query: Vec::new(), loss, intercept, variant, reg, tol })
}

/// The first indices, so many, whose problems pass a filter.
pub(crate) fn indices(seed: u64, count: usize, filter: impl Fn(Kind, &Problem) -> bool) -> Vec<u64> {
    let passes = |index: &u64| {
        let (kind, problem) = settings(&mut Random::new(seed, *index));
        filter(kind, &problem)
    };
    (0..).filter(passes).take(count).collect()
}

/// The problem with this index.
pub(crate) fn generate(seed: u64, index: u64) -> Generated {
    let random = &mut Random::new(seed, index);
    let (kind, mut problem) = settings(random);
    let mut has = |of: Kind| kind == of || kind == Kind::Mixed && random.chance(0.3);
    let [scales, offsets, collinear, drowned, duplicates] =
        [Kind::Scales, Kind::Offsets, Kind::Collinear, Kind::Drowned, Kind::Duplicates].map(&mut has);
    let [member, mut centre, outlier, underdetermined, tiny] =
        [Kind::Member, Kind::Centre, Kind::Outlier, Kind::Underdetermined, Kind::Tiny].map(&mut has);

    let (mut n, mut d) = (random.between(2, 40), random.between(1, 6));
    if random.chance(0.1) {
        (n, d) = (random.between(2, 60), random.between(1, 12));
    }
    if kind == Kind::Long {
        (n, d) = (random.between(5000, 20_000), random.between(1, 2));
        centre = random.chance(0.7);
    }
    if kind == Kind::Large {
        (n, d) = match random.below(10) {
            0 => (random.between(300, 2000), random.between(1, 3)),
            1..=3 => (random.between(10, 60), random.between(12, 30)),
            _ => (random.between(60, 300), random.between(1, 8)),
        };
        // Long sums show at depths of one.
        centre = random.chance(0.3);
    }
    if tiny {
        n = random.between(2, 3);
    }
    if underdetermined {
        n = random.between(2, 8);
        d = random.between(n + 1, 12);
    }
    if (collinear || drowned) && d == 1 {
        d = 2;
    }

    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| random.normal()).collect()).collect();
    let mut query: Vec<f64> = {
        let spread = random.pick(&[0.3, 1.0, 4.0]);
        (0..d).map(|_| spread * random.normal()).collect()
    };
    if outlier {
        let factor = random.magnitude(1, 6);
        for z in &mut query {
            *z *= factor;
        }
    }
    if duplicates {
        let distinct = random.between(1, n.min(4));
        for x in rows.iter_mut().flatten().chain(&mut query) {
            *x = (*x * 2.0).round();
        }
        rows.truncate(distinct);
        for _ in distinct..n {
            rows.push(rows[random.below(distinct)].clone());
        }
    }
    if collinear {
        let noise = 1.0 / random.magnitude(4, 14);
        for k in 1..d {
            if k == 1 || random.chance(0.5) {
                let factor = random.normal();
                for row in rows.iter_mut().chain([&mut query]) {
                    row[k] = factor * row[0] + noise * row[k];
                }
            }
        }
    }
    if scales || kind == Kind::Extreme {
        let power = if scales { 6 } else { 12 };
        for k in 0..d {
            let scale = random.magnitude(-power, power);
            rows.iter_mut().chain([&mut query]).for_each(|row| row[k] *= scale);
        }
    }
    if offsets {
        for k in 0..d {
            let offset = random.magnitude(0, 8) * random.pick(&[1.0, -1.0]);
            rows.iter_mut().chain([&mut query]).for_each(|row| row[k] += offset);
        }
    }
    if drowned {
        let (large, small) = (random.magnitude(0, 6), 1.0 / random.magnitude(10, 18));
        let offset = if random.chance(0.5) { random.magnitude(4, 8) } else { 0.0 };
        for row in rows.iter_mut().chain([&mut query]) {
            row[0] = row[0] * large + offset;
            row[d - 1] *= small * large;
        }
    }
    problem.weights = weights(random, n);
    if centre {
        query = mean(&rows, problem.weights.as_deref());
        if random.chance(0.3) {
            let off = 1.0 / random.magnitude(4, 12);
            query[0] += off;
        }
    }
    if member {
        query.clone_from(&rows[random.below(n)]);
    }
    (problem.rows, problem.query) = (rows, query);
    Generated { index, kind, problem }
}

/// None, integers of which some are zero, or fractions of very different size.
fn weights(random: &mut Random, n: usize) -> Option<Vec<f64>> {
    let mut weights: Vec<f64> = match random.below(4) {
        0 | 1 => return None,
        2 => (0..n).map(|_| random.pick(&[0.0, 1.0, 1.0, 2.0, 3.0, 7.0])).collect(),
        _ => {
            let least = -i32::try_from(random.between(1, 6)).unwrap_or(1);
            (0..n).map(|_| random.magnitude(least, 1)).collect()
        }
    };
    // At least two rows must count.
    for w in &mut weights[..2] {
        if *w == 0.0 {
            *w = 1.0;
        }
    }
    Some(weights)
}

fn mean(rows: &[Vec<f64>], weights: Option<&[f64]>) -> Vec<f64> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..rows.len()).map(weight).sum();
    (0..rows[0].len())
        .map(|k| rows.iter().enumerate().map(|(i, row)| weight(i) * row[k]).sum::<f64>() / total)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_a_function_of_seed_and_index() {
        for index in 0..300 {
            let [a, b] = [(); 2].map(|()| generate(7, index));
            assert_eq!(format!("{a:?}"), format!("{b:?}"));
            assert!(
                a.problem.rows.len() >= 2 && a.problem.rows.iter().all(|r| r.len() == a.problem.query.len())
            );
            assert!(a.problem.rows.iter().flatten().chain(&a.problem.query).all(|x| x.is_finite()));
        }
    }

    #[test]
    fn a_filter_skips_problems_and_changes_none() {
        let found = indices(3, 50, |kind, problem| kind == Kind::Tiny && problem.loss == Loss::Hinge);
        assert_eq!(found.len(), 50);
        for g in found.into_iter().map(|index| generate(3, index)) {
            assert!(g.kind == Kind::Tiny && g.problem.loss == Loss::Hinge && g.problem.rows.len() <= 3);
        }
    }

    #[test]
    fn every_kind_is_drawn() {
        let kinds: std::collections::BTreeSet<Kind> =
            (0..20_000).map(|index| generate(1, index).kind).collect();
        assert_eq!(kinds.len(), Kind::ALL.len());
    }
}
