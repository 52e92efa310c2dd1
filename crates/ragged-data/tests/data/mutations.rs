//! Damaged files: mutations of each format, 100,000 of most; `RAGGED_MUTATIONS` chooses their number. Each is read or is an error
//! that says why, and where as far as the format has places; none panics, and none takes memory that its size does not justify.

use ragged::{Device, RaggedTensor, Result, StructuredTensor, Tensor};
use ragged_data::arrow::FromRecordBatch as _;
use ragged_data::parquet::ReadOptions;
use ragged_data::{json, npy, parquet, safetensors};

use crate::mutate::{ALL, SOME, mutate, mutations};
use crate::npy::Temporary;

/// Mutations of files of a reader of this crate, whose errors name the line of the call and the reason, and have a place.
pub fn read_all(
    files: &[Vec<u8>],
    count: usize,
    most: usize,
    has_place: impl Fn(&str) -> bool + Sync,
    read: impl Fn(Vec<u8>) -> Result<()> + Sync,
) {
    let read = |bytes| {
        read(bytes).map_err(|error| {
            assert!(error.location().is_some(), "{error}");
            error.to_string()
        })
    };
    mutate(files, count, most, read, has_place);
}

/// Whether the message has one of these words, or is of a size beyond a limit.
fn has_one(message: &str, words: &[&str]) -> bool {
    words.iter().any(|word| message.contains(word)) || message.contains(" is the limit of ")
}

/// Reads all values, which finds layouts that are invalid. A mutated file may describe more elements than a test should print.
fn values<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
    let is_small = |x: &&Tensor| x.shape().iter().flatten().product::<usize>() < 1 << 16;
    tensors.into_iter().filter(is_small).try_for_each(|x| x.to_shared().map(drop))
}

fn small_tensors() -> Result<Vec<(&'static str, Tensor)>> {
    let device = Device::cpu();
    Ok(vec![
        ("x", RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?.into()),
        ("w", RaggedTensor::from_nested([vec!["to"], vec!["be"]], &device)?.into()),
        ("m", RaggedTensor::from_nested([[1.5f32, 2.0]], &device)?.into()),
    ])
}

#[test]
fn npy_files() -> Result<()> {
    let device = Device::cpu();
    let fixture = |name: &str| std::fs::read(crate::npy::fixture(name)).expect("a fixture");
    let files = ["i32.npy", "fortran.npy", "big_endian.npy", "text.npy", "bytes.npy", "bools.npy"].map(fixture);
    // The byte, the part of the header, or the string.
    let places = ["no npy file", "byte", "header", "NumPy's type", "Python objects", "a shape of", "string "];
    let has_place = |text: &str| text.strip_prefix("npy::from_bytes").is_some_and(|why| has_one(why, &places));
    read_all(&files, mutations(ALL), 256 << 10, has_place, |bytes| values([&npy::from_bytes(bytes, &device)?]));
    Ok(())
}

#[test]
fn npz_files() -> Result<()> {
    let device = Device::cpu();
    let all = small_tensors()?;
    let own = npy::npz_to_bytes(all.iter().map(|(name, x)| (*name, x)))?;
    let packed = std::fs::read(crate::npy::fixture("compressed.npz")).expect("a fixture");
    // Deflated bytes stand for 1032 others at most.
    let has_place = |text: &str| has_one(text, &["this is no npz file", "entry ", "array \""]);
    read_all(&[own, packed], mutations(ALL), 1 << 20, has_place, |bytes| {
        values(npy::npz_from_bytes(bytes, &device)?.values())
    });
    Ok(())
}

#[test]
fn safetensors_files() -> Result<()> {
    let device = Device::cpu();
    let all = small_tensors()?;
    let file = safetensors::to_bytes(all.iter().map(|(name, x)| (*name, x)))?;
    let has_place = |text: &str| has_one(text, &["this is no safetensors file", "tensor \"", "array \""]);
    read_all(&[file], mutations(ALL), 256 << 10, has_place, |bytes| {
        values(safetensors::from_bytes(bytes, &device)?.values())
    });
    Ok(())
}

#[test]
fn parquet_files() -> Result<()> {
    let device = Device::cpu();
    let words = RaggedTensor::from_nested([vec!["to"], vec![], vec!["be", "or"]], &device)?.into_erased();
    let id = RaggedTensor::from_nested([1i64, 2, 3], &device)?.into_erased();
    let records = StructuredTensor::from_fields_and_rank([("words", &words), ("id", &id)], 1)?;
    let own = parquet::to_bytes(&records)?;
    let polars = std::fs::read(crate::npy::fixture("polars.parquet")).expect("a fixture");
    let read = |records: StructuredTensor| {
        records.fields().try_for_each(|(_, field)| match field {
            ragged::FieldValue::Tensor(x) => x.to_shared().map(drop),
            _ => Ok(()),
        })
    };
    let files = [own, polars];
    // The reasons are those of the crate `parquet`, most of them without a place.
    let has_name = |text: &str| text.starts_with("parquet::from_bytes");
    read_all(&files, mutations(ALL), 16 << 20, has_name, |bytes| {
        read(parquet::from_bytes(bytes, &ReadOptions::new(), &device)?)
    });
    // By bytes, from a file, which the message names.
    let options = ReadOptions::new().batch_bytes(20).least_decoded(1);
    let has_file = |text: &str| text.starts_with("parquet::batches") && text.contains(").parquet");
    read_all(&files, mutations(SOME), 16 << 20, has_file, |bytes| {
        let file = Temporary::new(&format!("{:?}.parquet", std::thread::current().id()));
        std::fs::write(&file.0, bytes).expect("a file");
        parquet::batches(&file.0, &options, &device)?.try_for_each(|records| read(records?))
    });
    Ok(())
}

#[test]
fn json_lines() {
    let text = br#"{"id": 1, "words": ["to", "be"], "of": {"x": [1.5, null], "y": true}}
{"words": [], "id": -7, "of": null}

{"id": 30, "more": "\u00e9", "of": {"x": [], "y": false}}
"#;
    let device = Device::cpu();
    let read = |bytes: Vec<u8>| {
        let batch = json::from_bytes(bytes, None)?;
        StructuredTensor::from_record_batch_masked(&batch, &device).map(drop)
    };
    read(text.to_vec()).expect("records");
    // Lines whose types contradict each other have no line that is wrong by itself.
    let has_name = |text: &str| text.starts_with("json::from_bytes: ") || text.starts_with("from_record_batch_masked");
    read_all(&[text.to_vec()], mutations(ALL), 1 << 20, has_name, read);
}
