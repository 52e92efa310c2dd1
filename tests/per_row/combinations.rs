//! Combinations within rows, and Cartesian products of rows.

use proptest::prelude::*;
use ragged::Tensor;

use crate::lists::{Groups, Rows, config, devices, each, nested, on, rows};

fn positions(of: &Rows<i32>, k: usize) -> Groups<usize> {
    fn extend(n: usize, k: usize, prefix: &mut Vec<usize>, out: &mut Vec<Vec<usize>>) {
        if prefix.len() == k {
            return out.push(prefix.clone());
        }
        for next in prefix.last().map_or(0, |p| p + 1)..n {
            prefix.push(next);
            extend(n, k, prefix, out);
            prefix.pop();
        }
    }
    of.iter()
        .map(|row| {
            let mut out = Vec::new();
            extend(row.len(), k, &mut Vec::new(), &mut out);
            out
        })
        .collect()
}

/// Column `c` of tuples of positions, as values of the rows.
fn column<T: Copy>(rows: &[Vec<T>], tuples: &Groups<usize>, c: usize) -> Rows<T> {
    rows.iter().zip(tuples).map(|(row, tuples)| tuples.iter().map(|t| row[t[c]]).collect()).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn combinations_of_rows(x in rows(10), k in 1..7usize) {
        let want = positions(&x, k);
        for device in devices() {
            let t = on(x.clone(), device);
            let (values, places) = (t.combinations(k, 1).unwrap(), t.argcombinations(k, -1).unwrap());
            prop_assert_eq!(values.len(), k);
            for c in 0..k {
                prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(values[c].clone())), &column(&x, &want, c));
                let own = each(&x, |row| (0..row.len() as i64).collect());
                prop_assert_eq!(&nested::<_, Rows<i64>>(Ok(places[c].clone())), &column(&own, &want, c));
            }
        }
    }

    #[test]
    fn combinations_of_rows_of_rows(x in prop::collection::vec(rows(9), 0..5), k in 1..4usize) {
        for device in devices() {
            let t = on(x.clone(), device);
            for c in 0..k {
                // Numbers within the inner rows.
                let want: Groups<i32> = x.iter().map(|rows| column(rows, &positions(rows, k), c)).collect();
                prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(t.combinations(k, 2).unwrap()[c].clone())), &want);
                // Whole rows.
                let indices: Rows<i32> = x.iter().map(|rows| (0..rows.len() as i32).collect()).collect();
                let at = column(&indices, &positions(&indices, k), c);
                let pick = |(rows, at): (&Rows<i32>, &Vec<i32>)| at.iter().map(|&i| rows[i as usize].clone()).collect();
                let want: Groups<i32> = x.iter().zip(&at).map(pick).collect();
                prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(t.combinations(k, 1).unwrap()[c].clone())), &want);
            }
        }
    }

    #[test]
    fn products_of_rows(x in rows(20), seed in 0..100usize) {
        let first = |(r, row): (usize, &Vec<i32>)| row.iter().map(|v| v * 10).take((r + seed) % 4).collect();
        let y: Rows<i32> = x.iter().enumerate().map(first).collect();
        let z: Rows<i32> = each(&y, |row| row.iter().rev().copied().take(2).collect());
        let tuples: Groups<i32> = (0..x.len()).map(|r| {
            let mut out = Vec::new();
            for &a in &x[r] { for &b in &y[r] { for &c in &z[r] { out.push(vec![a, b, c]); } } }
            out
        }).collect();
        for device in devices() {
            let all = [&x, &y, &z].map(|rows| on(rows.clone(), device));
            let got = Tensor::cartesian(&all, 1).unwrap();
            for (c, got) in got.into_iter().enumerate() {
                let want: Rows<i32> = tuples.iter().map(|t| t.iter().map(|t| t[c]).collect()).collect();
                prop_assert_eq!(&nested::<i32, Rows<i32>>(got.try_into()), &want);
            }
        }
    }
}
