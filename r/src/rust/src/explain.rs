//! The classifier behind a depth, in terms of the columns of the table.

use crate::convert::threads;
use crate::failure::{Answer, given};
use crate::interrupt::interruptible;
use crate::model::{Fitted, scores};
use crate::table::{options, origins, table};
use extendr_api::prelude::*;
use lossdepth::data::GroupKind;
use lossdepth::methods::explanation::{Cut, Part};
use lossdepth::{Explanation, Fit, Rows, Run};

/// The scores of each row of a table, and what its classifier is made of; tables row by row, `NULL` where the method has
/// none.
#[extendr]
fn native_explain(model: Robj, columns: Robj, missing: Robj, threads: Robj) -> Robj {
    given(explain(&model, &columns, &missing, &threads))
}

fn explain(model: &Robj, columns: &Robj, missing: &Robj, threads: &Robj) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let (queries, options) = (table(columns)?, options(&NULL.into(), missing, false)?);
    let threads = self::threads(threads)?;
    let shared = fitted.clone();
    let (found, rows) = interruptible(move |cancel| {
        let run = Run { threads, cancel: Some(cancel), ..Run::default() };
        let failure = |error| fitted.failure(error);
        let encoded = fitted.encode(&queries, &options)?;
        let rows = Rows::new(&encoded.values, encoded.width).map_err(failure)?;
        Ok((fitted.model.explain(rows, &run).map_err(failure)?, encoded.rows))
    })?;
    let fits: Vec<Fit> = found.iter().map(|e| e.fit).collect();
    Ok(list!(
        scores = scores(&fits, &rows),
        names = shared.names(),
        value = found.iter().map(|e| e.value).collect::<Vec<f64>>(),
        baseline = found.iter().map(|e| e.baseline).collect::<Vec<f64>>(),
        slopes = all(&found, |e| slopes(&shared, e)),
        contributions = all(&found, |e| contributions(&shared, e)),
        influence = all(&found, |e| e.influence.clone()),
        witness = all(&found, |e| e.witness().map(<[f64]>::to_vec)),
        cuts = List::from_values(found.iter().map(|e| cuts(&shared, e.cuts().unwrap_or_default()))),
        parts = List::from_values(found.iter().map(|e| parts(e.parts().unwrap_or_default())))
    )
    .into())
}

/// The rows that have such numbers one after the other; `NULL` if not all have them.
fn all(found: &[Explanation], numbers: impl Fn(&Explanation) -> Option<Vec<f64>>) -> Robj {
    let all: Option<Vec<Vec<f64>>> = found.iter().map(numbers).collect();
    all.filter(|all| !all.is_empty()).map_or_else(|| NULL.into(), |all| all.concat().into())
}

/// The slope of the classifier along each column; not a number for a category, which has none.
fn slopes(fitted: &Fitted, explanation: &Explanation) -> Option<Vec<f64>> {
    let gradient = explanation.gradient()?;
    let Some(encoding) = fitted.model.encoding() else { return Some(gradient.to_vec()) };
    let mut slopes = vec![f64::NAN; encoding.columns().len()];
    for ((column, kind), slope) in origins(encoding).into_iter().zip(gradient) {
        if kind == GroupKind::Number {
            slopes[column] = *slope;
        }
    }
    Some(slopes)
}

fn contributions(fitted: &Fitted, explanation: &Explanation) -> Option<Vec<f64>> {
    match fitted.model.encoding() {
        None => explanation.contributions().map(<[f64]>::to_vec),
        Some(encoding) => explanation.by_column(encoding.layout()).map(|by_column| by_column.contributions),
    }
}

/// The sides of the boxes that trees make around a row.
fn cuts(fitted: &Fitted, cuts: &[Cut]) -> List {
    let (names, origins) = (fitted.names(), fitted.model.encoding().map(origins));
    let origin = |cut: &Cut| match &origins {
        Some(origins) => origins[cut.feature],
        None => (cut.feature, GroupKind::Number),
    };
    let side = |cut: &Cut| match origin(cut).1 {
        GroupKind::Category => "level",
        GroupKind::Gap => "gap",
        GroupKind::Number if cut.above => "above",
        GroupKind::Number => "below",
    };
    let threshold = |cut: &Cut| if origin(cut).1 == GroupKind::Number { cut.threshold } else { f64::NAN };
    list!(
        column = cuts.iter().map(|cut| names[origin(cut).0].clone()).collect::<Vec<String>>(),
        side = cuts.iter().map(side).collect::<Vec<&str>>(),
        threshold = cuts.iter().map(threshold).collect::<Vec<f64>>(),
        probability = cuts.iter().map(|cut| cut.probability).collect::<Vec<f64>>(),
        share = cuts.iter().map(|cut| cut.share).collect::<Vec<f64>>()
    )
}

/// The depths that a combined one is made of.
fn parts(parts: &[Part]) -> List {
    list!(
        part = parts.iter().map(|part| part.name).collect::<Vec<&str>>(),
        probability = parts.iter().map(|part| part.probability).collect::<Vec<f64>>(),
        weight = parts.iter().map(|part| part.weight).collect::<Vec<f64>>()
    )
}

extendr_module! {
    mod explain;
    fn native_explain;
}
