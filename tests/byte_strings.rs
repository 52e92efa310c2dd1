//! Byte strings and bytes, affixes, fields and numbers, compared with loops over host strings, on every device.

mod common;

use ragged::opt::{any_of, max_splits, nonempty, white_space};
use ragged::{Device, RaggedTensor, Result, Str, Tensor};

type Bytes = Vec<u8>;

fn devices() -> impl Iterator<Item = &'static Device> {
    common::devices_and_unfused_cpu().iter().map(|(_, device)| device)
}

/// Numbers from 0 to below `n`.
struct Random(u32);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as usize % n
    }

    /// Strings of few different bytes: most are short, some are empty, and one is giant.
    fn strings(&mut self, count: usize) -> Vec<Bytes> {
        let mut all: Vec<Bytes> = (0..count)
            .map(|_| {
                let n = [0, 1, 2, 5, 9, 40][self.below(6)];
                (0..n).map(|_| b"ab-\xFF "[self.below(5)]).collect()
            })
            .collect();
        if count > 2 {
            all[count / 2] = (0..70_000).map(|_| b"ab-\xFF "[self.below(5)]).collect();
        }
        all
    }
}

fn flat(t: Result<RaggedTensor<Str>>) -> Vec<Bytes> {
    t.and_then(|t| t.to_vec()).unwrap_or_else(|e| panic!("{e}"))
}

/// The strings as they are given, and those among them that only the device has counted.
fn both(strings: &[Bytes], device: &Device) -> Vec<(RaggedTensor<Str>, Vec<Bytes>)> {
    let x = RaggedTensor::<Str>::from_bytes(strings, device).expect("uploaded");
    let some = x.boolean_mask(&x.string_length().and_then(|n| n.greater(1)).expect("recorded")).expect("recorded");
    let longer = strings.iter().filter(|s| s.len() > 1).cloned().collect();
    vec![(x, strings.to_vec()), (some, longer)]
}

#[test]
fn lists_of_bytes_become_strings_at_any_depth() {
    for device in devices() {
        let scalar = RaggedTensor::<Str>::from_bytes(b"a\xFFb", device).expect("uploaded");
        assert_eq!((scalar.rank(), flat(Ok(scalar))), (0, vec![b"a\xFFb".to_vec()]));
        let empty = RaggedTensor::<Str>::from_bytes(Vec::<u8>::new(), device).expect("uploaded");
        assert_eq!((empty.rank(), flat(Ok(empty))), (0, vec![Vec::new()]));
        let vector = RaggedTensor::<Str>::from_bytes([&b"ab"[..], b""], device).expect("uploaded");
        assert_eq!(vector.to_string(), "tensor([b'ab', b''], shape=(2,), dtype=str)");
        let fixed = RaggedTensor::<Str>::from_bytes([[b"ab", b"cd"], [b"ef", b"gh"]], device).expect("uploaded");
        assert_eq!(fixed.to_string(), "tensor([[b'ab', b'cd'], [b'ef', b'gh']], shape=(2, 2), dtype=str)");
        let nested: Vec<Vec<Vec<Bytes>>> = vec![vec![vec![b"a".to_vec(), vec![]], vec![]], vec![]];
        let deep = RaggedTensor::<Str>::from_bytes(&nested, device).expect("uploaded");
        assert_eq!(deep.to_nested_vec::<Vec<Vec<Vec<Bytes>>>>().expect("read"), nested);
        let pairs = RaggedTensor::<Str>::from_bytes(vec![vec![[*b"abc", *b"def"]], vec![]], device).expect("uploaded");
        assert_eq!(pairs.to_string(), "<ragged.RaggedTensor [[[b'abc', b'def']], []]>");
        let none = RaggedTensor::<Str>::from_bytes(Vec::<Vec<Bytes>>::new(), device).expect("uploaded");
        assert_eq!((none.rank(), none.to_strings().expect("read")), (2, Vec::new()));
        assert!(RaggedTensor::<Str>::from_bytes(7u8, device).is_err());
    }
}

