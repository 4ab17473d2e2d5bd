//! What can go wrong, in terms of files, lines and columns.

use lossdepth::DepthError;
use std::{fmt, io};

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Something about an input file.
    #[error("{file}: {problem}")]
    Input { file: String, problem: Problem },
    /// The output could not be written.
    #[error("{file}: cannot write: {}", plain(source))]
    Output { file: String, source: io::Error },
    /// Flags that do not go together.
    #[error("{0}")]
    Usage(String),
    /// A setting that the library does not accept.
    #[error("{}", as_flag(.0))]
    Depth(#[from] DepthError),
}

impl From<lossdepth_reproduce::Error> for Error {
    fn from(error: lossdepth_reproduce::Error) -> Self {
        use lossdepth_reproduce::Error as Experiment;
        match error {
            Experiment::Depth(error) => Self::Depth(error),
            Experiment::Message(text) => Self::Usage(text),
            // An error of the program's own, from the callbacks that it gave to the experiments.
            Experiment::Host(error) => match error.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Usage(other.to_string()),
            },
        }
    }
}

impl Error {
    /// Whether the reader of standard output went away, which is its right.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// What is wrong with an input file. Lines are counted from 1, rows and columns from 0.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("no such file")]
    Missing,
    #[error("is a directory, not a file")]
    Directory,
    #[error("cannot read: {}", plain(.0))]
    Read(io::Error),
    #[error("damaged gzip data: {}", plain(.0))]
    Gzip(io::Error),
    #[error("the gzip data ends too early: the file is cut off")]
    Truncated,
    #[error("the file is empty")]
    Empty,
    #[error("not a text file (byte {byte:#04x} at position {at})")]
    Binary { byte: u8, at: usize },
    #[error("line {line}: not UTF-8 text (byte {byte:#04x}); --encoding says which it is")]
    Utf8 { line: u64, byte: u8 },
    #[error("line {line}: a quote opens here and never closes")]
    Quote { line: u64 },
    #[error("line {line} is longer than {limit} bytes")]
    Long { line: u64, limit: usize },
    /// A row that is too long or too short, and the lines of all others.
    #[error("{at} has {}, expected {expected}{}", count(*got, "field"), further(more))]
    Ragged { at: Place, expected: usize, got: usize, more: Vec<u64> },
    /// Several at once.
    #[error("{}", several(.0))]
    Several(Vec<Problem>),
    #[error("this is no {0} file, in spite of its name")]
    NotA(&'static str),
    #[error("damaged {format} file: {why}")]
    Damaged { format: &'static str, why: String },
    #[error("{0}")]
    Unsupported(String),
    #[error("too large to unpack in memory; unpack it to a file first")]
    Unpack,
    #[error("column `{}` holds {kind}, not numbers", shorten(column))]
    Text { column: String, kind: String },
    #[error(
        "column `{}` holds {kind}, which can be neither compared nor copied; leave it out with --exclude",
        shorten(column)
    )]
    Nested { column: String, kind: String },
    #[error("{at}, column `{}`: {wrong}", shorten(column))]
    Cell { at: Place, column: String, wrong: Wrong },
    #[error("no column `{}`{hint}", shorten(asked))]
    NoColumn { asked: String, hint: String },
    #[error("no columns {names}; there are {there}{hint}")]
    NoColumns { names: String, there: String, hint: String },
    #[error("column `{}` cannot be both compared (--columns) and {role}", shorten(name))]
    TwoRoles { name: String, role: &'static str },
    #[error("column `{}` is twice in --columns", shorten(name))]
    Twice { name: String },
    #[error("no column to compare")]
    NothingToCompare,
    #[error("no column in common with {other}: it has {theirs}, and here are {ours}")]
    NothingShared { other: String, theirs: String, ours: String },
    #[error("{} to compare, {reference} has {expected}; choose them with --columns", count(*got, "column"))]
    Widths { reference: String, expected: usize, got: usize },
    #[error("needs at least {expected} rows, has {got}")]
    TooFewRows { expected: usize, got: usize },
    /// More rows than fit: a limit that is known, or memory that could not be had.
    #[error("the rows take {} or more{}", bytes(*needed), memory(*limit))]
    Memory { needed: usize, limit: Option<u64> },
    #[error("{0}")]
    Depth(DepthError),
    /// What the library has against a table, with the lines of its rows.
    #[error("{0}")]
    Table(String),
}

/// How many problems of a kind are named.
const NAMED: usize = 5;

impl Problem {
    /// Nothing, or all of them in one.
    pub(crate) fn all(mut problems: Vec<Self>) -> Result<(), Self> {
        match problems.len() {
            0 => Ok(()),
            1 => Err(problems.swap_remove(0)),
            _ => Err(Self::Several(problems)),
        }
    }
}

fn several(problems: &[Problem]) -> String {
    let mut text: Vec<String> = problems.iter().take(NAMED).map(ToString::to_string).collect();
    if problems.len() > NAMED {
        text.push(format!("and {} more of the kind", problems.len() - NAMED));
    }
    text.join("; ")
}

fn further(lines: &[u64]) -> String {
    let named: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
    match lines.len() {
        0 => String::new(),
        1 => format!("; line {} also has the wrong number", named[0]),
        n if n <= NAMED => format!("; lines {} also have the wrong number", named.join(", ")),
        n => format!("; {n} more lines have the wrong number: {}, …", named.join(", ")),
    }
}

/// A row of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Only texts have lines.
    pub(crate) line: Option<u64>,
    pub(crate) row: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line} (row {})", self.row),
            None => write!(f, "row {}", self.row),
        }
    }
}

/// What is wrong with one value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    #[error("missing value")]
    Empty,
    #[error("missing value (`{0}`)")]
    Missing(String),
    #[error("`{0}` is not a finite number")]
    NotFinite(String),
    #[error("`{0}` is not a finite number; --na={0} takes it for a gap")]
    Infinite(String),
    #[error("`{0}` is not a number")]
    Text(String),
    #[error("{0:e} is too large to work with, at most 1e100 is allowed")]
    Large(f64),
    #[error("a weight must be finite and not negative, got {0}")]
    Weight(f64),
}

/// Enough of a name or value to recognise it by, on one line.
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if chars.next().is_some() { start + "…" } else { start }
}

/// How much memory there is for rows.
fn memory(limit: Option<u64>) -> String {
    match limit {
        Some(limit) => {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            format!(", more than half of the memory of this process, {}", bytes(limit))
        }
        None => ", and there is not enough memory".to_owned(),
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// `340 bytes`, `1.2 kB`, `400 MB`.
pub(crate) fn bytes(n: usize) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if n < 1000 {
        return count(n, "byte");
    }
    let (mut size, mut unit) = (n as f64 / 1e3, 0);
    while size >= 999.5 && unit + 1 < UNITS.len() {
        (size, unit) = (size / 1e3, unit + 1);
    }
    let digits = usize::from(size < 9.95);
    format!("{size:.digits$} {}", UNITS[unit])
}

/// What the system said, without its error number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// A setting is called as on the command line.
fn as_flag(error: &DepthError) -> String {
    match error {
        DepthError::Setting { name, .. } => {
            error.to_string().replacen(name, &format!("--{}", name.replace('_', "-")), 1)
        }
        DepthError::NoSuchSetting { method, name, has } => {
            let flag = |name: &str| format!("--{}", name.replace('_', "-"));
            let has: Vec<_> = has.split(", ").map(flag).collect();
            format!("`{}` is no setting of method {method}, which has {}", flag(name), has.join(", "))
        }
        other => other.to_string(),
    }
}
