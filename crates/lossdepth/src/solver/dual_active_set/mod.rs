//! The hinge in a kernel's Hilbert space: an exact active-set method over the shared Gram matrix.
//!
//! With signed dual variables $\beta_i \in [0, \frac12 \omega_i]$, $\beta_z \in [-\frac12, 0]$ and
//! $G = K \beta$ the classifier is $f = (G + b') / 2\lambda$, and the gradient of the dual, in units of the kernel,
//!
//! $$ r_j = 2 \lambda y_j - G_j - b', \qquad y_i = 1, \; y_z = -1. $$
//!
//! A variable at its lower bound wants $r_j \le 0$, at its upper bound $r_j \ge 0$, in between $r_j = 0$. Most variables
//! sit at a bound, and only a few are free. A *round* takes the free variables and the worst offenders ([`top`]), solves the
//! dual on them, first roughly ([`pairs`]), then exactly ([`inner`]), and brings $G$ up to date with the kernel columns of those that moved: tens of
//! columns of length $n$, while the pivots in between touch small matrices only. The duality gap is
//!
//! $$ \frac1{2\lambda} \sum_j \begin{cases} (h_j - \beta_j) \, r_j & r_j > 0 \\\\ (\beta_j - l_j) \, (-r_j) & r_j < 0 \end{cases} $$
//!
//! without any cancellation, wherever the method stops. A free intercept $b$ asks for $\sum_j \beta_j = 0$; that is met by
//! the method of multipliers, which is the same problem with the kernel $K + c$.

mod columns;
mod factor;
mod inner;
mod pairs;
mod top;

pub(crate) use columns::Columns;
pub(crate) use factor::Factor;
pub(crate) use top::Top;

use crate::certify::gap::at_least_zero;
use crate::error::Result;
use crate::numerics::simd::{LANES, fold, vectorised};
use inner::{Inner, PACK, Stiffness};

/// Offenders taken up in a round, unless told otherwise.
const OFFENDERS: usize = 64;

/// The kernel values of one query with the sample points and with itself.
#[derive(Clone, Copy)]
pub(crate) struct Query<'a> {
    pub(crate) column: &'a [f64],
    pub(crate) own: f64,
    /// The sample point that the query is, if that is known and matters.
    pub(crate) twin: Option<usize>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(column: &'a [f64], own: f64) -> Self {
        Self { column, own, twin: None }
    }
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
    /// Variables at a bound that are taken up first, whatever their residuals.
    pub(crate) first: Vec<usize>,
}

impl Point {
    /// $\|\sum_j \beta_j \varphi_j\|^2$, and the sum of the absolute coefficients it is made of: `pulled` off by $\delta$
    /// moves it by $\delta$ times that. A query that is a sample point has one coefficient together with it.
    pub(crate) fn square(&self, query: Query<'_>) -> (f64, f64) {
        let n = query.column.len();
        let (beta, pulled) = (&self.beta[..n], &self.pulled[..n]);
        let twin = query.twin.unwrap_or(n);
        let others = |value: &dyn Fn(usize) -> f64| (0..n).filter(|i| *i != twin).map(value).sum::<f64>();
        let (square, mass) = (others(&|i| beta[i] * pulled[i]), others(&|i| beta[i].abs()));
        let own = if twin < n { beta[twin] + self.beta[n] } else { self.beta[n] };
        (at_least_zero(square + own * self.pulled[twin]), mass + own.abs())
    }
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
    /// The duality gap of the penalised objective: how far that is above its minimum at most.
    pub(crate) fn total(&self) -> f64 {
        self.at_bounds + self.inside
    }

