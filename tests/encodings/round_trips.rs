//! Round trips of random tensors through every encoding.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ragged::opt::{ConstantOptions, with_nrows};
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Result, Tensor};

use crate::common::random;
use crate::lists::ints;

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: Some(Box::new(FileFailurePersistence::Off)), ..ProptestConfig::default() }
}

/// The tensor, constructed from every encoding of its outermost partition.
fn rebuilt(x: &Tensor) -> Result<Vec<(&'static str, Tensor)>> {
    let values = x.values()?;
    let nrows = ints(&x.nrows()?)[0];
    let (splits, lengths) = (x.row_splits()?, x.row_lengths(1)?);
    let (starts, limits, ids) = (x.row_starts()?, x.row_limits()?, x.value_rowids()?);
    let mut out = vec![
        ("row_splits", Tensor::from_row_splits(&values, ints(&splits))?),
        ("row_lengths", Tensor::from_row_lengths(&values, ints(&lengths))?),
        ("value_rowids", Tensor::from_value_rowids(&values, with_nrows(ints(&ids), nrows))?),
        ("row_splits on the device", Tensor::from_row_splits(&values, &splits)?),
        ("row_lengths on the device", Tensor::from_row_lengths(&values, &lengths)?),
        ("value_rowids on the device", Tensor::from_value_rowids(&values, with_nrows(&ids, nrows))?),
    ];
    if nrows > 0 {
        out.push(("row_starts", Tensor::from_row_starts(&values, ints(&starts))?));
        out.push(("row_limits", Tensor::from_row_limits(&values, ints(&limits))?));
        out.push(("row_starts on the device", Tensor::from_row_starts(&values, &starts)?));
        out.push(("row_limits on the device", Tensor::from_row_limits(&values, &limits)?));
    }
    Ok(out)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn encodings_there_and_back(host in random::tensor_of(DType::I32, 2, &[])) {
        let x = host.to_device(&Device::cpu())?;
        for (name, again) in rebuilt(&x)? {
            prop_assert_eq!(&again.to_host()?, &*host, "{}", name);
        }
        let nested = |t: Vec<Tensor>| t.iter().map(ints).collect::<Vec<_>>();
        let flat = x.flat_values()?;
        prop_assert_eq!(&Tensor::from_nested_row_splits(&flat, nested(x.nested_row_splits()?))?.to_host()?, &*host);
        prop_assert_eq!(&Tensor::from_nested_row_lengths(&flat, nested(x.nested_row_lengths()?))?.to_host()?, &*host);
        let nrows: Vec<i64> = host.nested_row_splits.iter().map(|s| s.len() as i64 - 1).collect();
        let ids = nested(x.nested_value_rowids()?);
        prop_assert_eq!(&Tensor::from_nested_value_rowids(&flat, ids.iter().zip(&nrows).map(|(ids, &n)| with_nrows(ids, n)))?.to_host()?, &*host);
        prop_assert_eq!(&Tensor::from_row_partitions(&flat, x.partitions())?.to_host()?, &*host);
    }

    #[test]
    fn nested_lists_there_and_back(host in random::tensor_of(DType::I64, 2, &[])) {
        let x = RaggedTensor::<i64>::try_from(host.to_device(&Device::cpu())?)?;
        let rows: Vec<Vec<Vec<i64>>> = x.to_nested_vec()?;
        prop_assert_eq!(&RaggedTensor::from_nested(rows, &Device::cpu())?.erased().to_host()?, &*host);
        let options = ConstantOptions::default().dtype(Some(DType::I64)).ragged_rank(Some(2));
        let again = Tensor::constant(&x.erased().to_nested()?, &options, &Device::cpu());
        prop_assert_eq!(&again?.to_host()?, &*host);
    }

    #[test]
    fn dense_and_sparse_there_and_back(host in random::tensor_of(DType::Str, 1, &[])) {
        let x = host.to_device(&Device::cpu())?;
        prop_assert_eq!(&Tensor::from_sparse(&x.to_sparse()?)?.to_host()?, &*host);
        let dense = x.to_tensor("")?;
        let again = Tensor::from_tensor_with_lengths(&dense, &x.row_lengths(1)?, 1)?;
        prop_assert_eq!(&again.to_host()?, &*host);
        // A padding value of a length that no value has is removed again.
        let pad = HostTensor::dense(&[], HostValues::Str(vec![vec![b'*'; 10]])).to_device(&Device::cpu())?;
        let again = Tensor::from_tensor_with_padding(&x.to_tensor(&pad)?, &pad)?;
        prop_assert_eq!(&again.to_host()?, &*host);
    }

    #[test]
    fn segment_ids_there_and_back(host in random::tensor_of(DType::Bool, 1, &[])) {
        let x = host.to_device(&Device::cpu())?;
        let nrows = host.nested_row_splits[0].len() as i64 - 1;
        let splits = x.row_splits()?;
        let ids = splits.row_splits_to_segment_ids()?;
        prop_assert_eq!(ints(&ids), ints(&x.value_rowids()?));
        prop_assert_eq!(ints(&ids.segment_ids_to_row_splits_of(nrows)?), ints(&splits));
    }
}
