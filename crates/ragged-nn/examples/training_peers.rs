//! Times training steps for `benches/training_peers.py`, which starts it and compares other libraries.
//!
//! Each line of the standard input asks for a time: `{"work": "lstm", "lengths": [3, 0, 5], "repeats": 3}`. The answer is a
//! line as well: `{"ms": [1.5, 1.4, 1.4]}`, one time per repeat. A step computes the loss of one batch, its gradient and the
//! next variables, and reads the loss. Steps of one work are one program, traced at the first request.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;

use ragged::{Device, HostValues, RaggedTensor, Result, Seed, Tensor};
use ragged_nn::{Adagrad, Embedding, Lstm, MultiHeadAttention, Recurrent, Sgd, Training, Variables};

/// The sizes of `benches/training_peers.py`.
const WIDTH: usize = 32;
const UNITS: usize = 64;
const WORDS: usize = 10_000;
const HEADS: usize = 4;

/// Numbers that depend only on the position.
fn value(k: usize) -> f32 {
    (k * 7919 % 1000) as f32 / 1000.0 - 0.5
}

/// Rows of vectors of that width, of those lengths.
fn vectors<const WIDTH: usize>(lengths: &[usize], device: &Device) -> Result<Tensor> {
    let of: usize = lengths.iter().sum();
    let x = RaggedTensor::dense((0..of * WIDTH).map(value).collect::<Vec<_>>(), &[of, WIDTH], device)?;
    Ok(RaggedTensor::from_row_lengths(&x, lengths, device)?.into_erased())
}

/// Rows of numbers of words of those lengths.
fn words(lengths: &[usize], device: &Device) -> Result<Tensor> {
    let mut k = 0;
    let rows = lengths.iter().map(|&n| {
        k += n;
        (k - n..k).map(|k| (k * 7919 % WORDS) as i32).collect::<Vec<_>>()
    });
    Ok(RaggedTensor::from_nested(rows.collect::<Vec<_>>(), device)?.into_erased())
}

/// Makes a batch of rows of those lengths.
type Batch = fn(&[usize], &Device) -> Result<Tensor>;

/// What is trained, and how a batch of it is made.
struct Work {
    variables: Variables,
    step: Training<1>,
    batch: Batch,
}

fn work(name: &str, device: &Device) -> std::result::Result<Work, Box<dyn Error>> {
    let mut variables = Variables::new(device, Seed(7));
    let v = &mut variables;
    let (step, batch): (_, Batch) = match name {
        "lstm" => {
            let lstm =
                |v: &Variables, [x]: [&Tensor; 1]| Lstm::new("lstm", UNITS).call(v, x)?.square()?.reduce_mean(..);
            (Training::trace(v, [&vectors::<WIDTH>(&[2], device)?], Sgd::new(0.01), lstm)?, vectors::<WIDTH>)
        }
        "embedding_bag" => {
            let bag = |v: &Variables, [x]: [&Tensor; 1]| {
                Embedding::new("words", WORDS, UNITS).call(v, x)?.reduce_mean(1)?.square()?.reduce_mean(..)
            };
            (Training::trace(v, [&words(&[2], device)?], Adagrad::new(0.01), bag)?, words)
        }
        "attention" => {
            let attention = |v: &Variables, [x]: [&Tensor; 1]| {
                let heads = MultiHeadAttention::new("heads", HEADS, UNITS / HEADS);
                heads.call(v, x, x)?.square()?.reduce_mean(..)
            };
            (Training::trace(v, [&vectors::<UNITS>(&[2], device)?], Sgd::new(0.01), attention)?, vectors::<UNITS>)
        }
        _ => return Err(format!("there is no work {name:?}: lstm, embedding_bag, attention").into()),
    };
    Ok(Work { variables, step, batch })
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let device = Device::cpu();
    let mut works: HashMap<String, Work> = HashMap::new();
    for line in stdin().lock().lines() {
        let asked: serde_json::Value = serde_json::from_str(&line?)?;
        let name = asked["work"].as_str().ok_or("a request has no work")?;
        let lengths: Vec<usize> = serde_json::from_value(asked["lengths"].clone())?;
        let repeats: usize = serde_json::from_value(asked["repeats"].clone())?;
        if !works.contains_key(name) {
            works.insert(name.to_owned(), work(name, &device)?);
        }
        let Some(Work { variables, step, batch }) = works.get_mut(name) else { continue };
        let x = batch(&lengths, &device)?;
        let mut took = Vec::new();
        for _ in 0..repeats {
            let started = Instant::now();
            let loss = step.run(variables, [&x])?.to_host()?;
            took.push(1e3 * started.elapsed().as_secs_f64());
            let HostValues::F32(loss) = loss.values else { return Err("a loss of another dtype".into()) };
            if !loss[0].is_finite() {
                return Err(format!("the loss of {name} is {}", loss[0]).into());
            }
        }
        println!("{}", serde_json::json!({ "ms": took }));
        stdout().flush()?;
    }
    Ok(())
}
