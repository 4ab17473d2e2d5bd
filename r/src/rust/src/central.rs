//! Deepest points and central regions.

use crate::convert::threads;
use crate::failure::{Answer, given};
use crate::interrupt::interruptible;
use crate::model::Fitted;
use extendr_api::prelude::*;
use lossdepth::Run;
use lossdepth::stats::central;

/// The deepest point; rows count from 1.
#[extendr]
fn native_deepest_point(model: Robj, threads: Robj) -> Robj {
    given(deepest_point(&model, &threads))
}

fn deepest_point(model: &Robj, threads: &Robj) -> Answer<Robj> {
    let (fitted, threads) = (Fitted::of(model)?, self::threads(threads)?);
    let names = fitted.names();
    let found = interruptible(move |cancel| {
        let run = Run { threads, cancel: Some(cancel), ..Run::default() };
        central::deepest(&fitted.model, &run).map_err(|error| fitted.failure(error))
    })?;
    Ok(list!(
        point = found.point,
        depth = found.depth,
        upper = found.upper,
        found = found.found.name(),
        row = (found.row + 1) as f64,
        row_depth = found.row_depth,
        names = names
    )
    .into())
}

/// The deepest rows and their mean; rows count from 1.
#[extendr]
fn native_central_region(model: Robj, share: f64, threads: Robj) -> Robj {
    given(central_region(&model, share, &threads))
}

fn central_region(model: &Robj, share: f64, threads: &Robj) -> Answer<Robj> {
    let (fitted, threads) = (Fitted::of(model)?, self::threads(threads)?);
    let names = fitted.names();
    let found = interruptible(move |cancel| {
        let run = Run { threads, cancel: Some(cancel), ..Run::default() };
        central::central_region(&fitted.model, share, &run).map_err(|error| fitted.failure(error))
    })?;
    Ok(list!(
        depth = found.depth,
        rows = found.rows.iter().map(|row| (row + 1) as f64).collect::<Vec<f64>>(),
        share = found.mass,
        mean = found.mean,
        names = names
    )
    .into())
}

extendr_module! {
    mod central;
    fn native_deepest_point;
    fn native_central_region;
}
