//! Quantiles that interpolate.

use ragged::opt::keep;
use ragged::{DType, HostValues};

use super::reference::rows;
use crate::common::{self, devices_and_unfused_cpu as devices};
use crate::nest::{Random, on};

/// NumPy's quantile, but exact between equal neighbours.
fn quantile(row: &mut [f64], q: f64) -> f64 {
    if row.is_empty() || row.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    row.sort_by(f64::total_cmp);
    let rank = (row.len() - 1) as f64 * q;
    let (a, b) = (row[rank as usize], row[(rank as usize + 1).min(row.len() - 1)]);
    let part = rank - rank.floor();
    match part {
        _ if a == b || part == 0.0 => a,
        _ if part < 0.5 => a + (b - a) * part,
        _ => b - (b - a) * (1.0 - part),
    }
}

#[test]
fn quantiles_interpolate() {
    let mut random = Random::new(44);
    let lengths = [0, 1, 2, 5, 6, 0, 100, 1001];
    let n = lengths.iter().sum::<u32>() as usize;
    let mut floats: Vec<f64> = (0..n).map(|_| f64::from(random.below(1000)) / 7.0).collect();
    (floats[4], floats[9], floats[10]) = (f64::NAN, f64::INFINITY, f64::INFINITY);
    let x = rows(&lengths, HostValues::F64(floats.clone()));
    let ints = rows(&lengths, HostValues::I32(floats.iter().map(|&v| v as i32).collect()));
    for (name, device) in devices().iter().filter(|(_, d)| common::has(d, DType::F64)) {
        for q in [0.0, 0.1, 0.25, 0.5, 0.9, 1.0] {
            for (x, as_float) in [(&x, floats.clone()), (&ints, floats.iter().map(|&v| f64::from(v as i32)).collect())]
            {
                let HostValues::F64(got) =
                    on(x, device).quantile(q, 1).and_then(|t| t.to_host()).expect("a read").values
                else {
                    panic!("f64")
                };
                for (row, w) in x.nested_row_splits[0].windows(2).enumerate() {
                    let want = quantile(&mut as_float[w[0] as usize..w[1] as usize].to_vec(), q);
                    let same = got[row] == want || (got[row].is_nan() && want.is_nan());
                    assert!(same, "the {q} of row {row} on {name}: {} for {want}", got[row]);
                }
            }
        }
        let median = on(&ints, device).median(keep(-1)).and_then(|t| t.to_host()).expect("a read");
        assert_eq!(median.inner_shape, [8, 1]);
        let bytes = rows(&[3, 2], HostValues::U8(vec![255, 0, 7, 1, 2]));
        let HostValues::F32(v) = on(&bytes, device).median(1).and_then(|t| t.to_host()).expect("a read").values else {
            panic!("f32")
        };
        assert_eq!(v, [7.0, 1.5]);
    }
}
