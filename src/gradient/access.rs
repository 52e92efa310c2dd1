//! The adjoint of an access: from the elements that each position reads, to the sum of the positions that read each
//! element.
//!
//! Where the position that reads an element follows from the element by arithmetic, the adjoint is a map, or a sum of
//! consecutive positions; where it follows from a permutation that the program computes, a look-up. Any other access is
//! summed by key, which sorts the positions once.

use super::given::Given;
use super::place::{Place, of_own_row, of_own_rows};
use super::scalar::zero;
use super::unique_rows::UniqueRows;
use super::{inverse, lines, sized, strided};
use crate::error::Result;
use crate::graph::access::{Access, Inner, RowsRef};
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Recipe, RowDomain, Rows};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::tile_fold::MAX_SLOTS;
use crate::graph::walk::for_each_expr;
use crate::record::by_key::one_row;

/// The cotangents of the elements of an array of that extent, as expressions in the element, which add up. Each position
/// reads element `index`, an expression in the position.
pub(super) fn adjoint(given: Given<'_>, index: &Expr, to: &Extent) -> Result<Vec<Expr>> {
    let mut out = Vec::new();
    of_index(given, &index.in_program(), to, &mut out)?;
    Ok(out)
}

/// The cotangents of the rows that positions look up by data, if that is how each position reads element `index`: those of
/// [`adjoint`] without the rows that no position reads, and with their bits. `None` for other accesses, and for arrays so
/// small that [`Given::by_key`] needs no sort.
pub(super) fn rows_looked_up(given: Given<'_>, index: &Expr, to: &Extent) -> Result<Option<UniqueRows>> {
    let index = &index.in_program();
    let Access::Gathered { element, inner, .. } = index.access() else { return Ok(None) };
    if condition_of(index).is_some() || !stays_within(&inner) || !is_whole(&inner) || inner.own == 0 {
        return Ok(None);
    }
    if let Some((given, element)) = summed_by_row(&given, index)? {
        return rows_looked_up(given, &element, to);
    }
    let elements = to.part(inner.width);
    let is_small = elements.as_known().is_some_and(|n| n.saturating_mul(inner.own) <= MAX_SLOTS);
    if is_small || computed(&given, &element, &inner, to)?.is_some() || sized::adjoint(&given, index, to)?.is_some() {
        return Ok(None);
    }
    let count = given.count.part(inner.own);
    UniqueRows::new(&given, (&element, &count), &elements, inner.own).map(Some)
}

/// The sums of the cotangents of each row, and the index of the row, if all positions of a row read one element.
fn summed_by_row<'a>(given: &Given<'a>, index: &Expr) -> Result<Option<(Given<'a>, Expr)>> {
    let Some((splits, element)) = one_per_row(index) else { return Ok(None) };
    let nrows = Extent::of(splits.extent().size().sub(1));
    let on = RowDomain { rows: Rows::Splits(splits), nrows: nrows.clone(), nvals: given.count.clone(), inner: 1 };
    let ct = given.sum(on, given.ct.clone())?;
    Ok(Some((Given { ct, count: nrows, ..given.clone() }, element)))
}

fn of_index(given: Given<'_>, index: &Expr, to: &Extent, out: &mut Vec<Expr>) -> Result<()> {
    let access = index.access();
    if let Access::Gathered { .. } = &access
        && let Some((given, element)) = summed_by_row(&given, index)?
    {
        return of_index(given, &element.in_program(), to, out);
    }
    let condition = match &access {
        Access::Choice(condition, _) => Some(condition.clone()),
        Access::Gathered { .. } => condition_of(index),
        Access::Place { own, row, inner, .. } => condition_of_rows(row, own, inner.own),
        _ => None,
    };
    if let Some(condition) = &condition
        && let Some(branches) = branches(&given.ct, index, condition)
    {
        for (ct, index) in branches {
            of_index(Given { ct, ..given.clone() }, &index, to, out)?;
        }
        return Ok(());
    }
    let structured = match &access {
        Access::Run { start, step: 1 } if start.as_u32() == Some(0) => Some(own(&given, to)),
        Access::Run { start, step } => strided::run(&given, start, *step, to)?,
        Access::Strided { base, digits } => strided::adjoint(&given, base, digits, to)?,
        Access::Fixed(element) => Some(fixed(&given, element)?),
        Access::Row { rows, inner } => rows_read(&given, rows, inner, to)?,
        // Where numbers lie outside of the element that they are counted from, there may be no such element.
        Access::Place { base, inner, .. } if !stays_within(inner) && base.as_u32() != Some(0) => None,
        Access::Gathered { inner, .. } if !stays_within(inner) => None,
        Access::Lines { own, own_width, of, width } => Some(lines::adjoint(&given, (own, *own_width), (of, *width))),
        Access::Place { own, of, row, base, step, inner } => {
            let place = Place { own, of, row, of_own: None, base, step: *step, inner };
            match inverse::adjoint(&given, &place, to)? {
                Some(of) => Some(given.numbers(of, &to.part(inner.width.max(1)), inner, to)?),
                None => None,
            }
        }
        Access::Gathered { element, inner, .. } => match computed(&given, element, inner, to)? {
            Some(of) => Some(of),
            None => through_positions(&given, index, to)?,
        },
        Access::Choice(..) => None,
    };
    let structured = match structured {
        Some(ct) => Some(ct),
        None => sized::adjoint(&given, index, to)?,
    };
    out.push(match (structured, &access) {
        (Some(ct), _) => ct,
        (None, Access::Gathered { element, inner, .. }) if stays_within(inner) && inner.own > 0 => {
            gathered(&given, element, inner, to)?
        }
        _ => given.by_key(index.clone(), to, 1)?,
    });
    Ok(())
}

