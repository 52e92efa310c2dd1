//! Device-known sizes: the same results, without a wait.

use ragged::opt::nonempty;
use ragged::{DType, Device, DeviceOptions, HostTensor, HostValues, Result, Tensor};

use crate::common::devices_and_unfused_cpu as backends;
use crate::lists::{list, nested, nrows, samples, unknown};
use crate::nest::{Nest, on};

/// Operations that must give the same results for a device-known number of rows, without waiting for it.
fn on_unknown_sizes(x: &Tensor, rows: usize, like: &HostTensor) -> Result<Vec<(String, Tensor)>> {
    let mut out: Vec<(String, Tensor)> = Vec::new();
    let shape = x.ragged_shape();
    let (rank, device) = (x.rank() as i64, x.device());
    out.push(("zeros".into(), Tensor::zeros(shape, DType::F32)?));
    out.push(("fill with a string".into(), Tensor::fill(shape, "ab")?));
    out.push(("size".into(), shape.size(0)?));
    out.push(("zeros of the rows".into(), Tensor::zeros(&shape.slice(..1)?, DType::Bool)?));
    let one = HostTensor::dense(&vec![1; x.rank()], HostValues::I32(vec![3])).to_device(&device)?;
    out.push(("broadcast_to".into(), one.broadcast_to(shape)?));
    out.push(("broadcast of shapes".into(), Tensor::zeros(&shape.broadcast(one.ragged_shape())?, DType::I32)?));
    for axis in i64::from(x.ragged_rank() == 0)..=rank {
        out.push((format!("expand_dims {axis}"), x.expand_dims(axis)?));
        out.push((format!("squeeze {axis}"), x.expand_dims(axis)?.squeeze(axis)?));
    }
    for outer in 0..rank {
        for inner in outer..rank {
            out.push((format!("merge_dims {outer} {inner}"), x.merge_dims(outer, inner)?));
        }
    }
    out.push(("reshape".into(), x.reshape([-1])?));
    out.push(("reshape in pairs".into(), Tensor::concat(&[x, x], 0)?.reshape([-1, 2])?));
    out.push(("reshape to known sizes".into(), x.reshape([like.values.len() as i64, 1])?));
    out.push(("reshape_like".into(), on(like, &device).reshape_like(x)?));
    let cuts = [(rows / 2) as i64, (rows - rows / 2) as i64];
    out.extend(x.split(cuts, 0)?.into_iter().map(|t| ("split".into(), t)));
    if rows.is_multiple_of(3) {
        out.extend(x.split(3, 0)?.into_iter().map(|t| ("split in three".into(), t)));
    }
    let of =
        HostTensor::dense(&[rows], HostValues::I32((0..rows as i32).map(|r| r % 2).collect())).to_device(&device)?;
    out.push(("stack_dynamic_partitions".into(), x.stack_dynamic_partitions(&of, 2)?));
    out.extend(x.dynamic_partition(&of, 2)?.into_iter().map(|t| ("dynamic_partition".into(), t)));
    if x.ragged_rank() > 0 {
        let (filled, empty) = x.fill_empty_rows(-1)?;
        out.push(("fill_empty_rows".into(), filled));
        out.push(("empty rows".into(), empty));
    }
    out.push(("one_hot".into(), x.one_hot(2, 1u8, 0u8)?));
    Ok(out)
}

#[test]
fn device_known_sizes_are_not_waited_for() {
    let mut own = vec![("cpu".to_owned(), Device::cpu())];
    if backends().iter().any(|(_, device)| !device.is_cpu()) {
        // A separate device, so that its counters cover this test only.
        own.push(("gpu".into(), Device::gpu_with(&DeviceOptions::default()).expect("the first adapter opens twice")));
    }
    for x in samples(1300, 12).skip(2).filter(|x| x.values.dtype() == DType::I32) {
        for (name, device) in &own {
            let t = unknown(&x, device);
            let before = device.stats();
            let got = on_unknown_sizes(&t, nrows(&x), &x).unwrap_or_else(|e| panic!("{x:?} on {name}: {e}"));
            assert_eq!((device.stats() - before).waits, 0, "{x:?} on {name}");
            let want = on_unknown_sizes(&on(&x, &Device::cpu()), nrows(&x), &x).expect("of known sizes");
            for ((what, got), (_, want)) in got.iter().zip(&want) {
                let got = got.to_host().unwrap_or_else(|e| panic!("{what} of {x:?} on {name}: {e}"));
                let want = want.to_host().expect("a read");
                // The static shape no longer contains the size.
                let got = HostTensor { uniform_row_lengths: want.uniform_row_lengths.clone(), ..got };
                assert_eq!(got, want, "{what} of {x:?} on {name}");
            }
        }
    }
}

#[test]
fn the_words_of_a_text_have_a_shape_without_a_wait() {
    for (name, device) in backends() {
        let text = ["to be  or", "", " not to ", "be"].map(|s| s.as_bytes().to_vec());
        let text = on(&HostTensor::dense(&[4], HostValues::Str(text.into())), device);
        let words = text.string_split(nonempty(" ")).and_then(|w| w.values()).expect("recorded");
        let ids = words.to_hash_bucket_fast(1 << 20).expect("recorded");
        assert_eq!(words.ragged_shape().text(), "[None]");
        let column = ids.expand_dims(1).and_then(|c| c.broadcast_to(words.expand_dims(1)?.ragged_shape()));
        assert_eq!(column.and_then(|c| c.to_host()).expect("a read").inner_shape, [6, 1], "{name}");
        let marks = Tensor::fill(words.ragged_shape(), "#").and_then(|m| Tensor::string_join(&[&m, &words], ""));
        let marks = nested(&marks.and_then(|m| m.to_host()).expect("a read"));
        let want = ["#to", "#be", "#or", "#not", "#to", "#be"].map(|w| Nest::Leaf(w.to_owned()));
        assert_eq!(marks, list(want), "{name}");
        let halves = words.split(2, 0).expect("recorded").swap_remove(1);
        assert_eq!(halves.to_host().expect("six words").inner_shape, [3], "{name}");
        assert!(words.split(4, 0).and_then(|all| all[0].to_host()).is_err(), "{name}");
    }
}
