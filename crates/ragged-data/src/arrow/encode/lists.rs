//! Dimensions as lists.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait, StructArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef};
use ragged::{Result, SharedBytes, SharedRows};

use super::{named, refused};
use crate::arrow::memory::buffer;
use crate::fault::{argument, limit};
use crate::memory::room;

/// Makes the values below all lists, at a path, of a type.
type Leaf<'a> = &'a dyn Fn(&str, Option<&DataType>) -> Result<ArrayRef>;

/// Most items of lists with 32-bit offsets.
const MAX_SMALL: usize = i32::MAX as usize;

/// The values in lists of these levels, outermost first.
pub(super) fn nested(
    path: &str,
    levels: &[SharedRows],
    leaf: Leaf<'_>,
    data_type: Option<&DataType>,
) -> Result<ArrayRef> {
    let Some((rows, below)) = levels.split_first() else { return leaf(path, data_type) };
    let items = format!("{path}[]");
    let of = |field: &FieldRef| nested(&items, below, leaf, Some(field.data_type()));
    match data_type {
        None => {
            let values = nested(&items, below, leaf, None)?;
            let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
            match rows {
                SharedRows::Uniform { length, .. } if *length <= MAX_SMALL => fixed(path, rows, *length, field, values),
                _ if values.len() <= MAX_SMALL => list::<i32>(path, rows, field, values),
                _ => list::<i64>(path, rows, field, values),
            }
        }
        Some(DataType::List(field)) => list::<i32>(path, rows, field.clone(), of(field)?),
        Some(DataType::LargeList(field)) => list::<i64>(path, rows, field.clone(), of(field)?),
        Some(DataType::ListView(field)) => view::<i32>(path, rows, field.clone(), of(field)?),
        Some(DataType::LargeListView(field)) => view::<i64>(path, rows, field.clone(), of(field)?),
        Some(DataType::FixedSizeList(field, size)) => fixed(path, rows, *size as usize, field.clone(), of(field)?),
        Some(DataType::Map(field, sorted)) => {
            let (entries, offsets) = (of(field)?, offsets::<i32>(path, rows)?);
            let entries = entries.as_any().downcast_ref::<StructArray>().cloned();
            let entries = entries.ok_or_else(|| argument(format!("{}a map has structs", named(path))))?;
            let map = MapArray::try_new(field.clone(), offsets, entries, None, *sorted);
            Ok(Arc::new(map.map_err(|e| refused(path, &e))?))
        }
        Some(other) => Err(argument(format!("{}rows of values are no {other}; a list type holds them", named(path)))),
    }
}

/// The number of rows, and the length of each where it is one.
fn uniform(rows: &SharedRows) -> Option<(usize, usize)> {
    match rows {
        SharedRows::Uniform { rows, length } => Some((*rows, *length)),
        _ => None,
    }
}

/// The row splits of levels that have them.
fn splits(rows: &SharedRows) -> Result<&[u32]> {
    match rows {
        SharedRows::Splits(splits) => Ok(numbers(splits)),
        other => Err(argument(format!("there is no Arrow type for {other:?}"))),
    }
}

/// Splits as numbers. `to_shared` has checked them.
fn numbers(splits: &SharedBytes) -> &[u32] {
    splits.numbers().unwrap_or(&[0])
}

/// Row splits as offsets: without a copy as those of 32 bits.
pub(super) fn of_splits<O: OffsetSizeTrait>(path: &str, bytes: &SharedBytes) -> Result<OffsetBuffer<O>> {
    let splits = numbers(bytes);
    let last = splits.last().map_or(0, |&last| last as usize);
    check_small::<O>(path, last)?;
    if O::IS_LARGE {
        let mut out = room("offsets of an Arrow array", splits.len())?;
        out.extend(splits.iter().filter_map(|&split| O::from_usize(split as usize)));
        return Ok(OffsetBuffer::new(ScalarBuffer::from(out)));
    }
    Ok(OffsetBuffer::new(ScalarBuffer::from(buffer(bytes, align_of::<O>()))))
}

/// # Errors
/// More items than the offsets of a type count.
fn check_small<O: OffsetSizeTrait>(path: &str, items: usize) -> Result<()> {
    if O::IS_LARGE || items <= MAX_SMALL {
        return Ok(());
    }
    Err(limit(
        items as u64,
        "items",
        MAX_SMALL as u64,
        format!("{}32-bit offsets; a Large type has 64 bits", named(path)),
    ))
}

fn offsets<O: OffsetSizeTrait>(path: &str, rows: &SharedRows) -> Result<OffsetBuffer<O>> {
    if let SharedRows::Splits(bytes) = rows {
        return of_splits(path, bytes);
    }
    let (n, length) = uniform(rows).unwrap_or_default();
    check_small::<O>(path, n * length)?;
    let mut out = room("offsets of an Arrow array", n + 1)?;
    out.extend((0..=n).filter_map(|row| O::from_usize(row * length)));
    Ok(OffsetBuffer::new(ScalarBuffer::from(out)))
}

fn list<O: OffsetSizeTrait>(path: &str, rows: &SharedRows, field: FieldRef, values: ArrayRef) -> Result<ArrayRef> {
    let array = GenericListArray::try_new(field, offsets::<O>(path, rows)?, values, None);
    Ok(Arc::new(array.map_err(|e| refused(path, &e))?))
}

fn view<O: OffsetSizeTrait>(path: &str, rows: &SharedRows, field: FieldRef, values: ArrayRef) -> Result<ArrayRef> {
    let offsets = offsets::<O>(path, rows)?;
    let mut sizes = room("sizes of an Arrow array", offsets.len())?;
    sizes.extend(offsets.lengths().filter_map(O::from_usize));
    let starts = offsets.inner().slice(0, offsets.len() - 1);
    let array = GenericListViewArray::try_new(field, starts, ScalarBuffer::from(sizes), values, None);
    Ok(Arc::new(array.map_err(|e| refused(path, &e))?))
}

fn fixed(path: &str, rows: &SharedRows, size: usize, field: FieldRef, values: ArrayRef) -> Result<ArrayRef> {
    let n = match uniform(rows) {
        Some((n, length)) => {
            if length != size && n > 0 {
                let what = format!("{}rows have {length} values, but the fixed-size list {size}", named(path));
                return Err(argument(what));
            }
            n
        }
        None => {
            let splits = splits(rows)?;
            if let Some(row) = splits.windows(2).position(|w| (w[1] - w[0]) as usize != size) {
                let found = splits[row + 1] - splits[row];
                let what = format!("{}row {row} has {found} values, but the fixed-size list {size}", named(path));
                return Err(argument(what));
            }
            splits.len() - 1
        }
    };
    let array = FixedSizeListArray::try_new_with_length(field, size as i32, values, None, n);
    Ok(Arc::new(array.map_err(|e| refused(path, &e))?))
}
