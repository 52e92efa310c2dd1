//! Random programs, traced: a run on the arrays of the materials must give the recorded outcomes, and a replay the same
//! program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ragged::{Device, RaggedTensor, Result, Tensor, TensorSpec};

use super::material::{ALL_LEAVES, Leaves};
use super::outcome::Outcome;
use super::program::Program;

/// Figures of a run.
#[derive(Default, Debug)]
pub struct Figures {
    pub programs: u64,
    pub nodes: u64,
    /// Nodes that need to know a size of an input while they are recorded, for their type or for a read.
    pub refused: u64,
}

/// Traces the nodes of the program, and runs them on the device: the text of a fault.
pub fn fault(program: &Program, device: &Device, figures: &mut Figures) -> Option<String> {
    let leaves = program.leaves(device);
    let inputs: Vec<&Tensor> =
        leaves.iter().flat_map(|leaves| ALL_LEAVES.map(|leaf| leaves.get(leaf).expect("a leaf is uploaded"))).collect();
    let specs: Vec<TensorSpec> = inputs.iter().map(TensorSpec::of).collect();
    let mut kept = Vec::new();
    let traced = catch_unwind(AssertUnwindSafe(|| {
        ragged::Program::trace(&specs, |inputs| {
            let materials = program.materials.iter().zip(inputs.chunks(ALL_LEAVES.len()));
            let leaves: Vec<Leaves> = materials.map(|(&of, inputs)| Leaves::given(of, inputs)).collect();
            let mut recorded: Vec<Option<Tensor>> = Vec::new();
            for (k, node) in program.nodes.iter().enumerate() {
                let operands = match node.operands() {
                    None => Some(None),
                    Some([a, b]) => recorded[a].as_ref().zip(recorded[b].as_ref()).map(|(a, b)| Some([a, b])),
                };
                let result = operands.map(|operands| program.record(k, &leaves, operands));
                if let (Some(Err(_)), Outcome::Read(_)) = (&result, &program.wants[k]) {
                    figures.refused += 1;
                }
                recorded.push(result.and_then(Result::ok));
            }
            let readable = |(k, x): (usize, Option<Tensor>)| x.filter(|_| program.hosts[k].is_some()).map(|x| (k, x));
            let outputs: Vec<Tensor>;
            (kept, outputs) = recorded.into_iter().enumerate().filter_map(readable).unzip();
            Ok(outputs)
        })
    }));
    figures.programs += 1;
    figures.nodes += kept.len() as u64;
    let run = || -> Result<Option<String>> {
        let Ok(traced) = traced else { return Ok(Some("[panic] while it is traced".to_owned())) };
        let traced = traced?;
        if let Some(text) = traced.replay_difference()? {
            return Ok(Some(format!("[replay] {text}")));
        }
        // Rows whose number only the device knows, but the same.
        let masked = inputs.iter().map(|x| masked(x)).collect::<Result<Vec<_>>>()?;
        let masked: Vec<&Tensor> = masked.iter().collect();
        for inputs in [&inputs, &inputs, &masked] {
            let outputs = traced.run(inputs)?;
            // A type may depend on sizes that are known where nothing is traced, as that of `squeeze` does, and so may the
            // types of all that depends on it.
            let mut has_other_type = vec![false; program.nodes.len()];
            for (&k, x) in kept.iter().zip(&outputs) {
                let got = Outcome::of_read(x, x.to_host().as_ref());
                let mut operands = program.nodes[k].operands().into_iter().flatten();
                has_other_type[k] = operands.any(|of| has_other_type[of]);
                match got.difference(&program.wants[k], false) {
                    _ if has_other_type[k] => {}
                    Some("rank") => has_other_type[k] = true,
                    Some(class) => return Ok(Some(format!("[{class}] {k} is {got}\n    not {}", program.wants[k]))),
                    None => {}
                }
            }
        }
        Ok(None)
    };
    let found = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Ok(Some("[panic] in a run".to_owned())));
    let found = found.unwrap_or_else(|e| Some(format!("[success] {e}")));
    found.map(|text| format!("seed {}: {text}\n{}", program.seed, program.text(|_| true)))
}

/// The tensor as the first half of twice its rows, by a mask: only the device knows how many there are. A tensor that has no
/// rows, or whose mask has another specification, is left as it is.
fn masked(x: &Tensor) -> Result<Tensor> {
    if x.rank() == 0 || x.len()? == 0 {
        return Ok(x.clone());
    }
    let rows = x.len()?;
    let mask: Vec<bool> = (0..2 * rows).map(|row| row < rows).collect();
    let mask = RaggedTensor::from_nested(mask, &x.device())?;
    let masked = Tensor::concat(&[x, x], 0)?.boolean_mask(&mask)?;
    Ok(if TensorSpec::of(&masked) == TensorSpec::of(x) { masked } else { x.clone() })
}
