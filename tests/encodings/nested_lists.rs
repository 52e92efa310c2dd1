//! Tensors of nested lists: values of every kind, and invalid constants.

use ragged::opt::ConstantOptions;
use ragged::{DType, Device, RaggedTensor, Str, Tensor, ragged};

#[test]
fn values_of_every_kind() {
    let device = Device::cpu();
    let strings = RaggedTensor::<Str>::from_row_lengths(vec![b"a".to_vec(), b"\xff".to_vec()], [1u32, 1], &device);
    assert_eq!(strings.expect("strings").to_string(), r"<ragged.RaggedTensor [[b'a'], [b'\xff']]>");
    let x = ragged![["it's"], [], ["a", "b"]].expect("a literal");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[b\"it's\"], [], [b'a', b'b']]>");
    let x = RaggedTensor::from_nested(vec![vec![1.0f32, 0.1], vec![f32::NAN]], &device).expect("floats");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1.0, 0.1], [nan]]>");
    let x = RaggedTensor::from_nested([vec![true], vec![false]], &device).expect("bools");
    assert_eq!(x.to_string(), "<ragged.RaggedTensor [[True], [False]]>");
    let x = RaggedTensor::from_nested([[true], [false]], &device).expect("bools");
    assert_eq!(x.to_string(), "tensor([[True], [False]], shape=(2, 1), dtype=bool)");
    let long = RaggedTensor::from_row_lengths((0..2000).collect::<Vec<i32>>(), [1, 1999], &device).expect("long");
    assert_eq!(long.to_string(), "<ragged.RaggedTensor [[0], [1, 2, 3, ..., 1997, 1998, 1999]]>");
    let rows: Vec<Vec<Vec<u8>>> = ragged![["x"], []].expect("a literal").to_nested_vec().expect("a read");
    assert_eq!(rows, [vec![b"x".to_vec()], vec![]]);
    let none = RaggedTensor::<i32>::from_nested(Vec::<Vec<Vec<i32>>>::new(), &device).expect("no rows");
    assert_eq!(none.shape(), [Some(0), None, None]);
    let scalar = RaggedTensor::from_nested(5, &device).expect("a scalar");
    assert_eq!(scalar.to_string(), "tensor(5, shape=(), dtype=i32)");
}

#[test]
fn invalid_constants_are_errors() {
    let refuse = |value: ragged::Nested, dtype: Option<DType>| {
        let options = ConstantOptions::default().dtype(dtype);
        Tensor::constant(&value, &options, &Device::cpu()).expect_err("refused").to_string()
    };
    use ragged::Nested::{Bool, Int, List};
    assert!(refuse(List(vec![List(vec![Int(1)]), Int(2)]), None).contains("depth"));
    assert!(refuse(List(vec![Bool(true), Int(2)]), None).contains("mixed"));
    assert!(refuse(vec![1.5f64].into(), Some(DType::I32)).contains("no i32"));
    assert!(refuse(vec![300].into(), Some(DType::U8)).contains("no u8"));
    assert!(refuse(vec![1i64 << 40].into(), Some(DType::I32)).contains("no i32"));
}

/// As `tf.ragged.constant` of lists without scalars.
#[test]
fn nothing_has_the_inner_shape_that_is_given() {
    let device = Device::cpu();
    let lists = |text: &str| -> ragged::Nested {
        match text {
            "[]" => ragged::Nested::List(vec![]),
            "[[]]" => ragged::Nested::List(vec![ragged::Nested::List(vec![])]),
            _ => ragged::Nested::List(vec![ragged::Nested::List(vec![]), ragged::Nested::List(vec![])]),
        }
    };
    for (value, ragged_rank, inner, want) in [
        ("[]", Some(1), vec![2], "(0, None, 2)"),
        ("[]", Some(2), vec![2, 3], "(0, None, None, 2, 3)"),
        ("[]", None, vec![0, 3], "(0, 3)"),
        ("[]", Some(0), vec![0, 3], "(0, 3)"),
        ("[]", None, vec![4, 0], "(4, 0)"),
        ("[[]]", Some(1), vec![3], "(1, None, 3)"),
        ("[[]]", Some(0), vec![0, 3], "(0, 3)"),
        ("[[], []]", Some(1), vec![2], "(2, None, 2)"),
        ("[[], []]", None, vec![2, 0], "(2, 0)"),
    ] {
        let options = ConstantOptions::default()
            .ragged_rank(ragged_rank)
            .inner_shape(Some(inner.clone()))
            .dtype(Some(DType::I32));
        let x = Tensor::constant(&lists(value), &options, &device).unwrap_or_else(|e| panic!("{value} {inner:?}: {e}"));
        let shape: Vec<String> = x.shape().iter().map(|n| n.map_or("None".into(), |n: usize| n.to_string())).collect();
        assert_eq!(format!("({})", shape.join(", ")), want, "{value} with {ragged_rank:?} and {inner:?}");
        assert_eq!(x.to_host().expect("a read").values.len(), 0);
    }
    for (value, ragged_rank, inner) in [("[]", None, vec![2, 3]), ("[]", Some(0), vec![1]), ("[[]]", Some(0), vec![2])]
    {
        let options = ConstantOptions::default().ragged_rank(ragged_rank).inner_shape(Some(inner.clone()));
        assert!(Tensor::constant(&lists(value), &options, &device).is_err(), "{value} as {inner:?}");
    }
}

