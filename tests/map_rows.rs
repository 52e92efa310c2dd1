//! `map_rows`: a function of one row, recorded once and computed for all rows.

mod common;

use common::naive;
use common::random::{self, Sample};
use proptest::prelude::*;
use ragged::opt::{descending, exclusive, keep};
use ragged::{Device, Element, Error, HostTensor, RaggedTensor, Result, Tensor, s};

fn floats(rows: &[Vec<f32>], device: &Device) -> Tensor {
    naive::host::<f32>(rows).to_device(device).expect("an upload")
}

fn lists<T: Element>(t: &Tensor) -> Vec<Vec<T::Host>> {
    naive::rows::<T>(&t.to_host().expect("a read"))
}

#[test]
fn rows_are_independent() {
    for (name, device) in common::devices() {
        let x = floats(&[vec![1.0, 3.0], vec![], vec![f32::INFINITY], vec![2.0, 2.0, 4.0]], &device);
        let shares = x.map_rows(|row| row / row.reduce_sum(..)?).expect("recorded");
        let got = lists::<f32>(&shares);
        assert_eq!((&got[0], &got[1], &got[3]), (&vec![0.25, 0.75], &vec![], &vec![0.25, 0.25, 0.5]), "{name}");
        assert!(got[2][0].is_nan(), "{name}");
    }
}

#[test]
fn rows_of_rows() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![vec![1, 2], vec![], vec![3]], vec![], vec![vec![4]]], &device)
            .expect("an upload");
        // One scalar per row, one vector per row, and both again at the next level.
        let sums: RaggedTensor<i32> = x.map_rows(|row| row.reduce_sum(..)).expect("recorded");
        assert_eq!(sums.to_vec().expect("a read"), [6, 0, 4], "{name}");
        let inner: RaggedTensor<i32> = x.map_rows(|row| row.map_rows(|r| r.reduce_sum(..))).expect("recorded");
        assert_eq!(
            lists::<ragged::Str>(&as_text(&inner)),
            [vec!["3", "0", "3"], vec![], vec!["4"]].map(text),
            "{name}"
        );
        // A row of rank 2 with a scalar and a vector of the same row.
        let less = x.map_rows(|row| row - row.reduce_max(..)?).map(|t: RaggedTensor<i32>| t.to_string());
        assert_eq!(less.expect("a read"), "<ragged.RaggedTensor [[[-2, -1], [], [0]], [], [[0]]]>", "{name}");
        let tops: RaggedTensor<i32> = x.map_rows(|row| row - row.reduce_max(keep(-1))?).expect("recorded");
        assert_eq!(tops.to_string(), "<ragged.RaggedTensor [[[-1, 0], [], [0]], [], [[0]]]>", "{name}");
    }
}

#[test]
fn operators_take_rows_tensors_and_numbers_on_either_side() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested([vec![1.5f32, 2.0], vec![], vec![-4.0]], &device).expect("an upload");
        let one = RaggedTensor::from_nested([4.0f32], &device).expect("an upload");
        let given = |f: &dyn Fn(&ragged::Row) -> Result<ragged::Row>| {
            let y: RaggedTensor<f32> = x.map_rows(|row| f(row)).expect("recorded");
            assert_eq!(y.to_string().matches(']').count(), 4, "{name}: the rows stay");
            y.to_vec().expect("a read")
        };
        assert_eq!(given(&|row| 2.0 * row), [3.0, 4.0, -8.0], "{name}");
        assert_eq!(given(&|row| 2 - row.clone()), [0.5, 0.0, 6.0], "{name}");
        assert_eq!(given(&|row| 3 / row), [2.0, 1.5, -0.75], "{name}");
        assert_eq!(given(&|row| 5 % row), [0.5, 1.0, -3.0], "{name}");
        assert_eq!(given(&|row| row - &one), [-2.5, -2.0, -8.0], "{name}");
        assert_eq!(given(&|row| &one - row), [2.5, 2.0, 8.0], "{name}");
        assert_eq!(given(&|row| row.clone() * one.erased()), [6.0, 8.0, -16.0], "{name}");
        assert_eq!(given(&|row| one.erased() / row.clone()), [4.0 / 1.5, 2.0, -1.0], "{name}");
        let bits = RaggedTensor::from_nested([vec![5i32, -8], vec![], vec![3]], &device).expect("an upload");
        let shifted: Result<RaggedTensor<i32>> =
            bits.map_rows(|row| ((row << 2)? >> 1)? | (1 << row.bitwise_and(3)?)?);
        let shifted = shifted.expect("recorded");
        assert_eq!(shifted.to_vec().expect("a read"), [10 | 2, -16 | 1, 6 | 8], "{name}");
        let shift: Result<RaggedTensor<f32>> = x.map_rows(|row| row << 1);
        let error = shift.expect_err("floats are not shifted").to_string();
        assert!(error.starts_with("left_shift"), "{name}: {error}");
    }
}

