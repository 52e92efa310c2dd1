//! A recurrent classifier of lines of text: whether a line is from a play or from an article.
//!
//! ```sh
//! cargo run --release -p ragged-nn --example lines -- [plays.txt articles.txt [DEVICE [CURVE.svg]]]
//! ```
//!
//! The model is that of TensorFlow's guide of ragged tensors: hashed words, an embedding of width 16, an LSTM of 32 units
//! without bias, a dense layer of 32 units, and one logit. It reads the first 40 words of a line. Without files it is trained on a
//! few built-in lines. Every fifth line of both files is held out.

mod chart;

use std::fs;
use std::time::Instant;

use chart::Curve;
use ragged::{DType, Device, Program, RaggedTensor, Result, SavedModel, Seed, Tensor, TensorSpec, s};
use ragged_nn::{
    Activation, Dense, Embedding, Lstm, Recurrent, RmsProp, Training, Variables, binary_cross_entropy_with_logits,
};

const BUCKETS: usize = 1000;
/// Words of a line that the model reads.
const WORDS: i64 = 40;
const BATCH: usize = 64;
const EPOCHS: usize = 5;

/// From Shakespeare's plays.
pub const PLAYS: &str = "Before we proceed any further, hear me speak.
You are all resolved rather to die than to famish?
We know't, we know't.
Let us kill him, and we'll have corn at our own price.
No more talking on't; let it be done: away, away!
O Romeo, Romeo! wherefore art thou Romeo?
But, soft! what light through yonder window breaks?
Now is the winter of our discontent
A horse! a horse! my kingdom for a horse!
If music be the food of love, play on;
Good night, good night! parting is such sweet sorrow,
The quality of mercy is not strain'd,";

/// Sentences as in an encyclopedia.
pub const ARTICLES: &str = "A tensor is an array of numbers with any number of dimensions .
The river rises in the northern hills and reaches the sea after 120 kilometres .
The station was opened in 1887 and closed in 1964 .
The species is found in the forests of the eastern coast .
It was the first album of the band to be recorded in two languages .
The bridge has three arches and was rebuilt after the flood of 1824 .
The team won the championship in 1998 and again in 2003 .
The museum has a collection of about 4000 maps .
The storm was first observed west of the islands on 4 September .
The village had a population of 312 in the census of 2001 .
The building was designed in 1902 and is a school today .
The comet was discovered by two astronomers in the same night .";

/// The logit of each line.
fn model(v: &Variables, lines: &Tensor) -> Result<Tensor> {
    let words = lines.string_split(" ")?.slice(s![.., ..WORDS])?.to_hash_bucket_fast(BUCKETS)?;
    let vectors = Embedding::new("words", BUCKETS, 16).call(v, &words)?;
    let last = Lstm::new("lstm", 32).without_bias().call(v, &vectors)?;
    let hidden = Dense::new("hidden", 32).activation(Activation::Relu).call(v, &last)?;
    Dense::new("out", 1).call(v, &hidden)
}

/// Lines and whether each is from a play.
type Lines<'a> = Vec<(&'a str, f32)>;

/// The same number of lines of both texts, alternately, for training, and the held-out ones.
fn split<'a>(plays: &'a str, articles: &'a str) -> (Lines<'a>, Lines<'a>) {
    let lines = |text: &'a str| text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (mut train, mut held_out) = (Vec::new(), Vec::new());
    for (k, (play, article)) in lines(plays).zip(lines(articles)).enumerate() {
        let to = if k % 5 == 4 { &mut held_out } else { &mut train };
        to.extend([(play, 1.0), (article, 0.0)]);
    }
    (train, held_out)
}

fn batch(lines: &[(&str, f32)], device: &Device) -> Result<[Tensor; 2]> {
    let texts: Vec<&str> = lines.iter().map(|line| line.0).collect();
    let labels: Vec<[f32; 1]> = lines.iter().map(|line| [line.1]).collect();
    let texts = RaggedTensor::from_nested(texts, device)?.into_erased();
    Ok([texts, RaggedTensor::from_nested(labels, device)?.into_erased()])
}

/// The logits that a function gives for lines.
fn logits(lines: &Lines<'_>, device: &Device, of: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Vec<f32>> {
    let mut out = Vec::new();
    for lines in lines.chunks(512) {
        out.extend(RaggedTensor::<f32>::try_from(of(&batch(lines, device)?[0])?)?.to_vec()?);
    }
    Ok(out)
}

