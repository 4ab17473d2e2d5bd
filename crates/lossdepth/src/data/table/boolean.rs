//! Truth values in words.

use super::cells::names;
use super::{Column, Texts};

/// The truth value of a text, `None` if it is none. 0 and 1 are numbers.
pub(super) fn parse(text: &str) -> Option<bool> {
    let word = text.trim().to_lowercase();
    match word.as_str() {
        "yes" | "true" | "y" | "t" | "ja" | "j" | "oui" | "si" | "sí" | "sì" | "sim" | "on" | "wahr"
        | "vrai" | "да" => Some(true),
        "no" | "false" | "n" | "f" | "nein" | "non" | "nee" | "não" | "nao" | "off" | "falsch" | "faux"
        | "нет" => Some(false),
        _ => None,
    }
}

/// The writing of false and true that is most frequent in a column.
pub(super) fn truth_names(column: &Column, weights: &[f64], gap_words: &[String]) -> [String; 2] {
    let named = names(column, None, None, gap_words);
    let mut sums = vec![0.0; named.names.len()];
    for (&code, weight) in named.codes.iter().zip(weights).filter(|(code, _)| **code != Texts::GAP) {
        sums[code as usize] += weight;
    }
    let mut best: [Option<(f64, &str)>; 2] = [None, None];
    for (name, sum) in named.names.iter().zip(sums) {
        let Some(name) = name.as_deref() else { continue };
        let Some(truth) = parse(name) else { continue };
        let best = &mut best[usize::from(truth)];
        let better = best.is_none_or(|(most, other)| sum > most || (sum == most && name < other));
        if better {
            *best = Some((sum, name));
        }
    }
    let name = |best: Option<(f64, &str)>, other: &str| best.map_or(other, |(_, name)| name).to_owned();
    [name(best[0], "false"), name(best[1], "true")]
}

#[cfg(test)]
mod tests {
    #[test]
    fn words() {
        for text in ["yes", "YES", " Yes ", "true", "True", "y", "T", "ja", "oui", "Sí", "on", "WAHR"] {
            assert_eq!(super::parse(text), Some(true), "{text}");
        }
        for text in ["no", "No", "FALSE", "n", "f", "nein", "Non", "off", "faux"] {
            assert_eq!(super::parse(text), Some(false), "{text}");
        }
        for text in ["", "0", "1", "maybe", "yess", "m", "true false"] {
            assert_eq!(super::parse(text), None, "{text}");
        }
    }
}
