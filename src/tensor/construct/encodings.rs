//! Factories for encodings that are one list of integers: splits, lengths, starts, limits.

use crate::device::Device;
use crate::element::Element;
use crate::error::Result;
use crate::shape::Encoding;
use crate::tensor::integers::Integers;
use crate::tensor::partition::{Making, Trust};
use crate::tensor::{IntoValues, RaggedTensor, Tensor};

/// Defines the factories of an encoding that is one list of integers: on `Tensor` and on `RaggedTensor`, checked and
/// unchecked, for one level and for several.
macro_rules! factories {
    ($(
        $encoding:ident, $name:ident, $unchecked:ident ($given:ident)
        $(, $nested:ident, $nested_unchecked:ident ($levels:ident))?;
        $what:literal, $tf:literal, $errors:literal, $good:literal, $bad:literal;
    )*) => {$(
        /// Construction from row encodings.
        impl Tensor {
            #[doc = concat!("The ragged tensor of `values` ", $what, ". `tf.RaggedTensor.", $tf, "`.")]
            ///
            /// The partitions and inner dimensions of `values` are kept below the new, outermost rows. Integers from
            /// the host are checked here. Integers on the device are validated by device-side checks that a read
            /// reports, without a wait.
            ///
            /// # Errors
            #[doc = concat!("A scalar as values; ", $errors, ", with the first such entry. What only the device sees \
                             fails at the read.")]
            ///
            /// # Cost
            #[doc = cost!(encoded)]
            ///
            /// ```
            /// use ragged::{Device, RaggedTensor, Tensor};
            /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
            #[doc = concat!("let x = Tensor::", stringify!($name), "(&values, &", $good, ")?;")]
            /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
            #[doc = concat!("assert!(Tensor::", stringify!($name), "(&values, &", $bad, ").is_err());")]
            /// # Ok::<(), ragged::Error>(())
            /// ```
            #[track_caller]
            pub fn $name<'a>(values: &impl AsRef<Self>, $given: impl Into<Integers<'a>>) -> Result<Self> {
                let values = values.as_ref();
                let m = Making::new(values.backend(), stringify!($name), Trust::Check);
                values.divided(m, Encoding::$encoding, $given.into())
            }

            #[doc = concat!("[`Tensor::", stringify!($name), "`] without its checks, for a caller who knows that the \
                             integers are good.")]
            /// Invalid integers give unspecified rows of these values.
            ///
            /// # Errors
            /// A scalar as values; values without rows.
            ///
            /// # Cost
            #[doc = cost!(encoded unchecked)]
            ///
            /// ```
            /// use ragged::{Device, RaggedTensor, Tensor};
            /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
            #[doc = concat!("let x = Tensor::", stringify!($unchecked), "(&values, &", $good, ")?;")]
            /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
            /// # Ok::<(), ragged::Error>(())
            /// ```
            #[track_caller]
            pub fn $unchecked<'a>(values: &impl AsRef<Self>, $given: impl Into<Integers<'a>>) -> Result<Self> {
                let values = values.as_ref();
                let m = Making::new(values.backend(), stringify!($unchecked), Trust::Vouched);
                values.divided(m, Encoding::$encoding, $given.into())
            }
        }

        /// Construction from row encodings.
        impl<T: Element> RaggedTensor<T> {
            #[doc = concat!("The ragged tensor of `values` ", $what, ". `tf.RaggedTensor.", $tf, "`.")]
            ///
            /// Values on the host are put onto the device; the partitions and inner dimensions of a tensor are kept
            /// below the new, outermost rows. Integers from the host are checked here. Integers on the device are
            /// validated by device-side checks that a read reports, without a wait.
            ///
            /// # Errors
            #[doc = concat!("A scalar as values, or a tensor on another device; ", $errors, ", with the first such \
                             entry. What only the device sees fails at the read.")]
            ///
            /// # Cost
            #[doc = cost!(encoded)]
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
                $given: impl Into<Integers<'a>>,
                device: &Device,
            ) -> Result<Self> {
                let values = values.into_values(device).map_err(|e| e.of(stringify!($name)))?;
                Tensor::$name(values.erased(), $given)?.try_into()
            }

            #[doc = concat!("[`RaggedTensor::", stringify!($name), "`] without its checks, for a caller who knows that \
                             the integers are good.")]
            /// Invalid integers give unspecified rows of these values.
            ///
            /// # Errors
            /// A scalar as values, or a tensor on another device; values without rows.
            ///
            /// # Cost
            #[doc = cost!(encoded unchecked)]
            ///
            /// ```
            /// use ragged::{Device, RaggedTensor};
            /// let device = Device::cpu();
            #[doc = concat!("let x = RaggedTensor::", stringify!($unchecked), "([1, 2, 3], &", $good, ", &device)?;")]
            /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
            /// # Ok::<(), ragged::Error>(())
            /// ```
            #[track_caller]
            pub fn $unchecked<'a>(
                values: impl IntoValues<T>,
                $given: impl Into<Integers<'a>>,
                device: &Device,
            ) -> Result<Self> {
                let values = values.into_values(device).map_err(|e| e.of(stringify!($unchecked)))?;
                Tensor::$unchecked(values.erased(), $given)?.try_into()
            }
        }

        $(
            /// Construction from row encodings.
            impl Tensor {
                #[doc = concat!("The ragged tensor of `flat_values` under several levels, outermost first. \
                                 `tf.RaggedTensor.", stringify!($nested), "`.")]
                /// An empty list of levels gives `flat_values`. Each level is checked against the next.
                ///
                /// # Errors
                #[doc = concat!("A scalar as values; ", $errors, ", with the level and the first such entry. What \
                                 only the device sees fails at the read.")]
                ///
                /// # Cost
                #[doc = cost!(encoded)]
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor, Tensor};
                /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
                #[doc = concat!("let x = Tensor::", stringify!($nested), "(&values, [", $good, "])?;")]
                /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
                /// # Ok::<(), ragged::Error>(())
                /// ```
                #[track_caller]
                pub fn $nested<'a, L: Into<Integers<'a>>>(
                    flat_values: &impl AsRef<Self>,
                    $levels: impl IntoIterator<Item = L>,
                ) -> Result<Self> {
                    let levels: Vec<Integers<'a>> = $levels.into_iter().map(Into::into).collect();
                    let flat_values = flat_values.as_ref();
                    let m = Making::new(flat_values.backend(), stringify!($nested), Trust::Check);
                    flat_values.divided_deeply(levels.into_iter(), |values, given| {
                        values.divided(m, Encoding::$encoding, given)
                    })
                }

                #[doc = concat!("[`Tensor::", stringify!($nested), "`] without its checks, for a caller who knows that \
                                 the integers are good.")]
                /// Invalid integers give unspecified rows of these values.
                ///
                /// # Errors
                /// A scalar as values; values without rows.
                ///
                /// # Cost
                #[doc = cost!(encoded unchecked)]
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor, Tensor};
                /// let values = RaggedTensor::from_nested([1, 2, 3], &Device::cpu())?;
                #[doc = concat!("let x = Tensor::", stringify!($nested_unchecked), "(&values, [", $good, "])?;")]
                /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
                /// # Ok::<(), ragged::Error>(())
                /// ```
                #[track_caller]
                pub fn $nested_unchecked<'a, L: Into<Integers<'a>>>(
                    flat_values: &impl AsRef<Self>,
                    $levels: impl IntoIterator<Item = L>,
                ) -> Result<Self> {
                    let levels: Vec<Integers<'a>> = $levels.into_iter().map(Into::into).collect();
                    let flat_values = flat_values.as_ref();
                    let m = Making::new(flat_values.backend(), stringify!($nested_unchecked), Trust::Vouched);
                    flat_values.divided_deeply(levels.into_iter(), |values, given| {
                        values.divided(m, Encoding::$encoding, given)
                    })
                }
            }

            /// Construction from row encodings.
            impl<T: Element> RaggedTensor<T> {
                #[doc = concat!("The ragged tensor of `flat_values` under several levels, outermost first. \
                                 `tf.RaggedTensor.", stringify!($nested), "`.")]
                /// Values on the host are put onto the device. An empty list of levels gives `flat_values`. Each level
                /// is checked against the next.
                ///
                /// # Errors
                #[doc = concat!("A scalar as values, or a tensor on another device; ", $errors, ", with the level and \
                                 the first such entry. What only the device sees fails at the read.")]
                ///
                /// # Cost
                #[doc = cost!(encoded)]
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor};
                /// let device = Device::cpu();
                #[doc = concat!("let x = RaggedTensor::", stringify!($nested), "([1, 2, 3], [", $good, "], &device)?;")]
                /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
                /// # Ok::<(), ragged::Error>(())
                /// ```
                #[track_caller]
                pub fn $nested<'a, L: Into<Integers<'a>>>(
                    flat_values: impl IntoValues<T>,
                    $levels: impl IntoIterator<Item = L>,
                    device: &Device,
                ) -> Result<Self> {
                    let values = flat_values.into_values(device).map_err(|e| e.of(stringify!($nested)))?;
                    Tensor::$nested(values.erased(), $levels)?.try_into()
                }

                #[doc = concat!("[`RaggedTensor::", stringify!($nested), "`] without its checks, for a caller who \
                                 knows that the integers are good.")]
                /// Invalid integers give unspecified rows of these values.
                ///
                /// # Errors
                /// A scalar as values, or a tensor on another device; values without rows.
                ///
                /// # Cost
                #[doc = cost!(encoded unchecked)]
                ///
                /// ```
                /// use ragged::{Device, RaggedTensor};
                /// let device = Device::cpu();
                #[doc = concat!("let x = RaggedTensor::", stringify!($nested_unchecked), "([1, 2, 3], [", $good,
                                "], &device)?;")]
                /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
                /// # Ok::<(), ragged::Error>(())
                /// ```
                #[track_caller]
                pub fn $nested_unchecked<'a, L: Into<Integers<'a>>>(
                    flat_values: impl IntoValues<T>,
                    $levels: impl IntoIterator<Item = L>,
                    device: &Device,
                ) -> Result<Self> {
                    let values = flat_values.into_values(device).map_err(|e| e.of(stringify!($nested_unchecked)))?;
                    Tensor::$nested_unchecked(values.erased(), $levels)?.try_into()
                }
            }
        )?
    )*};
}

