//! Tensors of rows of rank 0, 1 and 2, and their texts.

use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result, Tensor};

/// What the elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Floats,
    Integers,
    Strings,
}

/// A tensor of rows, another of the same shape, a number per row, and a tensor that is the same for all rows.
pub struct Input {
    pub name: &'static str,
    pub kind: Kind,
    pub rows: i64,
    pub tensors: [Tensor; 4],
}

fn integers(device: &Device) -> Result<Vec<(&'static str, Tensor)>> {
    let giant: Vec<i32> = (0..70).map(|i| i * 7 % 10).collect();
    let vectors = vec![vec![3, 1, 2], vec![], vec![5], vec![2, 2, 0, 1], giant.clone()];
    let nested = vec![vec![vec![1, 2], vec![]], vec![], vec![vec![3, 1, 2], vec![4], vec![3, 1]]];
    let points = vec![vec![[1, 2], [3, 4]], vec![], vec![[5, 6]]];
    Ok(vec![
        ("scalars", RaggedTensor::from_nested(vec![3, 1, 2, 0], device)?.into_erased()),
        ("vectors", RaggedTensor::from_nested(vectors, device)?.into_erased()),
        ("one row", RaggedTensor::from_nested(vec![vec![4, 1]], device)?.into_erased()),
        ("one giant row", RaggedTensor::from_nested(vec![giant], device)?.into_erased()),
        ("no elements", RaggedTensor::from_nested(vec![Vec::<i32>::new(), Vec::new()], device)?.into_erased()),
        ("rows of rows", RaggedTensor::from_nested(nested, device)?.into_erased()),
        ("rows of points", RaggedTensor::from_nested(points, device)?.into_erased()),
        ("a matrix", RaggedTensor::from_nested([[1, 0, 2, 2], [3, 3, 1, 0]], device)?.into_erased()),
        ("matrices", RaggedTensor::from_nested([[[1, 2], [3, 4]], [[5, 6], [0, 1]]], device)?.into_erased()),
    ])
}

/// Inputs of every kind and shape on a device.
pub fn inputs(device: &Device) -> Vec<Input> {
    let table: Vec<[f32; 2]> = (0..10u8).map(|i| [f32::from(i), f32::from(i) * 0.5 - 2.0]).collect();
    let table = RaggedTensor::from_nested(table, device).expect("an upload").into_erased();
    let mut all = Vec::new();
    for (name, x) in integers(device).expect("an upload") {
        let rows = x.nrows().and_then(|n| n.to_host()).expect("a read");
        let HostValues::I64(rows) = rows.values else { unreachable!("a count is i64") };
        let numbers = (0..rows[0]).map(|k| (k * 2 + 1) % 4).collect::<Vec<i64>>();
        let of_row = RaggedTensor::from_nested(numbers, device).expect("an upload").into_erased();
        let floats = |x: &Tensor| x.cast(DType::F32).and_then(|x| x.multiply(0.75f32)).and_then(|x| x.subtract(1.0f32));
        let other = x.multiply(3).and_then(|y| y.add(1)).and_then(|y| y.floormod(7)).expect("numbers");
        let words = |x: &Tensor| strings(x, device);
        for kind in [Kind::Integers, Kind::Floats, Kind::Strings] {
            let of = |x: &Tensor| match kind {
                Kind::Integers => Ok(x.clone()),
                Kind::Floats => floats(x),
                Kind::Strings => words(x),
            };
            let [x, y] = [of(&x), of(&other)].map(|t| t.expect("an input"));
            all.push(Input { name, kind, rows: rows[0], tensors: [x, y, of_row.clone(), table.clone()] });
        }
    }
    all
}

/// A word for each number.
fn strings(x: &Tensor, device: &Device) -> Result<Tensor> {
    const WORDS: [&str; 10] = ["a b", "", "ä", "17", "zwölf", "b a", "c", "-3", "日本", "A"];
    let mut host = x.to_host()?;
    let HostValues::I32(numbers) = &host.values else { unreachable!("the numbers are i32") };
    host.values = HostValues::Str(numbers.iter().map(|&n| WORDS[n as usize % 10].as_bytes().to_vec()).collect());
    host.to_device(device)
}

/// The values of a host tensor as texts.
fn values(host: &HostTensor) -> Vec<String> {
    macro_rules! each {
        ($($variant:ident)+) => {
            match &host.values {
                $(HostValues::$variant(values) => values.iter().map(|v| format!("{v:?}")).collect(),)+
                other => panic!("text of {}", other.dtype()),
            }
        };
    }
    each!(Bool U8 I8 U16 I16 I32 U32 I64 U64 F16 BF16 F32 F64 Str)
}

/// The dtype and the nested lists of a tensor.
pub fn text(t: &Tensor) -> Result<String> {
    let host = t.to_host()?;
    let (mut items, mut inner) = (values(&host), host.inner_shape.clone());
    let elements = usize::from(!host.nested_row_splits.is_empty());
    while inner.len() > elements {
        let size = inner.pop().unwrap_or_default();
        let count = inner.iter().product::<usize>();
        items = (0..count).map(|k| format!("[{}]", items[k * size..(k + 1) * size].join(","))).collect();
    }
    for splits in host.nested_row_splits.iter().rev() {
        let row = |w: &[u32]| format!("[{}]", items[w[0] as usize..w[1] as usize].join(","));
        items = splits.windows(2).map(row).collect();
    }
    let list = items.join(",");
    Ok(if elements == 0 { format!("{} {list}", t.dtype()) } else { format!("{} [{list}]", t.dtype()) })
}
