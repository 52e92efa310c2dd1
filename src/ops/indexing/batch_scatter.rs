//! Addition of updates at indices, batch by batch: the counterpart of `batch_gather`.

use crate::device::Device;
use crate::dtype::DType;
use crate::element::Arithmetic;
use crate::error::{Error, Result, caller};
use crate::graph::conditions::conditional_arrays;
use crate::graph::expr::{Check, Expr};
use crate::graph::node::Node;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::indexing::gather::{OUT_OF_RANGE, in_range};
use crate::ops::operations;
use crate::record::axis_rows::AxisRows;
use crate::record::by_key::ByKey;
use crate::record::elementwise::Takes;
use crate::tensor::Tensor;

operations! {
    /// Addition at indices.
    const OPERATIONS: family "Products and segments" on RaggedTensor<T> where T: Arithmetic;

    /// Adds each update to the element of its row that an index names; an index may occur several times.
    ///
    /// `updates[r][k]` is added to element `indices[r][k]` of row `r` of axis 1. The tensor is `[n, (len), ..]` with
    /// uniform dimensions below axis 1, the indices are `[n, (m)]` and the updates `[n, (m), ..]`; each of them may be
    /// dense. Shape and dtype stay; integers wrap. An element without updates is copied; a row without indices stays.
    ///
    /// The updates of one element are added up in the order of their row, in the canonical order of reductions, and the
    /// sum is added to the element: the same bits on every device.
    ///
    /// TensorFlow's operation names elements by all their coordinates. Paddle's name is `sequence_scatter`.
    ///
    /// # Errors
    /// Bools and strings; different dtypes or devices; indices that are not integers; ragged dimensions below axis 1;
    /// other numbers of rows, indices or inner sizes. At the read: an index that is negative or not below the length of
    /// its row, and sizes that only the device knows.
    ///
    /// # Cost
    /// A sort of the indices, a row reduction of the updates and a map. Never waits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([[10, 20, 30], [40, 50, 60]], &device)?;
    /// let at = RaggedTensor::from_nested([vec![2, 0, 2], vec![]], &device)?;
    /// let updates = RaggedTensor::from_nested([vec![1, 2, 3], vec![]], &device)?;
    /// assert_eq!(x.batch_scatter_add(&at, &updates)?.to_vec()?, [12, 20, 34, 40, 50, 60]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn batch_scatter_add(&self, indices: &impl AsRef<Tensor> as row, updates: &impl AsRef<Tensor> as row) -> T;
    alias "scatter_add", "index_add";
    tensorflow "tf.tensor_scatter_nd_add";
    gradient yes;
    row hand;
}

#[track_caller]
fn batch_scatter_add(x: &Tensor, indices: &impl AsRef<Tensor>, updates: &impl AsRef<Tensor>) -> Result<Tensor> {
    let rec = x.recorder("batch_scatter_add");
    x.scatter_added(rec, indices.as_ref(), updates.as_ref())
}

impl Tensor {
    /// [`Tensor::batch_scatter_add`] of an operation with another name.
    #[track_caller]
    pub(crate) fn scatter_added(&self, rec: Recorder<'_>, indices: &Self, updates: &Self) -> Result<Self> {
        let backend = self.backend();
        Takes::Numbers.check(rec.op, self.dtype())?;
        rec.at(Device::check_same(rec.op, backend, indices.backend()))?;
        rec.at(Device::check_same(rec.op, backend, updates.backend()))?;
        if updates.dtype() != self.dtype() {
            return Err(Error::DTypes { op: rec.op, lhs: self.dtype(), rhs: updates.dtype(), location: caller() });
        }
        let index_node = rec.index_node(indices, "indices")?;
        let location = caller();
        let misfit = |lhs: &Self, rhs: &Self, what: String| Error::Shape {
            op: rec.op,
            lhs: lhs.shape_text(),
            rhs: rhs.shape_text(),
            what,
            location,
        };
        for (x, name) in [(self, "the tensor"), (indices, "the indices"), (updates, "the updates")] {
            if x.rank() < 2 {
                let what = format!("{name} must have rows, but the shape is {}", x.shape_text());
                return Err(rec.argument(what));
            }
        }
        let (own, at, new) =
            (AxisRows::new(rec, self, 1)?, AxisRows::new(rec, indices, 1)?, AxisRows::new(rec, updates, 1)?);
        for rows in [&own, &at, &new] {
            rows.check_uniform_elements()?;
        }
        let width = own.elements.numbers_per_row()?.capacity();
        if at.elements.numbers_per_row()?.capacity() != 1 {
            return Err(misfit(self, indices, "there must be one index per update".into()));
        }
        if new.elements.numbers_per_row()?.capacity() != width {
            return Err(misfit(self, updates, format!("an update must have {width} numbers, as an element has")));
        }
        let mut asserts = Vec::new();
        let check = rec.check("the tensor and the indices have different numbers of rows");
        let rows = own.rows.nrows_extent().agrees(at.rows.nrows_extent());
        asserts.extend(rows.condition(rec, check, |(n, m)| {
            misfit(self, indices, format!("there are {n} rows, but {m} rows of indices"))
        })?);
        let check = rec.check("the indices and the updates have different numbers of rows");
        let rows = at.rows.nrows_extent().agrees(new.rows.nrows_extent());
        asserts.extend(rows.condition(rec, check, |(n, m)| {
            misfit(indices, updates, format!("there are {n} rows of indices, but {m} rows of updates"))
        })?);
        let check = rec.check("rows of indices and of updates have different lengths");
        asserts.extend(at.rows.agrees(&new.rows).condition(rec, check, |d| misfit(indices, updates, d.to_string()))?);
        let index = Expr::load(&index_node, Expr::index());
        let row = at.rows.row_of(Expr::index());
        let length = own.rows.length(row.clone());
        let ok = in_range(&index, length, own.rows.nvals_extent().capacity());
        let (count, cells) = (at.rows.nvals_extent(), own.rows.nvals_extent());
        asserts.push(Node::assert(backend, count.clone(), ok.clone(), Check::of_index(rec.op, OUT_OF_RANGE)));
        // An update at an index out of range gets a key beyond all elements, which drops it.
        let key = ok.select(own.rows.within(row, index.cast(DType::U32)), Expr::u32(u32::MAX));
        let key = rec.map(count.clone(), key, &asserts);
        let keys = ByKey::new(rec, count, Expr::load(&key, Expr::index()), cells)?;
        let wide = self.dtype().accumulator();
        let update = Expr::load(rec.numbers(updates)?, Expr::index()).cast(wide);
        let sums = keys.reduce(rec, ReduceOp::Sum, width, &update)?;
        if sums.extent().capacity() == 0 {
            return self.on_condition(rec.op, &[asserts, conditional_arrays(&update, [])].concat());
        }
        let updated = Expr::u32(0).lt(keys.count(Expr::index().div(Expr::u32(width))));
        let own = Expr::load(rec.numbers(self)?, Expr::index());
        let sum = own.clone().cast(wide).add(Expr::load(&sums, Expr::index())).cast(own.dtype());
        self.with_value_node(rec.map(self.count()?, updated.select(sum, own), &asserts))
    }
}
