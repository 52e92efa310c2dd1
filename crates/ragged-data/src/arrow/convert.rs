//! The traits of the conversions.

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use ragged::operation::named;
use ragged::{Device, Element, FieldValue, RaggedTensor, Result, StructuredTensor, Tensor};

use super::decode::{Decoder, Policy};
use super::encode::encode;
use super::{Masked, Nulls, batches};
use crate::memory::MAX_VALUES;

/// Makes a tensor or records of an Arrow array.
///
/// [`Tensor`] and [`RaggedTensor`] take arrays without structs, [`StructuredTensor`] structs and lists of structs, and
/// [`FieldValue`] both. See the [table of types](super#types).
pub trait FromArrow: Sized {
    /// The array as a tensor or records on the device. Nulls are errors.
    ///
    /// The first dimension is the array's rows, below it are those of lists. Empty lists are empty rows; every value keeps its
    /// bits. On the CPU the buffers of the array are adopted, and kept as long as the tensor; on a GPU they are uploaded.
    ///
    /// # Errors
    /// A null, with its column and row; a type that is not in the table; another type than `Self`; more than 2^32 - 2 values
    /// at a level (see [`Self::from_arrow_batches`]); names of fields that records cannot have; memory.
    ///
    /// # Cost
    /// On the CPU no copy besides those of the table. Offsets are validated: two passes over them.
    ///
    /// ```
    /// use arrow_array::{Int32Array, StringArray};
    /// use ragged::{Device, RaggedTensor, Str, Tensor};
    /// use ragged_data::arrow::FromArrow;
    /// let x = Tensor::from_arrow(&Int32Array::from(vec![1, 2]), &Device::cpu())?;
    /// assert_eq!(x.to_string(), "tensor([1, 2], shape=(2,), dtype=i32)");
    /// let words = RaggedTensor::<Str>::from_arrow(&StringArray::from(vec!["to", "be"]), &Device::cpu())?;
    /// assert_eq!(words.to_strings()?, ["to", "be"]);
    /// let e = Tensor::from_arrow(&Int32Array::from(vec![Some(1), None]), &Device::cpu()).unwrap_err();
    /// assert!(e.to_string().starts_with("from_arrow: 1 of 2 values is null, the first at position 1"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn from_arrow(array: &dyn Array, device: &Device) -> Result<Self> {
        Self::from_arrow_with(array, Nulls::Error, device)
    }

    /// As [`Self::from_arrow`], with a choice of what nulls become.
    ///
    /// # Errors
    /// As [`Self::from_arrow`].
    ///
    /// # Cost
    /// As [`Self::from_arrow`]; numbers and strings with nulls are copied.
    ///
    /// ```
    /// use arrow_array::types::Float32Type;
    /// use arrow_array::ListArray;
    /// use ragged::{Device, Tensor};
    /// use ragged_data::arrow::{FromArrow, Nulls};
    /// let lists = ListArray::from_iter_primitive::<Float32Type, _, _>([Some(vec![Some(0.5), None]), None]);
    /// let x = Tensor::from_arrow_with(&lists, Nulls::Empty, &Device::cpu())?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[0.5, 0.0], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn from_arrow_with(array: &dyn Array, nulls: Nulls, device: &Device) -> Result<Self> {
        let policy = match nulls {
            Nulls::Error => Policy::Error,
            Nulls::Empty => Policy::Empty,
        };
        named("from_arrow", || Self::of_value(Decoder { policy, device }.value_of(array)?.value))
    }

    /// As [`Self::from_arrow`], with the masks of nulls beside the value.
    ///
    /// # Errors
    /// As [`Self::from_arrow`], but for nulls.
    ///
    /// # Cost
    /// As [`Self::from_arrow`], and a byte for each value of a level with nulls.
    ///
    /// ```
    /// use arrow_array::types::Float32Type;
    /// use arrow_array::ListArray;
    /// use ragged::{Device, Tensor};
    /// use ragged_data::arrow::FromArrow;
    /// let lists = ListArray::from_iter_primitive::<Float32Type, _, _>([Some(vec![Some(0.5), None]), None]);
    /// let x = Tensor::from_arrow_masked(&lists, &Device::cpu())?;
    /// assert_eq!(x.value.shape_text(), "[2, None]");
    /// assert_eq!(x.mask("").unwrap().to_string(), "tensor([True, False], shape=(2,), dtype=bool)");
    /// assert_eq!(x.mask("[]").unwrap().to_string(), "<ragged.RaggedTensor [[True, False], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn from_arrow_masked(array: &dyn Array, device: &Device) -> Result<Masked<Self>> {
        named("from_arrow_masked", || Decoder { policy: Policy::Mask, device }.value_of(array)?.try_map(Self::of_value))
    }

    /// As [`Self::from_arrow_with`], of an array of any number of values: as many tensors as they need, of consecutive rows. One,
    /// unless a level has more than 2^32 - 2 values.
    ///
    /// # Errors
    /// A row of more than 2^32 - 2 values, with its number; as [`Self::from_arrow`], but for numbers of values.
    ///
    /// # Cost
    /// As [`Self::from_arrow_with`], and a search in the offsets for each part.
    ///
    /// ```
    /// use arrow_array::types::Int32Type;
    /// use arrow_array::ListArray;
    /// use ragged::{Device, Tensor};
    /// use ragged_data::arrow::{FromArrow, Nulls};
    /// let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![])]);
    /// let parts = Tensor::from_arrow_batches(&lists, Nulls::Error, &Device::cpu())?;
    /// assert_eq!((parts.len(), parts[0].to_string()), (1, "<ragged.RaggedTensor [[1, 2], []]>".to_owned()));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn from_arrow_batches(array: &dyn Array, nulls: Nulls, device: &Device) -> Result<Vec<Self>> {
        named("from_arrow_batches", || {
            let parts = batches(array, MAX_VALUES)?;
            parts.iter().map(|part| Self::from_arrow_with(part, nulls, device)).collect()
        })
    }

    /// The value as this type.
    #[doc(hidden)]
    fn of_value(value: FieldValue) -> Result<Self>;
}

