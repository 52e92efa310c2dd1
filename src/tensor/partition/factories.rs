//! The public factories of a row partition.

use super::{Making, Trust, encoded, from_rowids, uniform};
use crate::device::Device;
use crate::error::Result;
use crate::integer::Integer;
use crate::shape::{Encoding, RowPartition};
use crate::tensor::integers::Integers;
use crate::tensor::nrows::{RowIds, UniformRows};

/// Defines the public factories, from their documentation and encoding.
macro_rules! factories {
    ($($(#[$doc:meta])* $name:ident = $encoding:ident;)*) => {
        impl RowPartition {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $name<'a>(given: impl Into<Integers<'a>>, device: &Device) -> Result<Self> {
                    let m = Making::new(device.backend(), stringify!($name), Trust::Check);
                    encoded(m, Encoding::$encoding, given.into(), None)
                }
            )*
        }
    };
}

factories! {
    /// The partition whose row `r` holds the values `row_splits[r]..row_splits[r + 1]`. TensorFlow:
    /// `RowPartition.from_row_splits`.
    ///
    /// Splits from the host are checked here. Splits on the device are validated by device-side checks, and only the
    /// device knows the number of values.
    ///
    /// # Errors
    /// An empty list; splits that do not start at 0 or that decrease, with the first such entry; more than 2^32 - 2
    /// values.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let device = Device::cpu();
    /// let rows = RowPartition::from_row_splits(&[0, 4, 4, 6], &device)?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// let e = RowPartition::from_row_splits(&[0, 4, 3], &device).unwrap_err();
    /// assert!(e.to_string().contains("row_splits[2] = 3"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    from_row_splits = Splits;
    /// The partition whose row `r` holds `row_lengths[r]` values. TensorFlow: `RowPartition.from_row_lengths`.
    ///
    /// # Errors
    /// A negative length; more than 2^32 - 2 values.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_lengths(&[4, 0, 2], &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    from_row_lengths = Lengths;
    /// The partition whose row `r` ends before value `row_limits[r]`. TensorFlow: `RowPartition.from_row_limits`.
    ///
    /// # Errors
    /// A negative limit; limits that decrease, with the first such entry; more than 2^32 - 2 values.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_limits(&[4, 4, 6], &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    from_row_limits = Limits;
}

impl RowPartition {
    /// The partition of `nvals` values whose row `r` starts at value `row_starts[r]`. TensorFlow:
    /// `RowPartition.from_row_starts`.
    ///
    /// # Errors
    /// Starts that do not begin with 0, decrease, or exceed `nvals`, with the first such entry; values without starts.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_row_starts(&[0, 4, 4], 6, &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(6)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_row_starts<'a>(starts: impl Into<Integers<'a>>, nvals: impl Integer, device: &Device) -> Result<Self> {
        let m = Making::new(device.backend(), "from_row_starts", Trust::Check);
        let nvals = m.rec.non_negative("nvals", nvals)?;
        encoded(m, Encoding::Starts, starts.into(), Some(&m.rec.known(nvals)?))
    }

    /// The partition whose value `i` is in row `value_rowids[i]`. TensorFlow: `RowPartition.from_value_rowids`.
    ///
    /// Without `nrows` the last id is in the last row; with ids on the device, only the device knows the number of
    /// rows.
    ///
    /// # Errors
    /// An id that is negative, below the one before it, or not below the number of rows, with the first such entry.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_value_rowids([0, 0, 2], &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.nvals()), (Some(3), Some(3)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_value_rowids<'a>(ids: impl Into<RowIds<'a>>, device: &Device) -> Result<Self> {
        let RowIds { ids, nrows } = ids.into();
        let m = Making::new(device.backend(), "from_value_rowids", Trust::Check);
        from_rowids(m, ids, nrows, None)
    }

    /// The partition of `nvals` values into rows of one length. TensorFlow: `RowPartition.from_uniform_row_length`.
    ///
    /// Rows of length 0 need their number ([`with_nrows`](crate::opt::with_nrows)), and are none without.
    ///
    /// # Errors
    /// A negative argument; an `nvals` that is not the number of rows times their length.
    ///
    /// ```
    /// use ragged::{Device, RowPartition};
    /// let rows = RowPartition::from_uniform_row_length(2, 6, &Device::cpu())?;
    /// assert_eq!((rows.nrows(), rows.uniform_row_length()), (Some(3), Some(2)));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(rows: impl Into<UniformRows>, nvals: impl Integer, device: &Device) -> Result<Self> {
        let UniformRows { length, nrows } = rows.into();
        let m = Making::new(device.backend(), "from_uniform_row_length", Trust::Check);
        let nvals = m.rec.non_negative("nvals", nvals)?;
        Ok(uniform(m, length, nrows, &m.rec.known(nvals)?)?.0)
    }
}
