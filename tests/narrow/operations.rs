//! Operations on rows next to the same operations in the wide type.

use ragged::opt::{descending, exclusive, reversed};
use ragged::{DType, Result, Tensor, bf16, f16};

use crate::common::{self, fused_and_not as backends};
use crate::numbers::rows;

#[test]
fn every_operation_computes_in_the_wide_type_and_rounds_once() {
    type Op = (&'static str, fn(&Tensor) -> Result<Tensor>);
    const ANY: [Op; 21] = [
        ("sort", |x| x.sort(1)),
        ("sort downwards", |x| x.sort(descending(1))),
        ("argsort", |x| x.argsort(1)),
        ("cumsum", |x| x.cumsum(1)),
        ("linear_recurrence", |x| x.linear_recurrence(3, 2, 1)),
        ("cumsum from the end", |x| x.cumsum(exclusive(reversed(1)))),
        ("cumprod", |x| x.cumprod(1)),
        ("cummax", |x| x.cummax(1)),
        ("cummin", |x| x.cummin(1)),
        ("argmin", |x| x.slice(ragged::s![2..8])?.argmin(1)),
        ("argmax", |x| x.slice(ragged::s![2..8])?.argmax(1)),
        ("count_nonzero", |x| x.count_nonzero(1)),
        ("unique", |x| x.unique(1)),
        ("top_k", |x| Ok(x.top_k(3, 1)?.0)),
        ("tile", |x| x.tile(&[1, 2])),
        ("boolean_mask", |x| {
            let zero = x.subtract(x)?;
            x.boolean_mask(&x.less(&zero)?)
        }),
        ("slice", |x| x.slice(ragged::s![..;-1, 1..;2])),
        ("concat", |x| Tensor::concat(&[x, x], 1)),
        ("reverse", |x| x.reverse(1)),
        ("to_tensor", |x| x.slice(ragged::s![..6])?.to_tensor(ragged::arguments::Padding::Zero)),
        ("matmul", |x| {
            let rows = x.slice(ragged::s![..6])?.to_tensor(ragged::arguments::Padding::Zero)?;
            rows.matmul(rows.t())
        }),
    ];
    const FLOAT: [Op; 4] = [
        ("softmax", |x| x.softmax(1)),
        ("log_softmax", |x| x.log_softmax(1)),
        ("logsumexp", |x| x.reduce_logsumexp(1)),
        ("norm", |x| x.reduce_euclidean_norm(1)),
    ];
    let value = |k: usize| (k * 7919 % 401) as f32 / 4.0 - 50.0;
    for (narrow, wide) in [
        (rows::<i8>(|k| value(k) as i8), DType::I32),
        (rows::<u16>(|k| value(k) as i32 as u16), DType::U32),
        (rows::<i16>(|k| (value(k) * 300.0) as i16), DType::I32),
        (rows::<f16>(|k| f16::from_f32(value(k))), DType::F32),
        (rows::<bf16>(|k| bf16::from_f32(value(k))), DType::F32),
    ] {
        let dtype = narrow.values.dtype();
        let fusing = backends().iter().filter(|(name, d)| !name.contains("unfused") && common::has(d, DType::I64));
        for (name, device) in fusing {
            let x = narrow.to_device(device).expect("fits");
            let y = x.cast(wide).expect("recorded");
            for (op, f) in ANY.iter().chain(FLOAT.iter().filter(|_| dtype.is_float())) {
                let compute = |x: &Tensor| f(x).unwrap_or_else(|e| panic!("{op} of {dtype} on {name}: {e}"));
                let (got, want) = (compute(&x), compute(&y));
                let want = if want.dtype() == wide { want.cast(dtype).expect("recorded") } else { want };
                let read = |t: Tensor| t.to_host().unwrap_or_else(|e| panic!("{op} of {dtype} on {name}: {e}"));
                let (got, want) = (read(got), read(want));
                assert_eq!(got.nested_row_splits, want.nested_row_splits, "{op} of {dtype} on {name}");
                // The text distinguishes all floats, with one NaN.
                assert!(format!("{:?}", got.values) == format!("{:?}", want.values), "{op} of {dtype} on {name}");
            }
        }
    }
}
