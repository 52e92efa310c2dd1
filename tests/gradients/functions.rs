//! Gradients of functions of the user, of copies to narrower floats, and of what has no derivative.

use ragged::{DType, Device, ElementFunction, RaggedTensor, Result, Tensor, grad, value_and_grad};

use crate::common::devices;

/// `x * x * y`, with its derivatives.
fn cubic() -> ElementFunction<fn(f32, f32) -> f32> {
    let text = "fn cubic(x: f32, y: f32) -> f32 { return x * x * y; }";
    ElementFunction::new("cubic", text, |x: f32, y: f32| x * x * y)
        .and_then(|f| f.with_derivative(0, |x| x[0].multiply(&x[1])?.multiply(2.0f32)))
        .and_then(|f| f.with_derivative(1, |x| x[0].square()))
        .expect("a function")
}

/// `x * x`, whose derivative is a call of another function with a derivative.
fn square() -> ElementFunction<fn(f32) -> f32> {
    let twice = ElementFunction::new("twice", "fn twice(x: f32) -> f32 { return x + x; }", |x: f32| x + x)
        .and_then(|f| f.with_derivative(0, |x| x[0].ones_like()?.multiply(2.0f32)))
        .expect("a function");
    ElementFunction::new("square", "fn square(x: f32) -> f32 { return x * x; }", |x: f32| x * x)
        .and_then(|f| f.with_derivative(0, move |x| x[0].map_elements(&twice)))
        .expect("a function")
}

fn of_rows(device: &Device) -> Tensor {
    RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], device).unwrap().into_erased()
}

#[test]
fn derivatives_of_the_user() {
    for (name, device) in devices() {
        let x = of_rows(&device);
        let typed = |x: &Tensor| RaggedTensor::<f32>::try_from(x.clone());
        let f = cubic();
        let by_both = grad(|x| f.call(&typed(&x[0])?, &typed(&x[1])?)?.reduce_sum(..), [&x, &x]).unwrap();
        assert_eq!(by_both[0].to_string(), "<ragged.RaggedTensor [[2.0, 8.0], [], [18.0]]>", "{name}");
        assert_eq!(by_both[1].to_string(), "<ragged.RaggedTensor [[1.0, 4.0], [], [9.0]]>", "{name}");
        // A number that broadcasts, and a constant.
        let scalar = RaggedTensor::from_nested(5.0f32, &device).unwrap();
        let by_scalar = grad(|y| f.call(&typed(&x)?, &typed(&y[0])?)?.reduce_sum(..), &scalar).unwrap();
        assert_eq!(by_scalar[0].to_string(), "tensor(14.0, shape=(), dtype=f32)", "{name}");
        let by_x = grad(|x| f.call(&typed(&x[0])?, 5.0)?.reduce_sum(..), [&x]).unwrap();
        assert_eq!(by_x[0].to_string(), "<ragged.RaggedTensor [[10.0, 20.0], [], [30.0]]>", "{name}");
        // Behind a choice, a reduction and a slice.
        let far = |x: &Tensor| -> Result<Tensor> {
            let y = f.call(&typed(x)?, 1.0)?.into_erased().slice(ragged::s![.., ..1])?;
            x.slice(ragged::s![.., ..1])?.less(2.0)?.select(&y, 0.0)?.reduce_max(1)?.maximum(-100.0)?.reduce_sum(..)
        };
        assert_eq!(grad(|x| far(&x[0]), [&x]).unwrap()[0].to_string(), "<ragged.RaggedTensor [[2.0, 0.0], [], [0.0]]>");
    }
}