/// Arrays of the crate ndarray are lists, in any memory order; their dimensions after the first are uniform.
#[cfg(feature = "ndarray")]
#[test]
fn rows_that_are_arrays() {
    use ndarray::{Array1, Array2, Array3, array, s};
    for (name, device) in crate::common::devices() {
        let rows = vec![array![1.5f32, 2.5], Array1::zeros(0), array![3.5]];
        let x = RaggedTensor::from_nested(&rows, &device).expect("rows");
        assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1.5, 2.5], [], [3.5]]>", "{name}");
        let reversed: Vec<_> = rows.iter().map(|row| row.slice(s![..;-1])).collect();
        let x = RaggedTensor::from_nested(&reversed, &device).expect("views");
        assert_eq!(x.to_string(), "<ragged.RaggedTensor [[2.5, 1.5], [], [3.5]]>", "{name}");
        let points = vec![array![[1, 2, 3], [4, 5, 6]], Array2::zeros((0, 3)), array![[7, 8, 9]]];
        let x = RaggedTensor::from_nested(&points, &device).expect("points");
        assert_eq!(x.shape(), [Some(3), None, Some(3)], "{name}");
        assert_eq!(x.to_nested().expect("read").to_string(), "[[[1, 2, 3], [4, 5, 6]], [], [[7, 8, 9]]]", "{name}");
        let turned: Vec<_> = points[..1].iter().map(|points| points.t()).collect();
        let x = RaggedTensor::from_nested(turned, &device).expect("turned");
        assert_eq!(x.to_nested().expect("read").to_string(), "[[[1, 4], [2, 5], [3, 6]]]", "{name}");
        let documents = vec![vec![points[0].clone()], vec![], vec![points[2].clone(), points[1].clone()]];
        let x = RaggedTensor::from_nested(&documents, &device).expect("documents");
        assert_eq!(x.shape(), [Some(3), None, None, Some(3)], "{name}");
        assert_eq!(
            x.to_nested().expect("read").to_string(),
            "[[[[1, 2, 3], [4, 5, 6]]], [], [[[7, 8, 9]], []]]",
            "{name}"
        );
        let images = [Array3::<u8>::ones((1, 2, 2)), Array3::zeros((2, 2, 2))];
        let x = RaggedTensor::from_nested(&images, &device).expect("images");
        assert_eq!(x.shape(), [Some(2), None, Some(2), Some(2)], "{name}");
        let whole = RaggedTensor::from_nested(points[0].view(), &device).expect("a matrix");
        assert_eq!(whole.to_string(), "tensor([[1, 2, 3], [4, 5, 6]], shape=(2, 3), dtype=i32)", "{name}");
        let none = RaggedTensor::<i32>::from_nested(Vec::<Array2<i32>>::new(), &device).expect("none");
        assert_eq!(none.shape(), [Some(0), None, Some(0)], "{name}");
        let uneven = [array![[1, 2]], array![[1, 2, 3]]];
        let error = RaggedTensor::from_nested(&uneven, &device).expect_err("uneven").to_string();
        assert!(
            error.starts_with("from_nested: elements of arrays must have one shape, but some have [2] and some [3]")
        );
    }
}
