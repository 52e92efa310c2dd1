//! Operands and results that are aliased, stored, or in use by the program.

use ragged::opt::keep;
use ragged::{Device, Result, Tensor, to_host};

use crate::batch::{Batch, Inputs, short};
use crate::common::naive;
use crate::common::outcome::bits;
use crate::programs::{PROGRAMS, wanted};
use crate::{common, exclusive};

/// `a - b * c`, whose result depends on the order of the operands.
fn mixed(a: &Tensor, b: &Tensor, c: &Tensor) -> Result<Tensor> {
    (a - &(b * c)?)?.reduce_sum(1)
}

#[test]
fn aliased_and_distinct_operands_get_their_own_results() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let batches: Vec<Batch> = (0..3).map(|k| Batch::new(&short(), k)).collect();
        let of = |device: &Device| -> Result<Vec<String>> {
            let mut out = Vec::new();
            for batch in &batches {
                let Inputs { x, more, .. } = batch.upload(device)?;
                // The same rows in a separate array.
                let copy = naive::host::<f32>(&batch.x).to_device(device)?;
                for [a, b, c] in [[&x, &x, &x], [&x, &more, &x], [&x, &x, &more], [&more, &x, &x], [&x, &more, &more]] {
                    out.push(bits(&mixed(a, b, c)?.to_host()?));
                }
                for [a, b, c] in [[&x, &x, &copy], [&copy, &more, &x], [&x, &copy, &x], [&copy, &copy, &copy]] {
                    out.push(bits(&mixed(a, b, c)?.to_host()?));
                }
            }
            Ok(out)
        };
        assert_eq!(of(&device).expect("computed"), of(&Device::cpu()).expect("computed"), "{label}");
    }
}

#[test]
fn stored_results_are_read_and_others_are_computed() {
    let _guard = exclusive();
    let of = |device: &Device| -> Result<Vec<String>> {
        let mut out = Vec::new();
        let mut kept: Vec<Tensor> = Vec::new();
        for number in 0..6 {
            let i = Batch::new(&short(), number).upload(device)?;
            // An operand is already stored (of this batch or of the previous one) or not.
            let sorted = i.x.sort(1)?;
            let most = i.x.reduce_max(keep(1))?;
            match number % 3 {
                0 => sorted.eval()?,
                1 => most.eval()?,
                _ => {}
            }
            let y = ((&i.x - &most)? * &i.weights)?;
            let z = Tensor::concat(&[&y, &sorted], 1)?.reduce_sum(1)?;
            out.push(bits(&z.to_host()?));
            if let Some(last) = kept.last() {
                out.push(bits(&(last + &most.reduce_sum(1)?)?.to_host()?));
            }
            // A subset of the results, in another order.
            let asked = [[&z, &y], [&y, &most], [&most, &y]][number as usize % 3];
            out.extend(to_host(asked)?.iter().map(bits));
            kept.push(z);
        }
        // Later batches have not overwritten earlier results.
        for z in &kept {
            out.push(bits(&z.to_host()?));
        }
        Ok(out)
    };
    for (label, device) in common::gpus() {
        assert_eq!(of(&device).expect("computed"), of(&Device::cpu()).expect("computed"), "{label}");
    }
}

#[test]
fn live_results_are_not_overwritten() {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        for program in &PROGRAMS {
            let batches: Vec<Batch> = (0..3).map(|k| Batch::new(&short(), k)).collect();
            let all: Vec<Vec<Tensor>> = batches
                .iter()
                .map(|batch| {
                    let made = batch.upload(&device).and_then(|i| program.1(&i)).expect("recorded");
                    ragged::eval(made.iter().collect::<Vec<_>>()).expect("computed");
                    made
                })
                .collect();
            for (batch, made) in batches.iter().zip(&all) {
                let got = to_host(made.iter().collect::<Vec<_>>()).expect("read");
                let got: Vec<String> = got.iter().map(bits).collect();
                assert_eq!(got, wanted(program, batch), "{label} {}", program.0);
            }
        }
    }
}
