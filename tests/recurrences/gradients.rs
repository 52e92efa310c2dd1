//! Gradients of recurrences, against those of loops and differences.

use ragged::{DType, Device, RaggedTensor, Result, Tensor, grad, opt, s};

use super::common::devices_and_unfused_cpu;
use super::{bits, dense, ragged_rows};

/// A weighted sum of all states and outputs, where each element has a weight of its own.
fn value(inputs: &[Tensor], weights: &Tensor, reversed: bool) -> Result<Tensor> {
    let [x, start, w, u] = inputs else { panic!("four inputs") };
    let initial = opt::InitialStates::from([start]).reversed(reversed);
    let out = x.scan_rows(initial, |states, x| {
        let state = (&x.matmul(w)? + &states[0].matmul(u)?)?.tanh()?;
        let state = (&state + &(&states[0] * 0.5)?)?;
        let output = (&(&state * x)? + &states[0])?;
        Ok((vec![state], vec![output]))
    })?;
    let outputs = (&out.outputs[0] * weights)?.reduce_sum(..)?;
    let last = (&out.states[0] * 0.75)?.reduce_sum(..)?;
    outputs.add(&last)
}

/// The same value by operations on rows, element by element.
fn unrolled(inputs: &[Tensor], weights: &Tensor, reversed: bool) -> Result<Tensor> {
    let [x, start, w, u] = inputs else { panic!("four inputs") };
    let mut total: Option<Tensor> = None;
    let mut add = |y: Tensor| -> Result<()> {
        total = Some(match total.take() {
            Some(sum) => sum.add(&y)?,
            None => y,
        });
        Ok(())
    };
    for row in 0..x.shape()[0].unwrap_or(0) as i64 {
        let (x, weights) = (x.slice(s![row])?, weights.slice(s![row])?);
        let n = x.shape()[0].unwrap_or(0) as i64;
        let mut before = start.clone();
        for k in 0..n {
            let k = if reversed { n - 1 - k } else { k };
            let x = x.slice(s![k..k + 1])?;
            let state = (&x.matmul(w)? + &before.matmul(u)?)?.tanh()?;
            let state = (&state + &(&before * 0.5)?)?;
            let output = (&(&state * &x)? + &before)?;
            add((&output * &weights.slice(s![k..k + 1])?)?.reduce_sum(..)?)?;
            before = state;
        }
        add((&before * 0.75)?.reduce_sum(..)?)?;
    }
    Ok(total.expect("rows"))
}

pub(super) fn f64s(x: &Tensor) -> Vec<f64> {
    match x.to_host().expect("read").values {
        ragged::HostValues::F64(v) => v,
        other => panic!("{}", other.dtype()),
    }
}

#[test]
fn gradients_are_those_of_the_unrolled_loop() -> Result<()> {
    let device = Device::cpu();
    let lengths = [3, 0, 1, 4];
    let width = 3;
    let wide = |x: Tensor| x.cast(DType::F64);
    let inputs = [
        wide(ragged_rows(1, &lengths, width, &device))?,
        wide(dense(2, &[1, width], &device))?,
        wide(dense(3, &[width, width], &device))?,
        wide(dense(4, &[width, width], &device))?,
    ];
    let weights = wide(ragged_rows(5, &lengths, width, &device))?;
    for reversed in [false, true] {
        let found = grad(|x| value(x, &weights, reversed), &inputs[..])?;
        let want = grad(|x| unrolled(x, &weights, reversed), &inputs[..])?;
        for (k, (found, want)) in found.iter().zip(&want).enumerate() {
            let (found, want) = (f64s(found), f64s(want));
            assert_eq!(found.len(), want.len());
            for (a, b) in found.iter().zip(&want) {
                assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "input {k}, reversed {reversed}: {found:?} {want:?}");
            }
        }
        // Of the second order: of the squared gradient.
        let squared = |f: &dyn Fn(&[Tensor]) -> Result<Tensor>, x: &[Tensor]| -> Result<Tensor> {
            let gradients = grad(f, x)?;
            let parts: Vec<Tensor> = gradients.iter().map(|g| g.square()?.reduce_sum(..)).collect::<Result<_>>()?;
            parts.into_iter().reduce(|a, b| a.add(&b).expect("adds")).map_or_else(|| panic!("no inputs"), Ok)
        };
        let found = grad(|x| squared(&|x| value(x, &weights, reversed), x), &inputs[..])?;
        let want = grad(|x| squared(&|x| unrolled(x, &weights, reversed), x), &inputs[..])?;
        for (k, (found, want)) in found.iter().zip(&want).enumerate() {
            for (a, b) in f64s(found).iter().zip(&f64s(want)) {
                assert!((a - b).abs() < 1e-10 * (1.0 + b.abs()), "second order, input {k}: {a} {b}");
            }
        }
    }
    Ok(())
}

