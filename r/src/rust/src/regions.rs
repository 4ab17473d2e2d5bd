//! Regions of the halfspace depth in the plane, and what a bagplot shows.

use crate::failure::{Answer, given};
use crate::interrupt::interruptible;
use crate::model::Fitted;
use extendr_api::prelude::*;
use lossdepth::methods::halfspace::Regions;

/// The vertices of the regions of at least these depths: for each, the coordinates of one vertex after the other.
#[extendr]
fn native_regions(model: Robj, depths: Vec<f64>) -> Robj {
    given(contours(&model, depths))
}

fn contours(model: &Robj, depths: Vec<f64>) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let found = interruptible(move |_| {
        let contours = Regions::new(fitted.model.reference()).and_then(|regions| {
            depths.iter().map(|depth| regions.contour(*depth)).collect::<Result<Vec<_>, _>>()
        });
        contours.map_err(|error| fitted.failure(error))
    })?;
    Ok(List::from_values(found.iter().map(|contour| contour.vertices.concat())).into())
}

/// The parts of a bagplot; rows count from 1.
#[extendr]
fn native_bagplot(model: Robj, factor: f64) -> Robj {
    given(bagplot(&model, factor))
}

fn bagplot(model: &Robj, factor: f64) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let names = fitted.names();
    let (found, rows) = interruptible(move |_| {
        let sample = fitted.model.reference();
        let found = Regions::new(sample).and_then(|regions| regions.bagplot(factor));
        let rows: Vec<f64> = sample.rows().iter().flatten().copied().collect();
        found.map(|found| (found, rows)).map_err(|error| fitted.failure(error))
    })?;
    Ok(list!(
        median = found.median.point.to_vec(),
        depth = found.median.depth,
        bag = found.bag.concat(),
        fence = found.fence.concat(),
        hull = found.hull.concat(),
        outliers = found.outliers.iter().map(|row| (row + 1) as f64).collect::<Vec<f64>>(),
        depths = found.depths,
        rows = rows,
        names = names
    )
    .into())
}

extendr_module! {
    mod regions;
    fn native_regions;
    fn native_bagplot;
}
