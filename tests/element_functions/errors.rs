//! Misuse, panics and the check of both sides.

use super::*;

#[test]
fn misuse() {
    let text = "fn f(x: f32, y: f32) -> f32 {\n    return x * y;\n}";
    let f = ElementFunction::new("f", text, |x: f32, y: f32| x * y).expect("valid");
    assert_eq!(format!("{f:?}"), "ElementFunction(f: fn(f32, f32) -> f32)");
    let line = line!() + 1;
    let error = ElementFunction::new("g", text, |x: f32| x).expect_err("no such function");
    assert!(matches!(&error, Error::Wgsl { function, line: None, .. } if function == "g"), "{error}");
    assert_eq!(error.location().map(|at| (at.file(), at.line())), Some((file!(), line)));
    let wrong = "fn f(x: f32) -> f32 {\n    return x +;\n}";
    let error = ElementFunction::new("f", wrong, |x: f32| x).expect_err("no WGSL");
    assert!(matches!(error, Error::Wgsl { line: Some(2), .. }), "{error}");
    assert!(error.to_string().starts_with("element function f: line 2 of the WGSL: "), "{error}");
    for (name, device) in common::devices() {
        let x = tensor::<f32>(&[vec![1.0, 2.0], vec![3.0]], &device);
        let integers = tensor::<i32>(&[vec![1, 2], vec![3]], &device);
        let line = line!() + 1;
        let error = f.call(&x, integers.erased()).expect_err("another dtype");
        assert_eq!(error.location().map(|at| (at.file(), at.line())), Some((file!(), line)), "{name}");
        assert!(matches!(error, Error::DTypes { lhs: DType::F32, rhs: DType::I32, .. }), "{name}: {error}");
        let error = integers.erased().map_elements(&bump()).expect_err("another dtype");
        assert!(matches!(error, Error::DTypes { .. }), "{name}: {error}");
        assert!(matches!(f.call(1.0, 2.0), Err(Error::Argument { .. })), "{name}: no tensor");
        let other = tensor::<f32>(&[vec![1.0], vec![3.0, 4.0]], &device);
        let error = f.call(&x, &other).and_then(|t| t.to_vec()).expect_err("rows differ");
        assert!(matches!(error, Error::Shape { .. } | Error::Check { .. }), "{name}: {error}");
        let strings =
            HostTensor::dense(&[1], HostValues::Str(vec![b"a".to_vec()])).to_device(&device).expect("uploaded");
        assert!(f.call(&x, &strings).is_err(), "{name}");
        if !device.is_cpu() {
            let elsewhere = tensor::<f32>(&[vec![1.0, 2.0], vec![3.0]], &Device::cpu());
            let error = f.call(&x, &elsewhere).expect_err("two devices");
            assert!(matches!(error, Error::Devices { .. }), "{name}: {error}");
        }
    }
}

#[test]
fn a_panic_is_an_error_of_the_read() {
    let text = "fn positive(x: i32) -> i32 { return x; }";
    let positive = ElementFunction::new("positive", text, |x: i32| {
        assert!(x > 0, "{x} is not positive");
        x
    })
    .expect("valid");
    let device = Device::cpu();
    let n = 50_000;
    let x = tensor::<i32>(&[(1..n).collect(), vec![], vec![7]], &device);
    let good = x.map_elements(&positive).and_then(|t| t.reduce_sum(1)).expect("recorded");
    let bad = x.subtract(n / 2).and_then(|t| t.map_elements(&positive)).expect("recorded");
    let bad_sums = bad.reduce_sum(1).expect("recorded");
    for _ in 0..2 {
        let line = line!() + 1;
        let error = bad_sums.to_vec().expect_err("a panic");
        assert!(matches!(&error, Error::Function { function, .. } if function == "positive"), "{error}");
        assert!(error.to_string().contains("is not positive") && error.to_string().contains(file!()), "{error}");
        assert_eq!(error.location().map(|at| (at.file(), at.line())), Some((file!(), line)));
    }
    assert!(bad.to_vec().is_err());
    // The backend and the other tensors are unharmed.
    assert_eq!(good.to_vec().expect("read"), [n / 2 * (n - 1), 0, 7]);
    assert_eq!(x.map_elements(&positive).and_then(|t| t.to_vec()).expect("read").len(), n as usize);
    // A condition that failed before comes first: its elements are arbitrary.
    let table = tensor::<i32>(&[vec![5, 6]], &device).flat_values().expect("recorded");
    let ids = tensor::<i32>(&[vec![0, 9]], &device);
    let error = table.gather(&ids).and_then(|t| t.subtract(5)).and_then(|t| t.map_elements(&positive));
    let error = error.and_then(|t| t.to_vec()).expect_err("an index out of range");
    assert!(!matches!(error, Error::Function { .. }), "{error}");
    // Branches that are not taken are not called.
    let safe = x.greater(100).and_then(|c| c.select(&x.subtract(100)?.map_elements(&positive)?, 1)).expect("recorded");
    assert_eq!(safe.to_vec().expect("read")[..3], [1, 1, 1]);
}

