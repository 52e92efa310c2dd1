//! Nothing writes to memory of the program.

use ragged::{CpuOptions, DType, Device, HostValues, Program, Result, Tensor, TensorSpec};

use crate::common::every_way;
use crate::owner::Owner;

fn values(x: &Tensor) -> Result<Vec<f32>> {
    match x.to_host()?.values {
        HostValues::F32(values) => Ok(values),
        other => panic!("{} instead of f32", other.dtype()),
    }
}

/// The program doubles rows of a table that it is given for good.
#[test]
fn a_donated_table_of_the_program_is_copied() -> Result<()> {
    let specs = [TensorSpec::new(DType::F32, [None, Some(4)]), TensorSpec::new(DType::I32, [None])];
    let program = Program::trace(&specs, |x| x[0].update_rows(&x[1], &x[0].gather(&x[1])?.multiply(2.0)?))?;
    for (name, device) in every_way() {
        let owner = Owner::of_f32((0..400).map(|i| i as f32));
        let before = owner.bytes().to_vec();
        let ids = ragged::RaggedTensor::dense([3, 17, 99], &[3], device)?.into_erased();
        let table = Tensor::from_shared(owner.shared(), DType::F32, &[100, 4], device)?;
        let moved = device.stats().bytes_moved;
        let found = program.run_donating(&mut vec![table, ids])?.remove(0);
        let mut want: Vec<f32> = owner.f32().to_vec();
        [3, 17, 99].iter().for_each(|&row| want[row * 4..][..4].iter_mut().for_each(|x| *x *= 2.0));
        assert_eq!(values(&found)?, want, "{name}");
        assert_eq!(owner.bytes(), before, "{name}: the memory is as it was");
        if device.is_cpu() {
            assert!(device.stats().bytes_moved - moved >= 2 * 1600, "{name}: the copy is counted");
        }
        assert!(!owner.is_kept(), "{name}: the run has dropped its input");
    }
    Ok(())
}

#[test]
fn updates_scatters_and_sorts_leave_the_memory_as_it_is() -> Result<()> {
    for (name, device) in every_way() {
        let owner = Owner::of_f32((0..1000).map(|i| ((i * 7919) % 1000) as f32));
        let before = owner.bytes().to_vec();
        let x = Tensor::from_shared(owner.shared(), DType::F32, &[250, 4], device)?;
        let ids = ragged::RaggedTensor::dense([0, 7, 249], &[3], device)?;
        let rows = x.gather(&ids)?.add(0.5)?;
        type Step = fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>;
        let steps: [Step; 5] = [
            |x, ids, rows| x.update_rows(ids, rows),
            |x, _, _| x.sort(0),
            |x, _, _| x.cumsum(0),
            |x, _, _| x.add(1.0),
            |x, ids, rows| x.update_rows(ids, rows)?.update_rows(ids, &rows.multiply(3.0)?),
        ];
        for step in steps {
            let found = step(&x, ids.erased(), &rows)?;
            found.eval()?;
            // A second computation of the same result, from the same memory.
            let again = Tensor::from_shared(owner.shared(), DType::F32, &[250, 4], device)?;
            let again = step(&again, ids.erased(), &again.gather(&ids)?.add(0.5)?)?;
            assert_eq!(values(&found)?, values(&again)?, "{name}");
            assert_eq!(owner.bytes(), before, "{name}");
        }
    }
    Ok(())
}

/// Dropped memory of the program does not enter the pool: a later array would be written there.
#[test]
fn memory_of_the_program_does_not_enter_the_pool() -> Result<()> {
    let device = Device::cpu_with(&CpuOptions::default());
    let owner = Owner::of_f32((0..1 << 16).map(|i| i as f32));
    let before = owner.bytes().to_vec();
    for _ in 0..4 {
        let x = Tensor::from_shared(owner.shared(), DType::F32, &[1 << 16], &device)?;
        let y = x.add(1.0)?;
        y.eval()?;
        drop(x);
        y.multiply(2.0)?.eval()?;
    }
    assert_eq!(owner.bytes(), before);
    assert!(!owner.is_kept());
    Ok(())
}
