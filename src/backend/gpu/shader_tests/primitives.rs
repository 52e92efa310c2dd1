//! The primitives on every adapter against the CPU, with generated loads: packed stores, counts that the device alone
//! knows, rows of all lengths, keys of all widths.

use super::ops;
use super::twins::{array, same_everywhere};
use crate::backend::gpu::kernel_tests::{Random, adversarial, splits};
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product, Rows};
use crate::graph::opcode::{BinaryOp, ReduceOp, UnaryOp};
use crate::graph::rank_bitmap::RankBitmap;
use crate::graph::reducer::Reducer;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;

/// Random small numbers among all the edges, as bytes.
fn values(dtype: DType, n: u32, seed: u64) -> Vec<u8> {
    let edges = ops::edges(dtype);
    let mut random = Random(seed);
    let bits = (0..n).map(|_| match random.below(20) {
        0 => edges[random.below(edges.len() as u32) as usize],
        _ => {
            let v = random.below(2000);
            match dtype {
                DType::Bool => u64::from(v & 1),
                DType::F16 => u64::from(half::f16::from_f32((v as f32 - 1000.0) / 64.0).to_bits()),
                DType::BF16 => u64::from(half::bf16::from_f32((v as f32 - 1000.0) / 64.0).to_bits()),
                DType::F32 => u64::from(((v as f32 - 1000.0) / 64.0).to_bits()),
                DType::F64 => ((f64::from(v) - 1000.0) / 64.0).to_bits(),
                _ => u64::from(v),
            }
        }
    });
    ops::bytes(dtype, bits.collect::<Vec<_>>())
}

/// A count that the device alone knows.
fn counted(backend: &BackendRef, capacity: u32, live: u32) -> Extent {
    let at = array(backend, DType::U32, bytemuck::bytes_of(&[7, live]));
    Extent::bounded(capacity, Expr::load(&at, Expr::u32(1)))
}

fn words(backend: &BackendRef, of: &[u32]) -> Node {
    array(backend, DType::U32, bytemuck::cast_slice(of))
}

#[test]
fn maps_of_every_length_and_packing() {
    for dtype in ops::DTYPES {
        same_everywhere(&format!("maps of {dtype}"), &[dtype], |backend| {
            let mut out = Vec::new();
            for n in [0, 1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1025, 1027, 5000] {
                let x = array(backend, dtype, &values(dtype, n.max(1), u64::from(n)));
                let reversed = Expr::load(&x, Expr::u32(n.max(1) - 1).sub(Expr::index()));
                let node = Node::map(backend, "reverse", Extent::known(n), reversed.clone(), &[]);
                out.push((format!("{n}"), node));
                for live in [0, 1, n / 3, n.saturating_sub(1), n] {
                    let node = Node::map(backend, "some", counted(backend, n, live), reversed.clone(), &[]);
                    out.push((format!("{live} of {n}"), node));
                }
            }
            out
        });
    }
}

#[test]
fn rows_of_elements() {
    for dtype in [DType::Bool, DType::U8, DType::I16, DType::F16, DType::I32, DType::F64] {
        same_everywhere(&format!("rows of {dtype}"), &[dtype], |backend| {
            let mut out = Vec::new();
            for seed in 0..4 {
                let mut lengths = adversarial(seed, 9000);
                lengths.splice(0..0, [0, 0, 0]);
                lengths.extend([0, 0]);
                let all = splits(&lengths);
                let n = all[lengths.len()];
                let s = words(backend, &all);
                let per_row = array(backend, dtype, &values(dtype, lengths.len() as u32, seed));
                let own = Expr::row_of(&s, Expr::index());
                let wide = Expr::row_of(&s, Expr::index().div(Expr::u32(3)));
                let far = Expr::row_of(&s, Expr::index().mul(Expr::u32(7)).rem(Expr::u32(n)));
                for (name, count, row) in [("own", n, own), ("wide", 3 * n, wide), ("far", n, far)] {
                    let value = Expr::load(&per_row, row.clone());
                    for live in [count, count / 2 + 1] {
                        let extent = counted(backend, count, live);
                        out.push((
                            format!("{name} row {seed} {live}"),
                            Node::map(backend, "row", extent.clone(), row.clone(), &[]),
                        ));
                        out.push((
                            format!("{name} {seed} {live}"),
                            Node::map(backend, "of row", extent, value.clone(), &[]),
                        ));
                    }
                }
            }
            out
        });
    }
}

