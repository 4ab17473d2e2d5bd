//! Scalings of samples with categories: learned on the number columns, the identity on all others.

use super::{Column, Scale, Scaling, ScalingWarning, Transform, check_width};
use crate::data::{Group, Layout, Reference, Rows};
use crate::error::{DepthError, Result};

impl Scaling {
    /// Learns a scaling from the number columns of a sample.
    ///
    /// The coordinates of categories have the centre 0 and the factor 1: $A$ is block diagonal, with the identity on
    /// them. Without categories this is [`learn`](Self::learn).
    ///
    /// ```
    /// use lossdepth::Reference;
    /// use lossdepth::data::{GroupKind, Layout, Scale, Scaling, Transform};
    /// let layout = Layout::new([(0, GroupKind::Number, 1), (1, GroupKind::Category, 2)]);
    /// let sample = Reference::new(&[[1.0, 2.0, 0.0], [5.0, 0.0, 2.0]])?.with_layout(layout)?;
    /// let (scaling, _) = Scaling::of(Scale::Standard, &sample, 0.75)?;
    /// assert_eq!(scaling.center(), [3.0, 0.0, 0.0]);
    /// assert_eq!(scaling.transform(), &Transform::Diagonal(vec![0.5, 1.0, 1.0]));
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`learn`](Self::learn).
    pub fn of(
        scale: Scale,
        sample: &Reference,
        support_fraction: f64,
    ) -> Result<(Scaling, Option<ScalingWarning>)> {
        // The steps of the minimum covariance determinant compare numbers that may be equal but for rounding. Rows in one
        // fixed order, with copies merged, make that rounding the same for every way to write a sample.
        let merged = (scale == Scale::Mcd).then(|| sample.merged().0);
        let sample = merged.as_ref().unwrap_or(sample);
        let (rows, weights) = (sample.rows(), sample.weights());
        let numbers: Vec<usize> = match sample.layout() {
            Some(layout) if !layout.is_numeric() => layout.number_groups().map(|group| group.start).collect(),
            _ => return Self::learn(scale, rows, weights, support_fraction),
        };
        let width = rows.width();
        if matches!(scale, Scale::Whiten | Scale::Mcd) {
            check_width(scale, width)?;
        }
        if numbers.is_empty() {
            // Checks the setting, and learns nothing.
            Self::learn(Scale::None, rows, weights, support_fraction)?;
            let transform = match scale {
                Scale::None => Transform::Identity,
                _ => Transform::Diagonal(vec![1.0; width]),
            };
            return Ok((Scaling { center: vec![0.0; width], transform }, None));
        }
        let data: Vec<f64> = rows.iter().flat_map(|row| numbers.iter().map(|&j| row[j])).collect();
        let learned = Self::learn(scale, Rows::new(&data, numbers.len())?, weights, support_fraction);
        let (scaling, warning) = learned.map_err(|error| match error {
            DepthError::TooSmall { column, spread } => {
                DepthError::TooSmall { column: numbers[column], spread }
            }
            other => other,
        })?;
        Ok((scaling.among(&numbers, width), warning))
    }

    /// The standard deviation of each number column that varies, with the original column: what [`Scale::Standard`] divides by.
    pub(crate) fn spreads(sample: &Reference) -> Vec<(usize, f64)> {
        let layout = sample.layout().cloned().unwrap_or_else(|| Layout::numbers(sample.width()));
        let spread = |group: &Group| {
            let values =
                sample.rows().iter().map(|row| row[group.start]).zip(sample.weights().iter().copied());
            let column = Column::of(&values.filter(|(_, weight)| *weight > 0.0).collect::<Vec<_>>());
            (!column.constant && column.vanishing.is_none()).then_some((group.column, column.sd))
        };
        layout.number_groups().filter_map(spread).collect()
    }

    /// This scaling on some of `width` columns, the identity on the others.
    fn among(self, columns: &[usize], width: usize) -> Scaling {
        let mut center = vec![0.0; width];
        columns.iter().zip(&self.center).for_each(|(&j, m)| center[j] = *m);
        let transform = match self.transform {
            Transform::Identity => Transform::Identity,
            Transform::Diagonal(factors) => {
                let mut a = vec![1.0; width];
                columns.iter().zip(&factors).for_each(|(&j, factor)| a[j] = *factor);
                Transform::Diagonal(a)
            }
            Transform::Full(block) => {
                let mut a = vec![0.0; width * width];
                (0..width).for_each(|j| a[j * width + j] = 1.0);
                for (&i, row) in columns.iter().zip(block.chunks_exact(columns.len())) {
                    columns.iter().zip(row).for_each(|(&j, x)| a[i * width + j] = *x);
                }
                Transform::Full(a)
            }
        };
        Scaling { center, transform }
    }
}
