//! Memory that is not there: an error in a line, not the end of the process.
#![cfg(target_os = "linux")]

use crate::build::gzip;
use crate::common::Folder;

#[test]
fn a_text_that_does_not_fit() {
    let row = vec!["1"; 1000].join(",") + "\n";
    let folder = Folder::new();
    folder.write("data.csv.gz", gzip(row.repeat(60_000).as_bytes()));
    let limited = |args: &[&str]| folder.shell("ulimit -v 700000; exec \"$0\" \"$@\"", args);
    let ran = limited(&["score", "data.csv.gz", "--threads", "1"]);
    let start = "error: data.csv.gz: the rows take 359 MB or more, more than half of the memory of this process, 717 MB\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), start));
}

#[test]
fn a_forest_of_many_columns_says_so() {
    // A forest of one tree is quick: it is the one of all trees that is warned of, and only where there are many columns.
    let row = |i: usize| (0..10_000).map(|j| (i * j % 7).to_string()).collect::<Vec<_>>().join(",") + "\n";
    let folder = Folder::with((1..4).map(row).collect::<String>());
    let ran = folder.score("data.csv --method forest --trees 1 --quiet");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let warning = "warning: the forest of all trees may take very long with 10000 columns; `--trees 1000` draws as many at random\n";
    let ran = folder.score("data.csv --method forest --max-depth 1 --quiet");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), warning));
}

#[test] // This was the end of the process.
fn encoded_rows_that_do_not_fit() {
    let row =
        |i: usize| (0..12).map(|j| format!("level {}", (i * 7 + j) % 100)).collect::<Vec<_>>().join(",");
    let names = (0..12).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",");
    let rows = (0..60_000).map(row).collect::<Vec<_>>().join("\n");
    let folder = Folder::with(format!("{names}\n{rows}\n"));
    for command in ["score", "outliers"] {
        let line = "ulimit -v 400000; exec \"$0\" \"$@\"";
        let ran = folder.shell(line, &[command, "data.csv", "--threads", "1", "--quiet"]);
        let message = "error: data.csv: not enough memory to compare 60000 rows in 1212 coordinates: 582 MB more are needed\n";
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), message));
    }
}
