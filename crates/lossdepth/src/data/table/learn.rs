//! What is learned about one column of a table.

use super::boolean::truth_names;
use super::cells::{self, Cell, Named};
use super::column::{Content, EncodedColumn};
use super::encoding::quoted;
use super::guess::Plan;
use super::kind::ColumnKind;
use super::levels::Levels;
use super::number::NumberForm;
use super::part::Origin;
use super::quantiles::Quantiles;
use super::{Column, Texts, Values};
use crate::error::{DepthError, Result};
use std::collections::HashMap;

/// How many observations each row stands for: whole weights as they are, others so that the mean of the positive ones
/// is 1.
pub(super) fn observations(rows: usize, weights: Option<&[f64]>) -> Result<Vec<f64>> {
    if rows == 0 {
        return Err(DepthError::Table("the table has no rows".to_owned()));
    }
    let Some(weights) = weights else { return Ok(vec![1.0; rows]) };
    if weights.len() != rows {
        return Err(DepthError::WeightCount { expected: rows, got: weights.len() });
    }
    if let Some(row) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
        return Err(DepthError::Weight { row, value: weights[row] });
    }
    let positive = weights.iter().filter(|w| **w > 0.0).count();
    if positive == 0 {
        return Err(DepthError::TooFewRows { expected: 2, got: 0 });
    }
    if weights.iter().all(|w| w.fract() == 0.0 && *w < 1e15) {
        return Ok(weights.to_vec());
    }
    let largest = weights.iter().fold(0.0f64, |m, w| m.max(*w));
    let total: f64 = weights.iter().map(|w| w / largest).sum();
    Ok(weights.iter().map(|w| w / largest / total * positive as f64).collect())
}

/// What is known about a column that is to be read so; `None` if it has no values.
///
/// # Errors
/// What is wrong with it.
pub(super) fn learn_column(
    column: &Column,
    plan: &Plan,
    weights: &[f64],
    gap_words: &[String],
) -> Result<Option<EncodedColumn>, String> {
    if let Some(problem) = not_finite(column) {
        return Err(problem);
    }
    let found = match plan.kind {
        ColumnKind::Number | ColumnKind::Time => numbers(column, plan, weights, gap_words)?,
        _ => levels(column, plan, weights, gap_words),
    };
    let observations: f64 = weights.iter().sum();
    let learned = |(content, present): (Content, f64)| EncodedColumn {
        name: plan.part.as_ref().map_or_else(|| column.name.clone(), |part| part.name(&column.name)),
        origin: plan.part.clone().map(|part| Origin { column: column.name.clone(), part }),
        kind: plan.kind,
        observations,
        // Sums of weights in another order may differ by rounding.
        gaps: if present >= observations * (1.0 - 1e-12) { 0.0 } else { observations - present },
        content,
    };
    Ok(found.map(learned))
}

fn numbers(
    column: &Column,
    plan: &Plan,
    weights: &[f64],
    gap_words: &[String],
) -> Result<Option<(Content, f64)>, String> {
    let cells = if plan.kind == ColumnKind::Number {
        cells::numbers(column, &plan.number, plan.part.as_ref(), gap_words)
    } else {
        cells::times(column, plan.date, gap_words)
    };
    let cannot = |held: &str| {
        format!("column {} holds {held}, which are not {}", quoted(&column.name), plan.kind.plural())
    };
    let cells = cells.ok_or_else(|| cannot(cells::held(column)))?;
    let mut values: Vec<(f64, f64)> = Vec::with_capacity(weights.len());
    let mut unread = None;
    for (row, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        match cells.get(row) {
            Cell::Number(value) => values.push((value, weight)),
            Cell::Unread => unread = unread.or(Some(row)),
            _ => {}
        }
    }
    if let Some(row) = unread.filter(|_| values.is_empty()) {
        let text = quoted(&cells::text_of(column, row));
        return Err(cannot(&format!("texts such as {text} in row {row}")));
    }
    let present: f64 = values.iter().map(|(_, weight)| weight).sum();
    let whole = values.iter().all(|(value, _)| value.fract() == 0.0);
    let Some(quantiles) = Quantiles::of(values) else { return Ok(None) };
    let content = match plan.kind {
        ColumnKind::Time => Content::Time { quantiles, time_of_day: !whole, form: plan.date },
        _ if matches!(column.values, Values::Texts(_)) || plan.number.duration => {
            Content::Number { quantiles, whole, form: plan.number.clone() }
        }
        _ => {
            let gaps = plan.number.gaps.clone();
            let form = NumberForm { gaps, ..NumberForm::of_values(&quantiles, whole) };
            Content::Number { quantiles, whole, form }
        }
    };
    Ok(Some((content, present)))
}

fn levels(column: &Column, plan: &Plan, weights: &[f64], gap_words: &[String]) -> Option<(Content, f64)> {
    let truth = (plan.kind == ColumnKind::Boolean).then(|| truth_names(column, weights, gap_words));
    let Named { codes, names } = cells::names(column, truth.as_ref(), plan.part.as_ref(), gap_words);
    let mut sums = vec![0.0; names.len()];
    for (&code, weight) in codes.iter().zip(weights).filter(|(code, _)| **code != Texts::GAP) {
        sums[code as usize] += weight;
    }
    let mut counts: HashMap<&str, f64> = HashMap::new();
    let mut present = 0.0;
    for (name, sum) in names.iter().zip(&sums).filter(|(_, sum)| **sum > 0.0) {
        if let Some(name) = name {
            *counts.entry(name).or_default() += sum;
            present += sum;
        }
    }
    if counts.is_empty() {
        return None;
    }
    Some((Content::Levels { levels: Levels::learn(counts.into_iter().collect()), truth }, present))
}

/// The first number of a column that is infinite or too large.
pub(super) fn not_finite(column: &Column) -> Option<String> {
    let (Values::Numbers(values) | Values::Times(values)) = &column.values else { return None };
    let row = values.iter().position(|value| value.abs() > 1e100)?;
    let (name, value) = (quoted(&column.name), values[row]);
    Some(if value.is_finite() {
        format!("column {name}, row {row} is too large to work with: |{value:e}| > 1e100")
    } else {
        format!("column {name}, row {row} is not finite ({value})")
    })
}
