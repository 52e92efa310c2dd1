//! Selections from rows, and folds of tiles.

use super::*;
use crate::graph::tile_fold::{MAX_SLOTS, TILE};

#[test]
fn selections_from_rows_short_and_long() {
    for (what, lengths) in [
        ("mixed", adversarial(1, 30_000)),
        ("at the edge", vec![512, 0, 513, 511, 0, 0, 1, 513, 1024, 1025, 0]),
        ("long among empty ones", [vec![0; 5000], vec![7000], vec![0; 5000], vec![2, 1000], vec![0; 9]].concat()),
        ("one row of several batches of candidates", vec![3, 200_000, 1]),
        ("short", (0..200).collect()),
        ("empty", vec![0; 3]),
    ] {
        same_everywhere(what, |backend| {
            let mut random = Random(77);
            let all = splits(&lengths);
            let (nrows, n) = (lengths.len() as u32, all[lengths.len()]);
            let s = words(backend, &all);
            let mut out = Vec::new();
            // Keys with many ties; descending keys, of which every batch of candidates is better than the last one.
            let random: Vec<u32> = (0..n.max(1)).map(|_| random.below(900)).collect();
            let descending: Vec<u32> = (0..n.max(1)).map(|k| u32::MAX - k / 2).collect();
            for (order, keys) in [("random", random), ("descending", descending)] {
                let narrow = Expr::load(&words(backend, &keys), Expr::index());
                let wide = narrow.clone().cast(DType::U64);
                let wide = wide
                    .clone()
                    .binary(BinaryOp::Shl, Expr::scalar(20u64))
                    .add(narrow.clone().rem(Expr::u32(3)).cast(DType::U64));
                for (key, bits) in [(narrow, 32), (wide, 64)] {
                    for k in [1, 5, 16] {
                        let longest = lengths.iter().copied().max().unwrap_or(0);
                        for longest in [longest, u32::MAX] {
                            let rows = (Rows::Splits(s.clone()), Extent::known(nrows));
                            let key = (key.clone(), k);
                            let node = Recorder::new(backend, "top k").top_k(
                                RowDomain::of(rows, Extent::known(n), 1),
                                key,
                                longest,
                            );
                            let name = format!("{k} of {order} keys of {bits} bits, up to {longest}");
                            out.push((name, node.expect("small")));
                        }
                        let uniform = (Rows::Uniform(700.into()), counted(backend, n / 700, n / 700));
                        let nvals = Extent::known(n / 700 * 700);
                        let node = Recorder::new(backend, "top k").top_k(
                            RowDomain::of(uniform, nvals, 1),
                            (key.clone(), k),
                            700,
                        );
                        out.push((format!("{k} of {order} keys of {bits} bits, uniform"), node.expect("small")));
                        let live = nrows / 2;
                        let mut cut = all.clone();
                        cut[live as usize..].fill(all[live as usize]);
                        let rows = (Rows::Splits(words(backend, &cut)), counted(backend, nrows, live));
                        let nvals = counted(backend, n, all[live as usize]);
                        let node = Recorder::new(backend, "top k").top_k(
                            RowDomain::of(rows, nvals, 1),
                            (key.clone(), k),
                            u32::MAX,
                        );
                        out.push((format!("{k} of {order} keys of {bits} bits, counted"), node.expect("small")));
                    }
                }
            }
            out
        });
    }
}

#[test]
fn folds_of_tiles_by_few_and_many_keys() {
    same_everywhere("folds of tiles", |backend| {
        let mut out = Vec::new();
        let mut random = Random(12);
        for slots in [1u32, 2, 100, 255, 256, 257, MAX_SLOTS] {
            for n in [0u32, 1, 511, 513, TILE - 1, TILE, TILE + 1, 30_000] {
                // Some keys have no slot.
                let keys: Vec<u32> = (0..n.max(1))
                    .map(|k| match k % 97 {
                        0 => u32::MAX,
                        1 => slots,
                        _ => random.below(slots + slots / 8 + 1),
                    })
                    .collect();
                let key = Expr::load(&words(backend, &keys), Expr::index());
                for (k, dtype) in [DType::U32, DType::I32, DType::U64, DType::I64, DType::F32].into_iter().enumerate() {
                    let op = [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min, ReduceOp::Sum][k];
                    let value = Expr::load(&array(backend, dtype, &values(dtype, n.max(1), 5)), Expr::index());
                    for live in [0, n / 2, n] {
                        let (count, key) = (counted(backend, n, live), (key.clone(), slots));
                        let node =
                            Recorder::new(backend, "fold").tile_fold(op, count, key, value.clone()).expect("small");
                        out.push((format!("{op:?} of {dtype}, {live} of {n} by {slots} keys"), node));
                    }
                }
            }
        }
        out
    });
}
