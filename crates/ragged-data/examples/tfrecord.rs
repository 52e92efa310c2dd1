//! Speed of TFRecord files and tf.Example:
//! `cargo run --release --package ragged-data --features tf,dataset --example tfrecord -- FILE [RECORDS]`.
//!
//! Writes the file if it is not there. `benches/tf_data.py FILE` measures TensorFlow on it.

use std::path::Path;
use std::time::Instant;

use ragged::{DType, Result};
use ragged_data::dataset::Dataset;
use ragged_data::tf::{
    Compression, Example, ExampleParser, Feature, FixedLenFeature, RaggedFeature, RecordReader, RecordWriter,
};

/// Records of a label, and of 0 to 63 ids, weights and words.
fn write(path: &Path, records: u64) -> Result<()> {
    let mut writer = RecordWriter::create(path, Compression::None)?;
    let mut state = 1u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    for _ in 0..records {
        let n = random(64);
        let ids: Vec<i64> = (0..n).map(|_| random(50_000) as i64).collect();
        let example = Example::new()
            .ints("label", [random(10) as i64])
            .floats("weights", ids.iter().map(|&id| id as f32 / 7.0))
            .strings("words", ids.iter().map(|id| format!("w{id}")))
            .ints("ids", ids);
        writer.write(example.to_bytes())?;
    }
    writer.finish().map(drop)
}

fn parser() -> Result<ExampleParser> {
    ExampleParser::new([
        ("label", Feature::from(FixedLenFeature::new(DType::I64, []))),
        ("ids", RaggedFeature::new(DType::I64).into()),
        ("weights", RaggedFeature::new(DType::F32).into()),
        ("words", RaggedFeature::new(DType::Str).into()),
    ])
}

/// The least time of five runs, in seconds.
fn least(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut least = f64::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        run()?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "examples.tfrecord".into());
    let path = Path::new(&path);
    let count = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(200_000);
    if !path.exists() {
        write(path, count)?;
    }
    let all: Vec<Vec<u8>> = RecordReader::open(path)?.collect::<Result<_>>()?;
    let mib = all.iter().map(Vec::len).sum::<usize>() as f64 / f64::from(1 << 20);
    let report = |what: &str, seconds: f64| {
        let (records, rate) = (all.len() as f64 / seconds, mib / seconds);
        println!("{what:40} {:8.1} ms  {records:10.0} records/s  {rate:7.0} MiB/s", seconds * 1e3);
    };
    println!("{} records, {mib:.0} MiB", all.len());

    report("read", least(|| RecordReader::open(path)?.try_for_each(|record| record.map(drop)))?);
    let parser = parser()?;
    report("parse, batches of 1,024", least(|| all.chunks(1024).try_for_each(|batch| parser.parse(batch).map(drop)))?);
    report("parse, one batch", least(|| parser.parse(&all).map(drop))?);
    let parser = std::sync::Arc::new(parser);
    let dataset = Dataset::from_records([path], Compression::None)
        .batch(1024)
        .prefetch(4)
        .map(move |batch| parser.parse_item(&batch));
    report("read, batch of 1,024, parse", least(|| dataset.iter().try_for_each(|batch| batch.map(drop)))?);
    Ok(())
}
