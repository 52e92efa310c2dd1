//! Errors show the numbers of the call, however large.

use ragged::{Device, DeviceOptions, Error, HostTensor, HostValues, RaggedTensor, Result, SparseTensor, Tensor};

use crate::{Subjects, common, no};

/// A number beyond u32.
const LARGE: i64 = 1 << 40;
const SHOWN: &str = "1099511627776";
/// One more than [`LARGE`]: the number of bins that it needs.
const BINS: &str = "1099511627777";
/// A number beyond i64.
const HUGE: u64 = u64::MAX;

fn message(result: Result<()>) -> String {
    result.map_or_else(|e| e.to_string(), |()| "no error".into())
}

fn vector(values: HostValues, device: &Device) -> Tensor {
    HostTensor::dense(&[values.len()], values).to_device(device).expect("valid")
}

#[test]
fn numbers_beyond_u32_are_shown_as_given() {
    for (name, device) in common::devices() {
        let s = Subjects::new(&device).expect("valid tensors");
        let dense = s.dense.erased();
        let wide = |values: Vec<i64>| vector(HostValues::I64(values), &device);
        let failed: [(Result<()>, &str); 18] = [
            (no(s.t.dynamic_partition(&s.ints, LARGE)), SHOWN),
            (no(s.t.stack_dynamic_partitions(&s.ints, LARGE)), SHOWN),
            (no(s.ints.bincount(.., LARGE)), SHOWN),
            (no(s.ints.bincount(.., LARGE..)), SHOWN),
            (no(s.ints.bincount_weighted(&s.x, .., LARGE)), SHOWN),
            (no(wide(vec![1, LARGE]).bincount(.., ..)), BINS),
            (no(wide(vec![1, LARGE]).bincount(.., ..=LARGE)), SHOWN),
            (no(vector(HostValues::U32(vec![u32::MAX]), &device).bincount(.., ..)), "4294967296"),
            (no(s.ints.histogram(.., 0.0..1.0, LARGE)), SHOWN),
            (no(s.ints.sequence_mask(LARGE)), SHOWN),
            (no(wide(vec![1, LARGE]).sequence_mask(..)), SHOWN),
            (no(s.t.fill_rows(LARGE, 0)), SHOWN),
            (no(s.t.pad_rows(LARGE, 0.0, 1)), SHOWN),
            (no(s.t.context_windows(LARGE, 0.0, 1)), SHOWN),
            (no(s.t.sliding_windows(LARGE, 1)), SHOWN),
            (no(s.t.combinations(LARGE, 1)), SHOWN),
            (no(Tensor::from_tensor(dense, LARGE)), SHOWN),
            (no(s.ints.one_hot(LARGE, 1, 0)), SHOWN),
        ];
        for (k, (result, says)) in failed.into_iter().enumerate() {
            let message = message(result);
            assert!(message.contains(says), "{name}: {k}: {message}, without {says}");
        }
    }
}

#[test]
fn numbers_beyond_i64_are_shown_as_given() {
    let s = Subjects::new(&Device::cpu()).expect("valid tensors");
    let dense = s.dense.erased();
    let shown = HUGE.to_string();
    let failed: [(Result<()>, &str); 10] = [
        (no(s.t.dynamic_partition(&s.ints, HUGE)), &shown),
        (no(s.t.stack_dynamic_partitions(&s.ints, HUGE)), &shown),
        (no(s.ints.histogram(.., 0.0..1.0, HUGE)), &shown),
        (no(s.t.fill_rows(HUGE, 0)), &shown),
        (no(s.t.pad_rows(HUGE, 0.0, 1)), &shown),
        (no(s.t.combinations(HUGE, 1)), &shown),
        (no(Tensor::from_tensor(dense, HUGE)), &shown),
        (no(s.t.top_k(i128::MIN, 1)), &i128::MIN.to_string()),
        (no(s.t.fill_rows(i128::MIN, 0)), &i128::MIN.to_string()),
        (no(SparseTensor::from_entries(&[[0]], [1], [HUGE], &s.device)), "at most 2^63 - 1"),
    ];
    for (k, (result, says)) in failed.into_iter().enumerate() {
        let message = message(result);
        assert!(message.contains(says), "{k}: {message}, without {says}");
    }
}

/// A count larger than any row takes all of the row.
#[test]
fn counts_beyond_u32_take_whole_rows() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device).expect("valid");
    for k in [i128::from(LARGE), i128::from(HUGE), i128::MAX] {
        assert_eq!(x.top_k(k, 1).and_then(|(values, _)| values.to_vec()).expect("whole rows"), [2, 1, 3]);
        assert_eq!(x.sample(k, ragged::Seed(1), 1).and_then(|s| s.row_lengths(1)?.to_vec()).expect("rows"), [2, 0, 1]);
    }
}

/// A step on the host reports the first string that is no number, whichever thread finds one.
#[test]
fn the_first_string_that_is_no_number_is_named() {
    let gpu = common::gpu_with(&DeviceOptions::default().host_steps(true));
    for device in std::iter::once(Device::cpu()).chain(gpu) {
        let name = device.name().to_owned();
        let mut strings = vec!["1.5"; 100_000];
        strings[40_000] = "first";
        strings[40_001] = "second";
        strings[99_999] = "last";
        let x = RaggedTensor::from_nested(strings, &device).expect("valid");
        let (e, line) = (x.string_to_number::<f32>().unwrap_err(), line!());
        let Error::Check { what, at: 40_000, location, .. } = &e else { panic!("{name}: {e}") };
        assert_eq!((what.as_str(), location.line()), ("a string is not a number of f32: \"first\"", line), "{name}");
    }
}
