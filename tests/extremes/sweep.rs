//! Reductions and row functions over every pair and triple of special values, compared with naive twins.

use ragged::opt::descending;
use ragged::{Tensor, bf16, f16};

use crate::everywhere::{Float, floats, rows, values};

/// The special values of a float type.
fn specials<T: Float>(most: f64, least: f64) -> Vec<f64> {
    let inf = f64::INFINITY;
    vec![-inf, -most, -1.0, -least, -0.0, 0.0, least, 1.0, most, inf, f64::NAN]
}

/// Every row of one, two and three of the values, and an empty one.
fn all_rows(values: &[f64]) -> Vec<Vec<f64>> {
    let mut out = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..3 {
        let to = out.len();
        for k in from..to {
            out.extend(values.iter().map(|&v| [out[k].clone(), vec![v]].concat()).collect::<Vec<_>>());
        }
        from = to;
    }
    out
}

/// The order of a sort: NaN last, zeros equal.
fn order(a: f64, b: f64) -> std::cmp::Ordering {
    a.is_nan().cmp(&b.is_nan()).then(a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal))
}

fn bits(x: f64) -> u64 {
    if x.is_nan() { u64::MAX } else { x.to_bits() }
}

fn same(name: &str, all: &[Vec<f64>], got: &[f64], want: impl Fn(&[f64]) -> f64) {
    assert_eq!(got.len(), all.len(), "{name}");
    for (row, &got) in all.iter().zip(got) {
        let want = want(row);
        assert_eq!(bits(got), bits(want), "{name} of {row:?}: {got:?}, not {want:?}");
    }
}

fn nans(row: &[f64]) -> bool {
    row.iter().any(|x| x.is_nan())
}

fn reductions<T: Float>(most: f64, least: f64) {
    let all = all_rows(&specials::<T>(most, least));
    let x: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
    let narrow = T::DTYPE.size() < 4;
    // f16 and bf16 are summed in f32 and rounded once; f32 and f64 round every sum.
    let add = |a: f64, b: f64| if narrow { f64::from(a as f32 + b as f32) } else { T::of(a + b).wide() };
    let name = |op: &str| format!("{op} of {}", T::DTYPE);
    let reduce = |op: fn(&Tensor) -> ragged::Result<Tensor>| floats::<T>(&x, op);

    same(&name("sum"), &all, &reduce(|x| x.reduce_sum(1)), |r| T::of(r.iter().fold(0.0, |a, &b| add(a, b))).wide());
    let mean = |r: &[f64]| {
        let sum = r.iter().fold(0.0, |a, &b| add(a, b));
        let n = r.len() as f64;
        T::of(if narrow { f64::from(sum as f32 / n as f32) } else { sum / n }).wide()
    };
    same(&name("mean"), &all, &reduce(|x| x.reduce_mean(1)), mean);
    let extreme = |r: &[f64], sign: f64| {
        let least = |a: f64, b: f64| if (sign * a).total_cmp(&(sign * b)).is_lt() { a } else { b };
        if nans(r) { f64::NAN } else { r.iter().copied().reduce(least).unwrap_or(sign * T::of(most).wide()) }
    };
    same(&name("min"), &all, &reduce(|x| x.reduce_min(1)), |r| extreme(r, 1.0));
    same(&name("max"), &all, &reduce(|x| x.reduce_max(1)), |r| extreme(r, -1.0));

    let index = |op: fn(&Tensor) -> ragged::Result<Tensor>| -> Vec<f64> {
        values::<i64>(|d| op(rows::<T>(&x, d)?.erased())).iter().map(|&i| i as f64).collect()
    };
    let place = |r: &[f64], sign: f64| {
        let found = |k: usize| r.iter().all(|&v| r[k].is_nan() || !(v.is_nan() || sign * v < sign * r[k]));
        (0..r.len()).find(|&k| found(k)).map_or(-1.0, |k| k as f64)
    };
    same(&name("argmin"), &all, &index(|x| x.argmin(1)), |r| place(r, 1.0));
    same(&name("argmax"), &all, &index(|x| x.argmax(1)), |r| place(r, -1.0));
    same(&name("count_nonzero"), &all, &index(|x| x.count_nonzero(1)), |r| {
        r.iter().filter(|&&v| v != 0.0).count() as f64
    });
    let distinct = |r: &[f64]| {
        let mut r = r.to_vec();
        r.sort_by(|&a, &b| order(a, b));
        r.dedup_by(|a, b| order(*a, *b).is_eq());
        r.len() as f64
    };
    same(&name("n_unique"), &all, &index(|x| x.n_unique(1)), distinct);

    let median = |r: &[f64]| {
        if nans(r) || r.is_empty() {
            return f64::NAN;
        }
        let mut r = r.to_vec();
        r.sort_by(|&a, &b| order(a, b));
        let (a, b) = (r[(r.len() - 1) / 2], r[r.len() / 2]);
        // The halves of two finite values have no sum beyond them.
        let between = if a.is_infinite() || b.is_infinite() { a + b } else { a / 2.0 + b / 2.0 };
        if a == b { a } else { T::of(between).wide() }
    };
    let got = reduce(|x| x.median(1));
    for (row, &got) in all.iter().zip(&got) {
        let want = median(row);
        // Halves of the least magnitude are rounded: a zero, or the least magnitude.
        let near = got.is_nan() && want.is_nan() || got == want || (got - want).abs() <= least;
        assert!(near, "{} of {row:?}: {got:?}, not {want:?}", name("median"));
    }
}

