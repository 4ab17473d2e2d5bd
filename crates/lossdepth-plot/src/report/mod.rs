//! A report as one HTML file: which rows are odd, how sure that is, and why.
//!
//! A [`Page`] holds what is shown as plain values; [`Page::to_html`] writes a file that needs no network and no program but a
//! browser. Without scripts it is a document that can be read and printed; with scripts it can be sorted, filtered and searched.
//!
//! | step | module | what it knows |
//! |---|---|---|
//! | 1. aggregate | `distribution`, `thresholds`, `map`, `drift` | a million rows as a few hundred numbers |
//! | 2. fill | `page`, `assemble` | what is shown; how it follows from a model, a table and its scores |
//! | 3. bound | `bound`, `groups` | what is masked, how long a text may be, which rows are alike |
//! | 4. write | `html` | markup, escaping, the content security policy |
//!
//! The scripts and styles are in `assets/report`. The same page gives the same bytes.

// 1. aggregate
mod distribution;
mod drift;
mod map;
mod text;
mod thresholds;
// 2. fill
mod assemble;
mod page;
// 3. bound
mod bound;
mod groups;
// 4. write
mod html;
#[cfg(test)]
mod tests;

use bound::Bounded;

pub use assemble::{Assembly, ComparedWith, ReferenceTable};
pub use distribution::{Distribution, Histogram};
pub use drift::{Chance, ColumnDrift, Drift};
pub use map::{AxisScale, Map, MapAxis, sample_ordinary};
pub use page::{
    Cell, Column, Counterfactual, Fact, Finding, LeftOut, Method, Neighbour, OddRow, Page, Reason, Source,
};
pub use thresholds::{PValues, Step, Thresholds};
