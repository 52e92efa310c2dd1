//! Row operations, products, scans, sorts and hashes.

use super::*;

impl Cases<'_> {
    pub(super) fn reductions(&mut self) {
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

    /// Reducers whose accumulators have several fields, alone and fused, and their epilogues.
    pub(super) fn row_kernels(&mut self) {
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

    /// A map of elements with several reductions of their rows.
    pub(super) fn mapped(&mut self, rows: Rows, dtype: DType, to: DType) {
        let name = format!("mapped {dtype} as {to} {}", matches!(rows, Rows::Uniform(_)));
        let (nrows, nvals) = (Extent::known(self.sizes.rows), Extent::known(self.sizes.rows * 17));
        let x = Expr::load(&self.array(dtype, self.sizes.rows * 17), Expr::index());
        let sum = Reducer::Op(ReduceOp::Sum);
        let value =
            [sum, Reducer::Deviations, Reducer::Greatest, Reducer::SumOfExps].into_iter().fold(x.clone(), |v, by| {
                let of_rows = (rows.clone(), nrows.clone());
                let node = Recorder::new(self.backend, "reduce")
                    .reduce(by, RowDomain::of(of_rows, nvals.clone(), 1), x.clone())
                    .expect("small");
                v.sub(Expr::load(&node, rows.row_of(Expr::index())))
            });
        self.out.push((name, Node::map(self.backend, "map", nvals, value.cast(to), &[])));
    }

    /// Products of rows with an epilogue.
    pub(super) fn finished(&mut self, inner: u32, dtype: DType, counted: bool) {
        let (rows, nrows, nvals, value) = self.of_rows(Rows::Splits(self.splits()), inner, dtype, counted);
        let node = Recorder::new(self.backend, "reduce").reduce(
            ReduceOp::Prod,
            RowDomain::of((rows, nrows), nvals, inner),
            value,
        );
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

    pub(super) fn row_scans(&mut self) {
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

    pub(super) fn row_scan(&mut self, name: String, op: ReduceOp, rows: Rows, inner: u32, dtype: DType, counted: bool) {
        let (rows, nrows, nvals, value) = self.of_rows(rows, inner, dtype, counted);
        let node = Recorder::new(self.backend, "scan").row_scan(op, RowDomain::of((rows, nrows), nvals, inner), value);
        self.out.push((name, node.expect("small")));
    }

    pub(super) fn reduction(
        &mut self,
        name: String,
        op: impl Into<Reducer>,
        rows: Rows,
        inner: u32,
        dtype: DType,
        counted: bool,
    ) {
        let (rows, nrows, nvals, value) = self.of_rows(rows, inner, dtype, counted);
        let node = Recorder::new(self.backend, "reduce").reduce(op, RowDomain::of((rows, nrows), nvals, inner), value);
        self.out.push((name, node.expect("small")));
    }

    /// Rows, their number, the number of their elements, and values with fused operations.
    pub(super) fn of_rows(&self, rows: Rows, inner: u32, dtype: DType, counted: bool) -> (Rows, Extent, Extent, Expr) {
        let Sizes { rows: nrows, values, .. } = self.sizes;
        let counts = self.array(DType::U32, 4);
        let count =
            |n, at| if counted { Extent::bounded(n, Expr::load(&counts, Expr::u32(at))) } else { Extent::known(n) };
        // A value of the element's row, a product and a condition are fused.
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

    pub(super) fn products(&mut self) {
        for dtype in ops::REDUCED {
            for tile in [16, 32, 64] {
                for (sizes, is_ragged) in [("of rows", true), ("of one size", false)] {
                    for counted in [false, true] {
                        let node = self.product(dtype, tile, is_ragged, counted);
                        self.out.push((format!("product {dtype} by {tile} {sizes} counted {counted}"), node));
                    }
                }
            }
            for is_ragged in [false, true] {
                self.sums_of_products(dtype, is_ragged);
            }
        }
    }

    /// A product of each row: sizes and starts of the batches from splits, or constants; a product and a cast are fused.
    fn product(&self, dtype: DType, tile: u32, is_ragged: bool, counted: bool) -> Node {
        let Sizes { values, rows, number } = self.sizes;
        let s = self.splits();
        let start = |at: Expr| if is_ragged { Expr::load(&s, at) } else { at.mul(Expr::u32(values / rows)) };
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
            has_gaps: false,
            tiles: if is_ragged { Rows::Splits(self.splits()) } else { Rows::Uniform(3.into()) },
            tile_capacity: values.into(),
            tile,
        };
        Recorder::new(self.backend, "product").product(Extent::known(values), product, &[])
    }

    /// Sums of rows of a product that no kernel stores.
    fn sums_of_products(&mut self, dtype: DType, is_ragged: bool) {
        let product = self.product(dtype, 32, is_ragged, false);
        let nvals = Extent::known(self.sizes.values);
        let of_rows = (Rows::Splits(self.splits()), Extent::known(self.sizes.rows));
        let node = Recorder::new(self.backend, "reduce").reduce(
            ReduceOp::Sum,
            RowDomain::of(of_rows, nvals, 1),
            Expr::load(&product, Expr::index()),
        );
        self.out.push((format!("sums of a product {dtype} ragged {is_ragged}"), node.expect("small")));
    }

    pub(super) fn scans_and_sorts(&mut self) {
        let checked = self.values(DType::U32).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        for (what, value) in [("", self.values(DType::U32)), (" checked", checked)] {
            for counted in [false, true] {
                let n = self.sizes.values;
                let count = if counted { self.counted_extent(n) } else { Extent::known(n) };
                let name = format!("{what} counted {counted}");
                let scan = Recorder::new(self.backend, "scan").scan(count.clone(), value.clone()).expect("small");
                self.out.push((format!("scan{name}"), scan));
                for bits in [1, 8, 9, 16, 17, 24, 25, 32] {
                    let sort = Recorder::new(self.backend, "sort").sort(count.clone(), value.clone(), bits);
                    self.out.push((format!("sort{name} by {bits} bits"), sort));
                }
            }
        }
        let few = Recorder::new(self.backend, "scan").scan(Extent::known(100), self.values(DType::U32)).expect("small");
        self.out.push(("a small scan".into(), few));
    }

    pub(super) fn histograms(&mut self) {
        let checked = self.values(DType::U32).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        let narrow = self.values(DType::U8).cast(DType::U32);
        for (what, key) in [("", self.values(DType::U32)), (" checked", checked), (" narrow", narrow)] {
            for counted in [false, true] {
                let n = self.sizes.values;
                let count = if counted { self.counted_extent(n) } else { Extent::known(n) };
                for bins in [100, 5000] {
                    let node = Recorder::new(self.backend, "histogram").histogram(
                        count.clone(),
                        key.clone(),
                        Extent::known(bins),
                    );
                    self.out.push((format!("histogram{what} of {bins} counted {counted}"), node));
                }
            }
        }
    }

    pub(super) fn row_sorts(&mut self) {
        // Sizes at which the row numbers need a single radix pass.
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
                        let node = Recorder::new(self.backend, "sort").row_sort(
                            RowDomain::of(rows, count(values, 3), 1),
                            (key.clone(), bits),
                            longest,
                        );
                        let name = format!("row sort{what} of {of} up to {longest} by {bits} bits counted {counted}");
                        self.out.push((name, node));
                    }
                }
            }
        }
        let (one, n) = ((Rows::Uniform(values.into()), Extent::known(1)), Extent::known(values));
        let row = Recorder::new(self.backend, "sort").row_sort(
            RowDomain::of(one, n, 1),
            (self.values(DType::U32), 8),
            u32::MAX,
        );
        self.out.push(("row sort of one row by 8 bits".into(), row));
    }

    pub(super) fn hashes(&mut self) {
        for op in ops::HASHES {
            for counted in [false, true] {
                for rows in [Rows::Splits(self.splits()), Rows::Uniform(23.into())] {
                    let n = self.sizes.rows;
                    let nrows = if counted { self.counted_extent(n) } else { Extent::known(n) };
                    let name = format!("{op:?} counted {counted} {}", matches!(rows, Rows::Uniform(_)));
                    // Longer strings are another structure: see below.
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
