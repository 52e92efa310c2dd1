//! The values of Keras's recurrent layers: outputs of all elements, last outputs, and the gradients of all weights, of rows of
//! several lengths, one of them empty. `fixtures/make.py` makes them, in f64.

use ragged::{DType, Device, HostValues, Result, Seed, Tensor, grad};
use ragged_nn::{Bidirectional, Gru, Lstm, Recurrent, Variables};
use serde_json::Value;

use crate::devices::{assert_near, devices, largest, numbers};
use crate::keras::{fixture, list};

/// The variables of a layer.
const PARTS: [&str; 3] = ["kernel", "recurrent_kernel", "bias"];

/// The outputs of all elements and the last ones.
type Call<'a> = &'a dyn Fn(&Variables, &Tensor) -> Result<[Tensor; 2]>;

fn doubles(of: &Value) -> Vec<f64> {
    list(of).iter().map(|x| x.as_f64().expect("a number")).collect()
}

fn dense(numbers: Vec<f64>, shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
    ragged::RaggedTensor::dense(numbers, shape, device)?.into_erased().cast(dtype)
}

/// All outputs, the last ones, and the gradients of the variables, of the sum of the squares of all outputs.
fn run(of: &Value, names: &[&str], call: Call<'_>, dtype: DType, device: &Device) -> Result<Vec<Tensor>> {
    let fixture = fixture();
    let rows = &fixture["recurrent"];
    let lengths: Vec<i64> = list(&rows["lengths"]).iter().map(|n| n.as_i64().expect("a length")).collect();
    let x = Tensor::from_row_lengths(&dense(doubles(&rows["x"]), &[6, 2], dtype, device)?, lengths)?;
    let v = Variables::new(device, Seed(7));
    call(&v, &x)?;
    let mut weights = Vec::new();
    for (name, given) in names.iter().zip(list(&of["weights"])) {
        let shape: Vec<usize> = v.get(name)?.shape().iter().map(|n| n.expect("a size")).collect();
        v.set(name, &dense(doubles(given), &shape, dtype, device)?)?;
        weights.push(v.get(name)?);
    }
    let mut found: Vec<Tensor> = call(&v, &x)?.into();
    found.extend(grad(
        |weights| {
            for (name, weight) in names.iter().zip(weights) {
                v.set(name, weight)?;
            }
            call(&v, &x)?[0].square()?.reduce_sum(..)
        },
        weights.as_slice(),
    )?);
    Ok(found)
}

fn has_keras_values(name: &str, variables: &[&str], call: Call<'_>) -> Result<()> {
    let fixture = fixture();
    let of = &fixture["recurrent"][name];
    let expected = [&of["sequences"], &of["last"]].into_iter().chain(list(&of["gradients"]));
    let expected: Vec<Vec<f64>> = expected.map(doubles).collect();
    assert_eq!(expected.len(), 2 + variables.len());
    for device in devices() {
        let exact = run(of, variables, call, DType::F64, &device)?;
        let near = run(of, variables, call, DType::F32, &device)?;
        for (k, expected) in expected.iter().enumerate() {
            let HostValues::F64(found) = exact[k].to_host()?.values else {
                panic!("{name}, {k}: {}", exact[k].dtype())
            };
            assert_eq!(found.len(), expected.len(), "{name}, {k}");
            for (x, y) in found.iter().zip(expected) {
                assert!((x - y).abs() <= 1e-14 * y.abs().max(1.0), "{name}, {k}, {device:?}: {x}, not {y}");
            }
            let expected: Vec<f32> = expected.iter().map(|y| *y as f32).collect();
            let (near, at) = (numbers(&near[k])?, format!("{name}, {k}, {device:?}"));
            if k < 2 {
                assert_near(&near, &expected, &at);
            }
            // The terms of gradients cancel: their errors are measured by the largest.
            for (x, y) in near.iter().zip(&expected) {
                assert!(f64::from(x - y).abs() <= 1e-6 * largest(&expected), "{at}: {x}, not {y}");
            }
        }
    }
    Ok(())
}

/// A layer and the same one from the ends of rows.
fn both_ways_have_keras_values<L: Recurrent + Clone>(name: &str, layer: &L) -> Result<()> {
    let variables = PARTS.map(|part| format!("{name}/{part}"));
    let variables = variables.each_ref().map(String::as_str);
    for (fixture, layer) in [(name.to_owned(), layer.clone()), (format!("{name}_backwards"), layer.clone().backwards())]
    {
        has_keras_values(&fixture, &variables, &|v, x| Ok([layer.sequences(v, x)?, layer.call(v, x)?]))?;
    }
    Ok(())
}

/// A layer of both directions.
fn both_directions_have_keras_values<L: Recurrent>(fixture: &str, layer: impl Fn(String) -> L) -> Result<()> {
    let names = ["forward", "backward"].map(|way| PARTS.map(|part| format!("both/{way}/{part}")));
    let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    let both = Bidirectional::new("both", layer);
    has_keras_values(fixture, &names, &|v, x| Ok([both.sequences(v, x)?, both.call(v, x)?]))
}

#[test]
fn lstm_has_keras_values() -> Result<()> {
    both_ways_have_keras_values("lstm", &Lstm::new("lstm", 3))
}

#[test]
fn gru_has_keras_values() -> Result<()> {
    both_ways_have_keras_values("gru", &Gru::new("gru", 3))
}

#[test]
fn layers_of_both_directions_have_keras_values() -> Result<()> {
    both_directions_have_keras_values("bidirectional_lstm", |name| Lstm::new(name, 3))?;
    both_directions_have_keras_values("bidirectional_gru", |name| Gru::new(name, 3))
}
