//! Arrays side by side: a matrix whose columns are numbered, and vectors that go with its rows by name.

use super::open::{Anywhere, Opened};
use super::scalar::Scalar;
use super::table::{Outline, Piece, Source, Wanted};
use crate::error::{Place, Problem, Wrong, count};
use std::io::{self, Cursor, Read, SeekFrom};

/// More columns than this are taken for a damaged header.
const WIDEST: u64 = 1 << 22;

/// The same for a table without rows, where nothing bears the number out.
const WIDEST_EMPTY: u64 = 1 << 16;

/// How many bytes of an array are read at a time.
const CHUNK: usize = 1 << 18;

/// An array in a file; what is beyond its first dimension is one row.
pub(super) struct Array {
    pub(super) name: String,
    pub(super) shape: Vec<u64>,
    pub(super) scalar: Scalar,
    pub(super) data: Data,
}

/// Where the values of an array are.
pub(super) enum Data {
    /// To come, row after row.
    Rows(Box<dyn Read>),
    /// Column after column, from this position.
    Columns(Box<dyn Anywhere>, u64),
}

impl Array {
    pub(super) fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1)
    }

    fn width(&self) -> u64 {
        self.shape.iter().skip(1).fold(1, |product, n| product.saturating_mul(*n))
    }

    /// Bytes in all; too many to count is as good as too many.
    pub(super) fn size(&self) -> u64 {
        self.rows().saturating_mul(self.width()).saturating_mul(self.scalar.size as u64)
    }

    /// Makes sure that there is a row, before its columns get names.
    fn first_row(&mut self, width: usize) -> io::Result<()> {
        if let Data::Rows(input) = &mut self.data {
            let (mut row, bytes) = (Vec::new(), width * self.scalar.size);
            input.take(bytes as u64).read_to_end(&mut row)?;
            if row.len() < bytes {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let rest = std::mem::replace(input, Box::new(io::empty()));
            *input = Box::new(Cursor::new(row).chain(rest));
        }
        Ok(())
    }

    /// `(n)`, `(n, 1)` and `(1, n)` are vectors of n.
    fn into_vector(mut self) -> Option<Self> {
        let mut long = self.shape.iter().copied().filter(|n| *n != 1);
        let length = long.next().unwrap_or(1);
        if self.shape.len() > 2 || long.next().is_some() {
            return None;
        }
        self.shape = vec![length];
        Some(self)
    }

    fn is_matrix(&self) -> bool {
        self.shape.len() >= 2 && !self.shape.contains(&1) || self.shape.len() == 2 && self.shape[1] == 1
    }
}

/// Arrays with as many rows each.
struct Arrays {
    format: &'static str,
    /// The matrix first.
    blocks: Vec<Block>,
    rows: usize,
    done: usize,
}

/// An array that is being read: some rows of it at a time, as bytes.
struct Block {
    array: Array,
    width: usize,
    chunk: Vec<u8>,
}

/// A table of one array.
pub(super) fn one(format: &'static str, array: Array) -> Opened {
    table(format, array, Vec::new())
}

/// A table of the arrays of a file: `X`, or the only matrix, and the vectors with a value for each of its rows.
pub(super) fn many(format: &'static str, mut arrays: Vec<Array>) -> Opened {
    let named = |arrays: &[Array], name: &str| arrays.iter().position(|array| array.name == name);
    let only = |arrays: &[Array]| {
        let mut matrices = (0..arrays.len()).filter(|&i| arrays[i].is_matrix());
        let first = matrices.next();
        if arrays.len() == 1 { Some(0) } else { first.filter(|_| matrices.next().is_none()) }
    };
    let Some(matrix) = named(&arrays, "X").or_else(|| named(&arrays, "x")).or_else(|| only(&arrays)) else {
        let names: Vec<String> = arrays.iter().map(|array| array.name.clone()).collect();
        return Err(Problem::Unsupported(match names.len() {
            0 => format!("there is no array of numbers in this {format} file"),
            _ => format!("no array `X` in this {format} file: there are {}", super::list(&names)),
        }));
    };
    let matrix = arrays.swap_remove(matrix);
    let rows = matrix.rows();
    if let Some(y) = arrays.iter().find(|array| array.name == "y") {
        let shape = y.shape.clone();
        let length = shape.iter().fold(1u64, |product, n| product.saturating_mul(*n));
        if length != rows {
            return Err(Problem::Unsupported(format!("`{}` has {rows} rows, `y` has {length}", matrix.name)));
        }
    }
    let mut vectors: Vec<Array> =
        arrays.into_iter().filter_map(Array::into_vector).filter(|array| array.rows() == rows).collect();
    // The label first, then as their names sort.
    vectors.sort_by(|a, b| (a.name != "y", &a.name).cmp(&(b.name != "y", &b.name)));
    table(format, matrix, vectors)
}

