//! Examples: round trips, and messages that TensorFlow judged.

use std::path::PathBuf;

use base64::Engine as _;
use proptest::prelude::*;
use ragged::{DType, Device, HostValues};
use ragged_data::item::Item;
use ragged_data::tf::{Example, ExampleParser, FixedLenFeature, Partition, RaggedFeature, VarLenFeature};
use serde_json::Value as Json;

use crate::devices::devices;

/// The file of messages that TensorFlow judged.
pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tensorflow").join(name)
}

fn ints(item: &Item, name: &str) -> Vec<i64> {
    item.field(name).and_then(|x| x.values::<i64>().map(<[i64]>::to_vec)).expect("integers")
}

/// What TensorFlow gives for odd messages: duplicates, unpacked lists, unknown fields, empty features, truncation. `got`
/// is none where TensorFlow refuses the message; `differs` says why this crate's result is another one.
#[test]
fn odd_messages_are_read_as_by_tensorflow() {
    let text = std::fs::read_to_string(fixture("odd_messages.json")).expect("the fixture");
    let all: Vec<Json> = serde_json::from_str(&text).expect("a list of messages");
    assert!(all.len() > 50);
    for case in &all {
        let name = &case["name"];
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(case["message"].as_str().expect("text")).expect("base64");
        let parser = match case["kind"].as_str() {
            Some("ragged") => ExampleParser::new([("v", RaggedFeature::new(DType::I64))]),
            Some("fixed") => ExampleParser::new([("v", FixedLenFeature::new(DType::I64, []))]),
            _ => ExampleParser::new([(
                "v",
                FixedLenFeature::new(DType::I64, []).default_value(HostValues::I64(vec![7])),
            )]),
        }
        .expect("a parser");
        let got = parser.parse(&[&bytes]).map(|item| ints(&item, "v")).ok();
        let single = parser.parse_single(&bytes).map(|item| ints(&item, "v")).ok();
        assert_eq!(got, single, "{name}");
        let key = if case.get("differs").is_some() { "here" } else { "got" };
        let want: Option<Vec<i64>> = serde_json::from_value(case[key].clone()).expect("a list or null");
        assert_eq!(got, want, "{name} {}", case["kind"]);
    }
}

#[test]
fn bytes_are_those_of_tensorflow() {
    let message = Example::new()
        .strings("t", ["a", "", "bb"])
        .floats("f", [1.5, -2.25, f32::INFINITY])
        .ints("v", [1, -1, 300, i64::MIN, i64::MAX])
        .ints("e", [])
        .to_bytes();
    assert_eq!(message, std::fs::read(fixture("message.bin")).expect("the fixture"));
}

#[test]
fn errors_name_the_message_and_the_feature() {
    let good = Example::new().ints("v", [1]).to_bytes();
    let wrong = Example::new().floats("v", [1.0]).to_bytes();
    let ragged = ExampleParser::new([("v", RaggedFeature::new(DType::I64))]).expect("a parser");
    let line = line!() + 1;
    let error = ragged.parse(&[&good, &wrong]).expect_err("another kind").to_string();
    assert!(error.starts_with("ExampleParser::parse: [1].v: it has values of f32, but i64 is asked for"), "{error}");
    assert!(error.ends_with(&format!("examples.rs:{line}")), "{error}");
    let error = ragged.parse(&[&good[..], &good[..good.len() - 1]]).expect_err("truncated").to_string();
    assert!(error.contains("[1]: the message is broken at byte 1: a field is longer than what holds it"), "{error}");
    // The parallel path has the number of the message too.
    let mut many = vec![good.clone(); 1000];
    many[777] = wrong;
    let error = ragged.parse(&many).expect_err("another kind").to_string();
    assert!(error.contains("[777].v"), "{error}");
    let fixed = ExampleParser::new([("v", FixedLenFeature::new(DType::I64, [2]))]).expect("a parser");
    let error = fixed.parse(&[&good]).expect_err("one value").to_string();
    assert!(error.contains("[0].v: it has 1 values, but its fixed shape holds 2"), "{error}");
}

