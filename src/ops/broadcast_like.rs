//! Broadcasting one tensor to the shape of another.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::shape::{Place, UniformRows, broadcast};
use crate::tensor::{BytesBound, Pick, RaggedTensor, Tensor, Values};

const OP: &str = "broadcast_like";

impl Tensor {
    /// The elements repeated to the shape of `other`, under its very partitions; its values and dtype do not matter.
    ///
    /// Shapes fit as for arithmetic ([`Tensor::add`]), and a uniform dimension that repeats may also meet ragged rows
    /// that all have its length. Only this tensor repeats. Empty rows stay empty.
    ///
    /// # Errors
    /// Tensors on different devices; a shape that `other`'s cannot be reached from. Rows whose lengths differ are an
    /// error of the call where the host has the splits, of the read where it does not.
    ///
    /// # Cost
    /// One map. A wait, for the number of bytes, where strings repeat.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// # fn main() -> ragged::Result<()> {
    /// let cpu = Device::cpu();
    /// let x = HostTensor::dense(&[1, 2], HostValues::I32(vec![7, 8])).to_device(&cpu)?;
    /// let y = HostTensor::dense(&[2, 2], HostValues::Bool(vec![false; 4])).to_device(&cpu)?;
    /// assert_eq!(x.broadcast_like(&y)?.to_host()?.values, HostValues::I32(vec![7, 8, 7, 8]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// TensorFlow: `tf.broadcast_to`, of the shape of `other`.
    #[track_caller]
    pub fn broadcast_like(&self, other: &Self) -> Result<Self> {
        let backend = self.backend();
        Device::check_same(OP, backend, other.backend())?;
        let shared = broadcast(backend, OP, &[self.ragged_shape(), other.ragged_shape()], UniformRows::Repeated)?;
        if shared.places[1] != Place::Same || self.rank() > other.rank() {
            let what = "the first one is larger".into();
            return Err(Error::Shape { op: OP, lhs: self.shape_text(), rhs: other.shape_text(), what });
        }
        let count = other.count()?;
        let bound = match &shared.places[0] {
            Place::Same => BytesBound::AtMost(self.values_ref().bytes_capacity()),
            _ => BytesBound::Unknown,
        };
        let pick = Pick::From(self.values_ref(), shared.places[0].expr());
        let values = Values::rearranged(backend, OP, &count, &pick, bound, &shared.asserts)?;
        let (partitions, outer) = (other.partitions().to_vec(), other.outer().cloned());
        Self::new(backend, partitions, outer, other.inner().to_vec(), values)
    }
}

impl<T: Element> RaggedTensor<T> {
    /// The elements repeated to the shape of `other`. As [`Tensor::broadcast_like`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn broadcast_like<U: Element>(&self, other: &RaggedTensor<U>) -> Result<Self> {
        Self::try_from(self.erased().broadcast_like(other.erased())?)
    }
}
