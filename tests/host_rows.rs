//! Numbers of rows (`len`, `is_empty`) and rows in host memory (`rows`): compared with whole reads and with nested lists.

mod common;

use std::sync::{Mutex, MutexGuard};

use pollster::block_on;
use ragged::arguments::FromNested;
use ragged::{Device, Element, Error, HostRow, RaggedShape, RaggedTensor, Result, RowPartition, Str, s};

/// Locks the devices against the other tests of this binary, so that a device's counters cover one test only.
fn exclusive() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The tensor with a number of rows, and splits, that only the device knows.
fn device_known<T: Element>(x: &RaggedTensor<T>) -> Result<RaggedTensor<T>> {
    let all = vec![true; x.len()?];
    let there = x.boolean_mask(&RaggedTensor::from_nested(all, &x.device())?)?;
    assert_eq!(there.shape()[0], None);
    Ok(there)
}

/// Compares the rows in every form with the lists of the tensor's values per row.
fn check<T: Element>(what: &str, x: &RaggedTensor<T>, want: &[Vec<T::Host>]) -> Result<()> {
    for (known, x) in [("host", x.clone()), ("device", device_known(x)?)] {
        let what = format!("{what}, sizes known to the {known}");
        let rows = x.rows()?;
        assert_eq!(rows.len(), want.len(), "{what}");
        assert_eq!(rows.is_empty(), want.is_empty(), "{what}");
        assert_eq!(rows.values(), want.concat(), "{what}");
        assert_eq!(rows.iter().map(<[_]>::to_vec).collect::<Vec<_>>(), want, "{what}");
        assert_eq!(rows.iter().len(), want.len(), "{what}");
        assert!(rows.iter().rev().eq(want.iter().rev()), "{what}");
        assert_eq!(rows.get(want.len()), None, "{what}");
        for (r, want) in want.iter().enumerate() {
            assert_eq!(rows.get(r), Some(&want[..]), "{what}");
            assert_eq!(rows.iter().nth(r), Some(&want[..]), "{what}");
        }
        let mut both_ends = rows.clone().into_iter();
        let (first, last) = (both_ends.next(), both_ends.next_back());
        assert_eq!(first.as_ref(), want.first(), "{what}");
        assert_eq!(last.as_ref(), want.last().filter(|_| want.len() > 1), "{what}");
        assert_eq!(
            both_ends.collect::<Vec<_>>(),
            want.get(1..want.len().saturating_sub(1)).unwrap_or_default(),
            "{what}"
        );
        assert_eq!(block_on(x.rows_async())?.into_iter().collect::<Vec<_>>(), want, "{what}");
    }
    Ok(())
}

#[test]
fn rows_are_those_of_a_whole_read() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let ragged = vec![vec![1, 2], vec![], vec![3], vec![]];
        check(&label, &RaggedTensor::from_nested(&ragged, &device)?, &ragged)?;
        let none: Vec<Vec<i32>> = Vec::new();
        check(&label, &RaggedTensor::from_nested(&none, &device)?, &none)?;
        let vector = RaggedTensor::from_nested([1.5f32, 2.5], &device)?;
        check(&label, &vector, &[vec![1.5], vec![2.5]])?;
        let matrix = RaggedTensor::from_nested([[1u8, 2, 3], [4, 5, 6]], &device)?;
        check(&label, &matrix, &[vec![1, 2, 3], vec![4, 5, 6]])?;
        let without_columns = RaggedTensor::<i32>::dense([], &[3, 0], &device)?;
        check(&label, &without_columns, &vec![vec![]; 3])?;
        let pairs = RaggedTensor::from_nested([vec![[1i64, 2], [3, 4]], vec![], vec![[5, 6]]], &device)?;
        check(&label, &pairs, &[vec![1, 2, 3, 4], vec![], vec![5, 6]])?;
        let uniform = RaggedTensor::from_uniform_row_length(&pairs, 3, &device)?;
        check(&label, &uniform, &[vec![1, 2, 3, 4, 5, 6]])?;
        let words = RaggedTensor::<Str>::from_nested([vec!["a", ""], vec![], vec!["bc"]], &device)?;
        check(&label, &words, &[vec![b"a".to_vec(), vec![]], vec![], vec![b"bc".to_vec()]])?;
        let giant = vec![vec![], (0..70_000).collect::<Vec<i32>>(), vec![7]];
        check(&label, &RaggedTensor::from_nested(&giant, &device)?, &giant)?;
        let scalar = vector.reduce_sum(0)?;
        for error in [scalar.rows().map(drop), block_on(scalar.rows_async()).map(drop)] {
            assert!(matches!(error, Err(Error::Argument { op: "rows", .. })), "{label}: {error:?}");
        }
    }
    Ok(())
}

