//! ARFF: types of attributes, quoting, gaps, rows as their values other than 0, and what is wrong with a file.

use crate::common::Folder;
use lossdepth_cli::testing::{describe, read};

const TABLE: &str = "\
% two lines
%  of comments

@RELATION 'a b'
@attribute x NUMERIC
@ATTRIBUTE 'y z' real
@Attribute grade {0, 1,2}
@attribute colour {red, 'dark blue', \"o'neil\", 'back\\'slash'}
@attribute day DATE 'yyyy-MM-dd'
@DATA
1.5, 1e2, 0, red, 2024-01-03
-2,?,1,'dark blue','2024-02-04'
% in between
  7 \t 3 2 \"o'neil\" 2024-03-05
.5,4,?,'back\\'slash',?
3,5,1,red,2024-01-09   % behind
";

fn described(text: &str, flags: &str) -> Result<String, String> {
    let folder = Folder::new();
    folder.write("t.arff", text);
    describe(&folder.path("t.arff"), flags)
}

#[test]
fn attributes_have_the_types_that_the_header_says() {
    let found = described(TABLE, "").unwrap();
    let expected = "rows 5
x: number: 1.5 | -2 | 7 | 0.5
y z: number, 1 gaps: 100 | gap | 3 | 4
grade: category, 1 gaps, 3 levels: 0 | 1 | 2 | gap
colour: category, 4 levels: red | dark blue | o'neil | back'slash
day: date, 1 gaps: 2024-01-03 | 2024-02-04 | 2024-03-05 | gap
";
    assert_eq!(found, expected);
    // What a user says counts more.
    let found = described(TABLE, "--as grade=number,x=category").unwrap();
    assert!(found.contains("grade: number, 1 gaps: 0 | 1 | 2 | gap"), "{found}");
    assert!(found.contains("x: category, 5 levels: 1.5 | -2 | 7 | .5"), "{found}");
}

#[test]
fn a_row_may_have_its_values_other_than_zero_only() {
    let rows = "{0 1.5, 2 b}\n{}\n{ 1 -3 }\n{1 4,0 ?} % last\n";
    let head = "@relation s\n@attribute x numeric\n@attribute y numeric\n@attribute c {a, b}\n@data\n";
    let found = described(&format!("{head}{rows}"), "").unwrap();
    assert_eq!(
        found,
        "rows 4\nx: number, 1 gaps: 1.5 | 0 | 0 | gap\ny: number: 0 | 0 | -3 | 4\nc: category, 2 levels: b | a | a | a\n"
    );
}

#[test]
fn scores_are_those_of_the_same_table_as_csv() {
    let folder = Folder::new();
    let line = |i: usize| format!("{}.5,{},{}\n", i % 7, i * i % 11, ["u", "v"][i % 2]);
    let rows = (0..30).map(line).collect::<Vec<_>>().concat();
    let head = "@relation t\n@attribute x numeric\n@attribute y integer\n@attribute c {u,v}\n@data\n";
    folder.write("t.arff", format!("{head}{rows}"));
    folder.write("t.csv", format!("x,y,c\n{rows}"));
    let (arff, csv) = (folder.score("t.arff --quiet"), folder.score("t.csv --quiet"));
    assert_eq!((arff.code, &arff.out), (Some(0), &csv.out));
    // A model of the one scores the other; the label and names of rows are columns as in any table.
    assert_eq!(folder.run(&["fit", "t.arff", "--out", "m.safetensors", "--quiet"]).code, Some(0));
    let scored = folder.score("t.csv --model m.safetensors --quiet");
    assert_eq!((scored.code, &scored.out), (Some(0), &csv.out));
    let (arff, csv) =
        (folder.score("t.arff --label c --id y --quiet"), folder.score("t.csv --label c --id y --quiet"));
    assert_eq!((arff.code, arff.out), (Some(0), csv.out));
    // The name does not matter; a name that promises what is not there does.
    assert_eq!(read("data", format!("{head}{rows}").into_bytes(), 7).unwrap().names, ["x", "y", "c"]);
    assert_eq!(
        read("t.arff", b"x,y\n1,2\n".to_vec(), 7).unwrap_err(),
        "t.arff: this is no ARFF file, in spite of its name"
    );
}

#[test]
fn encodings_are_found_as_in_other_texts() {
    let folder = Folder::new();
    let mut bytes = b"@relation r\r\n@attribute c {a, b}\r\n@attribute s string\r\n@data\r\n".to_vec();
    bytes.extend(b"a, caf\xe9\r\nb, caf\xe9\r\na, the\r\n");
    folder.write("t.arff", &bytes);
    let found = describe(&folder.path("t.arff"), "").unwrap();
    assert!(found.contains("s: category, 2 levels: café | café | the"), "{found}");
    assert_eq!(found.matches("read as windows-1252").count(), 1, "{found}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let wrong = |text: &str| read("t.arff", format!("@relation r\n{text}").into_bytes(), 5).unwrap_err();
    let head = "@attribute x numeric\n@attribute c {a, b}\n@data\n";
    for (text, message) in [
        ("@attribute x numeric\n", "damaged ARFF file: it has no @data"),
        ("@data\n1\n", "the file is empty"),
        ("attribute x numeric\n", "damaged ARFF file: line 2 is no attribute: `attribute x numeric`"),
        (
            "@attribute x {a, b\n",
            "damaged ARFF file: line 2: the levels of the attribute do not end with `}`",
        ),
        ("@attribute 'x numeric\n", "damaged ARFF file: line 2: a quote opens here and never closes"),
        (
            "@attribute x complex\n",
            "damaged ARFF file: line 2: the attribute `x` is of type `complex`, expected numeric, string, date or levels in \
             braces",
        ),
        (
            "@attribute x relational\n",
            "line 2: the attribute `x` is relational, a table in each cell: save the table without it",
        ),
        (&format!("{head}1,a\n2\n"), "line 6 (row 1) has 1 field, expected 2"),
        (&format!("{head}1,a,b\n"), "line 5 (row 0) has 3 fields, expected 2"),
        (&format!("{head}one,a\n"), "line 5 (row 0), column `x`: `one` is not a number"),
        (
            &format!("{head}1,a,{{2}}\n"),
            "damaged ARFF file: line 5: weights of rows are not read: make the weight an attribute",
        ),
        (
            &format!("{head}{{0 1}},{{2}}\n"),
            "damaged ARFF file: line 5: weights of rows are not read: make the weight an attribute",
        ),
        (
            &format!("{head}{{7 1}}\n"),
            "damaged ARFF file: line 5: a value in braces needs the number of its attribute before it",
        ),
    ] {
        assert_eq!(wrong(text), format!("t.arff: {message}"));
    }
}
