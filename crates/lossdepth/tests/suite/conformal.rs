//! p-values that are uniform where nothing is wrong, false discoveries that stay rare, labels that match a share.

use crate::common::Random;
use lossdepth::stats::conformal::{Conformal, Fdr, adjust, own_p_values, threshold};
use lossdepth::{Method, Reference, Rows, Run, Settings};

const RUN: Run<'static> = Run { threads: None, progress: None, cancel: None, depths_only: false };

fn depths(settings: &Settings, sample: &Reference, queries: &[Vec<f64>], run: &Run<'_>) -> Vec<f64> {
    let data = queries.concat();
    let fits = settings.fit(sample).unwrap().score(Rows::new(&data, sample.width()).unwrap(), run).unwrap();
    fits.iter().map(|fit| fit.depth).collect()
}

fn p_values(
    how: Conformal,
    settings: &Settings,
    sample: &Reference,
    queries: &[Vec<f64>],
    run: &Run<'_>,
) -> Vec<f64> {
    let calibration = how.calibrate(settings, sample, run).unwrap();
    let data = queries.concat();
    let rows = Rows::new(&data, sample.width()).unwrap();
    calibration.p_values(rows, &depths(settings, sample, queries, run), run).unwrap()
}

/// The largest distance between the distribution of some numbers and the uniform one, times √n: above 1.63 once in a
/// hundred times.
fn kolmogorov_smirnov(mut p: Vec<f64>) -> f64 {
    p.sort_by(f64::total_cmp);
    let n = p.len() as f64;
    let distance = p.iter().enumerate().fold(0.0f64, |worst, (i, p)| {
        worst.max((p - i as f64 / n).abs()).max(((i + 1) as f64 / n - p).abs())
    });
    distance * n.sqrt()
}

/// One query against each of many samples, so that the p-values are independent.
fn under_the_null(how: impl Fn(u64) -> Conformal, method: Method, n: usize, runs: u64) -> Vec<f64> {
    let mut random = Random::new(runs);
    let mut draw = || vec![random.t5(), random.normal() + random.t5()];
    let settings = Settings { reg: 0.05, scale: lossdepth::Scale::None, ..Settings::new(method) };
    let mut one = |run: u64| {
        let rows: Vec<Vec<f64>> = (0..n).map(|_| draw()).collect();
        let sample = Reference::new(&rows).unwrap();
        p_values(how(run), &settings, &sample, &[draw()], &Run { threads: Some(1), ..RUN })[0]
    };
    (0..runs).map(&mut one).collect()
}

/// p-values that are multiples of `step`, spread evenly within their step.
fn smooth(p: &[f64], step: f64) -> Vec<f64> {
    let mut random = Random::new(77);
    p.iter().map(|p| p - step * random.unit()).collect()
}

#[test]
fn split_p_values_are_uniform_under_the_null() {
    for method in [Method::Logistic, Method::Svm] {
        let p = under_the_null(|seed| Conformal::Split { share: 0.5, seed }, method, 198, 1000);
        let distance = kolmogorov_smirnov(smooth(&p, 0.01));
        assert!(distance < 1.63, "{method}: {distance}");
        for alpha in [0.05, 0.1, 0.5] {
            let share = p.iter().filter(|p| **p <= alpha).count() as f64 / p.len() as f64;
            let slack = 2.6 * (alpha * (1.0 - alpha) / p.len() as f64).sqrt();
            assert!(share <= alpha + slack, "{method}: {share} at {alpha}");
        }
    }
}

#[test]
fn jackknife_p_values_are_close_to_uniform_under_the_null() {
    let p = under_the_null(|_| Conformal::LeaveOneOut, Method::Logistic, 60, 400);
    let distance = kolmogorov_smirnov(smooth(&p, 1.0 / 61.0));
    assert!(distance < 1.63, "leave-one-out: {distance}");
    let p = under_the_null(|seed| Conformal::Cross { folds: 5, seed }, Method::Logistic, 60, 1000);
    let distance = kolmogorov_smirnov(smooth(&p, 1.0 / 61.0));
    assert!(distance < 1.63, "cross: {distance}");
}

#[test] // What the module says must not be done, and why.
fn scoring_the_reference_against_itself_would_not_do() {
    let mut random = Random::new(4);
    let settings = Settings { reg: 1e-3, scale: lossdepth::Scale::None, ..Settings::new(Method::Logistic) };
    let (mut naive, mut exact) = (0, 0);
    for _ in 0..150 {
        let (rows, query) = (random.cloud(30, 10), random.cloud(1, 10));
        let sample = Reference::new(&rows).unwrap();
        let (own, new) =
            (depths(&settings, &sample, &rows, &RUN), depths(&settings, &sample, &query, &RUN)[0]);
        let p = (1.0 + own.iter().filter(|d| **d <= new).count() as f64) / 31.0;
        naive += usize::from(p <= 0.1);
        exact += usize::from(p_values(Conformal::LeaveOneOut, &settings, &sample, &query, &RUN)[0] <= 0.1);
    }
    // About 15 are expected; 28 is beyond three standard deviations.
    assert!(naive > 60 && exact < 28, "{naive} {exact}");
}

