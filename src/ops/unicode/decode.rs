//! Code points of strings.

use super::decoder::Decoder;
use super::options::{InvalidText, TextEncoding};
use crate::dtype::DType;
use crate::element::Str;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Code points of strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// The code points of each string.
    ///
    /// i32; `[..]` gives `[.., (characters)]`. Empty strings give empty rows; a scalar gives a vector. Invalid text is
    /// replaced by U+FFFD, or as the options around the encoding say: [`strict`](crate::opt::strict),
    /// [`ignore_invalid`](crate::opt::ignore_invalid), [`replace_invalid`](crate::opt::replace_invalid),
    /// [`replace_controls`](crate::opt::replace_controls). In UTF-8 each maximal subpart of a character is one invalid
    /// character.
    ///
    /// # Errors
    /// The tensor does not hold strings. At the read: invalid text, if strict.
    ///
    /// # Cost
    /// A rank bitmap of the bytes, a map over the strings, and a compaction, which decode each byte twice. No wait.
    ///
    /// ```
    /// use ragged::opt::Encoding;
    /// use ragged::{Device, RaggedTensor};
    /// let text = RaggedTensor::from_nested(["né", ""], &Device::cpu())?;
    /// assert_eq!(text.unicode_decode(Encoding::Utf8)?.to_string(), "<ragged.RaggedTensor [[110, 233], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_decode(&self, encoding: impl Into<TextEncoding> as TextEncoding) -> i32;
    alias "code points", "ord";
    tensorflow "tf.strings.unicode_decode";
    gradient none "it takes strings";

    /// The code points of each string, and the offset of each character in the bytes of its string.
    ///
    /// Code points are i32, offsets i64; both have the shape `[.., (characters)]`. Empty strings give empty rows;
    /// scalars give vectors. Invalid text is replaced by U+FFFD, or as the options around the encoding say:
    /// [`strict`](crate::opt::strict), [`ignore_invalid`](crate::opt::ignore_invalid),
    /// [`replace_invalid`](crate::opt::replace_invalid), [`replace_controls`](crate::opt::replace_controls). In UTF-8
    /// each maximal subpart of a character is one invalid character.
    ///
    /// # Errors
    /// The tensor does not hold strings. At the read: invalid text, if strict.
    ///
    /// # Cost
    /// A rank bitmap of the bytes, a map over the strings, and two compactions; each byte is decoded twice. No wait.
    ///
    /// ```
    /// use ragged::opt::Encoding;
    /// use ragged::{Device, RaggedTensor};
    /// let text = RaggedTensor::from_nested(["né!", ""], &Device::cpu())?;
    /// let (codes, offsets) = text.unicode_decode_with_offsets(Encoding::Utf8)?;
    /// assert_eq!(codes.to_string(), "<ragged.RaggedTensor [[110, 233, 33], []]>");
    /// assert_eq!(offsets.to_string(), "<ragged.RaggedTensor [[0, 1, 3], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_decode_with_offsets(&self, encoding: impl Into<TextEncoding> as TextEncoding) -> (i32, i64);
    tensorflow "tf.strings.unicode_decode_with_offsets";
    gradient none "it takes strings";
}

#[track_caller]
fn unicode_decode(x: &Tensor, encoding: impl Into<TextEncoding>) -> Result<Tensor> {
    let rec = x.recorder("unicode_decode");
    Characters::new(rec, x, encoding.into())?.code_points(rec, x)
}

#[track_caller]
fn unicode_decode_with_offsets(x: &Tensor, encoding: impl Into<TextEncoding>) -> Result<(Tensor, Tensor)> {
    let rec = x.recorder("unicode_decode_with_offsets");
    let characters = Characters::new(rec, x, encoding.into())?;
    Ok((characters.code_points(rec, x)?, characters.offsets(rec, x)?))
}

/// The characters of strings.
pub(super) struct Characters {
    /// The first byte of each character.
    marks: RankBitmap,
    /// The partition of the characters into strings.
    pub(super) strings: RowPartition,
    /// The code point of each character; u32.
    pub(super) codes: Node,
}

impl Characters {
    /// # Errors
    /// The tensor holds numbers.
    pub(super) fn new(rec: Recorder<'_>, x: &Tensor, format: TextEncoding) -> Result<Self> {
        let (strings, bytes) = rec.strings(x)?;
        let count = strings.nvals_extent();
        let Decoder { is_start, mut is_valid, code } = Decoder::new(format.encoding, strings, bytes);
        if format.replace_controls {
            is_valid = is_valid.and(Expr::u32(0x20).le(code.clone()));
        }
        let (keep, code) = match format.invalid {
            InvalidText::Ignore => (is_start.and(is_valid), code),
            InvalidText::Replace(by) => (is_start, is_valid.select(code, Expr::number(u32::from(by)))),
            InvalidText::Strict => {
                let check = rec.check("invalid text; ignore_invalid or replace_invalid accept it");
                (is_start.clone().checked(check.into(), is_start.not().or(is_valid)), code)
            }
        };
        let marks = RankBitmap::new(rec, count, keep);
        let before = marks.rank(&strings.start(Expr::index()));
        let nrows = strings.nrows_extent();
        let strings = rec.rows_of_starts(nrows, &before, count.size(), &[])?;
        let codes = rec.compact(&marks, (code, 1), strings.nvals_extent().clone());
        Ok(Self { marks, strings, codes })
    }

    /// Number of characters.
    pub(super) fn count(&self) -> &Extent {
        self.strings.nvals_extent()
    }

    /// A value per character below the strings of `x`.
    pub(super) fn tensor(&self, rec: Recorder<'_>, x: &Tensor, values: Values) -> Result<Tensor> {
        let count = Some(self.count().clone());
        if x.rank() == 0 {
            return rec.tensor(Vec::new(), count, [], values);
        }
        let mut partitions = rec.at(x.inner_to_partitions(x.inner().len()))?.partitions().to_vec();
        partitions.push(self.strings.clone());
        rec.tensor(partitions, count, [], values)
    }

    /// The offset of each character in the bytes of its string; i64.
    pub(super) fn offsets(&self, rec: Recorder<'_>, x: &Tensor) -> Result<Tensor> {
        let (strings, _) = rec.strings(x)?;
        let offset = strings.offset_of(Expr::index()).cast(DType::I64);
        let offsets = rec.compact(&self.marks, (offset, 1), self.count().clone());
        self.tensor(rec, x, Values::Numbers(offsets))
    }

    /// The code points; i32.
    pub(super) fn code_points(&self, rec: Recorder<'_>, x: &Tensor) -> Result<Tensor> {
        let code = Expr::load(&self.codes, Expr::index()).cast(DType::I32);
        self.tensor(rec, x, Values::Numbers(rec.map(self.count().clone(), code, &[])))
    }
}
