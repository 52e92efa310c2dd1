//! Numbers of products that no step stores, as the expressions of a step read them.

use super::encoding::Encoded;

/// The numbers of a product, by position.
pub(crate) trait ProductNumbers: Send + Sync {
    /// Fills `out` with the numbers at these positions.
    fn fill(&self, at: &Encoded<'_>, out: &mut [u8]);
}
