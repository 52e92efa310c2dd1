//! Products of matrices.

use super::*;

/// Products of matrices of one dtype: sizes around the edges of tiles, transposed and empty matrices, device-known
/// counts.
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
    same_everywhere(&format!("products of {dtype}"), |backend| {
        let mut out = Vec::new();
        // For each batch: rows, terms, columns, then the starts of its matrices.
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
                        has_gaps: false,
                    };
                    let count = counted(backend, total(&out_starts), out_starts[live as usize]);
                    let node = Recorder::new(backend, "product").product(count, product, &[]);
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
