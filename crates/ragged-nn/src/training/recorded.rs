//! The program of a training step: the loss, its gradients, and the new values.

use std::panic::Location;

use ragged::{Gradient, Result, Tensor, sparse_value_and_grad, value_and_grad};

use super::TRACE;
use super::outcome::Outcome;
use crate::fault::argument_at;
use crate::optimizers::{Optimizer, Update};
use crate::variables::{Variable, Variables, computed_in, described, spec_of};

/// The inputs of the program.
pub(super) struct Inputs<'a, const N: usize> {
    pub(super) step: &'a Tensor,
    pub(super) learning_rate: &'a Tensor,
    pub(super) variables: &'a [Tensor],
    pub(super) slots: &'a [Tensor],
    pub(super) batch: [&'a Tensor; N],
}

/// The variables of a step: those that it changes first.
pub(super) struct Used<'a> {
    pub(super) variables: &'a Variables,
    pub(super) all: Vec<&'a Variable>,
    pub(super) trained: usize,
}

/// The loss, the number of the next step, the new variables, the new slots and the metrics.
pub(super) fn outputs<const N: usize, L: Into<Outcome>>(
    used: &Used<'_>,
    inputs: &Inputs<'_, N>,
    optimizer: &impl Optimizer,
    f: &impl Fn(&Variables, [&Tensor; N]) -> Result<L>,
    at: &'static Location<'static>,
) -> Result<Vec<Tensor>> {
    let (values, frozen) = inputs.variables.split_at(used.trained);
    let loss = |values: &[Tensor]| {
        let values = used.all.iter().zip(values.iter().chain(frozen));
        let values = values.map(|(v, value)| Variable { value: value.clone(), ..(*v).clone() });
        let outcome: Outcome = f(&Variables::of_step(used.variables, values, inputs.step), inputs.batch)?.into();
        let loss = &outcome.loss;
        if loss.rank() != 0 || !loss.dtype().is_float() {
            let is = described(loss);
            let what = format!("the loss must be one float, but is {is}; reduce it, for example by `reduce_mean(..)`");
            return Err(argument_at(TRACE, what, at));
        }
        Ok(outcome)
    };
    let (Outcome { loss, metrics }, found) = if optimizer.updates_used_rows() {
        sparse_value_and_grad(loss, values)?
    } else {
        let (outcome, gradients) = value_and_grad(loss, values)?;
        (outcome, gradients.into_iter().map(Gradient::Dense).collect())
    };
    let gradients = found.iter().map(Gradient::derivatives).map(|g| g.cast(computed_in(g.dtype())));
    let gradients = optimizer.gradients(gradients.collect::<Result<_>>()?)?;
    let next = inputs.step.add(1u32)?;
    let slots = optimizer.slots().len();
    let (mut new, mut new_slots) = (Vec::new(), Vec::new());
    for (k, (v, variable)) in used.all.iter().zip(values).enumerate() {
        let fault = |what: String| {
            argument_at(TRACE, format!("the optimizer {:?}, variable {:?}: {what}", optimizer.name(), v.name), at)
        };
        let Some(gradient) = gradients.get(k) else { return Err(fault("it gives no gradient".to_owned())) };
        let dtype = computed_in(variable.dtype());
        let slots_before = &inputs.slots[k * slots..][..slots];
        let rows = found.get(k).and_then(Gradient::as_rows);
        let used = |x: &Tensor| rows.map_or_else(|| Ok(x.clone()), |of| of.rows_of(x));
        let value = used(variable)?.cast(dtype)?;
        let used_slots = slots_before.iter().map(used).collect::<Result<Vec<_>>>()?;
        let mut updated = optimizer.update(&Update {
            name: &v.name,
            variable: &value,
            gradient,
            slots: &used_slots,
            learning_rate: &inputs.learning_rate.cast(dtype)?,
            step: &next.cast(dtype)?,
        })?;
        if updated.len() != 1 + slots {
            return Err(fault(format!("it gives {} tensors, not {}", updated.len(), 1 + slots)));
        }
        if let Some(other) = updated.iter().find(|x| !spec_of(&value).accepts(x)) {
            return Err(fault(format!("it gives {}, not {}", described(other), described(&value))));
        }
        let after = updated.split_off(1);
        let whole = |before: &Tensor, x: &Tensor| rows.map_or_else(|| Ok(x.clone()), |of| of.update(before, x));
        new.push(whole(variable, &updated[0].cast(variable.dtype())?)?);
        for (before, x) in slots_before.iter().zip(&after) {
            new_slots.push(whole(before, x)?);
        }
    }
    let mut out = vec![loss, next];
    out.append(&mut new);
    out.append(&mut new_slots);
    out.extend(metrics);
    Ok(out)
}
