//! Halfspace depth against its definition, in whole numbers.

use crate::common::{Failures, Random, dot, reference};
use lossdepth::methods::halfspace::Regions;
use lossdepth::{Depth, Reference, Run, Stop};

/// Whole-number vectors with masses around the query at the origin.
type Cloud = Vec<(Vec<i128>, u64)>;

/// Columns in which the vectors have full rank.
fn pivots(rows: &[Vec<i128>]) -> Vec<usize> {
    let (mut m, mut found, mut top) = (rows.to_vec(), Vec::new(), 0);
    for k in 0..rows.first().map_or(0, Vec::len) {
        let Some(p) = (top..m.len()).find(|&i| m[i][k] != 0) else { continue };
        m.swap(top, p);
        for i in top + 1..m.len() {
            let (a, b) = (m[top][k], m[i][k]);
            let row: Vec<i128> = (0..m[i].len()).map(|c| m[i][c] * a - m[top][c] * b).collect();
            let divisor = row.iter().fold(0, |g, v| gcd(g, v.abs())).max(1);
            m[i] = row.iter().map(|v| v / divisor).collect();
        }
        found.push(k);
        top += 1;
    }
    found
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// By elimination without fractions (Bareiss).
fn determinant(m: &[Vec<i128>]) -> i128 {
    let (mut m, mut sign, mut last) = (m.to_vec(), 1, 1);
    for p in 0..m.len() {
        let Some(best) = (p..m.len()).find(|&i| m[i][p] != 0) else { return 0 };
        if best != p {
            m.swap(p, best);
            sign = -sign;
        }
        for i in p + 1..m.len() {
            for k in p + 1..m.len() {
                m[i][k] = (m[i][k] * m[p][p] - m[i][p] * m[p][k]) / last;
            }
        }
        last = m[p][p];
    }
    sign * last
}

/// The vector at a right angle to r - 1 vectors in r dimensions; zero if they are dependent.
fn normal(rows: &[&Vec<i128>], r: usize) -> Vec<i128> {
    (0..r)
        .map(|k| {
            let minor: Vec<Vec<i128>> = rows
                .iter()
                .map(|row| row.iter().enumerate().filter(|(c, _)| *c != k).map(|(_, v)| *v).collect())
                .collect();
            let sign = if k % 2 == 0 { 1 } else { -1 };
            sign * determinant(&minor)
        })
        .collect()
}

fn subsets(n: usize, size: usize, each: &mut impl FnMut(&[usize])) {
    fn go(n: usize, size: usize, from: usize, chosen: &mut Vec<usize>, each: &mut impl FnMut(&[usize])) {
        if chosen.len() == size {
            each(chosen);
            return;
        }
        for i in from..n {
            chosen.push(i);
            go(n, size, i + 1, chosen, each);
            chosen.pop();
        }
    }
    go(n, size, 0, &mut Vec::new(), each);
}

/// The least mass of a closed halfspace, by all rays of the arrangement: on a ray the points above count, and of those
/// on the hyperplane as few as their own arrangement allows.
fn least_mass(cloud: &Cloud) -> u64 {
    let at_origin: u64 = cloud.iter().filter(|(y, _)| y.iter().all(|v| *v == 0)).map(|(_, m)| m).sum();
    let rest: Cloud = cloud.iter().filter(|(y, _)| y.iter().any(|v| *v != 0)).cloned().collect();
    if rest.is_empty() {
        return at_origin;
    }
    let rows: Vec<Vec<i128>> = rest.iter().map(|(y, _)| y.clone()).collect();
    let columns = pivots(&rows);
    let (r, narrow): (usize, Cloud) =
        (columns.len(), rest.iter().map(|(y, m)| (columns.iter().map(|&k| y[k]).collect(), *m)).collect());
    let mut best = u64::MAX;
    let mut consider = |u: &[i128]| {
        for sign in [1, -1] {
            let side = |y: &[i128]| sign * y.iter().zip(u).map(|(a, b)| a * b).sum::<i128>();
            let above: u64 = narrow.iter().filter(|(y, _)| side(y) > 0).map(|(_, m)| m).sum();
            if above < best {
                let border: Cloud = narrow.iter().filter(|(y, _)| side(y) == 0).cloned().collect();
                best = best.min(above + if border.is_empty() { 0 } else { least_mass(&border) });
            }
        }
    };
    if r == 1 {
        consider(&[1]);
    } else {
        subsets(narrow.len(), r - 1, &mut |chosen| {
            let rows: Vec<&Vec<i128>> = chosen.iter().map(|&i| &narrow[i].0).collect();
            let u = normal(&rows, r);
            if u.iter().any(|v| *v != 0) {
                consider(&u);
            }
        });
    }
    best + at_origin
}

/// Whole points, perhaps with ties, duplicates and in a subspace.
fn whole_points(random: &mut Random, n: usize, d: usize, spread: usize, rank: usize) -> Vec<Vec<i128>> {
    let half = i128::try_from(spread / 2).unwrap();
    let mut draw = |end: usize| i128::try_from(random.below(end)).unwrap();
    let basis: Vec<Vec<i128>> = (0..rank).map(|_| (0..d).map(|_| draw(5) - 2).collect()).collect();
    (0..n)
        .map(|_| {
            if rank < d {
                let c: Vec<i128> = (0..rank).map(|_| draw(spread) - half).collect();
                (0..d).map(|k| c.iter().zip(&basis).map(|(c, b)| c * b[k]).sum()).collect()
            } else {
                (0..d).map(|_| draw(spread) - half).collect()
            }
        })
        .collect()
}

fn as_numbers(points: &[Vec<i128>]) -> Vec<Vec<f64>> {
    points.iter().map(|p| p.iter().map(|v| *v as f64).collect()).collect()
}

/// Compares one sample with the definition at some queries; the direction must attain the depth too.
fn check(points: &[Vec<i128>], masses: &[u64], queries: &[Vec<i128>], failures: &mut Failures) {
    let weights: Vec<f64> = masses.iter().map(|m| *m as f64).collect();
    let total: u64 = masses.iter().sum();
    let sample = Reference::weighted(&as_numbers(points), &weights).unwrap();
    let depth = Depth::halfspace().fit(&sample).unwrap();
    let rows = as_numbers(queries);
    for ((z, row), found) in queries.iter().zip(&rows).zip(depth.explain(&rows).unwrap()) {
        let cloud: Cloud = points
            .iter()
            .zip(masses)
            .map(|(x, m)| (x.iter().zip(z).map(|(x, z)| x - z).collect(), *m))
            .collect();
        let exact = least_mass(&cloud) as f64 / total as f64;
        let fit = found.fit;
        failures.check(fit.depth == exact && fit.stop == Stop::Converged && fit.error < 1e-15, || {
            format!("{points:?} {masses:?} at {z:?}: {exact}, {fit:?}")
        });
        let attained: u64 = points
            .iter()
            .zip(masses)
            .filter(|(x, _)| {
                let y: Vec<f64> = x.iter().zip(z).map(|(x, z)| (x - z) as f64).collect();
                dot(found.gradient().unwrap(), &y) <= 0.0
            })
            .map(|(_, m)| m)
            .sum();
        failures.check(attained as f64 / total as f64 == fit.depth, || {
            format!("{points:?} at {z:?}: {:?} attains {attained}, {fit:?}, row {row:?}", found.gradient())
        });
    }
}

#[test]
fn tiny_samples_by_definition() {
    let mut failures = Failures::default();
    let mut random = Random::new(1);
    for round in 0..600 {
        let d = 1 + round % 5;
        let n = 2 + random.below([30, 14, 10, 9, 8][d - 1]);
        let spread = [3, 4, 6, 20, 1000][random.below(5)];
        let rank = if round % 4 == 0 { 1 + random.below(d) } else { d };
        let points = whole_points(&mut random, n, d, spread, rank);
        let masses: Vec<u64> =
            (0..n).map(|_| 1 + random.below(if round % 3 == 0 { 4 } else { 1 }) as u64).collect();
        let mut queries = whole_points(&mut random, 2, d, spread, d);
        queries.push(points[random.below(n)].clone());
        queries.push(points[0].iter().zip(&points[1]).map(|(a, b)| (a + b) / 2).collect());
        check(&points, &masses, &queries, &mut failures);
    }
    failures.report();
}

#[test]
fn many_columns_by_definition() {
    let mut failures = Failures::default();
    let mut random = Random::new(2);
    let mut closed = 0;
    for round in 0..60 {
        let d = 7 + round % 2;
        let n = d + 2 + random.below(3);
        let rank = if round % 3 == 0 { 1 + random.below(4) } else { d };
        let points = whole_points(&mut random, n, d, [5, 1000][round % 2], rank);
        let query: Vec<i128> =
            (0..d).map(|k| points.iter().map(|p| p[k]).sum::<i128>() / n as i128).collect();
        let cloud: Cloud =
            points.iter().map(|x| (x.iter().zip(&query).map(|(x, z)| x - z).collect(), 1)).collect();
        let exact = least_mass(&cloud) as f64 / n as f64;
        let sample = Reference::new(&as_numbers(&points)).unwrap();
        let depth = Depth::halfspace().budget(5).fit(&sample).unwrap();
        let fit = depth.score(&as_numbers(std::slice::from_ref(&query))).unwrap()[0];
        closed += usize::from(fit.stop == Stop::Converged);
        let holds = fit.depth >= exact && fit.depth - fit.error <= exact && (fit.error < 1e-9 || rank == d);
        failures.check(holds, || format!("{points:?} at {query:?}: {exact}, {fit:?}"));
    }
    failures.report();
    assert!(closed > 40, "{closed} of 60 closed");
}

/// How far a point lies inside a convex polygon: negative outside.
fn margin(polygon: &[[f64; 2]], p: &[f64]) -> f64 {
    (0..polygon.len())
        .map(|k| {
            let (a, b) = (polygon[k], polygon[(k + 1) % polygon.len()]);
            let length = (b[0] - a[0]).hypot(b[1] - a[1]);
            ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])) / length
        })
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn contours_hold_the_points_as_deep() {
    let mut failures = Failures::default();
    let mut random = Random::new(3);
    for (n, round) in [(12, false), (40, false), (41, true), (90, true), (150, false)] {
        let mut rows = random.cloud(n, 2);
        if round {
            rows.iter_mut().flatten().for_each(|v| *v = (2.0 * *v).round());
        }
        let sample = Reference::new(&rows).unwrap();
        let (depth, regions) = (Depth::halfspace().fit(&sample).unwrap(), Regions::new(&sample).unwrap());
        let grid: Vec<Vec<f64>> =
            (0..400).map(|k| vec![f64::from(k % 20) / 4.0 - 2.4, f64::from(k / 20) / 4.0 - 2.4]).collect();
        let fits = depth.score(&grid).unwrap();
        for level in [0.05, 0.1, 0.2, 0.3, 0.4] {
            let contour = regions.contour(level).unwrap();
            for (p, fit) in grid.iter().zip(&fits) {
                let inside = if contour.vertices.len() > 2 { margin(&contour.vertices, p) } else { -1.0 };
                let good = inside.abs() < 1e-9 || (inside > 0.0) == (fit.depth >= level - 1e-12);
                failures.check(good || contour.vertices.len() < 3, || {
                    format!("n {n}, level {level}, {p:?}: {inside}, {fit:?}")
                });
            }
        }
        let median = regions.median();
        let at = depth.score(&[median.point.to_vec()]).unwrap()[0].depth;
        let most = fits.iter().map(|f| f.depth).fold(0.0, f64::max);
        failures
            .check(at == median.depth && at >= most, || format!("n {n}: {median:?} has {at}, grid {most}"));
        let next = regions.contour(median.depth + 1.0 / n as f64).unwrap();
        failures.check(next.vertices.len() < 3, || format!("n {n}: {median:?}, deeper {next:?}"));
        let plot = regions.bagplot(3.0).unwrap();
        let depths = depth.score(&rows).unwrap();
        failures
            .check(plot.depths.iter().zip(&depths).all(|(a, b)| *a == b.depth), || format!("n {n}: depths"));
        let held = rows.iter().filter(|p| margin(&plot.bag, p) > -1e-9).count();
        failures
            .check((0.35..0.75).contains(&(held as f64 / n as f64)), || format!("n {n}: bag holds {held}"));
    }
    failures.report();
}

