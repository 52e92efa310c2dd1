//! The cotangents of the operands of matrix products: products of the cotangent with the other operand.

use super::cotangents::Cotangents;
use super::scalar::zero;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product};
use crate::graph::recorder::Recorder;
use crate::graph::size::{RecordedSize, Size};
use crate::record::matrices::tabled;
use crate::record::product_tiles::Tiles;

/// The matrices of one operand, as stored.
#[derive(Clone)]
struct Stored {
    /// Start of the matrix, an expression in the batch.
    start: Expr,
    /// The numbers, by flat position.
    numbers: Expr,
    /// Upper bound of the numbers.
    capacity: Size,
    /// Whether it is stored transposed in a product that reads it as it is.
    transposed: bool,
}

impl Stored {
    fn t(&self) -> Self {
        Self { transposed: !self.transposed, ..self.clone() }
    }
}

/// Adds the cotangents of the operands of a product whose cotangent is `ct`.
pub(super) fn pull(all: &mut Cotangents<'_>, rec: Recorder<'_>, product: &Product, ct: &Node) -> Result<()> {
    let [m, k, n] = &product.sizes;
    let [start_a, start_b, start_c] = &product.starts;
    let operand = |which: usize, start: &Expr| Stored {
        start: start.clone(),
        numbers: product.operands[which].clone(),
        capacity: product.capacities[which].clone(),
        transposed: product.transposed[which],
    };
    let (a, b) = (operand(0, start_a), operand(1, start_b));
    let c = Stored {
        start: start_c.clone(),
        numbers: Expr::load(ct, Expr::index()),
        capacity: ct.extent().size().clone(),
        transposed: false,
    };
    let batches = &product.batches;
    // A is stored m by k, or k by m; B is stored k by n, or n by k.
    let of_a = match a.transposed {
        false => times(rec, batches, [m, n, k], [&c, &b.t()], &a)?,
        true => times(rec, batches, [k, n, m], [&b, &c.t()], &a)?,
    };
    let of_b = match b.transposed {
        false => times(rec, batches, [k, m, n], [&a.t(), &c], &b)?,
        true => times(rec, batches, [n, m, k], [&c.t(), &a], &b)?,
    };
    for (operand, of) in [(&a, of_a), (&b, of_b)] {
        all.pull(&operand.numbers, Expr::load(&of, Expr::index()), of.extent())?;
    }
    Ok(())
}

/// The products of the operands, stored where the matrices of `to` are.
fn times(
    rec: Recorder<'_>,
    batches: &Extent,
    [m, k, n]: [&Expr; 3],
    operands: [&Stored; 2],
    to: &Stored,
) -> Result<Node> {
    let bound = &to.capacity;
    if bound.capacity() == 0 || batches.capacity() == 0 {
        return Ok(rec.map(Extent::of(bound.clone()), zero(to.numbers.dtype()), &[]));
    }
    // Upper bounds of the rows and columns of all matrices.
    let all = |side: &Expr| match side.as_size().filter(|size| !size.contains_count()) {
        Some(side) => side.mul(batches.size()),
        None => bound.clone(),
    };
    let Tiles { tiles, tile_capacity, tile } = Tiles::new(rec, batches, [m, n], bound, [&all(m), &all(n)])?;
    let [left, right] = operands;
    // Matrices without rows have any number of columns, of which the product has none.
    let has_gaps = [m, k, n].into_iter().any(|size| size.as_known().is_none());
    let fields = [m, k, n, &left.start, &right.start, &to.start].map(Expr::clone);
    let [m, k, n, left_start, right_start, start] = tabled(rec, batches, fields)?;
    let product = Product {
        batches: batches.clone(),
        sizes: [m, k, n],
        starts: [left_start, right_start, start],
        operands: [left.numbers.clone(), right.numbers.clone()],
        capacities: [left.capacity.clone(), right.capacity.clone()],
        terms: left.capacity.min(&right.capacity),
        transposed: [left.transposed, right.transposed],
        tiles,
        tile_capacity,
        tile,
        has_gaps,
    };
    Ok(rec.product(Extent::of(bound.clone()), product, &[]))
}
