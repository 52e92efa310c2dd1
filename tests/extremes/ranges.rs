//! Ranges whose bounds lie at the ends of their dtype.

use ragged::{Device, Error, RaggedTensor, Tensor};

use crate::everywhere::values;

fn range_of<T: ragged::Number + ragged::Element<Host = T>>(start: T, limit: T, delta: T) -> Vec<T> {
    values::<T>(|d| {
        let start = RaggedTensor::<T>::from_nested(vec![start], d)?;
        let limit = RaggedTensor::<T>::from_nested(vec![limit], d)?;
        let delta = RaggedTensor::<T>::from_nested(vec![delta], d)?;
        Tensor::ranges(&start, &limit, &delta)?.flat_values()
    })
}

#[test]
fn ranges_of_integers_at_the_ends() {
    let (least, most) = (i64::MIN, i64::MAX);
    assert_eq!(range_of(least, most, 1 << 62), [least, -(1 << 62), 0, 1 << 62]);
    assert_eq!(range_of(most, least, least), [most, -1]);
    assert_eq!(range_of(most, least, -(1 << 62)), [most, (1 << 62) - 1, -1, -(1 << 62) - 1]);
    assert_eq!(range_of(most - 2, most, 1), [most - 2, most - 1]);
    assert_eq!(range_of(least, least + 2, most), [least]);
    assert_eq!(range_of(least + 2, least, -1), [least + 2, least + 1]);
    assert_eq!(range_of(i32::MIN, i32::MAX, 1 << 30), [i32::MIN, -(1 << 30), 0, 1 << 30]);
    assert_eq!(range_of(i32::MAX, i32::MIN, i32::MIN), [i32::MAX, -1]);
    assert_eq!(range_of(0u32, u32::MAX, 1 << 31), [0, 1 << 31]);
    assert_eq!(range_of(u32::MAX - 1, u32::MAX, 1), [u32::MAX - 1]);
}

#[test]
fn ranges_of_floats_wider_than_the_greatest_float() {
    let found = range_of(-3e38f32, 3e38, 1e38);
    assert_eq!(found.len(), 6, "{found:?}");
    assert_eq!((found[0], found[3]), (-3e38, 0.0));
    assert!(found.iter().zip(-3..).all(|(x, k)| (x - k as f32 * 1e38).abs() < 1e32), "{found:?}");
    let found = range_of(3e38f32, -3e38, -1.5e38);
    assert_eq!(found[..3], [3e38, 1.5e38, 0.0]);
    assert_eq!(found[3..], [2.0 * (1.5e38f32 + 3.0 * -0.75e38)]);
    assert_eq!(range_of(-1.5e308, 1.5e308, 1e308), [-1.5e308, -5e307, 5e307]);
    assert_eq!(range_of(f64::MIN, f64::MAX, f64::MAX), [f64::MIN, 0.0]);
    assert_eq!(range_of(f32::MAX, f32::MIN, f32::MIN), [f32::MAX, 0.0]);
    // A row of an ordinary width beside it.
    let both = values::<f32>(|d| {
        let start = RaggedTensor::<f32>::from_nested(vec![-3e38, 0.0], d)?;
        let limit = RaggedTensor::<f32>::from_nested(vec![3e38, 2.5], d)?;
        let delta = RaggedTensor::<f32>::from_nested(vec![3e38, 1.0], d)?;
        Tensor::ranges(&start, &limit, &delta)?.flat_values()
    });
    assert_eq!(both, [-3e38, 0.0, 0.0, 1.0, 2.0]);
}

#[test]
fn too_many_numbers_are_an_error() {
    let device = Device::cpu();
    let of = |start: f32, limit: f32, delta: f32| {
        let start = RaggedTensor::<f32>::from_nested(vec![start], &device).expect("valid");
        Tensor::ranges(&start, limit, delta).and_then(|t| t.to_host()).map(drop)
    };
    for (start, limit, delta) in [
        (0.0, f32::INFINITY, 1.0),
        (f32::NEG_INFINITY, 0.0, 1.0),
        (f32::NAN, 1.0, 1.0),
        (-3e38, 3e38, 1.0),
        (0.0, 1e38, 1e-30),
    ] {
        assert!(matches!(of(start, limit, delta), Err(Error::Check { .. })), "{start} {limit} {delta}");
    }
    let wide = RaggedTensor::<i64>::from_nested(vec![i64::MIN], &device).expect("valid");
    assert!(Tensor::ranges(&wide, i64::MAX, 1i64).and_then(|t| t.to_host()).is_err());
}
