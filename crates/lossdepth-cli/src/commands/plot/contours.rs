//! Lines and zones of equal depth.

use super::values::Shares;
use super::words::zone_name;
use super::work::Work;
use crate::error::Result;
use lossdepth::methods::halfspace::Regions;
use lossdepth::model::Percentiles;
use lossdepth_plot::{EmpiricalDistribution, Field, Line, Polygon, ticks};

impl Work<'_> {
    /// Lines at round depths, or at those that were asked for.
    pub(super) fn contours(&self, field: &Field, regions: Option<&Regions>) -> Result<Vec<(f64, Vec<Line>)>> {
        let (low, high) = field.range();
        // At the ends of the range there is no line, but perhaps a speck of rounding.
        let inside = |level: &f64| *level > low + 1e-9 && *level < high - 1e-9;
        let round = || ticks(low, high, 11).into_iter().filter(inside).collect();
        let levels = self.args.levels.as_ref().map_or_else(round, |levels| levels.0.clone());
        levels.into_iter().map(|level| Ok((level, lines_at(field, regions, level)?))).collect()
    }
}

/// The shares of the reference at which lines are drawn.
const SHARES: [f64; 7] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9];

/// Lines around the points that are deeper than these shares of the reference.
pub(super) fn percentile_contours(
    shares: &Percentiles,
    field: &Field,
    regions: Option<&Regions>,
) -> Result<Vec<(f64, Vec<Line>)>> {
    let mut found: Vec<(f64, f64)> = SHARES.map(|share| (share, shares.depth_at(share))).to_vec();
    // Of several shares with one line the largest is true of what is inside.
    found.reverse();
    found.dedup_by_key(|(_, depth)| *depth);
    found.reverse();
    found.into_iter().map(|(share, depth)| Ok((share, lines_at(field, regions, depth)?))).collect()
}

/// The lines of a depth, exact where that is possible.
fn lines_at(field: &Field, regions: Option<&Regions>, depth: f64) -> Result<Vec<Line>> {
    Ok(match regions {
        Some(regions) => {
            polygon(regions, depth)?.into_iter().map(|points| Line { points, closed: true }).collect()
        }
        None => field.lines(depth),
    })
}

/// An exact region of the halfspace depth, if there is one.
fn polygon(regions: &Regions, depth: f64) -> Result<Vec<Vec<[f64; 2]>>> {
    let vertices = if depth > 0.0 { regions.contour(depth)?.vertices } else { Vec::new() };
    Ok(if vertices.len() > 2 { vec![vertices] } else { Vec::new() })
}

pub(super) fn zone_polygons(
    zones: &Shares,
    depths: &EmpiricalDistribution,
    field: &Field,
    regions: Option<&Regions>,
) -> Result<Vec<Polygon>> {
    let count = zones.0.len() as f64;
    let polygon = |(i, share): (usize, &f64)| {
        let level = depths.quantile(1.0 - share);
        let rings = match regions {
            Some(regions) => polygon(regions, level)?,
            None => field.regions(level),
        };
        Ok(Polygon { name: zone_name(*share), rings, shade: Some(0.1 + 0.5 * (count - i as f64) / count) })
    };
    // The largest first.
    zones.0.iter().enumerate().map(polygon).rev().collect()
}
