//! Element functions: pairs of a WGSL and a Rust function, on every device.

#[path = "../common/mod.rs"]
mod common;
mod errors;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::naive;
use ragged::{
    DType, Device, DeviceOptions, Element, ElementFunction, Error, HostTensor, HostValues, RaggedTensor, Tensor,
};

type Unary<A, R> = ElementFunction<fn(A) -> R>;
type Binary<A, B, R> = ElementFunction<fn(A, B) -> R>;

/// One more than the square.
fn bump() -> Unary<f32, f32> {
    let text = "fn bump(x: f32) -> f32 {\n    let y = x * x;\n    return bitcast<f32>(bitcast<u32>(y) + 1u);\n}";
    ElementFunction::new("bump", text, bump_of).expect("valid")
}

fn bump_of(x: f32) -> f32 {
    f32::from_bits((x * x).to_bits().wrapping_add(1))
}

/// A function with a loop, a constant and a helper.
fn mix() -> Binary<u32, i32, u32> {
    let text = "
        const ROUNDS = 3; // of mixing
        fn turned(x: u32, by: u32) -> u32 { return (x << (by & 31u)) | (x >> ((32u - by) & 31u)); }
        fn mix(x: u32, y: i32) -> u32 {
            var h = x;
            for (var k = 0; k < ROUNDS; k++) { h = turned(h ^ bitcast<u32>(y), u32(k) + 5u) * 0x9e3779b1u; }
            return h;
        }";
    ElementFunction::new("mix", text, mix_of).expect("valid")
}

fn mix_of(x: u32, y: i32) -> u32 {
    (0..3).fold(x, |h, k| (h ^ y.cast_unsigned()).rotate_left(k + 5).wrapping_mul(0x9e37_79b1))
}

fn tensor<T: Element>(rows: &[Vec<T::Host>], device: &Device) -> RaggedTensor<T> {
    naive::host::<T>(rows).to_device(device).and_then(TryInto::try_into).expect("uploaded")
}

