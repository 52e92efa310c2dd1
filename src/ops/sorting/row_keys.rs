//! Keys of the elements of rows: the order that they give.

use crate::device::Device;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::ops::sorting::order_keys::OrderKeys;
use crate::ops::sorting::row_runs::along_innermost_of;
use crate::record::axis_rows::AxisRows;
use crate::record::levels::Levels;
use crate::record::lines::Lines;
use crate::record::rows::Repeats;
use crate::record::sort_key::differ;
use crate::tensor::Tensor;

/// The elements of each row of a tensor, with one key or several, whose dimensions are the first dimensions of the
/// tensor.
pub(super) struct RowKeys<'a> {
    rec: Recorder<'a>,
    /// The keys, the most significant first.
    pub(super) keys: Vec<OrderKeys<'a>>,
    /// The key of an element, as an expression in the element, for each of the keys.
    values: Vec<Expr>,
    /// The rows of the tensor along the innermost axis of the keys.
    pub(super) along: AxisRows<'a>,
    /// The conditions that the rows of the keys are those of the tensor.
    pub(super) asserts: Vec<Node>,
    /// The element at place `Index` of the rows in the order of the keys.
    order: Expr,
}

impl<'a> RowKeys<'a> {
    /// The elements of `x` with these keys, the most significant first, each with whether its greatest value comes first.
    pub(super) fn new(rec: Recorder<'a>, x: &Tensor, keys: &[(&Tensor, bool)]) -> Result<Self> {
        let Some(&(first, _)) = keys.first() else {
            return Err(rec.argument("there must be at least one key"));
        };
        let (mut asserts, mut all) = (Vec::new(), Vec::with_capacity(keys.len()));
        let mut values = Vec::with_capacity(keys.len());
        for &(key, is_descending) in keys {
            rec.at(Device::check_same(rec.op, x.backend(), key.backend()))?;
            if key.rank() != first.rank() {
                let what = format!("keys of ranks {} and {}", first.rank(), key.rank());
                return Err(rec.shape(first.shape_text(), key.shape_text(), what));
            }
            asserts.extend(along_innermost_of(rec, x, key)?.1);
            let key = OrderKeys::new(rec, key)?;
            values.push((Expr::load(rec.numbers(key.tensor())?, Expr::index()), is_descending));
            all.push(key);
        }
        let (along, _) = along_innermost_of(rec, x, first)?;
        let levels = Levels::of(rec, first)?;
        let (stage, _) = levels.reduce(rec, (along.axis, along.axis), false)?;
        let order = Expr::load(&Lines::new(rec, &levels, &stage, along.axis)?.order_by(&values), Expr::index());
        let values = values.into_iter().map(|(value, _)| value).collect();
        Ok(Self { rec, keys: all, values, along, asserts, order })
    }

    /// The elements in the order of the keys.
    pub(super) fn elements(&self, asserts: &[Node]) -> Result<Tensor> {
        let count = self.along.rows.nvals_extent().clone();
        self.along.elements.take_rows(self.rec, count, self.order.clone(), Repeats::Never, asserts)
    }

    /// Each key at a place, an expression: that of the element which is there.
    pub(super) fn at<'b>(&'b self, place: &'b Expr) -> impl Iterator<Item = Expr> + 'b {
        self.values.iter().map(move |value| value.at(&self.order.at(place)))
    }

    /// Whether the element at place `Index` differs in a key from the element at the place before.
    pub(super) fn differs_from_previous(&self) -> Expr {
        let (at, one) = (Expr::index(), Expr::u32(1));
        let previous = at.clone().max(one.clone()).sub(one);
        let differs = self.at(&at).zip(self.at(&previous)).map(|(a, b)| differ(a, b));
        differs.reduce(Expr::or).expect("bug: there is a key")
    }
}