#[test]
fn outliers_of_a_bagplot() {
    let mut random = Random::new(4);
    let mut rows = random.cloud(200, 2);
    rows.push(vec![15.0, -2.0]);
    rows.push(vec![-9.0, 9.0]);
    let plot = Regions::new(&Reference::new(&rows).unwrap()).unwrap().bagplot(3.0).unwrap();
    assert!(plot.outliers.ends_with(&[200, 201]) && plot.outliers.len() < 6, "{:?}", plot.outliers);
    assert!(plot.hull.len() > 3 && plot.hull.iter().all(|v| v[0] < 9.0));
}

#[test] // Points on one line, and on one point.
fn regions_of_lower_dimension() {
    let line = Reference::new(&[[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [4.0, 8.0]]).unwrap();
    let regions = Regions::new(&line).unwrap();
    assert_eq!(regions.median().point, [2.0, 4.0]);
    assert_eq!(regions.median().depth, 0.6);
    let segment = regions.contour(0.4).unwrap().vertices;
    let ends = |p: [f64; 2]| segment.iter().any(|v| (v[0] - p[0]).hypot(v[1] - p[1]) < 1e-12);
    assert!(segment.len() == 2 && ends([1.0, 2.0]) && ends([3.0, 6.0]), "{segment:?}");
    let point = Regions::new(&Reference::new(&[[3.0, 1.0], [3.0, 1.0]]).unwrap()).unwrap();
    assert_eq!((point.median().point, point.median().depth), ([3.0, 1.0], 1.0));
    assert!(point.bagplot(3.0).unwrap().outliers.is_empty());
    assert!(Regions::new(&Reference::new(&[[3.0], [1.0]]).unwrap()).is_err());
}

#[test] // The paper: the depth is twice the best 0-1 risk of a linear classifier that is not zero.
fn twice_the_best_risk_of_the_zero_one_loss() {
    let mut random = Random::new(8);
    for round in 0..60 {
        let d = 1 + round % 2;
        let n = 6 + random.below(6);
        let points = whole_points(&mut random, n, d, 7, d);
        let z = whole_points(&mut random, 1, d, 5, d).remove(0);
        // Classifiers f(x) = <w, x> + b by brute force: directions around a circle, finer than the points allow to
        // tell apart, and thresholds at and between the projections.
        let mut best = f64::INFINITY;
        let turns = if d == 1 { 2 } else { 7200 };
        for k in 0..turns {
            let angle = std::f64::consts::TAU * (f64::from(k) + 0.123) / f64::from(turns);
            let w =
                if d == 1 { vec![if k == 0 { 1.0 } else { -1.0 }] } else { vec![angle.cos(), angle.sin()] };
            let value = |x: &[i128]| x.iter().zip(&w).map(|(x, w)| *x as f64 * w).sum::<f64>();
            let at = value(&z);
            for b in [-at, -at - 1e-9, -at + 1e-9, 1e3, -1e3] {
                // A classifier gives the query's label where f <= 0.
                let wrong =
                    points.iter().filter(|x| value(x) + b <= 0.0).count() as f64 / points.len() as f64;
                let missed = if at + b > 0.0 { 1.0 } else { 0.0 };
                best = f64::min(best, 0.5 * wrong + 0.5 * missed);
            }
        }
        let sample = Reference::new(&as_numbers(&points)).unwrap();
        let fit =
            Depth::halfspace().fit(&sample).unwrap().score(&as_numbers(std::slice::from_ref(&z))).unwrap()[0];
        assert_eq!(fit.depth, 2.0 * best, "{points:?} {z:?}: {fit:?}");
    }
}

fn directions_never_win(d: usize, budget: usize, random: &mut Random, failures: &mut Failures) {
    let rows = random.cloud(60, d);
    let sample = Reference::new(&rows).unwrap();
    let queries: Vec<Vec<f64>> = [0.0, 0.3, 0.8]
        .iter()
        .flat_map(|s| random.cloud(3, d).into_iter().map(move |q| q.iter().map(|v| s * v).collect()))
        .collect();
    let fits = Depth::halfspace().budget(budget).fit(&sample).unwrap().score(&queries).unwrap();
    for (z, fit) in queries.iter().zip(&fits) {
        let lower = fit.depth - fit.error;
        for _ in 0..3000 {
            let u: Vec<f64> = (0..d).map(|_| random.normal()).collect();
            let at = dot(&u, z);
            let attained = rows.iter().filter(|x| dot(&u, x) >= at).count() as f64 / 60.0;
            failures.check(attained >= lower - 1e-12, || format!("d {d}: {z:?}: {attained} below {fit:?}"));
            if fit.stop == Stop::Converged {
                failures.check(attained >= fit.depth - 1e-12, || format!("d {d}: {attained} beats {fit:?}"));
            }
        }
    }
}

#[test]
fn an_independent_search_never_wins() {
    let mut failures = Failures::default();
    let mut random = Random::new(9);
    for (d, budget) in [(2, 1), (3, 10), (4, 10), (5, 10), (6, 5), (8, 5), (20, 5)] {
        directions_never_win(d, budget, &mut random, &mut failures);
    }
    failures.report();
}

#[test]
fn batch_order_threads_and_rows_of_the_sample_do_not_matter() {
    for (d, budget) in [(1, 1), (2, 1), (3, 2), (5, 2), (9, 2)] {
        let mut random = Random::new(10);
        let rows = random.cloud(50, d);
        let queries = random.cloud(9, d);
        let fit = |rows: &[Vec<f64>], queries: &[Vec<f64>], threads: usize| {
            let sample = Reference::new(rows).unwrap();
            let run = Run { threads: Some(threads), ..Run::default() };
            Depth::halfspace().budget(budget).fit(&sample).unwrap().score_with(queries, &run).unwrap()
        };
        let all = fit(&rows, &queries, 1);
        assert_eq!(all, fit(&rows, &queries, 3));
        for (query, one) in queries.iter().zip(&all) {
            assert_eq!(fit(&rows, std::slice::from_ref(query), 1)[0], *one);
        }
        let order = random.permutation(rows.len());
        let turned: Vec<Vec<f64>> = order.iter().map(|&i| rows[i].clone()).collect();
        let mut back = queries.clone();
        back.reverse();
        let mut again = fit(&turned, &back, 2);
        again.reverse();
        assert_eq!(all, again);
    }
}

#[test]
fn weights_are_copies_and_units_do_not_matter() {
    let mut random = Random::new(11);
    for d in [1, 2, 3, 4, 8] {
        let rows = random.cloud(25, d);
        let queries = random.cloud(5, d);
        let times: Vec<usize> = (0..25).map(|_| random.below(4)).collect();
        let counts: Vec<f64> = times.iter().map(|t| *t as f64).collect();
        let copies: Vec<Vec<f64>> = rows
            .iter()
            .zip(&times)
            .flat_map(|(row, times)| std::iter::repeat_n(row.clone(), *times))
            .collect();
        let score = |sample: &Reference, queries: &[Vec<f64>]| {
            Depth::halfspace().budget(5).fit(sample).unwrap().score(queries).unwrap()
        };
        let weighted = score(&Reference::weighted(&rows, &counts).unwrap(), &queries);
        assert_eq!(weighted, score(&Reference::new(&copies).unwrap(), &queries));
        // Importance weights: the same masses, rounded to whole numbers.
        let shares: Vec<f64> = counts.iter().map(|c| c * 0.37).collect();
        for (a, b) in score(&Reference::weighted(&rows, &shares).unwrap(), &queries).iter().zip(&weighted) {
            assert!(
                (a.depth - b.depth).abs() <= a.error + b.error && a.error <= b.error.max(1e-6),
                "{a:?} {b:?}"
            );
        }
        // Powers of two and shifts that are exact change no sign.
        let stretch = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
            rows.iter()
                .map(|r| r.iter().zip(0i32..).map(|(v, k)| v * 2f64.powi(40 - 30 * k)).collect())
                .collect()
        };
        let far = score(&Reference::weighted(&stretch(&rows), &counts).unwrap(), &stretch(&queries));
        for (a, b) in far.iter().zip(&weighted) {
            assert_eq!((a.depth, a.stop), (b.depth, b.stop));
        }
    }
}

