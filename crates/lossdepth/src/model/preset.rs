//! Presets: sets of settings with a name.

use super::method::Method;
use super::value::Value;
use crate::data::Scale;
use crate::error::{DepthError, Result, named};
use std::f64::consts::LN_2;

/// A set of settings: those of the text or of the scripts of *Data Depth as a Risk*, or the recommended ones.
///
/// | | [`Paper`](Self::Paper) | [`PaperCode`](Self::PaperCode) |
/// |---|---|---|
/// | `logistic` | `reg` 1, the intercept penalised: the text's features $(x, 1)$ | `reg` $= \frac{n}{2 (n+1) \ln 2}$ (`C = 1 / n`, balanced classes), a free intercept, a sample term divided by $n$ twice |
/// | `hinge` | `reg` 1, the intercept penalised | |
/// | `svm` | `reg` 1, `gamma` `auto`, no intercept | `reg` $= \frac{1}{2 (n+1)}$ (`C = 1`, balanced classes), `gamma` `auto`, a free intercept |
/// | `gp` | `gamma` `quartile` | the same |
/// | `forest` | depth 2, $\sqrt d$ columns a split, the average of all trees | the same, a sample term divided by $n$ twice |
/// | `mlp` | one layer of 100 units, `reg` 0.01 | `reg` $= \frac{0.005 \, n}{\min(200, 2n) \ln 2}$ (`alpha` $= 0.01 n$, which scikit-learn divides by twice the batch) |
/// | `halfspace` | no settings | |
///
/// Columns are taken as they are (`scale` `none`). Penalties are in the units of this crate: $\text{risk} + \text{reg} \|w\|^2$, logistic losses in bits. A preset cannot
/// reproduce random numbers: the forests and networks of the scripts are unseeded, their networks are stopped early, and
/// the average of all trees replaces a thousand of them here.
///
/// ```
/// use lossdepth::{Method, Preset, Settings};
/// let settings = Settings::with(Method::Svm, Preset::PaperCode.values(Method::Svm, 99.0)?)?;
/// assert_eq!(settings.reg, 0.005);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// What the text says.
    Paper,
    /// What the scripts behind the printed tables do.
    PaperCode,
    /// Settings to start with on unknown data.
    ///
    /// `scale` is `mcd`, since units are arbitrary and the sample may hold outliers; the width of kernels is the distance
    /// from a typical row to its neighbours. `svm` is the method to start with: its results on data that it was not
    /// chosen on are in the documentation of `lossdepth reproduce`. The settings of the other methods are the best of a
    /// few on the data sets of the paper; those of `exponential` were not compared with any.
    Recommended,
}

named!(Preset, "preset", Paper => "paper", PaperCode => "paper-code", Recommended => "recommended");

impl Preset {
    /// Whether its settings are those of the paper, to be taken as they are.
    pub fn is_of_paper(self) -> bool {
        self != Self::Recommended
    }

    /// The settings of a method that the preset fixes, for a sample of `n` observations (see
    /// [`Reference::observations`](crate::Reference::observations)); all others keep their defaults.
    ///
    /// # Errors
    /// The preset does not have the method, or `n` is not positive.
    pub fn values(self, method: Method, n: f64) -> Result<Vec<(&'static str, Value)>> {
        crate::error::positive("n", n)?;
        self.known(method, n).ok_or_else(|| {
            let has = Method::ALL.into_iter().filter(|method| self.known(*method, n).is_some());
            DepthError::Settings(format!(
                "preset `{self}` has no method `{method}`; it has {}",
                has.map(Method::name).collect::<Vec<_>>().join(", ")
            ))
        })
    }

    fn known(self, method: Method, n: f64) -> Option<Vec<(&'static str, Value)>> {
        let (number, count) = (Value::Number, Value::Count);
        let text = |name: &str| Value::Text(name.to_owned());
        if self == Self::Recommended {
            return Some(method.recommended());
        }
        let code = self == Self::PaperCode;
        let reported = ("value", text(if code { "paper-code" } else { "risk" }));
        let mut values = match method {
            Method::Logistic if code => {
                vec![("reg", number(0.5 * n / ((n + 1.0) * LN_2))), ("intercept", text("free")), reported]
            }
            Method::Logistic => vec![("reg", number(1.0)), ("intercept", text("penalised")), reported],
            Method::Hinge if !code => vec![("reg", number(1.0)), ("intercept", text("penalised"))],
            Method::Svm => {
                let (reg, intercept) = if code { (0.5 / (n + 1.0), "free") } else { (1.0, "none") };
                vec![
                    ("reg", number(reg)),
                    ("kernel", text("gaussian")),
                    ("gamma", text("auto")),
                    ("intercept", text(intercept)),
                ]
            }
            Method::Gp => vec![("kernel", text("gaussian")), ("gamma", text("quartile"))],
            Method::Forest => {
                vec![("max_depth", count(2)), ("max_features", text("sqrt")), ("loss", text("log")), reported]
            }
            Method::Mlp => {
                let reg = if code { 0.005 * n / (f64::min(200.0, 2.0 * n) * LN_2) } else { 0.01 };
                vec![("hidden", Value::Counts(vec![100])), ("reg", number(reg))]
            }
            Method::Halfspace if !code => Vec::new(),
            _ => return None,
        };
        values.push(("scale", text(Scale::None.name())));
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Settings;

    #[test]
    fn every_preset_is_made_of_settings_that_the_method_has() {
        for preset in Preset::ALL {
            for method in Method::ALL {
                if let Ok(values) = preset.values(method, 10.0) {
                    Settings::with(method, values).unwrap();
                }
            }
        }
        let error = Preset::PaperCode.values(Method::Klr, 10.0).unwrap_err();
        let expected = "preset `paper-code` has no method `klr`; it has logistic, svm, gp, forest, mlp";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn explicit_settings_override_the_preset() {
        let values = Preset::PaperCode.values(Method::Logistic, 10.0).unwrap();
        let settings =
            Settings::with(Method::Logistic, values.into_iter().chain([("reg", Value::Number(3.0))]))
                .unwrap();
        assert_eq!((settings.reg, settings.value), (3.0, crate::Reported::PaperCode));
    }
}
