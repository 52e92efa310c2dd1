//! Removal of prefixes and suffixes of byte strings.

use super::slices::slices;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::upper_bound;
use crate::graph::opcode::ReduceOp;
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::ops::elementwise::string_pairs::Side;
use crate::ops::{IntoOperand, IntoOperandOf, operations};
use crate::record::by_key::reduce_rows;
use crate::record::elementwise::Together;
use crate::record::operand::Operand;
use crate::shape::Place;
use crate::tensor::{BytesBound, Fill, Tensor};

operations! {
    /// Removal of prefixes and suffixes of byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Removes `prefix` once from each string that begins with it; other strings stay.
    ///
    /// `prefix` is a string, or a tensor of strings; both broadcast as in arithmetic ([`Tensor::add`]). The result has
    /// the broadcast layout: empty rows stay empty. An empty prefix removes nothing.
    ///
    /// # Errors
    /// A tensor that does not hold strings; shapes that do not broadcast.
    ///
    /// # Cost
    /// A comparison of as many bytes as the prefixes have, a prefix sum of the lengths, and a copy of the bytes that
    /// stay. No wait. Where strings repeat, the read of a GPU may wait for the number of bytes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["v1.2", "1.0"], vec![], vec!["v"]], &Device::cpu())?;
    /// assert_eq!(x.strip_prefix("v")?.to_string(), "<ragged.RaggedTensor [[b'1.2', b'1.0'], [], [b'']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn strip_prefix<'a>(&self, prefix: impl IntoOperandOf<'a, Str> as broadcast) -> Str;
    alias "removeprefix", "trim_start_matches";
    polars "str.strip_prefix";
    gradient none "it takes strings";

    /// Removes `suffix` once from each string that ends with it; other strings stay.
    ///
    /// `suffix` is a string, or a tensor of strings; both broadcast as in arithmetic ([`Tensor::add`]). The result has
    /// the broadcast layout: empty rows stay empty. An empty suffix removes nothing.
    ///
    /// # Errors
    /// A tensor that does not hold strings; shapes that do not broadcast.
    ///
    /// # Cost
    /// A comparison of as many bytes as the suffixes have, a prefix sum of the lengths, and a copy of the bytes that
    /// stay. No wait. Where strings repeat, the read of a GPU may wait for the number of bytes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["12ms", "3"], vec![]], &Device::cpu())?;
    /// assert_eq!(x.strip_suffix("ms")?.string_to_number::<i32>()?.to_vec()?, [12, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn strip_suffix<'a>(&self, suffix: impl IntoOperandOf<'a, Str> as broadcast) -> Str;
    alias "removesuffix", "trim_end_matches";
    polars "str.strip_suffix";
    gradient none "it takes strings";
}

#[track_caller]
fn strip_prefix<'a>(x: &Tensor, prefix: impl IntoOperand<'a>) -> Result<Tensor> {
    Operand::from(x).strip_prefix(prefix.into())
}

#[track_caller]
fn strip_suffix<'a>(x: &Tensor, suffix: impl IntoOperand<'a>) -> Result<Tensor> {
    Operand::from(x).strip_suffix(suffix.into())
}

impl Operand<'_> {
    #[track_caller]
    pub(crate) fn strip_prefix(&self, prefix: Operand<'_>) -> Result<Tensor> {
        let rec = Operand::recorder("strip_prefix", [self, &prefix])?;
        without(rec, [self.clone(), prefix], End::Front)
    }

    #[track_caller]
    pub(crate) fn strip_suffix(&self, suffix: Operand<'_>) -> Result<Tensor> {
        let rec = Operand::recorder("strip_suffix", [self, &suffix])?;
        without(rec, [self.clone(), suffix], End::Back)
    }
}

/// Bytes of a constant affix up to which it is compared in the map over the strings.
const SHORT: usize = 16;

/// The bound of a number of bytes of which nothing is known.
fn unbounded() -> Size {
    upper_bound(u64::MAX).into()
}

/// The end of a string at which an affix is.
#[derive(Debug, Clone, Copy)]
enum End {
    Front,
    Back,
}

/// The strings of the first operand without those of the second at this end.
fn without(rec: Recorder<'_>, operands: [Operand<'_>; 2], end: End) -> Result<Tensor> {
    let together = Together::new(rec, &operands)?;
    let (x, affix) = (Side::new(&operands[0], &together, 0)?, Side::new(&operands[1], &together, 1)?);
    let ((strings, bytes), (affixes, affix_bytes)) = (x.parts(rec)?, affix.parts(rec)?);
    let (count, at) = (&together.count, Expr::index());
    let most = match x.place {
        Place::Same => strings.nvals_extent().size().clone(),
        _ => unbounded(),
    };
    let in_x = |row: &Expr| x.place.expr().at(row);
    let wanted = |row: &Expr| affixes.length(affix.place.expr().at(row));
    let fits = |row: &Expr| wanted(row).le(strings.length(in_x(row)));
    // Byte `k` of the part of a string that its affix is compared with.
    let byte = |row: &Expr, k: Expr| {
        let skipped = match end {
            End::Front => k,
            End::Back => strings.length(in_x(row)).sub(wanted(row)).add(k),
        };
        Expr::load(bytes, strings.within(in_x(row), skipped))
    };
    let equal = match &operands[1] {
        Operand::Value(Fill::String(constant)) if constant.len() <= SHORT => {
            let each = constant.iter().zip(0..).map(|(&own, k)| byte(&at, Expr::u32(k)).eq(Expr::number(own)));
            each.reduce(Expr::and).unwrap_or_else(|| Expr::scalar(true))
        }
        _ => {
            let compared = fits(&at).select(wanted(&at), Expr::u32(0));
            let most = [x.bound(count), affix.bound(count)].into_iter().fold(unbounded(), |most, bound| match bound {
                BytesBound::AtMost(own) => most.min(&own),
                BytesBound::Exactly(own) => most.min(own.size()),
                BytesBound::Unknown => most,
            });
            let compared = rec.rows_of_lengths(count, compared, most)?;
            let (row, k) = (compared.row_of(at.clone()), compared.offset_of(at.clone()));
            let own = Expr::load(affix_bytes, affixes.within(affix.place.expr().at(&row), k.clone()));
            let differs = byte(&row, k).ne(own).cast(crate::DType::U32);
            let any = reduce_rows(rec, ReduceOp::Max, compared.domain(1), differs)?;
            Expr::load(&any, at.clone()).eq(Expr::u32(0))
        }
    };
    let cut = fits(&at).select(equal, Expr::scalar(false)).select(wanted(&at), Expr::u32(0));
    let cut = Expr::load(&rec.map(count.clone(), cut, &together.asserts), at.clone());
    let start = strings.start(in_x(&at));
    let first = match end {
        End::Front => start.add(cut.clone()),
        End::Back => start,
    };
    let length = strings.length(in_x(&at)).sub(cut);
    let values = slices(rec, count, bytes, (first, length), most)?;
    together.with(values)
}
