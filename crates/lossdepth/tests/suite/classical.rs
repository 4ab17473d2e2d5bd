//! Classical notions against their definitions, written out for small samples.

use crate::common::{Failures, Random};
use lossdepth::methods::Hypothesis;
use lossdepth::methods::classical::{
    L2, Mahalanobis, Potential, Projection, Scatter, Simplicial, Spatial, Zonoid,
};
use lossdepth::{Depth, Fit, Method, Reason, Reference, Rows, Run, Settings};

type Integers = Vec<Vec<i64>>;

/// Points on a small grid, so that ties, duplicates and degenerate position are the rule.
fn grid(random: &mut Random, n: usize, d: usize, spread: usize) -> Integers {
    let half = i64::try_from(spread / 2).unwrap();
    let number = |random: &mut Random| i64::try_from(random.below(spread)).unwrap() - half;
    (0..n).map(|_| (0..d).map(|_| number(random)).collect()).collect()
}

fn real(points: &Integers) -> Vec<Vec<f64>> {
    points.iter().map(|p| p.iter().map(|x| *x as f64).collect()).collect()
}

fn score<H: Hypothesis>(hypothesis: H, rows: &[Vec<f64>], z: &[f64]) -> Fit {
    Depth::new(hypothesis).fit(&Reference::new(rows).unwrap()).unwrap().score(&[z.to_vec()]).unwrap()[0]
}

fn subsets(n: usize, k: usize) -> Vec<Vec<usize>> {
    (0..1u32 << n)
        .filter(|set| set.count_ones() as usize == k)
        .map(|set| (0..n).filter(|i| set >> i & 1 == 1).collect())
        .collect()
}

