//! Bind groups, cached by layout and buffers.

use std::collections::HashMap;

use super::{lru::evict_oldest_quarter, pipeline::Layout, shared::Shared, stats::Counters};

/// Capacity of the cache, in bind groups.
const CAPACITY: usize = 1024;

/// Marks the words of a window in a key; ids do not use this bit.
const WINDOW: u64 = 1 << 63;

/// LRU cache of bind groups.
#[derive(Debug, Default)]
pub(super) struct BindGroups {
    cached: HashMap<Box<[u64]>, (wgpu::BindGroup, u64)>,
    clock: u64,
    /// The key being looked up; kept for its allocation.
    key: Vec<u64>,
}

/// A buffer binding of a bind group.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundBuffer<'a> {
    pub(super) id: u64,
    pub(super) buffer: &'a wgpu::Buffer,
    /// First byte and size; without a size the range extends to the end of the buffer.
    pub(super) range: (u64, Option<wgpu::BufferSize>),
}

impl BindGroups {
    /// The bind group of `layout` with `params_bytes` of the parameter buffer at binding 0 and the storage buffers
    /// after it.
    pub(super) fn get<'a>(
        &mut self,
        shared: &Shared,
        layout: &Layout,
        params: BoundBuffer<'a>,
        params_bytes: u64,
        storage: impl Iterator<Item = BoundBuffer<'a>> + Clone,
    ) -> wgpu::BindGroup {
        self.clock += 1;
        self.key.clear();
        self.key.extend([layout.id, params_bytes, params.id]);
        for bound in storage.clone() {
            self.key.push(bound.id);
            if let (offset, Some(bytes)) = bound.range {
                self.key.extend([WINDOW | offset, WINDOW | bytes.get()]);
            }
        }
        if let Some((group, used)) = self.cached.get_mut(self.key.as_slice()) {
            *used = self.clock;
            return group.clone();
        }
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: params.buffer,
                offset: 0,
                size: wgpu::BufferSize::new(params_bytes),
            }),
        }];
        entries.extend(storage.zip(1..).map(|(bound, binding)| {
            let (offset, size) = bound.range;
            let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: bound.buffer, offset, size });
            wgpu::BindGroupEntry { binding, resource }
        }));
        let group = shared.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout.bind_group,
            entries: &entries,
        });
        Counters::add(&shared.counters.bind_groups_created, 1);
        if self.cached.len() >= CAPACITY {
            evict_oldest_quarter(&mut self.cached);
        }
        self.cached.insert(self.key.as_slice().into(), (group.clone(), self.clock));
        group
    }

    /// Drops the bind groups of these buffers, which would keep the memory alive.
    pub(super) fn forget(&mut self, buffers: &[u64]) {
        if !buffers.is_empty() {
            // Compares words of the key that are no buffer ids, too. A false match only costs a new bind group.
            self.cached.retain(|key, _| !key.iter().any(|id| buffers.contains(id)));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.cached.len()
    }
}
