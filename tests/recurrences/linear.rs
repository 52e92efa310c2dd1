//! Linear recurrences against loops: their bits in the canonical order, their accuracy, and laws.

use ragged::opt::{exclusive, reversed};
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Tensor, s};

use crate::common::{devices, numbers};
use crate::{bits, noise};

/// An affine map: factor and term.
type Map = (f32, f32);

const IDENTITY: Map = (1.0, 0.0);

fn then(a: Map, b: Map) -> Map {
    let term = if a.1 == 0.0 { b.1 } else { a.1 * b.0 + b.1 };
    (a.0 * b.0, if term == 0.0 { 0.0 } else { term })
}

/// The composition of maps, in units of these sizes, each of which is composed by itself.
fn total(maps: &[Map], units: &[usize]) -> Map {
    match units.split_first() {
        None => maps.iter().copied().fold(IDENTITY, then),
        Some((&unit, smaller)) => maps.chunks(unit).map(|unit| total(unit, smaller)).fold(IDENTITY, then),
    }
}

/// The result at a position, in the canonical order of `shaders/row_scan.wgsl`.
fn canonical(maps: &[Map], at: usize, inner: usize) -> f32 {
    let block = if inner == 1 { 256 } else { 64 };
    let units = [128 * block, 8 * block, block, if inner == 1 { 8 } else { block }];
    let smaller = if inner == 1 { &units[..] } else { &units[..3] };
    let (mut before, mut start) = ([IDENTITY; 4], 0);
    for (k, &unit) in units.iter().enumerate() {
        let end = at / unit * unit;
        let tail = smaller.get(k..).unwrap_or_default();
        before[k] = total(&maps[start..end], tail);
        start = end;
    }
    let own = maps[start..=at].iter().copied().fold(IDENTITY, then);
    let in_block = if inner == 1 { then(before[3], own) } else { own };
    if at < block { in_block.1 } else { then(then(then(before[0], before[1]), before[2]), in_block).1 }
}

/// Rows of these lengths, of `inner` numbers per element, on a device.
fn rows(lengths: &[usize], inner: usize, values: Vec<f32>, device: &Device) -> Tensor {
    let mut splits = vec![0u32];
    lengths.iter().for_each(|&len| splits.push(splits[splits.len() - 1] + len as u32));
    let n = splits[lengths.len()] as usize;
    HostTensor {
        nested_row_splits: vec![splits],
        uniform_row_lengths: vec![None],
        inner_shape: if inner == 1 { vec![n] } else { vec![n, inner] },
        values: HostValues::F32(values),
    }
    .to_device(device)
    .expect("rows")
}

/// Values and decays between 0.5 and 1.
fn inputs(seed: u64, n: usize) -> (Vec<f32>, Vec<f32>) {
    (noise(seed, n), noise(seed + 1, n).into_iter().map(|x| 0.75 + x / 4.0).collect())
}

fn floats(x: &Tensor) -> Vec<f32> {
    bits(x).into_iter().map(f32::from_bits).collect()
}

/// Lengths around chunks, blocks, groups of blocks and tiles, in ascending order.
const LENGTHS: [usize; 22] =
    [0, 1, 7, 8, 9, 16, 17, 63, 64, 65, 255, 256, 257, 511, 513, 2047, 2048, 2049, 8193, 32_769, 65_537, 100_000];

/// Checks the bits of rows of these lengths on all devices.
fn check_bits(lengths: &[usize], inner: usize) {
    let n = lengths.iter().sum::<usize>() * inner;
    let (values, decays) = inputs(7, n);
    let mut first: Option<Vec<u32>> = None;
    for (name, device) in devices() {
        let x = rows(lengths, inner, values.clone(), &device);
        let decay = rows(lengths, inner, decays.clone(), &device);
        let got = x.linear_recurrence(&decay, 0.0, 1).expect("recorded");
        let back = x.reverse(1).and_then(|x| x.linear_recurrence(&decay.reverse(1)?, 0.0, reversed(1))?.reverse(1));
        let got = bits(&got);
        assert!(got == bits(&back.expect("recorded")), "{name}: reversed, inner {inner}");
        let first = first.get_or_insert_with(|| got.clone());
        assert!(got == *first, "{name}: inner {inner}");
        let mut start = 0;
        for &len in lengths {
            let edges = [0, 7, 8, 63, 64, 255, 256, 2047, 2048, 8191, 32_767, 32_768, 65_536, len / 3, len];
            let places = edges.into_iter().flat_map(|edge| [edge.wrapping_sub(1), edge, edge + 1]);
            for at in places.filter(|&at| at < len) {
                for column in [0, inner - 1] {
                    let number = |k: usize| (start + k) * inner + column;
                    let maps: Vec<Map> = (0..=at).map(|k| (decays[number(k)], values[number(k)])).collect();
                    let want = canonical(&maps, at, inner);
                    assert_eq!(got[number(at)], want.to_bits(), "{name}: {at} of {len}, inner {inner}");
                }
            }
            start += len;
        }
    }
}

