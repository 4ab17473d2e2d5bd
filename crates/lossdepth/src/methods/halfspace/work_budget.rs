//! A limit on the work of a query.

/// The work spent on a query and its limit, in multiplications: a count and not a time, so that results are
/// reproducible.
pub(super) struct WorkBudget<'a> {
    pub(super) spent: u64,
    pub(super) budget: u64,
    /// Whether directions and simplices are enough, in any dimension.
    pub(super) approximate: bool,
    pub(super) cancelled: &'a dyn Fn() -> bool,
}

impl WorkBudget<'_> {
    pub(super) fn is_exhausted(&self) -> bool {
        self.spent >= self.budget
    }
}
