//! Factories from row ids, the row of each value, at one level or several.

use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::tensor::nrows::RowIds;
use crate::tensor::partition::{Making, Trust};
use crate::tensor::{IntoValues, RaggedTensor, Tensor};

/// Construction from row encodings: value rowids.
impl Tensor {
    /// The ragged tensor of `values` whose value `i` is in row `value_rowids[i]`. TensorFlow:
    /// `tf.RaggedTensor.from_value_rowids`.
    ///
    /// The last id is that of the last row, unless the number of rows is given
    /// ([`with_nrows`](crate::opt::with_nrows)). With ids on the device and no number of rows, only the device knows
    /// that number.
    ///
    /// # Errors
    /// A scalar as values; an id that is negative, below the one before it, or not below the number of rows, with the
    /// first such entry; a number of ids that is not the number of values. Violations that only the device sees fail at
    /// the read.
    ///
    /// # Cost
    #[doc = cost!(row ids)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
    /// let x = Tensor::from_value_rowids(&values, [0, 0, 2])?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// let e = Tensor::from_value_rowids(&values, [0, 2, 1]).unwrap_err();
    /// assert!(e.to_string().contains("value_rowids[2] = 1"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids<'a>(values: &impl AsRef<Self>, value_rowids: impl Into<RowIds<'a>>) -> Result<Self> {
        let (values, rows) = (values.as_ref(), value_rowids.into());
        let m = Making::new(values.backend(), "from_value_rowids", Trust::Check);
        values.divided_by_rowids(m, rows.ids, rows.nrows)
    }

    /// [`Tensor::from_value_rowids`] without its checks, for a caller who guarantees valid ids. Invalid ids give
    /// unspecified rows.
    ///
    /// # Errors
    /// A scalar as values; a number of ids that is not the number of values; values without rows.
    ///
    /// # Cost
    #[doc = cost!(row ids unchecked)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
    /// let x = Tensor::from_value_rowids_unchecked(&values, [0, 0, 2])?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids_unchecked<'a>(
        values: &impl AsRef<Self>,
        value_rowids: impl Into<RowIds<'a>>,
    ) -> Result<Self> {
        let (values, rows) = (values.as_ref(), value_rowids.into());
        let m = Making::new(values.backend(), "from_value_rowids_unchecked", Trust::Vouched);
        values.divided_by_rowids(m, rows.ids, rows.nrows)
    }

    /// The ragged tensor of `flat_values` under several levels of row ids, outermost first, each with a number of rows
    /// where given ([`with_nrows`](crate::opt::with_nrows)). An empty list of levels gives `flat_values`. TensorFlow:
    /// `tf.RaggedTensor.from_nested_value_rowids`.
    ///
    /// # Errors
    /// A scalar as values; an id that is negative, below the one before it, or not below the number of rows, with the
    /// first such entry; a number of ids that is not the number of values; each with the level. Violations that only
    /// the device sees fail at the read.
    ///
    /// # Cost
    #[doc = cost!(row ids)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
    /// let x = Tensor::from_nested_value_rowids(&values, [[0, 1].as_slice(), &[0, 0, 1]])?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1, 2]], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested_value_rowids<'a, L: Into<RowIds<'a>>>(
        flat_values: &impl AsRef<Self>,
        nested_value_rowids: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        flat_values.as_ref().nested_rowids(nested_value_rowids, ("from_nested_value_rowids", Trust::Check))
    }

    /// [`Tensor::from_nested_value_rowids`] without its checks, for a caller who guarantees valid ids. Invalid ids give
    /// unspecified rows.
    ///
    /// # Errors
    /// A scalar as values; a number of ids that is not the number of values; values without rows.
    ///
    /// # Cost
    #[doc = cost!(row ids unchecked)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Tensor};
    /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
    /// let x = Tensor::from_nested_value_rowids_unchecked(&values, [[0, 1].as_slice(), &[0, 0, 1]])?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1, 2]], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested_value_rowids_unchecked<'a, L: Into<RowIds<'a>>>(
        flat_values: &impl AsRef<Self>,
        nested_value_rowids: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        flat_values.as_ref().nested_rowids(nested_value_rowids, ("from_nested_value_rowids_unchecked", Trust::Vouched))
    }

    #[track_caller]
    fn nested_rowids<'a, L: Into<RowIds<'a>>>(
        &self,
        levels: impl IntoIterator<Item = L>,
        (op, trust): (&'static str, Trust),
    ) -> Result<Self> {
        let levels: Vec<RowIds<'a>> = levels.into_iter().map(Into::into).collect();
        let m = Making::new(self.backend(), op, trust);
        self.divided_deeply(levels.into_iter(), |values, rows| values.divided_by_rowids(m, rows.ids, rows.nrows))
    }
}

