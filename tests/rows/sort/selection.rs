//! `top_k` of up to 16 values, which are selected, and of more, which are sorted.

use ragged::{DType, Device, HostTensor, HostValues};

use super::reference::{bits, i64s, orders, rows, take, values};
use crate::common::{self, devices_and_unfused_cpu as devices};
use crate::nest::{Random, on};

/// Rows around the length that one workgroup selects from, and a row of several of the CPU's blocks.
const LENGTHS: [u32; 16] = [0, 3, 1, 0, 16, 17, 511, 512, 513, 0, 1024, 1025, 20_000, 0, 5, 4096];

fn check(name: &str, x: &HostTensor, device: &Device) {
    let starts = &x.nested_row_splits[0];
    let order = orders(x, true);
    let t = on(x, device);
    for k in [1, 5, 15, 16, 17] {
        let first: Vec<&[usize]> = order.iter().map(|row| &row[..row.len().min(k)]).collect();
        let (values, at) = t.top_k(k, 1).expect("recorded");
        let values = values.to_host().expect("a read");
        assert!(bits(&values.values) == bits(&take(&x.values, &first.concat())), "{name}: the first {k}");
        let offsets = |(row, at): (usize, &&[usize])| -> Vec<i64> {
            at.iter().map(|&p| (p - starts[row] as usize) as i64).collect()
        };
        let want: Vec<i64> = first.iter().enumerate().flat_map(offsets).collect();
        assert!(i64s(&at) == want, "{name}: where the first {k} were");
    }
}

#[test]
fn the_first_of_rows_of_every_dtype() {
    let mut random = Random::new(43);
    for dtype in common::bools_and_numbers() {
        let x = rows(&LENGTHS, values(&mut random, dtype, LENGTHS.iter().sum::<u32>() as usize));
        for (name, device) in devices().iter().filter(|(_, d)| common::has(d, dtype) && common::has(d, DType::I64)) {
            check(&format!("{dtype} on {name}"), &x, device);
        }
    }
}

#[test]
fn ties_and_missing_numbers() {
    let n = LENGTHS.iter().sum::<u32>() as usize;
    let special = [f32::NAN, -0.0, 0.0, f32::INFINITY, f32::NEG_INFINITY, 1.0];
    for (what, value) in [
        ("equal", (|_| 2.0) as fn(usize) -> f32),
        ("no numbers", |_| f32::NAN),
        ("ascending", |k| k as f32),
        ("descending", |k| -(k as f32)),
        ("few", |k| (k % 3) as f32),
    ] {
        let x = rows(&LENGTHS, HostValues::F32((0..n).map(value).collect()));
        let mixed = HostValues::F32((0..n).map(|k| if k % 5 == 2 { special[k / 5 % 6] } else { value(k) }).collect());
        for (name, device) in devices() {
            check(&format!("{what} on {name}"), &x, device);
            check(&format!("{what} and special values on {name}"), &rows(&LENGTHS, mixed.clone()), device);
        }
    }
}

/// A selection is one pass over the values without a sort: one dispatch for short rows, two for long ones.
#[test]
fn a_selection_costs_no_sort() {
    for (lengths, dispatches) in [(vec![64; 2000], 1), (vec![100_000, 0, 28_000], 2)] {
        let n = lengths.iter().sum::<u32>();
        let x = rows(&lengths, HostValues::F32((0..n).map(|k| (k % 97) as f32).collect()));
        for (name, device) in common::gpus() {
            let top = on(&x, &device).top_k(5, 1).expect("recorded").0;
            let plan = top.explain().expect("explained");
            let selections: Vec<_> = plan.kernels.iter().filter(|k| k.kind == "top_k").collect();
            let [selection] = selections[..] else { panic!("{name}: {plan}") };
            assert!(plan.kernels.iter().all(|k| !k.kind.contains("sort")), "{name}: {plan}");
            // The only wait is the read.
            assert_eq!((selection.dispatches, plan.waits), (dispatches, 1), "{name}: {plan}");
            // The values and splits once, and 5 positions per row; of long rows 10 candidates per 512 values, twice.
            let rows = lengths.len() as u64;
            let most = 4 * u64::from(n) + 4 * (rows + 1) + 20 * rows + u64::from(n) / 5 + 1000;
            assert!(selection.bytes_read + selection.bytes_written <= most, "{name}: {plan}");
        }
    }
}
