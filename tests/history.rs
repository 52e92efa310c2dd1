//! Results, types and errors do not depend on what was read, printed, recorded or dropped before: expressions that share
//! sizes which only the device knows, with a read in between.

mod common;

use std::thread;

use common::{devices, devices_and_unfused_cpu, gpu_with, groups};
use ragged::arguments::Fill;
use ragged::arguments::Operand;
use ragged::opt::{Encoding, keep};
use ragged::{
    CpuOptions, DType, Device, DeviceOptions, HostTensor, HostValues, RaggedTensor, Result, SparseTensor, Str, Tensor,
    Tuning, s,
};

fn text_of(bytes: &[u8], device: &Device) -> RaggedTensor<Str> {
    RaggedTensor::<Str>::dense([bytes], &[1], device).expect("a text")
}

fn lines(text: &RaggedTensor<Str>) -> Result<RaggedTensor<Str>> {
    text.string_split("\n")?.values()
}

#[test]
fn an_expression_is_recorded_again_after_a_read() {
    for (name, device) in devices_and_unfused_cpu() {
        let text = text_of(b"ab\ncde\nf", device);
        let first = lines(&text).expect("recorded");
        assert_eq!(first.to_string(), "tensor([b'ab', b'cde', b'f'], shape=(3,), dtype=str)", "{name}");
        let codes = lines(&text).and_then(|x| x.unicode_decode(Encoding::Utf8)?.to_vec()).expect("read");
        assert_eq!(codes, [97, 98, 99, 100, 101, 102], "{name}");
        let upper = lines(&text).and_then(|x| x.string_upper()?.to_vec()).expect("read");
        assert_eq!(upper, [b"AB".to_vec(), b"CDE".to_vec(), b"F".to_vec()], "{name}");
    }
}

#[test]
fn slices_of_equal_row_lengths_are_read_one_after_another() {
    for (name, device) in devices_and_unfused_cpu() {
        let counts = RaggedTensor::from_nested(vec![4i64, 0, 3, 2], device).expect("uploaded");
        let rows = || {
            let x = counts.boolean_mask(&counts.greater(0)?)?.erased().range()?;
            Ok::<_, ragged::Error>((x.slice(s![.., 1..])?, x.slice(s![.., ..-1])?))
        };
        let (tails, heads) = rows().expect("recorded");
        assert_eq!(tails.to_string(), "<ragged.RaggedTensor [[1, 2, 3], [1, 2], [1]]>", "{name}");
        assert_eq!(heads.row_to_host(1).expect("read").values, HostValues::I64(vec![0, 1]), "{name}");
        assert_eq!(heads.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [0, 1], [0]]>", "{name}");
    }
}

#[test]
fn differences_by_hand_after_one_operand_is_printed() {
    let differences = |n: i32, device: &Device| -> Result<(Vec<i32>, Vec<i32>)> {
        let times = groups(n, device)?;
        let before = times.slice(s![.., ..-1])?;
        assert!(!before.to_string().is_empty());
        let after = times.slice(s![.., 1..])?;
        Ok((after.to_vec()?, (&after - &before)?.to_vec()?))
    };
    for (name, device) in devices_and_unfused_cpu() {
        let sizes: &[i32] = if device.is_cpu() { &[10_000, 60_000, 65_536, 300_000] } else { &[10_000, 65_537] };
        for &n in sizes {
            let (after, gaps) = differences(n, device).expect("read");
            let want: Vec<i32> = (0..n).filter(|i| i % 20 != 0).collect();
            assert_eq!(after, want, "{name}, {n} values");
            assert_eq!(gaps, vec![1; want.len()], "{name}, {n} values");
        }
    }
}

