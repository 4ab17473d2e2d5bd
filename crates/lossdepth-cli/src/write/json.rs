//! A document: the settings, then the rows, one a line.

use super::{About, Export, Field, Values};
use crate::auc::Auc;
use serde::{Serialize, Serializer};
use std::io::{self, Write};

#[derive(Debug, Default)]
pub(super) struct Document {
    started: bool,
}

/// One row as an object; what is not a finite number becomes `null`.
struct Line<'a> {
    fields: &'a [Field],
    columns: &'a [Values<'a>],
    row: usize,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let columns = self.fields.iter().zip(self.columns);
        to.collect_map(columns.map(|(field, column)| (field.name.as_ref(), column.get(self.row))))
    }
}

impl Export for Document {
    fn begin(&mut self, out: &mut dyn Write, about: &About) -> io::Result<()> {
        let text = serde_json::to_string_pretty(about)?;
        // The object stays open for the rows.
        write!(out, "{},\n  \"rows\": [", text.trim_end_matches(['}', '\n']))
    }

    fn rows(&mut self, out: &mut dyn Write, about: &About, columns: &[Values<'_>]) -> io::Result<()> {
        for row in 0..columns.first().map_or(0, Values::len) {
            out.write_all(if std::mem::replace(&mut self.started, true) { b",\n    " } else { b"\n    " })?;
            serde_json::to_writer(&mut *out, &Line { fields: &about.fields, columns, row })?;
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
