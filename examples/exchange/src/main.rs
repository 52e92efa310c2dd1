//! Models whose first part is of ragged and whose head is of candle or of burn, trained together.
//!
//! ```sh
//! cargo run --manifest-path examples/exchange/Cargo.toml
//! ```
//!
//! Rows of ids are looked up in a table and summed by ragged: the features of a row are dense, `[rows, WIDTH]`. The head
//! of another library computes the loss of the features and its derivative by them, and changes its own weights. The
//! derivative is an input of the step of ragged, whose loss is `sum(features * derivative)`: the gradient of that loss is
//! the derivative of the head's loss by the table (a vector-Jacobian product).
//!
//! Tensors are exchanged as flat values in host memory: `RaggedTensor::to_vec` and `RaggedTensor::dense` each copy them
//! once, `candle_core::Tensor::from_vec` and `burn_tensor::TensorData::new` take them without a copy.

mod with_burn;
mod with_candle;

use std::error::Error;

use ragged::{Device, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{Dense, Embedding, Initializer, Sgd, Training, Variables, mean_squared_error};

type Outcome<T> = std::result::Result<T, Box<dyn Error>>;

/// Rows of the table, and numbers of each.
const IDS: usize = 16;
const WIDTH: usize = 4;
const STEPS: usize = 60;
const RATE: f64 = 0.1;
/// The variable of the table.
const TABLE: &str = "words/embeddings";

/// What another library computes of the features.
trait Head {
    /// The name of the library.
    const NAME: &'static str;

    /// A head whose weights are zeros.
    fn new() -> Outcome<Self>
    where
        Self: Sized;

    /// A table of embeddings of the library, `[IDS, WIDTH]`, and its rows at the ids.
    fn table(ids: &[u32]) -> Outcome<[Vec<f32>; 2]>;

    /// A step of gradient descent of the head: the mean squared error, and its derivative by the features.
    fn step(&mut self, features: Vec<f32>, labels: &[f32]) -> Outcome<(f32, Vec<f32>)>;
}

/// The sum of the vectors of each row's ids. A row without ids has zeros.
fn features(v: &Variables, rows: &Tensor) -> Result<Tensor> {
    Embedding::new("words", IDS, WIDTH).call(v, rows)?.reduce_sum(1)
}

/// Variables whose table has these values.
fn variables(table: &[f32], rows: &Tensor) -> Result<Variables> {
    let device = rows.device();
    let v = Variables::new(&device, Seed(7));
    // The first call makes the variable.
    features(&v, rows)?;
    v.set(TABLE, &RaggedTensor::dense(table, &[IDS, WIDTH], &device)?)?;
    Ok(v)
}

fn numbers(x: &Tensor) -> Result<Vec<f32>> {
    RaggedTensor::<f32>::try_from(x.clone())?.to_vec()
}

/// Losses of steps, and the table after them.
struct Trained {
    losses: Vec<f32>,
    table: Vec<f32>,
}

/// Training of the table by ragged and of the head by the other library.
fn trained_with<H: Head>(table: &[f32], rows: &Tensor, labels: &[f32]) -> Outcome<Trained> {
    let device = rows.device();
    let mut v = variables(table, rows)?;
    let mut head = H::new()?;
    // The values of the derivative are not used to record the step.
    let derivative = features(&v, rows)?;
    let mut step = Training::trace(&mut v, [rows, &derivative], Sgd::new(RATE), |v, [rows, derivative]| {
        features(v, rows)?.multiply(derivative)?.reduce_sum(..)
    })?;
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        let (loss, derivative) = head.step(numbers(&features(&v, rows)?)?, labels)?;
        let derivative = RaggedTensor::dense(derivative, &[labels.len(), WIDTH], &device)?;
        step.run(&mut v, [rows, &derivative])?;
        losses.push(loss);
    }
    Ok(Trained { losses, table: numbers(&v.get(TABLE)?)? })
}

/// Training of both parts by ragged.
fn trained(table: &[f32], rows: &Tensor, labels: &[f32]) -> Outcome<Trained> {
    let mut v = variables(table, rows)?;
    let head = Dense::new("head", 1).kernel_initializer(Initializer::Zeros);
    let labels = RaggedTensor::dense(labels, &[labels.len(), 1], &rows.device())?;
    let mut step = Training::trace(&mut v, [rows, &labels], Sgd::new(RATE), |v, [rows, labels]| {
        mean_squared_error(&head.call(v, &features(v, rows)?)?, labels)
    })?;
    let losses: Vec<Tensor> = (0..STEPS).map(|_| step.run(&mut v, [rows, &labels])).collect::<Result<_>>()?;
    Ok(Trained { losses: numbers(&Tensor::stack(&losses, 0)?)?, table: numbers(&v.get(TABLE)?)? })
}

/// Whether numbers that were summed in different orders are the same up to rounding.
fn are_close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-5 * (1.0 + b.abs()))
}

/// Tables and gradients exchanged with a library give the numbers of ragged.
fn compare<H: Head>(device: &Device) -> Outcome<()> {
    let rows = RaggedTensor::from_nested([vec![3, 1, 4, 1], vec![], vec![5, 9], vec![2, 6, 5, 3, 5]], device)?;
    let labels = [1.0, 0.5, -1.0, 2.0];
    let [table, looked_up] = H::table(&rows.to_vec()?.iter().map(|&id| id as u32).collect::<Vec<_>>())?;

    let v = variables(&table, rows.erased())?;
    let vectors = Embedding::new("words", IDS, WIDTH).call(&v, &rows)?;
    assert_eq!(numbers(&v.get(TABLE)?)?, table, "the table of {}", H::NAME);
    assert_eq!(numbers(&vectors)?, looked_up, "rows of the table of {}", H::NAME);

    let found = trained_with::<H>(&table, rows.erased(), &labels)?;
    let want = trained(&table, rows.erased(), &labels)?;
    assert!(are_close(&found.losses, &want.losses), "{}: {:?}, not {:?}", H::NAME, found.losses, want.losses);
    assert!(are_close(&found.table, &want.table), "{}: {:?}, not {:?}", H::NAME, found.table, want.table);
    let [first, .., last] = found.losses[..] else { return Err("no steps".into()) };
    assert!(last < 0.1 * first, "{}: losses {:?}", H::NAME, found.losses);
    println!("{}: loss {first:.4}, after {STEPS} steps {last:.4}", H::NAME);
    Ok(())
}

fn main() -> Outcome<()> {
    let device = Device::cpu();
    compare::<with_candle::Linear>(&device)?;
    compare::<with_burn::Linear>(&device)
}