factories! {
    Splits, from_row_splits, from_row_splits_unchecked (row_splits), from_nested_row_splits,
        from_nested_row_splits_unchecked (nested_row_splits);
        "whose row `r` is `values[row_splits[r]..row_splits[r + 1]]`", "from_row_splits",
        "splits that are none, do not start at 0, decrease, or do not end at the number of values",
        "[0, 2, 2, 3]", "[0, 2, 1, 3]";
    Lengths, from_row_lengths, from_row_lengths_unchecked (row_lengths), from_nested_row_lengths,
        from_nested_row_lengths_unchecked (nested_row_lengths);
        "whose row `r` has `row_lengths[r]` values", "from_row_lengths",
        "lengths that are negative or do not add up to the number of values",
        "[2, 0, 1]", "[2, 0, 2]";
    Starts, from_row_starts, from_row_starts_unchecked (row_starts);
        "whose row `r` begins at value `row_starts[r]`", "from_row_starts",
        "starts that do not begin with 0, decrease, or pass the number of values; none for any values",
        "[0, 2, 2]", "[0, 2, 4]";
    Limits, from_row_limits, from_row_limits_unchecked (row_limits);
        "whose row `r` ends before value `row_limits[r]`", "from_row_limits",
        "limits that are negative, decrease, or do not end at the number of values; none for any values",
        "[2, 2, 3]", "[2, 2, 4]";
}
