//! Forests in rotated frames.

use crate::common::{Random, reference};
use crate::forest::score;
use lossdepth::methods::Forest;

/// Two clouds of 100 points around plus and minus 3.5 in all coordinates: the paper's example.
fn two_clouds(random: &mut Random, d: usize) -> Vec<Vec<f64>> {
    let mut rows = random.cloud(200, d);
    for (i, row) in rows.iter_mut().enumerate() {
        for x in row.iter_mut() {
            *x += if i < 100 { 3.5 } else { -3.5 };
        }
    }
    rows
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    order.iter().enumerate().for_each(|(rank, &i)| ranks[i] = rank as f64);
    ranks
}

fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let of = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    of(&a, &b) / (of(&a, &a) * of(&b, &b)).sqrt()
}

#[test] // Axis-parallel boxes see round clouds badly; boxes in many frames follow their density.
fn rotations_help_with_round_clouds() {
    let mut random = Random::new(13);
    for d in [2, 8] {
        let (mut plain, mut turned) = (0.0, 0.0);
        for run in 0..5 {
            let rows = two_clouds(&mut random, d);
            let density = |x: &Vec<f64>| -> f64 {
                let at = |c: f64| (-0.5 * x.iter().map(|x| (x - c).powi(2)).sum::<f64>()).exp();
                at(3.5) + at(-3.5)
            };
            let density: Vec<f64> = rows.iter().map(density).collect();
            let correlation = |forest: Forest| {
                let depths: Vec<f64> =
                    score(forest, &reference(&rows), &rows).iter().map(|f| f.depth).collect();
                spearman(&depths, &density) / 5.0
            };
            plain += correlation(Forest::new());
            turned += correlation(Forest::new().rotations(30).seed(run));
        }
        println!(
            "d = {d}: Spearman's correlation with the density {plain:.3}, with 30 rotations {turned:.3}"
        );
        assert!(turned > plain + 0.04, "d = {d}: {plain} {turned}");
    }
}

#[test] // With rotations the depth hardly depends on the frame it is given in; without, it does.
fn depths_in_many_frames_hardly_depend_on_the_axes() {
    let mut random = Random::new(14);
    let rows = random.cloud(150, 2);
    let (s, c) = 0.7f64.sin_cos();
    let turn = |r: &Vec<f64>| vec![c * r[0] - s * r[1], s * r[0] + c * r[1]];
    let turned: Vec<_> = rows.iter().map(turn).collect();
    let change = |forest: Forest| -> f64 {
        let a = score(forest, &reference(&rows), &rows);
        let b = score(forest, &reference(&turned), &turned);
        a.iter().zip(&b).map(|(a, b)| (a.depth - b.depth).abs()).sum::<f64>() / 150.0
    };
    let (plain, many) = (change(Forest::new()), change(Forest::new().rotations(400)));
    assert!(many < plain / 4.0, "{plain} {many}");
}
