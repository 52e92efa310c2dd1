//! A recurrent model of the characters of lines, compared with counts of pairs of characters.
//!
//! ```sh
//! cargo run --release -p ragged-nn --example characters -- [text.txt [STEPS [CURVE.svg]]]
//! ```
//!
//! Each line is a row: the model reads a line's characters and predicts the next one, the end of the line included. An
//! embedding, an LSTM and a dense layer give the logits. Every tenth line is held out. Without a file the model is trained on a
//! few built-in lines.

mod chart;

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;

use chart::Curve;
use indicatif::{ProgressBar, ProgressStyle};
use ragged::{DType, Device, Program, RaggedTensor, Result, Seed, Tensor, TensorSpec, s};
use ragged_nn::{
    Adam, Clip, Clipped, Dense, Embedding, Lstm, Recurrent, Training, Variables,
    sparse_categorical_cross_entropy_with_logits,
};

const BATCH: usize = 64;
const UNITS: usize = 96;
/// The number of the start and of the end of a line.
const END: i32 = 0;

/// From Shakespeare's sonnets.
pub const LINES: &str = "Shall I compare thee to a summer's day?
Thou art more lovely and more temperate:
Rough winds do shake the darling buds of May,
And summer's lease hath all too short a date:
Sometime too hot the eye of heaven shines,
And often is his gold complexion dimm'd;
And every fair from fair sometime declines,
By chance or nature's changing course untrimm'd;
But thy eternal summer shall not fade
Nor lose possession of that fair thou owest;
Nor shall Death brag thou wander'st in his shade,
When in eternal lines to time thou growest:
So long as men can breathe or eyes can see,
So long lives this and this gives life to thee.";

/// The logits of the character after each one.
fn model(v: &Variables, characters: &Tensor, count: usize) -> Result<Tensor> {
    let vectors = Embedding::new("characters", count, 24).call(v, characters)?;
    Dense::new("out", count).call(v, &Lstm::new("lstm", UNITS).sequences(v, &vectors)?)
}

/// Lines as numbers of characters, the end included.
type Lines = Vec<Vec<i32>>;

/// The inputs and the labels of lines: each input begins with the end of the line before.
fn batch(lines: &[Vec<i32>], device: &Device) -> Result<[Tensor; 2]> {
    let inputs: Lines = lines.iter().map(|line| [&[END][..], &line[..line.len() - 1]].concat()).collect();
    let labels = RaggedTensor::from_nested(lines.to_vec(), device)?.into_erased();
    Ok([RaggedTensor::from_nested(inputs, device)?.into_erased(), labels])
}

/// The perplexity of held-out lines by counts of pairs of characters, each pair counted once more.
fn perplexity_of_pairs(train: &Lines, held_out: &Lines, count: usize) -> f64 {
    let pairs = |line: &Vec<i32>| -> Vec<[usize; 2]> {
        let before = std::iter::once(&END).chain(line);
        before.zip(line).map(|(&a, &b)| [a as usize, b as usize]).collect()
    };
    let mut counts = vec![vec![1f64; count]; count];
    train.iter().flat_map(pairs).for_each(|[a, b]| counts[a][b] += 1.0);
    let terms = held_out.iter().flat_map(pairs);
    let logs: Vec<f64> = terms.map(|[a, b]| (counts[a][b] / counts[a].iter().sum::<f64>()).ln()).collect();
    (-logs.iter().sum::<f64>() / logs.len() as f64).exp()
}

/// The perplexity of held-out lines by the model.
fn perplexity(v: &Variables, held_out: &Lines, count: usize, device: &Device) -> Result<f64> {
    let (mut sum, mut characters) = (0.0, 0);
    for lines in held_out.chunks(256) {
        let [x, y] = batch(lines, device)?;
        let of = lines.iter().map(Vec::len).sum::<usize>();
        let loss = sparse_categorical_cross_entropy_with_logits(&model(v, &x, count)?, &y)?;
        sum += f64::from(RaggedTensor::<f32>::try_from(loss)?.item()?) * of as f64;
        characters += of;
    }
    Ok((sum / characters as f64).exp())
}

/// A line that the model draws, character by character.
fn sampled(program: &Program, alphabet: &[char], random: &mut u64, device: &Device) -> Result<String> {
    let mut line = vec![END];
    while line.len() < 80 {
        let x = RaggedTensor::from_nested([line.clone()], device)?;
        let shares = RaggedTensor::<f32>::try_from(program.run(&x)?.remove(0))?.to_vec()?;
        // Knuth's linear congruential generator.
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut rest = (*random >> 40) as f32 / (1u32 << 24) as f32;
        let drawn = shares.iter().position(|share| {
            rest -= share;
            rest < 0.0
        });
        match drawn {
            None | Some(0) => break,
            Some(k) => line.push(k as i32),
        }
    }
    Ok(line[1..].iter().map(|&k| alphabet[k as usize - 1]).collect())
}