impl FromArrow for FieldValue {
    fn of_value(value: FieldValue) -> Result<Self> {
        Ok(value)
    }
}

impl FromArrow for Tensor {
    fn of_value(value: FieldValue) -> Result<Self> {
        value.tensor()
    }
}

impl<T: Element> FromArrow for RaggedTensor<T> {
    fn of_value(value: FieldValue) -> Result<Self> {
        value.tensor()?.try_into()
    }
}

impl FromArrow for StructuredTensor {
    fn of_value(value: FieldValue) -> Result<Self> {
        value.records()
    }
}

/// Makes an Arrow array of a tensor or records.
pub trait ToArrow {
    /// The values as an Arrow array of the type that suits them.
    ///
    /// A ragged dimension becomes a List (a LargeList beyond 2^31 - 1 values), a uniform one below the outermost a
    /// FixedSizeList, strings Utf8, records a Struct with the fields in their order. There are no nulls. Reads the
    /// tensor and waits once; on the CPU the buffers of the result are those of the tensor.
    ///
    /// # Errors
    /// A scalar, which has no rows; bf16 (cast it); strings that are not UTF-8 (`to_arrow_as` Binary); the first failed
    /// device-side check; memory.
    ///
    /// # Cost
    /// One read, without a copy on the CPU but for bools and 64-bit offsets. Strings are validated as UTF-8.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::arrow::ToArrow;
    /// let x = RaggedTensor::from_nested([vec![[1.0f32, 2.0]], vec![]], &Device::cpu())?;
    /// let array = x.to_arrow()?;
    /// assert_eq!(array.data_type().to_string(), "List(FixedSizeList(2 x Float32))");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn to_arrow(&self) -> Result<ArrayRef> {
        let value = self.as_value();
        named("to_arrow", || encode(&value, None))
    }

    /// The values as an Arrow array of this type.
    ///
    /// A ragged dimension becomes a list of any kind (a FixedSizeList if its rows have that length), strings any kind of strings
    /// or binaries, i32 and i64 any type of dates, times and durations that is stored so. Records become a Struct or a Map with
    /// the fields in its order.
    ///
    /// # Errors
    /// A type that the values do not fit, with the column; a field that the records lack, with those that exist, or that the
    /// type lacks; as [`Self::to_arrow`].
    ///
    /// # Cost
    /// As [`Self::to_arrow`]; views take 16 bytes per string.
    ///
    /// ```
    /// use arrow_schema::{DataType, Field};
    /// use ragged::{Device, RaggedTensor};
    /// use ragged_data::arrow::ToArrow;
    /// let x = RaggedTensor::from_nested([vec!["to", "be"], vec![]], &Device::cpu())?;
    /// let views = DataType::LargeList(Field::new("word", DataType::Utf8View, false).into());
    /// assert_eq!(x.to_arrow_as(&views)?.data_type(), &views);
    /// assert!(x.to_arrow_as(&DataType::Int32).unwrap_err().to_string().starts_with("to_arrow_as: "));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    fn to_arrow_as(&self, data_type: &DataType) -> Result<ArrayRef> {
        let value = self.as_value();
        named("to_arrow_as", || encode(&value, Some(data_type)))
    }

    /// The value as that of a field.
    #[doc(hidden)]
    fn as_value(&self) -> FieldValue;
}

impl ToArrow for FieldValue {
    fn as_value(&self) -> FieldValue {
        self.clone()
    }
}

impl ToArrow for Tensor {
    fn as_value(&self) -> FieldValue {
        self.into()
    }
}

impl<T: Element> ToArrow for RaggedTensor<T> {
    fn as_value(&self) -> FieldValue {
        self.into()
    }
}

impl ToArrow for StructuredTensor {
    fn as_value(&self) -> FieldValue {
        self.into()
    }
}
