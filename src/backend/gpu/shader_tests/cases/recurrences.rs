//! Recurrences along rows.

use super::*;
use crate::graph::expr::Register;
use crate::graph::primitive::{RowDomain, ScanRows, Stage, StageValue};

impl Cases<'_> {
    /// Recurrences with registers in workgroup memory and in scratch, fused products and conversions, and a condition.
    pub(super) fn recurrences(&mut self) {
        for dtype in ops::REDUCED {
            for (rows, of) in [(Rows::Splits(self.splits()), "splits"), (Rows::Uniform(17.into()), "uniform")] {
                for reversed in [false, true] {
                    let name = format!("recurrence {dtype} of {of} reversed {reversed}");
                    self.recurrence(name, rows.clone(), dtype, (3, reversed));
                }
            }
            self.recurrence(format!("recurrence {dtype} in scratch"), Rows::Uniform(17.into()), dtype, (1700, false));
        }
    }

    fn recurrence(&mut self, name: String, rows: Rows, dtype: DType, (width, reversed): (u32, bool)) {
        let nvals = self.sizes.values / 3;
        let at = |number, at| Expr::register(Register { scan: 0, number }, dtype, at);
        let map = |width, e| Stage { width, value: StageValue::Map(e) };
        let row = rows.row_of(Expr::index().div(Expr::u32(width)));
        let of_row = Expr::load(&self.array(dtype, self.sizes.rows), row);
        let is_wide = width > 3;
        let of_row = if is_wide { self.values(dtype) } else { of_row };
        let checked = self.values(dtype).checked(Check::new("check", "a condition"), self.values(DType::Bool));
        // Few arrays, so that none is stored beforehand.
        let checked = if is_wide { self.values(dtype) } else { checked };
        let both =
            Expr::index().div(Expr::u32(width)).mul(Expr::u32(2 * width)).add(Expr::index().rem(Expr::u32(width)));
        let product = StageValue::Product {
            left: at(0, Expr::index()).mul(of_row),
            right: self.values(DType::U8).cast(dtype),
            terms: 3,
            transposed: reversed,
        };
        let stages = [
            Stage { width: 2 * width, value: product },
            map(width, at(2, both.clone()).mul(checked).add(at(1, Expr::index()))),
            map(width, at(3, Expr::index()).mul(at(2, both.add(Expr::u32(width))))),
        ];
        let scan = ScanRows {
            on: RowDomain {
                rows,
                nrows: Extent::known(self.sizes.rows),
                nvals: Extent::known(nvals),
                inner: 2 * width,
            },
            reversed,
            initial: self.values(dtype).cast(dtype).mul(self.values(dtype)),
            states: [width; 2].into(),
            stages: stages.into(),
            next: [4, 3].into(),
            kept: Box::default(),
        };
        let node = Recorder::new(self.backend, "recurrence").scan_rows(scan, &[]).expect("small");
        self.out.push((name, node));
    }
}