#[test]
fn rows_are_sliced_after_every_way_to_evaluate_another_slice() {
    type Look = fn(&RaggedTensor<i32>, &RaggedTensor<i32>) -> Result<()>;
    let looks: [(&str, Look); 5] = [
        ("nothing", |_, _| Ok(())),
        ("eval", |_, y| y.eval()),
        ("to_vec", |_, y| y.to_vec().map(drop)),
        ("row", |_, y| y.row_to_host(2).map(drop)),
        ("both", |x, y| x.eval().and_then(|()| y.eval())),
    ];
    for (name, device) in devices_and_unfused_cpu() {
        for rows in if device.is_cpu() { vec![10, 257, 5000] } else { vec![300, 3000] } {
            let want: Vec<i32> = (0..rows).flat_map(|r| r * 20 + 7..r * 20 + 20).collect();
            for (how, look) in looks {
                for is_kept in [true, false] {
                    let x = groups(rows * 20, device).expect("recorded");
                    let y = x.slice(s![.., ..-7]).expect("recorded");
                    look(&x, &y).expect("evaluated");
                    let _kept = is_kept.then_some(y);
                    let z = x.slice(s![.., 7..]).and_then(|z| z.to_vec()).expect("read");
                    assert!(z == want, "{name}, {rows} rows, {how}, kept {is_kept}: {} values", z.len());
                }
            }
        }
    }
}

#[test]
fn a_slice_that_is_only_recorded_changes_no_windows() {
    for (name, device) in devices_and_unfused_cpu() {
        for rows in if device.is_cpu() { vec![100, 6000] } else { vec![6000] } {
            let bytes: Vec<u8> = (0..rows)
                .flat_map(|r| {
                    let len = 20 + r * 7 % 50;
                    (0..len).map(move |k| b"ACGT"[(r * 31 + k * k) % 4]).chain([b'\n'])
                })
                .collect();
            let split = || bytes.split(|&b| b == b'\n');
            let want: Vec<i32> =
                split().flat_map(|l| l.windows(8).map(|w| w.iter().map(|&b| i32::from(b)).sum())).collect();
            let x = lines(&text_of(&bytes, device)).and_then(|x| x.unicode_decode(Encoding::Utf8)).expect("recorded");
            let y = x.slice(s![.., ..-7]).expect("recorded");
            let sums = x.sliding_windows(8, 1).and_then(|w| w.reduce_sum(2)?.to_vec()).expect("read");
            assert!(sums == want, "{name}, {rows} rows: {} sums of {}", sums.len(), want.len());
            drop(y);
        }
    }
}

#[test]
fn rows_without_values_are_read_after_nothing_else() -> Result<()> {
    // The number of rows is in an array that the values do not need: it is computed, and becomes shorter, in the read.
    for (name, device) in devices() {
        let lengths = RaggedTensor::from_nested([3i64, 0, 5, 8, 0, 2], &device)?;
        let rows = lengths.boolean_mask(&lengths.greater(0)?)?.range()?.into_erased();
        let columns = rows.subtract(&rows.reduce_max(keep(1))?)?.reduce_sum(0)?;
        let positions = columns.less(-6)?.where_indices()?;
        let sums = positions.sliding_windows(8, 1)?.reduce_sum(2)?;
        assert_eq!(sums.rows_to_host(0..1)?.inner_shape, [1, 0], "{name}");
        assert_eq!(sums.row_to_host(-1)?.inner_shape, [0], "{name}");
    }
    Ok(())
}

#[test]
fn columns_of_device_known_height_are_zipped() -> Result<()> {
    let device = Device::cpu();
    let x = RaggedTensor::dense(vec![7; 20_000 * 2], &[2, 20_000], &device)?;
    let rows = x.boolean_mask(&x.greater(0)?.reduce_any(1)?)?;
    assert_eq!(RaggedTensor::<i32>::zip(&rows.unzip()?)?.to_vec()?.len(), 40_000);
    Ok(())
}

#[test]
fn rows_that_are_known_to_be_none_by_a_read_are_none_by_no_type() -> Result<()> {
    // Along the outermost axis, rows without values become one row if their number is part of the type.
    for (name, device) in devices() {
        let x = RaggedTensor::from_nested(vec![vec![1, 2, 3], vec![4]], &device)?.into_erased();
        let flags = RaggedTensor::from_nested([true, false], &device)?;
        let chain = |read: bool| -> Result<HostTensor> {
            let differences = x.boolean_mask(&flags.logical_and(&flags.logical_not()?)?)?.diff(1)?;
            if read {
                differences.to_host()?;
            }
            let columns = differences.reduce_variance(keep(1))?.transpose_rows()?;
            columns.transpose_rows()?.slice(s![..;2])?.log_softmax(-2)?.to_host()
        };
        assert_eq!(chain(true)?, chain(false)?, "{name}");
    }
    Ok(())
}

