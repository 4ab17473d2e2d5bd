//! A module imports only from modules to its left: the arrow of dependencies points one way.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the library, from the arithmetic that everything uses to what is built on top of it.
const LAYERS: [&str; 12] = [
    "error", "numerics", "data", "loss", "kernel", "problem", "certify", "solver", "methods", "model",
    "stats", "outliers",
];

fn position(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == module)
}

/// The code of a line without its comment. (No string of this crate holds two slashes and a path of this crate.)
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

/// The modules that the text of a file of `layer` names as `crate::module` and that are not to its left.
fn wrong_imports(layer: &str, text: &str) -> Vec<(usize, String)> {
    let own = position(layer).expect("a known layer");
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for path in code(line).split("crate::").skip(1) {
            let module: String = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // `crate::DepthError` and other items of the root are not paths of a layer.
            let known = position(&module);
            if known.is_some_and(|there| there > own) || (path.starts_with('{') || path.starts_with('*')) {
                wrong.push((number + 1, line.trim().to_owned()));
            }
        }
    }
    wrong
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn modules_import_only_from_their_left() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    files(&source, &mut paths);
    assert!(paths.len() > 100, "only {} files found", paths.len());
    let mut wrong = Vec::new();
    for path in paths {
        let inside = path.strip_prefix(&source).expect("below src");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        let layer = first.trim_end_matches(".rs");
        if layer == "lib" {
            continue;
        }
        assert!(position(layer).is_some(), "`{layer}` is not in LAYERS: give it a place there");
        let text = fs::read_to_string(&path).expect("a text");
        for (line, import) in wrong_imports(layer, &text) {
            wrong.push(format!("{}:{line}: {import}", inside.display()));
        }
    }
    assert!(wrong.is_empty(), "imports from the right of a module:\n{}", wrong.join("\n"));
}

#[test]
fn an_import_from_the_right_is_found() {
    assert!(
        wrong_imports("solver", "use crate::problem::Features;\nuse crate::certify::gap::Gap;").is_empty()
    );
    assert!(wrong_imports("solver", "//! See [`Linear`](crate::methods::Linear).").is_empty());
    let wrong = wrong_imports("solver", "use crate::data::Rows;\nuse crate::methods::Linear;");
    assert_eq!(wrong, [(2, "use crate::methods::Linear;".to_owned())]);
    assert_eq!(wrong_imports("loss", "let x = crate::solver::newton::project(a, b);").len(), 1);
    assert_eq!(wrong_imports("loss", "use crate::{error, solver};").len(), 1);
}

/// Whether some source has a function or type with the last part of a name like `Linear::isolate`, and the part before it.
fn exists(name: &str, sources: &[(String, String)]) -> bool {
    let mut parts = name.rsplit([':', '.']).filter(|part| !part.is_empty());
    let last = parts.next().unwrap_or_default();
    let owner = parts.next().unwrap_or_default();
    let defined = |text: &str| {
        ["fn ", "def ", "struct ", "trait ", "enum ", "class ", "\n    "].iter().any(|kind| {
            text.match_indices(&format!("{kind}{last}")).any(|(at, found)| {
                !text[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        })
    };
    sources.iter().any(|(path, text)| (path.contains(owner) || text.contains(owner)) && defined(text))
}

#[test]
fn the_walk_names_functions_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("a text");
    let walk = text.split("## A walk").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a walk");
    let mut paths = Vec::new();
    for folder in ["crates/lossdepth/src", "crates/lossdepth-cli/src", "python/src"] {
        files(&root.join(folder), &mut paths);
    }
    let python = fs::read_dir(root.join("python/lossdepth")).expect("a folder");
    paths.extend(python.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file()));
    let source = |path: PathBuf| (path.display().to_string(), fs::read_to_string(path).unwrap_or_default());
    let sources: Vec<(String, String)> = paths.into_iter().map(source).collect();
    let named = walk.split('`').skip(1).step_by(2);
    let functions: Vec<&str> =
        named.filter(|name| !name.contains(['-', '/', ' ']) && *name != "offset_").collect();
    assert!(functions.len() > 60, "only {} names found", functions.len());
    let missing: Vec<&str> = functions.into_iter().filter(|name| !exists(name, &sources)).collect();
    assert!(missing.is_empty(), "the walk in ARCHITECTURE.md names what is not there: {missing:?}");
    assert!(!exists("Linear::no_such_function", &sources) && !exists("NoSuchType::isolate", &sources));
}
