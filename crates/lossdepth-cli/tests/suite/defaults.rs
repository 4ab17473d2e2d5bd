//! What a user gets who sets nothing.

use crate::common::Folder;

const ORDERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/orders.csv");

#[test]
fn the_method_is_auto_and_a_real_table_can_be_scored() {
    let folder = Folder::new();
    let mut command = folder.command(&["methods"]);
    assert!(command.output().unwrap().status.success());
    let program = env!("CARGO_BIN_EXE_lossdepth");
    let ran = std::process::Command::new(program).args(["score", ORDERS]).output().unwrap();
    let (out, err) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert!(ran.status.success(), "{err}");
    assert_eq!(out.lines().count(), 1203);
    assert!(out.starts_with("row,depth,error,stderr,percentile\nORD-100001,"), "{}", &out[..80]);
    assert!(err.contains("1202 rows scored against 1202") && err.contains(": auto, "), "{err}");
}

#[test]
fn outliers_finds_the_planted_orders_with_their_reasons() {
    let folder = Folder::new();
    // The eight rows that examples/make_orders.py made wrong are the eight oddest.
    let ran = folder.run(&["outliers", ORDERS, "--top", "8"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for (order, column) in [
        ("ORD-100017", "amount 3,074.40"),
        ("ORD-100144", "discount 95%"),
        ("ORD-100333", "quantity 900"),
        ("ORD-100402", "region Nrth"),
        ("ORD-100555", "order_date 2022-03-04"),
        ("ORD-100618", "unit_price $1,890.00"),
        ("ORD-100777", "days_to_pay 365"),
        ("ORD-100901", "amount -889.24"),
    ] {
        assert!(ran.out.contains(order) && ran.out.contains(column), "{order}, {column}:\n{}", ran.out);
    }
    assert!(ran.out.contains("highest of all; nine in ten are ") && ran.out.contains("customer (free text)"));
}

#[test]
fn outliers_are_written_in_every_form() {
    let folder = Folder::new();
    let json = folder.run(&["outliers", ORDERS, "--top", "2", "--format", "json"]);
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((value["rows"].as_u64(), value["outliers"].as_array().map(Vec::len)), (Some(1202), Some(2)));
    assert!(value["outliers"][0]["reasons"][0]["text"].as_str().is_some_and(|text| !text.is_empty()));
    for (file, start) in [("odd.csv", "row,name,depth,"), ("odd.md", "**"), ("odd.txt", "")] {
        let ran = folder.run(&["outliers", ORDERS, "--top", "2", "--out", file]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
        assert!(folder.read(file).starts_with(start) && folder.read(file).contains("ORD-1"), "{file}");
    }
    let ran = folder.run(&["outliers", ORDERS, "--out", "odd.docx"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("the name must end in .txt, .md, .csv or .json"), "{}", ran.err);
}

#[test]
fn a_setting_that_auto_does_not_have_is_refused_with_those_it_has() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n");
    let ran = folder.run(&["outliers", "data.csv", "--reg", "0.1"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("auto") && ran.err.contains("reg"), "{}", ran.err);
}

#[test]
fn the_shallowest_rows_with_their_columns_as_they_were() {
    let folder = Folder::new();
    let all = folder.run(&["score", ORDERS, "-q"]);
    let mut lines: Vec<&str> = all.out.lines().skip(1).collect();
    let number = |line: &str, at: usize| line.split(',').nth(at).unwrap().parse::<f64>().unwrap();
    // The percentile is the share of all rows that are at most as deep.
    let depths: Vec<f64> = lines.iter().map(|line| number(line, 1)).collect();
    for line in &lines {
        let upto = depths.iter().filter(|depth| **depth <= number(line, 1)).count();
        assert_eq!(number(line, 4), upto as f64 / depths.len() as f64, "{line}");
    }
    lines.sort_by(|a, b| number(a, 1).total_cmp(&number(b, 1)));
    let top = folder.run(&["score", ORDERS, "-q", "--top", "3"]);
    assert_eq!(top.out.lines().skip(1).collect::<Vec<_>>(), lines[..3]);
    let kept = folder.run(&["score", ORDERS, "-q", "--top", "2", "--keep"]);
    assert!(kept.out.lines().next().unwrap().contains(",percentile,order_id,customer,"), "{}", kept.out);
    assert!(kept.out.contains("$185.13,0%,\"166,617.00\",27,no"), "{}", kept.out);
    // A model has the percentiles in its file, or finds them in its reference.
    for (file, flag) in [("m.safetensors", None), ("plain.safetensors", Some("--no-percentile"))] {
        let args: Vec<&str> = ["fit", ORDERS, "-q", "--out", file].into_iter().chain(flag).collect();
        assert_eq!(folder.run(&args).code, Some(0));
        let scored = folder.run(&["score", ORDERS, "-q", "--model", file]);
        assert_eq!(scored.out, all.out);
    }
    let without = folder.run(&["score", ORDERS, "-q", "--no-percentile"]);
    assert!(without.out.starts_with("row,depth,error,stderr\n"));
}

#[test]
fn infinities_are_refused_and_telephone_numbers_are_not_numbers() {
    let folder = Folder::with("a,b\n1,2\n2,inf\n3,4\n4,-Infinity\n5,\n");
    let ran = folder.score("data.csv");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("line 3 (row 1), column `b`: `inf` is not a finite number"), "{}", ran.err);
    assert!(ran.err.contains("line 5 (row 3), column `b`: `-Infinity`"), "{}", ran.err);
    // As names of levels they are texts like any other.
    assert_eq!(folder.score("data.csv --as b=category").code, Some(0));
    let phone = |i: usize| format!("+4930{},{}\n", 123_456 + 977 * i, i % 7);
    let phones: String = (0..30).map(phone).collect();
    folder.write("phones.csv", format!("phone,x\n{phones}"));
    let ran = folder.score("phones.csv");
    assert!(ran.err.contains("phone (names the rows)"), "{}", ran.err);
}

#[test]
fn depths_that_tie_are_warned_of_and_methods_have_other_names() {
    // Every row is a corner of a cube: all have the same halfspace depth.
    let bits = |i: u32| format!("{},{},{},{},{}\n", i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4);
    let rows: String = (0..32).map(bits).collect();
    let folder = Folder::with(format!("a,b,c,d,e\n{rows}"));
    let ran = folder.score("data.csv --method tukey");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("warning: 32 of 32 depths are equal") && ran.err.contains("--method auto"),
        "{}",
        ran.err
    );
}

#[test]
fn numbers_are_said_with_the_digits_that_matter() {
    // The largest of four is among nine in ten of them: no range is said that holds it.
    let folder = Folder::with("x\n1\n2\n3\n50\n");
    let ran = folder.run(&["outliers", "data.csv"]);
    assert!(ran.out.contains("x 50  highest of all\n"), "{}", ran.out);
    // Measurements of many decimals have no zeros behind their digits; amounts of money keep them.
    let rows: Vec<String> = (0..60).map(|i| format!("0.1{:02}37,{}.25\n", i % 17, 100 + i % 13)).collect();
    let rows = rows.concat();
    folder.write("lab.csv", format!("value,price\n{rows}0.94,102.50\n0.12537,9000.00\n"));
    let ran = folder.run(&["outliers", "lab.csv", "--top", "2"]);
    assert!(ran.out.contains("value 0.94 ") && ran.out.contains("price 9,000.00 "), "{}", ran.out);
}
