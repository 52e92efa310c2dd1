//! Division of arrays whose values exceed a tensor.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, OffsetSizeTrait};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;
use ragged::Result;
use ragged::operation::named;

use crate::fault::argument;
use crate::memory::MAX_VALUES;

/// Divides an array between rows, so that no level of a part has more than `most` values.
///
/// A tensor has at most 2^32 - 2 values at each level; an array of LargeList may have more. Rows stay whole and in order, and
/// each part has as many as fit. Strings count by their bytes. Of list views that overlap, each view counts. Copies nothing.
///
/// # Errors
/// A row that exceeds the limit by itself, with its number.
///
/// # Cost
/// A binary search in the offsets for each part; a pass over the sizes of views.
///
/// ```
/// use arrow_array::types::Int32Type;
/// use arrow_array::{Array, ListArray};
/// use ragged_data::arrow::batches;
/// let row = |n: i32| Some((0..n).map(Some).collect::<Vec<_>>());
/// let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([row(2), row(0), row(3), row(1)]);
/// let parts: Vec<usize> = batches(&lists, 4)?.iter().map(|part| part.len()).collect();
/// assert_eq!(parts, [2, 2]);
/// let e = batches(&lists, 2).unwrap_err();
/// assert!(e.to_string().contains("row 2 has more than 2 values at one level"));
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn batches(array: &dyn Array, most: usize) -> Result<Vec<ArrayRef>> {
    named("batches", || {
        let most = most.min(MAX_VALUES);
        let levels = levels(array, most);
        let mut out = Vec::new();
        let (mut start, n) = (0, array.len());
        while start < n {
            let fits = |end: usize| end - start <= most && levels.iter().all(|level| level(start, end) <= most);
            // The number of further rows that fit: they do up to some number, and not beyond.
            let (mut few, mut many) = (0, n - start + 1);
            while many - few > 1 {
                let middle = few + (many - few) / 2;
                *(if fits(start + middle) { &mut few } else { &mut many }) = middle;
            }
            if few == 0 {
                return Err(argument(format!("row {start} has more than {most} values at one level")));
            }
            out.push(array.slice(start, few));
            start += few;
        }
        if n == 0 {
            out.push(array.slice(0, 0));
        }
        Ok(out)
    })
}

/// The number of values of a level in a range of rows.
type Count<'a> = Box<dyn Fn(usize, usize) -> usize + 'a>;

/// The counts of all levels of an array.
fn levels(array: &dyn Array, most: usize) -> Vec<Count<'_>> {
    match array.data_type() {
        DataType::List(_) => lists(array.as_list::<i32>().offsets(), array.as_list::<i32>().values(), most),
        DataType::LargeList(_) => lists(array.as_list::<i64>().offsets(), array.as_list::<i64>().values(), most),
        DataType::Map(..) => lists(array.as_map().offsets(), array.as_map().entries(), most),
        DataType::Utf8 => vec![between(array.as_string::<i32>().offsets())],
        DataType::LargeUtf8 => vec![between(array.as_string::<i64>().offsets())],
        DataType::Binary => vec![between(array.as_binary::<i32>().offsets())],
        DataType::LargeBinary => vec![between(array.as_binary::<i64>().offsets())],
        DataType::Utf8View => {
            vec![sums(array.len(), |i| array.as_string_view().views()[i] as u32 as usize)]
        }
        DataType::BinaryView => {
            vec![sums(array.len(), |i| array.as_binary_view().views()[i] as u32 as usize)]
        }
        DataType::FixedSizeBinary(size) => {
            let size = *size as usize;
            vec![Box::new(move |start, end| (end - start).saturating_mul(size))]
        }
        DataType::ListView(_) => {
            let array = array.as_list_view::<i32>();
            views(array.value_offsets(), array.value_sizes(), array.values(), most)
        }
        DataType::LargeListView(_) => {
            let array = array.as_list_view::<i64>();
            views(array.value_offsets(), array.value_sizes(), array.values(), most)
        }
        DataType::FixedSizeList(_, size) => {
            let size = *size as usize;
            let below = levels(array.as_fixed_size_list().values(), most).into_iter().map(move |count| {
                Box::new(move |start: usize, end: usize| count(start * size, end * size)) as Count<'_>
            });
            let own: Count<'_> = Box::new(move |start, end| (end - start).saturating_mul(size));
            std::iter::once(own).chain(below).collect()
        }
        DataType::Struct(_) => array.as_struct().columns().iter().flat_map(|column| levels(column, most)).collect(),
        _ => Vec::new(),
    }
}

/// The number of values between offsets.
fn between<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> Count<'_> {
    Box::new(|start, end| offsets[end].as_usize() - offsets[start].as_usize())
}

fn lists<'a, O: OffsetSizeTrait>(offsets: &'a OffsetBuffer<O>, values: &'a dyn Array, most: usize) -> Vec<Count<'a>> {
    let below = levels(values, most).into_iter().map(|count| {
        Box::new(move |start: usize, end: usize| count(offsets[start].as_usize(), offsets[end].as_usize())) as Count<'_>
    });
    std::iter::once(between(offsets)).chain(below).collect()
}

/// Differences of the sums of lengths.
fn sums<'a>(n: usize, length: impl Fn(usize) -> usize) -> Count<'a> {
    let mut sums = Vec::with_capacity(n + 1);
    let mut sum = 0usize;
    sums.push(sum);
    sums.extend((0..n).map(|i| {
        sum = sum.saturating_add(length(i));
        sum
    }));
    Box::new(move |start, end| sums[end] - sums[start])
}

/// List views: the items of each, and what is below them.
fn views<'a, O: OffsetSizeTrait>(
    starts: &'a [O],
    sizes: &'a [O],
    values: &'a dyn Array,
    most: usize,
) -> Vec<Count<'a>> {
    let n = starts.len();
    let below = levels(values, most)
        .into_iter()
        .map(|count| sums(n, move |i| count(starts[i].as_usize(), starts[i].as_usize() + sizes[i].as_usize())));
    std::iter::once(sums(n, |i| sizes[i].as_usize())).chain(below).collect()
}
