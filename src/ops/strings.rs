//! Byte strings: splitting, joining, filling.

use crate::dtype::DType;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::rank_bitmap::RankBitmap;
use crate::integer::{Integer, size_u32};
use crate::shape::{RowPartition, same_layout};
use crate::tensor::{BytesBound, Fill, Pick, RaggedTensor, Tensor, Values};

/// Treatment of empty pieces between adjacent separators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pieces {
    /// Drops empty pieces, for words: a run of separators counts as one, and separators at an end are ignored.
    NonEmpty,
    /// Keeps empty pieces, for fields and lines: every separator ends a piece, and a string without one is one piece.
    All,
}

impl Tensor {
    /// Splits each string at the bytes of `separators`.
    ///
    /// `[..]` of strings gives `[.., (pieces)]`: one more ragged dimension. The separators are removed. An empty string
    /// has no piece with [`Pieces::NonEmpty`], and one piece with [`Pieces::All`].
    ///
    /// # Errors
    /// The tensor does not hold strings; `separators` is empty; the tensor is a scalar (give it a dimension).
    ///
    /// # Cost
    /// Two rank bitmaps of the bytes (half a byte per byte), two compactions and two maps. The numbers of pieces and
    /// bytes stay on the device. No wait.
    ///
    /// # Source
    /// `tf.strings.split`, with a set of one-byte separators.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues, Pieces};
    /// let text = HostTensor::dense(&[2], HostValues::Str(vec![b"to be  or".to_vec(), b" ".to_vec()]));
    /// let words = text.to_device(&Device::cpu())?.string_split(b" ", Pieces::NonEmpty)?.to_host()?;
    /// assert_eq!(words.nested_row_splits, [[0, 3, 3]]);
    /// assert_eq!(words.values, HostValues::Str(vec![b"to".to_vec(), b"be".to_vec(), b"or".to_vec()]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string_split(&self, separators: &[u8], pieces: Pieces) -> Result<Self> {
        const OP: &str = "string_split";
        let (strings, bytes) = self.strings(OP)?;
        if separators.is_empty() {
            return Err(Error::argument(OP, "there must be at least one separator"));
        }
        if self.rank() == 0 {
            return Err(Error::argument(OP, "a scalar has no rows to split; give it a dimension first"));
        }
        let backend = self.backend();
        let (byte_count, nrows) = (strings.nvals_extent(), strings.nrows_extent());
        let (at, one) = (Expr::index(), Expr::u32(1));
        let is_separator = |at: Expr| {
            let byte = Expr::load(bytes, at);
            let hits = separators.iter().map(|&s| byte.clone().eq(Expr::scalar(s)));
            hits.reduce(Expr::or).expect("not empty")
        };
        let kept = RankBitmap::new(backend, OP, byte_count, is_separator(at.clone()).not());
        // Starts of pieces, or the separators that end pieces.
        let marks = match pieces {
            Pieces::All => RankBitmap::new(backend, OP, byte_count, is_separator(at.clone())),
            Pieces::NonEmpty => {
                let is_first = strings.start(strings.row_of(at.clone())).eq(at.clone());
                // The previous byte. The first byte of a string has none of its own string, and ignores it.
                let after = is_first.select(Expr::scalar(true), is_separator(at.clone().sub(one.clone())));
                let starts = is_separator(at.clone()).not().and(after);
                let starts = Node::map(backend, OP, byte_count.clone(), starts, &[]);
                RankBitmap::new(backend, OP, byte_count, Expr::load(&starts, at.clone()))
            }
        };
        // Number of pieces before row r: piece starts before the row; or separators, plus one piece per string.
        let before = marks.rank(&strings.start(at.clone()));
        let before = match pieces {
            Pieces::NonEmpty => before,
            Pieces::All => before.add(at.clone()),
        };
        let capacity = match pieces {
            // Every piece but the last of a string takes at least one byte and a separator.
            Pieces::NonEmpty => byte_count.size().min(byte_count.size().div(2).add(nrows.size())),
            Pieces::All => byte_count.plus(OP, nrows)?.size().clone(),
        };
        let partition = RowPartition::from_starts(backend, OP, nrows, &before, &capacity, &[])?;
        let (piece_count, piece_bytes) = (partition.nvals_extent(), kept.total());
        // Number of bytes kept before piece k.
        let start = match pieces {
            Pieces::NonEmpty => {
                let starts = Node::compact(backend, OP, &marks, (kept.rank(&at), 1), piece_count.clone());
                Expr::load(&starts, at.clone())
            }
            Pieces::All => {
                let ends = Node::compact(backend, OP, &marks, (kept.rank(&at), 1), marks.total());
                let (row, nth) = (partition.row_of(at.clone()), partition.offset_of(at.clone()));
                let first = strings.start(row);
                let end = Expr::load(&ends, marks.rank(&first).add(nth.clone()).sub(one));
                nth.eq(Expr::u32(0)).select(kept.rank(&first), end)
            }
        };
        let piece_splits = at.clone().lt(piece_count.expr()).select(start, piece_bytes.expr());
        let byte = (Expr::load(bytes, at), 1);
        let bytes = Node::compact(backend, OP, &kept, byte, piece_bytes.clone());
        let strings = RowPartition::from_starts(backend, OP, piece_count, &piece_splits, byte_count.size(), &[])?
            .with_nvals(piece_bytes);
        let mut partitions = self.inner_to_partitions(self.inner().len())?.partitions().to_vec();
        let outer = piece_count.clone();
        partitions.push(partition);
        Self::new(backend, partitions, Some(outer), Vec::new(), Values::Strings { strings, bytes })
    }

    /// Concatenates the strings at the same position of each tensor.
    ///
    /// All tensors have one layout, which stays; a scalar is joined to every string. `separator` is inserted between
    /// two strings.
    ///
    /// # Errors
    /// No tensors; a tensor that does not hold strings; layouts that differ; different devices.
    ///
    /// # Cost
    /// A prefix sum over the strings and a map over the bytes for two inputs, and as much again for each further input.
    /// A consumer of the bytes that fuses the map, such as a hash, avoids storing the joined bytes. No wait.
    ///
    /// # Source
    /// `tf.strings.join`.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues, Tensor};
    /// let x = HostTensor::dense(&[2], HostValues::Str(vec![b"a".to_vec(), b"b".to_vec()])).to_device(&Device::cpu())?;
    /// let pairs = Tensor::string_join(&[&x, &x], "+")?.to_host()?;
    /// assert_eq!(pairs.values, HostValues::Str(vec![b"a+a".to_vec(), b"b+b".to_vec()]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn string_join(tensors: &[impl AsRef<Self>], separator: &str) -> Result<Self> {
        let tensors: &[&Self] = &tensors.iter().map(AsRef::as_ref).collect::<Vec<_>>();
        const OP: &str = "string_join";
        let Some((first, rest)) = tensors.split_first() else {
            return Err(Error::argument(OP, "there must be at least one tensor"));
        };
        first.strings(OP)?;
        let mut out = (*first).clone();
        for next in rest {
            out = out.joined(OP, next, separator.as_bytes())?;
        }
        Ok(out)
    }

    /// The strings of both tensors, concatenated with the separator in between.
    #[track_caller]
    fn joined(&self, op: &'static str, other: &Self, separator: &[u8]) -> Result<Self> {
        crate::device::Device::check_same(op, self.backend(), other.backend())?;
        let ((a, a_bytes), (b, b_bytes)) = (self.strings(op)?, other.strings(op)?);
        if self.rank() == 0 && other.rank() != 0 {
            return self.like_rows_of(op, other)?.joined(op, other, separator);
        }
        if other.rank() == 0 && self.rank() != 0 {
            return self.joined(op, &other.like_rows_of(op, self)?, separator);
        }
        let backend = self.backend();
        let asserts = same_layout(backend, op, self.ragged_shape(), other.ragged_shape())?;
        let extent = self.count()?;
        let between = separator.len() as u32;
        let at = Expr::index();
        let [first_len, second_len] = [a, b].map(|strings| strings.length_of_existing(at.clone()));
        let length = first_len.add(Expr::u32(between)).add(second_len);
        let length = Expr::load(&Node::map(backend, op, extent.clone(), length, &asserts), at.clone());
        let bytes = a.nvals_extent().plus(op, b.nvals_extent())?.plus(op, &extent.times(op, between.into())?)?;
        let mut strings = RowPartition::from_lengths(backend, op, &extent, length, bytes.size())?;
        // Otherwise the prefix sum of the result gives the total, and the totals of the operands need not be computed.
        if bytes.as_known().is_some() {
            strings = strings.with_nvals(bytes);
        }
        let (row, offset) = (strings.row_of(at.clone()), strings.offset_of(at));
        let first_len = a.length_of_existing(row.clone());
        let second_at = first_len.clone().add(Expr::u32(between));
        let from_a = Expr::load(a_bytes, a.within(row.clone(), offset.clone()));
        let from_b = Expr::load(b_bytes, b.within(row, offset.clone().sub(second_at.clone())));
        let middle = match separator {
            [] => from_b.clone(),
            [one] => Expr::scalar(*one),
            many => {
                let data = backend.upload(DType::U8, many)?;
                let node = Node::source(backend, DType::U8, between, data);
                Expr::load(&node, offset.clone().sub(first_len.clone()))
            }
        };
        let byte = offset.clone().lt(first_len).select(from_a, offset.lt(second_at).select(middle, from_b));
        let bytes = Node::map(backend, op, strings.nvals_extent().clone(), byte, &[]);
        let values = Values::Strings { strings, bytes };
        self.holding(values)
    }

    /// Broadcasts this scalar to the shape of `layout`.
    #[track_caller]
    fn like_rows_of(&self, op: &'static str, layout: &Self) -> Result<Self> {
        let pick = Pick::From(self.values_ref(), Expr::u32(0));
        let count = layout.count()?;
        let bytes = self.values_ref().bytes_capacity() * u64::from(count.capacity());
        let values = Values::rearranged(self.backend(), op, &count, &pick, BytesBound::at_most(bytes), &[])?;
        layout.holding(values)
    }

    /// A dense tensor of shape `[nrows, width]` filled with `value`, with as many rows as this tensor.
    ///
    /// The number of rows may be known on the device only. The dtype is the value's.
    ///
    /// # Errors
    /// `nrows * width` is 2^32 or more; the tensor is a scalar.
    ///
    /// # Cost
    /// Nothing by itself: the value is computed where it is read. No wait.
    ///
    /// # Source
    /// `tf.fill([x.nrows(), width], value)`.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// let x = HostTensor::dense(&[2], HostValues::I32(vec![7, 8])).to_device(&Device::cpu())?;
    /// assert_eq!(x.fill_rows(1, "#")?.to_host()?.values, HostValues::Str(vec![b"#".to_vec(); 2]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn fill_rows(&self, width: impl Integer, value: impl Into<Fill>) -> Result<Self> {
        const OP: &str = "fill_rows";
        let width = size_u32(OP, "width", width)?;
        if self.rank() == 0 {
            return Err(Error::argument(OP, "a scalar has no rows"));
        }
        let rows = self.nrows_extent();
        let extent = rows.times(OP, u64::from(width))?;
        let pick = Pick::Fill(value.into());
        let values = Values::rearranged(self.backend(), OP, &extent, &pick, BytesBound::Unknown, &[])?;
        Self::new(self.backend(), Vec::new(), Some(rows), vec![width], values)
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::string_split`].
    #[track_caller]
    pub fn string_split(&self, separators: &[u8], pieces: Pieces) -> Result<Self> {
        self.erased().string_split(separators, pieces)?.try_into()
    }

    /// As [`Tensor::string_join`].
    #[track_caller]
    pub fn string_join(tensors: &[&Self], separator: &str) -> Result<Self> {
        let erased: Vec<&Tensor> = tensors.iter().map(|t| t.erased()).collect();
        Tensor::string_join(&erased, separator)?.try_into()
    }
}
