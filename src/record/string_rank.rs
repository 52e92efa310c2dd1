//! Dense ranks of byte strings, in the order of their bytes.
//!
//! A string is a sequence of symbols: first its chunks of up to 15 bytes, then ranks of these. Each round sorts all
//! symbols, numbers the distinct ones in ascending order, and joins neighbours in pairs, which halves the sequences.
//! Comparing two sequences of ranks, in which a missing rank is below all others, is comparing their strings. A sequence
//! of one rank is the rank of its string.
//!
//! ```text
//! strings   "to be or not to be"   "to be or"   "not"
//! chunks    1 "to be or not to",   "to be or"   "not"
//!           " be"
//! ranks     4, 1                   3            2
//! pairs     (4, 1)                 (3, -)       (2, -)
//! ranks     3                      2            1
//! ```
//!
//! The work of a round is at most half of that before, plus one symbol per string. A round that no string needs has no
//! strings and no symbols.

use super::by_key::{key_bits, one_row, reduce_rows};
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::{BinaryOp, ReduceOp};
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::shape::RowPartition;

/// Words of 4 bytes of the keys of chunks, at most.
const MAX_WORDS: u32 = 4;

/// Dense ranks of symbols or strings.
pub(crate) struct Ranks {
    /// Rank of each, from 1, by position.
    pub(crate) rank: Node,
    /// Position of the first of each rank, by rank less 1.
    pub(crate) first: Node,
}

/// The strings to rank.
pub(crate) struct Strings<'a> {
    pub(crate) rec: Recorder<'a>,
    pub(crate) strings: &'a RowPartition,
    pub(crate) bytes: &'a Node,
}

