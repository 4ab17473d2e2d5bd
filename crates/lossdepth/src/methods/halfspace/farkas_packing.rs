//! Lower bounds within a cone: disjoint groups of points, each with a Farkas certificate that every halfspace
//! contains one of its points.
//!
//! Let $a_{ij} = \langle v_j, y_i \rangle$ be the values of the undecided points at the corners $v_j$ of a
//! cone. If weights $\mu_i \ge 0$ on a group make $\sum_i \mu_i a_{ij} \ge 0$ at every corner, then every
//! direction $u$ of the cone has $\sum_i \mu_i \langle u, y_i \rangle \ge 0$, so some point of the group lies
//! in its closed halfspace (H6). Disjoint groups add their least masses. Pairs are found by the ratios of
//! their values, larger groups by solving the matrix game $a$; both are accepted only with a margin for
//! rounding, so that the bound holds.

/// Searches for disjoint groups. The values at the corners are stored row by row, with masses and rounding
/// error bounds.
#[derive(Debug, Default)]
pub(super) struct FarkasPacking {
    pub(super) values: Vec<f64>,
    pub(super) error: Vec<f64>,
    pub(super) masses: Vec<u64>,
    corners: usize,
    free: Vec<usize>,
    order: Vec<usize>,
    below: Vec<u8>,
    groups: Vec<MaskGroup>,
    used: Vec<bool>,
    game: MatrixGame,
}

/// The points that are outside at the same corners: a range of the order.
#[derive(Debug, Clone, Copy)]
struct MaskGroup {
    mask: u8,
    first: usize,
    end: usize,
}

/// The result of a packing.
#[derive(Debug, PartialEq)]
pub(super) enum PackingResult {
    /// Every direction of the cone has at least this mass.
    Proven(u64),
    /// The sum of the corners with these weights is a direction with all points outside.
    Separating(Vec<f64>),
}

impl FarkasPacking {
    /// Prepares for a cone with this many corners.
    pub(super) fn clear(&mut self, corners: usize) {
        self.values.clear();
        self.error.clear();
        self.masses.clear();
        self.corners = corners;
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.corners..(i + 1) * self.corners]
    }

    /// Searches disjoint groups until their masses reach `need`. Adds the work to `spent`; calls
    /// `decide_exactly` for pairs that rounding does not decide.
    pub(super) fn pack(
        &mut self,
        need: u64,
        spent: &mut u64,
        decide_exactly: &mut impl FnMut(usize, usize) -> bool,
    ) -> PackingResult {
        let n = self.masses.len();
        let mut proven = 0;
        // Two points form a pair only if no corner has both outside: partners are found by their corner
        // masks.
        self.below.clear();
        self.below.extend(
            self.values
                .chunks_exact(self.corners)
                .map(|row| row.iter().enumerate().fold(0u8, |mask, (j, v)| mask | u8::from(*v < 0.0) << j)),
        );
        // Points outside at most corners have the fewest partners, so they are matched first.
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..n);
        order.sort_by_key(|&i| (std::cmp::Reverse(self.below[i].count_ones()), self.below[i]));
        self.groups.clear();
        for (at, &i) in order.iter().enumerate() {
            match self.groups.last_mut() {
                Some(group) if group.mask == self.below[i] => group.end = at + 1,
                _ => self.groups.push(MaskGroup { mask: self.below[i], first: at, end: at + 1 }),
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
                    *spent += 4;
                    let found = if self.used[k] { Some(false) } else { self.pair(i, order[k]) };
                    found.unwrap_or_else(|| decide_exactly(i, order[k]))
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
        let mut separating = None;
        let corners = self.corners;
        while proven < need && !free.is_empty() {
            *spent += (4 * corners * corners * free.len()) as u64;
            let values = &self.values;
            let value = self.game.solve(&free, corners, |i, j| values[i * corners + j]);
            if value < 0.0 {
                if free.len() == n {
                    separating = Some(self.game.columns.clone());
                }
                break;
            }
            let weights = &self.game.rows;
            let certain = (0..corners).all(|j| {
                let (mut sum, mut error_sum, mut size) = (0.0, 0.0, 0.0);
                for (&i, w) in free.iter().zip(weights) {
                    let term = w * self.values[i * corners + j];
                    sum += term;
                    size += term.abs();
                    error_sum += w * self.error[i];
                }
                sum > error_sum * 1.001 + free.len() as f64 * f64::EPSILON * size
            });
            if !certain {
                break;
            }
            let group = |k: &usize| weights[*k] > 0.0;
            let least_mass = (0..free.len()).filter(group).map(|k| self.masses[free[k]]).min().unwrap_or(0);
            let mut k = 0;
            free.retain(|_| {
                k += 1;
                !group(&(k - 1))
            });
            proven += least_mass;
        }
        self.free = free;
        match separating {
            Some(columns) => PackingResult::Separating(columns),
            None => PackingResult::Proven(proven),
        }
    }

    /// Whether one of two points is in the halfspace of every direction of the cone: some $c > 0$ has $a_j +
    /// c b_j \ge 0$ at every corner. `None` if rounding could decide.
    fn pair(&self, i: usize, k: usize) -> Option<bool> {
        // With all values at the lower, then at the upper end of their error.
        for (sign, answer) in [(-1.0, true), (1.0, false)] {
            let (error_a, error_b) = (sign * self.error[i], sign * self.error[k]);
            let (mut low, mut high) = (0.0f64, f64::INFINITY);
            for (a, b) in self.row(i).iter().zip(self.row(k)) {
                let (a, b) = (a + error_a, b + error_b);
                if b >= 0.0 {
                    if a < 0.0 {
                        low = low.max(-a / b);
                    }
                } else if a > 0.0 {
                    high = high.min(a / -b);
                } else {
                    high = -1.0;
                }
            }
            let margin = 1.0 + sign * 8.0 * f64::EPSILON;
            let holds = low <= high * margin && low.is_finite();
            if holds == answer {
                return Some(answer);
            }
        }
        None
    }
}

