//! Datasets: order, batches, limits and errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ragged::{Device, Error, HostTensor, HostValues, Result, Seed};
use ragged_data::dataset::{BatchSize, Dataset, Skipped};
use ragged_data::item::Item;
use ragged_data::tf::{Compression, Example, ExampleParser, RaggedFeature, RecordWriter};

/// Rows of these lengths: row `r` holds `r`.
fn rows(lengths: &[usize]) -> Dataset {
    let mut splits = vec![0];
    let mut values = Vec::new();
    for (r, &len) in lengths.iter().enumerate() {
        values.extend(std::iter::repeat_n(r as i32, len));
        splits.push(values.len() as u32);
    }
    Dataset::from_item_slices(
        Item::from_host(HostTensor::from_row_splits(splits, HostValues::I32(values))).expect("rows"),
    )
}

fn numbers(n: i32) -> Dataset {
    Dataset::from_item_slices(
        Item::from_host(HostTensor::dense(&[n as usize], HostValues::I32((0..n).collect()))).expect("numbers"),
    )
}

fn all(items: impl Iterator<Item = Result<Item>>) -> Vec<i32> {
    items.flat_map(|item| item.and_then(|x| x.values::<i32>().map(<[i32]>::to_vec)).expect("numbers")).collect()
}

fn lengths(dataset: &Dataset) -> Vec<usize> {
    dataset.iter().map(|item| item.and_then(|x| x.len()).expect("rows")).collect()
}

fn failing(at: i32) -> Dataset {
    numbers(10).map(move |x| match x.values::<i32>()?[0] == at {
        true => x.field("none").cloned(),
        false => Ok(x),
    })
}

#[test]
fn order_is_a_function_of_seed_and_epoch() {
    let shuffled = numbers(1000).shuffle(100, Seed(3));
    let (first, again) = (all(shuffled.iter()), all(shuffled.iter()));
    assert_eq!(first, again);
    assert!(first != (0..1000).collect::<Vec<_>>() && first != all(shuffled.epoch(1)));
    let mut sorted = first.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    // Item k is one of the first k + 100.
    assert!(first.iter().enumerate().all(|(k, &n)| (n as usize) < k + 100));
    let twice = all(shuffled.repeat(2).iter());
    assert_eq!((&twice[..1000], &twice[1000..]), (&first[..], &all(shuffled.epoch(1))[..]));
    let fixed = all(numbers(50).shuffle_once(50, Seed(3)).repeat(2).iter());
    assert_eq!(fixed[..50], fixed[50..]);
    // Threads do not change the order.
    assert_eq!(all(numbers(1000).prefetch(3).shuffle(100, Seed(3)).prefetch(1).iter()), first);
}

#[test]
fn interleave_takes_blocks_in_turn() {
    // The example of TensorFlow's documentation.
    let repeated = numbers(6).skip(1).interleave(2, 4, |x| Ok(Dataset::from_items([x]).repeat(6)));
    let want = [1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5];
    assert_eq!(all(repeated.iter()), want);
}

#[test]
fn an_error_in_the_middle_takes_its_place() {
    let outcomes: Vec<bool> = failing(4).iter().map(|x| x.is_ok()).collect();
    assert_eq!(outcomes, [true, true, true, true, false, true, true, true, true, true]);
    let batches: Vec<Result<usize>> = failing(4).batch(3).iter().map(|x| x?.len()).collect();
    assert_eq!(batches.iter().map(|b| b.as_ref().ok().copied()).collect::<Vec<_>>(), [Some(3), None, Some(3), Some(1)]);
    let skipped = Skipped::default();
    let kept = failing(4).skip_errors(&skipped).prefetch(2).batch(9);
    assert_eq!((all(kept.iter()), skipped.count()), (vec![0, 1, 2, 3, 5, 6, 7, 8, 9], 1));
}