#[test]
fn derivatives_of_derivatives_of_the_user() {
    let f = square();
    for (name, device) in devices() {
        let x = of_rows(&device);
        let slope = |x: &Tensor| grad(|x| x[0].map_elements(&f)?.reduce_sum(..), [x])?[0].square()?.reduce_sum(..);
        let (value, second) = value_and_grad(|x| slope(&x[0]), [&x]).unwrap();
        assert_eq!(value.to_string(), "tensor(56.0, shape=(), dtype=f32)", "{name}");
        assert_eq!(second[0].to_string(), "<ragged.RaggedTensor [[8.0, 16.0], [], [24.0]]>", "{name}");
        // The same on typed tensors and rows.
        let typed = RaggedTensor::<f32>::try_from(x.clone()).unwrap();
        let of_typed = |x: &Tensor| RaggedTensor::<f32>::try_from(x.clone())?.map_elements(&f)?.reduce_sum(..);
        assert_eq!(
            grad(|x| of_typed(&x[0]), &typed).unwrap()[0].to_string(),
            "<ragged.RaggedTensor [[2.0, 4.0], [], [6.0]]>"
        );
        let of_rows = |x: &Tensor| -> Result<Tensor> {
            let sums: Tensor = x.map_rows(|row| row.map_elements(&f)?.reduce_sum(..))?;
            sums.reduce_sum(..)
        };
        assert_eq!(
            grad(|x| of_rows(&x[0]), [&x]).unwrap()[0].to_string(),
            "<ragged.RaggedTensor [[2.0, 4.0], [], [6.0]]>"
        );
    }
}

#[test]
fn derivatives_belong_to_the_function_that_has_them() {
    // Calls without a derivative that were recorded before do not stand in for calls with one.
    let text = "fn half(x: f32) -> f32 { return 0.5 * x; }";
    let plain = ElementFunction::new("half", text, |x: f32| 0.5 * x).unwrap();
    let own = plain.clone().with_derivative(0, |x| x[0].ones_like()?.multiply(0.5f32)).unwrap();
    let wrong = own.clone().with_derivative(0, |x| x[0].ones_like()?.multiply(7.0f32)).unwrap();
    let x = of_rows(&Device::cpu());
    let both =
        |x: &[Tensor]| x[0].map_elements(&plain)?.stop_gradient()?.add(&x[0].map_elements(&own)?)?.reduce_sum(..);
    assert_eq!(grad(both, [&x]).unwrap()[0].to_string(), "<ragged.RaggedTensor [[0.5, 0.5], [], [0.5]]>");
    let of_wrong = grad(|x| x[0].map_elements(&wrong)?.reduce_sum(..), [&x]).unwrap();
    assert_eq!(of_wrong[0].to_string(), "<ragged.RaggedTensor [[7.0, 7.0], [], [7.0]]>");
}

#[test]
fn functions_without_a_derivative_are_named() {
    let plain =
        ElementFunction::new("plain", "fn plain(x: f32, y: f32) -> f32 { return x - y; }", |x: f32, y: f32| x - y);
    let plain = plain.and_then(|f| f.with_derivative(0, |x| x[0].ones_like())).unwrap();
    let x = of_rows(&Device::cpu());
    let typed = |x: &Tensor| RaggedTensor::<f32>::try_from(x.clone());
    let text = |f: &ElementFunction<fn(f32, f32) -> f32>| {
        grad(|x| f.call(1.0, &typed(&x[0])?)?.reduce_sum(..), [&x]).map(|_| ()).unwrap_err().to_string()
    };
    let by_second = text(&plain);
    assert!(by_second.starts_with("grad: the function plain has no derivative by argument 1"), "{by_second}");
    let sums = plain.clone().with_derivative(1, |x| x[1].reduce_sum(..)).unwrap();
    let of_sums = text(&sums);
    assert!(of_sums.contains("the derivative of plain by argument 1 is a f32 of shape []"), "{of_sums}");
    let integers = plain.with_derivative(1, |x| x[1].cast(DType::I32)).unwrap();
    assert!(text(&integers).contains("is a i32"), "{}", text(&integers));
}

#[test]
fn casts_pass_gradients_between_floats() {
    for (name, device) in devices() {
        let x = of_rows(&device);
        for dtype in [DType::F16, DType::BF16, DType::F64] {
            if let Ok(narrow) = x.cast(dtype) {
                let g = grad(|x| x[0].cast(DType::F32)?.square()?.reduce_sum(..), [&narrow]).unwrap();
                assert_eq!(g[0].dtype(), dtype);
                let wide = g[0].cast(DType::F32).unwrap();
                assert_eq!(wide.to_string(), "<ragged.RaggedTensor [[2.0, 4.0], [], [6.0]]>", "{name} {dtype}");
            }
        }
        let whole = grad(|x| x[0].cast(DType::I32)?.cast(DType::F32)?.reduce_sum(..), [&x]).unwrap();
        assert_eq!(whole[0].to_string(), "<ragged.RaggedTensor [[0.0, 0.0], [], [0.0]]>", "{name}");
    }
}
