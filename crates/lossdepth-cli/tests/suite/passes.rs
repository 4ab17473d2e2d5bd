//! `score --reference-rows passes`: the same depths as with all rows in memory, from files that are read again and again.

use crate::common::{Folder, Ran};
use std::fmt::Write;

/// A reference of 3,000 rows and a few queries.
fn folder() -> Folder {
    let folder = Folder::with("a,b\n0.1,0.2\n3,-2\n40,50\n");
    let mut text = "a,w,b\n".to_owned();
    for i in 0..3000 {
        let (x, w) = (f64::from(i), i % 3);
        writeln!(text, "{},{w},{}", (0.7 * x).sin() * 5.0, (1.3 * x).cos() + 0.01 * x).expect("a text");
    }
    folder.write("old.csv", text);
    folder
}

/// Depths and errors.
fn depths(ran: &Ran) -> Vec<(f64, f64)> {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    written(ran)
}

fn written(ran: &Ran) -> Vec<(f64, f64)> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (number(cells[1]), number(cells[2]))
    };
    ran.out.lines().skip(1).map(row).collect()
}

#[test]
fn depths_are_those_of_all_rows_in_memory() {
    let folder = folder();
    for (method, more) in [
        ("logistic", ""),
        ("logistic", "--reg 0.01 --scale standard --weights w"),
        ("squared-hinge", "--variant objective --intercept penalised"),
        ("exponential", "--intercept none --weights w"),
        ("svm", ""),
        ("svm", "--kernel laplacian --sigma 3 --weights w --intercept free --reg 0.25"),
        ("svm", "--kernel imq --variant objective --scale robust"),
    ] {
        let line = format!("data.csv --reference old.csv --columns a,b --method {method} {more}");
        let ours = folder.score(&format!("{line} --reference-rows passes"));
        assert!(ours.err.contains("proven for all rows") && ours.err.contains("read "), "{}", ours.err);
        let (ours, all) = (depths(&ours), depths(&folder.score(&line)));
        assert_eq!((ours.len(), all.len()), (3, 3));
        for ((depth, error), (exact, its)) in ours.iter().zip(&all) {
            assert!(
                (depth - exact).abs() <= error + its && *error <= 1e-6,
                "{method} {more}: {depth} {exact}"
            );
        }
    }
}

#[test]
fn a_table_is_its_own_reference() {
    let folder = folder();
    let ran =
        folder.score("old.csv --exclude w --method logistic --reference-rows passes --no-percentile --top 5");
    assert_eq!(depths(&ran).len(), 5);
}

#[test]
fn blocks_are_bounded_and_a_tolerance_that_is_missed_is_told() {
    let folder = folder();
    let mut text = "a,b\n".to_owned();
    for i in 0..20_000 {
        let x = f64::from(i);
        writeln!(text, "{},{}", (0.7 * x).sin() * 5.0, (1.3 * x).cos() + (0.01 * x).sin()).expect("a text");
    }
    folder.write("long.csv", text);
    let line = "data.csv --reference long.csv --method svm --gamma 0.3";
    let exact = depths(&folder.score(&format!("{line} --reference-rows all")));
    for tol in ["1e-3", "1e-15"] {
        let ran = folder.score(&format!("{line} --reference-rows passes --tol {tol}"));
        let missed = tol == "1e-15";
        assert_eq!(ran.err.contains("did not converge"), missed, "{}", ran.err);
        assert_eq!(ran.code, Some(i32::from(missed)), "{}", ran.err);
        for ((depth, error), (exact, its)) in written(&ran).iter().zip(&exact) {
            assert!((depth - exact).abs() <= error + its, "{depth} {error} {exact}");
            assert_eq!(*error > tol.parse().expect("a number"), missed, "{error}");
        }
    }
}

#[test]
fn what_does_not_go_with_passes_is_refused() {
    let folder = folder();
    folder.write("gaps.csv", "a,b\n1,2\n2,\n3,1\n");
    folder.write(
        "late.csv",
        (0..70_000)
            .fold("a,b\n".to_owned(), |text, i| text + if i == 69_999 { "1,\n" } else { "1.5,2\n2,1\n" }),
    );
    for (line, why) in [
        ("data.csv --reference old.csv --method hinge", "squared-hinge"),
        ("data.csv --reference old.csv --method auto", "not with `auto`"),
        ("data.csv --reference old.csv --method logistic --fdr 0.1 --p-values", "--p-values"),
        ("data.csv --reference old.csv --method logistic --variant constrained --radius 1", "variant"),
        ("data.csv --reference old.csv --method svm --reg 0.1", "at least 0.25"),
        ("data.csv --reference old.csv --columns a,b --method svm --kernel linear", "k(x, x)"),
        ("data.csv --reference old.csv --method svm --kernel precomputed", "precomputed"),
        ("data.csv --reference old.csv --method klr", "not with `klr`"),
        ("data.csv --reference - --method logistic", "standard input"),
        ("data.csv --reference gaps.csv --method logistic", "complete numbers"),
        ("data.csv --reference late.csv --method logistic", "row 139998"),
        ("data.csv --reference none.csv --method logistic", "no such file"),
    ] {
        let ran = folder.score(&format!("{line} --reference-rows passes --out scores.csv"));
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.err);
        assert!(ran.err.contains(why), "{line}: {}", ran.err);
    }
    assert!(!folder.list().contains(&"scores.csv".to_owned()));
}
