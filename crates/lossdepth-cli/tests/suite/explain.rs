//! `lossdepth explain`: the words, the numbers, and what cannot be explained.

use crate::common::{Folder, TABLE, assert_snapshot};
use serde_json::Value;

fn folder() -> Folder {
    Folder::with(TABLE)
}

fn run(folder: &Folder, args: &str) -> crate::common::Ran {
    folder.run(&["explain"].into_iter().chain(args.split_whitespace()).collect::<Vec<_>>())
}

fn json(folder: &Folder, args: &str) -> Value {
    let ran = run(folder, &format!("{args} --json"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// A method of each family.
const FAMILIES: [&str; 7] = ["logistic", "svm", "klr", "gp", "forest", "mlp", "halfspace"];

#[test]
fn every_family_has_its_table_and_its_json() {
    let folder = folder();
    for method in FAMILIES {
        let args = format!("data.csv --id id --label kind --method {method} --row l");
        let ran = run(&folder, &args);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{method}");
        assert_snapshot(&format!("explain-{method}.txt"), &ran.out);
        let ran = run(&folder, &format!("{args} --json"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{method}");
        assert_snapshot(&format!("explain-{method}.json"), &ran.out);
    }
    assert_snapshot("explain-help.txt", &run(&folder, "--help").out);
}

#[test]
fn contributions_add_up_to_the_last_bit() {
    let folder = folder();
    for method in ["logistic", "hinge", "halfspace"] {
        let found =
            json(&folder, &format!("data.csv --id id --label kind --method {method} --shallowest 11"));
        assert_eq!(found["rows"].as_array().unwrap().len(), 11);
        for row in found["rows"].as_array().unwrap() {
            let parts =
                row["columns"].as_array().unwrap().iter().map(|c| c["contribution"].as_f64().unwrap());
            let sum = parts.fold(row["baseline"].as_f64().unwrap(), |sum, part| sum + part);
            assert_eq!(sum, row["value"].as_f64().unwrap(), "{method}");
        }
    }
}

#[test]
fn depths_are_those_of_score_and_ranks_count_them() {
    let folder = folder();
    let scored = folder.score("data.csv --id id --label kind --method svm -q").out;
    let depths: Vec<f64> =
        scored.lines().skip(1).map(|line| line.rsplit(',').nth(4).unwrap().parse().unwrap()).collect();
    let found = json(&folder, "data.csv --id id --label kind --method svm --shallowest 11");
    let explained: Vec<f64> =
        found["rows"].as_array().unwrap().iter().map(|row| row["depth"].as_f64().unwrap()).collect();
    let mut sorted = depths.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(explained, sorted);
    for (i, row) in found["rows"].as_array().unwrap().iter().enumerate() {
        let deeper = row["deeper_than"].as_f64().unwrap();
        assert!((deeper - i as f64 / 11.0).abs() < 1e-12, "{deeper}");
    }
}

#[test]
fn rows_are_found_by_number_id_and_depth_and_named_once() {
    let folder = folder();
    let rows = |args: &str| -> Vec<Value> {
        let found = json(&folder, args);
        found["rows"].as_array().unwrap().iter().map(|row| row["row"].clone()).collect()
    };
    assert_eq!(rows("data.csv --columns x,y --row 3 --row 10 --row 3"), [3, 10]);
    let all = rows("data.csv --columns x,y --id id --row l --shallowest 11");
    assert_eq!((all.len(), &all[0]), (11, &Value::from("l")));
    assert_eq!(rows("data.csv --columns x,y").len(), 3);
    assert_eq!(rows("data.csv --columns x,y --deepest 2").len(), 2);
    assert_eq!(rows("data.csv --columns x,y --shallowest 100").len(), 11);
}

#[test]
fn the_reference_may_be_another_table() {
    let folder = folder();
    folder.write("new.csv", "y,x\n8.0,2.0\n4.0,4.0\n");
    let found = json(&folder, "new.csv --reference data.csv --columns x,y --row 0");
    let row = &found["rows"][0];
    assert_eq!(
        (row["columns"][0]["name"].as_str(), row["columns"][0]["value"].as_f64()),
        (Some("x"), Some(2.0))
    );
    assert_eq!(found["reference_rows"], 11);
    // Without the rank the reference is not scored.
    let found = json(&folder, "new.csv --reference data.csv --columns x,y --row 0 --no-rank");
    assert!(found["rows"][0].get("deeper_than").is_none());
}

#[test]
fn a_file_is_whole_and_its_name_says_what_is_in_it() {
    let folder = folder();
    assert_eq!(run(&folder, "data.csv --columns x,y --row 1 --out why.json").code, Some(0));
    assert!(folder.read("why.json").starts_with("{\n  \"format\": 1,\n"));
    assert_eq!(run(&folder, "data.csv --columns x,y --row 1 --out why.txt").code, Some(0));
    assert!(folder.read("why.txt").starts_with("row 1\n"));
    assert_eq!(folder.list(), ["data.csv", "why.json", "why.txt"]);
}

#[test]
fn images_are_drawn_beside_their_coefficients() {
    let folder = Folder::new();
    let pixel = |row: usize, column: usize| (row * 7 + column * column * 3) % 11;
    let line = |row| (0..6).map(|column| pixel(row, column).to_string()).collect::<Vec<_>>().join(",") + "\n";
    folder.write("data.csv", (0..9).map(line).collect::<String>());
    let ran = run(&folder, "data.csv --image 2x3 --row 1 --row 4 --out rows.png --size 900x600");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("row 1\n") && ran.out.contains("row 4\n"));
    let bytes = std::fs::read(folder.path("rows.png")).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(run(&folder, "data.csv --image 2x3 --method svm --row 1 --out rows.svg").code, Some(0));
    let svg = folder.read("rows.svg");
    assert_eq!(svg.matches("<image").count(), 2);
    assert!(svg.contains(">row 1: depth 0."), "{svg}");
}

#[test]
fn what_cannot_be_explained_is_said() {
    let folder = folder();
    let cases = [
        ("--row 11", "data.csv: no row 11: the rows are numbered from 0 to 10"),
        ("--row -1", "`--row -1` is not the number of a row"),
        (
            "--row l",
            "`--row l` is not the number of a row; to find rows by a name, say in which column with --id",
        ),
        ("--id id --row zz", "data.csv: no row has the id `zz`"),
        ("--shallowest 0", "data.csv: no row to explain"),
        ("--row 1 --image 2x2 --out a.png", "`--image 2x2` needs rows of as many columns, there are 2"),
        ("--row 1 --image 1x2", "`--image` needs a file for the picture"),
        ("--row 1 --image 1x2 --out a.csv", "a.csv: the name must end in .png or .svg"),
        ("--row 1 --out a.png", "a picture needs `--image HxW`"),
        ("--row 1 --out a.csv", "a.csv: the name must end in .json or .txt"),
        ("--row 1 --out a.json --format table", "a table goes into a .txt file"),
        ("--row 1 --out no/where.json", "no/where.json: cannot write: no such folder"),
        ("--row 1 --method forest --image 1x2 --out a.png", "method forest has no coefficients to draw"),
        ("--row 1 --image 99999999999x99999999999 --out a.png", "needs rows of as many columns"),
    ];
    for (args, expected) in cases {
        let ran = run(&folder, &format!("data.csv --columns x,y {args}"));
        assert_eq!(ran.code, Some(2), "{args}");
        assert!(ran.err.contains(expected) && ran.err.starts_with("error: "), "{args}: {}", ran.err);
        assert_eq!(ran.out, "", "{args}");
    }
    for wrong in ["0x3", "3", "x", "axb", ""] {
        let ran = folder.run(&["explain", "data.csv", "--image", wrong, "--out", "a.png"]);
        assert_eq!(ran.code, Some(2), "{wrong}");
    }
    assert_eq!(folder.list(), ["data.csv"]);
}

#[test]
fn degenerate_data_has_an_explanation_too() {
    for text in ["1\n2\n", "5,5\n5,5\n5,5\n", "1,0\n2,0\n3,0\n9,0\n", "1,2,3\n4,5,6\n"] {
        let folder = Folder::with(text);
        for method in FAMILIES {
            for format in ["table", "json"] {
                let ran = run(&folder, &format!("data.csv --method {method} --row 0 --format {format}"));
                assert!(matches!(ran.code, Some(0 | 1)), "{method} on {text:?}: {}", ran.err);
                assert!(!ran.out.contains("NaN"), "{method} on {text:?}: {}", ran.out);
            }
        }
    }
}

#[test]
fn a_model_explains_like_the_reference_it_was_fitted_to() {
    let folder = folder();
    folder.write("new.csv", "y,x\n8.0,2.0\n4.0,4.0\n");
    let ran = folder.run(&[
        "fit",
        "data.csv",
        "--columns",
        "x,y",
        "--method",
        "svm",
        "--reg",
        "0.1",
        "--out",
        "m.safetensors",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let by_model = json(&folder, "new.csv --model m.safetensors --shallowest 2");
    let by_table =
        json(&folder, "new.csv --reference data.csv --columns x,y --method svm --reg 0.1 --shallowest 2");
    assert_eq!(by_model["rows"], by_table["rows"]);
    assert_eq!(by_model["reference_rows"], 11);
}
