//! Row reductions and row scans.

use super::*;
use crate::graph::size::RecordedSize;

/// Reducers whose accumulators have several fields, alone and fused, on values with infinities and NaN, and their
/// epilogues.
#[test]
fn fused_reductions_and_epilogues() {
    for dtype in [DType::F32, DType::F64] {
        for inner in [1u32, 3] {
            same_everywhere(&format!("passes over rows of {dtype}, inner {inner}"), |backend| {
                let mut out = Vec::new();
                let lengths = [adversarial(u64::from(inner), 20_000), vec![0, 5, 700, 256, 257]].concat();
                let all = splits(&lengths);
                let (nrows, nvals) = (Extent::known(lengths.len() as u32), Extent::known(all[lengths.len()]));
                let rows = Rows::Splits(words(backend, &all));
                let any =
                    Expr::load(&array(backend, dtype, &values(dtype, nvals.capacity() * inner, 5)), Expr::index());
                // Whole numbers between -50 and 50: the results of most rows are finite.
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
                        let node = Recorder::new(backend, "reduce").reduce(
                            by,
                            RowDomain::of(of_rows, nvals.clone(), inner),
                            x.clone(),
                        );
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

/// Reductions and scans of one dtype: lengths around the edges of tiles and blocks, fused products, device-known
/// counts.
fn reductions(dtype: DType) {
    for inner in [1u32, 3, 16] {
        same_everywhere(&format!("reductions of {dtype}, inner {inner}"), |backend| {
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
            // A product and a value of the row: contraction would change the result.
            let fused = plain.clone().binary(BinaryOp::Mul, Expr::load(&y, row));
            // Sums and products of unsigned integers are the instructions of signed ones.
            let unsigned = matches!(dtype, DType::U32 | DType::U64);
            for op in ops::REDUCTIONS.into_iter().filter(|op| !unsigned || matches!(op, ReduceOp::Min | ReduceOp::Max))
            {
                // A compiler could contract a product into a sum only; the other expressions differ in nothing else.
                let every_value = matches!(op, ReduceOp::Sum | ReduceOp::Max);
                let mut add = |name: String, rows: Rows, nrows: Extent, nvals: Extent, value: &Expr| {
                    let of_rows = (rows.clone(), nrows.clone());
                    let node = Recorder::new(backend, "reduce").reduce(
                        op,
                        RowDomain::of(of_rows, nvals.clone(), inner),
                        value.clone(),
                    );
                    out.push((format!("{op:?} {name}"), node.expect("small")));
                    let scan = Recorder::new(backend, "scan").row_scan(
                        op,
                        RowDomain::of((rows, nrows), nvals, inner),
                        value.clone(),
                    );
                    out.push((format!("scan {op:?} {name}"), scan.expect("small")));
                };
                let rows = Rows::Splits(s.clone());
                let (r, v) = (Extent::known(nrows), Extent::known(nvals));
                add("plain".into(), rows.clone(), r.clone(), v.clone(), &plain);
                if every_value {
                    add("fused".into(), rows.clone(), r, v.clone(), &fused);
                }
                // The last two rows, and their values, are beyond the live counts.
                let live = counted(backend, nvals, all[lengths.len() - 2]);
                add("counted".into(), rows, counted(backend, nrows, nrows - 2), live, &plain);
                for len in [1, 17, 300].into_iter().filter(|_| every_value) {
                    let whole = nvals / len;
                    let rows = Rows::Uniform(len.into());
                    let (r, v) = (Extent::known(whole), Extent::known(whole * len));
                    add(format!("rows of {len}"), rows.clone(), r.clone(), v.clone(), &plain);
                    // The value searches rows other than those reduced.
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
