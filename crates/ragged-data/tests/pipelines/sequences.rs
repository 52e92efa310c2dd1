//! Sequence examples: messages that TensorFlow wrote and parsed, and faults of lists.

use base64::Engine as _;
use ragged::{DType, Device, HostTensor, HostValues};
use ragged_data::item::Item;
use ragged_data::tf::{
    Example, ExampleParser, FixedLenFeature, RaggedFeature, SequenceExampleParser, parse_sequence_example,
};
use serde_json::Value as Json;

use crate::devices::devices;
use crate::examples::fixture;
use crate::mutate::{ALL, mutate, mutations};

struct Fixture {
    messages: Vec<Vec<u8>>,
    want: Json,
}

fn tensorflow() -> Fixture {
    let text = std::fs::read_to_string(fixture("sequences.json")).expect("the fixture");
    let want: Json = serde_json::from_str(&text).expect("JSON");
    let decode =
        |m: &Json| base64::engine::general_purpose::STANDARD.decode(m.as_str().expect("text")).expect("base64");
    let messages = want["messages"].as_array().expect("messages").iter().map(decode).collect();
    Fixture { messages, want }
}

fn context() -> [(&'static str, ragged_data::tf::Feature); 2] {
    [("id", FixedLenFeature::new(DType::I64, []).into()), ("tags", RaggedFeature::new(DType::Str).into())]
}

fn lists() -> [(&'static str, RaggedFeature); 3] {
    [("words", DType::Str), ("x", DType::F32), ("n", DType::I64)].map(|(name, of)| (name, RaggedFeature::new(of)))
}

/// A tensor as `[[1], []]`, with strings in quotes.
fn shown(item: &Item, device: &Device) -> String {
    let text = item.tensor(device).expect("a tensor").to_string();
    let text = text.trim_start_matches("<ragged.RaggedTensor ").trim_start_matches("tensor(").trim_end_matches('>');
    // Of a dense tensor the shape follows.
    let text = text.split(", shape=").next().unwrap_or(text);
    text.replace("[b'", "[\"").replace(" b'", " \"").replace('\'', "\"").replace(' ', "")
}

#[test]
fn messages_are_parsed_as_by_tensorflow() {
    let Fixture { messages, want } = tensorflow();
    assert!(messages.len() > 3);
    for device in devices() {
        let records = HostTensor::dense(&[messages.len()], HostValues::Str(messages.clone()));
        let records = Item::from_host(records).and_then(|records| records.tensor(&device)).expect("messages");
        let got = parse_sequence_example(&records, context(), lists(), &device).expect("parsed");
        for (part, names) in [("context", &["id", "tags"][..]), ("sequences", &["words", "x", "n"])] {
            for name in names {
                let item = got.field(part).and_then(|fields| fields.field(name)).expect("a field");
                let json = want[part][name].to_string();
                let number = |text: &str| text.replace(".0", "");
                assert_eq!(number(&shown(item, &device)), number(&json), "{part} {name} on {}", device.name());
            }
        }
    }
}

/// One message is the row of a batch of it.
#[test]
fn single_messages_have_no_dimension_of_messages() {
    let parser = SequenceExampleParser::new(context(), lists()).expect("a parser");
    let device = Device::cpu();
    for message in tensorflow().messages {
        let (batch, one) = (parser.parse(&[&message]).expect("a batch"), parser.parse_single(&message).expect("one"));
        for name in ["words", "x", "n"] {
            let of =
                |item: &Item| shown(item.field("sequences").and_then(|s| s.field(name)).expect("a field"), &device);
            assert_eq!(of(&batch), format!("[{}]", of(&one)), "{name}");
        }
        let id = |item: &Item| -> Vec<i64> {
            let id = item.field("context").and_then(|context| context.field("id"));
            id.and_then(|id| id.values::<i64>().map(<[i64]>::to_vec)).expect("an id")
        };
        assert_eq!(id(&batch), id(&one));
    }
}

/// The context is an example.
#[test]
fn examples_are_messages_without_lists() {
    let message = Example::new().ints("id", [4]).strings("tags", ["t"]).to_bytes();
    let parser = SequenceExampleParser::new(context(), lists()).expect("a parser");
    let parsed = parser.parse(&[&message]).expect("a batch");
    let plain = ExampleParser::new(context()).and_then(|parser| parser.parse(&[&message])).expect("a batch");
    let tags = |item: &Item| shown(item.field("tags").expect("a field"), &Device::cpu());
    assert_eq!(tags(parsed.field("context").expect("a record")), tags(&plain));
}

#[test]
fn faults_of_lists_have_the_message_and_the_list() {
    let messages = tensorflow().messages;
    let parser = SequenceExampleParser::new(context(), [("words", RaggedFeature::new(DType::I64))]).expect("a parser");
    let error = parser.parse(&messages).expect_err("words").to_string();
    assert!(error.starts_with("SequenceExampleParser::parse: [0].words: it has values of str, but i64"), "{error}");
    let parser = SequenceExampleParser::new(context(), lists()).expect("a parser");
    let cut = &messages[1][..messages[1].len() - 1];
    let error = parser.parse(&[&messages[0][..], cut]).expect_err("it is cut").to_string();
    assert!(error.contains("[1]: the message is broken at byte "), "{error}");
    let twice = SequenceExampleParser::new(context(), [lists()[0].clone(), lists()[0].clone()]);
    assert!(twice.expect_err("twice").to_string().contains("list \"words\" is given twice"));
}

#[test]
fn mutated_messages() {
    let messages = tensorflow().messages;
    let parser = SequenceExampleParser::new(context(), lists()).expect("a parser");
    let read = |bad: Vec<u8>| parser.parse(&[&messages[0], &bad]).map(drop).map_err(|e| e.to_string());
    mutate(&messages, mutations(ALL), 256 << 10, read, |text| text.contains("[1]"));
}
