//! References, weights, labels, exit codes, closed pipes.

use crate::common::{Folder, TABLE};
use std::fmt::Write;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// Depth and error of each row.
fn depths(csv: &str) -> Vec<(f64, f64)> {
    let number = |text: Option<&str>| text.unwrap().parse().unwrap();
    let row = |line: &str| (number(line.split(',').nth(1)), number(line.split(',').nth(2)));
    csv.lines().skip(1).map(row).collect()
}

#[test]
fn the_data_is_its_own_reference() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n3,3\n9,-4\n");
    folder.write("same.csv", folder.read("data.csv"));
    let ran = folder.score("data.csv");
    assert_eq!(ran.out, folder.score("data.csv --reference same.csv").out);
    let summary = "5 rows scored against 5 in 2 columns: logistic, reg 1, variant risk, intercept free, \
                   scale standard, tol 1e-6; ";
    assert!(ran.err.starts_with(summary), "{}", ran.err);
}

#[test]
fn columns_of_a_reference_are_matched_by_name() {
    let folder = Folder::with("when,y,x\nmon,0,1\ntue,5,2\n");
    folder.write("old.csv", "x,y\n0,0\n1,2\n2,1\n3,3\n");
    folder.write("sorted.csv", "x,y\n1,0\n2,5\n");
    let ran = folder.score("data.csv --reference old.csv");
    assert_eq!(ran.out, folder.score("sorted.csv --reference old.csv").out);
    assert!(ran.err.starts_with("note: data.csv: not in old.csv, so left out: `when`\n"), "{}", ran.err);
}

#[test]
fn columns_are_matched_by_position_where_names_are_missing() {
    let folder = Folder::with("1,0\n2,5\n");
    folder.write("old.csv", "x,y\n0,0\n1,2\n2,1\n3,3\n");
    folder.write("named.csv", "x,y\n1,0\n2,5\n");
    let expected = folder.score("named.csv --reference old.csv").out;
    assert_eq!(folder.score("data.csv --reference old.csv").out, expected);
    folder.write("wide.csv", "7,1,0\n7,2,5\n");
    assert_eq!(
        folder.score("wide.csv --reference old.csv").err,
        "error: wide.csv: 3 columns to compare, old.csv has 2; choose them with --columns\n"
    );
}

#[test]
fn label_id_and_weights_are_never_compared() {
    let folder = Folder::with("id,x,label,w\na,1,0,9\nb,2,1,9\n");
    folder.write("old.csv", "w,x,label,id\n1,0,0,p\n1,1,0,q\n2,4,1,r\n");
    folder.write("copies.csv", "x\n0\n1\n4\n4\n");
    let with = folder.score("data.csv --reference old.csv --label label --id id --weights w --quiet");
    let copies = folder.score("data.csv --reference copies.csv --columns x --quiet");
    assert_eq!((with.code, copies.code), (Some(0), Some(0)), "{}{}", with.err, copies.err);
    for ((a, error), (b, other)) in depths(&with.out).into_iter().zip(depths(&copies.out)) {
        assert!((a - b).abs() <= error + other, "{a} {b}");
    }
    let own = folder.score("old.csv --label label --id id --weights w --out own.json");
    assert_eq!(own.code, Some(0));
    let value: serde_json::Value = serde_json::from_str(&folder.read("own.json")).unwrap();
    assert_eq!(value["columns"], serde_json::json!(["x"]));
}

#[test]
fn pieces_do_not_show() {
    // More rows than are scored at a time.
    let rows: Vec<String> = (0..70_000).map(|i| format!("{},{}\n", i % 17, (i * 7) % 13)).collect();
    let folder = Folder::with(rows.concat());
    folder.write("old.csv", rows[..50].concat());
    let out = folder.score("data.csv --reference old.csv --quiet").out;
    let lines: Vec<&str> = out.lines().skip(1).collect();
    assert_eq!(lines.len(), 70_000);
    let of = |i: usize| lines[i].split_once(',').unwrap();
    // Rows repeat every 17 × 13.
    assert!((0..70_000).all(|i| of(i).0 == i.to_string() && of(i).1 == of(i % 221).1));
    // A fault beyond the first piece is reported with its own line.
    folder.write("bad.csv", rows.concat() + "1,\n");
    let ran = folder.score("bad.csv --reference old.csv --missing error --out bad.json");
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.err, "error: bad.csv: column `1` has a gap in line 70001 (row 70000)\n");
    assert_eq!(folder.list(), ["bad.csv", "data.csv", "old.csv"]);
}

#[test]
fn settings_reach_the_library() {
    let folder = Folder::with(TABLE);
    let base = "data.csv --columns x,y --quiet";
    let default = folder.score(base).out;
    for more in [
        "--method hinge",
        "--method squared-hinge",
        "--method exponential",
        "--reg 0.01",
        "--variant objective",
        "--variant constrained --radius 0.1",
        "--intercept none",
        "--intercept penalised",
        "--scale none",
        "--scale robust",
        "--scale whiten",
        "--scale mcd",
        "--scale mcd --support-fraction 0.6",
    ] {
        let ran = folder.score(&format!("{base} {more}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{more}");
        assert_ne!(ran.out, default, "{more}");
    }
    assert_eq!(folder.score(&format!("{base} --threads 2 --method logistic --reg 1")).out, default);
}

#[test]
fn a_fallback_of_the_scaling_is_a_warning() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n");
    let ran = folder.score("data.csv --scale mcd --quiet --out scores.json");
    assert_eq!(ran.code, Some(0));
    let warning = "scale `mcd` needs at least 5 different rows, the reference has 3: used `standard` instead";
    assert_eq!(ran.err, format!("warning: {warning}\n"));
    // Whoever reads the scores alone learns of it too.
    let scores: serde_json::Value = serde_json::from_str(&folder.read("scores.json")).unwrap();
    assert_eq!(scores["warning"], warning);
}

