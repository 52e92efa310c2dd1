//! Bounded norms, sparse ids, and tables in shards.

use ragged::opt::{Combiner, ShardStrategy, max_norm, or_default, weighted};
use ragged::{DType, Device, RaggedTensor, Result, SparseTensor, Tensor};

use crate::{SIZES, each_device, list, tensor};

type Table = Vec<[f32; 3]>;

/// Rows whose norms are exact: multiples of [1, 2, 2].
fn table(n: usize) -> Table {
    (0..n).map(|i| [1.0, 2.0, -2.0].map(|x: f32| x * (i % 9) as f32)).collect()
}

fn bounded(row: [f32; 3], most: f32) -> [f32; 3] {
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    row.map(|x| if norm <= most { x } else { x * most / norm })
}

#[test]
fn norms_of_embeddings_are_bounded() -> Result<()> {
    for (name, device) in each_device() {
        for n in SIZES.into_iter().filter(|&n| n > 0) {
            let rows = table(n);
            let ids: Vec<Vec<i64>> = vec![(0..n as i64).rev().collect(), vec![], vec![0, 0]];
            let wanted: Vec<Vec<[f32; 3]>> =
                ids.iter().map(|ids| ids.iter().map(|&i| bounded(rows[i as usize], 7.5)).collect()).collect();
            let (x, ids) = (tensor::<f32>(&rows, device)?, tensor::<i64>(&ids, device)?);
            let got = x.embedding_lookup(max_norm(&ids, 7.5))?;
            assert_eq!(got.to_host()?, tensor::<f32>(&wanted, device)?.to_host()?, "{n} on {name}");
        }
        let narrow = tensor::<f32>(&table(9), device)?.cast(DType::F16)?;
        let ids = tensor::<i32>([8, 1], device)?;
        let got = narrow.embedding_lookup(max_norm(&ids, 6.0f32))?;
        assert_eq!(got.to_nested()?.to_string(), "[[2.0, 4.0, -4.0], [1.0, 2.0, -2.0]]", "{name}");
        let nan = tensor::<f32>([[f32::NAN, 1.0], [0.0, 0.0]], device)?;
        let got = nan.embedding_lookup(max_norm(&tensor::<i32>([0, 1], device)?, 1.0))?;
        assert_eq!(got.to_nested()?.to_string(), "[[nan, nan], [0.0, 0.0]]", "{name}");
    }
    Ok(())
}

#[test]
fn combined_embeddings_are_bounded_first() -> Result<()> {
    let device = Device::cpu();
    let all = tensor::<i32>((0..40).collect::<Vec<_>>(), &device)?;
    for (name, device) in each_device() {
        let x = tensor::<f32>(table(40), device)?;
        let clipped = x.embedding_lookup(max_norm(&all.to_device(device)?, 7.5))?;
        let ids = tensor::<i64>(vec![vec![39, 8, 3, -1, 17], vec![], vec![-4], vec![5, 5]], device)?;
        let weights = tensor::<f32>(vec![vec![0.5, 1.0, 2.0, 1.0, 0.25], vec![], vec![1.0], vec![3.0, 0.0]], device)?;
        for combiner in [Combiner::Sum, Combiner::Mean, Combiner::SqrtN] {
            let given = [
                (or_default(&ids, 26), or_default(max_norm(&ids, 7.5), 26)),
                (weighted(&ids, &weights), max_norm(weighted(&ids, &weights), 7.5)),
            ];
            for (plain, bounded) in given {
                let wanted = clipped.safe_embedding_lookup_sparse(plain, combiner)?;
                let got = x.safe_embedding_lookup_sparse(bounded, combiner)?;
                assert_eq!(got.to_host()?, wanted.to_host()?, "{combiner:?} on {name}");
            }
            let ids = tensor::<u16>(vec![vec![39, 8], vec![], vec![3]], device)?;
            let wanted = clipped.embedding_lookup_sparse(&ids, combiner)?;
            let got = x.embedding_lookup_sparse(max_norm(&ids, 7.5), combiner)?;
            assert_eq!(got.to_host()?, wanted.to_host()?, "{combiner:?} on {name}");
        }
    }
    Ok(())
}

#[test]
fn sparse_ids_are_rows() -> Result<()> {
    for (name, device) in each_device() {
        let x = tensor::<f32>(table(40), device)?;
        let ids = tensor::<i32>(vec![vec![39, 8, 3], vec![], vec![5, 5]], device)?;
        let weights = tensor::<f32>(vec![vec![0.5, 1.0, 2.0], vec![], vec![3.0, 0.0]], device)?;
        let (sparse, sparse_weights) = (ids.to_sparse()?, weights.to_sparse()?);
        let wanted = x.embedding_lookup_sparse(&ids, Combiner::Mean)?.to_host()?;
        assert_eq!(x.embedding_lookup_sparse(&sparse, Combiner::Mean)?.to_host()?, wanted, "{name}");
        let wanted = x.safe_embedding_lookup_sparse(weighted(&ids, &weights), Combiner::SqrtN)?.to_host()?;
        let got = x.safe_embedding_lookup_sparse(weighted(&sparse, &sparse_weights), Combiner::SqrtN)?;
        assert_eq!(got.to_host()?, wanted, "{name}");
        let got = x.embedding_lookup(&sparse)?;
        assert_eq!(got.to_host()?, x.embedding_lookup(&ids)?.to_host()?, "{name}");
    }
    Ok(())
}

