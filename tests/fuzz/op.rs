//! Operations of a chain, and their random choice.

use ragged::{DType, Result, Tensor};

use crate::random::Random;
use crate::{elementwise, indexing, masks, ordering, products, reductions, rows, shapes, strings};

/// The function of a step, on two tensors of the pool.
type Run = dyn Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync;

/// A step of a chain with its arguments, to be applied on every device.
pub struct Op {
    pub name: String,
    pub run: Box<Run>,
}

/// A step with a name.
pub fn op(name: impl Into<String>, run: impl Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync + 'static) -> Op {
    Op { name: name.into(), run: Box::new(run) }
}

/// Properties of the tensors that a step is chosen for.
#[derive(Clone, Copy)]
pub struct Subject {
    pub dtype: DType,
    pub rank: usize,
    /// A random dimension, counted from either end.
    pub axis: i64,
    /// Whether results may be 64-bit floats.
    pub has_f64: bool,
}

impl Subject {
    pub fn is_number(&self) -> bool {
        self.dtype != DType::Bool && self.dtype != DType::Str
    }

    /// All dimensions except the first.
    pub fn inner_axes(&self) -> Vec<i64> {
        (1..self.rank as i64).collect()
    }
}

type Family = fn(&mut Random, &Subject) -> Op;

/// The families for strings and for numbers, listed by frequency.
const OF_STRINGS: [Family; 7] =
    [strings::pick, strings::pick, indexing::pick, indexing::pick, masks::pick, shapes::pick, shapes::pick];
const OF_NUMBERS: [Family; 12] = [
    elementwise::pick,
    elementwise::pick,
    indexing::pick,
    indexing::pick,
    masks::pick,
    ordering::pick,
    ordering::pick,
    products::pick,
    reductions::pick,
    reductions::pick,
    rows::pick,
    shapes::pick,
];

/// A random step for a tensor.
pub fn choose(random: &mut Random, subject: &Subject) -> Op {
    let families: &[Family] = if subject.dtype == DType::Str { &OF_STRINGS } else { &OF_NUMBERS };
    random.of(families)(random, subject)
}
