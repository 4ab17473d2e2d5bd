//! The page of `report`: what it shows is what `score` says, and what is masked is not in it.

use crate::common::Folder;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn orders() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/orders.csv").to_str().unwrap().to_owned()
}

/// Writes the page of the orders, with these flags besides.
fn page_of_orders(folder: &Folder, flags: &[&str]) -> String {
    let orders = orders();
    let ran = folder.run(&[&["report", &orders, "--out", "odd.html"], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder.read("odd.html")
}

/// The data that the scripts of a page read.
pub(crate) fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"report-data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// The cells of a column of the orders, all different ones.
fn cells(column: usize) -> Vec<String> {
    let mut reader = csv::Reader::from_path(orders()).unwrap();
    let mut cells: Vec<String> = reader.records().map(|row| row.unwrap()[column].trim().to_owned()).collect();
    cells.sort();
    cells.dedup();
    cells.retain(|cell| !cell.is_empty());
    cells
}

#[test]
fn depths_are_those_of_score() {
    let folder = Folder::new();
    let page = page_of_orders(&folder, &["--top", "20"]);
    let ran = folder.run(&["score", &orders(), "--method", "auto"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut reader = csv::Reader::from_reader(ran.out.as_bytes());
    let mut scores: Vec<(f64, String)> = reader
        .records()
        .map(|row| {
            let row = row.unwrap();
            (row[1].parse().unwrap(), row[0].to_owned())
        })
        .collect();
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    let data = embedded(&page);
    let rows = data["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 20);
    for (row, (depth, name)) in rows.iter().zip(&scores) {
        assert_eq!(row["name"], **name);
        assert_eq!(row["depth"].as_f64().unwrap().to_bits(), depth.to_bits(), "{name}");
    }
    assert!(page.contains(&scores[0].1));
}

#[test]
fn numbers_are_those_of_outliers() {
    let folder = Folder::new();
    let page = page_of_orders(&folder, &["--top", "30"]);
    let ran = folder.run(&["outliers", &orders(), "--top", "30", "--format", "json", "--out", "odd.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told: Value = serde_json::from_str(&folder.read("odd.json")).unwrap();
    let data = embedded(&page);
    let (rows, told) = (data["rows"].as_array().unwrap(), told["outliers"].as_array().unwrap());
    assert_eq!((rows.len(), told.len()), (30, 30));
    for (row, told) in rows.iter().zip(told) {
        let number = |value: &Value| value.as_f64().unwrap();
        // `auto` has no standard error.
        assert!(row["stderr"].is_null() && told["stderr"].is_null(), "{row} {told}");
        for (ours, theirs) in
            [("depth", "depth"), ("error", "error"), ("p_value", "p"), ("percentile", "percentile")]
        {
            assert_eq!(number(&row[ours]).to_bits(), number(&told[theirs]).to_bits(), "{ours}: {told}");
        }
        for (reason, theirs) in
            row["reasons"].as_array().unwrap().iter().zip(told["reasons"].as_array().unwrap())
        {
            assert_eq!(reason["sentence"], theirs["text"]);
            // The share of a column among what all columns contribute, of which the page keeps five digits.
            let column = usize::try_from(reason["columns"][0].as_u64().unwrap()).unwrap();
            let all: Vec<f64> = row["contributions"].as_array().unwrap().iter().map(number).collect();
            let total: f64 = all.iter().filter(|bits| **bits > 0.0).sum();
            assert!((all[column].max(0.0) / total - number(&theirs["share"])).abs() < 1e-4, "{theirs}");
        }
    }
}

#[test]
fn a_changed_row_scored_again_is_as_deep_as_the_page_says() {
    let folder = Folder::new();
    let page = page_of_orders(
        &folder,
        &["--top", "60", "--method", "logistic", "--scale", "robust", "--reg", "0.01"],
    );
    let data = embedded(&page);
    let columns: Vec<&str> =
        data["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    let mut reader = csv::Reader::from_path(orders()).unwrap();
    let header = reader.headers().unwrap().clone();
    let table: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).unwrap();
    let (mut promised, mut gaps) = (Vec::new(), 0);
    for row in data["rows"].as_array().unwrap() {
        let change = &row["counterfactual"];
        let Some(changed) = change["columns"].as_array() else { continue };
        let number = usize::try_from(row["row"].as_u64().unwrap()).unwrap();
        gaps += usize::from(row["cells"].as_array().unwrap().iter().any(Value::is_null));
        let mut cells: Vec<String> = table[number].iter().map(str::to_owned).collect();
        for (column, value) in changed.iter().zip(change["values"].as_array().unwrap()) {
            let name = columns[usize::try_from(column.as_u64().unwrap()).unwrap()];
            let at = header.iter().position(|known| known == name).unwrap();
            cells[at] = value.as_str().unwrap().to_owned();
        }
        writer.write_record(&cells).unwrap();
        promised.push(change["depth"].as_f64().unwrap());
    }
    assert!(promised.len() >= 5 && gaps > 0, "{} {gaps}", promised.len());
    folder.write("changed.csv", String::from_utf8(writer.into_inner().unwrap()).unwrap());
    let flags = ["--method", "logistic", "--scale", "robust", "--reg", "0.01"];
    let ran = folder.run(&[&["score", "changed.csv", "--reference", &orders()], &flags[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let mut reader = csv::Reader::from_reader(ran.out.as_bytes());
    for (row, promised) in reader.records().zip(promised) {
        let depth: f64 = row.unwrap()[1].parse().unwrap();
        assert_eq!(depth.to_bits(), promised.to_bits(), "{depth} {promised}");
    }
}

#[test]
fn a_model_shows_what_drifted_too() {
    let folder = Folder::new();
    let ran = folder.run(&["fit", &orders(), "--out", "model.safetensors", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let page = page_of_orders(&folder, &["--model", "model.safetensors"]);
    assert!(page.contains("No column differs from the reference by more than chance explains."));
}

#[test]
fn the_same_data_give_the_same_bytes() {
    let folder = Folder::new();
    folder.write(
        "old.csv",
        std::fs::read_to_string(orders())
            .unwrap()
            .lines()
            .take(300)
            .fold(String::new(), |text, line| text + line + "\n"),
    );
    for flags in
        [&["--top", "20"][..], &["--method", "svm"], &["--reference", "old.csv", "--method", "logistic"]]
    {
        let page = |threads| page_of_orders(&folder, &[flags, &["--threads", threads]].concat());
        let first = page("1");
        assert!(first == page("1") && first == page("2") && first == page("3"), "{flags:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_browser_of_the_system_opens_the_page() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with("x,y\n1,2\n2,1\n3,5\n4,4\n9,1\n");
    folder.write("xdg-open", "#!/bin/sh\nprintf '%s\\n' \"$@\" > opened; exit $STATUS\n");
    let program = folder.path("xdg-open");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for (status, note) in [("0", None), ("3", Some("the browser did not open: xdg-open: exit status: 3"))] {
        let mut command = folder.command(&["report", "data.csv", "--out=-odd.html", "--open"]);
        let ran = command.env("PATH", &path).env("STATUS", status).output().unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(0), "{err}");
        // The whole path: a name that starts with a dash is no option.
        assert_eq!(folder.read("opened").trim_end(), folder.path("-odd.html").to_str().unwrap());
        assert_eq!(err.contains("did not open"), note.is_some(), "{err}");
        assert!(note.is_none_or(|note| err.contains(note)), "{err}");
    }
}

#[test]
fn masked_values_are_not_in_the_file() {
    let folder = Folder::new();
    let open = page_of_orders(&folder, &[]);
    let masked = page_of_orders(&folder, &["--mask", "customer,region", "--mask", "order_id"]);
    assert!(cells(4).iter().any(|region| open.contains(region)) && open.contains("ORD-1"));
    for cell in [0, 1, 4].into_iter().flat_map(cells) {
        assert!(!masked.contains(&cell), "{cell}");
    }
    let ran = folder.run(&["report", &orders(), "--mask", "regoin"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no column `regoin`; did you mean `region`?"), "{}", ran.err);
}

#[test]
fn hostile_names_and_cells_are_text() {
    let mut table = "\"<script>alert(1)</script>\",\"\"\"><img src=x>\",level\n".to_owned();
    for i in 0..40 {
        let level = if i % 3 == 0 { "</script><b>x</b>" } else { "plain" };
        writeln!(table, "{},{},{level}", i % 7, i % 5).unwrap();
    }
    let folder = Folder::with(table + "900,3,<i>new</i>\n");
    let ran = folder.run(&["report", "data.csv", "--title", "<script>alert(2)</script>"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let page = folder.read("data.html");
    for markup in ["<script>alert", "<img src", "<b>x", "<i>new"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert_eq!(embedded(&page)["rows"][0]["name"], "row 40");
}

#[test]
fn another_table_shows_what_drifted() {
    let folder = Folder::new();
    let line =
        |i: u32, shift: u32| format!("{},{},{}\n", i % 7 + shift, i * i % 11, ["a", "b"][(i % 2) as usize]);
    let table = |shift| "x,y,kind\n".to_owned() + &(0..60).map(|i| line(i, shift)).collect::<String>();
    folder.write("old.csv", table(0)).write("new.csv", table(4) + "3,2,c\n4,,a\n");
    let ran = folder.run(&["report", "new.csv", "--reference", "old.csv", "--out", "odd.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let page = folder.read("odd.html");
    assert!(page.contains("median 3 before, 7 now"));
    assert!(page.contains("kind has a value that the reference lacks in 1 row"));
    assert!(page.contains("y has no value in 1 of 62 rows, and always one in the reference."));
    assert!(page.contains("false discovery rate") && !page.contains("ranks in the table itself"));
}

#[test]
fn an_input_is_not_overwritten() {
    let folder = Folder::new();
    let table = "x,y\n1,2\n2,1\n3,5\n";
    folder.write("data.html", table);
    for out in ["data.html", "./data.html"] {
        let ran = folder.run(&["report", "data.html", "--out", out]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains("cannot be read and written at once"), "{}", ran.err);
    }
    assert_eq!(folder.run(&["report", "data.html"]).code, Some(2));
    assert_eq!(folder.run(&["report", "data.html", "--out", "odd.csv"]).code, Some(2));
    assert_eq!(folder.read("data.html"), table);
    assert_eq!(folder.list(), ["data.html"]);
}

#[test] // Tables that hardly have anything to show.
fn the_smallest_tables_have_a_page() {
    for (rows, table) in [
        (2, "x,y\n1,2\n3,4\n".to_owned()),
        (4, "x\n1\n2\n3\n50\n".to_owned()),
        (5, "x,y\n".to_owned() + &"7,a\n".repeat(5)),
        (4, "x,gap\n1,\n2,\n4,\n3,\n".to_owned()),
    ] {
        let folder = Folder::with(&table);
        let ran = folder.run(&["report", "data.csv", "--out", "odd.html", "--quiet"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{table}");
        let page = folder.read("odd.html");
        let start = format!("The {rows} rows of <bdi>data.csv</bdi> were compared with each other in ");
        assert!(page.contains(&start) && page.contains("; the first row is row 0."), "{table}");
        assert_eq!(embedded(&page)["rows"].as_array().unwrap().len(), rows);
    }
    for (table, problem) in [
        ("x,y\n1,2\n", "needs at least 2 rows, has 1"),
        ("x,y\n", "needs at least 2 rows, has 0"),
        ("", "the file is empty"),
    ] {
        let folder = Folder::with(table);
        let ran = folder.run(&["report", "data.csv", "--out", "odd.html"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), format!("error: data.csv: {problem}\n").as_str()));
        assert_eq!(folder.list(), ["data.csv"], "nothing is left");
    }
}

#[test]
fn what_the_rows_do_not_have_is_not_explained() {
    let folder = Folder::new();
    let page = page_of_orders(&folder, &["--top", "5"]);
    // Rows have names; `auto` has no standard error.
    assert!(!page.contains("the first row is row 0") && !page.contains("<dt>Standard error</dt>"));
    let page = page_of_orders(&folder, &["--top", "5", "--method", "logistic"]);
    assert!(page.contains("<dt>Standard error</dt>"));
}
