//! `update_rows`, and runs that own their inputs.

use ragged::{
    CpuOptions, DType, Device, Error, HostTensor, HostValues, Program, RaggedTensor, Result, SavedModel, Tensor,
    TensorSpec,
};

use super::{bits, ids, own_devices, table};
use crate::common::{devices, every_way, has, numbers};

/// Rows at ids of a table replaced, with loops.
fn replaced(table: &[f32], at: &[i32], rows: &[f32], width: usize) -> Vec<f32> {
    let mut out = table.to_vec();
    for (k, &id) in at.iter().enumerate() {
        out[id as usize * width..][..width].copy_from_slice(&rows[k * width..][..width]);
    }
    out
}

fn values(x: &Tensor) -> Result<Vec<f32>> {
    match x.to_host()?.values {
        HostValues::F32(values) => Ok(values),
        other => panic!("{} instead of f32", other.dtype()),
    }
}

/// Doubles the rows at ids.
fn doubling() -> Result<Program> {
    let specs = [TensorSpec::new(DType::F32, [None, Some(4)]), TensorSpec::new(DType::I32, [None])];
    Program::trace(&specs, |x| x[0].update_rows(&x[1], &x[0].gather(&x[1])?.multiply(2.0)?))
}

#[test]
fn replaced_rows_are_those_of_a_loop() -> Result<()> {
    for (name, device) in every_way() {
        for (nrows, width) in [(1, 1), (3, 2), (1000, 4), (70_000, 3), (5, 3000)] {
            for step in [1, 2, 7, 4000] {
                let at: Vec<i32> = (0..nrows as i32).step_by(step).collect();
                let (x, rows) = (table(nrows, width, device)?, table(at.len(), width, device)?.add(0.5f32)?);
                let want = replaced(&values(&x)?, &at, &values(&rows)?, width);
                assert!(values(&x.update_rows(&ids(&at, device)?, &rows)?)? == want, "{name}: {nrows}x{width}, {step}");
            }
            let (x, none) = (table(nrows, width, device)?, table(0, width, device)?);
            assert_eq!(bits(&x.update_rows(&ids(&[], device)?, &none)?)?, bits(&x)?, "{name}: no ids");
        }
        let (x, none) = (table(3, 0, device)?, table(1, 0, device)?);
        assert_eq!(x.update_rows(&ids(&[2], device)?, &none)?.shape(), [Some(3), Some(0)], "{name}");
    }
    Ok(())
}

#[test]
fn every_dtype_is_replaced() -> Result<()> {
    for (name, device) in devices() {
        for dtype in numbers().filter(|dtype| has(&device, *dtype)) {
            let x = table(9, 3, &device)?.abs()?.cast(dtype)?;
            let rows = x.gather(&ids(&[8, 7, 6, 5], &device)?)?;
            let found = x.update_rows(&ids(&[0, 2, 3, 7], &device)?, &rows)?;
            let want = x.gather(&ids(&[8, 1, 7, 6, 4, 5, 6, 5, 8], &device)?)?;
            assert_eq!(bits(&found)?, bits(&want)?, "{name}: {dtype}");
        }
    }
    Ok(())
}

