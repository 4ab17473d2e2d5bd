//! Model files of tables with every kind of cell, of sparse rows and parts of a reference, kept for ever as those of `kept_models`.
//!
//! Queries are kept as the texts that they are in a table: what a later version makes of them, and of the file, has to give the scores
//! of then. `KEEP_MODELS=1 cargo test -p lossdepth --test suite kept_tables` writes the files that are missing.

use crate::common::Random;
use lossdepth::data::{
    Column, EncodingOptions, Missing, ReferenceSketch, SparseReference, SparseRows, Table, Texts, Values,
};
use lossdepth::model::archive::SparseArchive;
use lossdepth::{Fit, Method, Model, Rows, Run, Settings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

/// Whether files that are missing are to be written.
fn keeps() -> bool {
    std::env::var_os("KEEP_MODELS").is_some()
}

/// Reads a file with what was kept beside it; writes both first if they are missing and may be written.
fn kept(name: &str, make: impl FnOnce() -> (Vec<u8>, Value)) -> (Vec<u8>, Value) {
    let path = folder().join(format!("{name}.safetensors"));
    if !path.exists() && keeps() {
        let (bytes, scores) = make();
        std::fs::write(&path, bytes).unwrap();
        std::fs::write(path.with_extension("json"), scores.to_string() + "\n").unwrap();
    }
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    (bytes, serde_json::from_str(&text).unwrap())
}

/// Depths with their errors.
fn scores(fits: &[Fit]) -> Vec<[f64; 2]> {
    fits.iter().map(|fit| [fit.depth, fit.error]).collect()
}

#[track_caller]
fn assert_same(name: &str, fits: &[Fit], kept: &Value) {
    let then = crate::common::table(kept);
    assert_eq!(fits.len(), then.len(), "{name}");
    for (row, (fit, then)) in fits.iter().zip(then).enumerate() {
        let errors = fit.error + then[1] + 1e-12;
        assert!((fit.depth - then[0]).abs() <= errors, "{name}, row {row}: {fit:?} {then:?}");
    }
}

/// The texts of a column; a gap is null.
type Cells = Vec<Option<String>>;

/// Rows of everything that a column may be. The last ones have a new level, a cell that cannot be read, gaps and far values.
fn cells(rows: usize) -> Vec<(&'static str, Cells)> {
    let mut random = Random::new(77);
    let mut columns: Vec<(&'static str, Cells)> = [
        "order", "price", "weight", "height", "lab", "share", "takes", "sent", "born", "day", "opens",
        "pressure", "paid", "net", "tax", "gross", "country", "city", "colour", "returned", "rare", "often",
        "memo", "nothing",
    ]
    .into_iter()
    .map(|name| (name, Vec::new()))
    .collect();
    for i in 0..rows {
        let odd = i >= rows - 4;
        let net = (5000.0 + 1500.0 * random.normal()).round() / 100.0;
        let tax = (19.0 * net).round() / 100.0;
        let gross = if i == rows - 1 { 9.0 } else { net + tax };
        let place = random.below(4);
        let city = random.below(2);
        let of = |odd: bool, text: &str, other: &str| Some(if odd { other } else { text }.to_owned());
        let date = |days: usize| format!("{:02}", 1 + days % 28);
        let cells = [
            Some(format!("A-{:04}", 1000 + 7 * i)),
            of(i == rows - 2, &format!("${:.2}", 1234.5 + 310.0 * random.normal()), "n.a."),
            Some(if i % 9 == 0 {
                format!("{:.3} t", 0.002 + 0.001 * random.unit())
            } else {
                format!("{:.1} kg", 3.0 + random.normal().abs())
            }),
            Some(format!("{}'{}\"", 5 + random.below(2), random.below(12))),
            Some(if i % 11 == 0 { "<0.5".to_owned() } else { format!("{:.2}", 0.5 + random.unit()) }),
            Some(format!("{:.1}%", 40.0 + 10.0 * random.normal())),
            Some(format!("{}h {:02}m", 1 + random.below(5), random.below(60))),
            Some(format!(
                "2024-{:02}-{} {:02}:{:02}",
                1 + random.below(12),
                date(random.below(28)),
                random.below(24),
                random.below(60)
            )),
            Some(format!(
                "{}.{:02}.{:02}",
                date(random.below(28)),
                1 + random.below(12),
                (62 + random.below(39)) % 100
            )),
            Some(format!("2024{:02}{}", 1 + random.below(12), date(random.below(28)))),
            Some(format!("{:02}:{:02}", 7 + random.below(4), 15 * random.below(4))),
            of(odd && i % 2 == 0, &format!("{}/{}", 110 + random.below(40), 60 + random.below(30)), "300/20"),
            Some(format!(
                "{} {:.2}",
                ["€", "$", "€", "£"][random.below(4)],
                20.0 + 5.0 * random.normal().abs()
            )),
            Some(format!("{net:.2}")),
            Some(format!("{tax:.2}")),
            Some(format!("{gross:.2}")),
            Some(["France", "Spain", "Italy", "Norway"][place].to_owned()),
            Some(
                [["Paris", "Lyon"], ["Madrid", "Vigo"], ["Rome", "Turin"], ["Oslo", "Bergen"]]
                    [(place + usize::from(i == rows - 3)) % 4][city]
                    .to_owned(),
            ),
            of(i == rows - 4, ["red", "blue", "green"][random.below(3)], "ultraviolet"),
            Some(["no", "no", "no", "yes"][random.below(4)].to_owned()),
            (random.unit() > 0.03).then(|| format!("{:.3}", random.normal())),
            (random.unit() > 0.4).then(|| format!("{}", random.below(90))),
            Some(format!(
                "a note about order {i}, with words that are never the same twice: {}",
                random.below(9_999_999)
            )),
            None,
        ];
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.1.push(cell);
        }
    }
    columns
}

