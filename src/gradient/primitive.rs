//! The cotangents of the values that a primitive takes.

use super::cotangents::Cotangents;
use super::rows::{numbers, place};
use super::scalar::{number, times, zero};
use super::{product, recurrence, scan};
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::node::{Node, Recipe};
use crate::graph::opcode::{ReduceOp, UnaryOp};
use crate::graph::primitive::{Append, Compact, Reduce, TileFold, UniqueScatter};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;
use crate::graph::reducer::Reducer;
use crate::graph::tile_fold::TILE;
use crate::math::MathFn;
use crate::record::by_key::{ByKey, reduce_rows};
use crate::record::row_scan::{RowPlace, RowScan};

/// Adds what an array whose cotangent is `ct` contributes to the cotangents of what its primitive reads.
///
/// # Errors
/// A primitive or a function without a gradient.
pub(super) fn pull(all: &mut Cotangents<'_>, node: &Node, ct: &Node) -> Result<()> {
    let Some(recipe) = node.kept_recipe() else { return Ok(()) };
    let rec = Recorder { op: node.op(), ..all.rec };
    match &*recipe {
        Recipe::Map(map) => all.pull(&map.value, Expr::load(ct, Expr::index()), node.extent()),
        Recipe::Append(append) => of_append(all, append, ct),
        Recipe::Reduce(reduce) => of_reduce(all, rec, reduce, node, ct),
        Recipe::Product(product) => product::pull(all, rec, product, ct),
        Recipe::RowScan(scan) => scan::pull(all, rec, scan, node, ct),
        Recipe::ScanRows(scan) => recurrence::pull(all, rec, scan, node, ct),
        Recipe::Compact(compact) => of_compact(all, rec, compact, ct),
        Recipe::TileFold(fold) => of_tile_fold(all, rec, fold, node, ct),
        Recipe::UniqueScatter(scatter) => of_unique_scatter(all, rec, scatter, ct),
        // Integers, positions and conditions.
        Recipe::Scan(_)
        | Recipe::Sort(_)
        | Recipe::RowSort(_)
        | Recipe::TopK(_)
        | Recipe::RowHash(_)
        | Recipe::Mark(_)
        | Recipe::Histogram(_)
        | Recipe::Assert(_) => Ok(()),
    }
}

fn of_append(all: &mut Cotangents<'_>, append: &Append, ct: &Node) -> Result<()> {
    let mut before = Expr::u32(0);
    for (value, count) in &append.parts {
        let at = before.clone().add(Expr::index());
        all.pull(value, Expr::load(ct, at), count)?;
        before = before.add(count.expr());
    }
    Ok(())
}

fn of_reduce(all: &mut Cotangents<'_>, rec: Recorder<'_>, reduce: &Reduce, node: &Node, ct: &Node) -> Result<()> {
    let Reduce { reducer, on, value } = reduce;
    let (count, result) = numbers(rec, on)?;
    let (dtype, of_result) = (value.dtype(), |node: &Node| Expr::load(node, result.clone()));
    let ct = of_result(ct);
    let sum = |value: Expr| reduce_rows(rec, ReduceOp::Sum, on.clone(), value);
    let of_value = match reducer {
        Reducer::Op(ReduceOp::Sum) => ct,
        Reducer::Op(ReduceOp::Prod) => {
            let others = |reverse: bool| {
                let scan = RowScan { op: ReduceOp::Prod, exclusive: true, reverse };
                scan.record(rec, on.clone(), value.clone(), &place(on))
            };
            times(others(false)?.mul(others(true)?), &ct)
        }
        // Equal extremes share the cotangent.
        Reducer::Op(ReduceOp::Min | ReduceOp::Max) | Reducer::Extreme(..) => {
            let is_extreme = is_same(value, &of_result(node));
            let count = sum(is_extreme.clone().select(number(dtype, 1.0), zero(dtype)))?;
            is_extreme.select(ct.quotient(of_result(&count)), zero(dtype))
        }
        // A shift of the exponents of the other reducer, whose choice changes no result.
        Reducer::Greatest => return Ok(()),
        Reducer::SumOfExps => {
            let greatest = reduce_rows(rec, Reducer::Greatest, on.clone(), value.clone())?;
            let exp = value.clone().sub(of_result(&greatest)).unary(UnaryOp::Math(MathFn::Exp));
            times(exp, &ct)
        }
        Reducer::Deviations => {
            // From the first value of the row, so that large numbers that differ little lose no digits.
            let RowPlace { row, number: column, .. } = place(on);
            let first = on.rows.start(row.clone()).mul(Expr::u32(on.inner)).add(column);
            let offset = value.clone().sub(value.at(&first));
            let mean = of_result(&sum(offset.clone())?).quotient(on.rows.length(row).cast(dtype));
            times(number(dtype, 2.0).mul(offset.sub(mean)), &ct)
        }
    };
    all.pull(value, of_value, &count)
}

