//! What is asked for, apart from which arrays it is asked of: batch after batch of the same shapes is one request.
//!
//! Nodes know themselves by digests that include where their inputs came from, so that the same program over the next batch
//! records other nodes. A request numbers the arrays of a graph in the order in which a walk from the requested ones meets
//! them, and writes down all that planning, generating kernels and recording read of them, with numbers for arrays:
//!
//! - of an array that is stored, or was when the walk came by: dtype and capacity, whether its count is known, whether it has
//!   conditions, and for splits the class of their longest row;
//! - of an array that is to be computed: its recipe with every expression, sizes and numbers included, its extent, its conditions
//!   with what they tell the user, and the operation that recorded it;
//! - which of them are the same array, by their numbers.
//!
//! Not written down is what a plan finds again whenever it runs: the arrays' storage, the outcomes of conditions, and what is in
//! the arrays, row lengths within their class included.
//!
//! The text is complete: the graph can be read back from it, but for where its inputs come from. Two requests of one text are
//! therefore the same graph over other inputs, and a plan for one is a plan for the other. The text itself is compared, so that
//! nothing rests on hashes not colliding.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use super::digest::DigestMap;
use super::expr::{Check, Expr, ExprKind};
use super::extent::Extent;
use super::node::{Node, Product, Recipe, Rows, Stored};

/// A graph to be computed.
#[derive(Debug)]
pub(crate) struct Request {
    key: Box<[u64]>,
    /// How many arrays are asked for: the first ones.
    roots: usize,
    numbers: DigestMap<usize>,
    /// By number, with the result of those that were stored.
    arrays: Vec<(Node, Option<Stored>)>,
}

impl Request {
    /// Of those roots that are not stored.
    pub(crate) fn new(roots: &[Node]) -> Self {
        let mut text = Text::default();
        for root in roots.iter().filter(|root| root.stored().is_none()) {
            text.number(root);
        }
        let roots = text.arrays.len();
        text.words.push(roots as u64);
        let mut at = 0;
        while let Some((node, _)) = text.arrays.get(at) {
            let node = node.clone();
            text.arrays[at].1 = text.definition(&node);
            at += 1;
        }
        Self { key: text.words.into(), roots, numbers: text.numbers, arrays: text.arrays }
    }

    /// What distinguishes it from requests that need another plan.
    pub(crate) fn key(&self) -> &[u64] {
        &self.key
    }

    /// The numbers of the arrays that are asked for.
    pub(crate) fn roots(&self) -> Range<usize> {
        0..self.roots
    }

    /// The number of an array of the graph.
    ///
    /// # Panics
    /// If it is another graph's.
    pub(crate) fn number(&self, node: &Node) -> usize {
        *self.numbers.get(&node.digest()).expect("bug: an array that nothing mentions")
    }

    /// The array of that number.
    pub(crate) fn array(&self, number: usize) -> &Node {
        &self.arrays[number].0
    }

    /// The result of the array of that number, if it had one when the request was made.
    pub(crate) fn stored(&self, number: usize) -> Option<&Stored> {
        self.arrays[number].1.as_ref()
    }
}

/// What a word is the beginning of. What follows is of a length that can be told from what has come so far.
enum Word {
    StoredArray,
    PendingArray,
    Index,
    Scalar,
    Load,
    RowOf,
    Within,
    Unary,
    Binary,
    Select,
    Cast,
    Bitcast,
    Checked,
    /// An expression that has been written, by number.
    Again,
}

/// The text of a request, being written.
#[derive(Default)]
struct Text {
    words: Vec<u64>,
    numbers: DigestMap<usize>,
    arrays: Vec<(Node, Option<Stored>)>,
    expressions: DigestMap<u64>,
}

/// Takes down what is hashed, rather than hashing it: values of one type that are not equal write different words.
impl Hasher for Text {
    fn finish(&self) -> u64 {
        unreachable!("bug: a text is compared as it is")
    }
    fn write(&mut self, bytes: &[u8]) {
        self.words.push(bytes.len() as u64);
        let word = |chunk: &[u8]| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        };
        self.words.extend(bytes.chunks(8).map(word));
    }
    fn write_u8(&mut self, v: u8) {
        self.words.push(v.into());
    }
    fn write_u32(&mut self, v: u32) {
        self.words.push(v.into());
    }
    fn write_u64(&mut self, v: u64) {
        self.words.push(v);
    }
    fn write_usize(&mut self, v: usize) {
        self.words.push(v as u64);
    }
    fn write_isize(&mut self, v: isize) {
        self.words.push(v as u64);
    }
}

impl Text {
    fn word(&mut self, word: Word) {
        self.words.push(word as u64);
    }

    /// A string of the program's, by where it lies: other strings lie elsewhere.
    fn name(&mut self, name: &'static str) {
        self.words.extend([name.as_ptr() as u64, name.len() as u64]);
    }

    /// The number of an array, the next one if it has none.
    fn number(&mut self, node: &Node) -> usize {
        let next = self.arrays.len();
        let number = *self.numbers.entry(node.digest()).or_insert(next);
        if number == next {
            self.arrays.push((node.clone(), None));
        }
        number
    }

    fn array(&mut self, node: &Node) {
        let number = self.number(node);
        self.words.push(number as u64);
    }

