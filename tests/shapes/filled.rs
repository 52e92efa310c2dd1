//! Elements that are added: `fill_empty_rows` and `one_hot`.

use ragged::opt::along;
use ragged::{DType, HostTensor, HostValues, Tensor};

use crate::lists::{at_depth, everywhere, list, nested, rank, samples};
use crate::nest::{Nest, Random, positions};

#[test]
fn rows_that_were_empty_have_one_element() {
    for x in samples(1100, 24).filter(|x| !x.nested_row_splits.is_empty()) {
        let strings = x.values.dtype() == DType::Str;
        let run = |x: &Tensor| if strings { x.fill_empty_rows("none") } else { x.fill_empty_rows(-1) };
        let (filled, empty) =
            (everywhere(&x, "fill_empty_rows", |x| Ok(run(x)?.0)), everywhere(&x, "empty rows", |x| Ok(run(x)?.1)));
        let depth = x.nested_row_splits.len();
        let width =
            HostTensor::dense(&x.inner_shape[1..], HostValues::U8(vec![0; x.inner_shape[1..].iter().product()]));
        let text = if strings { "none" } else { "-1" };
        let one = positions(&width).map(&mut |_| text.to_owned());
        let want = at_depth(&nested(&x), depth, &mut |row| {
            if row.items().is_empty() { list([one.clone()]) } else { row.clone() }
        });
        assert_eq!(nested(&filled), want, "{x:?}");
        let want = at_depth(&nested(&x), depth, &mut |row| Nest::Leaf(row.items().is_empty().to_string()));
        assert_eq!(nested(&empty), want, "{x:?}");
    }
}

#[test]
fn one_hot_sets_one_element() {
    for (k, x) in samples(1200, 16).enumerate() {
        let mut random = Random::new(k as u64);
        let n = x.values.len();
        let at: Vec<i32> = (0..n).map(|_| random.below(6) as i32 - 1).collect();
        for values in [
            HostValues::I32(at.clone()),
            HostValues::I64(at.iter().map(|&i| i64::from(i) << 32 | i64::from(i) & 3).collect()),
        ] {
            let x = HostTensor { values, ..x.clone() };
            for axis in x.nested_row_splits.len() + 1..=rank(&x) {
                let got = everywhere(&x, "one_hot", |x| x.one_hot(along(4, axis as i64), 5, 7));
                // Behind all others, then moved forwards by putting each place of the vector together.
                let vectors =
                    |place: i64| nested(&x).map(&mut |v| if *v == place.to_string() { "5" } else { "7" }.to_owned());
                let want = stacked(&[0, 1, 2, 3].map(vectors), axis);
                assert_eq!(nested(&got), want, "axis {axis} of {x:?}");
            }
        }
    }
}

fn stacked(all: &[Nest<String>], axis: usize) -> Nest<String> {
    if axis == 0 {
        return list(all.to_vec());
    }
    list((0..all[0].items().len()).map(|r| {
        let rows: Vec<_> = all.iter().map(|v| v.items()[r].clone()).collect();
        stacked(&rows, axis - 1)
    }))
}