fn of_compact(all: &mut Cotangents<'_>, rec: Recorder<'_>, compact: &Compact, ct: &Node) -> Result<()> {
    let Compact { bitmap, value, count, inner } = compact;
    let width = Expr::u32((*inner).max(1));
    let bitmap = RankBitmap::of(bitmap.clone(), count.clone());
    let at = Expr::index().div(width.clone());
    let (rank, next) = (bitmap.rank(&at), bitmap.rank(&at.add(Expr::u32(1))));
    let number = rank.clone().mul(width.clone()).add(Expr::index().rem(width));
    let of_value = rank.ne(next).select(Expr::load(ct, number), zero(ct.dtype()));
    all.pull(value, of_value, &rec.times(count, *inner)?)
}

fn of_tile_fold(all: &mut Cotangents<'_>, rec: Recorder<'_>, fold: &TileFold, node: &Node, ct: &Node) -> Result<()> {
    let TileFold { op, key, value, count, slots } = fold;
    let (dtype, number_of_slots) = (value.dtype(), Expr::u32(*slots));
    let at = Expr::index().div(Expr::u32(TILE)).mul(number_of_slots.clone()).add(key.clone());
    let is_folded = key.clone().lt(number_of_slots);
    let of_fold = |node: &Node| Expr::load(node, at.clone());
    let of_value = match op {
        ReduceOp::Sum => of_fold(ct),
        ReduceOp::Prod => {
            let key = is_folded.clone().select(at.clone(), Expr::u32(u32::MAX));
            let keys = ByKey::new(rec, count, key, ct.extent())?;
            let others = |reverse: bool| {
                keys.scan(rec, 1, value.clone(), &RowScan { op: ReduceOp::Prod, exclusive: true, reverse })
            };
            times(others(false)?.mul(others(true)?), &of_fold(ct))
        }
        ReduceOp::Min | ReduceOp::Max => {
            let is_extreme = is_same(value, &of_fold(node));
            let one = is_extreme.clone().select(number(dtype, 1.0), zero(dtype));
            let ties = rec.tile_fold(ReduceOp::Sum, count.clone(), (key.clone(), *slots), one)?;
            is_extreme.select(of_fold(ct).quotient(of_fold(&ties)), zero(dtype))
        }
    };
    all.pull(value, is_folded.select(of_value, zero(dtype)), count)
}

/// Whether a value is the extreme; all NaN are one value.
fn is_same(value: &Expr, extreme: &Expr) -> Expr {
    let is_nan = |e: &Expr| e.clone().unary(UnaryOp::IsNan);
    value.clone().eq(extreme.clone()).or(is_nan(value).and(is_nan(extreme)))
}

fn of_unique_scatter(all: &mut Cotangents<'_>, rec: Recorder<'_>, scatter: &UniqueScatter, ct: &Node) -> Result<()> {
    let UniqueScatter { at, value, count, base } = scatter;
    if let Some(base) = base.as_ref().filter(|base| all.wants(base)) {
        let of_base = rec.scatter_over(ct, count.clone(), (at.clone(), zero(ct.dtype())), &[]);
        all.add(base, Expr::load(&of_base, Expr::index()));
    }
    let is_within = at.clone().lt(Expr::size(ct.extent().size()));
    all.pull(value, is_within.select(Expr::load(ct, at.clone()), zero(ct.dtype())), count)
}
