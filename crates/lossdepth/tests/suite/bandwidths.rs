//! Bandwidths of kernels against their definitions.

use lossdepth::Reference;
use lossdepth::kernel::{Gamma, Sigma};

fn sample(n: usize) -> Vec<Vec<f64>> {
    (0..n).map(|i| vec![((i * 7919) % 101) as f64 * 0.3, ((i * 104_729) % 97) as f64 * 0.1]).collect()
}

/// numpy's linear rule on the list of all pairs, written out.
fn by_definition(rows: &[Vec<f64>], level: f64, power: i32) -> f64 {
    let mut all: Vec<f64> = Vec::new();
    for x in rows {
        for y in rows {
            let r2: f64 = x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum();
            all.push(r2.sqrt().powi(power));
        }
    }
    all.sort_by(f64::total_cmp);
    let p = (all.len() - 1) as f64 * level;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in the list")]
    let (a, b) = (all[p.floor() as usize], all[p.ceil() as usize]);
    a + p.fract() * (b - a)
}

#[test]
fn bandwidths_are_numpys_quantiles() {
    for n in [2, 3, 4, 5, 10, 37, 64] {
        let rows = sample(n);
        let reference = Reference::new(&rows).unwrap();
        let auto = Gamma::Auto.learn(&reference).unwrap();
        assert!((auto * by_definition(&rows, 0.5, 2) - 1.0).abs() < 1e-12, "{n}");
        let quartile = by_definition(&rows, 0.25, 1);
        if quartile > 0.0 {
            let learned = Gamma::Quartile.learn(&reference).unwrap();
            assert!((learned * 2.0 * quartile * quartile - 1.0).abs() < 1e-12, "{n}");
        }
    }
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let rows = sample(30);
    let counts: Vec<f64> = (0..30).map(|i| f64::from(i % 4)).collect();
    let copies: Vec<Vec<f64>> = (0..30).flat_map(|i| vec![rows[i].clone(); i % 4]).collect();
    let (weighted, copied) = (Reference::weighted(&rows, &counts).unwrap(), Reference::new(&copies).unwrap());
    for gamma in [Gamma::Auto, Gamma::Quartile] {
        let (a, b) = (gamma.learn(&weighted).unwrap(), gamma.learn(&copied).unwrap());
        assert!((a / b - 1.0).abs() < 1e-12, "{gamma}: {a} {b}");
    }
    let (a, b) = (Sigma::Auto.learn(&weighted).unwrap(), Sigma::Auto.learn(&copied).unwrap());
    assert!((a / b - 1.0).abs() < 1e-12);
}

#[test]
fn a_large_sample_in_any_order_has_one_bandwidth_near_the_full_one() {
    let mut rows: Vec<Vec<f64>> =
        (0..5000).map(|i| vec![(f64::from(i) * 0.7).sin() * 3.0, (f64::from(i) * 1.3).cos()]).collect();
    let gamma = Gamma::Auto.learn(&Reference::new(&rows).unwrap()).unwrap();
    let full = by_definition(&rows[..1500], 0.5, 2);
    assert!((gamma * full - 1.0).abs() < 0.05, "{}", gamma * full);
    rows.reverse();
    assert_eq!(gamma, Gamma::Auto.learn(&Reference::new(&rows).unwrap()).unwrap());
}

#[test]
fn the_bandwidth_of_equal_rows_is_positive() {
    let same = Reference::new(&[[2.0], [2.0], [2.0]]).unwrap();
    assert_eq!(Gamma::Auto.learn(&same), Ok(1.0));
    let mostly = Reference::weighted(&[[0.0], [2.0]], &[30.0, 1.0]).unwrap();
    assert_eq!(Gamma::Auto.learn(&mostly), Ok(0.25));
    assert_eq!(Gamma::Quartile.learn(&mostly), Ok(0.125));
}

/// The median over the rows of the squared distance to the $\lceil \sqrt n \rceil$-th nearest other row.
fn median_squared_distance(sample: &Reference) -> f64 {
    1.0 / Gamma::Neighbours.learn(sample).unwrap()
}

/// The definition, over a list of observations.
fn written_out(rows: &[Vec<f64>]) -> f64 {
    let n = rows.len();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let k = (n as f64).sqrt().ceil() as usize;
    let mut medians: Vec<f64> = (0..n)
        .map(|i| {
            let square = |j: usize| rows[i].iter().zip(&rows[j]).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
            let mut others: Vec<f64> = (0..n).filter(|j| *j != i).map(square).collect();
            others.sort_by(f64::total_cmp);
            others[k - 1]
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    // The lower of the two in the middle.
    medians[(n - 1) / 2]
}

#[test]
fn the_distance_is_the_median_over_the_rows() {
    for n in [4, 9, 10, 57, 300] {
        let rows = sample(n);
        let found = median_squared_distance(&Reference::new(&rows).unwrap());
        assert!((found - written_out(&rows)).abs() <= 1e-12 * found, "{n}: {found}");
    }
}

#[test]
fn weights_count_as_copies_and_order_does_not_matter() {
    let few = sample(60);
    let weights: Vec<f64> = (0..60).map(|i| f64::from(1 + i % 3)).collect();
    let mut copies: Vec<Vec<f64>> =
        few.iter().enumerate().flat_map(|(i, row)| vec![row.clone(); 1 + i % 3]).collect();
    let expected = written_out(&copies);
    let weighted = median_squared_distance(&Reference::weighted(&few, &weights).unwrap());
    assert!((weighted - expected).abs() <= 1e-12 * expected, "{weighted} {expected}");
    copies.reverse();
    assert_eq!(median_squared_distance(&Reference::new(&copies).unwrap()), weighted);
}

#[test]
fn a_subsample_has_nearly_the_same_distance() {
    let all = sample(5000);
    let found = median_squared_distance(&Reference::new(&all).unwrap());
    let expected = written_out(&all);
    assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
}

#[test]
fn copies_units_and_outliers_do_not_matter() {
    // Every row a hundred times: its neighbours are its copies, and the next value counts.
    for unit in [1e-3, 1.0, 1e3] {
        let rows: Vec<Vec<f64>> = (0..1000).map(|i| vec![unit * f64::from(i % 10)]).collect();
        let found = median_squared_distance(&Reference::new(&rows).unwrap());
        assert!((found / (unit * unit) - 1.0).abs() < 1e-12, "{found}");
    }
    // Few values many times, and three far away.
    let mut rows: Vec<Vec<f64>> = (0..150).map(|i| vec![0.5 * f64::from(i % 5)]).collect();
    rows.extend([50.0, 80.0, 120.0].map(|x| vec![x]));
    assert!(median_squared_distance(&Reference::new(&rows).unwrap()) <= 1.0);
    assert_eq!(Gamma::Neighbours.learn(&Reference::new(&[[1.0], [1.0]]).unwrap()), Ok(1.0));
}

#[test]
fn a_heavy_row_is_no_neighbour_far_away() {
    let mut rows = sample(10);
    rows.push(vec![300.0, 0.0]);
    for heavy in [90.0, 90.5] {
        let weights: Vec<f64> = [heavy].into_iter().chain([1.0; 10]).collect();
        let found = median_squared_distance(&Reference::weighted(&rows, &weights).unwrap());
        assert!(found < 1000.0, "{found}");
    }
}
