//! Arrow arrays as tensors and records.

mod dictionaries;
mod lists;
mod numbers;
mod strings;
mod structs;
mod uniform;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::DataType;
use ragged::{DType, Device, FieldValue, Result, RowPartition, Tensor};

use super::bits::bytes_of_bits;
use super::{Mask, Masked};
use crate::fault::{argument, too_many};
use crate::memory::MAX_VALUES;

pub(super) use numbers::dtype_of;

/// Types may be nested this deep: the conversions recurse. Measured: 64 levels take between 1 and 2 MiB of stack in a build for
/// debugging.
pub(super) const MAX_DEPTH: usize = 32;

/// What nulls become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    Error,
    Empty,
    Mask,
}

/// Makes values on a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoder<'a> {
    pub(super) policy: Policy,
    pub(super) device: &'a Device,
}

/// A level of an array: its path and depth, and the values that are null since the level above is.
#[derive(Debug, Clone, Default)]
struct Level {
    path: String,
    depth: usize,
    outer: Option<NullBuffer>,
}

impl Level {
    /// The items of lists of this level.
    fn items(&self, outer: Option<NullBuffer>) -> Self {
        Self { path: format!("{}[]", self.path), depth: self.depth + 1, outer }
    }

    /// A field of structs of this level.
    fn field(&self, name: &str, outer: Option<NullBuffer>) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { path, depth: self.depth + 1, outer }
    }

    /// The rest of a message about too many values of this level.
    fn divided(&self) -> String {
        let of = if self.path.is_empty() { String::new() } else { format!(" (column {})", self.path) };
        format!("{of}; `from_arrow_batches` divides the array")
    }

    /// The start of a message about this level.
    fn named(&self) -> String {
        if self.path.is_empty() { String::new() } else { format!("column {}: ", self.path) }
    }
}

