//! Recurrent layers, against their equations element by element.

use ragged::{Device, RaggedTensor, Result, Seed, Tensor, s};
use ragged_nn::{Bidirectional, Dense, Gru, Lstm, Recurrent, RmsProp, Training, Variables, mean_squared_error};

use crate::devices::{bits, dense, devices, numbers};
use crate::errors::fails;

/// Rows of vectors, the second one empty.
fn rows(device: &Device) -> Result<Tensor> {
    let vector = |k: i32| [k as f32 / 4.0, 1.0 - k as f32 / 3.0];
    let rows = [vec![vector(0), vector(1), vector(2)], vec![], vec![vector(3)], vec![vector(-1), vector(4)]];
    Ok(RaggedTensor::from_nested(rows, device)?.into_erased())
}

/// The outputs of each row, element by element, by a step from the states and the element.
fn looped(
    x: &Tensor,
    states: &[Tensor],
    is_backwards: bool,
    step: impl Fn(&[Tensor], &Tensor) -> Result<Vec<Tensor>>,
) -> Result<Vec<u32>> {
    let mut out = Vec::new();
    for row in 0..4 {
        let row = x.slice(s![row])?;
        let n = row.shape()[0].unwrap_or(0);
        let (mut states, mut outputs) = (states.to_vec(), Vec::new());
        for k in 0..n {
            let k = if is_backwards { n - 1 - k } else { k };
            states = step(&states, &row.slice(s![k..k + 1])?)?;
            outputs.push(bits(&states[0])?);
        }
        if is_backwards {
            outputs.reverse();
        }
        out.extend(outputs.concat());
    }
    Ok(out)
}

#[test]
fn lstm_has_its_equations() -> Result<()> {
    for device in devices() {
        let (v, x) = (Variables::new(&device, Seed(7)), rows(&device)?);
        let layer = Lstm::new("lstm", 3);
        for is_backwards in [false, true] {
            let layer = if is_backwards { layer.clone().backwards() } else { layer.clone() };
            let found = bits(&layer.sequences(&v, &x)?)?;
            let [w, u, b] = ["kernel", "recurrent_kernel", "bias"].map(|part| v.get(&format!("lstm/{part}")));
            let (w, u, b) = (w?, u?, b?);
            assert_eq!(numbers(&b)?, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
            let want = looped(&x, &layer.zeros(&v, &x)?, is_backwards, |states, x| {
                let z = x.matmul(&w)?.add(&b)?.add(&states[0].matmul(&u)?)?;
                let gate = |k: i64| z.slice(s![.., 3 * k..3 * k + 3]);
                let kept = gate(1)?.sigmoid()?.multiply(&states[1])?;
                let c = kept.add(&gate(0)?.sigmoid()?.multiply(&gate(2)?.tanh()?)?)?;
                Ok(vec![gate(3)?.sigmoid()?.multiply(&c.tanh()?)?, c])
            })?;
            assert_eq!(found, want, "{is_backwards}");
        }
    }
    Ok(())
}

#[test]
fn gru_has_its_equations() -> Result<()> {
    for device in devices() {
        let (v, x) = (Variables::new(&device, Seed(7)), rows(&device)?);
        let layer = Gru::new("gru", 3);
        layer.call(&v, &x)?;
        v.set(
            "gru/bias",
            &RaggedTensor::dense((0..18).map(|k| k as f32 / 8.0 - 1.0).collect::<Vec<_>>(), &[2, 9], &device)?,
        )?;
        let found = bits(&layer.sequences(&v, &x)?)?;
        let [w, u, b] = ["kernel", "recurrent_kernel", "bias"].map(|part| v.get(&format!("gru/{part}")));
        let (w, u, b) = (w?, u?, b?);
        let want = looped(&x, &layer.zeros(&v, &x)?, false, |states, x| {
            let h = &states[0];
            let (a, b) = (x.matmul(&w)?.add(&b.slice(s![0])?)?, h.matmul(&u)?.add(&b.slice(s![1])?)?);
            let part = |of: &Tensor, k: i64| of.slice(s![.., 3 * k..3 * k + 3]);
            let z = part(&a, 0)?.add(&part(&b, 0)?)?.sigmoid()?;
            let r = part(&a, 1)?.add(&part(&b, 1)?)?.sigmoid()?;
            let candidate = part(&a, 2)?.add(&r.multiply(&part(&b, 2)?)?)?.tanh()?;
            let rest = z.multiply(-1.0)?.add(1.0)?;
            Ok(vec![z.multiply(h)?.add(&rest.multiply(&candidate)?)?])
        })?;
        assert_eq!(found, want);
    }
    Ok(())
}

#[test]
fn recurrent_kernels_are_orthogonal() -> Result<()> {
    let device = Device::cpu();
    let v = Variables::new(&device, Seed(7));
    Gru::new("gru", 5).call(&v, &rows(&device)?)?;
    let u = v.get("gru/recurrent_kernel")?;
    let products = numbers(&u.matmul(u.t())?)?;
    for (k, product) in products.iter().enumerate() {
        let want = if k % 6 == 0 { 1.0 } else { 0.0 };
        assert!((product - want).abs() < 1e-6, "{products:?}");
    }
    Ok(())
}

#[test]
fn a_layer_of_both_directions_is_trained_with_equal_bits() -> Result<()> {
    let mut first: Option<Vec<Vec<u32>>> = None;
    for device in devices() {
        let mut v = Variables::new(&device, Seed(7));
        let x = rows(&device)?;
        let labels = RaggedTensor::from_nested([[0.0f32], [0.5], [-0.5], [1.0]], &device)?.into_erased();
        let mut step = Training::trace(&mut v, [&x, &labels], RmsProp::new(0.02), |v, [x, labels]| {
            let both = Bidirectional::new("both", |name| Lstm::new(name, 4).without_bias()).call(v, x)?;
            mean_squared_error(&Dense::new("out", 1).call(v, &both)?, labels)
        })?;
        let losses: Vec<Tensor> = (0..30).map(|_| step.run(&mut v, [&x, &labels])).collect::<Result<_>>()?;
        let values = losses.iter().map(numbers).collect::<Result<Vec<_>>>()?;
        assert!(values[29][0] < 0.5 * values[0][0], "{values:?}");
        let losses = losses.iter().map(bits).collect::<Result<Vec<_>>>()?;
        assert_eq!(*first.get_or_insert(losses.clone()), losses);
    }
    Ok(())
}

/// Errors of a layer begin with the method that was called, and have the line of the call.
fn is_refused<L: Recurrent>(name: &str, layer: &L, x: &Tensor, message: &str) -> Result<()> {
    let v = Variables::new(&Device::cpu(), Seed(7));
    fails(layer.call(&v, x), &format!("{name}::call: {message}"));
    fails(layer.sequences(&v, x), &format!("{name}::sequences: {message}"));
    assert!(v.names().is_empty(), "{:?}", v.names());
    let zero = dense(&[0.0; 2], &[1, 2], &Device::cpu())?;
    fails(layer.scan(&v, x, &[zero.clone(), zero]), &format!("{name}::scan: {message}"));
    Ok(())
}

#[test]
fn inputs_that_are_no_rows_of_vectors_of_floats_are_refused() -> Result<()> {
    let device = Device::cpu();
    let numbers = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![]], &device)?.into_erased();
    let ids = RaggedTensor::from_nested([vec![1, 2], vec![]], &device)?.into_erased();
    let words = RaggedTensor::from_nested([vec!["a", "b"], vec![]], &device)?.into_erased();
    let to_ids = "hash strings to ids (`to_hash_bucket_fast`), and look the ids up by an `Embedding`";
    for (x, what) in [
        (&numbers, "takes a tensor of vectors, but is given an f32 of shape [2, None]".to_owned()),
        (&ids, "takes floats, but is given i32; cast it, or look ids up by an `Embedding`".to_owned()),
        (&words, format!("takes floats, but is given str; {to_ids}")),
    ] {
        let message = format!("layer \"lines\" {what}");
        is_refused("Lstm", &Lstm::new("lines", 2), x, &message)?;
        is_refused("Gru", &Gru::new("lines", 2), x, &message)?;
        let v = Variables::new(&device, Seed(7));
        let both = Bidirectional::new("both", |name| Gru::new(name, 2));
        let message = format!("layer \"both/forward\" {what}");
        fails(both.call(&v, x), &format!("Bidirectional::call: {message}"));
        fails(both.sequences(&v, x), &format!("Bidirectional::sequences: {message}"));
    }
    let v = Variables::new(&device, Seed(7));
    let message = format!("layer \"lines\" takes floats, but is given str; {to_ids}");
    fails(Lstm::new("lines", 2).zeros(&v, &words), &format!("Lstm::zeros: {message}"));
    fails(Gru::new("lines", 2).zeros(&v, &words), &format!("Gru::zeros: {message}"));
    Ok(())
}

