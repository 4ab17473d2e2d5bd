//! Settings by name: what the command line, Python and model files speak of.

use super::method::Method;
use crate::error::{DepthError, Result};
use crate::hypothesis::Intercept;
use crate::hypothesis::forest::{Forest, ForestLoss, ForestValue, MaxFeatures};
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
        Self::new("max_depth", Kind::Count, "How many cuts a tree makes around a row"),
        Self::new(
            "max_features",
            Kind::NumberOr(&MaxFeatures::NAMES),
            "How many columns a split looks at: a name, a whole number, or a fraction with a decimal point",
        ),
        Self::new("loss", Kind::Choice(&ForestLoss::NAMES), "The loss of the averaged probabilities"),
        Self::new(
            "value",
            Kind::Choice(&ForestValue::NAMES),
            "Which number a forest gives, the risk or what the paper's scripts print",
        ),
        Self::new("trees", Kind::Count, "How many random trees to grow; 0 for the average of all there are"),
        Self::new("rotations", Kind::Count, "How many random frames to grow trees in; 0 for none"),
        Self::new("max_boxes", Kind::Count, "How many boxes of a level are cut further, the likeliest"),
        Self::new("seed", Kind::Count, "Where random numbers come from"),
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
        // Whether a number is whole is part of what some settings mean.
        let any_number = || text.parse().map(Value::Count).or_else(|_| number());
        match self.kind {
            Kind::Number | Kind::OptionalNumber => number().map_err(|_| self.unfit("a number", text)),
            Kind::Count => text.parse().map(Value::Count).map_err(|_| self.unfit("a whole number", text)),
            Kind::Choice(names) if names.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::NumberOr(names) if names.contains(&text) => Ok(Value::Text(text.to_owned())),
            Kind::Choice(names) => Err(self.unknown(names.join(", "), text)),
            Kind::NumberOr(names) => {
                any_number().map_err(|_| self.unknown(format!("{} or a number", names.join(", ")), text))
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

    fn max_features(&self, value: &Value) -> Result<MaxFeatures> {
        match value {
            Value::Count(_) => self.count(value).map(MaxFeatures::Count),
            Value::Number(fraction) => Ok(MaxFeatures::Fraction(*fraction)),
            other => self.named(other),
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
    /// How many cuts a tree makes around a row.
    pub max_depth: usize,
    /// How many columns a split looks at.
    pub max_features: MaxFeatures,
    /// The loss of a forest's averaged probabilities.
    pub loss: ForestLoss,
    /// Which number is the depth of a forest.
    pub value: ForestValue,
    /// How many random trees; 0 for all there are.
    pub trees: usize,
    /// How many random frames; 0 for none.
    pub rotations: usize,
    /// How many boxes of a level are cut further.
    pub max_boxes: usize,
    /// Where random numbers come from.
    pub seed: u64,
    /// The largest proven error to accept.
    pub tol: f64,
    /// How many iterations a query gets.
    pub max_iter: usize,
}

impl Settings {
    /// The defaults of a method.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            reg: 1.0,
            variant: Variant::Risk,
            intercept: Intercept::Free,
            scale: Scale::None,
            support_fraction: 0.75,
            max_depth: 2,
            max_features: MaxFeatures::Sqrt,
            loss: ForestLoss::Log,
            value: ForestValue::Risk,
            trees: 0,
            rotations: 0,
            max_boxes: Forest::MAX_BOXES,
            seed: 0,
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
        for (name, value) in values {
            let setting = method.setting(name)?;
            match setting.name {
                "variant" => variant = Some(setting.text(&value)?.to_owned()),
                "radius" => radius = setting.optional_number(&value)?,
                _ => settings.set(&setting, &value)?,
            }
        }
        if variant.is_some() || radius.is_some() {
            let name = variant.as_deref().unwrap_or(settings.variant.name());
            settings.variant = Variant::parse(name, radius)?;
        }
        Ok(settings)
    }

    /// The settings that the method has, with their values.
    pub fn values(&self) -> Vec<(&'static str, Value)> {
        self.method.settings().iter().map(|&name| (name, self.get(name))).collect()
    }

    fn set(&mut self, setting: &Setting, value: &Value) -> Result<()> {
        match setting.name {
            "reg" => self.reg = setting.number(value)?,
            "intercept" => self.intercept = setting.named(value)?,
            "scale" => self.scale = setting.named(value)?,
            "support_fraction" => self.support_fraction = setting.number(value)?,
            "max_depth" => self.max_depth = setting.count(value)?,
            "max_features" => self.max_features = setting.max_features(value)?,
            "loss" => self.loss = setting.named(value)?,
            "value" => self.value = setting.named(value)?,
            "trees" => self.trees = setting.count(value)?,
            "rotations" => self.rotations = setting.count(value)?,
            "max_boxes" => self.max_boxes = setting.count(value)?,
            "seed" => self.seed = setting.count(value)? as u64,
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
            "seed" => Value::Count(self.seed),
            "tol" => Value::Number(self.tol),
            "max_iter" => Value::Count(self.max_iter as u64),
            other => unreachable!("`{other}` is in no table of settings"),
        }
    }
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
    fn the_radius_may_come_before_the_variant() {
        let values = [("radius", Value::Number(2.0)), ("variant", Value::Text("constrained".into()))];
        let settings = Settings::with(Method::Logistic, values).unwrap();
        assert_eq!(settings.variant, Variant::Constrained { radius: 2.0 });
        assert!(Settings::with(Method::Logistic, [("radius", Value::Number(2.0))]).is_err());
    }
}
