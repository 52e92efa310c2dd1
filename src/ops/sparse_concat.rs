//! Concatenation of sparse tensors.

use super::rows::Repeats;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::integer::Integer;
use crate::sparse::SparseTensor;
use crate::tensor::Tensor;

impl SparseTensor {
    /// Concatenates sparse tensors along `axis`.
    ///
    /// The dense shapes add up along the axis, and entries come out in row-major order. Unlike ragged rows, which are
    /// joined end to end, every row is as wide as the dense shape says.
    ///
    /// # Errors
    /// No tensors; `axis` out of range; dtypes or devices that differ; dense shapes that differ along other axes;
    /// dimensions of more than 2^32 - 2.
    ///
    /// # Cost
    /// A map over the entries of each tensor, and a sort of all entries by as many key bits as the dense shape takes.
    /// No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SparseTensor};
    /// let x = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// let twice = SparseTensor::concat(&[&x, &x], 1)?;
    /// assert_eq!(twice.to_dense(0)?.to_string(), "tensor([[5, 6, 5, 6], [7, 0, 7, 0]], shape=(2, 4), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.sparse.concat`.
    #[track_caller]
    pub fn concat(all: &[&Self], axis: impl Integer) -> Result<Self> {
        let axis = axis.saturating_i64();
        const OP: &str = "sparse.concat";
        let Some(first) = all.first() else {
            return Err(Error::argument(OP, "there must be at least one tensor"));
        };
        let rank = first.dense_shape().len();
        if axis < -(rank as i64) || axis >= rank as i64 {
            return Err(Error::Axis { op: OP, axis, rank, location: caller() });
        }
        let axis = axis.rem_euclid(rank as i64) as usize;
        let mut dense_shape = first.dense_shape().to_vec();
        dense_shape[axis] = 0;
        let mut shifted = Vec::with_capacity(all.len());
        for x in all {
            let dims = x.dense_shape();
            let fits = dims.len() == rank && (0..rank).all(|d| d == axis || dims[d] == first.dense_shape()[d]);
            if !fits {
                return Err(Error::Shape {
                    op: OP,
                    lhs: format!("{:?}", first.dense_shape()),
                    rhs: format!("{dims:?}"),
                    what: format!("they may differ along axis {axis} only"),
                    location: caller(),
                });
            }
            shifted.push(x.shifted(OP, axis, dense_shape[axis])?);
            dense_shape[axis] = dense_shape[axis].saturating_add(dims[axis]);
        }
        let indices = Tensor::concat(&shifted.iter().collect::<Vec<_>>(), 0)?;
        let values = Tensor::concat(&all.iter().map(|x| x.values()).collect::<Vec<_>>(), 0)?;
        Self::new(&indices, &values, &dense_shape)?.in_row_major_order(OP)
    }

    /// The coordinates, shifted by `by` along dimension `axis`.
    #[track_caller]
    fn shifted(&self, op: &'static str, axis: usize, by: u64) -> Result<Tensor> {
        if by == 0 {
            return Ok(self.indices().clone());
        }
        let rank = Expr::u32(self.dense_shape().len() as u32);
        let coordinate = Expr::load(self.indices().numbers(op)?, Expr::index());
        let moved = coordinate.clone().add(Expr::scalar(by as i64));
        let is_axis = Expr::index().rem(rank).eq(Expr::u32(axis as u32));
        let node =
            Node::map(self.values().backend(), op, self.indices().count()?, is_axis.select(moved, coordinate), &[]);
        self.indices().with_value_node(node)
    }

    /// The same entries in row-major order. Entries at equal coordinates keep their order.
    #[track_caller]
    fn in_row_major_order(&self, op: &'static str) -> Result<Self> {
        let backend = self.values().backend();
        let (count, rank) = (self.values().nrows_extent(), self.dense_shape().len());
        let node = self.indices().numbers(op)?;
        // Stable sorts from the innermost dimension outwards, each by as many dimensions as fit one key.
        let mut order = Expr::index();
        let mut last = rank;
        while last > 0 {
            let mut first = last;
            let mut keys = 1u64;
            while first > 0 {
                let next = keys.saturating_mul(self.dense_shape()[first - 1].max(1));
                if next > 1 << 32 {
                    break;
                }
                (first, keys) = (first - 1, next);
            }
            if first == last {
                return Err(Error::Limit {
                    what: op.into(),
                    requested: self.dense_shape()[last - 1],
                    unit: "elements",
                    limit: 1 << 32,
                    whose: "a dimension of a sparse tensor".into(),
                    location: caller(),
                });
            }
            let mut key = Expr::u32(0);
            for d in first..last {
                let at = order.clone().mul(Expr::u32(rank as u32)).add(Expr::u32(d as u32));
                let size = Expr::u32(self.dense_shape()[d].max(1) as u32);
                key = key.mul(size).add(Expr::load(node, at).cast(DType::U32));
            }
            let bits = 64 - (keys - 1).leading_zeros();
            let sorted = Node::sort(backend, op, count.clone(), key, bits);
            let composed = order.at(&Expr::load(&sorted, Expr::index()));
            order = Expr::load(&Node::map(backend, op, count.clone(), composed, &[]), Expr::index());
            last = first;
        }
        let take = |t: &Tensor| t.take_rows(op, count.clone(), order.clone(), Repeats::Never, &[]);
        Self::new(&take(self.indices())?, &take(self.values())?, self.dense_shape())
    }
}
