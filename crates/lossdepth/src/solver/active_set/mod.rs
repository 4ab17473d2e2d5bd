//! The hinge in a kernel's Hilbert space: an exact active-set method over the shared Gram matrix.
//!
//! With signed dual variables $\beta_i \in [0, \frac12 \omega_i]$, $\beta_z \in [-\frac12, 0]$ and
//! $G = K \beta$ the classifier is $f = (G + b') / 2\lambda$, and the gradient of the dual, in units of the kernel,
//!
//! $$ r_j = 2 \lambda y_j - G_j - b', \qquad y_i = 1, \; y_z = -1. $$
//!
//! A variable at its lower bound wants $r_j \le 0$, at its upper bound $r_j \ge 0$, in between $r_j = 0$. Most variables
//! sit at a bound, and only a few are free. A *round* takes the free variables and the worst offenders, solves the
//! dual on them exactly ([`inner`]) and brings $G$ up to date with the kernel columns of those that moved: tens of
//! columns of length $n$, while the pivots in between touch small matrices only. The duality gap is
//!
//! $$ \frac1{2\lambda} \sum_j \begin{cases} (h_j - \beta_j) \, r_j & r_j > 0 \\\\ (\beta_j - l_j) \, (-r_j) & r_j < 0 \end{cases} $$
//!
//! without any cancellation, wherever the method stops. A free intercept $b$ asks for $\sum_j \beta_j = 0$; that is met by
//! the method of multipliers, which is the same problem with the kernel $K + c$.

mod columns;
mod factor;
mod inner;

pub(crate) use columns::Columns;
pub(crate) use factor::Factor;

use crate::error::Result;
use crate::simd::{LANES, fold, vectorised};
use inner::{Inner, Stiffness};

/// Offenders taken up in a round.
const OFFENDERS: usize = 64;

/// The kernel values of one query with the sample points and with itself.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a> {
    pub(crate) column: &'a [f64],
    pub(crate) own: f64,
}

/// A point of the dual, with all that follows from it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Point {
    /// The dual variables of the sample, and the query's last.
    pub(crate) beta: Vec<f64>,
    /// $G = K \beta$ at the sample points, and at the query last.
    pub(crate) pulled: Vec<f64>,
    /// $b'$ without the part that comes from $\sum \beta \ne 0$.
    pub(crate) multiplier: f64,
    /// $\sum \beta$.
    pub(crate) sum: f64,
    /// $c$.
    pub(crate) constant: f64,
    /// The free variables and the factor of their $K + c$.
    pub(crate) free: Vec<usize>,
    pub(crate) factor: Factor,
    /// How many columns have gone into `pulled`: each rounds once.
    pub(crate) updates: usize,
}

/// What the dual says about a point.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    /// The duality gap of the penalised objective: variables at a bound, and variables in between.
    at_bounds: f64,
    inside: f64,
    /// $\langle \beta, G \rangle = \|\sum_j \beta_j \varphi_j\|^2$.
    pub(crate) square: f64,
    /// $\sum_j |\beta_j|$.
    mass: f64,
    /// The largest residual that a variable could follow.
    worst: f64,
    /// The largest residual of a variable that could rise, and the smallest of one that could fall.
    rise: f64,
    fall: f64,
}

impl Gap {
    /// The duality gap of the penalised objective, residuals being right to `slip`.
    ///
    /// The free variables' share, room times residual, would be all rounding. Their next Newton step would gain $\frac12
    /// r^\top M^{-1} r$ and leave none of it, so that is the better estimate of what they leave behind.
    pub(crate) fn total(&self, point: &Point, slip: f64, reg: f64) -> f64 {
        let count = point.free.len() as f64;
        let left = (self.worst.min(1e3 * slip) + slip).powi(2) * count / point.factor.smallest();
        let newton = if self.worst <= 1e3 * slip { left / (2.0 * reg) } else { f64::INFINITY };
        self.at_bounds + self.inside.min(newton)
    }
}

/// The numbers all queries share, and room to work in.
pub(crate) struct ActiveSet {
    /// Bounds of the variables, the query's last.
    low: Vec<f64>,
    high: Vec<f64>,
    balanced: bool,
    /// The largest kernel value of a sample point with itself.
    scale: f64,
    most_free: usize,
    residual: Vec<f64>,
    /// The size of the residual where the variable could follow it, else 0.
    offence: Vec<f64>,
    offenders: Vec<(f64, usize)>,
    fallers: Vec<(f64, usize)>,
    is_free: Vec<bool>,
    working: Vec<usize>,
    inner: Inner,
    changes: Vec<(f64, usize)>,
}

