//! What a split divides: a number, or the level of a category.

use super::rotation::rotate;
use crate::data::{Group, Reference};

/// The level of a query that does not have exactly one: no row of the sample has it.
const NO_LEVEL: f64 = -1.0;

/// The features of a forest. A category is one feature, whatever its number of levels.
pub(super) struct FeatureColumns {
    /// How many there are.
    pub(super) count: usize,
    /// The group of columns of each; `None` if every column is a number.
    groups: Option<Vec<Group>>,
}

impl FeatureColumns {
    pub(super) fn of(sample: &Reference) -> Self {
        match sample.layout() {
            Some(layout) if !layout.is_numeric() => {
                Self { count: layout.groups().len(), groups: Some(layout.groups().to_vec()) }
            }
            _ => Self { count: sample.width(), groups: None },
        }
    }

    /// The group of a feature that is a category.
    pub(super) fn category(&self, feature: usize) -> Option<&Group> {
        self.groups.as_ref().map(|groups| &groups[feature]).filter(|group| group.is_category())
    }

    /// The first column of a feature.
    pub(super) fn column(&self, feature: usize) -> usize {
        self.groups.as_ref().map_or(feature, |groups| groups[feature].start)
    }

    /// How many features are numbers.
    pub(super) fn numbers(&self) -> usize {
        (0..self.count).filter(|&feature| self.category(feature).is_none()).count()
    }

    /// Adds the features of a row: numbers as they are, and for a category the number of the level.
    pub(super) fn extend(&self, row: &[f64], out: &mut Vec<f64>) {
        let Some(groups) = &self.groups else { return out.extend_from_slice(row) };
        out.extend(groups.iter().map(|group| {
            if group.is_category() {
                group.level(row).map_or(NO_LEVEL, |level| level as f64)
            } else {
                row[group.start]
            }
        }));
    }

    /// Turns the numbers among the features into a frame; levels stay as they are.
    pub(super) fn rotate(&self, rotation: &[f64], features: &mut [f64]) {
        let number = |feature: &usize| self.category(*feature).is_none();
        let x: Vec<f64> = (0..self.count).filter(number).map(|feature| features[feature]).collect();
        let mut rotated = vec![0.0; x.len()];
        if !x.is_empty() {
            rotate(rotation, &x, &mut rotated);
        }
        (0..self.count).filter(number).zip(rotated).for_each(|(feature, x)| features[feature] = x);
    }
}