/// A matrix and what goes with its rows.
pub(super) fn table(format: &'static str, mut matrix: Array, vectors: Vec<Array>) -> Opened {
    let damaged = |why: &str| Problem::Damaged { format, why: why.to_owned() };
    if matrix.shape.is_empty() {
        return Err(Problem::Unsupported(format!("the {format} file holds a single value, not a table")));
    }
    let width = matrix.width();
    let widest = if matrix.rows() == 0 { WIDEST_EMPTY } else { WIDEST };
    if width > widest {
        return Err(Problem::Unsupported(format!(
            "{width} columns are more than the {widest} that can be read"
        )));
    }
    if width == 0 {
        return Err(Problem::NothingToCompare);
    }
    if matrix.shape.len() > 2 && matches!(matrix.data, Data::Columns(..)) {
        let why = format!(
            "an array of {} in column-major order: save it row-major",
            count(matrix.shape.len(), "dimension")
        );
        return Err(Problem::Unsupported(why));
    }
    let (Ok(rows), Ok(width)) = (usize::try_from(matrix.rows()), usize::try_from(width)) else {
        return Err(damaged("it claims more rows than there can be"));
    };
    if rows > 0 {
        matrix.first_row(width).map_err(|error| short(format, error))?;
    }
    let numbered = (0..width).map(|i| i.to_string());
    let names: Vec<String> = numbered.chain(vectors.iter().map(|array| array.name.clone())).collect();
    let label = vectors.iter().position(|array| array.name == "y").map(|i| width + i);
    let outline = Outline { names, compared: width, label, ..Outline::default() };
    let blocks = std::iter::once((matrix, width))
        .chain(vectors.into_iter().map(|array| (array, 1)))
        .map(|(array, width)| Block { array, width, chunk: Vec::new() })
        .collect();
    Ok((outline, Box::new(Arrays { format, blocks, rows, done: 0 })))
}

impl Arrays {
    /// The block of a column, and the column's place in it.
    fn find(&self, column: usize) -> (usize, usize) {
        let width = self.blocks[0].width;
        if column < width { (0, column) } else { (column - width + 1, 0) }
    }

    /// Adds some rows whose bytes are in the blocks' chunks.
    fn add(&self, rows: usize, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let first = piece.first + piece.rows;
        piece.reserve(rows, wanted.columns)?;
        for (cells, column) in piece.cells.iter_mut().zip(wanted.columns.cells()) {
            let (block, inner) = self.find(column);
            let block = &self.blocks[block];
            let scalar = block.array.scalar;
            for row in 0..rows {
                if scalar.is_text() {
                    piece.letters += cells.word(&scalar.text(block.cell(row, inner)));
                } else {
                    cells.number(scalar.number(block.cell(row, inner)));
                }
            }
        }
        if let Some(column) = wanted.columns.weights {
            let (block, inner) = self.find(column);
            let block = &self.blocks[block];
            if block.array.scalar.is_text() {
                return Err(Problem::Text { column: wanted.names[column].clone(), kind: "text".to_owned() });
            }
            for row in 0..rows {
                let weight = block.array.scalar.number(block.cell(row, inner));
                if weight.is_nan() {
                    let at = Place { line: None, row: first + row };
                    return Err(wanted.cell(at, column, Wrong::Missing("NaN".to_owned())));
                }
                piece.weights.push(weight);
            }
        }
        let texts = |column: usize| {
            let (block, inner) = self.find(column);
            let block = &self.blocks[block];
            (0..rows).map(move |row| block.array.scalar.text(block.cell(row, inner)))
        };
        piece.ids.extend(wanted.columns.id.into_iter().flat_map(texts));
        piece.labels.extend(wanted.columns.label.into_iter().flat_map(texts));
        piece.rows += rows;
        Ok(())
    }
}

