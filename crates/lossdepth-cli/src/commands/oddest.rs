//! What `outliers` and `report` share: the oddest rows of a table, and how finding them ended.

use super::Outcome;
use super::inputs::Inputs;
use crate::args::{Against, Running};
use crate::console::{self, Progress};
use crate::error::{Error, Result};
use lossdepth::outliers::{OutlierOptions, Outliers, Queries};
use lossdepth::{Model, Run};
use std::path::{Path, PathBuf};

/// Scores all rows and explains the oddest.
pub(super) fn find(
    inputs: &Inputs,
    model: &Model,
    options: &OutlierOptions,
    running: Running,
) -> Result<Outliers> {
    let progress = Progress::new(running.quiet, Some(inputs.data.part()?.rows.len()));
    let advance = |rows| progress.advance(rows);
    let run = Run { threads: running.threads.map(usize::from), progress: Some(&advance), ..Run::default() };
    let found = Outliers::find(model, queries(inputs)?, options, &run);
    drop(progress);
    found.map_err(|error| inputs.locate(error))
}

pub(super) fn queries(inputs: &Inputs) -> Result<Queries<'_>> {
    let (block, part) = (&inputs.data.block, inputs.data.part()?);
    let own = inputs.is_its_own_reference();
    let Some(table) = block.typed() else {
        return Err(Error::Usage("the columns of the table were not kept".to_owned()));
    };
    Ok(Queries {
        table,
        encoding: &inputs.encoding,
        rows: part.rows,
        numbers: part.numbers,
        notes: &block.notes,
        names: part.ids,
        weights: block.weights().filter(|_| own),
        own,
    })
}

/// Warns of rows that missed the tolerance.
pub(super) fn outcome(found: &Outliers) -> Outcome {
    if found.unconverged == 0 {
        return Outcome::Done;
    }
    console::warning(format_args!(
        "{} of {} rows did not reach the tolerance",
        found.unconverged,
        found.fits.len()
    ));
    Outcome::NotConverged
}

/// Refuses to write over what is read, by whatever name.
pub(super) fn refuse_input(path: &Path, data: &PathBuf, against: &Against) -> Result<()> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let same = |other: &PathBuf| path == other || real(path).is_some_and(|path| Some(path) == real(other));
    if ![Some(data), against.reference.as_ref(), against.model.as_ref()].into_iter().flatten().any(same) {
        return Ok(());
    }
    let path = path.display();
    Err(Error::Usage(format!("{path}: cannot be read and written at once; --out needs another name")))
}
