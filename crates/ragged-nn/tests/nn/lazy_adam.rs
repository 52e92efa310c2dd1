//! `LazyAdam` on random batches: the formula in loops over the rows that a batch looks up, whether the step owns the table
//! or not, on the CPU, a GPU, and a GPU whose bindings hold a part of the table.

use std::collections::{BTreeMap, BTreeSet};

use ragged::{Device, DeviceOptions, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{Adam, Embedding, LazyAdam, Training, Variables};

use crate::devices::{assert_near, bits, numbers, own_devices};

const TABLE: &str = "words/embeddings";
const RATE: f32 = 0.01;
const EPSILON: f32 = 1e-7;
/// Bytes of a binding of the device with small limits: 16,384 numbers.
const BINDING: u64 = 64 << 10;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 33) as usize) % n.max(1)
    }
}

/// Rows of ids, and the derivative of the loss by each number that is looked up: small multiples of 1/8, whose sums are
/// exact in any order.
struct Batch {
    ids: Vec<Vec<i32>>,
    derivatives: Vec<f32>,
    /// Whether the table is held elsewhere in the step.
    is_held: bool,
}

impl Batch {
    fn random(random: &mut Random, [rows, width]: [usize; 2]) -> Self {
        // Few distinct ids, which later batches look up again.
        let distinct = 1 + random.below(rows.min(60));
        let nrows = random.below(20);
        let ids: Vec<Vec<i32>> = (0..nrows)
            .map(|_| (0..random.below(6)).map(|_| (random.below(distinct) * 7919 % rows) as i32).collect())
            .collect();
        let n = ids.iter().map(Vec::len).sum::<usize>() * width;
        let derivatives = (0..n).map(|_| random.below(17) as f32 / 8.0 - 1.0).collect();
        Self { ids, derivatives, is_held: random.below(2) == 0 }
    }

    fn inputs(&self, width: usize, device: &Device) -> Result<[Tensor; 2]> {
        let shape = [self.derivatives.len() / width, width];
        let derivatives = RaggedTensor::dense(self.derivatives.as_slice(), &shape, device)?;
        Ok([RaggedTensor::from_nested(self.ids.clone(), device)?.into_erased(), derivatives.into_erased()])
    }
}

/// A table, its momentum and its velocity.
#[derive(Clone)]
struct Naive {
    all: [Vec<f32>; 3],
    betas: [f32; 2],
    step: i32,
}

impl Naive {
    /// The rows that the batch looks up change by Adam's formula, also those whose derivatives add up to 0.
    fn step(&mut self, batch: &Batch, width: usize) {
        self.step += 1;
        let mut gradients = BTreeMap::<usize, Vec<f32>>::new();
        for (id, derivatives) in batch.ids.iter().flatten().zip(batch.derivatives.chunks(width)) {
            let sums = gradients.entry(*id as usize).or_insert_with(|| vec![0.0; width]);
            sums.iter_mut().zip(derivatives).for_each(|(sum, g)| *sum += g);
        }
        let [beta_1, beta_2] = self.betas;
        let [of_m, of_v] = self.betas.map(|beta| 1.0 - beta.powi(self.step));
        let [x, m, v] = &mut self.all;
        for (row, gradient) in gradients {
            for (k, g) in (row * width..).zip(gradient) {
                m[k] += (g - m[k]) * (1.0 - beta_1);
                v[k] += (g * g - v[k]) * (1.0 - beta_2);
                x[k] -= RATE * of_v.sqrt() / of_m * m[k] / (v[k].sqrt() + EPSILON);
            }
        }
    }
}

/// The table, its momentum and its velocity.
fn state(v: &Variables, step: &Training<2>) -> Result<[Tensor; 3]> {
    let slot = |name| step.state().get(&format!("lazy_adam/{name}/{TABLE}"));
    Ok([v.get(TABLE)?, slot("momentum")?, slot("velocity")?])
}

#[test]
fn random_steps_are_those_of_loops() -> Result<()> {
    let mut devices = own_devices();
    if devices.len() > 1 {
        devices.push(Device::gpu_with(&DeviceOptions::default().max_binding(BINDING))?);
    }
    for seed in 0..12 {
        let mut random = Random(seed);
        let width = [1, 3, 4, 17][random.below(4)];
        // Half of the tables take several of the small bindings.
        let least = if seed % 2 == 0 { 513 } else { 3 * BINDING as usize / 4 };
        let size @ [rows, _] = [least / width + 1 + random.below(300), width];
        // Corrections of a decay near 1 lose most of their bits.
        let betas = [[0.9, 0.97], [0.5, 0.75], [0.0, 0.0]][random.below(3)];
        let batches: Vec<Batch> = (0..8).map(|_| Batch::random(&mut random, size)).collect();
        let mut of_cpu: Option<Vec<Vec<u32>>> = None;
        for device in &devices {
            let words = Embedding::new("words", rows, width);
            let mut v = Variables::new(device, Seed(seed));
            let [ids, derivatives] = batches[0].inputs(width, device)?;
            let adam = Adam::new(RATE.into()).beta_1(betas[0]).beta_2(betas[1]).epsilon(EPSILON.into());
            let mut step = Training::trace(&mut v, [&ids, &derivatives], LazyAdam::new(adam), |v, [ids, by]| {
                words.call(v, ids)?.flat_values()?.multiply(by)?.reduce_sum(..)
            })?;
            let start = state(&v, &step)?;
            let [x, m, velocity] = &start;
            let all = [numbers(x)?, numbers(m)?, numbers(velocity)?];
            let mut naive = Naive { all, betas: betas.map(|beta| beta as f32), step: 0 };
            drop(start);
            for (k, batch) in batches.iter().enumerate() {
                let what = format!("seed {seed}, step {k} of {rows}x{width}, {device:?}");
                let before = naive.clone();
                naive.step(batch, width);
                let used: BTreeSet<usize> = batch.ids.iter().flatten().map(|&id| id as usize).collect();
                let held = batch.is_held.then(|| state(&v, &step)).transpose()?;
                let of_held = held.iter().flatten().map(bits).collect::<Result<Vec<_>>>()?;
                let [ids, derivatives] = batch.inputs(width, device)?;
                step.run(&mut v, [&ids, &derivatives])?;
                for ((found, want), old) in state(&v, &step)?.iter().zip(&mut naive.all).zip(&before.all) {
                    let found = numbers(found)?;
                    assert_near(&found, want, &what);
                    for (row, (found, old)) in found.chunks(width).zip(old.chunks(width)).enumerate() {
                        let is_same = used.contains(&row) || found == old;
                        assert!(is_same, "{what}: row {row} is not looked up: {found:?}, not {old:?}");
                    }
                    // Later steps begin with the same numbers.
                    *want = found;
                }
                let after = held.iter().flatten().map(bits).collect::<Result<Vec<_>>>()?;
                assert!(after == of_held, "{what}: a table that is held elsewhere");
            }
            let found = state(&v, &step)?.iter().map(bits).collect::<Result<Vec<_>>>()?;
            let of_cpu = of_cpu.get_or_insert_with(|| found.clone());
            assert!(*of_cpu == found, "seed {seed}: the bits of {device:?}");
        }
    }
    Ok(())
}
