//! Sizes that share their operands: the time to trace, plan and run is not that of the tree that they spell out.

use crate::common::devices;
use ragged::{DType, Program, RaggedTensor, Result, Tensor, TensorSpec, s};

fn integers() -> TensorSpec {
    TensorSpec::new(DType::I32, [None])
}

/// Compares a traced function with the recorded one, on inputs of several lengths.
fn same(function: fn(&Tensor) -> Result<Tensor>) -> Result<()> {
    let program = Program::trace(&[integers()], |x| function(&x[0]))?;
    for (name, device) in devices() {
        for n in [0, 1, 7, 1000] {
            let x = RaggedTensor::dense((0..n).collect::<Vec<i32>>(), &[n as u32], &device)?;
            let (got, want) = (program.run(&x)?, function(x.erased())?);
            assert_eq!(got[0].to_host()?, want.to_host()?, "{name}: {n} values");
        }
    }
    Ok(())
}

/// Each tensor has the rows of the one before it twice: 2^40 operations, written out.
#[test]
fn tensors_of_themselves_twice() -> Result<()> {
    same(|x| (0..40).try_fold(x.clone(), |x, _| Tensor::concat(&[&x, &x], 0)?.slice(s![..100])))
}

/// Each tensor has the rows of the two before it.
#[test]
fn tensors_of_the_two_before_them() -> Result<()> {
    same(|x| {
        let (mut a, mut b) = (x.slice(s![..50])?, x.slice(s![..70])?);
        for _ in 0..40 {
            (a, b) = (b.clone(), Tensor::concat(&[&a, &b], 0)?.slice(s![..90])?);
        }
        Ok(b)
    })
}

/// Counts that are bounded by counts.
#[test]
fn masked_tensors_of_themselves_twice() -> Result<()> {
    same(|x| {
        (0..12).try_fold(x.clone(), |x, k| {
            let x = Tensor::concat(&[&x, &x], 0)?.slice(s![..100])?;
            x.boolean_mask(&x.not_equal(k)?)
        })
    })
}

/// A size of many nested operations is traced, run and dropped with little stack.
#[test]
fn nested_sizes_take_little_stack() {
    let work = || -> Result<()> {
        let program = Program::trace(&[integers(), integers()], |x| {
            (0..600).try_fold(x[0].clone(), |sum, _| Tensor::concat(&[&sum, &x[1]], 0))
        })?;
        let device = ragged::Device::cpu();
        let x = RaggedTensor::from_nested([1, 2], &device)?;
        let y = RaggedTensor::from_nested([3], &device)?;
        assert_eq!(program.run((&x, &y))?[0].reduce_sum(0)?.to_string(), "tensor(1803, shape=(), dtype=i32)");
        Ok(())
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread");
    thread.join().expect("no overflow").expect("no error");
}