    /// What there is to say of an array; its result, if it has one.
    fn definition(&mut self, node: &Node) -> Option<Stored> {
        // Another thread may store it meanwhile: whichever is found is written down, and stays true for this request.
        let recipe = if node.stored().is_none() { node.recipe() } else { None };
        let Some(recipe) = recipe else {
            self.word(Word::StoredArray);
            (node.dtype(), node.extent().capacity(), node.extent().as_known().is_some()).hash(self);
            (node.is_fallible(), node.longest_class()).hash(self);
            return Some(node.stored().expect("bug: neither result nor recipe").clone());
        };
        self.word(Word::PendingArray);
        (node.dtype(), node.is_fallible()).hash(self);
        self.name(node.op());
        self.extent(node.extent());
        self.words.push(node.asserts().len() as u64);
        node.asserts().iter().for_each(|n| self.array(n));
        self.recipe(&recipe);
        None
    }

    fn recipe(&mut self, recipe: &Recipe) {
        std::mem::discriminant(recipe).hash(self);
        // All fields, by name: one more has to be looked at here.
        match recipe {
            Recipe::Map { value, whole } => {
                whole.hash(self);
                self.expr(value);
            }
            Recipe::Reduce { reducer, rows, nrows, nvals, inner, value } => {
                (reducer, inner).hash(self);
                self.rows(rows);
                [nrows, nvals].into_iter().for_each(|e| self.extent(e));
                self.expr(value);
            }
            Recipe::Product(product) => self.product(product),
            Recipe::Scan { value, count } => {
                self.extent(count);
                self.expr(value);
            }
            Recipe::RowScan { op, rows, nrows, nvals, inner, value } => {
                (op, inner).hash(self);
                self.rows(rows);
                [nrows, nvals].into_iter().for_each(|e| self.extent(e));
                self.expr(value);
            }
            Recipe::Sort { key, count, bits } => {
                bits.hash(self);
                self.extent(count);
                self.expr(key);
            }
            Recipe::RowSort { rows, nrows, nvals, key, bits, longest } => {
                (bits, longest).hash(self);
                self.rows(rows);
                [nrows, nvals].into_iter().for_each(|e| self.extent(e));
                self.expr(key);
            }
            Recipe::Hash { op, rows, nrows, byte } => {
                op.hash(self);
                self.rows(rows);
                self.extent(nrows);
                self.expr(byte);
            }
            Recipe::Marks { keep, count } => {
                self.extent(count);
                self.expr(keep);
            }
            Recipe::Compact { marks, value, count, inner } => {
                inner.hash(self);
                self.array(marks);
                self.extent(count);
                self.expr(value);
            }
            Recipe::Assert { ok, count, check } => {
                self.extent(count);
                self.check(check);
                self.expr(ok);
            }
        }
    }

    fn product(&mut self, product: &Product) {
        let Product { batches, sizes, starts, operands, capacities, transposed, tiles, tile_capacity, tile } = product;
        (capacities, transposed, tile_capacity, tile).hash(self);
        self.extent(batches);
        self.rows(tiles);
        sizes.iter().chain(starts).chain(operands).for_each(|e| self.expr(e));
    }

    fn extent(&mut self, extent: &Extent) {
        (extent.capacity(), extent.live().is_some()).hash(self);
        if let Some(live) = extent.live() {
            self.expr(live);
        }
    }

    fn rows(&mut self, rows: &Rows) {
        std::mem::discriminant(rows).hash(self);
        match rows {
            Rows::Splits(splits) => self.array(splits),
            Rows::Uniform(len) => len.hash(self),
        }
    }

    fn check(&mut self, check: &Check) {
        let Check { op, what, location } = check;
        self.name(op);
        what.hash(self);
        location.hash(self);
    }

    /// The expression, its operands after it, each in its place: what occurs twice is written once.
    fn expr(&mut self, e: &Expr) {
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            let next = self.expressions.len() as u64;
            let number = *self.expressions.entry(e.digest()).or_insert(next);
            if number != next {
                self.word(Word::Again);
                self.words.push(number);
                continue;
            }
            match e.kind() {
                ExprKind::Index => self.word(Word::Index),
                ExprKind::Scalar(s) => {
                    self.word(Word::Scalar);
                    (s.dtype(), s.bits()).hash(self);
                }
                ExprKind::Load(n, _) => {
                    self.word(Word::Load);
                    self.array(n);
                }
                ExprKind::RowOf(n, _) => {
                    self.word(Word::RowOf);
                    self.array(n);
                }
                ExprKind::Within(n, ..) => {
                    self.word(Word::Within);
                    self.array(n);
                }
                ExprKind::Unary(op, _) => {
                    self.word(Word::Unary);
                    op.hash(self);
                }
                ExprKind::Binary(op, ..) => {
                    self.word(Word::Binary);
                    op.hash(self);
                }
                ExprKind::Select(..) => self.word(Word::Select),
                ExprKind::Cast(_) => {
                    self.word(Word::Cast);
                    e.dtype().hash(self);
                }
                ExprKind::Bitcast(_) => {
                    self.word(Word::Bitcast);
                    e.dtype().hash(self);
                }
                ExprKind::Checked(check, ..) => {
                    self.word(Word::Checked);
                    self.check(check);
                }
            }
            stack.extend(e.operands());
        }
    }
}
