//! How small a score is among those of the sample.

/// Scores closer than this are ties, so that rounding does not order rows that exact arithmetic would not.
const TIE: f64 = 1e-7;

/// (A6): the share of the sample whose score is at most $s$, as a continuous and strictly rising function of $s$.
pub(super) struct Tail {
    /// Different scores of the sample, ascending.
    knots: Vec<f64>,
    /// The mean rank of the rows with each score, over one more than the number of observations.
    levels: Vec<f64>,
    /// The unit of the distance beyond the smallest and the largest score.
    unit: f64,
}

impl Tail {
    pub(super) fn new(scores: &[f64], masses: &[f64], observations: f64) -> Self {
        let mut pairs: Vec<(f64, f64)> = scores.iter().copied().zip(masses.iter().copied()).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut knots, mut ends, mut sum) = (Vec::<f64>::new(), Vec::<f64>::new(), 0.0);
        for (score, mass) in pairs {
            sum += mass;
            match (knots.last(), ends.last_mut()) {
                (Some(first), Some(end)) if score - first <= TIE => *end = sum,
                _ => {
                    knots.push(score);
                    ends.push(sum);
                }
            }
        }
        let quantile = |level: f64| {
            let at = ends.partition_point(|end| *end < level * (1.0 - 1e-9));
            knots[at.min(knots.len() - 1)]
        };
        let (middle, range) = (quantile(0.75) - quantile(0.25), knots[knots.len() - 1] - knots[0]);
        let unit = [middle, range, 1.0].into_iter().find(|unit| *unit > TIE).unwrap_or(1.0);
        let mut below = 0.0;
        let levels = ends.iter().map(|&end| {
            let rank = 0.5 * observations * (below + end) + 0.5;
            below = end;
            rank / (observations + 1.0)
        });
        let levels = levels.collect();
        Self { knots, levels, unit }
    }

    /// The probability of a score at most `score`: above 0 and below 1, and rising with the score. Linear between the scores
    /// of the sample; beyond them a tail like that of $1/s$, which never reaches its end.
    pub(super) fn probability(&self, score: f64) -> f64 {
        let (knots, levels, last) = (&self.knots, &self.levels, self.knots.len() - 1);
        if score <= knots[0] {
            return levels[0] / (1.0 + (knots[0] - score) / self.unit);
        }
        if score >= knots[last] {
            return 1.0 - (1.0 - levels[last]) / (1.0 + (score - knots[last]) / self.unit);
        }
        let above = knots.partition_point(|knot| *knot <= score);
        let share = (score - knots[above - 1]) / (knots[above] - knots[above - 1]);
        levels[above - 1] + share * (levels[above] - levels[above - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_mean_ranks_and_rise_without_end() {
        let tail = Tail::new(&[0.0, 2.0, 1.0, 1.0], &[0.25; 4], 4.0);
        for (score, rank) in [(0.0, 1.0), (1.0, 2.5), (2.0, 4.0), (0.5, 1.75)] {
            assert!((tail.probability(score) - rank / 5.0).abs() < 1e-15, "{score}");
        }
        let mut last = 0.0;
        for score in [-1e12, -1e6, -10.0, -1.0, 0.0, 0.3, 1.0, 1.5, 2.0, 3.0, 1e3] {
            let p = tail.probability(score);
            assert!(p > last && p < 1.0, "{score}: {p}");
            last = p;
        }
    }

    #[test]
    fn weights_are_copies() {
        let copies = Tail::new(&[3.0, 3.0, 1.0, 5.0], &[0.25; 4], 4.0);
        let weighted = Tail::new(&[3.0, 1.0, 5.0], &[0.5, 0.25, 0.25], 4.0);
        for score in [-4.0, 1.0, 2.0, 3.0, 4.5, 5.0, 7.0] {
            assert_eq!(copies.probability(score), weighted.probability(score));
        }
    }

    #[test]
    fn equal_scores_have_a_probability() {
        let tail = Tail::new(&[2.0, 2.0], &[0.5, 0.5], 2.0);
        assert_eq!(tail.probability(2.0), 0.5);
        assert!(tail.probability(1.0) < 0.5 && tail.probability(3.0) > 0.5);
    }
}
