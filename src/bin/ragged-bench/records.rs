//! What a measurement says, for people and for programs.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use crate::lengths::Sweep;
use crate::table::{self, count, grouped, number};

/// One workload on one device. The first keys are those of the scripts for other libraries.
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
    /// Values of the rows together.
    pub values: u32,
    /// Rows.
    pub rows: usize,
    /// The median time from the recording to the end of the last kernel.
    pub ms: f64,
    /// The median time by the device's clock, where it has one and nothing was computed while recording.
    pub gpu_ms: Option<f64>,
    /// The median time in microseconds that the host took to record and submit, by kernels started, where nothing was
    /// computed while recording.
    pub host_us: Option<f64>,
    /// Kernels started.
    pub dispatches: u64,
    /// Command buffers submitted.
    pub submissions: u64,
    /// Waits, the one for the end included.
    pub waits: u64,
    /// Bytes that the kernels move at the most, by `explain`: at capacities where only the device knows a size. None
    /// where something was computed while recording.
    pub bytes: Option<u64>,
    /// Bytes that any implementation has to move, at the sizes that there are.
    pub least_bytes: u64,
    /// Gigabytes a second, read plus written, of a plain copy of as many values on this device.
    pub copy_gb_s: f64,
    /// The mean and the skew of the row lengths, where they are of the sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
}

impl Record {
    /// The row of the table that [`HEADER`] stands above.
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

/// Writes the records as a list of objects, one a line.
///
/// # Errors
/// `out` takes no more.
pub fn write(out: &mut dyn Write, records: &[Record]) -> Result<()> {
    writeln!(out, "[")?;
    for (k, record) in records.iter().enumerate() {
        let comma = if k + 1 == records.len() { "" } else { "," };
        writeln!(out, "{}{comma}", serde_json::to_string(record)?)?;
    }
    Ok(writeln!(out, "]")?)
}
