//! Clusters, tables, and queries of the program.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cluster::functions::Functions;
use cluster::processes::Cluster;
use cluster::query::{of_query, register};
use cluster::{data, session};
use datafusion::arrow::array::{ArrayRef, Int32Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::ipc::reader::FileReader;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::parquet::arrow::ArrowWriter;
use ragged::{Device, RaggedTensor};
use ragged_data::npy;
use tempfile::TempDir;

/// The program.
pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cluster"))
}

/// Tasks of a stage, at most.
pub const PARTITIONS: usize = 4;

/// One cluster at a time: they share few cores.
pub struct Setup {
    pub folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Setup {
    /// A folder with the tables `t` (`id`, `key`, and lists `x`) and `users` (`key`, `name`, and lists `tags`, some NULL),
    /// the embeddings `words.npy`, and `gate`.
    pub fn new() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder");
        data::write(&folder.path().join("t"), 2000, PARTITIONS).expect("a table");
        users(&folder.path().join("users.parquet"));
        let rows: Vec<[f32; 4]> = (0..16).map(|k| [0, 1, 2, 3].map(|j| (k * 4 + j) as f32 * 0.25)).collect();
        let table = RaggedTensor::from_nested(rows, &Device::cpu()).expect("a table");
        npy::write(folder.path().join("words.npy"), table.erased()).expect("writes");
        std::fs::create_dir(folder.path().join("gate")).expect("a folder");
        Self { folder, _alone: alone }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").into()
    }

    pub fn gate(&self) -> PathBuf {
        self.folder.path().join("gate")
    }

    /// The tables as options of `cluster run`.
    pub fn tables(&self) -> [String; 4] {
        let table = |name: &str, file: &str| format!("{name}={}", self.path(file));
        ["-t".into(), table("t", "t"), "-t".into(), table("users", "users.parquet")]
    }

    /// The options of an executor of one slot on that device.
    pub fn executor(&self, device: &str) -> Vec<String> {
        let options = ["--slots", "1", "--device", device, "--folder", &self.path("")];
        options.iter().map(|option| (*option).into()).collect()
    }

    /// The rows of a query, computed by DataFusion in this process, on the CPU.
    pub async fn local(&self, sql: &str) -> RecordBatch {
        let functions = Functions::new(&Device::cpu(), Some(&self.gate())).expect("functions");
        let session = session::local(session::configuration(PARTITIONS), &functions).expect("a session");
        register(&session, "t", &self.path("t")).await.expect("a table");
        register(&session, "users", &self.path("users.parquet")).await.expect("a table");
        let frame = session.sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {}", of_query(&error)));
        let batches = frame.collect().await.unwrap_or_else(|error| panic!("{sql}: {}", of_query(&error)));
        one(&batches)
    }

    /// Starts `cluster run` of a query with these options; its rows go to a file.
    pub fn run(&self, sql: &str, options: &[&str]) -> Run {
        let output = self.folder.path().join(format!("rows-{:x}.arrow", options.len() + sql.len()));
        let mut command = Command::new(program());
        command.args(["run", sql, "-o"]).arg(&output).arg("--partitions").arg(PARTITIONS.to_string());
        command.args(self.tables()).args(options).stderr(Stdio::piped());
        Run { child: Some(command.spawn().expect("starts")), output }
    }

    /// The rows of a query on a cluster.
    pub fn on(&self, cluster: &Cluster, sql: &str) -> RecordBatch {
        self.run(sql, &["--scheduler", &cluster.address.to_string()]).rows()
    }
}

/// A cluster with executors of these options. An executor is lost after 8 seconds, where a busy one is heard every 5.
pub async fn cluster(scheduler: &[&str], executors: &[Vec<String>]) -> Cluster {
    let soon = ["--timeout", "8", "--sweep", "1"];
    let options: Vec<String> = soon.iter().chain(scheduler).map(|option| (*option).into()).collect();
    Cluster::start(program(), &options, executors).await.expect("a cluster")
}

/// A client, which is killed when this is dropped.
pub struct Run {
    child: Option<Child>,
    output: PathBuf,
}

impl Run {
    /// Whether it has ended, with its standard error if so.
    pub fn ended(&mut self) -> Option<String> {
        let child = self.child.as_mut()?;
        child.try_wait().expect("a status")?;
        let output = self.child.take()?.wait_with_output().expect("an output");
        Some(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Waits for its end, at most so long.
    fn finish(&mut self, most: Duration) -> Output {
        let start = Instant::now();
        let child = self.child.as_mut().expect("it was not waited for");
        while child.try_wait().expect("a status").is_none() {
            assert!(start.elapsed() < most, "no end after {most:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child.take().expect("it is there").wait_with_output().expect("an output")
    }

    /// Its rows, at most after so long.
    #[track_caller]
    pub fn rows_within(mut self, most: Duration) -> RecordBatch {
        let output = self.finish(most);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let reader = FileReader::try_new(File::open(&self.output).expect("a file"), None).expect("a file of Arrow");
        one(&reader.collect::<Result<Vec<_>, _>>().expect("batches"))
    }

    #[track_caller]
    pub fn rows(self) -> RecordBatch {
        self.rows_within(Duration::from_secs(120))
    }

    /// Its error, at most after so long.
    #[track_caller]
    pub fn error_within(mut self, most: Duration) -> String {
        let output = self.finish(most);
        assert!(!output.status.success(), "it succeeds");
        assert!(!self.output.exists(), "a file remains");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // One that has ended is killed, too.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Asks until the answer is yes.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(120), "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn one(batches: &[RecordBatch]) -> RecordBatch {
    let schema = batches.first().expect("rows").schema();
    concat_batches(&schema, batches).expect("one batch")
}

/// The column types, and the values with their bits.
#[track_caller]
pub fn assert_same_bits(got: &RecordBatch, want: &RecordBatch, sql: &str) {
    assert!(want.num_rows() > 0, "{sql}: no rows");
    assert_eq!(got.num_columns(), want.num_columns(), "{sql}");
    let text = |rows: &RecordBatch| pretty_format_batches(std::slice::from_ref(rows)).expect("a text").to_string();
    assert_eq!(got.num_rows(), want.num_rows(), "{sql}:\n{}\n{}", text(got), text(want));
    for (k, (got, want)) in got.columns().iter().zip(want.columns()).enumerate() {
        assert_eq!(got.data_type(), want.data_type(), "{sql}: column {k}");
        for row in 0..want.len() {
            let [got, want] = [got, want].map(|column| column.slice(row, 1));
            assert!(got.to_data() == want.to_data(), "{sql}: column {k}, row {row}: {got:?}, not {want:?}");
        }
    }
}

fn users(path: &Path) {
    let words = ["to", "be", "or", "not", "", "that is", "question"];
    let keys = 0..data::KEYS as usize;
    let mut tags = ListBuilder::new(StringBuilder::new());
    for key in keys.clone() {
        (0..key % 5).for_each(|k| tags.values().append_value(words[(key * 3 + k) % words.len()]));
        tags.append(key % 7 != 0);
    }
    let columns: [(&str, ArrayRef); 3] = [
        ("key", Arc::new(Int32Array::from_iter_values(keys.clone().map(|key| key as i32)))),
        ("name", Arc::new(StringArray::from_iter_values(keys.map(|key| format!("user {key}"))))),
        ("tags", Arc::new(tags.finish())),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut writer = ArrowWriter::try_new(File::create(path).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("writes");
    writer.close().expect("closes");
}