fn cross(a: [i64; 3], b: [i64; 3]) -> [i64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn inner(a: [i64; 3], b: [i64; 3]) -> i64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Whether the origin is in the convex hull: by Carathéodory, in the relative interior of a simplex of some of them.
fn in_hull(v: &[[i64; 3]]) -> bool {
    let zero = [0; 3];
    let any = |k: usize, inside: &dyn Fn(&[usize]) -> bool| {
        v.len() >= k && subsets(v.len(), k).iter().any(|s| inside(s))
    };
    let det = |a: usize, b: usize, c: usize| inner(v[a], cross(v[b], v[c]));
    any(1, &|s| v[s[0]] == zero)
        || any(2, &|s| cross(v[s[0]], v[s[1]]) == zero && inner(v[s[0]], v[s[1]]) < 0)
        || any(3, &|s| {
            let n = [cross(v[s[0]], v[s[1]]), cross(v[s[1]], v[s[2]]), cross(v[s[2]], v[s[0]])];
            det(s[0], s[1], s[2]) == 0
                && inner(n[0], n[1]) > 0
                && inner(n[1], n[2]) > 0
                && inner(n[2], n[0]) > 0
        })
        || any(4, &|s| {
            let l = [
                det(s[1], s[2], s[3]),
                -det(s[0], s[2], s[3]),
                det(s[0], s[1], s[3]),
                -det(s[0], s[1], s[2]),
            ];
            l.iter().all(|x| *x > 0) || l.iter().all(|x| *x < 0)
        })
}

fn simplicial_by_definition(points: &Integers, z: &[i64]) -> f64 {
    let d = z.len();
    let at = |p: &[i64], k: usize| if k < d { p[k] - z[k] } else { 0 };
    let v: Vec<[i64; 3]> = points.iter().map(|p| std::array::from_fn(|k| at(p, k))).collect();
    let all = subsets(points.len(), d + 1);
    let inside = |s: &&Vec<usize>| in_hull(&s.iter().map(|i| v[*i]).collect::<Vec<_>>());
    all.iter().filter(inside).count() as f64 / all.len() as f64
}

#[test]
fn simplices_are_counted_as_one_by_one() {
    let (mut random, mut failures) = (Random::new(1), Failures::default());
    for round in 0..600 {
        let d = 1 + round % 3;
        let (n, spread) = (d + 1 + random.below(7), [3, 5, 40][random.below(3)]);
        let points = grid(&mut random, n, d, spread);
        let z = grid(&mut random, 1, d, spread).remove(0);
        let fit = score(Simplicial::new(), &real(&points), &real(&vec![z.clone()])[0]);
        let exact = simplicial_by_definition(&points, &z);
        // Depths alone are counted in another way.
        let fitted = Depth::new(Simplicial::new()).fit(&Reference::new(&real(&points)).unwrap()).unwrap();
        let run = Run { depths_only: true, ..Run::default() };
        let alone = fitted.score_with(&real(&vec![z.clone()]), &run).unwrap()[0];
        failures.check(alone.depth == fit.depth, || format!("{points:?} {z:?}: {alone:?} {fit:?}"));
        failures
            .check((fit.depth - exact).abs() <= fit.error, || format!("{points:?} {z:?}: {exact} {fit:?}"));
    }
    failures.report();
}

#[test]
fn random_simplices_are_as_good_as_they_say() {
    let (mut random, mut failures) = (Random::new(2), Failures::default());
    for d in [4, 5] {
        let rows = random.cloud(14, d);
        // The same sample in a space of one more column: six corners, and a hull by the linear program.
        let flat: Vec<Vec<f64>> = rows.iter().map(|x| [&x[..], &[2.0 * x[0]]].concat()).collect();
        for z in [vec![0.0; d], rows[0].iter().map(|x| 0.5 * x).collect(), vec![9.0; d]] {
            let fit = score(Simplicial::new(), &rows, &z);
            let more = score(Simplicial::new().samples(200_000).seed(5), &rows, &z);
            let close = (fit.depth - more.depth).abs() <= fit.error + more.error && fit.error < 0.04;
            failures.check(close, || format!("{d} {z:?}: {fit:?} {more:?}"));
            let other = score(Simplicial::new().samples(2000), &flat, &[&z[..], &[2.0 * z[0]]].concat());
            // More corners contain at least as much.
            failures.check(other.depth >= fit.depth - fit.error - other.error, || format!("{other:?}"));
        }
    }
    failures.report();
}

/// Solves a small system by elimination with pivoting; `None` if it is singular.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let r = b.len();
    for k in 0..r {
        let pivot = (k..r).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, pivot);
        b.swap(k, pivot);
        if a[k][k].abs() < 1e-10 {
            return None;
        }
        for i in (0..r).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            for j in k..r {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    Some((0..r).map(|k| b[k] / a[k][k]).collect())
}

/// The least hinge loss over all vertices: where as many rows as there are columns have the value 1.
fn zonoid_by_definition(rows: &[Vec<f64>], z: &[f64]) -> f64 {
    let (n, d) = (rows.len(), z.len());
    let y: Vec<Vec<f64>> = rows.iter().map(|x| x.iter().zip(z).map(|(x, z)| x - z).collect()).collect();
    let value = |w: &[f64], y: &[f64]| w.iter().zip(y).map(|(w, y)| w * y).sum::<f64>();
    let loss = |w: &[f64]| y.iter().map(|y| (1.0 - value(w, y)).max(0.0)).sum::<f64>() / n as f64;
    let vertices = subsets(n, d)
        .into_iter()
        .filter_map(|s| solve(s.iter().map(|i| y[*i].clone()).collect(), vec![1.0; d]));
    vertices.map(|w| loss(&w)).fold(1.0, f64::min)
}

#[test]
fn zonoid_depth_is_the_least_loss_of_all_vertices() {
    let (mut random, mut failures) = (Random::new(3), Failures::default());
    for round in 0..400 {
        let d = 1 + round % 3;
        let n = d + 2 + random.below(6);
        let tied = round % 2 == 0;
        let rows = if tied { real(&grid(&mut random, n, d, 5)) } else { random.cloud(n, d) };
        let z = if tied { real(&grid(&mut random, 1, d, 3)).remove(0) } else { random.cloud(1, d).remove(0) };
        let z: Vec<f64> = z.iter().map(|x| 0.5 * x).collect();
        let fit = score(Zonoid::new(), &rows, &z);
        // A singular sample has no vertices here.
        if Depth::new(Mahalanobis::new()).fit(&Reference::new(&rows).unwrap()).is_ok() && full_rank(&rows) {
            let exact = zonoid_by_definition(&rows, &z);
            failures.check((fit.depth - exact).abs() <= fit.error + 1e-9, || {
                format!("{rows:?} {z:?}: {exact} {fit:?}")
            });
        }
    }
    failures.report();
}

fn full_rank(rows: &[Vec<f64>]) -> bool {
    let d = rows[0].len();
    let differences = |s: &Vec<usize>| -> Vec<Vec<f64>> {
        s[1..].iter().map(|i| rows[*i].iter().zip(&rows[s[0]]).map(|(a, b)| a - b).collect()).collect()
    };
    subsets(rows.len(), d + 1).iter().any(|s| solve(differences(s), vec![0.0; d]).is_some())
}

fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    0.5 * (x[(x.len() - 1) / 2] + x[x.len() / 2])
}

