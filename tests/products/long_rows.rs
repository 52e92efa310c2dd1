//! Products of long rows that are read by other products and by reductions: their results are not stored.

use ragged::opt::{AttentionKeys, causal, masked};
use ragged::{
    CpuOptions, Device, HostTensor, HostValues, Program, RaggedTensor, Result, Row, Tensor, TensorSpec, eval, explain,
    grad, to_host, value_and_grad,
};

use super::common;
use super::matrix::bits;

/// Rows of these lengths, of vectors of `width` numbers.
fn rows(lengths: &[usize], width: usize, seed: usize, device: &Device) -> Result<Tensor> {
    let n: usize = lengths.iter().sum();
    let numbers: Vec<f32> = (0..n * width).map(|k| ((k * 7919 + seed * 31) % 1000) as f32 / 1000.0 - 0.5).collect();
    let numbers = RaggedTensor::dense(numbers, &[n, width], device)?;
    Ok(RaggedTensor::from_row_lengths(&numbers, lengths, device)?.into_erased())
}

/// Options of attention.
type Options = for<'a> fn(&'a Tensor) -> AttentionKeys<'a>;

/// Queries, keys and values of attention.
struct Operands([Tensor; 3]);

impl Operands {
    fn new(lengths: &[usize], [d, e]: [usize; 2], device: &Device) -> Result<Self> {
        Ok(Self([rows(lengths, d, 1, device)?, rows(lengths, d, 2, device)?, rows(lengths, e, 3, device)?]))
    }

    /// The means, and the gradients of the sum of their squares.
    fn run(&self, options: Options) -> Result<Vec<HostTensor>> {
        let [q, k, v] = &self.0;
        let means = q.scaled_dot_product_attention(options(k), v)?;
        let gradients = grad(
            |x| match x {
                [q, k, v] => q.scaled_dot_product_attention(options(k), v)?.square()?.reduce_sum(..),
                _ => unreachable!("three tensors"),
            },
            [q, k, v],
        )?;
        let all: Vec<&Tensor> = [&means].into_iter().chain(&gradients).collect();
        to_host(&all)
    }
}

fn all(keys: &Tensor) -> AttentionKeys<'_> {
    keys.into()
}

fn near(keys: &Tensor) -> AttentionKeys<'_> {
    causal(masked(keys, |query: &Row, key: &Row| (query - key)?.abs()?.less_equal(100)))
}

const OPTIONS: [(&str, Options); 3] = [("all", all), ("causal", |keys| causal(keys)), ("near", near)];

/// Lengths of rows, and a new device that does not store their scores: a device with the default options, and, as
/// software GPUs compute few scores, one that stores no product.
fn devices_and_lengths() -> Vec<([usize; 4], Device)> {
    let cpu = ([1, 1500, 0, 700], Device::cpu_with(&CpuOptions::default()));
    [cpu].into_iter().chain(common::recomputing_gpu().map(|(_, gpu)| ([1, 300, 0, 200], gpu))).collect()
}

#[test]
fn scores_of_long_rows_take_no_memory() -> Result<()> {
    for (name, options) in OPTIONS {
        for (lengths, device) in devices_and_lengths() {
            let stored = Operands::new(&lengths, [16, 16], &Device::cpu_unfused())?.run(options)?;
            let operands = Operands::new(&lengths, [16, 16], &device)?;
            eval(&operands.0)?;
            let inputs = device.stats().buffer_bytes;
            let found = operands.run(options)?;
            for (k, (found, stored)) in found.iter().zip(&stored).enumerate() {
                assert!(bits::<f32>(found) == bits::<f32>(stored), "{name} on {}, result {k}", device.name());
            }
            let peak = device.stats().buffer_bytes_peak;
            let scores: usize = lengths.iter().map(|n| 4 * n * n).sum();
            let what = format!("{peak} bytes for inputs of {inputs}, and scores of {scores}");
            // Short rows on a GPU: the partial results of a reduction take a number of bytes of their own.
            let most = if device.is_cpu() { 4 } else { 6 };
            assert!(peak <= most * inputs, "{name} on {}: {what}", device.name());
        }
    }
    Ok(())
}

/// Inputs, results and all that is stored in between. All devices, with the default options. Nothing runs.
#[test]
fn kernels_of_long_rows_write_no_scores() -> Result<()> {
    for (name, device) in common::devices() {
        let Operands([q, k, v]) = Operands::new(&[20_000], [16, 16], &device)?;
        let square = |x: &[Tensor]| x[0].scaled_dot_product_attention(&x[1], &x[2])?.square()?.reduce_sum(..);
        let means = q.scaled_dot_product_attention(&k, &v)?;
        let (_, gradients) = value_and_grad(square, [&q, &k, &v])?;
        let inputs = 3 * 20_000 * 16 * 4;
        let explained = explain([&means].into_iter().chain(&gradients).collect::<Vec<_>>())?;
        let written: u64 = explained.kernels.iter().map(|kernel| kernel.bytes_written).sum();
        assert!(inputs + written <= 4 * inputs, "{name}: {written} bytes for inputs of {inputs}: {explained}");
    }
    Ok(())
}

