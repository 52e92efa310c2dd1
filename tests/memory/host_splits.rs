//! Row splits that the host builds from other encodings: counted against the budget before they are built.

use ragged::{CpuOptions, Device, HostTensor, HostValues, RaggedTensor, Result, RowPartition};

use crate::child::{ran_in_child, refused_within};

const MIB: u64 = 1 << 20;
/// Growth of the peak that is not the splits: pages of the allocator and of the program.
const MOST: u64 = 8 << 20;

#[test]
fn splits_are_counted_before_they_are_built() -> Result<()> {
    if ran_in_child("host_splits::splits_are_counted_before_they_are_built") {
        return Ok(());
    }
    let device = Device::cpu_with(&CpuOptions::default().max_memory(MIB));
    let values = vec![1f32; 3];
    // One id implies 2^28 rows.
    let ids = [0i64, 0, 1 << 28];
    refused_within("row ids", MOST, || RaggedTensor::from_value_rowids(&values, ids, &device));
    refused_within("unchecked row ids", MOST, || RaggedTensor::from_value_rowids_unchecked(&values, ids, &device));
    refused_within("a number of rows", MOST, || {
        RaggedTensor::from_value_rowids(&values, ragged::opt::with_nrows(&[0i64, 0, 1], 1 << 28), &device)
    });
    let lengths = vec![0i64; 1 << 23];
    refused_within("lengths", MOST, || RowPartition::from_row_lengths(&lengths, &device));
    refused_within("starts", MOST, || RowPartition::from_row_starts(&lengths, 0, &device));
    refused_within("limits", MOST, || RowPartition::from_row_limits(&lengths, &device));
    refused_within("splits", MOST, || RowPartition::from_row_splits(&lengths, &device));
    let host = HostTensor::from_row_splits(vec![0; 1 << 22], HostValues::I32(Vec::new()));
    // Integers of other types are converted first, in as much memory as the list of i64 has.
    let narrow = vec![0i32; 1 << 21];
    refused_within("narrow lengths", MOST + (16 << 20), || RowPartition::from_row_lengths(&narrow, &device));
    refused_within("to_device", MOST, || host.to_device(&device));
    let x = RaggedTensor::from_value_rowids(&values, [0i64, 0, 100], &device)?;
    assert_eq!(x.reduce_sum(1)?.to_vec()?[100], 1.0);
    Ok(())
}
