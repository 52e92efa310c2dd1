//! Expressions with many operands are divided into kernels within the device's limit of bindings.

use super::twins::{array, same_everywhere};
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product, RowDomain, Rows};
use crate::graph::opcode::ReduceOp;
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::recorder::Recorder;

const N: u32 = 3000;

/// The sum of `width` arrays, as one expression that reads all, or as a chain of maps.
fn sum(backend: &BackendRef, width: u32, chain: bool) -> Expr {
    let source = |k: u32| {
        let values: Vec<u32> = (0..N).map(|i| i.wrapping_mul(k * 2 + 1) % 97).collect();
        Expr::load(&array(backend, DType::U32, bytemuck::cast_slice(&values)), Expr::index())
    };
    (1..width).fold(source(0), |sum, k| {
        let next = sum.add(source(k));
        if !chain {
            return next;
        }
        Expr::load(&Node::map(backend, "sum", Extent::known(N), next, &[]), Expr::index())
    })
}

/// 10 batches of 30 by 10 and 10 by 30, of that value on the left and on the right.
fn product(backend: &BackendRef, value: &Expr) -> Node {
    let start = |each: u32| Expr::index().mul(Expr::u32(each));
    // A value is a separate node, as in every operation.
    let value = Expr::load(&Node::map(backend, "value", Extent::known(N), value.clone(), &[]), Expr::index());
    let product = Product {
        batches: Extent::known(10),
        sizes: [30, 10, 30].map(Expr::u32),
        starts: [300, 300, 900].map(start),
        operands: [value.clone().add(Expr::u32(1)), value],
        capacities: [N.into(), N.into()],
        terms: N.into(),
        transposed: [false; 2],
        has_gaps: false,
        tiles: Rows::Uniform(4.into()),
        tile_capacity: 40.into(),
        tile: 16,
    };
    Recorder::new(backend, "product").product(Extent::known(9000), product, &[])
}

#[test]
fn wide_expressions_of_every_primitive() {
    for (chain, widths) in [(true, [5, 7, 9, 20].as_slice()), (false, &[3])] {
        for &width in widths {
            same_everywhere(&format!("{width} arrays, chain {chain}"), |backend| {
                let value = sum(backend, width, chain);
                let splits: Vec<u32> = (0..=100).map(|r| r * r * 3 / 10).collect();
                let s = array(backend, DType::U32, bytemuck::cast_slice(&splits));
                let (rows, nrows) = (Rows::Splits(s), Extent::known(100));
                let reduce = |value: &Expr| {
                    let (rows, nvals) = ((rows.clone(), nrows.clone()), Extent::known(N));
                    Recorder::new(backend, "reduce")
                        .reduce(ReduceOp::Sum, RowDomain::of(rows, nvals, 1), value.clone())
                        .expect("small")
                };
                let row_scan = |value: &Expr| {
                    let (rows, nvals) = ((rows.clone(), nrows.clone()), Extent::known(N));
                    Recorder::new(backend, "row scan")
                        .row_scan(ReduceOp::Sum, RowDomain::of(rows, nvals, 1), value.clone())
                        .expect("small")
                };
                let checked = value.clone().checked(Check::new("check", "never"), value.clone().lt(Expr::u32(1 << 30)));
                let assert = Node::assert(
                    backend,
                    Extent::known(N),
                    value.clone().lt(Expr::u32(1 << 30)),
                    Check::new("assert", "never"),
                );
                let counts = array(backend, DType::U32, bytemuck::bytes_of(&N));
                let counted = Extent::bounded(N, Expr::load(&counts, Expr::u32(0)));
                vec![
                    ("map".into(), Node::map(backend, "map", Extent::known(N), value.clone().add(Expr::u32(5)), &[])),
                    ("checked map".into(), Node::map(backend, "map", counted.clone(), checked.clone(), &[])),
                    ("asserted".into(), Node::map(backend, "map", Extent::known(9), Expr::index(), &[assert])),
                    ("reduce".into(), reduce(&value)),
                    ("checked reduce".into(), reduce(&checked)),
                    ("product".into(), product(backend, &value)),
                    ("product with a condition".into(), product(backend, &checked)),
                    ("row scan".into(), row_scan(&value)),
                    ("checked row scan".into(), row_scan(&checked)),
                    (
                        "scan".into(),
                        Recorder::new(backend, "scan").scan(counted.clone(), checked.clone()).expect("small"),
                    ),
                    (
                        "row sort".into(),
                        Recorder::new(backend, "sort").row_sort(
                            RowDomain::of((rows.clone(), Extent::known(100)), counted.clone(), 1),
                            (checked.clone(), 16),
                            N,
                        ),
                    ),
                    ("sort".into(), Recorder::new(backend, "sort").sort(counted.clone(), checked.clone(), 16)),
                    (
                        "histogram".into(),
                        Recorder::new(backend, "histogram").histogram(
                            counted.clone(),
                            checked.clone(),
                            Extent::known(300),
                        ),
                    ),
                    ("top k".into(), {
                        let (rows, key) = ((rows.clone(), Extent::known(100)), (checked.clone(), 7));
                        Recorder::new(backend, "top k")
                            .top_k(RowDomain::of(rows, counted.clone(), 1), key, N)
                            .expect("small")
                    }),
                    ("tile fold".into(), {
                        let (key, sum) = ((checked.clone().rem(Expr::u32(90)), 80), ReduceOp::Sum);
                        Recorder::new(backend, "fold")
                            .tile_fold(sum, counted.clone(), key, value.clone())
                            .expect("small")
                    }),
                    ("compact".into(), {
                        let keep = checked.clone().rem(Expr::u32(3)).eq(Expr::u32(0));
                        let marks = RankBitmap::new(Recorder::new(backend, "mark"), &counted, keep);
                        Recorder::new(backend, "compact").compact(&marks, (checked, 1), marks.total())
                    }),
                ]
            });
        }
    }
}
