//! Reads results to the host: outcomes of checks, counts, and live elements.

use super::backend::GpuBackend;
use super::commands::{KeptCounts, StatusBlock};
use super::runtime::{Buffer, Pending, ReadRequest};
use crate::error::{Error, Result, caller};
use crate::graph::backend::{Elements, Part, ReadBytes, Status, Wait};
use crate::graph::digest::Digest;
use crate::graph::extent::Count;
use crate::graph::node::Node;
use crate::graph::program::{Bindings, Program, trace};
use crate::graph::run::stage::Stages;
use crate::graph::size::{RecordedSize, Size, SizeKind};

impl GpuBackend {
    /// Implements [`Backend::read_parts`]. Counts at whose upper bounds arrays would take much memory are read in
    /// advance: see [`crate::graph::run::stage`].
    pub(super) async fn read_in_order(&self, parts: Vec<Part>, wait: Wait) -> Result<Vec<ReadBytes>> {
        let mut stages = self.stages();
        loop {
            let counts: Vec<Count> = parts.iter().map(count).collect();
            let nodes = nodes_to_compute(&parts, &counts);
            let traced = trace(&nodes)?;
            let first = stages.counts_to_read(&traced.0, &traced.1);
            if first.is_empty() {
                return self.read_traced(&parts, &counts, (&nodes, traced), (wait, &stages)).await;
            }
            drop(traced);
            self.read_counts(&first, wait, &stages).await?;
        }
    }

    /// Reads independent counts, and sets their exact values.
    pub(super) async fn read_counts(&self, counts: &[Size], wait: Wait, stages: &Stages<'_>) -> Result<()> {
        let place = |size: &Size| match size.kind() {
            Some(SizeKind::Count(count)) => count.location(),
            _ => None,
        };
        // Another thread may have read some of them.
        let (sizes, parts): (Vec<&Size>, Vec<Part>) =
            counts.iter().filter_map(|size| place(size).map(|(node, at)| (size, Part::at(node, at)))).unzip();
        let known: Vec<Count> = parts.iter().map(count).collect();
        let nodes = nodes_to_compute(&parts, &known);
        let read = self.read_traced(&parts, &known, (&nodes, trace(&nodes)?), (wait, stages)).await?;
        for (size, bytes) in sizes.into_iter().zip(read) {
            if let Some(SizeKind::Count(count)) = size.kind() {
                count.set_exact(bytemuck::pod_read_unaligned(&bytes));
                stages.read(size.digest(), size.capacity());
            }
        }
        Ok(())
    }

