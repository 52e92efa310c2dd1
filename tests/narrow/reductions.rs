//! Reductions of rows: floats in f32 and rounded once, integers in their own type.

use ragged::{DType, HostTensor, Tensor, bf16, f16};

use crate::common::{self, fused_and_not as backends};
use crate::numbers::{Half, dense, read, rows, same};

#[test]
fn narrow_floats_are_reduced_in_f32_and_rounded_once() {
    fn check<T: Half>() {
        let host = rows::<T>(|k| T::of(((k * 7919) % 4001) as f32 / 16.0 - 120.0));
        for (name, device) in backends() {
            let x = host.to_device(device).expect("fits");
            let wide = x.cast(DType::F32).expect("recorded");
            for reduce in [
                Tensor::reduce_sum,
                Tensor::reduce_prod,
                Tensor::reduce_mean,
                Tensor::reduce_variance,
                Tensor::reduce_std,
            ] {
                for axis in [1, 0] {
                    let want = read::<f32>(reduce(&wide, axis)).into_iter().map(T::of);
                    same(name, want, read::<T>(reduce(&x, axis)));
                }
            }
            let by_row = common::naive::rows::<T>(&host);
            let extreme = |of_none: f32, f: fn(f32, f32) -> f32| {
                let of_row = move |row: &Vec<T>| row.iter().map(|v| v.wide()).reduce(f).unwrap_or(of_none);
                by_row.iter().map(move |row| T::of(of_row(row))).collect::<Vec<_>>()
            };
            let greatest = T::of_bits(T::of(f32::INFINITY).bits() - 1).wide();
            same(name, extreme(greatest, f32::min), read::<T>(x.reduce_min(1)));
            same(name, extreme(-greatest, f32::max), read::<T>(x.reduce_max(1)));
            // Rows are batch-invariant.
            let sums = read::<T>(x.reduce_sum(1));
            for (row, &sum) in by_row.iter().zip(&sums).filter(|(row, _)| row.len() > 200) {
                let alone = HostTensor::dense(&[1, row.len()], T::wrap(row.clone())).to_device(device).expect("fits");
                same(name, [sum], read::<T>(alone.reduce_sum(1)));
            }
        }
    }
    check::<f16>();
    check::<bf16>();
}

#[test]
fn narrow_integers_wrap_in_their_own_type() {
    macro_rules! check {
        ($($t:ident)*) => {$({
            let host = rows::<$t>(|k| (k.wrapping_mul(0x9e37_79b9) >> 7) as $t);
            let by_row = common::naive::rows::<$t>(&host);
            for (name, device) in backends() {
                let x = host.to_device(device).expect("fits");
                assert_eq!(read::<$t>(x.reduce_sum(1)), common::naive::sum(&by_row), "{name}");
                assert_eq!(read::<$t>(x.reduce_prod(1)), common::naive::prod(&by_row), "{name}");
                assert_eq!(read::<$t>(x.reduce_min(1)), common::naive::min(&by_row), "{name}");
                assert_eq!(read::<$t>(x.reduce_max(1)), common::naive::max(&by_row), "{name}");
                let sums = by_row.iter().map(|row| row.iter().map(|&v| i64::from(v)).sum::<i64>());
                let means = sums.zip(&by_row).map(|(sum, row)| sum as f32 / row.len() as f32);
                let got = read::<f32>(x.reduce_mean(1));
                assert!(got.iter().zip(means).all(|(&g, w)| g == w || g.is_nan() && w.is_nan()), "{name}");
                let any: Vec<bool> = by_row.iter().map(|row| row.iter().any(|&v| v != 0)).collect();
                assert_eq!(read::<bool>(x.reduce_any(1)), any, "{name}");
            }
        })*};
    }
    check!(u8 i8 u16 i16);
}

#[test]
fn a_long_column_of_halfwords_has_an_exact_mean() {
    // The sum of more than 2^16 numbers may exceed a word.
    let n = (1 << 16) + 5;
    for (name, device) in backends().iter().filter(|(_, d)| common::has(d, DType::I64)) {
        assert_eq!(read::<f32>(dense::<u16>(&vec![u16::MAX; n], device).reduce_mean(0)), [65_535.0], "{name}");
        assert_eq!(read::<f32>(dense::<i16>(&vec![i16::MIN; n], device).reduce_mean(0)), [-32_768.0], "{name}");
    }
}