#[test]
fn own_p_values_are_exact() {
    // The rank of one row among all, in many samples.
    let mut random = Random::new(6);
    let settings = Settings { reg: 0.05, scale: lossdepth::Scale::None, ..Settings::new(Method::Logistic) };
    let mut one = || {
        let rows: Vec<Vec<f64>> = (0..40).map(|_| vec![random.t5(), random.t5()]).collect();
        let own = depths(&settings, &Reference::new(&rows).unwrap(), &rows, &RUN);
        own_p_values(&own, None).unwrap()[0]
    };
    let p: Vec<f64> = (0..600).map(|_| one()).collect();
    assert!(kolmogorov_smirnov(smooth(&p, 1.0 / 40.0)) < 1.63);
}

#[test]
fn false_discoveries_stay_rare() {
    let mut random = Random::new(8);
    let settings = Settings { reg: 0.05, scale: lossdepth::Scale::None, ..Settings::new(Method::Logistic) };
    let (mut rates, mut power, runs) = (0.0, 0.0, 40);
    for seed in 0..runs {
        let sample = Reference::new(&random.cloud(600, 3)).unwrap();
        let mut queries = random.cloud(180, 3);
        queries.extend(random.cloud(20, 3).into_iter().map(|row| row.iter().map(|x| x + 4.0).collect()));
        let p = p_values(Conformal::Split { share: 0.5, seed }, &settings, &sample, &queries, &RUN);
        let q = adjust(&p, Fdr::BenjaminiHochberg).unwrap();
        let chosen: Vec<usize> = (0..200).filter(|&i| q[i] <= 0.1).collect();
        let wrong = chosen.iter().filter(|&&i| i < 180).count();
        rates += wrong as f64 / chosen.len().max(1) as f64;
        power += (chosen.len() - wrong) as f64 / 20.0;
    }
    let (rate, power) = (rates / runs as f64, power / runs as f64);
    assert!(rate <= 0.12 && power > 0.9, "{rate} {power}");
}

#[test]
fn a_weight_is_a_number_of_copies() {
    let rows = Random::new(5).cloud(30, 2);
    let settings = Settings::new(Method::Logistic);
    let queries = Random::new(6).cloud(20, 2);
    // Rows without weight are not there at all.
    let counts: Vec<f64> = (0..30).map(|i| f64::from(i % 2)).collect();
    let kept: Vec<Vec<f64>> = rows.iter().skip(1).step_by(2).cloned().collect();
    let (with, without) = (Reference::weighted(&rows, &counts).unwrap(), Reference::new(&kept).unwrap());
    for how in [Conformal::Split { share: 0.4, seed: 1 }, Conformal::Cross { folds: 4, seed: 1 }] {
        let [a, b] = [&with, &without].map(|sample| p_values(how, &settings, sample, &queries, &RUN));
        assert_eq!(a, b);
    }
    let doubled = Reference::weighted(&rows, &[2.0; 30]).unwrap();
    let calibration = Conformal::LeaveOneOut.calibrate(&settings, &doubled, &RUN).unwrap();
    assert_eq!(calibration.size(), 60.0);
    assert_eq!(own_p_values(&[0.1, 0.2], Some(&[3.0, 1.0])).unwrap(), [0.75, 1.0]);
}

#[test]
fn nothing_but_the_seed_changes_a_p_value() {
    let mut random = Random::new(9);
    let (sample, queries) = (Reference::new(&random.cloud(50, 2)).unwrap(), random.cloud(9, 2));
    let settings = Settings::new(Method::Svm);
    let all = |name: &str, seed: u64, threads: usize| {
        let how = Conformal::named(name, seed).unwrap();
        assert_eq!(how.name(), name);
        p_values(how, &settings, &sample, &queries, &Run { threads: Some(threads), ..RUN })
    };
    for name in Conformal::NAMES {
        assert_eq!(all(name, 3, 1), all(name, 3, 3));
    }
    assert_ne!(all("split", 1, 1), all("split", 2, 1));
}

