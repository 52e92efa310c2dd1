//! Inclusive and exclusive scans of rows in both directions: index arithmetic around the inclusive forward scan of the
//! primitive. Sums may be linear recurrences.

use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::{Node, RowDomain};
use crate::graph::opcode::{BinaryOp, ReduceOp};
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;

/// Operator, exclusivity and direction of a scan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowScan {
    pub(crate) op: ReduceOp,
    /// Excludes the value itself: the first result of a row is the identity element.
    pub(crate) exclusive: bool,
    /// Scans from the end of the row.
    pub(crate) reverse: bool,
}

/// Position of an output number among the scanned rows, as expressions in the output number.
pub(crate) struct RowPlace {
    /// Its row.
    pub(crate) row: Expr,
    /// Its element, counted over all rows.
    pub(crate) at: Expr,
    /// Index of the number within its element.
    pub(crate) number: Expr,
}

/// Values of a scan, as expressions in the number `element * inner + d` of the rows.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    value: Expr,
    recurrence: Option<Recurrence>,
}

/// Factors of the preceding results of a linear recurrence.
#[derive(Debug, Clone)]
struct Recurrence {
    decay: Expr,
    /// The result before the first one, given at the first number of each row and column; 0 if `None`.
    initial: Option<Expr>,
}

impl From<Expr> for Terms {
    fn from(value: Expr) -> Self {
        Self { value, recurrence: None }
    }
}

impl Terms {
    /// The terms of `y[i] = decay * y[i - 1] + value`, of which the operator is the sum.
    pub(crate) fn of_recurrence(value: Expr, decay: Expr, initial: Option<Expr>) -> Self {
        Self { value, recurrence: Some(Recurrence { decay, initial }) }
    }

    /// The terms at other numbers.
    pub(crate) fn at(&self, number: &Expr) -> Self {
        let recurrence = self.recurrence.as_ref().map(|Recurrence { decay, initial }| Recurrence {
            decay: decay.at(number),
            initial: initial.as_ref().map(|initial| initial.at(number)),
        });
        Self { value: self.value.at(number), recurrence }
    }

    /// Records the inclusive forward scan.
    fn scan(self, rec: Recorder<'_>, op: ReduceOp, on: RowDomain) -> Result<Node> {
        let Self { value, recurrence } = self;
        let Some(Recurrence { decay, initial }) = recurrence else { return rec.row_scan(op, on, value) };
        let Some(initial) = initial else { return rec.row_recurrence(on, value, decay) };
        let element = Expr::index().div(Expr::u32(on.inner));
        let is_first = element.clone().eq(on.rows.start(on.rows.row_of(element)));
        // As in the scan, a state of 0 contributes 0.
        let product = if value.dtype().is_float() { BinaryOp::MulNoNan } else { BinaryOp::Mul };
        let first = decay.clone().binary(product, initial).add(value.clone());
        rec.row_recurrence(on, is_first.select(first, value), decay)
    }
}

impl RowScan {
    /// Records the scan of `terms`. Returns the result for the number at `place`.
    pub(crate) fn record(
        &self,
        rec: Recorder<'_>,
        on: RowDomain,
        terms: impl Into<Terms>,
        place: &RowPlace,
    ) -> Result<Expr> {
        let terms = terms.into();
        let RowPlace { row, at, number: d } = place;
        let (width, one, rows) = (Expr::u32(on.inner), Expr::u32(1), on.rows.clone());
        let number = |element: Expr, d: Expr| element.mul(width.clone()).add(d);
        // The result of the first exclusive scan.
        let initial = terms.recurrence.as_ref().and_then(|recurrence| recurrence.initial.as_ref());
        let identity = match initial {
            Some(initial) => initial.at(&number(at.clone(), d.clone())),
            None => Expr::scalar(self.op.identity(terms.value.dtype())),
        };
        if on.inner == 0 || on.nrows.capacity() == 0 || on.nvals.capacity() == 0 {
            return Ok(identity);
        }
        let within = |row: Expr, offset: Expr| rows.within(row, offset);
        let terms = if self.reverse {
            let element = Expr::index().div(width.clone());
            let row = rows.row_of(element.clone());
            let offset = element.sub(rows.start(row.clone()));
            let mirrored = rows.length(row.clone()).sub(one.clone()).sub(offset);
            terms.at(&number(within(row, mirrored), Expr::index().rem(width.clone())))
        } else {
            terms
        };
        let scan = terms.scan(rec, self.op, on)?;
        if !self.reverse && !self.exclusive {
            return Ok(Expr::load(&scan, number(at.clone(), d.clone())));
        }
        let mut offset = at.clone().sub(rows.start(row.clone()));
        if self.reverse {
            offset = rows.length(row.clone()).sub(one.clone()).sub(offset);
        }
        if !self.exclusive {
            return Ok(Expr::load(&scan, number(within(row.clone(), offset), d.clone())));
        }
        let before = Expr::load(&scan, number(within(row.clone(), offset.clone().sub(one)), d.clone()));
        Ok(offset.eq(Expr::u32(0)).select(identity, before))
    }
}
