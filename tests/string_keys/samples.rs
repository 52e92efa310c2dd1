//! Lists of byte strings that are hard to order.

use crate::common::naive::{Rows, host};
use crate::common::random::Random;
use ragged::{Device, RaggedTensor, Str};

pub type Text = Vec<u8>;

/// Strings around the sizes of chunks and of pairs of chunks, with zeros at their ends, and bytes that are no UTF-8.
fn edges() -> Vec<Text> {
    let mut all: Vec<Text> = ["", "a", "ab", "b", "a\0", "a\0\0", "\0", "\0\0", "a\0b"].map(|s| s.into()).to_vec();
    all.extend([vec![0xff], vec![0xff, 0xff], vec![0xc3, 0x28], vec![0x80], vec![0xfe, 0]]);
    for size in [3, 4, 7, 8, 14, 15, 16, 17, 29, 30, 31, 32, 44, 45, 46, 60, 61, 120, 121] {
        for end in [b'a', b'b', 0, 0xff] {
            let mut text = vec![b'a'; size];
            text[size - 1] = end;
            all.push(text);
        }
    }
    all
}

fn mixed(mut all: Vec<Text>, seed: u64) -> Vec<Text> {
    let mut random = Random(seed);
    for k in (1..all.len()).rev() {
        all.swap(k, random.below(k as u32 + 1) as usize);
    }
    all
}

fn random(count: usize, longest: u32, alphabet: &[u8], seed: u64) -> Vec<Text> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let length = random.below(longest + 1);
            (0..length).map(|_| alphabet[random.below(alphabet.len() as u32) as usize]).collect()
        })
        .collect()
}

/// The strings in rows of random lengths, some of them empty.
fn in_rows(all: Vec<Text>, longest: u32, seed: u64) -> Rows<Text> {
    let (mut random, mut rows, mut all) = (Random(seed), vec![Vec::new()], all.into_iter().peekable());
    while all.peek().is_some() {
        let length = random.below(longest + 1) as usize;
        rows.push(all.by_ref().take(length).collect());
    }
    rows.push(Vec::new());
    rows
}

/// Rows of strings, by name.
pub fn small() -> Vec<(&'static str, Rows<Text>)> {
    let prefix = |text: Text| [vec![b'p'; 200], text].concat();
    let prefixed: Vec<Text> = random(1500, 4, b"ab", 5).into_iter().map(prefix).collect();
    let twice = [edges(), edges()].concat();
    vec![
        ("no rows", vec![]),
        ("empty rows", vec![vec![], vec![]]),
        ("empty strings", vec![vec![vec![]; 3], vec![], vec![vec![]]]),
        ("one string", vec![vec![b"one".to_vec()]]),
        ("edges in one row", vec![mixed(twice.clone(), 1)]),
        ("edges in rows", in_rows(mixed(twice, 2), 30, 3)),
        ("short", in_rows(random(1200, 3, b"\0a\xff", 4), 40, 5)),
        ("random", in_rows(random(1200, 50, b"\0a\xff", 6), 100, 7)),
        ("common prefix", in_rows(prefixed, 300, 8)),
    ]
}

/// Rows of many strings, and of very long ones.
pub fn large() -> Vec<(&'static str, Rows<Text>)> {
    let mut long = random(300, 20, b"ab", 9);
    let megabyte = vec![b'a'; 1 << 20];
    for end in [&b"b"[..], b"", b"a", b"b"] {
        long.insert(100, [&megabyte, end].concat());
    }
    vec![
        ("70,000 strings", in_rows(random(70_000, 24, b"\0ab", 10), 5000, 11)),
        ("70,000 strings in one row", vec![random(70_000, 6, b"ab", 12)]),
        ("strings of a megabyte", in_rows(long, 200, 13)),
    ]
}

pub fn on(rows: &[Vec<Text>], device: &Device) -> RaggedTensor<Str> {
    host::<Str>(rows).to_device(device).unwrap().try_into().unwrap()
}

/// The same rows, in a tensor of which the host knows no size of a string.
pub fn computed(rows: &[Vec<Text>], device: &Device) -> RaggedTensor<Str> {
    let mut random = Random(99);
    let (mut more, mut mask) = (Vec::new(), Vec::new());
    for row in rows {
        let (mut texts, mut flags) = (Vec::new(), Vec::new());
        for text in row {
            while random.below(4) == 0 {
                texts.push(b"left out".to_vec());
                flags.push(false);
            }
            texts.push(text.clone());
            flags.push(true);
        }
        more.push(texts);
        mask.push(flags);
    }
    let mask: RaggedTensor<bool> = host::<bool>(&mask).to_device(device).unwrap().try_into().unwrap();
    on(&more, device).boolean_mask(&mask).unwrap()
}
