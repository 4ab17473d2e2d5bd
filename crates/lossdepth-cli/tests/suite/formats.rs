//! What the output looks like, and that every way in gives the same numbers.

use crate::common::{Folder, TABLE, assert_snapshot};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read, Write};

const ARGS: &str = "--id id --label kind --reg 0.1 --scale whiten --quiet";

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn csv() {
    let ran = Folder::with(TABLE).score(&format!("data.csv {ARGS}"));
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (Some(0), "AUC-ROC 1.0000 (outlier: `kind` = 1, 1 of 11 rows)\n")
    );
    assert_snapshot("score.csv", &ran.out);
    let folder = Folder::with(TABLE);
    assert_eq!(folder.score(&format!("data.csv {ARGS} --out -")).out, ran.out);
    assert_eq!(folder.list(), ["data.csv"]);
}

#[test]
fn tsv() {
    let folder = Folder::with(TABLE);
    assert_eq!(folder.score(&format!("data.csv {ARGS} --out scores.tsv")).code, Some(0));
    assert_snapshot("score.tsv", &folder.read("scores.tsv"));
}

#[test]
fn json() {
    let folder = Folder::with(TABLE);
    assert_eq!(folder.score(&format!("data.csv {ARGS} --out scores.json")).code, Some(0));
    let text = folder.read("scores.json");
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["rows"].as_array().unwrap().len(), 11);
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    assert_snapshot("score.json", &text);
}

#[test]
fn json_without_rows_is_json() {
    let folder = Folder::with("x,y\n");
    folder.write("old.csv", "x,y\n1,2\n3,4\n5,5\n");
    assert_eq!(folder.score("data.csv --reference old.csv --out scores.json").code, Some(0));
    let value: serde_json::Value = serde_json::from_str(&folder.read("scores.json")).unwrap();
    assert_eq!(value["rows"], serde_json::json!([]));
    assert_eq!(value["reference_rows"], 3);
}

#[test]
fn methods() {
    let ran = Folder::new().run(&["methods"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_snapshot("methods.txt", &ran.out);
}

#[test]
fn help() {
    assert_snapshot("help.txt", &Folder::new().run(&["--help"]).out);
}

#[test]
fn all_formats_hold_the_same_numbers() {
    let folder = Folder::with(TABLE);
    let csv = folder.score(&format!("data.csv {ARGS}")).out;
    for name in ["scores.csv", "scores.tsv", "scores.csv.gz", "scores.json.gz", "UPPER.CSV"] {
        assert_eq!(folder.score(&format!("data.csv {ARGS} --out {name}")).code, Some(0), "{name}");
    }
    let unzip = |name: &str| {
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(folder.path(name)).unwrap()).read_to_string(&mut text).unwrap();
        text
    };
    assert_eq!(folder.read("scores.csv"), csv);
    assert_eq!(folder.read("UPPER.CSV"), csv);
    assert_eq!(unzip("scores.csv.gz"), csv);
    let value: serde_json::Value = serde_json::from_str(&unzip("scores.json.gz")).unwrap();
    let third = csv.lines().nth(3).unwrap().split(',').nth(1).unwrap();
    assert_eq!(value["rows"][2]["depth"].as_f64(), third.parse().ok());
    assert_eq!(folder.read("scores.tsv").lines().nth(3).unwrap().split('\t').nth(1), Some(third));
}

#[test]
fn every_way_in_gives_the_same_numbers() {
    let folder = Folder::with(TABLE);
    let expected = folder.score(&format!("data.csv {ARGS}")).out;
    let unquoted = TABLE.replace("\"j, k\"", "j, k");
    for (name, bytes) in [
        ("marked.csv", format!("\u{feff}{TABLE}").into_bytes()),
        ("crlf.csv", TABLE.replace('\n', "\r\n").into_bytes()),
        ("blank.csv", TABLE.replace('\n', "\n\n").into_bytes()),
        ("open.csv", TABLE.trim_end().as_bytes().to_vec()),
        ("quoted.csv", TABLE.replace("2.2", "\"2.2\"").replace("kind", "\"kind\"").into_bytes()),
        ("tabs.tsv", TABLE.replace("\"j, k\"", "?").replace(',', "\t").replace('?', "\"j, k\"").into_bytes()),
        (
            "semicolons.csv",
            TABLE.replace("\"j, k\"", "?").replace(',', ";").replace('?', "j, k").into_bytes(),
        ),
        ("packed", gzip(TABLE)),
        ("packed.csv.gz", gzip(&unquoted.replace("j, k", "\"j, k\""))),
        ("two-members.gz", [gzip(&TABLE[..40]), gzip(&TABLE[40..])].concat()),
    ] {
        folder.write(name, &bytes);
        assert_eq!(folder.score(&format!("{name} {ARGS}")).out, expected, "{name}");
        assert_eq!(
            folder.score_stdin(&format!("- {ARGS}"), &bytes).out,
            expected,
            "{name} on standard input"
        );
    }
}

#[test]
fn columns_are_called_by_name_or_number() {
    let folder = Folder::with(TABLE);
    let expected = folder.score("data.csv --columns x,y --id id --label kind").out;
    assert_eq!(folder.score("data.csv --columns 1,2 --id 0 --label 3").out, expected);
    assert_eq!(folder.score("data.csv --id id --label kind").out, expected);
    let bare: String = TABLE.split_inclusive('\n').skip(1).collect();
    folder.write("bare.csv", &bare);
    assert_eq!(folder.score("bare.csv --no-header --id 0 --label 3").out, expected);
    // A name with a comma in it.
    folder.write("comma.csv", TABLE.replacen("x,y", "\"x, in\",y", 1));
    let quoted =
        folder.run(&["score", "comma.csv", "--columns", "\"x, in\",y", "--id", "id", "--label", "kind"]);
    assert_eq!(quoted.out, expected);
}

#[test]
fn headers_are_told_from_data() {
    let folder = Folder::with("1,2\n3,4\n5,7\n");
    assert_eq!(folder.score("data.csv").out.lines().count(), 4);
    assert_eq!(folder.score("data.csv --header").out.lines().count(), 3);
    // The first field has the form of those below it: data.
    folder.write("codes.csv", "m1,1,2\nm2,3,4\nm3,5,7\nm4,6,6\n");
    let ran = folder.score("codes.csv --id 0");
    let note = "note: codes.csv: line 1 is taken for data, and columns are called by number; if it is the header, say --header\n";
    assert!(ran.err.starts_with(note), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 5);
    assert_eq!(folder.score("codes.csv --header --id 0 --quiet").out.lines().count(), 4);
    folder.write("doubt.csv", "m,1,2\na,3,4\nb,5,7\nc,6,6\n");
    let ran = folder.score("doubt.csv --id 0");
    let note = "note: doubt.csv: line 1 is taken for the header; if it is data, say --no-header\n";
    assert!(ran.err.starts_with(note), "{}", ran.err);
    assert_eq!(folder.score("doubt.csv --id 0 --no-header --quiet").out.lines().count(), 5);
}
