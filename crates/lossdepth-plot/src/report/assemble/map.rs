//! The map: ordinary rows and the oddest, along columns and principal axes.

use super::Assembly;
use super::sample::{Sample, is_category};
use crate::report::text::{listed, percent};
use crate::report::{Map, MapAxis, sample_ordinary};
use lossdepth::data::{ColumnKind, GroupKind};
use lossdepth::{PrincipalAxes, Reference, Rows};

/// How many ordinary rows are on the map, and how many columns to choose from for its axes.
const POINTS: usize = 1500;
const AXES: usize = 12;
/// Columns with fewer values are not shown first.
const FEW_VALUES: usize = 8;
/// Principal axes are found for at most so many encoded columns.
const WIDEST: usize = 400;
/// Columns that an axis is said to consist of have at least this share of its squared weights.
const MAINLY: f64 = 0.1;

/// Along the columns that say most about the odd rows, and along principal axes; none without two axes.
pub(super) fn map(assembly: &Assembly<'_>, data: Sample<'_>, places: &[usize]) -> Option<Map> {
    let columns = data.encoding.columns();
    let total = |column: usize| {
        let bits = assembly.found.found.iter().map(|row| row.contributions[column].max(0.0));
        bits.sum::<f64>()
    };
    let mut chosen: Vec<(f64, usize)> = (0..columns.len())
        .filter(|&column| !is_category(&columns[column]) && !columns[column].is_constant())
        .filter(|&column| {
            !assembly.is_masked(columns[column].name()) && !assembly.is_masked(columns[column].source())
        })
        .map(|column| (total(column), column))
        .collect();
    chosen.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    chosen.truncate(AXES);
    let depths: Vec<f64> = assembly.found.fits.iter().map(|fit| fit.depth).collect();
    let ordinary = sample_ordinary(&depths, places, POINTS);
    let axis = |&(_, column): &(f64, usize)| {
        let values = data.numbers(column);
        let at = |rows: &[usize]| rows.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let make = if columns[column].kind() == ColumnKind::Time { MapAxis::dates } else { MapAxis::new };
        make(assembly.column_name(column), &at(&ordinary), &at(places)).of_column(column)
    };
    let mut axes: Vec<MapAxis> = chosen.iter().map(axis).collect();
    // Few different values make rows of dots: such columns can be chosen, but do not come first.
    axes.sort_by_key(|axis| has_few_values(&axis.ordinary));
    // Their weights would show what is masked.
    if assembly.masked.is_empty() {
        axes.extend(principal(data, &ordinary, places).into_iter().flatten());
    }
    if axes.len() < 2 {
        return None;
    }
    Some(Map {
        axes,
        start: [0, 1],
        percentiles: ordinary.iter().map(|&at| assembly.found.percentiles[at]).collect(),
        names: ordinary.iter().map(|&at| assembly.row_name(at)).collect(),
        of: (depths.len() - places.len()) as u64,
    })
}

/// Whether there are fewer different values than a map could tell apart.
fn has_few_values(values: &[f64]) -> bool {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    sorted.len() < FEW_VALUES
}

/// Two principal axes of the ordinary rows on the map, numbers in units of their interquartile range.
fn principal(data: Sample<'_>, ordinary: &[usize], places: &[usize]) -> Option<[MapAxis; 2]> {
    let width = data.rows.width();
    if !(3..=WIDEST).contains(&width) || ordinary.len() < 3 {
        return None;
    }
    let units: Vec<f64> = data.widths().into_iter().map(|unit| unit.unwrap_or(1.0)).collect();
    let scaled = |at: usize| data.rows.row(at).iter().zip(&units).map(|(x, unit)| x / unit);
    let values: Vec<f64> = ordinary.iter().flat_map(|&at| scaled(at)).collect();
    let sample = Reference::new(&Rows::new(&values, width).ok()?).ok()?;
    let PrincipalAxes { axes, shares } = PrincipalAxes::new(&sample).ok()?;
    let mean = sample.mean();
    let axis = |k: usize| {
        let place = |&at: &usize| {
            let terms = scaled(at).zip(&mean).zip(&axes[k]).map(|((x, mean), weight)| weight * (x - mean));
            terms.sum::<f64>()
        };
        let along = |rows: &[usize]| rows.iter().map(place).collect::<Vec<f64>>();
        let detail = format!("{} of the variance; mostly {}", percent(shares[k]), mainly(data, &axes[k]));
        let label = format!("principal axis {}", k + 1);
        MapAxis::new(label, &along(ordinary), &along(places)).with_detail(detail)
    };
    Some([axis(0), axis(1)])
}

/// The columns that a principal axis consists of, the largest share first.
fn mainly(data: Sample<'_>, weights: &[f64]) -> String {
    let columns = data.encoding.columns();
    let mut shares = vec![0.0; columns.len()];
    for group in data.encoding.layout().groups().iter().filter(|group| group.kind != GroupKind::Gap) {
        shares[group.column] += weights[group.range()].iter().map(|w| w * w).sum::<f64>();
    }
    let total: f64 = shares.iter().sum();
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]).then(a.cmp(&b)));
    let large = |(place, &column): (usize, &usize)| {
        (place == 0 || shares[column] >= MAINLY * total).then(|| columns[column].name())
    };
    let names: Vec<&str> = order.iter().enumerate().map_while(large).collect();
    listed(&names, 3)
}
