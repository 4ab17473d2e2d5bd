//! Model files of every method and format, kept for ever: each version loads them and scores as the version that wrote them.
//!
//! The files are in tests/models, each beside the scores it was written with. They are never written again. A new method or format adds
//! its own: `KEEP_MODELS=1 cargo test -p lossdepth --test suite kept_models` writes those that are missing.

use crate::common::Random;
use lossdepth::data::{Column, EncodingOptions, Table, Texts, Values};
use lossdepth::{Method, Model, Reference, Rows, Run, Scale, Settings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models")
}

/// A model of each method; format 1 from rows, with each scaling once or more, format 2 from a table, format 3 from rows with
/// percentiles.
fn model(method: Method, format: u32) -> Model {
    let mut random = Random::new(60);
    let index = Method::ALL.iter().position(|m| *m == method).expect("a method");
    let scale = Scale::ALL[(index + 1) % 5];
    let settings = Settings { scale, ..Settings::new(method) };
    if format != 2 {
        let weights: Vec<f64> = (0..14).map(|i| f64::from(1 + i % 3)).collect();
        let model = settings.fit(&Reference::weighted(&random.cloud(14, 3), &weights).unwrap()).unwrap();
        if format == 3 {
            model.percentiles(&Run::default()).unwrap();
        }
        return model;
    }
    let numbers = |random: &mut Random| Values::Numbers((0..14).map(|_| random.normal()).collect());
    let mut columns = vec![
        Column { name: "a".into(), values: numbers(&mut random) },
        Column { name: "b".into(), values: numbers(&mut random) },
    ];
    if !method.numbers_only() {
        let mut colours = Texts::default();
        for i in 0..14 {
            colours.push(Some(["red", "blue"][i % 2]));
        }
        columns.push(Column { name: "colour".into(), values: Values::Texts(colours) });
    }
    let options = EncodingOptions::default();
    settings.fit_table(&Table::new(columns).unwrap(), None, &options).unwrap()
}

/// Rows of the reference moved a little, and one far away.
fn queries(model: &Model) -> Vec<f64> {
    let rows = model.reference().rows();
    let moved = rows.iter().take(3).flat_map(|row| row.iter().map(|x| 1.25 * x + 0.0625)).collect::<Vec<_>>();
    if model.encoding().is_some() {
        // The coordinates of a category stay as they are.
        return rows.as_slice()[..4 * rows.width()].to_vec();
    }
    moved.into_iter().chain((0..rows.width()).map(|_| 6.0)).collect()
}

fn scores(model: &Model) -> Vec<[f64; 2]> {
    let queries = queries(model);
    let fits = model.score(Rows::new(&queries, model.width()).unwrap(), &Run::default()).unwrap();
    fits.iter().map(|fit| [fit.depth, fit.error]).collect()
}

#[test]
fn every_kept_model_scores_as_it_did() {
    let mut found = 0;
    for method in Method::ALL {
        for format in [1, 2, 3] {
            let path = folder().join(format!("{method}-{format}.safetensors"));
            if !path.exists() && std::env::var_os("KEEP_MODELS").is_some() {
                let model = model(method, format);
                std::fs::create_dir_all(folder()).unwrap();
                std::fs::write(&path, model.to_bytes().unwrap()).unwrap();
                let text = json!({ "queries": queries(&model), "scores": scores(&model) }).to_string();
                std::fs::write(path.with_extension("json"), text + "\n").unwrap();
            }
            let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
            let kept: Value = serde_json::from_str(&text).unwrap();
            let model = Model::from_bytes(&bytes).unwrap();
            assert_eq!(model.settings().method, method);
            assert_eq!(model.encoding().is_some(), format == 2);
            let queries = crate::common::numbers(&kept["queries"]);
            let fits = model.score(Rows::new(&queries, model.width()).unwrap(), &Run::default()).unwrap();
            for (fit, then) in fits.iter().zip(crate::common::table(&kept["scores"])) {
                // The network's own bounds are wide; it is the training procedure that must stay.
                let errors = (fit.error + then[1]).min(1e-4) + 1e-12;
                assert!((fit.depth - then[0]).abs() <= errors, "{}: {fit:?} {then:?}", path.display());
                found += 1;
            }
        }
    }
    assert_eq!(found, 12 * Method::ALL.len());
}
