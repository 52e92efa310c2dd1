//! Embedding tables.

use ragged::{DType, Result, Tensor};

use super::check_device;
use crate::fault::argument;
use crate::initializer::Initializer;
use crate::variables::Variables;

/// A table of vectors, looked up by id.
///
/// The variable is `NAME/embeddings`, `[rows, width]`, of f32.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Embedding, Initializer, Variables};
/// let v = Variables::new(&Device::cpu(), Seed(7));
/// let words = Embedding::new("words", 100, 2).initializer(Initializer::Constant(0.5));
/// let ids = RaggedTensor::from_nested([vec![3, 99], vec![]], &Device::cpu())?;
/// assert_eq!(words.call(&v, &ids)?.to_string(), "<ragged.RaggedTensor [[[0.5, 0.5], [0.5, 0.5]], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.Embedding`.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    name: String,
    rows: usize,
    width: usize,
    initializer: Initializer,
}

/// Making and calling.
impl Embedding {
    /// A table of that name, with so many rows and numbers per row.
    ///
    /// It begins as uniform numbers between -0.05 and 0.05.
    pub fn new(name: impl Into<String>, rows: usize, width: usize) -> Self {
        Self { name: name.into(), rows, width, initializer: Initializer::Uniform { low: -0.05, high: 0.05 } }
    }

    /// The first value of the table.
    #[must_use]
    pub fn initializer(self, initializer: Initializer) -> Self {
        Self { initializer, ..self }
    }

    /// The rows at the ids: the dimensions and partitions of `ids`, then the width. Empty rows stay empty.
    ///
    /// # Errors
    /// Ids that are no integers. At the read: an id that is negative, or not below the number of rows.
    ///
    /// # Cost
    /// One map, which fuses into its consumer; the gradient sorts the ids.
    #[track_caller]
    pub fn call(&self, v: &Variables, ids: &impl AsRef<Tensor>) -> Result<Tensor> {
        const OP: &str = "Embedding::call";
        let (name, ids) = (&self.name, ids.as_ref());
        if ids.dtype().is_float() || matches!(ids.dtype(), DType::Bool | DType::Str) {
            let what = format!("layer {name:?} takes integers, but is given {}", ids.dtype());
            return Err(argument(OP, what));
        }
        check_device(OP, name, v, ids)?;
        let shape = [self.rows, self.width];
        let table = v.made(OP, &format!("{name}/embeddings"), DType::F32, &shape, &self.initializer)?;
        table.embedding_lookup(ids)
    }
}