#[test]
fn a_donated_table_is_overwritten_and_others_are_copied() -> Result<()> {
    let program = doubling()?;
    for device in own_devices() {
        let (nrows, at) = (100_000, [3, 17, 99_999]);
        let bytes = nrows as u64 * 16;
        let (x, at) = (table(nrows, 4, &device)?, ids(&at, &device)?);
        let want = bits(&program.run((&x, &at))?[0])?;
        let (alive, before) = (x.clone(), bits(&x)?);

        let moved = device.stats().bytes_moved;
        let mut given = vec![x, at.clone()];
        let copied = program.run_donating(&mut given)?.remove(0);
        assert!(given.is_empty());
        assert!(device.stats().bytes_moved - moved >= 2 * bytes, "{device:?}: the table is alive elsewhere");
        assert_eq!((bits(&copied)?, bits(&alive)?), (want.clone(), before.clone()), "{device:?}");

        let x = table(nrows, 4, &device)?;
        x.eval()?;
        let stats = device.stats();
        let found = program.run_donating(&mut vec![x, at.clone()])?.remove(0);
        let of = device.stats() - stats;
        assert!(of.bytes_moved < 1024, "{device:?}: {of:?}");
        assert!(device.stats().buffer_bytes < stats.buffer_bytes + bytes / 2, "{device:?}: no other buffer");
        assert_eq!(bits(&found)?, want, "{device:?}");

        // The same tensor twice, of which neither is owned alone.
        let both = Program::trace(
            &[program.inputs()[0].clone(), program.inputs()[0].clone(), program.inputs()[1].clone()],
            |x| {
                let of = |k: usize| x[k].update_rows(&x[2], &x[k].gather(&x[2])?.multiply(2.0)?);
                Ok((of(0)?, of(1)?))
            },
        )?;
        let x = table(nrows, 4, &device)?;
        let found = both.run_donating(&mut vec![x.clone(), x, at.clone()])?;
        assert_eq!((bits(&found[0])?, bits(&found[1])?), (want.clone(), want.clone()), "{device:?}");
    }
    Ok(())
}

#[test]
fn a_table_that_is_read_later_is_copied() -> Result<()> {
    let specs = [TensorSpec::new(DType::F32, [None, Some(4)]), TensorSpec::new(DType::I32, [None])];
    type Step = fn(&[Tensor]) -> Result<Vec<Tensor>>;
    let programs: [(&str, Step); 5] = [
        ("an output", |x| Ok(vec![x[0].update_rows(&x[1], &x[0].gather(&x[1])?.add(1.0)?)?, x[0].clone()])),
        ("a sum", |x| Ok(vec![x[0].update_rows(&x[1], &x[0].gather(&x[1])?.add(1.0)?)?, x[0].reduce_sum(0)?])),
        ("two updates", |x| {
            let of = |add: f32| x[0].update_rows(&x[1], &x[0].gather(&x[1])?.add(add)?);
            Ok(vec![of(1.0)?, of(2.0)?])
        }),
        ("an update of an update", |x| {
            let once = x[0].update_rows(&x[1], &x[0].gather(&x[1])?.add(1.0)?)?;
            Ok(vec![once.update_rows(&x[1], &once.gather(&x[1])?.multiply(3.0)?)?])
        }),
        ("rows of other places", |x| {
            let others = x[1].multiply(-1)?.add(99)?;
            Ok(vec![x[0].update_rows(&x[1], &x[0].gather(&others)?)?])
        }),
    ];
    for (what, step) in programs {
        let program = Program::trace(&specs, step)?;
        for device in own_devices() {
            let at = ids(&[0, 5, 50, 93, 99], &device)?;
            let x = table(100, 4, &device)?;
            let want = step(&[x.clone(), at.clone()])?.iter().map(bits).collect::<Result<Vec<_>>>()?;
            let found = program.run_donating(&mut vec![table(100, 4, &device)?, at])?;
            assert_eq!(found.iter().map(bits).collect::<Result<Vec<_>>>()?, want, "{device:?}: {what}");
        }
    }
    Ok(())
}

#[test]
fn programs_in_files_copy() -> Result<()> {
    let program = doubling()?;
    let bytes = SavedModel::new().with_program("step", &program).to_bytes()?;
    let read = SavedModel::from_bytes(bytes)?.program("step")?;
    for (name, device) in devices() {
        let (x, at) = (table(100, 4, &device)?, ids(&[0, 99], &device)?);
        let want = bits(&program.run((&x, &at))?[0])?;
        let mut given = vec![x, at];
        assert_eq!(bits(&read.run_donating(&mut given)?[0])?, want, "{name}");
        assert!(given.is_empty(), "{name}");
    }
    Ok(())
}

