//! The long form of an explanation: a tree of kernels.

use std::collections::HashSet;
use std::fmt;

use super::units::{Bytes, Count, Time};
use super::{EMULATED, Explain, ExplainedInput, ExplainedKernel};
use crate::graph::step::fusion_barrier::FusionBarrier;

/// Prints an explanation as a tree; see [`Explain::detailed`].
#[derive(Debug)]
pub(super) struct Detailed<'a>(pub(super) &'a Explain);

impl fmt::Display for Detailed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.0.summary())?;
        let kernels = &self.0.kernels;
        let read: HashSet<usize> = kernels.iter().flat_map(|k| k.inputs.iter().map(|i| i.kernel)).collect();
        let mut shown = HashSet::new();
        // The roots are outputs that no other kernel reads; every kernel is a descendant of a root.
        for root in (0..kernels.len()).filter(|k| !read.contains(k)) {
            self.fmt_tree(f, root, &mut shown)?;
        }
        self.0.sizes.iter().try_for_each(|size| writeln!(f, "{size}"))
    }
}

impl fmt::Display for ExplainedKernel {
    /// Elements, dispatches and traffic, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = if self.is_bound { "<= " } else { "" };
        write!(
            f,
            "{bound}{}, {}, reads {}, writes {}",
            Count(self.elements, "element"),
            Count(self.dispatches, "dispatch"),
            Bytes(self.bytes_read),
            Bytes(self.bytes_written)
        )?;
        let ratio = self.ratio();
        if ratio >= 1.005 {
            write!(f, " (x {ratio:.2})")?;
        }
        self.time.map_or(Ok(()), |time| write!(f, ", {}", Time(time)))
    }
}

/// A kernel of the printed tree.
struct Branch {
    kernel: usize,
    /// The parent, which reads this kernel.
    reader: Option<usize>,
    /// Prefixes of its first line, and of the other lines of its subtree.
    lead: (String, String),
}

impl Detailed<'_> {
    /// Prints the subtree of a kernel; only its first line if it was shown before.
    fn fmt_tree(&self, f: &mut fmt::Formatter<'_>, root: usize, shown: &mut HashSet<usize>) -> fmt::Result {
        let mut stack = vec![Branch { kernel: root, reader: None, lead: (String::new(), String::new()) }];
        while let Some(Branch { kernel: number, reader, lead: (first, rest) }) = stack.pop() {
            let kernel = &self.0.kernels[number];
            let is_new = shown.insert(number);
            let mut below: Vec<usize> = Vec::new();
            for input in kernel.inputs.iter().filter(|_| is_new) {
                if !below.contains(&input.kernel) {
                    below.push(input.kernel);
                }
            }
            write!(f, "{first}#{} {}: {}", number + 1, kernel.kind, kernel.operations.join(" < "))?;
            let output = if kernel.is_output && reader.is_some() { ", requested" } else { "" };
            // Indented below its text, with the line to the kernels below.
            let margin = format!("{rest}{}", if below.is_empty() { "   " } else { "│  " });
            match is_new {
                true => writeln!(f, "{output}\n{margin}{kernel}")?,
                false => writeln!(f, ", as above")?,
            }
            for limit in kernel.limits.iter().filter(|_| is_new) {
                writeln!(f, "{margin}several dispatches: {limit}")?;
            }
            if kernel.emulates_f64 && is_new {
                writeln!(f, "{margin}{EMULATED}")?;
            }
            let arrays = reader.iter().flat_map(|&r| &self.0.kernels[r].inputs).filter(|i| i.kernel == number);
            for ExplainedInput { bytes, why, .. } in arrays {
                match why {
                    FusionBarrier::ConditionsOnly => writeln!(f, "{margin}not read: {why}")?,
                    _ => writeln!(f, "{margin}stored ({}): {why}", Bytes(*bytes))?,
                }
            }
            let last = below.len().saturating_sub(1);
            let branch = |(place, kernel): (usize, usize)| {
                let (fork, down) = if place == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
                let lead = (format!("{rest}{fork}"), format!("{rest}{down}"));
                Branch { kernel, reader: Some(number), lead }
            };
            stack.extend(below.into_iter().enumerate().map(branch).rev());
        }
        Ok(())
    }
}
