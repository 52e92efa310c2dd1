//! Sequence operations next to the same written with ragged operations: equal numbers of dispatches.

use ragged::opt::{Pool, keep, shaped};
use ragged::{Device, DeviceOptions, LodTensor, RaggedTensor, Result, Tensor, eval, explain};

use crate::common::gpu_with;
use crate::sample::{Sample, offsets};

/// Both forms of an operation, of fresh inputs under these levels.
type Form = fn(&Inputs) -> Result<Vec<Tensor>>;

/// Inputs of the operations. The ragged form has the last level alone.
struct Inputs {
    lod: LodTensor,
    x: Tensor,
    /// A tensor of other lengths, as both forms.
    other: (LodTensor, Tensor),
    /// One row for each sequence.
    rows: Tensor,
    /// An index below 3 for each row.
    index: (LodTensor, Tensor),
    offset: Vec<i64>,
    length: Vec<i64>,
    filter: Tensor,
}

/// A device of the first adapter, whose counters no other test changes.
fn own_device() -> Option<Device> {
    gpu_with(&DeviceOptions::default())
}

const WIDTH: usize = 2;

impl Inputs {
    fn new(levels: usize, device: &Device, seed: u32) -> Self {
        let lengths: Vec<usize> = (0..600).map(|i| (i * 7 + seed as usize) % 23).collect();
        let others: Vec<usize> = (0..600).map(|i| (i * 5 + seed as usize) % 9).collect();
        let above = vec![offsets([100, 0, 500]); levels - 1];
        let under = |lengths: &[usize], width| {
            let mut lod = above.clone();
            lod.push(offsets(lengths.iter().copied()));
            Sample::new(lod, lengths.iter().sum(), width, seed)
        };
        let both = |x: &Sample| {
            let flat = Sample { lod: x.lod[levels - 1..].to_vec(), ..x.clone() };
            (x.on(device), flat.on(device).into_tensor())
        };
        let (lod, x) = both(&under(&lengths, WIDTH));
        let index = under(&lengths, 1);
        let index = Sample { rows: index.rows.iter().map(|r| vec![(r[0] + 8.0) % 3.0]).collect(), ..index };
        let (index_lod, index) = both(&index);
        let whole = |t: &Tensor| t.cast(ragged::DType::I64).expect("recorded");
        Self {
            lod,
            x,
            other: both(&under(&others, WIDTH)),
            rows: Sample::new(vec![], 600, 3 * WIDTH, seed).on(device).into_tensor(),
            index: (LodTensor::from(whole(index_lod.tensor())), whole(&index)),
            offset: lengths.iter().map(|&n| (n / 3) as i64).collect(),
            length: lengths.iter().map(|&n| (n / 2) as i64).collect(),
            filter: Sample::new(vec![], 3 * WIDTH, 4, seed).on(device).into_tensor(),
        }
    }

    fn cells(&self) -> Result<Tensor> {
        self.rows.reshape([600, 3, WIDTH as i64])
    }
}

fn one(x: LodTensor) -> Result<Vec<Tensor>> {
    Ok(vec![x.into_tensor()])
}

/// Fills the results of empty sequences.
fn filled(x: &Tensor, pooled: &Tensor) -> Result<Vec<Tensor>> {
    Ok(vec![x.row_lengths(1)?.expand_dims(-1)?.greater(0)?.select(pooled, 0)?])
}

