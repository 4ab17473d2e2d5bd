//! Labels: which rows are the outliers, and how well the depth tells them from the rest.

use crate::load::is_missing;
use lossdepth::stats::evaluation::Ranking;
use serde::Serialize;

/// Words that name the outliers, whatever the other class is called.
const OUTLIER_WORDS: [&str; 12] = [
    "outlier",
    "anomaly",
    "anomalous",
    "abnormal",
    "novelty",
    "fault",
    "faulty",
    "fraud",
    "attack",
    "defect",
    "true",
    "yes",
];

/// Rows sorted into classes by their label, as they come; something is kept of each.
#[derive(Debug)]
pub(crate) struct Classes<T> {
    found: Vec<(String, Vec<T>)>,
    unlabelled: usize,
    too_many: bool,
}

/// Two classes, one of them the outliers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Split<T> {
    /// The label taken for the outliers.
    pub(crate) outlier: String,
    pub(crate) outliers: Vec<T>,
    pub(crate) others: Vec<T>,
    /// How many rows have no label.
    pub(crate) unlabelled: usize,
}

/// The area under the ROC curve, and what it was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Auc {
    /// The chance that an outlier has a lower depth than another row; ties count half.
    pub(crate) value: f64,
    /// The label taken for the outliers.
    pub(crate) outlier: String,
    /// How many rows have it.
    pub(crate) outliers: usize,
    /// How many have the other label.
    pub(crate) others: usize,
    /// How many have none.
    pub(crate) unlabelled: usize,
}

impl<T> Default for Classes<T> {
    fn default() -> Self {
        Self { found: Vec::new(), unlabelled: 0, too_many: false }
    }
}

impl<T> Classes<T> {
    pub(crate) fn add(&mut self, label: &str, row: T) {
        if self.too_many {
            return;
        }
        if label.is_empty() || is_missing(label) {
            self.unlabelled += 1;
        } else if let Some((_, rows)) = self.found.iter_mut().find(|(known, _)| same(known, label)) {
            rows.push(row);
        } else if self.found.len() < 2 {
            self.found.push((label.to_owned(), vec![row]));
        } else {
            self.too_many = true;
            self.found.clear();
        }
    }

    /// The two classes, or why there are not two.
    pub(crate) fn split(self) -> Result<Split<T>, &'static str> {
        if self.too_many {
            return Err("has more than two values");
        }
        let Ok([first, second]) = <[_; 2]>::try_from(self.found) else {
            return Err("has fewer than two values");
        };
        let ((outlier, outliers), (_, others)) =
            if second_is_outlier(&first, &second) { (second, first) } else { (first, second) };
        Ok(Split { outlier, outliers, others, unlabelled: self.unlabelled })
    }
}

impl Classes<f64> {
    /// The AUC of some depths, or why there is none.
    pub(crate) fn auc(self) -> Result<Auc, &'static str> {
        let Split { outlier, outliers, others, unlabelled } = self.split()?;
        let (low, high) = (outliers.len(), others.len());
        let ranking = Ranking::new(outliers, others).and_then(|ranking| ranking.auc(0.95));
        let value = ranking.map_err(|_| "has depths that cannot be compared")?.value;
        Ok(Auc { value, outlier, outliers: low, others: high, unlabelled })
    }
}

/// `1` and `1.0` are one label.
fn same(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

/// 1 of {0, 1}; else a word for it; else the rarer; else the one that sorts last.
fn second_is_outlier<T>(first: &(String, Vec<T>), second: &(String, Vec<T>)) -> bool {
    let word = |class: &(String, _)| OUTLIER_WORDS.iter().any(|word| class.0.eq_ignore_ascii_case(word));
    let (zero, one) = (|class: &(String, _)| same(&class.0, "0"), |class: &(String, _)| same(&class.0, "1"));
    if (zero(first) && one(second)) || (one(first) && zero(second)) {
        return one(second);
    }
    if word(first) != word(second) {
        return word(second);
    }
    (second.1.len(), &first.0) < (first.1.len(), &second.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auc(rows: &[(&str, f64)]) -> Result<Auc, &'static str> {
        let mut classes = Classes::default();
        for (label, depth) in rows {
            classes.add(label, *depth);
        }
        classes.auc()
    }

    #[test]
    fn pairs_are_counted_and_ties_half() {
        let found =
            auc(&[("0", 0.9), ("1", 0.1), ("0", 0.5), ("1", 0.5), ("0", 0.2), ("1.0", 0.95)]).unwrap();
        // Of nine pairs: 0.1 wins three; 0.5 wins one and ties one; 0.95 wins none.
        assert_eq!(found.value, 4.5 / 9.0);
        assert_eq!((found.outlier.as_str(), found.outliers, found.others), ("1", 3, 3));
    }

    #[test]
    fn the_outlier_is_known_by_value_word_or_number() {
        let outlier = |labels: &[&str]| {
            auc(&labels.iter().map(|label| (*label, 0.5)).collect::<Vec<_>>()).unwrap().outlier
        };
        assert_eq!(outlier(&["1", "1", "1", "0"]), "1");
        assert_eq!(outlier(&["Outlier", "Outlier", "inlier"]), "Outlier");
        assert_eq!(outlier(&["-1", "1", "1"]), "-1");
        assert_eq!(outlier(&["b", "a", "a"]), "b");
        assert_eq!(outlier(&["b", "a"]), "b");
        assert_eq!(outlier(&["a", "b"]), "b");
    }

    #[test]
    fn other_labels_have_no_auc() {
        assert!(auc(&[("0", 0.5)]).is_err());
        assert!(auc(&[("0", 0.5), ("1", 0.5), ("2", 0.5)]).is_err());
        assert_eq!(auc(&[("0", 0.5), ("1", 0.5), ("", 0.5)]).unwrap().unlabelled, 1);
    }
}
