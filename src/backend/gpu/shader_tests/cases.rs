//! One small graph for every recipe, operation and dtype.

use std::sync::Arc;

use super::ops;
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product, Rows};
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;

/// What may differ between graphs of one structure.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Elements, in the thousands, so that every kernel has several workgroups.
    pub(super) values: u32,
    /// Rows.
    pub(super) rows: u32,
    /// A number; not 0 or 1.
    pub(super) number: i64,
}

/// A graph and its name.
pub(super) type Case = (String, Node);

/// Makes graphs on a backend that never evaluates them.
pub(super) struct Cases<'a> {
    pub(super) backend: &'a BackendRef,
    pub(super) sizes: Sizes,
    pub(super) out: Vec<Case>,
}

impl<'a> Cases<'a> {
    /// All graphs of these sizes.
    pub(super) fn all(backend: &'a BackendRef, sizes: Sizes) -> Vec<Case> {
        let mut cases = Self { backend, sizes, out: Vec::new() };
        for dtype in ops::DTYPES {
            cases.unary(dtype);
            cases.binary(dtype);
            cases.conversions(dtype);
            cases.selections(dtype);
            cases.rows(dtype);
            cases.counted(dtype);
            cases.compactions(dtype);
        }
        cases.asserts();
        cases.reductions();
        cases.row_passes();
        cases.products();
        cases.row_scans();
        cases.scans_and_sorts();
        cases.row_sorts();
        cases.hashes();
        cases.out
    }

    fn array(&self, dtype: DType, len: u32) -> Node {
        Node::source(self.backend, dtype, len, Arc::new(()))
    }

    fn values(&self, dtype: DType) -> Expr {
        Expr::load(&self.array(dtype, self.sizes.values), Expr::index())
    }

    fn splits(&self) -> Node {
        self.array(DType::U32, self.sizes.rows + 1)
    }

    /// A count that the device alone knows.
    fn counted_extent(&self, capacity: u32) -> Extent {
        Extent::bounded(capacity, Expr::load(&self.array(DType::U32, 4), Expr::u32(2)))
    }

    fn map(&mut self, name: String, value: Expr) {
        let node = Node::map(self.backend, "map", Extent::known(self.sizes.values), value, &[]);
        self.out.push((name, node));
    }

    fn unary(&mut self, dtype: DType) {
        for op in ops::unary(dtype) {
            self.map(format!("{op:?} {dtype}"), self.values(dtype).unary(op));
        }
    }

    fn binary(&mut self, dtype: DType) {
        for op in ops::binary(dtype) {
            let (a, b) = (self.values(dtype), self.values(dtype));
            self.map(format!("{op:?} {dtype}"), a.clone().binary(op, b));
            let number = Expr::scalar(Scalar::from_i64(dtype, self.sizes.number));
            self.map(format!("{op:?} {dtype} and a number"), a.binary(op, number));
        }
    }

    fn conversions(&mut self, from: DType) {
        for to in ops::DTYPES.into_iter().filter(|&to| to != from) {
            self.map(format!("cast {from} {to}"), self.values(from).cast(to));
            if to.size() == from.size() {
                self.map(format!("bitcast {from} {to}"), self.values(from).bitcast(to));
            }
        }
    }

    fn selections(&mut self, dtype: DType) {
        let eager = self.values(DType::Bool).select(self.values(dtype), Expr::scalar(Scalar::from_i64(dtype, 1)));
        self.map(format!("select {dtype}"), eager);
        let early = self.values(dtype);
        let other = Expr::load(&self.array(dtype, 9), Expr::index().rem(Expr::u32(9)));
        let lazy = early.clone().eq(other.clone()).select(other, early);
        self.map(format!("select {dtype} known before"), lazy);
        let far = |k: u32| Expr::load(&self.array(dtype, 9), Expr::index().add(Expr::u32(k)));
        let nested = self.values(DType::Bool).select(self.values(DType::Bool).select(far(2), far(3)), far(4));
        self.map(format!("select {dtype} of loads"), nested);
        let check = Check::new("check", "a condition");
        let checked = self.values(dtype).checked(check, self.values(DType::Bool));
        self.map(format!("checked {dtype}"), checked.clone());
        let taken = self.values(DType::Bool).select(checked, self.values(dtype));
        self.map(format!("checked {dtype} where taken"), taken);
    }

