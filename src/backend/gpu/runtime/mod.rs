//! The device runtime: adapters, buffers, pipelines, submissions and their statistics.
//!
//! It knows nothing of tensors, graphs or shader templates. What lies above hands it complete WGSL modules and lists of
//! [`Command`]s; it owns the wgpu device and everything that is worth keeping between submissions:
//!
//! ```text
//!   Runtime ── Link ········ device, queue, health (loss), counters; shared by all below
//!     │  ├──── Pool ········ buffers by size class, for storage and for read-back
//!     │  ├──── Pipelines ··· modules and pipelines by text, layouts by access list
//!     │  └──── Submitter ··· behind one mutex: parameter buffers, bind groups
//!     └─ Buffer, Pipeline ── cheap handles; a buffer goes back to the pool with its last handle
//! ```
//!
//! # Order
//! The queue is the only order there is. Commands run in the order of [`Runtime::submit`] calls; an upload runs after
//! everything submitted before it and before everything submitted after it (see the `upload` module for why a pooled
//! buffer cannot be overwritten under a command that still reads it).
//!
//! # Faults
//! Nothing here panics. A lost device poisons the runtime: from then on every call is
//! [`Error::DeviceLost`](crate::Error::DeviceLost). All calls of wgpu are made in error scopes; an error outside of them
//! is of the program's own calls on this device and goes to the device's handler, never to a call of ours.
#![allow(dead_code)]

mod adapters;
mod bind_groups;
mod buffer;
mod checks;
mod commands;
mod context;
mod link;
mod options;
mod pipeline;
mod pipeline_cache;
mod pool;
#[cfg(feature = "wgpu-profiler")]
mod profile;
mod readback;
mod stats;
mod submit;
mod timing;
mod upload;

#[cfg(test)]
mod tests;

pub use self::options::DeviceOptions;
#[allow(unused_imports, reason = "the layers above use these")]
pub(crate) use self::{
    adapters::{Adapter, AdapterKind, AdapterSummary, adapters},
    buffer::{Buffer, BufferSlice},
    checks::Checks,
    commands::{Command, Dispatch, ReadRequest},
    context::{DeviceLimits, Runtime},
    pipeline::{Access, Pipeline},
    readback::Pending,
};