#[test]
fn bad_settings_are_refused() {
    let sample = Reference::new(&[[0.0], [1.0]]).unwrap();
    assert!(Depth::halfspace().budget(0).fit(&sample).is_err());
    assert!(Depth::halfspace().tol(-1.0).fit(&sample).is_err());
    assert!(Depth::halfspace().tol(f64::NAN).fit(&sample).is_err());
    assert!(Depth::halfspace().tol(0.0).fit(&sample).is_ok());
}

#[test] // Products of small numbers leave the range of floating point: an order by them was none, and sorting panicked.
fn numbers_of_any_size_have_an_order() {
    let mut random = Random::new(17);
    for round in 0..20 {
        let n = 40;
        let points: Vec<[f64; 2]> = (0..n)
            .map(|_| {
                let along = random.below(1000) as f64;
                [along, along + random.below(3) as f64 - 1.0]
            })
            .collect();
        // With a point that is far off, columns cannot be brought to another size.
        let far = 2f64.powi(100);
        let sample = |unit: f64, far: f64| {
            let small = points.iter().map(|p| p.map(|v| v * unit));
            let rows: Vec<[f64; 2]> = small.chain((round % 2 == 0).then_some([far, far])).collect();
            Reference::new(rows.as_slice()).unwrap()
        };
        let depths = |unit: f64, far: f64| -> Vec<f64> {
            let queries: Vec<[f64; 2]> = points.iter().map(|p| p.map(|v| v * unit)).collect();
            let fitted = Depth::halfspace().fit(&sample(unit, far)).unwrap();
            fitted.score(queries.as_slice()).unwrap().iter().map(|fit| fit.depth).collect()
        };
        let plain = depths(1.0, far);
        for unit in [-560, -700, -1000] {
            assert_eq!(depths(2f64.powi(unit), 1.0), plain, "2^{unit}");
        }
        assert!(Regions::new(&sample(2f64.powi(-560), 1.0)).is_ok());
    }
}

