//! Sets, membership, and searches in sorted rows.

use proptest::prelude::*;
use ragged::RaggedTensor;
use ragged::opt::right_of;

use crate::lists::{Rows, config, devices, each, nested, on, rows};

fn set(row: impl IntoIterator<Item = i32>) -> Vec<i32> {
    let set: std::collections::BTreeSet<i32> = row.into_iter().collect();
    set.into_iter().collect()
}

/// The bits of floats, all NaNs one.
fn bits(t: &RaggedTensor<f32>) -> Vec<u32> {
    t.to_vec().expect("a read").iter().map(|v| if v.is_nan() { u32::MAX } else { v.to_bits() }).collect()
}

#[test]
fn nan_is_one_value_of_a_set() {
    const NAN: f32 = f32::NAN;
    for device in devices() {
        let a = on(vec![vec![NAN, 1.0, -NAN, 0.0], vec![NAN], vec![]], device);
        let b = on(vec![vec![NAN, -0.0], vec![], vec![NAN, NAN]], device);
        let nan = u32::MAX;
        let one = 1f32.to_bits();
        let union = a.set_union(&b).unwrap();
        assert_eq!(union.row_lengths(1).unwrap().to_vec().unwrap(), [3, 1, 1], "{}", device.name());
        assert_eq!(bits(&union), [0f32.to_bits(), one, nan, nan, nan]);
        assert_eq!(a.set_intersection(&b).unwrap().row_lengths(1).unwrap().to_vec().unwrap(), [2, 0, 0]);
        assert_eq!(bits(&a.set_intersection(&b).unwrap()), [0f32.to_bits(), nan]);
        assert_eq!(bits(&a.set_difference(&b).unwrap()), [one, nan]);
        let (values, lengths) = a.run_lengths().unwrap();
        assert_eq!(bits(&values), [nan, one, nan, 0, nan]);
        assert_eq!(lengths.to_vec().unwrap(), [1; 5]);
        let (keys, groups) = a.group_by_key(&a).unwrap();
        assert_eq!(bits(&keys), [0, one, nan, nan]);
        assert_eq!(groups.row_lengths(2).unwrap().to_vec().unwrap(), [1, 1, 2, 1]);
        assert_eq!(a.contains(NAN, 1).unwrap().to_vec().unwrap(), [false; 3]);
        let sorted = a.sort(1).unwrap();
        let sought = on(vec![vec![NAN, 2.0], vec![f32::INFINITY], vec![NAN]], device);
        assert_eq!(sorted.searchsorted(&sought).unwrap().to_vec().unwrap(), [2, 2, 0, 0]);
        assert_eq!(sorted.searchsorted(right_of(&sought)).unwrap().to_vec().unwrap(), [4, 2, 0, 0]);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sets(x in rows(300), seed in 0..50i32) {
        let y: Rows<i32> = x.iter().rev().map(|r| r.iter().map(|v| v + seed % 5).collect()).collect();
        let pair = |f: fn(&[i32], &[i32]) -> Vec<i32>| -> Rows<i32> { x.iter().zip(&y).map(|(a, b)| f(a, b)).collect() };
        for device in devices() {
            let (a, b) = (on(x.clone(), device), on(y.clone(), device));
            let want = pair(|a, b| set(a.iter().chain(b).copied()));
            prop_assert_eq!(&nested::<_, Rows<i32>>(a.set_union(&b)), &want);
            let want = pair(|a, b| set(a.iter().copied().filter(|v| b.contains(v))));
            prop_assert_eq!(&nested::<_, Rows<i32>>(a.set_intersection(&b)), &want);
            let want = pair(|a, b| set(a.iter().copied().filter(|v| !b.contains(v))));
            prop_assert_eq!(&nested::<_, Rows<i32>>(a.set_difference(&b)), &want);
            let items: Vec<i32> = y.iter().map(|r| r.first().copied().unwrap_or(0)).collect();
            let want: Vec<bool> = x.iter().zip(&items).map(|(r, v)| r.contains(v)).collect();
            prop_assert_eq!(&a.contains(&on(items.clone(), device), 1).unwrap().to_vec().unwrap(), &want);
            let want: Vec<bool> = x.iter().map(|r| r.contains(&seed)).collect();
            prop_assert_eq!(&a.contains(seed, 1).unwrap().to_vec().unwrap(), &want);
        }
    }

    #[test]
    fn searches(x in rows(300)) {
        let sorted = each(&x, |r| { let mut r = r.to_vec(); r.sort_unstable(); r });
        let sought: Rows<i32> = x.iter().rev().cloned().collect();
        let want = |below: fn(i32, i32) -> bool| -> Rows<i64> {
            let row = |(r, v): (&Vec<i32>, &Vec<i32>)| v.iter().map(|&v| r.partition_point(|&x| below(x, v)) as i64).collect();
            sorted.iter().zip(&sought).map(row).collect()
        };
        for device in devices() {
            let (t, v) = (on(sorted.clone(), device), on(sought.clone(), device));
            prop_assert_eq!(&nested::<_, Rows<i64>>(t.searchsorted(&v)), &want(|x, v| x < v));
            prop_assert_eq!(&nested::<_, Rows<i64>>(t.searchsorted(right_of(&v))), &want(|x, v| x <= v));
        }
    }
}
