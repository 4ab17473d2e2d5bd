//! Selection of one setting for all data sets, and its performance on a data set that was held out.

/// AUCs of one candidate, one per data set.
pub(crate) type Aucs = Vec<f64>;

/// The result of selecting the candidate with the best mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    /// The candidate with the best mean over all sets.
    pub(crate) best: usize,
    /// Its mean.
    pub(crate) mean: f64,
    /// For every set, the candidate selected on the other sets.
    pub(crate) without: Vec<usize>,
    /// The mean over the sets of the AUC of the candidate selected on the other sets.
    pub(crate) held_out_mean: f64,
}

/// Selects by the mean AUC: on all sets, and for each set on all others except those that are `related` to it.
pub(crate) fn select(candidates: &[Aucs], related: &[Vec<usize>]) -> Selection {
    let sets = candidates.first().map_or(0, Vec::len);
    let best_without = |excluded: &[usize]| {
        let used: Vec<usize> = (0..sets).filter(|set| !excluded.contains(set)).collect();
        let sum = |aucs: &Aucs| used.iter().map(|&set| aucs[set]).sum::<f64>();
        // The first of equals: `max_by` returns the last, hence `rev`.
        (0..candidates.len())
            .rev()
            .max_by(|&a, &b| sum(&candidates[a]).total_cmp(&sum(&candidates[b])))
            .unwrap_or(0)
    };
    let excluded = |set: usize| {
        let group = related.iter().find(|group| group.contains(&set));
        group.cloned().unwrap_or_else(|| vec![set])
    };
    let best = best_without(&[]);
    let without: Vec<usize> = (0..sets).map(|set| best_without(&excluded(set))).collect();
    let mean = |candidate: &dyn Fn(usize) -> usize| {
        (0..sets).map(|set| candidates[candidate(set)][set]).sum::<f64>() / sets as f64
    };
    Selection { mean: mean(&|_| best), held_out_mean: mean(&|set| without[set]), best, without }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_is_best_on_all_sets_may_not_be_selected_without_one() {
        // The mean of the first is the best because of set 0.
        let candidates = [vec![1.0, 0.5, 0.5], vec![0.4, 0.6, 0.6]];
        let selection = select(&candidates, &[]);
        assert_eq!((selection.best, &selection.without[..]), (0, &[1, 0, 0][..]));
        assert!((selection.mean - 2.0 / 3.0).abs() < 1e-15);
        assert!((selection.held_out_mean - 1.4 / 3.0).abs() < 1e-15);
        // Related sets are held out together.
        let selection = select(&candidates, &[vec![0, 1]]);
        assert_eq!(selection.without, [1, 1, 0]);
    }
}
