//! Tables from files: opened, unpacked, the format found, read into columns of numbers, texts, truth values and times.
//!
//! `open` → a source for each format → `table` of `cells` → `block`, encoded. Texts go through `decode` (with `east_asian`), `shape`, `record` and `text`; workbooks
//! through `workbook`, objects through `json`, attributes through `arff`; `parquet` (by `footer`, `pages` and `delta`) and
//! `ipc` come in `batches`; `npy`, `npz`, `mat` and `idx` are `arrays` of `scalar`s.

mod arff;
mod arrays;
mod batches;
mod below_header;
mod block;
mod cells;
mod columns;
mod compound;
mod decode;
mod delta;
mod east_asian;
mod footer;
mod footing;
mod idx;
mod ipc;
mod json;
mod mat;
mod npy;
mod npz;
mod one_byte;
mod open;
mod pages;
mod parquet;
mod record;
mod scalar;
mod shape;
mod table;
mod text;
mod workbook;

pub(crate) use block::{Block, Part, is_numeric, typed};
pub(crate) use cells::{is_missing, moment, retyped};
pub(crate) use columns::{Columns, fitting, list, list_in_full, pair};
pub(crate) use record::split;
pub(crate) use table::{Header, Reading, Table};
pub(crate) use text::rename;
