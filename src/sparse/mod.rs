//! Sparse tensors in coordinate (COO) format: coordinates, a value per coordinate, and a shape.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::integer::{Integer, non_negative};
use crate::tensor::Tensor;

/// A sparse tensor of any dtype: value `i` is at coordinates `indices[i]`; all other elements are absent.
#[derive(Debug, Clone)]
pub struct SparseTensor {
    indices: Tensor,
    values: Tensor,
    dense_shape: Vec<u64>,
}

impl SparseTensor {
    /// Assembles a sparse tensor from `indices`, i64 of shape `[n, rank]`, and `values` of shape `[n]`. Coordinates are
    /// neither sorted nor checked. TensorFlow: `tf.sparse.SparseTensor`.
    ///
    /// # Errors
    /// Other shapes or dtypes; parts on different devices.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues, SparseTensor};
    /// let device = Device::cpu();
    /// let indices = HostTensor::dense(&[2, 2], HostValues::I64(vec![0, 0, 1, 2])).to_device(&device)?;
    /// let values = HostTensor::dense(&[2], HostValues::F32(vec![1.0, 2.0])).to_device(&device)?;
    /// let x = SparseTensor::new(&indices, &values, &[2, 3])?;
    /// assert_eq!(x.dense_shape(), [2, 3]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn new<I: Integer>(
        indices: &impl AsRef<Tensor>,
        values: &impl AsRef<Tensor>,
        dense_shape: &[I],
    ) -> Result<Self> {
        const OP: &str = "SparseTensor";
        let (indices, values) = (indices.as_ref(), values.as_ref());
        Device::check_same(OP, indices.backend(), values.backend())?;
        if indices.dtype() != DType::I64 {
            return Err(Error::unsupported(OP, indices.dtype(), "indices must be i64"));
        }
        let rank = dense_shape.len();
        let fits = indices.ragged_rank() == 0
            && values.ragged_rank() == 0
            && indices.rank() == 2
            && values.rank() == 1
            && indices.shape()[1] == Some(rank);
        let counts = (indices.nrows_extent(), values.nrows_extent());
        let same = match (counts.0.as_known(), counts.1.as_known()) {
            (Some(a), Some(b)) => a == b,
            _ => counts.0 == counts.1,
        };
        if !fits || !same {
            return Err(Error::Shape {
                op: OP,
                lhs: indices.shape_text(),
                rhs: values.shape_text(),
                what: format!("indices must be [n, {rank}] and values [n] for {rank} dimensions"),
                location: caller(),
            });
        }
        let size = |&d: &I| non_negative(OP, "a size of the dense shape", d);
        let dense_shape = dense_shape.iter().map(size).collect::<Result<_>>().map_err(here())?;
        Ok(Self { indices: indices.clone(), values: values.clone(), dense_shape })
    }

    /// The coordinates of the values: i64, `[n, rank]`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.indices().to_nested()?.to_string(), "[[0, 0], [0, 1], [1, 0]]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn indices(&self) -> &Tensor {
        &self.indices
    }
    /// The values: `[n]`.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.values().to_nested()?.to_string(), "[5, 6, 7]");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn values(&self) -> &Tensor {
        &self.values
    }
    /// The shape of the equivalent dense tensor.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let sparse = RaggedTensor::from_nested([vec![5, 6], vec![7]], &Device::cpu())?.to_sparse()?;
    /// assert_eq!(sparse.dense_shape(), [2, 2]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn dense_shape(&self) -> &[u64] {
        &self.dense_shape
    }
}