/// What is kept of rows in several numbers, alone and with others, in values with infinities and NaN, and elements by
/// it.
#[test]
fn passes_over_rows() {
    for dtype in [DType::F32, DType::F64] {
        for inner in [1u32, 3] {
            same_everywhere(&format!("passes over rows of {dtype}, inner {inner}"), &[dtype], |backend| {
                let mut out = Vec::new();
                let lengths = [adversarial(u64::from(inner), 20_000), vec![0, 5, 700, 256, 257]].concat();
                let all = splits(&lengths);
                let (nrows, nvals) = (Extent::known(lengths.len() as u32), Extent::known(all[lengths.len()]));
                let rows = Rows::Splits(words(backend, &all));
                let any =
                    Expr::load(&array(backend, dtype, &values(dtype, nvals.capacity() * inner, 5)), Expr::index());
                // Whole numbers between -50 and 50: of most rows everything is finite.
                let place = Expr::index().mul(Expr::u32(7919)).rem(Expr::u32(101));
                let tame = place.cast(DType::I32).sub(Expr::scalar(50i32)).cast(dtype);
                let tame = Node::map(backend, "values", nvals.times("n", u64::from(inner)).expect("small"), tame, &[]);
                out.push(("values".to_owned(), tame.clone()));
                for (what, x) in [("any", any), ("tame", Expr::load(&tame, Expr::index()))] {
                    let results = [
                        Reducer::Greatest,
                        Reducer::SumOfExps,
                        Reducer::Deviations,
                        Reducer::Op(ReduceOp::Sum),
                        Reducer::Op(ReduceOp::Min),
                    ]
                    .map(|by| {
                        let of_rows = (rows.clone(), nrows.clone());
                        let node = Node::reduce(backend, "reduce", by, of_rows, nvals.clone(), inner, x.clone());
                        (format!("{by:?} of {what}"), node.expect("small"))
                    });
                    if inner == 1 {
                        let row = rows.row_of(Expr::index());
                        let value = results.iter().fold(x.clone(), |v, (_, r)| v.sub(Expr::load(r, row.clone())));
                        out.push((format!("{what} mapped"), Node::map(backend, "map", nvals.clone(), value, &[])));
                        let share = x.sub(Expr::load(&results[0].1, row.clone()));
                        let share = share.unary(UnaryOp::Math(MathFn::Exp)).quotient(Expr::load(&results[1].1, row));
                        out.push((format!("shares of {what}"), Node::map(backend, "map", nvals.clone(), share, &[])));
                    }
                    out.extend(results);
                }
                out
            });
        }
    }
}

/// Reductions and scans of one dtype: lengths around the edges of tiles and blocks, products taken in, device-known
/// counts.
fn reductions(dtype: DType) {
    for inner in [1u32, 3, 16] {
        same_everywhere(&format!("reductions of {dtype}, inner {inner}"), &[dtype], |backend| {
            let mut out = Vec::new();
            let scale = if inner == 1 { 20_000 } else { 3000 };
            let lengths = adversarial(u64::from(inner), scale);
            let all = splits(&lengths);
            let (nrows, nvals) = (lengths.len() as u32, all[lengths.len()]);
            let s = words(backend, &all);
            let x = array(backend, dtype, &values(dtype, nvals * inner, 5));
            let y = array(backend, dtype, &values(dtype, nrows, 6));
            let plain = Expr::load(&x, Expr::index());
            let row = Expr::row_of(&s, Expr::index().div(Expr::u32(inner)));
            // A product and a number of the row: where contraction would show.
            let fused = plain.clone().binary(BinaryOp::Mul, Expr::load(&y, row));
            for op in ops::REDUCTIONS {
                let mut add = |name: String, rows: Rows, nrows: Extent, nvals: Extent, value: &Expr| {
                    let of_rows = (rows.clone(), nrows.clone());
                    let node = Node::reduce(backend, "reduce", op, of_rows, nvals.clone(), inner, value.clone());
                    out.push((format!("{op:?} {name}"), node.expect("small")));
                    let scan = Node::row_scan(backend, "scan", op, (rows, nrows), nvals, inner, value.clone());
                    out.push((format!("scan {op:?} {name}"), scan.expect("small")));
                };
                let rows = Rows::Splits(s.clone());
                let (r, v) = (Extent::known(nrows), Extent::known(nvals));
                add("plain".into(), rows.clone(), r.clone(), v.clone(), &plain);
                add("fused".into(), rows.clone(), r, v.clone(), &fused);
                // The last two rows are not there, and neither are their values.
                let live = counted(backend, nvals, all[lengths.len() - 2]);
                add("counted".into(), rows, counted(backend, nrows, nrows - 2), live, &plain);
                for len in [1, 17, 300] {
                    let whole = nvals / len;
                    let rows = Rows::Uniform(len.into());
                    let (r, v) = (Extent::known(whole), Extent::known(whole * len));
                    add(format!("rows of {len}"), rows.clone(), r.clone(), v.clone(), &plain);
                    // The value searches rows of its own, which are not those reduced.
                    add(format!("rows of {len}, of other rows"), rows, r, v, &fused);
                }
            }
            out
        });
    }
}

