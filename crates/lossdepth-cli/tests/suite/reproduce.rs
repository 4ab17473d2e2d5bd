//! `reproduce`: pages, tables, what is kept between runs; and `--preset`.

use crate::common::{Folder, Ran, TABLE};
use std::path::{Path, PathBuf};

fn reproduce(folder: &Folder, args: &str) -> Ran {
    folder.run(&["reproduce"].into_iter().chain(args.split_whitespace()).collect::<Vec<_>>())
}

/// Where the real data is, if it is.
fn data() -> Option<PathBuf> {
    std::env::var_os("LOSSDEPTH_DATA").map(PathBuf::from).filter(|path| path.join("odds").is_dir())
}

/// A table of a page or of a CSV file without what a clock says.
fn timeless(text: &str) -> Vec<String> {
    let seconds = text.lines().next().and_then(|head| head.split(',').position(|name| name == "seconds"));
    text.lines()
        .map(|line| match seconds {
            Some(at) => {
                let cells = line.split(',').enumerate().filter(|(i, _)| *i != at).map(|(_, cell)| cell);
                cells.collect::<Vec<_>>().join(",")
            }
            None => line.to_owned(),
        })
        .collect()
}

fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn a_trial_makes_all_pages_on_data_of_its_own() {
    let folder = Folder::new();
    let ran = reproduce(&folder, "odds mnist --quick --out out");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.out, "");
    let names = files(&folder.path("out"));
    assert_eq!(names, ["cells-quick", "index.md", "mnist.csv", "mnist.md", "odds.csv", "odds.md"]);
    let page = folder.read("out/odds.md");
    assert!(page.contains("**A trial**") && page.contains("| wine | "), "{page}");
    assert!(!page.contains("(0.8529)"), "printed numbers are for the real data: {page}");
    let sheet = folder.read("out/odds.csv");
    assert!(sheet.lines().count() > 9 * 2 * 13, "{sheet}");
    assert!(folder.read("out/index.md").contains("[odds](odds.md)"));
}

#[test]
fn what_is_finished_is_kept_and_threads_change_nothing() {
    let folder = Folder::new();
    let first = reproduce(&folder, "mnist --quick --out one --threads 1");
    assert!(first.err.contains("120 cells, 120 of them computed now"), "{}", first.err);
    let again = reproduce(&folder, "mnist --quick --out one");
    assert!(again.err.contains("120 cells, 0 of them computed now"), "{}", again.err);
    // One cell is lost, one damaged.
    let cells = folder.path("one/cells-quick/mnist");
    std::fs::remove_file(cells.join("svm-paper-100-3.json")).unwrap();
    std::fs::write(cells.join("svm-paper-100-4.json"), "{").unwrap();
    let third = reproduce(&folder, "mnist --quick --out one");
    assert!(third.err.contains("120 cells, 2 of them computed now"), "{}", third.err);
    reproduce(&folder, "mnist --quick --out two --threads 2 --quiet");
    assert_eq!(timeless(&folder.read("one/mnist.csv")), timeless(&folder.read("two/mnist.csv")));
    assert_eq!(folder.read("one/mnist.md"), folder.read("two/mnist.md"));
    let fresh = reproduce(&folder, "mnist --quick --out one --fresh");
    assert!(fresh.err.contains("120 cells, 120 of them computed now"), "{}", fresh.err);
}

#[test]
fn without_data_it_says_what_it_needs() {
    let folder = Folder::new();
    let ran = reproduce(&folder, "odds --out out");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    assert!(ran.err.contains("`reproduce odds` needs the data sets: --data DIR"), "{}", ran.err);
    std::fs::create_dir(folder.path("data")).unwrap();
    let ran = reproduce(&folder, "odds --data data --out out");
    assert!(ran.code == Some(2) && ran.err.contains("wine.mat: no such file"), "{}", ran.err);
    let ran = reproduce(&folder, "oods --out out");
    assert!(ran.err.contains("a similar value exists: 'odds'"), "{}", ran.err);
}

/// The columns of the printed table that do not depend on chance, on the smallest sets.
#[test]
fn the_printed_table_is_reproduced() {
    let Some(data) = data() else {
        // The same code on made-up data is in the trial above.
        return;
    };
    let folder = Folder::new();
    let file = |name: &str| data.join(name).display().to_string();
    let area = |file: &str, method: &str, preset: &str| -> f64 {
        let mut args = vec!["evaluate", file, "--methods", method, "--format", "json", "--quiet"];
        if !preset.is_empty() {
            args.extend(["--preset", preset]);
        }
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        serde_json::from_str::<serde_json::Value>(&ran.out).unwrap()["results"][0]["auc"]["value"]
            .as_f64()
            .unwrap()
    };
    for (name, printed) in [
        ("odds/wine.mat", [0.8529, 0.8891, 0.9924]),
        ("adbench/14_glass.npz", [0.5659, 0.5469, 0.8640]),
        ("adbench/21_Lymphography.npz", [0.9178, 0.9824, 0.9918]),
    ] {
        let file = file(name);
        let ours = [
            area(&file, "oc-svm:nu=0.1,solver=libsvm,scale=none", ""),
            area(&file, "logistic", "paper-code"),
            area(&file, "gp", "paper-code"),
        ];
        for (ours, printed) in ours.iter().zip(printed) {
            assert!((ours - printed).abs() <= 0.001, "{name}: {ours} {printed}");
        }
    }
}

#[test]
fn presets_are_settings_and_what_is_said_beside_them_counts() {
    let folder = Folder::with(TABLE);
    let ran = folder.score("data.csv --id id --label kind --method svm --preset paper-code --out a.json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let settings = |name: &str| -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(&folder.read(name)).unwrap()["settings"].clone()
    };
    assert_eq!(
        (settings("a.json")["reg"].as_f64(), &settings("a.json")["intercept"]),
        (Some(0.5 / 12.0), &"free".into())
    );
    folder.score("data.csv --id id --label kind --method svm --preset paper-code --reg 2 --out b.json");
    assert_eq!(settings("b.json")["reg"], 2.0);
    // A model keeps what was found, and takes no preset.
    let fitted = folder.run(&[
        "fit",
        "data.csv",
        "--columns",
        "x,y",
        "--preset",
        "paper-code",
        "--out",
        "m.safetensors",
    ]);
    assert_eq!(fitted.code, Some(0), "{}", fitted.err);
    let info = folder.run(&["info", "m.safetensors"]);
    assert!(info.out.contains("paper-code"), "{}", info.out);
    let ran = folder.score("data.csv --columns x,y --model m.safetensors --preset paper");
    assert!(ran.code == Some(2) && ran.err.contains("cannot be used with"), "{}", ran.err);
}

#[test]
fn a_preset_has_the_methods_of_the_paper() {
    let folder = Folder::with(TABLE);
    let ran = folder.score("data.csv --id id --label kind --method klr --preset paper-code");
    let expected = "preset `paper-code` has no method `klr`; it has logistic, svm, gp, forest, mlp";
    assert!(ran.code == Some(2) && ran.err.contains(expected), "{}", ran.err);
    let ran = folder.score("data.csv --id id --label kind --preset book");
    assert!(ran.code == Some(2) && ran.err.contains("paper, paper-code, recommended"), "{}", ran.err);
}
