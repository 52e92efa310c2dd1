//! Mutations of what other libraries hand over in memory: streams of Arrow IPC, and descriptors of DLPack.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field, Schema};
use ragged::{Device, Error, FieldValue, Result, StructuredTensor, Tensor};
use ragged_data::arrow::{FromRecordBatch, Nulls};
use ragged_data::dlpack::dlpark::ffi::{
    DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion,
    DLTensor,
};
use ragged_data::dlpack::dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use ragged_data::dlpack::from_dlpack;

use crate::allocations::peak_of;
use crate::mutate::{ALL, SOME, mutations, quiet};
use crate::mutations::read_all;
use crate::random_arrays::{Form, Random, array, widths};

/// A stream of one batch with columns of these types.
fn stream(types: &[DataType]) -> Vec<u8> {
    let mut random = Random(types.len() as u64);
    let columns = types.iter().map(|of| array(of, 5, Form { nulls: 4 }, &mut random)).collect();
    let fields: Vec<Field> =
        types.iter().enumerate().map(|(k, of)| Field::new(format!("c{k}"), of.clone(), true)).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("a batch");
    let mut out = Vec::new();
    let mut writer = StreamWriter::try_new(&mut out, &batch.schema()).expect("a writer");
    writer.write(&batch).expect("written");
    writer.finish().expect("written");
    out
}

/// The first batch of a stream, if arrow-ipc accepts it. Its panics are its own.
fn first_batch(bytes: Vec<u8>) -> Option<RecordBatch> {
    let decode = move || StreamDecoder::new().decode(&mut Buffer::from_vec(bytes));
    catch_unwind(AssertUnwindSafe(decode)).ok()?.ok()?
}

/// Reads all values.
fn values(field: &FieldValue) -> Result<()> {
    match field {
        FieldValue::Tensor(tensor) => tensor.to_shared().map(drop),
        FieldValue::Records(records) => records.fields().try_for_each(|(_, field)| values(field)),
        _ => Ok(()),
    }
}

#[test]
fn arrow_ipc_streams() {
    let device = Device::cpu();
    let item = |of| Arc::new(Field::new("item", of, true));
    let list = DataType::List(item(DataType::Utf8));
    let pair =
        DataType::Struct(vec![Field::new("b", list.clone(), true), Field::new("a", DataType::Int16, true)].into());
    let streams = [
        stream(&widths()),
        stream(&[
            DataType::Utf8,
            DataType::LargeBinary,
            DataType::Utf8View,
            DataType::FixedSizeBinary(3),
            DataType::Boolean,
        ]),
        stream(&[list.clone(), DataType::LargeList(item(list.clone())), DataType::FixedSizeList(item(list), 2)]),
        stream(&[
            pair.clone(),
            DataType::ListView(item(pair.clone())),
            DataType::LargeListView(item(DataType::Float32)),
        ]),
        stream(&[DataType::List(item(pair))]),
    ];
    for stream in &streams {
        let batch = first_batch(stream.clone()).expect("a batch");
        StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &device).expect("records");
    }
    let accepted = AtomicUsize::new(0);
    // An array of views may refer to the same bytes many times.
    let count = mutations(SOME);
    // Arrays in memory have no place.
    let has_place = |_: &str| true;
    read_all(&streams, count, 1 << 20, has_place, |bytes| {
        let Some(batch) = first_batch(bytes) else { return Ok(()) };
        accepted.fetch_add(1, Ordering::Relaxed);
        let masked = StructuredTensor::from_record_batch_masked(&batch, &device);
        masked.and_then(|masked| masked.value.fields().try_for_each(|(_, field)| values(field)))?;
        let records = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &device)?;
        records.fields().try_for_each(|(_, field)| values(field))?;
        StructuredTensor::from_record_batch(&batch, &device).map(drop)
    });
    let accepted = accepted.into_inner();
    println!("arrow-ipc accepts {accepted}");
    assert!(accepted > count / 10, "{accepted}");
}

/// Memory that all descriptors refer to.
const BYTES: usize = 1 << 12;

/// What the deleter frees.
struct Owned {
    shape: Vec<i64>,
    strides: Vec<i64>,
    _data: Vec<u64>,
    deleted: Arc<AtomicUsize>,
}

unsafe extern "C" fn delete<M: ManagedTensorBase>(raw: *mut M) {
    // SAFETY: both were made by `Box::into_raw` in `managed`, and the deleter is called once.
    let (managed, owned) = unsafe { (Box::from_raw(raw), Box::from_raw((*raw).manager_ctx().cast::<Owned>())) };
    owned.deleted.fetch_add(1, Ordering::Relaxed);
    drop((managed, owned));
}

/// A random number of a dimension, a stride or an offset.
fn number(random: &mut Random) -> i64 {
    match random.below(8) {
        0..=4 => random.below(5) as i64,
        5 => [-1, i64::MIN, i64::MAX, 1 << 31, 1 << 32, 1 << 40, 1 << 62, u32::MAX as i64 - 1][random.below(8)],
        6 => -(random.below(5) as i64),
        _ => 1 << random.below(63),
    }
}

