//! Attention: compared with loops over queries and keys, and bit for bit with its definition in other operations.

use ragged::opt::{AttentionKeys, causal, masked, scaled};
use ragged::{DType, Device, Error, HostTensor, HostValues, RaggedTensor, Result, Row, Tensor, grad, s};

use super::common;
use super::matrix::{bits, host, on, splits};

/// Which keys a query attends to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mask {
    All,
    Causal,
    /// The keys at a distance of at most 2.
    Window,
    /// The first two keys and those up to the own position, at a distance of at most 2: of both options.
    PrefixOrNear,
}

const MASKS: [Mask; 4] = [Mask::All, Mask::Causal, Mask::Window, Mask::PrefixOrNear];

impl Mask {
    fn has(self, query: usize, key: usize) -> bool {
        let near = query.abs_diff(key) <= 2;
        match self {
            Self::All => true,
            Self::Causal => key <= query,
            Self::Window => near,
            Self::PrefixOrNear => key <= query && (near || key < 2),
        }
    }

    fn of(self, keys: &Tensor) -> AttentionKeys<'_> {
        let near = |query: &Row, key: &Row| (query - key)?.abs()?.less_equal(2);
        match self {
            Self::All => keys.into(),
            Self::Causal => causal(keys),
            Self::Window => masked(keys, near),
            Self::PrefixOrNear => causal(masked(keys, move |query, key| near(query, key)?.logical_or(&key.less(2)?))),
        }
    }
}

/// Sizes of the operands: queries and keys per row, heads, widths of keys and of values.
#[derive(Debug, Clone, Copy)]
struct Sizes<'a> {
    n: &'a [usize],
    m: &'a [usize],
    heads: usize,
    d: usize,
    e: usize,
}

const SMALL: Sizes<'_> = Sizes { n: &[3, 0, 2, 1], m: &[2, 4, 0, 1], heads: 1, d: 2, e: 3 };
const LARGE: Sizes<'_> = Sizes { n: &[3, 0, 2, 300, 1, 17], m: &[2, 4, 0, 270, 1, 40], heads: 1, d: 5, e: 3 };
/// Long rows of one and few of the other, for which lists of scores are short.
const LONG: Sizes<'_> = Sizes { n: &[2, 5000, 0, 1], m: &[5000, 2, 3, 0], heads: 1, d: 4, e: 3 };

/// Rows of these lengths, of `heads` vectors of `width` numbers per element. One head is a dimension only if asked for.
fn rows(lengths: &[usize], heads: Option<usize>, width: usize, seed: usize) -> HostTensor {
    let splits = splits(lengths.iter().copied());
    let mut inner = vec![splits[lengths.len()] as usize];
    inner.extend(heads);
    inner.push(width);
    let count = inner.iter().product::<usize>();
    let values: Vec<f32> = (seed..seed + count).map(|k| (((k as f64 + 1.0) * 12.9898).sin() * 2.0) as f32).collect();
    host(vec![splits], inner, values)
}

impl Sizes<'_> {
    fn operands(self) -> [HostTensor; 3] {
        let heads = (self.heads > 1).then_some(self.heads);
        [rows(self.n, heads, self.d, 0), rows(self.m, heads, self.d, 100_000), rows(self.m, heads, self.e, 200_000)]
    }

    /// The means by the definition, in f64.
    fn naive(self, [q, k, v]: &[HostTensor; 3], scale: f64, mask: Mask) -> Vec<f64> {
        let [q, k, v] = [q, k, v].map(|t| match &t.values {
            HostValues::F32(values) => values.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>(),
            other => panic!("{other:?}"),
        });
        let Self { heads, d, e, .. } = self;
        let mut out = Vec::new();
        let (mut first_query, mut first_key) = (0, 0);
        for (&n, &m) in self.n.iter().zip(self.m) {
            for i in 0..n {
                for h in 0..heads {
                    let query = &q[((first_query + i) * heads + h) * d..][..d];
                    let weight = |j: usize| {
                        let key = &k[((first_key + j) * heads + h) * d..][..d];
                        let dot = query.iter().zip(key).map(|(a, b)| a * b).sum::<f64>();
                        if mask.has(i, j) { (dot * scale).exp() } else { 0.0 }
                    };
                    let weights: Vec<f64> = (0..m).map(weight).collect();
                    let sum = weights.iter().sum::<f64>();
                    let value = |j: usize, c: usize| v[((first_key + j) * heads + h) * e + c];
                    let mean = |c| (0..m).map(|j| weights[j] * value(j, c)).sum::<f64>() / sum;
                    out.extend((0..e).map(|c| if sum > 0.0 { mean(c) } else { 0.0 }));
                }
            }
            (first_query, first_key) = (first_query + n, first_key + m);
        }
        out
    }
}