#[test]
fn columns_of_very_different_spread_are_a_warning_where_they_are_compared_as_they_are() {
    let mut text = "age,pay\n".to_owned();
    for i in 0..20 {
        writeln!(text, "{},{}", 20 + i * 7 % 17, 30_000 + i * 1_700 % 17_000).unwrap();
    }
    let folder = Folder::with(text);
    let warning = "warning: column `pay` varies 970 times as much as `age`, which hardly counts with scale `none`: scale \
                   `standard` compares columns on one scale\n";
    for command in [
        "score data.csv",
        "fit data.csv --out m.safetensors",
        "explain data.csv --row 1",
        "outliers data.csv",
    ] {
        let run = |args: &str| {
            let args = format!("{command} --method logistic --quiet {args}");
            folder.run(&args.split_whitespace().collect::<Vec<_>>()).err
        };
        assert_eq!(run("--scale none"), warning, "{command}");
        assert_eq!(run(""), "", "{command}");
        assert_eq!(run("--preset paper"), "", "{command}");
    }
    // Saved models were warned of when they were fitted.
    assert_eq!(folder.score("data.csv --model m.safetensors --quiet").err, "");
    assert_eq!(folder.score("data.csv --method halfspace --scale none --quiet").err, "");
}

#[test]
fn words_say_which_label_is_the_outlier() {
    let folder =
        Folder::with("x,kind\n0,ok\n1,ok\n2,ok\n1,ok\n9,Fault\n8,Fault\n7,Fault\n6,Fault\n5,Fault\n");
    let ran = folder.score("data.csv --label kind --quiet");
    assert!(ran.err.ends_with("(outlier: `kind` = Fault, 5 of 9 rows)\n"), "{}", ran.err);
    folder.write("three.csv", "x,kind\n0,a\n1,b\n2,c\n");
    let ran = folder.score("three.csv --label kind");
    assert!(ran.err.starts_with("note: no AUC-ROC: label `kind` has more than two values\n"), "{}", ran.err);
    assert_eq!(ran.code, Some(0));
}

#[test]
fn rows_that_do_not_converge_are_counted() {
    let folder = Folder::with(TABLE);
    let ran = folder.score("data.csv --columns x,y --reg 1e-4 --max-iter 1 --quiet --out scores.csv");
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.starts_with("warning: 11 of 11 rows did not converge, largest error "), "{}", ran.err);
    assert_eq!(folder.read("scores.csv").lines().count(), 12);
}

#[test]
fn a_failed_run_leaves_the_old_file() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,oops\n");
    folder.write("scores.csv", "precious");
    folder.write("old.csv", "x,y\n0,0\n1,2\n2,1\n");
    assert_eq!(folder.score("data.csv --missing error --as y=number --out scores.csv").code, Some(2));
    assert_eq!(folder.score("data.csv --reference old.csv --missing error --out scores.csv").code, Some(2));
    assert_eq!(folder.read("scores.csv"), "precious");
    assert_eq!(folder.list(), ["data.csv", "old.csv", "scores.csv"]);
    // And a good one may replace it.
    assert_eq!(folder.score("old.csv --out scores.csv").code, Some(0));
    assert_eq!(folder.read("scores.csv").lines().count(), 4);
    assert_eq!(folder.list(), ["data.csv", "old.csv", "scores.csv"]);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n");
    folder.write("real.csv", "old");
    std::fs::set_permissions(folder.path("real.csv"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("real.csv", folder.path("link.csv")).unwrap();
    assert_eq!(folder.score("data.csv --out link.csv").code, Some(0));
    assert!(folder.path("link.csv").is_symlink());
    assert_eq!(folder.read("real.csv").lines().count(), 4);
    let mode = std::fs::metadata(folder.path("real.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::with("0\n7\n50\n99\n".repeat(50_000));
    folder.write("old.csv", "0\n50\n99\n");
    let mut child = folder
        .command(&["score", "data.csv", "--reference", "old.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, "row,depth,error,stderr,percentile\n");
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn the_example_works() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sensors.csv");
    let args =
        ["score", path, "--id", "id", "--label", "label", "--scale", "standard", "--reg", "0.01", "--quiet"];
    let ran = Folder::new().run(&args);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 201));
    let auc: f64 = ran.err.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(auc > 0.95, "{}", ran.err);
}

#[test]
fn a_forest_has_settings_of_its_own() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n3,3\n9,-4\n");
    let all = folder.score("data.csv --method forest");
    assert_eq!(all.code, Some(0), "{}", all.err);
    let all = depths(&all.out);
    // The last row is alone in its box after the first cut; so are the others but for themselves.
    assert!(all.iter().all(|(depth, error)| *depth > 0.0 && *depth < 1.0 && *error < 1e-12), "{all:?}");
    let some = folder.score("data.csv --method forest --trees 20000 --seed 1").out;
    for (all, some) in all.iter().zip(depths(&some)) {
        assert!((all.0 - some.0).abs() < 0.02, "{all:?} {some:?}");
    }
    for settings in ["--max-features 1.0 --max-depth 1", "--rotations 3 --loss brier", "--value paper-code"] {
        assert_eq!(folder.score(&format!("data.csv --method forest {settings}")).code, Some(0), "{settings}");
    }
    let wrong = folder.score("data.csv --method forest --reg 1");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("`--reg` is no setting of method forest"), "{}", wrong.err);
}
