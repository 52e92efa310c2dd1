//! Tables from their shards.

use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::ops::operations;
use crate::record::rows::Repeats;
use crate::tensor::Tensor;

/// How the rows of a table are divided among shards: TensorFlow's `partition_strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShardStrategy {
    /// Row `i` of the table is row `i / n` of shard `i % n`, of `n` shards.
    Mod,
    /// The shards are consecutive ranges of rows.
    Div,
}

operations! {
    /// Tables from shards.
    const OPERATIONS: family "Indexing and gathering" on RaggedTensor<T> where T: Element;

    /// Joins a table from shards, so that the row of each id is where it is looked up.
    ///
    /// The shards are dense, of one dtype, which stays, and equal in their dimensions below the rows. Of `r` rows in
    /// all, shard `k` of `n` has `r / n`, and one more if `k < r % n`, for both strategies: with
    /// [`ShardStrategy::Mod`] row `i` of the table is row `i / n` of shard `i % n`; with [`ShardStrategy::Div`] the
    /// shards follow each other. [`embedding_lookup`](Tensor::embedding_lookup) and the other look-ups then take any
    /// option.
    ///
    /// # Errors
    /// No shards; shards that are ragged, scalars, on different devices, or of different dtypes or dimensions; shards of
    /// other numbers of rows, at the read where only the device knows them.
    ///
    /// # Cost
    /// A copy of the shards. Several look-ups should share one table.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, opt::ShardStrategy};
    /// let device = Device::cpu();
    /// let even = RaggedTensor::from_nested([[0.0f32], [2.0], [4.0]], &device)?;
    /// let odd = RaggedTensor::from_nested([[1.0f32], [3.0]], &device)?;
    /// let table = RaggedTensor::<f32>::from_shards(&[&even, &odd], ShardStrategy::Mod)?;
    /// let ids = RaggedTensor::from_nested([vec![3, 0], vec![], vec![4]], &device)?;
    /// assert_eq!(table.embedding_lookup(&ids)?.to_vec()?, [3.0, 0.0, 4.0]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn from_shards(shards: &[impl AsRef<Tensor>] as tensors, strategy: ShardStrategy = ShardStrategy::Mod) -> T;
    alias "partition_strategy", "sharded embedding";
    tensorflow "tf.nn.embedding_lookup([…], …, partition_strategy=…)";
    gradient yes;
    row none "a table is the same for all rows";
}

#[track_caller]
fn from_shards(shards: &[impl AsRef<Tensor>], strategy: ShardStrategy) -> Result<Tensor> {
    const OP: &str = "from_shards";
    if shards.is_empty() {
        return Err(Error::argument(OP, "there must be at least one shard"));
    }
    for shard in shards {
        shard.as_ref().check_table(OP)?;
    }
    let table = Tensor::concat(shards, 0).map_err(|e| e.of(OP))?;
    let rec = table.recorder(OP);
    let (all, n) = (table.nrows_extent(), shards.len() as u32);
    let sizes: Vec<Extent> = shards.iter().map(|shard| shard.as_ref().nrows_extent()).collect();
    let mut asserts = Vec::new();
    for (k, size) in (0..n).zip(&sizes) {
        match (all.as_known(), size.as_known()) {
            (Some(all), Some(size)) => {
                let wanted = all / n + u32::from(k < all % n);
                if size != wanted {
                    let what = format!("shard {k} of {n} must have {wanted} of the {all} rows, but has {size}");
                    return Err(rec.argument(what));
                }
            }
            _ => {
                let more = Expr::u32(k).lt(all.expr().rem(Expr::u32(n))).select(Expr::u32(1), Expr::u32(0));
                let wanted = all.expr().div(Expr::u32(n)).add(more);
                let check = rec.check(format!("shard {k} of {n} has not its share of the rows"));
                asserts.push(rec.assert(Extent::known(1), size.expr().eq(wanted), check));
            }
        }
    }
    if strategy == ShardStrategy::Div {
        return table.on_condition(OP, &asserts);
    }
    let (row, n) = (Expr::index(), Expr::u32(n));
    let (shard, place) = (row.clone().rem(n.clone()), row.div(n.clone()));
    let (each, more) = (all.expr().div(n.clone()), all.expr().rem(n));
    let from = shard.clone().mul(each).add(shard.min(more)).add(place);
    table.take_rows(rec, all, from, Repeats::Never, &asserts)
}
