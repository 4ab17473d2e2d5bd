//! Why a solver stopped.

use serde::{Deserialize, Serialize};

/// Why a solver stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The proven error is within the tolerance.
    Converged,
    /// The iterations ran out first; the proven error still holds.
    IterationLimit,
    /// Rounding prevents further progress; the proven error still holds.
    Stalled,
}

impl Stop {
    /// The name used in tables and in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::IterationLimit => "iteration-limit",
            Self::Stalled => "stalled",
        }
    }

    /// Of iterations that end because the goal is met, or the limit reached, or else because no step helps.
    pub(crate) fn of(met: bool, limit: bool) -> Self {
        match (met, limit) {
            (true, _) => Self::Converged,
            (_, true) => Self::IterationLimit,
            _ => Self::Stalled,
        }
    }

    /// The status to report with a proven error: converged if and only if it is within the tolerance.
    pub(crate) fn for_error(self, error: f64, tol: f64) -> Self {
        match self {
            _ if error <= tol => Self::Converged,
            Self::Converged => Self::Stalled,
            other => other,
        }
    }
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