fn accuracy(logits: &[f32], lines: &Lines<'_>) -> f64 {
    let right = logits.iter().zip(lines).filter(|(logit, line)| (**logit > 0.0) == (line.1 > 0.5)).count();
    right as f64 / lines.len() as f64
}

/// What a run finds.
pub struct Found {
    /// The loss of the batch of each step.
    pub losses: Vec<f32>,
    /// The number of steps, and the share of held-out lines that are classified right after them.
    pub accuracies: Vec<(usize, f64)>,
    /// The file of the trained model: its variables, and the program that serves it.
    pub file: SavedModel,
    /// The logits of the held-out lines.
    pub logits: Vec<f32>,
}

/// Trains the model on the lines of two texts.
pub fn trained(plays: &str, articles: &str, epochs: usize, device: &Device) -> Result<Found> {
    let (train, held_out) = split(plays, articles);
    println!("{} lines, {} held out, on {}", train.len(), held_out.len(), device.name());

    let mut v = Variables::new(device, Seed(7));
    let [x, y] = batch(&train[..BATCH.min(train.len())], device)?;
    let mut step = Training::trace(&mut v, [&x, &y], RmsProp::new(0.003), |v, [x, y]| {
        binary_cross_entropy_with_logits(&model(v, x)?, y)
    })?
    .named_inputs(["lines", "labels"]);
    let batches: Vec<[Tensor; 2]> = train.chunks(BATCH).map(|lines| batch(lines, device)).collect::<Result<_>>()?;
    let (mut all_losses, mut accuracies) = (Vec::new(), Vec::new());
    for epoch in 1..=epochs {
        let started = Instant::now();
        let mut losses = Vec::new();
        for [x, y] in &batches {
            losses.push(step.run(&mut v, [x, y])?);
        }
        let losses = RaggedTensor::<f32>::try_from(Tensor::stack(&losses, 0)?)?.to_vec()?;
        let loss = losses.iter().sum::<f32>() / losses.len() as f32;
        let found = logits(&held_out, device, |x| model(&v, x))?;
        let (accuracy, took) = (accuracy(&found, &held_out), started.elapsed());
        println!("epoch {epoch}: loss {loss:.4}, {:.2} % of held-out lines, {took:.1?}", 100.0 * accuracy);
        all_losses.extend(losses);
        accuracies.push((all_losses.len(), accuracy));
    }

    // The file has the program that serves the model, and the variables: both predict the same bits.
    let serve = Program::trace(&[TensorSpec::new(DType::Str, [None])], |x| model(&v, &x[0]))?;
    let file = SavedModel::from_bytes(v.add_to(SavedModel::new().with_program("serve", &serve)).to_bytes()?)?;
    let logits = logits(&held_out, device, |x| model(&v, x))?;
    assert_eq!(predictions(&file, &held_out, device)?, logits);
    Ok(Found { losses: all_losses, accuracies, file, logits })
}

/// The logits that the program of a file gives for lines: those of its variables too.
fn predictions(file: &SavedModel, lines: &Lines<'_>, device: &Device) -> Result<Vec<f32>> {
    let serve = file.program("serve")?;
    let served = logits(lines, device, |x| Ok(serve.run(x)?.remove(0)))?;
    let fresh = Variables::new(device, Seed(0));
    fresh.restore(file)?;
    assert_eq!(served, logits(lines, device, |x| model(&fresh, x))?);
    Ok(served)
}

/// The logits that the program of a file gives, on any device, for the held-out lines of two texts.
pub fn predicted(file: &SavedModel, plays: &str, articles: &str, device: &Device) -> Result<Vec<f32>> {
    predictions(file, &split(plays, articles).1, device)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (plays, articles) = match &args[..] {
        [] => (PLAYS.to_owned(), ARTICLES.to_owned()),
        [plays, articles, rest @ ..] if rest.len() <= 2 => (fs::read_to_string(plays)?, fs::read_to_string(articles)?),
        _ => return Err("usage: lines [plays.txt articles.txt [DEVICE [CURVE.svg]]]".into()),
    };
    let device = Device::named(args.get(2).map_or("cpu", String::as_str))?;
    let found = trained(&plays, &articles, EPOCHS, &device)?;
    if let Some(path) = args.get(3) {
        let wrong = found.accuracies.into_iter().map(|(steps, accuracy)| (steps as f64, 1.0 - accuracy)).collect();
        let curves = [
            Curve::of_steps("cross-entropy of a batch", found.losses.into_iter().map(f64::from)),
            Curve::new("share of held-out lines that are classified wrong", wrong),
        ];
        chart::draw(path, ["step", "loss, share"], 0.0..1.0, &curves)?;
    }
    Ok(())
}
