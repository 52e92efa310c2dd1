//! Files of many megabytes that would be far larger in memory than in text.

use ragged::{Device, Result, SavedModel};
use serde_json::{Value, json};

use crate::allocations::peak_of;
use crate::fixture::model;
use crate::mutations::{parts, signed_text};

/// The length of a list.
const BYTES: usize = 10 << 20;

/// A list of one element, again and again.
fn list(element: &str) -> String {
    let n = BYTES / (element.len() + 1);
    format!("[{}{element}]", format!("{element},").repeat(n))
}

/// An object of one value under many keys.
fn object(value: &str) -> String {
    let n = BYTES / (value.len() + 9);
    let entries: Vec<String> = (0..n).map(|k| format!("\"{k:x}\":{value}")).collect();
    format!("{{{}}}", entries.join(","))
}

fn assert_bounded(what: &str, bytes: Vec<u8>) {
    let len = bytes.len();
    let (model, peak) = peak_of(|| SavedModel::from_bytes(bytes).map(|_| ()));
    let outcome = model.err().map_or_else(|| "read".to_owned(), |e| e.to_string());
    assert!(outcome.len() < 1000, "{what}: an error of {} bytes", outcome.len());
    println!("{:.2} times: {what}: {outcome}", peak as f64 / len as f64);
    assert!(peak <= 4 * len + (1 << 20), "{what}: {peak} bytes for a file of {len}");
}

