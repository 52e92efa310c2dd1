//! Compactions.

use super::*;

#[test]
fn compactions_of_every_density_and_packing() {
    for dtype in ops::DTYPES {
        same_everywhere(&format!("compactions of {dtype}"), |backend| {
            let mut out = Vec::new();
            let mut random = Random(31);
            // Values of several to a word meet every end within one.
            let all: &[u32] = &[0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 2047, 2048, 2049, 2051, 4096, 9000];
            for &n in if dtype.size() < 4 { all } else { &[0, 1, 3, 33, 2048, 2049, 9000] } {
                // No, all, few and many positions, and runs that end within a word of packed values.
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
                        let marks =
                            RankBitmap::new(Recorder::new(backend, "mark"), &counted(backend, n, live), keep.clone());
                        let node =
                            Recorder::new(backend, "compact").compact(&marks, (reversed.clone(), 1), marks.total());
                        out.push((format!("{live} of {n}, {percent}"), node));
                        for inner in [2, 5] {
                            let marks = RankBitmap::new(
                                Recorder::new(backend, "mark"),
                                &counted(backend, n / inner, live / inner),
                                keep.clone(),
                            );
                            let numbers = marks.total().times("compact", u64::from(inner)).expect("small");
                            let node =
                                Recorder::new(backend, "compact").compact(&marks, (reversed.clone(), inner), numbers);
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
fn a_compaction_evaluates_values_at_selected_positions_only() {
    same_everywhere("compactions of rows", |backend| {
        let lengths = adversarial(5, 9000);
        let all = splits(&lengths);
        let n = all[lengths.len()];
        let s = words(backend, &all);
        let row = Node::map(backend, "row", Extent::known(n), Expr::row_of(&s, Expr::index()), &[]);
        let row = Expr::load(&row, Expr::index());
        let keep = row.clone().rem(Expr::u32(3)).eq(Expr::u32(1));
        // Fails at every position that is not selected.
        let checked = row.clone().checked(Check::new("check", "a position that does not stay"), keep.clone());
        let marks = RankBitmap::new(Recorder::new(backend, "mark"), &Extent::known(n), keep);
        let ranks = Node::map(backend, "ranks", Extent::known(n + 1), marks.rank(&Expr::index()), &[]);
        let kept = Recorder::new(backend, "compact").compact(&marks, (checked, 1), marks.total());
        vec![("rows".into(), kept), ("ranks".into(), ranks)]
    });
}