#[test]
fn the_checker_compares_both_sides() {
    let text = "fn f(x: f32) -> f32 { return x * 2.0; }";
    let right = ElementFunction::new("f", text, |x: f32| x * 2.0).expect("valid");
    let wrong = ElementFunction::new("f", text, |x: f32| x * 3.0).expect("valid");
    // Differs at one special value only.
    let text = "fn g(x: i32, y: u32) -> i32 { return x >> (y & 31u); }";
    let narrow = |x: i32, y: u32| if x == i32::MIN && y == 31 { 0 } else { x >> (y & 31) };
    let narrow: Binary<i32, u32, i32> = ElementFunction::new("g", text, narrow).expect("valid");
    // Differs for one in 256 pairs of bits.
    let text = "fn h(x: u32) -> bool { return (x & 0xff00u) == 0x4200u; }";
    let rare = ElementFunction::new("h", text, |_: u32| false).expect("valid");
    let text = "fn k(x: i32) -> i32 { return x + 1; }";
    let panics = |x: i32| x.checked_add(1).expect("no overflow");
    let panics = ElementFunction::new("k", text, panics).expect("valid");
    assert!(matches!(right.check(&Device::cpu()), Err(Error::Argument { .. })), "the CPU runs no WGSL");
    for (name, device) in common::gpus() {
        right.check(&device).unwrap_or_else(|e| panic!("{name}: {e}"));
        bump().check(&device).unwrap_or_else(|e| panic!("{name}: {e}"));
        mix().check(&device).unwrap_or_else(|e| panic!("{name}: {e}"));
        let line = line!() + 1;
        let error = wrong.check(&device).expect_err("2 x is not 3 x");
        assert_eq!(error.location().map(|at| (at.file(), at.line())), Some((file!(), line)), "{name}");
        let Error::Mismatch { arguments, wgsl, rust, .. } = &error else { panic!("{name}: {error}") };
        // Zeros are equal; the next special value is 1.
        assert_eq!((arguments.as_str(), &**wgsl), ("1.0 (0x3f800000)", "2.0 (0x40000000)"), "{name}");
        assert_eq!(&**rust, "3.0 (0x40400000)", "{name}");
        let error = narrow.check(&device).expect_err("one pair differs");
        let Error::Mismatch { arguments, wgsl, rust, .. } = &error else { panic!("{name}: {error}") };
        assert_eq!((arguments.as_str(), &**wgsl, &**rust), ("-2147483648, 31", "-1", "0"), "{name}");
        assert!(matches!(rare.check(&device), Err(Error::Mismatch { .. })), "{name}");
        let error = panics.check(&device).expect_err("an overflow");
        assert!(matches!(&error, Error::Function { what, .. } if what.contains("for (2147483647)")), "{name}: {error}");
    }
}

/// Line breaks of WGSL: line feed, vertical tab, form feed, carriage return, both, next line, line and paragraph separator.
const LINE_BREAKS: [&str; 8] = ["\n", "\u{b}", "\u{c}", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"];

#[test]
fn comments_end_at_every_line_break() {
    for at in LINE_BREAKS {
        for text in [
            format!("fn f(x: f32) -> f32 {{ return x // twice{at} * 2.0{at}; }}"),
            format!("// Twice.{at}fn f(x: f32) -> f32 {{{at}  return x * 2.0; // more{at}}}{at}"),
            format!("fn f(x: f32) -> f32 {{{at} return /* {at} // {at} */ x{at}* 2.0;{at} }} // an end"),
        ] {
            let f = ElementFunction::new("f", &text, |x: f32| x * 2.0).expect("valid");
            for (name, device) in common::devices() {
                let got = rows(tensor::<f32>(&[vec![1.0, 2.0]], &device).map_elements(&f));
                assert_eq!(got, [[2.0, 4.0]], "{text:?} on {name}");
            }
        }
    }
}

#[test]
fn lines_are_counted_by_every_line_break() {
    for at in LINE_BREAKS {
        // A character that the scanner refuses, invalid WGSL, and a signature that differs.
        for text in [
            format!("// one{at}/*{at}*/{at}fn f(x: f32) -> f32 {{ return x \u{e4}; }}"),
            format!("// one{at}/*{at}*/{at}fn f(x: f32) -> f32 {{ return x +; }}"),
            format!("// one{at}/*{at}*/{at}fn f(x: f32) -> i32 {{ return 1; }}"),
        ] {
            let error = ElementFunction::new("f", &text, |x: f32| x).expect_err("invalid");
            assert!(matches!(error, Error::Wgsl { line: Some(4), .. }), "{text:?}: {error}");
        }
    }
}

#[test]
fn a_comment_without_an_end_is_refused() {
    let text = "fn f(x: f32) -> f32 { return x; }\n /* open";
    assert!(matches!(ElementFunction::new("f", text, |x: f32| x), Err(Error::Wgsl { .. })));
}
