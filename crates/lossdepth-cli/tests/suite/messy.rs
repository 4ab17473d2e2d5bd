//! Tables as people have them: a folder of messy files, each with what should come out.

use crate::common::Folder;
use lossdepth_cli::testing::describe;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messy")
}

/// The flags a file needs, where its content does not tell.
fn flags(name: &str) -> &'static str {
    match name {
        "na_words.csv" => "--na unknown,999",
        "said.csv" => "--as grade=category,passed=boolean --exclude teacher",
        _ => "",
    }
}

/// With `UPDATE_SNAPSHOTS=1` what comes out is written instead: read the difference.
#[test]
fn every_messy_file_is_read_as_what_it_is() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".expected") && !name.ends_with(".py"))
        .collect();
    files.sort();
    assert!(files.len() >= 25, "{files:?}");
    let mut wrong = Vec::new();
    for name in &files {
        let found =
            describe(&folder().join(name), flags(name)).unwrap_or_else(|error| format!("error: {error}\n"));
        let path = folder().join(format!("{name}.expected"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{name} is now\n{found}instead of\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_messy_file_is_scored() {
    let folder_of_runs = Folder::new();
    for file in std::fs::read_dir(folder()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".expected") || name.ends_with(".py") {
            continue;
        }
        let args = format!("{} {} --method svm --scale standard --quiet", path.display(), flags(&name));
        let ran = folder_of_runs.score(&args);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(ran.out.lines().count() >= 25, "{name}: {}", ran.out);
    }
}
