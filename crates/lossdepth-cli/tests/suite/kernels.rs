//! The settings of kernels as flags.

use crate::common::Folder;

const DATA: &str = "x,y\n0,0\n1,2\n2,1\n3,3\n2,2\n1,1\n0,2\n9,-4\n";

#[test]
fn kernels_take_their_own_settings() {
    let folder = Folder::with(DATA);
    for flags in [
        "",
        "--gamma quartile --reg 0.01",
        "--gamma 0.3 --intercept free --variant objective",
        "--kernel laplacian --sigma 2",
        "--kernel imq --c 2 --beta -1.5",
        "--kernel polynomial --degree 2 --coef0 0.5 --gamma 0.1",
        "--kernel linear --variant constrained --radius 2 --tol 1e-5",
        "--reg 0.01 --memory 1e5",
    ] {
        let ran = folder.score(&format!("data.csv --method svm {flags}"));
        assert_eq!(ran.code, Some(0), "{flags}: {}", ran.err);
        let depths: Vec<f64> =
            ran.out.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
        let last = depths[depths.len() - 1];
        assert!(
            depths.iter().all(|depth| *depth >= last - 1e-6),
            "{flags}: the outlier is the shallowest: {depths:?}"
        );
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = Folder::with(DATA);
    for (flags, message) in [
        ("--sigma 2", "`sigma` goes with kernel `laplacian`, not with `gaussian`"),
        ("--gamma wide", "auto, quartile"),
        ("--gamma -1", "`--gamma` must be a positive, finite number"),
        ("--kernel cubic", "cubic"),
        ("--kernel precomputed", "`precomputed` is for the Rust and Python libraries"),
        ("--kernel imq --beta 1", "`--beta` must be a negative, finite number"),
        ("--memory -5", "`--memory` must be a positive, finite number"),
        ("--trees 5", "--trees"),
    ] {
        let ran = folder.score(&format!("data.csv --method svm {flags}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{flags}");
        assert!(ran.err.contains(message), "{flags}: {}", ran.err);
    }
    let ran = folder.score("data.csv --kernel gaussian");
    assert!(ran.err.contains("`--kernel` is no setting of method logistic"), "{}", ran.err);
}
