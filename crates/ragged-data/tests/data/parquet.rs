//! Parquet files: those of pyarrow and polars, columns, row groups, round trips.

use std::sync::Arc;

use arrow_array::{RecordBatch, StructArray};
use arrow_schema::Field;
use proptest::prelude::*;
use ragged::{Device, RaggedTensor, Result, StructuredTensor};
use ragged_data::arrow::{FromRecordBatch, Nulls, ToRecordBatch};
use ragged_data::parquet::{self, Compression, ReadOptions, WriteOptions};

use crate::devices::{devices, fails};
use crate::npy::{Temporary, fixture};
use crate::random_arrays::{Form, Random, array, cases, data_type};
use crate::tree;

fn text(records: &StructuredTensor, field: &str) -> String {
    records.field_value(field.split('.').collect::<Vec<_>>()).expect("a field").to_string()
}

/// The columns of pyarrow's fixture.
const PYARROW: [(&str, &str); 8] = [
    ("word", "tensor([b'to', b'be', b'or', b'not'], shape=(4,), dtype=str)"),
    ("tokens", "<ragged.RaggedTensor [[1, 2], [], [], [3]]>"),
    ("nested", "<ragged.RaggedTensor [[[b'a'], []], [], [[b'b', b'c']], [[]]]>"),
    ("large", "<ragged.RaggedTensor [[0.5], [1.5, 2.5], [], []]>"),
    ("pair", "tensor([[1, 2], [3, 4], [5, 6], [7, 8]], shape=(4, 2), dtype=i16)"),
    ("record.z", "tensor([0, 1, 2, 3], shape=(4,), dtype=u8)"),
    ("color", "tensor([b'red', b'blue', b'red', b'red'], shape=(4,), dtype=str)"),
    ("when", "tensor([1, 2, 3, 4], shape=(4,), dtype=i64)"),
];

#[test]
fn files_of_pyarrow_are_read() -> Result<()> {
    for device in devices() {
        let all = ReadOptions::new();
        let Ok(records) = parquet::read(fixture("pyarrow.parquet"), &all, &device) else {
            // An adapter without 64-bit floats.
            assert!(!device.is_cpu());
            continue;
        };
        for (field, want) in PYARROW {
            assert_eq!(text(&records, field), want, "{device:?} {field}");
        }
        let empty = ReadOptions::new().nulls(Nulls::Empty);
        let filled = parquet::read(fixture("pyarrow_nulls.parquet"), &empty, &device)?;
        assert_eq!(text(&filled, "word"), "tensor([b'to', b'be', b'or', b''], shape=(4,), dtype=str)");
        assert_eq!(text(&filled, "tokens"), "<ragged.RaggedTensor [[1, 2], [], [], [3]]>");
    }
    let cpu = Device::cpu();
    fails(
        parquet::read(fixture("pyarrow_nulls.parquet"), &ReadOptions::new(), &cpu),
        "pyarrow_nulls.parquet: column word: 1 of 4 values is null, the first at position 3",
    );
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"] {
        let records = parquet::read(fixture(&format!("{codec}.parquet")), &ReadOptions::new(), &cpu)?;
        assert_eq!(records.field::<i32>("x")?.reduce_sum(..)?.item()?, 4950, "{codec}");
    }
    fails(parquet::read(fixture("brotli.parquet"), &ReadOptions::new(), &cpu), "brotli");
    Ok(())
}

#[test]
fn files_of_polars_are_read() -> Result<()> {
    for device in devices() {
        let records = parquet::read(fixture("polars.parquet"), &ReadOptions::new(), &device)?;
        for (field, want) in [
            ("id", "tensor([3, 1, 2], shape=(3,), dtype=u64)"),
            ("tokens", "<ragged.RaggedTensor [[1, 2], [], [3]]>"),
            ("words", "<ragged.RaggedTensor [[b'to'], [], [b'be', b'or']]>"),
            ("kind", "tensor([b'a', b'b', b'a'], shape=(3,), dtype=str)"),
            ("point", "tensor([[0.5, 1.5], [0.5, 1.5], [0.5, 1.5]], shape=(3, 2), dtype=f32)"),
            ("record.a", "tensor([b'x', b'y', b'z'], shape=(3,), dtype=str)"),
        ] {
            assert_eq!(text(&records, field), want, "{device:?} {field}");
        }
    }
    Ok(())
}

