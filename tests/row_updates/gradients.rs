//! Gradients of look-ups as rows: the bits of the dense gradient.

use ragged::opt::keep;
use ragged::{
    DType, Device, Gradient, Program, RaggedTensor, Result, Tensor, TensorSpec, sparse_value_and_grad, value_and_grad,
};

use super::{bits, ids, own_devices, table};
use crate::common::{devices, every_way};

type Loss = fn(&Tensor, &Tensor) -> Result<Tensor>;

/// A loss whose cotangents differ per position.
fn weighted(found: &Tensor) -> Result<Tensor> {
    let weights = found.square()?.add(found)?.sin()?;
    weights.multiply(found)?.reduce_sum(..)
}

const LOSSES: [(&str, Loss); 4] = [
    ("embedding_lookup", |t, ids| weighted(&t.embedding_lookup(ids)?)),
    ("gather", |t, ids| weighted(&t.gather(ids)?)),
    ("of a mean", |t, ids| {
        let found = t.embedding_lookup(ids)?;
        weighted(&found.subtract(&found.reduce_mean(keep(-1))?)?)
    }),
    ("used twice", |t, ids| {
        let found = t.embedding_lookup(ids)?;
        weighted(&found)?.add(&found.exp()?.reduce_sum(..)?)
    }),
];

/// Lists of ids: none, one, all equal, many duplicates, all rows, one giant run.
fn lists(nrows: i32) -> Vec<Vec<i32>> {
    vec![
        vec![],
        vec![nrows - 1],
        vec![3; 5000],
        (0..4000).map(|k| (k * k + 7) % nrows).collect(),
        (0..nrows).rev().collect(),
        (0..3000).map(|k| if k % 3 == 0 { 5 } else { k % nrows }).collect(),
    ]
}

