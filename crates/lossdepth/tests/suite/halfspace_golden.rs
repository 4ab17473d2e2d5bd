//! An independent witness: exact depths that golden/make_halfspace.R got from ddalpha.

use crate::common::{Failures, golden, numbers, table};
use lossdepth::{Depth, Reference, Stop};

#[test]
fn agrees_with_ddalpha() {
    let (file, mut failures) = (golden("halfspace_ddalpha.json"), Failures::default());
    let (mut same, mut all) = (0, 0);
    for case in file["cases"].as_array().unwrap() {
        let (kind, d) = (case["kind"].as_str().unwrap(), case["columns"].as_u64().unwrap());
        let rows = table(&case["rows"]);
        let depth = Depth::halfspace().fit(&Reference::new(&rows).unwrap()).unwrap();
        let queries = table(&case["queries"]);
        for ((z, theirs), fit) in
            queries.iter().zip(numbers(&case["depth"])).zip(depth.score(&queries).unwrap())
        {
            all += 1;
            same += usize::from((fit.depth - theirs).abs() < 1e-9);
            failures.check(fit.stop == Stop::Converged && (fit.depth - theirs).abs() < 1e-9, || {
                format!("{kind} {d} {z:?}: {theirs}, {fit:?}")
            });
        }
    }
    assert!(all == 236, "{same} of {all}");
    failures.report();
}

#[test] // Queries between two rows, and rows on a line, up to a last bit: ddalpha is off, and brute force with fractions wins.
fn brute_force_wins_where_ddalpha_differs() {
    let (file, mut failures) = (golden("halfspace_kept.json"), Failures::default());
    for case in file["cases"].as_array().unwrap() {
        let sample = Reference::new(&table(&case["rows"])).unwrap();
        let (exact, theirs) = (case["depth"].as_f64().unwrap(), case["ddalpha"].as_f64().unwrap());
        let fit = Depth::halfspace().fit(&sample).unwrap().score(&[numbers(&case["query"])]).unwrap()[0];
        let holds = fit.depth >= exact - 1e-12 && fit.depth - fit.error <= exact + 1e-12;
        let closed = fit.stop != Stop::Converged || (fit.depth - exact).abs() < 1e-12;
        failures.check(holds && closed && theirs != exact, || format!("{exact}, {theirs}, {fit:?}"));
    }
    failures.report();
}
