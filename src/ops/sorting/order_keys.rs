//! Keys of values that are ordered, grouped or searched for: numbers, in which strings do not differ from other values.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::record::string_rank::{Ranks, Strings};
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

/// A tensor of keys: numbers are keys as they are, and the key of a string is its rank among all strings of the tensor.
///
/// Operations compute on [`Self::tensor`], and [`Self::values`] turns keys back into strings. Keys of strings are u32
/// and begin with 1.
pub(in crate::ops) struct OrderKeys {
    op: &'static str,
    keys: Tensor,
    /// Of strings: these, and the first position of each rank.
    strings: Option<(Values, Node)>,
}

impl OrderKeys {
    /// The keys of `x`. Those of numbers cost nothing.
    #[track_caller]
    pub(in crate::ops) fn new(op: &'static str, x: &Tensor) -> Result<Self> {
        let values = x.values_ref();
        let Values::Strings { strings, bytes } = values else {
            return Ok(Self { op, keys: x.clone(), strings: None });
        };
        let Ranks { rank, first } = Strings { backend: x.backend(), op, strings, bytes }.ranks()?;
        let count = x.count()?;
        let keys = Node::map(x.backend(), op, count, Expr::load(&rank, Expr::index()), &[]);
        Ok(Self { op, keys: x.with_value_node(keys)?, strings: Some((values.clone(), first)) })
    }

    /// The keys of two tensors of one dtype, which compare with one another.
    #[track_caller]
    pub(in crate::ops) fn of_both(op: &'static str, a: &Tensor, b: &Tensor) -> Result<[Tensor; 2]> {
        if let (Values::Numbers(_), Values::Numbers(_)) = (a.values_ref(), b.values_ref()) {
            return Ok([a.clone(), b.clone()]);
        }
        let vector = |x: &Tensor| Tensor::new(x.backend(), Vec::new(), Some(x.count()?), [], x.values_ref().clone());
        let all = Self::new(op, &Tensor::concatenated(op, &[&vector(a)?, &vector(b)?], 0)?)?;
        let keys = all.keys.numbers(op)?;
        let part = |x: &Tensor, start: Expr| {
            let key = Expr::load(keys, Expr::index().add(start));
            x.with_value_node(Node::map(x.backend(), op, x.count()?, key, &[]))
        };
        Ok([part(a, Expr::u32(0))?, part(b, a.count()?.expr())?])
    }

    /// The keys.
    pub(in crate::ops) fn tensor(&self) -> &Tensor {
        &self.keys
    }

    /// The values of `keys`, some keys of this tensor, each as often as in the tensor at most. A key of no value, the
    /// least or greatest u32, gives the empty string.
    #[track_caller]
    pub(in crate::ops) fn values(&self, keys: Tensor) -> Result<Tensor> {
        self.bounded(keys, |all| BytesBound::AtMost(all.bytes_size()))
    }

    /// As [`Self::values`], where `keys` are all keys of this tensor in another order.
    #[track_caller]
    pub(in crate::ops) fn permuted(&self, keys: Tensor) -> Result<Tensor> {
        self.bounded(keys, |all| match all {
            Values::Strings { strings, .. } => BytesBound::Exactly(strings.nvals_extent().clone()),
            Values::Numbers(_) => BytesBound::Exactly(Extent::known(0)),
        })
    }

    #[track_caller]
    fn bounded(&self, keys: Tensor, bound: fn(&Values) -> BytesBound) -> Result<Tensor> {
        let Some((all, first)) = &self.strings else { return Ok(keys) };
        let position = Expr::load(keys.numbers(self.op)?, Expr::index()).sub(Expr::u32(1));
        let exists = position.clone().lt(first.extent().expr());
        let value = Pick::From(all, Expr::load(first, position));
        let value = Pick::either(exists, value, Pick::Fill(Fill::from("")));
        keys.holding(Values::rearranged(keys.backend(), self.op, &keys.count()?, &value, bound(all), &[])?)
    }
}
