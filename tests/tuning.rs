//! A device's tuning affects how kernels are tiled, and no result.

mod common;

use common::outcome::{bits, outcome};
use ragged::opt::keep;
use ragged::{Device, DeviceOptions, HostTensor, HostValues, Result, Tensor, Tuning, s};

/// The first adapter, with the given tuning.
fn tuned(tuning: Tuning) -> Option<Device> {
    common::gpu_with(&DeviceOptions::default().tuning(tuning))
}

/// Every combination of the parameters' extremes, and some values in between.
fn tunings() -> Vec<Tuning> {
    let mut all = Vec::new();
    for (map_tile, row_tile, row_cost) in [(1024, 512, 1), (2048, 1024, 16), (4096, 2048, 4), (4096, 512, 16)] {
        for (max_buffers, read_at_capacity, coalesce_rows) in [(8, 0, true), (16, u64::MAX, false)] {
            let tuning = Tuning::default().map_tile(map_tile).row_tile(row_tile).row_cost(row_cost);
            let tuning = tuning.coalesce_rows(coalesce_rows).map_width(if coalesce_rows { 4 } else { 1 });
            all.push(tuning.max_buffers(max_buffers).read_at_capacity(read_at_capacity));
        }
    }
    all
}

type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);

const OPS: &[Op] = &[
    ("map", |x| x.add(x)),
    ("map of words", |x| x.cast(ragged::DType::F32)?.multiply(3)?.add(&x.cast(ragged::DType::F32)?)?.subtract(0.5)),
    ("condition", |x| x.greater(0)),
    ("row map", |x| x.add(&x.reduce_max(keep(1))?)),
    ("sum", |x| x.reduce_sum(1)),
    ("mean", |x| x.reduce_mean(1)),
    ("variance", |x| x.reduce_variance(1)),
    ("mask", |x| x.boolean_mask(&x.not_equal(&x.reduce_min(keep(1))?)?)),
    ("slice", |x| x.slice(s![.., -5..])),
    ("concat", |x| Tensor::concat(&[x, x, x], 1)),
    ("gather", |x| x.gather(&x.row_lengths(1)?.minimum(100)?)),
    ("softmax", |x| x.cast(ragged::DType::F32)?.softmax(1)),
];

#[test]
fn results_are_the_same_with_any_tuning() {
    let mut lengths: Vec<u32> = (0..3000).map(|r| (r * r) % 37 * u32::from(r % 3 != 0)).collect();
    lengths[1500] = 9000;
    lengths.extend([255, 256, 257, 16, 17, 0, 0]);
    let splits = common::random::splits(&lengths);
    let n = splits[lengths.len()];
    let of = |values| HostTensor::from_row_splits(splits.clone(), values);
    let scrambled = |k: u32| k.wrapping_mul(0x9e37_79b9) >> 7;
    let floats = of(HostValues::F32((0..n).map(|k| scrambled(k) as f32 / 1024.0 - 7000.0).collect()));
    let shorts = of(HostValues::I16((0..n).map(|k| scrambled(k) as i16).collect()));
    let mut wrong = Vec::new();
    for host in [floats, shorts] {
        let on = |device: &Device, op: fn(&Tensor) -> Result<Tensor>| {
            outcome(&host.to_device(device).and_then(|x| op(&x)?.to_host()), bits)
        };
        let want: Vec<_> = OPS.iter().map(|(_, op)| on(&Device::cpu(), *op)).collect();
        for tuning in tunings() {
            let Some(device) = tuned(tuning) else { return };
            for ((what, op), want) in OPS.iter().zip(&want) {
                let got = on(&device, *op);
                if got != *want {
                    wrong.push(format!("{what} with {tuning:?}: {got:.200}\n    not {want:.200}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kernels_are_tiled_by_the_tuning() {
    let folder = std::env::temp_dir().join(format!("ragged-tuning-{}", std::process::id()));
    let tuning = Tuning::default().map_tile(4000).map_width(3).row_tile(0);
    let options = DeviceOptions::default().tuning(tuning).dump_wgsl(folder.clone());
    let Some(device) = common::gpu_with(&options) else { return };
    let used = device.tuning().expect("a GPU");
    assert_eq!(
        (used.map_tile, used.map_width, used.row_tile, used.row_cost),
        (4096, 4, 512, Tuning::default().row_cost),
        "the next there is"
    );
    let x = HostTensor::dense(&[20, 300], HostValues::F32(vec![1.5; 6000])).to_device(&device).expect("uploads");
    x.add(&x).and_then(|y| y.eval()).expect("computes");
    x.reduce_sum(1).and_then(|y| y.eval()).expect("computes");
    let texts = std::fs::read_dir(&folder).expect("dumped").map(|f| std::fs::read_to_string(f?.path()));
    let texts: Vec<String> = texts.collect::<std::io::Result<_>>().expect("readable");
    std::fs::remove_dir_all(&folder).expect("ours");
    let vectors = "fn store_out(i: u32, v: vec4<f32>)";
    for cut in ["const MAP_TILE = 4096u;", vectors, "const MAIN_TILE = 512u;", "const STAGES = true;"] {
        assert!(texts.iter().any(|text| text.contains(cut)), "{cut}");
    }
    assert_eq!(Device::cpu().tuning(), None);
}