/// The definition in other operations, one head after the other.
fn composed(sizes: Sizes<'_>, [q, k, v]: [&Tensor; 3], scale: f64, mask: Mask) -> Result<Tensor> {
    let pairs = sizes.n.iter().zip(sizes.m);
    let columns = splits(pairs.clone().flat_map(|(&n, &m)| vec![m; n]));
    let has: Vec<bool> = pairs.flat_map(|(&n, &m)| (0..n * m).map(move |p| mask.has(p / m, p % m))).collect();
    let has = HostTensor {
        nested_row_splits: vec![splits(sizes.n.iter().copied()), columns],
        uniform_row_lengths: vec![None; 2],
        inner_shape: vec![has.len()],
        values: HostValues::Bool(has),
    };
    let has = has.to_device(&q.device())?;
    let one = |q: &Tensor, k: &Tensor, v: &Tensor| {
        let scores = q.matmul(k.t())?.multiply(scale)?;
        if mask == Mask::All {
            return scores.softmax(-1)?.matmul(v);
        }
        has.select(&has.select(&scores, f64::NEG_INFINITY)?.softmax(-1)?, 0.0)?.matmul(v)
    };
    if sizes.heads == 1 {
        return one(q, k, v);
    }
    let head = |x: &Tensor, h: usize| x.slice(s![.., .., h]);
    let means: Vec<Tensor> =
        (0..sizes.heads).map(|h| one(&head(q, h)?, &head(k, h)?, &head(v, h)?)).collect::<Result<_>>()?;
    Tensor::stack(&means, 2)
}

