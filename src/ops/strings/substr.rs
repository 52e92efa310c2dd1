//! Substrings by position and length.

use super::characters::Characters;
use super::slices::slices;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::ops::IntoOperand;
use crate::ops::operations;
use crate::record::operand::Operand;
use crate::shape::{Place, RaggedShape, UniformRows, broadcast, same_layout};
use crate::tensor::{Fill, Tensor};

operations! {
    /// Substrings by position and length.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// A part of each string: the `len` bytes from byte `pos` on.
    ///
    /// A negative `pos` counts from the end of the string. A substring ends at the end of its string at the latest, and
    /// is empty if `len` is not positive. `pos` and `len` are integers, or tensors of integers: of rank 0, of the
    /// strings' layout, or dense beside dense strings, where all broadcast as in arithmetic ([`Tensor::add`]). The
    /// layout stays, unless dense strings broadcast.
    ///
    /// # Errors
    /// The tensor does not hold strings; `pos` or `len` is not an integer, or has a layout that does not fit; at the
    /// read: a `pos` outside its string. The end of the string is inside.
    ///
    /// # Cost
    /// Maps over the strings, a prefix sum of the lengths, and a copy of the bytes of the result. No wait. Where
    /// strings repeat, the read of a GPU may wait for the number of bytes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["hello"], vec![], vec!["worlds"]], &Device::cpu())?;
    /// assert_eq!(x.substr(1, 3)?.to_string(), "<ragged.RaggedTensor [[b'ell'], [], [b'orl']]>");
    /// assert_eq!(x.substr(-2, 9)?.to_string(), "<ragged.RaggedTensor [[b'lo'], [], [b'ds']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn substr<'a>(
        &self,
        pos: impl IntoOperand<'a> as value,
        len: impl IntoOperand<'a> as value,
    ) -> Str;
    alias "substring";
    tensorflow "tf.strings.substr";
    gradient none "it takes strings";
    row hand;

    /// A part of each string: the `len` UTF-8 characters from character `pos` on.
    ///
    /// A negative `pos` counts from the end of the string. A substring ends at the end of its string at the latest, and
    /// is empty if `len` is not positive. A continuation byte (`10xxxxxx`) belongs to the character before it; one that
    /// begins a string is a character. `pos` and `len` are integers, or tensors of integers: of rank 0, of the strings'
    /// layout, or dense beside dense strings, where all broadcast as in arithmetic ([`Tensor::add`]). The layout stays,
    /// unless dense strings broadcast. In Polars positions may lie outside of the string.
    ///
    /// # Errors
    /// The tensor does not hold strings; `pos` or `len` is not an integer, or has a layout that does not fit; at the
    /// read: a `pos` outside its string. The end of the string is inside.
    ///
    /// # Cost
    /// A rank bitmap of the bytes, with two searches in it per string, one if `pos` is 0; maps over the strings, a
    /// prefix sum of the lengths, and a copy of the bytes of the result. No wait. Where strings repeat, the read of a
    /// GPU may wait for the number of bytes.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["naïve"], vec![], vec!["日本語"]], &Device::cpu())?;
    /// assert_eq!(x.substr_chars(1, 3)?.to_vec()?, ["aïv".as_bytes(), "本語".as_bytes()]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn substr_chars<'a>(
        &self,
        pos: impl IntoOperand<'a> as value,
        len: impl IntoOperand<'a> as value,
    ) -> Str;
    alias "substring", "slice";
    tensorflow "tf.strings.substr(…, unit='UTF8_CHAR')";
    awkward "ak.str.slice";
    polars "str.slice";
    gradient none "it takes strings";
    row hand;
}

#[track_caller]
fn substr<'a>(x: &Tensor, pos: impl IntoOperand<'a>, len: impl IntoOperand<'a>) -> Result<Tensor> {
    let rec = x.recorder("substr");
    x.substrings(rec, pos.into(), len.into(), false)
}

#[track_caller]
fn substr_chars<'a>(x: &Tensor, pos: impl IntoOperand<'a>, len: impl IntoOperand<'a>) -> Result<Tensor> {
    let rec = x.recorder("substr_chars");
    x.substrings(rec, pos.into(), len.into(), true)
}

impl Tensor {
    #[track_caller]
    fn substrings(&self, rec: Recorder<'_>, pos: Operand<'_>, len: Operand<'_>, by_char: bool) -> Result<Self> {
        let (strings, bytes) = rec.strings(self)?;
        let backend = self.backend();
        let layout = self.layout_beside(rec, [&pos, &len])?;
        let (at, row, count) = (Expr::index(), layout.places[0].expr(), layout.count.clone());
        let asserts = &layout.asserts;
        let pos = integer_per_string(rec, "pos", pos, &layout.places[1])?;
        let len = integer_per_string(rec, "len", len, &layout.places[2])?;
        let start = strings.start(row.clone());
        let size = strings.length(row.clone());
        let chars = by_char.then(|| Characters::new(rec, (strings, bytes)));
        // No position but the start of the string needs the number of characters.
        let from = if pos.is_zero() {
            Expr::u32(0)
        } else {
            let total = match &chars {
                None => size.clone(),
                Some(chars) => {
                    let total = chars.count(&row).add(chars.headless(&row));
                    Expr::load(&rec.map(count.clone(), total, &[]), at.clone())
                }
            };
            // From the front, within the string. A wrapped sum is not within it.
            let from = pos.in_front(&total);
            let inside = pos.is_within(&total);
            let from = rec.checked("a position is outside of its string", inside, from);
            Expr::load(&rec.map(count.clone(), from, &[]), at.clone())
        };
        // A string has at most as many characters as bytes.
        let taken = len.at_most(&size.sub(from.clone()));
        // Stored, since the length reads it too.
        let stored = |first| Expr::load(&rec.map(count.clone(), first, asserts), at.clone());
        let (first, length) = match &chars {
            None => (stored(start.add(from)), taken),
            Some(chars) => {
                let position = chars.position(rec);
                let first = stored(if pos.is_zero() { start } else { position(&row, &from) });
                let length = position(&row, &from.add(taken)).sub(first.clone());
                (first, length)
            }
        };
        let most = match layout.places[0] {
            Place::Same => self.values_ref().bytes_size(),
            _ => upper_bound(u64::MAX).into(),
        };
        let values = slices(rec, &count, bytes, (first, length), most)?;
        match layout.sizes {
            None => self.holding(values),
            Some((outer, inner)) => Self::new(backend, Vec::new(), outer, inner, values),
        }
    }

