//! Results against methods of the engine.

use arrow::array::ArrayRef;
use ragged::{DType, Device, Result, Tensor, opt};
use ragged_data::arrow::{FromArrow, ToArrow};

use crate::calls::table;
use crate::session::{Session, devices};

fn of(name: &str, device: &Device) -> Tensor {
    let column: ArrayRef = table().into_iter().find(|(known, _)| *known == name).expect("a column").1;
    Tensor::from_arrow(&*column, device).expect("a tensor")
}

type Method = fn(&Device) -> Result<Tensor>;

#[test]
fn bits_are_those_of_the_methods() {
    let pairs: &[(&str, Method)] = &[
        ("ragged_mean(f)", |on| of("f", on).reduce_mean(1)),
        ("ragged_softmax(f)", |on| of("f", on).softmax(1)),
        ("ragged_sort(n, descending => true)", |on| of("n", on).sort(opt::descending(1))),
        ("ragged_top_k_indices(f, 2)", |on| Ok(of("f", on).top_k(2, 1)?.1)),
        ("ragged_hash_bucket(w, 65536)", |on| of("w", on).to_hash_bucket_fast(65536)),
        ("ragged_ngrams(w, 2)", |on| of("w", on).string_ngrams([2], " ")),
        ("ragged_multiply(ragged_softmax(f), 100)", |on| of("f", on).softmax(1)?.multiply(100)),
        ("ragged_concat(n, m)", |on| Tensor::concat(&[of("n", on), of("m", on)], 1)),
        ("ragged_sum(nn, 2)", |on| of("nn", on).reduce_sum(2)),
        ("ragged_cumsum(f, exclusive => true)", |on| of("f", on).cumsum(opt::exclusive(1))),
        ("ragged_sort(w, descending => true)", |on| of("w", on).sort(opt::descending(1))),
        ("ragged_top_k(f, 3)", |on| Ok(of("f", on).top_k(3, 1)?.0)),
        ("ragged_quantile(f, '[0.25, 0.75]')", |on| of("f", on).quantile([0.25, 0.75], 1)),
        ("ragged_sliding_windows(n, 2)", |on| of("n", on).sliding_windows(2, 1)),
        ("ragged_unique(n)", |on| of("n", on).unique(1)),
        ("ragged_softmax(ragged_cast(nn, 'Float32'), 2)", |on| of("nn", on).cast(DType::F32)?.softmax(2)),
        ("ragged_to_hash_bucket_strong(w, 100, '[1, 2]')", |on| of("w", on).to_hash_bucket_strong(100, [1, 2])),
        ("ragged_ngrams(w, '[1, 2]', '_')", |on| of("w", on).string_ngrams([1, 2], "_")),
        ("ragged_set_union(n, m)", |on| of("n", on).set_union(&of("m", on))),
        ("ragged_group_by_key(f, n)", |on| Ok(of("f", on).group_by_key(&of("n", on))?.1)),
        ("ragged_run_lengths(n)", |on| Ok(of("n", on).run_lengths()?.1)),
        ("ragged_ewm_mean(f, 0.5)", |on| of("f", on).ewm_mean(0.5, 1)),
        ("ragged_searchsorted(ragged_sort(n), m)", |on| of("n", on).sort(1)?.searchsorted(&of("m", on))),
    ];
    for device in devices() {
        let session = Session::new(&device);
        session.table("t", &table(), 100);
        for (call, method) in pairs {
            let want = method(&device).and_then(|x| x.to_arrow()).expect(call);
            let got = session.column(&format!("SELECT {call} FROM t"));
            assert_eq!(got.to_data(), want.to_data(), "{call}");
        }
    }
}
