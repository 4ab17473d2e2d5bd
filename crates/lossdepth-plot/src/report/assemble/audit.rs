//! What is needed to tell whether another run saw the same data and the same model.

use super::Assembly;
use crate::report::Fact;
use lossdepth::Rows;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Versions and checksums; what the caller knows about files comes last.
pub(super) fn audit(assembly: &Assembly<'_>) -> Vec<Fact> {
    let mut facts = vec![Fact::new("lossdepth", env!("CARGO_PKG_VERSION"))];
    facts.push(Fact::new(
        "SHA-256 of the rows as compared",
        hex(hash_rows(Sha256::new(), assembly.queries.rows)),
    ));
    facts.push(Fact::new("SHA-256 of the model", hex(model(assembly))));
    facts.extend(assembly.audit.iter().cloned());
    facts
}

/// Of the method and its settings, a line each; then of the reference rows and their weights.
fn model(assembly: &Assembly<'_>) -> Sha256 {
    let (settings, sample) = (assembly.model.settings(), assembly.model.reference());
    let mut hash = Sha256::new();
    hash.update(format!("method {}\n", settings.method));
    for (name, value) in settings.relevant_values() {
        hash.update(format!("{name} {value}\n"));
    }
    let hash = hash_rows(hash, sample.rows());
    hash_numbers(hash, sample.given_weights().unwrap_or_default())
}

fn hash_rows(hash: Sha256, rows: Rows<'_>) -> Sha256 {
    hash_numbers(hash, rows.as_slice())
}

/// As little-endian doubles.
fn hash_numbers(mut hash: Sha256, numbers: &[f64]) -> Sha256 {
    let mut bytes = Vec::with_capacity(8 * 1024);
    for part in numbers.chunks(1024) {
        bytes.clear();
        bytes.extend(part.iter().flat_map(|number| number.to_le_bytes()));
        hash.update(&bytes);
    }
    hash
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
