//! The first two principal axes of a sample.

use crate::data::Reference;
use crate::error::{DepthError, Result};
use crate::problem::Features;

/// The two orthonormal directions in which a sample varies most.
///
/// ```
/// use lossdepth::{PrincipalAxes, Reference};
/// let sample = Reference::new(&[[-2.0, 1.0], [2.0, 1.0], [0.0, 2.0], [0.0, 0.0]])?;
/// let PrincipalAxes { axes, shares } = PrincipalAxes::new(&sample)?;
/// assert!((axes[0][0].abs() - 1.0).abs() < 1e-12 && (shares[0] - 0.8).abs() < 1e-12);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalAxes {
    /// The directions; the largest component of each is positive.
    pub axes: [Vec<f64>; 2],
    /// The share of the total variance along each direction; 0 where the sample is constant.
    pub shares: [f64; 2],
}

impl PrincipalAxes {
    /// The axes of the weighted sample about its mean.
    ///
    /// # Errors
    /// There is only one column.
    pub fn new(sample: &Reference) -> Result<Self> {
        if sample.width() < 2 {
            return Err(DepthError::Settings("principal axes need two columns or more".to_owned()));
        }
        let features = Features::new(sample, true);
        // Moment 0 is that of the constant.
        let total: f64 = features.moments[1..].iter().sum();
        let share = |k: usize| match features.moments.get(1 + k) {
            Some(moment) if total > 0.0 => moment / total,
            _ => 0.0,
        };
        let axes = [0, 1].map(|k| {
            let axis = features.axis(k);
            let largest = axis.iter().fold(0.0f64, |m, w| if w.abs() > m.abs() { *w } else { m });
            axis.iter().map(|w| w * largest.signum()).collect::<Vec<f64>>()
        });
        Ok(Self { axes, shares: [share(0), share(1)] })
    }
}
