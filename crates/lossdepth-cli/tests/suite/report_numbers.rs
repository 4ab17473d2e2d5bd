//! Numbers on the page of `report`: those of `score`, `explain` and `outliers`, rounded.

use crate::common::Folder;
use crate::report::{embedded, orders};
use serde_json::Value;
use std::fmt::Write;

/// Numbers without names, gaps or categories; two rows stand out.
fn numeric_table() -> String {
    let mut table = "a,b,c\n".to_owned();
    for i in 0..150_u32 {
        let [x, y] = [i * 37 % 101, i * i % 89].map(f64::from);
        writeln!(table, "{},{},{}", x / 10.0, x / 20.0 + y / 300.0, y).unwrap();
    }
    table + "55.5,1.25,40\n3.1,-9.75,12\n"
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

fn page(folder: &Folder, args: &[&str]) -> String {
    let ran = folder.run(&[&["report"], args, &["--out", "odd.html"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder.read("odd.html")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn bits(value: &Value) -> Option<u64> {
    value.as_f64().map(f64::to_bits)
}

/// Asserts that a text is a number rounded to so many significant digits.
fn assert_rounds(text: &str, exact: f64, digits: i32) {
    let plain = text.replace(',', "").replace('−', "-");
    let shown: f64 = plain.parse().unwrap_or_else(|_| panic!("`{text}` is no number"));
    let unit =
        if exact == 0.0 { 0.0 } else { 10f64.powf(exact.abs().log10().floor() - f64::from(digits - 1)) };
    assert!((shown - exact).abs() <= 0.5 * unit * (1.0 + 1e-9), "{text} is not {exact} with {digits} digits");
}

/// What is between two texts.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("`{start}` is not in {text}"));
    rest.split_once(end).unwrap_or_else(|| panic!("`{end}` is not in {rest}")).0
}

/// The cells of numbers in a line of the table of rows: rank, p-value, depth or percentile.
fn shown(page: &str, index: usize) -> Vec<String> {
    let line = between(page, &format!("<tr data-index=\"{index}\""), "</tr>");
    let cells = line.split("<td class=\"num").skip(1);
    cells.map(|cell| between(cell, ">", "</td>").to_owned()).collect()
}

#[test]
fn every_number_of_a_row_is_that_of_score_explain_and_outliers() {
    let folder = Folder::new();
    folder.write("numbers.csv", numeric_table());
    let orders = orders();
    let cases = [
        (orders.as_str(), &["--method", "auto"][..]),
        (orders.as_str(), &["--method", "logistic", "--scale", "robust", "--reg", "0.01"]),
        ("numbers.csv", &["--method", "svm"]),
        ("numbers.csv", &["--method", "logistic"]),
    ];
    for (file, flags) in cases {
        let page = page(&folder, &[&[file, "--top", "12"], flags].concat());
        let data = embedded(&page);
        let score = folder.run(&[&["score", file, "--out", "scores.json"], flags].concat());
        assert_eq!(score.code, Some(0), "{}", score.err);
        let scores: Value = serde_json::from_str(&folder.read("scores.json")).unwrap();
        let explained =
            json(&folder, &[&["explain", file, "--shallowest", "12", "--format", "json"], flags].concat());
        let told = json(&folder, &[&["outliers", file, "--top", "12", "--format", "json"], flags].concat());
        let depths: Vec<f64> = list(&scores["rows"]).iter().map(|row| number(&row["depth"])).collect();
        assert_eq!(list(&data["rows"]).len(), 12);
        for (at, row) in list(&data["rows"]).iter().enumerate() {
            let place = usize::try_from(row["row"].as_u64().unwrap()).unwrap();
            let (score, explained, told) =
                (&scores["rows"][place], &explained["rows"][at], &told["outliers"][at]);
            for (ours, theirs) in [
                (&row["depth"], [&score["depth"], &explained["depth"], &told["depth"]]),
                (&row["error"], [&score["error"], &explained["error"], &told["error"]]),
                (&row["stderr"], [&score["stderr"], &explained["stderr"], &told["stderr"]]),
                (&row["percentile"], [&score["percentile"], &told["percentile"], &row["percentile"]]),
                (&row["p_value"], [&told["p"], &told["p"], &told["p"]]),
            ] {
                assert!(theirs.iter().all(|their| bits(their) == bits(ours)), "{ours}: {score} {explained}");
            }
            // What is written is what is meant, rounded.
            let depth = number(&row["depth"]);
            let p = depths.iter().filter(|other| **other <= depth).count() as f64 / depths.len() as f64;
            assert_eq!(bits(&row["p_value"]), Some(p.to_bits()));
            let cells = shown(&page, at);
            assert_eq!(cells[0], (at + 1).to_string());
            assert_rounds(&cells[1], p, 2);
            assert_rounds(&cells[2], depth, 2);
            let sentence = row["sentence"].as_str().unwrap();
            assert_rounds(between(sentence, "(p ", ")"), p, 2);
            assert_eq!(sentence.contains("standard error"), row["stderr"].is_f64(), "{sentence}");
            let (_, told_depth) = sentence.split_once("Depth ").unwrap();
            assert_rounds(told_depth.split([' ', ',']).next().unwrap().trim_end_matches('.'), depth, 4);
            if let Some(stderr) = row["stderr"].as_f64() {
                assert_rounds(between(sentence, " ± ", " (standard"), stderr, 2);
            }
            let (percent, _) = sentence.split_once("% of all rows are at most as deep").unwrap();
            assert_rounds(percent, 100.0 * number(&row["percentile"]), 2);
            if number(&row["error"]) > 0.0 {
                let (_, error) = sentence.split_once("to within ").unwrap();
                assert_rounds(error.trim_end_matches('.'), number(&row["error"]), 2);
            }
            check_reasons(row, told, explained, &data);
        }
        check_steps(&data, &depths);
    }
}

/// Reasons with their shares, and the change that makes the row ordinary.
fn check_reasons(row: &Value, told: &Value, explained: &Value, data: &Value) {
    let name = |column: &Value| &data["columns"][usize::try_from(column.as_u64().unwrap()).unwrap()]["name"];
    let contributions: Vec<f64> =
        list(&row["contributions"]).iter().map(|bits| number(bits).max(0.0)).collect();
    let total: f64 = contributions.iter().sum();
    let told_reasons = list(&told["reasons"]);
    assert_eq!(told_reasons.len(), list(&row["reasons"]).len());
    // For methods with a classifier to show `explain` shows that; else the reasons, but for those of the change, which it does not make.
    let explained_reasons = explained.get("reasons").map_or(&[][..], |reasons| list(reasons));
    let mut compared = 0;
    for ours in list(&row["reasons"]) {
        let column = usize::try_from(ours["columns"][0].as_u64().unwrap()).unwrap();
        let of_column = |theirs: &&Value| theirs["column"] == *name(&ours["columns"][0]);
        let told = told_reasons.iter().find(of_column).expect("outliers has the reason");
        let explained = explained_reasons.iter().find(of_column);
        compared += usize::from(explained.is_some());
        for theirs in explained.into_iter().chain([told]) {
            assert_eq!(ours["sentence"], theirs["text"]);
            let lead =
                format!("{} {}", theirs["column"].as_str().unwrap(), theirs["value"].as_str().unwrap());
            assert!(ours["lead"] == lead || lead.ends_with(" gap"), "{ours} {lead}");
            let share = contributions[column] / total.max(f64::MIN_POSITIVE);
            // The page keeps five digits of what a column contributes.
            assert!((share - number(&theirs["share"])).abs() < 1e-4, "{ours} {theirs}");
        }
    }
    assert!(compared > 0 || explained_reasons.is_empty());
    let changes = list(&told["ordinary_with"]);
    assert_eq!(row["counterfactual"].is_null(), changes.is_empty());
    for (at, change) in changes.iter().enumerate() {
        assert_eq!(row["counterfactual"]["values"][at], change["to"]);
        assert_eq!(*name(&row["counterfactual"]["columns"][at]), change["column"]);
        let sentence = row["counterfactual"]["sentence"].as_str().unwrap();
        assert!(at >= 4 || sentence.contains(change["to"].as_str().unwrap()), "{sentence} {change}");
    }
    if let Some(standing) = row["counterfactual"]["standing"].as_str() {
        let change = &row["counterfactual"];
        assert_rounds(between(standing, "depth ", "; "), number(&change["depth"]), 4);
        assert_rounds(between(standing, "; ", "% of all rows"), 100.0 * number(&change["percentile"]), 2);
    }
}

/// What the slider says of each threshold, in a table that is its own reference.
fn check_steps(data: &Value, depths: &[f64]) {
    let mut sorted = depths.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all = depths.len() as f64;
    for step in list(&data["steps"]) {
        let (p, cut, sentence) =
            (number(&step["p"]), number(&step["cut"]), step["sentence"].as_str().unwrap());
        let flagged =
            sorted.iter().filter(|depth| sorted.partition_point(|x| x <= *depth) as f64 <= p * all + 1e-9);
        let flagged = flagged.count();
        assert_rounds(between(sentence, "At p ≤ ", ", "), p, 2);
        assert_rounds(step["words"].as_str().unwrap(), p, 2);
        assert_eq!(
            between(sentence, &format!("{}, ", step["words"].as_str().unwrap()), " of ").replace(',', ""),
            flagged.to_string()
        );
        assert!(sorted[flagged - 1] <= cut && sorted.get(flagged).is_none_or(|next| cut <= *next), "{step}");
    }
}

#[test]
fn expected_false_alarms_and_rates_are_those_of_the_p_values() {
    let folder = Folder::new();
    folder.write("old.csv", numeric_table());
    let mut new = "a,b,c\n".to_owned();
    for i in 0..40_u32 {
        let [x, y] = [i * 29 % 97, i * i % 83].map(f64::from);
        let far = if i % 9 == 0 { 40.0 } else { 0.0 };
        writeln!(new, "{},{},{}", x / 10.0 + far, x / 20.0 + y / 300.0, y).unwrap();
    }
    folder.write("new.csv", new);
    for flags in [&["--method", "logistic"][..], &["--method", "svm"]] {
        let against = ["new.csv", "--reference", "old.csv"];
        let page = page(&folder, &[&against[..], flags].concat());
        let data = embedded(&page);
        let args = [&["outliers"], &against[..], flags, &["--top", "1000", "--format", "json"]].concat();
        let told = json(&folder, &args);
        let mut p: Vec<f64> = list(&told["outliers"]).iter().map(|row| number(&row["p"])).collect();
        p.sort_by(f64::total_cmp);
        assert_eq!(p.len(), 40);
        for step in list(&data["steps"]) {
            let (at, sentence) = (number(&step["p"]), step["sentence"].as_str().unwrap());
            let flagged = p.iter().filter(|p| **p <= at).count();
            assert!(sentence.contains(&format!(", {flagged} of 40 rows ")), "{sentence}");
            let chance = 40.0 * at;
            if chance < 0.05 {
                assert!(sentence.contains("fewer than 0.1 would be expected"), "{sentence}");
            } else {
                let told: f64 = between(sentence, "about ", " would").parse().unwrap();
                assert!(
                    (told - chance).abs() <= if chance < 9.95 { 0.05 } else { 0.5 } + 1e-9,
                    "{sentence} {chance}"
                );
            }
            assert_eq!(sentence.contains("chance explains them all"), flagged as f64 <= chance, "{sentence}");
            // Benjamini and Hochberg: the least of n p / rank from here on.
            let rank = |k: usize| p.iter().filter(|other| **other <= p[k]).count() as f64;
            let rate = (0..40).filter(|k| p[*k] >= at).map(|k| 40.0 * p[k] / rank(k)).fold(1.0, f64::min);
            let told = between(sentence, "discovery rate: ", "%.");
            assert_rounds(told, 100.0 * rate, if rate < 0.1 { 2 } else { 3 });
        }
        let start = &data["steps"][usize::try_from(data["start"].as_u64().unwrap()).unwrap()];
        assert!(page.contains(start["sentence"].as_str().unwrap()));
    }
}
