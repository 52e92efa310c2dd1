//! Declarations of the operations of LoD tensors, whose methods are written by hand.

use crate::element::{Arithmetic, FloatElement};
use crate::ops::operations;

operations! {
    /// Operations of LoD tensors.
    const SEQUENCES: family "Sequences" on LodTensor;

    /// The tensor of the rows of `data` with these levels, outermost first: for each level the lengths of its
    /// sequences.
    fn from_lengths<'a>(
        data: &impl AsRef<Tensor>,
        recursive_sequence_lengths: impl IntoIterator<Item = Integers<'a>>,
    ) -> (Lod<T>);
    gradient yes;

    /// The tensor of the rows of `data` with these levels, outermost first: for each level the offsets of its
    /// sequences.
    fn from_lod<'a>(data: &impl AsRef<Tensor>, lod: impl IntoIterator<Item = Integers<'a>>) -> (Lod<T>);
    gradient yes;

    /// The tensor of nested lists: one level per list around the rows.
    fn from_nested(rows: impl IntoNested<T>, device: &Device) -> (Lod<T>);
    gradient none "it takes no tensor";

    /// The tensor whose outermost sequences are these tensors: a level of their numbers of rows, above the levels that
    /// they have.
    fn from_list(sequences: &[impl AsRef<Tensor>]) -> (Lod<T>);
    gradient yes;

    /// The same data with other levels, as offsets: `from_lod` of the data.
    fn with_lod<'a>(&self, lod: impl IntoIterator<Item = Integers<'a>>) -> (Lod<T>);
    gradient yes;

    /// The rows of all sequences, one after the other, as a dense tensor.
    fn data(&self) -> T;
    gradient yes;

    /// The lengths of the sequences of a level, as a vector on the device; -1 is the last level.
    fn lengths(&self, level: impl Integer) -> i64;
    gradient none "the result holds counts";

    /// The offsets of the sequences of a level, as a vector on the device; -1 is the last level.
    fn offsets(&self, level: impl Integer) -> i64;
    gradient none "the result holds offsets of rows";

    /// The outermost sequences, each with the levels below: for one level, dense tensors of the rows of each sequence.
    fn to_list(&self) -> [T];
    waits "for the number of sequences, where only the device knows it";
    gradient yes;

    /// Joins the sequences of the last level: sequence `i` of the result consists of sequence `i` of each tensor, in
    /// the order of the tensors.
    fn sequence_concat(all: &[impl AsRef<Self>]) -> (Lod<T>);
    gradient yes;

    /// Convolution over each sequence of the last level: the context of a row, as one vector, times the filter.
    fn sequence_conv(&self, filter: &impl AsRef<Tensor>, context: impl Into<Context>) -> (Lod<T>) where T: Arithmetic;
    gradient yes;

    /// The window of `win_size` successive values that begins at each row, within its sequence of the last level;
    /// `pad_value` stands behind the end.
    fn sequence_enumerate<'a>(&self, win_size: impl Integer, pad_value: impl IntoOperand<'a>) -> (Lod<T>);
    gradient yes;

    /// Repeats each outermost sequence of this tensor (each row, if it has no levels) as often as the sequence of `y`
    /// with the same index in level `ref_level` is long.
    fn sequence_expand(&self, y: &Self as same, ref_level: impl Integer) -> (Lod<T>);
    gradient yes;

    /// Repeats each row of this tensor, which has no levels, to a sequence as long as the sequence of `y` with the same
    /// index in its last level.
    fn sequence_expand_as(&self, y: &Self as same) -> (Lod<T>);
    gradient yes;

    /// Pads the sequences of the last level to one length, `[n, maxlen, ..]` under the levels above, and returns their
    /// lengths too.
    fn sequence_pad<'a>(&self, pad_value: impl Into<Padding<'a>>, maxlen: impl Into<MaxLength>) -> ((Lod<T>), i64);
    waits "for the longest sequence, where `maxlen` is `..` and only the device knows it";
    gradient yes;

    /// The inverse of `sequence_pad`: the first `length[i]` rows of padded sequence `i` become sequence `i`
    /// of a new last level.
    fn sequence_unpad<'a>(&self, length: impl Into<Integers<'a>>) -> (Lod<T>);
    gradient yes;

    /// The mask of the rows of padded sequences: for each sequence of the last level `maxlen` bools, true for its rows,
    /// false for padding, under the levels above.
    fn sequence_mask(&self, maxlen: impl Into<MaxLength>) -> (Lod<bool>);
    waits "for the longest sequence, where `maxlen` is `..` and only the device knows it";
    gradient none "the result holds bools";

    /// One row for each sequence of the last level; `pad_value` for an empty one.
    fn sequence_pool<'a>(&self, pool: Pool, pad_value: impl IntoOperand<'a>) -> (Lod {pool});
    gradient yes;

    /// The first row of each sequence of the last level; zeros for an empty one.
    fn sequence_first_step(&self) -> (Lod<T>);
    gradient yes;

    /// The last row of each sequence of the last level; zeros for an empty one.
    fn sequence_last_step(&self) -> (Lod<T>);
    gradient yes;

    /// The numbers of each sequence of the last level as rows of `new_dim`: a sequence of `n` rows of `d` numbers
    /// becomes one of `n * d / new_dim` rows.
    fn sequence_reshape(&self, new_dim: impl Integer) -> (Lod<T>);
    gradient yes;

    /// Reverses the rows of each sequence of the last level.
    fn sequence_reverse(&self) -> (Lod<T>);
    gradient yes;

    /// Adds the updates of sequence `i` to row `i` of this tensor, at the indices of sequence `i`.
    fn sequence_scatter(&self, index: &Self as same, updates: &Self as same) -> (Lod<T>) where T: Arithmetic;
    gradient yes;

    /// A part of each sequence of the last level: `length[i]` rows of sequence `i`, from row `offset[i]` on.
    fn sequence_slice<'a>(&self, offset: impl Into<Integers<'a>>, length: impl Into<Integers<'a>>) -> (Lod<T>);
    gradient yes;

    /// Softmax over each sequence of the last level: the exponential of each value, divided by the sum of the
    /// exponentials of its sequence.
    fn sequence_softmax(&self) -> (Lod<T>) where T: FloatElement;
    gradient yes;
}