/// The splits of the own rows and the index as an expression in the own row, if all positions of a row read one element.
fn one_per_row(index: &Expr) -> Option<(Node, Expr)> {
    let mut rows = None;
    for_each_expr(index, &mut |e| {
        if let Some((splits, 1)) = e.own_row() {
            rows.get_or_insert_with(|| splits.clone());
        }
    });
    let splits = rows?;
    let of_row = of_own_row(index, &splits, 1)?;
    Some((splits, of_row))
}

/// The condition of a choice between operands of index arithmetic.
pub(super) fn condition_of(index: &Expr) -> Option<Expr> {
    let mut stack = vec![index];
    while let Some(e) = stack.pop() {
        match e.kind() {
            ExprKind::Select(condition, ..) if condition.has_index() => return Some(condition.clone()),
            ExprKind::Binary(..) | ExprKind::Within(..) => stack.extend(e.operands()),
            _ => {}
        }
    }
    None
}

/// The condition of a choice between rows that follow from the own row by arithmetic. Rows that are data are summed by
/// key as one.
fn condition_of_rows(row: &Expr, own: &RowsRef, width: u32) -> Option<Expr> {
    let is_arithmetic = |row: Expr| {
        let row = of_own_rows(&row, own, width);
        row.is_some_and(|row| !matches!(row.in_program().access(), Access::Gathered { .. }))
    };
    let condition = condition_of(row)?;
    [true, false].map(|holds| chosen(row, &condition, holds)).into_iter().all(is_arithmetic).then_some(condition)
}

/// The cotangents and the indices where the condition holds, and where it does not, of those that `ct` is not 0 for. `None` if
/// the index does not depend on the condition.
pub(super) fn branches(ct: &Expr, index: &Expr, condition: &Expr) -> Option<Vec<(Expr, Expr)>> {
    let both = [true, false].map(|holds| (holds, chosen(index, condition, holds)));
    if both.iter().any(|(_, branch)| branch == index) {
        return None;
    }
    let of_branch = |(holds, branch): (bool, Expr)| {
        let (ct, none) = (ct.clone(), zero(ct.dtype()));
        (if holds { condition.clone().select(ct, none) } else { condition.clone().select(none, ct) }, branch)
    };
    Some(both.into_iter().filter(|(holds, _)| !is_none_where(ct, condition, *holds)).map(of_branch).collect())
}

/// The index where the condition holds, or where it does not.
fn chosen(index: &Expr, condition: &Expr, holds: bool) -> Expr {
    fn go(e: &Expr, condition: &Expr, holds: bool, memo: &mut DigestMap<Expr>) -> Expr {
        if let Some(known) = memo.get(&e.digest()) {
            return known.clone();
        }
        let out = match e.kind() {
            ExprKind::Select(c, a, b) if c == condition => go(if holds { a } else { b }, condition, holds, memo),
            _ => {
                let operands: Vec<Expr> = e.operands().map(|o| go(o, condition, holds, memo)).collect();
                e.with_operands(operands.into_iter())
            }
        };
        memo.insert(e.digest(), out.clone());
        out
    }
    go(index, condition, holds, &mut DigestMap::default())
}

/// Whether the cotangent is 0 wherever the condition holds, or wherever it does not: the choice of an operand may follow
/// from it.
fn is_none_where(ct: &Expr, condition: &Expr, holds: bool) -> bool {
    let none = zero(ct.dtype());
    let mut ct = ct;
    while let ExprKind::Select(given, a, b) = ct.kind() {
        let known = chosen(&given.in_program(), condition, holds);
        let is = |value: bool| known == Expr::scalar(value);
        ct = match (*a == none, *b == none) {
            (_, true) if is(false) => return true,
            (true, _) if is(true) => return true,
            (_, true) => a,
            (true, _) => b,
            _ => return false,
        };
    }
    *ct == none
}