fn rows<T: Element>(t: ragged::Result<RaggedTensor<T>>) -> Vec<Vec<T::Host>> {
    naive::rows::<T>(&t.and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{e}")))
}

fn bits(rows: Vec<Vec<f32>>) -> Vec<Vec<u32>> {
    rows.into_iter().map(|row| row.into_iter().map(f32::to_bits).collect()).collect()
}

/// Rows of many lengths: empty ones, one giant one, and lengths around the edges of blocks and tiles.
fn skewed() -> Vec<Vec<f32>> {
    let lengths = [0, 3, 0, 1, 8191, 0, 8193, 100_000, 1, 255, 256, 257, 0, 1024, 2049, 0];
    let mut k = 0u32;
    let mut next = || {
        k += 1;
        (k.wrapping_mul(0x9e37_79b1) >> 8) as f32 / 65536.0 - 100.0
    };
    lengths.iter().map(|&n| (0..n).map(|_| next()).collect()).collect()
}

#[test]
fn elements_of_ragged_rows() {
    let all = skewed();
    let expected: Vec<Vec<f32>> = all.iter().map(|row| row.iter().map(|&x| bump_of(x)).collect()).collect();
    let bump = bump();
    for (name, device) in common::every_way() {
        let x = tensor::<f32>(&all, device);
        let got = rows(x.map_elements(&bump));
        assert_eq!(bits(got), bits(expected.clone()), "{name}");
        let got = x.erased().map_elements(&bump).and_then(TryInto::try_into);
        assert_eq!(bits(rows::<f32>(got)), bits(expected.clone()), "{name}: of a tensor of run-time dtype");
    }
}

#[test]
fn empty_tensors() {
    let bump = bump();
    for (name, device) in common::every_way() {
        assert_eq!(rows(tensor::<f32>(&[], device).map_elements(&bump)), Vec::<Vec<f32>>::new(), "{name}");
        assert_eq!(
            rows(tensor::<f32>(&[vec![], vec![]], device).map_elements(&bump)),
            vec![Vec::<f32>::new(); 2],
            "{name}"
        );
        let scalar = HostTensor::dense(&[], HostValues::F32(vec![3.0])).to_device(device).expect("uploaded");
        let got = scalar.map_elements(&bump).and_then(|t| t.to_host()).expect("read");
        assert_eq!(got, HostTensor::dense(&[], HostValues::F32(vec![bump_of(3.0)])), "{name}");
    }
}

#[test]
fn operands_broadcast() {
    let mix = mix();
    for (name, device) in common::every_way() {
        let x = tensor::<u32>(&[vec![1, 2, 3], vec![], vec![4]], device);
        let y = tensor::<i32>(&[vec![-1, 5, 9], vec![], vec![7]], device);
        let column: RaggedTensor<i32> = HostTensor::dense(&[3, 1], HostValues::I32(vec![-5, 6, 7]))
            .to_device(device)
            .and_then(TryInto::try_into)
            .expect("uploaded");
        let of = |y: [&[i32]; 3]| -> Vec<Vec<u32>> {
            let x: [&[u32]; 3] = [&[1, 2, 3], &[], &[4]];
            x.iter().zip(y).map(|(x, y)| x.iter().zip(y).map(|(&x, &y)| mix_of(x, y)).collect()).collect()
        };
        assert_eq!(rows(mix.call(&x, &y)), of([&[-1, 5, 9], &[], &[7]]), "{name}");
        assert_eq!(rows(mix.call(&x, &column)), of([&[-5; 3], &[], &[7]]), "{name}: a column");
        assert_eq!(rows(mix.call(&x, -3)), of([&[-3; 3], &[], &[-3]]), "{name}: a number");
        assert_eq!(rows(mix.call(&x, y.erased())), of([&[-1, 5, 9], &[], &[7]]), "{name}: a run-time dtype");
        let of_rows = mix.call(7, &column).and_then(|t| t.to_vec()).expect("read");
        assert_eq!(of_rows, [mix_of(7, -5), mix_of(7, 6), mix_of(7, 7)], "{name}: per row");
    }
}

#[test]
fn values_that_are_constant_in_rows_stay_so() {
    // A sum per row, then a function of it, then one of both at every element. Empty rows have no sum to be applied to.
    let seen_zero = Arc::new(AtomicU32::new(0));
    let seen = seen_zero.clone();
    let text = "fn half(x: i32) -> i32 { return x >> 1u; }";
    let half: Unary<i32, i32> = ElementFunction::new("half", text, move |x: i32| {
        seen.fetch_add(u32::from(x == 0), Ordering::Relaxed);
        x >> 1
    })
    .expect("valid");
    for (name, device) in common::every_way() {
        let x = tensor::<i32>(&[vec![], vec![5, 6], vec![], vec![7], vec![]], device);
        let column = tensor::<i32>(&[vec![0], vec![91], vec![0], vec![93], vec![0]], device);
        let spread =
            (&x.zeros_like().expect("recorded") + &column.reshape([5, 1]).expect("recorded")).expect("recorded");
        assert_eq!(rows(half.call(&spread)), [vec![], vec![45, 45], vec![], vec![46], vec![]], "{name}");
    }
    assert_eq!(seen_zero.load(Ordering::Relaxed), 0, "called for no empty row");
}

#[test]
fn all_types_and_arities() {
    let text = "fn pick(c: bool, x: f32, n: i32, m: u32) -> bool { return select(n > 3, x > 0.5, c) && m != 4u; }";
    let of = |c: bool, x: f32, n: i32, m: u32| (if c { x > 0.5 } else { n > 3 }) && m != 4;
    let four = ElementFunction::new("pick", text, of).expect("valid");
    let text = "fn clampi(x: i32, lo: i32, hi: i32) -> i32 { return max(lo, min(x, hi)); }";
    let three = ElementFunction::new("clampi", text, |x: i32, lo: i32, hi: i32| lo.max(x.min(hi))).expect("valid");
    let n = 20_000u32;
    let c: Vec<bool> = (0..n).map(|k| k % 3 == 0).collect();
    let x: Vec<f32> = (0..n).map(|k| (k % 7) as f32 * 0.25).collect();
    let i: Vec<i32> = (0..n).map(|k| (k % 11) as i32 - 4).collect();
    let u: Vec<u32> = (0..n).map(|k| k % 6).collect();
    let expected: Vec<bool> = (0..n as usize).map(|k| of(c[k], x[k], i[k], u[k])).collect();
    for (name, device) in common::every_way() {
        let dense = |values| HostTensor::dense(&[n as usize], values).to_device(device).expect("uploaded");
        let (c, x) = (dense(HostValues::Bool(c.clone())), dense(HostValues::F32(x.clone())));
        let (i, u) = (dense(HostValues::I32(i.clone())), dense(HostValues::U32(u.clone())));
        let got = four.call(&c, &x, &i, &u).and_then(|t| t.to_vec()).expect("read");
        assert_eq!(got, expected, "{name}");
        let kept = four.call(true, 1.0, &i, 3).and_then(|t| t.to_vec()).expect("read");
        assert!(kept.iter().all(|&k| k), "{name}");
        let got = three.call(&i, -1, 2).and_then(|t| t.to_vec()).expect("read");
        assert!(got.iter().all(|v| (-1..=2).contains(v)) && got[..4] == [-1, -1, -1, -1], "{name}");
    }
}

/// Kernels that reading the tensor takes.
fn kernels(t: &Tensor) -> usize {
    t.explain().expect("planned").kernels.len()
}

#[test]
fn calls_fuse_as_built_in_operations() {
    let bump = bump();
    let text = "fn plus(x: f32, y: f32) -> f32 { return x + y; }";
    let plus = ElementFunction::new("plus", text, |x: f32, y: f32| x + y).expect("valid");
    let all = skewed();
    for (name, device) in common::devices() {
        let fresh = || tensor::<f32>(&all, &device);
        let pairs: [(ragged::Result<_>, ragged::Result<_>); 4] = {
            let (x, y) = (fresh(), fresh());
            let own = |x: &RaggedTensor<f32>| x.map_elements(&bump);
            let sum = |x: RaggedTensor<f32>| x.reduce_sum(1);
            [
                (own(&x).and_then(|t| &t + 1.0), y.square().and_then(|t| &t + 1.0)),
                (own(&(&x * 2.0).expect("recorded")).and_then(sum), (&y * 2.0).and_then(|t| t.square()).and_then(sum)),
                // The result of a reduction, with an epilogue.
                (x.reduce_max(1).and_then(|t| own(&t)), y.reduce_max(1).and_then(|t| t.square())),
                (
                    x.reduce_sum(ragged::opt::keep(1)).and_then(|s| plus.call(&x, &s)).and_then(sum),
                    y.reduce_sum(ragged::opt::keep(1)).and_then(|s| &y + &s).and_then(sum),
                ),
            ]
        };
        for (k, (own, built_in)) in pairs.into_iter().enumerate() {
            let (own, built_in) = (own.expect("recorded"), built_in.expect("recorded"));
            let count = kernels(own.erased());
            assert_eq!(count, kernels(built_in.erased()), "{name}: chain {k}");
            assert!(count > 0, "{name}: chain {k}");
        }
    }
}

#[test]
fn fused_chains_have_equal_bits_everywhere() {
    let (bump, mix) = (bump(), mix());
    let text = "fn difference(x: f32, y: f32) -> f32 { return x - y; }";
    let difference = ElementFunction::new("difference", text, |x: f32, y: f32| x - y).expect("valid");
    let mut all = skewed();
    all[1] = vec![f32::NAN, f32::INFINITY, -0.0];
    let mut first: Option<Vec<Vec<u32>>> = None;
    for (name, device) in common::every_way() {
        let x = tensor::<f32>(&all, device);
        let chain = || -> ragged::Result<Vec<Tensor>> {
            let product = (&x * 1.1)?;
            // Rounded products enter and leave functions; equal arguments are no constant.
            let bumped = (&product.map_elements(&bump)? + &product)?;
            let none = difference.call(&bumped, &bumped)?;
            // Bits of NaNs are unspecified: what is computed from bits has none.
            let numbers = bumped.is_nan()?.select(0.0f32, &bumped)?;
            let mixed = mix.call(&numbers.bitcast::<u32>()?, &none.is_nan()?.cast::<i32>()?)?;
            let masked = bumped.boolean_mask(&mixed.less(1u32 << 31)?)?;
            let sums = masked.reduce_sum(1)?;
            Ok(vec![bumped.into_erased(), none.into_erased(), mixed.into_erased(), sums.into_erased()])
        };
        let results = chain().unwrap_or_else(|e| panic!("{name}: {e}"));
        let words: Vec<Vec<u32>> = results
            .iter()
            .map(|t| match t.to_host().unwrap_or_else(|e| panic!("{name}: {e}")).values {
                HostValues::F32(v) => v.into_iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect(),
                HostValues::U32(v) => v,
                other => panic!("{name}: {}", other.dtype()),
            })
            .collect();
        match &first {
            None => first = Some(words),
            Some(first) => {
                for (k, (a, b)) in first.iter().zip(&words).enumerate() {
                    let differ = a.iter().zip(b).position(|(a, b)| a != b);
                    assert_eq!((a.len(), differ), (b.len(), None), "{name}: result {k}");
                }
            }
        }
    }
}

#[test]
fn equal_calls_are_computed_once() {
    let device = Device::cpu();
    let x = tensor::<f32>(&[vec![1.0, 2.0], vec![]], &device);
    let count = Arc::new(AtomicU32::new(0));
    let counted = |count: &Arc<AtomicU32>| -> Unary<f32, f32> {
        let count = count.clone();
        let text = "fn counted(x: f32) -> f32 { return x; }";
        ElementFunction::new("counted", text, move |x: f32| {
            count.fetch_add(1, Ordering::Relaxed);
            x
        })
        .expect("valid")
    };
    let f = counted(&count);
    let (a, b) = (x.map_elements(&f).expect("recorded"), x.map_elements(&f.clone()).expect("recorded"));
    a.to_vec().and(b.to_vec()).expect("read");
    assert_eq!(count.load(Ordering::Relaxed), 2, "once per element");
    // A closure with state is a function of its own, even with the same text.
    let other = Arc::new(AtomicU32::new(0));
    x.map_elements(&counted(&other)).and_then(|t| t.to_vec()).expect("read");
    assert_eq!((count.load(Ordering::Relaxed), other.load(Ordering::Relaxed)), (2, 2));
}

#[test]
fn functions_of_one_text_stay_apart() {
    let text = "fn f(x: i32) -> i32 { return x + 1; }";
    let one = ElementFunction::new("f", text, |x: i32| x + 1).expect("valid");
    let two = ElementFunction::new("f", text, |x: i32| x + 2).expect("valid");
    let by = |n: i32| ElementFunction::new("f", text, move |x: i32| x + n).expect("valid");
    let x = tensor::<i32>(&[vec![1], vec![2, 3]], &Device::cpu());
    for (f, expected) in [(&one, [2, 3, 4]), (&two, [3, 4, 5])] {
        assert_eq!(x.map_elements(f).and_then(|t| t.to_vec()).expect("read"), expected);
    }
    for n in [3, 4, 5] {
        assert_eq!(x.map_elements(&by(n)).and_then(|t| t.to_vec()).expect("read"), [1, 2, 3].map(|x| x + n));
    }
    // Two functions of one text in one kernel.
    let text = "const k = 3u;\nfn f(x: u32) -> u32 { return x * k; }\nfn g(x: u32) -> u32 { return f(x) + 1u; }";
    let f = ElementFunction::new("f", text, |x: u32| x.wrapping_mul(3)).expect("valid");
    let g = ElementFunction::new("g", text, |x: u32| x.wrapping_mul(3).wrapping_add(1)).expect("valid");
    // The same names in another text.
    let text = "const k = 5u;\nfn f(x: u32) -> u32 { return x + k; }";
    let h = ElementFunction::new("f", text, |x: u32| x.wrapping_add(5)).expect("valid");
    for (name, device) in common::every_way() {
        let x = tensor::<u32>(&[vec![1, 2], vec![], vec![10]], device);
        let y = x.map_elements(&f).and_then(|t| t.map_elements(&g)).and_then(|t| t.map_elements(&h)).expect("recorded");
        assert_eq!(y.to_vec().expect("read"), [15, 24, 96], "{name}");
    }
}

#[test]
fn functions_without_state_share_plans() {
    // A device of its own: other tests make plans too.
    let Some(device) = common::gpu_with(&DeviceOptions::default()) else { return };
    let make = bump;
    let plan = |rows: &[Vec<f32>]| {
        let before = device.stats().plans;
        tensor::<f32>(rows, &device).map_elements(&make()).and_then(|t| t.to_vec()).expect("read");
        device.stats().plans - before
    };
    plan(&[vec![1.0, 2.0, 9.0], vec![], vec![3.0]]);
    assert_eq!(plan(&[vec![4.0, 2.0, 9.0, 8.0], vec![5.0, 1.0]]), 0, "one plan for all batches");
}

#[test]
fn names_of_built_in_functions_and_of_kernels_mean_the_users() {
    // `round`, `value` and `load` also name functions of generated kernels; locals may have any name.
    let text = "
        fn abs(x: f32) -> f32 { return x + 1.0; }
        fn value(x: f32) -> f32 { let p = abs(x); let i = p * 2.0; let row = i; return row; }";
    let f = ElementFunction::new("value", text, |x: f32| (x + 1.0) * 2.0).expect("valid");
    for (name, device) in common::every_way() {
        let x = tensor::<f32>(&[vec![1.0, -3.0], vec![]], device);
        let both = (&x.map_elements(&f).expect("recorded") + &x.abs().expect("recorded")).expect("recorded");
        assert_eq!(both.to_vec().expect("read"), [5.0, -1.0], "{name}");
    }
}

#[test]
fn arrays_of_a_function_keep_their_bounds_checks() {
    let text = "fn entry(i: u32) -> i32 {\n    var table = array<i32, 4>(3, 1, 4, 1);\n    return select(-1, table[i & 3u], i < 4u);\n}";
    let of = |i: u32| [3, 1, 4, 1].get(i as usize).copied().unwrap_or(-1);
    let entry: Unary<u32, i32> = ElementFunction::new("entry", text, of).expect("valid");
    let wild = "fn wild(i: u32) -> i32 {\n    var table = array<i32, 4>(3, 1, 4, 1);\n    return table[i] * 0;\n}";
    let wild: Unary<u32, i32> = ElementFunction::new("wild", wild, |_: u32| 0).expect("valid");
    for (name, device) in common::every_way() {
        let x = tensor::<u32>(&[vec![0, 2, 9], vec![u32::MAX]], device);
        assert_eq!(rows(x.map_elements(&entry)), [vec![3, 4, -1], vec![-1]], "{name}");
        assert_eq!(rows(x.map_elements(&wild)), [vec![0, 0, 0], vec![0]], "{name}");
    }
}

#[test]
fn rows_of_map_rows() {
    let bump = bump();
    for (name, device) in common::devices() {
        let x = tensor::<f32>(&[vec![1.0, 3.0], vec![], vec![2.0]], &device);
        let greatest: RaggedTensor<f32> =
            x.map_rows(|row| row.map_elements(&bump)?.add(1.0)?.reduce_sum(..)).expect("recorded");
        let sums = [bump_of(1.0) + 1.0 + (bump_of(3.0) + 1.0), 0.0, bump_of(2.0) + 1.0];
        assert_eq!(greatest.to_vec().expect("read"), sums, "{name}");
    }
}

#[test]
fn arrays_that_exceed_a_binding() {
    let Some(device) = common::gpu_with(&DeviceOptions::default().max_binding(1 << 12)) else { return };
    let mix = mix();
    let all: Vec<Vec<u32>> =
        [5000u32, 0, 3, 20_000].iter().map(|&n| (0..n).map(|k| k.wrapping_mul(n)).collect()).collect();
    let x = tensor::<u32>(&all, &device);
    let turned = x.reverse(1).expect("recorded");
    let expected: Vec<Vec<u32>> = all.iter().map(|row| row.iter().rev().map(|&x| mix_of(x, -1)).collect()).collect();
    assert_eq!(rows(mix.call(&turned, -1)), expected);
    let sums: Vec<u32> = expected.iter().map(|row| row.iter().fold(0, |a: u32, &b| a.wrapping_add(b))).collect();
    assert_eq!(mix.call(&turned, -1).and_then(|t| t.reduce_sum(1)).and_then(|t| t.to_vec()).expect("read"), sums);
}
