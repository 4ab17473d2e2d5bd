//! How it was computed, for readers and for an audit.

use super::Assembly;
use super::audit::audit;
use crate::report::text::count;
use crate::report::{Fact, Method};
use lossdepth::data::{Missing, ReferenceRows};

const DEPTH: &str = "The depth of a row is the risk that remains when the best classifier of a family is trained to tell it apart \
                     from the rows that it is compared with: large for central rows, close to 0 for odd ones.";

const AUTO: &str = "The method is auto, which needs no settings: the depth of a row combines how it stands among the rows that it is \
                    compared with by several measures, with kernels and with balls, in robust units and in ranks. It is large \
                    for central rows and close to 0 for odd ones.";

/// The section on the method.
pub(super) fn method(assembly: &Assembly<'_>) -> Method {
    let (settings, queries) = (assembly.model.settings(), assembly.queries);
    let mut sentences = Vec::new();
    if settings.method != lossdepth::Method::Auto {
        sentences.push(DEPTH.to_owned());
    }
    sentences.push(if settings.method == lossdepth::Method::Auto {
        AUTO.to_owned()
    } else {
        format!("The method is {}: {}.", settings.method, settings.method.summary())
    });
    if let (lossdepth::Method::Auto, ReferenceRows::Count(most)) = (settings.method, settings.reference_rows)
        && assembly.model.reference_len() > most
    {
        let (most, all) = (count(most as u64), count(assembly.model.reference_len() as u64));
        let of = if queries.own { "" } else { " of the reference" };
        sentences.push(format!("Each row is compared with {most} of the {all} rows{of}."));
    }
    sentences.extend(assembly.model.warning().map(|warning| format!("Note: {warning}.")));
    if queries.encoding.columns().iter().any(|column| column.gaps() > 0.0) || !queries.notes.is_empty() {
        sentences.extend(gaps(queries.encoding.missing()).map(str::to_owned));
    }
    sentences.push(
        if queries.own {
            "The p-value of a row is the share of the rows that are at most as deep, itself included."
        } else {
            "The p-value of a row is conformal: its rank among depths of reference rows that took no part in the fit."
        }
        .to_owned(),
    );
    sentences.push(
        "What a column contributes is its Shapley value for how odd the row is, in bits; what would make a row ordinary was \
         scored again and is deeper than a tenth of the reference."
            .to_owned(),
    );
    if assembly.found.unconverged > 0 {
        let (some, all) = (count(assembly.found.unconverged as u64), count(assembly.found.fits.len() as u64));
        sentences.push(format!(
            "{some} of {all} rows did not reach the tolerance; their errors say how far they are off."
        ));
    }
    let told = settings.relevant_values().into_iter();
    let settings = std::iter::once(Fact::new("method", settings.method.to_string()))
        .chain(told.map(|(name, value)| Fact::new(name.replace('_', " "), value.to_string())))
        .collect();
    Method { sentences, settings, audit: audit(assembly) }
}

fn gaps(missing: Missing) -> Option<&'static str> {
    match missing {
        Missing::Compare => Some("A gap takes the value of the most similar reference row that has one."),
        Missing::Drop => Some("Rows with a gap are left out."),
        Missing::Median => Some("A gap takes the median of its column, or its most frequent level."),
        Missing::Error => None,
    }
}
