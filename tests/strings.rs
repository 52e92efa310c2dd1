//! Operations on byte strings, against loops over host strings, on every device.

mod common;

use proptest::prelude::*;
use ragged::opt::{Notation, NumberFormat, any_of, keep, max_splits, nonempty, white_space};
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Str, Tensor, bf16, f16};

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

/// Positions and lengths of every integer type, beside strings of one byte, whose length is a constant of the kernel.
#[test]
fn positions_of_every_integer_type() {
    for device in devices() {
        let bytes = on(&[b"ab".to_vec(), b"c".to_vec()], device).bytes_split().expect("bytes");
        for dtype in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64] {
            let at = |of: [i64; 3]| {
                let at = naive_rows(of).to_device(device).and_then(|t| t.cast(dtype)).expect("integers");
                at.eval().expect("integers");
                at
            };
            let what = format!("{dtype} on {}", device.name());
            assert_eq!(flat(bytes.substr(&at([0, 0, 0]), 2)), [b"a", b"b", b"c"], "{what}");
            assert_eq!(flat(bytes.substr(&at([0, 1, 0]), &at([1, 2, 0]))), [&b"a"[..], b"", b""], "{what}");
            assert_eq!(flat(bytes.substr(0, &at([0, 1, 2]))), [&b""[..], b"b", b"c"], "{what}");
            assert!(bytes.substr(&at([0, 2, 0]), 1).and_then(|t| t.to_vec()).is_err(), "{what}");
            if dtype.is_signed() {
                assert_eq!(flat(bytes.substr(&at([-1, 0, 1]), &at([1, -1, 1]))), [&b"a"[..], b"", b""], "{what}");
                assert!(bytes.substr(&at([0, -2, 0]), 1).and_then(|t| t.to_vec()).is_err(), "{what}");
            }
        }
    }
}

/// Two integers and one.
fn naive_rows(of: [i64; 3]) -> HostTensor {
    HostTensor {
        nested_row_splits: vec![vec![0, 2, 3]],
        uniform_row_lengths: vec![None],
        inner_shape: vec![3],
        values: HostValues::I64(of.to_vec()),
    }
}

#[test]
fn positions_of_dense_strings_broadcast() {
    let dense = |shape: &[usize], of: Vec<i64>, device: &Device| {
        HostTensor::dense(shape, HostValues::I64(of)).to_device(device).expect("uploaded")
    };
    for device in devices() {
        let words = on(&[b"abcd".to_vec(), b"efghi".to_vec()], device);
        let column = dense(&[3, 1], vec![0, 1, -1], device);
        let got = words.substr(&column, 2).expect("recorded");
        assert_eq!(got.shape(), [Some(3), Some(2)], "{}", device.name());
        assert_eq!(flat(Ok(got)), [&b"ab"[..], b"ef", b"bc", b"fg", b"d", b"i"], "{}", device.name());
        let lengths = dense(&[2], vec![1, 3], device);
        let got = flat(words.substr(&column, &lengths));
        assert_eq!(got, [&b"a"[..], b"efg", b"b", b"fgh", b"d", b"i"], "{}", device.name());
        let got = flat(words.substr_chars(1, &column));
        assert_eq!(got, [&b""[..], b"", b"b", b"f", b"", b""], "{}", device.name());
        // The strings repeat too: one string at several positions.
        let one = HostTensor::dense(&[], HostValues::Str(vec![b"xyz".to_vec()])).to_device(device).expect("uploaded");
        let got = one.substr(&dense(&[4], vec![0, 1, 2, 3], device), 2).and_then(TryInto::try_into);
        assert_eq!(flat(got), [&b"xy"[..], b"yz", b"z", b""], "{}", device.name());
        let column = words.reshape([2, 1]).expect("a column");
        let got = column.substr(&dense(&[1, 3], vec![0, 1, 2], device), &dense(&[2, 1], vec![1, 2], device));
        assert_eq!(flat(got), [&b"a"[..], b"b", b"c", b"ef", b"fg", b"gh"], "{}", device.name());
        assert!(words.substr(&dense(&[3], vec![0, 1, 2], device), 1).is_err(), "{}", device.name());
        // A ragged tensor takes positions of its own layout.
        let bytes = words.bytes_split().expect("bytes");
        assert!(bytes.substr(&dense(&[2, 1], vec![0, 0], device), 1).is_err(), "{}", device.name());
    }
}

