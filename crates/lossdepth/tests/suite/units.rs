//! Units of columns: by default they do not matter, and where somebody lets them matter he is told.

use crate::common::{Random, reference, score};
use lossdepth::kernel::KernelChoice;
use lossdepth::methods::classical::Scatter;
use lossdepth::model::{UnequalSpreads, Value};
use lossdepth::{Method, Preset, Scale, Settings};

/// The same rows with columns in other units; powers of two, so that nothing is rounded.
fn in_other_units(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| vec![1024.0 * row[0], row[1] / 64.0]).collect()
}

#[test]
fn with_the_defaults_of_any_method_units_do_not_matter() {
    let mut random = Random::new(31);
    let (rows, queries) = (random.cloud(40, 2), random.cloud(5, 2));
    for method in Method::ALL {
        let settings = Settings::new(method);
        let plain = score(&settings, &reference(&rows), &queries);
        let other = score(&settings, &reference(&in_other_units(&rows)), &in_other_units(&queries));
        for (a, b) in plain.iter().zip(&other) {
            assert!(
                (a.depth - b.depth).abs() <= a.error.min(1e-6) + b.error.min(1e-6),
                "{method}: {a:?} {b:?}"
            );
        }
    }
}

#[test]
fn the_settings_of_the_paper_take_columns_as_they_are() {
    for preset in [Preset::Paper, Preset::PaperCode] {
        for method in Method::ALL {
            if let Ok(values) = preset.values(method, 10.0) {
                assert_eq!(Settings::with(method, values).unwrap().scale, Scale::None, "{preset} {method}");
            }
        }
    }
}

#[test]
fn kernel_values_are_not_scaled_by_default() {
    let precomputed = ("kernel", Value::from("precomputed"));
    for method in [Method::Svm, Method::Klr, Method::Gp] {
        let settings = |scale: &'static str| {
            Settings::with(method, [precomputed.clone(), ("scale", scale.into())]).unwrap()
        };
        assert_eq!(Settings::with(method, [precomputed.clone()]).unwrap().scale, Scale::None);
        // The default, said or not.
        assert_eq!(settings("standard").scale, Scale::None);
        let error = settings("robust").fit(&reference(&[vec![1.0, 0.5], vec![0.5, 1.0]])).unwrap_err();
        assert_eq!(error.to_string(), "kernel `precomputed` goes with scale `none`");
    }
}

#[test]
fn columns_of_very_different_spread_are_named_where_units_matter() {
    // Standard deviations 0.47, 47.2, 0 and 2.8; the last column would be the widest if the row of weight 0 counted.
    let rows = [[0.0, 1.0, 7.0, 3.0], [1.0, 101.2, 7.0, 9.0], [0.0, 101.2, 7.0, 3.0], [1.0, 1.0, 7.0, 1e9]];
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
    let sample = lossdepth::Reference::weighted(&rows, &[1.0, 1.0, 1.0, 0.0]).unwrap();
    let raw = |method| Settings { scale: Scale::None, ..Settings::new(method) };
    let always = [
        Method::Logistic,
        Method::Hinge,
        Method::SquaredHinge,
        Method::Exponential,
        Method::Svm,
        Method::Klr,
        Method::Gp,
        Method::Mlp,
    ];
    for method in Method::ALL {
        let found = raw(method).unequal_spreads(&sample);
        assert_eq!(found.is_some(), always.contains(&method), "{method}: {found:?}");
        for scale in [Scale::Standard, Scale::Robust, Scale::Whiten, Scale::Mcd] {
            assert_eq!(Settings { scale, ..Settings::new(method) }.unequal_spreads(&sample), None);
        }
    }
    let found = raw(Method::Logistic).unequal_spreads(&sample).unwrap();
    assert_eq!((found.wide, found.narrow), (1, 0));
    assert!((found.ratio - 100.2).abs() < 1e-9, "{found:?}");
    let names = ["age".to_owned(), "pay".to_owned()];
    assert_eq!(
        found.in_words(&names),
        "column `pay` varies 100 times as much as `age`, which hardly counts with scale `none`: scale `standard` compares \
         columns on one scale"
    );
    let words = UnequalSpreads { ratio: 123_456.0, ..found }.in_words(&names);
    assert!(words.contains(" 120000 times "), "{words}");
    // Where a setting makes units matter, and where a kernel leaves no columns.
    assert!(Settings { rotations: 3, ..raw(Method::Forest) }.unequal_spreads(&sample).is_some());
    for method in [Method::Spatial, Method::L2, Method::Potential] {
        assert!(Settings { scatter: Scatter::None, ..raw(method) }.unequal_spreads(&sample).is_some());
    }
    let precomputed = Settings { kernel: KernelChoice::Precomputed, ..raw(Method::Svm) };
    assert_eq!(precomputed.unequal_spreads(&sample), None);
    // At a hundred times nobody is told.
    let rows = [vec![0.0, 0.0], vec![1.0, 100.0]];
    assert_eq!(raw(Method::Logistic).unequal_spreads(&reference(&rows)), None);
}