fn table<'a>(columns: impl IntoIterator<Item = (&'a str, &'a [Option<String>])>) -> Table {
    let column = |(name, cells): (&str, &[Option<String>])| {
        let mut texts = Texts::default();
        for cell in cells {
            texts.push(cell.as_deref());
        }
        Column { name: name.to_owned(), values: Values::Texts(texts) }
    };
    Table::new(columns.into_iter().map(column).collect()).unwrap()
}

const ROWS: usize = 140;
const QUERIES: usize = 8;

/// What a model says of rows as they are kept.
fn score_cells(model: &Model, kept: &Value) -> Vec<Fit> {
    let columns: Vec<(String, Cells)> = serde_json::from_value(kept.clone()).unwrap();
    let queries = table(columns.iter().map(|(name, cells)| (name.as_str(), &cells[..])));
    let encoded = model.encoding().expect("a model of a table").encode(&queries).unwrap();
    model.score(Rows::new(&encoded.values, encoded.width).unwrap(), &Run::default()).unwrap()
}

#[test]
fn every_kept_model_of_a_table_reads_cells_and_scores_as_it_did() {
    let kinds = [
        (Method::Auto, Missing::Compare),
        (Method::Logistic, Missing::Compare),
        (Method::Svm, Missing::Median),
        (Method::Forest, Missing::Drop),
        (Method::Gp, Missing::Compare),
    ];
    for (method, missing) in kinds {
        let name = format!("{method}-table-3");
        let (bytes, then) = kept(&name, || {
            let all = cells(ROWS);
            let reference = table(all.iter().map(|(name, cells)| (*name, &cells[..ROWS - 4])));
            let options = EncodingOptions { missing, ..EncodingOptions::default() };
            let model = Settings::new(method).fit_table(&reference, None, &options).unwrap();
            model.percentiles(&Run::default()).unwrap();
            let queries: Vec<_> = all.iter().map(|(name, cells)| (*name, &cells[ROWS - QUERIES..])).collect();
            // Rows with a gap are no queries of a model that leaves them out.
            let queries = if missing == Missing::Drop {
                let whole = |row: &usize| {
                    queries.iter().all(|(name, cells)| *name == "nothing" || cells[*row].is_some())
                };
                let rows: Vec<usize> = (0..QUERIES).filter(whole).collect();
                json!(
                    queries
                        .iter()
                        .map(|(name, cells)| (name, rows.iter().map(|&row| &cells[row]).collect::<Vec<_>>()))
                        .collect::<Vec<_>>()
                )
            } else {
                json!(queries)
            };
            let found = scores(&score_cells(&model, &queries));
            (model.to_bytes().unwrap(), json!({ "queries": queries, "scores": found }))
        });
        let model = Model::from_bytes(&bytes).unwrap();
        assert_eq!((model.settings().method, model.encoding().unwrap().missing()), (method, missing));
        assert!(model.known_percentiles().is_some(), "{name}");
        assert_same(&name, &score_cells(&model, &then["queries"]), &then["scores"]);
    }
}

