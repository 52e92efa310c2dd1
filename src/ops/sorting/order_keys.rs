//! Keys of values that are ordered, grouped or searched for: numbers, in which strings do not differ from other values.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::record::string_rank::{Ranks, Strings};
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

/// A tensor of keys: numbers are keys as they are, and the key of a string is its rank among all strings of the tensor.
///
/// Operations compute on [`Self::tensor`], and [`Self::values`] turns keys back into strings. Keys of strings are u32
/// and begin with 1.
pub(in crate::ops) struct OrderKeys<'a> {
    rec: Recorder<'a>,
    keys: Tensor,
    /// Of strings: these, and the first position of each rank.
    strings: Option<(Values, Node)>,
}

impl<'a> OrderKeys<'a> {
    /// The keys of `x`. Those of numbers cost nothing.
    pub(in crate::ops) fn new(rec: Recorder<'a>, x: &Tensor) -> Result<Self> {
        let values = x.values_ref();
        let Values::Strings { strings, bytes } = values else {
            return Ok(Self { rec, keys: x.clone(), strings: None });
        };
        let Ranks { rank, first } = Strings { rec, strings, bytes }.ranks()?;
        let keys = rec.map(rec.count(x)?, Expr::load(&rank, Expr::index()), &[]);
        Ok(Self { rec, keys: rec.at(x.with_value_node(keys))?, strings: Some((values.clone(), first)) })
    }

    /// The keys of two tensors of one dtype, which compare with one another.
    pub(in crate::ops) fn of_both(rec: Recorder<'_>, a: &Tensor, b: &Tensor) -> Result<[Tensor; 2]> {
        if let (Values::Numbers(_), Values::Numbers(_)) = (a.values_ref(), b.values_ref()) {
            return Ok([a.clone(), b.clone()]);
        }
        let vector = |x: &Tensor| rec.tensor(Vec::new(), Some(rec.count(x)?), [], x.values_ref().clone());
        let all = Tensor::concatenated(rec, &[&vector(a)?, &vector(b)?], 0)?;
        let all = OrderKeys::new(rec, &all)?;
        let keys = rec.numbers(&all.keys)?;
        let part = |x: &Tensor, start: Expr| {
            let key = Expr::load(keys, Expr::index().add(start));
            rec.at(x.with_value_node(rec.map(rec.count(x)?, key, &[])))
        };
        Ok([part(a, Expr::u32(0))?, part(b, rec.count(a)?.expr())?])
    }

    /// The keys.
    pub(in crate::ops) fn tensor(&self) -> &Tensor {
        &self.keys
    }

    /// The values of `keys`, some keys of this tensor, each as often as in the tensor at most. A key of no value, the
    /// least or greatest u32, gives the empty string.
    pub(in crate::ops) fn values(&self, keys: Tensor) -> Result<Tensor> {
        self.bounded(keys, |all| BytesBound::AtMost(all.bytes_size()))
    }

    /// As [`Self::values`], where `keys` are all keys of this tensor in another order.
    pub(in crate::ops) fn permuted(&self, keys: Tensor) -> Result<Tensor> {
        self.bounded(keys, |all| match all {
            Values::Strings { strings, .. } => BytesBound::Exactly(strings.nvals_extent().clone()),
            Values::Numbers(_) => BytesBound::Exactly(Extent::known(0)),
        })
    }

    fn bounded(&self, keys: Tensor, bound: fn(&Values) -> BytesBound) -> Result<Tensor> {
        let Some((all, first)) = &self.strings else { return Ok(keys) };
        let position = Expr::load(self.rec.numbers(&keys)?, Expr::index()).sub(Expr::u32(1));
        let exists = position.clone().lt(first.extent().expr());
        let value = Pick::From(all, Expr::load(first, position));
        let value = Pick::either(exists, value, Pick::Fill(Fill::from("")));
        let values = self.rec.rearranged(&self.rec.count(&keys)?, &value, bound(all), &[])?;
        self.rec.at(keys.holding(values))
    }
}