/// What ended a solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The error is small enough, or no variable can do better.
    Optimal,
    /// Out of rounds, or of room for free variables.
    Limit,
    Cancelled,
}

impl ActiveSet {
    /// `masses` are ½ωᵢ; `balanced` means a free intercept; at most `most_free` variables are free at once.
    pub(crate) fn new(masses: &[f64], balanced: bool, scale: f64, most_free: usize) -> Self {
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let low = std::iter::repeat_n(0.0, masses.len()).chain([-0.5]).collect();
        let high = masses.iter().copied().chain([0.0]).collect();
        Self {
            low,
            high,
            balanced,
            scale,
            most_free,
            residual: Vec::new(),
            offence: Vec::new(),
            offenders: Vec::new(),
            fallers: Vec::new(),
            is_free: Vec::new(),
            working: Vec::new(),
            inner: Inner::default(),
            changes: Vec::new(),
        }
    }

    fn stiffness(&self, own: f64) -> Stiffness {
        let scale = self.scale.max(own);
        let constant = self.constant(own);
        let noise = f64::EPSILON * (4.0 * scale + constant);
        Stiffness { constant, ridge: 1e-12 * self.scale, noise, balanced: self.balanced }
    }

    /// $c$: the same for all queries but those that are larger than any sample point.
    pub(crate) fn constant(&self, own: f64) -> f64 {
        if self.balanced { 1e2 * self.scale.max(own) } else { 0.0 }
    }

    /// $b' = 2 \lambda b$.
    pub(crate) fn bias(&self, point: &Point) -> f64 {
        if self.balanced { point.multiplier + point.constant * point.sum } else { 0.0 }
    }

    /// Puts a variable that is inside its bounds among the free ones, given its kernel values with those.
    pub(crate) fn release(
        &self,
        point: &mut Point,
        variable: usize,
        query: Query<'_>,
        kernel: impl Fn(usize) -> f64,
    ) {
        let stiff = self.stiffness(query.own);
        let Point { free, factor, .. } = point;
        let diagonal = kernel(variable) + stiff.constant + stiff.ridge;
        factor.push(free.iter().map(|&k| kernel(k) + stiff.constant), diagonal, stiff.ridge);
        free.push(variable);
    }

    /// Residuals, gap and norm of a point.
    pub(crate) fn look(&mut self, point: &Point, query: Query<'_>, reg: f64) -> Gap {
        let bias = self.bias(point);
        let n = query.column.len();
        self.residual.resize(n + 1, 0.0);
        self.offence.resize(n + 1, 0.0);
        let (low, high, residual) = (&self.low[..n], &self.high[..n], &mut self.residual[..n]);
        let offence = &mut self.offence[..n];
        let (beta, pulled) = (&point.beta[..n], &point.pulled[..n]);
        let target = 2.0 * reg - bias;
        let sums = vectorised(
            #[inline(always)]
            || sums(beta, pulled, low, high, target, residual, offence),
        );
        let Sums { mut at_bounds, mut inside, mut square, mut mass, mut worst, mut rise, mut fall } = sums;
        let r = -2.0 * reg - bias - point.pulled[n];
        self.residual[n] = r;
        let room = if r > 0.0 { self.high[n] - point.beta[n] } else { self.low[n] - point.beta[n] };
        if point.beta[n] > self.low[n] && point.beta[n] < self.high[n] {
            inside += room * r;
        } else {
            at_bounds += room * r;
        }
        square += point.beta[n] * point.pulled[n];
        mass -= point.beta[n];
        rise = if point.beta[n] < self.high[n] { rise.max(r) } else { rise };
        fall = if point.beta[n] > self.low[n] { fall.min(r) } else { fall };
        // All at their upper bounds, or all at their lower: the other end is as good as any.
        (rise, fall) = match (rise.is_finite(), fall.is_finite()) {
            (true, false) => (rise, rise),
            (false, true) => (fall, fall),
            (true, true) => (rise, fall),
            _ => (0.0, 0.0),
        };
        self.offence[n] = if room == 0.0 { 0.0 } else { r.abs() };
        worst = worst.max(self.offence[n]);
        let unit = 2.0 * reg;
        Gap {
            at_bounds: at_bounds / unit,
            inside: inside / unit,
            square: square.max(0.0),
            mass,
            worst,
            rise,
            fall,
        }
    }

