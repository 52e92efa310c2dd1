//! Files that were changed: by accident, and by someone who signs them again.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ragged::{Device, Program, Result, SavedModel};
use serde_json::Value;

use crate::allocations::peak_of;
use crate::fixture::{inputs, model};

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }
}

/// The number of mutations: `RAGGED_MUTATIONS`, or few.
fn mutations() -> u64 {
    std::env::var("RAGGED_MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(3000)
}

/// Loads, makes and runs all programs of a file. Returns whether the file was read.
fn use_file(bytes: Vec<u8>) -> bool {
    let len = bytes.len();
    let (model, peak) = peak_of(|| SavedModel::from_bytes(bytes));
    assert!(peak <= 4 * len + (1 << 20), "{peak} bytes for a file of {len}");
    let Ok(model) = model else { return false };
    let device = Device::cpu();
    for name in model.programs().map(str::to_owned).collect::<Vec<_>>() {
        let Ok(program) = model.program(&name) else { continue };
        let Ok(inputs) = inputs(&name, &device) else { continue };
        for x in program.run(&inputs).unwrap_or_default() {
            let _ = x.to_host();
        }
        let _ = (program.to_string(), program.explain(&inputs));
        if let Ok(outer) = Program::trace(program.inputs(), |x| program.run(x)) {
            for x in outer.run(&inputs).unwrap_or_default() {
                let _ = x.to_host();
            }
        }
    }
    for name in model.tensors() {
        let _ = model.tensor(name, &device).and_then(|x| x.to_host());
    }
    true
}

fn assert_no_panic(what: &str, seed: u64, bytes: Vec<u8>) -> bool {
    let kept = bytes.clone();
    catch_unwind(AssertUnwindSafe(|| use_file(bytes))).unwrap_or_else(|_| {
        let path = std::env::temp_dir().join(format!("ragged-{what}-{seed}.safetensors"));
        std::fs::write(&path, kept).expect("written");
        panic!("{what} {seed} panics: {}", path.display());
    })
}

#[test]
fn damaged_files_are_errors() -> Result<()> {
    let bytes = model(&Device::cpu())?.to_bytes()?;
    for seed in 1..=mutations() {
        let (mut random, mut damaged) = (Random(seed), bytes.clone());
        for _ in 0..1 + random.below(3) {
            let at = random.below(damaged.len());
            match random.below(4) {
                0 => damaged[at] ^= 1 << random.below(8),
                1 => damaged[at] = random.next() as u8,
                2 => damaged.truncate(at.max(1)),
                _ => {
                    let other = random.below(damaged.len());
                    damaged.swap(at, other);
                }
            }
        }
        if damaged != bytes && assert_no_panic("damage", seed, damaged.clone()) {
            // White space behind the header, or the name of the key.
            assert!(SavedModel::from_bytes(damaged)?.to_bytes()? == bytes, "damage {seed} is read");
        }
    }
    Ok(())
}

/// The header's manifest, and the data.
pub fn parts(bytes: &[u8]) -> (Value, Value, Vec<u8>) {
    let len = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let header: Value = serde_json::from_slice(&bytes[8..8 + len]).expect("a header");
    let value = header["__metadata__"]["ragged"].as_str().expect("a manifest").to_owned();
    let signed: Value = serde_json::from_str(&value).expect("a manifest");
    (header, signed["manifest"].clone(), bytes[8 + len..].to_vec())
}

/// The file of a manifest, signed.
fn signed(header: Value, manifest: &Value, data: &[u8]) -> Vec<u8> {
    signed_text(header, &manifest.to_string(), data)
}

/// The file of a manifest's text, signed.
pub fn signed_text(mut header: Value, text: &str, data: &[u8]) -> Vec<u8> {
    // The crate `farmhash` hashes the last 64 bytes of a text twice if its length is a multiple of 64; FarmHash does not.
    let text = format!("{text}{}", if text.len().is_multiple_of(64) { " " } else { "" });
    let mut words = vec![farmhash::fingerprint64(text.as_bytes())];
    let arrays = header.as_object().expect("a header").iter().filter(|(name, _)| *name != "__metadata__");
    let mut arrays: Vec<_> = arrays.collect();
    arrays.sort_by_key(|(name, _)| (*name).clone());
    for (name, array) in arrays {
        let dtype = array["dtype"].as_str().expect("a dtype").to_lowercase();
        let shape: Vec<u64> =
            array["shape"].as_array().expect("a shape").iter().map(|n| n.as_u64().expect("a size")).collect();
        words.push(farmhash::fingerprint64(format!("{name}\0{dtype}{shape:?}").as_bytes()));
        let at = |k: usize| array["data_offsets"][k].as_u64().expect("an offset") as usize;
        words.push(farmhash::fingerprint64(&data[at(0)..at(1)]));
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let sum = format!("{:016x}", farmhash::fingerprint64(&bytes));
    header["__metadata__"]["ragged"] = Value::String(format!(r#"{{"checksum":"{sum}","manifest":{text}}}"#));
    let header = header.to_string();
    let mut out = (header.len() as u64).to_le_bytes().to_vec();
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

/// A random part of a value.
fn descend<'v>(random: &mut Random, value: &'v mut Value) -> &'v mut Value {
    let has_parts = match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(items) => !items.is_empty(),
        _ => false,
    };
    if !has_parts || random.below(12) == 0 {
        return value;
    }
    match value {
        Value::Array(items) => {
            let at = random.below(items.len());
            descend(random, &mut items[at])
        }
        Value::Object(items) => {
            let at = random.below(items.len());
            descend(random, items.values_mut().nth(at).expect("an item"))
        }
        _ => unreachable!("a value with parts"),
    }
}

fn mutate(random: &mut Random, manifest: &mut Value) {
    let other = descend(random, manifest).clone();
    let part = descend(random, manifest);
    match (random.below(6), &mut *part) {
        (0, part) => *part = other,
        (1, Value::Array(items)) if !items.is_empty() => {
            let at = random.below(items.len());
            items.remove(at);
        }
        (2, Value::Array(items)) if !items.is_empty() => {
            let (a, b) = (random.below(items.len()), random.below(items.len()));
            items.swap(a, b);
        }
        (3, Value::Array(items)) => items.push(other),
        (4, Value::Object(items)) => {
            if let Some(key) = items.keys().nth(random.below(items.len())).cloned() {
                items.remove(&key);
            }
        }
        (_, Value::Number(n)) => {
            let old = n.as_u64().unwrap_or_default();
            let new = [
                0,
                1,
                old.saturating_add(1),
                old.saturating_sub(1),
                old.saturating_mul(2),
                u64::from(u32::MAX),
                u64::MAX,
                random.next() % 64,
            ];
            *part = new[random.below(new.len())].into();
        }
        (_, Value::String(s)) => {
            const WORDS: [&str; 12] =
                ["u32", "f32", "bool", "str", "f64", "add", "index", "sum", "div", "input", "", "another"];
            *s = WORDS[random.below(WORDS.len())].into();
        }
        (_, Value::Bool(b)) => *b = !*b,
        (_, part) => *part = Value::Null,
    }
}

#[test]
fn files_that_are_signed_again_do_not_panic() -> Result<()> {
    let bytes = model(&Device::cpu())?.to_bytes()?;
    let (header, manifest, data) = parts(&bytes);
    assert!(use_file(signed(header.clone(), &manifest, &data)), "a file is signed as the engine does");
    let mut read = 0;
    for seed in 1..=mutations() {
        let (mut random, mut mutated) = (Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)), manifest.clone());
        for _ in 0..1 + random.below(2) {
            mutate(&mut random, &mut mutated);
        }
        read += u64::from(assert_no_panic("mutation", seed, signed(header.clone(), &mutated, &data)));
    }
    assert!(read > mutations() / 50, "only {read} mutated files were read");
    Ok(())
}

