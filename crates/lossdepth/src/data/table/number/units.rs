//! Currencies and units of measurement.

/// Signs and codes of currencies, and shares. A longer one comes before one that it ends or begins with.
pub(super) const UNITS: [&str; 54] = [
    "US$", "CA$", "AU$", "NZ$", "HK$", "R$", "C$", "A$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₴",
    "₦", "฿", "₪", "¢", "%", "‰", "USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "INR",
    "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RUB", "BRL", "MXN", "ZAR", "KRW", "TRY", "SGD", "HKD", "kr.",
    "kr", "zł", "Kč", "Ft", "Fr.",
];

/// Units of measurement, behind a number only. A longer one comes before one that it ends with. Single capital letters are
/// left out: they number houses and seats.
pub(super) const MEASURES: [&str; 84] = [
    "km/h", "kmh", "mph", "m/s", "m³/h", "l/min", "mg/dL", "mg/dl", "mg/L", "mg/l", "µg/L", "µg/l", "µg/m³",
    "ng/mL", "g/dL", "mmol/L", "mmol/l", "µmol/L", "U/L", "kg/m²", "kg/m³", "mmHg", "mbar", "hPa", "kPa",
    "MPa", "psi", "bar", "Pa", "kWh", "MWh", "Wh", "kW", "MW", "kcal", "cal", "kJ", "MJ", "mV", "kV", "mA",
    "Ω", "GHz", "MHz", "kHz", "Hz", "rpm", "bpm", "ppm", "ppb", "dB", "°C", "°F", "°", "km²", "m²", "sqm",
    "sqft", "ft²", "ha", "m³", "ml", "mL", "cl", "dl", "km", "cm", "mm", "µm", "ft", "mi", "yd", "lbs", "lb",
    "oz", "kg", "mg", "µg", "GB", "MB", "kB", "TB", "px", "hrs",
];

/// Likewise, of letters that other units end with, and of time.
pub(super) const SHORT_MEASURES: [&str; 19] = [
    "years", "year", "yrs", "yr", "months", "weeks", "days", "day", "hours", "minutes", "seconds", "mins",
    "min", "secs", "sec", "ms", "m", "g", "h",
];
/// Whether a unit is one of measurement.
pub(super) fn is_measure(unit: &str) -> bool {
    MEASURES.contains(&unit) || SHORT_MEASURES.contains(&unit)
}
