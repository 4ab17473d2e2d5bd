//! Bad samples, weights, queries and settings: a clear error and nothing else.

use crate::common::LINEAR;
use lossdepth::methods::{Forest, Hypothesis, Mlp};
use lossdepth::model::{Kind, Range, Setting, Value};
use lossdepth::{
    Depth, DepthError, FittedDepth, Intercept, Method, Reference, Rows, Run, Scale, Settings, Variant,
};
use std::sync::atomic::AtomicBool;

#[track_caller]
fn message<T>(result: Result<T, DepthError>, expected: &str) {
    match result {
        Ok(_) => panic!("accepted, not refused with: {expected}"),
        Err(error) => assert_eq!(error.to_string(), expected),
    }
}

fn good() -> Reference {
    Reference::new(&[[0.0, 1.0], [2.0, 3.0], [4.0, 0.0]]).unwrap()
}

#[test]
fn bad_references_are_refused() {
    let nan = f64::NAN;
    message(Reference::new(&[[0.0, 1.0], [2.0, nan]]), "row 1, column 1 is not finite (NaN)");
    message(Reference::new(&[[0.0], [1.0], [f64::INFINITY]]), "row 2, column 0 is not finite (inf)");
    message(Reference::new(&[[0.0, -f64::INFINITY], [nan, 1.0]]), "row 0, column 1 is not finite (-inf)");
    message(
        Reference::new(&[[0.0, 1.0], [2e100, 1.0]]),
        "row 1, column 0 is too large to work with: |2e100| > 1e100",
    );
    let few = |got: usize| format!("the reference needs at least 2 rows with a positive weight, got {got}");
    message(Reference::new(&[[0.0, 1.0]]), &few(1));
    message(Reference::new(&Rows::new(&[], 3).unwrap()), &few(0));
    message(Reference::new(&[vec![0.0, 1.0], vec![2.0]]), "row 1 has 1 features, expected 2");
    message(Reference::new(&[vec![], vec![]]), "the data has no columns");
    message(Rows::new(&[1.0, 2.0], 0), "the data has no columns");
    message(Rows::new(&[1.0, 2.0, 3.0], 2), "row 1 has 1 features, expected 2");
}

#[test]
fn bad_weights_are_refused() {
    let weighted = |weights: &[f64]| Reference::weighted(&[[0.0], [1.0], [2.0]], weights);
    message(weighted(&[1.0, 2.0]), "2 weights for 3 rows");
    message(weighted(&[1.0, -0.5, 1.0]), "weight 1 must be finite and not negative, got -0.5");
    message(weighted(&[f64::NAN, 1.0, 1.0]), "weight 0 must be finite and not negative, got NaN");
    message(weighted(&[1.0, 1.0, f64::INFINITY]), "weight 2 must be finite and not negative, got inf");
    let few = |got: usize| format!("the reference needs at least 2 rows with a positive weight, got {got}");
    message(weighted(&[0.0, 0.0, 0.0]), &few(0));
    message(weighted(&[0.0, 3.0, 0.0]), &few(1));
}

#[test] // The memory could not be had, which ended the process.
fn networks_that_do_not_fit_into_memory_are_refused() {
    let rows: Vec<Vec<f64>> = (0..20).map(|i| vec![f64::from(i), f64::from(i * i % 7)]).collect();
    let sample = Reference::new(&rows).unwrap();
    message(
        Depth::new(Mlp::new().hidden(&[10_000, 10_000])).fit(&sample),
        "`hidden` makes a network of 100030000 weights, expected at most 16777216: give fewer layers or units",
    );
}

#[test]
fn bad_queries_are_refused() {
    let fitted = Depth::logistic().fit(&good()).unwrap();
    message(fitted.score(&[[0.0, 1.0], [f64::NAN, 0.0]]), "row 1, column 0 is not finite (NaN)");
    message(fitted.score(&[[0.0, f64::NEG_INFINITY]]), "row 0, column 1 is not finite (-inf)");
    message(fitted.score(&[[0.0, -3e200]]), "row 0, column 1 is too large to work with: |-3e200| > 1e100");
    message(fitted.score(&[[0.0, 1.0, 2.0]]), "row 0 has 3 features, expected 2");
    message(fitted.score(&[vec![0.0, 1.0], vec![0.0]]), "row 1 has 1 features, expected 2");
    message(fitted.explain(&[[0.0]]), "row 0 has 1 features, expected 2");
    assert!(fitted.score(&Rows::new(&[], 2).unwrap()).unwrap().is_empty());
}