#[test]
fn softmax_makes_one_row_of_rows_that_were_recorded_as_none() -> Result<()> {
    for (name, device) in devices() {
        let recorded = RaggedTensor::from_row_splits(Vec::<f32>::new(), [0, 0, 0], &device)?;
        assert_eq!(recorded.softmax(0)?.shape().first(), Some(&Some(1)), "{name}");
        // A number that only the device has changes no layout, read or not.
        let flags = RaggedTensor::from_nested([vec![false], vec![false, false]], &device)?;
        let masked = RaggedTensor::from_nested([vec![1.0f32], vec![2.0, 3.0]], &device)?.boolean_mask(&flags)?;
        assert_eq!(masked.softmax(0)?.row_lengths(1)?.to_vec()?, [0, 0], "{name}");
        masked.to_host()?;
        assert_eq!(masked.softmax(0)?.row_lengths(1)?.to_vec()?, [0, 0], "{name}");
    }
    Ok(())
}

#[test]
fn transposed_rows_of_known_length_are_as_many_without_rows() -> Result<()> {
    for (name, device) in devices() {
        let x = RaggedTensor::dense(vec![1, 2, 3, 4, 5, 6], &[2, 3], &device)?;
        let uniform = Tensor::from_tensor(&x, 1)?;
        let host = uniform.slice(s![2..])?.transpose_rows()?;
        let flags = RaggedTensor::from_nested([false, false], &device)?;
        let known_there = uniform.boolean_mask(&flags)?.transpose_rows()?;
        assert_eq!(host.row_lengths(1)?.to_host()?, known_there.row_lengths(1)?.to_host()?, "{name}");
        assert_eq!(host.shape().first(), Some(&Some(3)), "{name}");
    }
    Ok(())
}

#[test]
fn an_expression_recorded_twice_is_read_in_stages() {
    let Some(device) = gpu_with(&DeviceOptions::default().tuning(Tuning::default().stage_bytes(4 << 10))) else {
        return;
    };
    let bytes = "ACGTACGTACGTACGTACG\n".repeat(300);
    let want: Vec<i32> = bytes.split('\n').flat_map(|l| l.bytes().skip(7).map(i32::from)).collect();
    let text = text_of(bytes.as_bytes(), &device);
    let codes = || lines(&text)?.unicode_decode(Encoding::Utf8);
    let runs = codes().and_then(|x| x.run_lengths()).expect("recorded").0;
    let got = codes().and_then(|x| x.slice(s![.., 7..])?.to_vec()).expect("read");
    assert!(got == want, "{} of {} values", got.len(), want.len());
    assert_eq!(runs.to_vec().expect("read").len(), 300 * 19);
}

#[test]
fn an_operation_that_waits_while_it_is_recorded_changes_nothing() {
    for (name, device) in devices_and_unfused_cpu() {
        for rows in if device.is_cpu() { vec![1000, 80_000, 200_000] } else { vec![1000, 20_000] } {
            let x = RaggedTensor::from_nested((0..rows).map(|k| vec![k, -k]).collect::<Vec<Vec<i32>>>(), device);
            let x = x.expect("uploaded");
            let flags = RaggedTensor::dense((0..rows).map(|k| k % 2 == 0).collect::<Vec<_>>(), &[-1], device);
            let x = x.boolean_mask(&flags.expect("uploaded")).expect("recorded");
            let (_, at) = x.top_k(1, -1).expect("recorded");
            let ids = at.value_rowids().expect("recorded");
            let most = at.values().and_then(|v| v.segment_max(&ids)).expect("recorded");
            let want: Vec<i32> = (0..rows).filter(|k| k % 2 == 0).flat_map(|k| [k, -k]).collect();
            assert!(x.to_vec().expect("read") == want, "{name}, {rows} rows");
            assert_eq!(most.to_vec().expect("read").len(), want.len() / 2, "{name}, {rows} rows");
        }
    }
}

