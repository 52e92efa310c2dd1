//! Broadcasting a tensor to a shape.

use super::reshape::NewShape;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::shape::{Place, RaggedShape, UniformRows, broadcast};
use crate::tensor::{BytesBound, Pick, RaggedTensor, Tensor, Values};

impl Tensor {
    /// The elements repeated to a shape, under its very partitions; of the same dtype.
    ///
    /// The shape is a [`RaggedShape`] or a list of sizes. Shapes fit as for arithmetic ([`Tensor::add`]), and a uniform
    /// dimension that repeats may also meet ragged rows that all have its length. Only the tensor repeats. Empty rows
    /// stay empty.
    ///
    /// # Errors
    /// A shape on another device, or that the tensor's cannot be reached from; a negative size. Rows whose lengths
    /// differ are an error of the call where the host has the splits, of the read where it does not.
    ///
    /// # Cost
    /// One map. A wait for the number of bytes, where strings repeat; another where the tensor is dense, of lower rank
    /// than the shape, and only the device knows its size. [`record_async`](crate::record_async) awaits them.
    ///
    /// ```
    /// use ragged::{Device, RaggedShape, RaggedTensor};
    /// let device = Device::cpu();
    /// let x = RaggedTensor::from_nested([vec![7], vec![8]], &device)?.to_tensor(0, None)?;
    /// let shape = RaggedShape::from_lengths(&[2.into(), [3, 1].into()], &device)?;
    /// assert_eq!(x.broadcast_to(&shape)?.to_string(), "<ragged.RaggedTensor [[7, 7, 7], [8]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.broadcast_to`.
    #[track_caller]
    pub fn broadcast_to<'a>(&self, shape: impl Into<NewShape<'a>>) -> Result<Self> {
        const OP: &str = "broadcast_to";
        let shape = shape.into().whole(OP, &self.device())?;
        self.repeated_to(OP, &shape)
    }

    /// The elements repeated to the shape of `other`, whose values and dtype do not matter. As
    /// [`Tensor::broadcast_to`].
    ///
    /// # Errors
    /// As there.
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
    #[track_caller]
    pub fn broadcast_like(&self, other: &Self) -> Result<Self> {
        self.repeated_to("broadcast_like", other.ragged_shape())
    }

    #[track_caller]
    pub(super) fn repeated_to(&self, op: &'static str, shape: &RaggedShape) -> Result<Self> {
        let backend = self.backend();
        Device::check_same(op, backend, &shape.backend)?;
        let is_larger = || {
            let what = "the first one is larger".into();
            Error::Shape { op, lhs: self.shape_text(), rhs: shape.to_string(), what }
        };
        // Seen before anything is computed of shapes that do not fit.
        if self.rank() > shape.rank() {
            return Err(is_larger());
        }
        let shared = broadcast(backend, op, &[self.ragged_shape(), shape], UniformRows::Repeated)?;
        if shared.places[1] != Place::Same {
            return Err(is_larger());
        }
        let bound = match &shared.places[0] {
            Place::Same => BytesBound::AtMost(self.values_ref().bytes_size()),
            _ => BytesBound::Unknown,
        };
        let pick = Pick::From(self.values_ref(), shared.places[0].expr());
        let conditions = [shared.asserts, shape.conditions.clone()].concat();
        let values = Values::rearranged(backend, op, &shape.count(op)?, &pick, bound, &conditions)?;
        Self::new(backend, shape.partitions.clone(), shape.outer.clone(), shape.inner.clone(), values)
    }
}

impl<T: Element> RaggedTensor<T> {
    /// [`Tensor::broadcast_to`] of typed values.
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn broadcast_to<'a>(&self, shape: impl Into<NewShape<'a>>) -> Result<Self> {
        self.erased().broadcast_to(shape)?.try_into()
    }

    /// The elements repeated to the shape of `other`. As [`Tensor::broadcast_like`].
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn broadcast_like<U: Element>(&self, other: &RaggedTensor<U>) -> Result<Self> {
        Self::try_from(self.erased().broadcast_like(other.erased())?)
    }
}