/// Each position reads the element at the same position.
fn own(given: &Given<'_>, to: &Extent) -> Expr {
    if given.count.is_same(to) {
        return given.ct.clone();
    }
    given.only_where(Expr::index().lt(given.count.expr()), given.ct.clone())
}

/// All positions read one element.
fn fixed(given: &Given<'_>, element: &Expr) -> Result<Expr> {
    let total = given.sum(one_row(given.rec, &given.count)?, given.ct.clone())?;
    Ok(given.only_where(Expr::index().eq(element.clone()), total.at(&Expr::u32(0))))
}

/// Each position reads the row that it is in.
fn rows_read(given: &Given<'_>, splits: &Node, inner: &Inner, to: &Extent) -> Result<Option<Expr>> {
    let Some(nvals) = given.elements(inner.own) else { return Ok(None) };
    let nrows = Extent::of(splits.extent().size().sub(1));
    let on = RowDomain { rows: Rows::Splits(splits.clone()), nrows: nrows.clone(), nvals, inner: inner.own };
    let sums = given.sum(on, given.ct.clone())?;
    let all = given.rec.times(&nrows, inner.width)?;
    let of = given.numbers(sums, &nrows, inner, to)?;
    Ok(Some(if all.is_same(to) { of } else { given.only_where(Expr::index().lt(all.expr()), of) }))
}

/// Each position reads an element that is data.
fn gathered(given: &Given<'_>, element: &Expr, inner: &Inner, to: &Extent) -> Result<Expr> {
    let elements = to.part(inner.width.max(1));
    let count = given.count.part(inner.own.max(1));
    let of = Given { count, ..given.clone() }.by_key(element.clone(), &elements, inner.own)?;
    given.numbers(of, &elements, inner, to)
}

/// Each position reads an element that a primitive computed.
fn computed(given: &Given<'_>, element: &Expr, inner: &Inner, to: &Extent) -> Result<Option<Expr>> {
    if inner.own == 0 {
        return Ok(None);
    }
    let elements = to.part(inner.width.max(1));
    match by_positions(given, element, inner.own, &elements)? {
        Some(of) => Ok(Some(given.numbers(of, &elements, inner, to)?)),
        None => Ok(None),
    }
}

/// Each position reads an element that follows by arithmetic from an entry of a permutation, which leads back in two
/// steps.
fn through_positions(given: &Given<'_>, index: &Expr, to: &Extent) -> Result<Option<Expr>> {
    let Some((positions, entry, then)) = after_permutation(index) else { return Ok(None) };
    let count = positions.extent();
    let Some(ct) = by_positions(given, &Expr::load(&positions, entry), 1, count)? else { return Ok(None) };
    let ct = Expr::load(&given.rec.map(count.clone(), ct, &[]), Expr::index());
    let of = adjoint(Given { ct, count: count.clone(), ..given.clone() }, &then, to)?;
    Ok(of.into_iter().reduce(Expr::add))
}

/// The array of a permutation, the entry of it that is read, and the index by arithmetic in what is read there.
fn after_permutation(index: &Expr) -> Option<(Node, Expr, Expr)> {
    let mut loads = Vec::new();
    for_each_expr(index, &mut |e| {
        if let ExprKind::Load(positions, entry) = e.kind()
            && entry.has_index()
            && let Some(Recipe::Sort(_) | Recipe::RowSort(_)) = positions.kept_recipe().as_deref()
        {
            loads.push((e.clone(), positions.clone(), entry.clone()));
        }
    });
    // Of permutations of each other, the last one leads to arithmetic.
    loads.into_iter().find_map(|(load, positions, entry)| {
        let then = index.in_terms_of(&|e| *e == load)?;
        (!matches!(then.access(), Access::Gathered { .. })).then_some((positions, entry, then))
    })
}

