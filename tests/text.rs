//! Splitting and joining byte strings, on every device.

mod common;

use ragged::{Device, HostTensor, HostValues, Result, Tensor, any_of, nonempty};

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
