//! Depths by passes over all rows: their proven errors hold against the full solution, and they depend on the rows alone.

use crate::common::{Random, settings};
use lossdepth::data::{ReferenceRows, RowSource, Scaling, Visit};
use lossdepth::model::Passes;
use lossdepth::{
    DepthError, Fit, Intercept, Method, Model, Reference, Rows, Run, Scale, Settings, Stop, Variant,
};

const SMOOTH: [Method; 3] = [Method::Logistic, Method::SquaredHinge, Method::Exponential];

/// Rows in pieces of some size, with weights or without.
pub(crate) struct Pieces<'a> {
    data: &'a [f64],
    weights: Option<&'a [f64]>,
    width: usize,
    size: usize,
    pub(crate) readings: usize,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(data: &'a [f64], weights: Option<&'a [f64]>, width: usize, size: usize) -> Self {
        Self { data, weights, width, size, readings: 0 }
    }
}

impl RowSource for Pieces<'_> {
    type Error = DepthError;

    fn read(&mut self, visit: &mut Visit<'_>) -> Result<(), DepthError> {
        self.readings += 1;
        let mut first = 0;
        self.data.chunks(self.size * self.width).try_for_each(|piece| {
            let rows = Rows::new(piece, self.width)?;
            let weights = self.weights.map(|weights| &weights[first..first + rows.len()]);
            first += rows.len();
            visit(rows, weights)
        })
    }
}

pub(crate) fn full(
    settings: &Settings,
    data: &[f64],
    width: usize,
    weights: Option<&[f64]>,
    queries: &[f64],
) -> Vec<Fit> {
    let all = Reference::from_vec(data.to_vec(), width, weights.map(<[f64]>::to_vec)).unwrap();
    settings.fit(&all).unwrap().score(Rows::new(queries, width).unwrap(), &Run::default()).unwrap()
}

pub(crate) fn passes(
    settings: &Settings,
    mut source: Pieces<'_>,
    sample: usize,
    queries: &[f64],
) -> Vec<Fit> {
    let width = source.width;
    let passes = Passes::with_sample(settings, &mut source, width, sample).unwrap();
    passes.score(&mut source, Rows::new(queries, width).unwrap(), &Run::default(), &mut |_| ()).unwrap()
}

