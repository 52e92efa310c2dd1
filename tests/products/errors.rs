//! Errors of products: shapes, ranks and dtypes that do not match.

use ragged::opt::Factor;
use ragged::{Device, Error, HostTensor, Result};

use super::common;
use super::matrix::{host, on};

fn product(a: &HostTensor, b: &HostTensor, t: [bool; 2], device: &Device, hidden: bool) -> Result<HostTensor> {
    let (a, b) = (on(a, device, hidden), on(b, device, hidden));
    Factor::from(&a).transposed(t[0]).matmul(Factor::from(&b).transposed(t[1]))?.to_host()
}

#[test]
fn incompatible_shapes_are_errors() {
    let f = |splits: &[&[u32]], inner: &[usize]| {
        let values = vec![1.0f32; inner.iter().product()];
        host(splits.iter().map(|s| s.to_vec()).collect(), inner.to_vec(), values)
    };
    let cases = [
        ("rows that differ", f(&[&[0, 2, 3]], &[3]), f(&[], &[2, 2]), [false; 2]),
        ("rows of a batch that differ", f(&[&[0, 2], &[0, 2, 3]], &[3]), f(&[], &[1, 2, 2]), [false; 2]),
        ("rows on the right that differ", f(&[], &[1, 2, 2]), f(&[&[0, 2], &[0, 2, 3]], &[3]), [false; 2]),
        ("other numbers of terms", f(&[&[0, 1, 3]], &[3, 2]), f(&[], &[2, 3, 4]), [false; 2]),
        ("other numbers of terms in a batch", f(&[&[0, 1, 3]], &[3, 2]), f(&[&[0, 2, 5]], &[5, 4]), [false; 2]),
        ("transposed on the left", f(&[&[0, 1, 3]], &[3, 2]), f(&[], &[2, 2, 4]), [true, false]),
        ("other numbers of batches", f(&[&[0, 1, 3]], &[3, 2]), f(&[&[0, 2, 4, 6]], &[6, 2]), [false; 2]),
        ("fewer batches on the left", f(&[&[0, 1]], &[1, 2]), f(&[&[0, 2, 4, 6]], &[6, 2]), [false; 2]),
        (
            "batches of other lengths",
            f(&[&[0, 2, 3], &[0, 1, 2, 3]], &[3, 2]),
            f(&[&[0, 1, 3], &[0, 2, 4, 6]], &[6, 2]),
            [false; 2],
        ),
        ("dense", f(&[], &[2, 3]), f(&[], &[2, 3]), [false; 2]),
    ];
    for (name, device) in common::every_way() {
        for (what, a, b, t) in &cases {
            for hidden in [false, true] {
                let got = product(a, b, *t, device, hidden);
                let ok = matches!(&got, Err(Error::Shape { .. } | Error::Argument { .. }))
                    || hidden && matches!(&got, Err(Error::Check { .. }));
                assert!(ok, "{what} on {name}, hidden {hidden}: {got:?}");
            }
        }
        let (x, y) = (on(&cases[9].1, device, false), on(&f(&[], &[2]), device, false));
        assert!(matches!(x.matmul(&y), Err(Error::Shape { .. })), "{name}: rank 1");
        let deep = on(&f(&[], &[2, 3, 2]), device, false);
        assert!(matches!(x.matmul(&deep), Err(Error::Shape { .. })), "{name}: ranks");
        assert!(matches!(deep.t().matmul(&x), Err(Error::Shape { .. })), "{name}: a transpose by one matrix");
        let other = x.cast(ragged::DType::I32).expect("recorded");
        assert!(matches!(x.matmul(&other), Err(Error::DTypes { .. })), "{name}");
        let bools = x.cast(ragged::DType::Bool).expect("recorded");
        assert!(matches!(bools.matmul(bools.t()), Err(Error::Unsupported { .. })), "{name}");
    }
}
