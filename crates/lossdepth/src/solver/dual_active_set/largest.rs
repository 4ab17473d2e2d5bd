//! The largest entries of a long list.

use crate::numerics::simd::{LANES, vectorised};

/// Buffers for the selection.
#[derive(Default)]
pub(crate) struct LargestEntries {
    /// The maximum of each strided group of [`LANES`] numbers.
    group_maxima: Vec<f64>,
    sorted: Vec<f64>,
    selected: Vec<(f64, usize)>,
}

impl LargestEntries {
    /// The `count` largest numbers above `floor` with their indices, in no order; ties go to the lower index.
    ///
    /// Number $i$ belongs to group $i \bmod g$, so that all group maxima take one pass without branches. The
    /// `count`-th largest group maximum is at most the `count`-th largest number, and few groups hold anything above it.
    pub(crate) fn of(&mut self, list: &[f64], floor: f64, count: usize) -> &[(f64, usize)] {
        self.selected.clear();
        if list.is_empty() || count == 0 {
            return &self.selected;
        }
        let stride = list.len().div_ceil(LANES);
        self.group_maxima.clear();
        self.group_maxima.extend(&list[..stride]);
        let groups = &mut self.group_maxima[..];
        vectorised!({
            for part in list[stride..].chunks(stride) {
                for (maximum, x) in groups.iter_mut().zip(part) {
                    *maximum = if *x > *maximum { *x } else { *maximum };
                }
            }
        });
        let mut threshold = f64::NEG_INFINITY;
        if count < stride {
            self.sorted.clone_from(&self.group_maxima);
            let (_, least, _) = self.sorted.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
            threshold = *least;
        }
        for (group, &largest) in self.group_maxima.iter().enumerate() {
            if largest >= threshold && largest > floor {
                let indices = (group..list.len()).step_by(stride);
                let above = indices.map(|j| (list[j], j)).filter(|(x, _)| *x >= threshold && *x > floor);
                self.selected.extend(above);
            }
        }
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if count < self.selected.len() {
            self.selected.select_nth_unstable_by(count, order);
            self.selected.truncate(count);
        }
        &self.selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_larger_entry_is_missed() {
        let mut largest = LargestEntries::default();
        for n in [0, 1, 2, 15, 16, 17, 40, 300, 1000] {
            // Many ties.
            let list: Vec<f64> = (0..n).map(|i| f64::from((i * 7919) % 101 - 50)).collect();
            for most in [0, 1, 5, 30, 64] {
                for floor in [f64::NEG_INFINITY, 0.0, 45.0, 60.0] {
                    let mut sorted: Vec<(f64, usize)> =
                        list.iter().enumerate().map(|(j, x)| (*x, j)).filter(|(x, _)| *x > floor).collect();
                    sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    sorted.truncate(most);
                    let mut found = largest.of(&list, floor, most).to_vec();
                    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    assert_eq!(found, sorted, "{n} {most} {floor}");
                }
            }
        }
    }
}