    /// Improves a point until its gap and norm are good `enough`, or nothing can be gained; returns the number of
    /// rounds.
    #[expect(clippy::too_many_arguments, reason = "what to solve, with what, and how long")]
    pub(crate) fn solve(
        &mut self,
        point: &mut Point,
        query: Query<'_>,
        columns: &mut Columns<'_>,
        reg: f64,
        max_rounds: usize,
        enough: impl Fn(f64, f64) -> bool,
        cancelled: impl Fn() -> bool,
    ) -> Result<(End, usize)> {
        let stiff = self.stiffness(query.own);
        let (mut rounds, mut idle, mut best, mut most) = (0, 0, f64::INFINITY, f64::NEG_INFINITY);
        loop {
            let mut seen = self.look(point, query, reg);
            if self.balanced && point.free.is_empty() {
                // Nothing ties the intercept down: it goes to the middle of what the variables want.
                point.multiplier += 0.5 * (seen.rise + seen.fall);
                seen = self.look(point, query, reg);
            }
            let gap = seen.total(point, stiff.noise, reg);
            let balanced = !self.balanced || point.sum.abs() <= 1e-14;
            if balanced && enough(gap, seen.square.sqrt() / (2.0 * reg)) {
                return Ok((End::Optimal, rounds));
            }
            // Rounding noise can keep offenders coming for ever: then neither the gap falls nor the dual rises.
            let dual = 4.0 * reg * seen.mass - seen.square;
            let headway = gap < 0.9 * best || dual > most + 1e-13 * most.abs();
            idle = if headway { 0 } else { idle + 1 };
            (best, most) = (best.min(gap), most.max(dual));
            if (balanced && seen.worst <= stiff.noise) || idle > 8 {
                return Ok((End::Optimal, rounds));
            }
            if rounds >= max_rounds || point.free.len() > self.most_free {
                return Ok((End::Limit, rounds));
            }
            if cancelled() {
                return Ok((End::Cancelled, rounds));
            }
            self.round(point, query, columns, stiff, seen)?;
            rounds += 1;
        }
    }

    fn round(
        &mut self,
        point: &mut Point,
        query: Query<'_>,
        columns: &mut Columns<'_>,
        stiff: Stiffness,
        seen: Gap,
    ) -> Result<()> {
        let n = query.column.len();
        self.choose(point, stiff.noise, seen);
        columns.require(self.working.iter().copied().filter(|&j| j < n))?;
        let m = self.working.len();
        let Inner { beta, low, high, residual, matrix, free, .. } = &mut self.inner;
        for list in [&mut *beta, low, high, residual, matrix] {
            list.clear();
        }
        for &j in &self.working {
            beta.push(point.beta[j]);
            low.push(self.low[j]);
            high.push(self.high[j]);
            residual.push(self.residual[j]);
        }
        matrix.reserve(m * m);
        for &j in &self.working {
            if j == n {
                matrix.extend(self.working.iter().map(|&i| *query.column.get(i).unwrap_or(&query.own)));
            } else {
                let (column, own) = (columns.column(j), &query.column[j]);
                matrix.extend(self.working.iter().map(|&i| *column.get(i).unwrap_or(own)));
            }
        }
        free.clear();
        free.extend(0..point.free.len());

        let (inner, factor, sum) = (&mut self.inner, &mut point.factor, &mut point.sum);
        let (moved, _) = vectorised(
            #[inline(always)]
            || inner.solve(factor, stiff, sum),
        );
        point.multiplier += moved;

        self.changes.clear();
        for (&j, &value) in self.working.iter().zip(&self.inner.beta) {
            let change = value - point.beta[j];
            if change != 0.0 {
                point.beta[j] = value;
                self.changes.push((change, j));
            }
        }
        point.free.clear();
        point.free.extend(self.inner.free.iter().map(|&k| self.working[k]));
        point.updates += self.changes.len();
        pull(&mut point.pulled, &self.changes, query, columns);
        Ok(())
    }

    /// The free variables and those at a bound with the largest residuals inward.
    fn choose(&mut self, point: &Point, noise: f64, seen: Gap) {
        self.offenders.clear();
        self.is_free.resize(self.residual.len(), false);
        for &j in &point.free {
            self.is_free[j] = true;
        }
        self.gather_offenders(point, noise, seen);
        for &j in &point.free {
            self.is_free[j] = false;
        }
    }