/// The lists below a row, at any depth, as nested vectors.
trait Lists<T: Element> {
    fn of(row: HostRow<'_, T>) -> Self;
}
impl Lists<Self> for i32 {
    fn of(row: HostRow<'_, Self>) -> Self {
        assert_eq!((row.rank(), row.len(), row.values().len()), (0, 0, 1));
        assert!(row.is_empty() && row.outer_iter().next().is_none());
        row.values()[0]
    }
}
impl<T: Element, N: Lists<T>> Lists<T> for Vec<N> {
    fn of(row: HostRow<'_, T>) -> Self {
        assert_eq!(row.outer_iter().len(), row.len());
        assert_eq!(row.is_empty(), row.outer_iter().next().is_none());
        row.outer_iter().map(N::of).collect()
    }
}

/// Divides the rows down to single values, and compares them with the nested lists of a read.
fn check_lists<N: Lists<i32> + FromNested<i32> + PartialEq + std::fmt::Debug>(x: &RaggedTensor<i32>) -> Result<()>
where
    Vec<N>: FromNested<i32>,
{
    for x in [x.clone(), device_known(x)?] {
        let rows = x.rows()?;
        let lists: Vec<N> = rows.outer_iter().map(N::of).collect();
        assert_eq!(lists, x.to_nested_vec::<Vec<N>>()?);
    }
    Ok(())
}

#[test]
fn rows_divide_down_to_single_values() -> Result<()> {
    let _guard = exclusive();
    for (_, device) in common::devices() {
        check_lists::<i32>(&RaggedTensor::from_nested([3, 4], &device)?)?;
        check_lists::<Vec<i32>>(&RaggedTensor::from_nested([vec![3, 4], vec![], vec![5]], &device)?)?;
        let deep = RaggedTensor::from_nested([vec![vec![1, 2], vec![]], vec![], vec![vec![3]]], &device)?;
        check_lists::<Vec<Vec<i32>>>(&deep)?;
        check_lists::<Vec<Vec<Vec<i32>>>>(&RaggedTensor::from_uniform_row_length(&deep, 3, &device)?)?;
        let pairs = RaggedTensor::from_nested([vec![[1, 2], [3, 4]], vec![], vec![[5, 6]]], &device)?;
        check_lists::<Vec<Vec<i32>>>(&pairs)?;
    }
    Ok(())
}

/// Compares the rows of a tensor of run-time dtype with slices of it.
fn check_erased<T: Element>(what: &str, x: &RaggedTensor<T>) -> Result<()> {
    for x in [x.clone(), device_known(x)?] {
        let rows = x.erased().rows()?;
        assert_eq!(rows.len(), x.len()?, "{what}");
        for (r, row) in rows.enumerate() {
            assert_eq!(row, x.row_to_host(r)?, "{what}, row {r}");
            assert_eq!(row.to_device(&x.device())?.to_string(), x.slice(s![r])?.to_string(), "{what}, row {r}");
        }
        let last = x.erased().rows()?.next_back();
        assert_eq!(last, x.erased().rows()?.last(), "{what}");
    }
    Ok(())
}

#[test]
fn rows_of_any_dtype_are_tensors() -> Result<()> {
    let _guard = exclusive();
    for (name, device) in common::devices() {
        check_erased(&name, &RaggedTensor::from_nested([3u8, 4], &device)?)?;
        check_erased(&name, &RaggedTensor::from_nested([[true, false], [true, true]], &device)?)?;
        check_erased(&name, &RaggedTensor::from_nested([vec![3i64, 4], vec![], vec![5]], &device)?)?;
        check_erased(&name, &RaggedTensor::from_nested([vec!["a", ""], vec![], vec!["bc"]], &device)?)?;
        let deep = RaggedTensor::from_nested([vec![vec![1.5f32, 2.0], vec![]], vec![], vec![vec![3.0]]], &device)?;
        check_erased(&name, &deep)?;
        check_erased(&name, &RaggedTensor::from_nested([vec![vec![[1u16, 2]], vec![]], vec![]], &device)?)?;
        let scalar = deep.reduce_sum(..)?.into_erased();
        assert!(matches!(scalar.rows().map(drop), Err(Error::Argument { op: "rows", .. })), "{name}");
    }
    Ok(())
}

#[test]
fn rows_are_read_once() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let x = common::seeded_rows(1000, 9, 3).to_device(&device)?.add(1)?;
        let x = RaggedTensor::<i32>::try_from(x)?;
        let before = device.stats();
        let rows = x.rows()?;
        let sum: i64 = rows.iter().flatten().map(|&v| i64::from(v)).sum();
        assert!(sum > 0);
        let spent = device.stats() - before;
        assert_eq!((spent.waits, spent.submissions), (1, 1), "{label}");
    }
    Ok(())
}

