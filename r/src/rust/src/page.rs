//! Pages about the oddest rows, for `report`.

use crate::convert::{count, numbers, text, texts, threads};
use crate::failure::{Answer, given};
use crate::interrupt::interruptible;
use crate::model::Fitted;
use crate::table::{options, table};
use extendr_api::prelude::*;
use lossdepth::Run;
use lossdepth::outliers::{OutlierOptions, Outliers, Queries};
use lossdepth_plot::report::{Assembly, ComparedWith, ReferenceTable};

/// A page about the oddest rows of a table: `reference` is the table that the model was fitted to where that is another
/// one and known, `about` a list of name, reference name, number of columns of the reference, title, masked columns and names
/// of the rows.
#[extendr]
#[expect(clippy::too_many_arguments, reason = "a call from R, where they have names")]
fn native_report(
    model: Robj,
    columns: Robj,
    reference: Robj,
    missing: Robj,
    own: bool,
    weights: Robj,
    top: Robj,
    threads: Robj,
    about: Robj,
) -> Robj {
    given(report(&model, (&columns, &reference, &missing), (own, &weights), &top, &threads, &about))
}

fn report(
    model: &Robj,
    (columns, reference, missing): (&Robj, &Robj, &Robj),
    (own, weights): (bool, &Robj),
    top: &Robj,
    threads: &Robj,
    about: &Robj,
) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let (table, options) = (self::table(columns)?, options(&NULL.into(), missing, false)?);
    let reference = if reference.is_null() { None } else { Some(self::table(reference)?) };
    let weights = numbers("weights", weights)?;
    let top = usize::try_from(count("top", top)?).unwrap_or(usize::MAX);
    let (asked, threads) = (OutlierOptions { top, ..OutlierOptions::default() }, self::threads(threads)?);
    let part = |name: &str| about.dollar(name).unwrap_or_else(|_| NULL.into());
    let (name, reference_name) =
        (text("name", &part("name"))?, text("reference_name", &part("reference_name"))?);
    let reference_columns = usize::try_from(count("columns", &part("columns"))?).unwrap_or(0);
    let title = Some(part("title")).filter(|title| !title.is_null());
    let title = title.map(|title| text("title", &title)).transpose()?;
    let masked = texts("mask", &part("mask"))?;
    let row_names = Some(part("row_names")).filter(|names| !names.is_null());
    let row_names = row_names.map(|names| texts("row_names", &names)).transpose()?;
    let (html, rows, unconverged) = interruptible(move |cancel| {
        let failure = |error| fitted.failure(error);
        let (encoding, encoded) = (fitted.encoding(&options)?, fitted.encode(&table, &options)?);
        let learned = reference.as_ref().map(|reference| fitted.encode(reference, &options)).transpose()?;
        let weights =
            weights.map(|weights| encoded.rows.iter().map(|&row| weights[row]).collect::<Vec<f64>>());
        // The rows that a model was fitted to are ranked among themselves.
        let own = own || encoded.values == fitted.model.reference().rows().as_slice();
        let queries = Queries::new(&table, encoding, &encoded, own).map_err(failure)?;
        let weights = weights.as_deref().or_else(|| fitted.model.reference().given_weights());
        // A column that names the rows says more than row names.
        let names = row_names.filter(|_| encoding.id().is_none());
        let names: Option<Vec<String>> = names.map(|names| {
            encoded.rows.iter().map(|&row| names.get(row).cloned().unwrap_or_default()).collect()
        });
        let queries = Queries { weights: weights.filter(|_| own), ..queries };
        let run = Run { threads, cancel: Some(cancel), ..Run::default() };
        let found = Outliers::find(&fitted.model, queries, &asked, &run).map_err(failure)?;
        let queries = Queries { names: names.as_deref(), ..queries };
        let with = ComparedWith {
            name: reference_name,
            columns: reference_columns,
            table: learned.as_ref().map(|l| ReferenceTable { numbers: &l.rows, notes: &l.notes }),
        };
        let assembly = Assembly {
            model: &fitted.model,
            queries,
            found: &found,
            name,
            columns: table.columns().len(),
            reference: (!own).then_some(with),
            title,
            masked: &masked,
            id: None,
            audit: &[],
            notes: &[],
        };
        let page = assembly.page().map_err(failure)?;
        Ok((page.to_html(), found.fits.len(), found.unconverged))
    })?;
    Ok(list!(html = html, rows = rows as f64, unconverged = unconverged as f64).into())
}

extendr_module! {
    mod page;
    fn native_report;
}