fn outlyingness(rows: &[Vec<f64>], z: &[f64], u: &[f64]) -> f64 {
    let along = |x: &[f64]| x.iter().zip(u).map(|(x, u)| x * u).sum::<f64>();
    let values: Vec<f64> = rows.iter().map(|x| along(x)).collect();
    let centre = median(values.clone());
    let deviation = median(values.iter().map(|v| (v - centre).abs()).collect());
    let apart = (along(z) - centre).abs();
    if deviation > 1e-12 {
        apart / deviation
    } else if apart > 1e-9 {
        f64::INFINITY
    } else {
        0.0
    }
}

#[test]
fn no_direction_in_the_plane_is_worse_than_the_projection_depth() {
    let (mut random, mut failures) = (Random::new(4), Failures::default());
    for round in 0..40 {
        let n = 4 + random.below(30);
        let rows = if round % 2 == 0 { random.cloud(n, 2) } else { real(&grid(&mut random, n, 2, 30)) };
        let z = [random.normal(), 2.0 * random.normal()];
        let fitted = Depth::new(Projection::new()).fit(&Reference::new(&rows).unwrap()).unwrap();
        let why = &fitted.explain(&[z]).unwrap()[0];
        let depth = |o: f64| 1.0 / (1.0 + o);
        let angles = (0..20_000).map(|k| f64::from(k) * std::f64::consts::PI / 20_000.0);
        let least = angles.map(|a| depth(outlyingness(&rows, &z, &[a.cos(), a.sin()]))).fold(1.0, f64::min);
        failures.check(why.fit.depth <= least + why.fit.error, || {
            format!("{rows:?} {z:?} {least} {:?}", why.fit)
        });
        // The direction attains it.
        let Reason::Linear { weights, .. } = &why.reason else { panic!("a direction") };
        let attained = depth(outlyingness(&rows, &z, weights));
        failures.check((attained - why.fit.depth).abs() <= why.fit.error + 1e-9, || {
            format!("{rows:?} {z:?} {attained} {:?}", why.fit)
        });
        failures.check((why.value + 1.0 / why.fit.depth - 1.0).abs() < 1e-6 / why.fit.depth, || {
            format!("{} {}", why.value, why.fit.depth)
        });
    }
    failures.report();
}

#[test]
fn no_direction_in_space_is_below_the_interval_of_the_projection_depth() {
    let (mut random, mut failures) = (Random::new(14), Failures::default());
    // Relative to the depth the interval is narrow for normal rows; in more than three dimensions it is as wide as the depth.
    for (d, widest) in [(3, 0.3), (4, 1.0 + 1e-8)] {
        for round in 0..4 {
            let rows = random.cloud(101, d);
            let rows: Vec<Vec<f64>> = if round % 2 == 0 {
                rows
            } else {
                rows.iter().map(|x| x.iter().map(|x| x.powi(3)).collect()).collect()
            };
            let z: Vec<f64> = (0..d).map(|_| 1.5 * random.normal()).collect();
            let fit = score(Projection::new(), &rows, &z);
            let depth = |u: &[f64]| 1.0 / (1.0 + outlyingness(&rows, &z, u));
            let mut least = fit.depth;
            for _ in 0..3_000 {
                let u: Vec<f64> = (0..d).map(|_| random.normal()).collect();
                least = least.min(depth(&u));
            }
            failures.check(least >= fit.depth - fit.error, || format!("{rows:?} {z:?} {least} {fit:?}"));
            failures.check(round % 2 == 1 || fit.error <= widest * fit.depth, || format!("{d} {fit:?}"));
        }
    }
    failures.report();
}

