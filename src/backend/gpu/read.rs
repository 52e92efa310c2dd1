//! Reads: conditions, then counts, then what there is.

use std::collections::HashMap;

use super::backend::GpuBackend;
use super::record::StatusBlock;
use super::runtime::{Buffer, Pending, ReadRequest};
use crate::error::{Error, Result};
use crate::graph::backend::{Part, Status, Wait};
use crate::graph::digest::Digest;
use crate::graph::extent::Count;
use crate::graph::node::Node;

impl GpuBackend {
    /// The body of [`Backend::read_parts`]: conditions, then counts, then what there is, in one read where that is
    /// cheap.
    pub(super) async fn read_in_order(&self, parts: Vec<Part>, wait: Wait) -> Result<Vec<Vec<u8>>> {
        // The elements that were asked for, or how many there are.
        let counts: Vec<Count> = parts
            .iter()
            .map(|p| match &p.elements {
                Some(elements) => Count::Known(elements.end - elements.start),
                None => p.node.extent().count(p.node.backend()),
            })
            .collect();
        let mut wanted: Vec<Node> = parts.iter().map(|p| p.node.clone()).collect();
        wanted.extend(counts.iter().filter_map(Count::node).cloned());
        let recorded = self.record(&wanted)?;
        let mut reads: Vec<ReadRequest> = Vec::new();
        // Conditions, one read a block.
        let mut outcomes: Vec<Status> = Vec::new();
        for n in &wanted {
            Status::inherit(&mut outcomes, &recorded.stored(n).status);
        }
        let block_of =
            |s: &Status| s.block.clone().downcast::<StatusBlock>().expect("bug: another backend's condition");
        for s in &outcomes {
            let buffer = block_of(s).buffer.clone();
            reads.push(ReadRequest { buffer, offset: u64::from(s.slot) * 4, bytes: 4 });
        }
        // Counts.
        let mut asked: Vec<(Digest, u32)> = Vec::new();
        for count in &counts {
            if let Count::At(node, at, _) = count {
                let key = (node.digest(), *at);
                if !asked.contains(&key) {
                    asked.push(key);
                    let buffer = recorded.buffer(node);
                    reads.push(ReadRequest { buffer, offset: u64::from(*at) * 4, bytes: 4 });
                }
            }
        }
        for p in &parts {
            let size = p.node.dtype().size() as u64;
            let buffer = || recorded.buffer(&p.node);
            match &p.elements {
                Some(elements) => {
                    let bytes = u64::from(elements.end - elements.start) * size;
                    reads.push(ReadRequest { buffer: buffer(), offset: u64::from(elements.start) * size, bytes });
                }
                None if self.at_once(&p.node) => {
                    reads.push(ReadRequest { buffer: buffer(), offset: 0, bytes: p.node.bytes() })
                }
                None => {}
            }
        }
        let buffers: Vec<Buffer> = parts.iter().map(|p| recorded.buffer(&p.node)).collect();
        let pending = self.runtime.start_read(&recorded.commands, &reads)?;
        recorded.publish(&self.runtime);
        let mut read = self.finish(pending, wait).await?.into_iter();
        let mut next = || read.next().ok_or_else(|| lost_read(&self.name));
        for s in &outcomes {
            let word: u32 = bytemuck::pod_read_unaligned(&next()?);
            s.settle(block_of(s).first_offender(word))?;
        }
        let mut known: HashMap<(Digest, u32), u32> = HashMap::new();
        for key in asked {
            known.insert(key, bytemuck::pod_read_unaligned(&next()?));
        }
        let live = |count: &Count| match count {
            Count::Known(n) => *n as usize,
            Count::At(node, at, most) => known.get(&(node.digest(), *at)).map_or(0, |&n| n.min(*most)) as usize,
        };
        let mut data: Vec<Vec<u8>> = Vec::with_capacity(parts.len());
        let mut later: Vec<(usize, ReadRequest)> = Vec::new();
        for (k, (p, count)) in parts.iter().zip(&counts).enumerate() {
            let bytes = live(count) * p.node.dtype().size();
            if p.elements.is_some() || self.at_once(&p.node) {
                let mut all = next()?;
                all.truncate(bytes);
                data.push(all);
            } else {
                later.push((k, ReadRequest { buffer: buffers[k].clone(), offset: 0, bytes: bytes as u64 }));
                data.push(Vec::new());
            }
        }
        if !later.is_empty() {
            let requests: Vec<ReadRequest> = later.iter().map(|(_, r)| r.clone()).collect();
            let pending = self.runtime.start_read(&[], &requests)?;
            for ((k, _), bytes) in later.iter().zip(self.finish(pending, wait).await?) {
                data[*k] = bytes;
            }
        }
        Ok(data)
    }

    /// Whether a read takes the array with its count: all of it where that is cheap, else what there is once the count
    /// is known.
    pub(super) fn at_once(&self, n: &Node) -> bool {
        n.extent().as_known().is_some() || n.bytes() <= self.tuning.read_at_capacity
    }

    async fn finish(&self, pending: Pending, wait: Wait) -> Result<Vec<Vec<u8>>> {
        match wait {
            Wait::Blocking => pending.wait(),
            Wait::Polled => self.runtime.finish_read(pending).await,
        }
    }
}

fn lost_read(name: &str) -> Error {
    Error::Gpu { label: name.into(), message: "bug: fewer results than reads".into() }
}
