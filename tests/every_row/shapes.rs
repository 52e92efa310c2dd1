//! Shapes, parts, look-ups and joins of rows.

use ragged::opt::starting_at;
use ragged::s;

use crate::table::laws;

laws! {
    slice Integers |x, y, k, t| x.slice(s![1..]);
    slice Integers |x, y, k, t| x.slice(s![.., ..1]);
    at Integers |x, y, k, t| x.expand_dims(0)?.at(-1), alone x.expand_dims(0)?.slice(s![-1]);
    gather Integers |x, y, k, t| x.gather(&x.argsort(0)?.slice(s![1..])?), alone x.gather(&x.argsort(0)?.slice(s![1..])?);
    batch_gather_with_default Integers |x, y, k, t| x.batch_gather_with_default(y, 7);
    gather_nd Integers |x, y, k, t| x.gather_nd(&x.where_indices()?);
    gather_nd Integers |x, y, k, t| x.gather_nd(&x.where_indices()?.slice(s![.., ..1])?);
    gather_nd Integers |x, y, k, t| x.gather_nd(&x.where_indices()?.slice(s![.., ..0])?);
    embedding_lookup Integers |x, y, k, t| x.embedding_lookup(t), alone t.embedding_lookup(x);
    nth Integers |x, y, k, t| x.boolean_mask(&x.count_nonzero(1)?.greater(0i64)?)?.nth(0);
    nth_or Integers |x, y, k, t| x.nth_or(-2, 7);
    boolean_mask Integers |x, y, k, t| x.boolean_mask(&y.greater(2)?);
    where_indices Integers |x, y, k, t| x.where_indices();
    where_indices Integers |x, y, k, t| x.greater(1)?.where_indices();
    slice_rows Integers |x, y, k, t| {
        let half = x.count_nonzero(1)?.floordiv(2i64)?;
        x.slice_rows(&half, &half)
    };
    batch_scatter_add Integers |x, y, k, t| x.batch_scatter_add(&x.local_index(1)?, y);
    fill_empty_rows Integers |x, y, k, t| x.fill_empty_rows(-1);
    reverse Integers |x, y, k, t| x.reverse(0);
    reverse Integers |x, y, k, t| x.reverse(..);
    combinations Integers |x, y, k, t| x.combinations(2, -1);
    argcombinations Integers |x, y, k, t| x.argcombinations(2, 0);
    cartesian Integers |x, y, k, t| Of::cartesian(&[x, y], 0);
    cartesian Integers |x, y, k, t| Of::cartesian(&[x, y], -1);
    cartesian_nested Integers |x, y, k, t| Of::cartesian_nested(&[x, y], 0);
    cartesian_nested Integers |x, y, k, t| Of::cartesian_nested(&[x, y], -1);
    context_windows Integers |x, y, k, t| x.context_windows(starting_at(3, -1), 0, -1);
    sliding_windows Integers |x, y, k, t| x.sliding_windows(2, 0);
    pad_rows Integers |x, y, k, t| x.pad_rows(3, 0, -1);
    zip Integers |x, y, k, t| Of::zip(&[x, y]);
    unzip Integers |x, y, k, t| Of::zip(&[x, y])?.unzip();
    unzip Integers |x, y, k, t| x.unzip();
    concat Integers |x, y, k, t| Of::concat(&[x, y, x], 0);
    concat Integers |x, y, k, t| Of::concat(&[x, y], -1);
    stack Integers |x, y, k, t| Of::stack(&[x, y], 0);
    stack Integers |x, y, k, t| Of::stack(&[x, y], -1);
    tile Integers |x, y, k, t| x.tile(&[2]);
    tile Integers |x, y, k, t| x.tile(&[2, 3]);
    repeat Integers |x, y, k, t| x.repeat(2, 0);
    repeat Integers |x, y, k, t| x.repeat(2, -1);
    expand_dims Integers |x, y, k, t| x.expand_dims(0);
    expand_dims Integers |x, y, k, t| x.expand_dims(-1);
    squeeze Integers |x, y, k, t| x.expand_dims(-1)?.squeeze(-1);
    squeeze Integers |x, y, k, t| x.expand_dims(-1)?.squeeze(..), alone x.expand_dims(-1)?.squeeze(-1);
    merge_dims Integers |x, y, k, t| x.merge_dims(0, 1);
    merge_dims Integers |x, y, k, t| x.expand_dims(0)?.merge_dims(0, -1);
    reshape Integers |x, y, k, t| x.reshape([-1]);
    reshape Integers |x, y, k, t| x.reshape([1, -1]);
    reshape Integers |x, y, k, t| Of::stack(&[x, y], 0)?.reshape([2, -1, 1]);
    reshape Integers |x, y, k, t| x.reshape([2, 2, 1]);
    reshape Integers |x, y, k, t| x.reshape([1, 1]);
    split Integers |x, y, k, t| x.split(2, -1);
    split Integers |x, y, k, t| x.split([1, 1], 0);
    transpose Integers |x, y, k, t| x.transpose([1, 0]);
    transpose Integers |x, y, k, t| x.expand_dims(-1)?.expand_dims(-1)?.transpose([0, 2, 1]);
    transpose_rows Integers |x, y, k, t| x.transpose_rows();
}