#[test]
fn bad_settings_are_refused() {
    let refused = |change: fn(&mut Settings), expected: &str| {
        for method in LINEAR {
            let mut settings = Settings::new(method);
            change(&mut settings);
            message(settings.fit(&good()), expected);
        }
    };
    refused(|s| s.reg = 0.0, "`reg` must be a positive, finite number, got 0");
    refused(|s| s.reg = -1.0, "`reg` must be a positive, finite number, got -1");
    refused(|s| s.reg = f64::NAN, "`reg` must be a positive, finite number, got NaN");
    refused(|s| s.reg = f64::INFINITY, "`reg` must be a positive, finite number, got inf");
    refused(|s| s.tol = 0.0, "`tol` must be a positive, finite number, got 0");
    refused(|s| s.tol = f64::NAN, "`tol` must be a positive, finite number, got NaN");
    refused(|s| s.max_iter = 0, "`max_iter` must be at least 1, got 0");
    refused(|s| s.support_fraction = 0.4, "`support_fraction` must be between 0.5 and 1, got 0.4");
    refused(|s| s.support_fraction = f64::NAN, "`support_fraction` must be between 0.5 and 1, got NaN");
    refused(
        |s| s.variant = Variant::Constrained { radius: 0.0 },
        "`radius` must be a positive, finite number, got 0",
    );
    refused(
        |s| s.variant = Variant::Constrained { radius: f64::NAN },
        "`radius` must be a positive, finite number, got NaN",
    );
    let no_threads = Run { threads: Some(0), ..Run::default() };
    let fitted = Depth::hinge().fit(&good()).unwrap();
    message(fitted.score_with(&[[0.0, 1.0]], &no_threads), "`threads` must be at least 1, got 0");
}

#[test] // Found by a depth of normal rows times 1e-141 that was off by 0.27: a column without a square passed for constant.
fn columns_too_small_to_be_scaled_are_refused() {
    let sample = |unit: f64| Reference::new(&[[1.0, unit], [2.0, 3.0 * unit], [3.0, -unit]]).unwrap();
    let scales = [Scale::Standard, Scale::Robust, Scale::Whiten, Scale::Mcd];
    for scale in scales {
        for unit in [1e-141, 1e-200, 5e-324] {
            let expected = format!(
                "column 1 varies by {:e} only, too little to be scaled: give it in larger units",
                4.0 * unit
            );
            message(Depth::logistic().scale(scale).fit(&sample(unit)).map(|_| ()), &expected);
        }
        assert!(Depth::logistic().scale(scale).fit(&sample(1e-130)).is_ok(), "{scale}");
        // Rounding of a constant is no reason to complain.
        let constant = Reference::new(&[[1.0, 1e-130], [2.0, 1e-130 * (1.0 + f64::EPSILON)]]).unwrap();
        assert!(Depth::logistic().scale(scale).fit(&constant).is_ok(), "{scale}");
    }
}

#[test]
fn unknown_names_are_refused() {
    let names = Method::ALL.map(Method::name).join(", ");
    message("logit".parse::<Method>(), &format!("`method` must be one of {names}, got `logit`"));
    message("yes".parse::<Intercept>(), "`intercept` must be one of free, penalised, none, got `yes`");
    message(
        "zscore".parse::<Scale>(),
        "`scale` must be one of none, standard, robust, whiten, mcd, got `zscore`",
    );
    message(
        Variant::parse("bare", None),
        "`variant` must be one of risk, objective, constrained, got `bare`",
    );
    message(Variant::parse("constrained", None), "variant `constrained` needs a `radius`");
    message(Variant::parse("risk", Some(1.0)), "`radius` goes with variant `constrained`, not with `risk`");
    message(Variant::parse("constrained", Some(-2.0)), "`radius` must be a positive, finite number, got -2");
    for method in Method::ALL {
        assert_eq!(method.name().parse::<Method>().unwrap(), method);
    }
}

