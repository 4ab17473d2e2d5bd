//! Comparing with a sample of the reference: what is said about its standard error holds.

use crate::common::Random;
use lossdepth::data::ReferenceRows;
use lossdepth::{Fit, Method, Model, Reference, Rows, Run, Scale, Settings};

/// Heavy tails, three columns.
fn sample(n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..3 * n).map(|_| random.t5()).collect()
}

fn score(model: &Model, queries: &[f64]) -> Vec<Fit> {
    model.score(Rows::new(queries, 3).unwrap(), &Run::default()).unwrap()
}

#[test]
fn the_standard_error_of_a_sample_covers_the_depth_of_all_rows() {
    let data = sample(12_000, 3);
    let all = Reference::from_vec(data, 3, None).unwrap();
    let queries = [0.0, 0.0, 0.0, 1.0, -1.0, 0.5, 4.0, 4.0, 0.0, -2.0, 2.0, 2.0];
    // Those of kernels take the scaling for given, so columns are taken as they are: their units are those of all rows.
    let cases =
        [(Method::Logistic, Scale::Standard), (Method::Logistic, Scale::None), (Method::Svm, Scale::None)];
    for (method, scale) in cases {
        let plain = Settings { scale, ..Settings::new(method) };
        let exact = score(&plain.fit(&all).unwrap(), &queries);
        let (mut covered, mut tried) = (0u32, 0u32);
        for seed in 0..60 {
            let (reference_rows, reg) = (ReferenceRows::Count(400), 1.0);
            let settings = Settings { reference_rows, seed, reg, ..plain.clone() };
            let model = settings.fit(&all).unwrap();
            assert_eq!(model.reference_len(), 400);
            for (found, exact) in score(&model, &queries).iter().zip(&exact) {
                tried += 1;
                covered += u32::from((found.depth - exact.depth).abs() <= 1.96 * found.stderr);
            }
        }
        // 95 % of 240, less four standard deviations as if the four queries of a seed were one.
        let least = 0.95 - 4.0 * (0.95f64 * 0.05 / 60.0).sqrt();
        println!("{method}, {scale}: {covered} of {tried}");
        assert!(f64::from(covered) / f64::from(tried) >= least, "{method}, {scale}: {covered} of {tried}");
    }
}

#[test]
fn auto_takes_all_rows_up_to_a_number_and_enough_beyond() {
    let small = Reference::from_vec(sample(3_000, 5), 3, None).unwrap();
    let auto = Settings { reference_rows: ReferenceRows::Auto, ..Settings::new(Method::Svm) };
    assert_eq!(auto.fit(&small).unwrap().reference_len(), 3_000);
    let large = Reference::from_vec(sample(60_000, 5), 3, None).unwrap();
    let model = auto.fit(&large).unwrap();
    assert!((2_000..60_000).contains(&model.reference_len()), "{}", model.reference_len());
    let largest = score(&model, &sample(300, 6)).iter().fold(0.0f64, |largest, fit| largest.max(fit.stderr));
    // The first sample has other rows than these: somewhat more than the target is possible.
    assert!(largest <= 1.5 * 0.004, "{largest}");
}

#[test]
fn a_sample_does_not_depend_on_the_order_of_the_rows_and_is_saved() {
    let data = sample(1_000, 9);
    let reversed: Vec<f64> = data.chunks(3).rev().flatten().copied().collect();
    let settings = Settings { reference_rows: ReferenceRows::Count(100), ..Settings::new(Method::Logistic) };
    let fit = |data: Vec<f64>| settings.fit(&Reference::from_vec(data, 3, None).unwrap()).unwrap();
    let (a, b) = (fit(data.clone()), fit(reversed));
    let queries = sample(20, 1);
    assert_eq!(score(&a, &queries), score(&b, &queries));
    let loaded = Model::from_bytes(&a.to_bytes().unwrap()).unwrap();
    assert_eq!((loaded.reference_len(), score(&loaded, &queries)), (100, score(&a, &queries)));
    // All rows are the default, and files say nothing about it.
    let plain = Settings::new(Method::Logistic);
    assert_eq!(plain.reference_rows, ReferenceRows::All);
    assert!(!serde_json::to_string(&plain).unwrap().contains("reference_rows"));
}
