//! The command lines of the documentation.

use arrow::array::{Array, AsArray, Float64Array, StringArray};
use arrow::datatypes::{Float32Type, Float64Type, Int64Type};
use arrow::ipc::reader::StreamReader;
use ragged::{Device, Tensor};
use ragged_data::arrow::{FromArrow, ToArrow};
use ragged_data::safetensors;

use crate::files::Folder;
use crate::process::ragged;

#[test]
fn means_of_rows() {
    let folder = Folder::new().with_table();
    ragged(folder.path(), &["run", "id, ragged_mean(tokens) AS m", "in.parquet", "-o", "out.parquet"]).ok();
    let rows = folder.read("out.parquet");
    assert_eq!(rows.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["id", "m"]);
    assert_eq!(rows.column(0).as_primitive::<Int64Type>().values(), &[0, 1, 2, 3, 4, 5]);
    let means = rows.column(1).as_primitive::<Float64Type>();
    assert!(means.value(0).is_nan() && means.value(4).is_nan());
    let others: Vec<f64> = [1, 2, 3, 5].map(|row| means.value(row)).into();
    assert_eq!(others, [0.0, 1.5, 4.0, 6.0]);
}

#[test]
fn vectors_of_words_of_several_files() {
    let folder = Folder::new().with_logs().with_embeddings();
    let query = "ragged_mean(ragged_embedding_lookup('emb.safetensors#table', ragged_hash_bucket(words, 64)), 1) AS v";
    ragged(folder.path(), &["run", query, "logs/*.parquet", "-o", "vectors.parquet", "--threads", "1"]).ok();
    let got = folder.read("vectors.parquet");
    let cpu = Device::cpu();
    let table = &safetensors::read(folder.path().join("emb.safetensors"), &cpu).expect("reads")["table"];
    let mut wants = Vec::new();
    for k in 0..3 {
        let words = Tensor::from_arrow(&**folder.read(&format!("logs/{k}.parquet")).column(2), &cpu).expect("words");
        let ids = words.to_hash_bucket_fast(64).expect("ids");
        let means = table.embedding_lookup(&ids).and_then(|vectors| vectors.reduce_mean(1)).expect("means");
        wants.push(means.to_arrow().expect("an array"));
    }
    let wants: Vec<&dyn Array> = wants.iter().map(|want| &**want).collect();
    let want = arrow::compute::concat(&wants).expect("one array");
    let bits = |array: &dyn Array| {
        let items = array.as_fixed_size_list().values().as_primitive::<Float32Type>().values().to_vec();
        items.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(bits(&**got.column(0)), bits(&*want));
}

#[test]
fn the_best_of_lines_of_json() {
    let folder = Folder::new().with_events();
    let query =
        ["run", "user, ragged_top_k(scores, 2) AS best", "--where", "ragged_length(scores) >= 2", "events.jsonl"];
    for device in devices() {
        let rest = ["-o", "best.parquet", "--device", device, "--memory", "2GB"];
        ragged(folder.path(), &[&query[..], &rest[..]].concat()).ok();
        let rows = folder.read("best.parquet");
        assert_eq!(text(&**rows.column(0)), ["ann", "joe"]);
        let best = rows.column(1);
        let best = arrow::compute::cast(best, &list_of_doubles()).expect("lists");
        let best = best.as_list::<i32>();
        assert_eq!(
            best.values().as_primitive::<Float64Type>(),
            &Float64Array::from(vec![1.5, 1.0, 9.0, 2.0]),
            "{device}"
        );
    }
}

/// The devices of the command line that this machine has.
fn devices() -> Vec<&'static str> {
    let none_expected = std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|value| value == "1");
    if none_expected { vec!["cpu"] } else { vec!["cpu", "gpu"] }
}

fn list_of_doubles() -> arrow::datatypes::DataType {
    use arrow::datatypes::{DataType, Field};
    DataType::List(std::sync::Arc::new(Field::new_list_field(DataType::Float64, true)))
}

