//! Damaged files: mutations of each format, 100,000 of most; `RAGGED_MUTATIONS` chooses their number. Each is read or is an error that says where and why; none panics, and none
//! takes memory that its size does not justify.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use ragged::{Device, RaggedTensor, Result, StructuredTensor, Tensor};
use ragged_data::parquet::ReadOptions;
use ragged_data::{npy, parquet, safetensors};

use crate::allocations::peak_of;
use crate::npy::Temporary;
use crate::random_arrays::Random;

/// Mutations of a format.
pub const ALL: usize = 100_000;

/// Mutations of a format whose readers take long.
pub const SOME: usize = 20_000;

/// The number of mutations: `RAGGED_MUTATIONS` of the environment, or `usual`.
pub fn mutations(usual: usize) -> usize {
    std::env::var("RAGGED_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

thread_local! {
    /// Whether panics of this thread are counted instead of printed.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Panics inside of a reader, which it reports as errors, are not printed.
pub fn quiet<T>(run: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                print(info);
            }
        }));
    });
    QUIET.set(true);
    let out = run();
    QUIET.set(false);
    out
}

/// The file with one to three changes: bytes, bits, runs, cuts, insertions.
fn mutated(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = file.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(out.len().max(1));
        match random.below(8) {
            _ if out.is_empty() => out.push(random.next() as u8),
            0 => out[at] = random.next() as u8,
            1 => out[at] ^= 1 << random.below(8),
            2 => out[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            3 => out.truncate(at),
            4 => out.insert(at, random.next() as u8),
            5 => {
                out.remove(at);
            }
            6 => {
                let end = (at + 1 + random.below(8)).min(out.len());
                out[at..end].fill([0, 0xff][random.below(2)]);
            }
            _ => {
                let (from, len) = (random.below(out.len()), random.below(16));
                let run: Vec<u8> = out[from..(from + len).min(out.len())].to_vec();
                let end = (at + run.len()).min(out.len());
                out[at..end].copy_from_slice(&run[..end - at]);
            }
        }
    }
    out
}

/// Reads `count` mutations of files on two threads. `most` bounds the memory of a read.
pub fn mutate(files: &[Vec<u8>], count: usize, most: usize, read: impl Fn(Vec<u8>) -> Result<()> + Sync) {
    let work = |half: u64| {
        let mut random = Random(half);
        let (mut good, mut peak) = (0, 0);
        for k in 0..count / 2 {
            let bytes = mutated(&files[k % files.len()], &mut random);
            let (outcome, taken) = quiet(|| peak_of(|| catch_unwind(AssertUnwindSafe(|| read(bytes.clone())))));
            assert!(taken <= most, "mutation {k} of {half} takes {taken} bytes: {bytes:?}");
            peak = peak.max(taken);
            match outcome {
                Ok(Ok(())) => good += 1,
                Ok(Err(e)) => {
                    let message = e.to_string();
                    assert!(message.len() < 2000 && e.location().is_some(), "{message}");
                }
                Err(_) => panic!("mutation {k} of {half} panics: {bytes:?}"),
            }
        }
        (good, peak)
    };
    let (a, b) = std::thread::scope(|scope| {
        let other = scope.spawn(|| work(1));
        (work(0), other.join().expect("no panic"))
    });
    let good = a.0 + b.0;
    println!("{good} of {count} are still files; at most {} bytes", a.1.max(b.1));
    assert!(good > 0 && good < count, "{good}");
}

/// Reads all values, which finds layouts that are invalid. A mutated file may describe more elements than a test should print.
fn values<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Result<()> {
    let is_small = |x: &&Tensor| x.shape().iter().flatten().product::<usize>() < 1 << 16;
    tensors.into_iter().filter(is_small).try_for_each(|x| x.to_shared().map(drop))
}

fn small_tensors() -> Result<Vec<(&'static str, Tensor)>> {
    let device = Device::cpu();
    Ok(vec![
        ("x", RaggedTensor::from_nested([vec![1, 2], vec![], vec![3]], &device)?.into()),
        ("w", RaggedTensor::from_nested([vec!["to"], vec!["be"]], &device)?.into()),
        ("m", RaggedTensor::from_nested([[1.5f32, 2.0]], &device)?.into()),
    ])
}

#[test]
fn npy_files() -> Result<()> {
    let device = Device::cpu();
    let fixture = |name: &str| std::fs::read(crate::npy::fixture(name)).expect("a fixture");
    let files = ["i32.npy", "fortran.npy", "big_endian.npy", "text.npy", "bytes.npy", "bools.npy"].map(fixture);
    mutate(&files, mutations(ALL), 256 << 10, |bytes| values([&npy::from_bytes(bytes, &device)?]));
    Ok(())
}

#[test]
fn npz_files() -> Result<()> {
    let device = Device::cpu();
    let all = small_tensors()?;
    let own = npy::npz_to_bytes(all.iter().map(|(name, x)| (*name, x)))?;
    let packed = std::fs::read(crate::npy::fixture("compressed.npz")).expect("a fixture");
    // Deflated bytes stand for 1032 others at most.
    mutate(&[own, packed], mutations(ALL), 1 << 20, |bytes| values(npy::npz_from_bytes(bytes, &device)?.values()));
    Ok(())
}

#[test]
fn safetensors_files() -> Result<()> {
    let device = Device::cpu();
    let all = small_tensors()?;
    let file = safetensors::to_bytes(all.iter().map(|(name, x)| (*name, x)))?;
    mutate(&[file], mutations(ALL), 256 << 10, |bytes| values(safetensors::from_bytes(bytes, &device)?.values()));
    Ok(())
}

#[test]
fn parquet_files() -> Result<()> {
    let device = Device::cpu();
    let words = RaggedTensor::from_nested([vec!["to"], vec![], vec!["be", "or"]], &device)?.into_erased();
    let id = RaggedTensor::from_nested([1i64, 2, 3], &device)?.into_erased();
    let records = StructuredTensor::from_fields_and_rank([("words", &words), ("id", &id)], 1)?;
    let own = parquet::to_bytes(&records)?;
    let polars = std::fs::read(crate::npy::fixture("polars.parquet")).expect("a fixture");
    let read = |records: StructuredTensor| {
        records.fields().try_for_each(|(_, field)| match field {
            ragged::FieldValue::Tensor(x) => x.to_shared().map(drop),
            _ => Ok(()),
        })
    };
    let files = [own, polars];
    mutate(&files, mutations(ALL), 16 << 20, |bytes| read(parquet::from_bytes(bytes, &ReadOptions::new(), &device)?));
    // By bytes, from a file.
    let options = ReadOptions::new().batch_bytes(20).least_decoded(1);
    mutate(&files, mutations(SOME), 16 << 20, |bytes| {
        let file = Temporary::new(&format!("{:?}.parquet", std::thread::current().id()));
        std::fs::write(&file.0, bytes).expect("a file");
        parquet::batches(&file.0, &options, &device)?.try_for_each(|records| read(records?))
    });
    Ok(())
}
