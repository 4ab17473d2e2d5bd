//! The kernels of this crate.

use super::Kernel;
use super::bandwidth::{Gamma, Sigma};
use super::points::{Columns, Points, absolute_difference, coordinate_product, squared_difference};
use crate::data::{Reference, Rows};
use crate::error::{DepthError, Result, positive};
use crate::numerics::elementary::{exp_neg, ln_1p_unit};
use crate::numerics::linalg::{axpy, dot};
use crate::numerics::simd::vectorised;
use serde::{Deserialize, Serialize};

/// A kernel by name with its settings; some may depend on the sample.
///
/// ```
/// use lossdepth::kernel::{Gamma, KernelChoice};
/// assert_eq!(KernelChoice::default(), KernelChoice::Gaussian { gamma: Gamma::Auto });
/// assert_eq!(KernelChoice::parse("imq").unwrap().name(), "imq");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum KernelChoice {
    /// $e^{-\gamma \|x - z\|^2}$.
    Gaussian {
        /// The inverse squared width.
        gamma: Gamma,
    },
    /// $e^{-\|x - z\|_1 / \sigma}$.
    Laplacian {
        /// The width.
        sigma: Sigma,
    },
    /// The inverse multiquadric $(c^2 + \|x - z\|^2)^\beta$.
    Imq {
        /// The width, positive.
        c: f64,
        /// The exponent, negative.
        beta: f64,
    },
    /// $\langle x, z \rangle$.
    Linear,
    /// $(\gamma \langle x, z \rangle + \text{coef0})^\text{degree}$.
    Polynomial {
        /// The scale of the product.
        gamma: Gamma,
        /// The power, at least 1.
        degree: u32,
        /// The constant, not negative.
        coef0: f64,
    },
    /// The rows of the data are kernel values.
    ///
    /// A row of the reference holds its kernel values with all $n$ reference rows, a query the same; $n$ columns. That
    /// leaves $k(z, z)$ open: it is taken to be the diagonal of the reference, which must be constant. For other kernels
    /// give one column more, $k(x_i, x_i)$ and $k(z, z)$.
    Precomputed,
}

impl Default for KernelChoice {
    fn default() -> Self {
        Self::Gaussian { gamma: Gamma::Auto }
    }
}

impl KernelChoice {
    /// The names.
    pub const NAMES: [&str; 6] = ["gaussian", "laplacian", "imq", "linear", "polynomial", "precomputed"];

    /// The name used on the command line and in Python.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gaussian { .. } => Self::NAMES[0],
            Self::Laplacian { .. } => Self::NAMES[1],
            Self::Imq { .. } => Self::NAMES[2],
            Self::Linear => Self::NAMES[3],
            Self::Polynomial { .. } => Self::NAMES[4],
            Self::Precomputed => Self::NAMES[5],
        }
    }

    /// From a name, with the default settings: `gamma` and `sigma` auto, `c` 1, `beta` -0.5, `degree` 3, `coef0` 1.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self> {
        Ok(match name {
            "gaussian" => Self::Gaussian { gamma: Gamma::Auto },
            "laplacian" => Self::Laplacian { sigma: Sigma::Auto },
            "imq" => Self::Imq { c: 1.0, beta: -0.5 },
            "linear" => Self::Linear,
            "polynomial" => Self::Polynomial { gamma: Gamma::Auto, degree: 3, coef0: 1.0 },
            "precomputed" => Self::Precomputed,
            _ => {
                let expected = Self::NAMES.join(", ");
                return Err(DepthError::Name { name: "kernel", expected, got: name.to_owned() });
            }
        })
    }

    /// The kernel for this sample; `None` for `precomputed`, which is not a function of points.
    ///
    /// # Errors
    /// A setting is out of its range.
    pub fn learn(&self, sample: &Reference) -> Result<Option<Standard>> {
        self.learn_by(|gamma| gamma.learn(sample), |sigma| sigma.learn(sample))
    }

    /// The kernel with bandwidths that `gamma` and `sigma` find; `None` for `precomputed`.
    pub(super) fn learn_by(
        &self,
        learn_gamma: impl FnOnce(Gamma) -> Result<f64>,
        learn_sigma: impl FnOnce(Sigma) -> Result<f64>,
    ) -> Result<Option<Standard>> {
        let bad = |name, expected, got| Err(DepthError::Setting { name, expected, got });
        Ok(Some(match *self {
            Self::Gaussian { gamma } => Standard::Gaussian { gamma: learn_gamma(gamma)? },
            Self::Laplacian { sigma } => Standard::Laplacian { sigma: learn_sigma(sigma)? },
            Self::Imq { c, beta } => {
                positive("c", c)?;
                if !(beta < 0.0 && beta.is_finite()) {
                    return bad("beta", "a negative, finite number", beta);
                }
                let (own, inner) = (c.powf(2.0 * beta), c * c);
                if !(own > 0.0 && own.is_finite() && inner > 0.0 && inner.is_finite()) {
                    return bad("c", "such that c^2 and c^(2 beta) are positive, finite numbers", c);
                }
                Standard::Imq { c, beta }
            }
            Self::Linear => Standard::Linear,
            Self::Polynomial { gamma, degree, coef0 } => {
                if degree == 0 {
                    return bad("degree", "at least 1", 0.0);
                }
                if !(coef0 >= 0.0 && coef0.is_finite()) {
                    return bad("coef0", "a finite number, not negative", coef0);
                }
                Standard::Polynomial { gamma: learn_gamma(gamma)?, degree, coef0 }
            }
            Self::Precomputed => return Ok(None),
        }))
    }
}

