//! The pages of a Parquet file, each inspected before it is unpacked and before it is decoded: the library reserves the
//! memory that they claim.

use super::delta;
use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Compression, Encoding};
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
    /// The largest repetition and definition level of the column.
    levels: [i16; 2],
}

impl<T: ChunkReader> Checked<T> {
    fn new(file: &Arc<T>, group: &RowGroupMetaData, column: usize) -> Result<Self> {
        let missing = || ParquetError::General("a row group has too few columns".to_owned());
        let chunk = group.columns().get(column).ok_or_else(missing)?;
        let file = Arc::new(Watched { file: file.clone(), last: AtomicU64::new(0) });
        let pages = SerializedPageReader::new(file.clone(), chunk, rows(group), None)?;
        let column = chunk.column_descr();
        let levels = [column.max_rep_level(), column.max_def_level()];
        Ok(Self { pages, file, codec: chunk.compression(), levels })
    }

    /// Refuses a page that claims to be longer than the file, or larger than its bytes can make it.
    fn check_size(&mut self) -> Result<()> {
        if self.pages.peek_next_page()?.is_none() {
            return Ok(());
        }
        let header = self.file.last.load(Ordering::Relaxed);
        let refuse = |why: String| Err(ParquetError::General(why));
        let Some((unpacked, packed)) = sizes(self.file.file.get_read(header)?) else {
            return refuse("a page does not start with its size".to_owned());
        };
        let left = self.file.len().saturating_sub(header);
        if packed > left {
            return refuse(format!("a page claims {packed} bytes where {left} are left"));
        }
        let Some(times) = most(self.codec) else { return Ok(()) };
        if unpacked > packed.saturating_mul(times) {
            return refuse(format!(
                "a page claims to hold {unpacked} bytes, which cannot be packed into {packed}"
            ));
        }
        // An allocation that fails in the library ends the process.
        let room =
            usize::try_from(unpacked).is_ok_and(|size| Vec::<u8>::new().try_reserve_exact(size).is_ok());
        if room { Ok(()) } else { refuse(format!("not enough memory for a page of {unpacked} bytes")) }
    }

    /// Refuses a page that claims more values than it holds, where the library reserves memory for the claim.
    fn check_claims(&self, page: &Page) -> Result<()> {
        let refuse = |why: &str| Err(ParquetError::General(why.to_owned()));
        let (encoding, values, count) = match page {
            // Each value of a dictionary takes a byte at least.
            Page::DictionaryPage { buf, num_values, .. } if *num_values as usize > buf.len() => {
                return refuse("a dictionary claims more than it holds");
            }
            Page::DictionaryPage { .. } => return Ok(()),
            Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
                let encodings = [*rep_level_encoding, *def_level_encoding];
                let mut values = &buf[..];
                for (level, how) in self.levels.into_iter().zip(encodings).filter(|(level, _)| *level > 0) {
                    match after_levels(values, level, how, *num_values) {
                        Some(after) => values = after,
                        None => return refuse("a page ends within its levels"),
                    }
                }
                (*encoding, Some(values), *num_values)
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = (*def_levels_byte_len as usize).saturating_add(*rep_levels_byte_len as usize);
                (*encoding, buf.get(levels..), *num_values)
            }
        };
        let streams = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        let mut bytes = values.unwrap_or_default();
        for _ in 0..streams {
            match delta::after(bytes, count as usize) {
                Ok(after) => bytes = after,
                Err(why) => return refuse(why),
            }
        }
        Ok(())
    }
}

/// What follows the levels of a page of the first version: runs with their length before them, or packed bits.
fn after_levels(bytes: &[u8], level: i16, encoding: Encoding, values: u32) -> Option<&[u8]> {
    #[expect(deprecated, reason = "old files have it")]
    if encoding == Encoding::BIT_PACKED {
        let width = u64::from(i16::BITS - level.leading_zeros());
        let length = (u64::from(values) * width).div_ceil(8);
        return bytes.get(usize::try_from(length).ok()?..);
    }
    let length = u32::from_le_bytes(*bytes.first_chunk()?);
    bytes.get(4..)?.get(length as usize..)
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
        page.iter().try_for_each(|page| self.check_claims(page))?;
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
