//! The examples of TensorFlow's page on sparse operations (as of 2016), in its order.
//!
//! The page prints the tensors of its explanations, not those of its code; results without a printed form are the
//! conformance cases of the same name. Where the page errs, TensorFlow's behaviour counts: entries are not sorted by
//! construction, `fill_empty_rows` sorts by row only, and the coordinates `[4, 1]` of the first examples lie outside of
//! the shape `[3, 4]`.

use ragged::{DType, Device, Error, RaggedTensor, Result, SparseTensor, Tensor};

use crate::each_device;

/// Compares the entries with those that the page lists: `[0, 1]: a`.
#[track_caller]
fn lists(x: &SparseTensor, indices: &str, values: &str, shape: &[u64]) {
    let inside = |t: &Tensor| {
        let text = t.to_string();
        text.trim_start_matches("tensor(").rsplit_once(", shape=").map_or(text.clone(), |(list, _)| list.to_owned())
    };
    assert_eq!((inside(x.indices()).as_str(), inside(x.values()).as_str(), x.dense_shape()), (indices, values, shape));
}

/// The printed form of a dense tensor.
#[track_caller]
fn is(t: &Tensor, printed: &str) {
    assert_eq!(t.to_string(), printed);
}

fn a_b_c(device: &Device) -> Result<SparseTensor> {
    SparseTensor::from_entries(&[[0, 1], [0, 3], [2, 0]], ["a", "b", "c"], [3, 5], device)
}
fn one_two_three(device: &Device) -> Result<SparseTensor> {
    SparseTensor::from_entries(&[[0, 1], [0, 3], [2, 0]], [1, 2, 3], [3, 5], device)
}

fn sparse_tensor(device: &Device) -> Result<()> {
    let x = SparseTensor::from_entries(&[[0, 0], [1, 2]], [1, 2], [3, 4], device)?;
    is(&x.to_dense(0)?, "tensor([[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0]], shape=(3, 4), dtype=i32)");

    // `SparseTensor(indices=[[4, 1], [1, 2]], values=[1, 2], shape=[3, 4])`: outside of its shape.
    let list = [[4, 1], [1, 2]];
    assert!(matches!(SparseTensor::from_entries(&list, [1, 2], [3, 4], device), Err(Error::Argument { .. })));
    let indices = RaggedTensor::from_nested([[4i64, 1], [1, 2]], device)?;
    let values = RaggedTensor::from_nested([1, 2], device)?;
    let x = SparseTensor::new(&indices, &values, &[3, 4])?;
    is(x.indices(), "tensor([[4, 1], [1, 2]], shape=(2, 2), dtype=i64)");
    is(x.values(), "tensor([1, 2], shape=(2,), dtype=i32)");
    assert_eq!(x.dtype(), DType::I32);
    assert_eq!(x.dense_shape(), [3, 4]);
    let dense = x.to_dense(0)?.to_host();
    assert!(matches!(dense, Err(Error::Check { op: "SparseTensor::new", at: 0, .. })), "{dense:?}");
    // `SparseTensorValue` holds the same three parts.
    let text = x.to_string();
    assert!(text.starts_with("SparseTensor(indices=") && text.ends_with("dense_shape=[3, 4])"), "{text}");
    Ok(())
}

fn sparse_to_dense(device: &Device) -> Result<()> {
    let indices = RaggedTensor::from_nested([[1i64, 2], [2, 1]], device)?.into_erased();
    let values = RaggedTensor::from_nested([2, 3], device)?;
    is(
        &indices.sparse_to_dense(&[3, 3], &values, 1)?,
        "tensor([[1, 1, 1], [1, 1, 2], [1, 3, 1]], shape=(3, 3), dtype=i32)",
    );
    Ok(())
}

fn sparse_tensor_to_dense(device: &Device) -> Result<()> {
    is(
        &a_b_c(device)?.to_dense("x")?,
        "tensor([[b'x', b'a', b'x', b'b', b'x'], [b'x', b'x', b'x', b'x', b'x'], [b'c', b'x', b'x', b'x', b'x']], \
         shape=(3, 5), dtype=str)",
    );
    is(
        &one_two_three(device)?.to_dense(11)?,
        "tensor([[11, 1, 11, 2, 11], [11, 11, 11, 11, 11], [3, 11, 11, 11, 11]], shape=(3, 5), dtype=i32)",
    );
    Ok(())
}

fn sparse_to_indicator(device: &Device) -> Result<()> {
    let coordinates = [[0, 0, 0], [0, 1, 0], [1, 0, 3], [1, 1, 2], [1, 1, 3], [1, 2, 1]];
    let x = SparseTensor::from_entries(&coordinates, [0, 10, 103, 112, 113, 121], [2, 3, 4], device)?;
    let indicator = x.to_indicator(200)?;
    assert_eq!(indicator.shape(), [Some(2), Some(3), Some(200)]);
    lists(
        &SparseTensor::from_dense(&indicator)?,
        "[[0, 0, 0], [0, 1, 10], [1, 0, 103], [1, 1, 112], [1, 1, 113], [1, 2, 121]]",
        "[True, True, True, True, True, True]",
        &[2, 3, 200],
    );
    let indicator = SparseTensor::from_dense(&one_two_three(device)?.to_indicator(10)?)?;
    lists(&indicator, "[[0, 1], [0, 2], [2, 3]]", "[True, True, True]", &[3, 10]);
    Ok(())
}