const OPERATIONS: &[(&str, Form, Form)] = &[
    (
        "sequence_expand",
        |i| one(i.lod.sequence_expand(&i.lod, 0)?),
        // The outermost level alone differs.
        |i| {
            let ids = i.lod.tensor().partitions()[0].value_rowids(&i.x.device())?;
            Ok(vec![i.lod.tensor().gather(&ids)?])
        },
    ),
    (
        "sequence_expand_as",
        |i| one(LodTensor::from(&i.rows).sequence_expand_as(&i.lod)?),
        |i| Ok(vec![i.x.with_values(&i.rows.gather(&i.x.value_rowids()?)?)?]),
    ),
    ("sequence_pool sum", |i| one(i.lod.sequence_pool(Pool::Sum, 0)?), |i| filled(&i.x, &i.x.reduce_sum(1)?)),
    ("sequence_pool average", |i| one(i.lod.sequence_pool(Pool::Average, 0)?), |i| filled(&i.x, &i.x.reduce_mean(1)?)),
    ("sequence_pool max", |i| one(i.lod.sequence_pool(Pool::Max, 0)?), |i| filled(&i.x, &i.x.reduce_max(1)?)),
    ("sequence_pool min", |i| one(i.lod.sequence_pool(Pool::Min, 0)?), |i| filled(&i.x, &i.x.reduce_min(1)?)),
    (
        "sequence_pool sqrt",
        |i| one(i.lod.sequence_pool(Pool::Sqrt, 0)?),
        |i| {
            let root = i.x.row_lengths(1)?.cast(ragged::DType::F32)?.sqrt()?.expand_dims(-1)?;
            filled(&i.x, &i.x.reduce_sum(1)?.truediv(&root)?)
        },
    ),
    ("sequence_first_step", |i| one(i.lod.sequence_first_step()?), |i| Ok(vec![i.x.nth_or(0, 0)?])),
    ("sequence_last_step", |i| one(i.lod.sequence_last_step()?), |i| Ok(vec![i.x.nth_or(-1, 0)?])),
    (
        "sequence_softmax",
        |i| one(i.lod.sequence_softmax()?),
        |i| {
            let e = i.x.exp()?;
            Ok(vec![e.truediv(&e.reduce_sum(keep(1))?)?])
        },
    ),
    (
        "sequence_concat",
        |i| one(LodTensor::sequence_concat(&[&i.lod, &i.other.0])?),
        |i| Ok(vec![Tensor::concat(&[&i.x, &i.other.1], 1)?]),
    ),
    (
        "sequence_slice",
        |i| one(i.lod.sequence_slice(&i.offset, &i.length)?),
        |i| Ok(vec![i.x.slice_rows(&i.offset, &i.length)?]),
    ),
    (
        "sequence_pad",
        |i| {
            let (padded, lengths) = i.lod.sequence_pad(-1, 30)?;
            Ok(vec![padded.into_tensor(), lengths.into_erased()])
        },
        |i| Ok(vec![i.x.to_tensor(shaped(-1, [-1, 30, -1]))?, i.x.row_lengths(1)?]),
    ),
    (
        "sequence_unpad",
        |i| one(LodTensor::from(i.cells()?).sequence_unpad(vec![2; 600])?),
        |i| Ok(vec![Tensor::from_tensor_with_lengths(&i.cells()?, vec![2; 600], 1)?]),
    ),
    ("sequence_mask", |i| one(i.lod.sequence_mask(30)?), |i| Ok(vec![i.x.row_lengths(1)?.sequence_mask(30)?])),
    ("sequence_reverse", |i| one(i.lod.sequence_reverse()?), |i| Ok(vec![i.x.reverse(1)?])),
    (
        "sequence_conv",
        |i| one(i.lod.sequence_conv(&i.filter, 3)?),
        |i| {
            let contexts = i.x.context_windows(ragged::opt::starting_at(3, -1), 0, 1)?;
            Ok(vec![contexts.merge_dims(2, 3)?.matmul(&i.filter)?])
        },
    ),
    (
        "sequence_enumerate",
        |i| one(i.index.0.sequence_enumerate(3, 0)?),
        |i| Ok(vec![i.index.1.context_windows(3, 0, 1)?.merge_dims(2, 3)?]),
    ),
    (
        "sequence_reshape",
        |i| one(i.lod.sequence_reshape(1)?),
        |i| {
            let lengths: Vec<i64> =
                LodTensor::from(&i.x).recursive_sequence_lengths()?[0].iter().map(|n| n * 2).collect();
            Ok(vec![Tensor::from_row_lengths(&i.x.values()?.reshape([-1, 1])?, &lengths)?])
        },
    ),
    (
        "sequence_scatter",
        |i| one(LodTensor::from(i.cells()?).sequence_scatter(&i.index.0, &i.lod)?),
        |i| Ok(vec![i.cells()?.batch_scatter_add(&i.index.1, &i.x)?]),
    ),
];

#[test]
fn dispatches_are_those_of_ragged_operations() {
    for device in std::iter::once(Device::cpu()).chain(own_device()) {
        let name = device.name().to_owned();
        for levels in [1, 2] {
            for (k, (operation, sequences, ragged)) in OPERATIONS.iter().enumerate() {
                // Uploads of their own, so that no result of one form serves the other.
                let [ours, theirs] = [sequences, ragged].map(|form| {
                    let inputs = Inputs::new(levels, &device, k as u32);
                    eval([&inputs.index.1, inputs.index.0.tensor()]).expect("computed");
                    let made = form(&inputs).unwrap_or_else(|e| panic!("{operation}: {e}"));
                    let plan = explain(&made).expect("explained");
                    let before = device.stats();
                    eval(&made).expect("computed");
                    let done = device.stats() - before;
                    // The counters of the CPU backend include other tests.
                    let done = if device.is_cpu() { None } else { Some((done.dispatches, done.waits)) };
                    if let Some((dispatches, _)) = done {
                        assert_eq!(dispatches, plan.dispatches(), "{operation}: {plan}");
                    }
                    (plan.dispatches(), plan.kernels.len(), done)
                });
                println!("{name} {operation} of {levels} levels: {ours:?} {theirs:?}");
                assert_eq!(ours, theirs, "{name} {operation} of {levels} levels");
            }
        }
    }
}

/// Nothing waits for a size, whatever the levels are known to.
#[test]
fn recording_never_waits() {
    if let Some(device) = own_device() {
        let x = RaggedTensor::from_nested([vec![1.0f32, 2.0], vec![], vec![3.0]], &device).unwrap();
        let before = device.stats();
        let x = LodTensor::from(x).sequence_slice([0, 0, 0], [1, 0, 1]).unwrap();
        let steps = x.sequence_pool(Pool::Sum, 0).unwrap();
        let y = x.sequence_reverse().unwrap().sequence_expand(&x, -1).unwrap().sequence_softmax().unwrap();
        let (padded, _) = y.sequence_pad(0, 4).unwrap();
        let done = device.stats() - before;
        assert_eq!((done.waits, done.dispatches), (0, 0));
        assert_eq!(steps.data().unwrap().to_string(), "tensor([1.0, 0.0, 3.0], shape=(3,), dtype=f32)");
        assert_eq!(padded.to_host().unwrap().inner_shape, [2, 4]);
    }
}

/// The conversions from and to a ragged tensor compute, copy and upload nothing.
#[test]
fn conversion_costs_nothing() {
    if let Some(device) = own_device() {
        let x = RaggedTensor::from_nested([vec![1.5f32], vec![2.5, 3.5]], &device).unwrap();
        let before = device.stats();
        let lod = LodTensor::from(&x);
        let back = RaggedTensor::<f32>::try_from(lod.clone()).unwrap();
        assert!(RaggedTensor::<i32>::try_from(lod).is_err());
        eval([&back]).unwrap();
        let done = device.stats() - before;
        assert_eq!((done.dispatches, done.bytes_uploaded, done.waits), (0, 0, 0));
    }
}
