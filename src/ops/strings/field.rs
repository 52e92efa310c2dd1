//! One piece of a split of each string, by its position.

use super::separators::{Edges, Occurrences, limit_of};
use super::slices::slices;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::{Check, Expr};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::integer::Integer;
use crate::ops::options::Separator;
use crate::ops::{IntoOperand, IntoOperandOf, operations};
use crate::record::operand::Operand;
use crate::tensor::{BytesBound, Fill, Pick, Tensor, Values};

operations! {
    /// One piece of a split of each string.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Piece `index` of each string, split as by [`string_split`](Self::string_split), without the other pieces.
    ///
    /// A negative index counts from the last piece. The layout stays: empty rows stay empty. An empty string has one
    /// empty piece, and none under [`nonempty`](crate::opt::nonempty). Every string must have the piece:
    /// [`nth_field_or`](Self::nth_field_or) gives a default for strings without it.
    ///
    /// # Errors
    /// The tensor does not hold strings; an empty separator or set of bytes; `max_splits` below 1. At the read: a string
    /// without the piece.
    ///
    /// # Cost
    /// The search of [`string_split`](Self::string_split), at most two searches in its rank bitmap per string, a prefix
    /// sum over the strings, and a copy of the bytes of the result. No wait.
    ///
    /// ```
    /// use ragged::opt::white_space;
    /// use ragged::{Device, RaggedTensor};
    /// let log = RaggedTensor::from_nested(["GET /a 200", "POST  /b 404"], &Device::cpu())?;
    /// assert_eq!(log.nth_field(white_space(), 1)?.to_strings()?, ["/a", "/b"]);
    /// assert_eq!(log.nth_field(" ", -1)?.string_to_number::<i32>()?.to_vec()?, [200, 404]);
    /// assert!(log.nth_field(" ", 3)?.to_strings().is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nth_field(&self, separator: impl Into<Separator> as Separator, index: impl Integer as integer) -> Str;
    alias "split_part", "cut", "field";
    polars "str.split(…).list.get";
    gradient none "it takes strings";

    /// Piece `index` of each string, as [`nth_field`](Self::nth_field), or `default` for strings without it.
    ///
    /// The default is one string. SQL's `split_part` has the empty string.
    ///
    /// # Errors
    /// The tensor does not hold strings; an empty separator or set of bytes; `max_splits` below 1; a default that is not
    /// a string.
    ///
    /// # Cost
    /// That of [`nth_field`](Self::nth_field), and a second copy of the result if the default is not empty. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["a=1", "b"], vec![]], &Device::cpu())?;
    /// let y = x.nth_field_or("=", 1, "0")?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[b'1', b'0'], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn nth_field_or<'a>(
        &self,
        separator: impl Into<Separator> as Separator,
        index: impl Integer as integer,
        default: impl IntoOperandOf<'a, Str> as operand,
    ) -> Str;
    alias "split_part";
    polars "str.split(…).list.get(…, null_on_oob=True)";
    gradient none "it takes strings";
}

#[track_caller]
fn nth_field(x: &Tensor, separator: impl Into<Separator>, index: impl Integer) -> Result<Tensor> {
    const OP: &str = "nth_field";
    let rec = x.recorder(OP);
    let index = index.saturating_i64();
    let field = Field::new(OP, x, &separator.into(), index)?;
    let check = Check::of_index(OP, format!("a string has no field {index}"));
    let asserts = [Node::assert(x.backend(), x.count()?, field.present.clone(), check)];
    x.holding(field.values(rec, x, &asserts)?)
}

#[track_caller]
fn nth_field_or<'a>(
    x: &Tensor,
    separator: impl Into<Separator>,
    index: impl Integer,
    default: impl IntoOperand<'a>,
) -> Result<Tensor> {
    const OP: &str = "nth_field_or";
    let rec = x.recorder(OP);
    let Operand::Value(default) = default.into().of_dtype(OP, DType::Str)? else {
        return Err(rec.argument("the default must be a string, not a tensor"));
    };
    let field = Field::new(OP, x, &separator.into(), index.saturating_i64())?;
    let values = field.values(rec, x, &[])?;
    let width = if let Fill::String(s) = &default { s.len() as u64 } else { 0 };
    if width == 0 {
        return x.holding(values);
    }
    let (backend, count) = (x.backend(), x.count()?);
    let rec = Recorder::new(backend, OP);
    let bytes = values.bytes_capacity().saturating_add(width.saturating_mul(count.capacity().into()));
    let pick = Pick::either(field.present, Pick::From(&values, Expr::index()), Pick::Fill(default));
    x.holding(rec.rearranged(&count, &pick, BytesBound::at_most(bytes), &[])?)
}

