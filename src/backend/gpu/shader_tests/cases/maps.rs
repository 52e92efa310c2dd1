//! Maps, checks and compactions.

use super::*;

impl Cases<'_> {
    pub(super) fn unary(&mut self, dtype: DType) {
        for op in ops::unary(dtype) {
            self.map(format!("{op:?} {dtype}"), self.values(dtype).unary(op));
        }
    }

    pub(super) fn binary(&mut self, dtype: DType) {
        for op in ops::binary(dtype) {
            let (a, b) = (self.values(dtype), self.values(dtype));
            self.map(format!("{op:?} {dtype}"), a.clone().binary(op, b));
            let number = Expr::scalar(Scalar::from_i64(dtype, self.sizes.number));
            self.map(format!("{op:?} {dtype} and a number"), a.binary(op, number));
        }
    }

    pub(super) fn conversions(&mut self, from: DType) {
        for to in ops::DTYPES.into_iter().filter(|&to| to != from) {
            self.map(format!("cast {from} {to}"), self.values(from).cast(to));
            if to.size() == from.size() {
                self.map(format!("bitcast {from} {to}"), self.values(from).bitcast(to));
            }
        }
    }

    pub(super) fn selections(&mut self, dtype: DType) {
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

    pub(super) fn functions_of_the_user(&mut self) {
        let f = Function::for_tests();
        let call = |a: Expr| Expr::call(&f, [a, self.values(DType::U32)].into());
        let at_own_positions = call(self.values(DType::U32));
        let splits = self.splits();
        let of_rows = call(Expr::load(&splits, Expr::row_of(&splits, Expr::index())));
        let twice = call(call(Expr::index()));
        self.map("function of the user".into(), at_own_positions);
        self.map("function of the user, by rows".into(), of_rows);
        self.map("function of the user, twice".into(), twice);
    }

    pub(super) fn rows(&mut self, dtype: DType) {
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

    pub(super) fn counted(&mut self, dtype: DType) {
        let extent = self.counted_extent(self.sizes.values);
        let value = self.values(dtype);
        let flipped = value.clone().eq(value.clone()).select(Expr::scalar(Scalar::from_i64(dtype, 3)), value);
        self.out
            .push((format!("counted {dtype}"), Node::map(self.backend, "map", extent.clone(), flipped.clone(), &[])));
        let row = Expr::load(&self.array(dtype, self.sizes.rows), Expr::row_of(&self.splits(), Expr::index()));
        let value = row.clone().eq(flipped.clone()).select(row, flipped);
        self.out.push((format!("counted row {dtype}"), Node::map(self.backend, "map", extent, value, &[])));
    }

    pub(super) fn compactions(&mut self, dtype: DType) {
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
                let marks = RankBitmap::new(Recorder::new(self.backend, "mark"), &count, keep.clone());
                let node = Recorder::new(self.backend, "compact").compact(&marks, (value.clone(), 1), marks.total());
                self.out.push((format!("compact {dtype}{what} counted {counted}"), node));
            }
        }
        for counted in [false, true] {
            let count = if counted { self.counted_extent(n) } else { Extent::known(n) };
            let name = format!("unique scatter {dtype} counted {counted}");
            let exprs = (self.values(DType::U32), self.values(dtype));
            let node = Recorder::new(self.backend, "scatter").unique_scatter(count, exprs, Extent::known(n));
            self.out.push((name, node));
        }
        let marks = RankBitmap::new(Recorder::new(self.backend, "mark"), &Extent::known(100), chosen);
        let few = (self.values(dtype), 1);
        let node = Recorder::new(self.backend, "compact").compact(&marks, few, marks.total());
        self.out.push((format!("a small compact {dtype}"), node));
    }

    pub(super) fn asserts(&mut self) {
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
}
