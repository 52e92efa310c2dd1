//! Operations on byte strings, against loops over host strings, on every device.

mod common;

use proptest::prelude::*;
use ragged::{Device, HostTensor, HostValues, RaggedTensor, Str, any_of, max_splits, nonempty, white_space};

type Bytes = Vec<u8>;

fn devices() -> impl Iterator<Item = &'static Device> {
    common::devices_and_unfused_cpu().iter().map(|(_, device)| device)
}

/// Strings of few different bytes: white space, ASCII, UTF-8 characters and loose continuation bytes; now and then a
/// long one, and one of white space only.
fn strings() -> impl Strategy<Value = Vec<Bytes>> {
    let piece = prop::sample::select(vec![&b" "[..], b"\t\n", b"a", b"Zq", b"-", b"--", "\u{e9}".as_bytes(), b"\x80"]);
    let of = |n| prop::collection::vec(piece.clone(), n).prop_map(|pieces| pieces.concat());
    let string = prop_oneof![8 => of(0..9), 1 => of(0..400), 1 => (0..70usize).prop_map(|n| vec![b' '; n])];
    prop::collection::vec(string, 0..40)
}

fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { ProptestConfig::default().cases } else { 24 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn on(strings: &[Bytes], device: &Device) -> RaggedTensor<Str> {
    let host = HostTensor::dense(&[strings.len()], HostValues::Str(strings.to_vec()));
    host.to_device(device).and_then(TryInto::try_into).expect("uploaded")
}

fn flat(t: ragged::Result<RaggedTensor<Str>>) -> Vec<Bytes> {
    t.and_then(|t| t.to_vec()).unwrap_or_else(|e| panic!("{e}"))
}

/// The rows of strings.
fn rows(t: ragged::Result<RaggedTensor<Str>>) -> Vec<Vec<Bytes>> {
    let host = t.and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{e}"));
    let HostValues::Str(values) = host.values else { panic!("no strings") };
    let splits = &host.nested_row_splits[0];
    splits.windows(2).map(|w| values[w[0] as usize..w[1] as usize].to_vec()).collect()
}

fn is_space(byte: u8) -> bool {
    byte == b' ' || (9..=13).contains(&byte)
}

fn stripped(s: &[u8]) -> Bytes {
    let first = s.iter().position(|&b| !is_space(b)).unwrap_or(s.len());
    let end = s.iter().rposition(|&b| !is_space(b)).map_or(first, |last| last + 1);
    s[first..end].to_vec()
}

/// The characters of a string: a continuation byte belongs to the character before it, if there is one.
fn characters(s: &[u8]) -> Vec<Bytes> {
    let mut out: Vec<Bytes> = Vec::new();
    for &byte in s {
        match out.last_mut() {
            Some(last) if byte & 0xC0 == 0x80 => last.push(byte),
            _ => out.push(vec![byte]),
        }
    }
    out
}

/// The units from `pos`, which may count from the end, to `len` later; `None` if `pos` is outside.
fn taken(units: &[Bytes], pos: i64, len: i64) -> Option<Bytes> {
    let n = units.len() as i64;
    let first = if pos < 0 { n + pos } else { pos };
    (0..=n).contains(&first).then(|| units[first as usize..(first + len.clamp(0, n - first)) as usize].concat())
}

/// The pieces between separators, found from left to right, at most `splits` of them.
fn pieces(s: &[u8], separator: &[u8], splits: usize) -> Vec<Bytes> {
    let (mut out, mut from, mut at) = (Vec::new(), 0, 0);
    while at + separator.len() <= s.len() && out.len() < splits {
        if s[at..].starts_with(separator) {
            out.push(s[from..at].to_vec());
            at += separator.len();
            from = at;
        } else {
            at += 1;
        }
    }
    out.push(s[from..].to_vec());
    out
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn strip_removes_white_space_at_both_ends(strings in strings()) {
        let expected: Vec<Bytes> = strings.iter().map(|s| stripped(s)).collect();
        for device in devices() {
            prop_assert_eq!(&flat(on(&strings, device).string_strip()), &expected, "{}", device.name());
        }
    }

    #[test]
    fn substrings_are_bytes_or_characters(strings in strings(), pos in -9..9i64, len in -2..12i64) {
        let bytes = |s: &Bytes| taken(&s.iter().map(|&b| vec![b]).collect::<Vec<_>>(), pos, len);
        let chars = |s: &Bytes| taken(&characters(s), pos, len);
        let by_byte: Option<Vec<Bytes>> = strings.iter().map(bytes).collect();
        let by_char: Option<Vec<Bytes>> = strings.iter().map(chars).collect();
        for device in devices() {
            let x = on(&strings, device);
            prop_assert_eq!(x.substr(pos, len).and_then(|t| t.to_vec()).ok(), by_byte.clone(), "{}", device.name());
            prop_assert_eq!(x.substr_chars(pos, len).and_then(|t| t.to_vec()).ok(), by_char.clone(), "{}", device.name());
        }
    }

    #[test]
    fn characters_are_bytes_that_are_no_continuation(strings in strings()) {
        let expected: Vec<i32> =
            strings.iter().map(|s| s.iter().filter(|&&b| b & 0xC0 != 0x80).count() as i32).collect();
        for device in devices() {
            let lengths = on(&strings, device).string_length_chars().and_then(|t| t.to_vec());
            prop_assert_eq!(lengths.expect("lengths"), expected.clone(), "{}", device.name());
        }
    }

    #[test]
    fn case_changes_ascii_letters_only(strings in strings()) {
        let upper: Vec<Bytes> = strings.iter().map(|s| s.to_ascii_uppercase()).collect();
        let lower: Vec<Bytes> = strings.iter().map(|s| s.to_ascii_lowercase()).collect();
        for device in devices() {
            let x = on(&strings, device);
            prop_assert_eq!(&flat(x.string_upper()), &upper, "{}", device.name());
            prop_assert_eq!(&flat(x.string_lower()), &lower, "{}", device.name());
        }
    }

    #[test]
    fn splits_are_those_of_a_search_from_left_to_right(strings in strings(), splits in 1..5usize) {
        for separator in ["-", "--", " "] {
            let all = |most: usize| -> Vec<Vec<Bytes>> {
                strings.iter().map(|s| pieces(s, separator.as_bytes(), most)).collect()
            };
            let nonempty_of = |rows: Vec<Vec<Bytes>>| -> Vec<Vec<Bytes>> {
                rows.into_iter().map(|row| row.into_iter().filter(|s| !s.is_empty()).collect()).collect()
            };
            for device in devices() {
                let x = on(&strings, device);
                prop_assert_eq!(rows(x.string_split(separator)), all(usize::MAX), "{}", device.name());
                let limited = x.string_split(max_splits(separator, splits as i64));
                prop_assert_eq!(rows(limited), all(splits), "{}", device.name());
                let some = x.string_split(nonempty(separator));
                prop_assert_eq!(rows(some), nonempty_of(all(usize::MAX)), "{}", device.name());
            }
        }
    }

    #[test]
    fn words_are_runs_of_other_bytes(strings in strings()) {
        let words = |is_separator: fn(u8) -> bool| -> Vec<Vec<Bytes>> {
            let of = |s: &Bytes| s.split(|&b| is_separator(b)).filter(|w| !w.is_empty()).map(<[u8]>::to_vec).collect();
            strings.iter().map(of).collect()
        };
        for device in devices() {
            let x = on(&strings, device);
            prop_assert_eq!(rows(x.string_split(white_space())), words(is_space), "{}", device.name());
            let either = x.string_split(nonempty(any_of("a-")));
            prop_assert_eq!(rows(either), words(|b| b == b'a' || b == b'-'), "{}", device.name());
        }
    }

    #[test]
    fn joins_and_ngrams_equal_those_of_the_words(strings in strings(), width in 1..4usize) {
        let words: Vec<Vec<Bytes>> = strings
            .iter()
            .map(|s| s.split(|&b| is_space(b)).filter(|w| !w.is_empty()).map(<[u8]>::to_vec).collect())
            .collect();
        let joined: Vec<Bytes> = words.iter().map(|row| row.join(&b"+="[..])).collect();
        let ngrams: Vec<Vec<Bytes>> =
            words.iter().map(|row| row.windows(width).map(|w| w.join(&b"/"[..])).collect()).collect();
        for device in devices() {
            let x = on(&strings, device).string_split(white_space()).expect("words");
            prop_assert_eq!(&flat(x.reduce_join(1, "+=")), &joined, "{}", device.name());
            prop_assert_eq!(&rows(x.string_ngrams(width as i64, "/")), &ngrams, "{}", device.name());
        }
    }

    /// As `tf.strings.reduce_join` of ragged tensors, whose kernel adds a separator to strings that are not empty.
    #[test]
    fn joins_of_rows_drop_the_separators_after_leading_empty_strings(strings in strings()) {
        let pieces: Vec<Vec<Bytes>> = strings.iter().map(|s| pieces(s, b"-", usize::MAX)).collect();
        let joined = |row: &Vec<Bytes>| row.iter().fold(Bytes::new(), |mut all, piece| {
            if !all.is_empty() {
                all.push(b'|');
            }
            all.extend(piece);
            all
        });
        let expected: Vec<Bytes> = pieces.iter().map(joined).collect();
        for device in devices() {
            let x = on(&strings, device).string_split("-").expect("pieces");
            prop_assert_eq!(&flat(x.reduce_join(1, "|")), &expected, "{}", device.name());
        }
    }
}

#[test]
fn a_long_string_of_white_space_among_short_ones() {
    let mut strings = vec![b" a ".to_vec(), vec![b' '; 70_000], b"\tb".to_vec(), Vec::new()];
    strings[1][40_000] = b'x';
    for device in devices() {
        let got = flat(on(&strings, device).string_strip());
        assert_eq!(got, [&b"a"[..], b"x", b"b", b""], "{}", device.name());
        let got = flat(on(&strings, device).substr_chars(0, 3));
        assert_eq!(got, [&b" a "[..], b"   ", b"\tb", b""], "{}", device.name());
    }
}
