//! The conformance families `example` and `dataset`, on every device.

use std::path::PathBuf;

use ragged::{DType, Device, HostValues, Result, Tensor};
use ragged_data::dataset::{BatchSize, Dataset};
use ragged_data::item::Item;
use ragged_data::tf::{ExampleParser, Feature, FixedLenFeature, Partition, RaggedFeature, VarLenFeature};
use serde_json::Value as Json;

use crate::case::{Case, Expected, Sparse, Value};
use crate::compare::{compare, short};
use crate::devices::devices;
use crate::got::Read;

fn cases(family: &str) -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let text = std::fs::read_to_string(folder.join(format!("{family}.jsonl"))).expect("the family's file");
    text.lines().filter(|l| !l.is_empty()).map(|line| Case::parse(line).expect("a case")).collect()
}

/// The result, on the device.
enum Got {
    Item(Item),
    List(Vec<Item>),
}

fn compare_item(case: &Case, want: &Value, got: &Item, device: &Device) -> Result<(), String> {
    let failed = |e: ragged::Error| e.to_string();
    match want {
        Value::Dict(fields) => {
            let names: Vec<&str> = got.fields().map(|(name, _)| name).collect();
            assert_eq!(names.len(), fields.len(), "{names:?}");
            fields.iter().try_for_each(|(name, want)| {
                let got = got.field(name).map_err(failed)?;
                compare_item(case, want, got, device).map_err(|e| format!("{name}: {e}"))
            })
        }
        Value::Sparse(_) => {
            let x = got.sparse(device).map_err(failed)?;
            assert_eq!(x.device(), *device);
            let host = x.to_host().map_err(failed)?;
            let dense_shape = host.dense_shape.iter().map(|&d| d as i64).collect();
            compare(case, want, &Read::Sparse(Sparse { indices: host.indices, values: host.values, dense_shape }))
        }
        _ => {
            let x = got.tensor(device).map_err(failed)?;
            assert_eq!(x.device(), *device);
            compare(case, want, &Read::Tensor { tensor: x.to_host().map_err(failed)?, index: false })
        }
    }
}

fn judge(case: &Case, got: Result<Got>, device: &Device) -> Result<(), String> {
    match (&case.expected, got) {
        (Expected::Error(_), Err(_)) => Ok(()),
        (Expected::Error(want), Ok(_)) => Err(format!("wanted the error {want}")),
        (Expected::Value(want), Err(e)) => Err(format!("wanted {}, got the error {e}", short(want))),
        (Expected::Value(Value::List(want)), Ok(Got::List(got))) => {
            if want.len() != got.len() {
                return Err(format!("wanted {} elements, got {got:?}", want.len()));
            }
            let mut both = want.iter().zip(&got).enumerate();
            both.try_for_each(|(k, (want, got))| {
                compare_item(case, want, got, device).map_err(|e| format!("element {k}: {e}"))
            })
        }
        (Expected::Value(want), Ok(Got::Item(got))) => compare_item(case, want, &got, device),
        _ => Err("a result of another kind".into()),
    }
}

fn dtype(spec: &Json) -> DType {
    spec["dtype"].as_str().and_then(DType::from_name).expect("a dtype")
}

