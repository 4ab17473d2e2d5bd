//! What one face can do, all can: `docs/features.md` says so, and is compared with the program and with the sources.

use super::common::Folder;
use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::path::PathBuf;

/// Items of the library, which have to be there for this to compile.
macro_rules! items {
    ($($name:ident: $($part:ident)::+;)*) => {
        $(#[allow(unused_imports)] use $($part)::+ as $name;)*
        /// Their paths.
        const ITEMS: &[&str] = &[$(concat!($("::", stringify!($part)),+)),*];
    };
}

items! {
    OddestRows: lossdepth::outliers::Outliers;
    Page: lossdepth_plot::report::Assembly;
    Fitted: lossdepth::Model;
    OneFit: lossdepth::Fit;
    Shares: lossdepth::model::Percentiles;
    PValues: lossdepth::stats::conformal::Conformal;
    Rate: lossdepth::stats::conformal::Fdr;
    Why: lossdepth::Explanation;
    File: lossdepth::model::archive::Archive;
    Pieces: lossdepth::data::ReferenceSketch;
    ByPasses: lossdepth::model::Passes;
    two_samples: lossdepth::stats::two_sample;
    Picture: lossdepth_plot::Map;
    deepest: lossdepth::stats::central;
    Zones: lossdepth::methods::halfspace::Regions;
    OwnMethod: lossdepth::methods::Hypothesis;
    OfSparse: lossdepth::model::SparseModel;
    AllSettings: lossdepth::Settings;
    Start: lossdepth::Preset;
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn source(path: &str) -> String {
    read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The cells of a column of the table, without the first row and the line beneath it.
fn cells(column: usize) -> Vec<String> {
    let page = source("docs/features.md");
    let rows = page.lines().filter(|line| line.starts_with('|')).skip(2);
    let cell = |line: &str| line.split('|').nth(column + 1).unwrap_or_default().trim().to_owned();
    rows.map(cell).collect()
}

/// What the cells of a column name; a cell without the feature says what there is instead.
fn named(column: usize) -> BTreeSet<String> {
    let with_it = cells(column).into_iter().filter(|cell| !cell.starts_with('–'));
    with_it
        .flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

fn set<S: Into<String>>(names: impl IntoIterator<Item = S>) -> BTreeSet<String> {
    names.into_iter().map(Into::into).collect()
}

#[test]
fn a_missing_feature_says_what_there_is_instead() {
    for column in 1..=4 {
        for (feature, cell) in cells(0).iter().zip(cells(column)) {
            let shell_only = feature == "help of the shell";
            assert!(
                shell_only || cell.trim_start_matches('–').len() > 3,
                "{feature}: column {column} is empty"
            );
        }
    }
}

#[test]
fn the_library_has_what_the_page_says() {
    assert_eq!(named(1), set(ITEMS.iter().map(|path| path.trim_start_matches("::"))));
}

#[test]
fn the_page_has_every_command_and_flags_that_exist() {
    let folder = Folder::new();
    let help = folder.run(&["--help"]).out;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands =
        set(list.lines().filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help"));
    let told = named(2);
    assert_eq!(set(told.iter().filter_map(|cell| cell.split(' ').next())), commands);
    for cell in told.iter().filter(|cell| cell.contains("--")) {
        let (command, flag) = cell.split_once(' ').unwrap();
        let flags = folder.run(&[command, "--help"]).out;
        assert!(flags.split_whitespace().any(|word| word.split('[').next() == Some(flag)), "{cell}");
    }
}

#[test]
fn the_page_has_every_function_and_method_of_python() {
    let init = source("python/lossdepth/__init__.py");
    let all = init.split("__all__ = [").nth(1).unwrap().split(']').next().unwrap();
    let names: BTreeSet<String> = set(all.split('"').skip(1).step_by(2));
    let is_function = |name: &&String| name.starts_with(|first: char| first.is_ascii_lowercase());
    let mut methods = BTreeSet::new();
    for file in ["_base", "_oddest", "_threshold", "_native_depth"] {
        let text = source(&format!("python/lossdepth/{file}.py"));
        let defined = text.split("\n    def ").skip(1).zip(text.split("\n    def "));
        for (body, before) in defined {
            let name = body.split('(').next().unwrap();
            let is_attribute = before.trim_end().ends_with("@property");
            let is_method = body[name.len()..].trim_start_matches(['(', '\n', ' ']).starts_with("self");
            if is_method && !name.starts_with('_') && !is_attribute {
                methods.insert(format!(".{name}"));
            }
        }
    }
    let told = named(3);
    let told_methods = set(told.iter().filter(|name| name.starts_with('.')).cloned());
    assert_eq!(told_methods, methods);
    let told_names = set(told.iter().filter(|name| !name.starts_with('.')).cloned());
    assert_eq!(told_names.difference(&names).count(), 0, "{told_names:?}");
    assert_eq!(
        set(told_names.iter().filter(is_function).cloned()),
        set(names.iter().filter(is_function).cloned())
    );
}

#[test]
fn the_page_has_every_export_of_r() {
    let namespace = source("r/NAMESPACE");
    let between = |line: &str, start: &str| Some(line.strip_prefix(start)?.strip_suffix(')')?.to_owned());
    let exports = set(namespace.lines().filter_map(|line| between(line, "export(")));
    let methods = set(namespace
        .lines()
        .filter_map(|line| between(line, "S3method(")?.strip_suffix(",lossdepth").map(str::to_owned)));
    let told = named(4);
    // A function for each method of scoring.
    let others = set(exports.iter().filter(|name| !name.starts_with("depth.")).cloned());
    assert_eq!(others.difference(&told).count(), 0, "{others:?}");
    let known = exports.union(&methods).cloned().collect();
    assert_eq!(told.difference(&known).count(), 0, "{told:?}");
}
