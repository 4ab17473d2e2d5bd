//! Messy tables with planted errors: each is among the oddest rows, and the wrong column among its reasons.

use crate::common::Folder;
use std::path::Path;

/// The row of an error, and the columns of which one must be named.
type Planted = (&'static str, &'static [&'static str]);

/// The files of `make_planted.py` and `make_exports.py` in `tests/messy`, with their errors.
const PLANTED: [(&str, &[Planted]); 26] = [
    ("japanese_orders.csv", &[("A1031", &["金額"]), ("A1077", &["日付"]), ("A1099", &["店舗"])]),
    ("hourly_rates.csv", &[("E-0017", &["rate"]), ("E-0060", &["gross"]), ("E-0099", &["hours"])]),
    (
        "currencies.csv",
        &[("I00008", &["amount"]), ("I00050", &["days"]), ("I00089", &["country", "amount (unit)"])],
    ),
    (
        "vitals.csv",
        &[
            ("P040", &["BP (first)", "BP (second)"]),
            ("P070", &["temp"]),
            ("P090", &["BP (first)"]),
            ("P110", &["age"]),
        ],
    ),
    (
        "positions.csv",
        &[
            ("ST28", &["position (first)", "position (second)"]),
            ("ST77", &["elevation"]),
            ("ST100", &["position (second)"]),
        ],
    ),
    ("shipments.csv", &[("SH0015", &["weight"]), ("SH0061", &["length"]), ("SH0100", &["pallets"])]),
    ("ledger.csv", &[("90000042", &["amount"]), ("90000070", &["posting"]), ("90000100", &["balance"])]),
    (
        "stop_times.txt",
        &[
            ("55", &["departure_time"]),
            ("100", &["stop_sequence"]),
            ("150", &["dist_m"]),
            ("170", &["arrival_time"]),
        ],
    ),
    ("roster.csv", &[("Player 10", &["Ht"]), ("Player 65", &["Wt"]), ("Player 100", &["Age"])]),
    ("logger.dat", &[("50", &["T_3"]), ("80", &["T_5"]), ("100", &["BattV"])]),
    ("short_lines.csv", &[("d50", &["temp", "temp.1"]), ("d90", &["humidity"])]),
    ("water.csv", &[("W20", &["Keimzahl"]), ("W71", &["pH"]), ("W100", &["Leitfähigkeit"])]),
    ("post_codes.csv", &[("K-033", &["plz"]), ("K-090", &["city"]), ("K-100", &["plz", "city"])]),
    ("merged.xlsx", &[("B033", &["Actual", "Deviation"]), ("B080", &["Deviation"])]),
    (
        "datev.csv",
        &[
            ("RE-2024020", &["Umsatz (ohne Soll/Haben-Kz)"]),
            ("RE-2024060", &["BU-Schlüssel", "Gegenkonto"]),
            ("RE-2024090", &["WKZ Umsatz"]),
        ],
    ),
    ("access.log", &[("60", &["bytes"]), ("150", &["status"]), ("220", &["method"])]),
    ("questionnaire.csv", &[("R0051", &["q03"]), ("R0101", &["age"]), ("R0131", &["sex"])]),
    ("pump.csv", &[("60", &["flow"]), ("80", &["level"]), ("100", &["status"]), ("120", &["time"])]),
    ("stores.csv", &[("9", &["Rent"]), ("54", &["Result"]), ("74", &["Cost of goods"])]),
    ("movements.txt", &[("50", &["Menge"]), ("80", &["Betrag Hauswährung"]), ("110", &["Buch.dat."])]),
    (
        "faktury.csv",
        &[
            ("FV/41/2024", &["Netto"]),
            ("FV/81/2024", &["Termin"]),
            ("FV/111/2024", &["Płatność"]),
            ("FV/131/2024", &["VAT"]),
        ],
    ),
    (
        "switches.csv",
        &[
            ("sw-030", &["IP (network)"]),
            ("sw-070", &["Firmware"]),
            ("sw-100", &["Temp"]),
            ("sw-120", &["CRC errors"]),
        ],
    ),
    (
        "houses.csv",
        &[
            ("EX90330", &["Baujahr"]),
            ("EX90770", &["Breite"]),
            ("EX91100", &["Länge"]),
            ("EX91320", &["Kaufpreis"]),
        ],
    ),
    (
        "findings.csv",
        &[
            ("20240210", &["Hb g/dl"]),
            ("20240490", &["CRP mg/l"]),
            ("20240700", &["Kalium"]),
            ("20240840", &["Natrium"]),
        ],
    ),
    ("station.txt", &[("30", &["temp"]), ("71", &["gust"]), ("100", &["pres"])]),
    (
        "devices.jsonl",
        &[
            ("50", &["payload.temp"]),
            ("70", &["payload.bat"]),
            ("100", &["ts"]),
            ("120", &["device", "payload.temp"]),
        ],
    ),
];

#[test]
fn planted_errors_are_among_the_oddest_rows_with_their_columns() {
    let folder = Folder::new();
    let messy = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messy");
    let mut wrong = Vec::new();
    for (file, errors) in PLANTED {
        // As many rows as there are errors, and two more.
        let (path, top) = (messy.join(file), (errors.len() + 2).to_string());
        let ran = folder.run(&["outliers", path.to_str().unwrap(), "--top", &top, "--format", "json"]);
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.err);
        let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let rows = report["outliers"].as_array().unwrap();
        for (row, columns) in errors {
            let number: Option<u64> = row.parse().ok();
            let is_row = |found: &&serde_json::Value| {
                found["name"] == **row || number.is_some_and(|number| found["row"] == number)
            };
            let Some(found) = rows.iter().find(is_row) else {
                wrong.push(format!("{file}: row {row} is not among the {top} oddest"));
                continue;
            };
            let first = &found["reasons"][0]["column"];
            if !columns.iter().any(|column| first == column) {
                wrong.push(format!("{file}: row {row} is odd for {first}, not for {columns:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
