//! The oddest rows of a table, for `outliers`.

use crate::convert::{count, numbers, threads};
use crate::failure::{Answer, given};
use crate::interrupt::interruptible;
use crate::model::Fitted;
use crate::table::{options, table};
use extendr_api::prelude::*;
use lossdepth::Run;
use lossdepth::outliers::{Change, Outlier, OutlierOptions, Outliers, Queries, WordedReason};

/// The oddest rows of a table; `own` if the model was fitted to it.
#[extendr]
#[expect(clippy::too_many_arguments, reason = "a call from R, where they have names")]
fn native_outliers(
    model: Robj,
    columns: Robj,
    missing: Robj,
    own: bool,
    weights: Robj,
    top: Robj,
    reasons: Robj,
    threads: Robj,
) -> Robj {
    given(outliers(&model, (&columns, &missing), (own, &weights), (&top, &reasons), &threads))
}

fn outliers(
    model: &Robj,
    (columns, missing): (&Robj, &Robj),
    (own, weights): (bool, &Robj),
    (top, reasons): (&Robj, &Robj),
    threads: &Robj,
) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let (table, options) = (table(columns)?, options(&NULL.into(), missing, false)?);
    let weights = numbers("weights", weights)?;
    let counted = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let (top, reasons) = (counted(count("top", top)?), counted(count("reasons", reasons)?));
    let asked = OutlierOptions { top, reasons, ..OutlierOptions::default() };
    let threads = self::threads(threads)?;
    let found = interruptible(move |cancel| {
        let failure = |error| fitted.failure(error);
        let (encoding, encoded) = (fitted.encoding(&options)?, fitted.encode(&table, &options)?);
        let weights =
            weights.map(|weights| encoded.rows.iter().map(|&row| weights[row]).collect::<Vec<f64>>());
        let queries = Queries::new(&table, encoding, &encoded, own).map_err(failure)?;
        let queries = Queries { weights: weights.as_deref().filter(|_| own), ..queries };
        let run = Run { threads, cancel: Some(cancel), ..Run::default() };
        Outliers::find(&fitted.model, queries, &asked, &run).map_err(failure)
    })?;
    let each = found.found.iter();
    let column = |value: fn(&Outlier) -> f64| each.clone().map(value).collect::<Vec<f64>>();
    let named = each.clone().map(|row| row.name.as_deref().map_or_else(Rstr::na, Rstr::from));
    Ok(list!(
        rows = found.fits.len() as f64,
        unconverged = found.unconverged as f64,
        row = column(|row| (row.row + 1) as f64),
        name = Strings::from_values(named),
        depth = column(|row| row.fit.depth),
        error = column(|row| row.fit.error),
        p = column(|row| row.p),
        percentile = column(|row| row.percentile),
        reasons = List::from_values(each.clone().map(|row| reasons_of(&row.reasons))),
        changes = List::from_values(each.map(|row| changes_of(&row.changes)))
    )
    .into())
}

fn reasons_of(reasons: &[WordedReason]) -> List {
    let column = |value: fn(&WordedReason) -> &str| reasons.iter().map(value).collect::<Vec<&str>>();
    list!(
        column = column(|reason| &reason.name),
        value = column(|reason| &reason.value),
        text = column(|reason| &reason.text),
        share = reasons.iter().map(|reason| reason.share).collect::<Vec<f64>>()
    )
}

fn changes_of(changes: &[Change]) -> List {
    let column = |value: fn(&Change) -> &str| changes.iter().map(value).collect::<Vec<&str>>();
    list!(
        column = column(|change| &change.name),
        from = column(|change| &change.from),
        to = column(|change| &change.to)
    )
}

extendr_module! {
    mod odd_rows;
    fn native_outliers;
}
