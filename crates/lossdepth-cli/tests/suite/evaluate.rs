//! `evaluate`, and the labels and p-values of `score`.

use crate::common::{Folder, Ran, TABLE, assert_snapshot};
use serde_json::Value;
use std::fmt::Write;

/// Numbers that look random and are always the same.
fn cloud(rows: usize, seed: u64) -> Vec<[f64; 3]> {
    let mut state = seed;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..rows).map(|_| std::array::from_fn(|_| (0..12).map(|_| unit()).sum::<f64>() - 6.0)).collect()
}

/// A table of normal rows, then a few that are far away, with a label.
fn table(normal: usize, far: usize, seed: u64) -> String {
    let mut text = "x,y,z,bad\n".to_owned();
    for (i, [x, y, z]) in cloud(normal + far, seed).into_iter().enumerate() {
        let (shift, bad) = if i < normal { (0.0, 0) } else { (4.5, 1) };
        writeln!(text, "{x},{},{z},{bad}", y + shift).unwrap();
    }
    text
}

fn evaluate(folder: &Folder, args: &str) -> Ran {
    folder.run(&["evaluate"].into_iter().chain(args.split_whitespace()).collect::<Vec<_>>())
}

/// A column of CSV output.
fn column(out: &str, name: &str) -> Vec<f64> {
    let mut lines = out.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let at = lines.next().unwrap().iter().position(|n| *n == name).unwrap();
    lines.map(|line| line[at].parse().unwrap()).collect()
}

/// Times are not the same twice.
fn timeless(text: &str) -> String {
    let unit = |word: &str| ["s", "ms", "µs"].contains(&word);
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let kept =
            (0..words.len()).filter(|&i| !unit(words[i]) && !words.get(i + 1).is_some_and(|w| unit(w)));
        kept.map(|i| words[i]).collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn a_table_of_methods() {
    let folder = Folder::with(table(60, 6, 1));
    let ran = evaluate(
        &folder,
        "data.csv --label bad --methods logistic,svm:reg=0.05,gamma=0.5,oc-svm,lof:k=5,knn",
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        ran.err,
        "data.csv: 6 of 66 rows are outliers (`bad` = 1), 3 columns, 66 rows to compare with\n"
    );
    assert_snapshot("evaluate.txt", &timeless(&ran.out));
    assert!(!ran.out.contains('\x1b'));
    assert!(ran.out.contains("\nHighest AUC-ROC: ") && ran.out.contains("\nHighest average precision: "));
}

#[test]
fn documents_and_tables_for_programs() {
    let folder = Folder::with(table(60, 6, 1));
    for (name, first) in [("t.csv", "method,auc,auc_low,"), ("t.tsv", "method\tauc\tauc_low\t")] {
        let ran = evaluate(&folder, &format!("data.csv --label bad --quiet --methods svm,lof --out {name}"));
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
        assert!(folder.read(name).starts_with(first) && folder.read(name).lines().count() == 3);
    }
    let ran = evaluate(
        &folder,
        "data.csv --label bad --quiet --scale standard --methods svm:reg=0.1,lof --format json",
    );
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&found["format"], &found["outliers"], &found["rows"]), (&1.into(), &6.into(), &66.into()));
    let svm = &found["results"][0];
    assert_eq!(svm["method"], "svm:reg=0.1");
    assert_eq!((&svm["settings"]["reg"], &svm["settings"]["scale"]), (&0.1.into(), &"standard".into()));
    assert_eq!(found["results"][1]["settings"]["k"], 20);
    let auc = &svm["auc"];
    let number = |name: &str| auc[name].as_f64().unwrap();
    assert!(number("low") <= number("value") && number("value") <= number("high"));
    // The same AUC as `score` has.
    let score = folder.score("data.csv --label bad --method svm --reg 0.1 --scale standard");
    assert!(score.err.contains(&format!("AUC-ROC {:.4}", number("value"))), "{}", score.err);
}

#[test]
fn everything_reasonable_by_default_and_a_reference() {
    let folder = Folder::with(table(40, 4, 1));
    folder.write("old.csv", table(50, 0, 2));
    let ran = evaluate(&folder, "data.csv --reference old.csv --label bad --format csv");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let methods: Vec<&str> = ran.out.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    for name in ["logistic", "svm", "klr", "gp", "forest", "mlp", "oc-svm", "lof", "knn", "iforest"] {
        assert!(methods.contains(&name), "{methods:?}");
    }
    assert!(ran.err.contains("50 rows to compare with"), "{}", ran.err);
    assert!(column(&ran.out, "auc").iter().all(|auc| (0.0..=1.0).contains(auc)));
}