#[test]
fn labels_match_the_contamination() {
    let mut random = Random::new(10);
    for n in [2, 3, 10, 99, 1000] {
        let depths: Vec<f64> = (0..n).map(|_| random.unit()).collect();
        for share in [0.0, 0.01, 0.1, 0.29, 1.0 / 3.0, 0.5] {
            let line = threshold(&depths, None, share).unwrap();
            let below = depths.iter().filter(|d| **d < line).count();
            assert_eq!(below as f64, (share * f64::from(n) + 1e-9).floor(), "{n} {share}");
        }
        // With ties never more than the share, and as many as that allows.
        let ties: Vec<f64> = depths.iter().map(|d| (d * 5.0).floor()).collect();
        for share in [0.1, 0.3] {
            let line = threshold(&ties, None, share).unwrap();
            let upto = |bar: f64| ties.iter().filter(|d| **d < bar).count() as f64;
            assert!(upto(line) <= share * f64::from(n) + 1e-9);
            let next = ties.iter().copied().filter(|d| *d > line).fold(f64::INFINITY, f64::min);
            assert!(next == f64::INFINITY || upto(next) > share * f64::from(n) - 1e-9);
        }
    }
    assert_eq!(threshold(&[0.1, 0.2, 0.3], Some(&[0.0, 1.0, 3.0]), 0.3).unwrap(), 0.3);
    for (share, weights) in [(0.6, None), (-0.1, None), (f64::NAN, None), (0.1, Some(&[1.0][..]))] {
        assert!(threshold(&[0.1, 0.2], weights, share).is_err());
    }
    assert!(threshold(&[], None, 0.1).is_err() && threshold(&[f64::NAN], None, 0.1).is_err());
}

#[test]
fn q_values_are_scipys() {
    // scipy.stats.false_discovery_control([0.001, 0.3, 0.02, 0.02, 0.8, 0.04], method=...)
    let p = [0.001, 0.3, 0.02, 0.02, 0.8, 0.04];
    let bh = [0.006, 0.36, 0.04, 0.04, 0.8, 0.06];
    let by = [0.0147, 0.882, 0.098, 0.098, 1.0, 0.147];
    for (how, theirs) in [(Fdr::BenjaminiHochberg, bh), (Fdr::BenjaminiYekutieli, by)] {
        let ours = adjust(&p, how).unwrap();
        assert!(ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < 1e-12), "{ours:?}");
    }
    assert!(adjust(&[0.5, 1.5], Fdr::default()).is_err() && adjust(&[f64::NAN], Fdr::default()).is_err());
    assert!(adjust(&[], Fdr::default()).unwrap().is_empty());
}

#[test]
fn bad_settings_are_refused() {
    let settings = Settings::new(Method::Logistic);
    let sample = Reference::new(&[[0.0], [1.0], [2.0], [4.0]]).unwrap();
    for how in [
        Conformal::Split { share: 0.0, seed: 0 },
        Conformal::Split { share: 1.0, seed: 0 },
        Conformal::Split { share: f64::NAN, seed: 0 },
        Conformal::Cross { folds: 1, seed: 0 },
    ] {
        assert!(how.calibrate(&settings, &sample, &RUN).is_err(), "{how:?}");
    }
    let two = Reference::new(&[[0.0], [1.0]]).unwrap();
    assert!(Conformal::LeaveOneOut.calibrate(&settings, &two, &RUN).is_err());
    assert!(Conformal::named("half", 0).is_err());
}

/// Rows of the reference are compared with fewer rows than a query is, and far rows of heavy tails then look more central than they
/// are. docs/math/inference.md says by how much.
#[test]
fn approximate_p_values_are_off_by_no_more_than_stated() {
    let mut random = Random::new(71);
    // Student's t with two degrees of freedom.
    let mut t2 = |count: usize| -> Vec<Vec<f64>> {
        let mut number =
            || random.normal() / (0.5 * (random.normal().powi(2) + random.normal().powi(2))).sqrt();
        (0..count).map(|_| vec![number(), number()]).collect()
    };
    let settings = Settings { scale: lossdepth::Scale::None, ..Settings::new(Method::Halfspace) };
    for how in [Conformal::LeaveOneOut, Conformal::named("cross", 0).unwrap()] {
        let (mut below, mut all) = (0, 0);
        for _ in 0..60 {
            let sample = Reference::new(&t2(60)).unwrap();
            for p in p_values(how, &settings, &sample, &t2(40), &RUN) {
                below += usize::from(p <= 0.2);
                all += 1;
            }
        }
        let share = below as f64 / f64::from(all);
        // 60 samples of 40 queries that share them leave about 2 % of chance.
        println!("{how:?}: P(p <= 0.2) = {share:.3}");
        assert!((0.17..=0.29).contains(&share), "{how:?}: {share}");
    }
}