macro_rules! each_reduced {
    ($($name:ident $dtype:ident),*) => {$(
        #[test]
        fn $name() {
            reductions(DType::$dtype);
        }
    )*};
}
each_reduced!(
    reductions_of_i32 I32, reductions_of_u32 U32, reductions_of_i64 I64, reductions_of_u64 U64, reductions_of_f32 F32,
    reductions_of_f64 F64
);

/// Products of matrices of one dtype: sizes around the edges of tiles, transposes, empty ones, device-known counts.
fn products(dtype: DType) {
    const SIZES: [[u32; 3]; 9] = [
        [1, 1, 1],
        [0, 5, 3],
        [16, 17, 15],
        [3, 0, 4],
        [65, 33, 63],
        [64, 16, 64],
        [2, 300, 1],
        [31, 8, 0],
        [17, 9, 130],
    ];
    let starts = |of: &dyn Fn([u32; 3]) -> u32| splits(&SIZES.map(of));
    let (a, b) = (starts(&|[m, k, _]| m * k), starts(&|[_, k, n]| k * n));
    let out_starts = starts(&|[m, _, n]| m * n);
    let batches = SIZES.len() as u32;
    let total = |s: &[u32]| s[SIZES.len()];
    same_everywhere(&format!("products of {dtype}"), &[dtype], |backend| {
        let mut out = Vec::new();
        // Of each batch: rows, terms, columns, then where its matrices begin.
        let fields = |g: usize| [SIZES[g][0], SIZES[g][1], SIZES[g][2], a[g], b[g], out_starts[g]];
        let table = words(backend, &(0..SIZES.len()).flat_map(fields).collect::<Vec<_>>());
        let field = |f: u32| Expr::load(&table, Expr::index().mul(Expr::u32(6)).add(Expr::u32(f)));
        let x = Expr::load(&array(backend, dtype, &values(dtype, total(&a), 5)), Expr::index());
        let y = Expr::load(&array(backend, dtype, &values(dtype, total(&b), 6)), Expr::index());
        for tile in [16u32, 32, 64] {
            let tiles = starts(&|[m, _, n]| m.div_ceil(tile) * n.div_ceil(tile));
            for transposed in [[false, false], [true, false], [false, true], [true, true]] {
                for live in [0, batches - 4, batches] {
                    let product = Product {
                        batches: if live == batches { Extent::known(live) } else { counted(backend, batches, live) },
                        sizes: [0, 1, 2].map(field),
                        starts: [3, 4, 5].map(field),
                        operands: [x.clone().mul(x.clone()), y.clone()],
                        capacities: [total(&a).into(), total(&b).into()],
                        terms: total(&a).into(),
                        transposed,
                        // Entries beyond the live batches repeat the total.
                        tiles: Rows::Splits(words(
                            backend,
                            &tiles.iter().map(|&s| s.min(tiles[live as usize])).collect::<Vec<_>>(),
                        )),
                        tile_capacity: total(&tiles).into(),
                        tile,
                    };
                    let count = counted(backend, total(&out_starts), out_starts[live as usize]);
                    let node = Node::product(backend, "product", count, product, &[]);
                    out.push((format!("by {tile} {transposed:?}, {live} batches"), node));
                }
            }
        }
        out
    });
}