fn sparse_concat(device: &Device) -> Result<()> {
    let x = SparseTensor::from_entries(&[[0, 2], [1, 0], [1, 1]], ["a", "b", "c"], [2, 3], device)?;
    let y = SparseTensor::from_entries(&[[0, 1], [0, 2]], ["d", "e"], [2, 4], device)?;
    lists(
        &SparseTensor::concat(&[&x, &y], 1)?,
        "[[0, 2], [0, 4], [0, 5], [1, 0], [1, 1]]",
        "[b'a', b'd', b'e', b'b', b'c']",
        &[2, 7],
    );

    let more = SparseTensor::from_entries(&[[1, 1], [1, 3], [2, 1]], [11, 12, 13], [3, 5], device)?;
    let joined = SparseTensor::concat(&[&one_two_three(device)?, &more], 0)?;
    lists(&joined, "[[0, 1], [0, 3], [2, 0], [4, 1], [4, 3], [5, 1]]", "[1, 2, 3, 11, 12, 13]", &[6, 5]);
    is(
        &joined.to_dense(0)?,
        "tensor([[0, 1, 0, 2, 0], [0, 0, 0, 0, 0], [3, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 11, 0, 12, 0], \
         [0, 13, 0, 0, 0]], shape=(6, 5), dtype=i32)",
    );
    Ok(())
}

fn sparse_reorder(device: &Device) -> Result<()> {
    let coordinates = [[0, 3], [0, 1], [3, 1], [2, 0]];
    let x = SparseTensor::from_entries(&coordinates, ["b", "a", "d", "c"], [4, 5], device)?;
    lists(&x.reorder()?, "[[0, 1], [0, 3], [2, 0], [3, 1]]", "[b'a', b'b', b'c', b'd']", &[4, 5]);
    let x = SparseTensor::from_entries(&[[2, 1], [0, 3], [2, 0]], [1, 2, 3], [3, 5], device)?;
    lists(&x.reorder()?, "[[0, 3], [2, 0], [2, 1]]", "[2, 3, 1]", &[3, 5]);
    Ok(())
}

fn sparse_retain(device: &Device) -> Result<()> {
    let coordinates = [[0, 1], [0, 3], [2, 0], [3, 1]];
    let x = SparseTensor::from_entries(&coordinates, ["a", "b", "c", "d"], [4, 5], device)?;
    let kept = x.retain(&RaggedTensor::from_nested([true, false, false, true], device)?)?;
    lists(&kept, "[[0, 1], [3, 1]]", "[b'a', b'd']", &[4, 5]);
    let x = SparseTensor::from_entries(&[[2, 1], [0, 3], [2, 0]], [1, 2, 3], [3, 5], device)?;
    let kept = x.retain(&RaggedTensor::from_nested([false, false, true], device)?)?;
    lists(&kept, "[[2, 0]]", "[3]", &[3, 5]);
    Ok(())
}

fn sparse_fill_empty_rows(device: &Device) -> Result<()> {
    let coordinates = [[0, 1], [0, 3], [2, 0], [3, 1]];
    let x = SparseTensor::from_entries(&coordinates, ["a", "b", "c", "d"], [5, 6], device)?;
    let (filled, empty) = x.fill_empty_rows("default_value")?;
    lists(
        &filled,
        "[[0, 1], [0, 3], [1, 0], [2, 0], [3, 1], [4, 0]]",
        "[b'a', b'b', b'default_value', b'c', b'd', b'default_value']",
        &[5, 6],
    );
    is(&empty, "tensor([False, True, False, False, True], shape=(5,), dtype=bool)");

    // The entries of row 2 keep their order, which the page calls sorted.
    let x = SparseTensor::from_entries(&[[2, 1], [0, 3], [2, 0]], [1, 2, 3], [6, 5], device)?;
    let (filled, empty) = x.fill_empty_rows(10)?;
    let indices = "[[0, 3], [1, 0], [2, 1], [2, 0], [3, 0], [4, 0], [5, 0]]";
    lists(&filled, indices, "[2, 10, 1, 3, 10, 10, 10]", &[6, 5]);
    is(&empty, "tensor([False, True, False, True, True, True], shape=(6,), dtype=bool)");
    Ok(())
}

type Section = fn(&Device) -> Result<()>;

#[test]
fn examples_in_order() {
    let sections: [(&str, Section); 8] = [
        ("SparseTensor", sparse_tensor),
        ("sparse_to_dense", sparse_to_dense),
        ("sparse_tensor_to_dense", sparse_tensor_to_dense),
        ("sparse_to_indicator", sparse_to_indicator),
        ("sparse_concat", sparse_concat),
        ("sparse_reorder", sparse_reorder),
        ("sparse_retain", sparse_retain),
        ("sparse_fill_empty_rows", sparse_fill_empty_rows),
    ];
    for (name, device) in each_device() {
        for (title, section) in sections {
            section(device).unwrap_or_else(|e| panic!("{title} on {name}: {e}"));
        }
    }
}
