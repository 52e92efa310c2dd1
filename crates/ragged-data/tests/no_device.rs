//! Batches of the host use no device, in a process of its own: the counts of the default device are those of all threads.

use ragged::{Device, HostTensor, HostValues};
use ragged_data::dataset::Dataset;
use ragged_data::item::Item;

#[test]
fn a_million_rows_record_nothing() {
    let n = 1_000_000;
    let numbers = HostTensor::dense(&[n], HostValues::I32((0..n as i32).collect()));
    let before = Device::cpu().stats();
    let batches = Dataset::from_item_slices(Item::from_host(numbers).expect("numbers")).batch(100_000);
    let lengths = batches.iter().map(|item| item.and_then(|x| x.len()).expect("rows"));
    assert_eq!(lengths.collect::<Vec<_>>(), [100_000; 10]);
    assert_eq!(Device::cpu().stats().dispatches, before.dispatches);
}