#[test]
fn bits_are_those_of_the_canonical_order() {
    check_bits(&LENGTHS, 1);
    check_bits(&LENGTHS[..20], 3);
    check_bits(&[3, 8000, 0, 1, 700], 17);
}

#[test]
fn a_giant_row_has_the_bits_of_the_canonical_order() {
    check_bits(&[1_000_000], 1);
    check_bits(&[2, 0, 300_000, 5], 2);
}

#[test]
fn results_are_those_of_a_loop_within_rounding() {
    let lengths = [5, 0, 300, 70_000, 1];
    for (name, device) in devices() {
        let (values, decays) = inputs(3, lengths.iter().sum());
        let x = rows(&lengths, 1, values.clone(), &device);
        let got = floats(&x.linear_recurrence(&rows(&lengths, 1, decays.clone(), &device), 0.0, 1).expect("recorded"));
        let mut at = 0;
        for len in lengths {
            let (mut exact, mut size) = (0.0, 0.0);
            for _ in 0..len {
                let (decay, value) = (f64::from(decays[at]), f64::from(values[at]));
                exact = decay * exact + value;
                size = decay * size + value.abs();
                let error = (f64::from(got[at]) - exact).abs();
                assert!(error <= size * 16.0 * f64::from(f32::EPSILON), "{name}: {at}: {} for {exact}", got[at]);
                at += 1;
            }
        }
    }
}

#[test]
fn laws() {
    let lengths = [300, 0, 1, 2500, 17, 40_000];
    for (name, device) in devices() {
        for inner in [1, 4] {
            let (values, decays) = inputs(11, lengths.iter().sum::<usize>() * inner);
            let x = rows(&lengths, inner, values, &device);
            let decay = rows(&lengths, inner, decays, &device);
            let of = |x: &Tensor, decay: &Tensor| x.linear_recurrence(decay, 0.0, 1).expect("recorded");
            // Without a decay, sums: the same order, and the same bits.
            let sums = x.cumsum(1).expect("sums");
            assert_eq!(bits(&x.linear_recurrence(1.0, 0.0, 1).expect("recorded")), bits(&sums), "{name}");
            assert_eq!(bits(&x.linear_recurrence(0.0, 0.0, 1).expect("recorded")), bits(&x), "{name}");
            // A prefix of a row has a prefix of the results; a row has the same bits without the others.
            let whole = of(&x, &decay);
            let cut = |x: &Tensor| x.slice(s![.., ..1000]).expect("cut");
            assert_eq!(bits(&of(&cut(&x), &cut(&decay))), bits(&cut(&whole)), "{name}");
            let last = |x: &Tensor| x.slice(s![5..6]).expect("a row");
            assert_eq!(bits(&of(&last(&x), &last(&decay))), bits(&last(&whole)), "{name}");
            // Exclusive results are those before.
            let shifted = whole.shift(1, 0.0, 1).expect("shifted");
            let before = x.linear_recurrence(&decay, 0.0, exclusive(1)).expect("recorded");
            assert_eq!(bits(&before), bits(&shifted), "{name}");
        }
    }
}

#[test]
fn operands_broadcast() {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![1.0f32, 2.0, 4.0], vec![], vec![8.0, 1.0]], &device).expect("rows");
        let per_row = RaggedTensor::from_nested([[0.5f32], [1.0], [0.25]], &device).expect("a decay per row");
        let initial = RaggedTensor::from_nested([2.0f32, 3.0, 4.0], &device).expect("a number per row");
        let got = |y: ragged::Result<RaggedTensor<f32>>| y.and_then(|y| y.to_vec()).expect("a recurrence");
        assert_eq!(got(x.linear_recurrence(&per_row, 0.0, 1)), [1.0, 2.5, 5.25, 8.0, 3.0], "{name}");
        assert_eq!(got(x.linear_recurrence(&per_row, &initial, 1)), [2.0, 3.0, 5.5, 9.0, 3.25], "{name}");
        assert_eq!(got(x.linear_recurrence(&per_row, &initial, reversed(1))), [3.25, 4.5, 5.0, 8.5, 2.0], "{name}");
        let before = got(x.linear_recurrence(&per_row, &initial, exclusive(1)));
        assert_eq!(before, [2.0, 2.0, 3.0, 4.0, 9.0], "{name}");
        assert_eq!(got(x.linear_recurrence(0.5, 2.0, -1)), [2.0, 3.0, 5.5, 9.0, 5.5], "{name}");
        // Wide elements: a decay and an initial result per column. The rows of the result repeat those of `x`.
        let wide = RaggedTensor::from_nested([vec![[1.0f32, 2.0], [3.0, 4.0]], vec![]], &device).expect("wide");
        let column = RaggedTensor::from_nested([0.5f32, 2.0], &device).expect("a number per column");
        assert_eq!(got(wide.linear_recurrence(&column, &column, 1)), [1.25, 6.0, 3.625, 16.0], "{name}");
        let vector = RaggedTensor::from_nested([1.0f32, 2.0], &device).expect("a vector");
        let decays = RaggedTensor::from_nested([[0.5f32, 1.0], [0.5, 2.0]], &device).expect("decays");
        assert_eq!(got(vector.linear_recurrence(&decays, 0.0, 1)), [1.0, 3.0, 1.0, 4.0], "{name}");
    }
}

