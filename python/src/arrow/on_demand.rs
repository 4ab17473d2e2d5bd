//! Values that are made once, when somebody first asks for them.

use std::sync::{Arc, Mutex, PoisonError};

/// A value that is made once per process, when it is first needed.
pub(super) struct OnDemand<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for OnDemand<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> OnDemand<T> {
    /// Whether it was made. While it is being made it counts as missing.
    pub(super) fn is_made(&self) -> bool {
        self.0.try_lock().is_ok_and(|slot| slot.is_some())
    }

    /// The value; others that need it wait until it is made.
    pub(super) fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*slot {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(make()?);
        *slot = Some(Arc::clone(&made));
        Ok(made)
    }
}