#[test]
fn closed_forms_are_their_definitions() {
    let (mut random, mut failures) = (Random::new(5), Failures::default());
    for round in 0..60 {
        let d = 1 + round % 4;
        let n = d + 3 + random.below(20);
        let rows = random.cloud(n, d);
        let z = random.cloud(1, d).remove(0);
        let mean: Vec<f64> = (0..d).map(|j| rows.iter().map(|x| x[j]).sum::<f64>() / n as f64).collect();
        let covariance: Vec<Vec<f64>> = (0..d)
            .map(|j| {
                let of = |k: usize| rows.iter().map(|x| (x[j] - mean[j]) * (x[k] - mean[k])).sum::<f64>();
                (0..d).map(|k| of(k) / (n as f64 - 1.0)).collect()
            })
            .collect();
        let square = |a: &[f64], b: &[f64]| {
            let y: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let s = solve(covariance.clone(), y.clone()).unwrap();
            y.iter().zip(&s).map(|(y, s)| y * s).sum::<f64>()
        };
        let plain = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let average = |f: &dyn Fn(&[f64]) -> f64| rows.iter().map(|x| f(x)).sum::<f64>() / n as f64;
        // ‖Σ uᵢ‖² = Σᵢⱼ ⟨uᵢ, uⱼ⟩, with inner products from squared distances.
        let spatial = |square: &dyn Fn(&[f64], &[f64]) -> f64| {
            let pair = |a: &[f64], b: &[f64]| {
                let (p, q) = (square(a, &z), square(b, &z));
                0.5 * (p + q - square(a, b)) / (p * q).sqrt()
            };
            1.0 - average(&|a| average(&|b| pair(a, b))).max(0.0).sqrt()
        };
        let h = (n as f64).powf(-2.0 / (d as f64 + 4.0));
        let expected = [
            (score(Mahalanobis::new(), &rows, &z), 1.0 / (1.0 + square(&z, &mean))),
            (score(L2::new(), &rows, &z), 1.0 / (1.0 + average(&|x| square(x, &z).sqrt()))),
            (
                score(L2::new().scatter(Scatter::None), &rows, &z),
                1.0 / (1.0 + average(&|x| plain(x, &z).sqrt())),
            ),
            (score(Spatial::new(), &rows, &z), spatial(&square)),
            (score(Spatial::new().scatter(Scatter::None), &rows, &z), spatial(&plain)),
            (score(Potential::new(), &rows, &z), average(&|x| (-square(x, &z) / (2.0 * h)).exp())),
        ];
        for (at, (fit, exact)) in expected.into_iter().enumerate() {
            failures.check((fit.depth - exact).abs() <= fit.error + 1e-9 && fit.error < 1e-9, || {
                format!("{at}: {rows:?} {z:?}: {exact} {fit:?}")
            });
        }
    }
    failures.report();
}

const CLASSICAL: [Method; 7] = [
    Method::Mahalanobis,
    Method::Spatial,
    Method::Projection,
    Method::Zonoid,
    Method::Simplicial,
    Method::L2,
    Method::Potential,
];

fn scores(settings: &Settings, sample: &Reference, queries: &[Vec<f64>]) -> Vec<Fit> {
    let flat = queries.concat();
    let rows = Rows::new(&flat, sample.width()).unwrap();
    settings.fit(sample).unwrap().score(rows, &Run::default()).unwrap()
}

#[test]
fn a_weight_is_a_number_of_copies_to_the_last_bit() {
    let mut random = Random::new(6);
    for method in CLASSICAL {
        for d in 1..5 {
            let rows = random.cloud(12, d);
            let counts: Vec<usize> = rows.iter().map(|_| 1 + random.below(3)).collect();
            let weights: Vec<f64> = counts.iter().map(|k| *k as f64).collect();
            let copies: Vec<Vec<f64>> =
                rows.iter().zip(&counts).flat_map(|(x, k)| vec![x.clone(); *k]).collect();
            let queries = [random.cloud(5, d), rows[..2].to_vec()].concat();
            let settings = Settings { samples: 2000, num_directions: 50, ..Settings::new(method) };
            let weighted = scores(&settings, &Reference::weighted(&rows, &weights).unwrap(), &queries);
            let copied = scores(&settings, &Reference::new(&copies).unwrap(), &queries);
            for (a, b) in weighted.iter().zip(&copied) {
                assert_eq!((a.depth, a.error), (b.depth, b.error), "{method} {d}");
                let withheld = a.stderr.is_nan() && b.stderr.is_nan();
                assert!(withheld || (a.stderr - b.stderr).abs() <= 1e-9, "{method} {d}: {a:?} {b:?}");
            }
        }
    }
}

