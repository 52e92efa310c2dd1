//! The `lod` family: Paddle's LoD tensors and sequence operations.

use ragged::arguments::Padding;
use ragged::opt::{Pool, starting_at};
use ragged::{DType, Device, HostTensor, HostValues, LodTensor, Result, Scalar, Tensor};

use crate::case::{Case, Value};
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// The pooling of that name.
fn pool(name: &str) -> Pool {
    match name {
        "average" => Pool::Average,
        "sum" => Pool::Sum,
        "sqrt" => Pool::Sqrt,
        "max" => Pool::Max,
        "first" => Pool::First,
        "last" => Pool::Last,
        other => panic!("no pool {other}"),
    }
}

/// A list of the tensors of input `i`.
fn list(case: &Case, i: usize, device: &Device) -> Result<Vec<Tensor>> {
    let Value::List(all) = &case.inputs[i] else { panic!("input {i} is no list") };
    let tensor = |v: &Value| match v {
        Value::Tensor(t) => t.to_device(device),
        other => panic!("{other:?} is no tensor"),
    };
    all.iter().map(tensor).collect()
}

/// The lists of lengths of input `i`.
fn length_lists(case: &Case, i: usize) -> Vec<Vec<i64>> {
    let Value::List(all) = &case.inputs[i] else { panic!("input {i} is no list") };
    let lengths = |v: &Value| match v {
        Value::Py(list) => list.as_array().expect("a list").iter().map(|n| n.as_i64().expect("an integer")).collect(),
        other => panic!("{other:?} is no list"),
    };
    all.iter().map(lengths).collect()
}

/// The padding of each column of a row, or of all.
fn padding(case: &Case) -> Vec<f64> {
    let number = |v: &serde_json::Value| v.as_f64().expect("a number");
    case.attr("pad_value").and_then(serde_json::Value::as_array).expect("a list").iter().map(number).collect()
}

/// A tensor in an attribute.
fn filter(case: &Case, device: &Device) -> Result<Tensor> {
    let v = case.attr("filter").expect("a filter");
    let ints = |key: &str| v[key].as_array().expect("a list").iter().map(|n| n.as_u64().expect("a size") as usize);
    let values = v["values"].as_array().expect("values").iter().map(|x| x.as_f64().expect("a number") as f32);
    let shape: Vec<usize> = ints("inner_shape").collect();
    HostTensor::dense(&shape, HostValues::F32(values.collect())).to_device(device)
}

fn got(x: LodTensor) -> Got {
    x.into_tensor().into()
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let lod = |i: usize| case.tensor(i, device).map(LodTensor::from);
    let int = |key: &str| case.attr_i64(key).expect("an integer attribute");
    let number = |key: &str| Scalar::from(case.attr(key).and_then(serde_json::Value::as_f64).expect("a number"));
    Ok(match case.op.as_str() {
        "lod.create_lod_tensor" => got(LodTensor::from_lengths(&case.tensor(1, device)?, length_lists(case, 0))?),
        "lod.recursive_sequence_lengths" => Got::Json(serde_json::json!(lod(0)?.recursive_sequence_lengths()?)),
        "lod.lod_to_list_of_tensors" => Got::List(lod(0)?.to_list()?.into_iter().map(Got::from).collect()),
        "lod.list_of_tensors_to_lod" => {
            let x = LodTensor::from_list(&list(case, 0, device)?)?;
            x.tensor().cast(case.attr_dtype("cast").expect("a dtype"))?.into()
        }
        "lod.sequence_expand" => got(lod(0)?.sequence_expand(&lod(1)?, int("ref_level"))?),
        "lod.sequence_expand_as" => got(lod(0)?.sequence_expand_as(&lod(1)?)?),
        "lod.sequence_pool" => {
            let kind = pool(case.attr_str("pool_type").expect("a pool_type"));
            got(lod(0)?.sequence_pool(kind, number("pad_value"))?)
        }
        "lod.sequence_first_step" => got(lod(0)?.sequence_first_step()?),
        "lod.sequence_last_step" => got(lod(0)?.sequence_last_step()?),
        "lod.sequence_softmax" => got(lod(0)?.sequence_softmax()?),
        "lod.sequence_concat" => {
            let all: Vec<LodTensor> = case.tensors(device)?.into_iter().map(LodTensor::from).collect();
            got(LodTensor::sequence_concat(&all)?)
        }
        "lod.sequence_slice" => {
            let (offset, length) = (case.tensor(1, device)?, case.tensor(2, device)?);
            got(lod(0)?.sequence_slice(&offset, &length)?)
        }
        "lod.sequence_pad" => {
            let vector;
            let value = match padding(case).as_slice() {
                [value] => Padding::from(Scalar::from(*value)),
                values => {
                    let all = values.iter().copied();
                    let typed = match case.host(0).values.dtype() {
                        DType::I32 => HostValues::I32(all.map(|v| v as i32).collect()),
                        DType::I64 => HostValues::I64(all.map(|v| v as i64).collect()),
                        DType::F64 => HostValues::F64(all.collect()),
                        _ => HostValues::F32(all.map(|v| v as f32).collect()),
                    };
                    vector = HostTensor::dense(&[values.len()], typed).to_device(device)?;
                    Padding::from(&vector)
                }
            };
            let (padded, lengths) = match case.attr_i64("maxlen") {
                Some(maxlen) => lod(0)?.sequence_pad(value, maxlen)?,
                None => lod(0)?.sequence_pad(value, ..)?,
            };
            Got::List(vec![got(padded), lengths.into_erased().into()])
        }
        "lod.sequence_unpad" => got(lod(0)?.sequence_unpad(&case.tensor(1, device)?)?),
        "lod.sequence_reverse" => got(lod(0)?.sequence_reverse()?),
        "lod.sequence_conv" => {
            let context = starting_at(int("filter_size"), int("padding_start"));
            got(lod(0)?.sequence_conv(&filter(case, device)?, context)?)
        }
        "lod.sequence_enumerate" => got(lod(0)?.sequence_enumerate(int("win_size"), int("pad_value"))?),
        "lod.sequence_reshape" => got(lod(0)?.sequence_reshape(int("new_dim"))?),
        "lod.sequence_scatter" => got(lod(0)?.sequence_scatter(&lod(1)?, &lod(2)?)?),
        "lod.sequence_mask" => {
            let lengths = case.tensor(0, device)?;
            let mask = match case.attr_i64("maxlen") {
                Some(maxlen) => lengths.sequence_mask(maxlen)?,
                None => lengths.sequence_mask(..)?,
            };
            mask.cast(case.attr_dtype("dtype").expect("a dtype"))?.into()
        }
        other => return Got::unsupported(other),
    })
}
