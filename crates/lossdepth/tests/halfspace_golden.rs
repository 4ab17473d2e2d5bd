//! An independent witness: exact depths that golden/make_halfspace.R got from ddalpha.

mod common;

use common::{Failures, golden, numbers, table};
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
        for ((z, theirs), fit) in queries.iter().zip(numbers(&case["depth"])).zip(depth.score(&queries).unwrap()) {
            all += 1;
            same += usize::from((fit.depth - theirs).abs() < 1e-9);
            failures.check(fit.stop == Stop::Converged && (fit.depth - theirs).abs() < 1e-9, || {
                format!("{kind} {d} {z:?}: {theirs}, {fit:?}")
            });
        }
    }
    assert!(all == 200, "{same} of {all}");
    failures.report();
}
