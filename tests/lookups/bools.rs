//! Maxima and minima of bools: any and all.

use ragged::{Device, RaggedTensor, Result};

use crate::common::random::Random;
use crate::{SIZES, each_device, list, tensor};

type Rows = Vec<Vec<bool>>;

fn random_rows(n: usize) -> Rows {
    let mut random = Random(n as u64);
    (0..n).map(|_| (0..random.below(5)).map(|_| random.below(2) == 0).collect()).collect()
}

#[test]
fn extremes_of_rows() -> Result<()> {
    for (name, device) in each_device() {
        for n in SIZES {
            let rows = random_rows(n);
            let x = tensor::<bool>(&rows, device)?;
            let any: Vec<bool> = rows.iter().map(|row| row.contains(&true)).collect();
            let all: Vec<bool> = rows.iter().map(|row| !row.contains(&false)).collect();
            assert_eq!(list::<bool, Vec<bool>>(x.reduce_max(1))?, any, "{n} on {name}");
            assert_eq!(list::<bool, Vec<bool>>(x.reduce_min(1))?, all, "{n} on {name}");
            assert_eq!(x.reduce_max(..)?.to_host()?, x.reduce_any(..)?.to_host()?, "{n} on {name}");
            assert_eq!(x.reduce_min(0)?.to_host()?, x.reduce_all(0)?.to_host()?, "{n} on {name}");
            let each = x.map_rows(|row| row.reduce_max(0));
            assert_eq!(list::<bool, Vec<bool>>(each)?, any, "rows, {n} on {name}");
        }
    }
    Ok(())
}

/// The values of each segment, folded; `none` without members.
fn folded(values: &[bool], ids: &[i64], n: usize, none: bool, fold: fn(bool, bool) -> bool) -> Vec<bool> {
    let mut out = vec![None; n];
    for (&value, &id) in values.iter().zip(ids) {
        if let Ok(id) = usize::try_from(id) {
            out[id] = Some(out[id].map_or(value, |x| fold(x, value)));
        }
    }
    out.into_iter().map(|x| x.unwrap_or(none)).collect()
}

#[test]
fn extremes_of_segments() -> Result<()> {
    for (name, device) in each_device() {
        for n in SIZES.into_iter().filter(|&n| n > 0) {
            for segments in [3, 700] {
                let mut random = Random(n as u64);
                let values: Vec<bool> = (0..n).map(|_| random.below(2) == 0).collect();
                let ids: Vec<i64> = (0..n).map(|_| i64::from(random.below(segments)) - 1).collect();
                let (x, at) = (tensor::<bool>(&values, device)?, tensor::<i64>(&ids, device)?);
                let size = segments as usize;
                let what = format!("{n} in {segments} on {name}");
                let max = folded(&values, &ids, size, false, |a, b| a | b);
                let min = folded(&values, &ids, size, true, |a, b| a & b);
                assert_eq!(list::<bool, Vec<bool>>(x.unsorted_segment_max(&at, segments))?, max, "{what}");
                assert_eq!(list::<bool, Vec<bool>>(x.unsorted_segment_min(&at, segments))?, min, "{what}");
                let mut sorted: Vec<i64> = ids.iter().map(|id| id + 1).collect();
                sorted.sort_unstable();
                let size = *sorted.last().expect("an id") as usize + 1;
                let at = tensor::<i64>(&sorted, device)?;
                let max = folded(&values, &sorted, size, false, |a, b| a | b);
                let min = folded(&values, &sorted, size, false, |a, b| a & b);
                assert_eq!(list::<bool, Vec<bool>>(x.segment_max(&at))?, max, "sorted, {what}");
                assert_eq!(list::<bool, Vec<bool>>(x.segment_min(&at))?, min, "sorted, {what}");
            }
        }
        let x = RaggedTensor::from_nested(vec![vec![true, false], vec![false], vec![false, true]], device)?;
        let ids = RaggedTensor::from_nested([1, 1, 2], device)?;
        let any = x.unsorted_segment_max(&ids, 3)?;
        assert_eq!(any.to_nested()?.to_string(), "[[], [True, False], [False, True]]", "{name}");
    }
    Ok(())
}

#[test]
fn sums_of_bools_are_errors() -> Result<()> {
    let device = Device::cpu();
    let (x, ids) = (tensor::<bool>([true, false], &device)?, tensor::<i32>([0, 0], &device)?);
    assert!(x.segment_sum(&ids).is_err());
    assert!(x.unsorted_segment_mean(&ids, 1).is_err());
    Ok(())
}