#[test]
fn inputs_are_kept_after_an_error() -> Result<()> {
    let program = doubling()?;
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([[1.0f32, 2.0]], &device)?.into_erased();
    let mut given = vec![x, ids(&[0], &device)?];
    let error = program.run_donating(&mut given).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("input 0 of the program must be"), "{error}");
    assert_eq!(given.len(), 2);
    assert_eq!(given[0].to_string(), "tensor([[1.0, 2.0]], shape=(1, 2), dtype=f32)");
    Ok(())
}

/// The run fails after the steps before the update.
#[test]
fn inputs_are_kept_if_memory_is_missing() -> Result<()> {
    let device = Device::cpu_with(&CpuOptions::default().max_memory(64 << 20));
    let row = RaggedTensor::dense(vec![0.5f32; 5000], &[1, 5000], &device)?;
    let program = Program::trace(doubling()?.inputs(), |x| {
        let n = x[1].cast(DType::F32)?;
        let new = x[0].gather(&x[1])?.multiply(2.0)?;
        Ok((x[0].update_rows(&x[1], &new)?, n.expand_dims(1)?.multiply(&row)?))
    })?;
    let x = table(5000, 4, &device)?;
    let before = bits(&x)?;
    let mut given = vec![x, ids(&(0..5000).collect::<Vec<_>>(), &device)?];
    assert!(matches!(program.run_donating(&mut given), Err(Error::Limit { .. })));
    assert_eq!(given.len(), 2);
    assert_eq!(bits(&given[0])?, before);
    Ok(())
}

#[test]
fn a_check_that_fails_is_the_error_of_the_read() -> Result<()> {
    let specs = [TensorSpec::new(DType::F32, [None, Some(1)]), TensorSpec::new(DType::I32, [None])];
    let program = Program::trace(&specs, |x| x[0].update_rows(&x[1], &x[1].expand_dims(1)?.cast(DType::F32)?))?;
    for (name, device) in devices() {
        for wrong in [vec![3, 3], vec![4, 2], vec![-1], vec![5]] {
            let out = program.run_donating(&mut vec![table(5, 1, &device)?, ids(&wrong, &device)?])?;
            let error = out[0].to_host().map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("ids must ascend"), "{name}: {wrong:?}: {error}");
        }
        // A count of a failed check on the CPU, in the same program: nothing is overwritten.
        let other = Program::trace(&specs, |x| {
            let kept = x[0].update_rows(&x[1], &x[1].expand_dims(1)?.cast(DType::F32)?)?;
            let found = x[0].gather(&x[1].add(1)?)?.boolean_mask(&x[1].greater_equal(0)?)?;
            Ok((kept, found))
        })?;
        let out = other.run_donating(&mut vec![table(5, 1, &device)?, ids(&[1, 4], &device)?])?;
        assert!(out[1].to_host().is_err(), "{name}");
    }
    Ok(())
}

#[test]
fn all_inputs_are_donated_in_turn() -> Result<()> {
    // A dense step whose buffers are reused by the next ones.
    let spec = TensorSpec::new(DType::F32, [None]);
    let program = Program::trace(&[spec], |x| x[0].multiply(0.5)?.add(1.0))?;
    for device in own_devices() {
        let n = 1 << 20;
        let host = HostTensor::dense(&[n], HostValues::F32(vec![3.0; n]));
        let mut x = host.to_device(&device)?;
        for _ in 0..3 {
            x = program.run_donating(&mut vec![x])?.remove(0);
        }
        let before = device.stats();
        for _ in 0..5 {
            x = program.run_donating(&mut vec![x])?.remove(0);
        }
        let of = device.stats() - before;
        assert_eq!(of.pool_misses, 0, "{device:?}: {of:?}");
        assert!(values(&x)?.iter().all(|v| (*v - 2.0).abs() < 0.01), "{device:?}");
    }
    Ok(())
}