/// The bits of the numbers in f32.
fn bits_of(x: &Tensor) -> Vec<u64> {
    bits::<f32>(&x.cast(DType::F32).and_then(|x| x.to_host()).unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn results_are_those_of_loops() {
    for (name, device) in common::devices().iter().filter(|(_, d)| common::has(d, DType::F64)) {
        for (heads, d, e) in [(1, 1, 1), (1, 64, 3), (3, 5, 64), (2, 8, 8)] {
            let sizes = Sizes { heads, d, e, ..LARGE };
            let operands = sizes.operands();
            let [q, k, v] = operands.each_ref().map(|t| on(t, device, heads == 3).cast(DType::F64).expect("recorded"));
            for (mask, scale) in [(Mask::All, None), (Mask::Causal, Some(0.3)), (Mask::Window, None)] {
                let keys = mask.of(&k).scale(scale);
                let found = q.scaled_dot_product_attention(keys, &v).and_then(|y| y.to_host());
                let found = found.unwrap_or_else(|e| panic!("{sizes:?} {mask:?} on {name}: {e}"));
                let mut shape = operands[0].clone();
                *shape.inner_shape.last_mut().expect("a width") = e;
                assert_eq!(found.nested_row_splits, shape.nested_row_splits, "{sizes:?} on {name}");
                assert_eq!(found.inner_shape, shape.inner_shape, "{sizes:?} on {name}");
                let HostValues::F64(found) = found.values else { panic!("floats") };
                let want = sizes.naive(&operands, scale.unwrap_or(1.0 / (d as f64).sqrt()), mask);
                assert_eq!(found.len(), want.len());
                for (at, (a, b)) in found.iter().zip(&want).enumerate() {
                    assert!((a - b).abs() < 1e-12, "{sizes:?} {mask:?} on {name}, number {at}: {a}, not {b}");
                }
            }
        }
    }
}

/// Compares the bits on every device with those of the composition on the CPU, with splits that only the device knows
/// and, of small operands, with others too.
fn check(sizes: Sizes<'_>, dtype: DType, masks: &[Mask]) {
    let on = |device: &Device, hidden| sizes.operands().map(|t| on(&t, device, hidden).cast(dtype).expect("recorded"));
    let scale = 1.0 / (sizes.d as f64).sqrt();
    for &mask in masks {
        let [q, k, v] = on(&Device::cpu(), false);
        let want = composed(sizes, [&q, &k, &v], scale, mask).unwrap_or_else(|e| panic!("{sizes:?} {mask:?}: {e}"));
        let want = bits_of(&want);
        for (name, device) in common::every_way() {
            for hidden in [false, true].into_iter().skip(usize::from(sizes.n == LARGE.n)) {
                let [q, k, v] = on(device, hidden);
                let found = q.scaled_dot_product_attention(mask.of(&k), &v);
                let found = found.unwrap_or_else(|e| panic!("{sizes:?} {mask:?} on {name}: {e}"));
                assert!(bits_of(&found) == want, "{sizes:?} {dtype} {mask:?} on {name}, hidden {hidden}");
            }
        }
    }
}

#[test]
fn the_bits_are_those_of_the_composition() {
    check(SMALL, DType::F32, &MASKS);
    check(Sizes { d: 64, ..LARGE }, DType::F32, &[Mask::All, Mask::Causal]);
    check(Sizes { heads: 2, e: 7, ..LARGE }, DType::F32, &[Mask::All, Mask::PrefixOrNear]);
    check(Sizes { heads: 3, ..SMALL }, DType::F32, &MASKS);
}

#[test]
fn long_rows_and_wide_vectors_have_the_bits_of_the_composition() {
    check(LONG, DType::F32, &[Mask::All, Mask::Causal]);
    check(Sizes { d: 256, e: 256, ..SMALL }, DType::F32, &[Mask::All]);
}

#[test]
fn gradients_of_long_rows_and_wide_vectors_have_equal_bits() -> Result<()> {
    for sizes in [LONG, Sizes { d: 256, e: 256, ..SMALL }] {
        let mut first = None;
        for (name, device) in common::devices() {
            let [q, k, v] = sizes.operands().map(|t| on(&t, &device, false));
            let loss = |x: &[Tensor]| x[0].scaled_dot_product_attention(&x[1], &x[2])?.square()?.reduce_sum(..);
            let found: Vec<_> = grad(loss, [&q, &k, &v])?.iter().map(bits_of).collect();
            assert!(found.iter().all(|bits| bits.iter().any(|&bits| bits << 33 != 0)), "{sizes:?} on {name}");
            assert!(*first.get_or_insert_with(|| found.clone()) == found, "{sizes:?} on {name}");
        }
    }
    Ok(())
}

#[test]
fn floats_of_16_bits_have_the_bits_of_the_composition() {
    for dtype in [DType::F16, DType::BF16] {
        check(Sizes { d: 3, ..SMALL }, dtype, &[Mask::All, Mask::Causal]);
        check(Sizes { heads: 2, d: 3, ..SMALL }, dtype, &[Mask::Window]);
    }
}

#[test]
fn a_row_is_independent_of_the_others() -> Result<()> {
    for (name, device) in common::devices() {
        let [q, k, v] = Sizes { heads: 2, ..LARGE }.operands().map(|t| on(&t, &device, false));
        let all = q.scaled_dot_product_attention(causal(&k), &v)?;
        for row in 0..6 {
            let alone = |x: &Tensor| x.slice(s![row..row + 1]);
            let (q, k, v) = (alone(&q)?, alone(&k)?, alone(&v)?);
            let one = q.scaled_dot_product_attention(causal(&k), &v)?;
            assert_eq!(bits_of(&one), bits_of(&alone(&all)?), "row {row} on {name}");
        }
    }
    Ok(())
}

#[test]
fn layouts_keep_their_dimensions() -> Result<()> {
    for (name, device) in common::devices() {
        let [q, k, v] = Sizes { n: &[2; 3], m: &[4; 3], heads: 2, ..SMALL }.operands();
        let [q, k, v] = [q, k, v].map(|t| on(&t, &device, false));
        let want = q.scaled_dot_product_attention(causal(&k), &v)?;
        let dense = |x: &Tensor| x.to_tensor(0);
        let (dq, dk, dv) = (dense(&q)?, dense(&k)?, dense(&v)?);
        let found = dq.scaled_dot_product_attention(causal(&dk), &dv)?;
        assert_eq!((found.ragged_rank(), found.shape()), (0, vec![Some(3), Some(2), Some(2), Some(3)]), "{name}");
        assert_eq!(bits_of(&found), bits_of(&want), "dense on {name}");
        let mixed = q.scaled_dot_product_attention(causal(&dk), &dv)?;
        assert_eq!((mixed.ragged_rank(), bits_of(&mixed)), (1, bits_of(&want)), "dense keys on {name}");
        // Two ragged dimensions: rows of rows.
        let deep = |x: &Tensor| Tensor::from_row_lengths(x, [1, 0, 2]);
        let found = deep(&q)?.scaled_dot_product_attention(causal(&deep(&k)?), &deep(&v)?)?;
        assert_eq!((found.ragged_rank(), bits_of(&found)), (2, bits_of(&want)), "rows of rows on {name}");
    }
    Ok(())
}

#[test]
fn nan_stays_with_the_queries_that_attend_to_it() -> Result<()> {
    for (name, device) in common::every_way() {
        let rows = |values: &[f32]| {
            let values: Vec<[f32; 1]> = values.iter().map(|&x| [x]).collect();
            RaggedTensor::<f32>::try_from(Tensor::from_row_lengths(
                RaggedTensor::from_nested(values, device)?.erased(),
                [3, 2],
            )?)
        };
        let q = rows(&[1.0, 1.0, 1.0, 1.0, 1.0])?;
        let v = rows(&[1.0, 2.0, 3.0, 4.0, 5.0])?;
        for odd in [f32::NAN, f32::INFINITY] {
            let k = rows(&[0.0, odd, 0.0, 0.0, 0.0])?;
            let y = q.scaled_dot_product_attention(causal(&k), &v)?.to_vec()?;
            assert_eq!((y[0], &y[3..]), (1.0, [4.0, 4.5].as_slice()), "{odd} on {name}");
            assert!(y[1].is_nan() && y[2].is_nan(), "{odd} on {name}: {y:?}");
        }
        // No key, by the mask.
        let none = masked(&v, |query, key| (query + key)?.less(0));
        assert_eq!(q.scaled_dot_product_attention(none, &v)?.to_vec()?, [0.0; 5], "{name}");
    }
    Ok(())
}

#[test]
fn excluded_values_have_no_influence() -> Result<()> {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    for (name, device) in common::every_way() {
        // Two heads with vectors of two numbers; the third row has finite values only.
        let of = |values: &[[[f32; 2]; 2]]| {
            Tensor::from_row_lengths(RaggedTensor::from_nested(values, device)?.erased(), [3, 0, 2])
        };
        let k = of(&[[[0.0; 2]; 2]; 5])?;
        let mut values = [[[1.0; 2]; 2]; 5];
        values[2] = [[nan, 1.0], [-inf, 1.0]];
        values[1] = [[inf, 1.0], [inf, 1.0]];
        let v = of(&values)?;
        let y = k.scaled_dot_product_attention(causal(&k), &v)?.to_host()?;
        let HostValues::F32(y) = y.values else { panic!("floats") };
        let first = [1.0, 1.0, 1.0, 1.0, inf, 1.0, inf, 1.0];
        assert_eq!(y[..8], first, "{name}");
        assert!(y[8].is_nan() && y[10].is_nan(), "{name}: {y:?}");
        assert_eq!((y[9], y[11], &y[12..]), (1.0, 1.0, [1.0; 8].as_slice()), "{name}");
        let own = |x: &[Tensor]| {
            x[0].scaled_dot_product_attention(masked(&x[0], |a, b| a.equal(b)), &v)?.slice(s![.., ..1])?.reduce_sum(..)
        };
        let gradient = grad(own, &[k])?[0].to_host()?;
        assert_eq!(gradient.values, HostValues::F32(vec![0.0; 20]), "{name}");
    }
    Ok(())
}

#[test]
fn gradients_of_queries_without_keys_are_0() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([[1.0f32], [2.0], [3.0]], &device)?;
    let x = Tensor::from_row_lengths(x.erased(), [2, 1])?;
    let before = |x: &[Tensor]| {
        let keys = masked(&x[0], |query: &Row, key: &Row| key.less(query));
        x[0].scaled_dot_product_attention(keys, &x[0])?.reduce_sum(..)
    };
    // The second query attends to the first value.
    let gradients = grad(before, &[x])?;
    assert_eq!(gradients[0].to_host()?.values, HostValues::F32(vec![1.0, 0.0, 0.0]));
    Ok(())
}

#[test]
fn errors_name_the_operation() -> Result<()> {
    for (name, device) in common::devices() {
        let of = |n: &[usize], heads: Option<usize>, width| on(&rows(n, heads, width, 0), &device, false);
        let (q, k) = (of(&[1, 2], None, 2), of(&[2, 2], None, 2));
        let call = |q: &Tensor, k: &Tensor, v: &Tensor| q.scaled_dot_product_attention(k, v).and_then(|y| y.to_host());
        let wrong = [
            ("widths", call(&q, &of(&[2, 2], None, 3), &k)),
            ("heads", call(&of(&[1, 2], Some(2), 2), &of(&[2, 2], Some(3), 2), &of(&[2, 2], Some(3), 2))),
            ("heads of values", call(&of(&[1, 2], Some(2), 2), &of(&[2, 2], Some(2), 2), &k)),
            ("no heads", call(&of(&[1, 2], Some(0), 2), &of(&[2, 2], Some(0), 2), &of(&[2, 2], Some(0), 2))),
            ("numbers of rows", call(&q, &of(&[2, 2, 1], None, 2), &of(&[2, 2, 1], None, 2))),
            ("rows of values", call(&q, &k, &of(&[2, 1], None, 2))),
            ("rank", call(&q.flat_values()?, &k, &k)),
            ("dtypes", call(&q, &k.cast(DType::F16)?, &k)),
            ("no floats", call(&q.cast(DType::I32)?, &k, &k)),
            (
                "a mask of numbers",
                q.scaled_dot_product_attention(masked(&k, |q, k| q + k), &k).and_then(|y| y.to_host()),
            ),
        ];
        for (what, result) in wrong {
            let e = result.expect_err(what);
            assert!(e.to_string().starts_with("scaled_dot_product_attention"), "{what} on {name}: {e}");
        }
        // Lengths that only the device knows.
        for heads in [None, Some(2)] {
            let hidden = |n: &[usize]| on(&rows(n, heads, 2, 0), &device, true);
            let e = call(&hidden(&[1, 2]), &hidden(&[2, 2]), &hidden(&[2, 1])).expect_err("other rows of values");
            assert!(matches!(e, Error::Check { .. }), "{name}: {e}");
            let e =
                call(&hidden(&[1, 2]), &hidden(&[2, 2, 1]), &hidden(&[2, 2, 1])).expect_err("other numbers of rows");
            assert!(matches!(e, Error::Check { .. } | Error::Shape { .. }), "{name}: {e}");
        }
    }
    Ok(())
}

#[test]
fn plans_name_attention_alone() -> Result<()> {
    let [q, k, v] = Sizes { heads: 2, ..SMALL }.operands().map(|t| on(&t, &Device::cpu(), false));
    let plan = q.scaled_dot_product_attention(scaled(causal(&k), 0.5), &v)?.explain()?;
    let all: Vec<_> = plan.kernels.iter().flat_map(|kernel| &kernel.operations).collect();
    assert!(!all.is_empty() && all.iter().all(|op| **op == "scaled_dot_product_attention"), "{plan}");
    Ok(())
}

#[cfg(feature = "gpu")]
#[test]
fn splits_of_the_host_need_no_wait() -> Result<()> {
    // A device of its own: other tests wait on the shared ones.
    let Some(device) = common::gpu_with(&ragged::DeviceOptions::default()) else { return Ok(()) };
    let [q, k, v] = Sizes { heads: 2, ..SMALL }.operands().map(|t| on(&t, &device, false));
    let before = device.stats().waits;
    let _ = q.scaled_dot_product_attention(causal(&k), &v)?;
    assert_eq!(device.stats().waits, before);
    Ok(())
}
