//! Lower bounds within a cone: disjoint groups of points of which one at least must be counted.
//!
//! Let $a_{ij} = \langle v_j, y_i \rangle$ be the values of the undecided points at the corners $v_j$ of a cone. If weights
//! $\mu_i \ge 0$ on a group make $\sum_i \mu_i a_{ij} \ge 0$ at every corner, then every direction $u$ of the cone has
//! $\sum_i \mu_i \langle u, y_i \rangle \ge 0$, so some point of the group lies in its closed halfspace (Farkas). Disjoint groups
//! add up. Pairs are found by the ratios of their values, larger groups by solving the matrix game $a$; both are
//! trusted only with a margin for rounding, so no bound depends on it.

/// Values at the corners, one row a point, with masses and rounding errors.
#[derive(Debug, Default)]
pub(super) struct Packing {
    pub(super) values: Vec<f64>,
    pub(super) blur: Vec<f64>,
    pub(super) masses: Vec<u64>,
    corners: usize,
    free: Vec<usize>,
    order: Vec<usize>,
    below: Vec<u8>,
    groups: Vec<Group>,
    used: Vec<bool>,
    game: Game,
}

/// Points that are below at the same corners: a stretch of the order.
#[derive(Debug, Clone, Copy)]
struct Group {
    mask: u8,
    first: usize,
    end: usize,
}

/// What came of it.
#[derive(Debug, PartialEq)]
pub(super) enum Packed {
    /// At least this much mass must be counted.
    Proven(u64),
    /// The corners, weighted like this, sum to a direction with all points below.
    Escape(Vec<f64>),
}