    /// How far the dual is below its maximum, residuals being right to `slip`.
    ///
    /// The free variables' share of the gap, room times residual, would be all rounding. Their next Newton step would gain $\frac12
    /// r^\top M^{-1} r$ and leave none of it, so that is the better estimate of what they leave behind.
    pub(crate) fn below(&self, point: &Point, slip: f64, reg: f64) -> f64 {
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
    /// Offenders taken up in a round.
    pub(crate) offenders: usize,
    /// The residual of a sample point where $G = 0$, and that of the query, at the point last looked at.
    target: f64,
    at_query: f64,
    /// The residuals of the variables that could rise; of those that could fall, with the other sign; else -∞.
    rising: Vec<f64>,
    falling: Vec<f64>,
    top: Top,
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
            offenders: OFFENDERS,
            target: 0.0,
            at_query: 0.0,
            rising: Vec::new(),
            falling: Vec::new(),
            top: Top::default(),
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
        self.rising.resize(n + 1, 0.0);
        self.falling.resize(n + 1, 0.0);
        let high = &self.high[..n];
        let (rising, falling) = (&mut self.rising[..n], &mut self.falling[..n]);
        let (beta, pulled) = (&point.beta[..n], &point.pulled[..n]);
        let target = 2.0 * reg - bias;
        let sums = vectorised(
            #[inline(always)]
            || sums(beta, pulled, high, target, rising, falling),
        );
        let Sums { mut at_bounds, mut inside, mut square, mut mass, mut rise, mut fall } = sums;
        let r = -2.0 * reg - bias - point.pulled[n];
        let (up, down) = (self.high[n] - point.beta[n], self.low[n] - point.beta[n]);
        let left = r * if r > 0.0 { up } else { down };
        if up > 0.0 && down < 0.0 {
            inside += left;
        } else {
            at_bounds += left;
        }
        square += point.beta[n] * point.pulled[n];
        mass -= point.beta[n];
        (self.target, self.at_query) = (target, r);
        self.rising[n] = if up > 0.0 { r } else { f64::NEG_INFINITY };
        self.falling[n] = if down < 0.0 { -r } else { f64::NEG_INFINITY };
        rise = rise.max(self.rising[n]);
        fall = fall.min(-self.falling[n]);
        let worst = rise.max(-fall).max(0.0);
        // All at their upper bounds, or all at their lower: the other end is as good as any.
        (rise, fall) = match (rise.is_finite(), fall.is_finite()) {
            (true, false) => (rise, rise),
            (false, true) => (fall, fall),
            (true, true) => (rise, fall),
            _ => (0.0, 0.0),
        };
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

    /// Improves a point until it is good `enough`, judged by its gap, by how far the dual is below its maximum and by its norm,
    /// or nothing can be gained; returns the number of rounds.
    #[expect(clippy::too_many_arguments, reason = "what to solve, with what, and how long")]
    pub(crate) fn solve(
        &mut self,
        point: &mut Point,
        query: Query<'_>,
        columns: &mut Columns<'_>,
        reg: f64,
        max_rounds: usize,
        enough: impl Fn(f64, f64, f64) -> bool,
        cancelled: impl Fn() -> bool,
    ) -> Result<(End, usize)> {
        let stiff = self.stiffness(query.own);
        let (mut rounds, mut idle, mut best, mut most) = (0, 0, f64::INFINITY, f64::NEG_INFINITY);
        if !point.first.is_empty() {
            self.working.clear();
            self.working.extend(&point.free);
            self.working.append(&mut point.first);
            self.round(point, query, columns, reg, stiff)?;
            rounds += 1;
        }
        loop {
            let mut seen = self.look(point, query, reg);
            if self.balanced && point.free.is_empty() {
                // Nothing ties the intercept down: it goes to the middle of what the variables want.
                point.multiplier += 0.5 * (seen.rise + seen.fall);
                seen = self.look(point, query, reg);
            }
            let (gap, below) = (seen.total(), seen.below(point, stiff.noise, reg));
            let balanced = !self.balanced || point.sum.abs() <= 1e-14;
            if balanced && enough(gap, below, seen.square.sqrt() / (2.0 * reg)) {
                return Ok((End::Optimal, rounds));
            }
            // Rounding noise can keep offenders coming for ever: then neither the gap falls nor the dual rises.
            let dual = 4.0 * reg * seen.mass - seen.square;
            let headway = gap + below < 0.9 * best || dual > most + 1e-13 * most.abs();
            idle = if headway { 0 } else { idle + 1 };
            (best, most) = (best.min(gap + below), most.max(dual));
            if (balanced && seen.worst <= stiff.noise) || idle > 8 {
                return Ok((End::Optimal, rounds));
            }
            if rounds >= max_rounds || point.free.len() > self.most_free {
                return Ok((End::Limit, rounds));
            }
            if cancelled() {
                return Ok((End::Cancelled, rounds));
            }
            self.choose(point, stiff.noise, seen);
            self.round(point, query, columns, reg, stiff)?;
            rounds += 1;
        }
    }

    /// Solves for the variables of the working set, the free ones first.
    fn round(
        &mut self,
        point: &mut Point,
        query: Query<'_>,
        columns: &mut Columns<'_>,
        reg: f64,
        stiff: Stiffness,
    ) -> Result<()> {
        let n = query.column.len();
        columns.require(self.working.iter().copied().filter(|&j| j < n))?;
        let m = self.working.len();
        let stride = m.next_multiple_of(PACK);
        let bias = self.bias(point);
        let Inner { len, beta, low, high, residual, matrix, free, .. } = &mut self.inner;
        *len = m;
        for list in [&mut *beta, low, high, residual] {
            list.clear();
        }
        for &j in &self.working {
            let target = if j == n { -2.0 * reg } else { 2.0 * reg };
            beta.push(point.beta[j]);
            low.push(self.low[j]);
            high.push(self.high[j]);
            residual.push(target - bias - point.pulled[j]);
        }
        for list in [&mut *beta, low, high, residual] {
            list.resize(stride, 0.0);
        }
        matrix.resize(m * stride, 0.0);
        // The lower triangle, column by column; then its mirror image.
        for (c, &j) in self.working.iter().enumerate() {
            let column = if j == n { query.column } else { columns.column(j) };
            let own = if j == n { query.own } else { query.column[j] };
            let (whole, below) = (&mut matrix[c * stride..(c + 1) * stride], &self.working[c..]);
            for (value, &i) in whole[c..].iter_mut().zip(below) {
                *value = if i == n { own } else { column[i] };
            }
            whole[m..].fill(0.0);
        }
        for c in 1..m {
            for r in 0..c {
                matrix[c * stride + r] = matrix[r * stride + c];
            }
        }
        free.clear();
        free.extend(0..point.free.len());

        let (inner, factor, sum) = (&mut self.inner, &mut point.factor, &mut point.sum);
        let moved = vectorised(
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
        for &j in &point.free {
            (self.rising[j], self.falling[j]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        }
        self.working.clear();
        self.working.extend(&point.free);
        if self.balanced {
            // Pairs matter, whatever the intercept: what could rise against what could fall.
            let risers = self.top.of(&self.rising, seen.fall + noise, self.offenders / 2);
            self.working.extend(risers.iter().map(|(_, j)| *j));
            for &(_, j) in self.top.of(&self.falling, noise - seen.rise, self.offenders / 2) {
                if !self.working.contains(&j) {
                    self.working.push(j);
                }
            }
            return;
        }
        let (offences, falling) = (&mut self.rising[..], &self.falling[..]);
        vectorised(
            #[inline(always)]
            || {
                for (o, f) in offences.iter_mut().zip(falling) {
                    *o = if *f > *o { *f } else { *o };
                }
            },
        );
        let offenders = self.top.of(&self.rising, noise, self.offenders);
        self.working.extend(offenders.iter().map(|(_, j)| *j));
    }

    /// $\sum \beta$, if it matters.
    pub(crate) fn sum(&self, point: &Point) -> f64 {
        let beta = &point.beta[..];
        if self.balanced { crate::numerics::simd::sum_of(beta.len(), |i| beta[i]) } else { 0.0 }
    }

    /// Twice the penalty times the risk of the point last looked at.
    pub(crate) fn risk(&self, point: &Point) -> f64 {
        let n = self.high.len() - 1;
        let (masses, pulled, target) = (&self.high[..n], &point.pulled[..n], self.target);
        let loss = |g: f64| if target > g { target - g } else { 0.0 };
        crate::numerics::simd::sum_of(n, |i| masses[i] * loss(pulled[i])) + 0.5 * (-self.at_query).max(0.0)
    }

    /// What residuals of variables at a bound, off by `slip`, would add to twice the penalty times the gap of the
    /// point last looked at.
    #[expect(clippy::needless_bitwise_bool, reason = "no branches")]
    pub(crate) fn allowance(&self, point: &Point, slip: f64) -> f64 {
        let n = self.high.len() - 1;
        let (high, target) = (&self.high[..n], self.target);
        let (pulled, beta) = (&point.pulled[..n], &point.beta[..n]);
        // The others are in the gap already.
        let one = |r: f64, up: f64, down: f64| {
            let above = if r > -slip { up } else { 0.0 };
            let below = if r < slip { down } else { 0.0 };
            let most = if above > below { above } else { below };
            if (up == 0.0) | (down == 0.0) { most } else { 0.0 }
        };
        let sample =
            crate::numerics::simd::sum_of(n, |j| one(target - pulled[j], high[j] - beta[j], beta[j]));
        let query = one(self.at_query, self.high[n] - point.beta[n], point.beta[n] - self.low[n]);
        slip * (sample + query)
    }

    /// Looks with another penalty and intercept $b'$; returns twice the penalty times the Fenchel–Young sum.
    pub(crate) fn look_with(&mut self, point: &Point, reg: f64, bias: f64) -> f64 {
        let n = self.high.len() - 1;
        (self.target, self.at_query) = (2.0 * reg - bias, -2.0 * reg - bias - point.pulled[n]);
        let residual = |j: usize| if j == n { self.at_query } else { self.target - point.pulled[j] };
        let room = |j: usize, r: f64| {
            if r > 0.0 { self.high[j] - point.beta[j] } else { self.low[j] - point.beta[j] }
        };
        (0..=n).map(|j| (residual(j), j)).map(|(r, j)| r * room(j, r)).sum()
    }

    /// Makes $\sum \beta = 0$ exact by moving the query's variable, for a free intercept.
    pub(crate) fn balance(&self, point: &mut Point, query: Query<'_>) {
        if !self.balanced {
            return;
        }
        let n = query.column.len();
        let beta = &point.beta[..n];
        let total: f64 = crate::numerics::simd::sum_of(beta.len(), |i| beta[i]);
        let change = (-total).clamp(-0.5, 0.0) - point.beta[n];
        point.multiplier = self.bias(point);
        point.sum = 0.0;
        point.beta[n] += change;
        crate::numerics::linalg::axpy(change, query.column, &mut point.pulled[..n]);
        point.pulled[n] += change * query.own;
        point.updates += 1;
    }
}

/// Sums over the sample: see [`Gap`], in units of the kernel.
struct Sums {
    at_bounds: f64,
    inside: f64,
    square: f64,
    mass: f64,
    rise: f64,
    fall: f64,
}

/// What the residuals `target - pulled` say.
#[inline(always)]
fn sums(
    beta: &[f64],
    pulled: &[f64],
    high: &[f64],
    target: f64,
    rising: &mut [f64],
    falling: &mut [f64],
) -> Sums {
    let n = rising.len();
    let body = n - n % LANES;
    let (mut at_bounds, mut inside) = ([0.0; LANES], [0.0; LANES]);
    let (mut square, mut mass) = ([0.0; LANES], [0.0; LANES]);
    let (mut rise, mut fall) = ([f64::NEG_INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    macro_rules! one {
        ($k:expr, $b:expr, $g:expr, $h:expr, $u:expr, $d:expr) => {
            let r = target - $g;
            let (up, down) = ($h - $b, -$b);
            let room = if r > 0.0 { up } else { down };
            let left = room * r;
            let between = (up > 0.0) & (down < 0.0);
            at_bounds[$k] += if between { 0.0 } else { left };
            inside[$k] += if between { left } else { 0.0 };
            square[$k] += $b * $g;
            mass[$k] += $b;
            let rises = if up > 0.0 { r } else { f64::NEG_INFINITY };
            let falls = if down < 0.0 { -r } else { f64::NEG_INFINITY };
            rise[$k] = if rises > rise[$k] { rises } else { rise[$k] };
            fall[$k] = if falls > fall[$k] { falls } else { fall[$k] };
            $u = rises;
            $d = falls;
        };
    }
    for c in 0..body / LANES {
        let at = c * LANES..(c + 1) * LANES;
        let (b, g, h) = (&beta[at.clone()], &pulled[at.clone()], &high[at.clone()]);
        let (rises, falls) = (&mut rising[at.clone()], &mut falling[at]);
        for k in 0..LANES {
            one!(k, b[k], g[k], h[k], rises[k], falls[k]);
        }
    }
    for i in body..n {
        one!(i - body, beta[i], pulled[i], high[i], rising[i], falling[i]);
    }
    let largest = |lanes: [f64; LANES]| lanes.iter().fold(f64::NEG_INFINITY, |w, x| w.max(*x));
    Sums {
        at_bounds: fold(at_bounds),
        inside: fold(inside),
        square: fold(square),
        mass: fold(mass),
        rise: largest(rise),
        fall: -largest(fall),
    }
}

/// $G$ after changes of some variables, eight columns at a time.
fn pull(pulled: &mut [f64], changes: &[(f64, usize)], query: Query<'_>, columns: &Columns<'_>) {
    let n = query.column.len();
    let column = |j: usize| if j == n { query.column } else { columns.column(j) };
    let own = |j: usize| if j == n { query.own } else { query.column[j] };
    for (change, j) in changes {
        pulled[n] += change * own(*j);
    }
    let pulled = &mut pulled[..n];
    let (eights, rest) = changes.as_chunks::<8>();
    for changes in eights {
        let columns = changes.map(|(_, j)| column(j));
        vectorised(
            #[inline(always)]
            || add_eight(pulled, changes.map(|(change, _)| change), columns),
        );
    }
    let (fours, rest) = rest.as_chunks::<4>();
    for changes in fours {
        let columns = changes.map(|(_, j)| column(j));
        vectorised(
            #[inline(always)]
            || add_four(pulled, changes.map(|(change, _)| change), columns),
        );
    }
    for (change, j) in rest {
        crate::numerics::linalg::axpy(*change, column(*j), pulled);
    }
}

/// `sum += Σ factors · columns`.
#[inline(always)]
fn add_eight(sum: &mut [f64], factors: [f64; 8], columns: [&[f64]; 8]) {
    let n = sum.len();
    let [a, b, c, d, e, f, g, h] = columns.map(|column| &column[..n]);
    let [p, q, r, s, t, u, v, w] = factors;
    for i in 0..n {
        let first = (p * a[i] + q * b[i]) + (r * c[i] + s * d[i]);
        let second = (t * e[i] + u * f[i]) + (v * g[i] + w * h[i]);
        sum[i] += first + second;
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