/// What a run finds.
pub struct Found {
    /// The perplexity of held-out lines by counts of pairs of characters.
    pub of_pairs: f64,
    /// The perplexity of the batch of each step.
    pub of_batches: Vec<f64>,
    /// The step, and the perplexity of held-out lines after it.
    pub of_held_out: Vec<(usize, f64)>,
    /// Lines that the model draws.
    pub drawn: Vec<String>,
}

/// Trains the model on the lines of a text.
pub fn trained(text: &str, steps: usize, device: &Device) -> std::result::Result<Found, Box<dyn Error>> {
    let alphabet: Vec<char> = text.chars().filter(|&c| c != '\n').collect::<BTreeSet<_>>().into_iter().collect();
    let number = |c: char| alphabet.binary_search(&c).map_or(END, |k| k as i32 + 1);
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines: Lines = lines.map(|line| line.chars().map(number).chain([END]).collect()).collect();
    let (held_out, train): (Vec<_>, Vec<_>) = lines.into_iter().enumerate().partition(|(k, _)| k % 10 == 9);
    let [held_out, train] = [held_out, train].map(|of| of.into_iter().map(|(_, line)| line).collect::<Lines>());
    let count = alphabet.len() + 1;
    let of_pairs = perplexity_of_pairs(&train, &held_out, count);
    println!("{} lines, {} held out; perplexity of pairs {of_pairs:.3}", train.len(), held_out.len());

    let mut v = Variables::new(device, Seed(7));
    let [x, y] = batch(&train[..BATCH.min(train.len())], device)?;
    let optimizer = Clipped::new(Adam::new(0.005), Clip::GlobalNorm(1.0));
    let mut step = Training::trace(&mut v, [&x, &y], optimizer, |v, [x, y]| {
        sparse_categorical_cross_entropy_with_logits(&model(v, x, count)?, y)
    })?;
    let (mut of_batches, mut of_held_out) = (Vec::new(), Vec::new());
    let bar =
        ProgressBar::new(steps as u64).with_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} {eta} {msg}")?);
    for k in 0..steps {
        // Lines far from each other, the same ones in each run.
        let lines: Lines =
            (0..BATCH).map(|n| train[(k * BATCH + n).wrapping_mul(7919) % train.len()].clone()).collect();
        let [x, y] = batch(&lines, device)?;
        // The read waits for each step, for the progress bar. Without it the host makes the next batch while the device computes.
        let loss = f64::from(RaggedTensor::<f32>::try_from(step.run(&mut v, [&x, &y])?)?.item()?);
        of_batches.push(loss.exp());
        if (k + 1) % 100 == 0 || k + 1 == steps {
            let found = perplexity(&v, &held_out, count, device)?;
            of_held_out.push((k + 1, found));
            bar.println(format!("step {}: perplexity {found:.3} of held-out lines", k + 1));
        }
        bar.set_message(format!("perplexity {:.2}", loss.exp()));
        bar.inc(1);
    }
    bar.finish_and_clear();

    let spec = TensorSpec::new(DType::I32, [None, None]).ragged_rank(1);
    let next = Program::trace(&[spec], |x| model(&v, &x[0], count)?.flat_values()?.slice(s![-1])?.softmax(-1))?;
    let mut random = 7;
    let drawn = (0..6).map(|_| sampled(&next, &alphabet, &mut random, device)).collect::<Result<_>>()?;
    Ok(Found { of_pairs, of_batches, of_held_out, drawn })
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.len() > 3 {
        return Err("usage: characters [text.txt [STEPS [CURVE.svg]]]".into());
    }
    let text = match args.first() {
        Some(path) => fs::read_to_string(path)?,
        None => LINES.to_owned(),
    };
    let steps: usize = args.get(1).map_or(Ok(100), |steps| steps.parse())?;
    let Found { of_pairs, of_batches, of_held_out, drawn } = trained(&text, steps, &Device::cpu())?;
    if let Some((_, found)) = of_held_out.last() {
        println!("perplexity of held-out lines: {found:.3}, of pairs: {of_pairs:.3}");
    }
    drawn.iter().for_each(|line| println!("| {line}"));
    if let Some(path) = args.get(2) {
        let of_held_out = of_held_out.into_iter().map(|(step, found)| (step as f64, found)).collect();
        let curves = [
            Curve::of_steps("batch", of_batches),
            Curve::new("held-out lines", of_held_out),
            Curve::new("counts of pairs, held-out lines", vec![(0.0, of_pairs), (steps as f64, of_pairs)]),
        ];
        chart::draw(path, ["step", "perplexity per character"], 0.0..30.0, &curves)?;
    }
    Ok(())
}
