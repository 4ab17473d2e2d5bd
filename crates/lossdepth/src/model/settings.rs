//! Settings by name: what the command line, Python and model files speak of.

use super::method::Method;
use super::setting::{Setting, Value};
use crate::data::Scale;
use crate::error::{DepthError, Result};
use crate::kernel::{Gamma, KernelChoice, Sigma};
use crate::methods::forest::{Forest, ForestLoss, MaxFeatures};
use crate::methods::gp::Probabilities;
use crate::problem::Intercept;
use crate::problem::{Reported, Variant};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// A method with all its settings.
///
/// ```
/// use lossdepth::{Method, Reference, Settings};
/// let settings = Settings { reg: 0.01, ..Settings::new(Method::Logistic) };
/// let model = settings.fit(&Reference::new(&[[0.0], [1.0], [2.0]])?)?;
/// assert_eq!(model.width(), 1);
/// # Ok::<(), lossdepth::DepthError>(())
/// ```
///
/// A method looks only at the settings that it [has](Method::settings), and only those are serialised.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which method.
    pub method: Method,
    /// The weight of the penalty.
    pub reg: f64,
    /// Which number is the depth.
    pub variant: Variant,
    /// What the intercept may be.
    pub intercept: Intercept,
    /// How features are scaled.
    pub scale: Scale,
    /// The share of the rows that the scaling `mcd` trusts.
    pub support_fraction: f64,
    /// The kernel, with its own settings.
    pub kernel: KernelChoice,
    /// Which probabilities the Gaussian process depth takes the loss of.
    pub probabilities: Probabilities,
    /// How many bytes kernel values may take; 4 GiB if not said.
    pub memory: Option<f64>,
    /// How many cuts a tree makes around a row.
    pub max_depth: usize,
    /// How many columns a split looks at.
    pub max_features: MaxFeatures,
    /// The loss of a forest's averaged probabilities.
    pub loss: ForestLoss,
    /// Whether the risk is reported or what the paper's scripts print.
    pub value: Reported,
    /// How many random trees; 0 for all there are.
    pub trees: usize,
    /// How many random frames; 0 for none.
    pub rotations: usize,
    /// How many boxes of a level are cut further.
    pub max_boxes: usize,
    /// How many units each hidden layer of a network has.
    pub hidden: Vec<usize>,
    /// How often a network is trained; the best counts.
    pub restarts: usize,
    /// Where random numbers come from.
    pub seed: u64,
    /// The largest proven error to accept; for networks, see [`Mlp::tol`](crate::methods::Mlp::tol).
    pub tol: f64,
    /// How many iterations a query gets.
    pub max_iter: usize,
    /// How much work a query gets, in millions of multiplications.
    pub budget: usize,
}

/// Settings that belong to a kernel.
const OF_KERNELS: [&str; 6] = ["gamma", "sigma", "c", "beta", "degree", "coef0"];

impl Settings {
    /// The defaults of a method.
    pub fn new(method: Method) -> Self {
        let (reg, tol) = match method {
            Method::Mlp => (0.01, 1e-5),
            _ => (1.0, 1e-6),
        };
        Self {
            method,
            reg,
            variant: Variant::Risk,
            intercept: if method.settings().contains(&"kernel") { Intercept::None } else { Intercept::Free },
            scale: Scale::None,
            support_fraction: 0.75,
            kernel: match method {
                Method::Gp => KernelChoice::Gaussian { gamma: Gamma::Quartile },
                _ => KernelChoice::default(),
            },
            probabilities: Probabilities::Averaged,
            memory: None,
            max_depth: 2,
            max_features: MaxFeatures::Sqrt,
            loss: ForestLoss::Log,
            value: Reported::Risk,
            trees: 0,
            rotations: 0,
            max_boxes: Forest::MAX_BOXES,
            hidden: vec![100],
            restarts: 1,
            seed: 0,
            tol,
            max_iter: 1000,
            budget: 100,
        }
    }

