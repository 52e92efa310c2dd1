//! The jobs of `examples/`, compared with plain loops, on every device.

mod common;

#[path = "../crates/ragged-bench/src/jobs/cases.rs"]
mod cases;

use cases::ALL;

fn is_near(a: f32, b: f32) -> bool {
    a == b || (a - b).abs() <= 1e-4 * b.abs().max(1.0) || a.is_nan() && b.is_nan()
}

#[test]
fn jobs_equal_plain_loops() {
    let devices = common::devices();
    for (name, make) in ALL {
        for values in [100, 20_000] {
            let case = make(values);
            let want = (case.plain)();
            assert!(case.values > 0 && !want.is_empty());
            for (label, device) in &devices {
                let found = (case.upload)(device).and_then(|job| job()).expect("computed");
                assert_eq!(found.len(), want.len(), "{label}: {name} of {values}");
                for (k, (&a, &b)) in found.iter().zip(&want).enumerate() {
                    assert!(is_near(a, b), "{label}: {name} of {values}: number {k} is {a}, not {b}");
                }
            }
        }
    }
}