    fn rows(&mut self, dtype: DType) {
        let splits = self.splits();
        let per_row = |at: Expr| Expr::load(&self.array(dtype, self.sizes.rows), Expr::row_of(&splits, at));
        let chosen = |v: Expr| self.values(dtype).eq(v.clone()).select(v, self.values(dtype));
        let own = chosen(per_row(Expr::index()));
        let wide = chosen(per_row(Expr::index().div(Expr::u32(4))));
        let foreign = chosen(per_row(Expr::index().mul(Expr::u32(3))));
        let row = Expr::row_of(&splits, Expr::index());
        let offset = Expr::index().sub(Expr::load(&splits, row.clone()));
        let other = self.splits();
        let within = Expr::load(&self.array(dtype, self.sizes.values), Expr::within(&other, row, offset));
        self.map(format!("row {dtype}"), own);
        self.map(format!("row {dtype} of 4 numbers"), wide);
        self.map(format!("row {dtype} elsewhere"), foreign);
        self.map(format!("within {dtype}"), within);
    }

    fn counted(&mut self, dtype: DType) {
        let extent = self.counted_extent(self.sizes.values);
        let value = self.values(dtype);
        let flipped = value.clone().eq(value.clone()).select(Expr::scalar(Scalar::from_i64(dtype, 3)), value);
        self.out
            .push((format!("counted {dtype}"), Node::map(self.backend, "map", extent.clone(), flipped.clone(), &[])));
        let row = Expr::load(&self.array(dtype, self.sizes.rows), Expr::row_of(&self.splits(), Expr::index()));
        let value = row.clone().eq(flipped.clone()).select(row, flipped);
        self.out.push((format!("counted row {dtype}"), Node::map(self.backend, "map", extent, value, &[])));
    }

    fn compactions(&mut self, dtype: DType) {
        let chosen = self.values(DType::Bool);
        let equal = self.values(dtype).eq(Expr::scalar(Scalar::from_i64(dtype, 1)));
        let checked = self.values(dtype).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        let n = self.sizes.values;
        for (what, keep, value) in [
            ("", chosen.clone(), self.values(dtype)),
            (" by value", equal, self.values(dtype)),
            (" checked", chosen.clone(), checked),
        ] {
            for counted in [false, true] {
                let count = if counted { self.counted_extent(n) } else { Extent::known(n) };
                let marks = RankBitmap::new(self.backend, "mark", &count, keep.clone());
                let node = Node::compact(self.backend, "compact", &marks, (value.clone(), 1), marks.total());
                self.out.push((format!("compact {dtype}{what} counted {counted}"), node));
            }
        }
        let marks = RankBitmap::new(self.backend, "mark", &Extent::known(100), chosen);
        let few = (self.values(dtype), 1);
        let node = Node::compact(self.backend, "compact", &marks, few, marks.total());
        self.out.push((format!("a small compact {dtype}"), node));
    }

    fn asserts(&mut self) {
        let row = Expr::row_of(&self.splits(), Expr::index());
        let simple = self.values(DType::Bool);
        let of_rows = self.values(DType::U32).lt(row);
        let checked = simple.clone().checked(Check::new("check", "another"), self.values(DType::Bool));
        for (name, ok) in [("", simple), (" of rows", of_rows), (" and checked", checked)] {
            for counted in [false, true] {
                let n = self.sizes.values;
                let count = if counted { self.counted_extent(n) } else { Extent::known(n) };
                let assert = Node::assert(self.backend, count, ok.clone(), Check::new("assert", "a condition"));
                self.out.push((format!("assert{name} counted {counted}"), assert));
            }
        }
    }

