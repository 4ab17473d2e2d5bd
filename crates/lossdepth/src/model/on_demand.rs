//! What a model learns when it is first asked for.

use crate::error::Result;
use std::sync::OnceLock;

/// A value that is learned at the first call that needs it, and kept.
pub(super) struct OnDemand<T>(OnceLock<T>);

impl<T> Default for OnDemand<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> From<Option<T>> for OnDemand<T> {
    fn from(known: Option<T>) -> Self {
        Self(known.map_or_else(OnceLock::new, OnceLock::from))
    }
}

impl<T> OnDemand<T> {
    pub(super) fn known(&self) -> Option<&T> {
        self.0.get()
    }

    /// No lock is held meanwhile: two callers at once may both learn it, and find the same.
    pub(super) fn get(&self, learn: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let learned = learn()?;
        Ok(self.0.get_or_init(|| learned))
    }
}