#[test]
fn tables_in_shards() -> Result<()> {
    for (name, device) in each_device() {
        for n in [0usize, 1, 2, 7, 13, 4100] {
            for count in [1usize, 2, 3, 5] {
                let rows = table(n).into_iter().enumerate().map(|(i, [a, b, _])| [a, b, i as f32]).collect::<Table>();
                let by_mod = (0..count).map(|k| rows.iter().copied().skip(k).step_by(count).collect::<Table>());
                let mut rest = &rows[..];
                let by_div = (0..count).map(|k| {
                    let (shard, others) = rest.split_at(n / count + usize::from(k < n % count));
                    rest = others;
                    shard.to_vec()
                });
                let by_div: Vec<Table> = by_div.collect();
                for (strategy, shards) in [(ShardStrategy::Mod, by_mod.collect()), (ShardStrategy::Div, by_div)] {
                    let shards = shards.iter().map(|s| tensor::<f32>(s, device)).collect::<Result<Vec<_>>>()?;
                    let what = format!("{strategy:?} of {n} rows in {count} on {name}");
                    assert_eq!(list::<f32, Vec<Vec<f32>>>(Tensor::from_shards(&shards, strategy))?, rows, "{what}");
                    // Sizes that only the device knows.
                    let all = |x: &Tensor| x.boolean_mask(&x.reduce_sum(1)?.is_finite()?);
                    let known = shards.iter().map(all).collect::<Result<Vec<_>>>()?;
                    assert_eq!(list::<f32, Vec<Vec<f32>>>(Tensor::from_shards(&known, strategy))?, rows, "{what}");
                }
            }
        }
    }
    Ok(())
}

/// Norms whose squares are no floats.
#[test]
fn norms_of_large_and_small_embeddings() -> Result<()> {
    for (name, device) in each_device() {
        let ids = tensor::<i32>([0, 1, 2], device)?;
        let x = tensor::<f32>([[3e30f32, 4e30], [0.0, 1e-30], [0.0, 0.0]], device)?;
        for (limit, want) in [
            (1.0, [[0.6f32, 0.8], [0.0, 1e-30], [0.0, 0.0]]),
            (1e-32, [[0.6e-32, 0.8e-32], [0.0, 1e-32], [0.0, 0.0]]),
            (1e38, [[3e30, 4e30], [0.0, 1e-30], [0.0, 0.0]]),
        ] {
            let got: Vec<f32> = list(x.embedding_lookup(max_norm(&ids, limit))?.flat_values()?.reshape([-1]))?;
            let near = |(a, b): (&f32, &f32)| (a - b).abs() <= b.abs() * 1e-6;
            assert!(got.iter().zip(want.as_flattened()).all(near), "{name}: {limit}: {got:?}");
        }
    }
    Ok(())
}

#[test]
fn misuse() -> Result<()> {
    let device = Device::cpu();
    let x = tensor::<f32>(table(4), &device)?;
    let ids = tensor::<i32>(vec![vec![1], vec![2]], &device)?;
    let message = |r: Result<Tensor>| r.expect_err("an error").to_string();
    for norm in [0.0, -1.0, f64::NAN, 1e-60] {
        let got = message(x.embedding_lookup(max_norm(&ids, norm)));
        assert!(got.contains("max_norm must be above 0, but "), "{got}");
    }
    let got = message(x.cast(DType::I32)?.embedding_lookup(max_norm(&ids, 1.0)));
    assert!(got.contains("max_norm needs a table of floats"), "{got}");
    let got = message(x.embedding_lookup(or_default(&ids, 1)));
    assert!(got.contains("it takes neither weights nor a default id"), "{got}");
    let vector = SparseTensor::from_entries(&[[0]], [1], [2], &device)?;
    let got = message(x.embedding_lookup_sparse(&vector, Combiner::Sum));
    assert!(
        got.contains("embedding_lookup_sparse") && got.contains("rank 2") && got.contains("embeddings.rs"),
        "{got}"
    );
    let got = message(Tensor::from_shards(&[&x, &tensor::<f32>(table(6), &device)?], ShardStrategy::Mod));
    assert!(got.contains("shard 0 of 2 must have 5 of the 10 rows, but has 4"), "{got}");
    let got = message(Tensor::from_shards(&[] as &[&Tensor], ShardStrategy::Div));
    assert!(got.contains("there must be at least one shard"), "{got}");
    let keep = RaggedTensor::from_nested([true, true, false, false], &device)?;
    let fewer = x.boolean_mask(&keep)?;
    let got = Tensor::from_shards(&[&fewer, &x], ShardStrategy::Div).and_then(|y| y.to_nested()).expect_err("an error");
    assert!(got.to_string().contains("has not its share of the rows"), "{got}");
    Ok(())
}
