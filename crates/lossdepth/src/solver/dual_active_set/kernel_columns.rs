//! Columns of the Gram matrix: stored, or computed on demand.

use crate::error::Result;
use crate::kernel::Space;
use crate::numerics::linalg::Matrix;

/// Access to kernel columns $k(x_i, x_j)$, $i = 1, \dots, n$. Both sources give the same bits.
pub(crate) enum KernelColumns<'a> {
    /// The whole Gram matrix.
    Stored(&'a Matrix),
    /// A bounded number of columns, computed at first use.
    Cached(ColumnCache<'a>),
}

/// One worker's column cache.
pub(crate) struct ColumnCache<'a> {
    space: &'a Space,
    /// For each sample point, the slot of its column in `blocks`, if it is held.
    slot_of: Vec<Option<usize>>,
    blocks: Vec<Matrix>,
    used: usize,
    capacity: usize,
    missing: Vec<usize>,
}

/// Columns allocated and computed together.
const BLOCK: usize = 32;

impl<'a> KernelColumns<'a> {
    /// Columns computed on demand, in a cache of about `bytes`.
    pub(crate) fn cached(space: &'a Space, bytes: u64) -> Self {
        let most = usize::try_from(bytes / (8 * space.len() as u64)).unwrap_or(usize::MAX);
        let capacity = most.min(space.len()).max(BLOCK);
        let slot_of = vec![None; space.len()];
        Self::Cached(ColumnCache {
            space,
            slot_of,
            blocks: Vec::new(),
            used: 0,
            capacity,
            missing: Vec::new(),
        })
    }

    /// Makes these columns available until the next call.
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
                let slot = cache.slot_of[j].unwrap_or_else(|| unreachable!("required before it is used"));
                cache.blocks[slot / BLOCK].col(slot % BLOCK)
            }
        }
    }
}

impl ColumnCache<'_> {
    fn require(&mut self, wanted: impl Iterator<Item = usize> + Clone) -> Result<()> {
        let lacking = wanted.clone().filter(|&j| self.slot_of[j].is_none()).count();
        if self.used + lacking > self.capacity {
            // Clear the whole cache: simple, and rare if it holds the columns of many rounds.
            self.slot_of.fill(None);
            self.used = 0;
        }
        self.missing.clear();
        self.missing.extend(wanted.filter(|&j| self.slot_of[j].is_none()));
        for j in std::mem::take(&mut self.missing).chunks(BLOCK) {
            // Fill a block from its beginning, so that its columns are computed in one call.
            let block = self.used.div_ceil(BLOCK);
            if block == self.blocks.len() {
                self.blocks.push(Matrix::zeros(self.space.len(), BLOCK));
            }
            self.space.columns(j, &mut self.blocks[block])?;
            for (k, &j) in j.iter().enumerate() {
                self.slot_of[j] = Some(block * BLOCK + k);
            }
            self.used = block * BLOCK + j.len();
        }
        Ok(())
    }
}