/// Heavy tails, a few rows far off, columns of different units.
pub(crate) fn sample(random: &mut Random, n: usize, width: usize) -> Vec<f64> {
    (0..n)
        .flat_map(|i| {
            let far = if i % 97 == 5 { 40.0 } else { 1.0 };
            (0..width)
                .map(|j| far * random.t5() * 10f64.powi(i32::try_from(j % 3).unwrap() - 1))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn errors_hold_against_the_full_solution() {
    let mut random = Random::new(11);
    let (mut converged, mut tried) = (0, 0);
    for method in SMOOTH {
        for intercept in Intercept::ALL {
            for variant in [Variant::Risk, Variant::Objective] {
                for (reg, weighing) in [(1e-4, 0), (1e-2, 1), (1.0, 2), (10.0, 0)] {
                    let (n, width) = (300 + random.below(1500), 1 + random.below(4));
                    let data = sample(&mut random, n, width);
                    let queries: Vec<f64> = [0.1, 1.0, 30.0]
                        .iter()
                        .flat_map(|far| sample(&mut random, 1, width).into_iter().map(move |x| far * x))
                        .collect();
                    let weights: Option<Vec<f64>> = match weighing {
                        0 => None,
                        1 => Some((0..n).map(|i| (i % 4) as f64).collect()),
                        _ => Some((0..n).map(|_| random.between(0.1, 2.0)).collect()),
                    };
                    let settings = settings(method, intercept, variant, reg);
                    let weights = weights.as_deref();
                    let ours = passes(
                        &settings,
                        Pieces::new(&data, weights, width, 1 + random.below(400)),
                        n / 4,
                        &queries,
                    );
                    let exact = full(&settings, &data, width, weights, &queries);
                    for (ours, exact) in ours.iter().zip(&exact) {
                        let off = (ours.depth - exact.depth).abs();
                        assert!(off <= ours.error + exact.error, "{settings:?}: {ours:?} {exact:?}");
                        assert_eq!(ours.stop == Stop::Converged, ours.error <= settings.tol, "{ours:?}");
                        tried += 1;
                        converged += usize::from(ours.stop == Stop::Converged);
                    }
                }
            }
        }
    }
    // Samples of a quarter are far smaller than those that are used.
    assert!(10 * converged >= 9 * tried, "{converged} of {tried}");
}

#[test]
fn bits_do_not_depend_on_pieces_threads_or_neighbours() {
    let mut random = Random::new(5);
    let (n, width) = (40_000, 3);
    let data = sample(&mut random, n, width);
    let queries = sample(&mut random, 70, width);
    let weights: Vec<f64> = (0..n).map(|_| random.between(0.0, 1.0)).collect();
    let settings = Settings { reg: 0.01, scale: Scale::Standard, ..Settings::new(Method::Logistic) };
    let whole = passes(&settings, Pieces::new(&data, Some(&weights), width, n), 2000, &queries);
    assert!(whole.iter().all(|fit| fit.error <= 1e-6 && fit.stderr > 0.0));
    for size in [1, 777, 16_384] {
        assert_eq!(passes(&settings, Pieces::new(&data, Some(&weights), width, size), 2000, &queries), whole);
    }
    let alone = passes(
        &settings,
        Pieces::new(&data, Some(&weights), width, n),
        2000,
        &queries[9 * width..10 * width],
    );
    assert_eq!(alone[0], whole[9]);
    let mut source = Pieces::new(&data, Some(&weights), width, n);
    let prepared = Passes::with_sample(&settings, &mut source, width, 2000).unwrap();
    let run = Run { threads: Some(1), ..Run::default() };
    let one = prepared.score(&mut source, Rows::new(&queries, width).unwrap(), &run, &mut |_| ()).unwrap();
    assert_eq!(one, whole);
}

#[test]
fn a_weight_is_as_many_copies_and_standard_errors_are_those_of_all_rows() {
    let mut random = Random::new(6);
    let (n, width) = (6_000, 2);
    let data = sample(&mut random, n, width);
    let queries = sample(&mut random, 10, width);
    let weights: Vec<f64> = (0..n).map(|i| (1 + i % 3) as f64).collect();
    let copies: Vec<f64> = data
        .chunks(width)
        .zip(&weights)
        .flat_map(|(row, w)| {
            row.repeat(if *w == 1.0 {
                1
            } else if *w == 2.0 {
                2
            } else {
                3
            })
        })
        .collect();
    let settings = Settings { reg: 0.1, ..Settings::new(Method::Logistic) };
    let a = passes(&settings, Pieces::new(&data, Some(&weights), width, 100), 1000, &queries);
    let b = passes(&settings, Pieces::new(&copies, None, width, 100), 1000, &queries);
    let exact = full(&settings, &copies, width, None, &queries);
    for ((a, b), exact) in a.iter().zip(&b).zip(&exact) {
        assert!((a.depth - b.depth).abs() <= a.error + b.error && a.error <= 1e-6, "{a:?} {b:?}");
        // Estimated on a sixth of the rows.
        assert!((a.stderr / exact.stderr - 1.0).abs() < 0.25, "{a:?} {exact:?}");
    }
}

#[test] // The weights of the sample became whole numbers of observations, and squares of small weights vanished.
fn samples_of_weighted_references_keep_their_weights() {
    let mut random = Random::new(9);
    let (n, width) = (200, 2);
    let data = sample(&mut random, n, width);
    let weights: Vec<f64> = (0..n).map(|_| random.between(0.0, 1.0)).collect();
    let queries = sample(&mut random, 10, width);
    let settings = Settings { reg: 0.1, ..Settings::new(Method::Logistic) };
    let all = Reference::from_vec(data.clone(), width, Some(weights.clone())).unwrap();
    let model = settings.fit(&all).unwrap();
    let expected = model.percentiles(&Run::default()).unwrap();
    let plain = full(&settings, &data, width, Some(&weights), &queries);
    for unit in [1.0, 1e-200, 1e200] {
        let weights: Vec<f64> = weights.iter().map(|weight| weight * unit).collect();
        let mut source = Pieces::new(&data, Some(&weights), width, 60);
        let passes = Passes::with_sample(&settings, &mut source, width, 1000).unwrap();
        let of_sample = settings.fit(passes.sample()).unwrap();
        let found = of_sample.percentiles(&Run::default()).unwrap();
        let rows = Rows::new(&queries, width).unwrap();
        let fits = passes.score(&mut source, rows, &Run::default(), &mut |_| ()).unwrap();
        for (fit, plain) in fits.iter().zip(&plain) {
            assert!((found.of(fit.depth) - expected.of(fit.depth)).abs() < 1e-9, "{unit}: {fit:?}");
            // The reaction of the minimiser is solved for to a hundredth (`INFLUENCE_TOL`).
            assert!((fit.stderr / plain.stderr - 1.0).abs() < 1e-2, "{unit}: {fit:?} {plain:?}");
        }
    }
}

#[test]
fn a_model_in_memory_is_the_same_and_is_saved() {
    let mut random = Random::new(8);
    let (n, width) = (3_000, 3);
    let all = Reference::from_vec(sample(&mut random, n, width), width, None).unwrap();
    let queries = sample(&mut random, 12, width);
    let rows = Rows::new(&queries, width).unwrap();
    for scale in [Scale::Standard, Scale::Robust, Scale::Whiten] {
        let plain = Settings { scale, reg: 0.1, ..Settings::new(Method::SquaredHinge) };
        let settings = Settings { reference_rows: ReferenceRows::Passes, ..plain.clone() };
        let model = settings.fit(&all).unwrap();
        let (ours, exact) = (model.score(rows, &Run::default()).unwrap(), plain.fit(&all).unwrap());
        for (ours, exact) in ours.iter().zip(exact.score(rows, &Run::default()).unwrap()) {
            assert!((ours.depth - exact.depth).abs() <= ours.error + exact.error && ours.error <= 1e-6);
        }
        assert_eq!(model.scaling(), exact.scaling());
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.score(rows, &Run::default()).unwrap(), ours);
    }
}

#[test]
fn the_scaling_of_a_stream_is_that_of_all_rows() {
    let mut random = Random::new(9);
    let data = sample(&mut random, 20_000, 3);
    let rows = Rows::new(&data, 3).unwrap();
    let settings = Settings { scale: Scale::Standard, ..Settings::new(Method::Logistic) };
    let found = Passes::with_sample(&settings, &mut Pieces::new(&data, None, 3, 999), 3, 100).unwrap();
    let (exact, _) = Scaling::learn(Scale::Standard, rows, &vec![1.0; rows.len()], 0.75).unwrap();
    let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
    found.scaling().apply(&[1.0, 2.0, 3.0], &mut a);
    exact.apply(&[1.0, 2.0, 3.0], &mut b);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
}

#[test]
fn what_passes_do_not_go_with_is_refused() {
    let data = sample(&mut Random::new(1), 100, 2);
    let new =
        |settings: &Settings| Passes::new(settings, &mut Pieces::new(&data, None, 2, 10), 2).map(|_| ());
    for method in [Method::Hinge, Method::Klr, Method::Auto, Method::Forest] {
        let error = new(&Settings::new(method)).unwrap_err().to_string();
        assert!(error.contains("passes") && error.contains(method.name()), "{error}");
        let settings = Settings { reference_rows: ReferenceRows::Passes, ..Settings::new(method) };
        let all = Reference::from_vec(data.clone(), 2, None).unwrap();
        assert!(settings.fit(&all).unwrap_err().to_string().contains("passes"));
    }
    let score = |settings: &Settings, later: &[f64]| {
        let passes = Passes::new(settings, &mut Pieces::new(&data, None, 2, 10), 2)?;
        passes.score(
            &mut Pieces::new(later, None, 2, 10),
            Rows::new(&[0.0, 1.0], 2)?,
            &Run::default(),
            &mut |_| (),
        )
    };
    let constrained =
        Settings { variant: Variant::Constrained { radius: 1.0 }, ..Settings::new(Method::Logistic) };
    assert!(score(&constrained, &data).unwrap_err().to_string().contains("variant"));
    // Rows that are others than before.
    let error = score(&Settings::new(Method::Logistic), &data[..20]).unwrap_err().to_string();
    assert!(error.contains("changed"), "{error}");
    let error =
        Passes::new(&Settings::new(Method::Logistic), &mut Pieces::new(&[1.0, f64::NAN], None, 2, 1), 2);
    assert!(matches!(error, Err(DepthError::NotFinite { row: 0, column: 1, .. })));
}
