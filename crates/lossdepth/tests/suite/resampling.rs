//! Standard errors from random halves: they change nothing else, follow the theory where there is one, and are refused where there are no
//! halves. How often their intervals cover is in `coverage.rs`.

use crate::common::{Random, reference, score, settings};
use lossdepth::data::ReferenceRows;
use lossdepth::kernel::KernelChoice;
use lossdepth::model::archive::Archive;
use lossdepth::{Fit, Intercept, Method, Reference, Rows, Run, Scale, Settings, Variant};

fn with(method: Method, resamples: usize) -> Settings {
    Settings { resamples, ..Settings::new(method) }
}

#[test]
fn nothing_but_the_standard_error_changes() {
    let mut random = Random::new(7);
    let (sample, queries) = (reference(&random.cloud(60, 2)), random.cloud(9, 2));
    for method in Method::ALL {
        let (plain, halves) =
            (score(&with(method, 0), &sample, &queries), score(&with(method, 6), &sample, &queries));
        for (plain, halves) in plain.iter().zip(&halves) {
            let bits = |fit: &Fit| (fit.depth.to_bits(), fit.error.to_bits(), fit.iterations);
            assert_eq!(bits(plain), bits(halves), "{method}");
            assert!(halves.stderr.is_finite() && halves.stderr >= 0.0, "{method}: {halves:?}");
        }
        assert!(halves.iter().any(|fit| fit.stderr > 0.0), "{method}");
    }
}

#[test]
fn it_does_not_depend_on_batch_threads_order_or_copies() {
    let mut random = Random::new(8);
    let (rows, queries) = (random.cloud(80, 3), random.cloud(40, 3));
    let mut copies: Vec<Vec<f64>> = rows.iter().chain(&rows).cloned().collect();
    copies.reverse();
    let weighted = Reference::weighted(&rows, &[2.0; 80]).unwrap();
    for method in [Method::Auto, Method::Forest] {
        let settings = with(method, 5);
        let together = score(&settings, &weighted, &queries);
        let copied = score(&settings, &reference(&copies), &queries);
        let model = settings.fit(&weighted).unwrap();
        for ((query, fit), copied) in queries.iter().zip(&together).zip(&copied) {
            let run = Run { threads: Some(1), ..Run::default() };
            let alone = model.score(Rows::new(query, 3).unwrap(), &run).unwrap()[0];
            assert_eq!(alone.stderr.to_bits(), fit.stderr.to_bits(), "{method}");
            // The order of the rows changes the last bits of the scaling.
            assert!((copied.stderr - fit.stderr).abs() <= 1e-9 * fit.stderr, "{method}: {copied:?} {fit:?}");
            let explained = model.explain(Rows::new(query, 3).unwrap(), &run).unwrap();
            assert_eq!(explained[0].fit.stderr.to_bits(), fit.stderr.to_bits(), "{method}");
        }
    }
}

#[test]
fn it_agrees_with_the_formula_of_a_smooth_depth() {
    let mut random = Random::new(9);
    let sample = reference(&random.cloud(600, 2));
    let queries = [vec![0.8, 0.3], vec![-1.0, 0.5], vec![1.2, -1.2]];
    let plain =
        Settings { scale: Scale::None, ..settings(Method::Logistic, Intercept::Free, Variant::Risk, 0.1) };
    let formula = score(&plain, &sample, &queries);
    let halves = score(&Settings { resamples: 400, ..plain }, &sample, &queries);
    for (formula, halves) in formula.iter().zip(&halves) {
        // The estimate from 400 halves varies by 1/sqrt(2 * 399); four standard deviations, and a tenth for 300 rows instead of 600.
        let ratio = halves.stderr / formula.stderr;
        assert!((ratio - 1.0).abs() < 4.0 / (2.0 * 399.0f64).sqrt() + 0.1, "{ratio}");
    }
}

#[test]
fn a_saved_model_has_the_same_ones() {
    let mut random = Random::new(10);
    let (sample, queries) = (reference(&random.cloud(50, 2)), random.cloud(5, 2));
    let model = with(Method::Auto, 4).fit(&sample).unwrap();
    let bytes = Archive::of(&model).to_bytes().unwrap();
    let loaded = Archive::from_bytes(&bytes).unwrap();
    let flat: Vec<f64> = queries.concat();
    let score = |model: &lossdepth::Model| {
        let fits = model.score(Rows::new(&flat, 2).unwrap(), &Run::default()).unwrap();
        fits.iter().map(|fit| fit.stderr.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(score(&model), score(&loaded.model().unwrap()));
}

#[test]
fn where_there_are_no_halves_it_is_refused() {
    let sample = reference(&Random::new(11).cloud(6, 2));
    let refused = |settings: Settings, sample: &Reference| settings.fit(sample).err().unwrap().to_string();
    assert_eq!(refused(with(Method::Svm, 1), &sample), "`resamples` must be 0 or at least 2, got 1");
    assert_eq!(
        refused(with(Method::Auto, 5), &reference(&[vec![0.0], vec![1.0], vec![2.0]])),
        "resamples needs a reference of at least 4 rows, it has 3"
    );
    let passes = Settings { reference_rows: ReferenceRows::Passes, ..with(Method::Logistic, 5) };
    assert_eq!(
        refused(passes, &sample),
        "resamples goes with reference_rows `all`, `auto` or a number, not with `passes`"
    );
    let kernel = KernelChoice::Precomputed;
    let precomputed = Settings { kernel, scale: Scale::None, ..with(Method::Svm, 5) };
    let square =
        reference(&(0..6).map(|i| (0..6).map(|j| f64::from(u8::from(i == j))).collect()).collect::<Vec<_>>());
    assert_eq!(
        refused(precomputed, &square),
        "resamples needs the rows: kernel `precomputed` has kernel values only"
    );
}
