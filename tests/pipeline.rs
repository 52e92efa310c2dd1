//! The use case of TensorFlow's guide, from text to embeddings: submissions, waits, and equal bits on all devices.

mod common;

use ragged::opt::nonempty;
use ragged::{Device, HostTensor, HostValues, Result, Tensor, s};

const BUCKETS: i64 = 64;

/// Lines of words: some empty, some blank, one long.
fn text() -> String {
    let mut out = String::new();
    for line in 0..400u32 {
        for word in 0..(line * 7919) % 23 {
            out.push_str(
                &"abcdefghijklmnopqrstuvwxyz"[(word as usize) % 20..][..1 + (line as usize + word as usize) % 6],
            );
            out.push_str(if word % 5 == 0 { "  " } else { " " });
        }
        out.push('\n');
    }
    out.push_str(&"lorem ipsum ".repeat(3000));
    out
}

/// The mean of the embeddings of each line's words and pairs of neighbouring words.
fn embeddings(text: &str, device: &Device) -> Result<Tensor> {
    let text = HostTensor::dense(&[1], HostValues::Str(vec![text.as_bytes().to_vec()])).to_device(device)?;
    let table: Vec<f32> = (0..4 * BUCKETS).map(|i| ((i * 2654435761) % 1000) as f32 / 500.0 - 1.0).collect();
    let table = HostTensor::dense(&[BUCKETS as usize, 4], HostValues::F32(table)).to_device(device)?;
    let lines = text.string_split("\n")?.slice(s![0])?;
    let words = lines.string_split(nonempty(" "))?;
    let marker = words.fill_rows(1, "#")?;
    let padded = Tensor::concat(&[&marker, &words, &marker], 1)?;
    let pairs = Tensor::string_join(&[&padded.slice(s![.., ..-1])?, &padded.slice(s![.., 1..])?], "+")?;
    let look_up = |x: &Tensor| table.gather(&x.to_hash_bucket_fast(BUCKETS)?);
    Tensor::concat(&[&look_up(&words)?, &look_up(&pairs)?], 1)?.reduce_mean(1)
}

#[test]
fn nothing_waits_between_upload_and_read() {
    let text = text();
    let want = embeddings(&text, &Device::cpu()).unwrap().to_host().unwrap();
    for (name, device) in common::gpus() {
        // Other tests of this binary use the device too; this one is alone in it.
        let before = device.stats();
        let got = embeddings(&text, &device).unwrap().to_host().unwrap();
        let spent = device.stats() - before;
        assert_eq!((spent.submissions, spent.waits), (1, 1), "{name}: the read is the only wait");
        assert_eq!(got.inner_shape, want.inner_shape, "{name}");
        let bits = |t: &HostTensor| match &t.values {
            // An empty line has the pair of its markers, so that no mean is NaN.
            HostValues::F32(v) => v.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            other => panic!("a mean of f32 is {:?}", other.dtype()),
        };
        assert!(bits(&got) == bits(&want), "{name}: other bits than the CPU's");
    }
}

#[test]
fn gathered_embeddings_are_never_stored() {
    let text = text();
    let plan = embeddings(&text, &Device::cpu()).unwrap().explain().unwrap();
    let reduce = plan.kernels.iter().find(|k| k.kind == "row_reduce").expect("a mean reduces rows");
    assert!(reduce.operations.contains(&"gather") && reduce.operations.contains(&"concat"), "{plan}");
    // The checked indices of table rows may be stored, a word each: their conditions apply to every read.
    let words = 3 * text.len() as u64 + 2;
    let stored = plan.kernels.iter().filter(|k| k.operations[0] == "gather" && k.bytes_written > 4 * words).count();
    assert_eq!(stored, 0, "{plan}");
}
