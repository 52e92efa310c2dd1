//! Selections from rows, and folds of tiles.

use super::*;

impl Cases<'_> {
    pub(super) fn selections_from_rows(&mut self) {
        let Sizes { rows: nrows, values, .. } = self.sizes;
        let checked = self.values(DType::U32).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        for (what, key) in [("", self.values(DType::U32)), (" checked", checked), (" of u64", self.values(DType::U64))]
        {
            // A kernel that reads splits does not depend on the number of rows.
            for (counted, of) in [(true, "splits"), (false, "uniform"), (true, "uniform")] {
                let rows = if of == "splits" { Rows::Splits(self.splits()) } else { Rows::Uniform(17.into()) };
                for (k, longest) in [(1, 512), (16, u32::MAX)] {
                    let nrows = if counted { self.counted_extent(nrows) } else { Extent::known(nrows) };
                    let nvals = if counted { self.counted_extent(values) } else { Extent::known(values) };
                    let rows = (rows.clone(), nrows);
                    let node = Recorder::new(self.backend, "top k").top_k(
                        RowDomain::of(rows, nvals, 1),
                        (key.clone(), k),
                        longest,
                    );
                    let name = format!("first {k}{what} of {of} up to {longest} counted {counted}");
                    self.out.push((name, node.expect("small")));
                }
            }
        }
    }

    pub(super) fn tile_folds(&mut self) {
        let n = self.sizes.values;
        let key = self.values(DType::U8).cast(DType::U32);
        let checked = self.values(DType::U32).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        for dtype in [DType::U32, DType::I32, DType::U64, DType::I64, DType::F32, DType::F64] {
            for op in [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Min, ReduceOp::Max] {
                for (what, key) in [("narrow", &key), ("checked", &checked)] {
                    for counted in [false, true] {
                        let count = if counted { self.counted_extent(n) } else { Extent::known(n) };
                        let (key, value) = ((key.clone(), 300), self.values(dtype));
                        let node = Recorder::new(self.backend, "fold").tile_fold(op, count, key, value).expect("small");
                        self.out.push((format!("{op:?} of {dtype} by {what} keys, counted {counted}"), node));
                    }
                }
            }
        }
    }
}
