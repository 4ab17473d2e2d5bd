//! The rank of floating-point vectors, exactly, by elimination modulo primes.

use super::expansions::decode;

/// The largest prime below $2^{61}$.
const MERSENNE: u64 = (1 << 61) - 1;

/// Arithmetic modulo a prime below $2^{61}$.
#[derive(Debug, Clone, Copy)]
struct PrimeField(u64);

impl PrimeField {
    #[inline]
    fn mul(self, a: u64, b: u64) -> u64 {
        let product = u128::from(a) * u128::from(b);
        // Modulo 2^61 - 1 a product reduces to the sum of its two halves.
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

    /// The residues of all powers of two that occur in floating-point numbers.
    fn powers_of_two(self) -> Vec<u64> {
        let least = self.inverse(self.pow(2, u64::from(LEAST_EXPONENT.unsigned_abs())));
        std::iter::successors(Some(least), |power| Some(self.mul(*power, 2))).take(2100).collect()
    }
}

/// The exponent of the smallest floating-point number.
const LEAST_EXPONENT: i32 = -1074;

fn is_prime(n: u64) -> bool {
    let field = PrimeField(n);
    let twos = (n - 1).trailing_zeros();
    // Miller–Rabin with these bases is deterministic below 3e24.
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

/// An echelon form of vectors modulo one prime.
#[derive(Debug, Clone)]
struct Echelon {
    field: PrimeField,
    powers: Vec<u64>,
    /// The residues of $z$.
    origin: Vec<u64>,
    /// Rows with a 1 at their pivot, and the pivot columns.
    rows: Vec<Vec<u64>>,
    pivots: Vec<usize>,
}

impl Echelon {
    fn new(prime: u64, z: &[f64]) -> Self {
        let field = PrimeField(prime);
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

    /// Inserts $x - z$; true if it raised the rank.
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

    /// $x - z$ reduced by the rows, with its first non-zero column; `None` if nothing remains.
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

/// The span of vectors $x_i - z$: its rank, and columns that have this rank, both exact.
///
/// The rank modulo a prime never exceeds the true one; it is smaller only if the prime divides certain
/// minors. As a minor is an integer (times a power of two) of bounded size, enough primes exclude that.
#[derive(Debug, Clone)]
pub(in crate::methods) struct ExactSpan {
    echelons: Vec<Echelon>,
}

impl ExactSpan {
    /// The span of $x_i - z$.
    #[expect(clippy::needless_pass_by_value, reason = "iterators come by value")]
    pub(in crate::methods) fn new<'a>(vectors: impl Iterator<Item = &'a [f64]> + Clone, z: &'a [f64]) -> Self {
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
            // The rank is maximal, or no non-zero minor is divisible by all of these primes.
            if rank == width || rank == count || covered > bits[rank.min(width - 1)] {
                break;
            }
        }
        Self { echelons: best }
    }

    pub(in crate::methods) fn rank(&self) -> usize {
        self.echelons[0].pivots.len()
    }

    /// Columns of full rank, in ascending order.
    pub(in crate::methods) fn columns(&self) -> Vec<usize> {
        let mut columns = self.echelons[0].pivots.clone();
        columns.sort_unstable();
        columns
    }

    /// A column that adds to the rank when $x - z$ joins the vectors; `None` if $x - z$ lies in their span.
    pub(in crate::methods) fn outside(&self, x: &[f64]) -> Option<usize> {
        if self.rank() == x.len() {
            return None;
        }
        self.echelons.iter().find_map(|e| e.reduce(x)).map(|(pivot, _)| pivot)
    }
}

/// For every $r$, a bound on the bits of a minor of order $r + 1$ (Hadamard), each column in units of its
/// last bit.
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
    fn largest_primes_are_found() {
        assert_eq!(primes().take(3).collect::<Vec<_>>(), [(1 << 61) - 1, (1 << 61) - 31, (1 << 61) - 45]);
        assert!(!is_prime((1 << 59) - 1));
    }

    #[test]
    fn rank_is_exact() {
        let rows: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0], &[0.5, 1.0, 1.5]];
        let span = ExactSpan::new(rows.into_iter(), &[0.0; 3]);
        assert_eq!((span.rank(), span.columns()), (1, vec![0]));
        assert!(span.outside(&[7.0, 14.0, 21.0]).is_none());
        // A third of a row is off its line by a last bit.
        let third = [1.0 / 3.0, 2.0 / 3.0, 1.0];
        assert!(span.outside(&third).is_some());
        let rows: [&[f64]; 3] = [&[1.0, 1e-100, 0.0], &[1.0, 0.0, 1e-90], &[1.0, 0.0, 0.0]];
        assert_eq!(ExactSpan::new(rows.into_iter(), &[0.0; 3]).rank(), 3);
        assert_eq!(ExactSpan::new(rows.into_iter(), &[1.0, 0.0, 0.0]).columns(), vec![1, 2]);
    }
}