#[test]
fn products_of_matrices() {
    ops::REDUCED.into_iter().for_each(products);
}

#[test]
fn scans_and_what_lies_beyond() {
    same_everywhere("scans", &[], |backend| {
        let mut out = Vec::new();
        for n in [0u32, 1, 255, 256, 2047, 2048, 2049, 10_000] {
            let x = array(backend, DType::U32, &values(DType::U8, 4 * n.max(1), 3));
            let value = Expr::load(&x, Expr::index()).rem(Expr::u32(1000));
            for live in [0, n / 2, n] {
                let count = counted(backend, n, live);
                let scan = Node::scan(backend, "scan", count, value.clone()).expect("small");
                // Entries beyond the live ones repeat the total: read them through a map of the whole capacity.
                let all = Node::map(backend, "all", Extent::known(n + 1), Expr::load(&scan, Expr::index()), &[]);
                out.push((format!("{live} of {n}"), scan));
                out.push((format!("all with {live} of {n}"), all));
            }
        }
        out
    });
}

#[test]
fn sorts_by_any_number_of_bits() {
    same_everywhere("sorts", &[], |backend| {
        let mut out = Vec::new();
        let mut random = Random(9);
        for n in [0u32, 1, 2, 255, 2048, 2049, 9000] {
            for bits in [1, 7, 8, 9, 16, 20, 24, 31, 32] {
                let keys: Vec<u32> = (0..n.max(1)).map(|_| random.next() as u32 & (u32::MAX >> (32 - bits))).collect();
                let key = Expr::load(&words(backend, &keys), Expr::index());
                let all = Node::sort(backend, "sort", Extent::known(n), key.clone(), bits);
                out.push((format!("{n} by {bits} bits"), all));
                let some = Node::sort(backend, "sort", counted(backend, n, n / 2), key, bits);
                out.push((format!("half of {n} by {bits} bits"), some));
            }
        }
        out
    });
}

#[test]
fn sorts_of_rows_short_and_long() {
    for (what, lengths) in [
        ("mixed", adversarial(1, 30_000)),
        ("at the edge", vec![896, 0, 897, 895, 0, 0, 1, 897]),
        ("long among empty ones", [vec![0; 5000], vec![7000], vec![0; 5000], vec![2, 1000], vec![0; 9]].concat()),
        ("one row", vec![5000]),
        ("short", (0..200).collect()),
    ] {
        same_everywhere(what, &[], |backend| {
            let mut random = Random(77);
            let all = splits(&lengths);
            let (nrows, n) = (lengths.len() as u32, all[lengths.len()]);
            let s = words(backend, &all);
            let mut out = Vec::new();
            for bits in [1, 8, 12, 32] {
                let keys: Vec<u32> = (0..n).map(|_| random.next() as u32 >> (32 - bits)).collect();
                let key = Expr::load(&words(backend, &keys), Expr::index());
                let longest = lengths.iter().copied().max().unwrap_or(0);
                for longest in [longest, u32::MAX] {
                    let rows = (Rows::Splits(s.clone()), Extent::known(nrows));
                    let node = Node::row_sort(backend, "sort", rows, Extent::known(n), (key.clone(), bits), longest);
                    out.push((format!("{bits} bits, up to {longest}"), node));
                }
                let uniform = (Rows::Uniform(1300.into()), counted(backend, n / 1300, n / 1300));
                let nvals = Extent::known(n / 1300 * 1300);
                let node = Node::row_sort(backend, "sort", uniform, nvals, (key.clone(), bits), 1300);
                out.push((format!("{bits} bits, uniform"), node));
                let live = nrows / 2;
                let mut cut = all.clone();
                cut[live as usize..].fill(all[live as usize]);
                let rows = (Rows::Splits(words(backend, &cut)), counted(backend, nrows, live));
                let nvals = counted(backend, n, all[live as usize]);
                out.push((
                    format!("{bits} bits, counted"),
                    Node::row_sort(backend, "sort", rows, nvals, (key, bits), u32::MAX),
                ));
            }
            out
        });
    }
}

