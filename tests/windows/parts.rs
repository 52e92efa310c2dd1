//! Arrays that kernels bind in parts: conditions, hashes, and the limit on dispatches.

use ragged::{Device, Error, HostTensor, HostValues, Result, s};

use crate::inputs::{longs, ragged, scrambled, smallest, windowed};

/// A condition on an array that is bound in several parts still names the first failing position.
#[test]
fn conditions_of_arrays_bound_in_parts_name_the_first_offender() {
    let Some(device) = smallest(8192) else { return };
    let ids = |k: i64| if k > 5000 { 7_000_000 + k } else { k * 1009 % 5000 };
    let failure = |on: &Device| {
        let x = ragged(longs).to_device(on).expect("valid");
        let ids = HostTensor::dense(&[9000], HostValues::I64((0..9000).map(ids).collect())).to_device(on)?;
        x.flat_values()?.gather(&ids)?.to_host()
    };
    for on in [Device::cpu(), device] {
        let error = failure(&on).expect_err("indices beyond the values");
        assert!(matches!(&error, Error::Check { at: 5001, .. }), "{error}");
    }
}

/// Strings whose bytes exceed the windows that a kernel can bind are hashed by groups of windows. A string is hashed by
/// a group that contains it; a string longer than a window is hashed by several dispatches.
#[test]
fn strings_are_hashed_some_windows_at_a_time() {
    let Some(device) = smallest(8192) else { return };
    let string = |k: u32| {
        let len = [k % 70, scrambled(k) % 300, if k.is_multiple_of(37) { 8192 - k % 5 } else { 0 }][k as usize % 3];
        (0..len).map(|at| scrambled(k * 9973 + at) as u8).collect::<Vec<u8>>()
    };
    let words: Vec<Vec<u8>> = (0..3000).map(string).collect();
    assert!(words.iter().map(Vec::len).sum::<usize>() > 30 * 8192);
    let hashes = |device: &Device, words: &[Vec<u8>]| {
        let x = HostTensor::dense(&[words.len()], HostValues::Str(words.to_vec())).to_device(device)?;
        let key = [0x0123_4567_89ab_cdef, 42];
        let all = [x.fingerprint64()?, x.to_hash_bucket_strong(i64::MAX, key)?, x.to_hash_bucket(i64::MAX)?];
        all.iter().map(|y| y.to_host().map(|host| host.values)).collect::<Result<Vec<_>>>()
    };
    assert_eq!(hashes(&device, &words).expect("by groups"), hashes(&Device::cpu(), &words).expect("on the CPU"));
    let mut words = words;
    for (word, len) in [(0, 8193), (1000, 200_000), (1001, 64 * 1024), (2999, 33_333)] {
        words[word] = (0..len).map(|at| scrambled(word as u32 + at) as u8).collect();
    }
    assert_eq!(
        hashes(&device, &words).expect("in several dispatches"),
        hashes(&Device::cpu(), &words).expect("on the CPU")
    );
    // A group of windows has more bytes than one dispatch hashes, and the scratch state exceeds one window.
    let Some(device) = smallest(64 << 10) else { return };
    let dispatch = 256 << 10;
    let lens =
        [40, 3 * dispatch + 5, 0, dispatch, 900_001, 64 << 10, (64 << 10) + 1, 2 * dispatch - 1, 2 * dispatch, 77];
    let words: Vec<Vec<u8>> =
        lens.iter().map(|&len: &u32| (0..len).map(|at| scrambled(len * 31 + at) as u8).collect()).collect();
    assert_eq!(
        hashes(&device, &words).expect("in several dispatches"),
        hashes(&Device::cpu(), &words).expect("on the CPU")
    );
}

/// An operation that exceeds the limit on dispatches is an error, and runs none of them.
#[test]
fn too_many_windows_are_an_error() {
    let Some(device) = windowed(8192) else { return };
    let x = HostTensor::dense(&[1_000_000], longs(1_000_000)).to_device(&device).expect("uploads");
    let HostValues::I64(want) = longs(1_000_000) else { panic!("longs") };
    let sum = x.add(&x).and_then(|y| y.to_host()).expect("a window at a time");
    assert!(sum.values == HostValues::I64(want.iter().map(|v| 2 * v).collect()));
    // Operations that cannot bind all windows at once bind some at a time.
    let some = x.slice(s![..100_000]).expect("recorded");
    let mut want = want;
    let mut sorted = want[..100_000].to_vec();
    sorted.sort_unstable();
    let got = some.sort(0).and_then(|y| y.to_host()).expect("some windows at a time");
    assert!(got.values == HostValues::I64(sorted));
    want.reverse();
    let back = x.slice(s![..;-1]).and_then(|y| y.to_host()).expect("some windows at a time");
    assert!(back.values == HostValues::I64(want), "backwards");
    let Some(device) = smallest(8192) else { return };
    let x = HostTensor::dense(&[1_000_000], longs(1_000_000)).to_device(&device).expect("uploads");
    let error = x.sort(0).and_then(|y| y.to_host()).expect_err("hundreds of windows, of which each meets all");
    assert!(
        matches!(&error, Error::Limit { unit: "dispatches", requested, limit, .. } if requested > limit),
        "{error}"
    );
}
