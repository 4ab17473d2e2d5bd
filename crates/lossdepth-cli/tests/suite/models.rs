//! Model files: a model scores as its reference does, to the last bit, and says what is wrong with it where it cannot.

use crate::common::{Folder, TABLE, assert_snapshot};
use std::process::Stdio;

const MODEL: &str = "model.safetensors";

/// Runs a command, its arguments given as one text, and expects it to go well.
#[track_caller]
fn done(folder: &Folder, args: &str) -> (String, String) {
    let ran = folder.run(&args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
    (ran.out, ran.err)
}

/// Runs a command and expects this to be all that is said.
#[track_caller]
fn refused(folder: &Folder, args: &str, message: &str) {
    let ran = folder.run(&args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.err, format!("error: {message}\n"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
}

fn folder() -> Folder {
    let folder = Folder::with(TABLE);
    folder.write("new.csv", "when,y,x\nnow,1.5,2.5\nthen,-3,4\nlater,8,8.25\n");
    folder
}

#[test]
fn a_model_scores_as_its_reference_does() {
    let folder = folder();
    for settings in [
        "",
        "--method hinge --reg 0.01 --scale standard",
        "--method svm --gamma quartile --scale mcd --support-fraction 0.6",
        "--method klr --kernel laplacian --reg 0.05",
        "--method gp",
        "--method forest --trees 50 --seed 7",
        "--method mlp --hidden 5",
        "--method halfspace --scale whiten",
        "--variant constrained --radius 0.5 --scale robust",
    ] {
        let common = format!("--columns x,y {settings}");
        let (out, err) = done(&folder, &format!("fit data.csv {common} --out {MODEL}"));
        assert!(out.is_empty() && err.starts_with("model.safetensors: 11 rows in 2 columns: "), "{err}");
        let by_reference = done(&folder, &format!("score new.csv --reference data.csv {common} --quiet")).0;
        assert_eq!(
            done(&folder, &format!("score new.csv --model {MODEL} --quiet")).0,
            by_reference,
            "{settings}"
        );
        let itself = done(&folder, &format!("score data.csv {common} --quiet")).0;
        assert_eq!(done(&folder, &format!("score data.csv --model {MODEL} --quiet")).0, itself, "{settings}");
        // The same file again.
        let first = std::fs::read(folder.path(MODEL)).unwrap();
        done(&folder, &format!("fit data.csv {common} --out {MODEL} --quiet"));
        assert_eq!(std::fs::read(folder.path(MODEL)).unwrap(), first, "{settings}");
    }
}

#[test]
fn weights_labels_and_ids_keep_their_parts() {
    let folder = Folder::with("id,x,label,w\na,1,0,9\nb,2,1,9\nc,7,0,1\n");
    folder.write("old.csv", "w,x,label,id\n1,0,0,p\n1,1,0,q\n2,4,1,r\n0,9,1,s\n");
    done(&folder, &format!("fit old.csv --label label --id id --weights w --out {MODEL}"));
    let by_reference =
        done(&folder, "score data.csv --reference old.csv --label label --id id --weights w").0;
    let (out, err) = done(&folder, &format!("score data.csv --model {MODEL} --label label --id id"));
    assert_eq!(out, by_reference);
    assert!(err.contains(&format!("note: data.csv: not in {MODEL}, so left out: `w`\n")), "{err}");
    assert!(out.starts_with("id,depth,error,stderr,label\n") || out.starts_with("row,"), "{out}");
    done(&folder, &format!("score data.csv --model {MODEL} --out scores.json"));
    let value: serde_json::Value = serde_json::from_str(&folder.read("scores.json")).unwrap();
    assert_eq!(value["columns"], serde_json::json!(["x"]));
    assert_eq!(value["reference_rows"], 4);
}

#[test]
fn columns_are_matched_by_name_else_by_position() {
    let folder = folder();
    done(&folder, &format!("fit data.csv --columns x,y --out {MODEL}"));
    let (expected, err) = done(&folder, &format!("score new.csv --model {MODEL}"));
    assert!(err.starts_with(&format!("note: new.csv: not in {MODEL}, so left out: `when`\n")), "{err}");
    folder.write("bare.csv", "2.5,1.5\n4,-3\n8.25,8\n");
    assert_eq!(done(&folder, &format!("score bare.csv --model {MODEL}")).0, expected);
    folder.write("renamed.csv", "b,a\n1.5,2.5\n-3,4\n8,8.25\n");
    assert_eq!(done(&folder, &format!("score renamed.csv --model {MODEL} --columns a,b")).0, expected);
    refused(
        &folder,
        &format!("score renamed.csv --model {MODEL}"),
        "renamed.csv: no columns `x`, `y`; there are `b`, `a`",
    );
    folder.write("wide.csv", "1,2,3\n");
    refused(
        &folder,
        &format!("score wide.csv --model {MODEL}"),
        "wide.csv: 3 columns to compare, model.safetensors has 2; choose them with --columns",
    );
    // A reference without a header makes a model without names.
    done(&folder, &format!("fit bare.csv --out {MODEL}"));
    assert_eq!(done(&folder, &format!("score bare.csv --model {MODEL}")).0.lines().count(), 4);
    assert_eq!(
        done(&folder, &format!("score renamed.csv --model {MODEL} --columns a,b")).0.lines().count(),
        4
    );
}

#[test]
fn what_belongs_to_the_model_cannot_be_said_again() {
    let folder = folder();
    done(&folder, &format!("fit data.csv --columns x,y --method svm --out {MODEL}"));
    for flag in
        ["--reg 2", "--method svm", "--reference data.csv", "--weights x", "--scale none", "--tol 1e-3"]
    {
        let ran = folder.score(&format!("new.csv --model {MODEL} {flag}"));
        let name = flag.split(' ').next().unwrap();
        assert_eq!(ran.code, Some(2), "{flag}");
        assert!(
            ran.err.contains("'--model <FILE>' cannot be used with") && ran.err.contains(name),
            "{}",
            ran.err
        );
    }
    let expected = done(&folder, &format!("score new.csv --model {MODEL}")).0;
    assert_eq!(done(&folder, &format!("score new.csv --model {MODEL} --threads 2 --memory 1e5")).0, expected);
}

#[test]
fn bad_models_are_refused() {
    let folder = folder();
    let score = format!("score new.csv --model {MODEL}");
    refused(&folder, &score, "model.safetensors: no such file");
    refused(&folder, "score new.csv --model .", ".: is a directory, not a file");
    refused(&folder, "info data.csv", "data.csv: not a lossdepth model: not in safetensors format");
    done(&folder, &format!("fit data.csv --columns x,y --out {MODEL}"));
    let good = std::fs::read(folder.path(MODEL)).unwrap();
    folder.write(MODEL, &good[..good.len() / 2]);
    refused(&folder, &score, "model.safetensors: the model is damaged: it is cut off");
    let mut bad = good.clone();
    *bad.last_mut().unwrap() ^= 1;
    folder.write(MODEL, &bad);
    let why = "the checksum is wrong: it was changed after it was saved, or not copied whole";
    refused(&folder, &score, &format!("model.safetensors: the model is damaged: {why}"));
    let version = b"\"format_version\":\"3";
    let at = good.windows(version.len()).position(|bytes| bytes == version).unwrap();
    let mut newer = good.clone();
    newer[at + version.len() - 1] = b'4';
    folder.write(MODEL, &newer);
    let version = env!("CARGO_PKG_VERSION");
    refused(
        &folder,
        &format!("info {MODEL}"),
        &format!(
            "model.safetensors: made by a newer lossdepth ({version}): format 4, this one reads up to 3"
        ),
    );
}

#[test]
fn a_fit_that_fails_leaves_the_old_file() {
    let folder = folder();
    folder.write(MODEL, "precious");
    let ran = folder.run(&["fit", "data.csv", "--as", "id=number", "--out", MODEL]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("column `id` holds texts such as `a`"), "{}", ran.err);
    assert_eq!(folder.read(MODEL), "precious");
    refused(
        &folder,
        &format!("fit data.csv --columns x,y --reg 0 --out {MODEL}"),
        "`--reg` must be a positive, finite number, got 0",
    );
    refused(
        &folder,
        "fit data.csv --columns x,y --out nowhere/model.safetensors",
        "nowhere/model.safetensors: cannot write: no such folder",
    );
    for name in ["model.json", "model", "safetensors"] {
        let ran = folder.run(&["fit", "data.csv", "--columns", "x,y", "--out", name]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains("the name must end in .safetensors"), "{}", ran.err);
    }
    assert_eq!(folder.run(&["fit", "data.csv"]).code, Some(2));
    assert_eq!(folder.list(), ["data.csv", MODEL, "new.csv"]);
}

#[test]
fn a_warning_of_the_scaling_is_in_the_model() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n");
    let warning = "warning: scale `mcd` needs at least 5 different rows, the reference has 3: used `standard` instead\n";
    assert_eq!(done(&folder, &format!("fit data.csv --scale mcd --quiet --out {MODEL}")).1, warning);
    assert_eq!(done(&folder, &format!("score data.csv --model {MODEL} --quiet")).1, warning);
}

#[test]
fn info() {
    let folder = folder();
    let fit = "fit data.csv --columns x,y --weights kind --method svm --reg 0.02 --scale standard";
    folder.write("data.csv", TABLE.replace(",0\n", ",2\n"));
    done(&folder, &format!("{fit} --out {MODEL}"));
    let version = env!("CARGO_PKG_VERSION");
    let plain = |text: String| text.replace(version, "VERSION");
    assert_snapshot("info.txt", &plain(done(&folder, &format!("info {MODEL}")).0));
    let json = done(&folder, &format!("info {MODEL} --json")).0;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["settings"]["method"], &value["weighted"]), (&"svm".into(), &true.into()));
    assert_snapshot("info.json", &plain(json));
}

#[test]
fn a_reference_may_come_from_standard_input() {
    let folder = Folder::new();
    let mut child =
        folder.command(&["fit", "-", "--out", MODEL, "--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"1,2\n3,4\n5,7\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.list(), [MODEL]);
}

/// Real tables where `LOSSDEPTH_DATA` names their folder, a made one besides.
#[test]
fn models_of_larger_tables() {
    let folder = Folder::new();
    let value = |i: u64, j: u64| ((i * 7919 + j * 104_729) % 1009) as f64 / 7.0 + (i % 5) as f64;
    let row = |i: u64| (0..6).map(|j| value(i, j).to_string()).collect::<Vec<_>>().join(",") + "\n";
    folder.write("data.csv", (0..3000).map(row).collect::<String>());
    for method in ["logistic", "svm", "forest"] {
        let settings = format!("--method {method} --scale mcd");
        done(&folder, &format!("fit data.csv {settings} --out {MODEL}"));
        let by_model = done(&folder, &format!("score data.csv --model {MODEL} --quiet")).0;
        assert_eq!(by_model, done(&folder, &format!("score data.csv {settings} --quiet")).0, "{method}");
    }
}
