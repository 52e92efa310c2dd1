//! Operations of any number of operands, with the minimum limits of WebGPU: the CPU backend's bits, few plans and
//! dispatches linear in the number of operands.

mod common;

use common::outcome::{bits, outcome};
use ragged::arguments::CrossInput;
use ragged::{
    CpuOptions, DType, Device, DeviceOptions, HostTensor, LodTensor, RaggedTensor, Result, SparseTensor,
    StructuredTensor, Tensor, Tuning, s,
};

/// Numbers of operands: around the bindings of the smallest device and of common adapters.
const COUNTS: [usize; 10] = [2, 3, 7, 8, 9, 31, 32, 33, 64, 100];

/// A device with the minimum limits of WebGPU; `None` where no adapter is expected.
fn smallest() -> Option<Device> {
    let options = DeviceOptions::default().core_limits(true).no_int64(true).tuning(Tuning::default());
    common::gpu_with(&options)
}

/// `count` tensors of one layout, each with row splits of its own. Sums of the values depend on the order of addition.
fn alike(count: usize, device: &Device) -> Result<Vec<Tensor>> {
    let value = |k: usize, j: usize| ((k * 37 + j * 11) % 101) as f32 * 1.1f32.powi((k * 7 % 23) as i32);
    let rows = |k| vec![vec![value(k, 0), value(k, 1)], vec![], vec![value(k, 2)]];
    (0..count).map(|k| Ok(RaggedTensor::from_nested(rows(k), device)?.into_erased())).collect()
}

/// As [`alike`], converted.
fn alike_as(count: usize, dtype: DType, device: &Device) -> Result<Vec<Tensor>> {
    alike(count, device)?.iter().map(|x| x.cast(dtype)).collect()
}

/// `count` tensors of different row lengths.
fn uneven(count: usize, device: &Device) -> Result<Vec<Tensor>> {
    let row = |k: usize, r: usize| (0..(k + r) % 3).map(|j| (k * 100 + r * 10 + j) as i32).collect::<Vec<i32>>();
    let rows = |k| vec![row(k, 0), row(k, 1), row(k, 2)];
    (0..count).map(|k| Ok(RaggedTensor::from_nested(rows(k), device)?.into_erased())).collect()
}

/// As [`uneven`], with sizes that only the device knows.
fn masked(count: usize, device: &Device) -> Result<Vec<Tensor>> {
    let keep = |x: &Tensor| x.boolean_mask(&x.not_equal(&x.zeros_like()?)?);
    uneven(count, device)?.iter().map(keep).collect()
}

/// `count` tensors of rows of one integer.
fn single(count: usize, device: &Device) -> Result<Vec<Tensor>> {
    let rows = |k: i32| vec![vec![k], vec![k * 3], if k % 50 == 49 { vec![1, 2] } else { vec![5] }];
    (0..count).map(|k| Ok(RaggedTensor::from_nested(rows(k as i32), device)?.into_erased())).collect()
}

fn strings(count: usize, device: &Device) -> Result<Vec<Tensor>> {
    uneven(1, device)?;
    let text = |k: usize| ["", "a", "bc", "def"][k % 4].repeat(k % 3);
    let rows = |k| vec![vec![text(k), text(k + 1)], vec![], vec![text(k + 2)]];
    (0..count).map(|k| Ok(RaggedTensor::from_nested(rows(k), device)?.into_erased())).collect()
}

fn sparse(count: usize, device: &Device) -> Result<Vec<SparseTensor>> {
    uneven(count, device)?.iter().map(|x| SparseTensor::from_dense(&x.to_tensor(0)?.slice(s![.., ..1])?)).collect()
}

