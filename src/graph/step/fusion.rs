//! How much a planner fuses.

/// How much a planner fuses. All choices give the same bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fusion {
    /// Nothing: each intermediate array is stored. For tests.
    Nothing,
    /// Where storing an array would cost more.
    #[default]
    WhereCheaper,
    /// As [`Self::WhereCheaper`], and products that all readers can compute, however small. For tests.
    AllProducts,
}

impl Fusion {
    /// The least sizes of products that are not stored, of which `large` numbers are a large one; `None` if all are stored.
    pub(super) fn least_products(self, large: u64) -> Option<LeastSizes> {
        match self {
            Self::Nothing => None,
            Self::WhereCheaper => Some(LeastSizes { results: large, ratio: 4 }),
            Self::AllProducts => Some(LeastSizes { results: 0, ratio: 0 }),
        }
    }
}

/// The least sizes of products that are not stored: of arrays that take far more memory than all else, for example the
/// scores of attention in long rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeastSizes {
    /// Number of results.
    pub(super) results: u64,
    /// Number of results per number of the operands.
    pub(super) ratio: u64,
}
