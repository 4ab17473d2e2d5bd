//! An independent witness: what golden/make_classical.R got from ddalpha.

use crate::common::{Failures, golden, numbers, table};
use lossdepth::methods::classical::Scatter;
use lossdepth::{Method, Reference, Rows, Run, Settings};
use std::collections::BTreeSet;

/// How ddalpha's depths are called in the file, and what we call them.
fn notions() -> [(&'static str, Settings); 9] {
    let of = Settings::new;
    [
        ("mahalanobis", of(Method::Mahalanobis)),
        ("spatial_none", Settings { scatter: Scatter::None, ..of(Method::Spatial) }),
        ("spatial", of(Method::Spatial)),
        ("l2_none", Settings { scatter: Scatter::None, ..of(Method::L2) }),
        ("l2", of(Method::L2)),
        ("potential", of(Method::Potential)),
        ("zonoid", of(Method::Zonoid)),
        ("simplicial", of(Method::Simplicial)),
        ("projection", Settings { num_directions: 20_000, ..of(Method::Projection) }),
    ]
}

/// Where ddalpha is off, and why; `query` is its number in the file. Brute force (`classical.rs`) decides in our favour.
fn known(notion: &str, kind: &str, d: u64, query: usize) -> Option<&'static str> {
    Some(match (notion, kind) {
        ("spatial_none", "rounded") => {
            "drops every row whose differences from the query sum to 0, not only those equal to it"
        }
        ("potential" | "spatial", "lowrank") => "a covariance that is singular up to rounding is inverted",
        ("simplicial", "rounded" | "duplicated" | "lowrank") if d > 2 => {
            "solves singular systems for degenerate simplices"
        }
        // The first two queries are rows, the last one is midway between two rows.
        ("simplicial", _) if d > 2 && !(2..6).contains(&query) => {
            "the query is on a face of simplices: rounding decides"
        }
        _ => return None,
    })
}

#[test]
fn agrees_with_ddalpha() {
    let (file, mut failures) = (golden("classical_ddalpha.json"), Failures::default());
    let (mut compared, mut kept) = (0, 0);
    let mut equal = BTreeSet::new();
    for case in file["cases"].as_array().unwrap() {
        let (kind, d) = (case["kind"].as_str().unwrap(), case["columns"].as_u64().unwrap());
        let sample = Reference::new(&table(&case["rows"])).unwrap();
        let queries = table(&case["queries"]);
        let flat = queries.concat();
        for (notion, settings) in notions() {
            let Some(theirs) = case["depth"].get(notion) else { continue };
            let model = settings.fit(&sample).unwrap();
            let rows = Rows::new(&flat, queries[0].len()).unwrap();
            let fits = model.score(rows, &Run::default()).unwrap();
            for (query, (theirs, fit)) in theirs.as_array().unwrap().iter().zip(fits).enumerate() {
                let z = &queries[query];
                // ddalpha stopped with an error.
                let Some(theirs) = theirs.as_f64() else { continue };
                let same = match notion {
                    // Theirs is the least of random directions: never below the depth.
                    "projection" => match d {
                        1 => (fit.depth - theirs).abs() <= fit.error + 1e-9,
                        2 => fit.depth <= theirs + 1e-9 && theirs - fit.depth < 1e-3,
                        // Neither is proven.
                        _ => fit.depth <= theirs + 0.01,
                    },
                    _ => (fit.depth - theirs).abs() <= fit.error + 1e-9,
                };
                compared += 1;
                if same {
                    equal.insert((notion, d, kind));
                }
                if known(notion, kind, d, query).is_some() {
                    kept += usize::from(!same);
                } else {
                    failures.check(same, || format!("{notion} {kind} {d} {z:?}: {theirs}, {fit:?}"));
                }
            }
        }
    }
    assert!(compared > 1000 && kept > 20, "{kept} of {compared} kept");
    // Every notion agrees somewhere on every kind of data in 1 to 5 columns, but where ddalpha refuses or is off as a whole.
    let affine = ["mahalanobis", "spatial", "l2", "potential"];
    for (notion, _) in notions() {
        for d in 1..=5 {
            for kind in ["random", "heavy", "rounded", "duplicated", "lowrank"] {
                let none = kind == "lowrank" && (d == 1 || affine.contains(&notion));
                // In one column these two are the same as `none` and divided by the standard deviation.
                let none = none || d == 1 && ["spatial", "l2"].contains(&notion);
                let none = none || known(notion, kind, d, 2).is_some();
                failures.check(none || equal.contains(&(notion, d, kind)), || format!("{notion} {d} {kind}"));
            }
        }
    }
    failures.report();
}

/// From 1,292 rows on the number of triangles does not fit into the 32 bits that ddalpha computes it in; with one row less it agrees.
#[test]
fn simplices_are_counted_where_ddalpha_overflows() {
    let file = golden("classical_kept.json");
    for case in file["cases"].as_array().unwrap() {
        let rows = table(&case["rows"]);
        let model = Settings::new(Method::Simplicial).fit(&Reference::new(&rows).unwrap()).unwrap();
        let flat = table(&case["queries"]).concat();
        let fits = model.score(Rows::new(&flat, 2).unwrap(), &Run::default()).unwrap();
        let (exact, theirs) = (numbers(&case["depth"]), numbers(&case["ddalpha"]));
        for ((exact, theirs), fit) in exact.iter().zip(&theirs).zip(fits) {
            assert!((fit.depth - exact).abs() <= fit.error + 1e-12 && fit.error <= 1e-12, "{exact} {fit:?}");
            assert_eq!(
                (theirs - exact).abs() < 1e-9,
                rows.len() < 1292,
                "{} rows: {theirs}, {exact}",
                rows.len()
            );
        }
    }
}
