//! Currencies and units of measurement.

/// Signs and codes of currencies, and shares. The sign of the yen is a backslash in Japanese encodings. A longer one comes before one that it ends or begins with.
pub(super) const UNITS: [&str; 59] = [
    "US$", "CA$", "AU$", "NZ$", "HK$", "R$", "C$", "A$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴",
    "₦", "฿", "₪", "¢", "%", "‰", "USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "INR",
    "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RUB", "BRL", "MXN", "ZAR", "KRW", "TRY", "SGD", "HKD", "kr.",
    "kr", "zł", "Kč", "Ft", "Fr.", "￥", "円", "元", "원", "\\",
];

/// Units of measurement, behind a number only. A longer one comes before one that it ends with. Single capital letters are
/// left out: they number houses and seats.
pub(super) const MEASURES: [&str; 90] = [
    "km/h", "kmh", "mph", "m/s", "m³/h", "l/min", "mg/dL", "mg/dl", "mg/L", "mg/l", "µg/L", "µg/l", "µg/m³",
    "ng/mL", "g/dL", "mmol/L", "mmol/l", "µmol/L", "U/L", "kg/m²", "kg/m³", "kg/m2", "kg/m3", "mmHg", "mbar",
    "hPa", "kPa", "MPa", "psi", "bar", "Pa", "kWh", "MWh", "Wh", "kW", "MW", "kcal", "cal", "kJ", "MJ", "mV",
    "kV", "mA", "Ω", "GHz", "MHz", "kHz", "Hz", "rpm", "bpm", "ppm", "ppb", "dB", "°C", "°F", "°", "km²",
    "m²", "sqm", "sqft", "ft²", "km2", "m2", "ft2", "ha", "m³", "m3", "ml", "mL", "cl", "dl", "km", "cm",
    "mm", "µm", "ft", "mi", "yd", "lbs", "lb", "oz", "kg", "mg", "µg", "GB", "MB", "kB", "TB", "px", "hrs",
];

/// Likewise, of letters that other units end with, and of time.
pub(super) const SHORT_MEASURES: [&str; 21] = [
    "years", "year", "yrs", "yr", "months", "weeks", "days", "day", "hours", "minutes", "seconds", "mins",
    "min", "secs", "sec", "ms", "m", "g", "h", "l", "t",
];

/// Whether a unit is one of measurement.
pub(super) fn is_measure(unit: &str) -> bool {
    MEASURES.contains(&unit) || SHORT_MEASURES.contains(&unit)
}

/// Multiples of one unit, with their size: they may stand in one column.
const MULTIPLES: [&[(&str, f64)]; 9] = [
    &[("t", 1e6), ("kg", 1e3), ("g", 1.0), ("mg", 1e-3), ("µg", 1e-6)],
    &[("km", 1e3), ("m", 1.0), ("cm", 1e-2), ("mm", 1e-3), ("µm", 1e-6)],
    &[("l", 1.0), ("dl", 0.1), ("cl", 1e-2), ("ml", 1e-3), ("mL", 1e-3)],
    &[("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)],
    &[("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3), ("Hz", 1.0)],
    &[("MWh", 1e6), ("kWh", 1e3), ("Wh", 1.0)],
    &[("MW", 1e6), ("kW", 1e3)],
    &[("MPa", 1e6), ("kPa", 1e3), ("hPa", 1e2), ("Pa", 1.0)],
    &[("kV", 1e3), ("mV", 1e-3)],
];

/// How many of the second unit one of the first is; `None` if they are not multiples of one unit.
pub(super) fn ratio(of: &str, unit: &str) -> Option<f64> {
    MULTIPLES.iter().find_map(|units| {
        let size = |name: &str| units.iter().find(|(other, _)| *other == name).map(|(_, size)| *size);
        Some(size(of)? / size(unit)?)
    })
}
