//! Signs that do not depend on rounding.
//!
//! A floating-point *expansion* is a sum of numbers that do not overlap, smallest first; its sign is that of its last
//! component. Sums and products of floating-point numbers are expansions of two components, computed without error
//! (Dekker, Knuth, Shewchuk), so the sign of any polynomial of the data is in reach. Everything here is slow and right;
//! callers decide the clear cases with an error bound first.
//!
//! Numbers are expected within about 1e±130 of 1, so that no product leaves the range of `f64`; what orders points by
//! their angle, [`Exact::turn`], is right for smaller ones as well.

use std::cmp::Ordering;

/// $a + b$ as a rounded sum and its error.
#[inline]
pub(super) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let shadow = sum - a;
    (sum, (a - (sum - shadow)) + (b - shadow))
}

/// $ab$ as a rounded product and its error.
#[inline]
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    (product, a.mul_add(b, -product))
}

/// A sum of floating-point numbers, kept exactly.
#[derive(Debug, Default)]
struct Expansion {
    parts: Vec<f64>,
}

impl Expansion {
    fn clear(&mut self) {
        self.parts.clear();
    }

    fn add(&mut self, value: f64) {
        let (mut carry, mut kept) = (value, 0);
        for k in 0..self.parts.len() {
            let (sum, error) = two_sum(carry, self.parts[k]);
            if error != 0.0 {
                self.parts[kept] = error;
                kept += 1;
            }
            carry = sum;
        }
        self.parts.truncate(kept);
        if carry != 0.0 {
            self.parts.push(carry);
        }
    }

    fn add_product(&mut self, a: f64, b: f64) {
        let (product, error) = two_product(a, b);
        self.add(error);
        self.add(product);
    }

    fn sign(&self) -> Ordering {
        self.parts.last().map_or(Ordering::Equal, |p| p.total_cmp(&0.0))
    }
}

/// Scratch memory for exact signs.
#[derive(Debug, Default)]
pub(super) struct Exact {
    sum: Expansion,
}

impl Exact {
    /// The sign of $\langle u, x - z \rangle$.
    pub(super) fn side(&mut self, u: &[f64], x: &[f64], z: &[f64]) -> Ordering {
        self.sum.clear();
        for ((u, x), z) in u.iter().zip(x).zip(z) {
            self.sum.add_product(*u, *x);
            self.sum.add_product(-*u, *z);
        }
        self.sum.sign()
    }

    /// The sign of $\sum_j c_j \langle b_j, x - z \rangle$, the rows of `frame` being the $b_j$.
    pub(super) fn side_in_frame(&mut self, c: &[f64], frame: &[f64], x: &[f64], z: &[f64]) -> Ordering {
        self.sum.clear();
        for (c, row) in c.iter().zip(frame.chunks_exact(x.len())) {
            for ((b, x), z) in row.iter().zip(x).zip(z) {
                let (high, low) = two_product(*c, *b);
                for factor in [high, low] {
                    self.sum.add_product(factor, *x);
                    self.sum.add_product(-factor, *z);
                }
            }
        }
        self.sum.sign()
    }

    /// The sign of $\sum_j c_j \langle b_j, (x - z) + r (y - z) \rangle$.
    pub(super) fn pair_in_frame(
        &mut self,
        c: &[f64],
        frame: &[f64],
        [x, y, z]: [&[f64]; 3],
        ratio: f64,
    ) -> Ordering {
        self.sum.clear();
        for (c, row) in c.iter().zip(frame.chunks_exact(x.len())) {
            for (k, b) in row.iter().enumerate() {
                let (high, low) = two_product(*c, *b);
                for factor in [high, low] {
                    self.sum.add_product(factor, x[k]);
                    self.sum.add_product(-factor, z[k]);
                    let (high, low) = two_product(factor, ratio);
                    for factor in [high, low] {
                        self.sum.add_product(factor, y[k]);
                        self.sum.add_product(-factor, z[k]);
                    }
                }
            }
        }
        self.sum.sign()
    }

    /// The sign of $(a - z) \times (b - z)$ in the plane: positive if `b` lies counterclockwise of `a`.
    pub(super) fn turn(&mut self, a: [f64; 2], b: [f64; 2], z: [f64; 2]) -> Ordering {
        // (a0 - z0)(b1 - z1) - (a1 - z1)(b0 - z0), the product of the z taken away from both.
        let products =
            [(a[0], b[1]), (-a[0], z[1]), (-z[0], b[1]), (-a[1], b[0]), (a[1], z[0]), (z[1], b[0])];
        if products.iter().any(|(p, q)| *p != 0.0 && *q != 0.0 && (p * q).abs() < LEAST_PRODUCT) {
            return sign_of_sum(&products);
        }
        self.sum.clear();
        for (p, q) in products {
            self.sum.add_product(p, q);
        }
        self.sum.sign()
    }
}

