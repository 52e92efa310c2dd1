//! `{:?}` of the public types.

use ragged::opt::weighted;
use ragged::{Device, Program, TensorSpec, s};

use crate::{Subjects, common};

/// A row, which exists in `map_rows` only.
fn of_row(s: &Subjects) -> String {
    let mut text = String::new();
    let mapped = s.t.map_rows(|row| {
        text = format!("{row:?}");
        row.reduce_sum(0)
    });
    mapped.expect("recorded");
    text
}

fn of_program(s: &Subjects) -> String {
    let program = Program::trace(&[TensorSpec::of(&s.x)], |x| Ok([x[0].add(1)?.reduce_sum(1)?]));
    format!("{:?}", program.expect("traced"))
}

/// `{:?}` of any handle is short, whatever the device has computed before.
#[test]
fn debug_output_does_not_grow_with_the_device() {
    let all = common::devices().into_iter().chain([("a new CPU".into(), Device::cpu_with(&Default::default()))]);
    for (name, device) in all {
        let s = Subjects::new(&device).expect("valid tensors");
        let some = s.ints.boolean_mask(&s.ints.greater(1).expect("recorded")).expect("recorded");
        let print = || {
            let shape = s.x.ragged_shape();
            [
                ("Device", format!("{device:?}")),
                ("Tensor", format!("{:?}", s.t)),
                ("RaggedTensor", format!("{:?}", s.x)),
                ("RaggedShape", format!("{shape:?}")),
                ("RowPartition", format!("{:?}", s.x.partitions()[0])),
                ("RowPartition of the device", format!("{:?}", some.partitions()[0])),
                ("NewShape", format!("{:?}", ragged::arguments::NewShape::from(shape))),
                ("RecordShape", format!("{:?}", ragged::RecordShape::from(shape))),
                ("SparseTensor", format!("{:?}", s.sparse)),
                ("StructuredTensor", format!("{:?}", s.records)),
                ("LodTensor", format!("{:?}", s.lod)),
                ("Operand", format!("{:?}", ragged::arguments::Operand::from(&s.x))),
                ("Factor", format!("{:?}", ragged::opt::Factor::from(&s.x))),
                ("GatherIndices", format!("{:?}", ragged::opt::GatherIndices::from(&s.ints))),
                ("LookupIds", format!("{:?}", weighted(&s.ints, &s.x))),
                ("Update", format!("{:?}", ragged::Update::set("a", &s.x))),
                ("Row", of_row(&s)),
                ("HostRows", format!("{:?}", s.x.rows().expect("reads"))),
                ("HostTensor", format!("{:?}", s.x.to_host().expect("reads"))),
                ("TensorSpec", format!("{:?}", TensorSpec::of(&s.x))),
                ("Program", of_program(&s)),
                ("FieldValue", format!("{:?}", ragged::FieldValue::from(&s.records))),
                ("Explain", format!("{:?}", s.t.explain().expect("explained"))),
                ("CrossInput", format!("{:?}", ragged::arguments::CrossInput::from(&s.ints))),
            ]
        };
        s.t.eval().expect("evaluated");
        let before = print();
        for k in 0..12i64 {
            let x =
                s.x.tile(&[1, k]).and_then(|y| y.slice(s![.., ..k])).and_then(|y| y.reduce_sum(1)).expect("recorded");
            x.to_vec().expect("read");
        }
        for ((what, before), (_, after)) in before.into_iter().zip(print()) {
            assert_eq!(before, after, "{name}: {what}");
            assert!(after.len() < 600, "{name}: {what}: {} characters: {after}", after.len());
        }
    }
}