/// Integers as strings, to compare lists of lists of one type.
fn as_text(t: &RaggedTensor<i32>) -> Tensor {
    let rows: Vec<Vec<Vec<u8>>> = naive::rows::<i32>(&t.to_host().expect("a read"))
        .into_iter()
        .map(|row| row.into_iter().map(|n| n.to_string().into_bytes()).collect())
        .collect();
    naive::host::<ragged::Str>(&rows).to_device(&Device::cpu()).expect("an upload")
}

fn text(row: Vec<&str>) -> Vec<Vec<u8>> {
    row.into_iter().map(|s| s.as_bytes().to_vec()).collect()
}

#[test]
fn captured_tensors_are_broadcast_to_all_rows() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![10, 20], &device).expect("an upload");
        let y = RaggedTensor::from_nested(vec![1, 2, 3], &device).expect("an upload");
        let sums: RaggedTensor<i32> = x.map_rows(|row| row + y.erased()).expect("recorded");
        assert_eq!(sums.to_string(), "tensor([[11, 12, 13], [21, 22, 23]], shape=(2, 3), dtype=i32)", "{name}");
    }
}

#[test]
fn elements_slices_and_ranges() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![5, 6, 7], vec![8]], &device).expect("an upload");
        let at = |i: i64| x.map_rows(|row| row.at(i)).and_then(|t: RaggedTensor<i32>| t.to_vec());
        assert_eq!(at(0).expect("a read"), [5, 8], "{name}");
        assert_eq!(at(-1).expect("a read"), [7, 8], "{name}");
        for beyond in [1, -2, i64::MIN, i64::MAX] {
            assert!(matches!(at(beyond), Err(Error::Check { op: "at", .. })), "{name}: {beyond}");
        }
        let tails: RaggedTensor<i32> = x.map_rows(|row| row.slice(s![1..])).expect("recorded");
        assert_eq!(tails.to_string(), "<ragged.RaggedTensor [[6, 7], []]>", "{name}");
        let lengths: RaggedTensor<i64> = x.map_rows(|row| row.size()?.range()).expect("recorded");
        assert_eq!(lengths.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [0]]>", "{name}");
        let both: RaggedTensor<i32> =
            x.map_rows(|row| ragged::Row::concat(&[row, &row.reverse(0)?], 0)).expect("recorded");
        assert_eq!(both.to_string(), "<ragged.RaggedTensor [[5, 6, 7, 7, 6, 5], [8, 8]]>", "{name}");
    }
}

#[test]
fn order_scans_and_masks_within_a_row() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![3, 1, 2], vec![], vec![5, 9]], &device).expect("an upload");
        let each = |f: &dyn Fn(&ragged::Row) -> Result<ragged::Row>| {
            x.erased().map_rows(|row| f(row)).expect("recorded").to_string()
        };
        assert_eq!(each(&|row| row.sort(descending(0))), "<ragged.RaggedTensor [[3, 2, 1], [], [9, 5]]>", "{name}");
        assert_eq!(each(&|row| Ok(row.top_k(2, -1)?.1)), "<ragged.RaggedTensor [[0, 2], [], [1, 0]]>", "{name}");
        assert_eq!(each(&|row| row.cumsum(exclusive(0))), "<ragged.RaggedTensor [[0, 3, 4], [], [0, 5]]>", "{name}");
        assert_eq!(each(&|row| row.argmax(0)), "tensor([0, -1, 1], shape=(3,), dtype=i64)", "{name}");
        let above = |row: &ragged::Row| row.boolean_mask(&row.greater(&row.reduce_mean(0)?.cast(row.dtype())?)?);
        assert_eq!(each(&above), "<ragged.RaggedTensor [[3], [], [9]]>", "{name}");
        assert_eq!(each(&|row| row.gather(&row.argsort(0)?)), "<ragged.RaggedTensor [[1, 2, 3], [], [5, 9]]>");
        let greatest = |row: &ragged::Row| row.less(&row.reduce_max(0)?)?.select(0, row);
        assert_eq!(each(&greatest), "<ragged.RaggedTensor [[3, 0, 0], [], [0, 9]]>", "{name}");
        // The condition is a scalar per row, as is the other branch.
        let sign = |row: &ragged::Row| row.reduce_any(0)?.select(row, row.reduce_sum(0)?);
        assert_eq!(each(&sign), "<ragged.RaggedTensor [[3, 1, 2], [], [5, 9]]>", "{name}");
        let size = |row: &ragged::Row| row.size()?.greater(2i64)?.select(row, row.negative()?);
        assert_eq!(each(&size), "<ragged.RaggedTensor [[3, 1, 2], [], [-5, -9]]>", "{name}");
    }
}