/// A kernel of this crate with the values of its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum Standard {
    /// $e^{-\gamma \|x - z\|^2}$.
    Gaussian {
        /// The inverse squared width.
        gamma: f64,
    },
    /// $e^{-\|x - z\|_1 / \sigma}$.
    Laplacian {
        /// The width.
        sigma: f64,
    },
    /// $(c^2 + \|x - z\|^2)^\beta$.
    Imq {
        /// The width.
        c: f64,
        /// The exponent.
        beta: f64,
    },
    /// $\langle x, z \rangle$.
    Linear,
    /// $(\gamma \langle x, z \rangle + \text{coef0})^\text{degree}$.
    Polynomial {
        /// The scale of the product.
        gamma: f64,
        /// The power.
        degree: u32,
        /// The constant.
        coef0: f64,
    },
}

/// The sum of a term of each coordinate, the same bits as in a block.
fn sum(x: &[f64], z: &[f64], term: impl Fn(f64, f64, f64) -> f64) -> f64 {
    x.iter().zip(z).fold(0.0, |sum, (x, z)| term(sum, *x, *z))
}

/// $x^\text{degree}$ by squaring.
#[inline(always)]
fn power(mut x: f64, mut degree: u32) -> f64 {
    let mut result = 1.0;
    while degree > 0 {
        if degree & 1 == 1 {
            result *= x;
        }
        x *= x;
        degree >>= 1;
    }
    result
}

