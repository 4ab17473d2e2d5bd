//! What can go wrong, in the caller's terms.

/// The result of everything in this crate that can fail.
pub type Result<T, E = DepthError> = std::result::Result<T, E>;

/// So many bytes, in words.
pub(crate) fn in_bytes(count: u64) -> String {
    let mut size = count as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            return if unit == "bytes" { format!("{count} bytes") } else { format!("{size:.1} {unit}") };
        }
        size /= 1024.0;
    }
    format!("{size:.1} TiB")
}

/// Bad data, a bad setting, or a request to stop.
///
/// Rows and columns are counted from 0, as everywhere in this project. A fit that did not reach its
/// tolerance is not an error: it says so in its [`Stop`](crate::Stop).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DepthError {
    /// A numeric setting is outside its range.
    #[error("`{name}` must be {expected}, got {}", short(*.got))]
    Setting {
        /// The setting, as it is called in Rust, on the command line and in Python.
        name: &'static str,
        /// What would have been accepted.
        expected: &'static str,
        /// What was given.
        got: f64,
    },
    /// A setting that is chosen by name got a name it does not know.
    #[error("`{name}` must be one of {expected}, got `{got}`")]
    Name {
        /// The setting.
        name: &'static str,
        /// The names it knows.
        expected: String,
        /// What was given.
        got: String,
    },
    /// A setting that the method does not have.
    #[error("method `{method}` has no setting `{name}`; it has {has}")]
    NoSuchSetting {
        /// The method.
        method: &'static str,
        /// The setting asked for.
        name: String,
        /// The settings it has.
        has: String,
    },
    /// Two settings that do not go together, or one that needs another.
    #[error("{0}")]
    Settings(String),
    /// Scores, labels or p-values that nothing can be said about.
    #[error("{0}")]
    Labels(String),
    /// Kernel values that cannot be worked with.
    #[error("{0}")]
    Kernel(String),
    /// The reference sample has too few rows (or too few with a positive weight).
    #[error("the reference needs at least {expected} rows with a positive weight, got {got}")]
    TooFewRows {
        /// How many are needed.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A table that cannot be worked with: its columns do not fit together, or not to what was learned.
    #[error("{0}")]
    Table(String),
    /// A method of numbers got categories.
    #[error("method `{method}` compares numbers only; {}", categories_and_gaps(categories, gaps))]
    Categories {
        /// The method.
        method: &'static str,
        /// The columns that are categories, counted from 0 among those that are compared.
        categories: Vec<usize>,
        /// The columns whose gaps are compared like a category.
        gaps: Vec<usize>,
    },
    /// Rows without a single column.
    #[error("the data has no columns")]
    NoColumns,
    /// A row is wider or narrower than the others.
    #[error("row {row} has {got} features, expected {expected}")]
    Dimension {
        /// The row, from 0.
        row: usize,
        /// The width of the reference sample.
        expected: usize,
        /// The width of this row.
        got: usize,
    },
    /// A NaN or an infinity.
    #[error("row {row}, column {column} is not finite ({value})")]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value: NaN, inf or -inf.
        value: f64,
    },
    /// A number so large that its square overflows.
    #[error("row {row}, column {column} is too large to work with: |{value:e}| > 1e100")]
    TooLarge {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A column to be scaled whose numbers differ by so little that the square of that vanishes.
    #[error("column {column} varies by {spread:e} only, too little to be scaled: give it in larger units")]
    TooSmall {
        /// The column, from 0.
        column: usize,
        /// The difference of its largest and smallest number.
        spread: f64,
    },
    /// A weight that is negative, NaN or infinite.
    #[error("weight {row} must be finite and not negative, got {value}")]
    Weight {
        /// The row the weight belongs to, from 0.
        row: usize,
        /// The weight.
        value: f64,
    },
    /// As many weights as rows are needed.
    #[error("{got} weights for {expected} rows")]
    WeightCount {
        /// The number of rows.
        expected: usize,
        /// The number of weights.
        got: usize,
    },
    /// A row number beyond the end.
    #[error("row {row} does not exist: the data has {rows} rows")]
    NoSuchRow {
        /// The row asked for, from 0.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// Bytes that are no model of this crate.
    #[error("not a lossdepth model: {reason}")]
    NotAModel {
        /// What they are, or what is missing.
        reason: String,
    },
    /// A model in a format that came after this version.
    #[error("made by a newer lossdepth{}: format {format}, this one reads up to {newest}", by(version))]
    NewerModel {
        /// The version of lossdepth that made it, if it says so.
        version: String,
        /// Its format.
        format: u64,
        /// The newest format that this version reads.
        newest: u64,
    },
    /// A model that is not as it was when it was saved, or does not fit together.
    #[error("the model is damaged: {reason}")]
    DamagedModel {
        /// What is wrong with it.
        reason: String,
    },
    /// A model with something in it that cannot be saved.
    #[error("the model cannot be saved: {reason}")]
    Unsaved {
        /// What it is.
        reason: String,
    },
    /// The caller asked to stop through [`Run::cancel`](crate::Run::cancel).
    #[error("interrupted")]
    Cancelled,
    /// The thread pool could not be started.
    #[error("could not start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
}

/// A number, without rows of zeros.
fn short(number: f64) -> String {
    if number.is_finite() && number.abs() >= 1e16 { format!("{number:e}") } else { number.to_string() }
}

/// Which columns are no numbers, and what to do about them.
fn categories_and_gaps(categories: &[usize], gaps: &[usize]) -> String {
    let said = |columns: &[usize], one: &str, many: &str| match columns {
        [] => None,
        [column] => Some(format!("column {column} {one}")),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(usize::to_string).collect();
            Some(format!("columns {} and {last} {many}", first.join(", ")))
        }
    };
    let found = [said(categories, "is a category", "are categories"), said(gaps, "has gaps", "have gaps")];
    let found: Vec<String> = found.into_iter().flatten().collect();
    let them = if categories.len() + gaps.len() == 1 { "it" } else { "them" };
    format!("{}: leave {them} out, or use another method such as `forest`", found.join(" and "))
}

fn by(version: &str) -> String {
    if version.is_empty() { String::new() } else { format!(" ({version})") }
}

/// Checks that a setting is a positive, finite number.
pub(crate) fn positive(name: &'static str, got: f64) -> Result<()> {
    if got > 0.0 && got.is_finite() {
        Ok(())
    } else {
        Err(DepthError::Setting { name, expected: "a positive, finite number", got })
    }
}

/// The names of an enumeration's values for a setting: `ALL`, `NAMES`, `name`, `Display` and `FromStr`.
macro_rules! named {
    ($type:ident, $setting:literal, $($variant:ident => $name:literal),+) => {
        impl $type {
            /// All of them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Their names.
            pub const NAMES: [&'static str; Self::ALL.len()] = [$($name),+];

            /// The name used on the command line and in Python.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::DepthError;

            fn from_str(s: &str) -> $crate::Result<Self> {
                let wrong = || $crate::DepthError::Name {
                    name: $setting,
                    expected: Self::NAMES.join(", "),
                    got: s.to_owned(),
                };
                Self::ALL.into_iter().find(|value| value.name() == s).ok_or_else(wrong)
            }
        }
    };
}
pub(crate) use named;
