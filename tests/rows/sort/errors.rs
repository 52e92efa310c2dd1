//! Errors: invalid arguments, and invalid splits.

use ragged::opt::descending;
use ragged::{Device, HostTensor, HostValues, Tensor};

use super::reference::rows;
use crate::common;
use crate::nest::on;

#[test]
fn errors_state_the_remedy() {
    let device = Device::cpu();
    let x = on(&rows(&[2, 1], HostValues::I32(vec![1, 2, 3])), &device);
    assert!(x.sort(2).is_err());
    assert!(x.argsort(-3).is_err());
    assert!(x.top_k(1, 0).unwrap_err().to_string().contains("innermost axis"));
    assert!(x.unique(0).unwrap_err().to_string().contains("n_unique"));
    assert!(x.quantile(1.5, 1).unwrap_err().to_string().contains("between 0 and 1"));
    assert!(x.quantile(f64::NAN, 1).is_err());
    let words = on(&rows(&[1], HostValues::Str(vec![b"a".to_vec()])), &device);
    for error in [words.sort(1).err(), words.unique(1).err(), words.top_k(1, 1).err(), words.median(1).err()] {
        assert!(matches!(error, Some(ragged::Error::Unsupported { .. })), "{error:?}");
    }
    assert!(on(&HostTensor::dense(&[], HostValues::I32(vec![4])), &device).sort(0).is_err());
}

#[test]
fn sorting_with_invalid_splits_is_an_error() {
    for (name, device) in common::devices() {
        let values = on(&HostTensor::dense(&[4], HostValues::I32(vec![4, 1, 3, 2])), &device);
        for splits in [[0i64, 3, 1, 4], [0, 9, 2, 4], [0, 2, 3, 3], [1, 2, 3, 4], [0, -1, 2, 4]] {
            let splits = on(&HostTensor::dense(&[4], HostValues::I64(splits.to_vec())), &device);
            let Ok(x) = Tensor::from_row_splits(&values, &splits) else { continue };
            for (what, got) in [
                ("sort", x.sort(1)),
                ("columns", x.sort(descending(0))),
                ("unique", x.unique(1)),
                ("n_unique", x.n_unique(0)),
                ("top_k", x.top_k(2, 1).map(|t| t.0)),
                ("median", x.median(1)),
            ] {
                let error = got.and_then(|t| t.to_host()).expect_err(what);
                assert!(matches!(error, ragged::Error::Check { .. }), "{what} on {name}: {error:?}");
            }
        }
    }
}
