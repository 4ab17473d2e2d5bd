//! The R binding: vectors in, vectors out. Everything that faces users is in `R/*.R`.
//!
//! No function here raises an error of R, which would jump over frames of Rust: a failure is returned as a list of class
//! `lossdepth_failure`, and the R code raises it.

mod central;
mod conformal;
mod convert;
mod explain;
mod failure;
mod interrupt;
mod model;
mod odd_rows;
mod page;
mod regions;
mod table;
mod two_sample;

use extendr_api::prelude::*;

extendr_module! {
    mod lossdepth;
    use central;
    use conformal;
    use explain;
    use convert;
    use model;
    use odd_rows;
    use page;
    use regions;
    use two_sample;
}
