//! Splitting and joining byte strings, on every device.

mod common;

use ragged::opt::{any_of, nonempty};
use ragged::{Device, HostTensor, HostValues, Result, Tensor};

fn strings(s: &[&str]) -> HostValues {
    HostValues::Str(s.iter().map(|s| s.as_bytes().to_vec()).collect())
}

fn tensor(device: &Device, s: &[&str]) -> Tensor {
    HostTensor::dense(&[s.len()], strings(s)).to_device(device).unwrap()
}

const TEXTS: [&[&str]; 6] = [
    &[],
    &[""],
    &["a"],
    &["to be  or", "", "  ", " not to\tbe ", "x"],
    &[" ", " ", ""],
    &["one", "two  three", " four", "five ", "\tsix\t\tseven "],
];

#[test]
fn words_equal_those_of_the_standard_library() {
    for (name, device) in common::devices() {
        for text in TEXTS {
            let got = tensor(&device, text).string_split(nonempty(any_of(" \t"))).unwrap().to_host().unwrap();
            let words: Vec<Vec<&str>> =
                text.iter().map(|s| s.split([' ', '\t']).filter(|w| !w.is_empty()).collect()).collect();
            let mut splits = vec![0];
            splits.extend(words.iter().scan(0, |n, w| {
                *n += w.len() as u32;
                Some(*n)
            }));
            assert_eq!(got.nested_row_splits, [splits], "{name}: {text:?}");
            assert_eq!(got.values, strings(&words.concat()), "{name}: {text:?}");
        }
    }
}

#[test]
fn fields_equal_those_of_the_standard_library() {
    for (name, device) in common::devices() {
        for text in TEXTS {
            let got = tensor(&device, text).string_split(" ").unwrap().to_host().unwrap();
            let fields: Vec<Vec<&str>> = text.iter().map(|s| s.split(' ').collect()).collect();
            let mut splits = vec![0];
            splits.extend(fields.iter().scan(0, |n, w| {
                *n += w.len() as u32;
                Some(*n)
            }));
            assert_eq!(got.nested_row_splits, [splits], "{name}: {text:?}");
            assert_eq!(got.values, strings(&fields.concat()), "{name}: {text:?}");
        }
    }
}

#[test]
fn a_split_of_a_split_has_device_known_rows() {
    let text = "the cat\n\nsat on  the mat\n \nend";
    for (name, device) in common::devices() {
        let lines = tensor(&device, &[text]).string_split("\n").unwrap();
        let words = lines.string_split(nonempty(" ")).unwrap().to_host().unwrap();
        assert_eq!(words.nested_row_splits, [vec![0, 5], vec![0, 2, 2, 6, 6, 7]], "{name}");
        assert_eq!(words.values, strings(&["the", "cat", "sat", "on", "the", "mat", "end"]), "{name}");
    }
}

#[test]
fn joined_strings_hash_like_their_concatenation() {
    for (name, device) in common::devices() {
        let (a, b) = (["a", "", "long enough to pass sixteen bytes", "x"], ["", "", "tail", "yy"]);
        let joined = Tensor::string_join(&[&tensor(&device, &a), &tensor(&device, &b)], "+-").unwrap();
        let plain: Vec<String> = a.iter().zip(b).map(|(a, b)| format!("{a}+-{b}")).collect();
        let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
        assert_eq!(joined.to_host().unwrap().values, strings(&plain), "{name}");
        let want = tensor(&device, &plain).fingerprint64().unwrap().to_host().unwrap();
        assert_eq!(joined.fingerprint64().unwrap().to_host().unwrap(), want, "{name}");
    }
}

/// Long strings at any position are hashed by several dispatches, of at least 256 KiB each on software adapters, else
/// of 4 MiB.
#[test]
fn long_strings_are_hashed_by_several_dispatches() {
    const DISPATCH: usize = 256 << 10;
    let hashes: [fn(&Tensor) -> Result<Tensor>; 3] =
        [|x| x.fingerprint64(), |x| x.to_hash_bucket_strong(1i64 << 40, [7, 9]), |x| x.to_hash_bucket(1i64 << 40)];
    let text = |len: usize| -> String { (0..len).map(|k| char::from(b'a' + (k * k % 23) as u8)).collect() };
    let long = [DISPATCH - 1, DISPATCH, DISPATCH + 1, 3 * DISPATCH + 64, (4 << 20) + 63, (8 << 20) + 17].map(text);
    let [a, b, c, d, e, f] = long.each_ref().map(String::as_str);
    for words in [vec!["short", a, b, "", c, d, "x", e, f, "end"], vec![b], vec![c], vec![f, d]] {
        for hash in hashes {
            let of = |device: &Device| hash(&tensor(device, &words)).and_then(|h| h.to_host()).expect("hashed");
            let want = of(&Device::cpu());
            for (name, device) in common::gpus() {
                assert_eq!(of(&device), want, "{name}");
            }
        }
    }
}