/// The cotangents of elements, of `own` numbers each, whose positions a primitive computed: those of a sort, a
/// selection or a compaction. First those of the entries of the array of positions, then those of the elements at these.
fn by_positions(given: &Given<'_>, element: &Expr, own: u32, elements: &Extent) -> Result<Option<Expr>> {
    let ExprKind::Load(positions, entry) = element.kind() else { return Ok(None) };
    let Some(recipe) = positions.kept_recipe() else { return Ok(None) };
    let is_one = match &*recipe {
        Recipe::Sort(_) | Recipe::RowSort(_) => true,
        Recipe::Compact(compact) => compact.inner == 1 && compact.value.is_index(),
        Recipe::TopK(_) => true,
        Recipe::UniqueScatter(scatter) => scatter.value.is_index() && scatter.count.is_same(positions.extent()),
        _ => false,
    };
    if !is_one {
        return Ok(None);
    }
    // Elements beyond the permutation have no entry.
    let is_permuted = |of: Expr| match positions.extent().is_same(elements) {
        true => of,
        false => given.only_where(Expr::index().div(Expr::u32(own)).lt(positions.extent().expr()), of),
    };
    let (rec, width, at) = (given.rec, Expr::u32(own), Expr::index());
    let entries = rec.times(positions.extent(), own)?;
    let number = at.clone().rem(width.clone());
    let entry = entry.at(&at.clone().div(width.clone())).mul(width.clone()).add(number.clone());
    let of_entries = adjoint(given.clone(), &entry, &entries)?.into_iter().reduce(Expr::add);
    let Some(of_entries) = of_entries else { return Ok(None) };
    let of_entries = rec.map(entries, of_entries, &[]);
    let own_element = at.div(width.clone());
    let of_entry = |entry: Expr| Expr::load(&of_entries, entry.mul(width.clone()).add(number.clone()));
    Ok(Some(match &*recipe {
        Recipe::Compact(compact) => {
            let bitmap = RankBitmap::of(compact.bitmap.clone(), compact.count.clone());
            let (rank, next) = (bitmap.rank(&own_element), bitmap.rank(&own_element.clone().add(Expr::u32(1))));
            let is_kept = own_element.lt(compact.count.expr()).and(rank.clone().ne(next));
            given.only_where(is_kept, of_entry(rank))
        }
        // The inverse of a permutation: positions that are scattered are different.
        Recipe::UniqueScatter(scatter) => is_permuted(of_entry(scatter.at.at(&own_element))),
        // Each row has `k` entries, of which those beyond its length have the cotangent 0.
        Recipe::TopK(top) => {
            let first = top.on.rows.row_of(own_element.clone()).mul(Expr::u32(top.k));
            let of_selected = |k: u32| {
                let entry = first.clone().add(Expr::u32(k));
                let is_selected = Expr::load(positions, entry.clone()).eq(own_element.clone());
                given.only_where(is_selected, of_entry(entry))
            };
            let all = (0..top.k).map(of_selected).reduce(Expr::add);
            all.unwrap_or_else(|| zero(given.ct.dtype()))
        }
        _ => {
            let place = Expr::load(positions, Expr::index());
            let entry = rec.unique_scatter(positions.extent().clone(), (place, Expr::index()), elements.clone());
            is_permuted(of_entry(Expr::load(&entry, own_element)))
        }
    }))
}

impl Given<'_> {
    /// The cotangents of the numbers of elements, of which each has `inner.width`, from `of` the own numbers of each of
    /// the `elements`.
    pub(super) fn numbers(&self, of: Expr, elements: &Extent, inner: &Inner, to: &Extent) -> Result<Expr> {
        if is_whole(inner) {
            return Ok(of);
        }
        let count = self.rec.times(elements, inner.own)?;
        let ct = Expr::load(&self.rec.map(count.clone(), of, &[]), Expr::index());
        let element = Expr::index().div(Expr::u32(inner.own.max(1))).mul(Expr::u32(inner.width));
        let number = |(times, divisor, modulus): (u32, u32, u32)| {
            Expr::index().div(Expr::u32(divisor)).rem(Expr::u32(modulus)).mul(Expr::u32(times))
        };
        let index = known_digits(inner).into_iter().map(number).fold(element, Expr::add);
        let all = adjoint(Given { ct, count, ..self.clone() }, &index, to)?;
        Ok(all.into_iter().reduce(Expr::add).unwrap_or_else(|| zero(self.ct.dtype())))
    }
}

/// Whether the own numbers of an element are all numbers of the element that is read.
fn is_whole(inner: &Inner) -> bool {
    let digits = known_digits(inner);
    inner.own == inner.width && (digits == [(1, 1, inner.own)] || inner.own == 1)
}

/// Whether all numbers lie in the element that they are counted from.
fn stays_within(inner: &Inner) -> bool {
    let last = |(times, _, modulus): (u32, u32, u32)| u64::from(times) * u64::from(modulus.saturating_sub(1));
    known_digits(inner).into_iter().map(last).fold(0, u64::saturating_add) < u64::from(inner.width.max(1))
}

/// Factor, divisor and modulus of the digits of the number within an own element.
fn known_digits(inner: &Inner) -> Vec<(u32, u32, u32)> {
    let digit = |(times, digit): &(i64, crate::graph::access::Digit)| {
        let modulus = digit.modulus.as_ref().and_then(|modulus| modulus.as_known());
        let known = digit.divisor.as_known().zip(modulus);
        let (divisor, modulus) = known.unwrap_or_else(|| unreachable!("bug: a number within an element of any size"));
        // Both are at most the numbers of an element; negative factors wrap like all arithmetic of positions.
        (*times as u32, divisor as u32, modulus as u32)
    };
    inner.digits.iter().map(digit).collect()
}
