//! Recurrences that exceed limits.

use super::super::twins::{gpus, small_bindings};
use super::recurrences::{map, own, product, register};
use super::*;
use crate::graph::primitive::{RowDomain, ScanRows};

/// Arrays in more windows than a kernel binds, states of other types, and steps that are too large are errors.
#[test]
fn limits_are_errors() {
    let f = DType::F32;
    let failed = |gpu: &BackendRef, (width, terms): (u32, u32), rows: u32| {
        let nvals = rows * 2;
        let on = RowDomain {
            rows: Rows::Uniform(2.into()),
            nrows: Extent::known(rows),
            nvals: Extent::known(nvals),
            inner: width,
        };
        let zero = Expr::scalar(0f32);
        let x = Node::map(gpu, "x", Extent::known(nvals * width), Expr::index().cast(f), &[]);
        let scan = ScanRows {
            on,
            reversed: false,
            initial: zero.clone(),
            states: [width].into(),
            stages: [
                product(width, register(0, f, Expr::index()), zero, terms, false),
                map(width, own(1, f).add(Expr::load(&x, Expr::index()))),
            ]
            .into(),
            next: [2].into(),
            kept: Box::default(),
        };
        let node = Recorder::new(gpu, "recurrence").scan_rows(scan, &[]).expect("small");
        gpu.read(&[x, node]).err().map(|e| e.to_string())
    };
    for (name, gpu) in gpus() {
        if name.contains("llvmpipe") {
            let error = failed(gpu, (4000, 4000), 1).unwrap_or_default();
            assert!(error.contains("loop iterations"), "{name}: {error}");
        }
        assert_eq!(failed(gpu, (40, 40), 9), None, "{name}");
    }
    for (name, gpu) in small_bindings() {
        let error = failed(&gpu, (40, 40), 9000).unwrap_or_default();
        assert!(error.starts_with("recurrence"), "{name}: {error}");
    }
}