impl Decoder<'_> {
    /// The value of an array, with the masks of its nulls where the policy wants them.
    pub(super) fn value_of(&self, array: &dyn Array) -> Result<Masked> {
        self.value(array, &Level::default())
    }

    fn value(&self, array: &dyn Array, level: &Level) -> Result<Masked> {
        if level.depth > MAX_DEPTH {
            return Err(argument(format!("types are nested {MAX_DEPTH} deep at most")));
        }
        let fits = array.len() <= MAX_VALUES;
        let within = || too_many(level.divided(), array.len() as u64, "values");
        fits.then_some(()).ok_or_else(within)?;
        let nulls = self.nulls(array, level)?;
        let nulls = nulls.as_ref();
        let leaf = match array.data_type() {
            DataType::Boolean => self.bools(array.as_boolean(), nulls)?,
            DataType::Utf8 => self.strings(array.as_string::<i32>(), nulls, level)?,
            DataType::LargeUtf8 => self.strings(array.as_string::<i64>(), nulls, level)?,
            DataType::Binary => self.strings(array.as_binary::<i32>(), nulls, level)?,
            DataType::LargeBinary => self.strings(array.as_binary::<i64>(), nulls, level)?,
            DataType::Utf8View => self.views(array.as_string_view(), nulls, level)?,
            DataType::BinaryView => self.views(array.as_binary_view(), nulls, level)?,
            DataType::FixedSizeBinary(_) => self.fixed_binaries(array.as_fixed_size_binary(), nulls, level)?,
            DataType::Dictionary(..) => self.dictionary(array.as_any_dictionary(), nulls, level)?,
            DataType::List(_) => return self.lists(array.as_list::<i32>(), nulls, level),
            DataType::LargeList(_) => return self.lists(array.as_list::<i64>(), nulls, level),
            DataType::Map(..) => return self.map(array.as_map(), nulls, level),
            DataType::ListView(_) => return self.list_views(array.as_list_view::<i32>(), nulls, level),
            DataType::LargeListView(_) => return self.list_views(array.as_list_view::<i64>(), nulls, level),
            DataType::FixedSizeList(..) => return self.fixed_lists(array.as_fixed_size_list(), nulls, level),
            DataType::Struct(_) => return self.structs(array.as_struct(), nulls, level),
            other => match dtype_of(other) {
                Some(dtype) => self.numbers(array, dtype, nulls)?,
                None => {
                    let what = format!("{}no dtype holds Arrow's {other}; cast the column before", level.named());
                    return Err(argument(what));
                }
            },
        };
        self.masked(FieldValue::from(leaf), nulls, level)
    }

    /// The nulls of an array, if there are any.
    ///
    /// # Errors
    /// There are, and the policy forbids them.
    fn nulls(&self, array: &dyn Array, level: &Level) -> Result<Option<NullBuffer>> {
        let own = array.logical_nulls();
        let nulls = NullBuffer::union(own.as_ref(), level.outer.as_ref()).filter(|nulls| nulls.null_count() > 0);
        match (nulls, self.policy) {
            (Some(nulls), Policy::Error) => {
                let (n, of) = (nulls.null_count(), nulls.len());
                let first = nulls.iter().position(|valid| !valid).unwrap_or(0);
                let are = if n == 1 { "value is" } else { "values are" };
                let of = if n == 1 {
                    format!("1 of {of} {}", are.replace("value", "values"))
                } else {
                    format!("{n} of {of} {are}")
                };
                Err(argument(format!(
                    "{}{of} null, the first at position {first}; Nulls::Empty makes them empty or 0, from_arrow_masked gives a \
                     mask beside the values",
                    level.named()
                )))
            }
            (nulls, _) => Ok(nulls),
        }
    }

    /// The nulls that are to be replaced by empty values.
    fn emptied<'n>(&self, nulls: Option<&'n NullBuffer>) -> Option<&'n NullBuffer> {
        nulls.filter(|_| self.policy == Policy::Empty)
    }

    /// The value, with a mask of its nulls if the policy wants one.
    fn masked(&self, value: FieldValue, nulls: Option<&NullBuffer>, level: &Level) -> Result<Masked> {
        let mut masks = Vec::new();
        if let (Policy::Mask, Some(nulls)) = (self.policy, nulls) {
            let valid = self.bytes_of_bits(nulls.inner(), None)?;
            masks.push(Mask { path: level.path.clone(), valid: valid.try_into()? });
        }
        Ok(Masked { value, masks })
    }

    /// Bools of bits; false where they are null.
    fn bytes_of_bits(&self, bits: &BooleanBuffer, nulls: Option<&NullBuffer>) -> Result<Tensor> {
        let bytes = bytes_of_bits(bits, nulls)?;
        Tensor::from_shared(bytes, DType::Bool, &[bits.len()], self.device)
    }
}

impl Masked {
    /// The value and its masks, each by a function of a tensor, or of records.
    fn each(
        self,
        tensor: impl Fn(&Tensor) -> Result<Tensor>,
        records: impl FnOnce(&ragged::StructuredTensor) -> Result<ragged::StructuredTensor>,
    ) -> Result<Self> {
        let value = match &self.value {
            FieldValue::Tensor(t) => tensor(t)?.into(),
            FieldValue::Records(r) => records(r)?.into(),
            _ => self.value,
        };
        let mask = |mask: Mask| Ok(Mask { valid: tensor(mask.valid.erased())?.try_into()?, path: mask.path });
        let masks = self.masks.into_iter().map(mask).collect::<Result<_>>()?;
        Ok(Self { value, masks })
    }

    /// The values in rows.
    fn under(self, rows: &RowPartition) -> Result<Self> {
        self.each(
            |t| Tensor::from_row_partitions(t, std::slice::from_ref(rows)),
            |records| records.partition_outer_dimension(rows),
        )
    }

    /// The masks of two levels, of which this one is the outer one.
    fn above(mut self, below: Self) -> Self {
        self.masks.extend(below.masks);
        Self { value: below.value, masks: self.masks }
    }
}