#[test]
fn misuse_is_an_error() {
    let cpu = Device::cpu();
    let x = RaggedTensor::from_nested(vec![vec![1, 2], vec![3]], &cpu).expect("an upload").into_erased();
    let scalar = HostTensor::dense(&[], ragged::HostValues::I32(vec![1])).to_device(&cpu).expect("an upload");
    assert!(matches!(scalar.map_rows(|row| Ok(row.clone())), Err(Error::Argument { .. })));
    assert!(matches!(x.map_rows(|row| row.reduce_sum(1)), Err(Error::Axis { axis: 1, rank: 1, .. })));
    // A `Row` that outlives its call.
    let mut stray = None;
    x.map_rows(|row| {
        stray = Some(row.clone());
        Ok(row.clone())
    })
    .expect("recorded");
    let stray = stray.expect("the closure ran");
    assert!(matches!(x.map_rows(|row| row + &stray), Err(Error::Argument { .. })));
    assert!(matches!(x.map_rows(|_| Ok(stray.clone())), Err(Error::Argument { .. })));
    assert!(matches!(x.map_rows(|row| row.equal(row)?.select(&stray, row)), Err(Error::Argument { .. })));
    let three = RaggedTensor::from_nested(vec![1, 2, 3], &cpu).expect("an upload");
    let sum = Tensor::map_rows_of(&[&x, three.erased()], |rows| &rows[0] + &rows[1]);
    assert!(matches!(sum, Err(Error::Shape { .. })));
}

#[test]
fn axes_of_a_merge_count_in_the_row() {
    let x = RaggedTensor::from_nested([vec![vec![1, 2], vec![3]], vec![], vec![vec![], vec![4]]], &Device::cpu());
    let x = x.expect("an upload").into_erased();
    let merged = x.map_rows(|row| row.merge_dims(0, 1)).expect("recorded");
    assert_eq!(merged.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [], [4]]>");
    assert!(matches!(x.map_rows(|row| row.merge_dims(0, 2)), Err(Error::Axis { axis: 2, rank: 2, .. })));
}

#[test]
fn rows_are_not_computed_in_a_loop() {
    let cpu = Device::cpu();
    let passes = |rows: usize| {
        let x = floats(&vec![vec![1.0, 2.0]; rows], &cpu);
        let y = x.map_rows(|row| (row - row.reduce_mean(..)?)? / row.reduce_std(..)?);
        y.expect("recorded").explain().expect("a plan").kernels.len()
    };
    assert_eq!(passes(2), passes(2000));
}

proptest! {
    #[test]
    fn a_row_alone_gives_what_it_gives_in_the_crowd(sample in random::tensor_of(ragged::DType::F32, 1, &[])) {
        let Sample(host) = sample;
        let rows = naive::rows::<f32>(&host);
        for (name, device) in common::devices() {
            let softened = |x: &Tensor| {
                x.map_rows(|row| (row - row.reduce_max(..)?)?.exp()).expect("recorded")
            };
            let crowd = lists::<f32>(&softened(&host.to_device(&device).expect("an upload")));
            for (k, row) in rows.iter().enumerate().step_by(1 + rows.len() / 5) {
                let alone = lists::<f32>(&softened(&floats(std::slice::from_ref(row), &device)));
                let bits = |row: &[f32]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&alone[0]), bits(&crowd[k]), "{}: row {}", name, k);
            }
        }
    }
}