    fn gather_offenders(&mut self, point: &Point, noise: f64, seen: Gap) {
        if self.balanced {
            // Pairs matter, whatever the intercept: what could rise against what could fall.
            let (rise, fall) = (seen.rise - noise, seen.fall + noise);
            let mut fallers = std::mem::take(&mut self.fallers);
            fallers.clear();
            let bounds = self.low.iter().zip(&self.high);
            for (j, ((&r, &beta), (&low, &high))) in
                self.residual.iter().zip(&point.beta).zip(bounds).enumerate()
            {
                if r > fall && beta < high && !self.is_free[j] {
                    self.offenders.push((r, j));
                }
                if r < rise && beta > low && !self.is_free[j] {
                    fallers.push((-r, j));
                }
            }
            worst_first(&mut self.offenders, OFFENDERS / 2);
            worst_first(&mut fallers, OFFENDERS / 2);
            let risers = self.offenders.len();
            self.offenders.extend(&fallers);
            self.fallers = fallers;
            self.working.clear();
            self.working.extend(&point.free);
            self.working.extend(self.offenders[..risers].iter().map(|(_, j)| *j));
            for &(_, j) in &self.offenders[risers..] {
                if !self.working.contains(&j) {
                    self.working.push(j);
                }
            }
            return;
        }
        for (c, chunk) in self.offence.chunks(LANES).enumerate() {
            // The largest first, without a branch; then which.
            if chunk.iter().fold(0.0f64, |most, o| most.max(*o)) > noise {
                let bad = chunk.iter().enumerate().filter(|(_, o)| **o > noise);
                self.offenders.extend(bad.map(|(k, o)| (*o, c * LANES + k)));
            }
        }
        let is_free = &self.is_free;
        self.offenders.retain(|(_, j)| !is_free[*j]);
        worst_first(&mut self.offenders, OFFENDERS);
        self.working.clear();
        self.working.extend(&point.free);
        self.working.extend(self.offenders.iter().map(|(_, j)| *j));
    }

    /// $\sum \beta$, if it matters.
    pub(crate) fn sum(&self, point: &Point) -> f64 {
        let beta = &point.beta[..];
        if self.balanced { crate::simd::sum_of(beta.len(), |i| beta[i]) } else { 0.0 }
    }

    /// Twice the penalty times the risk of the point last looked at.
    pub(crate) fn risk(&self) -> f64 {
        let n = self.residual.len() - 1;
        let (masses, residual) = (&self.high[..n], &self.residual[..n]);
        crate::simd::sum_of(n, |i| masses[i] * residual[i].max(0.0)) + 0.5 * (-self.residual[n]).max(0.0)
    }

    /// What residuals of variables at a bound, off by `slip`, would add to twice the penalty times the gap.
    pub(crate) fn allowance(&self, point: &Point, slip: f64) -> f64 {
        let count = self.residual.len();
        let (low, high) = (&self.low[..count], &self.high[..count]);
        let (residual, beta) = (&self.residual[..count], &point.beta[..count]);
        slip * crate::simd::sum_of(count, |j| {
            let (up, down) = (high[j] - beta[j], beta[j] - low[j]);
            let above = if residual[j] > -slip { up } else { 0.0 };
            let below = if residual[j] < slip { down } else { 0.0 };
            let most = if above > below { above } else { below };
            // The others are in the gap already.
            if up == 0.0 || down == 0.0 { most } else { 0.0 }
        })
    }

    /// Residuals at another penalty and intercept $b'$; returns twice the penalty times the Fenchel–Young sum.
    pub(crate) fn look_with(&mut self, point: &Point, reg: f64, bias: f64) -> f64 {
        let n = self.residual.len() - 1;
        let mut sum = 0.0;
        for j in 0..=n {
            let target = if j == n { -2.0 * reg } else { 2.0 * reg };
            let r = target - bias - point.pulled[j];
            self.residual[j] = r;
            sum += r * if r > 0.0 { self.high[j] - point.beta[j] } else { self.low[j] - point.beta[j] };
        }
        sum
    }

    /// Makes $\sum \beta = 0$ exact by moving the query's variable, for a free intercept.
    pub(crate) fn balance(&self, point: &mut Point, query: Query<'_>) {
        if !self.balanced {
            return;
        }
        let n = query.column.len();
        let beta = &point.beta[..n];
        let total: f64 = crate::simd::sum_of(beta.len(), |i| beta[i]);
        let change = (-total).clamp(-0.5, 0.0) - point.beta[n];
        point.multiplier = self.bias(point);
        point.sum = 0.0;
        point.beta[n] += change;
        crate::linalg::axpy(change, query.column, &mut point.pulled[..n]);
        point.pulled[n] += change * query.own;
        point.updates += 1;
    }
}

