//! Columns of the Gram matrix: stored, or computed when they are asked for.

use crate::error::Result;
use crate::kernel::Space;
use crate::numerics::linalg::Matrix;

/// Where columns come from; which it is does not change a bit of them.
pub(crate) enum Columns<'a> {
    /// The whole matrix.
    Stored(&'a Matrix),
    /// As many as there is room for, computed when they are first needed.
    Cached(Cache<'a>),
}

/// One worker's columns.
pub(crate) struct Cache<'a> {
    space: &'a Space,
    /// Which column of `held` a point's column is.
    place: Vec<Option<usize>>,
    held: Vec<Matrix>,
    used: usize,
    capacity: usize,
    missing: Vec<usize>,
}

/// Columns allocated at a time.
const SHELF: usize = 32;

impl<'a> Columns<'a> {
    /// Columns computed on demand, about `bytes` of them kept.
    pub(crate) fn cached(space: &'a Space, bytes: u64) -> Self {
        let most = usize::try_from(bytes / (8 * space.len() as u64)).unwrap_or(usize::MAX);
        let capacity = most.min(space.len()).max(SHELF);
        let place = vec![None; space.len()];
        Self::Cached(Cache { space, place, held: Vec::new(), used: 0, capacity, missing: Vec::new() })
    }

    /// Makes sure that these columns are there until the next call.
    pub(crate) fn require(&mut self, wanted: impl Iterator<Item = usize> + Clone) -> Result<()> {
        match self {
            Self::Stored(_) => Ok(()),
            Self::Cached(cache) => cache.require(wanted),
        }
    }

    /// A column that was required.
    pub(crate) fn column(&self, j: usize) -> &[f64] {
        match self {
            Self::Stored(gram) => gram.col(j),
            Self::Cached(cache) => {
                let place = cache.place[j].unwrap_or_else(|| unreachable!("required before it is used"));
                cache.held[place / SHELF].col(place % SHELF)
            }
        }
    }
}

impl Cache<'_> {
    fn require(&mut self, wanted: impl Iterator<Item = usize> + Clone) -> Result<()> {
        let lacking = wanted.clone().filter(|&j| self.place[j].is_none()).count();
        if self.used + lacking > self.capacity {
            // Starting over is simple, and rare where there is room for many rounds.
            self.place.fill(None);
            self.used = 0;
        }
        self.missing.clear();
        self.missing.extend(wanted.filter(|&j| self.place[j].is_none()));
        for j in std::mem::take(&mut self.missing).chunks(SHELF) {
            // A shelf is filled from its beginning, so that its columns are computed in one go.
            let shelf = self.used.div_ceil(SHELF);
            if shelf == self.held.len() {
                self.held.push(Matrix::zeros(self.space.len(), SHELF));
            }
            self.space.columns(j, &mut self.held[shelf])?;
            for (k, &j) in j.iter().enumerate() {
                self.place[j] = Some(shelf * SHELF + k);
            }
            self.used = shelf * SHELF + j.len();
        }
        Ok(())
    }
}