fn text(array: &dyn Array) -> Vec<String> {
    let text = arrow::compute::cast(array, &arrow::datatypes::DataType::Utf8).expect("text");
    text.as_any().downcast_ref::<StringArray>().expect("text").iter().flatten().map(String::from).collect()
}

#[test]
fn a_join_of_tables_to_a_pipe() {
    let folder = Folder::new().with_users();
    let query = "SELECT u.name, ragged_softmax(s.logits) AS p FROM s JOIN u USING (id) ORDER BY u.name";
    let ran =
        ragged(folder.path(), &["run", "--sql", query, "-t", "s=scores.parquet", "-t", "u=users.csv", "-o", "-"]).ok();
    let mut batches = StreamReader::try_new(&ran.out[..], None).expect("Arrow IPC");
    let rows = batches.next().expect("a batch").expect("reads");
    assert_eq!(text(&**rows.column(0)), ["ann", "bob"]);
    let lists = rows.column(1).as_list::<i32>();
    assert_eq!(lists.value(1).as_primitive::<Float32Type>().values(), &[0.5, 0.5]);
    assert_eq!(lists.value_length(0), 3);
}

/// Columns have the names that were written, and named arguments may leave gaps.
#[test]
fn calls_are_written_as_they_are_meant() {
    let folder = Folder::new().with_table();
    let query = "ragged_sort(tokens, descending => true), id + 1, tokens";
    let ran = ragged(folder.path(), &["run", query, "in.parquet", "--format", "jsonl"]).ok().text();
    let want = r#"{"ragged_sort(tokens, descending => true)":[2,1],"id + 1":3,"tokens":[1,2]}"#;
    assert_eq!(ran.lines().nth(2), Some(want));
}

/// Types are those of all lines, and NULL is written.
#[test]
fn lines_with_late_fractions_and_missing_values_are_kept() {
    let folder = Folder::new();
    let mut lines: Vec<String> = (0..1500).map(|k| format!(r#"{{"id":{k},"x":[{k}]}}"#)).collect();
    lines.push(r#"{"id":1500,"x":[1.5],"late":true}"#.into());
    std::fs::write(folder.path().join("late.jsonl"), lines.join("\n")).expect("writes");
    let arguments = ["run", "ragged_sum(x) AS s, late", "late.jsonl", "--where", "id >= 1499", "--format", "jsonl"];
    let ran = ragged(folder.path(), &arguments).ok().text();
    let mut lines: Vec<&str> = ran.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [r#"{"s":1.5,"late":true}"#, r#"{"s":1499.0,"late":null}"#]);
}

#[test]
fn plans_are_explained() {
    let folder = Folder::new().with_table();
    let ran = ragged(
        folder.path(),
        &["run", "ragged_sum(ragged_square(tokens)), ragged_ngrams(words, 2)", "in.parquet", "--explain"],
    );
    let plan = ran.ok().text();
    assert!(plan.contains("ragged_program(Utf8(\"ragged_reduce_sum(ragged_square($1)"), "{plan}");
    assert!(plan.contains("DataSourceExec"), "{plan}");
}

#[test]
fn programs_of_files_are_run() {
    use ragged::{DType, Program, SavedModel, TensorSpec};
    let folder = Folder::new().with_table();
    let spec = TensorSpec::new(DType::I32, [None, None]).ragged_rank(1);
    let double = Program::trace(&[spec], |x| x[0].multiply(2)?.reduce_sum(1)).expect("traced");
    SavedModel::new().with_program("double", &double).save(folder.path().join("model.json")).expect("saves");
    let arguments = ["run", "--program", "model.json#double", "tokens", "in.parquet", "-o", "-", "--format", "jsonl"];
    let ran = ragged(folder.path(), &arguments).ok();
    assert_eq!(ran.text().lines().nth(3), Some(r#"{"result":24}"#));
}
