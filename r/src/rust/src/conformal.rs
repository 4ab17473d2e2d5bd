//! p-values, percentiles and the depth below which rows are outliers.

use crate::convert::{count, number, numbers, text, threads};
use crate::failure::{Answer, given};
use crate::interrupt::interruptible;
use crate::model::Fitted;
use crate::table::{options, table};
use extendr_api::prelude::*;
use lossdepth::stats::conformal::{self, Conformal};
use lossdepth::{Rows, Run};

/// The conformal p-values of the rows of a table, calibrated on the reference; and which rows they belong to.
#[extendr]
#[expect(clippy::too_many_arguments, reason = "a call from R, where they have names")]
fn native_p_values(
    model: Robj,
    columns: Robj,
    missing: Robj,
    calibration: Robj,
    share: Robj,
    folds: Robj,
    seed: Robj,
    threads: Robj,
) -> Robj {
    given(p_values(&model, (&columns, &missing), (&calibration, &share, &folds, &seed), &threads))
}

fn p_values(
    model: &Robj,
    (columns, missing): (&Robj, &Robj),
    (calibration, share, folds, seed): (&Robj, &Robj, &Robj, &Robj),
    threads: &Robj,
) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let (queries, options) = (table(columns)?, options(&NULL.into(), missing, false)?);
    let (share, folds) = (number("share", share)?, count("folds", folds)?);
    let how = match Conformal::named(text("calibration", calibration)?, count("seed", seed)?)? {
        Conformal::Split { seed, .. } => Conformal::Split { share, seed },
        Conformal::Cross { seed, .. } => {
            Conformal::Cross { folds: usize::try_from(folds).unwrap_or(usize::MAX), seed }
        }
        other @ Conformal::LeaveOneOut => other,
    };
    let threads = self::threads(threads)?;
    let (p, rows) = interruptible(move |cancel| {
        let run = Run { threads, cancel: Some(cancel), depths_only: true, ..Run::default() };
        let failure = |error| fitted.failure(error);
        let (model, encoded) = (&fitted.model, fitted.encode(&queries, &options)?);
        let made = how.calibrate(model.settings(), model.reference(), &run).map_err(failure)?;
        let rows = Rows::new(&encoded.values, encoded.width).map_err(failure)?;
        let depths: Vec<f64> =
            model.score(rows, &run).map_err(failure)?.iter().map(|fit| fit.depth).collect();
        Ok((made.p_values(rows, &depths, &run).map_err(failure)?, encoded.rows))
    })?;
    let rows: Vec<f64> = rows.into_iter().map(|row| (row + 1) as f64).collect();
    Ok(list!(row = rows, p = p).into())
}

/// For rows that are their own reference, the share of the weight that is at most as deep.
#[extendr]
fn native_own_p_values(depths: Robj, weights: Robj) -> Robj {
    given(own_p_values(&depths, &weights))
}

fn own_p_values(depths: &Robj, weights: &Robj) -> Answer<Robj> {
    let (depths, weights) = (numbers("depths", depths)?.unwrap_or_default(), numbers("weights", weights)?);
    Ok(conformal::own_p_values(&depths, weights.as_deref())?.into())
}

/// The depth below which a share of the weight lies.
#[extendr]
fn native_threshold(depths: Robj, weights: Robj, contamination: Robj) -> Robj {
    given(threshold(&depths, &weights, &contamination))
}

fn threshold(depths: &Robj, weights: &Robj, contamination: &Robj) -> Answer<Robj> {
    let (depths, weights) = (numbers("depths", depths)?.unwrap_or_default(), numbers("weights", weights)?);
    Ok(conformal::threshold(&depths, weights.as_deref(), number("contamination", contamination)?)?.into())
}

extendr_module! {
    mod conformal;
    fn native_p_values;
    fn native_own_p_values;
    fn native_threshold;
}