#[test]
fn programs_store_scores_of_short_rows() -> Result<()> {
    let device = Device::cpu_with(&CpuOptions::default());
    let [q, k, v] = Operands::new(&[3], [4, 4], &device)?.0;
    let specs = [&q, &k, &v].map(TensorSpec::of);
    let program = Program::trace(&specs, |x| x[0].scaled_dot_product_attention(&x[1], &x[2]))?;
    for lengths in [&[5, 0, 7][..], &[1200, 3], &[4], &[1, 1300], &[2, 2, 2]] {
        let [q, k, v] = Operands::new(lengths, [4, 4], &device)?.0;
        let found = program.run([&q, &k, &v])?.remove(0);
        let want = Operands::new(lengths, [4, 4], &Device::cpu_unfused())?.0;
        let want = want[0].scaled_dot_product_attention(&want[1], &want[2])?.to_host()?;
        assert!(bits::<f32>(&found.to_host()?) == bits::<f32>(&want), "{lengths:?}");
    }
    Ok(())
}

/// A program that was traced for any rows takes many short rows for what they are: 64 rows of 32 have 65,536 scores,
/// though as many values in one row have 4,194,304.
#[test]
fn programs_store_scores_of_many_short_rows() -> Result<()> {
    let device = Device::cpu_with(&CpuOptions::default());
    let attention = |x: &[Tensor]| x[0].scaled_dot_product_attention(&x[1], &x[2]);
    let [q, k, v] = Operands::new(&[3], [8, 8], &device)?.0;
    let program = Program::trace(&[&q, &k, &v].map(TensorSpec::of), attention)?;
    let dispatches = |lengths: &[usize]| -> Result<[u64; 2]> {
        let operands = Operands::new(lengths, [8, 8], &device)?.0;
        let [q, k, v] = &operands;
        let before = device.stats().dispatches;
        program.run([q, k, v])?[0].to_host()?;
        let after = device.stats().dispatches;
        attention(&operands)?.to_host()?;
        Ok([after - before, device.stats().dispatches - after])
    };
    let (stored, computed) = (dispatches(&[32; 64])?, dispatches(&[2048])?);
    assert_eq!(stored, computed.map(|n| n + 1), "with and without a program");
    Ok(())
}

#[test]
fn devices_that_store_no_products_have_fewer_kernels() -> Result<()> {
    let kernels = |device: &Device| -> Result<usize> {
        let [q, k, v] = Operands::new(&[3, 5], [4, 4], device)?.0;
        Ok(q.scaled_dot_product_attention(&k, &v)?.explain()?.kernels.len())
    };
    let devices = common::every_way();
    for (name, recomputing) in devices {
        let Some(kind) = name.strip_suffix(" recomputing") else { continue };
        let (_, stores) = devices.iter().find(|(name, _)| name == kind).expect("a device with the default options");
        assert_eq!(kernels(recomputing)? + 1, kernels(stores)?, "{name}");
    }
    Ok(())
}

/// Whoever reads the scores gets those that the means were computed from.
#[test]
fn scores_that_are_read_are_stored() -> Result<()> {
    let device = Device::cpu_with(&CpuOptions::default());
    let [q, k, v] = Operands::new(&[1100, 2], [3, 3], &device)?.0;
    let scores = q.matmul(k.t())?;
    let weights = scores.softmax(-1)?;
    let means = weights.matmul(&v)?;
    eval([&scores, &weights, &means])?;
    let again = q.matmul(k.t())?.softmax(-1)?.matmul(&v)?;
    assert!(bits::<f32>(&means.to_host()?) == bits::<f32>(&again.to_host()?));
    let HostValues::F32(of_scores) = scores.to_host()?.values else { panic!("f32") };
    assert_eq!(of_scores.len(), 1100 * 1100 + 4);
    Ok(())
}

/// One row of more scores than a block, reductions of rows of a dense product, and integers.
#[test]
fn reductions_of_products_have_the_bits_of_stored_ones() -> Result<()> {
    let run = |device: &Device| -> Result<Vec<HostTensor>> {
        let (one, many) = (rows(&[2], 3, 1, device)?, rows(&[600_000], 3, 2, device)?);
        let scores = one.matmul(many.t())?;
        let [points, others] = [1, 2].map(|seed| rows(&[1100], 6, seed, device)).map(|x| x?.merge_dims(0, 1));
        let (points, others) = (points?, others?);
        let distances = points.matmul(others.t())?;
        let places = distances.multiply(1000.0)?.floor()?;
        let integers = points.multiply(50.0)?.cast(ragged::DType::I32)?;
        let products = integers.matmul(integers.t())?;
        to_host([
            &scores.reduce_max(-1)?,
            &scores.softmax(-1)?.matmul(&many)?,
            &distances.reduce_min(1)?,
            &distances.argmax(1)?.cast(ragged::DType::F32)?,
            &places.reduce_sum(1)?,
            &products.reduce_sum(1)?.cast(ragged::DType::F32)?,
        ])
    };
    let want = run(&Device::cpu_unfused())?;
    for (name, device) in common::devices().iter().chain([&("recomputing".to_owned(), Device::cpu_recomputing())]) {
        for (k, (found, want)) in run(device)?.iter().zip(&want).enumerate() {
            assert!(bits::<f32>(found) == bits::<f32>(want), "result {k} on {name}");
        }
    }
    Ok(())
}