/// Costs and entries of a tableau below this count as zero (heuristic: what the strategies prove is checked with its own
/// rounding).
const PIVOT: f64 = 1e-12;

/// A small matrix game: the row player's weights maximise the smallest column sum, the column player's
/// minimise the largest row sum. Solved by the simplex method.
#[derive(Debug, Default)]
struct MatrixGame {
    tableau: Vec<f64>,
    rows: Vec<f64>,
    columns: Vec<f64>,
    /// The variable of each row and column of the tableau: the game's rows first, then its columns.
    basic: Vec<usize>,
    free: Vec<usize>,
}

impl MatrixGame {
    /// The value of the game, up to rounding; sets the strategies `rows` and `columns`.
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
            if cost >= -PIVOT {
                break;
            }
            let ratio = |t: &[f64], i: usize| t[i * width + corners] / t[i * width + enter];
            let leave = (0..m)
                .filter(|&i| t[i * width + enter] > PIVOT)
                .min_by(|&a, &b| ratio(t, a).total_cmp(&ratio(t, b)));
            let Some(leave) = leave else { break };
            // Pivot: exchange the two variables.
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

    fn packing(corners: usize, rows: &[&[f64]]) -> FarkasPacking {
        let mut packing = FarkasPacking::default();
        packing.clear(corners);
        for row in rows {
            packing.values.extend_from_slice(row);
            packing.error.push(1e-15);
            packing.masses.push(1);
        }
        packing
    }

    #[test]
    fn nearly_opposite_points_form_a_pair() {
        let mut p = packing(2, &[&[1.0, -1.0], &[-0.5, 0.6]]);
        assert_eq!(p.pack(1, &mut 0, &mut |_, _| false), PackingResult::Proven(1));
        // Some direction in between has both outside.
        let mut p = packing(2, &[&[1.0, -1.0], &[-0.6, 0.5]]);
        let PackingResult::Separating(c) = p.pack(1, &mut 0, &mut |_, _| false) else {
            panic!("they leave a gap")
        };
        assert!(c[0] - c[1] < 0.0 && 0.5 * c[1] - 0.6 * c[0] < 0.0, "{c:?}");
    }

    #[test]
    fn three_points_form_a_group_without_a_pair() {
        let rows: [&[f64]; 3] = [&[1.0, -0.4, -0.4], &[-0.4, 1.0, -0.4], &[-0.4, -0.4, 1.0]];
        assert_eq!(packing(3, &rows).pack(1, &mut 0, &mut |_, _| false), PackingResult::Proven(1));
        let rows: [&[f64]; 3] = [&[1.0, -0.6, -0.6], &[-0.6, 1.0, -0.6], &[-0.6, -0.6, 1.0]];
        assert!(matches!(packing(3, &rows).pack(1, &mut 0, &mut |_, _| false), PackingResult::Separating(_)));
    }

    #[test]
    fn matrix_game_reaches_its_value() {
        let a = [[3.0, -1.0, 2.0], [-2.0, 4.0, 1.0], [1.0, 1.0, -3.0], [0.5, 0.2, 0.1]];
        let mut game = MatrixGame::default();
        let value = game.solve(&[0, 1, 2, 3], 3, |i, j| a[i][j]);
        let total: f64 = game.rows.iter().sum();
        let worst = (0..3).map(|j| (0..4).map(|i| game.rows[i] * a[i][j]).sum::<f64>() / total);
        let total: f64 = game.columns.iter().sum();
        let best = (0..4).map(|i| (0..3).map(|j| game.columns[j] * a[i][j]).sum::<f64>() / total);
        assert!((worst.fold(f64::INFINITY, f64::min) - value).abs() < 1e-12);
        assert!((best.fold(f64::NEG_INFINITY, f64::max) - value).abs() < 1e-12);
    }
}
