//! Byte strings.

use std::sync::Arc;

use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, BinaryViewArray, FixedSizeBinaryArray, GenericByteArray, StringViewArray};
use arrow_schema::{ArrowError, DataType};
use ragged::{Result, SharedBytes};

use super::lists::of_splits;
use super::{named, refused};
use crate::arrow::memory::buffer;
use crate::fault::argument;

/// Strings between splits.
pub(super) fn strings(
    path: &str,
    splits: &SharedBytes,
    bytes: &SharedBytes,
    data_type: Option<&DataType>,
) -> Result<ArrayRef> {
    let last = splits.numbers::<u32>().and_then(|splits| splits.last()).map_or(0, |&last| last as usize);
    let parts = Parts { path, splits, bytes };
    let own = if last <= i32::MAX as usize { &DataType::Utf8 } else { &DataType::LargeUtf8 };
    match data_type.unwrap_or(own) {
        DataType::Utf8 => Ok(Arc::new(parts.array::<Utf8Type>()?)),
        DataType::LargeUtf8 => Ok(Arc::new(parts.array::<LargeUtf8Type>()?)),
        DataType::Binary => Ok(Arc::new(parts.array::<BinaryType>()?)),
        DataType::LargeBinary => Ok(Arc::new(parts.array::<LargeBinaryType>()?)),
        DataType::Utf8View => Ok(Arc::new(StringViewArray::from(&parts.array::<LargeUtf8Type>()?))),
        DataType::BinaryView => Ok(Arc::new(BinaryViewArray::from(&parts.array::<LargeBinaryType>()?))),
        DataType::FixedSizeBinary(size) => fixed(path, splits, bytes, *size),
        other => Err(argument(format!("{}strings are no {other}", named(path)))),
    }
}

/// The parts of an array of strings.
struct Parts<'a> {
    path: &'a str,
    splits: &'a SharedBytes,
    bytes: &'a SharedBytes,
}

impl Parts<'_> {
    /// The array of a type, whose content is validated.
    fn array<T: ByteArrayType>(&self) -> Result<GenericByteArray<T>> {
        let offsets = of_splits(self.path, self.splits)?;
        let array = GenericByteArray::try_new(offsets, buffer(self.bytes, 1), None);
        array.map_err(|e| self.invalid(&e))
    }

    /// The error of strings that are not UTF-8, with the first of them.
    fn invalid(&self, error: &ArrowError) -> ragged::Error {
        let splits: &[u32] = self.splits.numbers().unwrap_or_default();
        let is_valid = |w: &[u32]| std::str::from_utf8(&self.bytes[w[0] as usize..w[1] as usize]).is_ok();
        match splits.windows(2).position(|w| !is_valid(w)) {
            Some(at) => {
                let what = format!("string {at} is not UTF-8; to_arrow_as takes DataType::Binary");
                argument(format!("{}{what}", named(self.path)))
            }
            None => refused(self.path, error),
        }
    }
}

fn fixed(path: &str, splits: &SharedBytes, bytes: &SharedBytes, size: i32) -> Result<ArrayRef> {
    let splits: &[u32] = splits.numbers().unwrap_or(&[0]);
    if let Some(at) = splits.windows(2).position(|w| i64::from(w[1] - w[0]) != i64::from(size)) {
        let found = splits[at + 1] - splits[at];
        let what = format!("{}string {at} has {found} bytes, but the type {size}", named(path));
        return Err(argument(what));
    }
    let array = FixedSizeBinaryArray::try_new_with_len(size, buffer(bytes, 1), None, splits.len() - 1);
    Ok(Arc::new(array.map_err(|e| refused(path, &e))?))
}
