//! Broadcasting, compared with nested lists, over ragged and uniform dimensions up to ragged rank 3.

mod common;

use common::fused_and_not;
use common::outcome::{bits, outcome};
use proptest::prelude::*;
use ragged::{Device, Error, HostTensor, HostValues, Result, Tensor};

/// A tensor as nested lists, with its dimensions.
#[derive(Debug, Clone)]
struct Nested {
    /// The size of each dimension; `None` if ragged.
    dims: Vec<Option<usize>>,
    root: Tree,
}

#[derive(Debug, Clone)]
enum Tree {
    Leaf(i64),
    Rows(Vec<Tree>),
}

impl Tree {
    fn rows(&self) -> &[Tree] {
        match self {
            Tree::Rows(rows) => rows,
            Tree::Leaf(_) => &[],
        }
    }
}

/// A generator of random numbers from a seed, which proptest shrinks.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// Random rows, with the lengths of `like` if it is given.
fn tree(dims: &[Option<usize>], like: Option<&Tree>, random: &mut Random) -> Tree {
    let Some((first, rest)) = dims.split_first() else { return Tree::Leaf(random.below(100) as i64) };
    let shared = like.filter(|t| matches!(t, Tree::Rows(_)));
    let len = first.unwrap_or_else(|| shared.map_or_else(|| random.below(4), |t| t.rows().len()));
    Tree::Rows((0..len).map(|i| tree(rest, shared.and_then(|t| t.rows().get(i)), random)).collect())
}

/// Two tensors that broadcast: in each dimension they have the same size, or one of them has size 1.
fn pair(random: &mut Random) -> (Nested, Nested) {
    let rank = 1 + random.below(4);
    let mut dims: Vec<Option<usize>> = (0..rank).map(|_| [None, Some(2), Some(1), Some(3)][random.below(4)]).collect();
    dims[0] = Some(random.below(4));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut shared = true;
    for dim in dims {
        // Below a dimension in which they differ, only one tensor may have sizes other than 1.
        let choice = if shared { random.below(4) } else { 1 + random.below(2) };
        shared &= choice == 0 || choice == 3;
        a.push(if choice == 2 { Some(1) } else { dim });
        b.push(if choice == 1 { Some(1) } else { dim });
    }
    let root = tree(&a, None, random);
    let a = Nested { root, dims: a };
    let root = tree(&b, Some(&a.root), random);
    let mut b = Nested { root, dims: b };
    // Leading dimensions of size 1 may be omitted, down to a uniform dimension.
    while b.dims.first() == Some(&Some(1)) && b.dims.get(1) != Some(&None) && random.below(2) == 0 {
        b.dims.remove(0);
        b.root = b.root.rows()[0].clone();
    }
    (a, b)
}

/// The definition of broadcasting.
fn naive(a: &Tree, b: &Tree) -> Tree {
    match (a, b) {
        (Tree::Leaf(a), Tree::Leaf(b)) => Tree::Leaf(1000 * a + b),
        _ => {
            let (x, y) = (a.rows(), b.rows());
            let len = if x.len() == 1 { y.len() } else { x.len() };
            let at = |rows: &[Tree], i: usize| rows[if rows.len() == 1 { 0 } else { i }].clone();
            Tree::Rows((0..len).map(|i| naive(&at(x, i), &at(y, i))).collect())
        }
    }
}

/// The tensor with partitions down to its last ragged dimension, at least `levels` of them.
fn host(t: &Nested, levels: usize) -> HostTensor {
    let levels = t.dims.iter().rposition(Option::is_none).unwrap_or(0).max(levels);
    let mut level: Vec<&Tree> = t.root.rows().iter().collect();
    let (mut nested_row_splits, mut uniform_row_lengths) = (Vec::new(), Vec::new());
    for d in 1..=levels {
        let mut splits = vec![0];
        level.iter().for_each(|t| splits.push(splits[splits.len() - 1] + t.rows().len() as u32));
        nested_row_splits.push(splits);
        uniform_row_lengths.push(t.dims[d].map(|n| n as u32));
        level = level.into_iter().flat_map(|t| t.rows()).collect();
    }
    let mut inner_shape = if t.dims.is_empty() { Vec::new() } else { vec![level.len()] };
    inner_shape.extend(t.dims.iter().skip(levels + 1).map(|d| d.expect("uniform below the last ragged one")));
    let mut values = Vec::new();
    fn leaves(t: &Tree, to: &mut Vec<i64>) {
        match t {
            Tree::Leaf(v) => to.push(*v),
            Tree::Rows(rows) => rows.iter().for_each(|r| leaves(r, to)),
        }
    }
    leaves(&t.root, &mut values);
    HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values: HostValues::I64(values) }
}

