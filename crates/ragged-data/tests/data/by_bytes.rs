//! Batches of Parquet files by bytes: the same rows whatever the pages, bounds of bytes, rows that are too long.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StructArray};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::*;
use ragged::{Device, Error, RaggedTensor, Result, StructuredTensor};
use ragged_data::arrow::{FromRecordBatch, Nulls, ToRecordBatch};
use ragged_data::dataset::{Dataset, Skipped};
use ragged_data::parquet::{ReadOptions, WriteOptions, batches, read, write, write_with};

use crate::devices::fails;
use crate::npy::{Temporary, fixture};
use crate::random_arrays::{Form, Random, array, cases, data_type};
use crate::tree;

/// Writes a batch in small pages.
fn write_pages(path: &Path, batch: &RecordBatch, random: &mut Random) {
    let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][random.below(2)];
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_dictionary_enabled(random.below(2) == 0)
        .set_data_page_row_count_limit(1 + random.below(6))
        .set_write_batch_size(1 + random.below(6))
        .set_max_row_group_row_count(Some(1 + random.below(40)))
        .build();
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(batch).expect("written");
    writer.close().expect("written");
}

/// The rows of a file by batches, and the number of these.
fn joined(path: &Path, options: &ReadOptions) -> Result<(StructuredTensor, usize)> {
    let parts = batches(path, options, &Device::cpu())?.collect::<Result<Vec<_>>>()?;
    Ok((StructuredTensor::concat(&parts, 0)?, parts.len()))
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn batches_have_the_rows_of_the_file(
        of in proptest::collection::vec(data_type(), 1..4), n in 1usize..60, bytes in 1u64..400, seed: u64,
    ) {
        let text = format!("{of:?}");
        // What Parquet has no form for.
        prop_assume!(!text.contains("FixedSizeList(0") && !text.contains("Interval") && !text.contains("ListView"));
        let mut random = Random(seed);
        // A null of a fixed size becomes an empty string.
        let form = Form { nulls: if text.contains("FixedSizeBinary") { 0 } else { 3 } };
        let columns: Vec<ArrayRef> = of.iter().map(|of| array(of, n, form, &mut random)).collect();
        let fields: Vec<Field> =
            of.iter().enumerate().map(|(k, of)| Field::new(format!("c{k}"), of.clone(), true)).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("a batch");
        let file = Temporary::new(&format!("pages-{seed}.parquet"));
        write_pages(&file.0, &batch, &mut random);
        let want = StructuredTensor::from_record_batch_with(&batch, Nulls::Empty, &Device::cpu()).expect("records");
        let trees = |records: StructuredTensor| {
            let batch = records.to_record_batch_as(&batch.schema()).expect("its types");
            tree::all(&StructArray::from(batch))
        };
        let want = trees(want);
        let options = ReadOptions::new().nulls(Nulls::Empty).batch_bytes(bytes);
        let (all, _) = joined(&file.0, &options).expect("batches");
        prop_assert_eq!(&trees(all), &want);
        // Decoded a few rows at a time, which begin within pages.
        let (all, _) = joined(&file.0, &options.clone().least_decoded(1)).expect("batches");
        prop_assert_eq!(&trees(all), &want);
        let (all, count) = joined(&file.0, &options.batch_bytes(u64::MAX).batch_rows(1)).expect("batches");
        prop_assert_eq!((trees(all), count), (want, n));
    }
}

/// Row `r` has the number `r`, `lengths[r]` times.
fn rows(lengths: &[usize]) -> Result<StructuredTensor> {
    let device = Device::cpu();
    let rows: Vec<Vec<i32>> = lengths.iter().enumerate().map(|(r, &n)| vec![r as i32; n]).collect();
    let id: Vec<i64> = (0..lengths.len() as i64).collect();
    let (rows, id) = (RaggedTensor::from_nested(rows, &device)?, RaggedTensor::from_nested(id, &device)?);
    StructuredTensor::from_fields_and_rank([("rows", rows.erased()), ("id", id.erased())], 1)
}

