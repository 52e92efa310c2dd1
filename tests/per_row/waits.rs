//! Recording without waits.

use ragged::{DeviceOptions, Seed};

use crate::common;
use crate::lists::on;

#[test]
fn nothing_waits() {
    // A device of its own: other tests wait on the shared ones.
    let Some(device) = common::gpu_with(&DeviceOptions::default()) else { return };
    let x = on(vec![vec![3, 1, 2], vec![], vec![4, 4]], &device);
    let before = device.stats().waits;
    let y = x.shift(1, 0, 1).unwrap();
    let pairs = x.combinations(2, 1).unwrap();
    let all = [
        x.diff(1).unwrap().into_erased(),
        x.roll(1, 1).unwrap().into_erased(),
        pairs[1].erased().clone(),
        x.split_where(&y.greater(2).unwrap()).unwrap().into_erased(),
        x.run_lengths().unwrap().0.into_erased(),
        x.group_by_key(&y).unwrap().1.into_erased(),
        x.set_union(&y).unwrap().into_erased(),
        x.searchsorted(&y).unwrap().into_erased(),
        x.shuffle(Seed(1), 1).unwrap().into_erased(),
        x.sliding_windows(2, 1).unwrap().into_erased(),
        x.pad_rows(2, 0, 1).unwrap().into_erased(),
    ];
    assert_eq!(device.stats().waits, before);
    ragged::eval(all.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(pairs[1].to_vec().unwrap(), [1, 2, 2, 4]);
}
