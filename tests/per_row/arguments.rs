//! Arguments out of range, and results that exceed 32 bits.

use std::fmt::Debug;

use ragged::{Error, RaggedTensor, Seed, Tensor};

use crate::lists::{devices, on};

fn is_argument<T: Debug>(r: ragged::Result<T>) -> bool {
    matches!(r, Err(Error::Argument { .. }))
}

#[test]
fn arguments_out_of_range() {
    for device in devices() {
        let x = on(vec![vec![1, 2, 3], vec![], vec![4]], device);
        let lengths =
            |t: ragged::Result<RaggedTensor<i32>>| t.and_then(|t| t.row_lengths(1)).unwrap().to_vec().unwrap();
        for k in [-1i64, 0, 7, i64::MAX] {
            assert!(is_argument(x.combinations(k, 1)), "{k}");
        }
        assert_eq!(lengths(Ok(x.combinations(6, 1).unwrap().remove(5))), [0, 0, 0]);
        assert!(is_argument(x.sliding_windows(0, 1)) && is_argument(x.sliding_windows(-1, 1)));
        assert_eq!(lengths(x.sliding_windows(4, 1)), [0, 0, 0]);
        assert_eq!(lengths(x.sliding_windows(1_000_000_000, 1)), [0, 0, 0]);
        assert!(matches!(x.sliding_windows(u32::MAX, 1), Err(Error::Limit { .. })));
        assert!(is_argument(x.pad_rows(-1, 0, 1)) && is_argument(x.pad_rows(1, 0.5f32, 1)));
        assert!(is_argument(x.sample(-1, Seed(0), 1)));
        assert_eq!(lengths(x.sample(100, Seed(0), 1)), [3, 0, 1]);
        assert_eq!(x.shift(i64::MAX, 5, 1).unwrap().to_vec().unwrap(), [5; 4]);
        assert_eq!(x.shift(i64::MIN, 5, 1).unwrap().to_vec().unwrap(), [5; 4]);
        assert_eq!(x.roll(u32::MAX, 1).unwrap().to_vec().unwrap(), [1, 2, 3, 4]);
        assert!(is_argument(x.roll(1i64 << 32, 1)));
        assert!(is_argument(x.shift(1, 0, 0)) && is_argument(x.diff(0)) && is_argument(x.pad_rows(9, 0, 0)));
        assert!(matches!(x.diff(2), Err(Error::Axis { .. })) && matches!(x.shift(1, 0, -3), Err(Error::Axis { .. })));
        assert!(matches!(x.split_where(&x), Err(Error::Unsupported { .. })));
        let y = on(vec![vec![1, 2], vec![3]], device);
        assert!(x.set_union(&y).is_err() && x.searchsorted(&y).is_err() && Tensor::cartesian(&[&x, &y], 1).is_err());
        assert!(x.group_by_key(&y).is_err() && Tensor::zip(&[&x, &y]).is_err());
        assert!(is_argument(Tensor::zip(&[] as &[Tensor])) && is_argument(Tensor::cartesian(&[] as &[Tensor], 0)));
        assert!(is_argument(x.unzip()));
        let text = RaggedTensor::<ragged::Str>::from_nested(vec![vec!["a"]], device).unwrap();
        assert!(matches!(text.erased().diff(1), Err(Error::Unsupported { .. })));
        assert!(matches!(text.erased().count_nonzero(1), Err(Error::Unsupported { .. })));
    }
}

#[test]
fn results_of_too_many_values() {
    for device in devices() {
        // 93,000 elements have some 4.3 * 10^9 pairs, and 66,000 by 66,000 elements too.
        let n = 93_000i64;
        let x = RaggedTensor::<u8>::from_nested(vec![vec![0u8; n as usize], vec![1]], device).unwrap();
        let read = |t: &Tensor| t.row_lengths(1).and_then(|t| t.to_host());
        let pairs = x.erased().combinations(2, 1).map(|t| t[1].clone());
        assert!(
            matches!(pairs.and_then(|t| read(&t)), Err(Error::Check { .. } | Error::Limit { .. })),
            "{}",
            device.name()
        );
        let pairs = Tensor::cartesian(&[&x, &x], 1).map(|t| t[0].clone());
        assert!(matches!(pairs.and_then(|t| read(&t)), Err(Error::Check { .. } | Error::Limit { .. })));
        let padded = x.erased().pad_rows(u32::MAX - 2, 0, 1);
        assert!(matches!(padded.and_then(|t| read(&t)), Err(Error::Check { .. } | Error::Limit { .. })));
    }
}
