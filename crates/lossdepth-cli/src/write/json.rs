//! A document: the settings, then the rows, one a line.

use super::{About, Export};
use crate::auc::Auc;
use crate::load::Part;
use lossdepth::Fit;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Debug, Default)]
pub(super) struct Document {
    started: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    row: Name<'a>,
    depth: f64,
    /// An unbounded error becomes `null`.
    error: f64,
    stderr: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Name<'a> {
    Id(&'a str),
    Number(usize),
}

impl Export for Document {
    fn begin(&mut self, out: &mut dyn Write, about: &About) -> io::Result<()> {
        let text = serde_json::to_string_pretty(about)?;
        // The object stays open for the rows.
        write!(out, "{},\n  \"rows\": [", text.trim_end_matches(['}', '\n']))
    }

    fn rows(&mut self, out: &mut dyn Write, part: &Part<'_>, fits: &[Fit]) -> io::Result<()> {
        for (i, fit) in fits.iter().enumerate() {
            let line = Line {
                row: part.ids.map_or(Name::Number(part.first + i), |ids| Name::Id(&ids[i])),
                depth: fit.depth,
                error: fit.error,
                stderr: fit.stderr,
                label: part.labels.map(|labels| labels[i].as_str()),
            };
            out.write_all(if std::mem::replace(&mut self.started, true) { b",\n    " } else { b"\n    " })?;
            serde_json::to_writer(&mut *out, &line)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write, auc: Option<&Auc>) -> io::Result<()> {
        out.write_all(if self.started { b"\n  ]" } else { b"]" })?;
        if let Some(auc) = auc {
            write!(out, ",\n  \"auc\": {}", serde_json::to_string(auc)?)?;
        }
        out.write_all(b"\n}\n")
    }
}