#[test]
fn batches_have_the_bytes_that_are_asked_for() -> Result<()> {
    let file = Temporary::new("bytes.parquet");
    // 8 bytes of a number, and 4 of each of the list; an empty list counts as one.
    let lengths: Vec<usize> = (0..200_000).map(|r| if r == 70_000 { 300_000 } else { r % 64 }).collect();
    write(&file.0, &rows(&lengths)?)?;
    let of = |n: usize| 8 + 4 * n as u64;
    for (columns, own) in [(&["rows", "id"][..], 8), (&["rows"], 0)] {
        let options = ReadOptions::new().columns(columns.to_vec()).batch_bytes(2 << 20);
        let (mut row, mut sizes) = (0, Vec::new());
        for records in batches(&file.0, &options, &Device::cpu())? {
            let n = records?.len()?;
            let bytes: u64 = lengths[row..row + n].iter().map(|&n| of(n) - 8 + own).sum();
            assert!(bytes <= 2 << 20 || n == 1, "{n} rows of {bytes} bytes");
            (row, sizes) = (row + n, [sizes, vec![bytes]].concat());
        }
        assert_eq!(row, lengths.len());
        // No batch could have the next row too, but those before the long one and at the end.
        let short = sizes.iter().filter(|bytes| **bytes < (2 << 20) - (16 << 10)).count();
        assert!(short <= 3, "{sizes:?}");
    }
    Ok(())
}

#[test]
fn a_row_beyond_the_limit_is_an_error_that_names_it() -> Result<()> {
    let file = Temporary::new("long.parquet");
    let mut lengths = vec![3; 1000];
    (lengths[0], lengths[617], lengths[618], lengths[999]) = (5000, 6000, 7000, 8000);
    write_with(&file.0, &rows(&lengths)?, &WriteOptions::new().row_group_rows(600))?;
    for columns in [&["rows"][..], &["id", "rows"]] {
        let own = if columns.len() > 1 { 8 } else { 0 };
        let options = ReadOptions::new().columns(columns.to_vec()).batch_bytes(10_000).max_row_bytes(20_000 + own);
        let outcomes: Vec<Result<StructuredTensor>> = batches(&file.0, &options, &Device::cpu())?.collect();
        let mut found = Vec::new();
        for e in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
            let Error::Limit { what, requested, limit, whose, location, .. } = e else { panic!("{e}") };
            assert_eq!(*limit, 20_000 + own);
            assert!(location.file().ends_with("by_bytes.rs") && whose == "max_row_bytes", "{e}");
            found.push((what.clone(), *requested - own));
        }
        let what = |row: u32| format!("parquet::batches (row {row} of {})", file.0.display());
        assert_eq!(found, [(what(617), 24_000), (what(618), 28_000), (what(999), 32_000)]);
        let good: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
        assert_eq!(good.iter().map(|x| x.len()).sum::<Result<usize>>()?, 997);
        assert_eq!(good[0].field::<i32>("rows")?.flat_values()?.to_vec()?, vec![0; 5000]);
    }
    // The number is that of the file, not of the row groups.
    let last = ReadOptions::new().columns(["rows"]).row_groups(1..2).max_row_bytes(30_000);
    fails(
        batches(&file.0, &last, &Device::cpu())?.collect::<Result<Vec<_>>>(),
        &format!(
            "parquet::batches (row 999 of {}) needs 32000 bytes, but 30000 is the limit of max_row_",
            file.0.display()
        ),
    );
    Ok(())
}

#[test]
fn strings_are_measured_exactly() -> Result<()> {
    let file = Temporary::new("strings.parquet");
    let device = Device::cpu();
    let words: Vec<String> = (0..3000).map(|r| "x".repeat(if r == 1700 { 50_000 } else { r % 10 })).collect();
    let words = RaggedTensor::from_nested(words.iter().map(String::as_str).collect::<Vec<_>>(), &device)?;
    write(&file.0, &StructuredTensor::from_fields([("words", words.erased())], [3000])?)?;
    let options = ReadOptions::new().batch_bytes(1000).max_row_bytes(40_000);
    let (mut refused, mut total) = (Vec::new(), 0);
    for outcome in batches(&file.0, &options, &device)? {
        match outcome {
            Ok(records) => {
                let words = records.field_value("words")?.tensor()?;
                let bytes = words.string_to_bytes()?.flat_values()?.shape()[0].unwrap_or(0);
                assert!(bytes <= 1000);
                total += bytes;
            }
            Err(Error::Limit { what, requested, .. }) => refused.push((what.contains("(row 1700 of "), requested)),
            Err(e) => panic!("{e}"),
        }
    }
    assert_eq!((refused, total), (vec![(true, 50_000)], (0..3000).map(|r| r % 10).sum::<usize>()));
    Ok(())
}

