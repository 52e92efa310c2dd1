//! A model of many programs, and inputs for them.

use ragged::opt::{descending, keep};
use ragged::{
    DType, Device, ElementFunction, LoadOptions, Program, RaggedTensor, Result, SavedModel, Tensor, TensorSpec, s,
};

type Steps = ElementFunction<fn(u32) -> u32>;

fn steps() -> Result<Steps> {
    let text = "// Steps until 1.\nfn steps(n: u32) -> u32 {\n    var x = n;\n    var k = 0u;\n    while (x > 1u && k < 1000u) { x = select(x / 2u, 3u * x + 1u, (x & 1u) == 1u); k += 1u; }\n    return k;\n}";
    ElementFunction::new("steps", text, |n: u32| {
        let (mut x, mut k) = (n, 0);
        while x > 1 && k < 1000 {
            x = if x & 1 == 1 { x.wrapping_mul(3).wrapping_add(1) } else { x / 2 };
            k += 1;
        }
        k
    })
}

/// The options that give the model's element function its Rust side.
pub fn load_options() -> Result<LoadOptions> {
    Ok(LoadOptions::new().element_function(&steps()?))
}

fn rows(dtype: DType) -> TensorSpec {
    TensorSpec::new(dtype, [None, None]).ragged_rank(1)
}

/// The model: programs that use every primitive, and two tensors. Captured tensors are on the device.
pub fn model(device: &Device) -> Result<SavedModel> {
    let floats = rows(DType::F32);
    let one = std::slice::from_ref::<TensorSpec>;
    let softmax = Program::trace(one(&floats), |x| x[0].softmax(1))?;
    let center = Program::trace(one(&floats), |x| x[0].subtract(&x[0].reduce_mean(keep(1))?))?;
    let best = Program::trace(one(&floats), |x| {
        let (best, at) = x[0].top_k(2, 1)?;
        Ok((best, at, x[0].sort(descending(1))?, x[0].cumsum(1)?))
    })?;
    let positive = Program::trace(one(&floats), |x| {
        let kept = x[0].boolean_mask(&x[0].greater(0.0)?)?;
        Ok((kept.row_lengths(1)?, kept.reverse(1)?, kept))
    })?;
    let buckets = Program::trace(&[rows(DType::Str)], |x| {
        let words = x[0].string_upper()?;
        Ok((words.to_hash_bucket_fast(1000)?, words.string_length()?, words))
    })?;
    let table = RaggedTensor::from_nested([[0.5f32, 1.0], [2.0, -1.0], [0.25, 8.0]], device)?.into_erased();
    let embed = Program::trace(&[rows(DType::I64)], |x| table.gather(&x[0].floormod(3i64)?)?.reduce_sum(1))?;
    let lists = RaggedTensor::from_nested([vec![3i64, 1], vec![], vec![2, 2, 7]], device)?.into_erased();
    let neighbours = Program::trace(&[rows(DType::I64)], |x| {
        let ids = x[0].floormod(3i64)?;
        let far = lists.gather(&ids)?;
        Ok((far.reduce_sum(-1)?, far.unique(-1)?, ids.slice(s![..;2])?))
    })?;
    let square = TensorSpec::new(DType::F32, [None, Some(2)]);
    let product =
        Program::trace(&[square.clone(), TensorSpec::new(DType::F32, [Some(2), Some(3)])], |x| x[0].matmul(&x[1]))?;
    let function = steps()?;
    let element_function = Program::trace(&[TensorSpec::new(DType::U32, [None])], |x| x[0].map_elements(&function))?;
    let ints = rows(DType::I64);
    let joined = Program::trace(one(&ints), |x| {
        let x = &x[0];
        Tensor::concat(&[x, &x.reverse(1)?, &x.add(1)?, &x.multiply(2)?, &x.negative()?], 0)
    })?;
    let columns = Program::trace(one(&ints), |x| Ok((x[0].transpose_rows()?, x[0].cumsum(0)?, x[0].reduce_max(0)?)))?;
    let segments = Program::trace(&[TensorSpec::new(DType::I64, [None])], |x| {
        let ids = x[0].floormod(3i64)?;
        Ok((x[0].unsorted_segment_sum(&ids, 3)?, ids.bincount(.., 3)?))
    })?;
    let summed = Program::trace(&[floats.clone(), floats.clone()], |x| x[0].add(&x[1]))?;
    let words = RaggedTensor::from_nested([vec!["so", "long"], vec![], vec!["ragged", "", "tensors"]], device)?;
    let weights = RaggedTensor::from_nested([[0.5f32, f32::NAN], [-0.0, 1e-40]], device)?;
    Ok(SavedModel::new()
        .with_program("softmax", &softmax)
        .with_program("center", &center)
        .with_program("best", &best)
        .with_program("positive", &positive)
        .with_program("buckets", &buckets)
        .with_program("embed", &embed)
        .with_program("neighbours", &neighbours)
        .with_program("product", &product)
        .with_program("element_function", &element_function)
        .with_program("joined", &joined)
        .with_program("columns", &columns)
        .with_program("segments", &segments)
        .with_program("summed", &summed)
        .with_tensor("words", &words)
        .with_tensor("weights", &weights))
}

/// Inputs for the program of that name.
pub fn inputs(name: &str, device: &Device) -> Result<Vec<Tensor>> {
    Ok(match name {
        "buckets" => {
            vec![RaggedTensor::from_nested([vec!["a", "Ragged"], vec![], vec!["", "tensor"]], device)?.into_erased()]
        }
        "segments" => vec![RaggedTensor::from_nested([4i64, 1, 3, 8, 0], device)?.into_erased()],
        "summed" => {
            let lists = |sign: f32| RaggedTensor::from_nested([vec![0.5 * sign, 1.5], vec![], vec![-2.0]], device);
            vec![lists(1.0)?.into_erased(), lists(-3.0)?.into_erased()]
        }
        "embed" | "neighbours" | "joined" | "columns" => {
            vec![RaggedTensor::from_nested([vec![1i64, 5, 2], vec![], vec![0]], device)?.into_erased()]
        }
        "product" => vec![
            RaggedTensor::dense(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2], device)?.into_erased(),
            RaggedTensor::dense(vec![1.0f32, 0.5, 0.25, -1.0, 2.0, 4.0], &[2, 3], device)?.into_erased(),
        ],
        "element_function" => vec![RaggedTensor::from_nested([1u32, 6, 7, 27], device)?.into_erased()],
        _ => {
            let floats = [vec![0.5f32, -1.5, 2.0, 0.25], vec![], vec![3.0, -0.5]];
            vec![RaggedTensor::from_nested(floats, device)?.into_erased()]
        }
    })
}