fn feature(spec: &Json) -> Feature {
    match spec["kind"].as_str() {
        Some("ragged") => {
            let mut feature = RaggedFeature::new(dtype(spec));
            if let Some(key) = spec["value_key"].as_str() {
                feature = feature.value_key(key);
            }
            for partition in spec["partitions"].as_array().into_iter().flatten() {
                let key = || partition[1].as_str().expect("a key").into();
                feature = feature.partition(match partition[0].as_str() {
                    Some("RowSplits") => Partition::RowSplits(key()),
                    Some("RowLengths") => Partition::RowLengths(key()),
                    Some("RowStarts") => Partition::RowStarts(key()),
                    Some("RowLimits") => Partition::RowLimits(key()),
                    Some("ValueRowIds") => Partition::ValueRowIds(key()),
                    Some("UniformRowLength") => {
                        Partition::UniformRowLength(partition[1].as_u64().expect("a length") as u32)
                    }
                    other => panic!("no partition {other:?}"),
                });
            }
            feature.into()
        }
        Some("fixed") => {
            let shape = spec["shape"].as_array().expect("a shape").iter().map(|d| d.as_u64().expect("a size") as usize);
            let fixed = FixedLenFeature::new(dtype(spec), shape.collect::<Vec<_>>());
            match spec["default"].as_i64() {
                Some(n) => fixed.default_value(HostValues::I64(vec![n])).into(),
                None => fixed.into(),
            }
        }
        Some("varlen") => VarLenFeature::new(dtype(spec)).into(),
        other => panic!("no kind {other:?}"),
    }
}

fn example(case: &Case, device: &Device) -> Result<Got> {
    let specs = case.attrs["features"].as_object().expect("features");
    let parser = ExampleParser::new(specs.iter().map(|(name, spec)| (name.as_str(), feature(spec))))?;
    let records: Tensor = case.tensor(0, device)?;
    assert_eq!(records.rank() == 0, case.op == "parse_single_example");
    Ok(Got::Item(parser.parse_tensor(&records)?.to_device(device)?))
}

/// The first input as an item on the device.
fn item(value: &Value, device: &Device) -> Result<Item> {
    Ok(match value {
        Value::Tensor(host) => host.to_device(device)?.into(),
        Value::Dict(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.as_str(), item(value, device)?)));
            Item::record(fields.collect::<Result<Vec<_>>>()?)
        }
        other => panic!("{other:?} is no input"),
    })
}

fn dataset(case: &Case, device: &Device) -> Result<Got> {
    let slices = Dataset::from_item_slices(item(&case.inputs[0], device)?);
    let n = case.attr_i64("n").unwrap_or(1) as usize;
    let on = device.clone();
    let ranges = slices.map(move |n| Ok(n.tensor(&on)?.range()?.flat_values()?.into()));
    let size = match case.attr_bool("drop_remainder") {
        true => BatchSize::rows(n).drop_remainder(),
        false => n.into(),
    };
    let on = device.clone();
    let result = match case.op.as_str() {
        "dataset.from_tensor_slices" => slices,
        "dataset.batch" => slices.batch(size),
        "dataset.unbatch" => slices.batch(n).unbatch(),
        "dataset.rebatch" => slices.batch(n).rebatch(case.attr_i64("m").expect("a size") as usize),
        "dataset.range_ragged_batch" => ranges.ragged_batch(n),
        "dataset.padded_batch" => ranges.padded_batch(n, None),
        "dataset.map_lengths" => slices.map(move |features| {
            let lengths = features.field("lengths")?.tensor(&on)?;
            let mean = match features.field("lengths")?.is_empty()? {
                // TensorFlow's mean of no integers is 0.
                true => lengths.reduce_sum(0)?,
                false => lengths.reduce_mean(0)?.cast(DType::I64)?,
            };
            Ok(Item::record([("mean_length", Item::from(mean)), ("length_ranges", lengths.range()?.into())]))
        }),
        other => panic!("no operation {other}"),
    };
    Ok(Got::List(result.to_device(device).iter().collect::<Result<_>>()?))
}

fn run(family: &str, least: usize, run: fn(&Case, &Device) -> Result<Got>) {
    let mut failures = Vec::new();
    let cases = cases(family);
    assert!(cases.len() >= least, "{} cases of {family}", cases.len());
    for device in devices() {
        for case in &cases {
            if let Err(e) = judge(case, run(case, &device), &device) {
                failures.push(format!("{} {}: {e}", device.name(), case.id));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_family_example() {
    run("example", 27, example);
}

#[test]
fn the_family_dataset() {
    run("dataset", 63, dataset);
}