/// Replaces each part of a program by a list of many small elements.
#[test]
fn lists_of_small_elements_are_bounded() -> Result<()> {
    let (header, manifest, data) = parts(&model(&Device::cpu())?.to_bytes()?);
    let program = "/programs/softmax";
    let computed = &manifest["programs"]["joined"]["code"]["arrays"];
    let computed =
        computed.as_array().expect("arrays").iter().find(|def| def["computed"]["recipe"]["append"].is_object());
    let append = computed.expect("an append").to_string();
    let with_parts =
        append.replace(&json_of(&append, "/computed/recipe/append/parts"), &list("[0,{\"size\":0,\"whole\":true}]"));
    let with_asserts = append.replacen("\"asserts\":[]", &format!("\"asserts\":{}", list("0")), 1);
    assert!(with_parts.len() > BYTES && with_asserts.len() > BYTES, "{append}");
    let scan = r#"{"computed":{"dtype":"u32","op":0,"extent":{"size":0,"whole":true},"asserts":[],"recipe":{"mark":{"count":{"size":0,"whole":true},"keep":0}}}}"#;
    let call = r#"{"kind":{"call":[0,[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]]},"dtype":"u8"}"#;
    let spec = r#"{"dtype":"u8","shape":[],"ragged_rank":0}"#;
    let of_rank = format!(r#"{{"dtype":"u8","shape":[{}0],"ragged_rank":0}}"#, "0,".repeat(33));
    let check = r#"{"op":"a","what":"","is_of_index":true}"#;
    let layout = r#"{"levels":[],"outer":null,"inner":[],"values":{"numbers":0}}"#;
    let function = r#"{"name":"","parameters":[],"result":"u8","wgsl":""}"#;
    let empty = r#"{"inputs":[],"outputs":[],"code":{"sizes":[],"scalars":[],"exprs":[],"arrays":[],"names":[],"outputs":[]},"arrays":[],"sizes":[],"bounds":[],"scalars":[],"checks":[],"functions":[]}"#;
    let tensor = r#"{"dtype":"u8","levels":[],"shape":[],"values":"weights"}"#;
    let plain = [
        ("/inputs", list("null")),
        ("/inputs", list(spec)),
        ("/inputs", list(&of_rank)),
        ("/inputs/0/shape", list("0")),
        ("/inputs/0/shape", list("null")),
        ("/outputs", list(layout)),
        ("/outputs/0/inner", list("0")),
        ("/outputs/0/levels", list(&json_of(&manifest.to_string(), "/programs/softmax/outputs/0/levels/0"))),
        ("/arrays", list("null")),
        ("/arrays", list(r#"{"captured":"a"}"#)),
        ("/arrays", list(r#"{"input":{"input":0,"part":0}}"#)),
        ("/sizes", list("null")),
        ("/sizes", list(r#"{"known":0}"#)),
        ("/bounds", list("[0,0]")),
        ("/scalars", list(r#"["u8",0]"#)),
        ("/checks", list(check)),
        ("/functions", list(function)),
        ("/code/sizes", list("\"input\"")),
        ("/code/sizes", list(r#"{"len":0}"#)),
        ("/code/sizes", list(r#"{"op":["add",0,0]}"#)),
        ("/code/scalars", list(r#"{"dtype":"u8","is_nonzero":true}"#)),
        ("/code/exprs", list(r#"{"kind":"index","dtype":"u32"}"#)),
        ("/code/exprs", list(r#"{"kind":{"scalar":["u8",0]},"dtype":"u8"}"#)),
        ("/code/exprs", list(call)),
        ("/code/exprs", list(&call.replace("[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]", "[]"))),
        ("/code/arrays", list(r#"{"input":{"dtype":"u8"}}"#)),
        ("/code/arrays", list(scan)),
        ("/code/arrays", format!("[{with_parts}]")),
        ("/code/arrays", format!("[{with_asserts}]")),
        ("/code/names", list("\"\"")),
        ("/code/names", list("\"a\"")),
        ("/code/outputs", list("0")),
        ("/code/outputs", "[".repeat(BYTES)),
        ("/code/outputs", format!("\"{}\"", "\\n".repeat(BYTES))),
    ];
    let models = [("/programs", object(empty)), ("/programs", object("null")), ("/tensors", object(tensor))];
    let all = plain.map(|(path, text)| (format!("{program}{path}"), text)).into_iter();
    for (path, text) in all.chain(models.map(|(path, text)| (path.to_owned(), text))) {
        let mut manifest = manifest.clone();
        *manifest.pointer_mut(&path).unwrap_or_else(|| panic!("no {path}")) = json!("@");
        let what = format!("{path}: {text:.40}");
        assert_bounded(&what, signed_text(header.clone(), &manifest.to_string().replace("\"@\"", &text), &data));
    }
    Ok(())
}

/// The text of a part of a JSON text.
fn json_of(text: &str, path: &str) -> String {
    serde_json::from_str::<Value>(text).expect("JSON").pointer(path).expect("a part").to_string()
}

/// Lists of sizes and origins that fit each other, so that everything is checked.
#[test]
fn long_programs_are_bounded() -> Result<()> {
    let (header, manifest, data) = parts(&model(&Device::cpu())?.to_bytes()?);
    let softmax = &manifest["programs"]["softmax"];
    let tail = |path: &str| {
        let text = softmax.pointer(path).expect("a list").to_string();
        text[1..].to_owned()
    };
    let n = BYTES / 20;
    // Behind the program's own definitions, which keep their numbers.
    let longer = |path: &str, element: &str| {
        let own = tail(path);
        let own = own.strip_suffix(']').expect("a list");
        format!("[{own}{}]", format!(",{element}").repeat(n))
    };
    let chain = |path: &str, element: &dyn Fn(usize) -> String| {
        let first = softmax.pointer(path).and_then(Value::as_array).expect("a list").len();
        let own = tail(path);
        let own = own.strip_suffix(']').expect("a list");
        let all: String = (first..first + n).map(|k| format!(",{}", element(k))).collect();
        format!("[{own}{all}]")
    };
    let cases = [
        ("constants", longer("/code/sizes", r#"{"const":0}"#), longer("/sizes", "null")),
        ("lengths", longer("/code/sizes", r#"{"len":0}"#), longer("/sizes", "null")),
        ("inputs", longer("/code/sizes", "\"input\""), longer("/sizes", r#"{"known":0}"#)),
        ("a chain", chain("/code/sizes", &|k| format!(r#"{{"op":["add",{},0]}}"#, k - 1)), longer("/sizes", "null")),
        (
            "a chain down",
            chain("/code/sizes", &|k| format!(r#"{{"op":["add",{},0]}}"#, k + 1)),
            longer("/sizes", "null"),
        ),
    ];
    for (what, sizes, origins) in cases {
        let mut manifest = manifest.clone();
        let program = &mut manifest["programs"]["softmax"];
        program["code"]["sizes"] = json!("@1");
        program["sizes"] = json!("@2");
        let text = manifest.to_string().replace("\"@1\"", &sizes).replace("\"@2\"", &origins);
        assert_bounded(what, signed_text(header.clone(), &text, &data));
    }
    Ok(())
}

/// Headers of other programs: many arrays, many dimensions, much metadata.
#[test]
fn headers_are_bounded() {
    let file = |header: String| [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    let array = |shape: &str| format!(r#"{{"dtype":"U8","shape":{shape},"data_offsets":[0,0]}}"#);
    assert_bounded("arrays", file(object(&array("[0]"))));
    assert_bounded("arrays of many dimensions", file(object(&array(&format!("[{}0]", "0,".repeat(40))))));
    assert_bounded("dimensions", file(format!("{{\"a\":{}}}", array(&list("0")))));
    assert_bounded("metadata", file(format!("{{\"__metadata__\":{}}}", object("\"\""))));
    assert_bounded("nesting", file(format!("{{\"a\":{}", "[".repeat(BYTES))));
}

/// A model of many small tensors is read within the bound, too.
#[test]
fn many_small_tensors_are_bounded() -> Result<()> {
    let mut model = SavedModel::new();
    for k in 0..3000 {
        model = model.with_tensor(format!("{k}"), &ragged::RaggedTensor::from_nested([k], &Device::cpu())?);
    }
    assert_bounded("tensors", model.to_bytes()?);
    Ok(())
}