/// A piece of each string, as expressions in the string.
struct Field {
    /// Whether the string has the piece.
    present: Expr,
    /// Position of its first byte; where it is absent, any.
    first: Expr,
    /// Position after its last byte; where it is absent, any.
    end: Expr,
}

impl Field {
    #[track_caller]
    fn new(op: &'static str, x: &Tensor, separator: &Separator, index: i64) -> Result<Self> {
        let (strings, bytes) = x.strings(op)?;
        let (backend, count) = (x.backend(), x.count()?);
        let rec = Recorder::new(backend, op);
        let limit = limit_of(op, separator)?.map(Expr::u32);
        let (at, one) = (Expr::index(), Expr::u32(1));
        let (start, row_end) = (strings.start(at.clone()), strings.start(at.clone().add(one.clone())));
        let stored = |e: Expr| Expr::load(&rec.map(count.clone(), e, &[]), at.clone());
        if separator.nonempty {
            let Edges { starts, ends } = Edges::new(rec, (strings, bytes), &separator.by)?;
            let before = stored(starts.rank(&start));
            let whole = stored(starts.rank(&row_end).sub(before.clone()));
            let pieces = match &limit {
                None => whole.clone(),
                Some(n) => n.clone().le(whole.clone()).select(n.clone().add(one.clone()), whole.clone()),
            };
            let (k, present) = place(index, &pieces);
            let piece = before.add(k.clone());
            let first = starts.select(rec)(&piece);
            let end = ends.select(rec)(&piece).add(one);
            let (first, end) = match limit {
                None => (first, end),
                Some(n) => (k.clone().lt(whole).select(first, row_end.clone()), k.lt(n).select(end, row_end)),
            };
            return Ok(Self { present, first, end });
        }
        let found = Occurrences::new(rec, (strings, bytes), &separator.by)?;
        let before = stored(found.before(&start));
        let splits = found.before(&row_end).sub(before.clone());
        let splits = limit.into_iter().fold(splits, Expr::min);
        let pieces = stored(splits.add(one.clone()));
        let (k, present) = place(index, &pieces);
        let position = found.select(rec);
        // The separators before and after the piece.
        let after = before.add(k.clone());
        let first = match index {
            0 => start,
            _ => {
                let behind = position(&after.clone().sub(one.clone())).add(Expr::u32(found.width()));
                k.clone().eq(Expr::u32(0)).select(start, behind)
            }
        };
        let end = match index {
            -1 => row_end,
            _ => k.add(one).eq(pieces).select(row_end, position(&after)),
        };
        Ok(Self { present, first, end })
    }

    /// The pieces; an empty string where one is absent.
    fn values(&self, rec: Recorder<'_>, x: &Tensor, asserts: &[Node]) -> Result<Values> {
        let (_, bytes) = rec.strings(x)?;
        let count = rec.at(x.count())?;
        let or_zero = |e: &Expr| self.present.clone().select(e.clone(), Expr::u32(0));
        let stored = |e: Expr| Expr::load(&rec.map(count.clone(), e, asserts), Expr::index());
        let first = stored(or_zero(&self.first));
        let length = or_zero(&self.end.clone().sub(first.clone()));
        slices(rec, &count, bytes, (first, length), x.values_ref().bytes_size())
    }
}

/// The index among `pieces` from the front, and whether the piece exists.
fn place(index: i64, pieces: &Expr) -> (Expr, Expr) {
    let distance = Expr::u32(u32::try_from(index.unsigned_abs()).unwrap_or(u32::MAX));
    match index {
        0.. => (distance.clone(), distance.lt(pieces.clone())),
        _ => (pieces.clone().sub(distance.clone()), distance.le(pieces.clone())),
    }
}
