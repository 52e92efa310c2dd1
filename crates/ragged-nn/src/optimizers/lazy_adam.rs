//! Adam on the rows of embeddings that are used.

use ragged::{Result, Tensor};

use super::{Adam, Optimizer, Slot, Update};

/// [`Adam`], whose moving averages of a row of an embedding change only in steps that look the row up.
///
/// Rows that a step does not look up keep their values and averages, where those of [`Adam`] decay and move the row: the
/// results are others. The corrections of the first values count all steps. Variables that are read in another way or more
/// than once, and those of at most 512 numbers, change as with [`Adam`]: their gradients are dense
/// ([`sparse_value_and_grad`](ragged::sparse_value_and_grad)). So do all in [`Clipped`](super::Clipped) by a norm, which is that
/// of whole gradients.
///
/// ```
/// use ragged_nn::{Adam, LazyAdam, Optimizer};
/// let lazy = LazyAdam::new(Adam::new(0.01).beta_1(0.8));
/// assert_eq!((lazy.learning_rate(), lazy.slots().len()), (0.01, 2));
/// ```
///
/// Source: `tfa.optimizers.LazyAdam`; `torch.optim.SparseAdam`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LazyAdam {
    adam: Adam,
}

/// Making.
impl LazyAdam {
    /// Adam of these options.
    pub fn new(adam: Adam) -> Self {
        Self { adam }
    }
}

impl Optimizer for LazyAdam {
    fn name(&self) -> &'static str {
        "lazy_adam"
    }
    fn learning_rate(&self) -> f64 {
        self.adam.learning_rate()
    }
    fn slots(&self) -> Vec<Slot> {
        self.adam.slots()
    }
    fn fault(&self) -> Option<String> {
        self.adam.fault()
    }
    fn updates_used_rows(&self) -> bool {
        true
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        self.adam.update(of)
    }
}
