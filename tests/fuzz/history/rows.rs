//! Rows of host tensors.

use std::ops::Range;

use ragged::{HostTensor, HostValues};

/// The tensor of some rows.
pub fn rows_of(host: &HostTensor, rows: Range<usize>) -> HostTensor {
    let (mut from, mut to, mut nested_row_splits) = (rows.start, rows.end, Vec::new());
    for splits in &host.nested_row_splits {
        let first = splits[from];
        nested_row_splits.push(splits[from..=to].iter().map(|&at| at - first).collect());
        (from, to) = (splits[from] as usize, splits[to] as usize);
    }
    let width: usize = host.inner_shape.iter().skip(1).product();
    let mut inner_shape = host.inner_shape.clone();
    inner_shape[0] = to - from;
    let values = part(&host.values, from * width..to * width);
    HostTensor { nested_row_splits, uniform_row_lengths: host.uniform_row_lengths.clone(), inner_shape, values }
}

fn part(values: &HostValues, at: Range<usize>) -> HostValues {
    macro_rules! each {
        ($($kind:ident)+) => {
            match values {
                $(HostValues::$kind(v) => HostValues::$kind(v[at].to_vec()),)+
                other => panic!("a part of {}", other.dtype()),
            }
        };
    }
    each!(Bool U8 I8 U16 I16 I32 U32 I64 U64 F16 BF16 F32 F64 Str)
}
