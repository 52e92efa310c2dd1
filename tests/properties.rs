//! Property tests on random tensors, on every backend.

mod common;

use common::every_way as backends;
use common::naive::{self, Rows, bits};
use common::random::{self, Sample};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ragged::arguments::Axes;
use ragged::opt::{ReduceAxes, keep, shaped};
use ragged::{DType, Device, Element, HostTensor, HostValues, Result, Str, Tensor, bf16, f16, s};

/// Fails unless both tensors are equal bit for bit.
fn same(what: &str, want: &HostTensor, got: &HostTensor) -> std::result::Result<(), TestCaseError> {
    prop_assert_eq!(&want.nested_row_splits, &got.nested_row_splits, "splits of {}", what);
    prop_assert_eq!(&want.inner_shape, &got.inner_shape, "inner shape of {}", what);
    prop_assert_eq!(want.values.dtype(), got.values.dtype(), "dtype of {}", what);
    let (want, got) = (bits(&want.values), bits(&got.values));
    if let Some(at) = (0..want.len()).find(|&at| want[at] != got[at]) {
        return Err(TestCaseError::fail(format!("{what}: value {at} is {:x?}, not {:x?}", got[at], want[at])));
    }
    Ok(())
}

/// The result of `compute`, after checking that every backend gives the same.
fn everywhere(
    dtype: DType,
    compute: impl Fn(&Device) -> Result<HostTensor>,
) -> std::result::Result<HostTensor, TestCaseError> {
    let run = |device: &Device| compute(device).map_err(|e| TestCaseError::fail(format!("{device:?}: {e}")));
    let want = run(&Device::cpu())?;
    for (name, device) in backends().iter().filter(|(_, device)| common::has(device, dtype)) {
        same(name, &want, &run(device)?)?;
    }
    Ok(want)
}

/// Random numbers with one partition.
fn rows_of_numbers() -> impl Strategy<Value = Sample> {
    proptest::sample::select(common::numbers().collect::<Vec<_>>())
        .prop_flat_map(|dtype| random::tensor_of(dtype, 1, &[]))
}

/// Row `r` as a tensor of one row.
fn row_alone(x: &HostTensor, r: usize) -> HostTensor {
    let whole = x.to_device(&Device::cpu()).and_then(|x| x.slice(s![r..=r])?.to_host());
    whole.expect("a row that is there")
}

/// Fails unless the values are equal, where all NaNs are equal, and -0 equals 0.
fn alike(want: &HostValues, got: &HostValues) -> std::result::Result<(), TestCaseError> {
    let (w, g) = (want, got);
    let equal = match (w, g) {
        (HostValues::F16(w), HostValues::F16(g)) => w.iter().zip(g).all(|(w, g)| w == g || (w.is_nan() && g.is_nan())),
        (HostValues::BF16(w), HostValues::BF16(g)) => {
            w.iter().zip(g).all(|(w, g)| w == g || (w.is_nan() && g.is_nan()))
        }
        (HostValues::F32(w), HostValues::F32(g)) => w.iter().zip(g).all(|(w, g)| w == g || (w.is_nan() && g.is_nan())),
        (HostValues::F64(w), HostValues::F64(g)) => w.iter().zip(g).all(|(w, g)| w == g || (w.is_nan() && g.is_nan())),
        _ => w == g,
    };
    let cut = |v: &HostValues| format!("{v:?}").chars().take(300).collect::<String>();
    prop_assert!(equal && want.len() == got.len(), "wanted {}, got {}", cut(want), cut(got));
    Ok(())
}

