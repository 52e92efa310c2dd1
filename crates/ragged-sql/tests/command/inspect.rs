//! `ragged inspect`, `ragged functions`.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, Int32Array, Int64Array, ListArray, ListViewArray, RecordBatch, StructArray, types::Int32Type,
};
use arrow::datatypes::{DataType, Field};
use arrow::ipc::writer::FileWriter;

use crate::files::Folder;
use crate::process::ragged;

#[test]
fn columns_and_lengths_of_rows() {
    let folder = Folder::new().with_table();
    let ran = ragged(folder.path(), &["inspect", "in.parquet"]).ok().text();
    assert!(ran.starts_with("in.parquet: 6 rows, "), "{ran}");
    for part in [
        "| tokens | List(Int32) | 0; 0 | 0 to 3, mean 1.2 | 7      | 0 to 6       |",
        "| words  | List(Utf8)  | 0; 0 | 0 to 3, mean 1.2 | 7      | 2 to 3 bytes |",
        "tokens: lengths of lists; padded to the longest, 2.6 times the values",
        "                0            2  ########################################",
        "              2-3            2  ########################################",
    ] {
        assert!(ran.contains(part), "{ran}\nlacks {part}");
    }
}

/// Rows that are NULL and items that are NULL are counted by themselves; list views are lists.
#[test]
fn nulls_are_counted_by_depth() {
    let folder = Folder::new();
    let item = |of| Arc::new(Field::new("item", of, true));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(3), None, None]),
        None,
        Some(vec![]),
        Some(vec![Some(2), Some(9)]),
    ]);
    // The first two are one, in the other order than their values.
    let views = ListViewArray::new(
        item(DataType::Int64),
        vec![2, 2, 0, 0].into(),
        vec![2, 2, 2, 0].into(),
        Arc::new(Int64Array::from(vec![Some(1), None, Some(5), Some(7)])),
        None,
    );
    let of = |name: &str, of: ArrayRef| (Arc::new(Field::new(name, of.data_type().clone(), true)), of);
    let of_records = vec![of("a", Arc::new(Int32Array::from(vec![Some(1), None, Some(2), Some(3)])))];
    let records = StructArray::new(
        of_records.iter().map(|(field, _)| field.clone()).collect(),
        of_records.into_iter().map(|(_, column)| column).collect(),
        Some(vec![false, false, true, true].into()),
    );
    let batch = RecordBatch::try_from_iter([
        ("lists", Arc::new(lists) as ArrayRef),
        ("views", Arc::new(views)),
        ("records", Arc::new(records)),
    ])
    .expect("a batch");
    let file = File::create(folder.path().join("in.arrow")).expect("a file");
    let mut writer = FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(&batch).and_then(|()| writer.finish()).expect("written");
    let ran = ragged(folder.path(), &["inspect", "in.arrow"]).ok().text();
    let row = |name: &str| -> Vec<String> {
        let row = ran.lines().find(|line| line.starts_with(&format!("| {name} "))).unwrap_or_else(|| panic!("{ran}"));
        row.split('|').skip(3).map(|cell| cell.trim().to_owned()).filter(|cell| !cell.is_empty()).collect()
    };
    assert_eq!(row("lists"), ["1; 2", "0 to 3, mean 1.7", "5", "2 to 9"]);
    assert_eq!(row("views"), ["0; 1", "0 to 2, mean 1.5", "6", "1 to 7"]);
    assert_eq!(row("records.a"), ["2", "4", "1 to 3"]);
}

#[test]
fn tensors_of_files() {
    let folder = Folder::new().with_embeddings();
    let ran = ragged(folder.path(), &["inspect", "emb.safetensors"]).ok().text();
    assert_eq!(ran, "emb.safetensors: 1 tensors\n  table  f32 [64, 2]\n");
    let ran = ragged(folder.path(), &["inspect", "nowhere.npy"]);
    assert_eq!((ran.code, &*ran.errors), (Some(2), "error: nowhere.npy: there is no such file\n"));
}

#[test]
fn functions_are_listed() {
    let folder = Folder::new();
    let ran = ragged(folder.path(), &["functions", "top_k"]).ok().text();
    assert!(ran.starts_with("ragged_top_k(x, k"), "{ran}");
    assert!(ran.contains("\nragged_top_k_indices("), "{ran}");
    let ran = ragged(folder.path(), &["functions", "no_such_word"]);
    assert_eq!(ran.code, Some(2), "{}", ran.errors);
}
