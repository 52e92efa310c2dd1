//! The text of a plan: all fields of an [`Explain`], a line per kernel.

use std::fmt::Write as _;

use ragged::{Explain, ExplainedInput, ExplainedKernel};

/// `n` and the noun, in the plural unless `n` is 1.
fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// The totals of the plan, then its kernels in the order of execution.
///
/// Bytes are exact. An arrow precedes an array that the kernel reads, and its fusion barrier.
pub fn listing(explained: &Explain) -> String {
    let Explain { kernels, least_bytes, waits, .. } = explained;
    let mut text = format!(
        "{}, {}, {}, {} bytes moved, {least_bytes} at least\n",
        count(kernels.len() as u64, "kernel", "kernels"),
        count(explained.dispatches(), "dispatch", "dispatches"),
        count(*waits, "wait", "waits"),
        explained.bytes(),
    );
    for (k, kernel) in kernels.iter().enumerate() {
        writeln!(text, "#{} {}", k + 1, line(kernel)).expect("a string");
    }
    text
}

fn line(kernel: &ExplainedKernel) -> String {
    let ExplainedKernel { kind, operations, bytes_read, bytes_written, least_bytes, .. } = kernel;
    let mut text = format!("{kind}({}):", operations.join(" < "));
    if let Some(rows) = kernel.rows {
        write!(text, " {},", count(rows, "row", "rows")).expect("a string");
    }
    let bound = if kernel.is_bound { "<= " } else { "" };
    let dispatches = count(kernel.dispatches, "dispatch", "dispatches");
    let elements = count(kernel.elements, "element", "elements");
    write!(text, " {bound}{elements}, {dispatches}").expect("a string");
    for limit in &kernel.limits {
        write!(text, " ({limit:?})").expect("a string");
    }
    write!(text, ", {bytes_read} B in, {bytes_written} B out, {least_bytes} B at least").expect("a string");
    if kernel.is_output {
        text.push_str(", output");
    }
    for ExplainedInput { kernel, operation, bytes, why, .. } in &kernel.inputs {
        write!(text, " <- #{} {operation} {bytes} B {why:?}", kernel + 1).expect("a string");
    }
    text
}