    /// The layout of the result beside these arguments.
    #[track_caller]
    fn layout_beside(&self, rec: Recorder<'_>, arguments: [&Operand<'_>; 2]) -> Result<Layout> {
        let backend = self.backend();
        let tensors = || arguments.into_iter().filter_map(|argument| argument.tensor()).filter(|t| t.rank() > 0);
        for t in arguments.into_iter().filter_map(|argument| argument.tensor()) {
            Device::check_same(rec.op, backend, t.backend())?;
        }
        let varies = |argument: &Operand<'_>| argument.tensor().is_some_and(|t| t.rank() > 0);
        if self.ragged_rank() > 0 || tensors().any(|t| t.ragged_rank() > 0) || tensors().next().is_none() {
            let mut asserts = Vec::new();
            for t in tensors() {
                asserts.extend(same_layout(rec, self.ragged_shape(), t.ragged_shape())?);
            }
            let [pos, len] = arguments.map(|argument| if varies(argument) { Place::Same } else { Place::First });
            return Ok(Layout { places: [Place::Same, pos, len], count: self.count()?, asserts, sizes: None });
        }
        let layouts: Vec<&RaggedShape> = std::iter::once(self).chain(tensors()).map(Self::ragged_shape).collect();
        let shared = broadcast(rec, &layouts, UniformRows::Once)?;
        let width = shared.inner.iter().fold(1u64, |n, &d| n.saturating_mul(d.into()));
        let count = shared.outer.as_ref().map_or(Ok(Extent::known(1)), |outer| outer.times(rec.op, width))?;
        let mut places = shared.places.into_iter();
        let mut next = || places.next().unwrap_or(Place::First);
        let own = next();
        let [pos, len] = arguments.map(|argument| if varies(argument) { next() } else { Place::First });
        Ok(Layout {
            places: [own, pos, len],
            count,
            asserts: shared.asserts,
            sizes: Some((shared.outer, shared.inner.to_vec())),
        })
    }
}

/// The layout of substrings.
struct Layout {
    /// Where a result's string, position and length are.
    places: [Place; 3],
    /// Number of results.
    count: Extent,
    /// The conditions under which the layouts fit.
    asserts: Vec<Node>,
    /// The sizes, if they are not those of the strings.
    sizes: Option<(Option<Extent>, Vec<u32>)>,
}

/// An integer argument for each result.
fn integer_per_string(rec: Recorder<'_>, name: &str, argument: Operand<'_>, place: &Place) -> Result<PerString> {
    let dtype = argument.dtype();
    if !dtype.is_integer() {
        return Err(rec.unsupported(dtype, format!("{name} must be an integer")));
    }
    match argument {
        Operand::Value(fill) => match rec.at(fill.of_dtype(rec.op, DType::I64))? {
            Fill::Number(crate::Scalar::I64(v)) => Ok(PerString::All(v)),
            other => Err(rec.unsupported(other.dtype(), format!("{name} must be an integer"))),
        },
        Operand::Tensor(t) => Ok(PerString::Each(Expr::load(rec.numbers(t)?, place.expr()).cast(DType::I64))),
    }
}

/// An integer argument: the same for all strings, or an i64 expression in the string.
enum PerString {
    All(i64),
    Each(Expr),
}

/// A 64-bit number as a number of at most 32 bits; larger ones saturate.
fn saturated(v: u64) -> Expr {
    Expr::u32(u32::try_from(v).unwrap_or(u32::MAX))
}

impl PerString {
    /// Whether it is 0 for all strings.
    fn is_zero(&self) -> bool {
        matches!(self, Self::All(0))
    }

    /// The position from the front of a string of `total` units, if it is within the string.
    fn in_front(&self, total: &Expr) -> Expr {
        match self {
            Self::All(v) if *v >= 0 => saturated(v.unsigned_abs()),
            Self::All(v) => total.clone().sub(saturated(v.unsigned_abs())),
            Self::Each(v) => {
                let zero = Expr::scalar(0i64);
                let back = v.clone().add(total.clone().cast(DType::I64));
                v.clone().lt(zero).select(back, v.clone()).cast(DType::U32)
            }
        }
    }

    /// Whether the position is within a string of `total` units, or at its end.
    fn is_within(&self, total: &Expr) -> Expr {
        match self {
            Self::All(v) => saturated(v.unsigned_abs()).le(total.clone()),
            Self::Each(v) => {
                let total = total.clone().cast(DType::I64);
                Expr::scalar(0i64).sub(total.clone()).le(v.clone()).and(v.clone().le(total))
            }
        }
    }

    /// The length, clamped to between 0 and `most`.
    fn at_most(&self, most: &Expr) -> Expr {
        match self {
            Self::All(v) => most.clone().min(saturated((*v).max(0).unsigned_abs())),
            Self::Each(v) => {
                let most = most.clone().cast(DType::I64);
                v.clone().max(Expr::scalar(0i64)).min(most).cast(DType::U32)
            }
        }
    }
}