#[test]
fn what_would_take_too_long_is_skipped_unless_it_is_named() {
    // Tables of up to 512 rows are not tried.
    let folder = Folder::with(table(600, 6, 1));
    let ran = evaluate(&folder, "data.csv --label bad --max-time 0");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    for method in ["logistic", "gp", "iforest"] {
        let line = ran.err.lines().find(|line| line.starts_with(&format!("{method}: "))).unwrap();
        assert!(line.contains("skipped as too slow for this table (about "), "{line}");
        assert!(line.ends_with("); name it with --methods"), "{line}");
    }
    assert!(ran.err.contains("every method was skipped"), "{}", ran.err);
    let ran = evaluate(&folder, "data.csv --label bad --methods iforest,forest --format json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(found["skipped"].as_array().map(Vec::len), Some(0));
    assert_eq!(found["results"].as_array().map(Vec::len), Some(2));
    let ran = evaluate(&folder, "data.csv --label bad --max-time 5 --methods lof");
    assert!(ran.code == Some(2) && ran.err.contains("--max-time"), "{}", ran.err);
}

#[test]
fn several_numbers_in_a_setting() {
    let folder = Folder::with(table(20, 3, 1));
    let ran = evaluate(
        &folder,
        "data.csv --label bad -q --methods mlp:hidden=4,3,seed=1,lof --methods knn --format csv",
    );
    assert_eq!(ran.code.map(|code| code < 2), Some(true), "{}", ran.err);
    assert!(ran.out.contains("\"mlp:hidden=4,3,seed=1\",") && ran.out.contains("\nknn,"), "{}", ran.out);
}

#[test]
fn mistakes_in_evaluate_are_explained() {
    let folder = Folder::with(table(20, 3, 1));
    for (args, message) in [
        ("data.csv", "`evaluate` needs the column with the labels: --label COL"),
        ("data.csv --label bad --methods svn", "no method `svn`; did you mean `svm`?"),
        ("data.csv --label bad --methods lof:nu=1", "method `lof` has no setting `nu`; it has k,"),
        ("data.csv --label bad --methods lof:k", "a setting is written as name=value"),
        ("data.csv --label bad --methods lof:k=x", "`k` must be a whole number, got `x`"),
        ("data.csv --label bad --methods lof,lof", "`lof` is twice in --methods"),
        (
            "data.csv --label bad --methods lof --trees 3",
            "`--trees` is no setting of any method compared here",
        ),
        (
            "data.csv --label bad --methods oc-svm:nu=2",
            "oc-svm:nu=2: `nu` must be above 0 and at most 1, got 2",
        ),
        ("data.csv --label bad --methods svm:kernel=precomputed", "for the Rust and Python libraries"),
        ("data.csv --label x --methods lof", "label `x` has more than two values"),
        ("data.csv --label bat --methods lof", "no column `bat`; did you mean `bad`?"),
        ("data.csv --label bad --weights x --methods lof", "a weight must be finite and not negative"),
        ("data.csv --label bad --out t.xls", "the name must end in .csv, .tsv or .json"),
    ] {
        let ran = evaluate(&folder, args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args}");
        assert!(ran.err.contains(message), "{args}: {}", ran.err);
    }
}

#[test]
fn labels_match_the_contamination() {
    let folder = Folder::with(table(95, 5, 3));
    for (share, expected) in [("0", 0.0), ("0.05", 5.0), ("0.29", 29.0), ("0.5", 50.0)] {
        let ran = folder.score(&format!("data.csv --label bad --contamination {share}"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.starts_with("row,depth,error,stderr,percentile,outlier,label\n"));
        let (depths, outliers) = (column(&ran.out, "depth"), column(&ran.out, "outlier"));
        assert_eq!(outliers.iter().sum::<f64>(), expected);
        // The shallowest are.
        let least =
            |value: f64| depths.iter().zip(&outliers).filter(move |(_, o)| **o == value).map(|(d, _)| *d);
        assert!(least(1.0).fold(0.0, f64::max) < least(0.0).fold(1.0, f64::min));
    }
    // New rows are judged by the line drawn in the reference.
    folder.write("new.csv", table(30, 10, 4));
    let own = folder.score("data.csv --label bad --contamination 0.05");
    let (depths, outliers) = (column(&own.out, "depth"), column(&own.out, "outlier"));
    let line = depths.iter().zip(&outliers).filter(|(_, o)| **o == 0.0).map(|(d, _)| *d).fold(1.0, f64::min);
    let new = folder.score("new.csv --reference data.csv --label bad --contamination 0.05");
    let judged: Vec<f64> = column(&new.out, "depth").iter().map(|d| f64::from(u8::from(*d < line))).collect();
    assert_eq!(column(&new.out, "outlier"), judged);
    folder.run(&["fit", "data.csv", "--columns", "x,y,z", "--out", "m.safetensors", "-q"]);
    let saved = folder.score("new.csv --model m.safetensors --label bad --contamination 0.05");
    assert_eq!(saved.out, new.out, "{}", saved.err);
}

#[test]
fn p_values_beside_the_scores() {
    let folder = Folder::with(table(100, 0, 5));
    folder.write("new.csv", table(40, 10, 6));
    for how in ["", "=split", "=cross", "=leave-one-out"] {
        let ran =
            folder.score(&format!("new.csv --reference data.csv --label bad --p-values{how} --fdr 0.1"));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.starts_with("row,depth,error,stderr,percentile,outlier,p,q,label\n"));
        let (p, q, outliers) = (column(&ran.out, "p"), column(&ran.out, "q"), column(&ran.out, "outlier"));
        assert!(p.iter().all(|p| *p > 0.0 && *p <= 1.0) && p.iter().zip(&q).all(|(p, q)| p <= q));
        assert!(q.iter().zip(&outliers).all(|(q, o)| (*q <= 0.1) == (*o == 1.0)));
        // Depths are those of the whole reference, whatever the p-values.
        let plain = folder.score("new.csv --reference data.csv --label bad");
        assert_eq!(column(&ran.out, "depth"), column(&plain.out, "depth"));
        let far = column(&ran.out, "label")
            .iter()
            .zip(&p)
            .filter(|(l, _)| **l == 1.0)
            .map(|(_, p)| *p)
            .sum::<f64>();
        assert!(far / 10.0 < 0.1, "{how}: {far}");
    }
    // A row that is its own reference: its rank.
    let own = folder.score("data.csv --label bad --p-values");
    let mut ranks = column(&own.out, "p");
    ranks.sort_by(f64::total_cmp);
    let expected: Vec<f64> = (1..=100).map(|i| f64::from(i) / 100.0).collect();
    assert!(ranks.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12));
}

