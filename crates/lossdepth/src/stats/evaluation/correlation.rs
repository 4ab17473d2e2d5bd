//! Rank correlations of two lists of numbers.

use crate::error::{DepthError, Result};

/// Kendall's $\tau_b$: how much more often two lists agree than disagree on the order of a pair.
///
/// With $C$ pairs on which they agree, $D$ on which they do not, and $T_a$, $T_b$ pairs that are tied in one list but not in the
/// other,
///
/// $$ \tau_b = \frac{C - D}{\sqrt{(C + D + T_a)(C + D + T_b)}}, $$
///
/// from -1, the opposite order, to 1, the same order. It takes $O(n \log n)$ (Knight 1966): sorted by one list, the
/// exchanges that a merge sort by the other makes are the disagreements. All counts are whole numbers, so the result
/// does not depend on the order of the pairs.
///
/// ```
/// use lossdepth::stats::evaluation::kendall;
/// assert_eq!(kendall(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0])?, 2.0 / 3.0);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// # Errors
/// Lists of different lengths, a NaN, or a list without two different numbers.
pub fn kendall(a: &[f64], b: &[f64]) -> Result<f64> {
    check(a, b)?;
    let mut pairs: Vec<(f64, f64)> = a.iter().map(|x| x + 0.0).zip(b.iter().map(|y| y + 0.0)).collect();
    pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
    let all = choose_two(pairs.len());
    let tied_a = tied(&pairs, |p, q| p.0 == q.0);
    let tied_both = tied(&pairs, |p, q| p == q);
    let mut second: Vec<f64> = pairs.iter().map(|p| p.1).collect();
    let mut spare = second.clone();
    let against = exchanges(&mut second, &mut spare);
    let tied_b = tied(&second, |x, y| x == y);
    // Below 2⁵³ for any list that fits in memory: exact.
    let agree_less = i128::from(all) + i128::from(tied_both)
        - i128::from(tied_a)
        - i128::from(tied_b)
        - 2 * i128::from(against);
    let (left, right) = ((all - tied_a) as f64, (all - tied_b) as f64);
    // One root of each: the product may be too large to be exact.
    let tau = if left == right {
        agree_less as f64 / left
    } else {
        agree_less as f64 / (left.sqrt() * right.sqrt())
    };
    Ok(tau.clamp(-1.0, 1.0))
}

/// Spearman's $\rho$: the correlation of the ranks, where equal numbers share the mean of their ranks.
///
/// ```
/// use lossdepth::stats::evaluation::spearman;
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 1000.0, 100.0])?, 0.5);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// # Errors
/// As for [`kendall`].
pub fn spearman(a: &[f64], b: &[f64]) -> Result<f64> {
    check(a, b)?;
    let (a, b) = (doubled_ranks(a), doubled_ranks(b));
    // Twice the ranks, less their mean: whole numbers.
    let mean = a.len() as i128 + 1;
    let product = |x: &[u64], y: &[u64]| -> i128 {
        x.iter().zip(y).map(|(x, y)| (i128::from(*x) - mean) * (i128::from(*y) - mean)).sum()
    };
    let (left, right) = (product(&a, &a) as f64, product(&b, &b) as f64);
    let shared = product(&a, &b) as f64;
    let rho = if left == right { shared / left } else { shared / (left.sqrt() * right.sqrt()) };
    Ok(rho.clamp(-1.0, 1.0))
}

fn check(a: &[f64], b: &[f64]) -> Result<()> {
    let wrong = |text: String| Err(DepthError::Labels(text));
    if a.len() != b.len() {
        return wrong(format!("the lists to compare have {} and {} numbers", a.len(), b.len()));
    }
    if a.iter().chain(b).any(|x| x.is_nan()) {
        return wrong("a score is NaN".to_owned());
    }
    if [a, b].iter().any(|list| list.windows(2).all(|pair| pair[0] == pair[1])) {
        return wrong("a rank correlation needs two different numbers in each list".to_owned());
    }
    Ok(())
}

fn choose_two(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// How many pairs of a sorted list are equal.
fn tied<T>(list: &[T], same: impl Fn(&T, &T) -> bool) -> u64 {
    list.chunk_by(same).map(|run| choose_two(run.len())).sum()
}

/// Sorts the list; how many pairs were in the wrong order. `spare` is as long and has the same numbers.
fn exchanges(list: &mut [f64], spare: &mut [f64]) -> u64 {
    let middle = list.len() / 2;
    if middle == 0 {
        return 0;
    }
    let (left, right) = spare.split_at_mut(middle);
    let (low, high) = list.split_at_mut(middle);
    let mut count = exchanges(left, low) + exchanges(right, high);
    let (mut i, mut j) = (0, 0);
    for out in list {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            *out = left[i];
            i += 1;
        } else {
            *out = right[j];
            j += 1;
            count += (left.len() - i) as u64;
        }
    }
    count
}

/// Twice the rank of each number, from 1 on; equal numbers share the mean.
fn doubled_ranks(list: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_unstable_by(|i, j| list[*i].total_cmp(&list[*j]));
    let mut ranks = vec![0; list.len()];
    let mut first = 0u64;
    for run in order.chunk_by(|i, j| list[*i] == list[*j]) {
        let last = first + run.len() as u64 - 1;
        for i in run {
            ranks[*i] = first + last + 2;
        }
        first = last + 1;
    }
    ranks
}
