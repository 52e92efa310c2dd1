//! `ragged inspect`, `ragged functions`.

use crate::files::Folder;
use crate::process::ragged;

#[test]
fn columns_and_lengths_of_rows() {
    let folder = Folder::new().with_table();
    let ran = ragged(folder.path(), &["inspect", "in.parquet"]).ok().text();
    assert!(ran.starts_with("in.parquet: 6 rows, "), "{ran}");
    for part in [
        "| tokens | List(Int32) | 0    | 0 to 3, mean 1.2 | 7      | 0 to 6       |",
        "| words  | List(Utf8)  | 0    | 0 to 3, mean 1.2 | 7      | 2 to 3 bytes |",
        "tokens: lengths of lists; padded to the longest, 2.6 times the values",
        "                0            2  ########################################",
        "              2-3            2  ########################################",
    ] {
        assert!(ran.contains(part), "{ran}\nlacks {part}");
    }
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