type Op = (&'static str, fn(usize, &Device) -> Result<Vec<Tensor>>);

const OPS: &[Op] = &[
    ("add_n of f32", |n, d| Ok(vec![Tensor::add_n(&alike(n, d)?)?])),
    ("add_n of f16", |n, d| Ok(vec![Tensor::add_n(&alike_as(n, DType::F16, d)?)?])),
    ("add_n of i64", |n, d| Ok(vec![Tensor::add_n(&alike_as(n, DType::I64, d)?)?])),
    ("add_n of u8", |n, d| Ok(vec![Tensor::add_n(&alike_as(n, DType::U8, d)?)?])),
    ("sum of add_n", |n, d| Ok(vec![Tensor::add_n(&alike(n, d)?)?.reduce_sum(1)?])),
    ("add_n of products", |n, d| {
        let pairs: Vec<Tensor> =
            alike(n, d)?.iter().zip(alike(n + 1, d)?.iter().skip(1)).map(|(x, y)| x * y).collect::<Result<_>>()?;
        Ok(vec![Tensor::add_n(&pairs)?])
    }),
    ("zip", |n, d| Ok(vec![Tensor::zip(&alike(n, d)?)?])),
    ("zip of bytes", |n, d| Ok(vec![Tensor::zip(&alike_as(n, DType::U8, d)?)?])),
    ("zip of strings", |n, d| Ok(vec![Tensor::zip(&strings(n, d)?)?])),
    ("sort of zip", |n, d| Ok(vec![Tensor::zip(&alike(n, d)?)?.sort(-1)?])),
    ("cross", |n, d| Ok(vec![Tensor::cross(single(n, d)?.iter().map(CrossInput::from))?])),
    ("cross_hashed", |n, d| Ok(vec![Tensor::cross_hashed(single(n, d)?.iter().map(CrossInput::from), 1000)?])),
    ("cartesian", |n, d| {
        let all = Tensor::cartesian(&single(n, d)?, 1)?;
        Ok(vec![all[0].clone(), all[n / 2].clone(), all[n - 1].clone()])
    }),
    ("concat of rows", |n, d| Ok(vec![Tensor::concat(&uneven(n, d)?, 0)?])),
    ("concat within rows", |n, d| Ok(vec![Tensor::concat(&uneven(n, d)?, 1)?])),
    ("concat of strings", |n, d| Ok(vec![Tensor::concat(&strings(n, d)?, 1)?])),
    ("concat of masked rows", |n, d| Ok(vec![Tensor::concat(&masked(n, d)?, 0)?])),
    ("concat within masked rows", |n, d| Ok(vec![Tensor::concat(&masked(n, d)?, 1)?])),
    ("stack of tensors", |n, d| Ok(vec![Tensor::stack(&uneven(n, d)?, 0)?])),
    ("stack of rows", |n, d| Ok(vec![Tensor::stack(&uneven(n, d)?, 1)?])),
    ("stack of elements", |n, d| Ok(vec![Tensor::stack(&alike(n, d)?, 2)?])),
    ("string_join", |n, d| Ok(vec![Tensor::string_join(&strings(n, d)?, ", ")?])),
    ("map_rows_of", |n, d| {
        Ok(vec![Tensor::map_rows_of(&alike(n, d)?, |rows| rows[1..].iter().try_fold(rows[0].clone(), |a, b| &a + b))?])
    }),
    ("sparse concat", |n, d| {
        let all = sparse(n, d)?;
        Ok(vec![SparseTensor::concat(&all, 1)?.to_dense(0)?])
    }),
    ("concat of records", |n, d| {
        let record = |x: &Tensor| StructuredTensor::from_fields_and_rank([("a", x)], 1);
        let all: Vec<StructuredTensor> = uneven(n, d)?.iter().map(record).collect::<Result<_>>()?;
        Ok(vec![StructuredTensor::concat(&all, 0)?.field_value("a")?.tensor()?])
    }),
    ("sequence_concat", |n, d| {
        let all: Vec<LodTensor> = uneven(n, d)?.into_iter().map(LodTensor::from).collect();
        Ok(vec![LodTensor::sequence_concat(&all)?.tensor().clone()])
    }),
    ("LodTensor::from_list", |n, d| {
        let all: Vec<Tensor> = uneven(n, d)?.iter().map(Tensor::flat_values).collect::<Result<_>>()?;
        Ok(vec![LodTensor::from_list(&all)?.tensor().clone()])
    }),
    // Checks of every operand, of which the last fails.
    ("a sum of quotients", |n, d| {
        let all = alike_as(n, DType::I32, d)?;
        let some: Vec<Tensor> = all.iter().map(|x| all[0].floordiv(&(x + 1)?)).collect::<Result<_>>()?;
        Ok(vec![Tensor::add_n(&some)?])
    }),
    // The second value of the first operand is 11.
    ("a sum of failing quotients", |n, d| {
        let all = alike_as(n, DType::I32, d)?;
        let some: Vec<Tensor> = all.iter().map(|x| all[0].floordiv(&(x - 11)?)).collect::<Result<_>>()?;
        Ok(vec![Tensor::add_n(&some)?])
    }),
    // Checks in branches that other operands select.
    ("a choice of quotients", |n, d| {
        let all = alike_as(n, DType::I32, d)?;
        let choose = |rest: Tensor, x: &Tensor| {
            let is_small = x.less(&(x.zeros_like()? + 50)?)?;
            Tensor::select(&is_small, &all[0].floordiv(&(x + 1)?)?, &rest)
        };
        Ok(vec![all.iter().try_fold(all[0].clone(), choose)?])
    }),
];

/// The results of an operation, or the kind of its error.
fn results((_, op): &Op, count: usize, device: &Device) -> Vec<String> {
    match op(count, device) {
        Ok(all) => all.iter().map(|t| outcome(&t.to_host(), bits)).collect(),
        Err(e) => vec![outcome(&Err::<HostTensor, _>(e), bits)],
    }
}

#[test]
fn every_operation_takes_any_number_of_operands() {
    let Some(device) = smallest() else { return };
    let mut wrong = Vec::new();
    for op in OPS {
        for count in COUNTS {
            let (got, want) = (results(op, count, &device), results(op, count, &Device::cpu()));
            let fails = want.iter().any(|text| text.starts_with("Discriminant"));
            assert_eq!(fails, op.0.contains("failing"), "{} of {count}: {want:.300?}", op.0);
            if got != want {
                let why = op.1(count, &device).and_then(|all| all.iter().try_for_each(|t| t.to_host().map(drop)));
                wrong.push(format!("{} of {count}: {:?}\n  {got:.300?}\n  not {want:.300?}", op.0, why.err()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn strings_of_three_ragged_dimensions_are_padded() {
    let Some(device) = smallest() else { return };
    let text = |k: usize| "abcdefgh"[..k % 8].to_owned();
    let deep =
        |k: usize| (0..k % 3).map(|j| (0..j + 1).map(|i| text(k + j + i)).collect()).collect::<Vec<Vec<String>>>();
    let rows: Vec<Vec<Vec<Vec<String>>>> = (0..5).map(|r| (0..r).map(deep).collect()).collect();
    let padded = |device: &Device| RaggedTensor::from_nested(rows.clone(), device)?.erased().to_tensor("-")?.to_host();
    assert_eq!(padded(&device).expect("padded"), padded(&Device::cpu()).expect("padded"));
}

/// Dispatches of an operation of `count` operands.
fn dispatches((name, op): &Op, count: usize, device: &Device) -> u64 {
    let results = op(count, device).expect(name);
    let before = device.stats().dispatches;
    results.iter().for_each(|t| drop(t.to_host()));
    device.stats().dispatches - before
}

#[test]
fn dispatches_are_linear_in_the_number_of_operands() {
    let Some(device) = smallest() else { return };
    for (name, most) in [("add_n of f32", 0.21), ("zip", 0.25), ("cross_hashed", 2.0)] {
        let op = OPS.iter().find(|op| op.0 == name).expect("listed");
        let (few, many) = (dispatches(op, 32, &device), dispatches(op, 100, &device));
        let each = (many - few) as f64 / 68.0;
        assert!(each <= most, "{name}: {few} dispatches for 32 operands, {many} for 100");
    }
}

/// A CPU device of its own, whose statistics no other test changes.
fn own_cpu() -> Device {
    Device::cpu_with(&CpuOptions::default())
}

#[test]
fn few_plans_serve_any_number_of_operands() {
    for op in [
        "concat of rows",
        "concat within rows",
        "concat of strings",
        "stack of tensors",
        "stack of rows",
        "string_join",
        "zip",
    ] {
        let device = own_cpu();
        let op = OPS.iter().find(|known| known.0 == op).expect("listed");
        let mut made = 0;
        for count in [9, 10, 12, 13, 16, 17, 24, 25, 32, 33, 48, 49, 64, 65, 96, 97, 100] {
            let results = op.1(count, &device).expect(op.0);
            let before = device.stats().plans;
            results.iter().for_each(|t| drop(t.to_host()));
            made += device.stats().plans - before;
        }
        // 12, 16, 24, 32, 48, 64, 96 and 128 operands.
        assert!(made <= 8, "{}: {made} plans for 9 to 100 operands", op.0);
    }
}

#[test]
fn a_thousand_operands_take_a_few_steps() {
    let device = own_cpu();
    for (name, most) in [("concat of rows", 4), ("concat within rows", 8), ("stack of tensors", 8), ("string_join", 10)]
    {
        let op = OPS.iter().find(|known| known.0 == name).expect("listed");
        let count = dispatches(op, 1000, &device);
        assert!(count <= most, "{name}: {count} steps");
    }
}

/// A type of a user that holds a tensor.
struct Scores {
    values: Tensor,
}

impl AsRef<Tensor> for Scores {
    fn as_ref(&self) -> &Tensor {
        &self.values
    }
}

#[test]
fn types_of_users_are_operands() {
    let device = Device::cpu();
    let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device).unwrap().into_erased();
    let y = Scores { values: x.clone() };
    let texts = [
        x.add(&y).unwrap().to_string(),
        x.greater(1).unwrap().select(&y, 0).unwrap().to_string(),
        x.map_rows(|row| row.add(10)?.subtract(&row.multiply(2)?)).unwrap().to_string(),
        Tensor::concat(&[&y, &y], 0).unwrap().to_string(),
        x.nth_or(0, 7).unwrap().to_string(),
        x.gather(&y).map(|_| "recorded").unwrap().to_owned(),
        Tensor::from_row_lengths(&x.flat_values().unwrap(), &Scores { values: x.row_lengths(1).unwrap() })
            .unwrap()
            .to_string(),
    ];
    let expected = [
        "<ragged.RaggedTensor [[2, 4], [], [6]]>",
        "<ragged.RaggedTensor [[0, 2], [], [3]]>",
        "<ragged.RaggedTensor [[9, 8], [], [7]]>",
        "<ragged.RaggedTensor [[1, 2], [], [3], [1, 2], [], [3]]>",
        "tensor([1, 7, 3], shape=(3,), dtype=i32)",
        "recorded",
        "<ragged.RaggedTensor [[1, 2], [], [3]]>",
    ];
    assert_eq!(texts, expected);
}
