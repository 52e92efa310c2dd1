//! The device runtime: adapters, buffers, pipelines, submissions and their statistics.
//!
//! Independent of tensors, graphs and shader templates. The layers above pass complete WGSL modules and lists of
//! [`Command`]s; the runtime owns the wgpu device and all state that persists between submissions:
//!
//! ```text
//!   Runtime ── Shared ······ device, queue, health (loss), counters; shared by all below
//!     │  ├──── Pool ········ buffers by size class, for storage and for read-back
//!     │  ├──── Pipelines ··· modules and pipelines by text, layouts by access list
//!     │  └──── Submitter ··· behind one mutex: parameter buffers, bind groups
//!     └─ Buffer, Pipeline ── reference-counted handles; a buffer returns to the pool with its last handle
//! ```
//!
//! # Order
//! The queue defines the only order. Commands run in the order of [`Runtime::submit`] calls. An upload runs after
//! everything submitted before it and before everything submitted after it. The `upload` module shows why no upload
//! overwrites a pooled buffer that a command still reads.
//!
//! # Faults
//! Nothing here panics. A lost device poisons the runtime: every later call fails with
//! [`Error::DeviceLost`](crate::Error::DeviceLost). All wgpu calls run in error scopes. An error outside of them comes
//! from the user's calls on this device; the device's handler receives it, and no call of this crate fails.

mod adapters;
mod bind_groups;
mod buffer;
mod commands;
mod compile;
mod context;
mod execution_modes;
mod float_controls;
mod free_buffers;
mod fused;
mod fused_products;
mod in_flight;
mod interface;
mod limits;
mod lru;
mod module_cache;
mod options;
mod pipeline;
mod pipeline_cache;
mod poller;
mod pool;
#[cfg(feature = "wgpu-profiler")]
mod profile;
mod readback;
mod runtime_checks;
mod shared;
mod spirv;
mod stats;
mod submit;
mod submitter;
mod timing;
mod upload;

#[cfg(test)]
mod tests;

pub use self::options::DeviceOptions;
#[allow(unused_imports, reason = "the layers above use these")]
pub(crate) use self::{
    adapters::{Adapter, AdapterKind, AdapterSummary, adapters},
    buffer::{Buffer, BufferSlice},
    commands::{Command, Dispatch, ReadRequest},
    context::Runtime,
    fused::Fused,
    limits::DeviceLimits,
    pipeline::{Access, Pipeline},
    readback::Pending,
    runtime_checks::RuntimeChecks,
};
