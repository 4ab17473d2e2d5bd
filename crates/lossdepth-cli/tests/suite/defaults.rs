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
    assert!(out.starts_with("row,depth,error,stderr\nORD-100001,"), "{}", &out[..80]);
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
