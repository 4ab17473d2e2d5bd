//! The data: tables as they are, rows of numbers, the reference sample with its weights, and its scaling.

mod layout;
mod measure;
mod reference;
mod reference_rows;
mod row_source;
mod rows;
mod scaling;
mod sketch;
mod sparse;
mod survey;
mod table;

pub use layout::{Group, GroupKind, Layout};
pub(crate) use measure::{Measure, bounded_influence, quartile_unit};
pub(crate) use reference::Mass;
pub use reference::Reference;
pub use reference_rows::ReferenceRows;
pub(crate) use row_source::for_each_chunk;
pub use row_source::{RowSource, Visit};
pub use rows::{AsRows, Rows};
pub use scaling::{Scale, Scaling, ScalingWarning, Transform};
pub use sketch::ReferenceSketch;
pub use sparse::{SparseReference, SparseRows};
pub(crate) use survey::{Survey, unit_of};
pub use table::{
    CellNote, CellNoteKind, Column, ColumnKind, Encoded, EncodedColumn, Encoding, EncodingOptions, LeftOut,
    LeftOutReason, Level, Missing, Quantiles, Table, Texts, Values,
};
