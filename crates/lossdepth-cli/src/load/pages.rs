//! The pages of a Parquet file, each looked at before it is unpacked: the library gives them the memory they claim.

use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// All row groups of a file.
pub(super) struct Groups<T> {
    pub(super) file: Arc<T>,
    pub(super) metadata: Arc<ParquetMetaData>,
}

impl<T: ChunkReader + 'static> RowGroups for Groups<T> {
    fn num_rows(&self) -> usize {
        self.row_groups().map(rows).fold(0, usize::saturating_add)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let (file, metadata) = (self.file.clone(), self.metadata.clone());
        Ok(Box::new(Chunks { file, metadata, column, next: 0 }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

fn rows(group: &RowGroupMetaData) -> usize {
    usize::try_from(group.num_rows()).unwrap_or(0)
}

/// A column, row group by row group.
struct Chunks<T> {
    file: Arc<T>,
    metadata: Arc<ParquetMetaData>,
    column: usize,
    next: usize,
}

impl<T: ChunkReader + 'static> Iterator for Chunks<T> {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.metadata.row_groups().get(self.next)?;
        self.next += 1;
        Some(Checked::new(&self.file, group, self.column).map(|pages| Box::new(pages) as Box<dyn PageReader>))
    }
}

impl<T: ChunkReader + 'static> PageIterator for Chunks<T> {}

/// The pages of one column in one row group.
struct Checked<T: ChunkReader> {
    pages: SerializedPageReader<Watched<T>>,
    file: Arc<Watched<T>>,
    codec: Compression,
}

impl<T: ChunkReader> Checked<T> {
    fn new(file: &Arc<T>, group: &RowGroupMetaData, column: usize) -> Result<Self> {
        let missing = || ParquetError::General("a row group has too few columns".to_owned());
        let chunk = group.columns().get(column).ok_or_else(missing)?;
        let file = Arc::new(Watched { file: file.clone(), last: AtomicU64::new(0) });
        let pages = SerializedPageReader::new(file.clone(), chunk, rows(group), None)?;
        Ok(Self { pages, file, codec: chunk.compression() })
    }

    /// Refuses a page that claims to be larger than its bytes can make it.
    fn check_size(&mut self) -> Result<()> {
        let Some(times) = most(self.codec) else { return Ok(()) };
        if self.pages.peek_next_page()?.is_none() {
            return Ok(());
        }
        let header = self.file.last.load(Ordering::Relaxed);
        match sizes(self.file.file.get_read(header)?) {
            Some((unpacked, packed)) if unpacked <= packed.saturating_mul(times) => Ok(()),
            Some((unpacked, packed)) => Err(ParquetError::General(format!(
                "a page claims to hold {unpacked} bytes, which cannot be packed into {packed}"
            ))),
            None => Err(ParquetError::General("a page does not start with its size".to_owned())),
        }
    }
}

impl<T: ChunkReader> Iterator for Checked<T> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<T: ChunkReader> PageReader for Checked<T> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        self.check_size()?;
        let page = self.pages.get_next_page()?;
        // A dictionary is given memory by the number of its values: each of them takes a byte at least.
        if let Some(Page::DictionaryPage { buf, num_values, .. }) = &page
            && *num_values as usize > buf.len()
        {
            return Err(ParquetError::General("a dictionary claims more than it holds".to_owned()));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

/// A file that remembers where it was read last: after a look at the next page that is the header of the page.
struct Watched<T> {
    file: Arc<T>,
    last: AtomicU64,
}

impl<T: ChunkReader> Length for Watched<T> {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl<T: ChunkReader> ChunkReader for Watched<T> {
    type T = T::T;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.last.store(start, Ordering::Relaxed);
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

/// How many bytes one byte can be unpacked to, at most: as many as equal bytes are packed into one.
fn most(codec: Compression) -> Option<u64> {
    match codec {
        Compression::UNCOMPRESSED => None,
        // Three bytes copy 64.
        Compression::SNAPPY => Some(22),
        // Another byte copies 255 more.
        Compression::LZ4 | Compression::LZ4_RAW => Some(256),
        // Two bits copy 258.
        Compression::GZIP(_) => Some(1032),
        // Four bytes are a block of 128 KiB.
        _ => Some(1 << 15),
    }
}

/// The size of a page, unpacked and packed: of the fields of its header, in Thrift's compact form, the second and third.
fn sizes(mut header: impl Read) -> Option<(u64, u64)> {
    let mut byte = || {
        let mut byte = [0];
        header.read_exact(&mut byte).ok().map(|()| byte[0])
    };
    let mut field = || {
        // The next number in order, of 32 bits.
        if byte()? != 0x15 {
            return None;
        }
        let mut value = 0u64;
        for place in 0..5 {
            let byte = byte()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                // The lowest bit is the sign.
                return (value & 1 == 0).then_some(value >> 1);
            }
        }
        None
    };
    let [_kind, unpacked, packed] = [field()?, field()?, field()?];
    Some((unpacked, packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_a_page() {
        assert_eq!(sizes(&[0x15, 0, 0x15, 0xac, 0x02, 0x15, 0x14, 0x2c][..]), Some((150, 10)));
        assert_eq!(
            sizes(&[0x15, 4, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x02][..]),
            Some((i32::MAX as u64, 1))
        );
        // Cut, negative, in another order, a number without end.
        assert_eq!(sizes(&[0x15, 0, 0x15, 0xac][..]), None);
        assert_eq!(sizes(&[0x15, 0, 0x15, 0x01, 0x15, 0x02][..]), None);
        assert_eq!(sizes(&[0x25, 0, 0x15, 0x02, 0x15, 0x02][..]), None);
        assert_eq!(sizes(&[0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x15, 0x02][..]), None);
    }
}