/// Constant columns, columns that determine each other, more columns than rows, two rows.
#[test]
fn degenerate_samples_have_depths_on_their_span_and_none_off_it() {
    let mut random = Random::new(7);
    let plane = random.cloud(20, 2);
    let embedded = |x: &[f64]| vec![x[0], 3.0, x[1], 4.0 * x[0]];
    let wide: Vec<Vec<f64>> = plane.iter().map(|x| embedded(x)).collect();
    for method in CLASSICAL {
        if method != Method::Simplicial {
            let settings = Settings::new(method);
            let (low, high) = (
                scores(&settings, &Reference::new(&plane).unwrap(), &plane),
                scores(&settings, &Reference::new(&wide).unwrap(), &wide),
            );
            for (a, b) in low.iter().zip(&high) {
                assert!((a.depth - b.depth).abs() <= a.error + b.error + 1e-9, "{method}: {a:?} {b:?}");
            }
        }
        let off = vec![wide[0][0], 3.5, wide[0][2], wide[0][3]];
        let fit = scores(&Settings::new(method), &Reference::new(&wide).unwrap(), &[off])[0];
        assert_eq!((fit.depth, fit.error), (0.0, 0.0), "{method}");
        // Two rows in one column, and many equal rows.
        let two = scores(&Settings::new(method), &Reference::new(&[[0.0], [1.0]]).unwrap(), &[vec![0.5]])[0];
        assert!(two.depth > 0.0 && two.error <= 0.05, "{method}: {two:?}");
        let same = scores(
            &Settings::new(method),
            &Reference::new(&[[2.0], [2.0]]).unwrap(),
            &[vec![2.0], vec![3.0]],
        );
        assert_eq!((same[0].depth, same[1].depth), (1.0, 0.0), "{method}");
        // Three rows have a direction in which two of them are the same: their projection depth is 0.
        if method != Method::Projection {
            let rows = random.cloud(3, 6);
            let few = scores(&Settings::new(method), &Reference::new(&rows).unwrap(), &rows);
            assert!(few.iter().all(|fit| fit.depth > 0.0), "{method}: {few:?}");
        }
    }
}

#[test]
fn units_and_axes_do_not_matter() {
    let mut random = Random::new(8);
    let (rows, queries) = (random.cloud(30, 3), random.cloud(6, 3));
    let turned = |x: &Vec<f64>| vec![1e5 * x[0] + 7.0, 3.0 * x[0] + 0.01 * x[1], x[1] - x[2] + 1e3];
    let map = |rows: &[Vec<f64>]| rows.iter().map(turned).collect::<Vec<_>>();
    for method in CLASSICAL.into_iter().filter(|m| *m != Method::Projection) {
        let settings = Settings::new(method);
        let plain = scores(&settings, &Reference::new(&rows).unwrap(), &queries);
        let other = scores(&settings, &Reference::new(&map(&rows)).unwrap(), &map(&queries));
        for (a, b) in plain.iter().zip(&other) {
            assert!((a.depth - b.depth).abs() <= a.error + b.error + 1e-9, "{method}: {a:?} {b:?}");
        }
    }
}