#[test]
fn len_is_the_number_of_rows() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let x = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?;
        for (x, want) in [
            (x.erased().clone(), 3),
            (x.values()?.into_erased(), 3),
            (x.boolean_mask(&x.row_lengths(1)?.greater(0)?)?.into_erased(), 2),
            (x.boolean_mask(&x.row_lengths(1)?.greater(7)?)?.into_erased(), 0),
            (x.flat_values()?.unique(0)?.into_erased(), 3),
            (RaggedTensor::<i32>::dense([], &[4, 0], &device)?.into_erased(), 4),
        ] {
            let fresh = x.clone();
            assert_eq!(block_on(x.len_async())?, want, "{label} {x:?}");
            assert_eq!(fresh.len()?, want, "{label} {x:?}");
            assert_eq!(fresh.is_empty()?, want == 0, "{label} {x:?}");
            assert_eq!(x.nrows()?.to_nested()?, (want as i64).into(), "{label} {x:?}");
            assert_eq!(x.ragged_shape().nrows(), Some(want), "{label}: known once read");
        }
        let scalar = x.reduce_sum(..)?;
        assert!(matches!(scalar.len(), Err(Error::Argument { op: "len", .. })), "{label}");
        assert!(matches!(scalar.is_empty(), Err(Error::Argument { op: "is_empty", .. })), "{label}");
        assert!(matches!(block_on(scalar.len_async()), Err(Error::Argument { op: "len", .. })), "{label}");
        assert_eq!(RaggedShape::dense::<i64>(&[], &device)?.nrows(), None);
        let rows = RowPartition::from_row_lengths([1, 2], &device)?;
        assert_eq!(RaggedShape::from_row_partitions(&[rows], &[-1], &device)?.nrows(), Some(2));
    }
    Ok(())
}

#[test]
fn len_waits_only_for_what_the_device_counts() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::gpus() {
        let x = RaggedTensor::<i32>::try_from(common::seeded_rows(100_000, 9, 3).to_device(&device)?)?;
        let spent = |x: &RaggedTensor<i32>| -> Result<(usize, u64, u64)> {
            let before = device.stats();
            let len = x.len()?;
            let spent = device.stats() - before;
            Ok((len, spent.waits, spent.bytes_read_back))
        };
        assert_eq!(spent(&(&x + 1)?)?, (100_000, 0, 0), "{label}");
        let some = x.boolean_mask(&x.row_lengths(1)?.greater(0)?)?;
        let (len, waits, bytes) = spent(&some)?;
        assert!((1..100_000).contains(&len), "{label} {len}");
        assert_eq!((waits, bytes), (1, 4), "{label}");
        assert_eq!(spent(&some)?, (len, 0, 0), "{label}: known from then on");
        assert_eq!(some.rows()?.len(), len, "{label}");
    }
    Ok(())
}

#[test]
fn len_reports_the_failed_check_of_its_rows() -> Result<()> {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let (one, zero) = (RaggedTensor::from_nested([1, 1], &device)?, RaggedTensor::from_nested([1, 0], &device)?);
        let counted = one.truncatediv(&zero)?;
        let kept = one.boolean_mask(&counted.greater(0)?)?;
        assert!(matches!(kept.len(), Err(Error::Check { .. })), "{label}: {:?}", kept.len());
        assert!(matches!(block_on(kept.len_async()), Err(Error::Check { .. })), "{label}");
        assert!(matches!(kept.rows(), Err(Error::Check { .. })), "{label}");
        // The host knows the number of rows, which no check can change.
        assert_eq!(counted.len()?, 2, "{label}");
    }
    Ok(())
}

#[test]
fn debug_shows_the_values_of_each_row() -> Result<()> {
    let device = Device::cpu();
    let rows = RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?.rows()?;
    assert_eq!(format!("{rows:?}"), "[[1, 2], [], [3]]");
    assert_eq!(format!("{:?}", rows.iter()), "[[1, 2], [], [3]]");
    assert_eq!(format!("{:?}", rows.into_iter()), "[1, 2, 3]");
    Ok(())
}