impl Strings<'_> {
    /// The rank of each string among the distinct strings in ascending order.
    pub(crate) fn ranks(&self) -> Result<Ranks> {
        let longest = self.strings.known_lengths().map(|(_, longest)| longest);
        let words = longest.map_or(MAX_WORDS, |longest| (longest / 4 + 1).min(MAX_WORDS));
        // The last byte of the last word is the number of bytes.
        let size = 4 * words - 1;
        match longest {
            Some(longest) => {
                let rounds = rounds_of(longest.div_ceil(size));
                let mut symbols = self.chunks(size, rounds == 0)?;
                let mut ranks = self.dense_ranks(&symbols, &self.chunk_words(&symbols, words), u32::BITS)?;
                for round in 1..=rounds {
                    let most = self.most_symbols(size, round);
                    let pairs = self.pairs(&symbols, None, (round == rounds, self.strings.nrows_extent(), most))?;
                    ranks = self.ranks_of_pairs(&symbols, &ranks, &pairs)?;
                    symbols = pairs;
                }
                Ok(ranks)
            }
            None => {
                let bytes = self.strings.nvals_extent().capacity();
                // A multiple of 4 rounds, so that few plans differ.
                let rounds = rounds_of(bytes.div_ceil(size)).next_multiple_of(4);
                let mut symbols = self.chunks(size, false)?;
                let mut ranks = self.dense_ranks(&symbols, &self.chunk_words(&symbols, words), u32::BITS)?;
                let longest = self.longest(&symbols)?;
                // At least what needs all rounds: plans do not differ by the rounds that cannot be needed.
                let most_of_one = self.strings.nvals_extent().size().div(size).add(1 << rounds.min(30));
                let longest_size = Extent::bounded(most_of_one, longest.clone()).size().clone();
                let mut found = self.of_strings(&ranks, None);
                for round in 1..=rounds {
                    let is_needed = Expr::u32(1 << (round - 1)).lt(longest.clone());
                    // No strings and no symbols, once the length of the longest string is known.
                    let needed = longest_size.sub(1).div(1 << (round - 1)).min(1);
                    let strings = Extent::of(self.strings.nrows_extent().size().mul(&needed));
                    let most = self.most_symbols(size, round).mul(&needed);
                    let pairs = self.pairs(&symbols, Some(is_needed.clone()), (false, &strings, most))?;
                    ranks = self.ranks_of_pairs(&symbols, &ranks, &pairs)?;
                    symbols = pairs;
                    // The last round that is needed has one symbol per string.
                    found = self.of_strings(&ranks, Some((is_needed, &found)));
                }
                Ok(found)
            }
        }
    }

    fn map(&self, count: &Extent, value: Expr) -> Node {
        self.rec.map(count.clone(), value, &[])
    }

    /// The partition of chunks of up to `size` bytes into strings. The empty string is one chunk.
    fn chunks(&self, size: u32, one_each: bool) -> Result<RowPartition> {
        let count = self.strings.nrows_extent();
        if one_each {
            return self.rec.uniform_rows(1, count.clone());
        }
        let one = Expr::u32(1);
        let length = self.strings.length(Expr::index()).max(one.clone());
        let chunks = length.sub(one.clone()).div(Expr::u32(size)).add(one);
        self.rec.rows_of_lengths(count, chunks, self.most_symbols(size, 0))
    }

    /// Upper bound of the number of symbols after some rounds: a string of `n` bytes has `max(1, ceil(n / most))` symbols,
    /// of which each stands for at most `most` bytes. Not in terms of the symbols before the round: bounds of bounds nest
    /// too deeply to decrease once the host knows the number of bytes.
    fn most_symbols(&self, size: u32, rounds: u32) -> Size {
        let most = u64::from(size) << rounds;
        let (bytes, count) = (self.strings.nvals_extent().size(), self.strings.nrows_extent().size());
        u32::try_from(most).map_or_else(|_| count.clone(), |most| bytes.div(most).add(count))
    }

    /// The partition of pairs of `symbols` into `strings`, at most `most`; no pairs unless `is_needed`.
    fn pairs(
        &self,
        symbols: &RowPartition,
        is_needed: Option<Expr>,
        (one_each, strings, most): (bool, &Extent, Size),
    ) -> Result<RowPartition> {
        if one_each {
            return self.rec.uniform_rows(1, strings.clone());
        }
        let pairs = symbols.length(Expr::index()).add(Expr::u32(1)).div(Expr::u32(2));
        let pairs = is_needed.map_or(pairs.clone(), |is_needed| is_needed.select(pairs, Expr::u32(0)));
        self.rec.rows_of_lengths(strings, pairs, most)
    }

    /// The number of symbols of the longest string.
    fn longest(&self, symbols: &RowPartition) -> Result<Expr> {
        let (count, length) = (self.strings.nrows_extent(), symbols.length(Expr::index()));
        let longest = reduce_rows(self.rec, ReduceOp::Max, one_row(self.rec, count)?, length)?;
        Ok(Expr::load(&longest, Expr::u32(0)))
    }

    /// The words of each chunk, most significant first: its bytes, zeros, and in the last byte the number of its bytes,
    /// by which a string is below all that it begins.
    fn chunk_words(&self, chunks: &RowPartition, words: u32) -> Vec<Node> {
        let size = 4 * words - 1;
        let at = Expr::index();
        let (string, chunk) = (chunks.row_of(at.clone()), chunks.offset_of(at));
        let start = chunk.mul(Expr::u32(size));
        let length = self.strings.length(string.clone()).sub(start.clone()).min(Expr::u32(size));
        let byte = |k: u32| {
            let at = self.strings.within(string.clone(), start.clone().add(Expr::u32(k)));
            let byte = Expr::load(self.bytes, at).cast(DType::U32);
            Expr::u32(k).lt(length.clone()).select(byte, Expr::u32(0))
        };
        let word = |word: u32| {
            let bytes = (4 * word..4 * word + 4).map(|k| if k == size { length.clone() } else { byte(k) });
            let whole = bytes.reduce(|high, low| high.binary(BinaryOp::Shl, Expr::u32(8)).binary(BinaryOp::Or, low));
            self.map(chunks.nvals_extent(), whole.unwrap_or_else(|| Expr::u32(0)))
        };
        (0..words).map(word).collect()
    }

    /// Ranks of the pairs of symbols.
    fn ranks_of_pairs(&self, symbols: &RowPartition, ranks: &Ranks, pairs: &RowPartition) -> Result<Ranks> {
        let at = Expr::index();
        let (string, pair) = (pairs.row_of(at.clone()), pairs.offset_of(at));
        let first = pair.mul(Expr::u32(2));
        let second = first.clone().add(Expr::u32(1));
        let rank = |offset: Expr| Expr::load(&ranks.rank, symbols.start(string.clone()).add(offset));
        let has_second = second.clone().lt(symbols.length(string.clone()));
        let words = [rank(first), has_second.select(rank(second), Expr::u32(0))];
        let words = words.map(|word| self.map(pairs.nvals_extent(), word));
        self.dense_ranks(pairs, &words, key_bits(symbols.nvals_extent().capacity()))
    }

    /// Dense ranks of the symbols, whose words are given most significant first, with the number of their low bits.
    fn dense_ranks(&self, symbols: &RowPartition, words: &[Node], bits: u32) -> Result<Ranks> {
        let (rec, count) = (self.rec, symbols.nvals_extent());
        let (at, one) = (Expr::index(), Expr::u32(1));
        let mut order: Option<Node> = None;
        for word in words.iter().rev() {
            let before = order.as_ref().map_or(at.clone(), |order| Expr::load(order, at.clone()));
            let key = Expr::load(word, before.clone());
            let sorted = rec.sort(count.clone(), key, bits.max(1));
            order = Some(self.map(count, before.at(&Expr::load(&sorted, at.clone()))));
        }
        let from = |at: Expr| order.as_ref().map_or(at.clone(), |order| Expr::load(order, at));
        let previous = at.clone().max(one.clone()).sub(one.clone());
        let is_first = at.clone().eq(Expr::u32(0));
        let is_new = words.iter().fold(is_first, |is_new, word| {
            is_new.or(Expr::load(word, from(at.clone())).ne(Expr::load(word, from(previous.clone()))))
        });
        let is_new = self.map(count, is_new.select(one.clone(), Expr::u32(0)));
        let is_new = Expr::load(&is_new, at.clone());
        let before = rec.scan(count.clone(), is_new.clone())?;
        // Ranks from 1: the number of new symbols up to this one.
        let rank = Expr::load(&before, at.clone().add(one));
        let rank = rec.unique_scatter(count.clone(), (from(at.clone()), rank), count.clone());
        let place = is_new.eq(Expr::u32(1)).select(Expr::load(&before, at.clone()), Expr::u32(u32::MAX));
        let first = rec.unique_scatter(count.clone(), (place, from(at)), count.clone());
        Ok(Ranks { rank, first })
    }

    /// The ranks of strings of one symbol each; where a round is not needed, those before it.
    fn of_strings(&self, ranks: &Ranks, needed: Option<(Expr, &Ranks)>) -> Ranks {
        let count = self.strings.nrows_extent();
        let load = |node: &Node| Expr::load(node, Expr::index());
        let either = |now: &Node, before: fn(&Ranks) -> &Node| match &needed {
            Some((is_needed, ranks)) => self.map(count, is_needed.clone().select(load(now), load(before(ranks)))),
            None => self.map(count, load(now)),
        };
        Ranks { rank: either(&ranks.rank, |ranks| &ranks.rank), first: either(&ranks.first, |ranks| &ranks.first) }
    }
}

/// The number of rounds that join up to `symbols` symbols to one.
fn rounds_of(symbols: u32) -> u32 {
    u32::BITS - symbols.max(1).saturating_sub(1).leading_zeros()
}
