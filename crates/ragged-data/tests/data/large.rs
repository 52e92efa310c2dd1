//! More values than a tensor has: arrays are divided, not refused.

use std::sync::Arc;

use arrow_array::{Array, Int8Array, LargeListViewArray};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{DataType, Field};
use proptest::prelude::*;
use ragged::{Device, Error, Result, Tensor};
use ragged_data::arrow::{FromArrow, Nulls, batches};

use crate::random_arrays::{Form, Random, array, cases, data_type};
use crate::tree::{self, Tree};

/// 2^33 values in list views of the same 2^20.
#[test]
fn lists_beyond_32_bits_are_divided() -> Result<()> {
    let (rows, length) = (1 << 13, 1 << 20);
    let field = Arc::new(Field::new_list_field(DataType::Int8, true));
    let values = Arc::new(Int8Array::from(vec![1i8; length]));
    let (starts, sizes) = (ScalarBuffer::from(vec![0i64; rows]), ScalarBuffer::from(vec![length as i64; rows]));
    let array = LargeListViewArray::new(field, starts, sizes, values, None);
    let device = Device::cpu();
    match Tensor::from_arrow(&array, &device) {
        Err(Error::Limit { what, requested, limit, whose, .. }) => {
            assert_eq!(
                (what.as_str(), whose.as_str()),
                ("from_arrow", "one tensor; `from_arrow_batches` divides the array")
            );
            assert_eq!((requested, limit), (1 << 33, u64::from(u32::MAX) - 1));
        }
        other => panic!("{other:?}"),
    }
    let parts = batches(&array, usize::MAX)?;
    assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [4095, 4095, 2]);
    for part in parts {
        let x = Tensor::from_arrow(&part, &device)?;
        // Nothing is computed.
        assert_eq!(x.shape()[0], Some(part.len()));
    }
    let tensors = Tensor::from_arrow_batches(&array, Nulls::Error, &device)?;
    assert_eq!(tensors.iter().map(|x| x.shape()[0]).collect::<Vec<_>>(), [Some(4095), Some(4095), Some(2)]);
    let last = &tensors[2];
    assert_eq!(
        last.cast(ragged::DType::I32)?.reduce_sum(1)?.to_string(),
        "tensor([1048576, 1048576], shape=(2,), dtype=i32)"
    );
    Ok(())
}

/// The number of values of the level that has most.
fn most(level: &[&Tree]) -> usize {
    let below = match level.first() {
        Some(Tree::List(_)) => most(&level.iter().flat_map(|tree| items_of(tree)).collect::<Vec<_>>()),
        Some(Tree::Struct(fields)) => {
            let field = |k: usize| most(&level.iter().map(|tree| field_of(tree, k)).collect::<Vec<_>>());
            (0..fields.len()).map(field).max().unwrap_or(0)
        }
        _ => 0,
    };
    below.max(level.len())
}

fn items_of(tree: &Tree) -> &[Tree] {
    match tree {
        Tree::List(items) => items,
        other => panic!("{other:?}"),
    }
}

fn field_of(tree: &Tree, k: usize) -> &Tree {
    match tree {
        Tree::Struct(fields) => &fields[k].1,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn parts_have_all_rows_and_few_values(of in data_type(), n in 0usize..20, limit in 1usize..40, seed: u64) {
        let array = array(&of, n, Form { nulls: 0 }, &mut Random(seed));
        match batches(&array, limit) {
            Ok(parts) => {
                let all: Vec<_> = parts.iter().flat_map(|part| tree::all(part)).collect();
                prop_assert_eq!(all, tree::all(&array));
                for part in &parts {
                    prop_assert!(most(&tree::all(part).iter().collect::<Vec<_>>()) <= limit, "{:?}", part);
                }
            }
            Err(e) => prop_assert!(e.to_string().contains("values at one level"), "{}", e),
        }
    }
}