    fn reductions(&mut self) {
        for dtype in ops::REDUCED {
            for op in ops::REDUCTIONS {
                for inner in [1, 16] {
                    let name = format!("{op:?} {dtype} inner {inner}");
                    self.reduction(format!("{name} splits"), op, Rows::Splits(self.splits()), inner, dtype, false);
                    self.reduction(format!("{name} uniform"), op, Rows::Uniform(17.into()), inner, dtype, false);
                    self.reduction(format!("{name} counted"), op, Rows::Splits(self.splits()), inner, dtype, true);
                    self.reduction(format!("{name} uniform counted"), op, Rows::Uniform(17.into()), inner, dtype, true);
                }
            }
            for (inner, counted) in [(1, false), (1, true), (16, false), (16, true)] {
                self.finished(inner, dtype, counted);
            }
        }
    }

    /// What is kept of a row in several numbers, alone and together, and elements that are mapped by it.
    fn row_passes(&mut self) {
        for dtype in [DType::F32, DType::F64] {
            for reducer in [Reducer::Greatest, Reducer::SumOfExps, Reducer::Deviations] {
                for inner in [1, 16] {
                    let name = format!("{reducer:?} {dtype} inner {inner}");
                    self.reduction(format!("{name} splits"), reducer, Rows::Splits(self.splits()), inner, dtype, false);
                    self.reduction(format!("{name} uniform"), reducer, Rows::Uniform(17.into()), inner, dtype, true);
                }
            }
            for rows in [Rows::Splits(self.splits()), Rows::Uniform(17.into())] {
                for to in [dtype, DType::F16] {
                    self.mapped(rows.clone(), dtype, to);
                }
            }
        }
    }

    /// Elements by several numbers of their rows.
    fn mapped(&mut self, rows: Rows, dtype: DType, to: DType) {
        let name = format!("mapped {dtype} as {to} {}", matches!(rows, Rows::Uniform(_)));
        let (nrows, nvals) = (Extent::known(self.sizes.rows), Extent::known(self.sizes.rows * 17));
        let x = Expr::load(&self.array(dtype, nvals.capacity()), Expr::index());
        let sum = Reducer::Op(ReduceOp::Sum);
        let value =
            [sum, Reducer::Deviations, Reducer::Greatest, Reducer::SumOfExps].into_iter().fold(x.clone(), |v, by| {
                let of_rows = (rows.clone(), nrows.clone());
                let node =
                    Node::reduce(self.backend, "reduce", by, of_rows, nvals.clone(), 1, x.clone()).expect("small");
                v.sub(Expr::load(&node, rows.row_of(Expr::index())))
            });
        self.out.push((name, Node::map(self.backend, "map", nvals, value.cast(to), &[])));
    }

    /// Products of rows that are not stored as they are.
    fn finished(&mut self, inner: u32, dtype: DType, counted: bool) {
        let (rows, nrows, nvals, value) = self.of_rows(Rows::Splits(self.splits()), inner, dtype, counted);
        let node = Node::reduce(self.backend, "reduce", ReduceOp::Prod, (rows, nrows), nvals, inner, value);
        let node = node.expect("small");
        let other = Expr::load(&self.array(dtype, self.sizes.rows * inner), Expr::index());
        let mut value = Expr::load(&node, Expr::index()).binary(BinaryOp::Add, other);
        if !counted {
            let ok = Expr::load(&self.array(DType::Bool, self.sizes.rows * inner), Expr::index());
            value = value.checked(Check::new("check", "another condition"), ok);
        }
        for to in [dtype, DType::Bool, DType::I16] {
            let name = format!("finished {dtype} as {to} inner {inner} counted {counted}");
            let value = value.clone().cast(to);
            self.out.push((name, Node::map(self.backend, "finish", node.extent().clone(), value, &[])));
        }
    }

