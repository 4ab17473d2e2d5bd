//! One setting for all sets: how good it is on the sets it was chosen on, and on sets it was not.

/// Areas of one candidate, a number for each data set.
pub(super) type Areas = Vec<f64>;

/// What came of choosing one candidate for all sets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// The candidate with the best mean over all sets.
    pub(super) best: usize,
    /// Its mean.
    pub(super) mean: f64,
    /// For every set, the candidate chosen on the others.
    pub(super) chosen: Vec<usize>,
    /// The mean over the sets of the area of the candidate chosen on the others.
    pub(super) left_out: f64,
}

/// Chooses by the mean, on all sets and on all sets but one (and but those that are `related` to it).
pub(super) fn choose(candidates: &[Areas], related: &[Vec<usize>]) -> Choice {
    let sets = candidates.first().map_or(0, Vec::len);
    let best_without = |hidden: &[usize]| {
        let seen: Vec<usize> = (0..sets).filter(|set| !hidden.contains(set)).collect();
        let sum = |areas: &Areas| seen.iter().map(|&set| areas[set]).sum::<f64>();
        // Of equals the first.
        (0..candidates.len())
            .rev()
            .max_by(|&a, &b| sum(&candidates[a]).total_cmp(&sum(&candidates[b])))
            .unwrap_or(0)
    };
    let hidden = |set: usize| {
        let kin = related.iter().find(|group| group.contains(&set));
        kin.cloned().unwrap_or_else(|| vec![set])
    };
    let best = best_without(&[]);
    let chosen: Vec<usize> = (0..sets).map(|set| best_without(&hidden(set))).collect();
    let mean = |pick: &dyn Fn(usize) -> usize| {
        (0..sets).map(|set| candidates[pick(set)][set]).sum::<f64>() / sets as f64
    };
    Choice { mean: mean(&|_| best), left_out: mean(&|set| chosen[set]), best, chosen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_is_good_where_it_was_chosen_may_be_bad_elsewhere() {
        // The first is best on average because of one set, which leaving it out shows.
        let candidates = [vec![1.0, 0.5, 0.5], vec![0.4, 0.6, 0.6]];
        let choice = choose(&candidates, &[]);
        assert_eq!((choice.best, &choice.chosen[..]), (0, &[1, 0, 0][..]));
        assert!((choice.mean - 2.0 / 3.0).abs() < 1e-15);
        assert!((choice.left_out - 1.4 / 3.0).abs() < 1e-15);
        // Sets that belong together are left out together.
        let choice = choose(&candidates, &[vec![0, 1]]);
        assert_eq!(choice.chosen, [1, 1, 0]);
    }
}