fn is_interrupted<H: Hypothesis>(fitted: &FittedDepth<H>) {
    let stop = AtomicBool::new(true);
    let run = Run { cancel: Some(&stop), ..Run::default() };
    message(fitted.score_with(&[[0.0, 1.0]], &run), "interrupted");
    message(fitted.explain_with(&[[0.0, 1.0]], &run), "interrupted");
}

#[test]
fn a_cancelled_call_returns_no_numbers() {
    is_interrupted(&Depth::logistic().fit(&good()).unwrap());
    is_interrupted(&Depth::hinge().fit(&good()).unwrap());
}

#[test]
fn what_would_take_all_memory_is_refused() {
    let restarts = |n: usize| Depth::new(Mlp::new().restarts(n)).fit(&good());
    message(restarts(usize::MAX), "`restarts` must be at most 1000, got 1.8446744073709552e19");
    message(restarts(1001), "`restarts` must be at most 1000, got 1001");
    let reg = |reg: f64| Depth::new(Mlp::new().reg(reg)).fit(&good());
    message(reg(1e308), "`reg` must be at most 1e300 for a network, got 1e308");
    let fits = reg(1e300).unwrap().score(&[[1.0, 1.0]]).unwrap();
    assert!((fits[0].depth - 1.0).abs() <= fits[0].error.max(1e-12), "{fits:?}");

    let wide = Reference::new(&(0..3).map(|i| vec![f64::from(i); 40_000]).collect::<Vec<_>>()).unwrap();
    message(
        Depth::logistic().scale(Scale::Whiten).fit(&wide),
        "the scaling `whiten` would need the correlations of 40000 columns, which is too many: `standard` and `robust` do \
         without",
    );
    message(
        Depth::new(Forest::new().rotations(1)).fit(&wide),
        "rotations of 40000 columns take too much memory: fewer columns, or `rotations` 0, take less",
    );
}

/// Whether the method takes this number for a setting, in the company that the setting needs.
fn takes(method: Method, setting: &Setting, number: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and small")]
    let value = match setting.kind {
        Kind::Count => Value::Count(number as u64),
        Kind::NumberOr(_) if setting.name == "reference_rows" => Value::Count(number as u64),
        Kind::Counts => Value::Counts(vec![number as u64]),
        _ => Value::Number(number),
    };
    let needed = match setting.name {
        "radius" => Some(("variant", "constrained")),
        "sigma" => Some(("kernel", "laplacian")),
        "c" | "beta" => Some(("kernel", "imq")),
        "degree" | "coef0" => Some(("kernel", "polynomial")),
        _ => None,
    };
    let needed = needed.map(|(name, text)| (name, Value::Text(text.to_owned())));
    let values = [(setting.name, value)].into_iter().chain(needed);
    Settings::with(method, values).and_then(|settings| settings.fit(&good())).is_ok()
}

#[test]
fn settings_are_refused_outside_of_their_declared_range_and_taken_inside() {
    for method in Method::ALL {
        for name in method.settings() {
            let setting = method.setting(name).unwrap();
            let (inside, outside) = match setting.range {
                Range::Any => continue,
                // The Gram matrix has to fit into `memory`.
                Range::Above(low) => (low + if *name == "memory" { 1e6 } else { 0.5 }, vec![low, low - 1.0]),
                Range::Below(high) => (high - 0.5, vec![high, high + 1.0]),
                Range::AtLeast(low) => (low, vec![low - 1.0]),
                Range::Between(low, high) => (low, vec![low - 1.0, high + 1.0]),
            };
            assert!(takes(method, &setting, inside), "{method}: {name} {inside}");
            // A count cannot be written with a sign.
            let counts = matches!(setting.kind, Kind::Count | Kind::Counts) || *name == "reference_rows";
            for number in outside.into_iter().filter(|x| !counts || *x >= 0.0) {
                assert!(!takes(method, &setting, number), "{method}: {name} {number}");
            }
        }
    }
}
