//! Independent witnesses: depths that golden/make.py got from scikit-learn on real data, and golden/make_units.py from
//! arithmetic with many digits.

use crate::common::{Failures, golden, numbers, score, score_one, settings, table};
use lossdepth::{Intercept, Method, Reference, Scale, Settings, Variant};

/// Compares a file's depths with ours, within our proven error and `slack` for theirs.
fn agrees(name: &str, slack: f64) {
    let (file, mut failures) = (golden(name), Failures::default());
    let method: Method = file["method"].as_str().unwrap().parse().unwrap();
    let scale: Scale = file["scale"].as_str().unwrap().parse().unwrap();
    let sample = Reference::weighted(&table(&file["rows"]), &numbers(&file["counts"])).unwrap();
    let queries = table(&file["queries"]);
    for case in file["cases"].as_array().unwrap() {
        let reg = case["reg"].as_f64().unwrap();
        for variant in [Variant::Risk, Variant::Objective] {
            let settings = Settings { scale, ..settings(method, Intercept::Free, variant, reg) };
            let theirs = numbers(&case[variant.name()]);
            assert_eq!(theirs.len(), queries.len());
            for (row, (ours, theirs)) in score(&settings, &sample, &queries).iter().zip(theirs).enumerate() {
                let close = (ours.depth - theirs).abs() <= ours.error + slack && ours.error <= 1e-6;
                failures.check(close, || format!("{variant:?} {reg} query {row}: {theirs}, {ours:?}"));
            }
        }
    }
    failures.report();
}

#[test]
fn logistic_wine() {
    agrees("logistic_wine.json", 1e-9);
}

#[test]
fn logistic_wine_with_weights() {
    agrees("logistic_wine_counted.json", 1e-9);
}

#[test]
fn logistic_breast_cancer() {
    agrees("logistic_breast_cancer.json", 1e-9);
}

#[test] // With columns that do not vary, and a separable sample at the weaker penalties.
fn logistic_digits() {
    agrees("logistic_digits.json", 1e-9);
}

#[test]
fn hinge_wine() {
    agrees("hinge_wine.json", 1e-7);
}

#[test]
fn hinge_wine_with_weights() {
    agrees("hinge_wine_counted.json", 1e-7);
}

#[test]
fn hinge_breast_cancer() {
    agrees("hinge_breast_cancer.json", 1e-7);
}

#[test] // Features of 1e6, a penalty of 1e-8, and arithmetic with sixty digits to compare with.
fn large_features_with_hardly_any_penalty() {
    let (file, mut failures) = (golden("units.json"), Failures::default());
    let reg = file["reg"].as_f64().unwrap();
    for set in file["sets"].as_array().unwrap() {
        let (name, sample) = (&set["name"], Reference::new(&table(&set["rows"])).unwrap());
        let queries = table(&set["queries"]);
        for case in set["cases"].as_array().unwrap() {
            let method: Method = case["method"].as_str().unwrap().parse().unwrap();
            let intercept: Intercept = case["intercept"].as_str().unwrap().parse().unwrap();
            for variant in [Variant::Risk, Variant::Objective] {
                let settings = settings(method, intercept, variant, reg);
                let theirs = numbers(&case[variant.name()]);
                for (row, (ours, theirs)) in
                    score(&settings, &sample, &queries).iter().zip(theirs).enumerate()
                {
                    let close = (ours.depth - theirs).abs() <= ours.error && ours.error <= 1e-6;
                    failures.check(close, || {
                        format!("{name} {method} {intercept} {variant:?} query {row}: {theirs}, {ours:?}")
                    });
                }
            }
        }
    }
    failures.report();
}

#[test] // Rows far from the origin, nearly collinear, of many sizes: what the turn into principal axes rounds is in the error.
fn what_the_axes_round_is_in_the_error() {
    let (file, mut failures) = (golden("turned.json"), Failures::default());
    // Where columns drown in the rounding of others little is known, and that is what the error says.
    let known = |name: &str, most: f64| file[name].as_array().unwrap().iter().map(move |set| (set, most));
    for (set, most) in known("sets", 1e-2).chain(known("dropped", 1.0 + 1e-6)) {
        let (rows, queries) = (table(&set["rows"]), table(&set["queries"]));
        let (reg, sample) = (set["reg"].as_f64().unwrap(), Reference::new(&rows).unwrap());
        for case in set["cases"].as_array().unwrap() {
            let method: Method = case["method"].as_str().unwrap().parse().unwrap();
            let intercept: Intercept = case["intercept"].as_str().unwrap().parse().unwrap();
            for (variant, tol) in [Variant::Risk, Variant::Objective]
                .into_iter()
                .flat_map(|variant| [1e-6, 1e-9, 1e-12].map(|tol| (variant, tol)))
            {
                let settings = Settings { tol, ..settings(method, intercept, variant, reg) };
                let fits = score(&settings, &sample, &queries);
                for (ours, theirs) in fits.iter().zip(numbers(&case[variant.name()])) {
                    let close = (ours.depth - theirs).abs() <= ours.error && ours.error <= most;
                    failures.check(close, || {
                        format!(
                            "{method} {intercept} {variant:?} {reg:e} {tol:e} {rows:?}: {theirs}, {ours:?}"
                        )
                    });
                }
            }
        }
    }
    failures.report();
}

#[test] // Margins that are differences of much larger numbers: the error knows what rounding does to them.
fn queries_beside_half_of_a_sample() {
    let (file, mut failures) = (golden("units.json"), Failures::default());
    for case in file["beside"].as_array().unwrap() {
        let method: Method = case["method"].as_str().unwrap().parse().unwrap();
        let (reg, theirs) = (case["reg"].as_f64().unwrap(), case["risk"].as_f64().unwrap());
        let sample = Reference::new(&table(&case["rows"])).unwrap();
        let settings = settings(method, Intercept::Free, Variant::Risk, reg);
        let ours = score_one(&settings, &sample, &numbers(&case["query"]));
        let close = (ours.depth - theirs).abs() <= ours.error + f64::EPSILON;
        failures.check(close, || format!("{method} {reg}: {theirs}, {ours:?}"));
    }
    failures.report();
}
