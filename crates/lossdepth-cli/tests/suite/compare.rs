//! `lossdepth compare`: two tables and which columns moved.

use crate::common::Folder;

const HEADER: &str = "price,region\n";

fn rows(count: usize, shift: f64, regions: &[&str]) -> String {
    let row = |i: usize| {
        let noise = ((i * 7919) % 101) as f64 / 10.0;
        format!("{:.1},{}\n", noise + shift, regions[(i * 13) % 7 % regions.len()])
    };
    HEADER.to_owned() + &(0..count).map(row).collect::<String>()
}

#[test]
fn what_moved_is_named_and_the_tests_say_so() {
    let folder = Folder::new();
    folder.write("old.csv", rows(120, 0.0, &["north", "south"]));
    folder.write("new.csv", rows(90, 4.0, &["north", "east"]));
    let ran = folder.run(&["compare", "old.csv", "new.csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("old.csv (120 rows) and new.csv (90 rows)\n"), "{}", ran.out);
    assert!(ran.out.contains("The tables differ: the "), "{}", ran.out);
    assert!(ran.out.contains("median 4.8 → 8.8"), "{}", ran.out);
    assert!(ran.out.contains("Columns that moved") && ran.out.contains("region"), "{}", ran.out);
}

#[test]
fn the_same_table_twice_does_not_differ_and_json_has_every_number() {
    let folder = Folder::new();
    folder.write("a.csv", rows(60, 0.0, &["north", "south"]));
    let ran = folder.run(&["compare", "a.csv", "a.csv"]);
    assert!(ran.out.contains("No difference was found that chance does not explain"), "{}", ran.out);
    let json = folder.run(&["compare", "a.csv", "a.csv", "--format", "json", "--tests", "kernel"]);
    let answer: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(answer["rows"], serde_json::json!([60, 60]));
    assert_eq!(answer["tests"].as_array().unwrap().len(), 1);
    assert!(answer["tests"][0]["p"].as_f64().unwrap() > 0.9, "{}", json.out);
    assert_eq!(answer["columns"].as_array().unwrap().len(), 2);
}

#[test]
fn tables_that_cannot_be_compared_are_refused_by_name() {
    let folder = Folder::new();
    folder.write("a.csv", rows(60, 0.0, &["north", "south"]));
    folder.write("few.csv", rows(5, 0.0, &["north"]));
    folder.write("other.csv", "size,weight\n1,2\n3,4\n");
    let few = folder.run(&["compare", "a.csv", "few.csv"]);
    assert_eq!(few.code, Some(2));
    assert!(few.err.contains("few.csv") && few.err.contains("needs at least 8"), "{}", few.err);
    let other = folder.run(&["compare", "a.csv", "other.csv"]);
    assert_eq!(other.code, Some(2));
    assert!(other.err.contains("other.csv") && other.out.is_empty(), "{}", other.err);
    let name = folder.run(&["compare", "a.csv", "a.csv", "--tests", "ranks"]);
    assert_eq!(name.code, Some(2));
    assert!(name.err.contains("rank, kernel, classifier"), "{}", name.err);
}

#[test]
fn a_dd_plot_names_both_tables_and_has_every_row() {
    let folder = Folder::new();
    folder.write("old.csv", rows(40, 0.0, &["north", "south"]));
    folder.write("new.csv", rows(30, 4.0, &["north", "south"]));
    let ran = folder.run(&[
        "compare", "old.csv", "new.csv", "--tests", "kernel", "--method", "logistic", "--plot", "dd.svg",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let picture = std::fs::read_to_string(folder.path("dd.svg")).unwrap();
    for text in ["depth in old.csv", "depth in new.csv", "40 rows and 30 rows"] {
        assert!(picture.contains(text), "{text}");
    }
    let wrong = folder.run(&["compare", "old.csv", "new.csv", "--plot", "dd.gif"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains(".png or .svg"), "{}", wrong.err);
}
