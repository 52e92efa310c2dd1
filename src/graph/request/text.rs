//! A graph, written down in words.

use std::hash::Hash;

use crate::graph::digest::DigestMap;
use crate::graph::expr::{Check, Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product, Recipe, Rows, Stored};
use crate::graph::words::InWords;

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

/// What is written of a graph.
#[derive(Default)]
pub(super) struct Text {
    pub(super) words: Vec<u64>,
    /// How many arrays are asked for: the first ones.
    pub(super) roots: usize,
    pub(super) numbers: DigestMap<usize>,
    /// By number, with the result of those that were stored.
    pub(super) arrays: Vec<(Node, Option<Stored>)>,
    expressions: DigestMap<u64>,
}

impl Text {
    /// Of the graph that the roots are computed by.
    pub(super) fn of<'a>(roots: impl Iterator<Item = &'a Node>) -> Self {
        let mut text = Self::default();
        for root in roots {
            text.number(root);
        }
        text.roots = text.arrays.len();
        text.words.push(text.roots as u64);
        let mut at = 0;
        while let Some((node, _)) = text.arrays.get(at) {
            let node = node.clone();
            text.arrays[at].1 = text.definition(&node);
            at += 1;
        }
        text
    }

    fn word(&mut self, word: Word) {
        self.words.push(word as u64);
    }

    /// A value without arrays or expressions in it.
    fn say(&mut self, what: impl Hash) {
        what.hash(&mut InWords(|word| self.words.push(word)));
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
            self.say((node.dtype(), node.extent().capacity(), node.extent().as_known().is_some()));
            self.say((node.is_fallible(), node.longest_class(), node.ends_with_a_vector()));
            return Some(node.stored().expect("bug: neither result nor recipe").clone());
        };
        self.word(Word::PendingArray);
        self.say((node.dtype(), node.is_fallible()));
        self.name(node.op());
        self.extent(node.extent());
        self.words.push(node.asserts().len() as u64);
        node.asserts().iter().for_each(|n| self.array(n));
        self.recipe(&recipe);
        None
    }

    fn recipe(&mut self, recipe: &Recipe) {
        self.say(std::mem::discriminant(recipe));
        // All fields, by name: one more has to be looked at here.
        match recipe {
            Recipe::Map { value, whole } => {
                self.say(whole);
                self.expr(value);
            }
            Recipe::Reduce { reducer, rows, nrows, nvals, inner, value } => {
                self.say((reducer, inner));
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
                self.say((op, inner));
                self.rows(rows);
                [nrows, nvals].into_iter().for_each(|e| self.extent(e));
                self.expr(value);
            }
            Recipe::Sort { key, count, bits } => {
                self.say(bits);
                self.extent(count);
                self.expr(key);
            }
            Recipe::RowSort { rows, nrows, nvals, key, bits, longest } => {
                self.say((bits, longest));
                self.rows(rows);
                [nrows, nvals].into_iter().for_each(|e| self.extent(e));
                self.expr(key);
            }
            Recipe::Hash { op, rows, nrows, byte, nbytes, longest } => {
                self.say((op, nbytes, longest));
                self.rows(rows);
                self.extent(nrows);
                self.expr(byte);
            }
            Recipe::Marks { keep, count } => {
                self.extent(count);
                self.expr(keep);
            }
            Recipe::Compact { marks, value, count, inner } => {
                self.say(inner);
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
        self.say((capacities, transposed, tile_capacity, tile));
        self.extent(batches);
        self.rows(tiles);
        sizes.iter().chain(starts).chain(operands).for_each(|e| self.expr(e));
    }

    fn extent(&mut self, extent: &Extent) {
        self.say((extent.capacity(), extent.live().is_some()));
        if let Some(live) = extent.live() {
            self.expr(live);
        }
    }

    fn rows(&mut self, rows: &Rows) {
        self.say(std::mem::discriminant(rows));
        match rows {
            Rows::Splits(splits) => self.array(splits),
            Rows::Uniform(len) => self.say(len),
        }
    }

    fn check(&mut self, check: &Check) {
        let Check { op, what, location } = check;
        self.name(op);
        self.say(what);
        self.say(location);
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
                    self.say((s.dtype(), s.bits()));
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
                    self.say(op);
                }
                ExprKind::Binary(op, ..) => {
                    self.word(Word::Binary);
                    self.say(op);
                }
                ExprKind::Select(..) => self.word(Word::Select),
                ExprKind::Cast(_) => {
                    self.word(Word::Cast);
                    self.say(e.dtype());
                }
                ExprKind::Bitcast(_) => {
                    self.word(Word::Bitcast);
                    self.say(e.dtype());
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