#[test]
fn gradients_have_equal_bits_everywhere() -> Result<()> {
    let lengths = [3, 0, 1, 4, 40, 2];
    let mut first: Option<Vec<Vec<u32>>> = None;
    for (name, device) in devices_and_unfused_cpu() {
        let inputs = [
            ragged_rows(1, &lengths, 4, device),
            dense(2, &[1, 4], device),
            dense(3, &[4, 4], device),
            dense(4, &[4, 4], device),
        ];
        let weights = ragged_rows(5, &lengths, 4, device);
        let found: Vec<Vec<u32>> = grad(|x| value(x, &weights, false), &inputs[..])?.iter().map(bits).collect();
        match &first {
            None => first = Some(found),
            Some(first) => assert_eq!(*first, found, "{name}"),
        }
    }
    Ok(())
}

/// The gradients of a row do not depend on the other rows, nor on their order.
#[test]
fn gradients_of_a_row_are_independent_of_the_batch() -> Result<()> {
    // Wide states lie in scratch memory on a GPU, not in that of workgroups.
    let cases: [(usize, &[usize]); 2] = [(3, &[9, 0, 40, 1, 300, 2, 2, 17]), (300, &[2, 0, 3, 1])];
    for ((width, lengths), reversed) in cases.into_iter().flat_map(|case| [(case, false), (case, true)]) {
        let mut first = None;
        for (name, device) in devices_and_unfused_cpu() {
            let at = format!("{name}: rows of {lengths:?}, width {width}, reversed {reversed}");
            let batch = [
                ragged_rows(1, lengths, width, device),
                dense(2, &[lengths.len(), width], device),
                ragged_rows(5, lengths, width, device),
            ];
            let small = |seed| dense(seed, &[width, width], device).multiply(1.0 / width as f32);
            let (w, u) = (small(3)?, small(4)?);
            let gradients = |of: &dyn Fn(&Tensor) -> Result<Tensor>| -> Result<Vec<Tensor>> {
                let [x, start, weights] = [of(&batch[0])?, of(&batch[1])?, of(&batch[2])?];
                let loss =
                    |at: &[Tensor]| value(&[at[0].clone(), at[1].clone(), w.clone(), u.clone()], &weights, reversed);
                grad(loss, [&x, &start])
            };
            let bits_of = |gradients: &[Tensor]| gradients.iter().map(bits).collect::<Vec<_>>();
            let all = gradients(&|x| Ok(x.clone()))?;
            for row in 0..lengths.len() as i64 {
                let alone = |x: &Tensor| x.slice(s![row..row + 1]);
                let want = all.iter().map(alone).collect::<Result<Vec<_>>>()?;
                assert!(bits_of(&gradients(&alone)?) == bits_of(&want), "{at}: row {row} alone");
            }
            let order: Vec<i64> = (0..lengths.len() as i64).map(|k| (k * 3 + 1) % lengths.len() as i64).collect();
            let order = RaggedTensor::from_nested(order, device)?;
            let shuffled = |x: &Tensor| x.gather(&order);
            let want = all.iter().map(shuffled).collect::<Result<Vec<_>>>()?;
            assert!(bits_of(&gradients(&shuffled)?) == bits_of(&want), "{at}: shuffled");
            let all = bits_of(&all);
            assert!(*first.get_or_insert_with(|| all.clone()) == all, "{at}: another device");
        }
    }
    Ok(())
}

/// The kernels of rows of 10,000 are those of rows of 10, and the recurrences of their gradients too.
#[test]
fn programs_do_not_depend_on_the_length_of_rows() -> Result<()> {
    for (name, device) in devices_and_unfused_cpu() {
        type Kernels = Vec<(&'static str, Vec<&'static str>)>;
        let kernels = |n: usize| -> Result<[Kernels; 2]> {
            let inputs = [
                ragged_rows(1, &[n, 0, n / 2], 4, device),
                dense(2, &[1, 4], device),
                dense(3, &[4, 4], device),
                dense(4, &[4, 4], device),
            ];
            let weights = ragged_rows(5, &[n, 0, n / 2], 4, device);
            let of = |explained: ragged::Explain| -> Kernels {
                explained.kernels.into_iter().map(|kernel| (kernel.kind, kernel.operations)).collect()
            };
            let mut of_gradients = of(ragged::explain(&grad(|x| value(x, &weights, false), &inputs[..])?)?);
            of_gradients.retain(|(kind, _)| *kind == "scan_rows");
            Ok([of(value(&inputs, &weights, false)?.explain()?), of_gradients])
        };
        let short = kernels(10)?;
        assert!(short[0].iter().any(|(kind, _)| *kind == "scan_rows"), "{name}: {short:?}");
        assert_eq!(short[1].len(), 2, "{name}: forward and backward");
        assert_eq!(kernels(10_000)?, short, "{name}");
    }
    Ok(())
}