    fn row_scans(&mut self) {
        for dtype in ops::REDUCED {
            for op in ops::REDUCTIONS {
                for inner in [1, 16] {
                    let name = format!("scan {op:?} {dtype} inner {inner}");
                    self.row_scan(format!("{name} splits"), op, Rows::Splits(self.splits()), inner, dtype, false);
                    self.row_scan(format!("{name} uniform"), op, Rows::Uniform(17.into()), inner, dtype, false);
                    self.row_scan(format!("{name} counted"), op, Rows::Splits(self.splits()), inner, dtype, true);
                    self.row_scan(format!("{name} uniform counted"), op, Rows::Uniform(17.into()), inner, dtype, true);
                }
            }
        }
    }

    fn row_scan(&mut self, name: String, op: ReduceOp, rows: Rows, inner: u32, dtype: DType, counted: bool) {
        let (rows, nrows, nvals, value) = self.of_rows(rows, inner, dtype, counted);
        let node = Node::row_scan(self.backend, "scan", op, (rows, nrows), nvals, inner, value);
        self.out.push((name, node.expect("small")));
    }

    fn reduction(&mut self, name: String, op: impl Into<Reducer>, rows: Rows, inner: u32, dtype: DType, counted: bool) {
        let (rows, nrows, nvals, value) = self.of_rows(rows, inner, dtype, counted);
        let node = Node::reduce(self.backend, "reduce", op, (rows, nrows), nvals, inner, value);
        self.out.push((name, node.expect("small")));
    }

    /// Rows, how many, how many elements they have, and values that take in what can be.
    fn of_rows(&self, rows: Rows, inner: u32, dtype: DType, counted: bool) -> (Rows, Extent, Extent, Expr) {
        let Sizes { rows: nrows, values, .. } = self.sizes;
        let counts = self.array(DType::U32, 4);
        let count =
            |n, at| if counted { Extent::bounded(n, Expr::load(&counts, Expr::u32(at))) } else { Extent::known(n) };
        // A value of the element's row, a product and a condition are taken in.
        let value = self.values(dtype);
        let mut value = value.clone().binary(BinaryOp::Mul, value);
        if let Rows::Splits(s) = &rows {
            let row = Expr::row_of(s, Expr::index().div(Expr::u32(inner)));
            value = value.binary(BinaryOp::Sub, Expr::load(&self.array(dtype, nrows), row));
        }
        let value = value.checked(Check::new("check", "a condition"), self.values(DType::Bool));
        let (nrows, nvals) = (count(nrows, 2), count(values / inner, 3));
        (rows, nrows, nvals, value)
    }

    fn products(&mut self) {
        let Sizes { values, rows, number } = self.sizes;
        for dtype in ops::REDUCED {
            for tile in [16, 32, 64] {
                for (sizes, is_ragged) in [("of rows", true), ("of one size", false)] {
                    for counted in [false, true] {
                        // Sizes and starts of the batches from splits, or numbers; a product and a cast are taken in.
                        let s = self.splits();
                        let start =
                            |at: Expr| if is_ragged { Expr::load(&s, at) } else { at.mul(Expr::u32(values / rows)) };
                        let size = start(Expr::index().add(Expr::u32(1))).sub(start(Expr::index()));
                        let size = if is_ragged { size } else { Expr::u32(number as u32) };
                        let value = self.values(dtype);
                        let product = Product {
                            batches: if counted { self.counted_extent(rows) } else { Extent::known(rows) },
                            sizes: [size.clone(), Expr::u32(7), size],
                            starts: [0; 3].map(|_| start(Expr::index())),
                            operands: [value.clone().mul(value), self.values(DType::U8).cast(dtype)],
                            capacities: [values.into(), values.into()],
                            terms: values.into(),
                            transposed: [true, false],
                            tiles: if is_ragged { Rows::Splits(self.splits()) } else { Rows::Uniform(3.into()) },
                            tile_capacity: values.into(),
                            tile,
                        };
                        let node = Node::product(self.backend, "product", Extent::known(values), product, &[]);
                        self.out.push((format!("product {dtype} by {tile} {sizes} counted {counted}"), node));
                    }
                }
            }
        }
    }

