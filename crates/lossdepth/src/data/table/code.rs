//! Names of columns that say that their numbers are no quantities.

/// What the name of a column says about whole numbers in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// An id, as `order_id` or `key`.
    Id,
    /// A code, as `zip`, `EAN` or `status_code`.
    Code,
    /// A number in the sense of a name, as `Employee No` or `customer_number`; a count may be called so too.
    Number,
    /// Nothing.
    Quantity,
}

/// Last words of names for codes.
const CODES: [&str; 22] = [
    "code",
    "codes",
    "zip",
    "zipcode",
    "postcode",
    "postal",
    "plz",
    "postleitzahl",
    "ean",
    "gtin",
    "upc",
    "isbn",
    "sku",
    "barcode",
    "phone",
    "telephone",
    "telefon",
    "iban",
    "ssn",
    "status",
    "konto",
    "gegenkonto",
];

/// What the last word of a name says.
pub(super) fn naming(name: &str) -> Naming {
    let name = name.trim();
    let last = last_word(name);
    let is_id = matches!(last.as_str(), "id" | "ids" | "uuid" | "guid" | "key" | "idx" | "index" | "rowid");
    if is_id || (name.ends_with("ID") && name.len() > 2) {
        return Naming::Id;
    }
    if CODES.contains(&last.as_str()) {
        return Naming::Code;
    }
    let several = name.chars().filter(|c| c.is_alphanumeric()).count() > last.chars().count();
    let numbered = matches!(last.as_str(), "no" | "nr" | "number" | "num" | "numéro" | "numero") && several;
    let german = last.len() > 4 && (last.ends_with("nr") || last.ends_with("nummer"));
    if numbered || german || (name.ends_with('#') && name.len() > 1) {
        return Naming::Number;
    }
    Naming::Quantity
}

/// Whether a name says that numbers are times: a word of it does.
pub(super) fn names_time(name: &str) -> bool {
    const WORDS: [&str; 21] = [
        "time",
        "times",
        "timestamp",
        "timestamps",
        "ts",
        "date",
        "datetime",
        "epoch",
        "unix",
        "utc",
        "created",
        "updated",
        "modified",
        "changed",
        "started",
        "ended",
        "at",
        "zeit",
        "zeitstempel",
        "datum",
        "heure",
    ];
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.chain([last_word(name).as_str()]).any(|word| WORDS.iter().any(|own| own.eq_ignore_ascii_case(word)))
}

/// The last word in lower case: `code` of `zip-code`, `Zip Code` and `zipCode`.
fn last_word(name: &str) -> String {
    let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let word = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let mut start = 0;
    for ((_, before), (at, c)) in word.char_indices().zip(word.char_indices().skip(1)) {
        if before.is_lowercase() && c.is_uppercase() {
            start = at;
        }
    }
    word[start..].to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_tells() {
        for name in ["id", "order_id", "CustomerID", "orderId", "ID", "key", "row index"] {
            assert_eq!(naming(name), Naming::Id, "{name}");
        }
        for name in ["zip", "Zip Code", "zipCode", "EAN", "status_code", "phone", "PLZ"] {
            assert_eq!(naming(name), Naming::Code, "{name}");
        }
        for name in [
            "Employee No",
            "customer_number",
            "account_no.",
            "AccountNo",
            "Kundennr",
            "Rechnungsnummer",
            "Order #",
        ] {
            assert_eq!(naming(name), Naming::Number, "{name}");
        }
        for name in
            ["number", "no", "paid", "number of children", "volcano", "encoded", "piano", "amount", "nr", ""]
        {
            assert_eq!(naming(name), Naming::Quantity, "{name}");
        }
    }
}
