//! Unicode text and base64 against the standard library and the crate `base64`, on every device.

mod common;

use base64::Engine as _;
use common::random::Random;
use ragged::opt::{Base64, Encoding, TextEncoding, ignore_invalid, replace_controls, replace_invalid, strict};
use ragged::{DType, Device, HostTensor, HostValues, RaggedTensor, Tensor};

fn tensor(device: &Device, strings: &[Vec<u8>]) -> Tensor {
    HostTensor::dense(&[strings.len()], HostValues::Str(strings.to_vec())).to_device(device).expect("valid")
}

/// The rows of code points.
fn rows(codes: &Tensor) -> Vec<Vec<u32>> {
    let host = codes.to_host().expect("decoded");
    let HostValues::I32(values) = &host.values else { panic!("code points are {}", host.values.dtype()) };
    let row = |w: &[u32]| values[w[0] as usize..w[1] as usize].iter().map(|&c| c as u32).collect();
    host.nested_row_splits[0].windows(2).map(row).collect()
}

fn texts(strings: &Tensor) -> Vec<Vec<u8>> {
    match strings.to_host().expect("read").values {
        HostValues::Str(values) => values,
        other => panic!("strings are {}", other.dtype()),
    }
}

/// The characters of a text, none for an invalid one, with their offsets.
fn decoded(text: &[u8], encoding: Encoding) -> Vec<(Option<char>, usize)> {
    let mut out = Vec::new();
    match encoding {
        // The standard library divides invalid UTF-8 into maximal subparts too.
        Encoding::Utf8 => {
            let mut at = 0;
            for chunk in text.utf8_chunks() {
                out.extend(chunk.valid().char_indices().map(|(k, c)| (Some(c), at + k)));
                at += chunk.valid().len();
                if !chunk.invalid().is_empty() {
                    out.push((None, at));
                    at += chunk.invalid().len();
                }
            }
        }
        Encoding::Utf16Be => {
            let words: Vec<u16> = text.chunks_exact(2).map(|w| u16::from_be_bytes([w[0], w[1]])).collect();
            let mut at = 0;
            for c in char::decode_utf16(words.iter().copied()) {
                out.push((c.as_ref().ok().copied(), at));
                at += c.map_or(2, |c| 2 * c.len_utf16());
            }
            // An odd byte belongs to the unpaired half before it.
            let is_unpaired = words.last().is_some_and(|w| (0xD800..0xDC00).contains(w));
            if text.len() % 2 == 1 && !is_unpaired {
                out.push((None, at));
            }
        }
        Encoding::Utf32Be => {
            for (k, word) in text.chunks(4).enumerate() {
                let code = <[u8; 4]>::try_from(word).map(u32::from_be_bytes);
                out.push((code.ok().and_then(char::from_u32), 4 * k));
            }
        }
        other => panic!("{other:?} has no reference"),
    }
    out
}

fn encoded(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Encoding::Utf32Be => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
        other => panic!("{other:?} has no reference"),
    }
}

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16Be, Encoding::Utf32Be];

/// Bytes at which UTF-8 changes its rules, and words at which UTF-16 and UTF-32 do.
fn hard_texts(encoding: Encoding) -> Vec<Vec<u8>> {
    let edges = [
        0x00, 0x1F, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
        0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ];
    let words: [u16; 8] = [0x0041, 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 0xFFFF];
    let codes = [0u32, 0x41, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFD, 0x1_0000, 0x10_FFFF, 0x11_0000, u32::MAX];
    let mut random = Random(7);
    let mut out = vec![Vec::new()];
    for _ in 0..1500 {
        let mut pick = |n: usize| random.below(n as u32) as usize;
        let len = pick(7);
        let mut text: Vec<u8> = match encoding {
            Encoding::Utf8 => (0..len).map(|_| edges[pick(edges.len())]).collect(),
            Encoding::Utf16Be => (0..len).flat_map(|_| words[pick(words.len())].to_be_bytes()).collect(),
            Encoding::Utf32Be => (0..len).flat_map(|_| codes[pick(codes.len())].to_be_bytes()).collect(),
            other => panic!("{other:?} has no reference"),
        };
        text.truncate(text.len() - pick(4).min(text.len()) * usize::from(pick(4) == 0));
        out.push(text);
    }
    if encoding == Encoding::Utf8 {
        // Every pair, and every pair after the lead bytes of longer characters.
        for (a, b) in edges.iter().flat_map(|&a| edges.map(|b| (a, b))) {
            out.push(vec![a, b]);
            out.extend([0xE1, 0xF0, 0xF1].map(|lead| vec![lead, 0x90, a, b]));
        }
    }
    out.extend(["", "naïve 日本語 😀", "\u{10FFFF}\u{10000}"].map(|text| encoded(text, encoding)));
    out
}

