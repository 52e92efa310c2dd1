//! JSON lines into columns: inference, schemas, batches, lines that do not fit, with and without parallel parsing.

mod common;

use std::io::{self, Read};

use common::devices;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use ragged::{DType, Device, DeviceOptions, Error, JsonLines, JsonType, Result, StructuredTensor, keys};
use serde_json::{Value, json};

/// Reads all lines on the CPU.
fn read(text: &str) -> Result<StructuredTensor> {
    JsonLines::new(text.as_bytes()).read(&Device::cpu())
}

/// The line, the path and the reason of the error of a text.
#[track_caller]
fn misfit(text: impl AsRef<[u8]>) -> (u64, String, String) {
    let e = JsonLines::new(text.as_ref()).read(&Device::cpu()).expect_err("a line that does not fit");
    assert!(e.location().expect("a line of code").file().ends_with("json_lines.rs"), "{e}");
    match e {
        Error::Record { line: Some(line), path, what, .. } => (line, path, what),
        other => panic!("{other}"),
    }
}

/// Fails unless the text does not fit at this line and path, for a reason that contains `what`.
#[track_caller]
fn assert_misfit(text: impl AsRef<[u8]>, line: u64, path: &str, what: &str) {
    let found = misfit(text);
    assert_eq!((found.0, found.1.as_str()), (line, path), "{}", found.2);
    assert!(found.2.contains(what), "{what:?} is not in {:?}", found.2);
}

