//! Elementwise concatenation of byte strings.

use std::borrow::Cow;

use super::rows_joined::{StringRows, separator_bytes};
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Rows;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::ops::operations;
use crate::ops::reshaping::concat::{append_values, number_of_operands};
use crate::shape::same_layout;
use crate::tensor::{BytesBound, Pick, RaggedTensor, Tensor, Values};

operations! {
    /// Element-wise concatenation of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Concatenates the strings at the same position of each tensor, with `separator` in between.
    ///
    /// All tensors have one layout, which stays: empty rows stay empty. A scalar is joined to every string.
    ///
    /// # Errors
    /// No tensors; a tensor that does not hold strings; layouts that differ; different devices.
    ///
    /// # Cost
    /// A prefix sum over the strings and a map over the bytes; for more than two inputs, after a copy of all strings. A
    /// consumer of the bytes that fuses the map, such as a hash, avoids storing the joined bytes. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![], vec!["c"]], &device)?;
    /// let y = RaggedTensor::from_nested([vec!["1", "2"], vec![], vec!["3"]], &device)?;
    /// let pairs = RaggedTensor::string_join(&[&x, &y], "+")?;
    /// assert_eq!(pairs.to_string(), "<ragged.RaggedTensor [[b'a+1', b'b+2'], [], [b'c+3']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_join(tensors: &[impl AsRef<Tensor>] as tensors, separator: &str = "") -> Str;
    alias "concat_ws", "concat_str";
    tensorflow "tf.strings.join";
    awkward "ak.str.join_element_wise";
    polars "pl.concat_str";
    gradient none "it takes strings";
    typed hand;
    row hand;
}

#[track_caller]
fn string_join(tensors: &[impl AsRef<Tensor>], separator: &str) -> Result<Tensor> {
    let tensors: &[&Tensor] = &tensors.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    const OP: &str = "string_join";
    let Some((first, rest)) = tensors.split_first() else {
        return Err(Error::argument(OP, "there must be at least one tensor"));
    };
    let rec = first.recorder(OP);
    rec.strings(first)?;
    match rest {
        [] => Ok((*first).clone()),
        [other] => first.joined(rec, other, separator.as_bytes()),
        _ => Tensor::joined_all(rec, tensors, separator.as_bytes()),
    }
}

impl Tensor {
    /// The strings of all tensors, with the separator between those of the same position: the strings of one tensor after
    /// another are appended, and joined as rows.
    fn joined_all(rec: Recorder<'_>, all: &[&Self], separator: &[u8]) -> Result<Self> {
        let layout = all.iter().find(|x| x.rank() > 0).unwrap_or(&all[0]);
        let (backend, count) = (layout.backend(), rec.at(layout.count())?);
        let mut asserts = Vec::new();
        let mut alike: Vec<Cow<'_, Self>> = Vec::with_capacity(all.len());
        for x in all {
            rec.at(crate::device::Device::check_same(rec.op, backend, x.backend()))?;
            rec.strings(x)?;
            if x.rank() == 0 && layout.rank() > 0 {
                alike.push(Cow::Owned(x.like_rows_of(rec, layout)?));
                continue;
            }
            asserts.extend(same_layout(rec, layout.ragged_shape(), x.ragged_shape())?);
            alike.push(Cow::Borrowed(x));
        }
        let parts: Vec<(&Values, Extent)> = alike.iter().map(|x| (x.values_ref(), count.clone())).collect();
        let Values::Strings { strings, bytes } = append_values(rec, &parts, &asserts)? else {
            unreachable!("bug: strings that are numbers");
        };
        let n = number_of_operands(all.len());
        let (row, operand) = (Expr::index().div(Expr::size(&n)), Expr::index().rem(Expr::size(&n)));
        let nplaces = rec.times_size(&count, &n)?;
        let rows = StringRows {
            rows: &Rows::Uniform(n),
            nrows: &count,
            nplaces: &nplaces,
            string: &operand.mul(count.expr()).add(row),
            skips_leading_empty: false,
            asserts: &asserts,
        };
        rec.at(layout.holding(rows.joined(rec, (&strings, &bytes), separator)?))
    }

