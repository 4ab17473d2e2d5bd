//! The constants of the propositions: against their formulas, and against depths that must obey them.

use crate::common::{Random, reference, score, settings};
use lossdepth::theory::{Bounds, PowerLaw, gaussian_slope, radius};
use lossdepth::view::{Boxed, log_ticks};
use lossdepth::{Intercept, Method, Variant};

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

#[test]
fn depths_are_no_steeper_than_proven() {
    let mut random = Random::new(17);
    for radius in [0.3, 2.0, 20.0] {
        let sample = reference(&random.cloud(40, 3));
        let constrained = Variant::Constrained { radius };
        let settings = settings(Method::Logistic, Intercept::Penalised, constrained, 1.0);
        let queries = random.cloud(60, 3);
        let fits = score(&settings, &sample, &queries);
        let bound = Bounds::logistic(radius, 1.0).unwrap().lipschitz(1.0);
        for (i, (a, x)) in fits.iter().zip(&queries).enumerate() {
            for (b, y) in fits.iter().zip(&queries).take(i) {
                let distance = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
                let moved = (a.depth - b.depth).abs() - a.error - b.error;
                assert!(moved <= bound * distance, "{moved} {bound} {distance}");
            }
        }
    }
}

#[test]
fn power_laws_are_found() {
    let exact: Vec<[f64; 2]> = (1..9).map(|i| [f64::from(i), 3.0 * f64::from(i).powf(-0.5)]).collect();
    let law = PowerLaw::fit(&exact).unwrap();
    assert!((law.exponent + 0.5).abs() < 1e-12 && (law.factor - 3.0).abs() < 1e-12);
    assert!(PowerLaw::fit(&[]).is_err() && PowerLaw::fit(&[[1.0, 1.0]]).is_err());
    assert!(PowerLaw::fit(&[[2.0, 1.0], [2.0, 3.0]]).is_err());
    assert!(PowerLaw::fit(&[[1.0, 0.0], [2.0, 1.0]]).is_err());
}

#[test]
fn boxes_are_those_of_numpy() {
    // np.percentile([9, 1, 4, 2, 8, 30, 7], [25, 50, 75]) = 3, 7, 8.5; whiskers by 1.5 · 5.5.
    let boxed = Boxed::new(&[9.0, 1.0, 4.0, 2.0, 8.0, 30.0, 7.0]).unwrap();
    assert_eq!((boxed.first, boxed.median, boxed.third), (3.0, 7.0, 8.5));
    assert_eq!((boxed.low, boxed.high, boxed.beyond), (1.0, 9.0, vec![30.0]));
    let one = Boxed::new(&[2.0]).unwrap();
    assert_eq!((one.low, one.median, one.high), (2.0, 2.0, 2.0));
    assert!(Boxed::new(&[]).is_err() && Boxed::new(&[f64::NAN]).is_err());
}

#[test]
fn logarithmic_ticks_are_powers_of_ten_in_the_range() {
    assert_eq!(log_ticks(1e-3, 1e3, 7), [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3]);
    assert_eq!(log_ticks(1e-6, 1e6, 5), [1e-6, 1e-3, 1.0, 1e3, 1e6]);
    assert!(log_ticks(2.0, 7.0, 5).len() > 2);
    for (low, high) in
        [(0.0, 1.0), (-1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)]
    {
        assert!(log_ticks(low, high, 5).is_empty());
    }
}
