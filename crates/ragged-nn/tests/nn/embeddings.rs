//! Steps that update the rows of an embedding that are used: the bits of dense steps, and few bytes.

use ragged::{Device, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{
    Adagrad, Adam, Clip, Clipped, Embedding, Initializer, LazyAdam, Optimizer, Sgd, Slot, Training, Update, Variables,
};

use crate::devices::{bits, numbers, own_devices};

/// An optimizer that updates all rows.
struct AllRows<O>(O);

impl<O: Optimizer> Optimizer for AllRows<O> {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn learning_rate(&self) -> f64 {
        self.0.learning_rate()
    }
    fn slots(&self) -> Vec<Slot> {
        self.0.slots()
    }
    fn gradients(&self, gradients: Vec<Tensor>) -> Result<Vec<Tensor>> {
        self.0.gradients(gradients)
    }
    fn update(&self, of: &Update<'_>) -> Result<Vec<Tensor>> {
        self.0.update(of)
    }
}

/// Ids in ragged rows, with duplicates and empty rows; some batches are empty.
fn batch(k: usize, rows: usize, device: &Device) -> Result<Tensor> {
    let nrows = [40, 0, 1, 90, 7][k % 5];
    let row = |r: usize| (0..(r * 7 + k) % 13).map(|j| ((j * j * 31 + r * 577 + k * 977) % rows) as i32).collect();
    Ok(RaggedTensor::from_nested((0..nrows).map(row).collect::<Vec<Vec<i32>>>(), device)?.into_erased())
}

/// The loss of an embedding of that many rows.
fn loss(v: &Variables, ids: &Tensor, rows: usize) -> Result<Tensor> {
    let found = Embedding::new("words", rows, 16).call(v, ids)?;
    found.square()?.add(&found)?.sin()?.reduce_sum(1)?.square()?.reduce_sum(..)
}

/// The bits of the table and of the state after 20 steps.
fn trained(device: &Device, optimizer: impl Optimizer, rows: usize) -> Result<Vec<Vec<u32>>> {
    let mut v = Variables::new(device, Seed(7));
    let first = batch(0, rows, device)?;
    let mut step = Training::trace(&mut v, [&first], optimizer, |v, [ids]| loss(v, ids, rows))?;
    v.get("words/embeddings")?.eval()?;
    let plans = device.stats().plans;
    for k in 0..20 {
        step.run(&mut v, [&batch(k, rows, device)?])?;
    }
    assert_eq!(device.stats().plans - plans, 1, "{device:?}");
    let names = step.state().names();
    let slots = names.iter().filter(|name| *name != "step").map(|name| bits(&step.state().get(name)?));
    std::iter::once(bits(&v.get("words/embeddings")?)).chain(slots).collect()
}

#[test]
fn used_rows_are_updated_to_the_bits_of_dense_steps() -> Result<()> {
    let clipped = || Clipped::new(Adagrad::new(0.05), Clip::Value(0.25));
    let mut all = Vec::new();
    for device in own_devices() {
        let of = [
            (trained(&device, Sgd::new(0.05), 700)?, trained(&device, AllRows(Sgd::new(0.05)), 700)?),
            (trained(&device, Adagrad::new(0.05), 700)?, trained(&device, AllRows(Adagrad::new(0.05)), 700)?),
            (trained(&device, clipped(), 700)?, trained(&device, AllRows(clipped()), 700)?),
        ];
        for (k, (rows, dense)) in of.iter().enumerate() {
            assert!(rows == dense, "{device:?}: optimizer {k}");
        }
        all.push(of);
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "the bits of devices");
    Ok(())
}

#[test]
fn lazy_adam_changes_the_used_rows_alone() -> Result<()> {
    let rows = 300;
    for device in own_devices() {
        let mut v = Variables::new(&device, Seed(7));
        let ids = RaggedTensor::from_nested([vec![7, 9], vec![], vec![7]], &device)?;
        let mut step = Training::trace(&mut v, [&ids], LazyAdam::default(), |v, [ids]| loss(v, ids, rows))?;
        step.run(&mut v, [&ids])?;
        let before = numbers(&v.get("words/embeddings")?)?;
        let other = RaggedTensor::from_nested([vec![3, 9]], &device)?;
        step.run(&mut v, [&other])?;
        let after = numbers(&v.get("words/embeddings")?)?;
        let changed: Vec<usize> = (0..rows).filter(|r| before[r * 16..][..16] != after[r * 16..][..16]).collect();
        assert_eq!(changed, [3, 9], "{device:?}");
        // Where all rows are used, both are the same.
        let all = RaggedTensor::from_nested([(0..rows as i32).collect::<Vec<_>>()], &device)?;
        let values = |optimizer: &dyn Fn(&mut Variables) -> Result<Training<1>>| {
            let mut v = Variables::new(&device, Seed(7));
            let mut step = optimizer(&mut v)?;
            for _ in 0..3 {
                step.run(&mut v, [&all])?;
            }
            bits(&v.get("words/embeddings")?)
        };
        let adam = values(&|v| Training::trace(v, [&all], Adam::default(), |v, [ids]| loss(v, ids, rows)))?;
        let lazy = values(&|v| Training::trace(v, [&all], LazyAdam::default(), |v, [ids]| loss(v, ids, rows)))?;
        assert!(adam == lazy, "{device:?}");
    }
    Ok(())
}

#[test]
fn a_table_that_is_held_elsewhere_keeps_its_values() -> Result<()> {
    for device in own_devices() {
        let mut v = Variables::new(&device, Seed(7));
        let ids = batch(0, 700, &device)?;
        let mut step = Training::trace(&mut v, [&ids], Sgd::new(0.5), |v, [ids]| loss(v, ids, 700))?;
        let held = v.get("words/embeddings")?;
        let before = bits(&held)?;
        step.run(&mut v, [&ids])?;
        assert_eq!(bits(&held)?, before, "{device:?}");
        assert_ne!(bits(&v.get("words/embeddings")?)?, before, "{device:?}");
    }
    Ok(())
}

/// A table of 1,000,000 x 16, and 1,000 ids.
#[test]
fn a_step_on_a_large_table_moves_few_bytes() -> Result<()> {
    fn moved(device: &Device, optimizer: impl Optimizer) -> Result<u64> {
        let rows = 1_000_000;
        let mut v = Variables::new(device, Seed(7));
        let ids: Vec<i32> = (0..1000).map(|k| (k * k * 31 + 977) % rows).collect();
        let ids = RaggedTensor::from_nested(ids, device)?;
        let words = Embedding::new("words", rows as usize, 16).initializer(Initializer::Constant(0.5));
        let mut step = Training::trace(&mut v, [&ids], optimizer, |v, [ids]| {
            let found = words.call(v, ids)?;
            found.square()?.add(&found)?.sin()?.reduce_mean(..)
        })?;
        let mut moved = 0;
        for _ in 0..3 {
            let before = device.stats();
            step.run(&mut v, [&ids])?;
            moved = (device.stats() - before).bytes_moved;
        }
        Ok(moved)
    }
    for device in own_devices() {
        let (sgd, adagrad) = (moved(&device, Sgd::new(0.05))?, moved(&device, Adagrad::new(0.05))?);
        println!("{}: {sgd} and {adagrad} bytes", device.name());
        assert!(sgd <= 1 << 20 && adagrad <= 1 << 20, "{device:?}: {sgd} and {adagrad} bytes");
    }
    Ok(())
}
