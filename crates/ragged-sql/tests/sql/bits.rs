//! Results against methods of the engine.

use arrow::array::ArrayRef;
use ragged::{Device, Result, Tensor, opt};
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
