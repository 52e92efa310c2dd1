//! Functions that take a closure, several results of one call, and operands that a tensor does not take.

use ragged::opt::right_of;
use ragged::{ElementFunction, RaggedTensor, Result, Row, Tensor, s};

use crate::common;

/// Operations whose law is here.
pub const NAMES: &[&str] = &["map_elements", "map_rows"];

#[test]
fn several_results_of_one_call() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![vec![1, 2], vec![3]], vec![], vec![vec![4]]], &device)
            .expect("an upload");
        let (sums, sizes): (RaggedTensor<i32>, RaggedTensor<i64>) =
            x.map_rows(|row| Ok((row.reduce_sum(..)?, row.size()?))).expect("recorded");
        assert_eq!((sums.to_vec().unwrap(), sizes.to_vec().unwrap()), (vec![6, 0, 4], vec![3, 0, 1]), "{name}");
        let all: Vec<RaggedTensor<i32>> =
            x.map_rows(|row| (0..3).map(|k| row.multiply(k)).collect::<Result<Vec<Row>>>()).expect("recorded");
        assert_eq!(all[2].to_vec().unwrap(), [2, 4, 6, 8], "{name}");
        // Of tensors without an element type, of several tensors, nested, and one level further in.
        let (a, (b, c)) =
            Tensor::map_rows_of(&[&x, &x], |rows| Ok((rows[0].size()?, (rows[1].clone(), rows[0].size()?))))
                .expect("recorded");
        assert_eq!((a.to_string(), b.to_string()), (c.to_string(), x.to_string()), "{name}");
        let (least, most) = x
            .erased()
            .map_rows(|row| row.map_rows(|inner| Ok((inner.reduce_min(..)?, inner.reduce_max(..)?))))
            .expect("recorded");
        assert_eq!(least.to_string(), "<ragged.RaggedTensor [[1, 3], [], [4]]>", "{name}");
        assert_eq!(most.to_string(), "<ragged.RaggedTensor [[2, 3], [], [4]]>", "{name}");
        let none: Vec<Tensor> = x.erased().map_rows(|_| Ok(Vec::<Row>::new())).expect("recorded");
        assert!(none.is_empty());
    }
}

#[test]
fn a_stray_row_among_results_is_an_error_of_the_call() {
    let x =
        RaggedTensor::from_nested(vec![vec![1, 2], vec![3]], &ragged::Device::cpu()).expect("an upload").into_erased();
    let mut stray = None;
    x.map_rows(|row| {
        stray = Some(row.clone());
        Ok(row.clone())
    })
    .expect("recorded");
    let stray = stray.expect("the closure ran");
    let line = line!() + 1;
    let error = x.map_rows(|row| Ok((row.clone(), vec![row.clone(), stray.clone()]))).unwrap_err();
    assert!(error.to_string().contains("another call"), "{error}");
    assert!(error.to_string().contains(&format!("several.rs:{line}")), "{error}");
}

#[test]
fn a_function_of_elements() {
    let bump = ElementFunction::new("bump", "fn bump(x: f32) -> f32 { return x * x + 1.0; }", |x: f32| x * x + 1.0)
        .expect("valid");
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![1.0f32, 2.0], vec![], vec![3.0]], &device).expect("an upload");
        let y: RaggedTensor<f32> = x.map_rows(|row| row.map_elements(&bump)).expect("recorded");
        assert_eq!(y.to_string(), "<ragged.RaggedTensor [[2.0, 5.0], [], [10.0]]>", "{name}");
    }
}

#[test]
fn operands_that_are_the_same_for_all_rows() {
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(vec![vec![1, 3, 3, 5], vec![], vec![4]], &device).expect("an upload");
        let each = |f: &dyn Fn(&Row) -> Result<Row>| x.erased().map_rows(|row| f(row)).expect("recorded").to_string();
        let sought = RaggedTensor::from_nested([3, 9], &device).expect("an upload");
        let of_same = "tensor([[1, 4], [0, 0], [0, 1]], shape=(3, 2), dtype=i64)";
        assert_eq!(each(&|row| row.searchsorted(&sought)), of_same, "{name}");
        let right = "tensor([[3, 4], [0, 0], [0, 1]], shape=(3, 2), dtype=i64)";
        assert_eq!(each(&|row| row.searchsorted(right_of(&sought))), right, "{name}");
        assert_eq!(each(&|row| row.searchsorted(3)), "tensor([1, 0, 0], shape=(3,), dtype=i64)", "{name}");
        let three = RaggedTensor::from_nested(3, &device).expect("an upload");
        assert_eq!(each(&|row| row.contains(&three, 0)), "tensor([True, False, False], shape=(3,), dtype=bool)");
        let middle = |row: &Row| {
            let half = row.size()?.floordiv(2i64)?;
            row.slice_rows(&half.floordiv(2i64)?, &half)
        };
        assert_eq!(each(&middle), "<ragged.RaggedTensor [[3, 3], [], []]>", "{name}");
        let pairs = RaggedTensor::from_nested(vec![vec![vec![1, 2], vec![3]], vec![vec![4, 5, 6]]], &device)
            .expect("an upload");
        let corners = RaggedTensor::from_nested([[0i64, 1], [0, 0]], &device).expect("an upload");
        let y: RaggedTensor<i32> = pairs.map_rows(|row| row.gather_nd(&corners)).expect("recorded");
        assert_eq!(y.to_vec().unwrap(), [2, 1, 5, 4], "{name}");
        let starts = RaggedTensor::from_nested(vec![vec![1i64, 0], vec![2]], &device).expect("an upload");
        let cut = Tensor::map_rows_of(&[pairs.erased(), starts.erased()], |rows| {
            rows[0].slice_rows(&rows[1], &rows[1].minimum(1i64)?)
        });
        assert_eq!(cut.expect("recorded").to_string(), "<ragged.RaggedTensor [[[2], []], [[6]]]>", "{name}");
        let points = RaggedTensor::from_nested(vec![vec![[1, 2], [3, 4]], vec![[5, 6]]], &device).expect("an upload");
        let w = RaggedTensor::from_nested([[1, 0], [0, 10]], &device).expect("an upload");
        let y: RaggedTensor<i32> = points.map_rows(|row| row.matmul(&w)?.slice(s![.., 1])).expect("recorded");
        assert_eq!(y.to_string(), "<ragged.RaggedTensor [[20, 40], [60]]>", "{name}");
    }
}
