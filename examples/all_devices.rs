//! One batch on all devices of the machine: rows are divided so that each device gets as many values, and the results are
//! joined. They have the same bits as those of one device.
//!
//!     cargo run --release --example all_devices

use std::thread;
use std::time::Instant;

use ragged::{DType, Device, HostTensor, HostValues, Program, RaggedTensor, Result, Tensor, TensorSpec};

/// A batch on the host: the lengths of the rows, and their values one after another.
struct Batch {
    lengths: Vec<u32>,
    values: Vec<f32>,
}

impl Batch {
    /// Rows of very different lengths, as histories of users have.
    fn generated(rows: u32) -> Self {
        let lengths: Vec<u32> = (0..rows).map(|r| (r.wrapping_mul(2_654_435_761) >> 20).pow(2) >> 17).collect();
        let total: u32 = lengths.iter().sum();
        let values = (0..total).map(|k| (k.wrapping_mul(40_503) % 4096) as f32 / 512.0 - 4.0).collect();
        Self { lengths, values }
    }

    /// Consecutive parts of about the same number of values. A row is not divided.
    fn parts(&self, n: usize) -> Vec<(&[u32], &[f32])> {
        let mut out = Vec::with_capacity(n);
        let (mut lengths, mut values) = (&self.lengths[..], &self.values[..]);
        for left in (1..=n).rev() {
            let share = values.len().div_ceil(left);
            let (mut rows, mut taken) = (0, 0);
            while rows < lengths.len() && (taken < share || left == 1) {
                taken += lengths[rows] as usize;
                rows += 1;
            }
            let (own_lengths, other_lengths) = lengths.split_at(rows);
            let (own_values, other_values) = values.split_at(taken);
            out.push((own_lengths, own_values));
            (lengths, values) = (other_lengths, other_values);
        }
        out
    }
}

/// For each row, its values weighted by their softmax, and products of its count, sum and greatest value with a matrix.
fn pooled(x: &Tensor, by: &Tensor) -> Result<Vec<Tensor>> {
    let weighted = x.multiply(&x.softmax(1)?)?.reduce_sum(1)?;
    let features = Tensor::stack(&[x.ones_like()?.reduce_sum(1)?, x.reduce_sum(1)?, x.reduce_max(1)?], 1)?;
    Ok(vec![weighted, features.matmul(by)?])
}

/// The results of a part on a device, in host memory.
fn on(device: &Device, program: &Program, (lengths, values): (&[u32], &[f32])) -> Result<Vec<HostTensor>> {
    let x = RaggedTensor::from_row_lengths(values.to_vec(), lengths, device)?;
    let by = RaggedTensor::dense((0..12).map(|k| k as f32 / 7.0 - 0.8).collect::<Vec<_>>(), &[3, 4], device)?;
    program.run([x.erased(), by.erased()])?.iter().map(Tensor::to_host).collect()
}

fn main() -> Result<()> {
    let batch = Batch::generated(200_000);
    // Each device that opens; one that a driver refuses is left out.
    let devices: Vec<Device> = Device::each().into_iter().filter_map(|(_, device)| device.ok()).collect();
    let inputs =
        [TensorSpec::new(DType::F32, [None, None]).ragged_rank(1), TensorSpec::new(DType::F32, [Some(3), Some(4)])];
    let program = Program::trace(&inputs, |x| pooled(&x[0], &x[1]))?;

    let start = Instant::now();
    let parts = batch.parts(devices.len());
    let results: Vec<Vec<HostTensor>> = thread::scope(|scope| {
        let run = |(device, part)| {
            scope.spawn({
                let program = &program;
                move || on(device, program, part)
            })
        };
        let running: Vec<_> = devices.iter().zip(parts.iter().copied()).map(run).collect();
        running.into_iter().map(|thread| thread.join().expect("no part panics")).collect::<Result<_>>()
    })?;
    for (device, (lengths, values)) in devices.iter().zip(&parts) {
        println!("{:>9} values in {:>7} rows on {}", values.len(), lengths.len(), device.name());
    }
    let cpu = Device::cpu();
    let joined = |k: usize| {
        let parts: Vec<Tensor> = results.iter().map(|of| of[k].to_device(&cpu)).collect::<Result<_>>()?;
        Tensor::concat(&parts, 0)?.to_host()
    };
    let joined = [joined(0)?, joined(1)?];
    println!("{} results in {:.0?}", batch.lengths.len(), start.elapsed());

    let alone = on(&cpu, &program, (&batch.lengths, &batch.values))?;
    let bits = |of: &HostTensor| match &of.values {
        HostValues::F32(values) => values.iter().map(|v| v.to_bits()).collect::<Vec<_>>(),
        _ => unreachable!("results of f32"),
    };
    assert!(joined.iter().map(bits).eq(alone.iter().map(bits)), "other bits than on one device");
    Ok(())
}
