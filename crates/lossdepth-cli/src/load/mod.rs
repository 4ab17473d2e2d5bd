//! Tables from files: opened, unpacked, cut into records, checked value by value.

mod columns;
mod open;
mod record;
mod table;

pub(crate) use columns::{Columns, fitting, list, pair};
pub(crate) use record::split;
pub(crate) use table::{Header, Part, Piece, Table, is_missing};
