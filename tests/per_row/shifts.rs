//! Shifts, rotations, differences, sliding windows and padding.

use proptest::prelude::*;

use crate::lists::{Groups, Rows, config, devices, each, nested, on, rows};

fn shifted(row: &[i32], by: i64, fill: i32) -> Vec<i32> {
    let at = |i: i64| usize::try_from(i - by).ok().and_then(|i| row.get(i)).copied().unwrap_or(fill);
    (0..row.len() as i64).map(at).collect()
}

fn rotated(row: &[i32], by: i64) -> Vec<i32> {
    let n = row.len() as i64;
    (0..n).map(|i| row[(i - by).rem_euclid(n) as usize]).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn shifts(x in rows(300), by in -6..7i64) {
        for device in devices() {
            let t = on(x.clone(), device);
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.shift(by, 77, 1)), &each(&x, |r| shifted(r, by, 77)));
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.roll(by, 1)), &each(&x, |r| rotated(r, by)));
            let want = each(&x, |r| r.windows(2).map(|w| w[1] - w[0]).collect());
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.diff(-1)), &want);
            let want = each(&x, |r| (0..r.len() as i64).collect());
            prop_assert_eq!(&nested::<_, Rows<i64>>(t.local_index(1)), &want);
            // Along the outermost axis, elements that are rows move as a whole.
            let n = x.len() as i64;
            let want: Rows<i32> = (0..n).map(|i| x[(i - by).rem_euclid(n) as usize].clone()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.roll(by, 0)), &want);
        }
    }

    #[test]
    fn windows_and_padding(x in rows(300), size in 1..6usize) {
        for device in devices() {
            let t = on(x.clone(), device);
            let want: Groups<i32> = each(&x, |r| r.windows(size).map(<[i32]>::to_vec).collect());
            prop_assert_eq!(&nested::<_, Groups<i32>>(t.sliding_windows(size, 1)), &want);
            let want = each(&x, |r| r.iter().copied().chain(std::iter::repeat(9)).take(r.len().max(size)).collect());
            prop_assert_eq!(&nested::<_, Rows<i32>>(t.pad_rows(size, 9, 1)), &want);
        }
    }
}
