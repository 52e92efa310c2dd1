//! The access of the value loads of each operation that rearranges elements. A fast path that is lost because an index
//! is written in another way fails here.

use crate::graph::access::{Access, Counter, Digit, Inner, Order, Radix, RowsRef, Step};
use crate::graph::expr::ExprKind;
use crate::graph::node::{Node, Recipe};
use crate::graph::walk::for_each_expr;
use crate::tensor::Values;
use crate::{Device, HostTensor, HostValues, RaggedTensor, Tensor, s};

fn number(x: &Tensor) -> Node {
    match x.values_ref() {
        Values::Numbers(node) => node.clone(),
        Values::Strings { bytes, .. } => bytes.clone(),
    }
}

/// The accesses of the loads from `source` that compute the values of `x`, as text.
fn accesses(x: &Tensor, source: &Tensor) -> String {
    let (node, source) = (number(x), number(source));
    if node == source {
        return "all".into();
    }
    let recipe = node.recipe().expect("not evaluated");
    let value = match &*recipe {
        Recipe::Map(map) => &map.value,
        Recipe::Compact(compact) => &compact.value,
        Recipe::Append(append) => &append.parts[0].0,
        recipe => panic!("{recipe:?}"),
    };
    let mut found = Vec::new();
    for_each_expr(value, &mut |e| {
        if let ExprKind::Load(array, at) = e.kind()
            && *array == source
        {
            found.push(text(&at.access_in_program()));
        }
    });
    assert!(!found.is_empty(), "no load of the values: {value:?}");
    found.sort();
    let prefix = if let Recipe::Compact(_) = &*recipe { "compaction of " } else { "" };
    format!("{prefix}{}", found.join(", "))
}

fn text(access: &Access) -> String {
    match access {
        access if access.is_own() => "own".into(),
        Access::Run { step, .. } => format!("run by {step}"),
        Access::Fixed(_) => "fixed".into(),
        Access::Strided { digits, .. } => format!("strided {}", digits_text(digits)),
        Access::Row { inner, .. } => format!("row{}", inner_text(inner)),
        Access::Place { own, of, base, step, inner, .. } => {
            let (own, of) = (rows_text("own uniform", own), rows_text("of uniform", of));
            let base = if base.as_u32() == Some(0) { "" } else { " from base" };
            let step = match step {
                Step::Along(step) => format!("by {step}"),
                Step::Cyclic => "cyclic".into(),
                Step::Each(repeats) => format!("each {repeats}"),
            };
            format!("place {step}{base}{own}{of}{}", inner_text(inner))
        }
        Access::Lines { own_width, width, .. } => format!("lines {own_width} of {width}"),
        Access::Gathered { inner, order, .. } => {
            let order = match order {
                Order::Any => "",
                Order::Ascending => " ascending",
                Order::Permutation => " permutation",
            };
            format!("gathered{order}{}", inner_text(inner))
        }
        Access::Choice(_, of) => format!("{} | {}", text(&of[0]), text(&of[1])),
    }
}

fn rows_text(name: &str, rows: &RowsRef) -> String {
    match rows {
        RowsRef::Splits(_) => String::new(),
        RowsRef::Uniform(length) => format!(", {name} {}", radix_text(length)),
    }
}

fn inner_text(inner: &Inner) -> String {
    match inner {
        Inner { own: 1, width: 1, .. } => String::new(),
        Inner { own, width, digits } => format!(", {own} numbers from {width}: {}", digits_text(digits)),
    }
}

fn radix_text(radix: &Radix) -> String {
    match (&radix.size, radix.times) {
        (None, times) => times.to_string(),
        (Some(_), 1) => "n".into(),
        (Some(_), times) => format!("{times} n"),
    }
}

fn digits_text(digits: &[(i64, Digit)]) -> String {
    let digit = |(times, digit): &(i64, Digit)| {
        let counter = if digit.of == Counter::Position { "i" } else { "k" };
        let divisor = if digit.divisor == Radix::ONE { "".into() } else { format!("/{}", radix_text(&digit.divisor)) };
        let modulus = digit.modulus.as_ref().map_or(String::new(), |m| format!("%{}", radix_text(m)));
        format!("{times}*({counter}{divisor}{modulus})")
    };
    digits.iter().map(digit).collect::<Vec<_>>().join(" + ")
}

fn ragged(device: &Device) -> Tensor {
    RaggedTensor::from_nested(vec![vec![1, 2, 3], vec![], vec![4, 5]], device).expect("valid").into()
}

fn host(splits: &[u32], inner: &[usize], n: i32, device: &Device) -> Tensor {
    let x = HostTensor {
        nested_row_splits: if splits.is_empty() { vec![] } else { vec![splits.to_vec()] },
        uniform_row_lengths: if splits.is_empty() { vec![] } else { vec![None] },
        inner_shape: inner.to_vec(),
        values: HostValues::I32((0..n).collect()),
    };
    x.to_device(device).expect("valid")
}

