//! Throwaway.
#![allow(missing_docs, dead_code)]
#[path = "../tests/suite/auto.rs"]
mod auto;
#[path = "../tests/suite/common/mod.rs"]
mod common;
#[path = "../tests/suite/kept_models.rs"]
mod kept_models;
#[path = "../tests/suite/outliers.rs"]
mod outliers;
#[path = "../tests/suite/reasons.rs"]
mod reasons;
#[path = "../tests/suite/relations.rs"]
mod relations;
fn main() {}
