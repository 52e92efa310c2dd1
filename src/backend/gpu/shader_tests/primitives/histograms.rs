//! Histograms.

use super::*;

#[test]
fn histograms_of_few_and_many_bins() {
    same_everywhere("histograms", |backend| {
        let mut out = Vec::new();
        let mut random = Random(12);
        // Of the last size, each core of the CPU has no counts of its own.
        for bins in [0u32, 1, 2, 100, 255, 256, 2047, 2048, 2049, 70_000] {
            for n in [0u32, 1, 255, 8191, 8192, 8193, 30_000] {
                // Some keys have no bin.
                let keys: Vec<u32> = (0..n.max(1))
                    .map(|k| match k % 97 {
                        0 => u32::MAX,
                        1 => bins,
                        _ => random.below(bins + bins / 8 + 1),
                    })
                    .collect();
                let key = Expr::load(&words(backend, &keys), Expr::index());
                for live in [0, n / 2, n] {
                    let count = counted(backend, n, live);
                    let node = Recorder::new(backend, "histogram").histogram(count, key.clone(), Extent::known(bins));
                    out.push((format!("{live} of {n} in {bins} bins"), node));
                }
            }
        }
        out
    });
}
