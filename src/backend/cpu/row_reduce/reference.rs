//! The canonical order without fast loops: the naive reference implementation of the row reductions, on both backends.

use super::{Monoid, RowMonoid};
use crate::backend::cpu::accumulate::Reducible;
use crate::graph::canonical_order::reduction::{
    COLUMNS_FOLD_LEN, FOLD_LEN, LANES, block_len, level2_lanes, wide_lanes,
};

/// Monoid whose states are values, merged by a plain function.
#[derive(Clone, Copy)]
pub struct Plain<V, F> {
    /// Identity element of `combine`, at least for all results of folds that start from it.
    pub identity: V,
    /// The operator.
    pub combine: F,
}

impl<V: Copy + Send + Sync + 'static, F: Fn(V, V) -> V + Copy + Send + Sync + 'static> Monoid<V> for Plain<V, F> {
    type State = V;
    fn identity(self) -> V {
        self.identity
    }
    fn push(self, so_far: V, next: V) -> V {
        (self.combine)(so_far, next)
    }
    fn merge(self, a: V, b: V) -> V {
        (self.combine)(a, b)
    }
}

/// Reduces a row of values of `inner` columns to `inner` states.
pub fn reduce_row<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M, out: &mut [M::State]) {
    for (column, out) in out.iter_mut().enumerate() {
        let values: Vec<V> = values.iter().skip(column).step_by(inner).copied().collect();
        *out = reduce_column(&values, inner, monoid);
    }
}

fn reduce_column<V: Copy, M: Monoid<V>>(values: &[V], inner: usize, monoid: M) -> M::State {
    let (fold_len, lanes) = if inner == 1 { (FOLD_LEN, LANES) } else { (COLUMNS_FOLD_LEN, wide_lanes(inner)) };
    let push = |so_far, &x: &V| monoid.push(so_far, x);
    if values.len() <= fold_len {
        return values.iter().fold(monoid.identity(), push);
    }
    let block = |values: &[V]| {
        tree(monoid, (0..lanes).map(|k| values.iter().skip(k).step_by(lanes).fold(monoid.identity(), push)).collect())
    };
    let blocks: Vec<M::State> = values.chunks(block_len(inner)).map(block).collect();
    if let [one] = blocks[..] {
        return one;
    }
    let merge = |so_far, &x: &M::State| monoid.merge(so_far, x);
    let lanes = level2_lanes(inner);
    tree(monoid, (0..lanes).map(|k| blocks.iter().skip(k).step_by(lanes).fold(monoid.identity(), merge)).collect())
}

/// A halving tree.
fn tree<V, M: Monoid<V>>(monoid: M, mut lanes: Vec<M::State>) -> M::State {
    while lanes.len() > 1 {
        let high = lanes.split_off(lanes.len() / 2);
        lanes = lanes.into_iter().zip(high).map(|(a, b)| monoid.merge(a, b)).collect();
    }
    lanes[0]
}

/// Compares the rows, blocks and columns of a monoid with [`reduce_row`]. `of` gives the values of floats, which include
/// infinities, NaN and signed zeros.
pub(super) fn check<V: Reducible, M: RowMonoid<V>>(monoid: M, of: impl Fn(f64) -> V) {
    use super::Columns;
    use crate::graph::reducer::Reducer;

    // Consecutive short rows, which are reduced several at a time.
    let short = (0..200).map(|k| k * 37 % 40);
    let lens = (0..70).chain([255, 256, 257, 300, 0, 513, 1030, 5, 1, 32, 16, 33]).chain(short).chain([40]);
    let starts: Vec<usize> = lens.scan(0, |end, len| Some(std::mem::replace(end, *end + len))).collect();
    let n = starts[starts.len() - 1];
    // Values of various magnitudes, so that sums depend on their order.
    let mut values: Vec<f64> = (0..n).map(|k| 1.0 / (1.0 + (k * 7919 % 1009) as f64) - 0.01).collect();
    let specials = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, -0.0, 0.0, f64::MAX, 1e-42];
    for (k, special) in specials.into_iter().cycle().take(40).enumerate() {
        values[100 + 89 * k] = special;
    }
    for row in [10, 16, 32, 40, 64, 95, 101] {
        values[starts[row]..starts[row + 1]].fill(-0.0);
    }
    let values: Vec<V> = values.into_iter().map(of).collect();
    let same = |a: M::State, b: M::State| {
        [Reducer::Greatest, Reducer::SumOfExps].into_iter().all(|reducer| {
            let result = monoid.results(reducer);
            let (a, b) = (result(a), result(b));
            let is_nan = |x: V| x.partial_cmp(&x).is_none();
            bytemuck::bytes_of(&a) == bytemuck::bytes_of(&b) || is_nan(a) && is_nan(b)
        })
    };
    for inner in [1, 2, 3, 4, 5, 8, 16, 17] {
        let rows = starts.partition_point(|start| start * inner <= n) - 1;
        let mut batch = vec![monoid.identity(); rows * inner];
        // The first rows are not read, so that the values do not begin at the first one.
        let start = |k: usize| starts[k + 2];
        let batch = &mut batch[..(rows - 2) * inner];
        match inner {
            1 => monoid.rows(&values, start, batch),
            _ => Columns::consecutive(&values, inner).rows(monoid, start, batch),
        }
        for (k, batch) in batch.chunks_exact(inner).enumerate() {
            let mut single = vec![monoid.identity(); inner];
            reduce_row(&values[start(k) * inner..start(k + 1) * inner], inner, monoid, &mut single);
            assert!(batch.iter().zip(&single).all(|(&a, &b)| same(a, b)), "row {k}, {inner} columns");
        }
    }
    for len in [257, 300, 513, 1030, 3000] {
        let mut single = [monoid.identity()];
        reduce_row(&values[..len], 1, monoid, &mut single);
        let row = super::reduce_long_row(monoid, &values[..len]);
        assert!(same(row, single[0]), "a row of {len}");
    }
}
