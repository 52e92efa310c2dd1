//! The recurrent model of TensorFlow's guide of ragged tensors, as printed there, and the files of its models.

use ragged::{DType, Device, Program, RaggedTensor, Result, SavedModel, Seed, Tensor, TensorSpec};
use ragged_nn::{
    Activation, Dense, Embedding, Initializer, Lstm, Recurrent, RmsProp, Training, Variables, binary_cross_entropy,
    binary_cross_entropy_with_logits,
};

use crate::devices::{bits, devices, numbers};
use crate::text::{SENTENCES, batch};

const BUCKETS: usize = 1000;

/// The logit of each text, by so many units of long short-term memory; the guide has 32.
fn model(v: &Variables, texts: &Tensor, units: usize) -> Result<Tensor> {
    let words = texts.string_split(" ")?.to_hash_bucket_fast(BUCKETS)?;
    let vectors = Embedding::new("words", BUCKETS, 16).call(v, &words)?;
    let last = Lstm::new("lstm", units).without_bias().call(v, &vectors)?;
    let hidden = Dense::new("hidden", 32).activation(Activation::Relu).call(v, &last)?;
    Dense::new("out", 1).call(v, &hidden)
}

/// The loss of each step, the predictions, and the file of the trained variables.
fn trained(
    device: &Device,
    loss: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
    [units, steps]: [usize; 2],
) -> Result<(Vec<u32>, Vec<u32>, SavedModel)> {
    let mut v = Variables::new(device, Seed(7));
    let [x, y] = batch(&SENTENCES, device)?;
    let mut step = Training::trace(&mut v, [&x, &y], RmsProp::default(), |v, [x, y]| loss(&model(v, x, units)?, y))?;
    let losses: Vec<Tensor> = (0..steps).map(|_| step.run(&mut v, [&x, &y])).collect::<Result<_>>()?;
    let losses = losses.iter().map(|loss| Ok(bits(loss)?[0])).collect::<Result<_>>()?;
    let serve = Program::trace(&[TensorSpec::new(DType::Str, [None])], |x| model(&v, &x[0], units))?;
    let file = v.add_to(SavedModel::new().with_program("serve", &serve));
    Ok((losses, bits(&model(&v, &x, units)?)?, SavedModel::from_bytes(file.to_bytes()?)?))
}

/// Whether the loss falls from that of no knowledge, and the predictions are the labels.
fn check_learned(losses: &[u32], predictions: &[u32]) {
    let loss = |k: usize| f32::from_bits(losses[k]);
    assert_eq!(losses.len(), 200);
    assert!((loss(0) - 0.693).abs() < 0.01 && loss(199) < 0.1, "{} to {}", loss(0), loss(199));
    for (prediction, (text, label)) in predictions.iter().zip(SENTENCES) {
        assert_eq!(f32::from_bits(*prediction) > 0.0, label > 0.5, "{text}");
    }
}

#[test]
fn the_model_of_the_guide_learns_its_sentences() -> Result<()> {
    let loss = |x: &Tensor, y: &Tensor| binary_cross_entropy_with_logits(x, y);
    let (losses, predictions, file) = trained(&Device::cpu(), loss, [32, 200])?;
    check_learned(&losses, &predictions);
    let (v, [x, _]) = (Variables::new(&Device::cpu(), Seed(0)), batch(&SENTENCES, &Device::cpu())?);
    v.restore(&file)?;
    assert_eq!(v.get("lstm/recurrent_kernel")?.shape(), [Some(32), Some(128)]);
    assert_eq!(bits(&model(&v, &x, 32)?)?, predictions);
    Ok(())
}

#[test]
fn every_device_has_the_same_losses_and_files() -> Result<()> {
    let all = devices();
    let loss = |x: &Tensor, y: &Tensor| binary_cross_entropy_with_logits(x, y);
    let runs = all.iter().map(|device| trained(device, loss, [32, 200])).collect::<Result<Vec<_>>>()?;
    let (losses, predictions, _) = &runs[0];
    assert!(f32::from_bits(losses[199]) < f32::from_bits(losses[0]));
    for (run, device) in runs.iter().zip(all.iter().rev()) {
        assert_eq!((&run.0, &run.1), (losses, predictions));
        // The program and the variables of the file, on another device.
        let [x, _] = batch(&SENTENCES, device)?;
        assert_eq!(bits(&run.2.program("serve")?.run(&x)?[0])?, *predictions, "{device:?}");
        let v = Variables::new(device, Seed(0));
        v.restore(&run.2)?;
        assert_eq!(bits(&model(&v, &x, 32)?)?, *predictions, "{device:?}");
    }
    Ok(())
}

/// The guide compiles the model with a loss of probabilities, though its last layer has no sigmoid: outputs are clipped.
#[test]
fn the_loss_of_the_guide_falls_in_five_epochs() -> Result<()> {
    let (losses, predictions, _) = trained(&Device::cpu(), |x, y| binary_cross_entropy(x, y), [32, 5])?;
    let losses: Vec<f32> = losses.into_iter().map(f32::from_bits).collect();
    assert!(losses.iter().all(|loss| loss.is_finite()) && losses[4] < losses[0], "{losses:?}");
    assert_eq!(predictions.len(), 4);
    Ok(())
}

/// `CustomModule` of the guide: a module with a variable and a function of ragged tensors.
#[test]
fn a_module_of_a_variable_and_a_function_is_saved_and_loaded() -> Result<()> {
    let path = std::env::temp_dir().join(format!("ragged-nn-module-{}.safetensors", std::process::id()));
    for device in devices() {
        let grow =
            |v: &Variables, x: &Tensor| x.multiply(&v.variable("v", DType::F32, &[], &Initializer::Constant(100.0))?);
        let v = Variables::new(&device, Seed(0));
        let spec = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
        let program = Program::trace(&[spec], |x| grow(&v, &x[0]))?;
        v.add_to(SavedModel::new().with_program("grow", &program)).save(&path)?;

        let imported = SavedModel::load(&path)?;
        let x = RaggedTensor::from_nested([vec![1.0f32, 4.0, 3.0], vec![2.0]], &device)?;
        let grown = imported.program("grow")?.run(&x)?;
        assert_eq!(grown[0].to_string(), "<ragged.RaggedTensor [[100.0, 400.0, 300.0], [200.0]]>", "{device:?}");
        let read = Variables::new(&device, Seed(1));
        read.restore(&imported)?;
        assert_eq!(numbers(&read.get("v")?)?, [100.0]);
    }
    std::fs::remove_file(&path).ok();
    Ok(())
}