/// Evaluates the expression with `$rows` as the rows of the tensor, for any numeric dtype.
macro_rules! with_rows {
    ($x:expr, $rows:ident => $e:expr) => {
        match $x.values.dtype() {
            DType::U8 => with_rows!(u8, $x, $rows => $e),
            DType::I8 => with_rows!(i8, $x, $rows => $e),
            DType::U16 => with_rows!(u16, $x, $rows => $e),
            DType::I16 => with_rows!(i16, $x, $rows => $e),
            DType::I32 => with_rows!(i32, $x, $rows => $e),
            DType::U32 => with_rows!(u32, $x, $rows => $e),
            DType::I64 => with_rows!(i64, $x, $rows => $e),
            DType::U64 => with_rows!(u64, $x, $rows => $e),
            DType::F16 => with_rows!(f16, $x, $rows => $e),
            DType::BF16 => with_rows!(bf16, $x, $rows => $e),
            DType::F32 => with_rows!(f32, $x, $rows => $e),
            DType::F64 => with_rows!(f64, $x, $rows => $e),
            other => panic!("{other} is not summed"),
        }
    };
    ($t:ty, $x:expr, $rows:ident => $e:expr) => {{
        let $rows: Rows<$t> = naive::rows::<$t>($x);
        <$t as Element>::wrap($e)
    }};
}