impl Packing {
    /// Prepares for points around a cone of so many corners.
    pub(super) fn clear(&mut self, corners: usize) {
        self.values.clear();
        self.blur.clear();
        self.masses.clear();
        self.corners = corners;
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.corners..(i + 1) * self.corners]
    }

    /// Looks for disjoint groups until their masses reach `need`; counts the pairs it tries in `work`, and asks `decide`
    /// about pairs that are too close to call.
    pub(super) fn pack(
        &mut self,
        need: u64,
        work: &mut u64,
        decide: &mut impl FnMut(usize, usize) -> bool,
    ) -> Packed {
        let n = self.masses.len();
        let mut proven = 0;
        // Two points make a pair only if no corner has both below: partners are looked up by their corners below.
        self.below.clear();
        self.below.extend(
            self.values
                .chunks_exact(self.corners)
                .map(|row| row.iter().enumerate().fold(0u8, |mask, (j, v)| mask | u8::from(*v < 0.0) << j)),
        );
        // Points that are below at most corners have the fewest partners: they choose first, and are chosen first.
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..n);
        order.sort_by_key(|&i| (std::cmp::Reverse(self.below[i].count_ones()), self.below[i]));
        self.groups.clear();
        for (at, &i) in order.iter().enumerate() {
            match self.groups.last_mut() {
                Some(group) if group.mask == self.below[i] => group.end = at + 1,
                _ => self.groups.push(Group { mask: self.below[i], first: at, end: at + 1 }),
            }
        }
        self.used.clear();
        self.used.resize(n, false);
        for at in 0..n {
            let i = order[at];
            if self.used[at] {
                continue;
            }
            let mask = self.below[i];
            let partner = self.groups.iter().filter(|g| g.mask & mask == 0).find_map(|g| {
                (g.first.max(at + 1)..g.end).find(|&k| {
                    *work += 4;
                    let found = if self.used[k] { Some(false) } else { self.pair(i, order[k]) };
                    found.unwrap_or_else(|| decide(i, order[k]))
                })
            });
            if let Some(k) = partner {
                (self.used[at], self.used[k]) = (true, true);
                proven += self.masses[i].min(self.masses[order[k]]);
                if proven >= need {
                    break;
                }
            }
        }
        let mut free = std::mem::take(&mut self.free);
        free.clear();
        free.extend((0..n).filter(|&at| !self.used[at]).map(|at| order[at]));
        self.order = order;
        let mut escape = None;
        let corners = self.corners;
        while proven < need && !free.is_empty() {
            *work += (4 * corners * corners * free.len()) as u64;
            let values = &self.values;
            let value = self.game.solve(&free, corners, |i, j| values[i * corners + j]);
            if value < 0.0 {
                if free.len() == n {
                    escape = Some(self.game.columns.clone());
                }
                break;
            }
            let weights = &self.game.rows;
            let clear = (0..corners).all(|j| {
                let (mut sum, mut slack, mut size) = (0.0, 0.0, 0.0);
                for (&i, w) in free.iter().zip(weights) {
                    let term = w * self.values[i * corners + j];
                    sum += term;
                    size += term.abs();
                    slack += w * self.blur[i];
                }
                sum > slack * 1.001 + free.len() as f64 * f64::EPSILON * size
            });
            if !clear {
                break;
            }
            let group = |k: &usize| weights[*k] > 0.0;
            let least = (0..free.len()).filter(group).map(|k| self.masses[free[k]]).min().unwrap_or(0);
            let mut k = 0;
            free.retain(|_| {
                k += 1;
                !group(&(k - 1))
            });
            proven += least;
        }
        self.free = free;
        match escape {
            Some(columns) => Packed::Escape(columns),
            None => Packed::Proven(proven),
        }
    }

    /// Whether one of two points is in the halfspace of every direction: some $c > 0$ has $a_j + c b_j \ge 0$ everywhere.
    /// `None` if rounding could decide.
    fn pair(&self, i: usize, k: usize) -> Option<bool> {
        // Values made worse and better than they may be.
        for (sign, answer) in [(-1.0, true), (1.0, false)] {
            let (slack_a, slack_b) = (sign * self.blur[i], sign * self.blur[k]);
            let (mut least, mut most) = (0.0f64, f64::INFINITY);
            for (a, b) in self.row(i).iter().zip(self.row(k)) {
                let (a, b) = (a + slack_a, b + slack_b);
                if b >= 0.0 {
                    if a < 0.0 {
                        least = least.max(-a / b);
                    }
                } else if a > 0.0 {
                    most = most.min(a / -b);
                } else {
                    most = -1.0;
                }
            }
            let margin = 1.0 + sign * 8.0 * f64::EPSILON;
            let holds = least <= most * margin && least.is_finite();
            if holds == answer {
                return Some(answer);
            }
        }
        None
    }
}

/// A small matrix game: the row player's weights make every column large, the column player's every row small.
#[derive(Debug, Default)]
struct Game {
    tableau: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    /// Which variable each line and column of the tableau stands for: rows first, then columns of the game.
    basic: Vec<usize>,
    free: Vec<usize>,
}