/// A record of a generated text.
fn record(k: u64) -> Value {
    json!({
        "id": k,
        "user": {"name": format!("user \"{k}\" é"), "score": k as f64 * 0.5 - 3.25, "ok": k.is_multiple_of(3)},
        "tags": (0..k % 4).map(|t| format!("t{t}")).collect::<Vec<_>>(),
        "items": (0..k % 3).map(|i| json!({"sku": format!("s{i}"), "n": [[i, k], []]})).collect::<Vec<_>>(),
    })
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

#[test]
fn every_record_comes_back() -> Result<()> {
    // Enough text for several pieces.
    let want: Vec<Value> = (0..4000).map(record).collect();
    let text = lines(&want);
    for (name, device) in devices() {
        let mut reader = JsonLines::new(text.as_bytes());
        let records = reader.read(&device)?;
        assert_eq!(records.to_value()?, Value::from(want.clone()), "{name}");
        let schema = "{id: i64, items: [{n: [[i64]], sku: str}], tags: [str], user: {name: str, ok: bool, score: f64}}";
        assert_eq!(reader.schema().to_string(), schema);
        assert_eq!((reader.lines(), reader.skipped()), (4000, 0));
    }
    Ok(())
}

#[test]
fn batches_hold_the_same_records() -> Result<()> {
    let want: Vec<Value> = (0..40).map(record).collect();
    let text = lines(&want);
    for bytes in [1, 100, 2048, 1 << 20] {
        let mut reader = JsonLines::new(text.as_bytes()).batch_bytes(bytes);
        // The first record alone would leave list fields without a type.
        let mut whole = JsonLines::new(text.as_bytes());
        whole.read(&Device::cpu())?;
        reader = reader.with_schema(whole.schema().clone());
        let batches = reader.batches(&Device::cpu()).collect::<Result<Vec<_>>>()?;
        assert_eq!(batches.len() == 1, bytes == 1 << 20, "{bytes}");
        let mut all = Vec::new();
        for batch in &batches {
            all.extend(batch.to_value()?.as_array().expect("a list").clone());
        }
        assert_eq!(all, want, "{bytes}");
        assert_eq!(StructuredTensor::concat(&batches, 0)?.to_value()?, Value::from(want.clone()));
        assert_eq!(reader.lines(), 40);
    }
    Ok(())
}

#[test]
fn batches_of_any_size_run_one_plan() -> Result<()> {
    let Some(device) = common::gpu_with(&DeviceOptions::default()) else { return Ok(()) };
    let text = lines(&(0..400).map(record).collect::<Vec<_>>());
    let mut plans = Vec::new();
    // The schema of the first record would leave list fields without a type.
    let mut whole = JsonLines::new(text.as_bytes());
    whole.read(&Device::cpu())?;
    let mut reader = JsonLines::new(text.as_bytes()).with_schema(whole.schema().clone()).batch_bytes(4000);
    for batch in reader.batches(&device) {
        let n = batch?.get(keys![.., "items", .., "n"])?.tensor()?;
        n.reduce_sum(3)?.to_host()?;
        plans.push(device.stats().plans);
    }
    assert!(plans.len() > 5 && plans[1] == plans[plans.len() - 1], "{plans:?}");
    Ok(())
}

#[test]
fn the_types_of_the_first_batch_hold() -> Result<()> {
    let text = "{\"x\": 1}\n{\"x\": 1.5}\n{\"x\": 2}\n";
    assert_eq!(read(text)?.to_value()?, json!([{"x": 1.0}, {"x": 1.5}, {"x": 2.0}]));
    let mut reader = JsonLines::new(text.as_bytes()).batch_bytes(1);
    let mut batches = reader.batches(&Device::cpu());
    assert_eq!(batches.next().expect("a batch")?.to_value()?, json!([{"x": 1}]));
    let e = batches.next().expect("a batch").unwrap_err();
    assert!(e.location().expect("a line of code").file().ends_with("json_lines.rs"), "{e}");
    assert!(e.to_string().contains("line 2: x: 1.5 is not a value of i64"), "{e}");
    assert!(batches.next().is_none());
    let mut reader = JsonLines::new(text.as_bytes()).batch_bytes(1).skip_misfits();
    assert_eq!(reader.batches(&Device::cpu()).count(), 2);
    assert_eq!((reader.skipped(), reader.misfits()[0].line), (1, 2));
    Ok(())
}

#[test]
fn schemas_choose_dtypes() -> Result<()> {
    let text = "{\"a\": 1, \"b\": [2, 2.5], \"c\": {\"d\": true}, \"e\": [7]}\n";
    let schema = JsonType::record([
        ("a", JsonType::from(DType::U8)),
        ("b", JsonType::list(DType::F16)),
        ("c", JsonType::record([("d", DType::Bool)])),
        ("e", JsonType::Inferred),
    ]);
    let records = JsonLines::new(text.as_bytes()).with_schema(schema).read(&Device::cpu())?;
    let dtype = |path: &[&str]| records.field_value(path).and_then(|v| v.tensor()).map(|t| t.dtype());
    assert_eq!(dtype(&["a"])?, DType::U8);
    assert_eq!(dtype(&["b"])?, DType::F16);
    assert_eq!(dtype(&["c", "d"])?, DType::Bool);
    assert_eq!(dtype(&["e"])?, DType::I64);
    assert_eq!(records.to_value()?, json!([{"a": 1, "b": [2.0, 2.5], "c": {"d": true}, "e": [7]}]));
    let with = |of: DType, value: &str| {
        let text = format!("{{\"a\": {value}}}");
        let schema = JsonType::record([("a", of)]);
        JsonLines::new(text.as_bytes()).with_schema(schema).read(&Device::cpu()).map(|r| r.to_value().expect("read"))
    };
    for (of, value) in [
        (DType::U8, "256"),
        (DType::U8, "-1"),
        (DType::I8, "128"),
        (DType::I64, "9223372036854775808"),
        (DType::U64, "-1"),
        (DType::I32, "1.0"),
        (DType::F16, "65520"),
        (DType::F32, "1e39"),
        (DType::Bool, "1"),
        (DType::Str, "1"),
        (DType::F32, "\"1\""),
    ] {
        let e = with(of, value).expect_err("no value of the dtype").to_string();
        assert!(e.contains("line 1: a: "), "{e}");
    }
    assert_eq!(with(DType::U64, "18446744073709551615")?, json!([{"a": u64::MAX}]));
    assert_eq!(with(DType::I64, "-9223372036854775808")?, json!([{"a": i64::MIN}]));
    assert_eq!(with(DType::I32, "-0")?, json!([{"a": 0}]));
    // A text without records has the fields of the schema.
    let schema = JsonType::record([("a", DType::F32)]);
    let none = JsonLines::new(&b"\n \n"[..]).with_schema(schema.clone()).read(&Device::cpu())?;
    assert_eq!((none.shape(), none.field_names().collect::<Vec<_>>()), (vec![Some(0)], vec!["a"]));
    // Fields that it lacks.
    let text = "{\"b\": {\"x\": [1, null]}, \"a\": 1}";
    let more = || JsonLines::new(text.as_bytes()).with_schema(schema.clone());
    assert!(more().read(&Device::cpu()).unwrap_err().to_string().contains("line 1: b: the records have no such field"));
    assert_eq!(more().ignore_unknown_fields().read(&Device::cpu())?.to_value()?, json!([{"a": 1.0}]));
    for schema in [JsonType::from(DType::F32), JsonType::record([("a", DType::F32), ("a", DType::I32)])] {
        let e = JsonLines::new(text.as_bytes()).with_schema(schema).read(&Device::cpu()).unwrap_err();
        assert!(matches!(e, Error::Argument { .. }), "{e}");
    }
    Ok(())
}

#[test]
fn a_misfit_names_line_and_path() {
    let good = "{\"a\": 1, \"b\": [{\"c\": [1]}]}\n";
    let after = |line: &str| format!("{good}\n{line}\n{good}");
    for (line, path, what) in [
        ("{\"a\": \"x\", \"b\": []}", "a", "the string \"x\""),
        ("{\"a\": true, \"b\": []}", "a", "true"),
        ("{\"a\": null, \"b\": []}", "a", "null"),
        ("{\"a\": 1, \"b\": [{\"c\": [1, \"x\"]}]}", "b[0].c[1]", "the string"),
        ("{\"a\": 1, \"b\": [{\"c\": []}, {\"c\": 3}]}", "b[1].c", "lists"),
        ("{\"a\": 1, \"b\": [{}]}", "b[0].c", "missing"),
        ("{\"a\": 1}", "b", "missing"),
        ("{\"a\": 1, \"b\": [], \"z\": 1}", "z", "no such field"),
        ("{\"a\": 1, \"b\": [], \"a\": 1}", "a", "given twice"),
        ("{\"a\": 1, \"b\": [{\"c\": [1]", "b[0]", "EOF"),
        ("{\"a\": 1, \"b\": [{\"c\": [1", "b[0].c[1]", "EOF"),
        ("{\"a\": 1, \"b\": []} x", "", "trailing"),
        ("{\"a\": 1, \"b\": []} {}", "", "trailing"),
        ("{\"a\": 01, \"b\": []}", "a", "number"),
        ("{\"a\": +1, \"b\": []}", "a", "expected value"),
        ("{\"a\": NaN, \"b\": []}", "a", "expected"),
        ("{a: 1}", "", "key must be a string"),
        ("[1]", "", "one record, in braces"),
        ("5", "", "one record, in braces"),
        ("\"text\"", "", "one record, in braces"),
        ("{\"a\": 1e400, \"b\": []}", "a", "out of range"),
        ("{\"a\": 123456789012345678901234567890, \"b\": []}", "a", "more than 64 bits"),
        ("{\"a\": -9223372036854775809, \"b\": []}", "a", "more than 64 bits"),
        ("{\"a\": 1, \"b\": [{\"c\": [1e30, 18446744073709551616]}]}", "b[0].c[1]", "more than 64 bits"),
        ("{\"a\": 1, \"b\": \"\\ud800\"}", "b", "hex escape"),
        ("{\"a\": 1, \"b\": \"\u{1}\"}", "b", "control character"),
    ] {
        assert_misfit(after(line), 3, path, what);
    }
    // The column of a syntax error.
    assert!(misfit("{\"a\": 1}\n{\"a\": }").2.contains("(column 7)"));
    // Bytes that are no text.
    assert_misfit(b"{\"a\": \"x\"}\n{\"a\": \"\xff\xfe\"}\n", 2, "a", "unicode");
    assert_misfit(b"{\"a\": \"x\"}\n\xff\xfe\x00\n", 2, "", "expected value");
    assert_misfit("{\"0\": 1}", 1, "0", "a number is an index");
    assert_misfit("{\"\": 1}", 1, "", "a field needs a name");
}

#[test]
fn numbers_beyond_64_bits_are_floats_only_if_written_so() -> Result<()> {
    let text = "{\"a\": 1e30}\n{\"a\": 18446744073709551616.0}\n{\"a\": -1E+300}\n";
    assert_eq!(read(text)?.to_value()?, json!([{"a": 1e30}, {"a": 18446744073709551616.0}, {"a": -1e300}]));
    // Beside an integer of that kind in a field that is ignored.
    let text = "{\"a\": 1.5}\n{\"z\": [1e30, 99999999999999999999], \"a\": 1e31}\n";
    let records = JsonLines::new(text.as_bytes()).ignore_unknown_fields().read(&Device::cpu())?;
    assert_eq!(records.to_value()?, json!([{"a": 1.5}, {"a": 1e31}]));
    // u64 as long as no number of the field is negative.
    assert_eq!(read("{\"a\": 1}\n{\"a\": 18446744073709551615}")?.to_value()?, json!([{"a": 1}, {"a": u64::MAX}]));
    assert_misfit("{\"a\": -1}\n{\"a\": 18446744073709551615}", 2, "a", "beyond i64");
    Ok(())
}

#[test]
fn nesting_of_ten_thousand_levels_is_an_error() {
    let (open, close) = ("[".repeat(10_000), "]".repeat(10_000));
    assert_misfit(format!("{{\"a\": {open}{close}}}"), 1, &format!("a{}", "[0]".repeat(126)), "recursion limit");
    assert_misfit(&open, 1, "", "one record");
    let text = "{\"a\":".repeat(10_000);
    let (line, path, what) = misfit(text);
    assert!(line == 1 && path.starts_with("a.a.a") && what.contains("recursion limit"), "{what}");
    // The text of ignored fields is checked, however deep.
    let ignored = |close: usize| {
        let text = format!("{{\"b\": 1}}\n{{\"b\": 2, \"a\": {open}{}}}", "]".repeat(close));
        JsonLines::new(text.as_bytes()).ignore_unknown_fields().read(&Device::cpu())
    };
    assert_eq!(ignored(10_000).expect("a record").shape(), [Some(2)]);
    assert!(ignored(9_999).unwrap_err().to_string().contains("line 2: "));
}

#[test]
fn skipped_lines_leave_no_trace() -> Result<()> {
    let good: Vec<Value> = (0..3000).map(record).collect();
    let bad = [
        "{\"id\": 1, \"user\": {\"name\": \"half",
        "{\"id\": 1.5, \"user\": {\"name\": \"x\", \"score\": 1, \"ok\": true}, \"tags\": [], \"items\": [{\"sku\": 1}]}",
        "{\"other\": [1, 2, 3]}",
        "null",
        "{\"id\": \"x\"}",
    ];
    let mut text = String::new();
    let mut skipped = Vec::new();
    for (k, record) in good.iter().enumerate() {
        if k % 7 == 0 {
            text.push_str(bad[k / 7 % bad.len()]);
            text.push('\n');
            skipped.push(text.lines().count() as u64);
        }
        text.push_str(&format!("{record}\r\n\n"));
    }
    for bytes in [1 << 10, 1 << 24] {
        let mut reader = JsonLines::new(text.as_bytes()).skip_misfits().batch_bytes(bytes);
        let records = reader.read(&Device::cpu())?;
        assert_eq!(records.to_value()?, Value::from(good.clone()));
        assert_eq!(records.field_value("id")?.tensor()?.dtype(), DType::I64);
        assert_eq!(reader.skipped(), skipped.len() as u64);
        let named: Vec<u64> = reader.misfits().iter().map(|misfit| misfit.line).collect();
        assert_eq!(named, skipped[..100]);
        assert_eq!(reader.lines(), text.lines().count() as u64);
    }
    Ok(())
}

#[test]
fn a_misfit_late_in_a_large_text_is_found_in_order() {
    let mut text = lines(&(0..5000).map(record).collect::<Vec<_>>());
    text.push_str("{\"id\": []}\n");
    text.push_str("{\"id\": {}}\n");
    assert_misfit(&text, 5001, "id", "a list");
    // The first of several in different pieces.
    let all: Vec<&str> = text.lines().collect();
    let broken: String =
        all.iter().enumerate().map(|(k, l)| if k % 1000 == 999 { "{}\n".into() } else { format!("{l}\n") }).collect();
    assert_misfit(&broken, 1000, "id", "missing");
}

#[test]
fn types_that_show_late_depend_on_the_order_of_lines() -> Result<()> {
    // Both kinds of elements appear after thousands of empty lists, in different pieces.
    let mut all: Vec<String> = (0..20_000).map(|k| format!("{{\"x\": [], \"pad\": \"{k:032}\"}}")).collect();
    all[6_000] = "{\"x\": [1], \"pad\": \"\"}".into();
    all[17_000] = "{\"x\": [\"text\"], \"pad\": \"\"}".into();
    let text = all.join("\n");
    assert_misfit(&text, 17_001, "x[0]", "the string \"text\"");
    let mut reader = JsonLines::new(text.as_bytes()).skip_misfits();
    let records = reader.read(&Device::cpu())?;
    assert_eq!((reader.skipped(), reader.misfits()[0].line), (1, 17_001));
    assert_eq!(records.field_value("x")?.tensor()?.dtype(), DType::I64);
    assert_eq!(records.shape(), [Some(19_999)]);
    Ok(())
}

#[test]
fn texts_at_the_edges() -> Result<()> {
    let e = read("").unwrap_err();
    assert!(e.to_string().contains("no record"), "{e}");
    assert!(read("\n\n  \n").is_err());
    assert_eq!(read("{}\n{}")?.to_value()?, json!([{}, {}]));
    assert_eq!(read("\u{feff}{\"a\": 1}")?.to_value()?, json!([{"a": 1}]));
    assert_eq!(
        read("{\"b\": 1, \"a\": 2}\n{\"a\": 3, \"b\": 4}")?.to_value()?,
        json!([{"a": 2, "b": 1}, {"a": 3, "b": 4}])
    );
    assert_eq!(read("{\"a\": []}\n{\"a\": []}")?.field_value("a")?.tensor()?.dtype(), DType::F32);
    assert!(JsonLines::open("/no/such/file").is_err_and(|e| matches!(e, Error::Io { .. })));
    Ok(())
}

/// A reader that fails after some text.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.0 {
            0 => Err(io::Error::other("unplugged")),
            left => {
                let line = b"{\"a\": 1}\n";
                self.0 = left - 1;
                out[..line.len()].copy_from_slice(line);
                Ok(line.len())
            }
        }
    }
}

#[test]
fn a_failed_read_is_an_error() {
    let e = JsonLines::new(Failing(3)).batch_bytes(9).read(&Device::cpu()).unwrap_err();
    assert!(matches!(e, Error::Io { .. }) && e.to_string().contains("unplugged"), "{e}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::default()
    })]

    /// No text panics, and skipping keeps exactly the lines that fit.
    #[test]
    fn damaged_text_never_panics(
        seed in any::<u64>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let mut bytes = lines(&(0..20).map(|k| record(k + seed % 1000)).collect::<Vec<_>>()).into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut reader = JsonLines::new(bytes.as_slice()).skip_misfits();
        if let Ok(records) = reader.read(&Device::cpu()) {
            let n = records.shape()[0].unwrap_or(0) as u64;
            let blank = bytes.split(|&b| b == b'\n').filter(|l| l.trim_ascii().is_empty()).count() as u64;
            prop_assert!(n + reader.skipped() + blank >= reader.lines());
            let strict = JsonLines::new(bytes.as_slice()).read(&Device::cpu());
            prop_assert_eq!(strict.is_err(), reader.skipped() > 0);
            if let Ok(strict) = strict {
                prop_assert_eq!(strict.to_value().ok(), records.to_value().ok());
            }
        }
    }
}