#[test]
fn datasets_have_the_batches_of_all_files() -> Result<()> {
    let device = Device::cpu();
    let files = ["first", "second"].map(|name| Temporary::new(&format!("{name}.parquet")));
    write(&files[0].0, &rows(&[1, 0, 5000, 2])?)?;
    write(&files[1].0, &rows(&[3, 1])?)?;
    let paths = [files[0].0.clone(), "no/such/file".into(), files[1].0.clone()];
    let options = ReadOptions::new().batch_bytes(1000).max_row_bytes(2000);
    let line = line!() + 1;
    let dataset = Dataset::from_parquet(&paths, &options);
    let mut texts = Vec::new();
    for item in &dataset {
        texts.push(match item {
            Ok(item) => item.field("rows")?.tensor(&device)?.to_nested()?.to_string(),
            Err(e) => {
                assert_eq!(e.location().map(|at| at.line()), Some(line), "{e}");
                e.to_string()
            }
        });
    }
    assert_eq!((texts.len(), texts[0].as_str(), texts[2].as_str()), (5, "[[0], []]", "[[3, 3]]"), "{texts:?}");
    let long =
        format!("Dataset::from_parquet (row 2 of {}) needs 20008 bytes, but 2000 is the limit", paths[0].display());
    assert!(texts[1].starts_with(&long), "{}", texts[1]);
    assert!(texts[3].starts_with("Dataset::from_parquet: no/such/file: "), "{}", texts[3]);
    assert_eq!(texts[4], "[[0, 0, 0], [1]]");
    assert_eq!(dataset.skip_errors(&Skipped::default()).unbatch().iter().count(), 5);
    Ok(())
}

/// pyarrow's pages of the first version end within rows.
#[test]
fn rows_may_go_on_in_the_next_page() -> Result<()> {
    let path = fixture("split_rows.parquet");
    let want = read(&path, &ReadOptions::new(), &Device::cpu())?;
    for bytes in [1, 100, 3000, 100_000, u64::MAX] {
        let (all, count) = joined(path.as_ref(), &ReadOptions::new().batch_bytes(bytes))?;
        assert!(all.equals(&want)?, "{bytes}");
        let (all, _) = joined(path.as_ref(), &ReadOptions::new().batch_bytes(bytes).least_decoded(1))?;
        assert!(all.equals(&want)?, "{bytes}");
        assert_eq!(count == 1, bytes >= 100_000, "{count} batches of {bytes}");
    }
    let limited = ReadOptions::new().columns(["numbers"]).max_row_bytes(4 * 1500);
    let outcomes: Vec<_> = batches(&path, &limited, &Device::cpu())?.collect();
    let refused = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).count();
    let kept: usize = outcomes.iter().flatten().map(StructuredTensor::len).sum::<Result<usize>>()?;
    // Row r has 300 r numbers.
    assert_eq!((refused, kept), (4, 6));
    Ok(())
}

#[test]
fn files_of_others_and_misuse() -> Result<()> {
    let device = Device::cpu();
    for name in ["pyarrow", "polars", "none", "snappy", "gzip", "zstd", "lz4"] {
        let path = fixture(&format!("{name}.parquet"));
        let want = read(&path, &ReadOptions::new(), &device)?;
        for least in [1, 1 << 20] {
            let (all, _) = joined(path.as_ref(), &ReadOptions::new().batch_bytes(1).least_decoded(least))?;
            assert!(all.equals(&want)?, "{name}");
        }
    }
    let one = ReadOptions::new().batch_bytes(1);
    fails(batches("no/such/file", &one, &device).map(drop), "parquet::batches: no/such/file: ");
    fails(batches(fixture("i32.npy"), &one, &device).map(drop), "i32.npy: this is no Parquet file: ");
    fails(
        batches(fixture("pyarrow.parquet"), &one.clone().columns(["token"]), &device).map(drop),
        "parquet::batches: ",
    );
    fails(
        batches(fixture("pyarrow_nulls.parquet"), &one, &device)?.collect::<Result<Vec<_>>>(),
        "pyarrow_nulls.parquet: column ",
    );
    let none = ReadOptions::new().columns(["word"; 0]).batch_bytes(1);
    let rows = batches(fixture("pyarrow.parquet"), &none, &device)?.map(|x| x?.len()).sum::<Result<usize>>()?;
    assert_eq!(rows, 4);
    Ok(())
}
