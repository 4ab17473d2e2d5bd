//! Typed columns: Parquet and Arrow. What the scores are scores of is in the metadata, as JSON, under `lossdepth`.

use super::{About, Export, Field, Kind, Values};
use crate::auc::Auc;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows in a group: few enough to be held in memory, enough to be read fast.
const GROUP: usize = 1 << 17;

/// What the writers of these formats have ready. They keep their sink, and ours is lent to us call by call.
#[derive(Debug, Clone, Default)]
pub(super) struct Ready(Arc<Mutex<Vec<u8>>>);

impl Ready {
    fn hand_over(&self, out: &mut dyn Write) -> io::Result<()> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        out.write_all(&bytes)
    }
}

impl Write for Ready {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A format that takes batches.
pub(super) trait Batches: Sized {
    fn begin(ready: Ready, schema: &SchemaRef, about: &str) -> io::Result<Self>;
    fn write(&mut self, batch: &RecordBatch) -> io::Result<()>;
    fn end(self) -> io::Result<()>;
}

pub(super) type ParquetFile = File<ArrowWriter<Ready>>;
pub(super) type ArrowFile = File<FileWriter<Ready>>;

/// A file of typed columns.
pub(super) struct File<B> {
    ready: Ready,
    writer: Option<(SchemaRef, B)>,
}

impl<B> Default for File<B> {
    fn default() -> Self {
        Self { ready: Ready::default(), writer: None }
    }
}

impl<B: Batches> Export for File<B> {
    fn begin(&mut self, out: &mut dyn Write, about: &About) -> io::Result<()> {
        let text = serde_json::to_string(about)?;
        let schema = Arc::new(schema(&about.fields, &text));
        let writer = B::begin(self.ready.clone(), &schema, &text)?;
        self.writer = Some((schema, writer));
        self.ready.hand_over(out)
    }

    fn rows(&mut self, out: &mut dyn Write, _: &About, columns: &[Values<'_>]) -> io::Result<()> {
        if let Some((schema, writer)) = &mut self.writer {
            let arrays = columns.iter().map(array).collect::<io::Result<_>>()?;
            writer.write(&RecordBatch::try_new(schema.clone(), arrays).map_err(io::Error::other)?)?;
        }
        self.ready.hand_over(out)
    }

    fn end(&mut self, out: &mut dyn Write, _: Option<&Auc>) -> io::Result<()> {
        if let Some((_, writer)) = self.writer.take() {
            writer.end()?;
        }
        self.ready.hand_over(out)
    }
}

fn schema(fields: &[Field], about: &str) -> Schema {
    let field = |field: &Field| {
        let (kind, nullable) = match field.kind {
            Kind::Integer => (DataType::Int64, false),
            Kind::Number => (DataType::Float64, true),
            Kind::Text => (DataType::Utf8, false),
            Kind::Copied => (DataType::Utf8, true),
        };
        arrow_schema::Field::new(field.name.as_ref(), kind, nullable)
    };
    let metadata = HashMap::from([("lossdepth".to_owned(), about.to_owned())]);
    Schema::new_with_metadata(fields.iter().map(field).collect::<Vec<_>>(), metadata)
}

/// A number that is not there is null.
fn array(values: &Values<'_>) -> io::Result<ArrayRef> {
    Ok(match values {
        Values::Integers(values) => Arc::new(Int64Array::from(values.to_vec())),
        Values::Numbers(values) => {
            Arc::new(values.iter().map(|value| (!value.is_nan()).then_some(*value)).collect::<Float64Array>())
        }
        Values::Texts(values) => {
            check_letters(values)?;
            Arc::new(StringArray::from_iter_values(values.iter()))
        }
        Values::Copied(values) => {
            check_letters(values)?;
            Arc::new(values.iter().map(|text| (!text.is_empty()).then_some(text)).collect::<StringArray>())
        }
    })
}

/// Texts are found by 32 bits.
fn check_letters(values: &[String]) -> io::Result<()> {
    match i32::try_from(values.iter().map(String::len).sum::<usize>()) {
        Ok(_) => Ok(()),
        Err(_) => Err(io::Error::other("texts of more than 2 GiB in a block of rows")),
    }
}

impl Batches for ArrowWriter<Ready> {
    fn begin(ready: Ready, schema: &SchemaRef, about: &str) -> io::Result<Self> {
        let about = KeyValue::new("lossdepth".to_owned(), about.to_owned());
        let settings = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_max_row_group_row_count(Some(GROUP))
            .set_created_by(concat!("lossdepth version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(vec![about]))
            .build();
        Ok(Self::try_new(ready, schema.clone(), Some(settings))?)
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        Ok(ArrowWriter::write(self, batch)?)
    }

    fn end(self) -> io::Result<()> {
        self.close()?;
        Ok(())
    }
}

impl Batches for FileWriter<Ready> {
    fn begin(ready: Ready, schema: &SchemaRef, _: &str) -> io::Result<Self> {
        Self::try_new(ready, schema).map_err(cause)
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        FileWriter::write(self, batch).map_err(cause)
    }

    fn end(mut self) -> io::Result<()> {
        self.finish().map_err(cause)
    }
}

fn cause(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}
