//! Operations that give many tensors: their number is limited, and their memory is counted before they are made.

use ragged::{CpuOptions, Device, Error, LodTensor, RaggedTensor, Result, SparseTensor};

use crate::child::{ran_in_child, refused_within};

const MIB: u64 = 1 << 20;
/// More than the memory allows, and fewer than the largest number of tensors.
const MANY: usize = 1 << 18;

#[test]
fn many_tensors_are_counted_before_they_are_made() -> Result<()> {
    if ran_in_child("lists_of_tensors::many_tensors_are_counted_before_they_are_made") {
        return Ok(());
    }
    let device = Device::cpu_with(&CpuOptions::default().max_memory(64 * MIB));
    let x = RaggedTensor::dense(vec![1u8; MANY], &[1, MANY], &device)?;
    let column = x.reshape([MANY as i64])?;
    let sizes = vec![1i64; MANY];
    let groups = RaggedTensor::dense(vec![0i32; MANY], &[MANY], &device)?;
    refused_within("unzip", 8 * MIB, || x.unzip());
    refused_within("split", 8 * MIB, || column.split(MANY as i64, 0));
    refused_within("split by sizes", 16 * MIB, || column.split(sizes.as_slice(), 0));
    refused_within("split of columns", 8 * MIB, || x.split(MANY as i64, 1));
    refused_within("dynamic_partition", 8 * MIB, || column.dynamic_partition(&groups, MANY as i64));
    let sparse = SparseTensor::from_dense(&x)?;
    refused_within("sparse split", 8 * MIB, || sparse.split(MANY as i64, 1));
    let sequences = LodTensor::from_lengths(&column, [&sizes])?;
    refused_within("to_list", 8 * MIB, || sequences.to_list());
    assert_eq!(x.slice(ragged::s![.., ..3])?.unzip()?[2].to_vec()?, [1]);
    assert_eq!(column.split(1 << 4, 0)?[15].shape(), [Some(MANY >> 4)]);
    Ok(())
}

#[test]
fn more_tensors_than_a_list_holds_are_an_error() -> Result<()> {
    if ran_in_child("lists_of_tensors::more_tensors_than_a_list_holds_are_an_error") {
        return Ok(());
    }
    let device = Device::cpu();
    let n = 1 << 24;
    let x = RaggedTensor::dense(vec![1u8; n], &[1, n], &device)?;
    let column = x.reshape([n as i64])?;
    let groups = RaggedTensor::dense(vec![0i32; n], &[n], &device)?;
    let sizes = vec![1i64; n];
    let most = |error: Error| assert!(matches!(error, Error::Limit { limit: 1_048_576, .. }), "{error}");
    most(refused_within("unzip", 8 * MIB, || x.unzip()));
    most(refused_within("split", 8 * MIB, || column.split(n as i64, 0)));
    most(refused_within("split by sizes", 130 * MIB, || column.split(sizes.as_slice(), 0)));
    most(refused_within("split of columns", 8 * MIB, || x.split(n as i64, 1)));
    most(refused_within("dynamic_partition", 8 * MIB, || column.dynamic_partition(&groups, n as i64)));
    let sequences = LodTensor::from_lengths(&column, [&sizes])?;
    most(refused_within("to_list", 8 * MIB, || sequences.to_list()));
    Ok(())
}
