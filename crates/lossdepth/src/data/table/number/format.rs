//! A number as a column writes them.

use super::{NumberForm, degrees, feet};
use crate::data::table::duration;

/// From so many decimals on a column holds measurements, and zeros behind their digits say nothing; with one or two they belong to
/// amounts of money and the like.
const MEASURED: usize = 3;

impl NumberForm {
    /// A number as the column writes them.
    pub(crate) fn format(&self, number: f64) -> String {
        if self.duration {
            return duration::format(number);
        }
        if self.feet {
            return feet::format(number);
        }
        if self.degrees {
            return degrees::format(number);
        }
        if !number.is_finite() || (number != 0.0 && !(1e-6..1e15).contains(&number.abs())) {
            return format!("{number:e}");
        }
        let shortest = number.abs().to_string();
        let exact = shortest.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        // More decimals than the column has are shown where the number would be another one without them.
        let decimals = if exact > self.decimals { exact.min(self.decimals + 2) } else { self.decimals };
        let mut rounded = format!("{:.decimals$}", number.abs());
        if decimals > self.decimals {
            let kept = rounded.trim_end_matches('0').len();
            let least = rounded.len() - (decimals - self.decimals);
            rounded.truncate(kept.max(least));
        } else if decimals >= MEASURED {
            rounded.truncate(rounded.trim_end_matches('0').len());
        }
        if rounded.ends_with('.') {
            rounded.pop();
        }
        let (whole, fraction) = rounded.split_once('.').unwrap_or((&rounded, ""));
        let (mark, thousands) = if self.decimal == Some(',') { (',', '.') } else { ('.', ',') };
        let thousands = self.thousands.unwrap_or(thousands);
        let mut text = String::new();
        if number < 0.0 && rounded.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
            text.push('-');
        }
        let unit = self.unit.as_deref().unwrap_or("");
        let word = unit.chars().any(char::is_alphabetic);
        if self.unit_first {
            text.push_str(unit);
            text.push_str(if word { " " } else { "" });
        }
        // Four digits stay together where they could be a year.
        let grouped = whole.len() > 4 || self.decimals > 0 || !unit.is_empty();
        for (at, digit) in whole.chars().enumerate() {
            let left = whole.len() - at;
            let group = if self.lakhs && left > 3 { !left.is_multiple_of(2) } else { left.is_multiple_of(3) };
            if at > 0 && group && grouped {
                text.push(thousands);
            }
            text.push(digit);
        }
        if !fraction.is_empty() {
            text.push(mark);
            text.push_str(fraction);
        }
        if !self.unit_first && !unit.is_empty() {
            text.push_str(if matches!(unit, "%" | "°") { "" } else { " " });
            text.push_str(unit);
        }
        if let Some(behind) = &self.suffix {
            text.push_str(if behind.starts_with(char::is_alphabetic) { " " } else { "" });
            text.push_str(behind);
        }
        text
    }
}