    /// The defaults of a method, and what is said otherwise, in any order.
    ///
    /// ```
    /// use lossdepth::{Method, Settings, depth::Value};
    /// let settings = Settings::with(Method::Hinge, [("reg", Value::Number(0.1))])?;
    /// assert_eq!(settings.reg, 0.1);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// The method has no such setting, or the setting no such value.
    pub fn with<'a>(method: Method, values: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let mut settings = Self::new(method);
        // The radius is part of the variant, whichever comes first.
        let (mut variant, mut radius) = (None, None);
        // So are some settings of the kernel.
        let (mut kernel, mut of_kernel) = (None, Vec::new());
        for (name, value) in values {
            let setting = method.setting(name)?;
            match setting.name {
                "variant" => variant = Some(setting.text(&value)?.to_owned()),
                "radius" => radius = setting.optional_number(&value)?,
                "kernel" => kernel = Some(setting.text(&value)?.to_owned()),
                name if OF_KERNELS.contains(&name) => of_kernel.push((setting, value)),
                _ => settings.set(&setting, &value)?,
            }
        }
        if variant.is_some() || radius.is_some() {
            let name = variant.as_deref().unwrap_or(settings.variant.name());
            if name == "constrained" && method.setting("radius").is_err() {
                return Err(DepthError::Settings(format!("method `{method}` has no variant `constrained`")));
            }
            settings.variant = Variant::parse(name, radius)?;
        }
        if let Some(name) = kernel.filter(|name| name != settings.kernel.name()) {
            settings.kernel = KernelChoice::parse(&name)?;
        }
        for (setting, value) in of_kernel {
            settings.set_kernel(&setting, &value)?;
        }
        Ok(settings)
    }

    /// The settings that the method has, with their values; those of other kernels than the one chosen are left out.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        let applies = |name: &&str| !OF_KERNELS.contains(name) || kernel_value(&self.kernel, name).is_some();
        let names = self.method.settings().iter().copied().filter(applies);
        names.map(|name| (name, self.get(name))).collect()
    }

    /// Every setting that a method has with its default, also those of other kernels than the default one.
    pub fn defaults(method: Method) -> Vec<(&'static str, Value)> {
        let settings = Self::new(method);
        let value = |name: &'static str| {
            let others = KernelChoice::NAMES.iter().filter_map(|name| KernelChoice::parse(name).ok());
            let of_kernel =
                || [settings.kernel].into_iter().chain(others).find_map(|kernel| kernel_value(&kernel, name));
            if OF_KERNELS.contains(&name) { of_kernel().unwrap_or(Value::None) } else { settings.get(name) }
        };
        method.settings().iter().map(|&name| (name, value(name))).collect()
    }

    /// Sets what belongs to the kernel; the default of another kernel's setting may be said too, anything else not.
    fn set_kernel(&mut self, setting: &Setting, value: &Value) -> Result<()> {
        let number = || setting.number(value);
        match (&mut self.kernel, setting.name) {
            (KernelChoice::Gaussian { gamma } | KernelChoice::Polynomial { gamma, .. }, "gamma") => {
                *gamma = match value {
                    Value::Text(name) => name.parse()?,
                    _ => Gamma::Value(number()?),
                };
            }
            (KernelChoice::Laplacian { sigma }, "sigma") => {
                *sigma = match value {
                    Value::Text(name) => name.parse()?,
                    _ => Sigma::Value(number()?),
                };
            }
            (KernelChoice::Imq { c, .. }, "c") => *c = number()?,
            (KernelChoice::Imq { beta, .. }, "beta") => *beta = number()?,
            (KernelChoice::Polynomial { degree, .. }, "degree") => {
                *degree = u32::try_from(setting.count(value)?).unwrap_or(u32::MAX);
            }
            (KernelChoice::Polynomial { coef0, .. }, "coef0") => *coef0 = number()?,
            (kernel, name) => {
                let known = KernelChoice::NAMES.iter().filter_map(|name| KernelChoice::parse(name).ok());
                let having: Vec<KernelChoice> = known.filter(|k| kernel_value(k, name).is_some()).collect();
                let same = |k: &KernelChoice| {
                    kernel_value(k, name).is_some_and(|v| v.to_string() == value.to_string())
                };
                let default = Self::new(self.method).kernel;
                if !having.iter().chain([&default]).any(same) && *value != Value::None {
                    let names: Vec<&str> = having.iter().map(KernelChoice::name).collect();
                    return Err(DepthError::Settings(format!(
                        "`{name}` goes with kernel `{}`, not with `{}`",
                        names.join("` or `"),
                        kernel.name()
                    )));
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, setting: &Setting, value: &Value) -> Result<()> {
        match setting.name {
            "reg" => self.reg = setting.number(value)?,
            "intercept" => self.intercept = setting.named(value)?,
            "scale" => self.scale = setting.named(value)?,
            "support_fraction" => self.support_fraction = setting.number(value)?,
            "probabilities" => self.probabilities = setting.named(value)?,
            "memory" => self.memory = setting.optional_number(value)?,
            "max_depth" => self.max_depth = setting.count(value)?,
            "max_features" => self.max_features = setting.max_features(value)?,
            "loss" => self.loss = setting.named(value)?,
            "value" => self.value = setting.named(value)?,
            "trees" => self.trees = setting.count(value)?,
            "rotations" => self.rotations = setting.count(value)?,
            "max_boxes" => self.max_boxes = setting.count(value)?,
            "hidden" => self.hidden = setting.counts(value)?,
            "restarts" => self.restarts = setting.count(value)?,
            "seed" => self.seed = setting.count(value)? as u64,
            "tol" => self.tol = setting.number(value)?,
            "max_iter" => self.max_iter = setting.count(value)?,
            "budget" => self.budget = setting.count(value)?,
            other => unreachable!("`{other}` is in no table of settings"),
        }
        Ok(())
    }

    fn get(&self, name: &str) -> Value {
        match name {
            "reg" => Value::Number(self.reg),
            "variant" => Value::Text(self.variant.name().to_owned()),
            "radius" => match self.variant {
                Variant::Constrained { radius } => Value::Number(radius),
                _ => Value::None,
            },
            "intercept" => Value::Text(self.intercept.name().to_owned()),
            "scale" => Value::Text(self.scale.name().to_owned()),
            "support_fraction" => Value::Number(self.support_fraction),
            "kernel" => Value::Text(self.kernel.name().to_owned()),
            "probabilities" => Value::Text(self.probabilities.name().to_owned()),
            "memory" => self.memory.map_or(Value::None, Value::Number),
            name if OF_KERNELS.contains(&name) => kernel_value(&self.kernel, name).unwrap_or(Value::None),
            "max_depth" => Value::Count(self.max_depth as u64),
            "max_features" => match self.max_features {
                MaxFeatures::Count(count) => Value::Count(count as u64),
                MaxFeatures::Fraction(fraction) => Value::Number(fraction),
                name => Value::Text(name.to_string()),
            },
            "loss" => Value::Text(self.loss.name().to_owned()),
            "value" => Value::Text(self.value.name().to_owned()),
            "trees" => Value::Count(self.trees as u64),
            "rotations" => Value::Count(self.rotations as u64),
            "max_boxes" => Value::Count(self.max_boxes as u64),
            "hidden" => Value::Counts(self.hidden.iter().map(|&units| units as u64).collect()),
            "restarts" => Value::Count(self.restarts as u64),
            "seed" => Value::Count(self.seed),
            "tol" => Value::Number(self.tol),
            "max_iter" => Value::Count(self.max_iter as u64),
            "budget" => Value::Count(self.budget as u64),
            other => unreachable!("`{other}` is in no table of settings"),
        }
    }
}

/// A kernel's own setting, if it has one of this name.
fn kernel_value(kernel: &KernelChoice, name: &str) -> Option<Value> {
    Some(match (*kernel, name) {
        (KernelChoice::Gaussian { gamma } | KernelChoice::Polynomial { gamma, .. }, "gamma") => match gamma {
            Gamma::Value(x) => Value::Number(x),
            named => Value::Text(named.to_string()),
        },
        (KernelChoice::Laplacian { sigma }, "sigma") => match sigma {
            Sigma::Value(x) => Value::Number(x),
            named @ Sigma::Auto => Value::Text(named.to_string()),
        },
        (KernelChoice::Imq { c, .. }, "c") => Value::Number(c),
        (KernelChoice::Imq { beta, .. }, "beta") => Value::Number(beta),
        (KernelChoice::Polynomial { degree, .. }, "degree") => Value::Count(u64::from(degree)),
        (KernelChoice::Polynomial { coef0, .. }, "coef0") => Value::Number(coef0),
        _ => return None,
    })
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", self.method.name())?;
        for (name, value) in self.values().iter().filter(|(_, value)| *value != Value::None) {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut map = BTreeMap::<String, Value>::deserialize(deserializer)?;
        let Some(Value::Text(method)) = map.remove("method") else {
            return Err(D::Error::missing_field("method"));
        };
        let method = method.parse().map_err(D::Error::custom)?;
        Self::with(method, map.iter().map(|(name, value)| (name.as_str(), value.clone())))
            .map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_every_method_survives_the_way_through_text_and_json() {
        for method in Method::ALL {
            let settings = Settings::new(method);
            let read = settings.values().into_iter().map(|(name, value)| {
                let setting = method.setting(name).unwrap();
                (name, if value == Value::None { value } else { setting.parse(&value.to_string()).unwrap() })
            });
            assert_eq!(Settings::with(method, read).unwrap(), settings);
            let json = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
        }
    }

    #[test]
    fn a_whole_number_of_columns_is_no_fraction() {
        let read = |text: &str| {
            let setting = Method::Forest.setting("max_features").unwrap();
            let settings =
                Settings::with(Method::Forest, [("max_features", setting.parse(text).unwrap())]).unwrap();
            let json = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings, "{json}");
            settings.max_features
        };
        assert_eq!((read("1"), read("1.0")), (MaxFeatures::Count(1), MaxFeatures::Fraction(1.0)));
        assert_eq!((read("0.5"), read("all")), (MaxFeatures::Fraction(0.5), MaxFeatures::All));
    }

    #[test]
    fn what_a_method_does_not_have_it_refuses() {
        let error = Settings::with(Method::Hinge, [("trees", Value::Count(3))]).unwrap_err();
        assert!(
            error.to_string().starts_with("method `hinge` has no setting `trees`; it has reg, "),
            "{error}"
        );
        let error = Settings::with(Method::Hinge, [("reg", Value::Text("big".into()))]).unwrap_err();
        assert_eq!(error.to_string(), "`reg` must be a number, got `big`");
    }

    #[test]
    fn a_kernel_takes_its_own_settings_in_any_order() {
        let values = [("sigma", Value::Number(2.0)), ("kernel", Value::Text("laplacian".into()))];
        let settings = Settings::with(Method::Svm, values).unwrap();
        assert_eq!(settings.kernel, KernelChoice::Laplacian { sigma: Sigma::Value(2.0) });
        let json = serde_json::to_string(&settings).unwrap();
        assert!(json.contains("\"sigma\":2.0") && !json.contains("gamma"), "{json}");
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
        // Another kernel's setting: its default is harmless, anything else a mistake.
        assert!(Settings::with(Method::Svm, [("sigma", Value::Text("auto".into()))]).is_ok());
        let error = Settings::with(Method::Svm, [("sigma", Value::Number(2.0))]).unwrap_err();
        assert_eq!(error.to_string(), "`sigma` goes with kernel `laplacian`, not with `gaussian`");
    }

    #[test]
    fn several_counts_survive_the_way_through_text_and_json() {
        let settings = Settings { hidden: vec![50, 20], seed: 7, restarts: 3, ..Settings::new(Method::Mlp) };
        let json = serde_json::to_string(&settings).unwrap();
        assert!(json.contains("\"hidden\":[50,20]"), "{json}");
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
        let hidden = Method::Mlp.setting("hidden").unwrap();
        assert_eq!(hidden.parse("50,20").unwrap(), settings.get("hidden"));
        assert_eq!(Settings::with(Method::Mlp, [("hidden", Value::Count(9))]).unwrap().hidden, [9]);
        for wrong in ["", "5,", "5,-1", "1.5", "many"] {
            let error = hidden.parse(wrong).unwrap_err();
            assert!(error.to_string().starts_with("`hidden` must be whole numbers"), "{error}");
        }
    }

    #[test]
    fn the_radius_may_come_before_the_variant() {
        let values = [("radius", Value::Number(2.0)), ("variant", Value::Text("constrained".into()))];
        let settings = Settings::with(Method::Logistic, values).unwrap();
        assert_eq!(settings.variant, Variant::Constrained { radius: 2.0 });
        assert!(Settings::with(Method::Logistic, [("radius", Value::Number(2.0))]).is_err());
    }
}