#[test]
fn other_widths_than_those_of_the_variables_are_refused() -> Result<()> {
    let device = Device::cpu();
    let (v, x) = (Variables::new(&device, Seed(7)), rows(&device)?);
    let wide = RaggedTensor::from_nested([vec![[1.0f32, 2.0, 3.0]], vec![]], &device)?;
    let (lstm, gru) = (Lstm::new("lstm", 2), Gru::new("gru", 2));
    let both = Bidirectional::new("both".to_owned(), |name| Lstm::new(name, 2));
    lstm.call(&v, &x)?;
    gru.call(&v, &x)?;
    both.call(&v, &x)?;
    let is = |name: &str, columns: usize| {
        let was = format!("variable \"{name}/kernel\" is an f32 of shape [2, {columns}]");
        format!("{was}, but is asked for as an f32 of shape [3, {columns}]")
    };
    fails(lstm.call(&v, &wide), &format!("Lstm::call: {}", is("lstm", 8)));
    fails(lstm.sequences(&v, &wide), &format!("Lstm::sequences: {}", is("lstm", 8)));
    fails(gru.call(&v, &wide), &format!("Gru::call: {}", is("gru", 6)));
    fails(gru.sequences(&v, &wide), &format!("Gru::sequences: {}", is("gru", 6)));
    fails(both.call(&v, &wide), &format!("Bidirectional::call: {}", is("both/forward", 8)));
    fails(both.sequences(&v, &wide), &format!("Bidirectional::sequences: {}", is("both/forward", 8)));
    Ok(())
}

#[test]
fn initial_states_that_do_not_fit_are_refused() -> Result<()> {
    let device = Device::cpu();
    let (v, x) = (Variables::new(&device, Seed(7)), rows(&device)?);
    let (lstm, gru) = (Lstm::new("lines", 2), Gru::new("words", 2));
    fails(lstm.scan(&v, &x, &[]), "Lstm::scan: layer \"lines\" has the states h and c, but is given 0");
    let two = lstm.zeros(&v, &x)?;
    fails(gru.scan(&v, &x, &two), "Gru::scan: layer \"words\" has the state h, but is given 2");
    let three_rows = vec![dense(&[0.0; 6], &[3, 2], &device)?; 2];
    fails(lstm.scan(&v, &x, &three_rows), "Lstm::scan: initial state 0 has 3 entries for 4 rows");
    let wide = dense(&[0.0; 3], &[1, 3], &device)?;
    fails(gru.scan(&v, &x, &[wide]), "Gru::scan: ");
    Ok(())
}
