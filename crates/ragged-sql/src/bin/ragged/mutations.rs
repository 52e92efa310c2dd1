//! Mutations of the files that this program reads by itself: Arrow IPC, CSV, lines of JSON.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Int64Array, ListArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Int8Type};
use datafusion::arrow::ipc::CompressionType;
use datafusion::arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

use crate::allocations::peak_of;
use crate::guarded::guarded;
use crate::ipc;
use crate::mutate::{ALL, mutate, mutations, quiet};
use crate::text::{self, Text};

/// Three rows of lists of text, numbers with NULL, views, a dictionary and records.
fn batch() -> RecordBatch {
    let item = |of| Arc::new(Field::new("item", of, true));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["to", "be", "or"]));
    let lists = ListArray::new(item(DataType::Utf8), OffsetBuffer::from_lengths([2, 0, 1]), words.clone(), None);
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(-3)]));
    let fields = vec![(item(DataType::Int64), ids.clone()), (Arc::new(Field::new("w", DataType::Utf8, true)), words)];
    let kinds: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
    RecordBatch::try_from_iter([
        ("lists", Arc::new(lists) as ArrayRef),
        ("ids", ids),
        ("views", Arc::new(StringViewArray::from(vec!["a view of more than twelve bytes", "", "short"]))),
        ("kinds", Arc::new(kinds)),
        ("records", Arc::new(StructArray::from(fields))),
        ("flags", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("numbers", Arc::new(Float32Array::from(vec![0.5; 3]))),
    ])
    .expect("a batch")
}

fn options(codec: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(codec).expect("options")
}

fn file(codec: Option<CompressionType>) -> Vec<u8> {
    let batch = batch();
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options(codec)).expect("a writer in memory");
    (0..2).for_each(|_| writer.write(&batch).expect("written"));
    writer.into_inner().expect("written")
}

fn stream(codec: Option<CompressionType>) -> Vec<u8> {
    let batch = batch();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options(codec)).expect("a writer in memory");
    (0..2).for_each(|_| writer.write(&batch).expect("written"));
    writer.into_inner().expect("written")
}

/// Reads all batches, and some columns.
fn read_ipc(bytes: Vec<u8>) -> Result<(), String> {
    let mut file = Cursor::new(bytes);
    let contents = ipc::contents(&mut file)?;
    let columns = contents.schema.fields().len();
    let some: Vec<usize> = (0..columns).filter(|k| k % 2 == 0).collect();
    let read = |columns: Option<&[usize]>| {
        ipc::Batches::new(file.clone(), &contents, 0..contents.messages(), columns).try_for_each(|batch| {
            let batch = batch?;
            assert!(batch.num_rows() as u64 <= contents.rows());
            Ok(())
        })
    };
    read(Some(&some)).and(read(None))
}

fn has_place(why: &str) -> bool {
    ["message ", "the footer, at byte ", "at byte ", "the file is cut", "there is no schema"]
        .iter()
        .any(|place| why.starts_with(place))
}

#[test]
fn arrow_ipc_files() {
    read_ipc(file(None)).expect("batches");
    mutate(&[file(None)], mutations(ALL), 256 << 10, read_ipc, has_place);
}

/// Each number of a footer, and each of the messages of a stream, replaced by lengths that the file does not have.
#[test]
fn lengths_beyond_the_file_take_no_memory() {
    let lengths = [1i64 << 30, 1 << 40, i64::MAX, -1, i64::MIN].map(i64::to_le_bytes);
    for bytes in [file(None), stream(None)] {
        let (mut refused, all) = (0, bytes.len() - 8);
        for at in (0..all).step_by(4) {
            for length in &lengths {
                let mut bytes = bytes.clone();
                // Of 32-bit numbers, half of it.
                let width = if at % 8 == 4 { 4 } else { 8 };
                bytes[at..at + width].copy_from_slice(&length[8 - width..]);
                let (outcome, taken) = quiet(|| peak_of(|| guarded(|| read_ipc(bytes))));
                assert!(taken < 256 << 10, "{taken} bytes at {at}");
                match outcome.expect("no panic") {
                    Ok(()) => {}
                    Err(why) => {
                        assert!(has_place(&why), "{why}");
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > all / 4, "{refused} of {}", lengths.len() * all / 4);
    }
}

#[test]
fn arrow_ipc_streams() {
    read_ipc(stream(None)).expect("batches");
    mutate(&[stream(None)], mutations(ALL), 256 << 10, read_ipc, has_place);
}

#[test]
fn compressed_arrow_ipc() {
    let codecs = [CompressionType::LZ4_FRAME, CompressionType::ZSTD].map(Some);
    let files: Vec<Vec<u8>> = codecs.into_iter().flat_map(|codec| [file(codec), stream(codec)]).collect();
    files.iter().for_each(|file| read_ipc(file.clone()).expect("batches"));
    // A frame of LZ4 says how long its blocks are: 4 MiB at most, of which a reader holds several.
    mutate(&files, mutations(ALL), 32 << 20, read_ipc, has_place);
}

/// A file that is removed.
struct Temporary(PathBuf);

impl Temporary {
    fn new(bytes: &[u8], extension: &str) -> Self {
        let name = format!("ragged-mutations-{}-{:?}.{extension}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).expect("a file");
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Reads the rows of a file. Its fault is that of the types, or the first one of the rows.
fn read_lines(path: &Path, text: Text) -> Result<(), String> {
    let schema = Arc::new(text::schema(&[path.to_owned()], text)?);
    let rows = text::open(path).map_err(Into::into).and_then(|lines| text::batches(lines, text, &schema, 1024));
    match rows.and_then(|mut rows| rows.try_for_each(|batch| batch.map(drop))) {
        Ok(()) => Ok(()),
        Err(error) => Err(text::fault(path, text, Some(&schema)).unwrap_or_else(|| format!("no place: {error}"))),
    }
}

fn mutated_lines(lines: &[u8], text: Text, extension: &str) {
    let read = |bytes: Vec<u8>| read_lines(&Temporary::new(&bytes, extension).0, text);
    read(lines.to_vec()).expect("rows");
    let has_place = |why: &str| {
        let name = why.split_once(&format!(".{extension}: "));
        name.is_some_and(|(_, why)| why.contains("line ") || why.contains("the file is compressed"))
    };
    mutate(&[lines.to_vec()], mutations(ALL), 1 << 20, read, has_place);
}

#[test]
fn csv_files() {
    let lines = b"id,name,score,is_new\n1,\"a \"\"quoted\"\" name\",0.5,true\n2,,-1e3,false\n3,\"two\nlines\",,true\n";
    mutated_lines(lines, Text::Csv, "csv");
}

#[test]
fn json_lines() {
    let lines = br#"{"id": 1, "words": ["to", "be"], "of": {"x": [1.5, null], "y": true}}
{"words": [], "id": -7, "of": null}

{"id": 30, "more": "\u00e9", "of": {"x": [], "y": false}}
"#;
    mutated_lines(lines, Text::Json, "jsonl");
}