/// A message of a few bytes may not ask for gigabytes of rows.
#[test]
fn partitions_that_do_not_fit_are_errors() {
    type Encoding = fn(std::sync::Arc<str>) -> Partition;
    let cases: [(Encoding, &[i64], &str); 8] = [
        (Partition::ValueRowIds, &[0, 1 << 40], "row id 1099511627776 asks for more than"),
        (Partition::ValueRowIds, &[0, i64::MAX], "asks for more than"),
        (Partition::ValueRowIds, &[1, 0], "row id 0 of value 1 is negative or below the one before"),
        (Partition::ValueRowIds, &[-5, -5], "-5 is no row id"),
        (Partition::RowLengths, &[1, 2], "the rows end at Some(3), but there are 2 values"),
        (Partition::RowLengths, &[-1, 3], "-1 is no row length"),
        (Partition::RowLimits, &[2, 1, 2], "row 1 ends at 1, before it begins"),
        (Partition::RowStarts, &[1], "the first row begins at Some(1), not at 0"),
    ];
    for (partition, given, want) in cases {
        let message = Example::new().ints("v", [7, 8]).ints("p", given.to_vec()).to_bytes();
        let feature = RaggedFeature::new(DType::I64).value_key("v").partition(partition("p".into()));
        let parser = ExampleParser::new([("x", feature)]).expect("a parser");
        for error in
            [parser.parse(&[&message]).expect_err("an error"), parser.parse_single(&message).expect_err("an error")]
        {
            let text = error.to_string();
            assert!(text.contains(want) && text.contains("feature \"x\""), "{text}");
        }
    }
}

/// Limits are the ends of rows among the values of their own example; the first row begins at 0.
#[test]
fn row_limits_are_the_ends_of_rows() -> ragged::Result<()> {
    let feature = RaggedFeature::new(DType::I64).value_key("v").partition(Partition::RowLimits("p".into()));
    let parser = ExampleParser::new([("x", feature)])?;
    let message = |values: &[i64], limits: &[i64]| {
        Example::new().ints("v", values.to_vec()).ints("p", limits.to_vec()).to_bytes()
    };
    let messages = [message(&[7, 8, 9], &[2, 2, 3]), message(&[], &[]), message(&[5], &[0, 1])];
    let (batch, single) = (parser.parse(&messages)?, parser.parse_single(&messages[0])?);
    for device in devices() {
        let text = |item: &Item| item.field("x").and_then(|x| x.tensor(&device)).map(|x| x.to_string());
        assert_eq!(text(&batch)?, "<ragged.RaggedTensor [[[7, 8], [], [9]], [], [[], [5]]]>");
        assert_eq!(text(&single)?, "<ragged.RaggedTensor [[7, 8], [], [9]]>");
    }
    Ok(())
}

type Row = (Vec<i64>, Vec<f32>, Vec<Vec<u8>>);

fn row() -> impl Strategy<Value = Row> {
    let ints = prop::collection::vec(prop_oneof![-3..200i64, any::<i64>()], 0..6);
    let floats = prop::collection::vec(-1e3..1e3f32, 0..4);
    (ints, floats, prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 0..4))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn what_is_written_is_parsed(rows in prop::collection::vec(row(), 0..200)) {
        let records: Vec<Vec<u8>> = rows.iter().map(|(ints, floats, strings)| {
            Example::new().ints("i", ints.clone()).floats("f", floats.clone()).strings("s", strings.clone()).to_bytes()
        }).collect();
        let parser = ExampleParser::new([
            ("i", RaggedFeature::new(DType::I64)), ("f", RaggedFeature::new(DType::F32)), ("s", RaggedFeature::new(DType::Str)),
        ]).expect("a parser");
        let item = parser.parse(&records).expect("messages");
        prop_assert_eq!(ints(&item, "i"), rows.iter().flat_map(|r| r.0.clone()).collect::<Vec<_>>());
        prop_assert_eq!(item.field("f").unwrap().values::<f32>().unwrap(), rows.iter().flat_map(|r| r.1.clone()).collect::<Vec<_>>());
        let strings: Vec<&[u8]> = item.field("s").unwrap().strings().unwrap().collect();
        prop_assert_eq!(strings, rows.iter().flat_map(|r| r.2.iter().map(Vec::as_slice)).collect::<Vec<_>>());
        let splits = item.field("i").unwrap().tensor(&Device::cpu()).unwrap().to_host().unwrap().nested_row_splits;
        let mut end = 0;
        let want: Vec<u32> = std::iter::once(0).chain(rows.iter().map(|r| { end += r.0.len() as u32; end })).collect();
        prop_assert_eq!(splits, vec![want]);
        let var = ExampleParser::new([("s", VarLenFeature::new(DType::Str))]).expect("a parser");
        let sparse = var.parse(&records).unwrap().field("s").unwrap().sparse(&Device::cpu()).unwrap();
        prop_assert_eq!(sparse.to_host().unwrap().values.len(), rows.iter().map(|r| r.2.len()).sum::<usize>());
    }
}
