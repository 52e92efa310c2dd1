//! Products of rows with a dimension per factor.

use ragged::{Device, RaggedTensor, Result, Row, Str, Tensor};

use crate::common::random::Random;
use crate::{SIZES, each_device, list, tensor};

type Rows = Vec<Vec<i32>>;

fn random_rows(n: usize, bound: u32, seed: u64) -> Rows {
    let mut random = Random(seed + n as u64);
    (0..n).map(|_| (0..random.below(bound)).map(|_| random.below(1000) as i32).collect()).collect()
}

#[test]
fn pairs_of_rows_are_matrices() -> Result<()> {
    for (name, device) in each_device() {
        for n in SIZES.into_iter().filter(|&n| n < 60_000) {
            let (mut a, mut b) = (random_rows(n, 4, 1), random_rows(n, 5, 2));
            if n > 1 {
                (a[1], b[1]) = ((0..260).collect(), (0..270).collect());
            }
            let of = |first: bool| -> Vec<Rows> {
                let row = |(a, b): (&Vec<i32>, &Vec<i32>)| {
                    a.iter().map(|&x| b.iter().map(|&y| if first { x } else { y }).collect()).collect()
                };
                a.iter().zip(&b).map(row).collect()
            };
            let pair = [tensor::<i32>(&a, device)?, tensor::<i32>(&b, device)?];
            let got = Tensor::cartesian_nested(&pair, 1)?;
            let flat = Tensor::cartesian(&pair, -1)?;
            for (k, (got, flat)) in got.into_iter().zip(flat).enumerate() {
                assert_eq!(got.flat_values()?.to_host()?, flat.flat_values()?.to_host()?, "{n} on {name}");
                assert_eq!(list::<i32, Vec<Rows>>(Ok(got))?, of(k == 0), "factor {k}, {n} on {name}");
            }
        }
    }
    Ok(())
}

#[test]
fn three_factors_other_axes_and_dtypes() -> Result<()> {
    for (name, device) in each_device() {
        let a = tensor::<i32>(vec![vec![1, 2], vec![3], vec![4]], device)?;
        let b = tensor::<i32>(vec![vec![5], vec![6, 7], vec![]], device)?;
        let c = tensor::<Str>(vec![vec!["x", "yz"], vec![], vec!["w"]], device)?;
        let got = Tensor::cartesian_nested(&[&a, &b, &c], 1)?;
        let texts = got.iter().map(|x| Ok(x.to_nested()?.to_string())).collect::<Result<Vec<_>>>()?;
        assert_eq!(texts[0], "[[[[1, 1]], [[2, 2]]], [[[], []]], [[]]]", "{name}");
        assert_eq!(texts[1], "[[[[5, 5]], [[5, 5]]], [[[], []]], [[]]]", "{name}");
        assert_eq!(texts[2], "[[[[b'x', b'yz']], [[b'x', b'yz']]], [[[], []]], [[]]]", "{name}");
        // One factor, and whole rows as elements.
        let one = Tensor::cartesian_nested(&[&a], 1)?;
        assert_eq!(one[0].to_host()?, a.to_host()?, "{name}");
        let outer = Tensor::cartesian_nested(&[&a, &b], 0)?;
        assert_eq!(outer[1].shape()[0], Some(3), "{name}");
        let wanted = "[[[5], [6, 7], []], [[5], [6, 7], []], [[5], [6, 7], []]]";
        assert_eq!(outer[1].to_nested()?.to_string(), wanted, "{name}");
        let dense = RaggedTensor::from_nested([[1, 2], [3, 4]], device)?;
        let table = Tensor::cartesian_nested(&[&dense, &dense], 1)?;
        assert_eq!(table[1].to_nested()?.to_string(), "[[[1, 2], [1, 2]], [[3, 4], [3, 4]]]", "{name}");
        // Rows that only the device knows.
        let keep = RaggedTensor::from_nested([true, false, true], device)?;
        let some = Tensor::cartesian_nested(&[&a.boolean_mask(&keep)?, &b.boolean_mask(&keep)?], 1)?;
        assert_eq!(some[0].to_nested()?.to_string(), "[[[1], [2]], [[]]]", "{name}");
        let rows = Tensor::map_rows_of(&[&a, &b], |r| Ok(Row::cartesian_nested(&[&r[0], &r[1]], 0)?.swap_remove(1)))?;
        assert_eq!(rows.to_nested()?.to_string(), "[[[5], [5]], [[6, 7]], [[]]]", "{name}");
    }
    Ok(())
}

#[test]
fn misuse() -> Result<()> {
    let device = Device::cpu();
    let a = tensor::<i32>(vec![vec![1, 2], vec![3]], &device)?;
    let other = tensor::<i32>(vec![vec![1]], &device)?;
    let message = |r: Result<Vec<Tensor>>| r.expect_err("an error").to_string();
    let got = message(Tensor::cartesian_nested(&[] as &[&Tensor], 1));
    assert!(got.contains("cartesian_nested: there must be at least one tensor"), "{got}");
    assert!(message(Tensor::cartesian_nested(&[&a, &other], 1)).contains("cartesian_nested"));
    assert!(message(Tensor::cartesian_nested(&[&a], 2)).contains("axis 2"));
    Ok(())
}
