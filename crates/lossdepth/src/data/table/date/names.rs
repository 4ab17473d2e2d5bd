//! The names of months and weekdays.

/// The names of the months in English, German, French, Spanish, Italian, Portuguese and Dutch.
pub(super) const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "jänner", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["february", "februar", "feber", "février", "fevrier", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "märz", "maerz", "mrz", "mars", "marzo", "março", "maart"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "août", "aout", "agosto", "augustus"],
    &["september", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "décembre", "decembre", "diciembre", "dicembre", "dezembro"],
];

pub(super) const WEEKDAYS: [&[&str]; 3] = [
    &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    &["montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"],
    &["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
];
