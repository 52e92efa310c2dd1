//! A training step is one plan for batches of any sizes and any learning rates, and waits for nothing.

use ragged::{Device, ExplainedKernel, ManyDispatches, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{
    Adam, Bidirectional, Dense, Dropout, Gru, Lstm, MultiHeadAttention, Recurrent, Training, Variables,
    binary_cross_entropy_with_logits,
};

use crate::devices::{bits, dense, numbers, own_devices};
use crate::text::{SENTENCES, batch, loss};

#[test]
fn steps_on_batches_of_texts_are_one_plan() -> Result<()> {
    for device in own_devices() {
        let mut v = Variables::new(&device, Seed(7));
        let batches: Vec<[Tensor; 2]> = (0..50)
            .map(|k| {
                let sentences: Vec<_> = (0..2 + k % 9).map(|n| SENTENCES[(n + k) % 4]).collect();
                batch(&sentences, &device)
            })
            .collect::<Result<_>>()?;
        let [x, y] = &batches[0];
        let mut step = Training::trace(&mut v, [x, y], Adam::default(), loss)?;
        let before = device.stats();
        let mut losses = Vec::new();
        for (k, [x, y]) in batches.iter().enumerate() {
            step.set_learning_rate(0.01 / (k + 1) as f64)?;
            losses.push(step.run(&mut v, [x, y])?);
        }
        let of = device.stats() - before;
        assert_eq!((of.plans, of.waits), (1, 0), "{device:?}: {of:?}");
        assert!(of.submissions <= 50, "{device:?}: {of:?}");
        for loss in &losses {
            assert!(numbers(loss)?[0].is_finite());
        }
    }
    Ok(())
}

#[test]
fn steps_on_vectors_of_ragged_rows_are_one_plan() -> Result<()> {
    for device in own_devices() {
        let mut v = Variables::new(&device, Seed(7));
        // Rows of vectors, and one label per vector.
        let batch = |k: usize| -> Result<[Tensor; 2]> {
            let rows: Vec<Vec<[f32; 3]>> = (0..1 + k % 7).map(|r| vec![[r as f32, 0.5, -1.0]; (r + k) % 4]).collect();
            let labels: Vec<Vec<[f32; 1]>> = rows.iter().map(|row| vec![[1.0]; row.len()]).collect();
            let x = RaggedTensor::from_nested(rows, &device)?.into_erased();
            Ok([x, RaggedTensor::from_nested(labels, &device)?.into_erased()])
        };
        let [x, y] = batch(3)?;
        let mut step = Training::trace(&mut v, [&x, &y], Adam::default(), |v, [x, y]| {
            let hidden = Dropout::new("drop", 0.25).call(v, &Dense::new("hidden", 4).call(v, x)?)?;
            binary_cross_entropy_with_logits(&Dense::new("out", 1).call(v, &hidden)?, y)
        })?;
        let batches = (0..50).map(batch).collect::<Result<Vec<_>>>()?;
        let before = device.stats();
        for [x, y] in &batches {
            step.run(&mut v, [x, y])?;
        }
        let of = device.stats() - before;
        assert_eq!((of.plans, of.waits), (1, 0), "{device:?}: {of:?}");
        assert!(of.submissions <= 50, "{device:?}: {of:?}");
    }
    Ok(())
}

/// The facts of 20 steps on batches of other sizes: plans, and waits.
fn of_steps(device: &Device, of_rows: impl Fn(&Variables, &Tensor) -> Result<Tensor>) -> Result<(u64, u64)> {
    let mut v = Variables::new(device, Seed(7));
    let batch = |k: usize| -> Result<[Tensor; 2]> {
        let vector = |at: usize| -> [f32; 8] { std::array::from_fn(|c| ((at * 8 + c) % 17) as f32 / 8.0 - 1.0) };
        let rows: Vec<Vec<[f32; 8]>> = (0..2 + k % 5).map(|r| (0..(r * 5 + k) % 9).map(vector).collect()).collect();
        let labels: Vec<[f32; 1]> = (0..rows.len()).map(|r| [(r % 2) as f32]).collect();
        let x = RaggedTensor::from_nested(rows, device)?.into_erased();
        Ok([x, RaggedTensor::from_nested(labels, device)?.into_erased()])
    };
    let [x, y] = batch(3)?;
    let mut step = Training::trace(&mut v, [&x, &y], Adam::default(), |v, [x, y]| {
        binary_cross_entropy_with_logits(&Dense::new("out", 1).call(v, &of_rows(v, x)?)?, y)
    })?;
    let batches = (0..20).map(batch).collect::<Result<Vec<_>>>()?;
    let before = device.stats();
    let losses = batches.iter().map(|[x, y]| step.run(&mut v, [x, y])).collect::<Result<Vec<_>>>()?;
    let of = device.stats() - before;
    for loss in &losses {
        assert!(numbers(loss)?[0].is_finite(), "{device:?}");
    }
    Ok((of.plans, of.waits))
}

#[test]
fn recurrent_steps_are_one_plan() -> Result<()> {
    for device in own_devices() {
        let last = |v: &Variables, x: &Tensor| Lstm::new("lstm", 6).call(v, x);
        assert_eq!(of_steps(&device, last)?, (1, 0), "{device:?}: an LSTM");
        let both = |v: &Variables, x: &Tensor| Bidirectional::new("both", |name| Gru::new(name, 4)).call(v, x);
        assert_eq!(of_steps(&device, both)?, (1, 0), "{device:?}: two GRUs");
    }
    Ok(())
}

/// Attention waits for the number of scores, which only the device knows: once in each step on a GPU.
#[test]
fn steps_of_attention_wait_once() -> Result<()> {
    for device in own_devices() {
        let mean = |v: &Variables, x: &Tensor| MultiHeadAttention::new("attention", 2, 4).call(v, x, x)?.reduce_sum(1);
        let (plans, waits) = of_steps(&device, mean)?;
        let most = if device.is_cpu() { 0 } else { 20 };
        assert!(plans <= 3 && waits <= most, "{device:?}: {plans} plans, {waits} waits");
    }
    Ok(())
}

/// Rows of 1,000 vectors take as many kernels as short ones, each of one dispatch. On a GPU, the two sums over all vectors
/// (of the loss, and of the bias's gradient) have a second level; a software adapter, which ends loops after some
/// iterations, divides the recurrences.
#[test]
fn an_lstm_and_its_gradients_are_few_dispatches() -> Result<()> {
    const PARTS: [&str; 3] = ["lstm/kernel", "lstm/recurrent_kernel", "lstm/bias"];
    let layer = Lstm::new("lstm", 32);
    let mut first = None;
    for device in own_devices() {
        let v = Variables::new(&device, Seed(7));
        let vector = |k: usize| -> [f32; 32] { std::array::from_fn(|c| ((k * 32 + c) % 17) as f32 / 8.0 - 1.0) };
        let rows: Vec<Vec<[f32; 32]>> = [9, 1, 0, 1000, 4].iter().map(|&n| (0..n).map(vector).collect()).collect();
        let x = RaggedTensor::from_nested(rows, &device)?.into_erased();
        layer.sequences(&v, &x)?.eval()?;
        let weights = PARTS.iter().map(|part| v.get(part)).collect::<Result<Vec<_>>>()?;
        let inputs = [&[x], &weights[..]].concat();
        let before = device.stats();
        let (loss, gradients) = ragged::value_and_grad(
            |all| {
                for (part, value) in PARTS.iter().zip(&all[1..]) {
                    v.set(part, value)?;
                }
                layer.sequences(&v, &all[0])?.square()?.reduce_sum(..)
            },
            &inputs[..],
        )?;
        let all = [&[loss], &gradients[..]].concat();
        let plan = ragged::explain(&all[..])?;
        // The dispatches that only the limit of a driver's loops takes.
        let of_limit = |kernel: &ExplainedKernel| match kernel.limits.contains(&ManyDispatches::LoopLimit) {
            true => kernel.dispatches - 1,
            false => 0,
        };
        let of_limit: u64 = plan.kernels.iter().map(of_limit).sum();
        assert!(of_limit == 0 || !device.is_cpu(), "{device:?}: {plan}");
        ragged::eval(&all[..])?;
        let of = device.stats() - before;
        assert_eq!(of.waits, 0, "{device:?}: {of:?}");
        assert!(plan.kernels.len() <= 10, "{device:?}: {plan}");
        assert!(of.dispatches <= 12 + of_limit, "{device:?}: {plan}");
        let found: Vec<Vec<u32>> = gradients.iter().map(bits).collect::<Result<_>>()?;
        for (k, gradient) in found.iter().enumerate() {
            assert!(gradient.iter().any(|&d| f32::from_bits(d) != 0.0), "{device:?}: input {k} has no gradient");
        }
        assert!(*first.get_or_insert_with(|| found.clone()) == found, "{device:?}: other bits than on the CPU");
    }
    Ok(())
}

/// Batches of equal sizes, after the first steps: new variables and moments take the memory of old ones.
#[test]
fn steps_of_dense_models_allocate_nothing_new() -> Result<()> {
    for device in own_devices() {
        let mut v = Variables::new(&device, Seed(7));
        let numbers_of_x: Vec<f32> = (0..6400).map(|k| (k as f32).sin()).collect();
        let x = dense(&numbers_of_x, &[64, 100], &device)?;
        let mut step = Training::trace(&mut v, [&x], Adam::default(), |v, [x]| {
            let hidden = Dense::new("hidden", 200).call(v, x)?.relu()?;
            Dense::new("out", 10).call(v, &hidden)?.square()?.reduce_mean(..)
        })?;
        let mut losses = Vec::new();
        let mut run = |steps: usize| -> Result<()> {
            for _ in 0..steps {
                losses.push(numbers(&step.run(&mut v, [&x])?)?[0]);
            }
            Ok(())
        };
        run(5)?;
        let before = device.stats();
        run(30)?;
        let after = device.stats();
        assert_eq!(after.memory_bytes, before.memory_bytes, "{device:?}");
        assert_eq!(after.buffer_bytes_peak, before.buffer_bytes_peak, "{device:?}");
        assert_eq!((after - before).pool_misses, 0, "{device:?}");
        assert!(losses[34] < 0.5 * losses[0], "{device:?}: {losses:?}");
    }
    Ok(())
}
