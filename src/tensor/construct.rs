//! Factories: values and an encoding of rows make a ragged tensor.

use super::integers::Integers;
use super::into_values::IntoValues;
use super::partition::{Making, Trust, encoded, from_rowids, uniform};
use super::{BytesBound, Pick, RaggedTensor, Tensor, Values};
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Rows};
use crate::shape::{Encoding, RowPartition};

impl Tensor {
    /// How many rows there are to divide.
    ///
    /// # Errors
    /// A scalar has none.
    fn divisible(&self, op: &'static str) -> Result<Extent> {
        if self.rank() == 0 {
            return Err(Error::argument(op, "values must have rank 1 or more, but are a scalar"));
        }
        Ok(self.nrows_extent())
    }

    /// The same tensor on these conditions.
    pub(crate) fn on_condition(&self, op: &'static str, asserts: &[Node]) -> Result<Self> {
        if asserts.is_empty() {
            return Ok(self.clone());
        }
        let pick = Pick::From(self.values_ref(), Expr::index());
        let bound = BytesBound::AtMost(self.values_ref().bytes_capacity());
        let values = Values::rearranged(self.backend(), op, &self.count()?, &pick, bound, asserts)?;
        let (outer, inner) = (self.outer().cloned(), self.inner().to_vec());
        Self::new(self.backend(), self.partitions().to_vec(), outer, inner, values)
    }

    /// These values in rows that `given` encodes.
    fn divided(&self, m: Making<'_>, encoding: Encoding, given: Integers<'_>) -> Result<Self> {
        self.under(encoded(m, encoding, given, Some(&self.divisible(m.op)?))?)
    }

    /// These values in rows by the row of each.
    fn divided_by_rowids(&self, m: Making<'_>, ids: Integers<'_>, nrows: Option<i64>) -> Result<Self> {
        self.under(from_rowids(m, ids, nrows, Some(&self.divisible(m.op)?))?)
    }

    /// These values in rows of one length.
    fn divided_evenly(&self, m: Making<'_>, len: i64, nrows: Option<i64>) -> Result<Self> {
        let (partition, asserts) = uniform(m, len, nrows, &self.divisible(m.op)?)?;
        self.on_condition(m.op, &asserts)?.under(partition)
    }

    /// These values under several levels, outermost first.
    fn divided_deeply<L>(
        &self,
        levels: impl DoubleEndedIterator<Item = L> + ExactSizeIterator,
        one: impl Fn(&Self, L) -> Result<Self>,
    ) -> Result<Self> {
        levels.enumerate().rev().try_fold(self.clone(), |values, (level, given)| {
            one(&values, given).map_err(|e| match e {
                Error::Partition { op, what } => Error::Partition { op, what: format!("at level {level}, {what}") },
                other => other,
            })
        })
    }

    /// The ragged tensor of `values` whose row lengths are all `uniform_row_length`.
    /// `tf.RaggedTensor.from_uniform_row_length`.
    ///
    /// The result knows the length: its static shape shows it, and its size-1 dimensions broadcast. Without `nrows`
    /// there are `values / uniform_row_length` rows, and none where that is 0. No pass, no wait.
    ///
    /// # Errors
    /// A scalar as values; a negative argument; a number of values that is not `nrows * uniform_row_length`.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues, Tensor};
    /// let values = HostTensor::dense(&[4], HostValues::I32(vec![1, 2, 3, 4])).to_device(&Device::cpu())?;
    /// let x = Tensor::from_uniform_row_length(&values, 2, None)?;
    /// assert_eq!(x.shape(), [Some(2), Some(2)]);
    /// assert!(Tensor::from_uniform_row_length(&values, 3, None).is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(values: &Self, uniform_row_length: i64, nrows: Option<i64>) -> Result<Self> {
        let m = Making::new(values.backend(), "from_uniform_row_length", Trust::Check);
        values.divided_evenly(m, uniform_row_length, nrows)
    }

    /// [`Tensor::from_uniform_row_length`] without the conditions that only the device can see, for a caller who knows
    /// that they hold. Should they not, the values of the result are unspecified.
    ///
    /// # Errors
    /// As [`Tensor::from_uniform_row_length`], where the host sees it.
    #[track_caller]
    pub fn from_uniform_row_length_unchecked(values: &Self, len: i64, nrows: Option<i64>) -> Result<Self> {
        let m = Making::new(values.backend(), "from_uniform_row_length", Trust::Vouched);
        values.divided_evenly(m, len, nrows)
    }

    /// The ragged tensor of `values` whose value `i` is in row `value_rowids[i]`. `tf.RaggedTensor.from_value_rowids`.
    ///
    /// Without `nrows` the last id is in the last row; with ids on the device that costs a wait.
    ///
    /// # Errors
    /// A scalar as values; an id that is negative, below the one before it, or not below `nrows`, with the first such
    /// entry; another number of ids than of values. What only the device sees fails at the read.
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

    /// [`Tensor::from_value_rowids`] without its checks, for a caller who knows that the ids are good. Should they not
    /// be, the rows of the result are unspecified.
    ///
    /// # Errors
    /// A scalar as values; another number of ids than of values; values, but no rows.
    #[track_caller]
    pub fn from_value_rowids_unchecked<'a>(
        values: &Self,
        value_rowids: impl Into<Integers<'a>>,
        nrows: Option<i64>,
    ) -> Result<Self> {
        let m = Making::new(values.backend(), "from_value_rowids", Trust::Vouched);
        values.divided_by_rowids(m, value_rowids.into(), nrows)
    }

    /// The ragged tensor of `flat_values` under several levels of row ids, outermost first, with the number of rows
    /// of each level where given. `tf.RaggedTensor.from_nested_value_rowids`. No levels give `flat_values`.
    ///
    /// # Errors
    /// Another number of `nested_nrows` than of levels; as [`Tensor::from_value_rowids`], with the level.
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
    /// As [`Tensor::from_value_rowids_unchecked`]; another number of `nested_nrows` than of levels.
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

