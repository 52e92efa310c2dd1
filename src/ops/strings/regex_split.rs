//! Splitting byte strings at the matches of a regular expression.

use regex::bytes::Regex;
use std::ops::Range;

use super::regex::compiled;
use super::separators::limit_of;
use super::slices::slices;
use crate::dtype::DType;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::upper_bound;
use crate::graph::opcode::BinaryOp;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::options::{Separator, Separators};
use crate::record::host_step::host_strings;
use crate::tensor::Tensor;

operations! {
    /// Splits of byte strings at regular expressions.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Splits each string at the matches of a regular expression, which are removed.
    ///
    /// `[..]` of strings gives `[.., (pieces)]`: one more ragged dimension; a scalar gives a vector. Matches do not
    /// overlap, and are found from left to right. [`nonempty`](crate::opt::nonempty) drops empty pieces, as
    /// `tf_text.regex_split` does; [`max_splits`](crate::opt::max_splits) limits the number of splits. An empty string is one
    /// empty piece, and has no piece where empty ones are dropped. Groups add no pieces, unlike in Python's `re.split`.
    /// An empty match splits too, unless it begins where the match before ended. The syntax is that of the crate
    /// [`regex`](https://docs.rs/regex), with Unicode classes over bytes that need not be valid UTF-8; it is RE2's but
    /// for details.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; an invalid pattern, or one that takes more than 16 MiB;
    /// [`any_of`](crate::opt::any_of) in place of a pattern; `max_splits` below 1; 2^29 pieces or more; no host memory for
    /// their positions; a GPU whose options do not allow host steps.
    ///
    /// # Cost
    /// A read, an upload of 8 bytes per piece, and one wait; time linear in the bytes, on all cores. Then a prefix sum
    /// over the pieces, and a copy of the bytes that stay.
    ///
    /// ```
    /// use ragged::opt::nonempty;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["to be, or not", ""], &Device::cpu())?;
    /// let words = x.regex_split(r"[,\s]+")?;
    /// assert_eq!(words.to_string(), "<ragged.RaggedTensor [[b'to', b'be', b'or', b'not'], [b'']]>");
    /// assert_eq!(x.regex_split(nonempty(r"\W"))?.to_strings()?, ["to", "be", "or", "not"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn regex_split(&self, pattern: impl Into<Separator> as Separator) -> Str;
    alias "split";
    tensorflow "tf_text.regex_split";
    awkward "ak.str.split_pattern_regex";
    host "the search";
    gradient none "it takes strings";
    feature "regex";
}

#[track_caller]
fn regex_split(x: &Tensor, pattern: impl Into<Separator>) -> Result<Tensor> {
    const OP: &str = "regex_split";
    let rec = x.recorder(OP);
    let pattern = pattern.into();
    let (strings, bytes) = x.strings(OP)?;
    let limit = limit_of(OP, &pattern)?.map_or(usize::MAX, |n| n as usize);
    let Separators::String(text) = &pattern.by else {
        return Err(Error::argument(OP, "any_of is no pattern; write a class of characters: \"[,;]\""));
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return Err(Error::argument(OP, "the pattern is not valid UTF-8; write other bytes as (?-u:\\xFF)"));
    };
    let regex = compiled(OP, text, text)?;
    // Of each string: the positions of the first byte of each piece and of the byte after the last one.
    let found = host_strings(rec, x, &pattern, |memory, strings| {
        memory.map(strings, |s, out| {
            pieces(&regex, s, pattern.nonempty, limit, |piece| {
                let [start, end] = [piece.start, piece.end].map(|at| (at as u32).to_le_bytes());
                out.push([start, end].as_flattened())
            })
        })
    })?;
    let (bounds, words) = found.strings(OP)?;
    let (backend, at) = (x.backend(), Expr::index());
    let rec = Recorder::new(backend, OP);
    let count = bounds.length(at.clone()).div(Expr::u32(PIECE));
    let most = upper_bound(u64::from(u32::MAX) / u64::from(PIECE));
    let partition = rec.rows_of_lengths(strings.nrows_extent(), count, most)?;
    let (row, nth) = (partition.row_of(at.clone()), partition.offset_of(at.clone()));
    let word = |of: u32| {
        let first = bounds.within(row.clone(), nth.clone().mul(Expr::u32(PIECE)).add(Expr::u32(of)));
        let byte = |k: u32| Expr::load(words, first.clone().add(Expr::u32(k))).cast(DType::U32);
        (1..4).fold(byte(0), |low, k| low.or(byte(k).binary(BinaryOp::Shl, Expr::u32(8 * k))))
    };
    let pieces = partition.nvals_extent();
    let stored = |e: Expr| Expr::load(&rec.map(pieces.clone(), e, &[]), at.clone());
    let (start, end) = (stored(word(0)), stored(word(PIECE / 2)));
    let (first, length) = (strings.start(row.clone()).add(start.clone()), end.sub(start));
    let values = slices(rec, pieces, bytes, (first, length), x.values_ref().bytes_size())?;
    let outer = Some(pieces.clone());
    if x.rank() == 0 {
        return rec.tensor(Vec::new(), outer, [], values);
    }
    let mut partitions = x.inner_to_partitions(x.inner().len())?.partitions().to_vec();
    partitions.push(partition);
    rec.tensor(partitions, outer, [], values)
}

/// Bytes of the positions of a piece: two u32.
const PIECE: u32 = 8;

/// Calls `each` for the pieces of a string between matches, of which at most `most` end at a match.
fn pieces(
    regex: &Regex,
    s: &[u8],
    nonempty: bool,
    most: usize,
    mut each: impl FnMut(Range<usize>) -> Result<()>,
) -> Result<()> {
    let (mut start, mut count) = (0, 0);
    for found in regex.find_iter(s) {
        let piece = start..found.start();
        let is_dropped = nonempty && piece.is_empty();
        if !is_dropped {
            if count == most {
                break;
            }
            each(piece)?;
            count += 1;
        }
        start = found.end();
    }
    if nonempty && count < most {
        if start == s.len() {
            return Ok(());
        }
        each(start..s.len())?;
        // The rest after the last split.
        return if count + 1 == most { each(s.len()..s.len()) } else { Ok(()) };
    }
    each(start..s.len())
}
