//! Tables as people have them: a folder of messy files, each with what should come out.

use crate::common::Folder;
use lossdepth_cli::testing::describe;
use std::path::{Path, PathBuf};

fn messy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messy")
}

/// Not what should come out, nor the program that made them.
fn is_table(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    !matches!(extension, Some("expected" | "py"))
}

/// The flags a file needs, where its content does not tell.
fn flags(name: &str) -> &'static str {
    match name {
        "na_words.csv" => "--na unknown,999",
        "said.csv" => "--as grade=category,passed=boolean --exclude teacher",
        _ => "",
    }
}

/// With `UPDATE_SNAPSHOTS=1` what comes out is written instead: read the difference.
#[test]
fn every_messy_file_is_read_as_what_it_is() {
    let mut files: Vec<String> = std::fs::read_dir(messy())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| is_table(name))
        .collect();
    files.sort();
    assert!(files.len() >= 25, "{files:?}");
    let mut wrong = Vec::new();
    for name in &files {
        let found =
            describe(&messy().join(name), flags(name)).unwrap_or_else(|error| format!("error: {error}\n"));
        let path = messy().join(format!("{name}.expected"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{name} is now\n{found}instead of\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_messy_file_is_scored() {
    let folder_of_runs = Folder::new();
    for file in std::fs::read_dir(messy()).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !is_table(&name) {
            continue;
        }
        let args = format!("{} {} --method svm --scale standard --quiet", path.display(), flags(&name));
        let ran = folder_of_runs.score(&args);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(ran.out.lines().count() >= 25, "{name}: {}", ran.out);
    }
}

const MIXED: &str = "\
id,amount,region,when,paid
A1,10.5,north,2024-01-01,yes
A2,11.5,south,2024-01-02,no
A3,9.75,north,2024-01-03,yes
A4,12.25,south,2024-01-04,yes
A5,10.25,north,2024-01-05,no
A6,,south,2024-01-06,yes
A7,11.25,north,2024-01-07,
A8,10.75,south,2024-01-08,no
";

/// Exit code 2, this message, and nothing else.
#[test]
fn bad_inputs_are_refused_in_one_message() {
    let folder = Folder::new();
    folder.write("mixed.csv", MIXED);
    folder.write("ragged.csv", "a,b,c\n1,2,3\n4,5\n6,7,8\n9\n1,1,1\n");
    folder.write("quote.csv", "a,b\n1,\"2\n3,4\n");
    folder.write("latin.csv", b"name,x\nJos\xe9,1\nAna,2\n");
    folder.write(
        "texts.csv",
        "a,b\nred fox,the first of them\nblue cat,another one here\nold dog,and the last of all\n",
    );
    folder.write("weights.csv", "x,w\n1,1\n2,\n3,two\n4,1\n");
    folder.write("binary.csv", b"\x01\x02\x03\x04");
    folder.write("renamed.csv", "amount,Region,when\n10,north,2024-01-01\n");
    folder.write(
        "changed.csv",
        "amount,region,when,paid\nten,north,2024-01-01,yes\neleven,south,2024-01-02,no\n",
    );
    folder.write("cut.xlsx", &std::fs::read(messy().join("invoices.xlsx")).unwrap()[..3000]);
    folder.write("book.xlsx", std::fs::read(messy().join("invoices.xlsx")).unwrap());
    folder.write("hdf.mat", "MATLAB 7.3 MAT-file, Platform: GLNXA64");
    folder.write("fake.xlsx", "a,b\n1,2\n");
    folder.write("large.csv", "a,b\n1,2\n3,2e101\n-5e120,6\n5,7\n");
    folder.write("header.csv", "a,b\n");
    let cases: [(&str, &str); 25] = [
        ("nowhere.csv", "nowhere.csv: no such file"),
        (".", ".: is a directory, not a file"),
        ("binary.csv", "binary.csv: not a text file (byte 0x01 at position 0)"),
        ("header.csv", "header.csv: needs at least 2 rows, has 0"),
        (
            "ragged.csv",
            "ragged.csv: line 3 (row 1) has 2 fields, expected 3; line 5 also has the wrong number",
        ),
        ("quote.csv", "quote.csv: line 2: a quote opens here and never closes"),
        (
            "large.csv",
            "large.csv: line 4 (row 2), column `a`: -5e120 is too large to work with, at most 1e100 is allowed; line 3 (row 1), column `b`: 2e101 is too large to work with, at most 1e100 is allowed",
        ),
        (
            "latin.csv --encoding utf-8",
            "latin.csv: line 2: not UTF-8 text (byte 0xe9); --encoding says which it is",
        ),
        (
            "latin.csv --encoding klingon",
            "latin.csv: `--encoding klingon` is not known; there are utf-8, utf-16le, utf-16be, windows-1252 (latin1), iso-8859-15, windows-1251, macintosh, shift_jis, gb18030, …",
        ),
        ("texts.csv", "texts.csv: there is no column to compare: all are ids, texts or empty"),
        (
            "weights.csv --weights w",
            "weights.csv: line 3 (row 1), column `w`: missing value; line 4 (row 2), column `w`: `two` is not a number",
        ),
        (
            "mixed.csv --as region=colour,when",
            "`--as`: `colour` is no kind of column; there are number, category, boolean, date, id, text; `when` is not of the form column=kind",
        ),
        ("mixed.csv --as regoin=category", "mixed.csv: no column `regoin`; did you mean `region`?"),
        (
            "mixed.csv --as region=number",
            "mixed.csv: column `region` holds texts such as `north` in line 2 (row 0), which are not numbers",
        ),
        ("mixed.csv --as amount=date", "mixed.csv: column `amount` holds numbers, which are not dates"),
        ("mixed.csv --exclude amonut", "mixed.csv: no column `amonut`; did you mean `amount`?"),
        (
            "mixed.csv --missing error",
            "mixed.csv: column `amount` has a gap in line 7 (row 5); column `paid` has a gap in line 8 (row 6)",
        ),
        (
            "mixed.csv --method halfspace",
            "method `halfspace` compares numbers only, and `region`, `paid` are categories: leave them out with --exclude, or take another method such as `forest`",
        ),
        (
            "renamed.csv --reference mixed.csv",
            "renamed.csv: no columns `region`, `paid`; there are `amount`, `Region`, `when`; upper and lower case count: `Region` is not `region`",
        ),
        (
            "changed.csv --reference mixed.csv",
            "changed.csv: column `amount` holds texts such as `ten`, the reference has numbers there",
        ),
        ("cut.xlsx", "cut.xlsx: damaged workbook file: it ends too early"),
        ("book.xlsx --sheet Sales", "book.xlsx: no sheet `Sales`; there are `Cover`, `Invoices`, `Rates`"),
        ("book.xlsx --sheet 1", "book.xlsx: the file is empty"),
        (
            "hdf.mat",
            "hdf.mat: an HDF5 file (MAT 7.3 is one): save it as MAT 5 (`-v7` in MATLAB), Parquet, NPZ or CSV",
        ),
        ("fake.xlsx", "fake.xlsx: this is no Excel file, in spite of its name"),
    ];
    for (args, message) in cases {
        let ran = folder.score(&format!("{args} --quiet"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args}");
        assert_eq!(ran.err, format!("error: {message}\n"), "{args}");
    }
    let ran = folder.run(&["plot", "mixed.csv", "--out", "map.png", "--quiet"]);
    let message = "a picture needs numbers, and `region`, `paid` are categories; choose columns of numbers, as --columns amount,when";
    assert_eq!((ran.code, ran.err), (Some(2), format!("error: {message}\n")));
}

#[test]
fn queries_are_matched_by_name_and_odd_cells_are_told() {
    let folder = Folder::new();
    folder.write("mixed.csv", MIXED);
    let new = "paid,extra,when,region,amount,id\nno,1,2024-01-09,east,10.0,B1\nyes,2,2024-01-10,,oops,B2\n";
    folder.write("new.csv", new);
    let ran = folder.score("new.csv --reference mixed.csv --method svm --scale standard");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows: Vec<&str> = ran.out.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(rows, ["row", "B1", "B2"]);
    for note in [
        "mixed.csv: 8 rows, 5 columns\n",
        "  compared   amount (1 gap); region (category); paid (1 gap) (yes or no); when (date)\n",
        "  left out   id (names the rows)\n",
        "note: new.csv: not in mixed.csv, so left out: `extra`\n",
        "note: new.csv: 1 gap in `region`, where the reference has none\n",
        "note: new.csv: 1 row with a level of `region` that the reference lacks: `east` (first in row 0)\n",
        "note: new.csv: 1 cell of `amount` cannot be read as a number, taken for gaps: `oops` (first in row 1)\n",
    ] {
        assert!(ran.err.contains(note), "{note}{}", ran.err);
    }
    // The same through a model file, and without a word.
    let fitted =
        folder.run(&["fit", "mixed.csv", "--method", "svm", "--scale", "standard", "--out", "m.safetensors"]);
    assert_eq!(fitted.code, Some(0), "{}", fitted.err);
    let by_model = folder.score("new.csv --model m.safetensors --quiet");
    assert_eq!((by_model.out, by_model.err), (ran.out, String::new()));
    let about = folder.run(&["info", "m.safetensors"]).out;
    assert!(
        about.contains("amount (1 gap); region (category); paid (1 gap) (yes or no); when (date)"),
        "{about}"
    );
}

#[test]
fn explanations_speak_of_columns_and_levels() {
    let folder = Folder::new();
    folder.write("mixed.csv", MIXED.replace("A8,10.75,south", "A8,99.5,west"));
    for method in ["logistic", "svm", "forest", "gp"] {
        let ran =
            folder.run(&["explain", "mixed.csv", "--row", "A8", "--method", method, "--scale", "robust"]);
        assert_eq!(ran.code, Some(0), "{method}: {}", ran.err);
        assert!(ran.out.contains("row 7 (A8)") && ran.out.contains("west"), "{method}: {}", ran.out);
        assert!(ran.out.contains("amount") && ran.out.contains("99.5"), "{method}: {}", ran.out);
    }
    let ran = folder.run(&["explain", "mixed.csv", "--row", "A6", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let columns = report["rows"][0]["columns"].as_array().unwrap();
    let value = |name: &str| &columns.iter().find(|column| column["name"] == name).unwrap()["value"];
    assert_eq!(
        (value("amount"), value("region")),
        (&serde_json::json!("a gap"), &serde_json::json!("south"))
    );
    assert_eq!(columns.len(), 4);
}

#[test]
fn outliers_tell_how_the_table_was_read() {
    let folder = Folder::new();
    let mut text = "Sales of the year,,\n\ncompany,revenue,staff\n".to_owned();
    let (mut revenue, mut staff) = (0, 0);
    for i in 0..30 {
        let (r, s) = (100 + i * 7 % 31, 40 + i * 5 % 17);
        (revenue, staff) = (revenue + r, staff + s);
        text.extend(["Firm ", &i.to_string(), ",", &r.to_string(), ",", &s.to_string(), "\n"]);
        text += if i == 9 { ",,\n" } else { "" };
    }
    folder.write("sums.csv", format!("{text}Total,{revenue},{staff}\n"));
    folder.write("named.csv", format!("{text}Total,110,51\n"));
    folder.write("odd.csv", format!("{text}Total,n.v.x,51\nFirm 99,120,44\n"));
    let titles = "lines 1 to 2 are above the table and left out; --skip 0 reads them";
    let blank = "1 line without a value left out";
    let sum = format!("line 35 is below the table and left out: `Total {revenue} {staff}`");
    let ran = folder.run(&["outliers", "sums.csv", "--top", "1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("sums.csv: 30 rows, 3 columns\n"), "{}", ran.out);
    for note in [titles, blank, &sum] {
        assert!(ran.out.contains(&format!("  note       {note}\n")), "{note}: {}", ran.out);
    }
    let json = folder.run(&["outliers", "sums.csv", "--top", "1", "--format", "json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["notes"], serde_json::json!([titles, sum, blank]));
    // A company of that name is a row.
    let ran = folder.run(&["outliers", "named.csv", "--top", "1"]);
    assert!(ran.out.starts_with("named.csv: 31 rows, 3 columns\n"), "{}", ran.out);
    assert!(!ran.out.contains("below the table"), "{}", ran.out);
    let ran = folder.run(&["outliers", "odd.csv", "--top", "1"]);
    assert!(ran.out.starts_with("odd.csv: 32 rows, 3 columns\n"), "{}", ran.out);
    let unread = "1 cell of `revenue` cannot be read as a number, taken for gaps: `n.v.x` (first in row 30)";
    assert!(ran.out.contains(unread), "{}", ran.out);
    // The page has the same, without values where some are masked.
    let ran = folder.run(&["report", "sums.csv", "--out", "odd.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let page = folder.read("odd.html");
    assert!(page.contains("Lines 1 to 2 are above the table and left out"), "no titles");
    assert!(page.contains(&format!("Total {revenue} {staff}")), "no sum");
    let ran = folder.run(&["report", "sums.csv", "--mask", "revenue", "--out", "masked.html"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!folder.read("masked.html").contains(&format!("Total {revenue}")), "a masked value");
}

#[test]
fn objects_of_json_are_rows() {
    let folder = Folder::new();
    let object = |i: usize| {
        format!(
            "{{\"id\": \"E{i}\", \"x\": {}, \"ok\": {}, \"tags\": [1, {{\"a\": 2}}]}}",
            i * 7 % 11,
            i.is_multiple_of(3)
        )
    };
    let objects: Vec<String> = (0..20).map(object).collect();
    folder.write("lines.jsonl", objects.join("\n"));
    folder.write("array.json", format!("[\n{}\n]\n", objects.join(",\n")));
    folder.write("same.csv", {
        let row = |i: usize| format!("E{i},{},{}\n", i * 7 % 11, i.is_multiple_of(3));
        "id,x,ok\n".to_owned() + &(0..20).map(row).collect::<String>()
    });
    let expected = folder.score("same.csv --method svm --scale standard --quiet").out;
    for name in ["lines.jsonl", "array.json"] {
        let ran = folder.score(&format!("{name} --method svm --scale standard"));
        assert_eq!((ran.code, &ran.out), (Some(0), &expected), "{name}: {}", ran.err);
        let note = format!("note: {name}: column `tags` holds lists or objects, left out\n");
        assert!(ran.err.contains(&note), "{}", ran.err);
    }
    // A key that is not in every object is a column with gaps.
    folder.write(
        "gaps.jsonl",
        "{\"a\": 1}\n{\"a\": 2, \"b\": 5}\n{\"b\": null, \"a\": 3}\n{\"a\": 4, \"b\": 6}\n",
    );
    let ran = folder.score("gaps.jsonl");
    assert!(ran.err.contains("compared   a, b (2 gaps)"), "{}", ran.err);
}

#[test]
fn what_cannot_be_done_is_said_in_words() {
    let folder = Folder::new();
    folder.write("mixed.csv", MIXED);
    folder.write("other.csv", "p,q\n1,2\n2,3\n3,5\n");
    for (args, message) in [
        (
            ["outliers", "mixed.csv", "--top", "five"],
            "invalid value 'five' for '--top <K>': it must be a whole number, as 10",
        ),
        (["outliers", "mixed.csv", "-k", "0"], "invalid value '0' for '--top <K>': it must be at least 1"),
        (["score", "mixed.csv", "-k", "0"], "invalid value '0' for '--top <K>': it must be at least 1"),
        (
            ["compare", "mixed.csv", "other.csv", "--quiet"],
            "other.csv: no column in common with mixed.csv: it has `id`, `amount`, `region`, `when`, `paid`, and here are `p`, `q`",
        ),
    ] {
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}

#[test]
fn letters_of_windows_late_in_a_text() {
    let folder = Folder::new();
    let mut text: Vec<u8> = b"name,x\n".to_vec();
    (0..20_000).for_each(|i| text.extend(format!("n{},{}\n", i % 7, i % 13).bytes()));
    text.extend(b"J\xfcrgen,5\n");
    folder.write("late.csv", &text);
    let ran = folder.score("late.csv --method svm --id name --columns x");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.trim_end().lines().last().unwrap().starts_with("Jürgen,"));
    assert!(ran.err.starts_with("note: late.csv: from line 20002 on the text is no UTF-8"), "{}", ran.err);
}

#[test]
fn gaps_are_compared_dropped_or_filled() {
    let folder = Folder::new();
    folder.write("mixed.csv", MIXED);
    let rows = |args: &str| {
        let ran = folder.score(&format!("mixed.csv --method svm --scale standard --quiet {args}"));
        assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
        ran.out.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rows("").len(), 8);
    assert_eq!(rows("--missing median").len(), 8);
    assert_eq!(rows("--missing drop"), ["A1", "A2", "A3", "A4", "A5", "A8"]);
    assert_eq!(rows("--exclude amount,paid --missing error").len(), 8);
    // Without the id, rows are numbered as in the file.
    assert_eq!(rows("--missing drop --exclude id"), ["0", "1", "2", "3", "4", "7"]);
}

#[test]
fn columns_with_odd_names_can_be_said() {
    let folder = Folder::new();
    let mut text = "\"Price, net\",my col,a=b,x,x,\"say \"\"hi\"\"\",, zip \n".to_owned();
    for i in 0..40 {
        let (price, count) = (10.0 + f64::from(i * 7 % 31) / 10.0, i * 5 % 3);
        let line = format!(
            "{price},{count},{},{},{},p,{},1000{}\n",
            if i % 2 == 0 { "u" } else { "v" },
            i + 3,
            i * 3 % 7,
            i % 4,
            i % 3
        );
        text += &line;
    }
    folder.write("odd.csv", text);
    let compared = |args: &str| {
        let mut all = vec!["score", "odd.csv", "--method", "svm", "--scale", "standard"];
        all.extend(args.split('|').filter(|part| !part.is_empty()));
        let ran = folder.run(&all);
        assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
        let from = ran.err.find("  compared ").unwrap_or_else(|| panic!("{args}: {}", ran.err));
        ran.err[from..].lines().next().unwrap()[13..].to_owned()
    };
    let numbers = "Price, net, my col, x.1, 6; ";
    assert_eq!(compared(""), format!("{numbers}a=b, say \"hi\", zip (categories)"));
    assert_eq!(compared("--as|a=b=category"), compared(""));
    assert_eq!(
        compared("--as|\"Price, net\"=category,my col=category"),
        "x.1, 6; Price, net, my col, a=b, say \"hi\", zip (categories)"
    );
    assert_eq!(compared("--exclude|\"Price, net\",x.1,say \"hi\""), "my col, 6; a=b, zip (categories)");
    assert_eq!(compared("--columns|\"Price, net\",a=b,6"), "Price, net, 6; a=b (category)");
    assert_eq!(compared("--columns|x,x.1,zip|--id|my col"), "x.1; zip (category)");
    assert_eq!(
        compared("--as|6=category,x=number"),
        "Price, net, my col, x, x.1; a=b, say \"hi\", 6, zip (categories)"
    );
}
