//! Central points and central parts of a sample by any depth: deepest point, central region, trimmed mean.

use crate::error::{DepthError, Result};
use crate::methods::halfspace::Regions;
use crate::model::{Method, Model};
use crate::problem::{Fit, Run};
use crate::data::Rows;
use crate::methods::classical::Scatter;

/// How a [`Deepest`] point was found, hence what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No point is deeper: a theorem gives the point, or an exact search.
    Proven,
    /// By a local search from the deepest row of the sample: a heuristic, other points may be deeper.
    LocalSearch,
}

impl Found {
    /// The name used in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::LocalSearch => "local search",
        }
    }
}

/// A point that is as deep as could be found: a multivariate median.
#[derive(Debug, Clone, PartialEq)]
pub struct Deepest {
    /// The point, in the columns of the reference.
    pub point: Vec<f64>,
    /// Its depth.
    pub depth: f64,
    /// No point is deeper than this.
    pub upper: f64,
    /// How it was found.
    pub found: Found,
    /// The deepest row of the sample, by its number.
    pub row: usize,
    /// The depth of that row.
    pub row_depth: f64,
}

/// The rows of the sample that are deepest.
#[derive(Debug, Clone, PartialEq)]
pub struct CentralRegion {
    /// All rows of at least this depth.
    pub depth: f64,
    /// Their numbers.
    pub rows: Vec<usize>,
    /// Their share of the weight; more than asked for where depths are tied.
    pub mass: f64,
    /// Their weighted mean: the depth-trimmed mean of the sample.
    pub mean: Vec<f64>,
}

/// Shortest step of the local search, in units of the spread of a column.
const SHORTEST: f64 = 1e-5;

/// The deepest rows of the sample that have at least this share of the weight, and their mean.
///
/// # Errors
/// `share` is not above 0 and at most 1, or as for [`Model::score`].
pub fn central_region(model: &Model, share: f64, run: &Run<'_>) -> Result<CentralRegion> {
    if !(share > 0.0 && share <= 1.0) {
        return Err(DepthError::Setting { name: "share", expected: "above 0 and at most 1", got: share });
    }
    let sample = model.reference();
    let depths = depths(model, sample.rows(), run)?;
    let weights = sample.weights();
    let mut order: Vec<usize> = (0..sample.len()).filter(|&i| weights[i] > 0.0).collect();
    order.sort_by(|&i, &j| depths[j].total_cmp(&depths[i]).then(i.cmp(&j)));
    // The last row that is needed; rounding must not require one more.
    let mut mass = 0.0;
    let last = order.iter().find(|&&i| {
        mass += weights[i];
        mass >= share * (1.0 - 1e-12)
    });
    let depth = depths[*last.or(order.last()).unwrap_or(&0)];
    let mut rows: Vec<usize> = order.into_iter().filter(|&i| depths[i] >= depth).collect();
    rows.sort_unstable();
    let mass: f64 = rows.iter().map(|&i| weights[i]).sum();
    let mut mean = vec![0.0; sample.width()];
    for &i in &rows {
        let row = sample.rows().row(i);
        mean.iter_mut().zip(row).for_each(|(m, x)| *m += weights[i] / mass * x);
    }
    Ok(CentralRegion { depth, rows, mass, mean })
}

