//! Bad input gets a clear error and nothing else: exit code 2, this message, no output.

use crate::common::Folder;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const GOOD: &str = "a,b\n1,2\n3,4\n5,7\n2,2\n";

/// Runs `score` on `data.csv` with this content and expects this to be all that is said.
#[track_caller]
fn refused(content: impl AsRef<[u8]>, args: &str, message: &str) {
    let folder = Folder::with(content);
    folder.write("good.csv", GOOD);
    expect(&folder, &format!("data.csv {args}"), message);
}

#[track_caller]
fn expect(folder: &Folder, args: &str, message: &str) {
    let ran = folder.score(args);
    assert_eq!(ran.err, format!("error: {message}\n"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
}

#[test]
fn no_file() {
    let folder = Folder::new();
    expect(&folder, "nowhere.csv", "nowhere.csv: no such file");
    expect(&folder, ".", ".: is a directory, not a file");
    folder.write("data.csv", GOOD);
    expect(&folder, "data.csv --reference nowhere.csv", "nowhere.csv: no such file");
    expect(&folder, "- --reference -", "only one of the data and the reference can be standard input");
}

#[test]
fn no_rows() {
    refused("", "", "data.csv: the file is empty");
    refused("\n \r\n", "", "data.csv: the file is empty");
    refused("\u{feff}", "", "data.csv: the file is empty");
    refused("a,b\n", "", "data.csv: needs at least 2 rows, has 0");
    refused("a,b\n1,2\n", "", "data.csv: needs at least 2 rows, has 1");
    assert_eq!(Folder::new().score_stdin("-", b"").err, "error: standard input: the file is empty\n");
}

#[test]
fn gaps_are_refused_where_someone_asks_for_it() {
    let strict = "--missing error --quiet";
    refused("a,b\n1,2\n,4\n5,3\n", strict, "data.csv: column `a` has a gap in line 3 (row 1)");
    refused("1,2\n3,NA\n4,8\n", strict, "data.csv: column `1` has a gap in line 2 (row 1)");
    refused("1,\n3,4\n5,9\n", strict, "data.csv: column `1` has a gap in line 1 (row 0)");
    let both = "data.csv: column `a` has 2 gaps, the first in line 3 (row 1); column `b` has a gap in line 4 (row 2)";
    refused("a,b\n1,2\nNaN,4\n-,?\n3,1\n", strict, both);
}

#[test]
fn too_large() {
    let message = "line 3 (row 1), column `b`: -2e101 is too large to work with, at most 1e100 is allowed";
    refused("a,b\n1,2\n3,-2e101\n5,6\n", "", &format!("data.csv: {message}"));
    refused("b,a\n1,2\n-2e101,3\n", "--reference good.csv", &format!("data.csv: {message}"));
}

#[test]
fn ragged() {
    refused("a,b\n1,2\n3\n", "", "data.csv: line 3 (row 1) has 1 field, expected 2");
    refused("a,b\n1,2\n3,4,5\n", "", "data.csv: line 3 (row 1) has 3 fields, expected 2");
    refused("1,2\n\n3,4,5\n", "", "data.csv: line 3 (row 1) has 3 fields, expected 2");
    let more = "data.csv: line 3 (row 1) has 1 field, expected 2; lines 5, 6 also have the wrong number";
    refused("a,b\n1,2\n3\n4,5\n6\n7,8,9\n1,1\n", "", more);
    refused("a,b\n1,\"2\n3,4\n", "", "data.csv: line 2: a quote opens here and never closes");
}

#[test]
fn columns() {
    refused("b,c\n1,2\n", "--reference good.csv", "data.csv: no column `a`; there are `b`, `c`");
    refused("A,b\n1,2\n", "--reference good.csv", "data.csv: no column `a`; did you mean `A`?");
    refused("x,label\n1,2\n", "--label lable", "data.csv: no column `lable`; did you mean `label`?");
    refused("x,label\n1,2\n", "--columns 2", "data.csv: no column `2`; there are `x`, `label`");
    refused(
        "1,2\n3,4\n",
        "--id name",
        "data.csv: no column `name`: there is no header, the columns are 0 to 1",
    );
    refused(GOOD, "--weights w --reference good.csv", "good.csv: no column `w`; there are `a`, `b`");
    refused(
        GOOD,
        "--columns a,b --label b",
        "data.csv: column `b` cannot be both compared (--columns) and the label",
    );
    refused(GOOD, "--columns a,a", "data.csv: column `a` is twice in --columns");
    refused(GOOD, "--columns ,", "data.csv: no column to compare");
    refused("id\n1\n2\n", "--id id", "data.csv: no column to compare");
}

#[test]
fn not_text() {
    refused(b"PAR2\x15\x04\x15", "", "data.csv: not a text file (byte 0x15 at position 4)");
    refused(b"a,b\n1,\0\n", "", "data.csv: not a text file (byte 0x00 at position 6)");
    refused(
        b"a,b\n1,2\nJos\xe9,3\n",
        "--id a --encoding utf-8",
        "data.csv: line 3: not UTF-8 text (byte 0xe9); --encoding says which it is",
    );
    // What was UTF-8 so far is not Windows-1252 from now on.
    refused(
        b"a,b\nJos\xc3\xa9,2\nJos\xe9,3\n",
        "--id a",
        "data.csv: line 3: not UTF-8 text (byte 0xe9); --encoding says which it is",
    );
}

#[test]
fn damaged_gzip() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all("1.5,2.5\n3,4\n".repeat(1000).as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    for cut in [3, 12, packed.len() / 2, packed.len() - 1] {
        refused(&packed[..cut], "", "data.csv: the gzip data ends too early: the file is cut off");
    }
    let mut damaged = packed.clone();
    damaged[12..20].fill(0xff);
    refused(&damaged, "", "data.csv: damaged gzip data: corrupt deflate stream");
}

#[test]
fn bad_weights() {
    let place = "data.csv: line 3 (row 1), column `w`";
    refused(
        "a,w\n1,1\n2,-1\n3,1\n",
        "--weights w",
        &format!("{place}: a weight must be finite and not negative, got -1"),
    );
    refused("a,w\n1,1\n2,inf\n3,1\n", "--weights w", &format!("{place}: `inf` is not a finite number"));
    let few = "data.csv: the reference needs at least 2 rows with a positive weight, got";
    refused("a,w\n1,0\n2,0\n3,0\n", "--weights w", &format!("{few} 0"));
    refused("a,w\n1,0\n2,5\n3,0\n", "--weights w --quiet", &format!("{few} 1"));
}

#[test]
fn bad_settings() {
    for (flag, value) in [("reg", "0"), ("reg", "-1"), ("reg", "inf"), ("tol", "-1e-3"), ("tol", "0")] {
        let got: f64 = value.parse().unwrap();
        let message = format!("`--{flag}` must be a positive, finite number, got {got}");
        refused(GOOD, &format!("--{flag} {value}"), &message);
    }
    refused(GOOD, "--reg nan", "`--reg` must be a positive, finite number, got NaN");
    refused(GOOD, "--max-iter 0", "`--max-iter` must be at least 1, got 0");
    refused(GOOD, "--variant constrained", "variant `constrained` needs a `radius`");
    refused(
        GOOD,
        "--variant constrained --radius -2",
        "`--radius` must be a positive, finite number, got -2",
    );
    refused(GOOD, "--radius 2", "`radius` goes with variant `constrained`, not with `risk`");
    refused(
        GOOD,
        "--variant constrained --radius 2 --reg 0.1",
        "`--reg` plays no part in variant `constrained`: `--radius` takes its place",
    );
    refused(
        GOOD,
        "--scale mcd --support-fraction 2",
        "`--support-fraction` must be between 0.5 and 1, got 2",
    );
    refused(GOOD, "--support-fraction 0.6", "`--support-fraction` goes with `--scale mcd`");
}

#[test]
fn bad_names() {
    let more = "\n\nFor more information, try '--help'.";
    let methods = lossdepth::Method::ALL.map(lossdepth::Method::name).join(", ");
    refused(
        GOOD,
        "--method logistc",
        &format!(
            "invalid value 'logistc' for '--method <NAME>'\n  \
             [possible values: {methods}]\n\n  \
             tip: a similar value exists: 'logistic'{more}"
        ),
    );
    refused(
        GOOD,
        "--scale standart",
        &format!(
            "invalid value 'standart' for '--scale <NAME>'\n  \
             [possible values: none, standard, robust, whiten, mcd]\n\n  \
             tip: a similar value exists: 'standard'{more}"
        ),
    );
    let end = "the name must end in .csv, .tsv or .json, with .gz if it should be compressed, \
               or in .parquet, .arrow or .feather";
    for name in ["scores.xlsx", "scores", ".gz", "csv", "scores.parquet.gz"] {
        refused(
            GOOD,
            &format!("--out {name}"),
            &format!("invalid value '{name}' for '--out <FILE>': {end}{more}"),
        );
    }
    refused(
        GOOD,
        "--threads 0",
        &format!("invalid value '0' for '--threads <N>': 0 is not in 1..=1024{more}"),
    );
}

#[test]
fn output_that_cannot_be() {
    refused(GOOD, "--out nowhere/scores.csv", "nowhere/scores.csv: cannot write: no such folder");
    let folder = Folder::with(GOOD);
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    expect(&folder, "data.csv --out folder.csv", "folder.csv: cannot write: is a directory");
}

#[test]
fn nothing_panics_on_noise() {
    // A small generator: the same noise in every run.
    let mut state = 12_345_u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % n
    };
    let bits =
        ["1", "2.5", "-3e7", ",", ",", ";", "\t", "\n", "\n", "\"", "a", "nan", " ", "\r\n", "é", "\u{feff}"];
    let folder = Folder::with(GOOD);
    for _ in 0..60 {
        let text: String = (0..next(60)).map(|_| bits[next(bits.len())]).collect();
        folder.write("noise.csv", &text);
        for args in ["noise.csv", "noise.csv --reference data.csv", "data.csv --reference noise.csv"] {
            let ran = folder.score(args);
            let fine =
                matches!(ran.code, Some(0 | 1)) || (ran.code == Some(2) && ran.err.contains("error: "));
            assert!(fine && !ran.err.contains("panicked"), "{text:?}: {:?} {}", ran.code, ran.err);
        }
    }
}

#[test]
fn files_of_other_programs() {
    let mut sheet = b"PK\x03\x04".to_vec();
    sheet.resize(30, 0);
    let named = |name: &str| [&sheet[..], name.as_bytes()].concat();
    let cut_off = "damaged workbook file: it ends too early";
    let no_table = "JSON, but no table: that is an array of objects, or an object a line";
    let cases: [(Vec<u8>, &str); 19] = [
        (b"\x28\xb5\x2f\xfd\x04\x00".to_vec(), "compressed by Zstandard: unpack it, or compress it by gzip"),
        (b"BZh91AY&SY".to_vec(), "compressed by bzip2: unpack it, or compress it by gzip"),
        (b"\xfd7zXZ\0\0\x04".to_vec(), "compressed by xz: unpack it, or compress it by gzip"),
        (named("[Content_Types].xml"), cut_off),
        (named("_rels/.rels"), cut_off),
        (named("mimetypeapplication/vnd.oasis"), cut_off),
        (b"\xd0\xcf\x11\xe0\xa1".to_vec(), "damaged workbook file: its table of sectors is broken"),
        (
            b"\x80\x04\x95\x10\0".to_vec(),
            "a Python pickle, which could run anything: save it as NPY, NPZ, Parquet or CSV",
        ),
        (b"SQLite format 3\0\x10\0".to_vec(), "an SQLite database: save the table as CSV"),
        (b"{\"a\": [1, 2]}".to_vec(), no_table),
        (b" [\n  {\"a\": 1}]".to_vec(), "needs at least 2 rows, has 1"),
        (b"[[1, 2], [3, 4]]".to_vec(), no_table),
        (b"[]".to_vec(), "the file is empty"),
        (b"{\"a\": 1}\n{\"a\": ".to_vec(), "damaged JSON file: EOF while parsing a value at line 2 column 6"),
        (
            b"[{\"a\": 1}, {\"a\": 2}] x".to_vec(),
            "damaged JSON file: trailing characters at line 1 column 22",
        ),
        (b"%PDF-1.4".to_vec(), "a PDF document, not a table: save the table in it as CSV or a workbook"),
        (
            b" <!DOCTYPE html><table>".to_vec(),
            "an HTML or XML document, not a table: save the table in it as CSV or a workbook",
        ),
        (
            b"<?xml version=\"1.0\"?><a/>".to_vec(),
            "an HTML or XML document, not a table: save the table in it as CSV or a workbook",
        ),
        ([b"[".repeat(100_000), b"{".to_vec()].concat(), no_table),
    ];
    for (content, message) in cases {
        refused(content, "", &format!("data.csv: {message}"));
    }
    let folder = Folder::with(GOOD);
    assert_eq!(folder.run(&["fit", "data.csv", "--out", "model.safetensors"]).code, Some(0));
    let model =
        "a safetensors file: a model goes after --model, and a table is saved as NPY, NPZ, Parquet or CSV";
    expect(&folder, "model.safetensors", &format!("model.safetensors: {model}"));
    expect(&folder, "data.csv --reference model.safetensors", &format!("model.safetensors: {model}"));
}

#[test] // Of a table that was scored into itself nothing but the scores would be left.
fn a_file_is_not_written_while_it_is_read() {
    let message =
        |name: &str| format!("{name}: cannot be read and written at once; --out needs another name");
    refused(GOOD, "--out data.csv", &message("data.csv"));
    refused(GOOD, "--out ./data.csv", &message("./data.csv"));
    refused(GOOD, "--reference good.csv --out good.csv", &message("good.csv"));
    let folder = Folder::with(GOOD);
    folder.write("scores.csv", "an older run");
    assert_eq!(folder.score("data.csv --out scores.csv").code, Some(0));
    assert_eq!(folder.read("data.csv"), GOOD);
}

#[test] // A table cannot pad what is wider than 65,535 letters.
fn names_of_any_length() {
    let name = "n".repeat(70_000);
    let folder = Folder::with(format!("{name},b\n1,2\n3,4\n5,7\n2,2\n"));
    let ran = folder.run(&["explain", "data.csv", "--row", "0"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains(&name));
    assert_eq!(folder.run(&["fit", "data.csv", "--out", "model.safetensors"]).code, Some(0));
    let ran = folder.run(&["info", "model.safetensors"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains(&name));
}

#[test] // A quoted name may have line breaks and any length; a message is one line.
fn names_in_messages() {
    let strict = "--missing error --quiet";
    refused("\"a\nb\",c\n1,2\n,4\n", strict, "data.csv: column `a b` has a gap in line 4 (row 1)");
    let (long, short) = ("n".repeat(300_000), "n".repeat(40) + "…");
    refused(
        format!("{long},c\n1,2\n,4\n"),
        strict,
        &format!("data.csv: column `{short}` has a gap in line 3 (row 1)"),
    );
    refused(
        format!("{long},c\n1,2\n"),
        "--label d",
        &format!("data.csv: no column `d`; there are `{short}`, `c`"),
    );
    refused(
        "x,y\n1,2\n",
        &format!("--label {}", &long[..100_000]),
        &format!("data.csv: no column `{short}`; there are `x`, `y`"),
    );
    let folder = Folder::new();
    folder.write("a\nb.csv", "x,y\n1,2\n3\n");
    let ran = folder.run(&["score", "a\nb.csv"]);
    assert!(ran.err.starts_with("error: a b.csv: line 3 (row 1)"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1);
}

#[test]
fn rates_without_p_values() {
    let ranks = "`--fdr` needs `--p-values` and `--reference` or `--model`: among the rows of one table p-values are their ranks, and nothing \
                 can be found in those";
    refused(GOOD, "--fdr 0.1", ranks);
    refused(
        GOOD,
        "--fdr 0.1 --reference good.csv",
        "`--fdr` needs p-values: add `--p-values`, `--p-values=cross` or `--p-values=leave-one-out`",
    );
}

#[test]
fn rows_that_were_mistyped() {
    let ids = (0..200).map(|i| format!("sensor-{i},{i},{}\n", i * i % 7)).collect::<Vec<_>>().concat();
    let folder = Folder::with(format!("id,x,y\n{ids}"));
    folder.write("numbers.csv", ids.replace("sensor-", "10"));
    let hint = |file: &str, id: &str, row: &str| {
        let ran = folder.run(&["explain", file, "--id", id, "--row", row]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        ran.err.trim_end().split_once("; ").unwrap().1.to_owned()
    };
    assert_eq!(hint("data.csv", "id", "senosr-17"), "did you mean `sensor-17`?");
    assert_eq!(hint("data.csv", "id", "sensor 123"), "did you mean `sensor-123`?");
    assert_eq!(hint("data.csv", "id", "SENSOR-99"), "did you mean `sensor-99`?");
    // Nothing like it, and numbers, of which all are alike.
    let all = |p: &str| {
        format!(
            "there are {} and 192 more",
            (0..8).map(|i| format!("`{p}{i}`")).collect::<Vec<_>>().join(", ")
        )
    };
    assert_eq!(hint("data.csv", "id", "pump"), all("sensor-"));
    assert_eq!(hint("numbers.csv", "0", "1999"), all("10"));
}

#[test]
fn numbers_of_rows_that_cannot_be() {
    let folder = Folder::with(GOOD);
    for command in ["outliers", "report", "score", "explain"] {
        for (top, problem) in [
            ("0", "it must be at least 1"),
            ("-3", "it must be a whole number, as 10"),
            ("2.5", "it must be a whole number, as 10"),
            ("", "it must be a whole number, as 10"),
        ] {
            let ran = folder.run(&[command, "data.csv", "--top", top]);
            let line = format!("error: invalid value '{top}' for '--top <K>': {problem}\n");
            let empty = "error: a value is required for '--top <K>' but none was supplied\n";
            assert_eq!(ran.code, Some(2), "{command} {top}");
            assert!(
                ran.err.starts_with(&line) || top.is_empty() && ran.err.starts_with(empty),
                "{}",
                ran.err
            );
        }
        // More than there are: all.
        for top in ["1000", "99999999999999999999999999"] {
            let mut args = vec![command, "data.csv", "--top", top, "--quiet"];
            args.extend(if command == "report" { &["--out", "all.html"][..] } else { &[] });
            let ran = folder.run(&args);
            assert_eq!(ran.code, Some(0), "{command} {top}: {}", ran.err);
        }
    }
}
