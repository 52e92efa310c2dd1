//! Maps, and maps that depend on rows.

use super::*;

#[test]
fn maps_of_every_length_and_packing() {
    for dtype in ops::DTYPES {
        same_everywhere(&format!("maps of {dtype}"), |backend| {
            let mut out = Vec::new();
            for n in [0, 1, 2, 3, 4, 5, 7, 8, 1023, 1024, 1025, 1027, 5000] {
                let x = array(backend, dtype, &values(dtype, n.max(1), u64::from(n)));
                let reversed = Expr::load(&x, Expr::u32(n.max(1) - 1).sub(Expr::index()));
                let node = Node::map(backend, "reverse", Extent::known(n), reversed.clone(), &[]);
                out.push((format!("{n}"), node));
                for live in [0, 1.min(n), n / 3, n.saturating_sub(1), n] {
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
        same_everywhere(&format!("rows of {dtype}"), |backend| {
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