impl Source for Arrays {
    fn read(&mut self, wanted: &Wanted<'_>, piece: &mut Piece) -> Result<(), Problem> {
        let used: Vec<usize> = wanted.columns.used().collect();
        let blocks: Vec<usize> = used.iter().map(|&column| self.find(column).0).collect();
        let row_bytes = self.blocks[0].width.saturating_mul(self.blocks[0].array.scalar.size);
        let most = (CHUNK / row_bytes.max(1)).max(1);
        while piece.rows < wanted.limit && self.done < self.rows {
            let rows = most.min(wanted.limit - piece.rows).min(self.rows - self.done);
            for (i, block) in self.blocks.iter_mut().enumerate().filter(|(i, _)| blocks.contains(i)) {
                let inner = |column: usize| if i == 0 { column } else { 0 };
                let columns = used.iter().zip(&blocks).filter(|(_, b)| **b == i).map(|(c, _)| inner(*c));
                block.load(self.done, rows, self.rows, columns).map_err(|error| short(self.format, error))?;
            }
            self.add(rows, wanted, piece)?;
            self.done += rows;
        }
        // What comes with the last rows, a checksum for one, is looked at too.
        if self.done == self.rows {
            for i in 0..self.blocks.len() {
                if blocks.contains(&i) {
                    self.blocks[i].end().map_err(|error| short(self.format, error))?;
                }
            }
        }
        Ok(())
    }
}

impl Block {
    /// Reads the bytes of some rows; where columns are apart, of these columns only.
    fn load(
        &mut self,
        first: usize,
        rows: usize,
        of: usize,
        columns: impl Iterator<Item = usize>,
    ) -> io::Result<()> {
        let size = self.array.scalar.size;
        match &mut self.array.data {
            Data::Rows(input) => {
                let bytes = rows * self.width * size;
                self.chunk.clear();
                // No more memory than there are bytes.
                input.take(bytes as u64).read_to_end(&mut self.chunk)?;
                if self.chunk.len() < bytes {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Data::Columns(input, start) => {
                // No more memory than there are bytes.
                let bytes =
                    (self.width as u64).checked_mul(of as u64).and_then(|n| n.checked_mul(size as u64));
                let end = bytes.and_then(|bytes| bytes.checked_add(*start));
                if end.is_none_or(|end| !matches!(input.seek(SeekFrom::End(0)), Ok(length) if end <= length))
                {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.chunk.resize(rows * self.width * size, 0);
                for column in columns {
                    let at = *start + (column as u64 * of as u64 + first as u64) * size as u64;
                    input.seek(SeekFrom::Start(at))?;
                    input.read_exact(&mut self.chunk[column * rows * size..][..rows * size])?;
                }
            }
        }
        Ok(())
    }

    /// The bytes of a value in the rows loaded last.
    fn cell(&self, row: usize, column: usize) -> &[u8] {
        let size = self.array.scalar.size;
        let rows = self.chunk.len() / (self.width * size);
        let at = match self.array.data {
            Data::Rows(_) => row * self.width + column,
            Data::Columns(..) => column * rows + row,
        };
        &self.chunk[at * size..][..size]
    }

    /// Reads on behind the last row, where there should be nothing.
    fn end(&mut self) -> io::Result<()> {
        match &mut self.array.data {
            Data::Rows(input) => input.read(&mut [0]).map(|_| ()),
            Data::Columns(..) => Ok(()),
        }
    }
}

/// A file that ends before its arrays do, or is damaged otherwise.
fn short(format: &'static str, error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_off(format),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            Problem::Damaged { format, why: error.to_string() }
        }
        _ => Problem::Read(error),
    }
}

/// The file is shorter than it says.
pub(super) fn cut_off(format: &'static str) -> Problem {
    Problem::Damaged { format, why: "it ends too early".to_owned() }
}
