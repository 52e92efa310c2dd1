//! Removal of white space around byte strings.

use super::separators::is_any_of;
use super::slices::slices;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::options::WHITE_SPACE;
use crate::tensor::Tensor;

operations! {
    /// Removal of white space around byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Removes ASCII white space at both ends of each string.
    ///
    /// White space is space, tab, line feed, vertical tab, form feed and carriage return; Awkward and Polars remove
    /// Unicode's. The layout stays: empty rows stay empty.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// A rank bitmap of the bytes that stay, a search in it per end with white space, a prefix sum of the lengths, and
    /// a copy of the bytes that stay. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![" a b\n", ""], vec![], vec![" \t"]], &Device::cpu())?;
    /// assert_eq!(x.string_strip()?.to_string(), "<ragged.RaggedTensor [[b'a b', b''], [], [b'']]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_strip(&self) -> Str;
    alias "trim", "strip";
    tensorflow "tf.strings.strip";
    awkward "ak.str.trim_whitespace";
    polars "str.strip_chars";
    gradient none "it takes strings";
}

#[track_caller]
fn string_strip(x: &Tensor) -> Result<Tensor> {
    let rec = x.recorder("string_strip");
    let (_, bytes) = rec.strings(x)?;
    let (first, end) = x.stripped(rec)?;
    let length = end.sub(first.clone());
    let size = x.values_ref().bytes_size();
    let values = slices(rec, &x.count()?, bytes, (first, length), size)?;
    x.holding(values)
}

impl Tensor {
    /// First position and end of each string without white space around it, as expressions in the string. They are
    /// equal for a string without other bytes.
    pub(super) fn stripped(&self, rec: Recorder<'_>) -> Result<(Expr, Expr)> {
        let (strings, bytes) = rec.strings(self)?;
        let (at, one) = (Expr::index(), Expr::u32(1));
        let is_space = |at: Expr| is_any_of(&Expr::load(bytes, at), &WHITE_SPACE);
        let stays = RankBitmap::new(rec, strings.nvals_extent(), is_space(at.clone()).not());
        let position = stays.select(rec);
        let (start, end) = (strings.start(at.clone()), strings.start(at.clone().add(one.clone())));
        let (before, until) = (stays.rank(&start), stays.rank(&end));
        let no_byte = || Expr::scalar(false);
        // Most strings have no white space around them: the search is in a branch.
        let edge = |byte: Expr, found: Expr, otherwise: Expr| {
            let found = before.clone().lt(until.clone()).select(found, end.clone());
            let is_space = start.clone().lt(end.clone()).select(is_space(byte), no_byte());
            let edge = is_space.select(found, otherwise);
            Ok::<_, Error>(Expr::load(&rec.map(rec.at(self.count())?, edge, &[]), at.clone()))
        };
        let last = until.clone().sub(one.clone());
        let first = edge(start.clone(), position(&before), start.clone())?;
        Ok((first, edge(end.clone().sub(one.clone()), position(&last).add(one), end.clone())?))
    }
}
