//! Strings, uniform dimensions, vectors, and device-known sizes.

use ragged::{HostTensor, HostValues, RaggedTensor, Tensor};

use crate::lists::{Rows, devices, nested, on};

#[test]
fn strings_and_uniform_dimensions() {
    for device in devices() {
        let words = vec![vec!["a", "bc", ""], vec![], vec!["def"]];
        let x = RaggedTensor::<ragged::Str>::from_nested(words, device).unwrap();
        let text = |t: ragged::Result<RaggedTensor<ragged::Str>>| t.unwrap().to_string();
        assert_eq!(text(x.shift(1, "-", 1)), r#"<ragged.RaggedTensor [[b'-', b'a', b'bc'], [], [b'-']]>"#);
        assert_eq!(text(x.roll(1, 1)), r#"<ragged.RaggedTensor [[b'', b'a', b'bc'], [], [b'def']]>"#);
        assert_eq!(
            text(x.pad_rows(2, "-", 1)),
            r#"<ragged.RaggedTensor [[b'a', b'bc', b''], [b'-', b'-'], [b'def', b'-']]>"#
        );
        assert_eq!(
            text(x.combinations(2, 1).map(|mut t| t.remove(1))),
            r#"<ragged.RaggedTensor [[b'bc', b'', b''], [], []]>"#
        );
        assert_eq!(x.contains("def", 1).unwrap().to_vec().unwrap(), [false, false, true]);

        let dense = HostTensor::dense(&[2, 3, 2], HostValues::I32((0..12).collect())).to_device(device).unwrap();
        let host = |t: ragged::Result<Tensor>| t.and_then(|t| t.to_host()).unwrap();
        for (axis, shape) in [(0, [1, 3, 2]), (1, [2, 2, 2]), (2, [2, 3, 1])] {
            let got = host(dense.diff(axis));
            assert_eq!((got.inner_shape, got.nested_row_splits.len()), (shape.to_vec(), 0), "diff {axis}");
        }
        assert_eq!(host(dense.roll(1, 2)).values, HostValues::I32(vec![1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]));
        assert_eq!(host(dense.roll(1, 1)).values, HostValues::I32(vec![4, 5, 0, 1, 2, 3, 10, 11, 6, 7, 8, 9]));
        assert_eq!(host(dense.roll(1, 0)).inner_shape, [2, 3, 2]);
        assert_eq!(host(dense.shift(-1, 9, 1)).values, HostValues::I32(vec![2, 3, 4, 5, 9, 9, 8, 9, 10, 11, 9, 9]));
        assert_eq!(host(dense.shift(1, 9, 0)).values, HostValues::I32(vec![9, 9, 9, 9, 9, 9, 0, 1, 2, 3, 4, 5]));
        for (axis, shape) in [(0, vec![1, 2, 3, 2]), (1, vec![2, 2, 2, 2]), (2, vec![2, 3, 1, 2])] {
            let got = host(dense.sliding_windows(2, axis));
            assert_eq!((got.inner_shape, got.nested_row_splits.len()), (shape, 0), "windows {axis}");
        }
        for (axis, shape) in [(0, vec![4, 3, 2]), (1, vec![2, 4, 2]), (2, vec![2, 3, 4])] {
            let got = host(dense.pad_rows(4, 9, axis));
            assert_eq!((got.inner_shape, got.nested_row_splits.len()), (shape, 0), "padded {axis}");
        }
        assert_eq!(host(dense.pad_rows(3, 9, 2)).values.len(), 18);
        let pairs = host(dense.combinations(2, 1).map(|mut t| t.remove(0)));
        assert_eq!(pairs.values, HostValues::I32(vec![0, 1, 0, 1, 2, 3, 6, 7, 6, 7, 8, 9]));
        assert_eq!(pairs.nested_row_splits, [[0, 3, 6]]);
        let got = host(dense.transpose_rows());
        assert_eq!((got.inner_shape, got.nested_row_splits.len()), (vec![3, 2, 2], 0));
        assert_eq!(got.values, HostValues::I32(vec![0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]));
        let vector = on(vec![5, 5, 7, 5], device);
        assert_eq!(vector.combinations(2, 0).unwrap()[1].to_vec().unwrap(), [5, 7, 5, 7, 5, 5]);
        assert_eq!(vector.set_difference(&on(vec![7], device)).unwrap().to_vec().unwrap(), [5]);
        assert_eq!(vector.run_lengths().unwrap().1.to_vec().unwrap(), [2, 1, 1]);
        assert_eq!(vector.diff(0).unwrap().to_vec().unwrap(), [0, 2, -2]);
        let (keys, groups) = on(vec![1, 2, 3, 4], device).group_by_key(&vector).unwrap();
        assert_eq!(
            (keys.to_vec().unwrap(), nested::<_, Rows<i32>>(Ok(groups))),
            (vec![5, 7], vec![vec![1, 2, 4], vec![3]])
        );
        assert_eq!(
            vector.split_where(&vector.greater(6).unwrap()).map(|t| nested::<_, Rows<i32>>(Ok(t))).unwrap(),
            [vec![5, 5], vec![7, 5]]
        );
        // Sizes that only the device knows.
        let kept = vector.boolean_mask(&vector.less_equal(5).unwrap()).unwrap();
        assert_eq!(kept.combinations(2, 0).unwrap()[0].to_vec().unwrap(), [5, 5, 5]);
        assert_eq!(kept.diff(0).unwrap().to_vec().unwrap(), [0, 0]);
        assert_eq!(kept.roll(1, 0).unwrap().to_vec().unwrap(), [5, 5, 5]);
        assert_eq!(kept.shift(1, 0, 0).unwrap().to_vec().unwrap(), [0, 5, 5]);
        assert_eq!(kept.pad_rows(5, 0, 0).unwrap().to_vec().unwrap(), [5, 5, 5, 0, 0]);
        assert_eq!(kept.sliding_windows(2, 0).unwrap().to_vec().unwrap(), [5; 4]);
        assert_eq!(kept.run_lengths().unwrap().1.to_vec().unwrap(), [3]);
    }
}