/// A deepest point.
///
/// Proven are the mean for the Mahalanobis depth by moments and for the zonoid depth (both have depth 1 there and nowhere more),
/// and the halfspace depth of two columns (the centre of the deepest region). For all other depths the deepest row of the sample,
/// its mean or its median is improved by a search along the columns with shrinking steps. That is a heuristic but for the $L_2$
/// depth, whose inverse is convex: there [`upper`](Deepest::upper) bounds the depth of every point by the gradient.
///
/// # Errors
/// A sample with categories: between their levels there are no points. Otherwise as for [`Model::score`].
///
/// ```
/// use lossdepth::stats::central::{Found, deepest};
/// use lossdepth::{Method, Reference, Run, Settings};
/// let sample = Reference::new(&[[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])?;
/// let model = Settings::new(Method::Zonoid).fit(&sample)?;
/// let found = deepest(&model, &Run::default())?;
/// assert_eq!((found.point, found.found), (vec![2.0, 2.0], Found::Proven));
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
pub fn deepest(model: &Model, run: &Run<'_>) -> Result<Deepest> {
    let (sample, settings) = (model.reference(), model.settings());
    if sample.layout().is_some_and(|layout| !layout.is_numeric()) {
        let text = "a deepest point needs columns of numbers: between the levels of a category there are no points";
        return Err(DepthError::Settings(text.to_owned()));
    }
    let own = depths(model, sample.rows(), run)?;
    let counted = |i: &usize| sample.weights()[*i] > 0.0;
    let row = (0..sample.len()).filter(counted).max_by(|&i, &j| own[i].total_cmp(&own[j]).then(j.cmp(&i)));
    let row = row.unwrap_or(0);
    let row_depth = own[row];
    let proven = |point: Vec<f64>, depth: f64| {
        Deepest { point, depth, upper: depth, found: Found::Proven, row, row_depth }
    };
    match settings.method {
        Method::Zonoid => return Ok(proven(sample.mean(), 1.0)),
        Method::Mahalanobis if settings.scatter == Scatter::Moment => return Ok(proven(sample.mean(), 1.0)),
        Method::Halfspace if sample.width() == 2 => {
            let median = Regions::new(sample)?.median();
            return Ok(proven(median.point.to_vec(), median.depth));
        }
        _ => {}
    }
    let mut found = Deepest {
        point: sample.rows().row(row).to_vec(),
        depth: row_depth,
        upper: 1.0,
        found: Found::LocalSearch,
        row,
        row_depth,
    };
    let spread = spreads(model);
    improve(model, &mut found, &[sample.mean(), spread.iter().map(|s| s.0).collect()], run)?;
    let mut step = 0.5;
    while step > SHORTEST {
        let moved = |(j, sign): (usize, f64)| {
            let mut point = found.point.clone();
            point[j] += sign * step * spread[j].1;
            point
        };
        let around = (0..spread.len()).flat_map(|j| [(j, 1.0), (j, -1.0)]).map(moved);
        let candidates: Vec<Vec<f64>> = around.collect();
        if !improve(model, &mut found, &candidates, run)? {
            step *= 0.5;
        }
    }
    if settings.method == Method::L2 {
        found.upper = upper_of_l2(model, &found, run)?;
    }
    Ok(found)
}

fn depths(model: &Model, rows: Rows<'_>, run: &Run<'_>) -> Result<Vec<f64>> {
    let run = Run { depths_only: true, progress: None, ..*run };
    Ok(model.score(rows, &run)?.iter().map(|fit: &Fit| fit.depth).collect())
}

/// Moves to the best of the candidates if it is deeper.
fn improve(model: &Model, found: &mut Deepest, candidates: &[Vec<f64>], run: &Run<'_>) -> Result<bool> {
    let flat = candidates.concat();
    let depths = depths(model, Rows::new(&flat, model.width())?, run)?;
    let best = (0..depths.len()).max_by(|&i, &j| depths[i].total_cmp(&depths[j]).then(j.cmp(&i)));
    let Some(best) = best.filter(|&i| depths[i] > found.depth) else { return Ok(false) };
    (found.point, found.depth) = (candidates[best].clone(), depths[best]);
    Ok(true)
}

/// Median and interquartile range of every column; the range where that is 0.
fn spreads(model: &Model) -> Vec<(f64, f64)> {
    let sample = model.reference();
    (0..sample.width())
        .map(|j| {
            let mut values: Vec<f64> = sample.rows().iter().map(|x| x[j]).collect();
            values.sort_by(f64::total_cmp);
            let at = |share: usize| values[(values.len() - 1) * share / 4];
            let quartiles = at(3) - at(1);
            (at(2), if quartiles > 0.0 { quartiles } else { at(4) - at(0) })
        })
        .collect()
}

/// By convexity the mean distance is at most the gradient times the box of the sample smaller anywhere.
fn upper_of_l2(model: &Model, found: &Deepest, run: &Run<'_>) -> Result<f64> {
    let why = model.explain(Rows::new(&found.point, model.width())?, run)?;
    let (fit, Some(gradient)) = (why[0].fit, why[0].gradient()) else { return Ok(1.0) };
    let rows = model.reference().rows();
    let farthest = |j: usize| rows.iter().fold(0.0f64, |m, x| m.max((x[j] - found.point[j]).abs()));
    // The gradient of 1/D - 1, the mean distance.
    let decrease: f64 =
        gradient.iter().enumerate().map(|(j, g)| g.abs() / (fit.depth * fit.depth) * farthest(j)).sum();
    let mean = (1.0 / (fit.depth + fit.error).min(1.0) - 1.0 - decrease).max(0.0);
    Ok((1.0 / (1.0 + mean)).max(found.depth))
}
