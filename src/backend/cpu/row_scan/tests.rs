use super::*;

fn sums(values: &[f32], inner: usize) -> Vec<f32> {
    let mut out = vec![f32::NAN; values.len()];
    RowScan::new(inner, 0.0).push(values, |a, b| a + b, &mut out);
    out
}

fn floats(n: usize) -> Vec<f32> {
    (0..n).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f32)).collect()
}

/// Reference scan of one column in the canonical order, at one position.
fn reference(values: &[f32], at: usize) -> f32 {
    let fold = |totals: &mut dyn Iterator<Item = f32>| totals.fold(0.0, |a, b| a + b);
    /// The total of the `size` positions from `start` on, folded in units of the sizes `parts`, in descending order.
    fn total(values: &[f32], start: usize, size: usize, parts: &[usize]) -> f32 {
        match parts {
            [] => values[start..start + size].iter().fold(0.0, |a, b| a + b),
            [part, smaller @ ..] => (start..start + size)
                .step_by(*part)
                .map(|start| total(values, start, *part, smaller))
                .fold(0.0, |a, b| a + b),
        }
    }
    let units = [128 * 256, 8 * 256, 256, 8];
    let mut before = [0.0; 4];
    let mut start = 0;
    for (k, &unit) in units.iter().enumerate() {
        let end = at / unit * unit;
        before[k] = fold(&mut (start..end).step_by(unit).map(|s| total(values, s, unit, &units[k + 1..])));
        start = end;
    }
    let own = fold(&mut values[start..=at].iter().copied());
    let in_block = before[3] + own;
    if at < 256 { in_block } else { ((before[0] + before[1]) + before[2]) + in_block }
}

#[test]
fn one_column_follows_the_canonical_order() {
    let values = floats(300_000);
    let got = sums(&values, 1);
    let edges = [0usize, 7, 8, 255, 256, 2047, 2048, 32_767, 32_768, 65_535, 65_536, 299_990];
    for at in edges.into_iter().flat_map(|e| [e, e + 1, e + 9]).chain((0..300).map(|k| k * 997)) {
        assert_eq!(got[at].to_bits(), reference(&values, at).to_bits(), "{at}");
    }
}

#[test]
fn results_of_a_prefix_are_a_prefix_of_the_results() {
    for inner in [1, 2, 5] {
        let values = floats(40_000 * inner);
        let whole = sums(&values, inner);
        for len in [1, 7, 9, 64, 65, 256, 257, 2049, 33_000] {
            assert_eq!(sums(&values[..len * inner], inner), whole[..len * inner], "{len} x {inner}");
        }
    }
}

#[test]
fn adjacent_rows_equal_single_rows() -> Result<()> {
    use crate::{Device, HostTensor, HostValues};
    let lens = (0..40).chain([255, 256, 257, 0, 513, 1, 2000, 7, 0]).chain((0..100).map(|k| k * 37 % 20));
    let splits: Vec<u32> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
    let n = splits[splits.len() - 1] as usize;
    let integers: Vec<i64> = (0..n as i64).map(|k| k.wrapping_mul(0x1e37_79b9_7f4a_7c15)).collect();
    let x = |values| HostTensor::from_row_splits(splits.clone(), values).to_device(&Device::cpu());
    let totals = x(HostValues::I64(integers.clone()))?.cumsum(1)?.to_host()?.values;
    let greatest = x(HostValues::I64(integers.clone()))?.cummax(1)?.to_host()?.values;
    let of_floats = x(HostValues::F32(floats(n)))?.cumsum(1)?.to_host()?.values;
    let sums_of = sums;
    let (mut sums, mut most, mut in_order) = (Vec::new(), Vec::new(), Vec::new());
    for row in splits.windows(2) {
        let row = row[0] as usize..row[1] as usize;
        let running = |f: fn(i64, i64) -> i64, none: i64| {
            integers[row.clone()].iter().scan(none, move |so_far, &x| {
                *so_far = f(*so_far, x);
                Some(*so_far)
            })
        };
        sums.extend(running(i64::wrapping_add, 0));
        most.extend(running(i64::max, i64::MIN));
        in_order.extend(sums_of(&floats(n)[row], 1));
    }
    assert_eq!(totals, HostValues::I64(sums));
    assert_eq!(greatest, HostValues::I64(most));
    assert_eq!(of_floats, HostValues::F32(in_order));
    Ok(())
}

#[test]
fn negative_zeros_give_zero() {
    for inner in [1, 3] {
        assert!(sums(&vec![-0.0; 700 * inner], inner).iter().all(|x| x.to_bits() == 0));
    }
}

#[test]
fn pieces_give_the_bits_of_the_whole_row() {
    for inner in [1, 2, 16, 40] {
        let values = floats(70_001 / inner * inner);
        let whole = sums(&values, inner);
        let mut out = vec![0.0; values.len()];
        let mut scan = RowScan::new(inner, 0.0);
        let numbers = 3 * block_len(inner) * inner;
        for (values, out) in values.chunks(numbers).zip(out.chunks_mut(numbers)) {
            scan.push(values, |a, b| a + b, out);
        }
        assert_eq!(out, whole, "{inner}");
    }
}

#[test]
fn several_columns_agree_with_exact_sums() {
    for inner in [2usize, 3, 8, 33] {
        let len = 20_000;
        let values: Vec<u64> = (0..len * inner).map(|k| (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut out = vec![1; values.len()];
        RowScan::new(inner, 0).push(&values, u64::wrapping_add, &mut out);
        let mut sums = vec![0u64; inner];
        for (k, &x) in values.iter().enumerate() {
            sums[k % inner] = sums[k % inner].wrapping_add(x);
            assert_eq!(out[k], sums[k % inner], "{k}, inner {inner}");
        }
    }
}

#[test]
fn a_long_row_has_the_bits_of_a_sequential_scan() -> Result<()> {
    use crate::{Device, HostTensor, HostValues};
    for inner in [1, 3] {
        for len in [EVALUATED_NUMBERS / inner + 1, 300_001 / inner] {
            let values = floats(len * inner);
            let x = HostTensor {
                nested_row_splits: vec![vec![0, len as u32]],
                uniform_row_lengths: vec![None],
                inner_shape: if inner == 1 { vec![len] } else { vec![len, inner] },
                values: HostValues::F32(values.clone()),
            };
            let found = x.to_device(&Device::cpu())?.cumsum(1)?.to_host()?;
            assert_eq!(found.values, HostValues::F32(sums(&values, inner)), "{len} x {inner}");
        }
    }
    Ok(())
}
