//! Mutations of files: each is read or is an error, none panics, and none takes memory that its size does not justify.
//!
//! Tests of other crates and targets contain this file as well.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::allocations::peak_of;

/// A generator of numbers (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

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

/// Reads `count` mutations of files on two threads. `most` bounds the memory of a read. Errors are checked by their messages.
pub fn mutate(
    files: &[Vec<u8>],
    count: usize,
    most: usize,
    read: impl Fn(Vec<u8>) -> Result<(), String> + Sync,
    has_place: impl Fn(&str) -> bool + Sync,
) {
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
                Ok(Err(message)) => {
                    assert!(message.len() < 2000 && has_place(&message), "no place: {message}: {bytes:?}");
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
