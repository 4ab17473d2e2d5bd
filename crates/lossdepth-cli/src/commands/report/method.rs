//! How it was computed, for readers and for an audit.

use super::file_name;
use super::fill::Filling;
use lossdepth::data::Missing;
use lossdepth_plot::report::{Fact, Method};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::Path;

const DEPTH: &str = "The depth of a row is the risk that remains when the best classifier of a family is trained to tell it apart \
                     from the rows that it is compared with: large for central rows, close to 0 for odd ones.";

/// The section on the method.
pub(super) fn method(filling: &Filling<'_>) -> Method {
    let (settings, inputs) = (filling.model.settings(), filling.inputs);
    let mut sentences = Vec::new();
    // `auto` combines depths of several kinds; its summary says so.
    if settings.method != lossdepth::Method::Auto {
        sentences.push(DEPTH.to_owned());
    }
    sentences.push(format!("The method is {}: {}.", settings.method, settings.method.summary()));
    sentences.extend(filling.model.warning().map(|warning| format!("Note: {warning}.")));
    if inputs.encoding.columns().iter().any(|column| column.gaps() > 0.0)
        || !inputs.data.block.notes.is_empty()
    {
        sentences.extend(gaps(inputs.encoding.missing()).map(str::to_owned));
    }
    sentences.push(
        if inputs.is_its_own_reference() {
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
    if filling.found.unconverged > 0 {
        let (some, all) = (filling.found.unconverged, filling.found.fits.len());
        sentences.push(format!(
            "{some} of {all} rows did not reach the tolerance; their errors say how far they are off."
        ));
    }
    let told = crate::commands::told(settings).into_iter();
    let settings = std::iter::once(Fact::new("method", settings.method.to_string()))
        .chain(told.map(|(name, value)| Fact::new(name.replace('_', " "), value.to_string())))
        .collect();
    Method { sentences, settings, audit: audit(filling) }
}

fn gaps(missing: Missing) -> Option<&'static str> {
    match missing {
        Missing::Compare => Some("A gap takes the value of the most similar reference row that has one."),
        Missing::Drop => Some("Rows with a gap are left out."),
        Missing::Median => Some("A gap takes the median of its column, or its most frequent level."),
        Missing::Error => None,
    }
}

/// What is needed to repeat it.
fn audit(filling: &Filling<'_>) -> Vec<Fact> {
    let against = &filling.args.against;
    let files = [Some(&filling.args.data), against.reference.as_ref(), against.model.as_ref()];
    let mut facts = vec![Fact::new("lossdepth", env!("CARGO_PKG_VERSION"))];
    for path in files.into_iter().flatten() {
        if let Some(sum) = checksum(path) {
            facts.push(Fact::new(format!("SHA-256 of {}", file_name(path)), sum));
        }
    }
    facts
}

/// Of a regular file; others cannot be read twice.
fn checksum(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    let mut hash = Writer(Sha256::new());
    io::copy(&mut file, &mut hash).ok()?;
    Some(hash.0.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Takes what is written into a sum.
struct Writer(Sha256);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