/// The gradients and the influences are those of the depth, by differences.
#[test]
fn gradients_and_influences_are_derivatives() {
    let mut random = Random::new(9);
    let (rows, z) = (random.cloud(25, 3), random.cloud(1, 3).remove(0));
    let by_distances = [Method::Spatial, Method::L2, Method::Potential];
    let known = by_distances.map(|method| (method, Scatter::None));
    let learned = by_distances.map(|method| (method, Scatter::Moment));
    let others = [(Method::Mahalanobis, Scatter::Moment), (Method::Zonoid, Scatter::None)];
    for (method, scatter) in known.into_iter().chain(learned).chain(others) {
        let settings = Settings { scatter, ..Settings::new(method) };
        let sample = Reference::new(&rows).unwrap();
        let model = settings.fit(&sample).unwrap();
        let why = model.explain(Rows::new(&z, 3).unwrap(), &Run::default()).unwrap().remove(0);
        if let Reason::Depth { tangent } = &why.reason {
            for (j, slope) in tangent.as_ref().unwrap().gradient.iter().enumerate() {
                let moved = |step: f64| {
                    let mut z = z.clone();
                    z[j] += step;
                    scores(&settings, &sample, &[z])[0].depth
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((difference - slope).abs() < 1e-6, "{method} {j}: {difference} {slope}");
            }
        }
        let influence = why.influence.unwrap();
        assert!(influence.iter().sum::<f64>().abs() < 1e-9, "{method}");
        for i in 0..3 {
            // Importance weights close to equal ones: a little more mass at row i.
            let with = |more: f64| {
                let weights: Vec<f64> = (0..25).map(|k| 1.000_1 + if k == i { more } else { 0.0 }).collect();
                scores(&settings, &Reference::weighted(&rows, &weights).unwrap(), std::slice::from_ref(&z))[0]
                    .depth
            };
            let difference = (with(1e-3) - with(-1e-3)) / 2e-3 * 25.0;
            let close = (difference - influence[i]).abs() < 0.02 * influence[i].abs() + 2e-3;
            assert!(close, "{method} {i}: {difference} {}", influence[i]);
        }
    }
}

#[test]
fn the_minimum_covariance_determinant_resists_outliers_and_says_where_it_is_not_defined() {
    let mut random = Random::new(10);
    let mut rows = random.cloud(60, 2);
    rows.extend((0..12).map(|_| vec![30.0 + random.normal(), 30.0 + random.normal()]));
    let sample = Reference::new(&rows).unwrap();
    let robust = Settings { scatter: Scatter::Mcd, ..Settings::new(Method::Mahalanobis) };
    let far = |settings: &Settings| scores(settings, &sample, &[vec![30.0, 30.0]])[0].depth;
    assert!(far(&robust) < 0.01 && far(&Settings::new(Method::Mahalanobis)) > 0.05);
    let (scaling, _) =
        lossdepth::data::Scaling::learn(lossdepth::Scale::Mcd, sample.rows(), sample.weights(), 0.75)
            .unwrap();
    let mut t = [0.0; 2];
    scaling.apply(&rows[0], &mut t);
    let fit = scores(&robust, &sample, &rows[..1])[0];
    assert!((fit.depth - 1.0 / (1.0 + t[0] * t[0] + t[1] * t[1])).abs() < 1e-12);
    let error = robust.fit(&Reference::new(&rows[..4]).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "scatter `mcd` needs at least 5 different rows, the reference has 4: `moment` does without"
    );
    let none = Settings { scatter: Scatter::None, ..Settings::new(Method::Mahalanobis) }.fit(&sample);
    assert!(none.unwrap_err().to_string().contains("needs a scatter"));
}

#[test]
fn deepest_points_and_central_regions() {
    use lossdepth::stats::central::{Found, central_region, deepest};
    let mut random = Random::new(11);
    let rows = random.cloud(40, 2);
    let sample = Reference::new(&rows).unwrap();
    let run = Run::default();
    for method in Method::ALL.into_iter().filter(|m| *m != Method::Mlp) {
        let model = Settings::new(method).fit(&sample).unwrap();
        let found = deepest(&model, &run).unwrap();
        let fit = model.score(Rows::new(&found.point, 2).unwrap(), &run).unwrap()[0];
        assert!((fit.depth - found.depth).abs() <= fit.error + 1e-9, "{method}: {fit:?} {found:?}");
        assert!(found.row_depth <= found.depth + 1e-9 && found.depth <= found.upper + 1e-9, "{method}");
        if method == Method::L2 {
            assert!(found.found == Found::LocalSearch && found.upper - found.depth < 1e-3, "{found:?}");
        }
        let inner = central_region(&model, 0.5, &run).unwrap();
        let all = central_region(&model, 1.0, &run).unwrap();
        assert!(
            inner.mass >= 0.5 - 1e-9 && inner.rows.len() < 40 && inner.rows.contains(&found.row),
            "{method}"
        );
        assert_eq!(all.rows.len(), 40);
        let mean = sample.mean();
        assert!(all.mean.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-12), "{method}");
    }
    let model = Settings::new(Method::L2).fit(&sample).unwrap();
    let error = central_region(&model, 0.0, &run).unwrap_err();
    assert_eq!(error.to_string(), "`share` must be above 0 and at most 1, got 0");
}

#[test]
fn approximate_halfspace_intervals_contain_the_exact_depth() {
    let mut random = Random::new(12);
    for d in 3..6 {
        let (rows, queries) = (random.cloud(60, d), random.cloud(10, d));
        let sample = Reference::new(&rows).unwrap();
        let exact = scores(&Settings::new(Method::Halfspace), &sample, &queries);
        let settings = Settings { num_directions: 10, ..Settings::new(Method::Halfspace) };
        for (fit, exact) in scores(&settings, &sample, &queries).iter().zip(&exact) {
            assert!(fit.depth >= exact.depth - exact.error, "{fit:?} {exact:?}");
            assert!(fit.depth - fit.error <= exact.depth, "{fit:?} {exact:?}");
        }
    }
}
