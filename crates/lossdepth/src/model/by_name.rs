//! Settings by name: how the command line, Python and model files read and write them.

use super::method::Method;
use super::setting::Setting;
use super::settings::Settings;
use super::value::{Typed, Value};
use crate::data::{ReferenceRows, Scale};
use crate::error::{DepthError, Result};
use crate::kernel::KernelChoice;
use crate::problem::{Reported, Variant};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

impl Settings {
    /// The defaults of a method.
    pub fn new(method: Method) -> Self {
        let mut settings = Self::common(method);
        method.set_defaults(&mut settings);
        settings
    }

    /// The defaults of a method with some settings changed, in any order.
    ///
    /// ```
    /// use lossdepth::{Method, Settings, model::Value};
    /// let settings = Settings::with(Method::Hinge, [("reg", Value::Number(0.1))])?;
    /// assert_eq!(settings.reg, 0.1);
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// The method has no such setting, or the setting no such value.
    pub fn with<'a>(method: Method, values: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let mut settings = Self::new(method);
        // Parts and what they are part of come in any order.
        let (mut variant, mut radius) = (None, None);
        let (mut kernel, mut parts) = (None, Vec::new());
        for (name, value) in values {
            let setting = method.setting(name)?;
            match setting.name {
                "variant" => variant = Some(setting.text(&value)?.to_owned()),
                "radius" => radius = Typed::read(&setting, &value)?,
                "kernel" => kernel = Some(setting.text(&value)?.to_owned()),
                _ if setting.part_of.is_some() => parts.push((setting, value)),
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
        for (setting, value) in parts {
            settings.set_kernel(&setting, &value)?;
        }
        // Kernel values are no columns: the default scaling does nothing to them, as parameters of other kernels do nothing.
        if settings.kernel == KernelChoice::Precomputed && settings.scale == Self::new(method).scale {
            settings.scale = Scale::None;
        }
        Ok(settings)
    }

    /// The settings that the method has, with their values; without those of kernels that are not chosen.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        let applies = |name: &&str| !is_of_kernel(name) || kernel_value(&self.kernel, name).is_some();
        let names = self.method.settings().iter().copied().filter(applies);
        names.map(|name| (name, self.get(name))).collect()
    }

    /// The [`values`](Self::values) that matter to the result: without limits of time and memory, and without what another
    /// setting makes irrelevant.
    pub fn relevant_values(&self) -> Vec<(&'static str, Value)> {
        let matters = |name: &str| match name {
            "max_iter" | "memory" => false,
            "reg" => !matches!(self.variant, Variant::Constrained { .. }),
            "support_fraction" => self.scale == Scale::Mcd,
            "value" => self.value != Reported::Risk,
            "resamples" => self.resamples > 0,
            "reference_rows" => self.method == Method::Auto || self.reference_rows != ReferenceRows::All,
            _ => true,
        };
        self.values().into_iter().filter(|(name, value)| matters(name) && *value != Value::None).collect()
    }

