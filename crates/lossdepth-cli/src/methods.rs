//! `lossdepth methods`: what there is to choose from.

use crate::error::{Error, Result};
use crate::run::Outcome;
use lossdepth::{Intercept, Method, Scale, Settings, Variant};
use std::io::{Write, stdout};

pub(crate) fn list() -> Result<Outcome> {
    let failed = |source| Error::Output { file: "standard output".into(), source };
    let mut out = stdout().lock();
    out.write_all(page().as_bytes()).and_then(|()| out.flush()).map_err(failed)?;
    Ok(Outcome::Done)
}

fn page() -> String {
    let summaries = Method::ALL.map(|method| vec![method.name().to_owned(), method.summary().to_owned()]);
    let heads = ["method", "reg", "variant", "intercept", "scale", "support-fraction", "tol", "max-iter"];
    let defaults = Method::ALL.map(|method| {
        let Settings { reg, variant, intercept, scale, support_fraction, tol, max_iter, .. } =
            Settings::new(method);
        vec![
            method.name().to_owned(),
            reg.to_string(),
            variant.name().to_owned(),
            intercept.to_string(),
            scale.to_string(),
            support_fraction.to_string(),
            format!("{tol:e}"),
            max_iter.to_string(),
        ]
    });
    let meanings = [
        ("reg", "the weight of the penalty ‖w‖², above 0".to_owned()),
        ("variant", Variant::NAMES.join(", ") + " (at most `--radius` for ‖w‖)"),
        ("intercept", Intercept::ALL.map(Intercept::name).join(", ")),
        ("scale", Scale::ALL.map(Scale::name).join(", ")),
        ("support-fraction", "the share of the rows that the scaling `mcd` trusts, 0.5 to 1".to_owned()),
        ("tol", "the largest proven error to accept".to_owned()),
        ("max-iter", "how many iterations a row gets".to_owned()),
    ];
    let meanings: Vec<_> = meanings.into_iter().map(|(name, text)| vec![name.to_owned(), text]).collect();
    let defaults: Vec<_> = std::iter::once(heads.map(str::to_owned).to_vec()).chain(defaults).collect();
    format!(
        "Methods\n\n{}\nDefaults\n\n{}\nSettings\n\n{}",
        table(&summaries),
        table(&defaults),
        table(&meanings)
    )
}

/// Aligned columns, indented.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}
