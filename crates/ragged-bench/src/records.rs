//! Records of measurements: as tables and as JSON.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use crate::lengths::Sweep;
use crate::table::{self, count, grouped, number};

/// The measurement of one workload on one device. The scripts for other libraries use the same keys.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// `ragged-cpu` or `ragged-gpu`.
    pub peer: &'static str,
    /// The device's name.
    pub device: String,
    /// The distribution of row lengths.
    pub dist: String,
    /// The operation.
    pub op: &'static str,
    /// Values in all rows.
    pub values: u32,
    /// Rows.
    pub rows: usize,
    /// Median time from the recording to the end of the last kernel.
    pub ms: f64,
    /// Median time by the device's clock; `None` without such a clock, or if recording ran kernels.
    pub gpu_ms: Option<f64>,
    /// Median host time of recording and submission, in microseconds per kernel launch; `None` if recording ran
    /// kernels.
    pub host_us: Option<f64>,
    /// Kernels launched.
    pub dispatches: u64,
    /// Command buffers submitted.
    pub submissions: u64,
    /// Waits, including the final one.
    pub waits: u64,
    /// Upper bound on the bytes that the kernels move, with device-known sizes at their capacities. Counted in the last
    /// run; on the CPU by `explain`, and `None` if recording runs kernels.
    pub bytes: Option<u64>,
    /// Lower bound on the bytes that any implementation moves, at the actual sizes.
    pub least_bytes: u64,
    /// GB/s, read plus written, of a plain copy of as many values on this device.
    pub copy_gb_s: f64,
    /// The mean and the skew of the row lengths, if they are of the sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}

impl Record {
    /// The row of the table, with the columns of [`HEADER`].
    fn row(&self, shows_dist: bool) -> Vec<String> {
        let per_ms = |n: f64| n / self.ms / 1e6;
        let gb_s = per_ms(self.least_bytes as f64);
        vec![
            if shows_dist { self.dist.clone() } else { String::new() },
            self.op.to_owned(),
            if shows_dist { grouped(self.rows as u64) } else { String::new() },
            number(Some(self.ms), 3),
            number(self.gpu_ms, 3),
            number(self.host_us, 1),
            number(Some(per_ms(f64::from(self.values))), 3),
            number(Some(gb_s), 2),
            number(Some(gb_s / self.copy_gb_s), 2),
            count(self.bytes),
            grouped(self.least_bytes),
            grouped(self.dispatches),
            grouped(self.submissions),
            grouped(self.waits),
        ]
    }
}

/// The columns of the table.
const HEADER: [&str; 14] = [
    "lengths",
    "operation",
    "rows",
    "ms",
    "gpu ms",
    "host us",
    "Gvalues/s",
    "GB/s",
    "of copy",
    "bytes",
    "least",
    "dispatches",
    "submissions",
    "waits",
];

/// The records of one device as a table.
pub fn show(records: &[Record]) -> String {
    let mut before = "";
    let rows = records.iter().map(|r| {
        let is_new = r.dist != before;
        before = &r.dist;
        r.row(is_new)
    });
    table::table(&HEADER, 2, rows)
}

/// Overhead of row structure: slowest over fastest length distribution, per byte of the lower bound, by operation.
/// `None` without several distributions outside of a sweep.
pub fn skew(records: &[Record]) -> Option<String> {
    let mut ops: Vec<(&str, Vec<f64>)> = Vec::new();
    for r in records.iter().filter(|r| r.sweep.is_none() && r.least_bytes > 0) {
        let pace = r.ms / r.least_bytes as f64;
        match ops.iter_mut().find(|(op, _)| *op == r.op) {
            Some((_, paces)) => paces.push(pace),
            None => ops.push((r.op, vec![pace])),
        }
    }
    let ratio = |(op, paces): &(&str, Vec<f64>)| {
        let slowest = paces.iter().copied().fold(0.0, f64::max);
        let fastest = paces.iter().copied().fold(f64::INFINITY, f64::min);
        (paces.len() > 1).then(|| format!("{op} {}", number(Some(slowest / fastest), 2)))
    };
    let ratios: Vec<String> = ops.iter().filter_map(ratio).collect();
    let text = || format!("slowest over fastest distribution, per byte of `least`: {}", ratios.join(", "));
    (!ratios.is_empty()).then(text)
}

/// Writes the records as a list of objects, one per line.
///
/// # Errors
/// `out` cannot be written.
pub fn write(out: &mut dyn Write, records: &[Record]) -> Result<()> {
    writeln!(out, "[")?;
    for (k, record) in records.iter().enumerate() {
        let comma = if k + 1 == records.len() { "" } else { "," };
        writeln!(out, "{}{comma}", serde_json::to_string(record)?)?;
    }
    Ok(writeln!(out, "]")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(dist: &str, op: &'static str, ms: f64, least_bytes: u64) -> Record {
        Record {
            peer: "ragged-cpu",
            device: "cpu".into(),
            dist: dist.into(),
            op,
            values: 64,
            rows: 4,
            ms,
            gpu_ms: None,
            host_us: None,
            dispatches: 1,
            submissions: 0,
            waits: 0,
            bytes: None,
            least_bytes,
            copy_gb_s: 1.0,
            sweep: None,
        }
    }

    #[test]
    fn skew_is_the_ratio_over_distributions() {
        let sums =
            [record("uniform", "sum", 1.0, 100), record("empty", "sum", 3.0, 200), record("giant", "sum", 1.0, 80)];
        let mut all = sums.to_vec();
        all.push(record("uniform", "max", 9.0, 10));
        assert_eq!(skew(&all).as_deref(), Some("slowest over fastest distribution, per byte of `least`: sum 1.50"));
        assert_eq!(skew(&all[2..]), None);
        all.push(record("giant", "max", 2.0, 10));
        assert!(skew(&all).is_some_and(|text| text.ends_with("sum 1.50, max 4.50")));
    }
}