/// The `most` largest; of equals the first.
fn worst_first(list: &mut Vec<(f64, usize)>, most: usize) {
    if most < list.len() {
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        list.select_nth_unstable_by(most, order);
        list.truncate(most);
    }
}

/// Sums over the sample: see [`Gap`], in units of the kernel.
struct Sums {
    at_bounds: f64,
    inside: f64,
    square: f64,
    mass: f64,
    worst: f64,
    rise: f64,
    fall: f64,
}

/// Residuals `target - pulled` and what goes with them.
#[inline(always)]
fn sums(
    beta: &[f64],
    pulled: &[f64],
    low: &[f64],
    high: &[f64],
    target: f64,
    residual: &mut [f64],
    offence: &mut [f64],
) -> Sums {
    let n = residual.len();
    let body = n - n % LANES;
    let (mut at_bounds, mut inside) = ([0.0; LANES], [0.0; LANES]);
    let (mut square, mut mass, mut worst) = ([0.0; LANES], [0.0; LANES], [0.0f64; LANES]);
    let (mut rise, mut fall) = ([f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES]);
    macro_rules! one {
        ($k:expr, $b:expr, $g:expr, $l:expr, $h:expr, $r:expr, $o:expr) => {
            let r = target - $g;
            let (up, down) = ($h - $b, $l - $b);
            let room = if r > 0.0 { up } else { down };
            let left = room * r;
            let between = (up > 0.0) & (down < 0.0);
            at_bounds[$k] += if between { 0.0 } else { left };
            inside[$k] += if between { left } else { 0.0 };
            square[$k] += $b * $g;
            mass[$k] += $b;
            let size = if room == 0.0 { 0.0 } else { r.abs() };
            worst[$k] = if size > worst[$k] { size } else { worst[$k] };
            rise[$k] = if (up > 0.0) & (r > rise[$k]) { r } else { rise[$k] };
            fall[$k] = if (down < 0.0) & (r < fall[$k]) { r } else { fall[$k] };
            $r = r;
            $o = size;
        };
    }
    for c in 0..body / LANES {
        let at = c * LANES..(c + 1) * LANES;
        let (b, g, l, h) = (&beta[at.clone()], &pulled[at.clone()], &low[at.clone()], &high[at.clone()]);
        let (out, size) = (&mut residual[at.clone()], &mut offence[at]);
        for k in 0..LANES {
            one!(k, b[k], g[k], l[k], h[k], out[k], size[k]);
        }
    }
    for i in body..n {
        one!(i - body, beta[i], pulled[i], low[i], high[i], residual[i], offence[i]);
    }
    let worst = worst.iter().fold(0.0f64, |w, x| if *x > w { *x } else { w });
    let rise = rise.iter().fold(f64::NEG_INFINITY, |w, x| if *x > w { *x } else { w });
    let fall = fall.iter().fold(f64::INFINITY, |w, x| if *x < w { *x } else { w });
    Sums {
        at_bounds: fold(at_bounds),
        inside: fold(inside),
        square: fold(square),
        mass: fold(mass),
        worst,
        rise,
        fall,
    }
}

/// $G$ after changes of some variables, four columns at a time.
fn pull(pulled: &mut [f64], changes: &[(f64, usize)], query: Query<'_>, columns: &Columns<'_>) {
    let n = query.column.len();
    let column = |j: usize| if j == n { query.column } else { columns.column(j) };
    let own = |j: usize| if j == n { query.own } else { query.column[j] };
    for (change, j) in changes {
        pulled[n] += change * own(*j);
    }
    let pulled = &mut pulled[..n];
    let (fours, rest) = changes.as_chunks::<4>();
    for &[(p, j), (q, k), (r, l), (s, m)] in fours {
        let columns = [column(j), column(k), column(l), column(m)];
        vectorised(
            #[inline(always)]
            || add_four(pulled, [p, q, r, s], columns),
        );
    }
    for (change, j) in rest {
        crate::linalg::axpy(*change, column(*j), pulled);
    }
}

/// `sum += Σ factors · columns`.
#[inline(always)]
fn add_four(sum: &mut [f64], factors: [f64; 4], columns: [&[f64]; 4]) {
    let ([p, q, r, s], [a, b, c, d]) = (factors, columns);
    let columns = a.iter().zip(b).zip(c.iter().zip(d));
    for (sum, ((a, b), (c, d))) in sum.iter_mut().zip(columns) {
        *sum += (p * a + q * b) + (r * c + s * d);
    }
}