    fn scans_and_sorts(&mut self) {
        let checked = self.values(DType::U32).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        for (what, value) in [("", self.values(DType::U32)), (" checked", checked)] {
            for counted in [false, true] {
                let n = self.sizes.values;
                let count = if counted { self.counted_extent(n) } else { Extent::known(n) };
                let name = format!("{what} counted {counted}");
                let scan = Node::scan(self.backend, "scan", count.clone(), value.clone()).expect("small");
                self.out.push((format!("scan{name}"), scan));
                for bits in [1, 8, 9, 16, 17, 24, 25, 32] {
                    let sort = Node::sort(self.backend, "sort", count.clone(), value.clone(), bits);
                    self.out.push((format!("sort{name} by {bits} bits"), sort));
                }
            }
        }
        let few = Node::scan(self.backend, "scan", Extent::known(100), self.values(DType::U32)).expect("small");
        self.out.push(("a small scan".into(), few));
    }

    fn row_sorts(&mut self) {
        // As many as take one pass over the rows' numbers, whatever the sizes.
        let Sizes { rows: nrows, values, .. } = self.sizes;
        let values = 40_000 + values / 8;
        let counts = self.array(DType::U32, 4);
        let checked = self.values(DType::U32).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        for (what, key) in [("", self.values(DType::U32)), (" checked", checked)] {
            for counted in [false, true] {
                let count = |n, at| match counted {
                    true => Extent::bounded(n, Expr::load(&counts, Expr::u32(at))),
                    false => Extent::known(n),
                };
                for (rows, of) in [(Rows::Splits(self.splits()), "splits"), (Rows::Uniform(17.into()), "uniform")] {
                    for (bits, longest) in [(1, 600), (32, 896), (8, 897), (9, u32::MAX), (32, u32::MAX)] {
                        let rows = (rows.clone(), count(nrows, 2));
                        let node =
                            Node::row_sort(self.backend, "sort", rows, count(values, 3), (key.clone(), bits), longest);
                        let name = format!("row sort{what} of {of} up to {longest} by {bits} bits counted {counted}");
                        self.out.push((name, node));
                    }
                }
            }
        }
        let (one, n) = ((Rows::Uniform(values.into()), Extent::known(1)), Extent::known(values));
        let row = Node::row_sort(self.backend, "sort", one, n, (self.values(DType::U32), 8), u32::MAX);
        self.out.push(("row sort of one row by 8 bits".into(), row));
    }

    fn hashes(&mut self) {
        for op in ops::HASHES {
            for counted in [false, true] {
                for rows in [Rows::Splits(self.splits()), Rows::Uniform(23.into())] {
                    let n = self.sizes.rows;
                    let nrows = if counted { self.counted_extent(n) } else { Extent::known(n) };
                    let name = format!("{op:?} counted {counted} {}", matches!(rows, Rows::Uniform(_)));
                    // Strings that may be longer are another structure: see below.
                    let byte =
                        (self.values(DType::U8).unary(UnaryOp::Not), Extent::known(self.sizes.values.min(256 << 10)));
                    self.out.push((name, Node::hash(self.backend, "hash", op, (rows, nrows), byte)));
                }
            }
            let byte = (self.values(DType::U8), Extent::known(u32::MAX));
            let long = Node::hash(self.backend, "hash", op, (Rows::Uniform((5 << 20).into()), Extent::known(3)), byte);
            self.out.push((format!("{op:?} of long strings"), long));
        }
    }
}
