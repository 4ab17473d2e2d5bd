//! Gaussian mixtures: densities against SciPy, samples against their moments.

use lossdepth::numerics::Random;
use lossdepth_reproduce::mixture::{Component, Mixture};
use serde_json::Value;

/// The file that golden/make_correlation.py wrote.
fn golden() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/correlation.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn table(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

#[test]
fn densities_are_those_of_scipy() {
    for case in golden()["mixtures"].as_array().unwrap() {
        let component = |part: &serde_json::Value| Component {
            weight: part["share"].as_f64().unwrap(),
            mean: numbers(&part["mean"]),
            sd: part["sd"].as_f64().unwrap(),
        };
        let mixture =
            Mixture::new(case["parts"].as_array().unwrap().iter().map(component).collect()).unwrap();
        for (point, expected) in table(&case["points"]).iter().zip(numbers(&case["log_density"])) {
            let got = mixture.log_density(point).unwrap();
            assert!((got - expected).abs() < 1e-12 * expected.abs().max(1.0), "{got} {expected}");
        }
    }
}

#[test]
fn samples_have_the_moments_of_their_mixture() {
    let mixture = Mixture::new(vec![
        Component { weight: 3.0, mean: vec![-1.0, 2.0], sd: 0.5 },
        Component { weight: 1.0, mean: vec![4.0, 0.0], sd: 2.0 },
    ])
    .unwrap();
    assert_eq!([mixture.components()[0].weight, mixture.components()[1].weight], [0.75, 0.25]);
    let n = 40_000;
    let rows = mixture.draw(&[n, n], &mut Random::new(5)).unwrap();
    assert_eq!(rows, mixture.draw(&[n, n], &mut Random::new(5)).unwrap());
    assert_ne!(rows, mixture.draw(&[n, n], &mut Random::new(6)).unwrap());
    for (component, rows) in mixture.components().iter().zip(rows.chunks_exact(2 * n)) {
        for k in 0..2 {
            let column = rows.iter().skip(k).step_by(2);
            let mean = column.clone().sum::<f64>() / n as f64;
            let variance = column.map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
            // Five standard errors.
            assert!((mean - component.mean[k]).abs() < 5.0 * component.sd / (n as f64).sqrt());
            assert!((variance / component.sd.powi(2) - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
        }
    }
    assert!(mixture.draw(&[1], &mut Random::new(0)).is_err());
    assert!(mixture.log_density(&[1.0]).is_err());
    for (share, sd) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert!(Mixture::new(vec![Component { weight: share, mean: vec![0.0], sd }]).is_err());
    }
    assert!(Mixture::new(Vec::new()).is_err() && Mixture::two_modes(1.0, 0).is_err());
}
