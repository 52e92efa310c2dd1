//! Products of groups of rows, compared with the product of each group by definition.

use ragged::{Device, HostTensor, HostValues, RaggedTensor, Tensor};

use super::common;
use super::common::random::Random;
use super::matrix::{Matrix, Number, bits, host};

/// Groups of these sizes, of rows of `k` numbers, by matrices of `j` columns.
fn check<T: Number>(sizes: &[usize], (k, j): (usize, usize), random: &mut Random) {
    let rows: Vec<Matrix<T>> = sizes.iter().map(|&n| Matrix::random(random, n, k)).collect();
    let matrices: Vec<Matrix<T>> = sizes.iter().map(|_| Matrix::random(random, k, j)).collect();
    let values = |of: &[Matrix<T>]| of.iter().flat_map(|m| m.values.clone()).collect::<Vec<T>>();
    let n: usize = sizes.iter().sum();
    let (x, by) = (host(vec![], vec![n, k], values(&rows)), host(vec![], vec![sizes.len(), k, j], values(&matrices)));
    let want: Vec<T> = rows.iter().zip(&matrices).flat_map(|(a, b)| a.times(b).concat()).collect();
    let want: HostTensor = host(vec![], vec![n, j], want);
    for (name, device) in common::every_way().iter().filter(|(_, device)| common::has(device, T::DTYPE)) {
        let (x, by) = (x.to_device(device).unwrap(), by.to_device(device).unwrap());
        let at = format!("{} {sizes:?} {k} x {j} on {name}", T::DTYPE);
        let of_host = x.ragged_dot(&by, sizes).unwrap().to_host().unwrap();
        assert_eq!(of_host.inner_shape, want.inner_shape, "{at}");
        assert!(bits::<T>(&of_host) == bits::<T>(&want), "{at}: {of_host:?}, not {want:?}");
        let given = RaggedTensor::from_nested(sizes.iter().map(|&n| n as i64).collect::<Vec<_>>(), device).unwrap();
        let of_device = x.ragged_dot(&by, &given).unwrap().to_host().unwrap();
        assert!(bits::<T>(&of_device) == bits::<T>(&want), "{at}, sizes of the device");
    }
}

#[test]
fn groups_have_the_products_of_their_matrices() {
    let mut random = Random(71);
    let cases: [(&[usize], (usize, usize)); 7] = [
        (&[2, 0, 1, 3], (3, 2)),
        (&[0, 0], (2, 3)),
        (&[5], (1, 1)),
        (&[1, 900, 0, 1, 17], (16, 5)),
        (&[63, 64, 65], (31, 33)),
        (&[3, 2], (300, 2)),
        (&[2, 2], (0, 2)),
    ];
    for (sizes, of) in cases {
        check::<f32>(sizes, of, &mut random);
        check::<i32>(sizes, of, &mut random);
        check::<f64>(sizes, of, &mut random);
        check::<u8>(sizes, of, &mut random);
    }
    check::<f32>(&[0, 3000, 1], (8, 8), &mut random);
}

/// Matrices of other widths give rows of other lengths.
#[test]
fn ragged_matrices_may_have_other_columns() {
    for (name, device) in common::every_way() {
        let x = RaggedTensor::from_nested([[1, 2], [3, 4], [5, 6]], device).unwrap();
        let matrices =
            RaggedTensor::from_nested([vec![vec![1], vec![0]], vec![vec![1, 10], vec![0, 1]]], device).unwrap();
        let product = x.ragged_dot(&matrices, [1, 2]).unwrap();
        assert_eq!(product.to_string(), "<ragged.RaggedTensor [[1], [3, 34], [5, 56]]>", "{name}");
        let uniform = RaggedTensor::stack(&[&x, &x], 0).unwrap().slice(ragged::s![.., ..2]).unwrap();
        let product = x.ragged_dot(&uniform, [1, 2]).unwrap();
        assert_eq!(product.to_vec().unwrap(), [7, 10, 15, 22, 23, 34], "{name}");
    }
}

#[test]
fn sizes_that_do_not_fit_are_errors() {
    let ones = |shape: &[usize], device: &Device| -> Tensor {
        let n = shape.iter().product();
        HostTensor::dense(shape, HostValues::F32(vec![1.0; n])).to_device(device).unwrap()
    };
    for (name, device) in common::every_way() {
        let (x, by) = (ones(&[4, 2], device), ones(&[2, 2, 3], device));
        let message = |result: ragged::Result<Tensor>| result.and_then(|x| x.to_host()).unwrap_err().to_string();
        let sizes = |of: [i32; 2]| RaggedTensor::from_nested(of, device).unwrap();
        let cases = [
            ("the host's sum", message(x.ragged_dot(&by, [1, 2]))),
            ("the device's sum", message(x.ragged_dot(&by, &sizes([1, 2])))),
            ("a negative size", message(x.ragged_dot(&by, &sizes([5, -1])))),
            ("the number of groups", message(x.ragged_dot(&by, [1, 2, 1]))),
            ("another width", message(ones(&[4, 3], device).ragged_dot(&by, [2, 2]))),
            ("one matrix", message(x.ragged_dot(&ones(&[2, 3], device), [4]))),
            ("ragged rows", message(Tensor::from_row_lengths(&x, [2, 2]).unwrap().ragged_dot(&by, [2, 2]))),
        ];
        for (what, message) in cases {
            assert!(message.starts_with("ragged_dot: "), "{what} on {name}: {message}");
        }
    }
}
