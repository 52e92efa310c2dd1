//! Random numbers of a row depend on its index and on itself, not on other rows.

use ragged::{RaggedTensor, Result, Row, Seed, s};

use crate::common;
use crate::inputs::text;

/// Operations whose law is here: row `k` has random numbers of its own, which a tensor by itself does not have.
pub const NAMES: &[&str] = &["dropout", "shuffle", "sample"];

#[test]
fn random_numbers_of_a_row_do_not_depend_on_other_rows() {
    type Random = fn(&Row) -> Result<Row>;
    let of: [(&str, Random); 4] = [
        ("dropout", |row| row.dropout(0.5, Seed(3))),
        ("shuffle", |row| row.shuffle(Seed(3), 0)),
        ("shuffle of the innermost axis", |row| row.shuffle(Seed(3), -1)),
        ("sample", |row| row.sample(2, Seed(3), -1)),
    ];
    for (name, device) in common::devices() {
        let last = vec![vec![1.0f32, 2.0, 3.0, 4.0], vec![5.0, 6.0, 7.0, 8.0, 9.0]];
        let few = RaggedTensor::from_nested(vec![vec![vec![0.5f32]], last.clone()], &device).expect("an upload");
        let first = vec![vec![0.5f32; 7], vec![], vec![1.5; 9]];
        let many = RaggedTensor::from_nested(vec![first, last.clone()], &device).expect("an upload");
        for (op, f) in of {
            let second = |x: &RaggedTensor<f32>| {
                x.erased().map_rows(f).and_then(|y| y.slice(s![1])).and_then(|y| text(&y)).expect("a read")
            };
            assert_eq!(second(&few), second(&many), "{name}: {op}");
            assert_ne!(second(&few), text(&few.erased().slice(s![1]).expect("a row")).expect("a read"), "{name}: {op}");
        }
        // The first row has the random numbers of a tensor by itself.
        let first = last[1].clone();
        let x = RaggedTensor::from_nested(vec![first.clone(), vec![1.0; 50]], &device).expect("an upload");
        let alone = RaggedTensor::from_nested(first, &device).expect("an upload").into_erased();
        let row = |f: Random| x.erased().map_rows(f).and_then(|y| y.slice(s![0])).and_then(|y| text(&y));
        let dropped = alone.dropout(0.5, Seed(3)).and_then(|y| text(&y));
        assert_eq!(row(of[0].1).expect("a read"), dropped.expect("a read"), "{name}");
        let shuffled = alone.shuffle(Seed(3), 0).and_then(|y| text(&y));
        assert_eq!(row(of[1].1).expect("a read"), shuffled.expect("a read"), "{name}");
        let sampled = alone.sample(2, Seed(3), 0).and_then(|y| text(&y));
        assert_eq!(row(of[3].1).expect("a read"), sampled.expect("a read"), "{name}");
    }
}
