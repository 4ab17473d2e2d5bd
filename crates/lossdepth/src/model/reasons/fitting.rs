//! Which values of a column would fit the rest of the row, (E9).

use super::search::{Ground, Repair};
use crate::error::Result;

/// How much less ordinary than the best value the ends of the range may be, in bits (heuristic).
const SLACK: f64 = 1.0;
/// How many values a section of the range tries.
const POINTS: usize = 6;
/// How many sections there are, and how many at most while an end has not moved: a relation may fix a value closely.
const SECTIONS: usize = 2;
const MOST_SECTIONS: usize = 5;

/// The value of a column that would fit the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// The value in the encoded columns of the original column.
    pub encoded: Vec<f64>,
    /// The value, if the column is a number.
    pub number: Option<f64>,
    /// Around it, the numbers that are ordinary to within one bit of outlyingness; ends within the range of the reference.
    pub range: Option<(f64, f64)>,
    /// The other columns that the value depends on, the strongest first; none if it depends on no other.
    pub determined_by: Vec<usize>,
}

/// The value that column `j` has in the repair, with the range around it.
pub(super) fn fitting(ground: &Ground<'_>, repair: &Repair, j: usize) -> Result<Fitting> {
    let column = &ground.columns[j];
    let encoded = column.take(&repair.row);
    let determined_by = ground.dependence.of(j);
    let Some(at) = column.number else {
        return Ok(Fitting { encoded, number: None, range: None, determined_by });
    };
    let value = repair.row[at];
    let numbers = || ground.ordinary.iter().map(|&i| ground.pool.rows().row(i)[at]);
    let (lowest, highest) = (numbers().fold(value, f64::min), numbers().fold(value, f64::max));
    let limit = repair.bits + SLACK;
    let mut ends = [(value, lowest), (value, highest)];
    for section in 0..MOST_SECTIONS {
        if section >= SECTIONS && ends.iter().all(|(inside, _)| *inside != value) {
            break;
        }
        let mut data = Vec::new();
        for (inside, outside) in ends {
            for k in 1..=POINTS {
                let start = data.len();
                data.extend_from_slice(&repair.row);
                data[start + at] = inside + k as f64 / POINTS as f64 * (outside - inside);
            }
        }
        let depths = ground.depths(&data)?;
        for (end, depths) in ends.iter_mut().zip(depths.chunks_exact(POINTS)) {
            let (inside, outside) = *end;
            let fits = depths.iter().take_while(|depth| ground.scale.bits(**depth) <= limit).count();
            let point = |k: usize| inside + k as f64 / POINTS as f64 * (outside - inside);
            *end = (point(fits), point((fits + 1).min(POINTS)));
        }
    }
    Ok(Fitting { encoded, number: Some(value), range: Some((ends[0].0, ends[1].0)), determined_by })
}