#[test]
fn columns_and_row_groups_are_chosen() -> Result<()> {
    let device = Device::cpu();
    let path = fixture("pyarrow.parquet");
    let layout = parquet::layout(&path)?;
    assert_eq!(layout.row_groups, [2, 2]);
    assert_eq!(layout.columns, ["word", "tokens", "nested", "large", "pair", "record", "color", "when"]);
    let of = |options: ReadOptions| parquet::read(&path, &options, &device);
    let last = of(ReadOptions::new().columns(["tokens", "record.a"]).row_groups(1..2))?;
    assert_eq!(last.field_names().collect::<Vec<_>>(), ["tokens", "record"]);
    assert_eq!(text(&last, "tokens"), "<ragged.RaggedTensor [[], [3]]>");
    let record = last.field_value("record")?.records()?;
    assert_eq!(record.field_names().collect::<Vec<_>>(), ["a"]);
    let none = of(ReadOptions::new().row_groups(0..0))?;
    assert_eq!((none.shape(), none.field_names().len()), (vec![Some(0)], 8));
    fails(
        of(ReadOptions::new().columns(["token"])),
        "pyarrow.parquet: there is no column \"token\"; did you mean \"tokens\"? there are word, tokens, nested",
    );
    fails(of(ReadOptions::new().columns(["record.b"])), "there is no column \"record.b\"; there are z, a");
    fails(of(ReadOptions::new().columns(["word.x"])), "column \"word.x\": \"word\" has no fields");
    fails(of(ReadOptions::new().row_groups(1..3)), "there are no row groups 1..3; there are 2, from 0 on");
    let sizes: Vec<usize> = parquet::batches(&path, &ReadOptions::new().batch_rows(3), &device)?
        .map(|records| records.and_then(|records| records.len()))
        .collect::<Result<_>>()?;
    assert_eq!(sizes, [3, 1]);
    // Parts are joined.
    let parts = of(ReadOptions::new().batch_rows(1))?;
    for (field, want) in PYARROW {
        assert_eq!(text(&parts, field), want, "{field}");
    }
    Ok(())
}

#[test]
fn records_are_stored_and_read_back() -> Result<()> {
    for device in devices() {
        let words = RaggedTensor::from_nested([vec!["to", "be"], vec![], vec!["or"]], &device)?.into_erased();
        let deep =
            RaggedTensor::from_nested([vec![vec![1u8], vec![]], vec![], vec![vec![2, 3]]], &device)?.into_erased();
        let flat = RaggedTensor::from_nested([true, false, true], &device)?.into_erased();
        let inner = StructuredTensor::from_fields([("flag", &flat)], [3])?;
        let records = StructuredTensor::from_fields_and_rank([("words", &words), ("deep", &deep)], 1)?;
        let records = records.with_updates([ragged::Update::set("inner", &inner)])?;
        let file = Temporary::new(&format!("{}.parquet", if device.is_cpu() { "cpu" } else { "gpu" }));
        for compression in
            [Compression::None, Compression::Snappy, Compression::Lz4, Compression::Zstd, Compression::Gzip]
        {
            let options = WriteOptions::new().compression(compression).row_group_rows(2);
            parquet::write_with(&file.0, &records, &options)?;
            assert_eq!(parquet::layout(&file.0)?.row_groups, [2, 1]);
            let back = parquet::read(&file.0, &ReadOptions::new(), &device)?;
            assert!(back.equals(&records)?, "{device:?} {compression:?}");
        }
        let bytes = parquet::to_bytes(&records)?;
        assert!(parquet::from_bytes(bytes, &ReadOptions::new(), &device)?.equals(&records)?);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn record_batches_come_back(of in data_type(), n in 1usize..12, seed: u64) {
        let cpu = Device::cpu();
        // What Parquet has no form for: structs and lists of no fields or items in fixed-size lists.
        prop_assume!(!of.to_string().contains("FixedSizeList(0"));
        prop_assume!(!of.to_string().contains("ListView") && !of.to_string().contains("Interval"));
        let column = array(&of, n, Form { nulls: 0 }, &mut Random(seed));
        let batch = RecordBatch::try_from_iter([("x", column)]).expect("a column");
        let records = StructuredTensor::from_record_batch(&batch, &cpu).expect("a batch");
        let bytes = parquet::to_bytes(&records).expect("written");
        let back = parquet::from_bytes(bytes, &ReadOptions::new(), &cpu).expect("read");
        let schema = Arc::new(arrow_schema::Schema::new(vec![Field::new("x", of, true)]));
        let back = back.to_record_batch_as(&schema).expect("as it was");
        prop_assert_eq!(tree::all(&StructArray::from(back)), tree::all(&StructArray::from(batch)));
    }
}

#[test]
fn misuse_is_an_error() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([1, 2], &device)?.into_erased();
    let records = StructuredTensor::from_fields([("x", &x)], [2])?;
    fails(parquet::write("no/such/folder/x.parquet", &records), "parquet::write: no/such/folder/x.parquet: ");
    fails(parquet::layout(fixture("i32.npy")), "parquet::layout: ");
    fails(parquet::read(fixture("i32.npy"), &ReadOptions::new(), &device), "i32.npy: this is no Parquet file: ");
    fails(parquet::batches("no/such/file", &ReadOptions::new(), &device).map(drop), "parquet::batches: no/such/file: ");
    let narrow = StructuredTensor::from_fields([("x", &x.cast(ragged::DType::BF16)?)], [2])?;
    fails(parquet::to_bytes(&narrow), "parquet::to_bytes: column x: Arrow has no type for bf16");
    Ok(())
}
