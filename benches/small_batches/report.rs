//! Printed tables of the measurements.

use ragged::{Device, Stats};

use crate::common::{median, mib, or_dash, print_table};
use crate::measure::{Levels, Measured, WARM};

pub fn print(device: &Device, all: &[Measured]) {
    println!("small_batches on {}\n", device.name());
    println!(
        "Median microseconds per batch; record and explain in all and per operation; engine: upload, record and read \
         together; traced: a run of the traced program, and the read; a loop, the same with a list per operation, and with the engine's bits: on one thread"
    );
    let time = |times: &[f64]| format!("{:.1}", median(times.to_vec()));
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|m| {
            let per_batch = |count: usize| (count / m.batches).to_string();
            let t = &m.times;
            let total = |times: &[f64]| times.iter().sum::<f64>();
            let with_share = |times: &[f64]| {
                let all = median(times.to_vec());
                format!("{all:.1} / {:.1}", all / m.operations as f64)
            };
            vec![
                m.name.to_owned(),
                m.batches.to_string(),
                per_batch(m.rows),
                per_batch(m.values),
                time(&t.upload),
                with_share(&t.record),
                with_share(&t.explain),
                time(&t.read),
                time(&t.traced),
                time(&t.engine),
                time(&t.plain),
                or_dash((!t.by_operation.is_empty()).then(|| time(&t.by_operation))),
                time(&t.canonical),
                format!("{:.2}", median(t.engine.clone()) / median(t.plain.clone())),
                or_dash(
                    (!t.by_operation.is_empty())
                        .then(|| format!("{:.2}", median(t.engine.clone()) / median(t.by_operation.clone()))),
                ),
                format!("{:.2}", median(t.engine.clone()) / median(t.canonical.clone())),
                format!("{:.2}", total(&t.engine) / total(&t.plain)),
            ]
        })
        .collect();
    let header = [
        "stream",
        "batches",
        "rows",
        "values",
        "upload",
        "record",
        "explain",
        "read",
        "traced",
        "engine",
        "loop",
        "loop by operation",
        "same bits",
        "engine/loop",
        "engine/by operation",
        "engine/same bits",
        "of totals",
    ];
    print_table(&header, &rows);

    println!("\nCounts per batch, and over the stream: in all, and after the first {WARM} batches");
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|m| {
            let per_batch = |count: u64| format!("{:.2}", count as f64 / m.batches as f64);
            let both = |count: fn(&Stats) -> u64| format!("{} / {}", count(&m.work), count(&m.warm_work));
            vec![
                m.name.to_owned(),
                per_batch(m.work.dispatches),
                per_batch(m.work.submissions),
                per_batch(m.work.waits),
                both(|stats| stats.plans),
                both(|stats| stats.pipelines_compiled),
                both(|stats| stats.bind_groups_created),
                both(|stats| stats.pool_hits),
                both(|stats| stats.pool_misses),
            ]
        })
        .collect();
    let header = [
        "stream",
        "dispatches",
        "submissions",
        "waits",
        "plans",
        "pipelines compiled",
        "bind groups",
        "pool hits",
        "pool misses",
    ];
    print_table(&header, &rows);

    println!("\nMemory in MiB at two batches of the stream");
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|m| {
            let [early, late] = &m.levels;
            let both = |level: fn(&Levels) -> Option<u64>| {
                let level = |at| or_dash(level(at).map(mib));
                format!("{} / {}", level(early), level(late))
            };
            vec![
                m.name.to_owned(),
                format!("{} / {}", early.batch, late.batch),
                both(|at| Some(at.stats.buffer_bytes)),
                both(|at| Some(at.stats.buffer_bytes_peak)),
                both(|at| Some(at.stats.memory_bytes)),
                both(|at| at.resident),
            ]
        })
        .collect();
    let header = ["stream", "batch", "buffers", "buffers peak", "device memory", "resident"];
    print_table(&header, &rows);
    println!("\nAll results equal those of the loop bit for bit.\n");
}
