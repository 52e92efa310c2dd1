//! The declared dtypes of results, against those that the methods give.

use std::collections::{BTreeMap, BTreeSet};

use ragged::operation::{Owner, ResultDType, ResultKind};
use ragged::opt::Pool;
use ragged::{DType, Device, LodTensor, RaggedTensor, Result, Tensor};

/// A call of a method of sequences.
type Call = fn(&LodTensor) -> Result<LodTensor>;

/// The operations whose result is a LoD tensor of a dtype that the elements determine.
const CALLS: &[(&str, Call)] = &[
    ("from_lengths", |x| LodTensor::from_lengths(&x.data()?, [vec![2, 1]])),
    ("from_lod", |x| LodTensor::from_lod(&x.data()?, [vec![0, 2, 3]])),
    ("from_list", |x| LodTensor::from_list(&[x.data()?])),
    ("with_lod", |x| x.with_lod([vec![0, 1, 3]])),
    ("sequence_concat", |x| LodTensor::sequence_concat(&[x, x])),
    ("sequence_conv", |x| x.sequence_conv(&ones(&[[1]], x.dtype())?, 1)),
    ("sequence_enumerate", |x| match x.dtype() {
        DType::Str => flat(x)?.sequence_enumerate(2, ""),
        DType::Bool => flat(x)?.sequence_enumerate(2, false),
        _ => flat(x)?.sequence_enumerate(2, 0),
    }),
    ("sequence_expand", |x| x.sequence_expand(x, 0)),
    ("sequence_expand_as", |x| LodTensor::from(x.data()?.slice(ragged::s![..2])?).sequence_expand_as(x)),
    ("sequence_pad", |x| Ok(x.sequence_pad(&x.data()?.slice(ragged::s![0, 0])?, 4)?.0)),
    ("sequence_unpad", |x| {
        let (padded, lengths) = x.sequence_pad(&x.data()?.slice(ragged::s![0, 0])?, 4)?;
        padded.sequence_unpad(&lengths)
    }),
    ("sequence_mask", |x| x.sequence_mask(3)),
    ("sequence_first_step", |x| x.sequence_first_step()),
    ("sequence_last_step", |x| x.sequence_last_step()),
    ("sequence_reshape", |x| x.sequence_reshape(1)),
    ("sequence_reverse", |x| x.sequence_reverse()),
    ("sequence_scatter", |x| {
        let device = x.tensor().device();
        let index = LodTensor::from_nested([vec![0, 0], vec![0]], &device)?;
        LodTensor::from(x.data()?.slice(ragged::s![..2])?).sequence_scatter(&index, &flat(x)?)
    }),
    ("sequence_slice", |x| x.sequence_slice([0, 0], [1, 1])),
    ("sequence_softmax", |x| flat(x)?.sequence_softmax()),
];

/// `from_nested` of a host type: its element is the type's.
const TYPED: [&str; 1] = ["from_nested"];

const DTYPES: [DType; 10] = [
    DType::Bool,
    DType::U8,
    DType::I16,
    DType::I32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Str,
];

fn ones<const N: usize>(x: &[[i32; N]], dtype: DType) -> Result<Tensor> {
    RaggedTensor::from_nested(x.to_vec(), &Device::cpu())?.erased().cast(dtype)
}

/// Two sequences of two rows and one row, of one value each.
fn sequences(dtype: DType) -> Result<LodTensor> {
    let data = match dtype {
        DType::Str => RaggedTensor::from_nested([["1"], ["2"], ["3"]], &Device::cpu())?.into_erased(),
        _ => ones(&[[1], [0], [1]], dtype)?,
    };
    LodTensor::from_lengths(&data, [vec![2, 1]])
}

/// The same sequences, of rows that are values.
fn flat(x: &LodTensor) -> Result<LodTensor> {
    LodTensor::from_lengths(&x.data()?.slice(ragged::s![.., 0])?, [vec![2, 1]])
}

#[test]
fn sequences_give_the_declared_dtypes() -> Result<()> {
    let of_sequences = |o: &&ragged::Operation| o.owners.contains(Owner::LodTensor);
    let declared: BTreeMap<&str, _> = ragged::operations().filter(of_sequences).map(|o| (o.name, o.results)).collect();
    let mut given = BTreeSet::new();
    for (name, call) in CALLS {
        let result = declared[name].iter().next().expect("a result");
        assert_eq!(result.kind, ResultKind::LodTensor, "{name}");
        for dtype in DTYPES {
            // Other dtypes are refused.
            if let Ok(got) = call(&sequences(dtype)?) {
                assert_eq!(Some(got.dtype()), result.dtype.of(dtype), "{name} of {dtype}");
                given.insert(*name);
            }
        }
    }
    let of_elements = declared.iter().filter(|(_, results)| {
        let first = results.iter().next().expect("a result");
        first.kind == ResultKind::LodTensor && !matches!(first.dtype, ResultDType::OfArgument(_))
    });
    let missing: Vec<&&str> =
        of_elements.map(|(name, _)| name).filter(|name| !given.contains(*name) && !TYPED.contains(name)).collect();
    assert!(missing.is_empty(), "never computed: {missing:?}");
    Ok(())
}

#[test]
fn the_choice_of_a_pool_determines_its_dtype() -> Result<()> {
    let pool = ragged::operations().find(|o| o.name == "sequence_pool").expect("declared");
    assert_eq!(pool.results.iter().next().map(|result| result.dtype), Some(ResultDType::OfArgument("pool")));
    for dtype in DTYPES {
        let x = sequences(dtype)?;
        let as_mean = ResultDType::Float.of(dtype);
        for (pool, want) in [
            (Pool::Average, as_mean),
            (Pool::AverageAs(DType::F32), as_mean.map(|_| DType::F32)),
            (Pool::AverageAs(DType::F16), as_mean.map(|_| DType::F16)),
            (Pool::AverageAs(DType::I32), None),
            (Pool::Sum, as_mean.map(|_| dtype)),
            (Pool::Sqrt, dtype.is_float().then_some(dtype)),
            (Pool::Max, Some(dtype)),
            (Pool::Min, Some(dtype)),
            (Pool::First, Some(dtype)),
            (Pool::Last, Some(dtype)),
        ] {
            let pooled = match dtype {
                DType::Str => x.sequence_pool(pool, ""),
                DType::Bool => x.sequence_pool(pool, false),
                _ => x.sequence_pool(pool, 0),
            };
            assert_eq!(pooled.ok().map(|x| x.dtype()), want, "{pool:?} of {dtype}");
        }
    }
    Ok(())
}

#[test]
fn averages_of_integers_in_f32_need_no_f64() -> Result<()> {
    for (name, device) in crate::common::devices() {
        let x = LodTensor::from_nested([vec![16_777_217, 1], vec![], vec![7]], &device)?;
        let mean = x.sequence_pool(Pool::AverageAs(DType::F32), -1)?;
        assert_eq!(mean.data()?.to_string(), "tensor([8388609.0, -1.0, 7.0], shape=(3,), dtype=f32)", "{name}");
    }
    Ok(())
}