#[test]
fn batches_are_cut_by_bytes() {
    // A row of n values has 4 n bytes.
    let dataset = rows(&[1, 1, 1, 100, 2, 0, 2]);
    assert_eq!(lengths(&dataset.batch(BatchSize::bytes(8))), [2, 1, 1, 2, 1]);
    assert_eq!(lengths(&dataset.batch(BatchSize::bytes(1000).max_rows(3))), [3, 3, 1]);
    let line = line!() + 1;
    let limited = dataset.batch(BatchSize::bytes(8).max_row_bytes(100));
    let batches: Vec<Result<usize>> = limited.iter().map(|x| x?.len()).collect();
    match &batches[1] {
        Err(Error::Limit { what, requested: 400, limit: 100, location, .. }) => {
            assert_eq!((what.as_str(), location.line()), ("Dataset::batch: row 3", line));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(batches.iter().filter_map(|b| b.as_ref().ok()).sum::<usize>(), 5, "{batches:?}");
}

#[test]
fn a_row_apart_keeps_no_batch_alive() {
    // 1,000 batches of 4 MB, of which the shuffle holds single rows of 4 bytes.
    let made = Arc::new(AtomicUsize::new(0));
    let of = made.clone();
    let batches = Dataset::from_fn(move || {
        let made = of.clone();
        (0..1000).map(move |k| {
            made.fetch_add(1, Ordering::Relaxed);
            let mut splits: Vec<u32> = vec![0, 1];
            splits.push(1 << 20);
            Item::from_host(HostTensor::from_row_splits(splits, HostValues::I32(vec![k; 1 << 20])))
        })
    });
    let rows = batches.unbatch().filter(|row| Ok(row.len()? == 1)).shuffle(1000, Seed(1));
    let before = resident();
    let mut items = rows.iter();
    assert!(items.next().is_some());
    assert_eq!(made.load(Ordering::Relaxed), 1000);
    let grown = resident().saturating_sub(before);
    assert!(grown < 500 << 20, "{grown} bytes");
}

/// Resident memory of the process; 0 where the system does not say.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

#[test]
fn buckets_stay_below_the_tokens() {
    let given: Vec<usize> = (0..500).map(|i| i * 37 % 50).collect();
    let dataset = rows(&given).bucket_by_length([10, 20, 30], 200, |row| row.len());
    let mut seen = 0;
    for batch in &dataset {
        let batch = batch.expect("a batch").tensor(&Device::cpu()).expect("a tensor");
        let lengths: Vec<u32> =
            batch.to_host().expect("a read").nested_row_splits[0].windows(2).map(|w| w[1] - w[0]).collect();
        let longest = *lengths.iter().max().expect("rows");
        assert!(longest as usize * lengths.len() <= 200);
        let bucket = |n: u32| [10, 20, 30].iter().position(|&bound| n <= bound).unwrap_or(3);
        assert!(lengths.iter().all(|&n| bucket(n) == bucket(longest)), "{lengths:?}");
        seen += lengths.len();
    }
    assert_eq!(seen, 500);
    let error = rows(&[3, 201]).bucket_by_length([10], 200, |row| row.len()).iter().find_map(Result::err);
    assert!(error.expect("an error").to_string().contains("item 1 needs 201 tokens, but 200 is the limit"));
    assert!(rows(&[1]).bucket_by_length([5, 5], 9, |row| row.len()).iter().next().expect("an error").is_err());
}

#[test]
fn items_that_do_not_fit_are_named() {
    let device = Device::cpu();
    let dense = Dataset::from_fn(|| {
        [2, 3].into_iter().map(|n| Item::from_host(HostTensor::dense(&[n], HostValues::F32(vec![1.0; n]))))
    });
    let error = dense.batch(2).iter().next().expect("an error").expect_err("an error").to_string();
    assert!(
        error.contains("item 0 of the batch is a tensor of shape [2], but item 1 is a tensor of shape [3]"),
        "{error}"
    );
    assert!(error.contains("ragged_batch"), "{error}");
    assert_eq!(dense.ragged_batch(2).iter().next().unwrap().unwrap().tensor(&device).unwrap().shape(), [Some(2), None]);
    let padded = dense.padded_batch(2, None).iter().next().unwrap().unwrap().tensor(&device).unwrap();
    assert_eq!(padded.to_host().unwrap().values, HostValues::F32(vec![1.0, 1.0, 0.0, 1.0, 1.0, 1.0]));
    let mixed = Dataset::from_items([Item::from(*b"a"), Item::tuple([])]).batch(2);
    assert!(mixed.iter().next().unwrap().unwrap_err().to_string().contains("item 1 is []"));
}

#[test]
fn records_keep_the_order_of_their_fields() {
    let record = |names: &[&str]| Item::record(names.iter().map(|name| (*name, Item::from(*b"x"))));
    let names = |item: &Item| item.fields().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
    let items = [
        record(&["z", "a", "m"]),
        Item::record([("m", Item::from(*b"m")), ("z", (*b"z").into()), ("a", (*b"a").into())]),
    ];
    let batch = Dataset::from_items(items.clone()).batch(2).iter().next().unwrap().unwrap();
    assert_eq!(names(&batch), ["z", "a", "m"]);
    for name in ["z", "a", "m"] {
        let field = batch.field(name).unwrap();
        assert_eq!(field.strings().unwrap().collect::<Vec<_>>(), [b"x", name.as_bytes()], "{name}");
    }
    let rows = Dataset::from_items([batch]).unbatch();
    for row in rows.shuffle(2, Seed(1)).iter() {
        assert_eq!(names(&row.unwrap()), ["z", "a", "m"]);
    }
    let other = Dataset::from_items([record(&["z", "a"]), record(&["z", "b"])]).batch(2);
    assert!(other.iter().next().unwrap().unwrap_err().to_string().contains("item 1"));
    let twice = Item::record([("b", Item::from(*b"1")), ("a", (*b"2").into()), ("b", (*b"3").into())]);
    assert_eq!((names(&twice), twice.field("b").unwrap().string().unwrap()), (vec!["b".into(), "a".into()], &b"3"[..]));
}

#[test]
fn padding_of_matrices_and_strings() {
    let of = |shape: [usize; 2], values: Vec<i32>| Item::from_host(HostTensor::dense(&shape, HostValues::I32(values)));
    let items = [of([1, 2], vec![1, 2]).unwrap(), of([2, 1], vec![3, 4]).unwrap()];
    let padded = Dataset::from_items(items).padded_batch(2, HostValues::I32(vec![9])).iter().next().unwrap().unwrap();
    assert_eq!(padded.values::<i32>().unwrap(), [1, 2, 9, 9, 3, 9, 4, 9]);
    let strings = |all: &[&str]| {
        let all: Vec<Vec<u8>> = all.iter().map(|s| s.as_bytes().to_vec()).collect();
        Item::from_host(HostTensor::dense(&[all.len()], HostValues::Str(all))).unwrap()
    };
    let words = Dataset::from_items([strings(&["a", "bc"]), strings(&["d"])]);
    let padded = words.padded_batch(2, None).iter().next().unwrap().unwrap();
    assert_eq!(padded.strings().unwrap().collect::<Vec<_>>(), [&b"a"[..], b"bc", b"d", b""]);
    let x = padded.tensor(&Device::cpu()).unwrap();
    assert_eq!(x.shape(), [Some(2), Some(2)]);
}

#[test]
fn files_of_examples_become_batches() {
    let path = std::env::temp_dir().join(format!("ragged-data-{}.tfrecord", std::process::id()));
    let mut writer = RecordWriter::create(&path, Compression::Gzip).expect("a file");
    for i in 0..10i64 {
        writer.write(Example::new().ints("ids", 0..i).to_bytes()).expect("a write");
    }
    writer.finish().expect("a write");
    let parser = ExampleParser::new([("ids", RaggedFeature::new(ragged::DType::I64))]).expect("a parser");
    let dataset = Dataset::from_records([&path], Compression::Gzip)
        .batch(4)
        .map(move |batch| parser.parse_item(&batch))
        .to_device(&Device::cpu())
        .prefetch(1);
    let sums: Vec<i64> = dataset
        .iter()
        .flat_map(|batch| match batch?.field("ids")?.tensor(&Device::cpu())?.reduce_sum(1)?.to_host()?.values {
            HostValues::I64(v) => Ok::<_, Error>(v),
            other => panic!("{other:?}"),
        })
        .flatten()
        .collect();
    assert_eq!(sums, (0..10).map(|i: i64| i * (i - 1) / 2).collect::<Vec<_>>());
    std::fs::remove_file(&path).expect("the file");
}
