//! Bad input of gradients: errors name the call and what is required; a loss that is NaN is a value like any other.

use ragged::{
    CpuOptions, Device, Gradient, RaggedTensor, Result, SparseTensor, Tensor, grad, s, sparse_value_and_grad,
    value_and_grad,
};

use crate::common::devices;

fn of(device: &Device) -> Tensor {
    RaggedTensor::from_nested([vec![1.0f32, -2.0], vec![]], device).unwrap().into_erased()
}

/// The text of the error.
#[track_caller]
fn text<T>(result: Result<T>) -> String {
    result.map(|_| ()).expect_err("an error").to_string()
}

#[test]
fn inputs_hold_floats() {
    let x = of(&Device::cpu());
    let integers = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu()).unwrap().into_erased();
    let error = text(value_and_grad(|x| x[0].multiply(2.0)?.reduce_sum(..), [&x, &integers]));
    let want = "value_and_grad is not defined for i32: input 1 does not hold floats, which alone have derivatives";
    assert!(error.starts_with(want), "{error}");
    for other in [x.less(1.0).unwrap(), x.as_string().unwrap()] {
        let error = text(grad(|x| x[0].cast(ragged::DType::F32)?.reduce_sum(..), [&other]));
        let want = format!("grad is not defined for {}: input 0 does not hold floats", other.dtype());
        assert!(error.starts_with(&want), "{error}");
    }
}

#[test]
fn the_loss_is_one_float() {
    let x = of(&Device::cpu());
    let no_scalar = text(grad(|x| x[0].reduce_sum(1), [&x]));
    let want = "grad: the result of the function is f32 of shape [2], not one float; reduce it, for example by `reduce_sum(..)`";
    assert!(no_scalar.starts_with(want), "{no_scalar}");
    let one_element = text(grad(|x| x[0].reduce_sum(..)?.reshape([1]), [&x]));
    assert!(
        one_element.starts_with("grad: the result of the function is f32 of shape [1], not one float"),
        "{one_element}"
    );
    let no_float = text(grad(|x| x[0].count_nonzero(..), [&x]));
    assert!(no_float.starts_with("grad: the result of the function is i64 of shape [], not one float"), "{no_float}");
    let text_result = text(grad(|x| x[0].reduce_sum(..)?.as_string(), [&x]));
    assert!(
        text_result.starts_with("grad: the result of the function is str of shape [], not one float"),
        "{text_result}"
    );
    // The error of the function is that of the call.
    let own = text(grad(|x| x[0].reduce_sum(7)?.reduce_sum(..), [&x]));
    assert!(own.starts_with("reduce_sum: axis 7"), "{own}");
}

#[test]
fn gradients_are_those_of_one_shape() {
    for (name, device) in devices() {
        let table = RaggedTensor::from_nested(vec![[0.5f32, 1.0]; 1000], &device).unwrap();
        let (half, ids) = (table.slice(s![..500]).unwrap(), RaggedTensor::from_nested([999], &device).unwrap());
        let (_, found) = sparse_value_and_grad(|x| x[0].gather(&ids)?.reduce_sum(..), [&table]).unwrap();
        let Gradient::Rows(rows) = &found[0] else { panic!("{name}: one look-up") };
        let want = "the gradient is that of a table of 1000 rows, but this one has 500";
        let errors = [text(found[0].to_dense(&half)), text(rows.update(&half, rows.rows()))];
        for (error, op) in errors.iter().zip(["Gradient::to_dense", "RowsGradient::update"]) {
            assert!(error.starts_with(&format!("{op}: {want}")), "{name}: {error}");
        }
        // A size that only the device knows.
        let some = table.boolean_mask(&table.slice(s![.., 0]).unwrap().greater(0.75).unwrap()).unwrap();
        let late = text(found[0].to_dense(&some).and_then(|dense| dense.to_host()));
        assert!(late.contains("the gradient is that of a table of another number of rows"), "{name}: {late}");
        let (_, found) = sparse_value_and_grad(|x| x[0].square()?.reduce_sum(..), [&table]).unwrap();
        assert!(text(found[0].to_dense(&half)).starts_with("Gradient::to_dense: "), "{name}");
        let doubles = table.cast::<f64>().unwrap();
        assert!(text(found[0].to_dense(&doubles)).starts_with("Gradient::to_dense: "), "{name}");
        assert_eq!(found[0].to_dense(&table).unwrap().shape(), table.shape(), "{name}");
    }
}

#[test]
fn a_loss_that_is_nan_is_reported() {
    for (name, device) in devices() {
        let x = of(&device);
        let (value, g) = value_and_grad(|x| x[0].log()?.reduce_sum(..), [&x]).unwrap();
        assert_eq!(value.to_string(), "tensor(nan, shape=(), dtype=f32)", "{name}");
        assert_eq!(g[0].to_string(), "<ragged.RaggedTensor [[1.0, -0.5], []]>", "{name}");
        let (value, g) = value_and_grad(|x| x[0].log()?.reduce_sum(..)?.exp(), [&x]).unwrap();
        assert_eq!(value.to_string(), "tensor(nan, shape=(), dtype=f32)", "{name}");
        assert_eq!(g[0].to_string(), "<ragged.RaggedTensor [[nan, nan], []]>", "{name}");
        let (value, _) = value_and_grad(|x| x[0].multiply(0.0)?.reduce_sum(..)?.reciprocal(), [&x]).unwrap();
        assert_eq!(value.to_string(), "tensor(inf, shape=(), dtype=f32)", "{name}");
    }
}

#[test]
fn tensors_are_of_one_device() {
    let (here, there) = (Device::cpu(), Device::cpu_with(&CpuOptions::default().max_memory(1 << 20)));
    let (x, y) = (of(&here), of(&there));
    let both = text(grad(|x| x[0].add(&x[1])?.reduce_sum(..), [&x, &y]));
    assert!(both.starts_with("add: ") && both.contains("device"), "{both}");
    let copied = text(grad(|x| x[0].add(&x[1].to_device(&x[0].device())?)?.reduce_sum(..), [&x, &y]));
    let want = "to_device is not defined for f32: a copy to another device has no gradient";
    assert!(copied.starts_with(want), "{copied}");
    // Inputs that the loss does not depend on may be anywhere, and their gradients of zeros are there.
    let g = grad(|x| x[0].reduce_sum(..), [&x, &y]).unwrap();
    assert_eq!(g[1].to_string(), "<ragged.RaggedTensor [[0.0, 0.0], []]>");
    assert_eq!(g[1].device(), there);
    // A copy of what is not differentiated.
    let g = grad(|x| x[0].multiply(&y.to_device(&x[0].device())?)?.reduce_sum(..), [&x]).unwrap();
    assert_eq!(g[0].to_string(), x.to_string());
    let sparse = |x: &Tensor| {
        let at = RaggedTensor::from_nested([[0i64], [1]], &x.device())?;
        SparseTensor::new(&at, &x.flat_values()?, &[2])?.to_device(&there)?.reduce_sum(..)
    };
    let moved = text(grad(|x| sparse(&x[0]), [&x]));
    assert!(moved.contains("a copy to another device has no gradient"), "{moved}");
}
