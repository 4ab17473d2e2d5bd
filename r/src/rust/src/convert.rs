//! Between R's values and the library's: names, numbers, settings, the table of methods.

use crate::failure::{Answer, Failure, given};
use extendr_api::prelude::*;
use lossdepth::kernel::Gamma;
use lossdepth::model::{Kind, Setting, Value};
use lossdepth::{Method, Preset, Settings};

/// The largest number up to which all whole numbers are doubles.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// One text.
pub(crate) fn text(name: &str, value: &Robj) -> Answer<&'static str> {
    let one = if value.len() == 1 && value.is_string() { value.as_str() } else { None };
    one.filter(|_| !value.is_na()).ok_or_else(|| wrong(name, "a string", value))
}

/// Any number of texts; none for `NULL`.
pub(crate) fn texts(name: &str, value: &Robj) -> Answer<Vec<String>> {
    if value.is_null() {
        return Ok(Vec::new());
    }
    value.as_string_vector().ok_or_else(|| wrong(name, "strings", value))
}

/// Numbers; none for `NULL`.
pub(crate) fn numbers(name: &str, value: &Robj) -> Answer<Option<Vec<f64>>> {
    if value.is_null() {
        return Ok(None);
    }
    let numbers = value.as_real_slice().ok_or_else(|| wrong(name, "numbers", value))?;
    Ok(Some(numbers.to_vec()))
}

/// One number, of whatever type R has for it.
pub(crate) fn number(name: &str, value: &Robj) -> Answer<f64> {
    let one = all_numbers(value).filter(|all| all.len() == 1).map(|all| all[0]);
    one.ok_or_else(|| wrong(name, "a number", value))
}

/// One whole number, not negative.
pub(crate) fn count(name: &str, value: &Robj) -> Answer<u64> {
    let one = all_numbers(value).filter(|all| all.len() == 1).and_then(|all| whole(all[0]));
    one.ok_or_else(|| wrong(name, "a whole number, not negative", value))
}

/// How many threads; `NULL` for as many as there are cores.
pub(crate) fn threads(value: &Robj) -> Answer<Option<usize>> {
    if value.is_null() {
        return Ok(None);
    }
    match usize::try_from(count("threads", value)?) {
        Ok(threads @ 1..=4096) => Ok(Some(threads)),
        _ => Err(wrong("threads", "a number from 1 to 4096", value)),
    }
}

/// Numbers of any type, without gaps.
fn all_numbers(value: &Robj) -> Option<Vec<f64>> {
    let all: Vec<f64> = match (value.as_real_slice(), value.as_integer_slice()) {
        (Some(doubles), _) => doubles.to_vec(),
        (_, Some(whole)) if !value.is_factor() && whole.iter().all(|one| *one != i32::MIN) => {
            whole.iter().map(|one| f64::from(*one)).collect()
        }
        _ => return None,
    };
    all.iter().all(|one| !one.is_nan()).then_some(all)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number in range")]
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=WHOLE).contains(&number)).then_some(number as u64)
}

fn wrong(name: &str, expected: &str, value: &Robj) -> Failure {
    let got = match (value.as_str(), all_numbers(value)) {
        _ if value.is_null() => "NULL".to_owned(),
        (Some(text), _) if value.len() == 1 && !value.is_na() => format!("\"{text}\""),
        (_, Some(all)) if all.len() == 1 => all[0].to_string(),
        _ if value.len() == 1 && value.is_na() => "NA".to_owned(),
        _ => format!("{:?} of length {}", value.rtype(), value.len()).to_lowercase(),
    };
    Failure::new(format!("`{name}` must be {expected}, got {got}"))
}

/// A method by its name or another name for it.
pub(crate) fn method(value: &Robj) -> Answer<Method> {
    let name = text("method", value)?;
    // Names of statisticians, such as `Mahalanobis`, are written in any case.
    let lower = name.to_lowercase();
    let known = |method: &Method| method.name() == lower || method.aliases().contains(&lower.as_str());
    Ok(match Method::ALL.into_iter().find(known) {
        Some(method) => method,
        None => name.parse()?,
    })
}

/// The settings of a method from a named list, over those of a preset for a sample of `n` observations.
pub(crate) fn settings(method: Method, named: &Robj, preset: &Robj, n: f64) -> Answer<Settings> {
    let mut values = Vec::new();
    if !preset.is_null() {
        values = text("preset", preset)?.parse::<Preset>()?.values(method, n)?;
    }
    if let Some(named) = named.as_list() {
        for (name, value) in named.iter() {
            let setting = method.setting(name)?;
            values.push((setting.name, read(&setting, &value)?));
        }
    }
    Ok(Settings::with(method, values)?)
}

fn read(setting: &Setting, value: &Robj) -> Answer<Value> {
    let name = setting.name;
    Ok(match setting.kind {
        Kind::OptionalNumber if value.is_null() => Value::None,
        Kind::Number | Kind::OptionalNumber => Value::Number(number(name, value)?),
        Kind::NumberOr(_) | Kind::Gamma => match all_numbers(value) {
            // R writes 3 and 3L alike: a whole number is a count, others are fractions.
            Some(one) if one.len() == 1 => {
                whole(one[0]).filter(|n| *n > 0).map_or(Value::Number(one[0]), Value::Count)
            }
            _ => setting.parse(text(name, value).map_err(|_| wrong(name, "a number or a name", value))?)?,
        },
        Kind::Count => Value::Count(count(name, value)?),
        Kind::Counts => {
            let all = all_numbers(value).and_then(|all| all.into_iter().map(whole).collect());
            Value::Counts(all.ok_or_else(|| wrong(name, "a whole number or several", value))?)
        }
        Kind::Choice(_) => Value::Text(text(name, value)?.to_owned()),
    })
}

/// Settings by name as R's values.
pub(crate) fn written(values: Vec<(&'static str, Value)>) -> Robj {
    let written = values.into_iter().map(|(name, value)| {
        let value: Robj = match value {
            Value::Count(count) => (count as f64).into(),
            Value::Counts(counts) => counts.into_iter().map(|count| count as f64).collect::<Vec<_>>().into(),
            Value::Number(number) => number.into(),
            Value::Text(text) => text.into(),
            Value::None => NULL.into(),
        };
        (name, value)
    });
    List::from_pairs(written).into()
}

/// The table of methods: for each its title, summary, other names, and settings with default and help.
#[extendr]
fn native_methods() -> Robj {
    let methods = Method::ALL.map(|method| {
        let known = method.settings().iter().filter_map(|name| method.setting(name).ok());
        let choices = |kind: Kind| match kind {
            Kind::Choice(names) | Kind::NumberOr(names) => names.join(", "),
            Kind::Gamma => Gamma::NAMES.join(", "),
            _ => String::new(),
        };
        let (help, choices): (Vec<&str>, Vec<String>) = known.map(|s| (s.help, choices(s.kind))).unzip();
        let about = list!(
            title = method.title(),
            summary = method.summary(),
            aliases = method.aliases().to_vec(),
            defaults = written(Settings::defaults(method)),
            help = help,
            choices = choices
        );
        (method.name(), Robj::from(about))
    });
    List::from_pairs(methods).into()
}

/// The name of a method that is known by another name too.
#[extendr]
fn native_method_name(name: Robj) -> Robj {
    given(method(&name).map(|method| method.name().into()))
}

extendr_module! {
    mod convert;
    fn native_methods;
    fn native_method_name;
}
