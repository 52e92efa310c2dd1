//! Hashes.

use super::*;

#[test]
fn hashes_of_every_length() {
    let lengths: Vec<u32> = (0..140).chain([255, 256, 257, 1000]).collect();
    let all = splits(&lengths);
    let n = all[lengths.len()];
    for op in ops::HASHES {
        same_everywhere(&format!("{op:?}"), |backend| {
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