/// A descriptor, some of whose parts are damaged, with its number of elements if that is one.
fn descriptor(random: &mut Random, deleted: &Arc<AtomicUsize>) -> (DLTensor, Box<Owned>) {
    let ndim = [1, 2, 3, 0, 4, 65][if random.below(50) == 0 { 5 } else { random.below(5) }];
    let mut shape: Vec<i64> = (0..ndim).map(|_| number(random)).collect();
    let dtype = DLDataType {
        code: DLDataTypeCode(if random.below(4) > 0 { [0, 1, 2, 4, 6][random.below(5)] } else { random.next() as u8 }),
        bits: if random.below(8) > 0 { 8 << random.below(4) } else { random.next() as u8 },
        lanes: if random.below(8) > 0 { 1 } else { random.next() as u16 },
    };
    let some = |random: &mut Random| random.below(20) > 0;
    let shown = if some(random) { ndim as i32 } else { -(random.below(3) as i32) };
    let mut byte_offset = if random.below(3) > 0 { 0 } else { number(random) as u64 };
    // A descriptor says what the memory holds, or more than any tensor has: nothing may read beyond the memory.
    let count = |shape: &[i64]| {
        let shown = &shape[..shown.max(0) as usize];
        shown.iter().fold(1i128, |n, d| n.saturating_mul(i128::from(*d)))
    };
    let fits = |count: i128, offset: u64| {
        count <= 0 || count >= 1 << 33 || count.saturating_mul(8) + i128::from(offset) <= BYTES as i128
    };
    if !fits(count(&shape), 0) {
        shape[0] = 0;
    }
    if count(&shape) != 0 && !(fits(count(&shape), byte_offset) && count(&shape) < 1 << 33) {
        byte_offset = 0;
    }
    let mut strides: Vec<i64> = vec![1; ndim];
    for k in (1..ndim).rev() {
        strides[k - 1] = strides[k].wrapping_mul(shape[k]);
    }
    if random.below(4) == 0 && ndim > 0 {
        strides[random.below(ndim)] = number(random);
    }
    let mut data = vec![0u64; BYTES / 8];
    let at = data.as_mut_ptr();
    let mut owned = Box::new(Owned { shape, strides, _data: data, deleted: deleted.clone() });
    let device_type = if some(random) { 1 } else { random.below(20) as u32 };
    let tensor = DLTensor {
        data: if some(random) { at.cast() } else { std::ptr::null_mut() },
        device: DLDevice { device_type: DLDeviceType(device_type), device_id: number(random) as i32 },
        ndim: shown,
        dtype,
        shape: if some(random) { owned.shape.as_mut_ptr() } else { std::ptr::null_mut() },
        strides: if some(random) { owned.strides.as_mut_ptr() } else { std::ptr::null_mut() },
        byte_offset,
    };
    (tensor, owned)
}

/// The tensor of a descriptor that owns its memory.
fn adopt<M: ManagedTensorBase + 'static>(managed: M, device: &Device) -> Result<Tensor> {
    // SAFETY: the shape and the strides have as many numbers as the descriptor says and live until the deleter is called, which
    // frees the box once; it may be called in any thread.
    let managed = unsafe { Managed::from_raw(Box::into_raw(Box::new(managed))) };
    let refused = |e: &dyn std::fmt::Display| Error::Io {
        op: "dlpark",
        what: e.to_string(),
        location: std::panic::Location::caller(),
    };
    let managed = managed.map_err(|e| refused(&e))?;
    // SAFETY: the memory holds what the descriptor says, or that is more than a tensor has; nothing writes to it.
    unsafe { from_dlpack(managed, device) }
}

#[test]
fn dlpack_descriptors() {
    let (device, deleted) = (Device::cpu(), Arc::new(AtomicUsize::new(0)));
    let mut random = Random(3);
    let count = mutations(ALL);
    let (mut good, mut most) = (0, 0);
    for k in 0..count {
        let (tensor, owned) = descriptor(&mut random, &deleted);
        let text = format!("{tensor:?} {:?} {:?}", owned.shape, owned.strides);
        let context = Box::into_raw(owned).cast();
        let is_legacy = random.below(2) == 0;
        let version = DLPackVersion {
            major: if random.below(20) > 0 { 1 } else { number(&mut random) as u32 },
            minor: random.below(4) as u32,
        };
        let run = || {
            if is_legacy {
                let deleter: unsafe extern "C" fn(*mut DLManagedTensor) = delete;
                adopt(DLManagedTensor { dl_tensor: tensor, manager_ctx: context, deleter: Some(deleter) }, &device)
            } else {
                let deleter: unsafe extern "C" fn(*mut DLManagedTensorVersioned) = delete;
                let flags = DlpackFlags::READ_ONLY;
                let managed = DLManagedTensorVersioned {
                    version,
                    manager_ctx: context,
                    deleter: Some(deleter),
                    flags,
                    dl_tensor: tensor,
                };
                adopt(managed, &device)
            }
        };
        let (outcome, taken) =
            quiet(|| peak_of(|| catch_unwind(AssertUnwindSafe(|| run().and_then(|x| x.to_host().map(drop))))));
        most = most.max(taken);
        assert!(taken < 64 << 10, "descriptor {k} takes {taken} bytes: {text}");
        match outcome {
            Ok(Ok(())) => good += 1,
            Ok(Err(e)) => {
                let message = e.to_string();
                assert!(message.len() < 1000 && e.location().is_some(), "{message}: {text}");
                assert!(message.starts_with("from_dlpack") || message.starts_with("dlpark"), "{message}: {text}");
            }
            Err(_) => panic!("descriptor {k} panics: {text}"),
        }
    }
    println!("{good} of {count} are tensors; at most {most} bytes");
    assert!(good > count / 20 && good < count, "{good}");
    assert_eq!(deleted.load(Ordering::Relaxed), count, "each deleter is called once");
}
