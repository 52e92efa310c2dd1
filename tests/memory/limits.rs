//! Sizes that exceed the memory of the process are errors, and the process goes on.

use ragged::{DType, Device, Error, HostTensor, HostValues, RaggedShape, Result, Tensor};

use crate::child::{is_child, output};

/// Fails unless the outcome is an error of a limit; prints it.
#[track_caller]
fn limit(what: &str, outcome: Result<HostTensor>) {
    match outcome {
        Err(error @ Error::Limit { requested, limit, .. }) => {
            assert!(requested > 0 && limit > 0);
            println!("{what}: {error}");
        }
        Err(error) => panic!("{what}: {error}"),
        Ok(host) => panic!("{what}: {} values", host.values.len()),
    }
}

/// What works before and after each error.
fn small() -> Result<()> {
    let x = HostTensor::dense(&[4], HostValues::I32(vec![3, 1, 2, 0])).to_device(&Device::cpu())?;
    assert_eq!(x.sort(0)?.to_host()?.values, HostValues::I32(vec![0, 1, 2, 3]));
    Ok(())
}

fn zeros(len: usize) -> Result<Tensor> {
    Tensor::zeros(&RaggedShape::dense(&[len], &Device::cpu())?, DType::I32)
}

#[test]
fn results_that_exceed_the_address_space_are_errors() -> Result<()> {
    if !is_child() {
        // 3 GiB.
        let name = "limits::results_that_exceed_the_address_space_are_errors";
        let printed = output(name, "ulimit -v 3145728");
        for (what, needed) in [("zeros", 8_589_934_592u64), ("tiles", 16_800_000_000)] {
            let line = printed.lines().find(|line| line.contains(&format!("{what}: ")));
            assert!(line.is_some_and(|line| line.contains(&needed.to_string())), "{printed}");
        }
        return Ok(());
    }
    small()?;
    limit("zeros", zeros(1 << 31)?.to_host());
    small()?;
    let one = HostTensor::dense(&[1, 1], HostValues::I32(vec![1])).to_device(&Device::cpu())?;
    let tiles = one.tile(&[1, 4_200_000_000u32])?;
    limit("tiles", tiles.to_host());
    small()?;
    limit("evaluated tiles", tiles.eval().and_then(|()| tiles.to_host()));
    small()
}

#[test]
fn a_result_that_does_not_fit_besides_its_array_is_an_error() -> Result<()> {
    if !is_child() {
        // 1000 MiB hold one array of 512 MiB, but not two.
        let printed = output("limits::a_result_that_does_not_fit_besides_its_array_is_an_error", "ulimit -v 1024000");
        assert!(printed.contains("zeros: the result of a read needs 536870912 bytes"), "{printed}");
        return Ok(());
    }
    let x = zeros(1 << 27)?;
    x.eval()?;
    limit("zeros", x.to_host());
    let sum = x.reduce_sum(0)?.to_host()?;
    assert_eq!(sum.values, HostValues::I32(vec![0]));
    small()
}
