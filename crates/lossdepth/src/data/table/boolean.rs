//! Truth values in words.

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
