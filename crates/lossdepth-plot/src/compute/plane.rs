//! A plane through a sample of any number of columns.

use super::distribution::EmpiricalDistribution;
use lossdepth::data::{Scaling, Transform};
use lossdepth::{DepthError, PrincipalAxes, Reference, Result, Rows};

/// A plane in the space of the columns, with two coordinates.
///
/// ```
/// use lossdepth::Reference;
/// use lossdepth_plot::Plane;
/// let sample = Reference::new(&[[0.0, 0.0, 5.0], [4.0, 2.0, 6.0], [8.0, 4.0, 7.0]])?;
/// let plane = Plane::of_columns(&sample, [2, 0])?;
/// assert_eq!(plane.coordinates(&[4.0, 9.0, 6.5]), [6.5, 4.0]);
/// assert_eq!(plane.row([6.5, 4.0]), [4.0, 2.0, 6.5]); // the median of column 1 is 2
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// The row at coordinates (0, 0).
    origin: Vec<f64>,
    /// The derivative of the row by each coordinate.
    directions: [Vec<f64>; 2],
    /// The derivative of each coordinate by the row: a row off the plane has the coordinates of its projection.
    projections: [Vec<f64>; 2],
    /// The share of the variance along each coordinate, for principal axes.
    shares: Option<[f64; 2]>,
}

impl Plane {
    /// The plane of two columns, which are the coordinates; the other columns are at their medians.
    ///
    /// # Errors
    /// The columns are equal, or one of them does not exist.
    pub fn of_columns(sample: &Reference, columns: [usize; 2]) -> Result<Self> {
        let d = sample.width();
        if columns[0] == columns[1] || columns.iter().any(|column| *column >= d) {
            return Err(DepthError::Settings("a plane needs two different columns of the data".to_owned()));
        }
        let mut origin = Vec::with_capacity(d);
        for j in 0..d {
            let column: Vec<f64> = sample.rows().iter().map(|row| row[j]).collect();
            let median = EmpiricalDistribution::new(&column, sample.weights())?.quantile(0.5);
            origin.push(if columns.contains(&j) { 0.0 } else { median });
        }
        let unit = |column: usize| (0..d).map(|j| f64::from(u8::from(j == column))).collect::<Vec<f64>>();
        let directions = columns.map(unit);
        Ok(Self { origin, projections: directions.clone(), directions, shares: None })
    }

    /// The plane through the mean along the first two principal axes of the sample, after `scaling` if that is diagonal.
    /// Otherwise the columns are scaled to variance 1: a whitened sample has the same variance in all directions.
    ///
    /// The coordinates are in the units of the scaled columns and 0 at the mean; the largest component of an axis is
    /// positive.
    ///
    /// # Errors
    /// There is only one column, or `scaling` has another width.
    pub fn principal(sample: &Reference, scaling: &Scaling) -> Result<Self> {
        let d = sample.width();
        if scaling.width() != d {
            return Err(DepthError::Settings("the scaling and the sample differ in width".to_owned()));
        }
        let factors = match scaling.transform() {
            Transform::Identity => vec![1.0; d],
            Transform::Diagonal(factors) => factors.clone(),
            Transform::Full(_) => deviations(sample).iter().map(|sd| 1.0 / sd).collect(),
        };
        let scaled: Vec<f64> =
            sample.rows().iter().flat_map(|row| row.iter().zip(&factors).map(|(x, a)| x * a)).collect();
        let rows = Rows::new(&scaled, d)?;
        let PrincipalAxes { axes, shares } =
            PrincipalAxes::new(&Reference::weighted(&rows, sample.weights())?)?;
        let over = |axis: &Vec<f64>| axis.iter().zip(&factors).map(|(w, a)| w / a).collect();
        let times = |axis: &Vec<f64>| axis.iter().zip(&factors).map(|(w, a)| w * a).collect();
        Ok(Self {
            origin: sample.mean(),
            directions: axes.each_ref().map(over),
            projections: axes.each_ref().map(times),
            shares: Some(shares),
        })
    }

    /// The row at some coordinates.
    pub fn row(&self, [u, v]: [f64; 2]) -> Vec<f64> {
        let [first, second] = &self.directions;
        self.origin.iter().zip(first).zip(second).map(|((o, a), b)| o + u * a + v * b).collect()
    }

