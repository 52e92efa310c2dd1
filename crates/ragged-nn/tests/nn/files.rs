//! Variables and the state of an optimizer in files.

use ragged::{Device, Result, SavedModel, Seed, Tensor};
use ragged_nn::{Adam, Training, Variables};

use crate::devices::{bits, devices};
use crate::text::{SENTENCES, batch, loss};

/// Trains for some steps from a file, and gives the losses and the file.
fn steps(device: &Device, file: Option<&[u8]>, count: usize) -> Result<(Vec<u32>, Vec<u8>)> {
    let mut v = Variables::new(device, Seed(7));
    let [x, y] = batch(&SENTENCES, device)?;
    let mut step = Training::trace(&mut v, [&x, &y], Adam::new(0.01), loss)?;
    if let Some(file) = file {
        let model = SavedModel::from_bytes(file.to_vec())?;
        v.restore(&model)?;
        step.state().restore(&model)?;
    }
    let losses: Vec<Tensor> = (0..count).map(|_| step.run(&mut v, [&x, &y])).collect::<Result<_>>()?;
    let losses = losses.iter().map(|loss| Ok(bits(loss)?[0])).collect::<Result<_>>()?;
    let model = step.state().add_to(v.add_to(SavedModel::new()));
    Ok((losses, model.to_bytes()?))
}

#[test]
fn training_continues_from_a_file_on_another_device() -> Result<()> {
    let all = devices();
    let (first, last) = (&all[0], all.last().expect("a device"));
    let (expected, file) = steps(first, None, 8)?;
    let (mut losses, half) = steps(first, None, 3)?;
    let (more, whole) = steps(last, Some(&half), 5)?;
    losses.extend(more);
    assert_eq!(expected, losses);
    assert_eq!(file, whole);
    Ok(())
}

#[test]
fn first_values_depend_on_seed_and_name_alone() -> Result<()> {
    use ragged::DType;
    use ragged_nn::Initializer::{GlorotUniform, TruncatedNormal, Uniform};
    let all = [Uniform { low: -2.0, high: 3.0 }, GlorotUniform, TruncatedNormal { mean: 1.0, std: 2.0 }];
    let mut of_first = None;
    for device in devices() {
        let values = |seed: u64, names: [&str; 2]| -> Result<Vec<Vec<u32>>> {
            let v = Variables::new(&device, Seed(seed));
            for name in names {
                for (k, initializer) in all.iter().enumerate() {
                    v.variable(&format!("{name}{k}"), DType::F32, &[50, 40], initializer)?;
                }
            }
            let of = |name: &str| (0..3).map(|k| bits(&v.get(&format!("{name}{k}"))?)).collect::<Result<Vec<_>>>();
            let (a, b) = (of("a")?, of("b")?);
            assert!(a.iter().zip(b).all(|(a, b)| *a != b), "names have values of their own");
            Ok(a)
        };
        let found = values(7, ["a", "b"])?;
        assert_eq!(found, values(7, ["b", "a"])?, "another order");
        assert_ne!(found, values(8, ["a", "b"])?, "another seed");
        let first: &Vec<Vec<u32>> = of_first.get_or_insert_with(|| found.clone());
        assert_eq!(*first, found, "{device:?}");
    }
    let found = of_first.expect("a device");
    let limit = (6.0f64 / 90.0).sqrt();
    // The bounds, the mean and the standard deviation.
    let sigma = 0.879_626_f64;
    let known = [
        (-2.0, 3.0, 0.5, 5.0 / 12f64.sqrt()),
        (-limit, limit, 0.0, limit / 3f64.sqrt()),
        (-3.0, 5.0, 1.0, 2.0 * sigma),
    ];
    for (values, (low, high, mean, std)) in found.iter().zip(known) {
        let values: Vec<f64> = values.iter().map(|&x| f32::from_bits(x).into()).collect();
        let n = values.len() as f64;
        assert!(values.iter().all(|x| (low..=high).contains(x)));
        let average = values.iter().sum::<f64>() / n;
        let deviation = (values.iter().map(|x| (x - average).powi(2)).sum::<f64>() / n).sqrt();
        assert!((average - mean).abs() < 4.0 * std / n.sqrt(), "mean {average}, not {mean}");
        assert!((deviation / std - 1.0).abs() < 0.05, "deviation {deviation}, not {std}");
    }
    Ok(())
}
