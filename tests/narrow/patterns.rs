//! Element-wise operations on every bit pattern of the 16-bit floats.

use ragged::{DType, Number, Result, Scalar, Seed, Tensor, bf16, f16};

use crate::common::fused_and_not as backends;
use crate::numbers::{Half, dense, every, read, same};

/// A number of a type that is generic here, as an operand.
fn number(v: impl Number) -> Scalar {
    v.into()
}

/// Unary and binary operations on every bit pattern of one float type.
fn all_patterns<T: Half>() {
    let x: Vec<T> = every();
    for (name, device) in backends() {
        let t = dense::<T>(&x, device);
        let says = |what: &str| format!("{what} of {} on {name}", T::DTYPE);
        let singles: Vec<f32> = read::<f32>(t.cast(DType::F32));
        for (one, wide) in x.iter().zip(&singles) {
            assert!(one.wide().to_bits() == wide.to_bits() || one.wide().is_nan() && wide.is_nan(), "{name} {one:?}");
        }
        same(&says("to f32 and back"), x.iter().copied(), read::<T>(t.cast(DType::F32).and_then(|t| t.cast(T::DTYPE))));
        // Stored in between, so that both roundings take place.
        same(&says("from f32"), x.iter().copied(), read::<T>(dense::<f32>(&singles, device).cast(T::DTYPE)));
        let rounded = |f: fn(f32) -> f32| x.iter().map(move |v| T::of(f(v.wide())));
        same(&says("negative"), rounded(|v| -v), read::<T>(t.negative()));
        same(&says("absolute value"), rounded(f32::abs), read::<T>(t.abs()));
        same(&says("x + x"), rounded(|v| v + v), read::<T>(t.add(&t)));
        same(&says("x - x"), rounded(|v| if v.is_finite() { 0.0 } else { f32::NAN }), read::<T>(t.subtract(&t)));
        same(&says("x * x"), rounded(|v| v * v), read::<T>(t.multiply(&t)));
        same(&says("x / 3"), rounded(|v| v / 3.0), read::<T>(t.truediv(number(T::of(3.0)))));
        same(&says("root"), rounded(f32::sqrt), read::<T>(t.sqrt()));
        same(&says("floor"), rounded(f32::floor), read::<T>(t.floor()));
        // Each operation rounds, fused or not.
        let twice = x.iter().map(|v| T::of(T::of(v.wide() * v.wide()).wide() + v.wide()));
        same(&says("x * x + x"), twice, read::<T>(t.multiply(&t).and_then(|p| p.add(&t))));
        let integers: Vec<i32> = x.iter().map(|v| v.wide() as i32).collect();
        assert_eq!(read::<i32>(t.cast(DType::I32)), integers, "{name}");
        let bytes: Vec<i8> = x.iter().map(|v| v.wide() as i8).collect();
        assert_eq!(read::<i8>(t.cast(DType::I8)), bytes, "{name}");
        let words: Vec<u16> = x.iter().map(|v| v.wide() as u16).collect();
        assert_eq!(read::<u16>(t.cast(DType::U16)), words, "{name}");
        let bits: Vec<u16> = (0..=u16::MAX).collect();
        assert_eq!(read::<u16>(t.bitcast(DType::U16)), bits, "{name}");
        let signed: Vec<i16> = bits.iter().map(|&b| b as i16).collect();
        assert_eq!(read::<i16>(t.bitcast(DType::I16)), signed, "{name}");
        same(&says("bits"), x.iter().copied(), read::<T>(dense::<i16>(&signed, device).bitcast(T::DTYPE)));
        assert_eq!(read::<bool>(t.is_nan()), x.iter().map(|v| v.wide().is_nan()).collect::<Vec<_>>(), "{name}");
        assert_eq!(read::<bool>(t.is_inf()), x.iter().map(|v| v.wide().is_infinite()).collect::<Vec<_>>(), "{name}");
        let truth: Vec<bool> = x.iter().map(|v| v.wide() != 0.0).collect();
        assert_eq!(read::<bool>(t.cast(DType::Bool)), truth, "{name}");
        let below: Vec<bool> = x.iter().map(|v| v.wide() < 0.75).collect();
        assert_eq!(read::<bool>(t.less(number(T::of(0.75)))), below, "{name}");
    }
}

#[test]
fn every_f16() {
    all_patterns::<f16>();
}

#[test]
fn every_bf16() {
    all_patterns::<bf16>();
}

#[test]
fn elementary_functions_are_those_of_f32_rounded() {
    for (name, device) in backends() {
        let x = every::<f16>();
        let t = dense::<f16>(&x, device);
        let wide = t.cast(DType::F32).expect("recorded");
        for f in [Tensor::exp, Tensor::log1p, Tensor::tanh, Tensor::sin, Tensor::rsqrt] {
            let want = read::<f32>(f(&wide)).into_iter().map(f16::from_f32);
            same(name, want, read::<f16>(f(&t)));
        }
        // Compositions round once too; some intermediate results overflow.
        let steps: [fn(&Tensor) -> Result<Tensor>; 7] = [
            Tensor::softsign,
            Tensor::selu,
            Tensor::silu,
            |x| x.gelu(),
            |x| x.gelu_tanh(),
            |x| x.leaky_relu(0.3),
            |x| x.dropout(0.999_99, Seed(5)),
        ];
        for (k, f) in steps.into_iter().enumerate() {
            let want = read::<f32>(f(&wide)).into_iter().map(f16::from_f32);
            same(&format!("{name}, function {k}"), want, read::<f16>(f(&t)));
        }
        let other = t.reverse(0).and_then(|y| y.divide_no_nan(&t)).expect("recorded");
        let wide_other = other.cast(DType::F32).expect("recorded");
        let pairs: [fn(&Tensor, &Tensor) -> Result<Tensor>; 4] = [
            |x, y| x.squared_difference(y),
            |x, y| x.xlogy(y),
            |x, y| x.xlog1py(y),
            |x, y| x.sigmoid_cross_entropy_with_logits(y),
        ];
        for (k, f) in pairs.into_iter().enumerate() {
            let want = read::<f32>(f(&wide, &wide_other)).into_iter().map(f16::from_f32);
            same(&format!("{name}, function {k} of two"), want, read::<f16>(f(&t, &other)));
        }
    }
}

#[test]
fn nextafter_of_narrow_floats() {
    fn check<T: Half>() {
        let top = T::of(f32::INFINITY).bits();
        let x: Vec<T> = (0..=top).map(T::of_bits).collect();
        for (name, device) in backends() {
            let t = dense::<T>(&x, device);
            let up = (0..=top).map(|b| T::of_bits((b + 1).min(top)));
            same(name, up, read::<T>(t.nextafter(number(T::of(f32::INFINITY)))));
            let down = (0..=top).map(|b| T::of_bits(if b == 0 { 0x8001 } else { b - 1 }));
            same(name, down, read::<T>(t.nextafter(number(T::of(f32::NEG_INFINITY)))));
        }
    }
    check::<f16>();
    check::<bf16>();
}
