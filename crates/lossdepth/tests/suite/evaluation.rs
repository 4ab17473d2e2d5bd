//! AUC-ROC and average precision: scikit-learn's values, DeLong's variance over all pairs, intervals that cover.

use crate::common::{Random, golden, numbers};
use lossdepth::stats::evaluation::Ranking;

#[test]
fn values_are_those_of_scikit_learn() {
    for case in golden("evaluation.json")["rankings"].as_array().unwrap() {
        let ranking = Ranking::new(numbers(&case["outliers"]), numbers(&case["others"])).unwrap();
        let (auc, ap) = (ranking.auc(0.95).unwrap(), ranking.average_precision(0.95).unwrap());
        assert!((auc.value - case["auc"].as_f64().unwrap()).abs() < 1e-14);
        assert!((ap.value - case["average_precision"].as_f64().unwrap()).abs() < 1e-14);
        for estimate in [auc, ap] {
            assert!(0.0 <= estimate.low && estimate.low <= estimate.value, "{estimate:?}");
            assert!(estimate.value <= estimate.high && estimate.high <= 1.0, "{estimate:?}");
            assert!(estimate.low < estimate.high, "{estimate:?}");
        }
        let Some(variance) = case["variance"].as_f64().filter(|v| *v > 0.0) else { continue };
        if auc.value < 1.0 {
            // On the logit scale the interval is z · s / (A (1 - A)) to either side.
            let logit = |a: f64| (a / (1.0 - a)).ln();
            let scale = auc.value * (1.0 - auc.value);
            let s = (logit(auc.high) - logit(auc.low)) * scale / (2.0 * 1.959_963_984_540_054);
            assert!((s * s - variance).abs() <= 1e-10 * variance, "{s} {variance}");
        }
    }
}

#[test]
fn intervals_cover() {
    // Outliers N(-1.2, 1), others N(0, 1): the area is Φ(1.2 / √2). The truth of the precision is that of a large sample
    // with the same share of outliers.
    let mut random = Random::new(11);
    let mut draw = |m: usize, n: usize| {
        let low = (0..m).map(|_| random.normal() - 1.2).collect();
        let high = (0..n).map(|_| random.normal()).collect();
        Ranking::new(low, high).unwrap()
    };
    let auc = 0.801_929_44;
    let ap = draw(100_000, 1_000_000).average_precision(0.95).unwrap().value;
    let (mut areas, mut precisions) = (0, 0);
    let runs = 2000;
    for _ in 0..runs {
        let ranking = draw(30, 300);
        let (a, p) = (ranking.auc(0.95).unwrap(), ranking.average_precision(0.95).unwrap());
        areas += u32::from(a.low <= auc && auc <= a.high);
        precisions += u32::from(p.low <= ap && ap <= p.high);
    }
    let share = |count: u32| f64::from(count) / f64::from(runs);
    assert!((0.93..=0.97).contains(&share(areas)), "{}", share(areas));
    assert!((0.92..=0.995).contains(&share(precisions)), "{}", share(precisions));
}

#[test]
fn a_perfect_order_is_not_certain() {
    let others = || (1..=50).map(f64::from).collect::<Vec<_>>();
    let ranking = Ranking::new(vec![0.0, 0.1, 0.2], others()).unwrap();
    let (auc, ap) = (ranking.auc(0.95).unwrap(), ranking.average_precision(0.95).unwrap());
    assert_eq!((auc.value, auc.high, ap.value, ap.high), (1.0, 1.0, 1.0, 1.0));
    assert!(0.3 < auc.low && auc.low < 0.99, "{auc:?}");
    assert!(0.3 < ap.low && ap.low < 0.99, "{ap:?}");
    // Upside down, the same.
    let wrong = Ranking::new(vec![60.0, 61.0, 62.0], others()).unwrap().auc(0.95).unwrap();
    assert_eq!((wrong.value, wrong.low), (0.0, 0.0));
    assert!((wrong.high - (1.0 - auc.low)).abs() < 1e-12);
    // Scores that say nothing.
    let none = Ranking::new(vec![1.0; 4], vec![1.0; 9]).unwrap().auc(0.95).unwrap();
    assert!(none.value == 0.5 && none.low < 0.4 && none.high > 0.6, "{none:?}");
}

#[test]
fn the_area_under_the_curve_is_the_area() {
    let mut random = Random::new(7);
    for levels in [3.0, 10.0, 1e6] {
        let mut scores = |n: usize, shift: f64| -> Vec<f64> {
            (0..n).map(|_| ((random.normal() + shift) * levels).floor()).collect()
        };
        let ranking = Ranking::new(scores(40, -1.0), scores(200, 0.0)).unwrap();
        let curve = ranking.roc();
        let (first, last) = (curve[0], curve[curve.len() - 1]);
        assert_eq!((first.false_positives, first.true_positives), (0.0, 0.0));
        assert_eq!((last.false_positives, last.true_positives), (1.0, 1.0));
        let piece = |w: &[lossdepth::stats::evaluation::RocPoint]| {
            let height = 0.5 * (w[0].true_positives + w[1].true_positives);
            (w[1].false_positives - w[0].false_positives) * height
        };
        let area: f64 = curve.windows(2).map(piece).sum();
        assert!((area - ranking.auc(0.95).unwrap().value).abs() < 1e-12);
        assert!(curve.windows(2).all(|w| w[0].threshold < w[1].threshold));
    }
}

#[test]
fn scores_that_cannot_be_compared_are_refused() {
    assert!(Ranking::new(vec![], vec![1.0]).is_err());
    assert!(Ranking::new(vec![1.0], vec![]).is_err());
    assert!(Ranking::new(vec![1.0], vec![f64::NAN]).is_err());
    let ranking = Ranking::new(vec![1.0], vec![2.0]).unwrap();
    for level in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(ranking.auc(level).is_err() && ranking.average_precision(level).is_err());
    }
    assert!(Ranking::new(vec![f64::NEG_INFINITY], vec![f64::INFINITY]).unwrap().auc(0.95).is_ok());
}
