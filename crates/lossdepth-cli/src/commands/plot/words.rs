//! Names and numbers in captions and legends.

use lossdepth::model::Value;
use lossdepth::{Scale, Settings, Variant};

pub(super) fn zone_name(share: f64) -> String {
    format!("deepest {}", percent(share))
}

pub(super) fn two_names(columns: &[String]) -> [String; 2] {
    [0, 1].map(|k| columns.get(k).map(|name| column_name(name)).unwrap_or_default())
}

/// A column without a name is called by its number.
pub(super) fn column_name(name: &str) -> String {
    if name.parse::<usize>().is_ok() { format!("column {name}") } else { name.to_owned() }
}

pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if (percent - percent.round()).abs() < 1e-6 || percent >= 10.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// `a, b and c`.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What the method is called, and how it is set, but for what changes nothing that can be seen.
pub(in crate::commands) fn in_words(settings: &Settings) -> String {
    let defaults = Settings::defaults(settings.method);
    let tells = |name: &str, value: &Value| match name {
        "tol" | "max_iter" | "memory" | "budget" | "max_boxes" => false,
        "reg" => !matches!(settings.variant, Variant::Constrained { .. }),
        "kernel" | "gamma" | "sigma" | "max_depth" | "hidden" => true,
        "support_fraction" => settings.scale == Scale::Mcd,
        _ => !defaults.iter().any(|(known, default)| *known == name && default == value),
    };
    let values = settings.values();
    let told = values.iter().filter(|(name, value)| *value != Value::None && tells(name, value));
    let words: Vec<String> = told
        .map(|(name, value)| match *name {
            "kernel" => format!("{value} kernel"),
            name => format!("{} {value}", name.replace('_', " ")),
        })
        .collect();
    let name = settings.method.title();
    if words.is_empty() { name.to_owned() } else { format!("{name} ({})", words.join(", ")) }
}
