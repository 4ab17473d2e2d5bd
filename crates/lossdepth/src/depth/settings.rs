//! Settings by name: what the command line, Python and model files speak of.

use super::method::Method;
use crate::error::{DepthError, Result};
use crate::hypothesis::Intercept;
use crate::hypothesis::kernel::{Gamma, KernelChoice, Sigma};
use crate::penalty::Variant;
use crate::reference::Scale;
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::str::FromStr;

/// What is known about a setting but its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The name in Rust and Python; on the command line `-` takes the place of `_`.
    pub name: &'static str,
    /// What its values look like.
    pub kind: Kind,
    /// What it is, in a line.
    pub meaning: &'static str,
}

/// What the values of a setting look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number,
    /// A number, or nothing.
    OptionalNumber,
    /// A number, or one of a few names.
    NumberOr(&'static [&'static str]),
    /// A whole number, not negative.
    Count,
    /// One of a few names.
    Choice(&'static [&'static str]),
}

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// Any number.
    Number(f64),
    /// A name.
    Text(String),
    /// Nothing.
    None,
}

impl Setting {
    /// Every setting of any method.
    pub const ALL: &'static [Self] = &[
        Self::new("reg", Kind::Number, "The weight of the penalty ‖w‖², above 0"),
        Self::new("variant", Kind::Choice(&Variant::NAMES), "Which number is the depth"),
        Self::new("radius", Kind::OptionalNumber, "The largest ‖w‖, for the variant `constrained`"),
        Self::new("intercept", Kind::Choice(&Intercept::NAMES), "What the intercept may be"),
        Self::new(
            "scale",
            Kind::Choice(&Scale::NAMES),
            "How the columns are scaled, learned on the reference",
        ),
        Self::new(
            "support_fraction",
            Kind::Number,
            "The share of the rows that the scaling `mcd` trusts, 0.5 to 1",
        ),
        Self::new("kernel", Kind::Choice(&KernelChoice::NAMES), "The kernel"),
        Self::new(
            "gamma",
            Kind::NumberOr(&["auto", "quartile"]),
            "The γ of the kernels `gaussian` and `polynomial`: auto is 1 / median squared distance, quartile is 0.5 / \
             first quartile of the distances, squared",
        ),
        Self::new(
            "sigma",
            Kind::NumberOr(&["auto"]),
            "The width of the kernel `laplacian`: auto is the median distance",
        ),
        Self::new("c", Kind::Number, "The width of the kernel `imq`, above 0"),
        Self::new("beta", Kind::Number, "The exponent of the kernel `imq`, below 0"),
        Self::new("degree", Kind::Count, "The power of the kernel `polynomial`"),
        Self::new("coef0", Kind::Number, "The constant of the kernel `polynomial`, not negative"),
        Self::new(
            "memory",
            Kind::OptionalNumber,
            "How many bytes the kernel values of the reference may take, half of the machine's by default; beyond that \
             they are computed as needed",
        ),
        Self::new("tol", Kind::Number, "The largest proven error to accept"),
        Self::new("max_iter", Kind::Count, "How many iterations a row gets"),
    ];

    const fn new(name: &'static str, kind: Kind, meaning: &'static str) -> Self {
        Self { name, kind, meaning }
    }

    /// Reads a value as it is written on the command line.
    ///
    /// # Errors
    /// The text is not of the setting's [`Kind`].
    pub fn parse(&self, text: &str) -> Result<Value> {
        let number = || text.parse().map(Value::Number);
        match self.kind {
            Kind::Number | Kind::OptionalNumber => number().map_err(|_| self.unfit("a number", text)),
            Kind::Count => text.parse().map(Value::Count).map_err(|_| self.unfit("a whole number", text)),
            Kind::Choice(names) if names.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::NumberOr(names) if names.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Choice(names) => Err(self.unknown(names.join(", "), text)),
            Kind::NumberOr(names) => {
                number().map_err(|_| self.unknown(format!("{} or a number", names.join(", ")), text))
            }
        }
    }

    fn unfit(&self, expected: &str, got: &str) -> DepthError {
        DepthError::Settings(format!("`{}` must be {expected}, got `{got}`", self.name))
    }

    fn unknown(&self, expected: String, got: &str) -> DepthError {
        DepthError::Name { name: self.name, expected, got: got.to_owned() }
    }

    fn number(&self, value: &Value) -> Result<f64> {
        match value {
            Value::Number(number) => Ok(*number),
            Value::Count(count) => Ok(*count as f64),
            other => Err(self.unfit("a number", &other.to_string())),
        }
    }

    fn optional_number(&self, value: &Value) -> Result<Option<f64>> {
        if *value == Value::None { Ok(None) } else { self.number(value).map(Some) }
    }

    fn count(&self, value: &Value) -> Result<usize> {
        match value {
            Value::Count(count) => Ok(usize::try_from(*count).unwrap_or(usize::MAX)),
            other => Err(self.unfit("a whole number", &other.to_string())),
        }
    }

    fn text<'a>(&self, value: &'a Value) -> Result<&'a str> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(self.unfit("a name", &other.to_string())),
        }
    }

    fn named<T: FromStr<Err = DepthError>>(&self, value: &Value) -> Result<T> {
        self.text(value)?.parse()
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(x) if *x != 0.0 && !(1e-3..1e7).contains(&x.abs()) => write!(f, "{x:e}"),
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(text) => f.write_str(text),
            Self::None => f.write_str("none"),
        }
    }
}

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
    /// How many bytes kernel values may take; 4 GiB if not said.
    pub memory: Option<f64>,
    /// The largest proven error to accept.
    pub tol: f64,
    /// How many iterations a query gets.
    pub max_iter: usize,
}

/// Settings that belong to a kernel.
const OF_KERNELS: [&str; 6] = ["gamma", "sigma", "c", "beta", "degree", "coef0"];

impl Settings {
    /// The defaults of a method.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            reg: 1.0,
            variant: Variant::Risk,
            intercept: if method == Method::Svm { Intercept::None } else { Intercept::Free },
            scale: Scale::None,
            support_fraction: 0.75,
            kernel: KernelChoice::default(),
            memory: None,
            tol: 1e-6,
            max_iter: 1000,
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
                if !having.iter().any(same) && *value != Value::None {
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
            "memory" => self.memory = setting.optional_number(value)?,
            "tol" => self.tol = setting.number(value)?,
            "max_iter" => self.max_iter = setting.count(value)?,
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
            "memory" => self.memory.map_or(Value::None, Value::Number),
            name if OF_KERNELS.contains(&name) => kernel_value(&self.kernel, name).unwrap_or(Value::None),
            "tol" => Value::Number(self.tol),
            "max_iter" => Value::Count(self.max_iter as u64),
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
    fn the_radius_may_come_before_the_variant() {
        let values = [("radius", Value::Number(2.0)), ("variant", Value::Text("constrained".into()))];
        let settings = Settings::with(Method::Logistic, values).unwrap();
        assert_eq!(settings.variant, Variant::Constrained { radius: 2.0 });
        assert!(Settings::with(Method::Logistic, [("radius", Value::Number(2.0))]).is_err());
    }
}
