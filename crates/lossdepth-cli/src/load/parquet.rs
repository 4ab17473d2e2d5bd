//! Parquet: only the columns that are needed, a batch at a time.

use super::batches::{Batches, Columnar, guard, outline};
use super::open::{Input, Opened};
use crate::error::Problem;
use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
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

/// A file that is also looked at before it is read.
struct Shared<T>(Arc<T>);

impl<T: ChunkReader> Length for Shared<T> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<T: ChunkReader> ChunkReader for Shared<T> {
    type T = T::T;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
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

/// A dictionary is given memory by the number of values it claims: each of them takes a byte at least.
fn check_dictionaries<T: ChunkReader + 'static>(
    file: &Arc<T>,
    metadata: &ArrowReaderMetadata,
    columns: &[usize],
) -> Result<(), Problem> {
    let schema = metadata.parquet_schema();
    let read = |leaf: &usize| columns.binary_search(&schema.get_column_root_idx(*leaf)).is_ok();
    for group in metadata.metadata().row_groups() {
        for leaf in (0..group.num_columns().min(schema.num_columns())).filter(read) {
            let chunk = group.column(leaf);
            let rows = usize::try_from(group.num_rows()).unwrap_or(0);
            let pages = SerializedPageReader::new(file.clone(), chunk, rows, None);
            let first = pages.and_then(|mut pages| match pages.peek_next_page()? {
                Some(about) if about.is_dict => pages.get_next_page(),
                _ => Ok(None),
            });
            if let Some(Page::DictionaryPage { buf, num_values, .. }) =
                first.map_err(|error| damaged(&error))?
                && num_values as usize > buf.len()
            {
                let why = "a dictionary claims more than it holds".to_owned();
                return Err(Problem::Damaged { format: PARQUET, why });
            }
        }
    }
    Ok(())
}

impl<T: ChunkReader + 'static> Batches for Groups<T> {
    fn choose(&mut self, columns: &[usize]) -> Result<(), Problem> {
        self.columns = columns.to_vec();
        let Some(file) = self.file.take() else { return Ok(()) };
        guard(PARQUET, || check_dictionaries(&file, &self.metadata, columns))??;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(Shared(file), self.metadata.clone());
        let reader = guard(PARQUET, || builder.with_batch_size(BATCH).with_projection(mask).build())?;
        self.reader = Some(reader.map_err(|error| damaged(&error))?);
        Ok(())
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Problem> {
        let Some(reader) = &mut self.reader else { return Ok(None) };
        let batch = guard(PARQUET, || reader.next())?;
        batch.transpose().map_err(|error| Problem::Damaged { format: PARQUET, why: error.to_string() })
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
