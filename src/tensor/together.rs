//! Joint evaluation of several tensors; shared subexpressions are computed once.

use std::future::Future;
use std::pin::Pin;

use super::assembly::Assembly;
use super::read::{known_bytes, read_parts};
use super::{HostTensor, ReadTogether, Tensor, TensorSet};
use crate::device::Device;
use crate::error::{Result, here};
use crate::explain::Explain;
use crate::graph::backend::{BackendRef, Wait};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// The common device and the nodes of all tensors; none without tensors.
#[track_caller]
fn nodes_of(op: &'static str, tensors: &[&Tensor]) -> Result<Option<(BackendRef, Vec<Node>)>> {
    let Some(first) = tensors.first() else { return Ok(None) };
    let mut nodes = Vec::new();
    for t in tensors {
        Device::check_same(op, first.backend(), t.backend())?;
        nodes.extend(t.nodes()?);
    }
    Ok(Some((first.backend().clone(), nodes)))
}

/// Computes the tensors now, on their device, in one submission; shared subexpressions are computed once. Waits only
/// for sizes, as [`Tensor::eval`] does.
///
/// Reductions over the same rows read the values once: the mean, the variance, the maximum and the minimum of a tensor
/// take one pass over it. An empty list does nothing.
///
/// # Errors
/// Tensors on different devices; a request that the device rejects. Device-side checks are reported by reads, as for
/// [`Tensor::eval`].
///
/// ```
/// use ragged::{Device, RaggedTensor, eval};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (mean, most) = (x.reduce_mean(1)?, x.reduce_max(1)?);
/// eval([&mean, &most])?;
/// assert_eq!(most.to_vec()?[..1], [3.0]);
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn eval(tensors: impl TensorSet) -> Result<()> {
    match nodes_of("eval", &tensors.tensors())? {
        Some((backend, nodes)) => backend.evaluate(&nodes).map_err(here()),
        None => Ok(()),
    }
}

/// The kernels that evaluating the tensors together would run, with the bytes that they move; runs nothing.
///
/// # Errors
/// Tensors on different devices; a step that the device cannot run.
///
/// ```
/// use ragged::{Device, RaggedTensor, explain};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (mean, most) = (x.reduce_mean(1)?, x.reduce_max(1)?);
/// assert_eq!(explain([&mean, &most])?.kernels.len(), 1);
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn explain(tensors: impl TensorSet) -> Result<Explain> {
    match nodes_of("explain", &tensors.tensors())? {
        Some((backend, nodes)) => Explain::new(&backend, &nodes).map_err(here()),
        None => Ok(Explain::default()),
    }
}

/// Computes the tensors together as [`eval`] does, one kernel at a time, and returns what [`explain`] does with the
/// time of each kernel; see [`Tensor::explain_timed`].
///
/// # Errors
/// Tensors on different devices; a step that the device cannot run; a request that it rejects; a lost device.
///
/// ```
/// use ragged::{Device, RaggedTensor, explain_timed};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (mean, most) = (x.reduce_mean(1)?, x.reduce_max(1)?);
/// let explained = explain_timed([&mean, &most])?;
/// assert_eq!(explained.kernels.len(), 1);
/// println!("{:?}", explained.time());
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn explain_timed(tensors: impl TensorSet) -> Result<Explain> {
    match nodes_of("explain_timed", &tensors.tensors())? {
        Some((backend, nodes)) => Explain::timed(&backend, &nodes).map_err(here()),
        None => Ok(Explain::default()),
    }
}

/// Reads the tensors together: computed as by [`eval`], in one submission, with one wait. Takes two submissions and
/// waits where [`Tensor::to_host`] of one of them does.
///
/// # Errors
/// Tensors on different devices; the first failed device-side check of any tensor; a lost device; more memory than is
/// available.
///
/// ```
/// use ragged::{Device, HostValues, RaggedTensor, to_host};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (sum, product) = (x.reduce_sum(1)?, x.reduce_prod(1)?);
/// let read = to_host([&sum, &product])?;
/// assert_eq!(read[1].values, HostValues::F32(vec![3.0, 1.0, 5.0]));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_host(tensors: impl TensorSet) -> Result<Vec<HostTensor>> {
    pollster::block_on(read(tensors.tensors().into_iter().cloned().collect(), Wait::Blocking)).map_err(here())
}

/// Reads the tensors together, in one submission, without blocking; see [`Tensor::to_host_async`].
///
/// # Errors
/// Tensors on different devices; the first failed device-side check of any tensor; a lost device; more memory than is
/// available.
///
/// ```
/// use ragged::{Device, HostValues, RaggedTensor, to_host_async};
/// let x = RaggedTensor::from_nested([vec![1.0f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (least, most) = (x.reduce_min(1)?, x.reduce_max(1)?);
/// let read = pollster::block_on(to_host_async([&least, &most]))?;
/// assert_eq!(read[0].values, HostValues::F32(vec![1.0, f32::MAX, 5.0]));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_host_async(tensors: impl TensorSet) -> Pin<Box<dyn Future<Output = Result<Vec<HostTensor>>> + Send>> {
    let (tensors, here) = (tensors.tensors().into_iter().cloned().collect(), here());
    Box::pin(async move { read(tensors, Wait::Polled).await.map_err(here) })
}

/// The flat values of several typed tensors, whatever their element types, read together as by [`to_host`].
///
/// # Errors
/// Tensors on different devices; the first failed device-side check of any tensor; a lost device; more memory than is
/// available.
///
/// ```
/// use ragged::{Device, RaggedTensor, to_vecs};
/// let x = RaggedTensor::from_nested([vec![1.5f32, 3.0], vec![], vec![5.0]], &Device::cpu())?;
/// let (sums, counts) = to_vecs((&x.reduce_sum(1)?, &x.row_lengths(1)?))?;
/// assert_eq!((sums, counts), (vec![4.5, 0.0, 5.0], vec![2, 0, 1]));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn to_vecs<S: ReadTogether>(tensors: S) -> Result<S::Vecs> {
    to_host(tensors).map(S::vecs)
}

async fn read(tensors: Vec<Tensor>, wait: Wait) -> Result<Vec<HostTensor>> {
    const OP: &str = "a read";
    let all: Vec<&Tensor> = tensors.iter().collect();
    let Some((backend, _)) = nodes_of("to_host", &all)? else { return Ok(Vec::new()) };
    let rec = Recorder::new(&backend, OP);
    let mut parts = Vec::new();
    for t in &tensors {
        parts.extend(t.parts_to_read());
    }
    let known = known_bytes(rec, &parts)?;
    let mut read = read_parts(&backend, parts, wait).await?;
    drop(known);
    let mut assembly = Assembly::new(rec);
    tensors.iter().map(|t| t.of_bytes(&mut read, &mut assembly)).collect()
}