/// Runs `cases` random cases, unless the environment sets the number. Failures are saved for the next run.
fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if asked { default.cases } else { cases },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/properties.regressions"))),
        ..default
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn a_read_gives_what_was_uploaded(x in random::tensor(&DType::ALL)) {
        let back = everywhere(x.values.dtype(), |device| x.to_device(device)?.to_host())?;
        same("the round trip", &x, &back)?;
    }

    #[test]
    fn a_tensor_moves_between_devices(x in random::tensor(&DType::ALL)) {
        let back = everywhere(x.values.dtype(), |device| {
            x.to_device(&Device::cpu())?.to_device(device)?.to_device(&Device::cpu())?.to_host()
        })?;
        same("the round trip", &x, &back)?;
    }

    #[test]
    fn sums_do_not_depend_on_the_batch(x in rows_of_numbers()) {
        let dtype = x.values.dtype();
        let sum = |x: &HostTensor| everywhere(dtype, |device| x.to_device(device)?.reduce_sum(1)?.to_host());
        let sums = sum(&x)?;
        if dtype.is_integer() {
            alike(&with_rows!(&x, rows => naive::sum(&rows)), &sums.values)?;
        }
        let all = bits(&sums.values);
        let nrows = x.nested_row_splits[0].len() - 1;
        // The first, the last and a middle row.
        for r in [0, nrows / 2, nrows.saturating_sub(1)].into_iter().filter(|&r| r < nrows) {
            let alone = sum(&row_alone(&x, r))?;
            prop_assert_eq!(&bits(&alone.values)[0], &all[r], "row {} alone", r);
        }
    }

    #[test]
    fn minima_and_maxima_are_exact(x in rows_of_numbers()) {
        let dtype = x.values.dtype();
        let min = everywhere(dtype, |device| x.to_device(device)?.reduce_min(1)?.to_host())?;
        alike(&with_rows!(&x, rows => naive::min(&rows)), &min.values)?;
        let max = everywhere(dtype, |device| x.to_device(device)?.reduce_max(1)?.to_host())?;
        alike(&with_rows!(&x, rows => naive::max(&rows)), &max.values)?;
    }

    #[test]
    fn reductions_agree_everywhere(
        x in random::tensor(&common::numbers().collect::<Vec<_>>()),
        axis in 0..6i64,
        keepdims: bool,
    ) {
        let dtype = x.values.dtype();
        let rank = (x.nested_row_splits.len() + x.inner_shape.len()) as i64;
        let axis = axis % rank;
        let over = |axes| ReduceAxes::from(axes).keep(keepdims);
        everywhere(dtype, |device| x.to_device(device)?.reduce_prod(over(Axes::from(axis)))?.to_host())?;
        everywhere(dtype, |device| x.to_device(device)?.reduce_sum(over(Axes::All))?.to_host())?;
        if common::has(&Device::cpu(), DType::F64) {
            // The mean of 64-bit integers is f64.
            everywhere(DType::F64, |device| x.to_device(device)?.reduce_mean(over(Axes::from(axis)))?.to_host())?;
            everywhere(DType::F64, |device| x.to_device(device)?.reduce_variance(over(Axes::from(axis)))?.to_host())?;
        }
    }

    #[test]
    fn the_parts_of_a_slice_make_the_whole(x in random::tensor(&DType::ALL), k in -5..260i64) {
        let dtype = x.values.dtype();
        let rows = everywhere(dtype, |device| {
            let x = x.to_device(device)?;
            Tensor::concat(&[&x.slice(s![..k])?, &x.slice(s![k..])?], 0)?.to_host()
        })?;
        same("rows", &x, &rows)?;
        if x.nested_row_splits.is_empty() && x.inner_shape.len() < 2 {
            return Ok(());
        }
        let columns = everywhere(dtype, |device| {
            let x = x.to_device(device)?;
            Tensor::concat(&[&x.slice(s![.., ..k])?, &x.slice(s![.., k..])?], 1)?.to_host()
        })?;
        same("columns", &x, &columns)?;
    }

    #[test]
    fn slices_are_pythons(
        x in random::tensor_of(DType::Str, 1, &[]),
        start in proptest::option::of(-40..40i64),
        stop in proptest::option::of(-40..40i64),
        step in prop_oneof![1..4i64, -4..=-1i64, Just(300), Just(-300)],
    ) {
        let span = ragged::arguments::Index::Slice { start, stop, step };
        let got = everywhere(DType::Str, |device| x.to_device(device)?.slice(s![.., span])?.to_host())?;
        let rows = naive::rows::<Str>(&x);
        let want: Rows<_> = rows.iter().map(|row| naive::slice(row, start, stop, step)).collect();
        same("columns", &naive::host::<Str>(&want), &got)?;
        let got = everywhere(DType::Str, |device| x.to_device(device)?.slice(s![span])?.to_host())?;
        same("rows", &naive::host::<Str>(&naive::slice(&rows, start, stop, step)), &got)?;
    }

    #[test]
    fn concat_appends_rows_and_their_values(x in random::tensor_of(DType::Str, 1, &[])) {
        let rows = naive::rows::<Str>(&x);
        let backwards = naive::slice(&rows, None, None, -1);
        for (axis, want) in [
            (0, naive::concat_rows(&[rows.clone(), backwards.clone()])),
            (1, naive::concat_in_rows(&[rows, backwards])),
        ] {
            let got = everywhere(DType::Str, |device| {
                let x = x.to_device(device)?;
                Tensor::concat(&[&x, &x.reverse(0)?], axis)?.to_host()
            })?;
            same("concat", &naive::host::<Str>(&want), &got)?;
        }
    }

    #[test]
    fn gathering_takes_rows(
        x in random::tensor_of(DType::Str, 1, &[]),
        at in proptest::collection::vec(0..300usize, 0..40),
    ) {
        let rows = naive::rows::<Str>(&x);
        let at: Vec<usize> = at.into_iter().filter(|_| !rows.is_empty()).map(|r| r % rows.len()).collect();
        let indices = HostTensor::dense(&[at.len()], HostValues::I64(at.iter().map(|&r| r as i64).collect()));
        let got = everywhere(DType::I64, |device| {
            x.to_device(device)?.gather(&indices.to_device(device)?)?.to_host()
        })?;
        same("the rows", &naive::host::<Str>(&naive::gather(&rows, &at)), &got)?;
    }

    #[test]
    fn padding_fills_rows(x in random::tensor_of(DType::I32, 1, &[]), width in proptest::option::of(0..300usize)) {
        let shape = [-1, width.map_or(-1, |w| w as i64)];
        let got = everywhere(DType::I32, |device| x.to_device(device)?.to_tensor(shaped(-1, shape))?.to_host())?;
        let rows = naive::pad(&naive::rows::<i32>(&x), width, &-1);
        let longest = rows.first().map_or_else(|| width.unwrap_or(0), Vec::len);
        let want = HostTensor::dense(&[rows.len(), longest], HostValues::I32(rows.concat()));
        same("the padded rows", &want, &got)?;
    }

    #[test]
    fn reversing_twice_changes_nothing(x in random::tensor(&DType::ALL)) {
        let rank = x.nested_row_splits.len() + x.inner_shape.len();
        for axis in 0..rank as i64 {
            let back = everywhere(x.values.dtype(), |device| {
                x.to_device(device)?.reverse(axis)?.reverse(axis)?.to_host()
            })?;
            same("twice reversed", &x, &back)?;
        }
    }

    #[test]
    fn a_number_a_row_meets_every_value(x in random::tensor_of(DType::F32, 1, &[]), seed in -50..50i32) {
        let rows = naive::rows::<f32>(&x);
        let numbers: Vec<f32> = (0..rows.len()).map(|r| seed as f32 + r as f32 / 8.0).collect();
        let column = HostTensor::dense(&[numbers.len(), 1], HostValues::F32(numbers.clone()));
        let got = everywhere(DType::F32, |device| (x.to_device(device)? + column.to_device(device)?)?.to_host())?;
        same("the sum", &naive::host::<f32>(&naive::add_to_rows(&rows, &numbers)), &got)?;
    }

    #[test]
    fn fusing_changes_no_bits(x in random::tensor_of(DType::F32, 2, &[])) {
        // A product and a sum, a mean that is broadcast to its own values, and a slice.
        everywhere(DType::F32, |device| {
            let x = x.to_device(device)?;
            let y = ((&x * 1.7f32)? + (&x * &x)?)?;
            let centred = (&y - y.reduce_mean(keep(2))?)?;
            centred.slice(s![.., ..;-1, 1..])?.sigmoid()?.reduce_sum(2)?.to_host()
        })?;
    }
}