/// $\ln(1 + x)$ for $x \ge 0$.
#[inline(always)]
fn ln_above_one(x: f64) -> f64 {
    // 1 + x = 2^e (1 + m); the rounding error of 1 + x is added to first order.
    let y = 1.0 + x;
    let lost = if x < 1.0 { x - (y - 1.0) } else { 1.0 - (y - x) };
    let bits = y.to_bits();
    // The exponent as a number: written into the low bits of 2^52.
    let exponent = f64::from_bits((bits >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    exponent.mul_add(std::f64::consts::LN_2, ln_1p_unit(mantissa - 1.0)) + lost / y
}

impl Standard {
    /// Whether no value is negative.
    pub(crate) fn is_non_negative(&self) -> bool {
        match self {
            Self::Gaussian { .. } | Self::Laplacian { .. } | Self::Imq { .. } => true,
            Self::Linear => false,
            Self::Polynomial { degree, .. } => degree.is_multiple_of(2),
        }
    }

    /// Replaces distances or products by kernel values.
    pub(super) fn apply(&self, column: &mut [f64]) {
        let column = &mut *column;
        match *self {
            Self::Gaussian { gamma } => {
                vectorised!(column.iter_mut().for_each(|x| *x = exp_neg(-gamma * *x)));
            }
            Self::Laplacian { sigma } => {
                vectorised!(column.iter_mut().for_each(|x| *x = exp_neg(-*x / sigma)));
            }
            Self::Imq { c, beta } => {
                let (own, inner) = (c.powf(2.0 * beta), 1.0 / (c * c));
                if beta == -0.5 {
                    vectorised!(column.iter_mut().for_each(|x| *x = own / x.mul_add(inner, 1.0).sqrt()));
                } else {
                    vectorised!({
                        for x in column.iter_mut() {
                            *x = own * exp_neg(beta * ln_above_one(*x * inner));
                        }
                    });
                }
            }
            Self::Linear => {}
            Self::Polynomial { gamma, degree, coef0 } => {
                vectorised!(column.iter_mut().for_each(|x| *x = power(gamma.mul_add(*x, coef0), degree)));
            }
        }
    }
}

impl Kernel for Standard {
    fn value(&self, x: &[f64], z: &[f64]) -> f64 {
        let mut value = [match self {
            Self::Gaussian { .. } | Self::Imq { .. } => sum(x, z, squared_difference),
            Self::Laplacian { .. } => sum(x, z, absolute_difference),
            Self::Linear | Self::Polynomial { .. } => sum(x, z, coordinate_product),
        }];
        self.apply(&mut value);
        value[0]
    }

    fn gradient(&self, x: &[f64], z: &[f64], scale: f64, out: &mut [f64]) {
        let along = |factor: f64, out: &mut [f64]| {
            for ((o, x), z) in out.iter_mut().zip(x).zip(z) {
                *o += scale * factor * (x - z);
            }
        };
        match *self {
            Self::Gaussian { gamma } => along(2.0 * gamma * self.value(x, z), out),
            Self::Imq { c, beta } => {
                let inner = c.mul_add(c, sum(x, z, squared_difference));
                along(-2.0 * beta * self.value(x, z) / inner, out);
            }
            Self::Laplacian { sigma } => {
                let factor = scale * self.value(x, z) / sigma;
                for ((o, x), z) in out.iter_mut().zip(x).zip(z) {
                    // Not differentiable at x = z: take 0.
                    *o += factor * if x == z { 0.0 } else { (x - z).signum() };
                }
            }
            Self::Linear => axpy(scale, x, out),
            Self::Polynomial { gamma, degree, coef0 } => {
                let slope = f64::from(degree) * gamma * power(gamma.mul_add(dot(x, z), coef0), degree - 1);
                axpy(scale * slope, x, out);
            }
        }
    }

    fn diagonal(&self, x: &[f64]) -> f64 {
        match *self {
            Self::Gaussian { .. } | Self::Laplacian { .. } => 1.0,
            Self::Imq { c, beta } => c.powf(2.0 * beta),
            Self::Linear | Self::Polynomial { .. } => self.value(x, x),
        }
    }

    fn block(&self, sample: &Points, queries: Rows<'_>, out: &mut Columns<'_>) {
        let apply = |column: &mut [f64]| self.apply(column);
        match self {
            Self::Gaussian { .. } | Self::Imq { .. } => sample.sums(queries, out, squared_difference, apply),
            Self::Laplacian { .. } => sample.sums(queries, out, absolute_difference, apply),
            Self::Linear | Self::Polynomial { .. } => sample.sums(queries, out, coordinate_product, apply),
        }
    }

    fn precision(&self, width: usize) -> f64 {
        // (K15): sums of `width` terms with one rounding each; t e^-t ≤ 0.37 limits their effect.
        let sum = width as f64 + 2.0;
        f64::EPSILON
            * match *self {
                Self::Gaussian { .. } | Self::Laplacian { .. } => 0.4 * sum + 2.0,
                Self::Imq { beta, .. } => -beta * sum + 0.4 * sum + 4.0,
                Self::Linear => sum,
                Self::Polynomial { degree, .. } => (sum + 4.0) * f64::from(degree),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::linalg::Matrix;

    const ALL: [Standard; 7] = [
        Standard::Gaussian { gamma: 0.7 },
        Standard::Laplacian { sigma: 1.3 },
        Standard::Imq { c: 0.8, beta: -0.5 },
        Standard::Imq { c: 2.0, beta: -1.7 },
        Standard::Linear,
        Standard::Polynomial { gamma: 0.3, degree: 3, coef0: 1.0 },
        Standard::Polynomial { gamma: 0.3, degree: 1, coef0: 0.0 },
    ];

    fn rows(n: usize, d: usize, phase: f64) -> Vec<f64> {
        (0..n * d).map(|i| 2.0 * (i as f64 * 0.37 + phase).sin()).collect()
    }

    /// The formulas, by the standard library.
    fn formula(kernel: Standard, x: &[f64], z: &[f64]) -> f64 {
        let r2: f64 = x.iter().zip(z).map(|(x, z)| (x - z).powi(2)).sum();
        let r1: f64 = x.iter().zip(z).map(|(x, z)| (x - z).abs()).sum();
        let xz: f64 = x.iter().zip(z).map(|(x, z)| x * z).sum();
        match kernel {
            Standard::Gaussian { gamma } => (-gamma * r2).exp(),
            Standard::Laplacian { sigma } => (-r1 / sigma).exp(),
            Standard::Imq { c, beta } => (c * c + r2).powf(beta),
            Standard::Linear => xz,
            Standard::Polynomial { gamma, degree, coef0 } => (gamma * xz + coef0).powi(degree.cast_signed()),
        }
    }

    #[test]
    fn blocks_and_values_are_the_formulas() {
        for d in [1, 2, 5, 33] {
            for n in [1, 15, 16, 17, 50] {
                let (x, z) = (rows(n, d, 0.1), rows(9, d, 2.0));
                let (x, z) = (Rows::new(&x, d).unwrap(), Rows::new(&z, d).unwrap());
                let points = Points::new(x);
                for kernel in ALL {
                    let mut block = Matrix::zeros(n, 10);
                    kernel.block(&points, z, &mut Columns::new(&mut block, 1, 9));
                    for i in 0..n {
                        for j in 0..9 {
                            let (x, z) = (x.row(i), z.row(j));
                            let (value, exact) = (kernel.value(x, z), formula(kernel, x, z));
                            let size = (kernel.diagonal(x) * kernel.diagonal(z)).sqrt();
                            let error = (value - exact).abs();
                            assert!(error <= 2.0 * kernel.precision(d) * size, "{kernel:?} {error:e}");
                            assert_eq!(value, block.at(i, j + 1), "{kernel:?} {n} {d}");
                            assert_eq!(value, kernel.value(z, x));
                        }
                        let own = kernel.value(x.row(i), x.row(i));
                        assert!((own - kernel.diagonal(x.row(i))).abs() <= 1e-15 * own.max(1.0));
                    }
                }
            }
        }
    }

    #[test]
    fn gradients_match_differences() {
        let (x, z) = (rows(1, 4, 0.1), rows(1, 4, 2.0));
        for kernel in ALL {
            let mut gradient = vec![0.0; 4];
            kernel.gradient(&x, &z, 2.0, &mut gradient);
            for j in 0..4 {
                let at = |h: f64| {
                    let mut z = z.clone();
                    z[j] += h;
                    kernel.value(&x, &z)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 1e-5;
                assert!((gradient[j] - slope).abs() < 1e-8, "{kernel:?}: {} {slope}", gradient[j]);
            }
        }
    }

    #[test]
    fn extremes_stay_in_range() {
        for far in [1e8, 1e100] {
            for kernel in &ALL[..4] {
                let value = kernel.value(&[far, -far], &[-far, far]);
                assert!((0.0..1e-5).contains(&value), "{kernel:?} {value:e}");
            }
        }
        for x in [0.0, 1e-300, 1e-20, 1e-8, 0.3, 1.0, 1.5, 1e8, 1e200] {
            let exact = f64::ln_1p(x);
            assert!((ln_above_one(x) - exact).abs() <= 1e-15 * exact, "{x:e}: {}", ln_above_one(x));
        }
    }
}