/// The shortest text is at most as long as any other that reads back.
#[test]
fn the_shortest_text_of_a_float_reads_back() {
    let shortest = NumberFormat::default().notation(Notation::Shortest);
    let cpu = Device::cpu();
    let texts = |values: HostValues| -> Vec<String> {
        let x = HostTensor::dense(&[values.len()], values).to_device(&cpu).expect("uploaded");
        let HostValues::Str(all) = x.as_string_with(&shortest).and_then(|t| t.to_host()).expect("text").values else {
            panic!("no strings")
        };
        all.into_iter().map(|text| String::from_utf8(text).expect("ASCII")).collect()
    };
    let bits32 = (0..4000u32).map(|k| f32::from_bits(k.wrapping_mul(0x9e37_79b1)));
    let some32: Vec<f32> =
        bits32.chain([1.0 / 3.0, 16_777_216.0, f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.1, 1e10]).collect();
    let some32: Vec<f32> = some32.into_iter().filter(|x| x.is_finite()).collect();
    for (x, text) in some32.iter().zip(texts(HostValues::F32(some32.clone()))) {
        assert_eq!(text.parse::<f32>().expect("a number").to_bits(), x.to_bits(), "{text}");
    }
    let bits64 = (0..4000u64).map(|k| f64::from_bits(k.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let some64: Vec<f64> =
        bits64.chain([1.0 / 3.0, f64::MAX, 5e-324, 0.1, 2f64.powi(60)]).filter(|x| x.is_finite()).collect();
    for (x, text) in some64.iter().zip(texts(HostValues::F64(some64.clone()))) {
        assert_eq!(text.parse::<f64>().expect("a number").to_bits(), x.to_bits(), "{text}");
    }
    // All of the narrow floats, read as f32.
    let all16: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).filter(|x| x.is_finite()).collect();
    for (x, text) in all16.iter().zip(texts(HostValues::F16(all16.clone()))) {
        assert_eq!(f16::from_f32(text.parse().expect("a number")).to_bits(), x.to_bits(), "{text}");
        assert!(text.trim_matches(['-', '0', '.']).split('e').next().expect("digits").len() <= 6, "{text}");
    }
    let allb16: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).filter(|x| x.is_finite()).collect();
    for (x, text) in allb16.iter().zip(texts(HostValues::BF16(allb16.clone()))) {
        assert_eq!(bf16::from_f32(text.parse().expect("a number")).to_bits(), x.to_bits(), "{text}");
    }
    let given = vec![0.1, 1.0 / 3.0, 16_777_216.0, 100.0, -0.0, 1e-5, 1e30, f32::INFINITY, f32::NAN];
    let want = ["0.1", "0.33333334", "16777216", "100", "-0", "1e-05", "1e+30", "inf", "nan"];
    assert_eq!(texts(HostValues::F32(given)), want);
    assert_eq!(texts(HostValues::F16(vec![f16::from_f32(0.1), f16::MAX])), ["0.1", "65500"]);
    // With a number of digits it is C's `%g`.
    let x = RaggedTensor::from_nested([1.0f32 / 3.0, 16_777_216.0], &cpu).expect("uploaded");
    assert_eq!(flat(x.as_string_with(&shortest.precision(6))), [&b"0.333333"[..], b"1.67772e+07"]);
}

/// As TensorFlow's `ragged_tensor_to_string`: single quotes, and a backslash before single quotes and backslashes.
#[test]
fn the_text_of_ragged_strings_has_single_quotes() {
    let text = |x: &Tensor| {
        let t = x.string_format("{}").and_then(|t| t.to_host()).expect("text");
        let HostValues::Str(all) = t.values else { panic!("no string") };
        String::from_utf8(all[0].clone()).expect("UTF-8")
    };
    let cpu = Device::cpu();
    let x =
        RaggedTensor::<Str>::from_nested([vec![vec!["a"], vec!["b", "c"]], vec![vec![], vec!["it's", "a\\b"]]], &cpu);
    assert_eq!(text(x.expect("uploaded").erased()), r"[[['a'], ['b', 'c']], [[], ['it\'s', 'a\\b']]]");
    let x = RaggedTensor::from_nested([vec![1.5f32, -2.0], vec![]], &cpu).expect("uploaded");
    assert_eq!(text(x.erased()), "[[1.500000, -2.000000], []]");
    let x = RaggedTensor::from_nested([vec![true], vec![false]], &cpu).expect("uploaded");
    assert_eq!(text(x.erased()), "[[true], [false]]");
}

/// As `tf.strings.reduce_join` of dense tensors: the axis that is named first is joined first.
#[test]
fn joins_of_dense_tensors_follow_the_order_of_the_axes() {
    let words: Vec<Bytes> = (0..12u8).map(|k| vec![b'a' + k]).collect();
    for device in devices() {
        let x = HostTensor::dense(&[2, 2], HostValues::Str(words[..4].to_vec())).to_device(device).expect("uploaded");
        let join = |x: &Tensor, axes: &[i64], by: &str| flat(x.reduce_join(axes, by).and_then(TryInto::try_into));
        assert_eq!(join(&x, &[0, 1], ""), [b"acbd"], "{}", device.name());
        assert_eq!(join(&x, &[1, 0], ""), [b"abcd"], "{}", device.name());
        assert_eq!(join(&x, &[-2, -1], "+"), [b"a+c+b+d"], "{}", device.name());
        let deep = HostTensor::dense(&[2, 3, 2], HostValues::Str(words.clone())).to_device(device).expect("uploaded");
        assert_eq!(join(&deep, &[0, 2], ""), [b"agbh", b"cidj", b"ekfl"], "{}", device.name());
        assert_eq!(join(&deep, &[2, 0], "-"), [b"a-b-g-h", b"c-d-i-j", b"e-f-k-l"], "{}", device.name());
        assert_eq!(join(&deep, &[1, 2], ""), [b"acebdf", b"gikhjl"], "{}", device.name());
        assert_eq!(join(&deep, &[1, 0, 2], ""), [b"acegikbdfhjl"], "{}", device.name());
        let kept = deep.reduce_join(keep([0, 2]), "").expect("recorded");
        assert_eq!(kept.shape(), [Some(1), Some(3), Some(1)], "{}", device.name());
        assert_eq!(flat(kept.try_into()), [b"agbh", b"cidj", b"ekfl"], "{}", device.name());
        // No strings are joined to one empty string, without separators.
        let none = HostTensor::dense(&[2, 3, 0], HostValues::Str(Vec::new())).to_device(device).expect("uploaded");
        assert_eq!(join(&none, &[0, 2], "-"), [b"", b"", b""], "{}", device.name());
        assert_eq!(join(&none, &[2, 0], "-"), [b"", b"", b""], "{}", device.name());
    }
}
