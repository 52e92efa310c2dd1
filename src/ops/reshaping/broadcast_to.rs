//! Broadcasts a tensor to a shape.

use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::ops::reshaping::reshape::NewShape;
use crate::shape::{Place, RaggedShape, UniformRows, broadcast};
use crate::tensor::{BytesBound, Pick, Tensor};

operations! {
    /// Broadcasting.
    const OPERATIONS: family "Joining, repeating and shapes" on RaggedTensor<T> where T: Element;

    /// Repeats the elements to fill a shape.
    ///
    /// The dtype stays; the result has the partitions of the shape itself. The shape is a [`RaggedShape`] or a list of
    /// sizes. Shapes match as for arithmetic ([`Tensor::add`]). In addition, a uniform dimension that is repeated may
    /// match ragged rows that all have its length. Only the tensor repeats. Empty rows stay empty.
    ///
    /// # Errors
    /// A shape on another device; a shape that the tensor does not broadcast to; a negative size. Rows of different
    /// lengths fail at the call where the host has the splits, and at the read otherwise.
    ///
    /// # Cost
    /// One map. Waits for the number of bytes where strings repeat, and for the size of a dense tensor where only the
    /// device knows it and the shape has a higher rank. [`record_async`](crate::record_async) awaits both.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([[7], [8], [9]], &device)?;
    /// let shape = RaggedShape::from_lengths(&[3.into(), [3, 0, 1].into()], &device)?;
    /// assert_eq!(x.broadcast_to(&shape)?.to_string(), "<ragged.RaggedTensor [[7, 7, 7], [], [9]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn broadcast_to<'a>(&self, shape: impl Into<NewShape<'a>> as NewShape) -> T;
    alias "expand";
    tensorflow "tf.broadcast_to";
    waits "where strings repeat, and for a dense size that only the device knows under a shape of higher rank";
    gradient yes;
    row none "operands broadcast by themselves";

    /// Repeats the elements to fill the shape of another tensor, whose values and dtype do not matter.
    ///
    /// The dtype stays; the result has the partitions of `other`. Shapes match as for arithmetic ([`Tensor::add`]). In
    /// addition, a uniform dimension that is repeated may match ragged rows that all have its length. Only this tensor
    /// repeats. Empty rows stay empty.
    ///
    /// # Errors
    /// Another device; a shape that the tensor does not broadcast to. Rows of different lengths fail at the call where
    /// the host has the splits, and at the read otherwise.
    ///
    /// # Cost
    /// One map. Waits for the number of bytes where strings repeat, and for the size of a dense tensor where only the
    /// device knows it and `other` has a higher rank. [`record_async`](crate::record_async) awaits both.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([[7], [8], [9]], &device)?;
    /// let y = RaggedTensor::from_nested([vec![true, false], vec![], vec![true]], &device)?;
    /// assert_eq!(x.broadcast_like(&y)?.to_string(), "<ragged.RaggedTensor [[7, 7], [], [9]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn broadcast_like(&self, other: &impl AsRef<Tensor> as tensor) -> T;
    alias "expand_as";
    tensorflow "tf.broadcast_to";
    awkward "ak.broadcast_arrays";
    waits "where strings repeat, and for a dense size that only the device knows under a shape of higher rank";
    gradient yes;
    row none "operands broadcast by themselves";
}

#[track_caller]
fn broadcast_to<'a>(x: &Tensor, shape: impl Into<NewShape<'a>>) -> Result<Tensor> {
    const OP: &str = "broadcast_to";
    let rec = x.recorder(OP);
    let shape = shape.into().whole(OP, &x.device())?;
    x.repeated_to(rec, &shape)
}

#[track_caller]
fn broadcast_like(x: &Tensor, other: &impl AsRef<Tensor>) -> Result<Tensor> {
    let rec = x.recorder("broadcast_like");
    x.repeated_to(rec, other.as_ref().ragged_shape())
}

impl Tensor {
    pub(crate) fn repeated_to(&self, rec: Recorder<'_>, shape: &RaggedShape) -> Result<Self> {
        rec.at(Device::check_same(rec.op, rec.backend, &shape.backend))?;
        let is_larger = || rec.shape(self.shape_text(), shape.text(), "the first one is larger".into());
        // Checked first, so that nothing is computed for shapes that cannot match.
        if self.rank() > shape.rank() {
            return Err(is_larger());
        }
        let shared = broadcast(rec, &[self.ragged_shape(), shape], UniformRows::Repeated)?;
        if shared.places[1] != Place::Same {
            return Err(is_larger());
        }
        let bound = match &shared.places[0] {
            Place::Same => BytesBound::AtMost(self.values_ref().bytes_size()),
            _ => BytesBound::Unknown,
        };
        let pick = Pick::From(self.values_ref(), shared.places[0].expr());
        let conditions = [shared.asserts, shape.conditions.clone()].concat();
        let values = rec.rearranged(&rec.at(shape.count(rec.op))?, &pick, bound, &conditions)?;
        rec.tensor(shape.partitions.clone(), shape.outer.clone(), shape.inner.clone(), values)
    }
}
