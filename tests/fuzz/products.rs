//! Matrix products, embeddings, and operations on small indices.

use ragged::opt::{Combiner, Factor, LookupIds, along};
use ragged::{DType, Tensor};

use crate::op::{Op, Subject, op};
use crate::random::{self, Random};

/// Non-negative integers below a bound, computed from the tensor.
fn small(x: &Tensor, most: i64) -> ragged::Result<Tensor> {
    x.cast(DType::I64)?.floormod(most)
}

pub fn pick(random: &mut Random, x: &Subject) -> Op {
    let (axis, rank) = (x.axis, x.rank);
    let (a, b) = (random.once_in(2), random.once_in(2));
    match random.below(10) {
        0 if rank > 1 => op("x by its transpose", |x, _| x.matmul(x.t())),
        1 if rank > 1 => op("the transpose of x by x", |x, _| x.t().matmul(x)),
        2 if rank > 1 => op(format!("matmul {a} {b}"), move |x, y| {
            Factor::from(x).transposed(a).matmul(Factor::from(y).transposed(b))
        }),
        // Times a matrix of ones.
        3 if rank > 1 => op(format!("matmul of a plane {b}"), move |x, _| {
            let width = x.shape().last().copied().flatten().unwrap_or(1);
            let sizes = if b { [3, width] } else { [width, 3] };
            let plane = Tensor::ones(&ragged::RaggedShape::dense(&sizes, &x.device())?, x.dtype())?;
            x.matmul(Factor::from(&plane).transposed(b))
        }),
        4 => {
            let depth = random.below(4) as u32;
            op(format!("one_hot {depth} {axis}"), move |x, _| small(x, 4)?.one_hot(along(depth, axis), 7i32, -1i32))
        }
        5 => op("range of small numbers", |x, _| small(x, 6)?.range()),
        6 => op("ranges", move |x, _| {
            let flat = small(&x.flat_values()?.reshape([-1])?, 5)?;
            Tensor::ranges(&flat, 4i64, if a { 2i64 } else { -1 })
        }),
        7 => {
            let ids = random::rows(random, 4, 0, 3);
            op(format!("embedding_lookup {:?}", ids.values), move |x, _| {
                x.embedding_lookup(&ids.to_device(&x.device())?)
            })
        }
        _ => embeddings(random),
    }
}

/// Embedding lookups with combiners: weighted or not, safe or not.
fn embeddings(random: &mut Random) -> Op {
    let combiner = random.of(&[Combiner::Sum, Combiner::Mean, Combiner::SqrtN]);
    let (safe, weighted) = (random.once_in(2), random.once_in(2));
    let ids = random::rows(random, 5, if safe { -1 } else { 0 }, 3);
    let mut weights = ids.clone();
    weights.values = random::values(random, DType::F32, ids.values.len());
    let default = random.once_in(2).then_some(0);
    op(format!("embedding {combiner:?} safe {safe} weighted {weighted} of {:?}", ids.nested_row_splits), move |x, _| {
        let (ids, weights) = (ids.to_device(&x.device())?, weights.to_device(&x.device())?);
        let ids = LookupIds::from(&ids).weights(weighted.then_some(&weights)).default(default.filter(|_| safe));
        if safe { x.safe_embedding_lookup_sparse(ids, combiner) } else { x.embedding_lookup_sparse(ids, combiner) }
    })
}