/// Construction from row encodings: value rowids.
impl<T: Element> RaggedTensor<T> {
    /// The ragged tensor of `values` whose value `i` is in row `value_rowids[i]`; the values are on the host or a
    /// tensor.
    ///
    /// The last id is that of the last row, unless the number of rows is given
    /// ([`with_nrows`](crate::opt::with_nrows)). With ids on the device and no number of rows, only the device knows
    /// that number. TensorFlow: `tf.RaggedTensor.from_value_rowids`.
    ///
    /// # Errors
    /// A scalar as values; an id that is negative, below the one before it, or not below the number of rows, with the
    /// first such entry; a number of ids that is not the number of values; a tensor as values on another device.
    /// Violations that only the device sees fail at the read.
    ///
    /// # Cost
    #[doc = cost!(row ids)]
    ///
    /// ```
    /// use ragged::opt::with_nrows;
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_value_rowids([1, 2, 3], with_nrows([0, 0, 2], 4), &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids<'a>(
        values: impl IntoValues<T>,
        value_rowids: impl Into<RowIds<'a>>,
        device: &Device,
    ) -> Result<Self> {
        let values = values.into_values(device).map_err(|e| e.of("from_value_rowids"))?;
        Tensor::from_value_rowids(values.erased(), value_rowids)?.try_into()
    }

    /// [`RaggedTensor::from_value_rowids`] without its checks, for a caller who guarantees valid ids. Invalid ids give
    /// unspecified rows.
    ///
    /// # Errors
    /// A scalar as values; a number of ids that is not the number of values; values without rows; a tensor as values on
    /// another device.
    ///
    /// # Cost
    #[doc = cost!(row ids unchecked)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_value_rowids_unchecked([1, 2, 3], [0, 0, 2], &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids_unchecked<'a>(
        values: impl IntoValues<T>,
        value_rowids: impl Into<RowIds<'a>>,
        device: &Device,
    ) -> Result<Self> {
        let values = values.into_values(device).map_err(|e| e.of("from_value_rowids_unchecked"))?;
        Tensor::from_value_rowids_unchecked(values.erased(), value_rowids)?.try_into()
    }

    /// The ragged tensor of `flat_values` under several levels of row ids, outermost first; the values are on the host
    /// or a tensor.
    ///
    /// Each level has a number of rows where given ([`with_nrows`](crate::opt::with_nrows)). An empty list of levels
    /// gives `flat_values`. TensorFlow: `tf.RaggedTensor.from_nested_value_rowids`.
    ///
    /// # Errors
    /// A scalar as values; an id that is negative, below the one before it, or not below the number of rows, with the
    /// first such entry; a number of ids that is not the number of values; each with the level; a tensor as values on
    /// another device. Violations that only the device sees fail at the read.
    ///
    /// # Cost
    #[doc = cost!(row ids)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let levels = [[0, 1].as_slice(), &[0, 0, 1]];
    /// let x = RaggedTensor::from_nested_value_rowids([1, 2, 3], levels, &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1, 2]], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested_value_rowids<'a, L: Into<RowIds<'a>>>(
        flat_values: impl IntoValues<T>,
        nested_value_rowids: impl IntoIterator<Item = L>,
        device: &Device,
    ) -> Result<Self> {
        let values = flat_values.into_values(device).map_err(|e| e.of("from_nested_value_rowids"))?;
        Tensor::from_nested_value_rowids(values.erased(), nested_value_rowids)?.try_into()
    }

    /// [`RaggedTensor::from_nested_value_rowids`] without its checks, for a caller who guarantees valid ids. Invalid
    /// ids give unspecified rows.
    ///
    /// # Errors
    /// A scalar as values; a number of ids that is not the number of values; values without rows; a tensor as values on
    /// another device.
    ///
    /// # Cost
    #[doc = cost!(row ids unchecked)]
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let levels = [[0, 1].as_slice(), &[0, 0, 1]];
    /// let x = RaggedTensor::from_nested_value_rowids_unchecked([1, 2, 3], levels, &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[[1, 2]], [[3]]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested_value_rowids_unchecked<'a, L: Into<RowIds<'a>>>(
        flat_values: impl IntoValues<T>,
        nested_value_rowids: impl IntoIterator<Item = L>,
        device: &Device,
    ) -> Result<Self> {
        let values = flat_values.into_values(device).map_err(|e| e.of("from_nested_value_rowids_unchecked"))?;
        Tensor::from_nested_value_rowids_unchecked(values.erased(), nested_value_rowids)?.try_into()
    }
}