#[test]
fn a_rate_that_no_p_value_can_reach_is_a_warning() {
    let folder = Folder::with(table(20, 0, 5));
    let warned = |how: &str| {
        let args = format!(
            "data.csv --reference data.csv --label bad --quiet --p-values={how} --fdr 0.06 --out s.csv"
        );
        let ran = folder.score(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.err.lines().find(|line| line.starts_with("warning: ")).map(str::to_owned)
    };
    let warning = "warning: nothing can be found at a false discovery rate of 0.06: 10 rows to calibrate with, so that no \
                   p-value is below 0.091; more rows, or `--p-values=leave-one-out`, give smaller ones";
    assert_eq!(warned("split").as_deref(), Some(warning));
    assert_eq!(warned("leave-one-out"), None);
}

#[test]
fn mistakes_about_labels_are_explained() {
    let folder = Folder::with(TABLE);
    for (args, message) in [
        ("--contamination 0.7", "`--contamination` must be between 0 and 0.5, got 0.7"),
        ("--contamination nan", "`--contamination` must be between 0 and 0.5, got NaN"),
        ("--fdr 0.1", "`--fdr` needs `--p-values` and `--reference` or `--model`"),
        ("--p-values --fdr 0.1", "`--fdr` needs `--reference` or `--model`"),
        ("--p-values=split", "`--p-values=split` needs `--reference` or `--model`"),
        ("--p-values=half", "invalid value 'half'"),
        ("--contamination 0.1 --fdr 0.1 --p-values", "cannot be used with"),
    ] {
        let ran = folder.score(&format!("data.csv --id id --label kind {args}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args}");
        assert!(ran.err.contains(message), "{args}: {}", ran.err);
    }
}
