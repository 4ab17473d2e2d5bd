//! Convex polygons: clipping, centroid, radius and hull.

use super::expansions::ExactPredicates;

/// The half plane $\langle u, z \rangle \le c$.
#[derive(Debug, Clone, Copy)]
pub(super) struct HalfPlane {
    pub(super) u: [f64; 2],
    pub(super) c: f64,
}

/// The part of a polygon in a half plane, within `tolerance`.
pub(super) fn clip(polygon: &[[f64; 2]], half_plane: &HalfPlane, tolerance: f64) -> Vec<[f64; 2]> {
    let over = |v: &[f64; 2]| half_plane.u[0] * v[0] + half_plane.u[1] * v[1] - half_plane.c;
    if polygon.iter().all(|v| over(v) <= tolerance) {
        return polygon.to_vec();
    }
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (k, v) in polygon.iter().enumerate() {
        let w = &polygon[(k + 1) % polygon.len()];
        let (a, b) = (over(v), over(w));
        if a <= tolerance {
            kept.push(*v);
        }
        if (a > tolerance && b < -tolerance) || (a < -tolerance && b > tolerance) {
            let t = a / (a - b);
            kept.push([v[0] + t * (w[0] - v[0]), v[1] + t * (w[1] - v[1])]);
        }
    }
    kept
}

/// Without vertices that coincide.
pub(super) fn without_duplicates(polygon: Vec<[f64; 2]>, tolerance: f64) -> Vec<[f64; 2]> {
    let mut corners: Vec<[f64; 2]> = Vec::with_capacity(polygon.len());
    let apart = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) > 4.0 * tolerance;
    for v in polygon {
        if corners.last().is_none_or(|last| apart(last, &v)) {
            corners.push(v);
        }
    }
    while corners.len() > 1 && !apart(&corners[0], &corners[corners.len() - 1]) {
        corners.pop();
    }
    corners
}

/// The centre of mass of a polygon, a segment or a point.
pub(super) fn centroid(vertices: &[[f64; 2]]) -> Option<[f64; 2]> {
    let first = *vertices.first()?;
    let (mut area, mut sum) = (0.0, [0.0; 2]);
    for pair in vertices.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let cross = (a[0] - first[0]) * (b[1] - first[1]) - (a[1] - first[1]) * (b[0] - first[0]);
        area += cross;
        (0..2).for_each(|k| sum[k] += cross * (a[k] + b[k] - 2.0 * first[k]));
    }
    if area > 1e-24 {
        return Some([0, 1].map(|k| first[k] + sum[k] / (3.0 * area)));
    }
    let n = vertices.len() as f64;
    Some([0, 1].map(|k| vertices.iter().map(|v| v[k] / n).sum()))
}

/// The distance from a point inside to the boundary, at an angle.
pub(super) fn radius_at(polygon: &[[f64; 2]], centre: [f64; 2], angle: f64) -> f64 {
    let d = [angle.cos(), angle.sin()];
    let mut radius = 0.0f64;
    for (k, v) in polygon.iter().enumerate() {
        let w = polygon[(k + 1) % polygon.len()];
        let (a, b) = ([v[0] - centre[0], v[1] - centre[1]], [w[0] - centre[0], w[1] - centre[1]]);
        let (p, q) = (d[0] * a[1] - d[1] * a[0], d[0] * b[1] - d[1] * b[0]);
        if p == q {
            if p.abs() <= 1e-15 {
                radius = radius.max(d[0] * a[0] + d[1] * a[1]).max(d[0] * b[0] + d[1] * b[1]);
            }
            continue;
        }
        let t = p / (p - q);
        if (-1e-12..=1.0 + 1e-12).contains(&t) {
            radius = radius.max(d[0] * (a[0] + t * (b[0] - a[0])) + d[1] * (a[1] + t * (b[1] - a[1])));
        }
    }
    radius
}

/// The convex hull, counterclockwise (Andrew).
pub(super) fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut exact = ExactPredicates::default();
    let mut half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while chain.len() > 1
                && exact.orientation(chain[chain.len() - 1], p, chain[chain.len() - 2]).is_le()
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut chain = half(&mut points.iter().copied());
    chain.extend(half(&mut points.iter().rev().copied()));
    chain
}