#[test]
fn bytes_and_strings_are_inverse() {
    let strings = Random(1).strings(3000);
    for device in devices() {
        for (x, want) in both(&strings, device) {
            let bytes = x.string_to_bytes().expect("recorded");
            assert_eq!(bytes.rank(), 2);
            assert_eq!(bytes.to_nested_vec::<Vec<Bytes>>().expect("read"), want, "{}", device.name());
            assert_eq!(flat(bytes.bytes_to_string()), want, "{}", device.name());
            // All as one string.
            let whole = bytes.values().and_then(|bytes| bytes.bytes_to_string());
            assert_eq!(flat(whole), [want.concat()], "{}", device.name());
        }
    }
}

#[test]
fn uniform_and_strided_rows_become_strings() {
    for device in devices() {
        let grid = RaggedTensor::from_nested([[[1u8, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]], device);
        let grid = grid.expect("uploaded");
        let strings = grid.bytes_to_string().expect("recorded");
        assert_eq!(strings.shape(), [Some(2), Some(2)]);
        assert_eq!(flat(Ok(strings)), [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]);
        let turned = grid.transpose([0, 2, 1]).and_then(|t| t.bytes_to_string()).expect("recorded");
        assert_eq!(flat(Ok(turned.clone())), [[1, 4], [2, 5], [3, 6], [7, 10], [8, 11], [9, 12]]);
        assert_eq!(turned.string_to_bytes().expect("recorded").shape(), [Some(2), Some(3), Some(2)]);
        let every = grid.slice(ragged::s![.., .., ..;2]).and_then(|t| t.bytes_to_string());
        assert_eq!(flat(every), [[1, 3], [4, 6], [7, 9], [10, 12]]);
        let points = RaggedTensor::from_nested(vec![vec![[65u8, 66]], vec![], vec![[67, 68], [69, 70]]], device);
        let points = points.and_then(|t| t.bytes_to_string()).expect("recorded");
        assert_eq!(points.to_string(), "<ragged.RaggedTensor [[b'AB'], [], [b'CD', b'EF']]>");
        let empty = RaggedTensor::<u8>::from_nested(vec![Bytes::new(), Bytes::new()], device);
        assert_eq!(flat(empty.and_then(|t| t.bytes_to_string())), [b"", b""]);
    }
}

#[test]
fn reads_of_text_name_the_first_invalid_string() {
    let invalid: [&[u8]; 3] = [b"ab", b"caf\xC3", b"\xFF"];
    for device in devices() {
        let x = RaggedTensor::from_nested([vec!["日本", ""], vec![], vec!["b"]], device).expect("uploaded");
        assert_eq!(x.to_strings().expect("read"), ["日本", "", "b"]);
        assert_eq!(pollster::block_on(x.to_strings_async()).expect("read"), ["日本", "", "b"]);
        let rows: Vec<Vec<String>> = x.to_nested_vec().expect("read");
        assert_eq!(rows, [vec!["日本", ""], vec![], vec!["b"]]);
        let y = RaggedTensor::<Str>::from_bytes(invalid, device).expect("uploaded");
        let e = y.to_strings().expect_err("invalid").to_string();
        assert!(
            e.contains("to_strings: the string at position 1 is not valid UTF-8 at byte 3: \"caf\u{FFFD}\""),
            "{e}"
        );
        assert!(e.contains("the string at position 1") && e.contains("byte_strings.rs"), "{e}");
        let e = y.to_nested_vec::<Vec<String>>().expect_err("invalid").to_string();
        assert!(e.contains("the string at position 1") && e.contains("byte_strings.rs"), "{e}");
        assert!(pollster::block_on(y.to_strings_async()).is_err());
        assert_eq!(y.to_strings_lossy().expect("read"), ["ab", "caf\u{FFFD}", "\u{FFFD}"]);
    }
}

#[test]
fn affixes_are_removed_once() {
    let strings = Random(2).strings(5000);
    let long = [b"ab-".repeat(7), b"a".to_vec()].concat();
    let mut strings = [strings, vec![long.clone(), [&long[..], b"b"].concat(), [b"b", &long[..]].concat()]].concat();
    strings.push(long[..21].to_vec());
    let affixes = Random(3).strings(strings.len());
    let affixes: Vec<Bytes> = affixes
        .into_iter()
        .zip(&strings)
        .enumerate()
        .map(|(k, (affix, s))| match k % 4 {
            0 => affix,
            1 => s[..s.len() / 2].to_vec(),
            2 => s[s.len() - s.len() / 3..].to_vec(),
            _ => s.clone(),
        })
        .collect();
    let front = |s: &Bytes, affix: &[u8]| s.strip_prefix(affix).unwrap_or(s).to_vec();
    let back = |s: &Bytes, affix: &[u8]| s.strip_suffix(affix).unwrap_or(s).to_vec();
    for device in devices() {
        let name = device.name();
        for (x, all) in both(&strings, device) {
            for affix in ["", "a", "ab", "- ", std::str::from_utf8(&long).expect("ASCII")] {
                let want: Vec<Bytes> = all.iter().map(|s| front(s, affix.as_bytes())).collect();
                assert!(flat(x.strip_prefix(affix)) == want, "{affix:?} in front, {name}");
                let want: Vec<Bytes> = all.iter().map(|s| back(s, affix.as_bytes())).collect();
                assert!(flat(x.strip_suffix(affix)) == want, "{affix:?} behind, {name}");
            }
        }
        let x = RaggedTensor::<Str>::from_bytes(&strings, device).expect("uploaded");
        let y = RaggedTensor::<Str>::from_bytes(&affixes, device).expect("uploaded");
        let each = |f: &dyn Fn(&Bytes, &[u8]) -> Bytes| -> Vec<Bytes> {
            strings.iter().zip(&affixes).map(|(s, affix)| f(s, affix)).collect()
        };
        assert!(flat(x.strip_prefix(&y)) == each(&front), "{name}");
        assert!(flat(x.strip_suffix(&y)) == each(&back), "{name}");
        // Both broadcast.
        let column = RaggedTensor::from_nested([["a-"], ["b"]], device).expect("uploaded");
        let ends = RaggedTensor::from_nested(["-", "b", "c"], device).expect("uploaded");
        let got = column.strip_suffix(&ends).expect("recorded");
        assert_eq!(got.shape(), [Some(2), Some(3)]);
        assert_eq!(got.to_strings().expect("read"), ["a", "a-", "a-", "b", "", "b"], "{name}");
        let all = RaggedTensor::from_nested(vec![vec!["aa", "b"], vec![], vec!["ba"]], device).expect("uploaded");
        let of_rows = RaggedTensor::from_nested([["a"], ["x"], ["b"]], device).expect("uploaded");
        let got = all.strip_prefix(&of_rows).expect("recorded");
        assert_eq!(got.to_string(), "<ragged.RaggedTensor [[b'a', b'b'], [], [b'a']]>", "{name}");
    }
}

#[test]
fn fields_are_pieces_of_the_split() {
    let strings = Random(4).strings(300);
    let separators = [
        "-".into(),
        "- ".into(),
        "aa".into(),
        any_of("- "),
        nonempty("-"),
        nonempty("ab"),
        white_space(),
        max_splits("-", 2),
        max_splits(nonempty(any_of("a ")), 2),
    ];
    for device in devices() {
        for (x, all) in both(&strings, device) {
            for separator in &separators {
                let split = x.string_split(separator.clone()).and_then(|t| t.to_nested_vec::<Vec<Vec<Bytes>>>());
                let split = split.expect("pieces");
                for n in [0i64, 1, 7, -1, -2] {
                    let of = |row: &Vec<Bytes>| {
                        let k = if n < 0 { row.len() as i64 + n } else { n };
                        usize::try_from(k).ok().and_then(|k| row.get(k)).cloned()
                    };
                    let what = format!("{separator:?} {n} on {}", device.name());
                    let default = if n == 1 { "none" } else { "" };
                    let or = |row| of(row).unwrap_or_else(|| default.as_bytes().to_vec());
                    let want: Vec<Bytes> = split.iter().map(or).collect();
                    assert!(flat(x.nth_field_or(separator.clone(), n, default)) == want, "{what}");
                    let want: Option<Vec<Bytes>> = split.iter().map(of).collect();
                    let got = x.nth_field(separator.clone(), n).and_then(|t| t.to_vec());
                    assert!(got.as_ref().ok() == want.as_ref(), "{what}: {:?}", got.err());
                }
            }
            assert_eq!(all.len(), x.to_vec().expect("read").len());
        }
    }
}

#[test]
fn a_missing_field_is_named() {
    for device in devices() {
        let x = RaggedTensor::from_nested(["a b", "c"], device).expect("uploaded");
        let (e, line) = (x.nth_field(" ", 1), line!());
        let e = e.and_then(|t| t.to_vec()).expect_err("a missing field").to_string();
        let want = format!(
            "nth_field: a string has no field 1: 1 for size 1 (first at position 1), at tests/byte_strings.rs:{line}"
        );
        assert!(e.contains(&want), "{e}");
    }
}

#[test]
fn integers_of_every_type_are_exact_up_to_their_limits() {
    macro_rules! check {
        ($($t:ty)+) => {$(
            let (least, most) = (i128::from(<$t>::MIN), i128::from(<$t>::MAX));
            let inside = [least, least + 1, 0, 1, most / 2, most - 1, most];
            let texts: Vec<String> = inside.iter().map(|n| format!(" {n}\n")).collect();
            let padded: Vec<String> = inside.iter().map(|n| format!("{}{:030}", if *n < 0 { "-" } else { "+" }, n.abs())).collect();
            let want: Vec<$t> = inside.iter().map(|&n| <$t>::try_from(n).expect("inside")).collect();
            let ten = |k: u32| 10i128.pow(k);
            let outside = [least - 1, most + 1, least - 10, most + 10, -ten(19), most * 10, most * 10 + 9, ten(20), 2 * ten(19), 3 * ten(19), ten(38)];
            for device in devices() {
                for texts in [&texts, &padded] {
                    let x = RaggedTensor::from_nested(texts, device).expect("uploaded");
                    let got = x.string_to_number::<$t>().and_then(|t| t.to_vec()).expect("numbers");
                    assert_eq!(got, want, "{} on {}", stringify!($t), device.name());
                }
                for n in outside.into_iter().filter(|&n| n < least || n > most) {
                    let x = RaggedTensor::from_nested([String::from("1"), n.to_string()], device).expect("uploaded");
                    let e = x.string_to_number::<$t>().and_then(|t| t.to_vec()).expect_err("too large").to_string();
                    let shown = format!("not a number of {}: \"{n}\" (first at position 1)", stringify!($t));
                    assert!(e.contains(&shown), "{e}");
                }
                for text in ["-0", "-00", "+0", "-", "+", "", "--1", "+-0"] {
                    let x = RaggedTensor::from_nested([text], device).expect("uploaded");
                    let got = x.string_to_number::<$t>().and_then(|t| t.item()).ok();
                    assert_eq!(got, text.parse::<$t>().ok(), "{text:?} as {} on {}", stringify!($t), device.name());
                }
            }
        )+};
    }
    check!(u8 i8 u16 i16 u32 i32 u64 i64);
}

/// The longest start that Rust takes, after white space.
fn longest_start<T: std::str::FromStr>(text: &str) -> Option<T> {
    let text = text.trim_start();
    (0..=text.len()).rev().filter(|&n| text.is_char_boundary(n)).find_map(|n| text[..n].parse().ok())
}

#[test]
fn prefixes_are_the_longest_starts_that_are_numbers() {
    let texts = [
        "12ab",
        " -7.5 kg",
        "+3",
        "3",
        "00012x",
        "127x",
        "128.",
        "99999999999999999999x",
        "1e5",
        "1e",
        "2e+",
        "1e+2x",
        ".5",
        "5.",
        "5.x",
        "-.25e-1",
        ".",
        "-",
        "+x",
        "",
        "  ",
        "x1",
        "e5",
        "infinite",
        "-INFx",
        "nano",
        "1 2",
        "1\u{e4}",
        "--1",
        "4\0",
        "\t\n6\n",
        "1_000",
        "0x10",
        "1e400",
        "1,5",
    ];
    for device in devices() {
        for text in texts {
            let x = RaggedTensor::from_nested(["1", text], device).expect("uploaded");
            macro_rules! check {
                ($($t:ty: $want:expr;)+) => {$(
                    let got = x.string_prefix_to_number::<$t>().and_then(|t| t.to_vec());
                    let want: Option<$t> = $want;
                    let what = format!("{text:?} as {} on {}", stringify!($t), device.name());
                    match (got, want) {
                        (Ok(got), Some(want)) => assert!(got[1] == want || got[1] != got[1] && want != want, "{what}: {got:?}"),
                        (Err(e), None) => {
                            let says = format!("does not begin with a number of {}: {text:?}", stringify!($t));
                            assert!(e.to_string().contains(&says) || !text.is_ascii() || text.contains('\0'), "{what}: {e}");
                        }
                        (got, want) => panic!("{what}: {got:?} instead of {want:?}"),
                    }
                )+};
            }
            // All digits count: a longer number that does not fit is no shorter one that does.
            let whole = longest_start::<i128>(text);
            check! {
                i8: whole.and_then(|n| n.try_into().ok());
                u16: whole.and_then(|n| n.try_into().ok());
                i32: whole.and_then(|n| n.try_into().ok());
                i64: whole.and_then(|n| n.try_into().ok());
            }
            // Floats are a step of the host.
            if device.is_cpu() {
                check! {
                    f32: longest_start(text);
                    f64: longest_start(text);
                }
            }
        }
    }
}

/// Between matches of a pattern of single bytes, the pieces are those of a split at any of the bytes.
#[cfg(feature = "regex")]
#[test]
fn splits_at_expressions_are_those_at_their_matches() {
    let mut strings = Random(5).strings(3000);
    strings.extend([b"-a-".to_vec(), b"aXXb".to_vec(), "日--本".into()]);
    let separators = [
        ("[- ]", any_of("- "), false),
        ("(-)|( )", any_of("- "), false),
        ("[- ]", max_splits(any_of("- "), 2), false),
        ("[- ]+", nonempty(any_of("- ")), true),
        ("[- ]", nonempty(any_of("- ")), true),
        ("[- ]", max_splits(nonempty(any_of("- ")), 1), true),
        ("[- ]+", max_splits(nonempty(any_of("- ")), 2), true),
        (r"(?-u:\xFF)", (&b"\xFF"[..]).into(), false),
        ("ab", "ab".into(), false),
    ];
    // A GPU runs host steps if its options allow them.
    let gpu = common::gpu_with(&ragged::DeviceOptions::default().host_steps(true));
    let all: Vec<Device> = devices().filter(|device| device.is_cpu()).cloned().chain(gpu).collect();
    for device in &all {
        for (x, _) in both(&strings, device) {
            for (pattern, separator, drops) in &separators {
                let mut by = ragged::opt::Separator::from(*pattern);
                (by.nonempty, by.max_splits) = (*drops, separator.max_splits);
                let got = x.regex_split(by).and_then(|t| t.to_nested_vec::<Vec<Vec<Bytes>>>()).expect("pieces");
                let want = x.string_split(separator.clone()).and_then(|t| t.to_nested_vec::<Vec<Vec<Bytes>>>());
                assert!(got == want.expect("pieces"), "{pattern} on {}", device.name());
            }
        }
        let x = RaggedTensor::from_nested(["axbc", ""], device).expect("uploaded");
        let rows = x.regex_split("x*").and_then(|t| t.to_nested_vec::<Vec<Vec<String>>>()).expect("pieces");
        assert_eq!(rows, [vec!["", "a", "b", "c", ""], vec!["", ""]], "{}", device.name());
        let one = RaggedTensor::<Str>::from_bytes(b"a1b22c", device).and_then(|x| x.regex_split("[0-9]+"));
        assert_eq!(one.and_then(|t| t.to_strings()).expect("pieces"), ["a", "b", "c"]);
    }
}

#[test]
fn erased_tensors_have_the_same_operations() {
    let x = RaggedTensor::from_nested([vec!["a=1", "b=2"], vec![]], &Device::cpu()).expect("uploaded").into_erased();
    let text = |t: Result<Tensor>| t.expect("recorded").to_string();
    assert_eq!(text(x.strip_prefix("a")), "<ragged.RaggedTensor [[b'=1', b'b=2'], []]>");
    assert_eq!(text(x.nth_field("=", 1)), "<ragged.RaggedTensor [[b'1', b'2'], []]>");
    assert_eq!(text(x.string_to_bytes().and_then(|t| t.bytes_to_string())), x.to_string());
}