#[test] // An outlier's standard error was 0, which says that its depth is known.
fn a_depth_of_zero_has_a_standard_error() {
    let rows: Vec<Vec<f64>> = Random::new(3).cloud(100, 2);
    let fit = |sample: &Reference| Depth::halfspace().fit(sample).unwrap().score(&[[50.0, 0.0]]).unwrap()[0];
    let plain = fit(&reference(&rows));
    // Two more of four more observations are inside (Agresti and Coull).
    let p = 2.0 / 104.0;
    assert_eq!((plain.depth, plain.stderr), (0.0, f64::sqrt(p * (1.0 - p) / 104.0)));
    assert!(plain.interval(0.95).unwrap().1 > 0.02);
    let weights: Vec<f64> = (0..100).map(|i| 0.5 + f64::from(i % 3)).collect();
    assert!(fit(&Reference::weighted(&rows, &weights).unwrap()).stderr > 0.01);
}

#[test] // The search tree once went as deep as the budget allowed, one call within another.
fn a_huge_budget_needs_no_deep_stack() {
    // A quarter of a megabyte, an eighth of what a thread has otherwise.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(256 << 10).build().unwrap();
    let mut random = Random::new(47);
    // Many columns: directions, simplices and the tree, which end by themselves. Few columns: cones around two nearly opposite
    // directions, cut until the budget ends, for what rounding has to decide has no end.
    let cases = [(500, 9, 1.0, usize::MAX), (24, 9, 1.0, usize::MAX), (60, 3, 1e-13, 50), (24, 4, 1e-13, 50)];
    for (n, d, spread, budget) in cases {
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let near = random.cloud(1, d).remove(0).into_iter().map(|x| spread * x);
                let centre = if spread < 1.0 { [1.0, -1.0][i % 2] } else { 0.0 };
                near.map(|x| centre + x).collect()
            })
            .collect();
        let query = vec![0.0; d];
        let depth = |budget: usize| {
            let fitted = Depth::halfspace().budget(budget).fit(&reference(&rows)).unwrap();
            pool.install(|| fitted.score(std::slice::from_ref(&query)).unwrap()[0])
        };
        let (few, all) = (depth(1), depth(budget));
        assert!(all.error <= few.error && all.depth <= few.depth, "{n} {d}: {few:?} {all:?}");
        assert!(n != 24 || d != 9 || all.stop == Stop::Converged, "{all:?}");
    }
}
