//! What `report --mask` keeps out of the file: values, and everything that tells what they are.

use crate::common::Folder;
use crate::report::embedded;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Amounts that are quantity times price, a rare town, gaps, and rows with errors.
fn table(rows: u32) -> String {
    let mut table = "quantity,price,amount,town\n".to_owned();
    for i in 0..rows {
        let (quantity, price) = (f64::from(i * 7 % 23 + 2), 211.25 + f64::from(i * 13 % 53) * 17.5);
        let amount = if i % 50 == 7 { 3.0 * quantity * price } else { quantity * price };
        let price = if i == 60 { 90_417.5 } else { price };
        let price = if i % 40 == 3 { String::new() } else { price.to_string() };
        let town = if i == 31 { "Xanadu" } else { ["Quolibet", "Zembla"][(i % 2) as usize] };
        writeln!(table, "{quantity},{price},{amount},{town}").unwrap();
    }
    table
}

fn page(folder: &Folder, flags: &[&str]) -> String {
    let ran = folder.run(&[&["report", "data.csv", "--out", "odd.html", "--top", "30"], flags].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder.read("odd.html")
}

/// Every text and every number with more than four letters that the page of the whole table has about a column.
fn told(data: &Value, column: usize) -> BTreeSet<String> {
    fn leaves(value: &Value, into: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| leaves(item, into)),
            Value::Object(items) => {
                // `type` says which of several forms it has.
                items.iter().filter(|(key, _)| *key != "type").for_each(|(_, item)| leaves(item, into));
            }
            Value::String(text) => into.push(text.clone()),
            Value::Number(number) => into.push(number.to_string()),
            Value::Bool(_) | Value::Null => {}
        }
    }
    let mut found = Vec::new();
    leaves(&data["columns"][column]["usual"], &mut found);
    leaves(&data["columns"][column]["distribution"], &mut found);
    for row in data["rows"].as_array().unwrap() {
        leaves(&row["cells"][column], &mut found);
        for neighbour in row["neighbours"].as_array().unwrap() {
            leaves(&neighbour["cells"][column], &mut found);
        }
        for reason in row["reasons"].as_array().unwrap() {
            if reason["columns"].as_array().unwrap().iter().any(|other| *other == column) {
                leaves(&reason["sentence"], &mut found);
            }
        }
    }
    for axis in data["map"]["axes"].as_array().unwrap().iter().filter(|axis| axis["column"] == column) {
        leaves(&axis["ordinary"], &mut found);
        leaves(&axis["odd"], &mut found);
    }
    found.into_iter().filter(|text| text.len() > 4).collect()
}

/// Whether a text has another in it that is not a part of a longer number or word.
fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || ".,".contains(c);
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        // A comma before or after is that of a list, unless digits go on.
        let digits = |rest: Option<char>| rest.is_some_and(|c| c.is_ascii_digit());
        let (far_before, far_after) =
            (text[..at].chars().rev().nth(1), text[at + word.len()..].chars().nth(1));
        !before.is_some_and(|c| part(c) && (!",.".contains(c) || digits(far_before)))
            && !after.is_some_and(|c| part(c) && (!",.".contains(c) || digits(far_after)))
    })
}

#[test]
fn nothing_that_tells_a_masked_value_is_in_the_file() {
    let folder = Folder::with(table(400));
    folder.write("old.csv", table(300));
    for against in [&[][..], &["--reference", "old.csv"]] {
        let open = page(&folder, against);
        let data = embedded(&open);
        let names: Vec<&str> =
            data["columns"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
        for (masked, words) in [("price", "would fit"), ("town", "Xanadu")] {
            let column = names.iter().position(|name| *name == masked).unwrap();
            let (told, hidden) =
                (told(&data, column), page(&folder, &[against, &["--mask", masked]].concat()));
            assert!(told.len() > if masked == "price" { 60 } else { 2 }, "{told:?}");
            // Another column may have the same numbers.
            let other = |text: &String| {
                (0..names.len()).filter(|at| *at != column).any(|at| self::told(&data, at).contains(text))
            };
            let leaked: Vec<&String> =
                told.iter().filter(|text| has_word(&hidden, text) && !other(text)).collect();
            assert!(leaked.is_empty(), "{masked}: {leaked:?}");
            // Which value would fit columns that are shown may be told.
            let tells = |text: &str| {
                let ends = |c: char| "<\";".contains(c);
                text.split(words)
                    .skip(1)
                    .any(|rest| rest.split(ends).next().unwrap_or_default().contains(masked))
            };
            match words {
                "would fit" => assert!(tells(&open) && !tells(&hidden), "{masked}: {words}"),
                _ => assert!(open.contains(words) && !hidden.contains(words), "{masked}: {words}"),
            }
            assert!(hidden.contains(masked), "its name is shown");
        }
    }
}

#[test] // `--mask "$COLUMN"` with a variable that is not set must not show everything.
fn a_mask_of_nothing_is_refused() {
    let folder = Folder::with(table(40));
    for mask in ["", " ", ","] {
        let ran = folder.run(&["report", "data.csv", "--out", "odd.html", "--mask", mask]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: `--mask` names no column\n"), "{mask:?}");
        assert_eq!(folder.list(), ["data.csv"]);
    }
}

#[test]
fn a_mask_hides_all_columns_of_its_name() {
    let value = |i: usize, column: usize| format!("{}.{:03}{column}", 6 + column, i * 37 * column % 500);
    let row = |i: usize| format!("{},{},{}\n", i % 7, value(i, 1), value(i, 2));
    let rows: Vec<String> = (0..30).map(row).collect();
    let folder = Folder::with(format!("x,pay,pay\n{}", rows.concat()));
    let page = |mask: &[&str]| {
        let ran = folder.run(&[&["report", "data.csv", "--out", "odd.html"], mask].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        std::fs::read_to_string(folder.path("odd.html")).unwrap()
    };
    let (open, hidden) = (page(&[]), page(&["--mask", "pay"]));
    for column in [1, 2] {
        let is_shown = |number: &str| (0..30).any(|i| number == value(i, column));
        let shown = |page: &str| page.split(|c: char| !c.is_ascii_digit() && c != '.').any(is_shown);
        assert!(shown(&open) && !shown(&hidden), "column {column}");
    }
}