#[test]
fn text_is_decoded_as_the_standard_library_does() {
    for (name, device) in common::devices() {
        for encoding in ENCODINGS {
            let strings = hard_texts(encoding);
            let x = tensor(&device, &strings);
            let check = |format: TextEncoding, replaced: Option<char>, is_valid: fn(char) -> bool| {
                let (codes, offsets) = x.unicode_decode_with_offsets(format).expect("recorded");
                let (got, at) = (rows(&codes), rows(&offsets.cast(DType::I32).expect("recorded")));
                let (split, split_at) = x.unicode_split_with_offsets(format).expect("recorded");
                let mut characters = texts(&split).into_iter();
                assert_eq!(rows(&split_at.cast(DType::I32).expect("recorded")), at, "{name} {encoding:?}");
                let utf8 = texts(&x.unicode_transcode(format, Encoding::Utf8).expect("recorded"));
                for (k, text) in strings.iter().enumerate() {
                    let found = decoded(text, encoding).into_iter();
                    let found = found.map(|(c, at)| (c.filter(|&c| is_valid(c)).or(replaced), at));
                    let found: Vec<(char, u32)> = found.filter_map(|(c, at)| Some((c?, at as u32))).collect();
                    let what = format!("{name} {format:?} {text:x?}");
                    assert_eq!(got[k], found.iter().map(|&(c, _)| u32::from(c)).collect::<Vec<_>>(), "{what}");
                    assert_eq!(at[k], found.iter().map(|&(_, at)| at).collect::<Vec<_>>(), "{what}");
                    let joined: String = found.iter().map(|(c, _)| *c).collect();
                    assert_eq!(utf8[k], joined.as_bytes(), "{what}");
                    for (c, _) in found {
                        assert_eq!(
                            characters.next().expect("a character"),
                            encoded(&c.to_string(), encoding),
                            "{what}"
                        );
                    }
                }
            };
            check(encoding.into(), Some('\u{FFFD}'), |_| true);
            check(replace_invalid(encoding, '😀'), Some('😀'), |_| true);
            check(ignore_invalid(encoding), None, |_| true);
            check(replace_controls(encoding), Some('\u{FFFD}'), |c| c >= ' ');
            check(replace_controls(ignore_invalid(encoding)), None, |c| c >= ' ');
        }
    }
}

#[test]
fn strict_decoding_fails_at_any_invalid_text() {
    for (name, device) in common::devices() {
        for encoding in ENCODINGS {
            for text in hard_texts(encoding).into_iter().step_by(40) {
                let is_valid = decoded(&text, encoding).iter().all(|(c, _)| c.is_some());
                let got = tensor(&device, std::slice::from_ref(&text))
                    .unicode_decode(strict(encoding))
                    .expect("recorded")
                    .to_host();
                assert_eq!(got.is_ok(), is_valid, "{name} {encoding:?} {text:x?}");
            }
            let control = tensor(&device, &[encoded("a\n", encoding)]);
            assert!(control.unicode_decode(strict(encoding)).expect("recorded").to_host().is_ok(), "{name}");
            let format = strict(replace_controls(encoding));
            assert!(control.unicode_decode(format).expect("recorded").to_host().is_err(), "{name}");
        }
    }
}

