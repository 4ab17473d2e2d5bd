//! `lossdepth central`: deepest points and trimmed means.

use crate::common::Folder;

const ROWS: &str = "a,b\n0,0\n4,0\n0,4\n4,4\n2,2\n100,2\n";

fn json(folder: &Folder, arguments: &[&str]) -> serde_json::Value {
    let ran = folder.run(&[&["central"], arguments, &["--json", "--quiet"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn the_deepest_point_and_the_trimmed_mean_are_those_of_the_definition() {
    let folder = Folder::new();
    folder.write("rows.csv", ROWS);
    // The zonoid depth is 1 at the mean of all rows.
    let found = json(&folder, &["rows.csv", "--method", "zonoid"]);
    let point = &found["deepest_point"];
    assert_eq!(point["found"], "proven");
    let at: Vec<f64> = serde_json::from_value(point["point"].clone()).unwrap();
    assert!((at[0] - 110.0 / 6.0).abs() < 1e-12 && (at[1] - 2.0).abs() < 1e-12, "{at:?}");
    // (2, 2) is in every closed half plane with half of the rows; the others have one row, the outlier too.
    let found = json(&folder, &["rows.csv", "--method", "halfspace", "--share", "0.1"]);
    assert_eq!(found["deepest_point"]["row"], 5);
    assert_eq!(found["central_region"]["rows"], serde_json::json!([5]));
    assert_eq!(found["central_region"]["mean"], serde_json::json!([2.0, 2.0]));
    assert_eq!(found["columns"], serde_json::json!(["a", "b"]));
}

#[test]
fn a_model_has_the_centre_of_its_table() {
    let folder = Folder::new();
    folder.write("rows.csv", ROWS);
    let ran = folder.run(&["fit", "rows.csv", "--method", "spatial", "--out", "m.safetensors", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (table, model) =
        (json(&folder, &["rows.csv", "--method", "spatial"]), json(&folder, &["--model", "m.safetensors"]));
    for part in ["columns", "deepest_point", "central_region"] {
        assert_eq!(table[part], model[part], "{part}");
    }
    let text = folder.run(&["central", "--model", "m.safetensors"]);
    assert!(text.out.starts_with("m.safetensors (6 rows): spatial"), "{}", text.out);
    assert!(text.out.contains("by local search; other points may be deeper"), "{}", text.out);
}

#[test]
fn what_has_no_centre_is_refused_by_name() {
    let folder = Folder::new();
    folder.write("rows.csv", ROWS);
    folder.write("mixed.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n");
    let ran = folder.run(&["central", "mixed.csv", "--method", "forest"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("mixed.csv: a deepest point needs columns of numbers"), "{}", ran.err);
    let ran = folder.run(&["central", "rows.csv", "--share", "0"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("share") && ran.err.contains("above 0 and at most 1"), "{}", ran.err);
    let ran = folder.run(&["central"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("DATA"), "{}", ran.err);
}