/// `t` with leading dimensions of size 1.
fn deepened(t: &Nested, rank: usize) -> Nested {
    let mut out = t.clone();
    while out.dims.len() < rank {
        out.dims.insert(0, Some(1));
        out.root = Tree::Rows(vec![out.root]);
    }
    out
}

fn check(a: &Nested, b: &Nested) {
    let rank = a.dims.len().max(b.dims.len());
    let (x, y) = (deepened(a, rank), deepened(b, rank));
    let dims = x.dims.iter().zip(&y.dims).map(|(x, y)| if *x == Some(1) { *y } else { *x }).collect();
    let result = Nested { root: naive(&x.root, &y.root), dims };
    let want = host(&result, 0);
    for device in [Device::cpu(), Device::cpu_unfused()] {
        let on = |t: &Nested| host(t, 0).to_device(&device).expect("an upload");
        let got = (on(a) * 1000i64).and_then(|scaled| scaled + on(b)).and_then(|sum| sum.to_host());
        let got = got.unwrap_or_else(|e| panic!("{e}\n{a:?}\n{b:?}"));
        assert_eq!(got.nested_row_splits, want.nested_row_splits, "{a:?}\n{b:?}");
        assert_eq!(got.inner_shape, want.inner_shape, "{a:?}\n{b:?}");
        assert_eq!(got.values, want.values, "{a:?}\n{b:?}");
        let swapped = on(b).add(&on(a).multiply(1000i64).expect("a product")).and_then(|sum| sum.to_host());
        assert_eq!(swapped.expect("a sum").values, want.values, "{a:?}\n{b:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_nested_lists(seed in any::<u64>()) {
        let (a, b) = pair(&mut Random(seed));
        check(&a, &b);
    }
}

fn ragged(splits: &[&[u32]], values: &[i64]) -> HostTensor {
    HostTensor {
        nested_row_splits: splits.iter().map(|s| s.to_vec()).collect(),
        uniform_row_lengths: vec![None; splits.len()],
        inner_shape: vec![values.len()],
        values: HostValues::I64(values.to_vec()),
    }
}

/// Repeating the outer dimension gives device-known partitions.
#[test]
fn device_known_partitions_are_compared_on_the_device() {
    for device in [Device::cpu(), Device::cpu_unfused()] {
        let column = HostTensor::dense(&[2, 1, 1], HostValues::I64(vec![100, 200])).to_device(&device).unwrap();
        let x = ragged(&[&[0, 2, 3]], &[1, 2, 3]).to_device(&device).unwrap();
        let same = ragged(&[&[0, 2, 3]], &[10, 20, 30]).to_device(&device).unwrap();
        let other = ragged(&[&[0, 1, 3]], &[10, 20, 30]).to_device(&device).unwrap();
        let (x, same, other) = ((&x + &column).unwrap(), (same + &column).unwrap(), (other + &column).unwrap());
        let sum = (&x + &same).unwrap().to_host().unwrap();
        assert_eq!(sum.nested_row_splits, [vec![0, 2, 4], vec![0, 2, 3, 5, 6]]);
        assert_eq!(sum.values, HostValues::I64(vec![211, 222, 233, 411, 422, 433]));
        let sum = (&x + &other).unwrap();
        assert!(matches!(sum.to_host(), Err(Error::Check { op: "add", at: 0, .. })), "{:?}", sum.to_host());
        // The operands stay valid.
        assert_eq!(x.to_host().unwrap().values, HostValues::I64(vec![101, 102, 103, 201, 202, 203]));
    }
}

#[test]
fn host_known_mismatches_fail_at_the_call() {
    let cpu = Device::cpu();
    let on = |t: HostTensor| t.to_device(&cpu).unwrap();
    let x = on(ragged(&[&[0, 2, 3]], &[1, 2, 3]));
    let dense = |shape: &[usize]| on(HostTensor::dense(shape, HostValues::I64(vec![0; shape.iter().product()])));
    for (other, words) in [
        (
            on(ragged(&[&[0, 2, 4]], &[1, 2, 3, 4])),
            "in ragged dimension 1, row 1 has 1 element on the left, 2 on the right",
        ),
        (on(ragged(&[&[0, 2, 3, 3]], &[1, 2, 3])), "2 and 3 elements along dimension 0"),
        (dense(&[2, 2]), "row 1 of dimension 1 has 1 elements on the left, 2 on the right"),
        (dense(&[2]), "of size 2 below a repeated dimension"),
        (dense(&[3, 1]), "2 and 3 elements along dimension 0"),
    ] {
        let error = (&x + &other).unwrap_err();
        assert!(matches!(error, Error::Shape { op: "add", .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let huge = (dense(&[70_000, 1, 0]), dense(&[1, 70_000, 1]));
    assert_eq!((huge.0 + huge.1).unwrap().to_host().unwrap().inner_shape, [70_000, 70_000, 0]);
    let wide = (dense(&[70_000, 1]), dense(&[1, 70_000]));
    assert!(matches!((wide.0 + wide.1).unwrap_err(), Error::Limit { .. }));
}

#[test]
fn equal_partitions_are_shared() {
    let cpu = Device::cpu();
    let x = ragged(&[&[0, 2, 3]], &[1, 2, 3]).to_device(&cpu).unwrap();
    let column = HostTensor::dense(&[2, 1], HostValues::I64(vec![1, 2])).to_device(&cpu).unwrap();
    let y = (&column * &x).unwrap();
    assert_eq!((&y - &x).unwrap().to_host().unwrap().values, HostValues::I64(vec![0, 0, 3]));
}

#[test]
fn broadcast_like_another_tensor() {
    let cpu = Device::cpu();
    let dense = |shape: &[usize], values: &[i64]| HostTensor::dense(shape, HostValues::I64(values.to_vec()));
    let like = |x: &HostTensor, y: &HostTensor| {
        let (x, y) = (x.to_device(&cpu).unwrap(), y.to_device(&cpu).unwrap());
        x.broadcast_like(&y).and_then(|t| t.to_host())
    };
    let rows = ragged(&[&[0, 2, 3]], &[0; 3]);
    let pairs = ragged(&[&[0, 2, 4]], &[0; 4]);
    assert_eq!(like(&dense(&[2, 1], &[1, 2]), &rows).unwrap(), ragged(&[&[0, 2, 3]], &[1, 1, 2]));
    assert_eq!(like(&dense(&[2], &[1, 2]), &pairs).unwrap(), ragged(&[&[0, 2, 4]], &[1, 2, 1, 2]));
    assert_eq!(like(&dense(&[], &[5]), &rows).unwrap(), ragged(&[&[0, 2, 3]], &[5, 5, 5]));
    assert_eq!(like(&pairs, &dense(&[2, 2], &[0; 4])).unwrap(), dense(&[2, 2], &[0; 4]));
    assert!(like(&rows, &dense(&[2, 1, 1], &[0; 2])).is_err());
    assert!(like(&rows, &pairs).is_err());
    assert!(like(&rows, &dense(&[2, 2], &[0; 4])).is_err());
    assert!(like(&dense(&[3], &[0; 3]), &dense(&[1], &[0])).is_err());
    assert!(like(&dense(&[1, 1], &[0]), &dense(&[1], &[0])).is_err());
    // No element can be repeated to fill a size of 1; an element repeated 0 times is none.
    for (none, one) in
        [(vec![0], vec![1]), (vec![3, 0], vec![3, 1]), (vec![3, 0], vec![1, 1]), (vec![2, 0, 4], vec![2, 1, 4])]
    {
        let element = dense(&one, &vec![7; one.iter().product()]);
        assert!(like(&dense(&none, &[]), &element).is_err(), "{none:?} to {one:?}");
        assert_eq!(like(&element, &dense(&none, &[])).unwrap(), dense(&none, &[]), "{one:?} to {none:?}");
    }
    let words = HostTensor::dense(&[2, 1], HostValues::Str(vec![b"ab".to_vec(), b"c".to_vec()]));
    let repeated = HostValues::Str(vec![b"ab".to_vec(), b"ab".to_vec(), b"c".to_vec()]);
    assert_eq!(like(&words, &rows).unwrap().values, repeated);
}

#[test]
fn fewer_dimensions_are_reported_before_other_mismatches() {
    let cpu = Device::cpu();
    let x = ragged(&[&[0, 2], &[0, 1, 3]], &[1, 2, 3]).to_device(&cpu).unwrap();
    let keep = HostTensor::dense(&[2], HostValues::Bool(vec![true, false])).to_device(&cpu).unwrap();
    // One row is left, as only the device knows; the second mask has more.
    let mut y = ragged(&[&[0, 2, 3]], &[0; 3]).to_device(&cpu).unwrap();
    for _ in 0..2 {
        y = y.boolean_mask(&keep).unwrap();
    }
    assert!(matches!(y.to_host(), Err(Error::Check { .. })));
    let error = x.broadcast_like(&y).unwrap_err();
    assert!(error.to_string().contains("the first one is larger"), "{error}");
}

/// The tensor with device-known partitions and a device-known number of rows.
fn unknown(x: &HostTensor, device: &Device) -> Result<Tensor> {
    let rows = x.nested_row_splits.first().map_or_else(|| x.inner_shape[0], |splits| splits.len() - 1);
    let first = HostTensor::dense(&[], HostValues::I64(vec![0])).to_device(device)?;
    Tensor::from_row_lengths(&x.to_device(device)?, [rows])?.row_at(&first)
}

/// Whether the dimensions are compatible.
fn fit(a: &Tree, b: &Tree) -> bool {
    match (a, b) {
        (Tree::Leaf(_), _) | (_, Tree::Leaf(_)) => true,
        _ => {
            let (x, y) = (a.rows(), b.rows());
            let len = if x.len() == 1 { y.len() } else { x.len() };
            let at = |rows: &[Tree], i: usize| rows[if rows.len() == 1 { 0 } else { i }].clone();
            (x.len() == y.len() || x.len() == 1 || y.len() == 1) && (0..len).all(|i| fit(&at(x, i), &at(y, i)))
        }
    }
}

/// Where only the device can compare sizes, all devices agree on whether there is an error, and of which kind: an error
/// if sizes are incompatible, none if all lengths are equal.
#[test]
fn device_known_mismatches_fail_at_the_read() {
    let (mut fitted, mut failed) = (0, 0);
    for seed in 0..200 {
        let mut random = Random(seed);
        let (a, mut b) = pair(&mut random);
        if b.dims.is_empty() {
            continue;
        }
        let same = random.below(4) == 0;
        if !same {
            b.root = tree(&b.dims, None, &mut random);
        }
        let rank = a.dims.len().max(b.dims.len());
        let known = random.below(4);
        let run = |device: &Device| {
            let on = |t: &Nested, known: bool| match known {
                true => host(t, 0).to_device(device),
                false => unknown(&host(t, 0), device),
            };
            (on(&a, known == 1)? * 1000i64)?.add(&on(&b, known == 2)?)?.to_host()
        };
        let want = run(&Device::cpu());
        if !fit(&deepened(&a, rank).root, &deepened(&b, rank).root) {
            assert!(want.is_err(), "{a:?}\n{b:?}");
        }
        // A device-known number of rows is not broadcast, even if it is 1.
        let repeats = a.dims.len() == b.dims.len() && a.root.rows().len() != b.root.rows().len();
        if same && !repeats {
            let (x, y) = (deepened(&a, rank), deepened(&b, rank));
            let sum = Nested { root: naive(&x.root, &y.root), dims: vec![Some(1); rank] };
            let values = host(&sum, 0).values;
            assert!(matches!(&want, Ok(got) if got.values == values), "{want:?}\n{a:?}\n{b:?}");
        }
        for (name, device) in fused_and_not().iter().skip(1) {
            let got = run(device);
            assert_eq!(outcome(&got, bits), outcome(&want, bits), "{name}, {got:?}, {want:?}\n{a:?}\n{b:?}");
        }
        if want.is_ok() { fitted += 1 } else { failed += 1 }
    }
    assert!(fitted > 20 && failed > 20, "{fitted} fitted, {failed} did not");
}
