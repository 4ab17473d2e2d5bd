//! Words that stand for a gap.

/// Whether a text stands for a gap; `more` are words of the caller.
pub(super) fn is_gap(text: &str, more: &[String]) -> bool {
    let text = text.trim();
    // The built-in words are short.
    if text.len() > 8 {
        return more.iter().any(|word| word.trim() == text);
    }
    let spelled = |words: &[&str]| words.contains(&text);
    let any_case = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    // `none` and `na` in small letters are levels of categories as often as gaps; Python writes `None`, R `NA`.
    spelled(&["", "NA", "None", "-", "--", "---", "–", "—", "?", "??", ".", "..", "...", "…", "<NA>", "\\N"])
        || any_case(&["n/a", "n.a.", "nan", "null", "missing", "nat"])
        || any_case(&["#n/a", "#na", "#nv", "#null!", "#num!", "#value!", "#div/0!", "#ref!", "#name?"])
        || more.iter().any(|word| word.trim() == text)
}

/// Whether a word stands for a gap among numbers and dates. In a category it is a level.
pub(super) fn is_gap_word(text: &str) -> bool {
    const WORDS: [&str; 52] = [
        "unknown",
        "unk",
        "none",
        "na",
        "nd",
        "n/d",
        "n.d.",
        "nil",
        "undefined",
        "not available",
        "not applicable",
        "not reported",
        "not recorded",
        "not measured",
        "no data",
        "no answer",
        "refused",
        "tbd",
        "tba",
        "pending",
        "k.a.",
        "n.v.",
        "keine angabe",
        "unbekannt",
        "ohne angabe",
        "entfällt",
        "inconnu",
        "inconnue",
        "non renseigné",
        "néant",
        "n.c.",
        "n.r.",
        "s.o.",
        "desconocido",
        "sin dato",
        "sin datos",
        "no aplica",
        "s/d",
        "desconhecido",
        "não informado",
        "não se aplica",
        "sconosciuto",
        "non disponibile",
        "onbekend",
        "n.v.t.",
        "okänd",
        "ukendt",
        "ukjent",
        "brak",
        "brak danych",
        "нет данных",
        "не указано",
    ];
    let text = text.trim();
    // The longest word has 15 letters.
    text.len() <= 40 && WORDS.contains(&text.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_for_gaps() {
        let gaps =
            ["", " ", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-", "--", "?", ".", "#N/A"];
        for text in gaps.into_iter().chain(["missing", "Missing", "#DIV/0!", "#NV", " NA ", "—", "NaT"]) {
            assert!(super::is_gap(text, &[]), "{text:?}");
        }
        for text in ["0", "none", "na", "no", "unknown", "n.v.", "-1", "NAN1", "k.A.", "a-b"] {
            assert!(!super::is_gap(text, &[]), "{text:?}");
        }
        for text in [
            "unknown",
            "Unknown",
            " none ",
            "n.v.",
            "k.A.",
            "not available",
            "Sin dato",
            "НЕ УКАЗАНО",
            "Néant",
        ] {
            assert!(super::is_gap_word(text), "{text:?}");
        }
        for text in ["no", "0", "nine", "north", "unknowns"] {
            assert!(!super::is_gap_word(text), "{text:?}");
        }
        assert!(super::is_gap("k.A.", &["k.A.".to_owned()]));
        assert!(!super::is_gap("k.a.", &["k.A.".to_owned()]));
    }
}
