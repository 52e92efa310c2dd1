//! Adopted memory: what a counting allocator and the counters of the device see.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float32Array, LargeListArray, ListArray, StringArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use ragged::{Result, StructuredTensor, Tensor};
use ragged_data::arrow::{FromArrow, ToArrow};

use crate::allocations::peak_of;
use crate::devices::own_cpu;

const ROWS: usize = 1 << 18;

/// 2^20 numbers in rows of 4.
fn lists() -> ListArray {
    let values = Float32Array::from_iter_values((0..4 * ROWS).map(|i| i as f32));
    let field = Arc::new(Field::new_list_field(DataType::Float32, true));
    ListArray::new(field, OffsetBuffer::from_repeated_length(4, ROWS), Arc::new(values), None)
}

fn words() -> StringArray {
    StringArray::from_iter_values((0..ROWS).map(|i| format!("{i:08}")))
}

/// What a tensor of an array takes: bytes of this thread, and of the device.
fn taken(array: &dyn Array) -> Result<(Tensor, usize, u64)> {
    let device = own_cpu();
    let (x, peak) = peak_of(|| Tensor::from_arrow(array, &device));
    let x = x?;
    Ok((x, peak, device.stats().buffer_bytes))
}

#[test]
fn arrays_are_not_copied() -> Result<()> {
    for array in [Arc::new(lists()) as ArrayRef, Arc::new(words())] {
        let (x, peak, held) = taken(&array)?;
        assert!(peak < 32 << 10 && held == 0, "{}: {peak} and {held} bytes", array.data_type());
        // Neither are they on the way back: the same addresses.
        let (back, peak) = peak_of(|| x.to_arrow());
        let back = back?;
        assert!(peak < 32 << 10, "{}: {peak} bytes", array.data_type());
        let addresses = |array: &ArrayRef| {
            let data = array.to_data();
            let below = data.child_data().first().map(|child| child.buffers()[0].as_ptr());
            (data.buffers().iter().map(|b| b.as_ptr()).collect::<Vec<_>>(), below)
        };
        assert_eq!(addresses(&back), addresses(&array), "{}", array.data_type());
    }
    Ok(())
}

/// Slices and 64-bit offsets take 4 bytes per row and nothing else.
#[test]
fn other_offsets_are_copied_alone() -> Result<()> {
    let sliced: ArrayRef = Arc::new(lists().slice(1, ROWS - 1));
    let (field, offsets, values, _) = lists().into_parts();
    let wide = OffsetBuffer::new(ScalarBuffer::from_iter(offsets.iter().map(|&offset| i64::from(offset))));
    let large: ArrayRef = Arc::new(LargeListArray::new(field, wide, values, None));
    for array in [sliced, large] {
        let (x, peak, held) = taken(&array)?;
        let splits = 4 * ROWS;
        assert!((splits..splits + (32 << 10)).contains(&peak) && held == 0, "{peak} and {held} bytes");
        assert_eq!(x.to_arrow()?.len(), array.len());
    }
    Ok(())
}

/// On a GPU the upload of the values and of the offsets is all that is moved.
#[test]
fn a_gpu_takes_one_upload() -> Result<()> {
    let array = lists();
    if let Some(device) = crate::devices::own_gpu() {
        let before = device.stats();
        let x = Tensor::from_arrow(&array, &device)?;
        let spent = device.stats() - before;
        let bytes = (4 * 4 * ROWS + 4 * (ROWS + 1)) as u64;
        assert_eq!((spent.bytes_uploaded, spent.waits, spent.submissions), (bytes, 0, 0), "{device:?}: {spent:?}");
        let values = array.values().to_data().buffers()[0].clone();
        assert_eq!(values.strong_count(), 2, "{device:?}: the values are not kept");
        assert_eq!(x.to_arrow()?.len(), array.len());
    }
    Ok(())
}

#[test]
fn buffers_are_released_with_the_tensor() -> Result<()> {
    let array = lists();
    let values = array.values().to_data().buffers()[0].clone();
    // One for the array, and one here.
    assert_eq!(values.strong_count(), 2);
    let x = StructuredTensor::from_fields([("x", &Tensor::from_arrow(&array, &own_cpu())?)], [ROWS])?;
    assert_eq!(values.strong_count(), 3);
    drop(array);
    let back = x.to_arrow()?;
    drop(x);
    assert!(values.strong_count() > 1, "the array of Arrow is the same memory");
    drop(back);
    assert_eq!(values.strong_count(), 1);
    Ok(())
}
