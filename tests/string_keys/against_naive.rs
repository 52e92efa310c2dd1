//! Every operation with keys, against loops.

use std::collections::{BTreeMap, BTreeSet};

use ragged::opt::{descending, right_of};
use ragged::{DType, Device, Program, RaggedTensor, Result, Str, Tensor, TensorSpec, s};

use crate::common::devices;
use crate::common::naive::{Rows, rows};
use crate::samples::{Text, computed, large, on, small};

fn strings(x: Result<RaggedTensor<Str>>) -> Rows<Text> {
    rows::<Str>(&x.expect("recorded").to_host().expect("computed"))
}

fn integers(x: Result<RaggedTensor<i64>>) -> Rows<i64> {
    rows::<i64>(&x.expect("recorded").to_host().expect("computed"))
}

/// The result of `f` for each row.
fn each<T>(x: &[Vec<Text>], f: impl Fn(&[Text]) -> T) -> Vec<T> {
    x.iter().map(|row| f(row)).collect()
}

/// As [`each`], for lists.
fn lists<T>(x: &[Vec<Text>], f: impl Fn(&[Text]) -> Vec<T>) -> Rows<T> {
    each(x, f)
}

/// The order of a stable sort.
fn order(row: &[Text], is_descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| if is_descending { row[b].cmp(&row[a]) } else { row[a].cmp(&row[b]) });
    order
}

fn counted(row: &[Text]) -> BTreeMap<Text, i64> {
    let mut counts = BTreeMap::new();
    row.iter().for_each(|text| *counts.entry(text.clone()).or_insert(0) += 1);
    counts
}

fn runs(row: &[Text]) -> Vec<(Text, i64)> {
    row.chunk_by(|a, b| a == b).map(|run| (run[0].clone(), run.len() as i64)).collect()
}

fn first_of(row: &[Text], text: Option<&Text>) -> i64 {
    text.and_then(|text| row.iter().position(|t| t == text)).map_or(-1, |k| k as i64)
}

fn check(what: &str, x: &[Vec<Text>], t: &RaggedTensor<Str>) {
    for is_descending in [false, true] {
        let axis = || if is_descending { descending(1) } else { 1.into() };
        let sorted = lists(x, |row| order(row, is_descending).iter().map(|&k| row[k].clone()).collect());
        assert!(strings(t.sort(axis())) == sorted, "sort of {what}");
        let indices = lists(x, |row| order(row, is_descending).iter().map(|&k| k as i64).collect());
        assert!(integers(t.argsort(axis())) == indices, "argsort of {what}");
    }
    let distinct = lists(x, |row| counted(row).into_keys().collect());
    assert!(strings(t.unique(1)) == distinct, "unique of {what}");
    let (values, counts) = t.unique_with_counts(1).expect("recorded");
    assert!(strings(Ok(values)) == distinct, "unique_with_counts of {what}");
    assert!(integers(Ok(counts)) == lists(x, |row| counted(row).into_values().collect()), "counts of {what}");
    let numbers = |x: Result<RaggedTensor<i64>>| x.expect("recorded").to_vec().expect("computed");
    assert!(numbers(t.n_unique(1)) == each(x, |row| counted(row).len() as i64), "n_unique of {what}");
    let (values, lengths) = t.run_lengths().expect("recorded");
    assert!(strings(Ok(values)) == lists(x, |row| runs(row).into_iter().map(|r| r.0).collect()), "runs of {what}");
    assert!(integers(Ok(lengths)) == lists(x, |row| runs(row).into_iter().map(|r| r.1).collect()), "runs of {what}");
    let texts = |x: Result<RaggedTensor<Str>>| x.expect("recorded").to_vec().expect("computed");
    let extreme = |x: Option<&Text>| x.cloned().unwrap_or_default();
    assert!(texts(t.reduce_min(1)) == each(x, |row| extreme(row.iter().min())), "reduce_min of {what}");
    assert!(texts(t.reduce_max(1)) == each(x, |row| extreme(row.iter().max())), "reduce_max of {what}");
    assert!(texts(t.reduce_max(..)) == [extreme(x.iter().flatten().max())], "reduce_max of all of {what}");
    assert!(numbers(t.argmin(1)) == each(x, |row| first_of(row, row.iter().min())), "argmin of {what}");
    assert!(numbers(t.argmax(1)) == each(x, |row| first_of(row, row.iter().max())), "argmax of {what}");
    for k in [3, 20] {
        let top = |row: &[Text]| order(row, true).into_iter().take(k).collect::<Vec<_>>();
        let (values, indices) = t.top_k(k, 1).expect("recorded");
        assert!(
            strings(Ok(values)) == lists(x, |row| top(row).iter().map(|&k| row[k].clone()).collect()),
            "top {what}"
        );
        assert!(integers(Ok(indices)) == lists(x, |row| top(row).iter().map(|&k| k as i64).collect()), "top {what}");
    }
    check_groups(what, x, t);
}