/// The factories of an encoding that is one list of integers: on the erased tensor and on the typed one, checked and
/// not, of one level and of several.
macro_rules! factories {
    ($(
        $encoding:ident, $name:ident, $unchecked:ident $(, $nested:ident, $nested_unchecked:ident)?;
        $what:literal, $tf:literal, $errors:literal, $good:literal, $bad:literal;
    )*) => {$(
        impl Tensor {
            #[doc = concat!("The ragged tensor of `values` ", $what, ". `tf.RaggedTensor.", $tf, "`.")]
            ///
            /// `values` of rank 1 or more keep their partitions and inner dimensions below the new, outermost rows.
            /// Host integers are checked here; integers on the device are checked there by conditions that a read
            /// looks at, without a wait.
            ///
            /// # Errors
            #[doc = concat!("A scalar as values; ", $errors, ", with the first such entry. What only the device sees \
                             fails at the read.")]
            ///
            /// ```
            /// use ragged::{Device, HostTensor, HostValues, Tensor};
            /// let values = HostTensor::dense(&[3], HostValues::I32(vec![1, 2, 3])).to_device(&Device::cpu())?;
            #[doc = concat!("let x = Tensor::", stringify!($name), "(&values, &", $good, ")?;")]
            /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
            #[doc = concat!("assert!(Tensor::", stringify!($name), "(&values, &", $bad, ").is_err());")]
            /// # Ok::<(), ragged::Error>(())
            /// ```
            #[track_caller]
            pub fn $name<'a>(values: &Self, given: impl Into<Integers<'a>>) -> Result<Self> {
                let m = Making::new(values.backend(), stringify!($name), Trust::Check);
                values.divided(m, Encoding::$encoding, given.into())
            }

            #[doc = concat!("[`Tensor::", stringify!($name), "`] without its checks, for a caller who knows that the \
                             integers are good.")]
            /// Should they not be, the rows of the result are unspecified, but rows of these values all the same.
            ///
            /// # Errors
            /// A scalar as values; values, but no rows.
            #[track_caller]
            pub fn $unchecked<'a>(values: &Self, given: impl Into<Integers<'a>>) -> Result<Self> {
                let m = Making::new(values.backend(), stringify!($name), Trust::Vouched);
                values.divided(m, Encoding::$encoding, given.into())
            }
        }

        impl<T: Element> RaggedTensor<T> {
            #[doc = concat!("The ragged tensor of `values` ", $what, ". `tf.RaggedTensor.", $tf, "`.")]
            ///
            #[doc = concat!("Values on the host are put onto the device; see [`Tensor::", stringify!($name), "`].")]
            ///
            /// # Errors
            #[doc = concat!("As [`Tensor::", stringify!($name), "`]; a tensor as values on another device.")]
            ///
            /// ```
            /// use ragged::{Device, RaggedTensor};
            #[doc = concat!("let x = RaggedTensor::", stringify!($name), "([1, 2, 3], &", $good, ", &Device::cpu())?;")]
            /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
            /// # Ok::<(), ragged::Error>(())
            /// ```
            #[track_caller]
            pub fn $name<'a>(
                values: impl IntoValues<T>,
                given: impl Into<Integers<'a>>,
                device: &Device,
            ) -> Result<Self> {
                Tensor::$name(values.into_values(device)?.erased(), given)?.try_into()
            }

            #[doc = concat!("As [`Tensor::", stringify!($unchecked), "`].")]
            ///
            /// # Errors
            #[doc = concat!("As [`Tensor::", stringify!($unchecked), "`]; a tensor as values on another device.")]
            #[track_caller]
            pub fn $unchecked<'a>(
                values: impl IntoValues<T>,
                given: impl Into<Integers<'a>>,
                device: &Device,
            ) -> Result<Self> {
                Tensor::$unchecked(values.into_values(device)?.erased(), given)?.try_into()
            }
        }

        $(
            impl Tensor {
                #[doc = concat!("The ragged tensor of `flat_values` under several levels, outermost first. \
                                 `tf.RaggedTensor.", stringify!($nested), "`.")]
                /// No levels give `flat_values`; each level is checked against the next.
                ///
                /// # Errors
                #[doc = concat!("As [`Tensor::", stringify!($name), "`], with the level.")]
                ///
                /// ```
                /// use ragged::{Device, HostTensor, HostValues, Tensor};
                /// let values = HostTensor::dense(&[3], HostValues::I32(vec![1, 2, 3])).to_device(&Device::cpu())?;
                #[doc = concat!("let x = Tensor::", stringify!($nested), "(&values, [", $good, "])?;")]
                /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
                /// # Ok::<(), ragged::Error>(())
                /// ```
                #[track_caller]
                pub fn $nested<'a, L: Into<Integers<'a>>>(
                    flat_values: &Self,
                    levels: impl IntoIterator<Item = L>,
                ) -> Result<Self> {
                    let levels: Vec<Integers<'a>> = levels.into_iter().map(Into::into).collect();
                    let m = Making::new(flat_values.backend(), stringify!($nested), Trust::Check);
                    flat_values.divided_deeply(levels.into_iter(), |values, given| {
                        values.divided(m, Encoding::$encoding, given)
                    })
                }

                #[doc = concat!("[`Tensor::", stringify!($nested), "`] without its checks, as [`Tensor::",
                                stringify!($unchecked), "`].")]
                ///
                /// # Errors
                #[doc = concat!("As [`Tensor::", stringify!($unchecked), "`].")]
                #[track_caller]
                pub fn $nested_unchecked<'a, L: Into<Integers<'a>>>(
                    flat_values: &Self,
                    levels: impl IntoIterator<Item = L>,
                ) -> Result<Self> {
                    let levels: Vec<Integers<'a>> = levels.into_iter().map(Into::into).collect();
                    let m = Making::new(flat_values.backend(), stringify!($nested), Trust::Vouched);
                    flat_values.divided_deeply(levels.into_iter(), |values, given| {
                        values.divided(m, Encoding::$encoding, given)
                    })
                }
            }

            impl<T: Element> RaggedTensor<T> {
                #[doc = concat!("As [`Tensor::", stringify!($nested), "`].")]
                ///
                /// # Errors
                #[doc = concat!("As [`Tensor::", stringify!($nested), "`]; a tensor as values on another device.")]
                #[track_caller]
                pub fn $nested<'a, L: Into<Integers<'a>>>(
                    flat_values: impl IntoValues<T>,
                    levels: impl IntoIterator<Item = L>,
                    device: &Device,
                ) -> Result<Self> {
                    Tensor::$nested(flat_values.into_values(device)?.erased(), levels)?.try_into()
                }

                #[doc = concat!("As [`Tensor::", stringify!($nested_unchecked), "`].")]
                ///
                /// # Errors
                #[doc = concat!("As [`Tensor::", stringify!($nested_unchecked), "`].")]
                #[track_caller]
                pub fn $nested_unchecked<'a, L: Into<Integers<'a>>>(
                    flat_values: impl IntoValues<T>,
                    levels: impl IntoIterator<Item = L>,
                    device: &Device,
                ) -> Result<Self> {
                    Tensor::$nested_unchecked(flat_values.into_values(device)?.erased(), levels)?.try_into()
                }
            }
        )?
    )*};
}

