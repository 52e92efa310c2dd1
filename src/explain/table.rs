//! The short form of an explanation: a line per kernel, then the fusion barriers and device limits.

use std::fmt;

use super::units::{Bytes, Time};
use super::{EMULATED, Explain, ExplainedKernel};
use crate::graph::step::fusion_barrier::FusionBarrier;
use crate::graph::step::many_dispatches::ManyDispatches;

/// The reason why a kernel is not fused with another one, takes several dispatches, or computes slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Barrier(FusionBarrier),
    Limit(ManyDispatches),
    EmulatedDoubles,
}

impl fmt::Display for Reason {
    /// The reason, then the remedy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barrier(why) => write!(f, "{why}; {}", why.remedy()),
            Self::Limit(limit) => write!(f, "several dispatches: {limit}; {}", limit.remedy()),
            Self::EmulatedDoubles => {
                write!(f, "{EMULATED}; a narrower type, or a device with 64-bit floats, is faster")
            }
        }
    }
}

/// The reasons, numbered in the order of their first reference.
#[derive(Default)]
struct Reasons(Vec<Reason>);

impl Reasons {
    /// A reference to the reason: `[number]`.
    fn mention(&mut self, reason: Reason) -> String {
        let known = self.0.iter().position(|r| *r == reason);
        let at = known.unwrap_or_else(|| {
            self.0.push(reason);
            self.0.len() - 1
        });
        format!("[{}]", at + 1)
    }
}

/// Maximum number of operations that a line names.
const NAMED: usize = 4;

/// The operations of a kernel in the order in which they are computed, repeated ones once.
fn operations(kernel: &ExplainedKernel) -> String {
    let mut names: Vec<&str> = kernel.operations.iter().rev().copied().collect();
    names.dedup();
    if names.len() > NAMED {
        names.splice(1..names.len() - NAMED + 2, ["…"]);
    }
    names.join(", ")
}

const COLUMNS: usize = 9;

/// Columns that are aligned to the right.
const NUMBERS: std::ops::Range<usize> = 2..8;

impl fmt::Display for Explain {
    /// A table with a line per kernel, in the order of execution, and the reasons for kernel boundaries.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons = Reasons::default();
        let head = ["kernel", "operations", "rows", "elements", "dispatches", "read", "written", "time", "inputs"];
        let mut lines: Vec<[String; COLUMNS]> = vec![head.map(str::to_owned)];
        for (k, kernel) in self.kernels.iter().enumerate() {
            let mut operations = operations(kernel);
            if kernel.emulates_f64 {
                operations = format!("{operations} {}", reasons.mention(Reason::EmulatedDoubles));
            }
            let bound = if kernel.is_bound { "<= " } else { "" };
            let limits = kernel.limits.iter().map(|limit| format!(" {}", reasons.mention(Reason::Limit(*limit))));
            let dispatches = format!("{}{}", kernel.dispatches, limits.collect::<String>());
            let inputs =
                kernel.inputs.iter().map(|i| format!("#{} {}", i.kernel + 1, reasons.mention(Reason::Barrier(i.why))));
            lines.push([
                format!("#{} {}", k + 1, kernel.kind),
                operations,
                kernel.rows.map_or_else(String::new, |rows| rows.to_string()),
                format!("{bound}{}", kernel.elements),
                dispatches,
                Bytes(kernel.bytes_read).to_string(),
                Bytes(kernel.bytes_written).to_string(),
                kernel.time.map_or_else(String::new, |time| Time(time).to_string()),
                inputs.collect::<Vec<_>>().join(", "),
            ]);
        }
        writeln!(f, "{}", self.summary())?;
        if self.kernels.is_empty() {
            return Ok(());
        }
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; COLUMNS] = std::array::from_fn(width);
        let is_empty = |column: usize| lines[1..].iter().all(|line| line[column].is_empty());
        let empty: [bool; COLUMNS] = std::array::from_fn(is_empty);
        for line in &lines {
            let cell = |(column, (text, &width)): (usize, (&String, &usize))| match NUMBERS.contains(&column) {
                true => format!("{text:>width$}"),
                false => format!("{text:width$}"),
            };
            let cells = line.iter().zip(&widths).enumerate().filter(|(column, _)| !empty[*column]).map(cell);
            let cells: Vec<String> = cells.collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        if !reasons.0.is_empty() {
            writeln!(f, "reasons:")?;
        }
        for (k, reason) in reasons.0.iter().enumerate() {
            writeln!(f, "[{}] {reason}", k + 1)?;
        }
        self.sizes.iter().try_for_each(|size| writeln!(f, "{size}"))
    }
}