#[test]
fn two_threads_record_and_read_one_tensor() {
    let text = text_of(b"ab\ncde\nf", &Device::cpu());
    const ROUNDS: usize = 5000;
    let wrong = |f: &(dyn Fn() -> Result<usize> + Sync), want: usize| {
        (0..ROUNDS).filter(|_| f().expect("read") != want).count()
    };
    let of_lines = || Ok(lines(&text)?.to_vec()?.len());
    let of_codes = || Ok(lines(&text)?.unicode_decode(Encoding::Utf8)?.to_vec()?.len());
    let wrong = thread::scope(|s| {
        let one = s.spawn(|| wrong(&of_lines, 3));
        let two = s.spawn(|| wrong(&of_codes, 6));
        [one.join().expect("no panic"), two.join().expect("no panic")]
    });
    assert_eq!(wrong, [0, 0], "of {ROUNDS} rounds each");
}

/// Rank, shape and success of `f`, with its input read before or not.
fn outcome(
    read: bool,
    x: &Tensor,
    f: impl Fn(&Tensor) -> Result<Tensor>,
) -> std::result::Result<(usize, HostTensor), String> {
    if read {
        x.to_host().expect("read");
    }
    let y = f(x).map_err(|_| "an error while recording".to_owned())?;
    let rank = y.ragged_rank();
    y.to_host().map(|host| (rank, host)).map_err(|_| "an error at the read".to_owned())
}

