//! A table as rows of numbers, with what there is to say about its cells.

/// A table as rows of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Encoded {
    /// The numbers, row by row.
    pub values: Vec<f64>,
    /// How many of them a row has.
    pub width: usize,
    /// Which row of the table each row is: all of them, but for [`Missing::Drop`](super::Missing::Drop).
    pub rows: Vec<usize>,
    /// Cells that are not simply a value, by row, then by column. At most about a million are kept.
    pub notes: Vec<CellNote>,
}

/// A cell that is not simply a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellNote {
    /// The row of the table, from 0.
    pub row: usize,
    /// The column, among [`Encoding::columns`](super::Encoding::columns).
    pub column: usize,
    /// What there is to say.
    pub what: CellNoteKind,
}

/// What there is to say about a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellNoteKind {
    /// It is empty.
    Gap,
    /// It has a level that the reference lacks.
    NewLevel(String),
    /// It cannot be read as what its column holds; treated as a gap.
    Unread(String),
}