fn check_groups(what: &str, x: &[Vec<Text>], t: &RaggedTensor<Str>) {
    let number: RaggedTensor<i64> = t.string_length().expect("recorded").cast().expect("recorded");
    let (keys, groups) = number.group_by_key(t).expect("recorded");
    assert!(strings(Ok(keys)) == lists(x, |row| counted(row).into_keys().collect()), "keys of {what}");
    let sums = groups.reduce_sum(2);
    let want = lists(x, |row| counted(row).iter().map(|(text, n)| text.len() as i64 * n).collect());
    assert!(integers(sums) == want, "groups of {what}");
    // By the length, and by the string where that is equal.
    let ((lengths, keys), groups) = number.group_by_key((&number, t)).expect("recorded");
    let by_both = |row: &[Text]| -> Vec<(usize, Text)> {
        let distinct: BTreeSet<(usize, Text)> = row.iter().map(|text| (text.len(), text.clone())).collect();
        distinct.into_iter().collect()
    };
    let want = lists(x, |row| by_both(row).into_iter().map(|key| key.0 as i64).collect());
    assert!(integers(Ok(lengths)) == want, "lengths as keys of {what}");
    let want = lists(x, |row| by_both(row).into_iter().map(|key| key.1).collect());
    assert!(strings(Ok(keys)) == want, "second keys of {what}");
    let counts = groups.row_lengths(2).expect("recorded");
    let want = lists(x, |row| by_both(row).iter().map(|key| counted(row)[&key.1]).collect());
    assert!(integers(Ok(counts)) == want, "sizes of groups by both of {what}");
}

fn check_pairs(what: &str, x: &[Vec<Text>], y: &[Vec<Text>], a: &RaggedTensor<Str>, b: &RaggedTensor<Str>) {
    let pairs =
        |f: fn(&[Text], &[Text]) -> Vec<Text>| -> Rows<Text> { x.iter().zip(y).map(|(x, y)| f(x, y)).collect() };
    let union = pairs(|x, y| counted(&[x, y].concat()).into_keys().collect());
    assert!(strings(a.set_union(b)) == union, "union of {what}");
    let both = pairs(|x, y| counted(x).into_keys().filter(|text| y.contains(text)).collect());
    assert!(strings(a.set_intersection(b)) == both, "intersection of {what}");
    let difference = pairs(|x, y| counted(x).into_keys().filter(|text| !y.contains(text)).collect());
    assert!(strings(a.set_difference(b)) == difference, "difference of {what}");
    let sorted = a.sort(1).expect("recorded");
    let below = |x: &[Text], text: &Text, or_equal: bool| {
        x.iter().filter(|t| *t < text || or_equal && *t == text).count() as i64
    };
    for (or_equal, found) in [(false, sorted.searchsorted(b)), (true, sorted.searchsorted(right_of(b)))] {
        let want: Rows<i64> =
            x.iter().zip(y).map(|(x, y)| y.iter().map(|text| below(x, text, or_equal)).collect()).collect();
        assert!(integers(found) == want, "searchsorted of {what}");
    }
}

fn check_on(device: &Device, name: &str, what: &str, x: &[Vec<Text>]) {
    check(&format!("{what} on {name}"), x, &on(x, device));
    check(&format!("{what}, computed, on {name}"), x, &computed(x, device));
}