    /// The coordinates of a row, or of its projection on the plane.
    pub fn coordinates(&self, row: &[f64]) -> [f64; 2] {
        [0, 1].map(|k| {
            row.iter().zip(&self.origin).zip(&self.projections[k]).map(|((x, o), a)| a * (x - o)).sum()
        })
    }

    /// The share of the sample's variance along each coordinate, for principal axes.
    pub fn shares(&self) -> Option<[f64; 2]> {
        self.shares
    }
}

/// The standard deviation of each column, 1 where it is constant.
fn deviations(sample: &Reference) -> Vec<f64> {
    let mean = sample.mean();
    let deviation = |j: usize| {
        let squares =
            sample.rows().iter().zip(sample.weights()).map(|(row, w)| w * (row[j] - mean[j]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let positive = |sd: f64| if sd > 0.0 { sd } else { 1.0 };
    (0..sample.width()).map(|j| positive(deviation(j))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossdepth::Scale;

    fn cloud(d: usize) -> Reference {
        let number = |i: usize, j: usize| {
            (((i * 7919 + j * 104_729) % 1000) as f64 / 500.0 - 1.0) / 3f64.powf(j as f64)
        };
        let rows: Vec<Vec<f64>> =
            (0..60).map(|i| (0..d).map(|j| number(i, j) + 0.5 * number(i, 0) + 100.0).collect()).collect();
        Reference::new(&rows).unwrap()
    }

    fn scaling(sample: &Reference, scale: Scale) -> Scaling {
        Scaling::learn(scale, sample.rows(), sample.weights(), 0.75).unwrap().0
    }

    #[test]
    fn coordinates_and_rows_are_inverse() {
        let sample = cloud(5);
        for scale in Scale::ALL {
            let plane = Plane::principal(&sample, &scaling(&sample, scale)).unwrap();
            let [u, v] = plane.coordinates(&plane.row([1.5, -0.25]));
            assert!((u - 1.5).abs() < 1e-9 && (v + 0.25).abs() < 1e-9, "{scale:?}: {u} {v}");
            let [first, second] = plane.shares().unwrap();
            assert!(first >= second && second > 0.0 && first + second <= 1.0 + 1e-12);
        }
    }

    #[test]
    fn coordinates_are_uncorrelated_and_have_the_stated_shares_of_variance() {
        let sample = cloud(4);
        let plane = Plane::principal(&sample, &scaling(&sample, Scale::None)).unwrap();
        let points: Vec<[f64; 2]> = sample.rows().iter().map(|row| plane.coordinates(row)).collect();
        let moment =
            |a: usize, b: usize| points.iter().map(|p| p[a] * p[b]).sum::<f64>() / points.len() as f64;
        let total: f64 = deviations(&sample).iter().map(|sd| sd * sd).sum();
        let shares = plane.shares().unwrap();
        assert!(moment(0, 1).abs() < 1e-9 * total);
        assert!(
            (moment(0, 0) / total - shares[0]).abs() < 1e-9
                && (moment(1, 1) / total - shares[1]).abs() < 1e-9
        );
    }

    #[test]
    fn there_is_a_plane_through_a_line_a_point_and_two_rows() {
        for rows in [vec![vec![1.0; 4]; 5], vec![vec![0.0, 0.0, 0.0, 7.0], vec![1.0, 2.0, 3.0, 7.0]]] {
            let sample = Reference::new(&rows).unwrap();
            for scale in Scale::ALL {
                let plane = Plane::principal(&sample, &scaling(&sample, scale)).unwrap();
                assert!(plane.row([1.0, 1.0]).iter().all(|x| x.is_finite()));
                let [u, v] = plane.coordinates(&plane.row([1.0, 2.0]));
                assert!((u - 1.0).abs() < 1e-9 && (v - 2.0).abs() < 1e-9, "{u} {v}");
            }
        }
    }

    #[test]
    fn a_plane_needs_two_columns() {
        let sample = cloud(3);
        assert!(Plane::of_columns(&sample, [0, 0]).is_err());
        assert!(Plane::of_columns(&sample, [0, 3]).is_err());
        let line = cloud(1);
        assert!(Plane::principal(&line, &scaling(&line, Scale::None)).is_err());
    }
}