/// The error of a smaller product may not be a floating-point number.
const LEAST_PRODUCT: f64 = 1e-290;

/// The sign of a sum of products, however small, in whole numbers of any length.
fn sign_of_sum(products: &[(f64, f64)]) -> Ordering {
    // |pq| is a whole number below 2^106 times a power of two.
    let terms = products.iter().map(|(p, q)| {
        let ((m, e), (n, f)) = (decode(*p), decode(*q));
        (u128::from(m) * u128::from(n), e + f, (*p < 0.0) != (*q < 0.0))
    });
    let terms: Vec<_> = terms.filter(|term| term.0 != 0).collect();
    let least = terms.iter().map(|term| term.1).min().unwrap_or(0);
    let mut sums = [Vec::new(), Vec::new()];
    for (mantissa, exponent, negative) in terms {
        add_shifted(&mut sums[usize::from(negative)], mantissa, (exponent - least).unsigned_abs() as usize);
    }
    let length = sums[0].len().max(sums[1].len());
    for sum in &mut sums {
        sum.resize(length, 0);
    }
    sums[0].iter().rev().cmp(sums[1].iter().rev())
}

/// Adds $m 2^s$ to a number of 32 bits a digit, the lowest first.
fn add_shifted(sum: &mut Vec<u32>, mantissa: u128, shift: usize) {
    let (mut rest, mut place) = (mantissa, shift / 32);
    // What a digit leaves to the next one: by being moved, and by being added.
    let (mut over, mut carry) = (0u64, 0u64);
    while rest != 0 || over != 0 || carry != 0 {
        if sum.len() <= place {
            sum.resize(place + 1, 0);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a digit")]
        let digit = u64::from(rest as u32) << (shift % 32) | over;
        over = digit >> 32;
        let total = u64::from(sum[place]) + (digit & u64::from(u32::MAX)) + carry;
        carry = total >> 32;
        #[expect(clippy::cast_possible_truncation, reason = "a digit")]
        {
            sum[place] = total as u32;
        }
        rest >>= 32;
        place += 1;
    }
}

/// The largest prime below $2^{61}$.
const MERSENNE: u64 = (1 << 61) - 1;

/// Arithmetic modulo a prime below $2^{61}$.
#[derive(Debug, Clone, Copy)]
struct Field(u64);

impl Field {
    #[inline]
    fn mul(self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        // The first prime is 2^61 - 1, of which a remainder is a sum of two halves.
        let product = if self.0 == MERSENNE {
            let sum = (product & u128::from(MERSENNE)) + (product >> 61);
            if sum >= u128::from(MERSENNE) { sum - u128::from(MERSENNE) } else { sum }
        } else {
            product % u128::from(self.0)
        };
        #[expect(clippy::cast_possible_truncation, reason = "smaller than the modulus")]
        {
            product as u64
        }
    }

    fn sub(self, a: u64, b: u64) -> u64 {
        if a >= b { a - b } else { a + self.0 - b }
    }

    fn pow(self, mut base: u64, mut exponent: u64) -> u64 {
        let mut power = 1;
        while exponent > 0 {
            if exponent & 1 == 1 {
                power = self.mul(power, base);
            }
            base = self.mul(base, base);
            exponent >>= 1;
        }
        power
    }

    fn inverse(self, a: u64) -> u64 {
        self.pow(a, self.0 - 2)
    }

    /// The powers of two that floating-point numbers have.
    fn powers_of_two(self) -> Vec<u64> {
        let least = self.inverse(self.pow(2, u64::from(LEAST_EXPONENT.unsigned_abs())));
        std::iter::successors(Some(least), |power| Some(self.mul(*power, 2))).take(2100).collect()
    }
}

/// The exponent of the smallest floating-point number.
const LEAST_EXPONENT: i32 = -1074;

/// Mantissa and exponent: $|v| = m 2^e$.
fn decode(value: f64) -> (u64, i32) {
    let bits = value.abs().to_bits();
    let exponent = i32::try_from(bits >> 52).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    match (exponent, fraction) {
        (0, 0) => (0, 0),
        (0, f) => (f >> f.trailing_zeros(), -1074 + f.trailing_zeros().cast_signed()),
        (e, f) => {
            let m = f | 1 << 52;
            (m >> m.trailing_zeros(), e - 1075 + m.trailing_zeros().cast_signed())
        }
    }
}

fn is_prime(n: u64) -> bool {
    let field = Field(n);
    let twos = (n - 1).trailing_zeros();
    // These bases decide every number below 3e24.
    [2u64, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].into_iter().all(|base| {
        let mut x = field.pow(base, (n - 1) >> twos);
        if x == 1 || x == n - 1 {
            return true;
        }
        (1..twos).any(|_| {
            x = field.mul(x, x);
            x == n - 1
        })
    })
}

/// The largest primes below $2^{61}$, in descending order.
fn primes() -> impl Iterator<Item = u64> {
    let first = (1u64 << 61) - 1;
    std::iter::once(first).chain((1..).map(move |k| first - 2 * k).filter(|n| is_prime(*n)))
}

/// The echelon form of some vectors modulo one prime.
#[derive(Debug, Clone)]
struct Echelon {
    field: Field,
    powers: Vec<u64>,
    /// The residues of $z$.
    origin: Vec<u64>,
    /// Rows with a 1 at their pivot, and which vectors they came from.
    rows: Vec<Vec<u64>>,
    pivots: Vec<usize>,
}

impl Echelon {
    fn new(prime: u64, z: &[f64]) -> Self {
        let field = Field(prime);
        let powers = field.powers_of_two();
        let mut empty = Self { field, powers, origin: Vec::new(), rows: Vec::new(), pivots: Vec::new() };
        empty.origin = z.iter().map(|z| empty.residue(*z)).collect();
        empty
    }

    /// The residue of a floating-point number, which is an integer times a power of two.
    fn residue(&self, value: f64) -> u64 {
        let (mantissa, exponent) = decode(value);
        let power = usize::try_from(exponent - LEAST_EXPONENT).ok().and_then(|at| self.powers.get(at));
        let magnitude = self.field.mul(mantissa % self.field.0, power.copied().unwrap_or(0));
        if value < 0.0 { self.field.sub(0, magnitude) } else { magnitude }
    }

    /// Takes in $x - z$; says whether it raised the rank.
    fn insert(&mut self, x: &[f64]) -> bool {
        let Some((pivot, mut row)) = self.reduce(x) else { return false };
        let unit = self.field.inverse(row[pivot]);
        for v in &mut row {
            *v = self.field.mul(*v, unit);
        }
        self.rows.push(row);
        self.pivots.push(pivot);
        true
    }

    /// What is left of $x - z$ after the rows, and its first column that is not zero.
    fn reduce(&self, x: &[f64]) -> Option<(usize, Vec<u64>)> {
        let f = self.field;
        let mut row: Vec<u64> =
            x.iter().zip(&self.origin).map(|(x, z)| f.sub(self.residue(*x), *z)).collect();
        for (basis, &pivot) in self.rows.iter().zip(&self.pivots) {
            let factor = row[pivot];
            if factor != 0 {
                for (v, b) in row.iter_mut().zip(basis) {
                    *v = f.sub(*v, f.mul(factor, *b));
                }
            }
        }
        row.iter().position(|v| *v != 0).map(|pivot| (pivot, row))
    }
}

/// The columns in which the vectors $x_i - z$ have the rank they have in all: proven.
///
/// The rank modulo a prime never exceeds the true one; it falls short only if the prime divides certain minors. As a
/// minor is an integer (times a power of two) of bounded size, enough primes exclude that.
#[derive(Debug, Clone)]
pub(super) struct Span {
    echelons: Vec<Echelon>,
}

impl Span {
    /// The span of $x_i - z$.
    #[expect(clippy::needless_pass_by_value, reason = "iterators come by value")]
    pub(super) fn new<'a>(vectors: impl Iterator<Item = &'a [f64]> + Clone, z: &'a [f64]) -> Self {
        let width = z.len();
        let bits = minor_bits(vectors.clone().chain([z]), width);
        let mut best: Vec<Echelon> = Vec::new();
        let (mut covered, mut rank) = (0.0, 0);
        let count = vectors.clone().count();
        for prime in primes() {
            let mut echelon = Echelon::new(prime, z);
            for x in vectors.clone() {
                if echelon.rows.len() == width {
                    break;
                }
                echelon.insert(x);
            }
            let found = echelon.rows.len();
            if found > rank || best.is_empty() {
                best.clear();
                (rank, covered) = (found, 0.0);
            }
            if found == rank {
                covered += 60.0;
                best.push(echelon);
            }
            // As high as it can be, or too many primes for a minor to hide behind.
            if rank == width || rank == count || covered > bits[rank.min(width - 1)] {
                break;
            }
        }
        Self { echelons: best }
    }

    pub(super) fn rank(&self) -> usize {
        self.echelons[0].pivots.len()
    }

    /// Columns of full rank, in ascending order.
    pub(super) fn columns(&self) -> Vec<usize> {
        let mut columns = self.echelons[0].pivots.clone();
        columns.sort_unstable();
        columns
    }

    /// A column that adds to the rank when $x - z$ joins the vectors; `None` if it lies in their span.
    pub(super) fn outside(&self, x: &[f64]) -> Option<usize> {
        if self.rank() == x.len() {
            return None;
        }
        self.echelons.iter().find_map(|e| e.reduce(x)).map(|(pivot, _)| pivot)
    }
}

