//! A training step is one plan for batches of any sizes and any learning rates, and waits for nothing.

use ragged::{RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{Adam, Dense, Dropout, Training, Variables, binary_cross_entropy_with_logits};

use crate::devices::{numbers, own_devices};
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