factories! {
    Splits, from_row_splits, from_row_splits_unchecked, from_nested_row_splits, from_nested_row_splits_unchecked;
        "whose row `r` is `values[row_splits[r]..row_splits[r + 1]]`", "from_row_splits",
        "splits that are none, do not start at 0, decrease, or do not end at the number of values",
        "[0, 2, 2, 3]", "[0, 2, 1, 3]";
    Lengths, from_row_lengths, from_row_lengths_unchecked, from_nested_row_lengths, from_nested_row_lengths_unchecked;
        "whose row `r` has `row_lengths[r]` values", "from_row_lengths",
        "lengths that are negative or do not add up to the number of values",
        "[2, 0, 1]", "[2, 0, 2]";
    Starts, from_row_starts, from_row_starts_unchecked;
        "whose row `r` begins at value `row_starts[r]`", "from_row_starts",
        "starts that do not begin with 0, decrease, or pass the number of values; none for any values",
        "[0, 2, 2]", "[0, 2, 4]";
    Limits, from_row_limits, from_row_limits_unchecked;
        "whose row `r` ends before value `row_limits[r]`", "from_row_limits",
        "limits that are negative, decrease, or do not end at the number of values; none for any values",
        "[2, 2, 3]", "[2, 2, 4]";
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

    /// As [`Tensor::from_uniform_row_length`], with values from the host or a tensor.
    ///
    /// # Errors
    /// As [`Tensor::from_uniform_row_length`]; a tensor as values on another device.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_uniform_row_length([1, 2, 3, 4], 2, None, &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [3, 4]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_uniform_row_length(
        values: impl IntoValues<T>,
        uniform_row_length: i64,
        nrows: Option<i64>,
        device: &Device,
    ) -> Result<Self> {
        Tensor::from_uniform_row_length(values.into_values(device)?.erased(), uniform_row_length, nrows)?.try_into()
    }

    /// As [`Tensor::from_uniform_row_length_unchecked`].
    ///
    /// # Errors
    /// As [`Tensor::from_uniform_row_length_unchecked`]; a tensor as values on another device.
    #[track_caller]
    pub fn from_uniform_row_length_unchecked(
        values: impl IntoValues<T>,
        uniform_row_length: i64,
        nrows: Option<i64>,
        device: &Device,
    ) -> Result<Self> {
        let values = values.into_values(device)?;
        Tensor::from_uniform_row_length_unchecked(values.erased(), uniform_row_length, nrows)?.try_into()
    }
}

