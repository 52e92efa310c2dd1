//! Exponentially weighted moving averages, against those of Polars 2.1.0 and against loops.

use ragged::opt::{Smoothing, com, half_life, span, unadjusted};
use ragged::{DType, HostValues, RaggedTensor};

use crate::common::{devices, has};
use crate::{bits, ragged_rows};

const ROWS: [&[f64]; 5] = [&[1.0, 2.0, 4.0, -3.0, 0.5, 10.0], &[], &[7.0], &[3.0, 3.0, 3.0], &[1e3, -1e-3, 2.5]];

/// The averages of `pl.Series(row).ewm_mean(…)` for each row of [`ROWS`], by `polars==2.1.0`.
fn of_polars() -> Vec<(Smoothing, [f64; 13])> {
    vec![
        (
            0.3.into(),
            [
                1.0,
                1.5882352941176472,
                2.6894977168949774,
                0.4433478089222267,
                0.4637770004687895,
                3.7060999534198977,
                7.0,
                3.0,
                3.0,
                3.0,
                1000.0,
                411.7641176470588,
                224.88552511415523,
            ],
        ),
        (
            unadjusted(0.3),
            [
                1.0,
                1.3,
                2.1100000000000003,
                0.5770000000000002,
                0.5539000000000002,
                3.38773,
                7.0,
                3.0,
                3.0,
                3.0,
                1000.0,
                699.9997000000001,
                490.7497900000001,
            ],
        ),
        (
            com(2.0),
            [
                1.0,
                1.6,
                2.7368421052631575,
                0.3538461538461539,
                0.4099526066350711,
                3.9142857142857137,
                7.0,
                3.0,
                3.0,
                3.0,
                1000.0,
                399.99940000000004,
                211.71021052631588,
            ],
        ),
        (
            unadjusted(span(4.0)),
            [
                1.0,
                1.4,
                2.44,
                0.26400000000000023,
                0.35840000000000016,
                4.215040000000001,
                7.0,
                3.0,
                3.0,
                3.0,
                1000.0,
                599.9996,
                360.99976,
            ],
        ),
        (
            half_life(1.5),
            [
                1.0,
                1.6135117904356906,
                2.790971582817436,
                0.24751403531597438,
                0.3512341476057299,
                4.15968668192581,
                7.0,
                3.0,
                3.0,
                3.0,
                1000.0,
                386.48759605251894,
                197.03350475922574,
            ],
        ),
        (1.0.into(), [1.0, 2.0, 4.0, -3.0, 0.5, 10.0, 7.0, 3.0, 3.0, 3.0, 1000.0, -0.0009999999999763531, 2.5]),
    ]
}

#[test]
fn averages_are_those_of_polars() {
    for (name, device) in devices() {
        for dtype in [DType::F64, DType::F32].into_iter().filter(|&dtype| has(&device, dtype)) {
            let wide = RaggedTensor::from_nested(ROWS.map(<[f64]>::to_vec), &ragged::Device::cpu()).expect("rows");
            let x = wide.erased().cast(dtype).and_then(|x| x.to_device(&device)).expect("on the device");
            for (smoothing, want) in of_polars() {
                let got = x.ewm_mean(smoothing, 1).and_then(|y| y.to_device(&ragged::Device::cpu()));
                let got = got.and_then(|y| y.cast(DType::F64)?.to_host()).expect("averages").values;
                let HostValues::F64(got) = got else { panic!("{}", got.dtype()) };
                // The greatest value of the rows is 1000.
                let within = if dtype == DType::F64 { 1e-12 } else { 1e-3 };
                for (at, (got, want)) in got.iter().zip(want).enumerate() {
                    let size = if at < 10 { 10.0 } else { 1000.0 };
                    assert!(
                        (got - want).abs() <= within * size / 1000.0,
                        "{name} {smoothing:?} {at}: {got} for {want}"
                    );
                }
                assert_eq!(got.len(), want.len());
            }
        }
    }
}

#[test]
fn averages_are_those_of_a_loop() {
    let lengths = [5, 0, 3000, 1, 70_000];
    let cpu = ragged_rows(5, &lengths, 2, &ragged::Device::cpu());
    for smoothing in [Smoothing::from(0.01), unadjusted(0.01), Smoothing::from(0.7), Smoothing::from(1e-9)] {
        let want = bits(&cpu.ewm_mean(smoothing, 1).expect("averages"));
        let values: Vec<f32> = bits(&cpu).into_iter().map(f32::from_bits).collect();
        let (alpha, mut start) = (smoothing.alpha, 0);
        for len in lengths {
            for column in 0..2 {
                let (mut sum, mut weights) = (0.0, 0.0);
                for k in 0..len {
                    let number = (start + k) * 2 + column;
                    let x = f64::from(values[number]);
                    let new = if smoothing.adjust || k == 0 { 1.0 } else { alpha };
                    sum = (1.0 - alpha) * sum + new * x;
                    weights = if smoothing.adjust { (1.0 - alpha) * weights + 1.0 } else { 1.0 };
                    let got = f64::from(f32::from_bits(want[number]));
                    assert!((got - sum / weights).abs() < 4e-6, "{smoothing:?} {k} of {len}: {got}");
                }
            }
            start += len;
        }
        for (name, device) in devices() {
            let x = ragged_rows(5, &lengths, 2, &device);
            assert_eq!(bits(&x.ewm_mean(smoothing, 1).expect("averages")), want, "{name} {smoothing:?}");
        }
    }
}