    /// Every setting that a method has with its default, also those of other kernels than the default one.
    pub fn defaults(method: Method) -> Vec<(&'static str, Value)> {
        let settings = Self::new(method);
        let value = |name: &'static str| {
            let of_kernel = || {
                [settings.kernel].into_iter().chain(kernels()).find_map(|kernel| kernel_value(&kernel, name))
            };
            if is_of_kernel(name) { of_kernel().unwrap_or(Value::None) } else { settings.get(name) }
        };
        method.settings().iter().map(|&name| (name, value(name))).collect()
    }

    /// Sets a parameter of the kernel. Of other kernels it accepts the defaults, which change nothing.
    fn set_kernel(&mut self, setting: &Setting, value: &Value) -> Result<()> {
        match (&mut self.kernel, setting.name) {
            (KernelChoice::Gaussian { gamma } | KernelChoice::Polynomial { gamma, .. }, "gamma") => {
                *gamma = Typed::read(setting, value)?;
            }
            (KernelChoice::Laplacian { sigma }, "sigma") => *sigma = Typed::read(setting, value)?,
            (KernelChoice::Imq { c, .. }, "c") => *c = Typed::read(setting, value)?,
            (KernelChoice::Imq { beta, .. }, "beta") => *beta = Typed::read(setting, value)?,
            (KernelChoice::Polynomial { degree, .. }, "degree") => *degree = Typed::read(setting, value)?,
            (KernelChoice::Polynomial { coef0, .. }, "coef0") => *coef0 = Typed::read(setting, value)?,
            (kernel, name) => {
                let having: Vec<KernelChoice> =
                    kernels().filter(|k| kernel_value(k, name).is_some()).collect();
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

    /// The value of a field, or of a part of one.
    fn get(&self, name: &str) -> Value {
        let part = || match (name, self.variant) {
            ("radius", Variant::Constrained { radius }) => Some(Value::Number(radius)),
            _ => kernel_value(&self.kernel, name),
        };
        self.field(name).or_else(part).unwrap_or(Value::None)
    }
}

/// The kernels that have a name, with their defaults.
fn kernels() -> impl Iterator<Item = KernelChoice> {
    KernelChoice::NAMES.iter().filter_map(|name| KernelChoice::parse(name).ok())
}

fn is_of_kernel(name: &str) -> bool {
    Setting::ALL.iter().any(|setting| setting.name == name && setting.part_of == Some("kernel"))
}

/// A parameter of the kernel, if it has one of this name.
fn kernel_value(kernel: &KernelChoice, name: &str) -> Option<Value> {
    Some(match (*kernel, name) {
        (KernelChoice::Gaussian { gamma } | KernelChoice::Polynomial { gamma, .. }, "gamma") => gamma.write(),
        (KernelChoice::Laplacian { sigma }, "sigma") => sigma.write(),
        (KernelChoice::Imq { c, .. }, "c") => c.write(),
        (KernelChoice::Imq { beta, .. }, "beta") => beta.write(),
        (KernelChoice::Polynomial { degree, .. }, "degree") => degree.write(),
        (KernelChoice::Polynomial { coef0, .. }, "coef0") => coef0.write(),
        _ => return None,
    })
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("method", self.method.name())?;
        // Files without them are those of versions that had only these values.
        let only = |name: &str| match name {
            "reference_rows" => self.method != Method::Auto && self.reference_rows == ReferenceRows::All,
            "resamples" => self.resamples == 0,
            _ => false,
        };
        let values = self.values();
        for (name, value) in values.iter().filter(|(name, value)| *value != Value::None && !only(name)) {
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
    use crate::kernel::Sigma;
    use crate::methods::forest::MaxFeatures;

    #[test]
    fn every_setting_of_every_method_is_read_back_from_text_and_json() {
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
    fn a_whole_number_of_columns_is_not_a_fraction() {
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
    fn a_setting_that_the_method_does_not_have_is_refused() {
        let error = Settings::with(Method::Hinge, [("trees", Value::Count(3))]).unwrap_err();
        assert!(
            error.to_string().starts_with("method `hinge` has no setting `trees`; it has reg, "),
            "{error}"
        );
        let error = Settings::with(Method::Hinge, [("reg", Value::Text("big".into()))]).unwrap_err();
        assert_eq!(error.to_string(), "`reg` must be a number, got `big`");
    }

    #[test]
    fn a_kernel_and_its_parameters_come_in_any_order() {
        let values = [("sigma", Value::Number(2.0)), ("kernel", Value::Text("laplacian".into()))];
        let settings = Settings::with(Method::Svm, values).unwrap();
        assert_eq!(settings.kernel, KernelChoice::Laplacian { sigma: Sigma::Value(2.0) });
        let json = serde_json::to_string(&settings).unwrap();
        assert!(json.contains("\"sigma\":2.0") && !json.contains("gamma"), "{json}");
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
        // A parameter of another kernel: its default changes nothing, another value is an error.
        assert!(Settings::with(Method::Svm, [("sigma", Value::Text("auto".into()))]).is_ok());
        let error = Settings::with(Method::Svm, [("sigma", Value::Number(2.0))]).unwrap_err();
        assert_eq!(error.to_string(), "`sigma` goes with kernel `laplacian`, not with `gaussian`");
    }

    #[test]
    fn several_counts_are_read_back_from_text_and_json() {
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