#[test]
fn values_that_are_not_finite_and_products_out_of_range() {
    let (nan, infinity) = (f32::NAN, f32::INFINITY);
    for (name, device) in devices() {
        let of = |values: Vec<f32>, decay: f32| {
            let x = rows(&[values.len()], 1, values, &device);
            floats(&x.linear_recurrence(decay, 0.0, 1).expect("recorded"))
        };
        // A preceding result of 0 contributes 0; products of decays that overflow do not matter there.
        let mut pulse = vec![0.0; 3000];
        pulse[2990] = 1.0;
        let grown = of(pulse, 4.0);
        assert!(grown[..2990].iter().all(|&y| y.to_bits() == 0) && grown[2999] == 262_144.0, "{name}");
        assert_eq!(of(vec![-0.0, 0.0, 5.0], infinity), [0.0, 0.0, 5.0], "{name}");
        assert_eq!(of(vec![-0.0], -1.0)[0].to_bits(), 0, "{name}");
        // Products that underflow are 0.
        let ones = of(vec![1.0; 3000], 0.5);
        assert!(ones[30..].iter().all(|&y| y == 2.0), "{name}");
        for special in [nan, infinity] {
            let mut values = vec![1.0; 3000];
            values[500] = special;
            let found = of(values, 0.5);
            assert!(
                found[..500].iter().all(|y| y.is_finite()) && found[500..].iter().all(|y| !y.is_finite()),
                "{name}"
            );
        }
        assert!(of(vec![1.0; 1000], 2.0)[999].is_infinite(), "{name}");
    }
}

#[test]
fn dtypes() {
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested([vec![1i32, 2, 3], vec![], vec![i32::MAX, 1]], &device).expect("rows");
        let got = x.linear_recurrence(3, 1, 1).and_then(|y| y.to_vec()).expect("integers");
        assert_eq!(got, [4, 14, 45, i32::MIN + 2, (i32::MIN + 2).wrapping_mul(3).wrapping_add(1)], "{name}");
        for dtype in numbers() {
            let values = x.erased().minimum(5).and_then(|x| x.cast(dtype)).expect("cast");
            let Ok(got) = values.linear_recurrence(2, 1, 1).and_then(|y| y.cast(DType::I32)?.to_host()) else {
                assert!(dtype == DType::F64, "{name}: {dtype}");
                continue;
            };
            assert_eq!(got.values, HostValues::I32(vec![3, 8, 19, 7, 15]), "{name}: {dtype}");
        }
        // A decay that is a number is not rounded to f16; the sum is, once.
        let halves = x.erased().minimum(1).and_then(|x| x.cast(DType::F16)).expect("cast");
        let narrow = halves.linear_recurrence(0.9, 0.0, 1).and_then(|y| y.cast(DType::F32));
        let wide = halves.cast(DType::F32).and_then(|x| x.linear_recurrence(0.9, 0.0, 1)?.cast(DType::F16));
        let wide = wide.and_then(|y| y.cast(DType::F32));
        assert_eq!(bits(&narrow.expect("narrow")), bits(&wide.expect("wide")), "{name}");
    }
}

#[test]
fn dispatches_do_not_depend_on_the_length_of_rows() {
    let zero = |device: &Device| RaggedTensor::from_nested([0.0f32], device).expect("a number");
    for (name, device) in devices() {
        let counts = |len: usize| {
            let x = rows(&[len], 1, noise(1, len), &device);
            let scan = x.linear_recurrence(0.5, 0.0, 1).and_then(|y| y.explain()).expect("explained");
            let sums = x.cumsum(1).and_then(|y| y.explain()).expect("explained");
            let steps = x.scan_rows([&zero(&device)], |states, x| {
                let sum = (&(&states[0] * 0.5)? + x)?;
                Ok((vec![sum.clone()], vec![sum]))
            });
            let steps = steps.and_then(|steps| steps.outputs[0].explain()).expect("explained");
            (scan.dispatches(), sums.dispatches(), steps.dispatches())
        };
        for len in [10, 1000, 1_000_000] {
            let (scan, sums, _) = counts(len);
            assert!(scan == sums && scan <= 3, "{name}: {scan} dispatches, {sums} of sums, for {len} values");
        }
        if name != "cpu" {
            assert!(counts(1_000_000).2 > 3, "{name}: a scan of steps");
        }
    }
}
