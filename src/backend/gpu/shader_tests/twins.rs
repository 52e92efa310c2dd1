//! Backends on which a graph runs, and the comparison of their results.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use half::{bf16, f16};

use crate::backend::cpu::CpuBackend;
use crate::backend::gpu::GpuBackend;
use crate::backend::gpu::runtime::{Adapter, DeviceOptions, Runtime, adapters};
use crate::dtype::DType;
use crate::graph::backend::BackendRef;
use crate::graph::node::Node;
use crate::graph::plan::{PlanOf, Step};
use crate::graph::step::fusion::Fusion;

/// A device identity that is not in use.
static NEXT_ID: AtomicU64 = AtomicU64::new(1 << 40);

fn fresh_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// A backend for graphs that are planned, but not evaluated.
pub(super) fn unevaluated() -> BackendRef {
    Arc::new(CpuBackend::new(fresh_id(), true))
}

/// The reference backend.
pub(super) fn cpu() -> &'static BackendRef {
    static CPU: OnceLock<BackendRef> = OnceLock::new();
    CPU.get_or_init(unevaluated)
}

/// Every adapter with its own limits; the first one also with the minimum limits of WebGPU and wgpu's injected checks.
///
/// # Panics
/// Without an adapter, unless the environment says that none is expected.
pub(super) fn gpus() -> &'static [(String, BackendRef)] {
    static GPUS: OnceLock<Vec<(String, BackendRef)>> = OnceLock::new();
    GPUS.get_or_init(|| {
        let found = adapters();
        let none_expected = std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1");
        assert!(!found.is_empty() || none_expected, "these tests need an adapter, if only a software one");
        let open = |adapter, options: &DeviceOptions, name: String| -> (String, BackendRef) {
            let runtime = Runtime::open(adapter, options).expect("opens");
            (
                name.clone(),
                Arc::new(GpuBackend::new(runtime, fresh_id(), name, Fusion::WhereCheaper, &DeviceOptions::default())),
            )
        };
        let mut out: Vec<_> =
            found.iter().map(|a| open(a, &DeviceOptions::default(), a.summary.name.clone())).collect();
        if let Some(first) = found.first() {
            let other_checks = !DeviceOptions::default().checked_shaders;
            let core = DeviceOptions::default().core_limits(true).no_int64(true).checked_shaders(other_checks);
            out.push(open(first, &core, format!("core limits, checks {other_checks}")));
        }
        out
    })
}

/// An array with those bytes.
pub(in crate::backend::gpu) fn array(backend: &BackendRef, dtype: DType, bytes: &[u8]) -> Node {
    let len = (bytes.len() / dtype.size()) as u32;
    Node::source(backend, dtype, len, backend.upload(dtype, bytes).expect("uploads"))
}

/// The bits of each element of an array; the same for all NaNs.
pub(super) fn elements(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let element = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        canonical(dtype, u64::from_le_bytes(word))
    };
    bytes.chunks_exact(dtype.size()).map(element).collect()
}

/// The bits of a value; the same for all NaNs.
pub(super) fn canonical(dtype: DType, bits: u64) -> u64 {
    match dtype {
        DType::F16 if f16::from_bits(bits as u16).is_nan() => u64::from(f16::NAN.to_bits()),
        DType::BF16 if bf16::from_bits(bits as u16).is_nan() => u64::from(bf16::NAN.to_bits()),
        DType::F32 if f32::from_bits(bits as u32).is_nan() => u64::from(f32::NAN.to_bits()),
        DType::F64 if f64::from_bits(bits).is_nan() => f64::NAN.to_bits(),
        _ => bits,
    }
}

/// The first adapter with bindings of 64 KiB.
pub(in crate::backend::gpu) fn small_bindings() -> Vec<(String, BackendRef)> {
    let open = |adapter: &Adapter| -> (String, BackendRef) {
        let options = DeviceOptions::default().core_limits(true).max_binding(64 << 10);
        let runtime = Runtime::open(adapter, &options).expect("opens");
        let name = "small bindings".to_owned();
        (
            name.clone(),
            Arc::new(GpuBackend::new(runtime, fresh_id(), name, Fusion::WhereCheaper, &DeviceOptions::default())),
        )
    };
    adapters().first().map(open).into_iter().collect()
}

/// As [`same_on`], on every adapter.
pub(in crate::backend::gpu) fn same_everywhere(what: &str, build: impl Fn(&BackendRef) -> Vec<(String, Node)>) {
    same_on(gpus(), what, build);
}

/// Builds the named graphs on every backend, reads them together, and panics if the bits differ from the CPU's. Graphs of
/// doubles run where adapters emulate them if `RAGGED_EMULATED` is 1: software adapters compile them for minutes.
pub(in crate::backend::gpu) fn same_on(
    gpus: &[(String, BackendRef)],
    what: &str,
    build: impl Fn(&BackendRef) -> Vec<(String, Node)>,
) {
    let with_emulated = std::env::var("RAGGED_EMULATED").is_ok_and(|v| v == "1");
    let run = |backend: &BackendRef| -> Vec<(String, Option<Vec<u64>>)> {
        let mut graphs = build(backend);
        let limits = backend.plan_limits();
        let is_left_out = |node: &Node| {
            !with_emulated && PlanOf::new(std::slice::from_ref(node), limits).steps.iter().any(Step::emulates_doubles)
        };
        let left_out: Vec<bool> = graphs.iter().map(|(_, node)| is_left_out(node)).collect();
        let names: Vec<String> = graphs.iter_mut().map(|(name, _)| std::mem::take(name)).collect();
        let nodes: Vec<Node> =
            graphs.into_iter().zip(&left_out).filter(|(_, out)| !**out).map(|((_, node), _)| node).collect();
        let read = backend.read(&nodes).unwrap_or_else(|e| panic!("{what} on {}: {e}", backend.name()));
        let mut values = nodes.iter().zip(read).map(|(n, bytes)| elements(n.dtype(), &bytes));
        names.into_iter().zip(left_out).map(|(name, out)| (name, if out { None } else { values.next() })).collect()
    };
    let want = run(cpu());
    for (name, gpu) in gpus {
        for ((graph, want), (_, got)) in want.iter().zip(run(gpu)) {
            let (Some(want), Some(got)) = (want, got) else { continue };
            assert_eq!(want.len(), got.len(), "{what}, {graph} on {name}: elements");
            if let Some(at) = (0..got.len()).find(|&at| want[at] != got[at]) {
                panic!("{what}, {graph} on {name}: element {at} is {:#x}, not {:#x}", got[at], want[at]);
            }
        }
    }
}
