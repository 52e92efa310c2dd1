//! Batch invariance: the result of a row is independent of the batch.

use ragged::{DType, Device, Result, Tensor};

use crate::lists::{nested, nrows, samples};
use crate::nest::on;

#[test]
fn rows_are_batch_invariant() {
    for x in samples(1400, 20).filter(|x| x.nested_row_splits.len() > 1) {
        let t = on(&x, &Device::cpu());
        for (what, run) in [
            ("merge_dims", (|x| x.merge_dims(1, 2)) as fn(&Tensor) -> Result<Tensor>),
            ("fill_empty_rows", |x| {
                Ok(x.fill_empty_rows(if x.dtype() == DType::Str {
                    ragged::arguments::Operand::from("?")
                } else {
                    9.into()
                })?
                .0)
            }),
            ("expand_dims", |x| x.expand_dims(2)),
            ("one_hot", |x| if x.dtype() == DType::Str { Ok(x.clone()) } else { x.one_hot(3, 1f32, 0f32) }),
        ] {
            let crowd = nested(&run(&t).and_then(|t| t.to_host()).expect("a result"));
            for r in 0..nrows(&x) {
                let alone = t.split([r as i64, 1, (nrows(&x) - r) as i64 - 1], 0).expect("three pieces").swap_remove(1);
                let alone = nested(&run(&alone).and_then(|t| t.to_host()).expect("a result"));
                assert_eq!(alone.items()[0], crowd.items()[r], "{what}: row {r} of {x:?}");
            }
        }
    }
}