/// Short strings are hashed by one dispatch, long ones by at most one more per 256 KiB.
#[test]
fn only_long_strings_take_more_than_a_dispatch() {
    for (name, device) in common::gpus() {
        let dispatches = |words: &[&str]| {
            let hashes = tensor(&device, words).fingerprint64().expect("recorded");
            hashes.explain().expect("explains").dispatches()
        };
        assert_eq!(dispatches(&["", "a", "some words"]), 1, "{name}");
        assert_eq!(dispatches(&["x".repeat(256 << 10).as_str(), "short"]), 1, "{name}");
        // Three dispatches clear, assign and read the scratch state, with four dispatches in between; or one dispatch
        // hashes all bytes.
        let long = "x".repeat((1 << 20) - 7);
        assert!([1, 3 + 4].contains(&dispatches(&[&long])), "{name}");
    }
}

/// If the lengths of strings are device-known, any of them may have all bytes.
#[test]
fn strings_of_device_known_length_have_the_same_hashes() {
    let text: String =
        (0..700_000u64).map(|k| if k * k % 7 == 1 { ' ' } else { char::from(b'a' + (k % 26) as u8) }).collect();
    let text = format!("{text} {} end", "long".repeat(300_000));
    let of = |device: &Device| {
        let words = tensor(device, &[&text]).string_split(nonempty(" "))?;
        words.to_hash_bucket_fast(1 << 30)?.to_host()
    };
    let want = of(&Device::cpu()).expect("hashed");
    for (name, device) in common::gpus() {
        assert_eq!(of(&device).expect("hashed"), want, "{name}");
    }
}

#[test]
fn misuse_is_an_error() {
    let device = Device::cpu();
    let x = tensor(&device, &["a b"]);
    assert!(x.string_split("").is_err());
    assert!(Tensor::string_join(&[] as &[Tensor], "").is_err());
    assert!(Tensor::string_join(&[&x, &tensor(&device, &["a", "b"])], "").is_err());
    assert!(x.to_hash_bucket_fast(0).is_err());
    let numbers = HostTensor::dense(&[1], HostValues::I32(vec![1])).to_device(&device).unwrap();
    assert!(numbers.fingerprint64().is_err());
    assert!(numbers.string_split(" ").is_err());
}

/// Pieces between occurrences of `separator`, found from left to right.
fn pieces(text: &[u8], separator: &[u8]) -> Vec<Vec<u8>> {
    let (mut out, mut from, mut at) = (Vec::new(), 0, 0);
    while at + separator.len() <= text.len() {
        if text[at..].starts_with(separator) {
            out.push(text[from..at].to_vec());
            at += separator.len();
            from = at;
        } else {
            at += 1;
        }
    }
    out.push(text[from..].to_vec());
    out
}

/// Long separators of every structure, in texts of occurrences, of parts of the separator, and of what nearly is one.
#[test]
fn long_separators() {
    let mut separators: Vec<Vec<u8>> = Vec::new();
    for n in [16usize, 17, 33, 100, 1024] {
        separators.push((0..n).map(|k| b'a' + (k * k % 23) as u8).collect());
        separators.push(vec![b'a'; n]);
        separators.push([vec![b'a'; n - 1], b"b".to_vec()].concat());
        separators.push([b"b".to_vec(), vec![b'a'; n - 1]].concat());
        separators.push([vec![b'a'; n / 2], b"b".to_vec(), vec![b'c'; n - n / 2 - 1]].concat());
        separators.push(b"ab".iter().copied().cycle().take(n - n % 2).collect());
        separators.push(b"abcdefghijk".iter().copied().cycle().take(n - n % 11).collect());
    }
    let mut state = 1u32;
    let mut below = |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % n
    };
    for s in separators.iter().filter(|s| s.len() > 1) {
        let n = s.len();
        let mut strings =
            vec![s.clone(), s[1..].to_vec(), s[..n - 1].to_vec(), Vec::new(), s.repeat(3), vec![b'a'; 3 * n]];
        for _ in 0..12 {
            let mut text = Vec::new();
            for _ in 0..8 {
                let (from, to) = (below(n), below(n) + 1);
                match below(5) {
                    0 | 1 => text.extend(s),
                    2 => text.extend(&s[from.min(to)..from.max(to)]),
                    3 => {
                        let start = text.len();
                        text.extend(s);
                        text[start + from] ^= 1;
                    }
                    _ => text.extend([b'x', b'a', b'b'].iter().take(to)),
                }
            }
            strings.push(text);
        }
        let want: Vec<Vec<Vec<u8>>> = strings.iter().map(|text| pieces(text, s)).collect();
        for (name, device) in common::devices() {
            let x = HostTensor::dense(&[strings.len()], HostValues::Str(strings.clone())).to_device(&device).unwrap();
            let what = format!("{name}: {} bytes, {:?}", n, String::from_utf8_lossy(&s[..n.min(40)]));
            let got = x.string_split(s.as_slice()).and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{what}: {e}"));
            let lengths: Vec<u32> = got.nested_row_splits[0].windows(2).map(|w| w[1] - w[0]).collect();
            assert_eq!(lengths, want.iter().map(|row| row.len() as u32).collect::<Vec<_>>(), "{what}");
            assert!(got.values == HostValues::Str(want.concat()), "{what}");
            let some = x.string_split(nonempty(s.as_slice())).and_then(|t| t.to_host()).expect("pieces");
            let some_want: Vec<Vec<u8>> = want.concat().into_iter().filter(|piece| !piece.is_empty()).collect();
            assert!(some.values == HostValues::Str(some_want), "{what}: without empty pieces");
        }
    }
}

