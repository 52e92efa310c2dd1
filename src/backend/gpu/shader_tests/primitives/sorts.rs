//! Scans and sorts.

use super::*;

#[test]
fn scans_and_entries_beyond_the_live_ones() {
    same_everywhere("scans", |backend| {
        let mut out = Vec::new();
        for n in [0u32, 1, 255, 256, 2047, 2048, 2049, 10_000] {
            let x = array(backend, DType::U32, &values(DType::U8, 4 * n.max(1), 3));
            let value = Expr::load(&x, Expr::index()).rem(Expr::u32(1000));
            for live in [0, n / 2, n] {
                let count = counted(backend, n, live);
                let scan = Recorder::new(backend, "scan").scan(count, value.clone()).expect("small");
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
    same_everywhere("sorts", |backend| {
        let mut out = Vec::new();
        let mut random = Random(9);
        for n in [0u32, 1, 2, 255, 2048, 2049, 9000] {
            for bits in [1, 7, 8, 9, 16, 20, 24, 31, 32] {
                let keys: Vec<u32> = (0..n.max(1)).map(|_| random.next() as u32 & (u32::MAX >> (32 - bits))).collect();
                let key = Expr::load(&words(backend, &keys), Expr::index());
                let all = Recorder::new(backend, "sort").sort(Extent::known(n), key.clone(), bits);
                out.push((format!("{n} by {bits} bits"), all));
                let some = Recorder::new(backend, "sort").sort(counted(backend, n, n / 2), key, bits);
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
        same_everywhere(what, |backend| {
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
                    let node = Recorder::new(backend, "sort").row_sort(
                        RowDomain::of(rows, Extent::known(n), 1),
                        (key.clone(), bits),
                        longest,
                    );
                    out.push((format!("{bits} bits, up to {longest}"), node));
                }
                let uniform = (Rows::Uniform(1300.into()), counted(backend, n / 1300, n / 1300));
                let nvals = Extent::known(n / 1300 * 1300);
                let node = Recorder::new(backend, "sort").row_sort(
                    RowDomain::of(uniform, nvals, 1),
                    (key.clone(), bits),
                    1300,
                );
                out.push((format!("{bits} bits, uniform"), node));
                let live = nrows / 2;
                let mut cut = all.clone();
                cut[live as usize..].fill(all[live as usize]);
                let rows = (Rows::Splits(words(backend, &cut)), counted(backend, nrows, live));
                let nvals = counted(backend, n, all[live as usize]);
                out.push((
                    format!("{bits} bits, counted"),
                    Recorder::new(backend, "sort").row_sort(RowDomain::of(rows, nvals, 1), (key, bits), u32::MAX),
                ));
            }
            out
        });
    }
}