    /// The strings of both tensors, concatenated with the separator in between.
    fn joined(&self, rec: Recorder<'_>, other: &Self, separator: &[u8]) -> Result<Self> {
        rec.at(crate::device::Device::check_same(rec.op, self.backend(), other.backend()))?;
        let ((a, a_bytes), (b, b_bytes)) = (rec.strings(self)?, rec.strings(other)?);
        if self.rank() == 0 && other.rank() != 0 {
            return self.like_rows_of(rec, other)?.joined(rec, other, separator);
        }
        if other.rank() == 0 && self.rank() != 0 {
            return self.joined(rec, &other.like_rows_of(rec, self)?, separator);
        }
        let asserts = same_layout(rec, self.ragged_shape(), other.ragged_shape())?;
        let extent = rec.at(self.count())?;
        let (between, byte) = separator_bytes(rec, separator)?;
        let at = Expr::index();
        let [first_len, second_len] = [a, b].map(|strings| strings.length_of_existing(at.clone()));
        let length = first_len.add(Expr::size(&between)).add(second_len);
        let length = Expr::load(&rec.map(extent.clone(), length, &asserts), at.clone());
        let bytes = rec.plus(&rec.plus(a.nvals_extent(), b.nvals_extent())?, &rec.times_size(&extent, &between)?)?;
        let mut strings = rec.rows_of_lengths(&extent, length, bytes.size())?;
        // Otherwise the prefix sum of the result gives the total, and the totals of the operands need not be computed.
        if bytes.as_known().is_some() {
            strings = strings.with_nvals(bytes);
        }
        let (row, offset) = (strings.row_of(at.clone()), strings.offset_of(at));
        let first_len = a.length_of_existing(row.clone());
        let second_at = first_len.clone().add(Expr::size(&between));
        let from_a = Expr::load(a_bytes, a.within(row.clone(), offset.clone()));
        let from_b = Expr::load(b_bytes, b.within(row, offset.clone().sub(second_at.clone())));
        let middle =
            if separator.is_empty() { from_b.clone() } else { byte.at(&offset.clone().sub(first_len.clone())) };
        let byte = offset.clone().lt(first_len).select(from_a, offset.lt(second_at).select(middle, from_b));
        let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
        let values = Values::Strings { strings, bytes };
        rec.at(self.holding(values))
    }

    /// Broadcasts this scalar to the shape of `layout`.
    fn like_rows_of(&self, rec: Recorder<'_>, layout: &Self) -> Result<Self> {
        let pick = Pick::From(self.values_ref(), Expr::u32(0));
        let count = rec.at(layout.count())?;
        let bytes = self.values_ref().bytes_capacity() * u64::from(count.capacity());
        let values = rec.rearranged(&count, &pick, BytesBound::at_most(bytes), &[])?;
        rec.at(layout.holding(values))
    }
}

/// Element-wise concatenation of byte strings.
impl RaggedTensor<Str> {
    /// Concatenates the strings at the same position of each tensor, with `separator` in between.
    ///
    /// All tensors have one layout, which stays: empty rows stay empty. A scalar is joined to every string.
    ///
    /// # Errors
    /// No tensors; layouts that differ; different devices.
    ///
    /// # Cost
    /// A prefix sum over the strings and a map over the bytes; for more than two inputs, after a copy of all strings. A
    /// consumer of the bytes that fuses the map, such as a hash, avoids storing the joined bytes. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec!["a", "b"], vec![], vec!["c"]], &device)?;
    /// let y = RaggedTensor::from_nested([vec!["1", "2"], vec![], vec!["3"]], &device)?;
    /// let pairs = RaggedTensor::string_join(&[&x, &y], "+")?;
    /// assert_eq!(pairs.to_string(), "<ragged.RaggedTensor [[b'a+1', b'b+2'], [], [b'c+3']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.strings.join`. Awkward: `ak.str.join_element_wise`. Polars: `pl.concat_str`.
    #[track_caller]
    pub fn string_join(tensors: &[&Self], separator: &str) -> Result<Self> {
        let erased: Vec<&Tensor> = tensors.iter().map(|t| t.erased()).collect();
        Tensor::string_join(&erased, separator)?.try_into()
    }
}
