//! Quantiles and robust scales of weighted numbers.
//!
//! Everything here depends on the normalised weights only: a number of weight $k/n$ counts exactly as
//! $k$ copies of weight $1/n$.

/// A number and its weight.
pub(crate) type Weighted = (f64, f64);

/// The weighted $p$-quantile by the averaged inverted distribution function (type 2 of Hyndman and Fan
/// 1996, NumPy's `averaged_inverted_cdf`): the smallest number with $F \ge p$, or, where $F = p$ there,
/// the middle between it and the next larger number.
///
/// The weights are positive and sum to 1. The order of `numbers` is lost. 0 for no numbers at all.
pub(crate) fn quantile(numbers: &mut [Weighted], p: f64) -> f64 {
    let (here, next) = invert(numbers, p, |x| x);
    f64::midpoint(here, next)
}

/// The smallest number at which the cumulative weight reaches `p`.
pub(crate) fn reached(numbers: &mut [Weighted], p: f64) -> f64 {
    invert(numbers, p, |x| x).0
}

/// The smallest number with $F \ge p$ and the smallest with $F > p$, which mostly are the same; numbers are
/// seen through `key`.
///
/// A cumulative weight counts as equal to $p$ within $n \varepsilon$, the rounding error of a sum of $n$
/// weights. Each round halves the numbers still in question, so the work is linear.
fn invert(numbers: &mut [Weighted], p: f64, key: impl Fn(f64) -> f64) -> (f64, f64) {
    let tie = numbers.len() as f64 * f64::EPSILON;
    // `rest` is what may still hold the answer; `below` is the weight to its left, `next` what follows it.
    let (mut rest, mut below, mut next) = (numbers, 0.0, None);
    while rest.len() > 1 {
        let middle = (rest.len() - 1) / 2;
        rest.select_nth_unstable_by(middle, |a, b| key(a.0).total_cmp(&key(b.0)));
        let (left, right) = rest.split_at_mut(middle + 1);
        let through = below + left.iter().map(|v| v.1).sum::<f64>();
        if through >= p - tie {
            next = right.iter().map(|v| key(v.0)).min_by(f64::total_cmp).or(next);
            rest = left;
        } else {
            below = through;
            rest = right;
        }
    }
    let Some(&(here, weight)) = rest.first() else { return (0.0, 0.0) };
    let beyond = below + weight > p + tie;
    (key(here), next.filter(|_| !beyond).unwrap_or(key(here)))
}

/// The weighted median.
pub(crate) fn median(numbers: &mut [Weighted]) -> f64 {
    quantile(numbers, 0.5)
}

/// The $\tau$-scale of Maronna and Zamar (2002), consistent at the normal distribution: a standard
/// deviation whose squares are cut off at three median absolute deviations.
///
/// With median $m$, $\sigma_0 = \text{med}|x_i - m|$ and
/// $\mu = \frac{\sum w_i u_i x_i}{\sum w_i u_i}$, $u_i = \max(0, 1 - (\frac{x_i - m}{4.5 \sigma_0})^2)^2$,
///
/// $$ \tau^2 = \frac{\sigma_0^2}{0.92\ldots} \sum w_i \min\left(9, \left(\frac{x_i - \mu}{\sigma_0}\right)^2\right), $$
///
/// (S7).
///
/// Where half of the numbers are the same, $\sigma_0$ is 0 and says nothing; the mean absolute deviation
/// from the median, times $\sqrt{\pi/2}$, takes over. It is 0 only if all numbers are the same.
///
/// The numbers are used up: they come back centred and in another order.
pub(crate) fn tau_scale(numbers: &mut [Weighted]) -> f64 {
    /// $E[\min(Z^2, b^2)]$ at $b = 3 \Phi^{-1}(3/4)$, which makes the scale consistent.
    const AT_NORMAL: f64 = 0.924_715_392_176_131_5;
    let m = median(numbers);
    for number in numbers.iter_mut() {
        number.0 -= m;
    }
    let (here, next) = invert(numbers, 0.5, f64::abs);
    let s = f64::midpoint(here, next);
    if s <= 16.0 * f64::EPSILON * m.abs() {
        let mean = numbers.iter().map(|&(x, w)| w * x.abs()).sum::<f64>();
        return mean * (std::f64::consts::PI / 2.0).sqrt();
    }
    let (mut sum, mut total) = (0.0, 0.0);
    for &(x, w) in numbers.iter() {
        let u = w * (1.0 - (x / (4.5 * s)).powi(2)).max(0.0).powi(2);
        sum += u * x;
        total += u;
    }
    let mu = sum / total;
    let cut = |&(x, w): &Weighted| w * ((x - mu) / s).powi(2).min(9.0);
    s * (numbers.iter().map(cut).sum::<f64>() / AT_NORMAL).sqrt()
}

/// Weighted mid-ranks, $F(x_i) - \frac12 P(X = x_i)$, in the order of `numbers`: between 0 and 1, ties alike.
pub(crate) fn mid_ranks(numbers: &[Weighted]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_unstable_by(|&a, &b| numbers[a].0.total_cmp(&numbers[b].0));
    let mut ranks = vec![0.0; numbers.len()];
    let mut below = 0.0;
    for tied in order.chunk_by(|&a, &b| numbers[a].0 == numbers[b].0) {
        let weight: f64 = tied.iter().map(|&i| numbers[i].1).sum();
        for &i in tied {
            ranks[i] = below + weight / 2.0;
        }
        below += weight;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(numbers: &[f64]) -> Vec<Weighted> {
        numbers.iter().map(|&x| (x, 1.0 / numbers.len() as f64)).collect()
    }

    #[test]
    fn quantiles_average_only_at_the_jump() {
        let numbers = [7.0, 1.0, 3.0, 5.0];
        for (p, expected) in [(0.1, 1.0), (0.25, 2.0), (0.5, 4.0), (0.6, 5.0), (0.75, 6.0), (1.0, 7.0)] {
            assert_eq!(quantile(&mut alike(&numbers), p), expected, "p = {p}");
        }
        assert_eq!(quantile(&mut [], 0.5), 0.0);
    }

    #[test]
    fn a_weight_is_as_good_as_copies() {
        let mut copies = alike(&[2.0, 9.0, 2.0, 4.0, 2.0, 4.0]);
        let mut weighted = vec![(4.0, 2.0 / 6.0), (9.0, 1.0 / 6.0), (2.0, 3.0 / 6.0)];
        for p in [0.25, 0.5, 0.75, 0.9] {
            assert_eq!(quantile(&mut copies, p), quantile(&mut weighted, p), "p = {p}");
        }
        assert!((tau_scale(&mut copies) - tau_scale(&mut weighted)).abs() < 1e-14);
    }

    #[test]
    fn tau_scale_agrees_with_robustbase() {
        // robustbase 0.95.0: scaleTau2(c(1, 2, 4, 8, 16, 32, 1000))
        let ours = tau_scale(&mut alike(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 1000.0]));
        assert!((ours - TAU_OF_POWERS).abs() < 1e-12 * TAU_OF_POWERS, "{ours}");
    }
    const TAU_OF_POWERS: f64 = 12.642_046_126_996_503;

    #[test]
    fn half_a_sample_of_ties_still_has_a_scale() {
        assert!(tau_scale(&mut alike(&[0.0, 0.0, 0.0, 1.0])) > 0.1);
        assert_eq!(tau_scale(&mut alike(&[0.1, 0.1, 0.1])), 0.0);
    }
}