impl Tensor {
    /// The tensor of `flat_values` under these partitions, outermost first, on the condition (checked on the device
    /// where the host does not know) that each has as many values as the next has rows. Shares the partitions, so that
    /// tensors made of the same ones have equal shapes for sure. `tf.RaggedTensor.from_nested_row_partitions`.
    ///
    /// # Errors
    /// A scalar as values; a partition whose number of values is not the number of rows below it; another device.
    ///
    /// ```
    /// use ragged::{Device, HostTensor, HostValues, RowPartition, Tensor};
    /// let device = Device::cpu();
    /// let rows = RowPartition::from_row_lengths(&[2, 0, 1], &device)?;
    /// let values = HostTensor::dense(&[3], HostValues::I32(vec![1, 2, 3])).to_device(&device)?;
    /// let x = Tensor::from_row_partitions(&values, &[rows])?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_row_partitions(flat_values: &Self, partitions: &[RowPartition]) -> Result<Self> {
        const OP: &str = "from_row_partitions";
        let m = Making::new(flat_values.backend(), OP, Trust::Check);
        partitions.iter().rev().try_fold(flat_values.clone(), |values, p| {
            if let Rows::Splits(node) = p.rows() {
                Device::check_same(OP, node.backend(), m.backend)?;
            }
            let asserts = m.same_count(p.nvals_extent(), &values.divisible(OP)?)?;
            values.on_condition(OP, &asserts)?.under(p.clone())
        })
    }
}

impl Making<'_> {
    /// The condition that a partition has as many values as there are: none where the host can tell.
    pub(crate) fn same_count(self, nvals: &Extent, there: &Extent) -> Result<Vec<Node>> {
        let rule = |n: &str| format!("the partition has {n} values");
        match (nvals.as_known(), there.as_known()) {
            (Some(a), Some(b)) if a == b => Ok(Vec::new()),
            (Some(a), Some(b)) => {
                Err(Error::partition(self.op, format!("{}, but there are {b}", rule(&a.to_string()))))
            }
            _ if nvals == there => Ok(Vec::new()),
            _ => {
                let what = format!("{}, and as many must be given", rule("some number of"));
                Ok(vec![self.condition(Extent::known(1), nvals.expr().eq(there.expr()), what)])
            }
        }
    }
}
