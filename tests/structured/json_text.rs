//! JSON text: negative zeros, and readers that break their contract.

use std::io::{self, Read};

use ragged::{DType, Device, Error, JsonLines, JsonType, Result};
use serde_json::json;

/// The dtype of the field `x` of the records of a text, and the values as JSON.
fn field(text: &str) -> (DType, String) {
    let records = JsonLines::new(text.as_bytes()).read(&Device::cpu()).expect("fits");
    let tensor = records.field_value("x").expect("the field").tensor().expect("a tensor").clone();
    (tensor.dtype(), records.to_value().expect("is JSON").to_string())
}

#[test]
fn a_negative_zero_without_a_point_is_an_integer() {
    let zero = r#"[{"x":0},{"x":1}]"#.to_owned();
    assert_eq!(field("{\"x\": -0}\n{\"x\": 1}"), (DType::I64, zero.clone()));
    assert_eq!(field("{\"x\": 0}\n{\"x\": 1}"), (DType::I64, zero));
    assert_eq!(field("{\"x\": 1}\n{\"x\": -0}"), (DType::I64, r#"[{"x":1},{"x":0}]"#.into()));
    // Integers beyond 64 bits of another field are found in the same way.
    assert_eq!(field(r#"{"x": -0, "y": 1e30}"#).0, DType::I64);
    assert_eq!(field(r#"{"s": "-0.0", "x": -0}"#).0, DType::I64);
    for float in ["-0.0", "-0e0", "-0E+1"] {
        assert_eq!(field(&format!("{{\"x\": {float}}}")), (DType::F64, r#"[{"x":-0.0}]"#.into()), "{float}");
    }
    let schema = JsonType::record([("x", DType::I32)]);
    let mut typed = JsonLines::new(&b"{\"x\": -0}"[..]).with_schema(schema);
    let typed = typed.read(&Device::cpu()).expect("an integer");
    assert_eq!(typed.to_value().expect("is JSON"), json!([{"x": 0}]));
    // The types of the first batch hold for all.
    let mut batches = JsonLines::new(&b"{\"x\": 1}\n{\"x\": -0}\n"[..]).batch_bytes(9);
    assert_eq!(batches.batches(&Device::cpu()).filter(Result::is_ok).count(), 2);
}

/// A reader that returns more bytes than it was asked for.
struct TooMany(usize);

impl Read for TooMany {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        into.fill(b' ');
        Ok(into.len() + self.0)
    }
}

#[test]
fn a_reader_that_returns_more_than_the_buffer_holds_is_an_error() {
    for more in [1, 1 << 40, usize::MAX >> 1] {
        let error = JsonLines::new(TooMany(more)).read(&Device::cpu()).expect_err("a reader that breaks its contract");
        assert!(matches!(&error, Error::Io { what, .. } if what.contains("returned")), "{error}");
        let batch = JsonLines::new(TooMany(more)).batches(&Device::cpu()).next();
        assert!(matches!(batch, Some(Err(Error::Io { .. }))), "{batch:?}");
    }
}
