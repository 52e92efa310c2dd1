//! A model of texts: hashed words, an embedding, the mean over words, two dense layers.

use std::sync::OnceLock;

use ragged::opt::white_space;
use ragged::{DType, Device, Program, RaggedTensor, Result, SavedModel, Seed, Tensor, TensorSpec};
use ragged_nn::{
    Activation, Dense, Dropout, Embedding, RmsProp, Training, Variables, binary_cross_entropy_with_logits,
};

use crate::devices::{bits, devices, numbers};

/// The sentences of TensorFlow's guide of ragged tensors, and whether they are questions.
pub const SENTENCES: [(&str, f32); 4] = [
    ("What makes you think she is a witch?", 1.0),
    ("She turned me into a newt.", 0.0),
    ("A newt?", 1.0),
    ("Well, I got better.", 0.0),
];

const BUCKETS: usize = 1000;

pub fn model(v: &Variables, texts: &Tensor) -> Result<Tensor> {
    let words = texts.string_split(white_space())?.to_hash_bucket_fast(BUCKETS)?;
    let mean = Embedding::new("words", BUCKETS, 16).call(v, &words)?.reduce_mean(1)?;
    let hidden = Dense::new("hidden", 32).activation(Activation::Relu).call(v, &mean)?;
    Dense::new("out", 1).call(v, &hidden)
}

pub fn batch(of: &[(&str, f32)], device: &Device) -> Result<[Tensor; 2]> {
    let texts: Vec<&str> = of.iter().map(|(text, _)| *text).collect();
    let labels: Vec<[f32; 1]> = of.iter().map(|(_, label)| [*label]).collect();
    let labels = RaggedTensor::from_nested(labels, device)?.into_erased();
    Ok([RaggedTensor::from_nested(texts, device)?.into_erased(), labels])
}

pub fn loss(v: &Variables, [texts, labels]: [&Tensor; 2]) -> Result<Tensor> {
    binary_cross_entropy_with_logits(&model(v, texts)?, labels)
}

/// The bits of the loss of each step, the predictions, and the file of the trained model.
struct Run {
    device: Device,
    losses: Vec<u32>,
    predictions: Vec<u32>,
    file: Vec<u8>,
}

fn trained(device: &Device) -> Result<Run> {
    let mut v = Variables::new(device, Seed(7));
    let [x, y] = batch(&SENTENCES, device)?;
    let mut step = Training::trace(&mut v, [&x, &y], RmsProp::default(), loss)?;
    let losses: Vec<Tensor> = (0..200).map(|_| step.run(&mut v, [&x, &y])).collect::<Result<_>>()?;
    let losses = losses.iter().map(|loss| Ok(bits(loss)?[0])).collect::<Result<_>>()?;
    let serve = Program::trace(&[TensorSpec::new(DType::Str, [None])], |x| model(&v, &x[0])?.sigmoid())?;
    let predictions = bits(&serve.run(&x)?[0])?;
    let file = v.add_to(SavedModel::new().with_program("serve", &serve)).to_bytes()?;
    Ok(Run { device: device.clone(), losses, predictions, file })
}

fn runs() -> &'static [Run] {
    static RUNS: OnceLock<Vec<Run>> = OnceLock::new();
    RUNS.get_or_init(|| devices().iter().map(|device| trained(device).expect("it trains")).collect())
}

#[test]
fn every_device_has_the_same_losses() {
    let first = &runs()[0];
    for run in runs() {
        assert_eq!(first.losses, run.losses, "{:?}", run.device);
        assert_eq!(first.predictions, run.predictions, "{:?}", run.device);
        assert_eq!(first.file, run.file, "{:?}", run.device);
    }
}

#[test]
fn the_loss_falls_and_the_sentences_are_told_apart() {
    let run = &runs()[0];
    let losses: Vec<f32> = run.losses.iter().map(|&loss| f32::from_bits(loss)).collect();
    assert!((losses[0] - 0.693).abs() < 0.01, "{}", losses[0]);
    assert!(losses[199] < 0.1, "{}", losses[199]);
    for (prediction, (text, label)) in run.predictions.iter().zip(SENTENCES) {
        assert_eq!(f32::from_bits(*prediction) > 0.5, label > 0.5, "{text}");
    }
}

#[test]
fn files_give_the_same_predictions_on_the_other_devices() -> Result<()> {
    for (run, device) in runs().iter().zip(devices().into_iter().rev()) {
        let file = SavedModel::from_bytes(run.file.clone())?;
        let [x, _] = batch(&SENTENCES, &device)?;
        assert_eq!(run.predictions, bits(&file.program("serve")?.run(&x)?[0])?, "the program on {device:?}");
        let v = Variables::new(&device, Seed(0));
        v.restore(&file)?;
        assert_eq!(run.predictions, bits(&model(&v, &x)?.sigmoid()?)?, "the variables on {device:?}");
    }
    Ok(())
}

#[test]
fn dropout_is_that_of_the_step_and_the_same_on_every_device() -> Result<()> {
    let mut of_first = None;
    for device in devices() {
        let mut v = Variables::new(&device, Seed(7));
        let [x, y] = batch(&SENTENCES, &device)?;
        // A learning rate of 0: losses differ by the dropped values alone.
        let mut step = Training::trace(&mut v, [&x, &y], RmsProp::new(0.0), |v, [x, y]| {
            let words = x.string_split(white_space())?.to_hash_bucket_fast(BUCKETS)?;
            let vectors = Embedding::new("words", BUCKETS, 16).call(v, &words)?;
            let mean = Dropout::new("drop", 0.5).call(v, &vectors)?.reduce_mean(1)?;
            binary_cross_entropy_with_logits(&Dense::new("out", 1).call(v, &mean)?, y)
        })?;
        let losses: Vec<Tensor> = (0..5).map(|_| step.run(&mut v, [&x, &y])).collect::<Result<_>>()?;
        let losses: Vec<u32> = losses.iter().map(|loss| Ok(bits(loss)?[0])).collect::<Result<_>>()?;
        for k in 1..losses.len() {
            assert!(!losses[..k].contains(&losses[k]), "steps drop the same values on {device:?}");
        }
        assert_eq!(*of_first.get_or_insert_with(|| losses.clone()), losses, "{device:?}");
    }
    Ok(())
}

#[test]
fn a_loss_of_nan_is_given() -> Result<()> {
    let device = Device::cpu();
    let mut v = Variables::new(&device, Seed(7));
    let [x, _] = batch(&SENTENCES, &device)?;
    let y = RaggedTensor::from_nested([[1.0f32], [f32::NAN], [0.0], [0.0]], &device)?.into_erased();
    let mut step = Training::trace(&mut v, [&x, &y], RmsProp::default(), loss)?;
    assert!(numbers(&step.run(&mut v, [&x, &y])?)?[0].is_nan());
    assert!(numbers(&v.get("out/bias")?)?[0].is_nan());
    Ok(())
}