#[test]
fn rows_have_the_bits_of_the_dense_gradient() -> Result<()> {
    for (name, device) in every_way() {
        for (nrows, width) in [(700, 1), (300, 16), (5000, 3)] {
            let t = table(nrows, width, device)?;
            for (what, loss) in LOSSES {
                for list in lists(nrows as i32) {
                    let at = ids(&list, device)?;
                    let (value, dense) = value_and_grad(|x| loss(&x[0], &at), [&t])?;
                    let (same, sparse) = sparse_value_and_grad(|x| loss(&x[0], &at), [&t])?;
                    let what = format!("{name}: {what}, {nrows}x{width}, {} ids", list.len());
                    assert_eq!(bits(&same)?, bits(&value)?, "{what}");
                    let Gradient::Rows(of) = &sparse[0] else { panic!("{what}: a dense gradient") };
                    let mut unique = list.clone();
                    unique.sort_unstable();
                    unique.dedup();
                    let unique: Vec<u32> = unique.into_iter().map(|id| id as u32).collect();
                    let found: RaggedTensor<u32> = of.ids().clone().try_into()?;
                    assert_eq!(found.to_vec()?, unique, "{what}");
                    assert_eq!(
                        of.rows().to_host()?.inner_shape,
                        dense[0].slice(ragged::s![..unique.len() as i64])?.to_host()?.inner_shape,
                        "{what}"
                    );
                    assert_eq!(bits(&sparse[0].to_dense(&t)?)?, bits(&dense[0])?, "{what}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn ragged_ids_and_other_dtypes_have_the_bits_of_the_dense_gradient() -> Result<()> {
    for (name, device) in devices() {
        let rows: Vec<Vec<i64>> = (0..200).map(|k| (0..k % 13).map(|j| (k * j) % 90 * 3).collect()).collect();
        let at = RaggedTensor::from_nested(rows, &device)?.into_erased();
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let t = table(400, 6, &device)?.cast(dtype)?;
            let loss = |x: &[Tensor]| weighted(&x[0].embedding_lookup(&at)?.reduce_mean(1)?);
            let (_, dense) = value_and_grad(loss, [&t])?;
            let (_, sparse) = sparse_value_and_grad(loss, [&t])?;
            assert!(matches!(sparse[0], Gradient::Rows(_)), "{name}: {dtype}");
            assert_eq!(bits(&sparse[0].to_dense(&t)?)?, bits(&dense[0])?, "{name}: {dtype}");
        }
    }
    Ok(())
}

#[test]
fn tables_that_are_read_in_other_ways_have_dense_gradients() -> Result<()> {
    let device = Device::cpu();
    let at = ids(&[3, 1, 3], &device)?;
    let losses: [(&str, Loss); 5] = [
        ("a sum besides", |t, ids| weighted(&t.gather(ids)?)?.add(&t.reduce_sum(..)?)),
        ("two look-ups", |t, ids| weighted(&t.gather(ids)?)?.add(&weighted(&t.gather(&ids.add(1)?)?)?)),
        ("a slice", |t, _| weighted(&t.slice(ragged::s![1..4])?)),
        ("columns", |t, ids| weighted(&t.transpose([1, 0])?.gather(ids)?)),
        ("not at all", |_, ids| ids.cast(DType::F32)?.reduce_sum(..)),
    ];
    let t = table(600, 8, &device)?;
    for (what, loss) in losses {
        let (_, dense) = value_and_grad(|x| loss(&x[0], &at), [&t])?;
        let (_, sparse) = sparse_value_and_grad(|x| loss(&x[0], &at), [&t])?;
        let Gradient::Dense(found) = &sparse[0] else { panic!("{what}: rows") };
        assert_eq!(bits(found)?, bits(&dense[0])?, "{what}");
    }
    // Folds of tiles add the numbers of few rows in another order.
    let small = table(64, 8, &device)?;
    let (_, sparse) = sparse_value_and_grad(|x| weighted(&x[0].gather(&at)?), [&small])?;
    assert!(matches!(sparse[0], Gradient::Dense(_)));
    Ok(())
}

#[test]
fn a_failed_check_of_the_ids_is_the_error_of_ids_and_rows() -> Result<()> {
    for (name, device) in devices() {
        let (t, at) = (table(600, 2, &device)?, ids(&[3, 600], &device)?);
        let (_, sparse) = sparse_value_and_grad(|x| weighted(&x[0].embedding_lookup(&at)?), [&t])?;
        let Gradient::Rows(of) = &sparse[0] else { panic!("{name}: a dense gradient") };
        assert!(of.ids().to_host().is_err() && of.rows().to_host().is_err(), "{name}");
    }
    Ok(())
}

#[test]
fn programs_of_any_number_of_ids_are_one_plan() -> Result<()> {
    let specs = [TensorSpec::new(DType::F32, [Some(700), Some(3)]), TensorSpec::new(DType::I32, [None])];
    let program = Program::trace(&specs, |x| {
        let (_, sparse) = sparse_value_and_grad(|t| weighted(&t[0].embedding_lookup(&x[1])?), [&x[0]])?;
        let Gradient::Rows(of) = &sparse[0] else { panic!("a dense gradient") };
        Ok((of.ids().clone(), of.rows().clone(), sparse[0].to_dense(&x[0])?))
    })?;
    assert_eq!(program.replay_difference()?, None);
    for device in own_devices() {
        let t = table(700, 3, &device)?;
        let plans = device.stats().plans;
        let mut outputs = Vec::new();
        for list in lists(700) {
            outputs.push((program.run((&t, &ids(&list, &device)?))?, list));
        }
        assert_eq!(device.stats().plans - plans, 1, "{device:?}");
        for (found, list) in outputs {
            let at = ids(&list, &device)?;
            let (_, dense) = value_and_grad(|t| weighted(&t[0].embedding_lookup(&at)?), [&t])?;
            assert_eq!(bits(&found[2])?, bits(&dense[0])?, "{device:?}: {} ids", list.len());
        }
    }
    Ok(())
}