#[test]
fn types_do_not_depend_on_reads() {
    type Op = fn(&Tensor) -> Result<Tensor>;
    let ops: [(&str, Op); 15] = [
        ("transpose_rows", |x| x.transpose_rows()),
        ("transpose", |x| x.transpose_rows()?.transpose([1, 0])),
        ("squeeze", |x| x.slice(s![.., 0])?.squeeze(..)),
        ("squeeze one", |x| x.slice(s![..1, 0])?.squeeze(0)),
        ("add to three", |x| {
            RaggedTensor::from_nested(vec![1i64, 2, 3], &x.device())?.erased().add(&x.slice(s![.., 0])?)
        }),
        ("broadcast_to", |x| x.slice(s![.., 0])?.broadcast_to([3i64])),
        ("unzip", |x| Ok(x.unzip()?.remove(0))),
        ("split", |x| Ok(x.split(2, 0)?.remove(0))),
        ("windows", |x| x.sliding_windows(3, 1)?.to_tensor(0)),
        ("reduce_sum", |x| x.reduce_sum(0)),
        ("range", |x| x.slice(s![.., 0])?.range()?.to_tensor(0)),
        ("columns", |x| Ok(x.slice(s![.., 0])?.unzip()?.remove(0))),
        ("padding", |x| {
            let rows = Tensor::stack(&[x, x], 0)?.to_tensor(0)?;
            Tensor::from_tensor_with_padding(&rows, &x.slice(s![.., 0])?)
        }),
        ("add_dense", |x| {
            SparseTensor::from_entries(&[[0, 1], [1, 0]], [10i64, 20], [2, 2], &x.device())?.add_dense(x)
        }),
        ("lengths", |x| Tensor::from_tensor_with_lengths(&x, &x.slice(s![.., 0])?.minimum(1i64)?, 1)),
    ];
    let mut differences = Vec::new();
    for (name, device) in devices() {
        for zeros in [vec![0i32, 7, 0, 8], vec![0, 7, 0, 0], vec![0, 0, 0, 0]] {
            for (op, f) in ops {
                let make = || {
                    let x = RaggedTensor::from_nested(zeros.clone(), &device)?.into_erased();
                    let places = x.cast(DType::Bool)?.where_indices()?;
                    Tensor::concat(&[&places, &places], 1)
                };
                let [unread, read] = [false, true].map(|read| outcome(read, &make().expect("recorded"), f));
                if unread != read || (op == "lengths" && unread.is_err()) {
                    differences.push(format!("{name}: {op} of {zeros:?}: {unread:?}, once read {read:?}"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn windows_that_no_row_is_long_enough_for_keep_their_length() {
    for (name, device) in devices() {
        let tensors = [false, true].map(|read| {
            let rows = vec![vec![vec![1i32, 2, i32::from(read)], vec![4]]];
            let x = RaggedTensor::from_nested(rows, &device).expect("uploaded").into_erased();
            let windows = x.sliding_windows(3, 1).expect("recorded");
            outcome(read, &windows, |w| w.to_tensor(0))
        });
        assert_eq!(tensors[0], tensors[1], "{name}: unread and read");
    }
}

#[test]
fn transposed_rows_have_no_rows_beyond_the_longest() {
    for (name, device) in devices_and_unfused_cpu() {
        let none = RaggedTensor::from_nested(vec![vec![0i64; 0], vec![]], device).and_then(|x| x.transpose_rows());
        let host = none.and_then(|x| x.to_host()).expect("read");
        assert_eq!((host.nested_row_splits, host.uniform_row_lengths), (vec![vec![0]], vec![None]), "{name}");
        let x = RaggedTensor::from_nested(vec![vec![1i64, 2, 3, 4], vec![5], vec![6, 7, 8]], device).expect("uploaded");
        let kept = x.boolean_mask(&x.greater(1).expect("recorded")).expect("recorded");
        let columns = kept.transpose_rows().expect("recorded");
        assert_eq!(columns.to_host().expect("read").nested_row_splits, [[0, 3, 5, 7]], "{name}");
        let again = columns.transpose_rows().expect("recorded");
        assert_eq!(again.to_string(), "<ragged.RaggedTensor [[2, 3, 4], [5, 7, 8], [6]]>", "{name}");
    }
}

#[test]
fn a_bound_is_not_refused_as_if_it_were_the_size() {
    let small = ("cpu of 1 MiB".to_owned(), Device::cpu_with(&CpuOptions::default().max_memory(1 << 20)));
    for (name, device) in devices_and_unfused_cpu().iter().chain([&small]) {
        let x = || RaggedTensor::from_nested(vec![3i64, 1], device)?.into_erased().range();
        let show = |f: fn(&Tensor) -> Result<Tensor>| x().and_then(|x| f(&x)).map(|t| t.to_string()).expect("computed");
        assert_eq!(show(|x| x.reduce_sum(0)), "tensor([0, 1, 2], shape=(3,), dtype=i64)", "{name}");
        assert_eq!(show(|x| x.sort(0)), "<ragged.RaggedTensor [[0, 1, 2], [0]]>", "{name}");
        assert_eq!(show(|x| x.cummax(0)), "<ragged.RaggedTensor [[0, 1, 2], [0]]>", "{name}");
        assert_eq!(show(|x| x.transpose_rows()), "<ragged.RaggedTensor [[0, 0], [1], [2]]>", "{name}");
        let union = show(|x| x.set_union(&x.reverse(1)?));
        assert_eq!(union, "<ragged.RaggedTensor [[0, 1, 2], [0]]>", "{name}");
        let wide = x().and_then(|x| x.transpose_rows()?.transpose_rows()).expect("recorded");
        let by_length = wide.row_lengths(1).and_then(|n| wide.unsorted_segment_max(&n.floormod(3i64)?, 3));
        let by_length = by_length.expect("recorded");
        assert!(by_length.explain().is_ok_and(|e| !e.kernels.is_empty()), "{name}: {:?}", by_length.explain().err());
        assert_eq!(by_length.to_string(), "<ragged.RaggedTensor [[0, 1, 2], [0], []]>", "{name}");
        let strings = RaggedTensor::from_nested(vec![vec!["ab c", "d"], vec!["e"]], device).expect("uploaded");
        let shifted = strings.erased().shift(1, Operand::Value(Fill::zero(DType::Str)), 1).expect("recorded");
        let most = shifted.unicode_decode(Encoding::Utf8).and_then(|codes| codes.cummax(1)).expect("recorded");
        assert_eq!(most.to_string(), "<ragged.RaggedTensor [[[], [97, 98, 32, 99]], [[]]]>", "{name}");
    }
}
