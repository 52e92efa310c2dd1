//! Several tensors at once: what they share is computed once.

use super::{HostTensor, Tensor};
use crate::device::Device;
use crate::error::Result;
use crate::explain::Explain;
use crate::graph::backend::BackendRef;
use crate::graph::node::Node;

/// The device of all, and the nodes that they are made of; none without tensors.
fn nodes_of(op: &'static str, tensors: &[&Tensor]) -> Result<Option<(BackendRef, Vec<Node>)>> {
    let Some(first) = tensors.first() else { return Ok(None) };
    let mut nodes = Vec::new();
    for t in tensors {
        Device::check_same(op, first.backend(), t.backend())?;
        nodes.extend(t.nodes()?);
    }
    Ok(Some((first.backend().clone(), nodes)))
}

/// Computes the tensors now, on their device, without waiting: in one submission, what they share once.
///
/// Reductions over the same rows read the values once: the mean, the variance, the greatest and the least value of a
/// tensor are one pass over it. No tensors are nothing to do.
///
/// # Errors
/// The tensors live on several devices; what the device refuses. Conditions on values are looked at by reads only.
///
/// ```
/// # use ragged::{Device, RaggedTensor, eval};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (mean, most) = (x.reduce_mean(1, false)?, x.reduce_max(1, false)?);
/// eval(&[&mean, &most])?;
/// assert_eq!(most.to_vec()?[..1], [3.0]);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn eval(tensors: &[&Tensor]) -> Result<()> {
    match nodes_of("eval", tensors)? {
        Some((backend, nodes)) => backend.evaluate(&nodes),
        None => Ok(()),
    }
}

/// The kernels that computing the tensors together would run, with the bytes they move; runs nothing.
///
/// # Errors
/// As [`eval`]; a step that the device cannot run at all.
///
/// ```
/// # use ragged::{Device, RaggedTensor, explain};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (mean, most) = (x.reduce_mean(1, false)?, x.reduce_max(1, false)?);
/// assert_eq!(explain(&[&mean, &most])?.kernels.len(), 1);
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn explain(tensors: &[&Tensor]) -> Result<Explain> {
    match nodes_of("explain", tensors)? {
        Some((backend, nodes)) => Explain::new(&backend, &nodes),
        None => Ok(Explain::default()),
    }
}

/// Reads the tensors back together: computed as by [`eval`], in one submission, with one wait.
///
/// # Errors
/// As [`eval`]; the first condition on the device that does not hold, of any of them; a lost device.
///
/// ```
/// # use ragged::{Device, HostValues, RaggedTensor, to_host};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (sum, product) = (x.reduce_sum(1, false)?, x.reduce_prod(1, false)?);
/// let read = to_host(&[&sum, &product])?;
/// assert_eq!(read[1].values, HostValues::F32(vec![3.0, 1.0, 5.0]));
/// # Ok::<(), ragged::Error>(())
/// ```
pub fn to_host(tensors: &[&Tensor]) -> Result<Vec<HostTensor>> {
    let Some((backend, _)) = nodes_of("to_host", tensors)? else { return Ok(Vec::new()) };
    let mut nodes = Vec::new();
    for t in tensors {
        nodes.extend(t.read_nodes()?);
    }
    let mut read = backend.read(&nodes)?.into_iter();
    Ok(tensors.iter().map(|t| t.of_bytes(&mut read)).collect())
}