#[test]
fn rearrangements_have_their_accesses() {
    let device = Device::cpu();
    let x = ragged(&device);
    let y: Tensor = RaggedTensor::from_nested(vec![vec![7], vec![8], vec![9, 9]], &device).expect("valid").into();
    let pairs = host(&[0, 3, 3, 5], &[5, 2], 10, &device);
    let dense = host(&[], &[2, 3], 6, &device);
    let (vector, scalar, line) =
        (host(&[], &[6], 6, &device), host(&[], &[], 1, &device), host(&[], &[1, 3], 3, &device));
    let cube = host(&[], &[2, 3, 4], 24, &device);
    let deep: Tensor = RaggedTensor::from_nested(vec![vec![vec![1, 2], vec![3]], vec![], vec![vec![4]]], &device)
        .expect("valid")
        .into();
    let ids: Tensor = RaggedTensor::from_nested(vec![2i64, 0], &device).expect("valid").into();
    let mask: Tensor = RaggedTensor::from_nested(vec![vec![true, false, true], vec![], vec![false, true]], &device)
        .expect("valid")
        .into();
    let rows: Tensor = RaggedTensor::from_nested(vec![true, false, true], &device).expect("valid").into();
    let column = host(&[], &[3, 1], 3, &device);
    let lengths: Tensor = RaggedTensor::from_nested(vec![2i64, 1], &device).expect("valid").into();
    let cases: Vec<(&str, Tensor, &Tensor, &str)> = vec![
        ("slice of rows", x.slice(s![1..]).unwrap(), &x, "run by 1"),
        ("slice in rows", x.slice(s![.., 1..]).unwrap(), &x, "place by 1 from base"),
        ("slice in rows by 2", x.slice(s![.., ..;2]).unwrap(), &x, "place by 2"),
        ("slice in rows, backwards", x.slice(s![.., ..;-1]).unwrap(), &x, "place by -1 from base"),
        ("slice in rows from the end", x.slice(s![.., -2..]).unwrap(), &x, "place by 1 from base"),
        (
            "slice of pairs",
            pairs.slice(s![.., 1..]).unwrap(),
            &pairs,
            "place by 1 from base, 2 numbers from 2: 1*(i%2)",
        ),
        ("slice in pairs", pairs.slice(s![.., .., 1..]).unwrap(), &pairs, "run by 2"),
        ("slice of a matrix", dense.slice(s![.., 1..]).unwrap(), &dense, "strided 3*(i/2) + 1*(i%2)"),
        ("slice of both levels", deep.slice(s![.., 1.., 1..]).unwrap(), &deep, "place by 1 from base"),
        ("reverse rows", dense.reverse(0).unwrap(), &dense, "strided -3*(i/3) + 1*(i%3)"),
        ("reverse a vector", vector.reverse(0).unwrap(), &vector, "run by -1"),
        ("reverse ragged rows", x.reverse(0).unwrap(), &x, "place by 1"),
        ("reverse in rows", x.reverse(1).unwrap(), &x, "place by -1 from base"),
        (
            "reverse in rows of pairs",
            pairs.reverse(1).unwrap(),
            &pairs,
            "place by -1 from base, 2 numbers from 2: 1*(i%2)",
        ),
        ("reverse in pairs", pairs.reverse(2).unwrap(), &pairs, "strided 2*(i/2) + -1*(i%2)"),
        ("reverse a matrix", dense.reverse(1).unwrap(), &dense, "strided 3*(i/3) + -1*(i%3)"),
        ("reverse inside", cube.reverse(1).unwrap(), &cube, "strided 12*(i/12) + -4*(i/4%3) + 1*(i%4)"),
        ("pad rows", x.pad_rows(2, 0, 1).unwrap(), &x, "place by 1"),
        ("pad rows of pairs", pairs.pad_rows(2, 0, 1).unwrap(), &pairs, "place by 1, 2 numbers from 2: 1*(i%2)"),
        ("crop", x.slice(s![.., ..2]).unwrap(), &x, "place by 1"),
        ("shift", x.shift(1, 0, 1).unwrap(), &x, "place by 1 from base"),
        ("shift to the front", x.shift(-1, 0, 1).unwrap(), &x, "place by 1 from base"),
        ("shift pairs", pairs.shift(1, 0, 1).unwrap(), &pairs, "place by 1 from base, 2 numbers from 2: 1*(i%2)"),
        ("shift a matrix", dense.shift(1, 0, 1).unwrap(), &dense, "run by 1"),
        ("roll", x.roll(1, 1).unwrap(), &x, "place by 1 from base | place by 1 from base"),
        ("tile a matrix", dense.tile(&[1, 2]).unwrap(), &dense, "strided 3*(i/6) + 1*(i%3)"),
        ("tile rows of a matrix", dense.tile(&[2, 1]).unwrap(), &dense, "strided 3*(i/3%n) + 1*(i%3)"),
        ("tile rows", x.tile(&[2, 1]).unwrap(), &x, "strided 1*(i%n)"),
        ("tile in rows", x.tile(&[1, 2]).unwrap(), &x, "place cyclic"),
        ("repeat rows of a matrix", dense.repeat(2, 0).unwrap(), &dense, "strided 3*(i/6) + 1*(i%3)"),
        ("repeat in a matrix", dense.repeat(2, 1).unwrap(), &dense, "strided 1*(i/2)"),
        ("repeat in rows", x.repeat(2, 1).unwrap(), &x, "place each 2"),
        ("repeat ragged rows", x.repeat(2, 0).unwrap(), &x, "place by 1"),
        ("concat of rows, first", Tensor::concat(&[&x, &y], 0).unwrap(), &x, "own"),
        ("concat of rows, second", Tensor::concat(&[&x, &y], 0).unwrap(), &y, "run by 1"),
        ("concat in rows, first", Tensor::concat(&[&x, &y], 1).unwrap(), &x, "place by 1"),
        ("concat in rows, second", Tensor::concat(&[&x, &y], 1).unwrap(), &y, "place by 1 from base"),
        (
            "concat of a tensor with itself",
            Tensor::concat(&[&x, &x], 1).unwrap(),
            &x,
            "place by 1 | place by 1 from base",
        ),
        (
            "concat of pairs",
            Tensor::concat(&[&pairs, &host(&[0, 1, 1, 1], &[1, 2], 2, &device)], 1).unwrap(),
            &pairs,
            "place by 1, 2 numbers from 2: 1*(i%2) | place by 1 from base, 2 numbers from 2: 1*(i%2)",
        ),
        ("gather rows of a matrix", dense.gather(&ids).unwrap(), &dense, "gathered, 3 numbers from 3: 1*(i%3)"),
        ("gather ragged rows", x.gather(&ids).unwrap(), &x, "place by 1"),
        ("broadcast of a number", scalar.broadcast_like(&x).unwrap(), &scalar, "fixed"),
        ("broadcast of a column", column.broadcast_like(&x).unwrap(), &column, "row"),
        ("broadcast of a row", line.broadcast_like(&dense).unwrap(), &line, "strided 1*(i%3)"),
        ("to_tensor", x.to_tensor(0).unwrap(), &x, "place by 1, own uniform n"),
        (
            "to_tensor of pairs",
            pairs.to_tensor(0).unwrap(),
            &pairs,
            "place by 1, own uniform n, 2 numbers from 2: 1*(i%2)",
        ),
        ("to_tensor of two levels", deep.to_tensor(0).unwrap(), &deep, "place by 1, own uniform n"),
        ("from_tensor", Tensor::from_tensor(&dense, 1).unwrap(), &dense, "all"),
        (
            "from_tensor with lengths",
            Tensor::from_tensor_with_lengths(&dense, &lengths, 1).unwrap(),
            &dense,
            "place by 1, of uniform 3",
        ),
        (
            "from_tensor with lengths, wide",
            Tensor::from_tensor_with_lengths(&cube, &lengths, 1).unwrap(),
            &cube,
            "place by 1, of uniform 3, 4 numbers from 4: 1*(i%4)",
        ),
        ("transpose", dense.transpose(..).unwrap(), &dense, "strided 3*(i%n) + 1*(i/n)"),
        ("transpose a cube", cube.transpose([1, 0, 2]).unwrap(), &cube, "strided 12*(i/4%n) + 4*(i/4 n) + 1*(i%4)"),
        ("transpose rows", x.transpose_rows().unwrap(), &x, "gathered permutation"),
        ("windows", x.sliding_windows(2, 1).unwrap(), &x, "place by 1, 2 numbers from 1: 1*(i%2)"),
        ("windows of pairs", pairs.sliding_windows(2, 1).unwrap(), &pairs, "place by 1, 4 numbers from 2: 1*(i%4)"),
        ("context windows", x.context_windows(3, 0, 1).unwrap(), &x, "strided 1*(i/3) + 1*(i%3)"),
        ("mask", x.boolean_mask(&mask).unwrap(), &x, "compaction of own"),
        ("mask of rows", x.boolean_mask(&rows).unwrap(), &x, "place by 1"),
    ];
    let mut wrong = Vec::new();
    for (name, result, source, expected) in cases {
        let found = accesses(&result, source);
        if found != expected {
            wrong.push(format!("(\"{name}\") expected \"{expected}\", found \"{found}\""));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
