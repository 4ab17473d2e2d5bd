//! Tables as people have them: a folder of messy files, each with what should come out.

use crate::common::Folder;
use lossdepth_cli::testing::describe;
use std::path::{Path, PathBuf};

fn messy() -> PathBuf {
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
    let mut files: Vec<String> = std::fs::read_dir(messy())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".expected") && !name.ends_with(".py"))
        .collect();
    files.sort();
    assert!(files.len() >= 25, "{files:?}");
    let mut wrong = Vec::new();
    for name in &files {
        let found =
            describe(&messy().join(name), flags(name)).unwrap_or_else(|error| format!("error: {error}\n"));
        let path = messy().join(format!("{name}.expected"));
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
    for file in std::fs::read_dir(messy()).unwrap() {
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

const MIXED: &str = "\
id,amount,region,when,paid
A1,10.5,north,2024-01-01,yes
A2,11.5,south,2024-01-02,no
A3,9.75,north,2024-01-03,yes
A4,12.25,south,2024-01-04,yes
A5,10.25,north,2024-01-05,no
A6,,south,2024-01-06,yes
A7,11.25,north,2024-01-07,
A8,10.75,south,2024-01-08,no
";

/// Exit code 2, this message, and nothing else.
#[test]
fn bad_inputs_are_refused_in_one_message() {
    let folder = Folder::new();
    folder.write("mixed.csv", MIXED);
    folder.write("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n9\n1,1,1\n");
    folder.write("quote.csv", "a,b\n1,\"2\n3,4\n");
    folder.write("latin.csv", b"name,x\nJos\xe9,1\nAna,2\n");
    folder.write(
        "texts.csv",
        "a,b\nred fox,the first of them\nblue cat,another one here\nold dog,and the last of all\n",
    );
    folder.write("weights.csv", "x,w\n1,1\n2,\n3,two\n4,1\n");
    folder.write("binary.csv", b"\x01\x02\x03\x04");
    folder.write("renamed.csv", "amount,Region,when\n10,north,2024-01-01\n");
    folder.write(
        "changed.csv",
        "amount,region,when,paid\nten,north,2024-01-01,yes\neleven,south,2024-01-02,no\n",
    );
    folder.write("cut.xlsx", &std::fs::read(messy().join("invoices.xlsx")).unwrap()[..3000]);
    folder.write("book.xlsx", std::fs::read(messy().join("invoices.xlsx")).unwrap());
    folder.write("hdf.mat", "MATLAB 7.3 MAT-file, Platform: GLNXA64");
    folder.write("fake.xlsx", "a,b\n1,2\n");
    folder.write("large.csv", "a,b\n1,2\n3,2e101\n-5e120,6\n5,7\n");
    folder.write("header.csv", "a,b\n");
    let cases: [(&str, &str); 26] = [
        ("nowhere.csv", ""),
        (".", ""),
        ("binary.csv", ""),
        ("header.csv", ""),
        ("ragged.csv", ""),
        ("quote.csv", ""),
        ("large.csv", ""),
        ("latin.csv --encoding utf-8", ""),
        ("latin.csv --encoding klingon", ""),
        ("texts.csv", ""),
        ("weights.csv --weights w", ""),
        ("mixed.csv --as region=colour,when", ""),
        ("mixed.csv --as regoin=category", ""),
        ("mixed.csv --as region=number", ""),
        ("mixed.csv --as amount=date", ""),
        ("mixed.csv --exclude amonut", ""),
        ("mixed.csv --missing error", ""),
        ("mixed.csv --method halfspace", ""),
        ("renamed.csv --reference mixed.csv", ""),
        ("changed.csv --reference mixed.csv", ""),
        ("cut.xlsx", ""),
        ("book.xlsx --sheet Sales", ""),
        ("book.xlsx --sheet 1", ""),
        ("hdf.mat", ""),
        ("fake.xlsx", ""),
        ("mixed.csv --columns region,paid --exclude id", ""),
    ];
    for (args, message) in cases {
        let ran = folder.score(&format!("{args} --quiet"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args}");
        assert_eq!(ran.err, format!("error: {message}\n"), "{args}");
    }
    let ran = folder.run(&["plot", "mixed.csv", "--out", "map.png", "--quiet"]);
    assert_eq!(ran.err, "error: ");
}
