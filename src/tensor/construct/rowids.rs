//! Factories from row ids, the row of each value, at one level or several.

use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tensor::integers::Integers;
use crate::tensor::partition::{Making, Trust};
use crate::tensor::{IntoValues, RaggedTensor, Tensor};

impl Tensor {
    /// The ragged tensor of `values` whose value `i` is in row `value_rowids[i]`. TensorFlow:
    /// `tf.RaggedTensor.from_value_rowids`.
    ///
    /// Without `nrows` the last id is in the last row; with ids on the device, only the device knows the number of
    /// rows.
    ///
    /// # Errors
    /// A scalar as values; an id that is negative, below the one before it, or not below `nrows`, with the first such
    /// entry; a number of ids that is not the number of values. Violations that only the device sees fail at the read.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues, Tensor};
    /// let values = HostTensor::dense(&[3], HostValues::I32(vec![1, 2, 3])).to_device(&Device::cpu())?;
    /// let x = Tensor::from_value_rowids(&values, &[0, 0, 2], None)?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// let e = Tensor::from_value_rowids(&values, &[0, 2, 1], None).unwrap_err();
    /// assert!(e.to_string().contains("value_rowids[2] = 1"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids<'a>(
        values: &Self,
        value_rowids: impl Into<Integers<'a>>,
        nrows: Option<i64>,
    ) -> Result<Self> {
        let m = Making::new(values.backend(), "from_value_rowids", Trust::Check);
        values.divided_by_rowids(m, value_rowids.into(), nrows)
    }

    /// [`Tensor::from_value_rowids`] without its checks, for a caller who guarantees valid ids. Invalid ids give
    /// unspecified rows.
    ///
    /// # Errors
    /// A scalar as values; a number of ids that is not the number of values; values without rows.
    #[track_caller]
    pub fn from_value_rowids_unchecked<'a>(
        values: &Self,
        value_rowids: impl Into<Integers<'a>>,
        nrows: Option<i64>,
    ) -> Result<Self> {
        let m = Making::new(values.backend(), "from_value_rowids", Trust::Vouched);
        values.divided_by_rowids(m, value_rowids.into(), nrows)
    }

    /// The ragged tensor of `flat_values` under several levels of row ids, outermost first, with the number of rows of
    /// each level where given. An empty list of levels gives `flat_values`. TensorFlow:
    /// `tf.RaggedTensor.from_nested_value_rowids`.
    ///
    /// # Errors
    /// A number of `nested_nrows` that is not the number of levels; as [`Tensor::from_value_rowids`], with the level.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues, Tensor};
    /// let values = HostTensor::dense(&[3], HostValues::I32(vec![1, 2, 3])).to_device(&Device::cpu())?;
    /// let x = Tensor::from_nested_value_rowids(&values, [[0, 1].as_slice(), &[0, 0, 1]], Some(&[2, 2]))?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1, 2]], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested_value_rowids<'a, L: Into<Integers<'a>>>(
        flat_values: &Self,
        nested_value_rowids: impl IntoIterator<Item = L>,
        nested_nrows: Option<&[i64]>,
    ) -> Result<Self> {
        flat_values.nested_rowids(nested_value_rowids, nested_nrows, Trust::Check)
    }

    /// [`Tensor::from_nested_value_rowids`] without its checks, as [`Tensor::from_value_rowids_unchecked`].
    ///
    /// # Errors
    /// As [`Tensor::from_value_rowids_unchecked`]; a number of `nested_nrows` that is not the number of levels.
    #[track_caller]
    pub fn from_nested_value_rowids_unchecked<'a, L: Into<Integers<'a>>>(
        flat_values: &Self,
        nested_value_rowids: impl IntoIterator<Item = L>,
        nested_nrows: Option<&[i64]>,
    ) -> Result<Self> {
        flat_values.nested_rowids(nested_value_rowids, nested_nrows, Trust::Vouched)
    }

    #[track_caller]
    fn nested_rowids<'a, L: Into<Integers<'a>>>(
        &self,
        levels: impl IntoIterator<Item = L>,
        nrows: Option<&[i64]>,
        trust: Trust,
    ) -> Result<Self> {
        const OP: &str = "from_nested_value_rowids";
        let levels: Vec<Integers<'a>> = levels.into_iter().map(Into::into).collect();
        if let Some(n) = nrows.filter(|n| n.len() != levels.len()) {
            let what = format!("nested_nrows has {} entries for {} levels", n.len(), levels.len());
            return Err(Error::partition(OP, what));
        }
        let nrows = (0..levels.len()).map(|k| nrows.map(|n| n[k])).collect::<Vec<_>>();
        let levels: Vec<_> = levels.into_iter().zip(nrows).collect();
        let m = Making::new(self.backend(), OP, trust);
        self.divided_deeply(levels.into_iter(), |values, (ids, nrows)| values.divided_by_rowids(m, ids, nrows))
    }
}

impl<T: Element> RaggedTensor<T> {
    /// As [`Tensor::from_value_rowids`], with values from the host or a tensor.
    ///
    /// # Errors
    /// As [`Tensor::from_value_rowids`]; a tensor as values on another device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_value_rowids([1, 2, 3], &[0, 0, 2], Some(4), &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids<'a>(
        values: impl IntoValues<T>,
        value_rowids: impl Into<Integers<'a>>,
        nrows: Option<i64>,
        device: &Device,
    ) -> Result<Self> {
        Tensor::from_value_rowids(values.into_values(device)?.erased(), value_rowids, nrows)?.try_into()
    }

    /// As [`Tensor::from_value_rowids_unchecked`].
    ///
    /// # Errors
    /// As [`Tensor::from_value_rowids_unchecked`]; a tensor as values on another device.
    #[track_caller]
    pub fn from_value_rowids_unchecked<'a>(
        values: impl IntoValues<T>,
        value_rowids: impl Into<Integers<'a>>,
        nrows: Option<i64>,
        device: &Device,
    ) -> Result<Self> {
        Tensor::from_value_rowids_unchecked(values.into_values(device)?.erased(), value_rowids, nrows)?.try_into()
    }

    /// As [`Tensor::from_nested_value_rowids`].
    ///
    /// # Errors
    /// As [`Tensor::from_nested_value_rowids`]; a tensor as values on another device.
    #[track_caller]
    pub fn from_nested_value_rowids<'a, L: Into<Integers<'a>>>(
        flat_values: impl IntoValues<T>,
        nested_value_rowids: impl IntoIterator<Item = L>,
        nested_nrows: Option<&[i64]>,
        device: &Device,
    ) -> Result<Self> {
        let values = flat_values.into_values(device)?;
        Tensor::from_nested_value_rowids(values.erased(), nested_value_rowids, nested_nrows)?.try_into()
    }

    /// As [`Tensor::from_nested_value_rowids_unchecked`].
    ///
    /// # Errors
    /// As [`Tensor::from_nested_value_rowids_unchecked`].
    #[track_caller]
    pub fn from_nested_value_rowids_unchecked<'a, L: Into<Integers<'a>>>(
        flat_values: impl IntoValues<T>,
        nested_value_rowids: impl IntoIterator<Item = L>,
        nested_nrows: Option<&[i64]>,
        device: &Device,
    ) -> Result<Self> {
        let values = flat_values.into_values(device)?;
        Tensor::from_nested_value_rowids_unchecked(values.erased(), nested_value_rowids, nested_nrows)?.try_into()
    }
}