impl Game {
    /// The value of the game, up to rounding; the strategies stay in `rows` and `columns`.
    fn solve(&mut self, chosen: &[usize], corners: usize, value: impl Fn(usize, usize) -> f64) -> f64 {
        let m = chosen.len();
        let width = corners + 1;
        let largest = chosen.iter().flat_map(|&i| (0..corners).map(move |j| (i, j)));
        let shift = 1.0 + largest.fold(0.0f64, |s, (i, j)| s.max(value(i, j).abs()));
        // Maximise the sum of y subject to (a + shift) y <= 1, y >= 0.
        self.tableau.clear();
        for &i in chosen {
            self.tableau.extend((0..corners).map(|j| value(i, j) + shift));
            self.tableau.push(1.0);
        }
        self.tableau.extend(std::iter::repeat_n(-1.0, corners));
        self.tableau.push(0.0);
        self.basic.clear();
        self.basic.extend(0..m);
        self.free.clear();
        self.free.extend(m..m + corners);
        let t = &mut self.tableau;
        for _ in 0..8 * corners {
            let costs = &t[m * width..m * width + corners];
            let Some((enter, cost)) = costs.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))
            else {
                break;
            };
            if cost >= -1e-12 {
                break;
            }
            let ratio = |t: &[f64], i: usize| t[i * width + corners] / t[i * width + enter];
            let leave = (0..m)
                .filter(|&i| t[i * width + enter] > 1e-12)
                .min_by(|&a, &b| ratio(t, a).total_cmp(&ratio(t, b)));
            let Some(leave) = leave else { break };
            // Exchange the two variables.
            let pivot = 1.0 / t[leave * width + enter];
            for j in 0..width {
                if j != enter {
                    t[leave * width + j] *= pivot;
                }
            }
            for i in 0..=m {
                if i != leave {
                    let factor = t[i * width + enter];
                    for j in 0..width {
                        if j != enter {
                            t[i * width + j] -= factor * t[leave * width + j];
                        }
                    }
                    t[i * width + enter] = -factor * pivot;
                }
            }
            t[leave * width + enter] = pivot;
            std::mem::swap(&mut self.basic[leave], &mut self.free[enter]);
        }
        self.rows.clear();
        self.rows.resize(m, 0.0);
        self.columns.clear();
        self.columns.resize(corners, 0.0);
        for (j, &variable) in self.free.iter().enumerate() {
            if variable < m {
                self.rows[variable] = t[m * width + j].max(0.0);
            }
        }
        for (i, &variable) in self.basic.iter().enumerate() {
            if variable >= m {
                self.columns[variable - m] = t[i * width + corners].max(0.0);
            }
        }
        let sum = t[m * width + corners];
        1.0 / sum - shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packing(corners: usize, rows: &[&[f64]]) -> Packing {
        let mut packing = Packing::default();
        packing.clear(corners);
        for row in rows {
            packing.values.extend_from_slice(row);
            packing.blur.push(1e-15);
            packing.masses.push(1);
        }
        packing
    }

    #[test]
    fn opposite_points_are_a_pair() {
        let mut p = packing(2, &[&[1.0, -1.0], &[-0.5, 0.6]]);
        assert_eq!(p.pack(1, &mut 0, &mut |_, _| false), Packed::Proven(1));
        // Both below in between.
        let mut p = packing(2, &[&[1.0, -1.0], &[-0.6, 0.5]]);
        let Packed::Escape(c) = p.pack(1, &mut 0, &mut |_, _| false) else { panic!("they leave a gap") };
        assert!(c[0] - c[1] < 0.0 && 0.5 * c[1] - 0.6 * c[0] < 0.0, "{c:?}");
    }

    #[test]
    fn three_points_without_a_pair() {
        let rows: [&[f64]; 3] = [&[1.0, -0.4, -0.4], &[-0.4, 1.0, -0.4], &[-0.4, -0.4, 1.0]];
        assert_eq!(packing(3, &rows).pack(1, &mut 0, &mut |_, _| false), Packed::Proven(1));
        let rows: [&[f64]; 3] = [&[1.0, -0.6, -0.6], &[-0.6, 1.0, -0.6], &[-0.6, -0.6, 1.0]];
        assert!(matches!(packing(3, &rows).pack(1, &mut 0, &mut |_, _| false), Packed::Escape(_)));
    }

    #[test]
    fn the_game_is_solved() {
        let a = [[3.0, -1.0, 2.0], [-2.0, 4.0, 1.0], [1.0, 1.0, -3.0], [0.5, 0.2, 0.1]];
        let mut game = Game::default();
        let value = game.solve(&[0, 1, 2, 3], 3, |i, j| a[i][j]);
        let total: f64 = game.rows.iter().sum();
        let worst = (0..3).map(|j| (0..4).map(|i| game.rows[i] * a[i][j]).sum::<f64>() / total);
        let total: f64 = game.columns.iter().sum();
        let best = (0..4).map(|i| (0..3).map(|j| game.columns[j] * a[i][j]).sum::<f64>() / total);
        assert!((worst.fold(f64::INFINITY, f64::min) - value).abs() < 1e-12);
        assert!((best.fold(f64::NEG_INFINITY, f64::max) - value).abs() < 1e-12);
    }
}