#[test]
fn rows_of_strings() {
    for (name, device) in devices() {
        for (what, x) in small() {
            check_on(&device, &name, what, &x);
        }
    }
}

#[test]
fn many_strings_and_long_ones() {
    for (name, device) in devices() {
        for (what, x) in large() {
            for (t, made) in [(on(&x, &device), "uploaded"), (computed(&x, &device), "computed")] {
                let sorted = lists(&x, |row| order(row, false).iter().map(|&k| row[k].clone()).collect());
                assert!(strings(t.sort(1)) == sorted, "sort of {what}, {made}, on {name}");
            }
        }
    }
}

#[test]
fn programs_that_are_traced_for_any_strings() -> Result<()> {
    let words = TensorSpec::new(DType::Str, [None, None]).ragged_rank(1);
    let program = Program::trace(&[words], |x| Ok([x[0].sort(1)?, x[0].unique(1)?, x[0].reduce_max(1)?]))?;
    for (name, device) in devices() {
        for (what, x) in small() {
            for t in [on(&x, &device), computed(&x, &device)] {
                let found = program.run(&t)?;
                for (found, want) in found.iter().zip([t.sort(1)?, t.unique(1)?, t.reduce_max(1)?]) {
                    assert!(found.to_host()? == want.to_host()?, "{what} on {name}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn pairs_of_rows() {
    for (name, device) in devices() {
        for (what, x) in small() {
            let mut y: Rows<Text> = x.iter().rev().cloned().collect();
            y.iter_mut().for_each(|row| row.push(b"a\0".to_vec()));
            let (a, b) = (on(&x, &device), on(&y, &device));
            check_pairs(&format!("{what} on {name}"), &x, &y, &a, &b);
            let (a, b) = (computed(&x, &device), computed(&y, &device));
            check_pairs(&format!("{what}, computed, on {name}"), &x, &y, &a, &b);
        }
    }
}

#[test]
fn other_axes_and_dense_tensors() -> Result<()> {
    for (name, device) in devices() {
        let x = RaggedTensor::<Str>::from_nested([vec!["c", "b", "a"], vec![], vec!["a", "bb"]], &device)?;
        assert_eq!(x.sort(0)?.to_string(), "<ragged.RaggedTensor [[b'a', b'b', b'a'], [], [b'c', b'bb']]>", "{name}");
        assert_eq!(x.reduce_min(0)?.to_string(), "tensor([b'a', b'b', b'a'], shape=(3,), dtype=str)", "{name}");
        assert_eq!(x.n_unique(0)?.to_vec()?, [2, 2, 1], "{name}");
        assert_eq!(x.argmax(0)?.to_vec()?, [0, 2, 0], "{name}");
        let dense = RaggedTensor::<Str>::from_nested([["b", "a"], ["", "c"]], &device)?;
        assert_eq!(
            dense.sort(1)?.to_string(),
            "tensor([[b'a', b'b'], [b'', b'c']], shape=(2, 2), dtype=str)",
            "{name}"
        );
        assert_eq!(
            dense.sort(0)?.to_string(),
            "tensor([[b'', b'a'], [b'b', b'c']], shape=(2, 2), dtype=str)",
            "{name}"
        );
        assert_eq!(dense.reduce_max(..)?.to_string(), "tensor(b'c', shape=(), dtype=str)", "{name}");
        let words = RaggedTensor::<Str>::from_nested(["b", "a", "b"], &device)?;
        assert_eq!(words.unique(0)?.to_string(), "tensor([b'a', b'b'], shape=(2,), dtype=str)", "{name}");
        let (keys, groups) = words.group_by_key(&words)?;
        assert_eq!(keys.to_vec()?, [b"a".to_vec(), b"b".to_vec()], "{name}");
        assert_eq!(groups.to_string(), "<ragged.RaggedTensor [[b'a'], [b'b', b'b']]>", "{name}");
        // A row in which no dimension is known.
        let erased: &Tensor = words.erased();
        assert_eq!(erased.slice(s![0])?.reduce_min(..)?.to_string(), "tensor(b'b', shape=(), dtype=str)", "{name}");
    }
    Ok(())
}
