//! A budget of a CPU device: deterministic, whatever the machine has.

use std::fmt::Debug;

use ragged::{CpuOptions, Device, Error, RaggedTensor, Result, Str};

const MIB: u64 = 1 << 20;
/// Elements of an i32 array of one MiB.
const LEN: usize = 1 << 18;

fn device(budget: u64) -> Device {
    Device::cpu_with(&CpuOptions::default().max_memory(budget))
}

fn ints(mebibytes: usize, device: &Device) -> Result<RaggedTensor<i32>> {
    RaggedTensor::dense(vec![7; mebibytes * LEN], &[mebibytes * LEN], device)
}

/// Fails unless the outcome is an error of the budget that names the needed bytes, the budget, and the line of the call.
#[track_caller]
fn refused<T: Debug>(what: &str, outcome: Result<T>, needed: u64, budget: u64) {
    let Err(error @ Error::Limit { requested, limit, .. }) = outcome else { panic!("{what}: {outcome:?}") };
    assert_eq!((requested, limit), (needed, budget), "{what}: {error}");
    let message = error.to_string();
    for part in [what, &needed.to_string(), &budget.to_string(), "CpuOptions::max_memory", file!()] {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

#[test]
fn uploads_intermediate_results_and_reads_are_refused() -> Result<()> {
    let budget = 8 * MIB;
    let device = device(budget);
    assert_eq!(device.stats().memory_budget, Some(budget));
    refused("dense", ints(9, &device), 9 * MIB, budget);
    let x = ints(3, &device)?;
    refused("dense", ints(6, &device), 9 * MIB, budget);
    let y = x.add(1)?;
    y.eval()?;
    assert_eq!(device.stats().memory_bytes, 6 * MIB);
    let z = y.multiply(2)?;
    // The result of the read is counted before the product is computed.
    refused("a read", z.to_vec(), 9 * MIB, budget);
    refused("multiply", z.eval(), 9 * MIB, budget);
    refused("a read", y.to_vec(), 9 * MIB, budget);
    refused("a read", pollster::block_on(y.to_vec_async()), 9 * MIB, budget);
    refused("rows_to_host", y.rows_to_host(0..3 * LEN), 9 * MIB, budget);
    refused("a read", ragged::to_host([&y, &x]), 12 * MIB, budget);
    // All refused calls have returned what they had reserved.
    assert_eq!(device.stats().memory_bytes, 6 * MIB);
    assert_eq!(y.rows_to_host(1..4)?.values, ragged::HostValues::I32(vec![8; 3]));
    assert_eq!(y.reduce_max(0)?.item()?, 8);
    drop(x);
    assert!(y.to_vec()?.iter().all(|&value| value == 8));
    assert!(z.to_vec().is_err());
    drop(y);
    // Unused memory is returned to the system for arrays of another size.
    assert_eq!(z.slice(ragged::s![..2])?.to_vec()?, [16, 16]);
    drop(z);
    let other = ints(7, &device)?;
    assert!(device.stats().memory_bytes <= budget, "{:?}", device.stats());
    drop(other);
    assert_eq!(ints(4, &device)?.to_vec()?.len(), 4 * LEN);
    Ok(())
}

#[test]
fn many_small_arrays_do_not_exceed_a_budget() -> Result<()> {
    let device = device(MIB);
    let mut held = Vec::new();
    let error = loop {
        match RaggedTensor::dense(vec![1u8; 4096], &[4096], &device) {
            Ok(x) => held.push(x),
            Err(error) => break error,
        }
    };
    assert_eq!(held.len(), 256, "{error}");
    assert!(matches!(error, Error::Limit { requested, limit: MIB, .. } if requested == MIB + 4096), "{error}");
    held.truncate(255);
    assert_eq!(held[0].to_vec()?, [1; 4096]);
    Ok(())
}

#[test]
fn nested_results_and_strings_are_counted() -> Result<()> {
    let words: Vec<String> = (0..10_000).map(|k| format!("word {k}")).collect();
    let device = device(680 << 10);
    let x = RaggedTensor::<Str>::dense(&words, &[10_000], &device)?;
    // 40 bytes per string, besides its bytes.
    assert!(matches!(x.to_vec(), Ok(read) if read[9999] == b"word 9999"));
    let nested = x.to_nested();
    assert!(matches!(&nested, Err(Error::Limit { what, .. }) if what.contains("to_nested")), "{nested:?}");
    let numbers = RaggedTensor::dense(vec![1u8; 60_000], &[30_000, 2], &device)?;
    assert_eq!(numbers.to_vec()?.len(), 60_000);
    let nested = numbers.to_nested_vec::<Vec<Vec<u8>>>();
    assert!(matches!(&nested, Err(Error::Limit { what, .. }) if what.contains("to_nested_vec")), "{nested:?}");
    drop(x);
    assert_eq!(numbers.slice(ragged::s![..3])?.to_nested_vec::<Vec<Vec<u8>>>()?, [[1, 1]; 3]);
    Ok(())
}

#[test]
fn memory_for_sorting_is_counted() -> Result<()> {
    // 1 MiB of values, of keys and of results each, 4 MiB of entries.
    let of = |budget| -> Result<i32> {
        let device = device(budget);
        let x = RaggedTensor::dense((0..LEN as i32).rev().collect::<Vec<_>>(), &[LEN], &device)?;
        x.sort(0)?.slice(ragged::s![5])?.item()
    };
    let small = of(6 * MIB);
    assert!(matches!(small, Err(Error::Limit { limit, .. }) if limit == 6 * MIB), "{small:?}");
    assert_eq!(of(16 * MIB)?, 5);
    Ok(())
}

#[test]
fn a_failed_computation_leaves_all_inputs_valid_on_many_threads() -> Result<()> {
    let budget = 6 * MIB;
    let device = device(budget);
    let x = ints(1, &device)?;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let x = &x;
            scope.spawn(move || {
                for round in 0..20 {
                    let by = thread * 100 + round;
                    match x.add(by).and_then(|y| y.to_vec()) {
                        Ok(values) => assert!(values.iter().all(|&value| value == 7 + by)),
                        Err(error) => assert!(matches!(error, Error::Limit { .. }), "{error}"),
                    }
                }
            });
        }
    });
    assert!(device.stats().memory_bytes <= budget);
    assert_eq!(x.add(1)?.to_vec()?[LEN - 1], 8);
    Ok(())
}