#[test]
fn code_points_are_encoded_as_the_standard_library_does() {
    let codes = [-1, 0, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFFFF, 0x1_0000, 0x10_FFFF];
    let codes = [&codes[..], &[0x11_0000, i32::MAX]].concat();
    let nested: Vec<Vec<i32>> = (0..codes.len()).map(|k| codes[k..codes.len().min(k + k % 4)].to_vec()).collect();
    for (name, device) in common::devices() {
        let x = RaggedTensor::from_nested(nested.clone(), &device).expect("valid");
        for encoding in ENCODINGS {
            let expected = |replaced: Option<char>| -> Vec<Vec<u8>> {
                let char = |&c: &i32| u32::try_from(c).ok().and_then(char::from_u32).or(replaced);
                nested.iter().map(|row| encoded(&row.iter().filter_map(char).collect::<String>(), encoding)).collect()
            };
            for wide in [DType::I32, DType::I64] {
                let x = x.erased().cast(wide).expect("recorded");
                let text = |format: TextEncoding| texts(&x.unicode_encode(format).expect("recorded"));
                assert_eq!(text(encoding.into()), expected(Some('\u{FFFD}')), "{name} {encoding:?}");
                assert_eq!(text(replace_invalid(encoding, 'é')), expected(Some('é')), "{name} {encoding:?}");
                assert_eq!(text(ignore_invalid(encoding)), expected(None), "{name} {encoding:?}");
                assert!(x.unicode_encode(strict(encoding)).expect("recorded").to_host().is_err(), "{name}");
            }
        }
        let scalar = RaggedTensor::from_nested([72, 105], &device).expect("valid");
        let scalar = scalar.unicode_encode(Encoding::Utf8).expect("recorded").erased().to_host().expect("encoded");
        assert_eq!(scalar, HostTensor::dense(&[], HostValues::Str(vec![b"Hi".to_vec()])), "{name}");
    }
}

#[test]
fn base64_text_is_that_of_the_crate_of_that_name() {
    use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
    let mut random = Random(3);
    let strings: Vec<Vec<u8>> = (0..300).map(|n| (0..n % 37).map(|_| random.below(256) as u8).collect()).collect();
    for (name, device) in common::devices() {
        let x = tensor(&device, &strings);
        for (end, engine) in [(Base64::Unpadded, URL_SAFE_NO_PAD), (Base64::Padded, URL_SAFE)] {
            let text = x.encode_base64(end).expect("recorded");
            let expected: Vec<Vec<u8>> = strings.iter().map(|s| engine.encode(s).into_bytes()).collect();
            assert_eq!(texts(&text), expected, "{name} {end:?}");
            assert_eq!(texts(&text.decode_base64().expect("recorded")), strings, "{name} {end:?}");
            assert_eq!(
                texts(&tensor(&device, &expected).decode_base64().expect("recorded")),
                strings,
                "{name} {end:?}"
            );
        }
        for bad in ["A", "AAAAA", "AA+A", "AA/A", "A A", "AA=", "=", "====", "A===", "AA=A", "=AAA", "AA\u{FF}A"] {
            let x = tensor(&device, &[b"AAAA".to_vec(), bad.into()]);
            assert!(x.decode_base64().expect("recorded").to_host().is_err(), "{name} {bad}");
        }
    }
}

#[test]
fn misuse_is_an_error() {
    let device = Device::cpu();
    let numbers = RaggedTensor::from_nested([1, 2], &device).expect("valid").erased().clone();
    assert!(numbers.unicode_decode(Encoding::Utf8).is_err());
    assert!(numbers.unicode_split(Encoding::Utf8).is_err());
    assert!(numbers.unicode_transcode(Encoding::Utf8, Encoding::Utf8).is_err());
    assert!(numbers.encode_base64(Base64::Padded).is_err());
    assert!(numbers.decode_base64().is_err());
    let floats = numbers.cast(DType::F32).expect("recorded");
    assert!(floats.unicode_encode(Encoding::Utf8).is_err());
    assert!(floats.unicode_script().is_err());
    let text = tensor(&device, &[b"a".to_vec()]);
    assert!(text.unicode_encode(Encoding::Utf8).is_err());
    assert!(text.unicode_script().is_err());
}
