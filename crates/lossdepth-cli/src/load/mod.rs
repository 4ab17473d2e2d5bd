//! Tables from files: opened, unpacked, the format found, checked value by value.
//!
//! `open` → a source for each format → `table`. Texts go through `record` and `text`; `parquet` (by `footer`, `pages` and `delta`) and
//! `ipc` come in `batches`; `npy`, `npz`, `mat` and `idx` are `arrays` of `scalar`s.

mod arrays;
mod batches;
mod columns;
mod delta;
mod footer;
mod idx;
mod ipc;
mod mat;
mod npy;
mod npz;
mod open;
mod pages;
mod parquet;
mod record;
mod scalar;
mod table;
mod text;

pub(crate) use columns::{Columns, fitting, list, list_in_full, pair};
pub(crate) use record::split;
pub(crate) use table::{Header, Part, Piece, Table};
pub(crate) use text::is_missing;