/// Separators that overlap themselves at several distances, of which the smallest need not divide the others.
#[test]
fn separators_that_overlap_themselves() {
    let mut separators: Vec<Vec<u8>> = (2..=8u32)
        .flat_map(|n| (0..1u32 << n).map(move |bits| (0..n).map(|k| b'a' + (bits >> k & 1) as u8).collect()))
        .filter(|s: &Vec<u8>| (1..s.len()).any(|d| s[d..] == s[..s.len() - d]))
        .collect();
    let chosen = [b"aabaa".as_slice(), b"aba", b"abaaba", b"aabaabaa", b"abababa"].map(<[u8]>::to_vec);
    separators.extend(chosen.clone());
    separators.push([&b"ab".repeat(700)[..], b"a", &b"ab".repeat(700)].concat());
    let mut state = 7u32;
    let mut below = |n: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % n
    };
    for s in &separators {
        let n = s.len();
        let distances: Vec<usize> = (1..=n).filter(|&d| s[d..] == s[..n - d]).collect();
        // Runs of occurrences at random distances, with and without a break between them.
        let mut run = |bytes: usize| {
            let mut text = s.clone();
            while text.len() < bytes {
                let kept = text.len() - n + distances[below(distances.len())];
                text.truncate(kept);
                text.extend(s);
                if below(30) == 0 {
                    text.extend(b"ab".iter().take(below(3)));
                    text.extend(s);
                }
            }
            text
        };
        let mut strings = vec![Vec::new(), s.clone(), s[1..].to_vec(), s.repeat(3)];
        strings.extend((0..40).map(|_| run(6 * n)));
        let on_all = chosen.contains(s) || n > 100;
        strings.push(run(if on_all { 70_000 } else { 600 }));
        strings.extend((0..5).map(|_| run(n)));
        let want: Vec<Vec<Vec<u8>>> = strings.iter().map(|text| pieces(text, s)).collect();
        for (name, device) in common::devices() {
            if !on_all && !device.is_cpu() {
                continue;
            }
            let x = HostTensor::dense(&[strings.len()], HostValues::Str(strings.clone())).to_device(&device).unwrap();
            let what = format!("{name}: {n} bytes, {:?}", String::from_utf8_lossy(&s[..n.min(40)]));
            let got = x.string_split(s.as_slice()).and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{what}: {e}"));
            let lengths: Vec<u32> = got.nested_row_splits[0].windows(2).map(|w| w[1] - w[0]).collect();
            assert_eq!(lengths, want.iter().map(|row| row.len() as u32).collect::<Vec<_>>(), "{what}");
            assert!(got.values == HostValues::Str(want.concat()), "{what}");
        }
    }
}

/// Separators longer than the text, and of several hundred thousand bytes.
#[test]
fn giant_separators() {
    let noise = |n: usize| (0..n).map(|k| (k.wrapping_mul(k + 7) >> 3) as u8).collect::<Vec<u8>>();
    for s in [noise(300_000), b"ab".repeat(100_000), [vec![b'a'; 200_000], b"b".to_vec()].concat()] {
        let n = s.len();
        let text = [&s[..n / 2], &s, b"x", &s, &s[1..]].concat();
        let want = pieces(&text, &s);
        for (name, device) in common::devices() {
            let x = HostTensor::dense(&[3], HostValues::Str(vec![text.clone(), b"x".to_vec(), s.clone()]));
            let got = x.to_device(&device).and_then(|x| x.string_split(s.as_slice())).and_then(|t| t.to_host());
            let mut all = want.clone();
            all.extend([b"x".to_vec(), Vec::new(), Vec::new()]);
            assert!(got.unwrap_or_else(|e| panic!("{name}: {e}")).values == HostValues::Str(all), "{name}: {n} bytes");
        }
    }
}