#[test]
fn compactions_of_every_density_and_packing() {
    for dtype in ops::DTYPES {
        same_everywhere(&format!("compactions of {dtype}"), &[dtype], |backend| {
            let mut out = Vec::new();
            let mut random = Random(31);
            for n in [0u32, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 2047, 2048, 2049, 2051, 4096, 9000] {
                // None, all, few, many, and runs that end within the words of packed values.
                for percent in [0, 1, 50, 97, 100, 101, 102, 103] {
                    let flags: Vec<u8> = (0..n.max(1))
                        .map(|i| match percent {
                            101.. => u8::from(i % (percent - 98) != 1 && i % 2048 != 2047),
                            _ => u8::from(random.below(100) < percent),
                        })
                        .collect();
                    let keep = Expr::load(&array(backend, DType::Bool, &flags), Expr::index());
                    let x = array(backend, dtype, &values(dtype, n.max(1), u64::from(n)));
                    let reversed = Expr::load(&x, Expr::u32(n.max(1) - 1).sub(Expr::index()));
                    for live in [n, n / 2 + 1, 0].map(|live| live.min(n)) {
                        let marks = RankBitmap::new(backend, "mark", &counted(backend, n, live), keep.clone());
                        let node = Node::compact(backend, "compact", &marks, (reversed.clone(), 1), marks.total());
                        out.push((format!("{live} of {n}, {percent}"), node));
                        for inner in [2, 5] {
                            let marks = RankBitmap::new(
                                backend,
                                "mark",
                                &counted(backend, n / inner, live / inner),
                                keep.clone(),
                            );
                            let numbers = marks.total().times("compact", u64::from(inner)).expect("small");
                            let node = Node::compact(backend, "compact", &marks, (reversed.clone(), inner), numbers);
                            out.push((format!("{live} of {n}, {percent}, inner {inner}"), node));
                        }
                    }
                }
            }
            out
        });
    }
}

#[test]
fn a_compaction_asks_for_rows_and_conditions_only_where_positions_stay() {
    same_everywhere("compactions of rows", &[], |backend| {
        let lengths = adversarial(5, 9000);
        let all = splits(&lengths);
        let n = all[lengths.len()];
        let s = words(backend, &all);
        let row = Node::map(backend, "row", Extent::known(n), Expr::row_of(&s, Expr::index()), &[]);
        let row = Expr::load(&row, Expr::index());
        let keep = row.clone().rem(Expr::u32(3)).eq(Expr::u32(1));
        // Fails at every position that does not stay.
        let checked = row.clone().checked(Check::new("check", "a position that does not stay"), keep.clone());
        let marks = RankBitmap::new(backend, "mark", &Extent::known(n), keep);
        let ranks = Node::map(backend, "ranks", Extent::known(n + 1), marks.rank(&Expr::index()), &[]);
        let kept = Node::compact(backend, "compact", &marks, (checked, 1), marks.total());
        vec![("rows".into(), kept), ("ranks".into(), ranks)]
    });
}

#[test]
fn hashes_of_every_length() {
    let lengths: Vec<u32> = (0..140).chain([255, 256, 257, 1000]).collect();
    let all = splits(&lengths);
    let n = all[lengths.len()];
    for op in ops::HASHES {
        same_everywhere(&format!("{op:?}"), &[DType::U64], |backend| {
            let x = array(backend, DType::U8, &values(DType::U8, n, 1));
            let byte = Expr::load(&x, Expr::index()).binary(BinaryOp::Xor, Expr::scalar(Scalar::U8(90)));
            let nrows = lengths.len() as u32;
            let rows = [
                ("splits", Rows::Splits(words(backend, &all)), Extent::known(nrows)),
                ("uniform", Rows::Uniform(67.into()), Extent::known(n / 67)),
                ("counted", Rows::Uniform(9.into()), counted(backend, n / 9, 77)),
            ];
            rows.map(|(name, rows, nrows)| {
                (name.to_owned(), Node::hash(backend, "hash", op, (rows, nrows), (byte.clone(), Extent::known(n))))
            })
            .into()
        });
    }
}
