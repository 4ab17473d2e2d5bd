//! The largest numbers of a long list.

use crate::numerics::simd::{LANES, vectorised};

/// Room to look for them.
#[derive(Default)]
pub(crate) struct Top {
    /// The largest of each strided group of [`LANES`] numbers.
    groups: Vec<f64>,
    sorted: Vec<f64>,
    found: Vec<(f64, usize)>,
}

impl Top {
    /// The `most` largest numbers above `floor` with their places; of equals the first.
    ///
    /// Number $i$ belongs to group $i \bmod g$, so that the largest of all groups take one pass without branches. The
    /// `most`-th largest of those is at most the `most`-th largest number, and few groups hold anything above it.
    pub(crate) fn of(&mut self, list: &[f64], floor: f64, most: usize) -> &[(f64, usize)] {
        self.found.clear();
        if list.is_empty() || most == 0 {
            return &self.found;
        }
        let count = list.len().div_ceil(LANES);
        self.groups.clear();
        self.groups.extend(&list[..count]);
        let groups = &mut self.groups[..];
        vectorised(
            #[inline(always)]
            || {
                for part in list[count..].chunks(count) {
                    for (most, x) in groups.iter_mut().zip(part) {
                        *most = if *x > *most { *x } else { *most };
                    }
                }
            },
        );
        let mut enough = f64::NEG_INFINITY;
        if most < count {
            self.sorted.clone_from(&self.groups);
            let (_, least, _) = self.sorted.select_nth_unstable_by(most - 1, |a, b| b.total_cmp(a));
            enough = *least;
        }
        for (group, &largest) in self.groups.iter().enumerate() {
            if largest >= enough && largest > floor {
                let places = (group..list.len()).step_by(count);
                let good = places.map(|j| (list[j], j)).filter(|(x, _)| *x >= enough && *x > floor);
                self.found.extend(good);
            }
        }
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if most < self.found.len() {
            self.found.select_nth_unstable_by(most, order);
            self.found.truncate(most);
        }
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_larger_is_left_out() {
        let mut top = Top::default();
        for n in [0, 1, 2, 15, 16, 17, 40, 300, 1000] {
            // Many ties.
            let list: Vec<f64> = (0..n).map(|i| f64::from((i * 7919) % 101 - 50)).collect();
            for most in [0, 1, 5, 30, 64] {
                for floor in [f64::NEG_INFINITY, 0.0, 45.0, 60.0] {
                    let mut sorted: Vec<(f64, usize)> =
                        list.iter().enumerate().map(|(j, x)| (*x, j)).filter(|(x, _)| *x > floor).collect();
                    sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    sorted.truncate(most);
                    let mut found = top.of(&list, floor, most).to_vec();
                    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                    assert_eq!(found, sorted, "{n} {most} {floor}");
                }
            }
        }
    }
}