fn row_functions<T: Float>(most: f64, least: f64) {
    let all = all_rows(&specials::<T>(most, least));
    let x: Vec<&[f64]> = all.iter().map(Vec::as_slice).collect();
    let flat = |f: &dyn Fn(&[f64]) -> Vec<f64>| -> Vec<u64> { all.iter().flat_map(|r| f(r)).map(bits).collect() };
    let run =
        |op: fn(&Tensor) -> ragged::Result<Tensor>| -> Vec<u64> { floats::<T>(&x, op).into_iter().map(bits).collect() };
    let sorted = |r: &[f64]| {
        let mut r = r.to_vec();
        r.sort_by(|&a, &b| order(a, b));
        r
    };
    let descends = |r: &[f64]| {
        let mut r = r.to_vec();
        r.sort_by(|&a, &b| a.is_nan().cmp(&b.is_nan()).then(order(b, a)));
        r
    };
    assert_eq!(run(|x| x.sort(1)), flat(&sorted), "sort of {}", T::DTYPE);
    assert_eq!(run(|x| x.sort(descending(1))), flat(&descends), "descending sort of {}", T::DTYPE);
    assert_eq!(run(|x| Ok(x.top_k(3, 1)?.0)), flat(&descends), "top_k of {}", T::DTYPE);
    let unique = |r: &[f64]| {
        let mut r = sorted(r);
        r.dedup_by(|a, b| order(*a, *b).is_eq());
        r
    };
    assert_eq!(run(|x| x.unique(1)), flat(&unique), "unique of {}", T::DTYPE);
    assert_eq!(run(|x| x.set_union(x)), flat(&unique), "union of {}", T::DTYPE);
    assert_eq!(run(|x| x.set_intersection(x)), flat(&unique), "intersection of {}", T::DTYPE);
    assert_eq!(run(|x| x.set_difference(x)), [0u64; 0], "difference of {}", T::DTYPE);
    let runs = |r: &[f64]| {
        let mut r = r.to_vec();
        r.dedup_by(|a, b| order(*a, *b).is_eq());
        r
    };
    assert_eq!(run(|x| Ok(x.run_lengths()?.0)), flat(&runs), "runs of {}", T::DTYPE);
    // No value beyond 1 in magnitude, and a NaN only where a value is not finite or no norm is positive.
    let unit = floats::<T>(&x, |x| x.l2_normalize(1, 1e-12));
    for (row, got) in all.iter().flat_map(|r| r.iter().map(move |_| r)).zip(unit) {
        let fine = if row.iter().all(|v| v.is_finite()) { got.abs() <= 1.0 } else { got.is_nan() || got == 0.0 };
        assert!(fine, "unit vector of {row:?} in {}: {got:?}", T::DTYPE);
    }
}

#[test]
fn reductions_of_special_values() {
    reductions::<f32>(f32::MAX.into(), f32::from_bits(1).into());
    reductions::<f64>(f64::MAX, f64::from_bits(1));
    reductions::<f16>(f16::MAX.to_f64(), f16::from_bits(1).to_f64());
    reductions::<bf16>(bf16::MAX.to_f64(), bf16::from_bits(1).to_f64());
}

#[test]
fn row_functions_of_special_values() {
    row_functions::<f32>(f32::MAX.into(), f32::from_bits(1).into());
    row_functions::<f64>(f64::MAX, f64::from_bits(1));
    row_functions::<f16>(f16::MAX.to_f64(), f16::from_bits(1).to_f64());
    row_functions::<bf16>(bf16::MAX.to_f64(), bf16::from_bits(1).to_f64());
}
