//! References in pieces: `fit --partial` and `fit --merge`.

use crate::common::Folder;
use std::fmt::Write;

#[track_caller]
fn done(folder: &Folder, args: &str) -> String {
    let ran = folder.run(&args.split_whitespace().collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{args}: {}", ran.err);
    ran.err
}

#[track_caller]
fn refused(folder: &Folder, args: &str, message: &str) {
    let ran = folder.run(&args.split_whitespace().collect::<Vec<_>>());
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), format!("error: {message}\n").as_str()));
}

/// Rows with numbers, a category, gaps and dates; what a column holds cannot be seen in every part.
fn rows() -> Vec<String> {
    let region = |i: usize| ["north", "south", "east"][if i < 60 { i % 2 } else { 1 + i % 2 }];
    let code = |i: usize| if i < 60 { i.to_string() } else { format!("{i:04}") };
    let days = |i: usize| if i.is_multiple_of(17) { "n/a".to_owned() } else { format!("{}.50", i * 7 % 31) };
    let row = |i: usize| {
        format!("{},{},{},{},2024-01-{:02}", i * 13 % 101, region(i), code(i), days(i), i % 28 + 1)
    };
    (0..120).map(row).collect()
}

fn write(folder: &Folder, name: &str, rows: &[String]) {
    let mut text = "price,region,code,days,date\n".to_owned();
    for row in rows {
        writeln!(text, "{row}").unwrap();
    }
    folder.write(name, text);
}

#[test]
fn parts_of_any_division_give_the_same_model() {
    let (folder, rows) = (Folder::new(), rows());
    write(&folder, "all.csv", &rows);
    let mut reversed = rows.clone();
    reversed.reverse();
    // All rows; and a sample of them.
    for flags in ["", "--reference-rows 20 --seed 4"] {
        done(&folder, &format!("fit all.csv --partial {flags} --out all.part"));
        done(&folder, "fit --merge all.part --method logistic --out all.safetensors");
        for parts in [2, 7] {
            let mut names = String::new();
            for (i, piece) in reversed.chunks(rows.len().div_ceil(parts)).enumerate() {
                write(&folder, "piece.csv", piece);
                done(&folder, &format!("fit piece.csv --partial {flags} --out {i}.part"));
                write!(names, " {i}.part").unwrap();
            }
            done(&folder, &format!("fit --merge{names} --method logistic --out merged.safetensors"));
            let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
            assert!(read("merged.safetensors") == read("all.safetensors"), "{parts} parts");
            // Through a part of parts.
            done(&folder, &format!("fit --merge --partial{names} --out merged.part"));
            done(&folder, "fit --merge merged.part --method logistic --out merged.safetensors");
            assert!(read("merged.safetensors") == read("all.safetensors"), "{parts} parts");
        }
    }
}

#[test]
fn merged_parts_have_the_depths_of_the_whole_table() {
    let (folder, rows) = (Folder::new(), rows());
    write(&folder, "all.csv", &rows);
    write(&folder, "a.csv", &rows[..50]);
    write(&folder, "b.csv", &rows[50..]);
    done(&folder, "fit all.csv --method logistic --out whole.safetensors");
    done(&folder, "fit a.csv --partial --out a.part");
    done(&folder, "fit b.csv --partial --out b.part");
    let said = done(&folder, "fit --merge a.part b.part --method logistic --out merged.safetensors");
    assert!(said.contains("120 rows of 2 parts: logistic"), "{said}");
    let scores = |model: &str| {
        done(&folder, &format!("score all.csv --model {model} --out scores.csv"));
        let number = |text: &str| text.parse::<f64>().unwrap();
        let pair = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            (number(fields[1]), number(fields[2]))
        };
        folder.read("scores.csv").lines().skip(1).map(pair).collect::<Vec<_>>()
    };
    for (a, b) in scores("whole.safetensors").iter().zip(&scores("merged.safetensors")) {
        assert!((a.0 - b.0).abs() <= a.1 + b.1, "{a:?} {b:?}");
    }
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let (folder, rows) = (Folder::new(), rows());
    write(&folder, "a.csv", &rows);
    folder.write("b.csv", "price,colour\n1,red\n2,blue\n");
    done(&folder, "fit a.csv --partial --out a.part");
    done(&folder, "fit b.csv --partial --out b.part");
    refused(
        &folder,
        "fit --merge a.part b.part --out m.safetensors",
        "b.part: a part to be merged has no column `region`",
    );
    refused(
        &folder,
        "fit --merge a.csv --out m.safetensors",
        "a.csv: not a part that can be read: it is no part of a reference, as `fit --partial` writes them",
    );
    refused(&folder, "fit --merge none.part --out m.safetensors", "none.part: no such file");
    refused(
        &folder,
        "fit a.csv --partial --reg 3 --out x.part",
        "`--reg` goes with `--merge`, not with `--partial`",
    );
    refused(
        &folder,
        "fit --merge a.part --weights price --out m.safetensors",
        "`--weights` goes with `--partial`: parts have the chosen columns only",
    );
    refused(
        &folder,
        "fit a.csv --partial --out x.safetensors",
        "`--out x.safetensors`: the name must end in .part with --partial",
    );
    refused(
        &folder,
        "fit a.csv b.csv --out m.safetensors",
        "`fit` takes one table; tables in pieces become parts with --partial, and a model with --merge",
    );
}
