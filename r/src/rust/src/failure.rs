//! What goes wrong, in the words of an R user: rows and columns count from 1, columns have names.

use extendr_api::prelude::*;
use lossdepth::DepthError;

/// Why a call has no answer.
pub(crate) enum Failure {
    /// For the user to read.
    Message(String),
    /// Ctrl-C.
    Interrupted,
}

pub(crate) type Answer<T> = std::result::Result<T, Failure>;

impl From<DepthError> for Failure {
    fn from(error: DepthError) -> Self {
        Self::named(error, &[])
    }
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::Message(text.into())
    }

    /// With the names of the columns that the error counts.
    pub(crate) fn named(error: DepthError, names: &[String]) -> Self {
        let name = |column: usize| {
            names
                .get(column)
                .map_or_else(|| format!("column {}", column + 1), |name| format!("column `{name}`"))
        };
        Self::Message(match error {
            DepthError::Cancelled => return Self::Interrupted,
            DepthError::NotFinite { row, column, value } => {
                format!("row {}, {} is not finite ({})", row + 1, name(column), infinity(value))
            }
            DepthError::TooLarge { row, column, value } => {
                format!("row {}, {} is too large to work with: |{value:e}| > 1e100", row + 1, name(column))
            }
            DepthError::TooSmall { column, spread } => {
                format!(
                    "{} varies by {spread:e} only, too little to be scaled: give it in larger units",
                    name(column)
                )
            }
            DepthError::Categories { method, categories, gaps } => {
                let named =
                    |columns: Vec<usize>| columns.into_iter().map(name).collect::<Vec<_>>().join(", ");
                let mut found = Vec::new();
                if !categories.is_empty() {
                    found.push(format!("not categories ({})", named(categories)));
                }
                if !gaps.is_empty() {
                    found.push(format!(
                        "not gaps ({}; `missing = \"drop\"` leaves such rows out)",
                        named(gaps)
                    ));
                }
                format!("method `{method}` compares numbers only, {}", found.join(" and "))
            }
            DepthError::Dimension { row, expected, got } => {
                DepthError::Dimension { row: row + 1, expected, got }.to_string()
            }
            DepthError::Weight { row, value } => DepthError::Weight { row: row + 1, value }.to_string(),
            DepthError::NoSuchRow { row, rows } => DepthError::NoSuchRow { row: row + 1, rows }.to_string(),
            DepthError::Table(text) | DepthError::Kernel(text) => rows_from_one(&text),
            other => other.to_string(),
        })
    }
}

/// A number that is not finite, as R writes it.
fn infinity(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Inf",
        _ => "-Inf",
    }
}

/// Rows that a message counts from 0, counted from 1. What stands between backticks was given by the user and stays.
fn rows_from_one(text: &str) -> String {
    let parts = text
        .split('`')
        .enumerate()
        .map(|(at, part)| if at % 2 == 1 { part.to_owned() } else { shifted(part) });
    parts.collect::<Vec<_>>().join("`")
}

fn shifted(text: &str) -> String {
    let mut parts = text.split("row ");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        result.push_str("row ");
        match part[..end].parse::<u64>() {
            Ok(row) => {
                result.push_str(&row.saturating_add(1).to_string());
                result.push_str(&part[end..]);
            }
            Err(_) => result.push_str(part),
        }
    }
    result.replace("(inf)", "(Inf)").replace("(-inf)", "(-Inf)")
}

/// The answer, or a list that the R code turns into an error or an interrupt.
pub(crate) fn given(answer: Answer<Robj>) -> Robj {
    let (message, interrupted) = match answer {
        Ok(value) => return value,
        Err(Failure::Message(text)) => (text, false),
        Err(Failure::Interrupted) => (String::new(), true),
    };
    let mut failure = list!(message = message, interrupted = interrupted);
    // Setting a class on a list that was just made cannot fail.
    let _ = failure.set_class(["lossdepth_failure"]);
    failure.into()
}