/// The file of the model with another manifest, signed.
pub fn with_manifest(change: impl FnOnce(&mut Value)) -> Result<Vec<u8>> {
    let (header, mut manifest, data) = parts(&model(&Device::cpu())?.to_bytes()?);
    change(&mut manifest);
    Ok(signed(header, &manifest, &data))
}

#[test]
fn newer_files_and_unknown_primitives_are_named() -> Result<()> {
    let bytes = model(&Device::cpu())?.to_bytes()?;
    let (header, manifest, data) = parts(&bytes);
    let mut newer = manifest.clone();
    (newer["format"], newer["engine"], newer["colour"]) = (7.into(), "3.0.0".into(), "red".into());
    let e = SavedModel::from_bytes(signed(header.clone(), &newer, &data)).expect_err("a newer file").to_string();
    assert!(e.contains("format 7, written by ragged 3.0.0; this version reads up to 1"), "{e}");
    let text = manifest.to_string().replacen("\"top_k\":{", "\"top_q\":{", 1);
    let unknown: Value = serde_json::from_str(&text).expect("JSON");
    let e = SavedModel::from_bytes(signed(header, &unknown, &data)).expect_err("an unknown primitive").to_string();
    assert!(e.contains("unknown variant `top_q`"), "{e}");
    Ok(())
}
