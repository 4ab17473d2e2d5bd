//! The constants of the propositions: against their formulas, and against depths that must satisfy them.

use lossdepth::numerics::Random;
use lossdepth::{Intercept, Method, Reference, Rows, Run, Settings, Variant};
use lossdepth_reproduce::bounds::{Bounds, PowerLaw, gaussian_slope, radius};

#[test]
fn bounds_are_those_of_the_proof() {
    let bounds = Bounds::logistic(2.0, 3.0).unwrap();
    let (n, delta) = (100.0f64, 0.05f64);
    let largest = (1.0 + 6.0f64.exp()).log2();
    assert!((bounds.largest - largest).abs() < 1e-12);
    let rate =
        2.0 * 6.0 / std::f64::consts::LN_2 / n.sqrt() + 2.0 * largest * ((2.0 / delta).ln() / n).sqrt();
    assert!((bounds.rate(100, delta).unwrap() - rate).abs() < 1e-12);
    let hinge = Bounds::hinge(radius(0.25).unwrap(), 1.0).unwrap();
    assert_eq!((hinge.radius, hinge.largest, hinge.lipschitz(3.0)), (2.0, 3.0, 3.0));
    let tau = 40f64.ln();
    let both = hinge.rate(100, 0.025).unwrap() + 4.0 * ((2.0 * tau / n).sqrt() + 0.1 + 4.0 * tau / (3.0 * n));
    assert!((hinge.penalised_rate(100, delta).unwrap() - both).abs() < 1e-12);
    assert!((gaussian_slope(0.5).unwrap() - 1.0).abs() < 1e-15);
    assert!(radius(0.0).is_err() && gaussian_slope(-1.0).is_err() && Bounds::hinge(1.0, 0.0).is_err());
    assert!(
        hinge.rate(0, 0.1).is_err() && hinge.rate(9, 0.0).is_err() && hinge.penalised_rate(9, 1.0).is_err()
    );
}

/// Standard normal numbers.
fn normal(count: usize, random: &mut Random) -> Vec<f64> {
    (0..count).map(|_| random.normal()).collect()
}

#[test]
fn depths_satisfy_their_lipschitz_bound() {
    let mut random = Random::new(17);
    for radius in [0.3, 2.0, 20.0] {
        let sample = normal(40 * 3, &mut random);
        let sample = Reference::new(&Rows::new(&sample, 3).unwrap()).unwrap();
        let variant = Variant::Constrained { radius };
        let settings = Settings {
            variant,
            intercept: Intercept::Penalised,
            scale: lossdepth::Scale::None,
            ..Settings::new(Method::Logistic)
        };
        let queries = normal(60 * 3, &mut random);
        let rows = Rows::new(&queries, 3).unwrap();
        let fits = settings.fit(&sample).unwrap().score(rows, &Run::default()).unwrap();
        let bound = Bounds::logistic(radius, 1.0).unwrap().lipschitz(1.0);
        for (i, (a, x)) in fits.iter().zip(queries.chunks_exact(3)).enumerate() {
            for (b, y) in fits.iter().zip(queries.chunks_exact(3)).take(i) {
                let distance = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
                let difference = (a.depth - b.depth).abs() - a.error - b.error;
                assert!(difference <= bound * distance, "{difference} {bound} {distance}");
            }
        }
    }
}

#[test]
fn power_laws_are_fitted() {
    let exact: Vec<[f64; 2]> = (1..9).map(|i| [f64::from(i), 3.0 * f64::from(i).powf(-0.5)]).collect();
    let law = PowerLaw::fit(&exact).unwrap();
    assert!((law.exponent + 0.5).abs() < 1e-12 && (law.factor - 3.0).abs() < 1e-12);
    assert!(PowerLaw::fit(&[]).is_err() && PowerLaw::fit(&[[1.0, 1.0]]).is_err());
    assert!(PowerLaw::fit(&[[2.0, 1.0], [2.0, 3.0]]).is_err());
    assert!(PowerLaw::fit(&[[1.0, 0.0], [2.0, 1.0]]).is_err());
}