/// The row lengths of one file.
fn row_lengths(file: &str) -> Vec<u32> {
    let path = format!("{}/tests/data/row_lengths/{file}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    text.lines().map(|line| line.parse().unwrap_or_else(|e| panic!("{path}: {line:?}: {e}"))).collect()
}

/// Sums, means, minima and maxima over rows with lengths from practice, on every backend.
fn reduces_rows_like(file: &str) {
    let splits = random::splits(&row_lengths(file));
    let count = splits[splits.len() - 1];
    // Values of all magnitudes whose sum depends on the order.
    let value = |k: u32| f32::from_bits((k.wrapping_mul(0x9e37_79b9) >> 9) | 0x3f80_0000) * (k % 1009) as f32 - 700.0;
    let x = HostTensor {
        uniform_row_lengths: vec![None],
        inner_shape: vec![count as usize],
        nested_row_splits: vec![splits],
        values: HostValues::F32((0..count).map(value).collect()),
    };
    let reduced = [Tensor::reduce_sum, Tensor::reduce_mean, Tensor::reduce_max]
        .map(|reduce| everywhere(DType::F32, |device| reduce(&x.to_device(device)?, 1)?.to_host()));
    let [sums, _, max] = reduced.map(|r| r.unwrap_or_else(|e| panic!("{file}: {e}")));
    let rows = naive::rows::<f32>(&x);
    alike(&HostValues::F32(naive::max(&rows)), &max.values).unwrap_or_else(|e| panic!("{file}: {e}"));
    // The error of a naive sum in f64 is negligible.
    let HostValues::F32(sums) = sums.values else { panic!("sums of f32 are f32") };
    for (r, (row, &sum)) in rows.iter().zip(&sums).enumerate() {
        let exact: f64 = row.iter().map(|&v| f64::from(v)).sum();
        let magnitude: f64 = row.iter().map(|&v| f64::from(v.abs())).sum();
        let error = (f64::from(sum) - exact).abs();
        assert!(error <= magnitude * 1e-5, "{file}: row {r} of {} values: {sum}, not {exact}", row.len());
    }
}

macro_rules! real_rows {
    ($($file:ident),* $(,)?) => {$(
        #[test]
        fn $file() {
            reduces_rows_like(stringify!($file));
        }
    )*};
}
real_rows!(
    amazon_book_users,
    canada_rings,
    cmudict_phonemes,
    git_neighbours,
    nuscenes_pillars,
    shakespeare_line_words,
    wikitext2_line_words,
);