/// Rows of which most numbers are 0.
fn sparse_rows(rows: usize, width: u32, seed: u64) -> SparseRows {
    let mut random = Random::new(seed);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        for column in 0..width {
            if random.unit() < 0.15 {
                columns.push(column);
                values.push((4.0 * random.normal()).round() / 4.0 + 0.125);
            }
        }
        starts.push(columns.len());
    }
    SparseRows::new(starts, columns, values, width as usize).unwrap()
}

#[test]
fn every_kept_model_of_sparse_rows_scores_as_it_did() {
    let methods = Method::ALL.into_iter().filter(|method| {
        let sample = SparseReference::new(sparse_rows(6, 5, 1), None).unwrap();
        Settings::new(*method).fit_sparse(&sample, None).is_ok()
    });
    let mut found = 0;
    for method in methods {
        let name = format!("{method}-sparse-1");
        let queries = sparse_rows(5, 40, 92);
        let (bytes, then) = kept(&name, || {
            let weights = (0..20).map(|i| f64::from(1 + i % 3)).collect();
            let sample = SparseReference::new(sparse_rows(20, 40, 91), Some(weights)).unwrap();
            let model = Settings::new(method).fit_sparse(&sample, None).unwrap();
            model.percentiles(&Run::default()).unwrap();
            let fits = model.score(&queries, &Run::default()).unwrap();
            (SparseArchive::of(&model).to_bytes().unwrap(), json!({ "scores": scores(&fits) }))
        });
        let model = SparseArchive::from_bytes(&bytes).unwrap().model(None).unwrap();
        assert_eq!(model.settings().method, method);
        assert!(model.known_percentiles().is_some(), "{name}");
        assert_same(&name, &model.score(&queries, &Run::default()).unwrap(), &then["scores"]);
        found += 1;
    }
    assert!(found >= 7, "{found}");
}

#[test]
fn kept_parts_of_a_reference_are_merged_into_the_model_of_then() {
    let paths = [folder().join("first-1.part"), folder().join("second-1.part")];
    let all = cells(ROWS);
    for (path, rows) in paths.iter().zip([0..60, 60..ROWS - 4]) {
        if !path.exists() && keeps() {
            let mut part = ReferenceSketch::new(all.iter().map(|(name, _)| *name)).unwrap();
            let rows = table(all.iter().map(|(name, cells)| (*name, &cells[rows.clone()])));
            part.add(&rows, None).unwrap();
            std::fs::write(path, part.to_bytes().unwrap()).unwrap();
        }
    }
    let part = |path: &PathBuf| ReferenceSketch::from_bytes(&std::fs::read(path).unwrap()).unwrap();
    let mut merged = part(&paths[0]);
    merged.merge(&part(&paths[1])).unwrap();
    assert_eq!((merged.observations(), merged.is_complete()), (ROWS as u64 - 4, true));
    let (reference, weights) = merged.table().unwrap();
    let options = EncodingOptions::default();
    let model = Settings::new(Method::Logistic).fit_table(&reference, weights.as_deref(), &options).unwrap();
    // The rows are those of the kept model of a table, in another order.
    let (_, then) = kept("logistic-table-3", || unreachable!("it is kept"));
    assert_same("parts", &score_cells(&model, &then["queries"]), &then["scores"]);
}