/// For every $r$, the bits that a minor of order $r + 1$ has at most, each column in units of its last bit.
fn minor_bits<'a>(vectors: impl Iterator<Item = &'a [f64]>, width: usize) -> Vec<f64> {
    let mut range = vec![(i32::MAX, i32::MIN); width];
    for x in vectors {
        for (value, (low, high)) in x.iter().zip(&mut range) {
            let (mantissa, exponent) = decode(*value);
            if mantissa != 0 {
                *low = exponent.min(*low);
                *high = (exponent + 64 - mantissa.leading_zeros().cast_signed()).max(*high);
            }
        }
    }
    let mut bits: Vec<f64> =
        range.iter().map(|(low, high)| if high > low { f64::from(high - low) + 1.0 } else { 1.0 }).collect();
    bits.sort_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    bits.iter()
        .zip(1..)
        .map(|(b, order)| {
            sum += b;
            sum + 0.5 * f64::from(order) * f64::from(order).log2() + 1.0
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_wildly_different_sizes_keeps_its_sign() {
        let mut sum = Expansion::default();
        for value in [1e30, 1.0, -1e30, 1e-30, -1.0] {
            sum.add(value);
        }
        assert_eq!(sum.sign(), Ordering::Greater);
        sum.add(-1e-30);
        assert_eq!(sum.sign(), Ordering::Equal);
    }

    #[test]
    fn points_on_a_line_are_told_from_points_beside_it() {
        let mut exact = Exact::default();
        let z = [0.1, 0.3];
        // 0.1 + 0.2 is not 0.3 in binary, and the predicate must say so.
        assert_eq!(exact.turn([1.1, 1.3], [2.1, 2.3], z), exact.turn([1.1, 1.3], [2.1, 2.3], z));
        assert_eq!(exact.turn([1.5, 1.75], [2.5, 2.75], [0.5, 0.75]), Ordering::Equal);
        let up = f64::from_bits(2.75f64.to_bits() + 1);
        assert_eq!(exact.turn([1.5, 1.75], [2.5, up], [0.5, 0.75]), Ordering::Greater);
        assert_eq!(exact.side(&[1.0, -1.0], &[2.5, up], &[0.5, 0.75]), Ordering::Less);
        assert_eq!(exact.side_in_frame(&[3.0], &[1.0, -1.0], &[2.5, 2.75], &[0.5, 0.75]), Ordering::Equal);
    }

    #[test]
    fn primes_are_prime() {
        assert_eq!(primes().take(3).collect::<Vec<_>>(), [(1 << 61) - 1, (1 << 61) - 31, (1 << 61) - 45]);
        assert!(!is_prime((1 << 59) - 1));
    }

    #[test]
    fn the_rank_is_exact() {
        let rows: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], &[0.5, 1.0, 1.5]];
        let span = Span::new(rows.into_iter(), &[0.0; 3]);
        assert_eq!((span.rank(), span.columns()), (1, vec![0]));
        assert!(span.outside(&[7.0, 14.0, 21.0]).is_none());
        // A third of a row is not on its line, by a last bit.
        let third = [1.0 / 3.0, 2.0 / 3.0, 1.0];
        assert!(span.outside(&third).is_some());
        let rows: [&[f64]; 3] = [&[1.0, 1e-100, 0.0], &[1.0, 0.0, 1e-90], &[1.0, 0.0, 0.0]];
        assert_eq!(Span::new(rows.into_iter(), &[0.0; 3]).rank(), 3);
        assert_eq!(Span::new(rows.into_iter(), &[1.0, 0.0, 0.0]).columns(), vec![1, 2]);
    }
}
