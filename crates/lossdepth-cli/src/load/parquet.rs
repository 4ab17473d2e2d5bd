//! Parquet: only the columns that are needed, a batch at a time.

use super::batches::{Batches, Columnar, guard, outline};
use super::open::{Input, Opened};
use super::{footer, pages};
use crate::error::Problem;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use std::sync::Arc;

const PARQUET: &str = "Parquet";

/// How many rows are decoded at a time.
const BATCH: usize = 1 << 13;

struct Groups<T: ChunkReader> {
    file: Option<Arc<T>>,
    metadata: ArrowReaderMetadata,
    columns: Vec<usize>,
    reader: Option<ParquetRecordBatchReader>,
}

pub(super) fn open(input: Input) -> Opened {
    match input.whole()? {
        Input::File(file) => table(Arc::new(file)),
        other => table(Arc::new(other.bytes()?)),
    }
}

fn table<T: ChunkReader + 'static>(file: Arc<T>) -> Opened {
    check_footer(&*file)?;
    // The types of Parquet are all that is needed; a schema of Arrow's would only be one more thing to trust.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata =
        guard(PARQUET, || ArrowReaderMetadata::load(&*file, options))?.map_err(|error| damaged(&error))?;
    if let Some(codec) = unknown_codec(&metadata) {
        return Err(Problem::Unsupported(format!(
            "the Parquet file is compressed with {codec}: save it with snappy, zstd, lz4 or gzip"
        )));
    }
    let schema = metadata.schema().clone();
    let outline = outline(&schema)?;
    let groups = Groups { file: Some(file), metadata, columns: Vec::new(), reader: None };
    Ok((outline, Box::new(Columnar::new(PARQUET, &schema, groups))))
}

/// Refuses a footer that the library could not read safely; one that is no footer at all is left to it.
fn check_footer<T: ChunkReader>(file: &T) -> Result<(), Problem> {
    let Some(end) = file.len().checked_sub(8) else { return Ok(()) };
    let tail = file.get_bytes(end, 8).map_err(|error| damaged(&error))?;
    let [a, b, c, d, b'P', b'A', b'R', b'1'] = tail[..] else { return Ok(()) };
    let length = u32::from_le_bytes([a, b, c, d]);
    let Some(start) = end.checked_sub(u64::from(length)) else { return Ok(()) };
    let footer = file.get_bytes(start, length as usize).map_err(|error| damaged(&error))?;
    footer::check(&footer).map_err(|why| Problem::Damaged { format: PARQUET, why: why.to_owned() })
}

/// A way to compress that is not built in.
fn unknown_codec(metadata: &ArrowReaderMetadata) -> Option<&'static str> {
    let chunks = metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    chunks.into_iter().find_map(|chunk| match chunk.compression() {
        Compression::BROTLI(_) => Some("brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    })
}

impl<T: ChunkReader + 'static> Batches for Groups<T> {
    fn choose(&mut self, columns: &[usize]) -> Result<(), Problem> {
        self.columns = columns.to_vec();
        let Some(file) = self.file.take() else { return Ok(()) };
        let schema = self.metadata.parquet_schema();
        let mask = ProjectionMask::roots(schema, columns.iter().copied());
        let groups = pages::Groups { file, metadata: self.metadata.metadata().clone() };
        let reader = guard(PARQUET, || {
            let fields = parquet_to_arrow_field_levels(schema, mask, None)?;
            ParquetRecordBatchReader::try_new_with_row_groups(&fields, &groups, BATCH, None)
        })?;
        self.reader = Some(reader.map_err(|error| damaged(&error))?);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Problem> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let batch = guard(PARQUET, || reader.next())?;
        batch.transpose().map_err(|error| {
            let why = match error {
                ArrowError::ParquetError(why) => why.trim_start_matches("Parquet error: ").to_owned(),
                other => other.to_string(),
            };
            Problem::Damaged { format: PARQUET, why }
        })
    }

    fn rows(&self) -> Option<usize> {
        let rows = |group: &RowGroupMetaData| usize::try_from(group.num_rows()).unwrap_or(0);
        Some(self.metadata.metadata().row_groups().iter().map(rows).fold(0, usize::saturating_add))
    }

    fn place(&self, column: usize) -> usize {
        self.columns.binary_search(&column).unwrap_or(usize::MAX)
    }
}

fn damaged(error: &ParquetError) -> Problem {
    let why = match error {
        ParquetError::General(why) | ParquetError::EOF(why) | ParquetError::NYI(why) => why.clone(),
        other => other.to_string(),
    };
    Problem::Damaged { format: PARQUET, why }
}