    async fn read_traced(
        &self,
        parts: &[Part],
        counts: &[Count],
        (nodes, traced): (&[Node], (Program, Bindings)),
        (wait, stages): (Wait, &Stages<'_>),
    ) -> Result<Vec<ReadBytes>> {
        let mut recorded = self.record(nodes, traced, stages)?;
        let mut reads: Vec<ReadRequest> = Vec::new();
        // Outcomes of checks: one read per slot.
        let mut outcomes: Vec<Status> = Vec::new();
        for n in nodes {
            Status::inherit(&mut outcomes, &recorded.stored(n).status);
        }
        let block_of =
            |s: &Status| s.block.clone().downcast::<StatusBlock>().expect("bug: another backend's condition");
        for s in &outcomes {
            let buffer = block_of(s).buffer.clone();
            reads.push(ReadRequest { buffer, offset: u64::from(s.slot) * 4, bytes: 4 });
        }
        // Counts. The length of an array is its capacity at evaluation, even if its count is host-known by now.
        let index = |node: &Node, at: &Size| {
            let (at, len) = (at.capacity_given(&|n| recorded.computed_len(n)), recorded.stored(node).len);
            debug_assert!(at < len, "bug: a count at {at} of an array of {len}");
            at.min(len.saturating_sub(1))
        };
        let mut count_reads: Vec<(Digest, u32)> = Vec::new();
        let mut live_counts: Vec<PartLen> = Vec::with_capacity(parts.len());
        for count in counts {
            live_counts.push(match count {
                Count::Known(n) => PartLen::Known(*n),
                Count::At(node, at, most) => {
                    let at = index(node, at);
                    let key = (node.digest(), at);
                    let known = count_reads.iter().position(|k| *k == key).unwrap_or_else(|| {
                        count_reads.push(key);
                        let buffer = recorded.buffer(node);
                        reads.push(ReadRequest { buffer, offset: u64::from(at) * 4, bytes: 4 });
                        count_reads.len() - 1
                    });
                    PartLen::Read(known, *most)
                }
            });
        }
        let mut at_capacity: Vec<bool> = Vec::with_capacity(parts.len());
        for p in parts {
            let size = p.node.dtype().size() as u64;
            let some = match &p.elements {
                Elements::All => None,
                Elements::Range(range) => Some(range.clone()),
                Elements::At(at) => {
                    let at = index(&p.node, at);
                    Some(at..at + 1)
                }
            };
            let bytes = u64::from(recorded.stored(&p.node).len) * size;
            let is_at_capacity = some.is_some() || self.at_capacity(&p.node, bytes);
            if is_at_capacity {
                let (offset, bytes) = match some {
                    Some(range) => (u64::from(range.start) * size, u64::from(range.end - range.start) * size),
                    None => (0, bytes),
                };
                reads.push(ReadRequest { buffer: recorded.buffer(&p.node), offset, bytes });
            }
            at_capacity.push(is_at_capacity);
        }
        let kept = recorded.counts.take().filter(|kept| !kept.of.is_empty());
        if let Some(KeptCounts { buffer, of }) = &kept {
            reads.push(ReadRequest { buffer: buffer.clone(), offset: 0, bytes: 4 * of.len() as u64 });
        }
        let buffers: Vec<Buffer> = parts.iter().map(|p| recorded.buffer(&p.node)).collect();
        let pending = self.runtime.start_read(&recorded.commands, &reads)?;
        recorded.publish(&self.runtime);
        let mut read = self.finish(pending, wait).await?.into_iter();
        let mut next = || read.next().ok_or_else(|| lost_read(&self.name));
        for s in &outcomes {
            let word: u32 = bytemuck::pod_read_unaligned(&next()?);
            s.record_outcome(block_of(s).first_offender(word))?;
        }
        let mut known: Vec<u32> = Vec::with_capacity(count_reads.len());
        for _ in &count_reads {
            known.push(bytemuck::pod_read_unaligned(&next()?));
        }
        let live = |count: &PartLen| match count {
            PartLen::Known(n) => *n,
            PartLen::Read(k, most) => known[*k].min(*most),
        };
        let mut data: Vec<ReadBytes> = Vec::with_capacity(parts.len());
        let mut later: Vec<(usize, ReadRequest)> = Vec::new();
        for (k, (p, count)) in parts.iter().zip(&live_counts).enumerate() {
            let bytes = live(count) as usize * p.node.dtype().size();
            if at_capacity[k] {
                let mut all = next()?;
                all.truncate(bytes);
                data.push(all);
            } else {
                later.push((k, ReadRequest { buffer: buffers[k].clone(), offset: 0, bytes: bytes as u64 }));
                data.push(ReadBytes::default());
            }
        }
        if let Some(KeptCounts { of, .. }) = &kept {
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(&next()?);
            of.iter().zip(words).for_each(|(count, value)| stages.read(*count, value));
        }
        if !later.is_empty() {
            let requests: Vec<ReadRequest> = later.iter().map(|(_, r)| r.clone()).collect();
            let pending = self.runtime.start_read(&[], &requests)?;
            for ((k, _), bytes) in later.iter().zip(self.finish(pending, wait).await?) {
                data[*k] = bytes;
            }
        }
        // Makes the counts host-known.
        for (p, count) in parts.iter().zip(&live_counts) {
            if let PartLen::Read(..) = count {
                p.node.extent().set_exact(live(count));
            }
        }
        Ok(data)
    }

    /// Whether the array is read at its capacity, together with its count. Otherwise a second read takes the live
    /// elements once the count is host-known.
    pub(super) fn at_capacity(&self, n: &Node, bytes: u64) -> bool {
        n.extent().size().is_host_known() || bytes <= self.tuning.read_at_capacity
    }

    async fn finish(&self, pending: Pending, wait: Wait) -> Result<Vec<ReadBytes>> {
        match wait {
            Wait::Blocking => pending.wait(),
            Wait::Polled => self.runtime.finish_read(pending).await,
        }
    }
}

/// The number of requested elements, or its location on the device.
fn count(p: &Part) -> Count {
    match &p.elements {
        Elements::All => p.node.extent().count(p.node.backend()),
        Elements::Range(range) => Count::Known(range.end - range.start),
        Elements::At(_) => Count::Known(1),
    }
}

/// The arrays to compute for the parts and for their counts.
fn nodes_to_compute(parts: &[Part], counts: &[Count]) -> Vec<Node> {
    parts.iter().map(|p| &p.node).chain(counts.iter().filter_map(Count::node)).cloned().collect()
}

/// Number of elements of a part.
enum PartLen {
    /// Known to the host.
    Known(u32),
    /// Index among the counts that are read, and an upper bound.
    Read(usize, u32),
}

fn lost_read(name: &str) -> Error {
    Error::Gpu {
        label: name.into(),
        message: "bug: the runtime returned fewer results than were requested".into(),
        location: caller(),
    }
}
