//! Strings of code points.

use super::decoder::is_scalar;
use super::encoder::{Encoded, NOTHING};
use super::options::{InvalidText, TextEncoding};
use crate::dtype::DType;
use crate::element::{IntegerElement, Str};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::ops::indexing::gather::in_range;
use crate::ops::operations;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Strings of code points.
    const OPERATIONS: family "Strings" on RaggedTensor<T> where T: IntegerElement;

    /// The string of each row of code points.
    ///
    /// `[.., (characters)]` gives `[..]`: the innermost axis, ragged or uniform, disappears; a vector gives a scalar.
    /// Integers of any dtype. Empty rows give empty strings. Numbers that are no code point and surrogates are replaced
    /// by U+FFFD, or as the options around the encoding say: [`strict`](crate::opt::strict),
    /// [`ignore_invalid`](crate::opt::ignore_invalid), [`replace_invalid`](crate::opt::replace_invalid).
    ///
    /// # Errors
    /// The tensor is a scalar or does not hold integers; 2^32 - 1 bytes or more. At the read: an invalid code point, if
    /// strict.
    ///
    /// # Cost
    /// A map and a prefix sum over the code points, a map over the rows and one over the bytes. No wait.
    ///
    /// ```
    /// use ragged::opt::Encoding;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![72, 105], vec![], vec![33]], &Device::cpu())?;
    /// let text = x.unicode_encode(Encoding::Utf8)?;
    /// assert_eq!(text.to_string(), "tensor([b'Hi', b'', b'!'], shape=(3,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_encode(&self, encoding: impl Into<TextEncoding> as TextEncoding) -> Str;
    alias "chr";
    tensorflow "tf.strings.unicode_encode";
    gradient none "it takes integers";
    row vector;
}

#[track_caller]
fn unicode_encode(x: &Tensor, encoding: impl Into<TextEncoding>) -> Result<Tensor> {
    let TextEncoding { encoding, invalid, .. } = encoding.into();
    let (backend, dtype, count) = (x.backend(), x.dtype(), x.count()?);
    let rec = Recorder::new(backend, "unicode_encode");
    if !dtype.is_integer() {
        return Err(rec.unsupported(dtype, "code points are integers"));
    }
    let Some(outer) = x.outer() else {
        return Err(rec.argument("a scalar has no rows of code points; give it a dimension (expand_dims)"));
    };
    let code = Expr::load(rec.numbers(x)?, Expr::index()).cast(dtype.accumulator());
    let fits = in_range(&code, Expr::u32(0x11_0000), 0x11_0000);
    let code = code.cast(DType::U32);
    let is_valid = fits.and(is_scalar(&code));
    let code = match invalid {
        InvalidText::Replace(by) => is_valid.select(code, Expr::number(u32::from(by))),
        InvalidText::Ignore => is_valid.select(code, Expr::u32(NOTHING)),
        InvalidText::Strict => {
            let check = rec.check("an invalid code point; ignore_invalid or replace_invalid accept it");
            is_valid.clone().select(code, Expr::u32(0)).checked(check.into(), is_valid)
        }
    };
    let codes = rec.map(count.clone(), code, &[]);
    let encoded = Encoded::new(rec, &codes, &count, encoding)?;
    let deep = x.inner_to_partitions(x.inner().len())?;
    let rows = match deep.partitions().last() {
        Some(rows) => rows.clone(),
        None => RowPartition::uniform(outer.size().clone(), Extent::known(1))?,
    };
    let strings = encoded.strings(rec, &rows)?;
    let (mut partitions, mut inner) = (x.partitions().to_vec(), x.inner().to_vec());
    let outer = match (inner.pop(), partitions.pop()) {
        (Some(_), above) => {
            partitions.extend(above);
            Some(outer.clone())
        }
        (None, Some(rows)) => Some(rows.nrows_extent().clone()),
        (None, None) => None,
    };
    rec.tensor(partitions, outer, inner, Values::Strings { strings, bytes: encoded.bytes })
}
