//! Results that the host builds: counted against the budget before they grow, and refused without aborting.

use std::io::Read;

use ragged::opt::{ConstantOptions, NumberFormat};
use ragged::{
    CpuOptions, Device, Error, HostTensor, HostValues, JsonLines, Nested, RaggedTensor, Result, StructuredTensor,
    Tensor,
};

use crate::child::{is_child, output, ran_in_child, refused_within};

const MIB: u64 = 1 << 20;

fn device(budget: u64) -> Device {
    Device::cpu_with(&CpuOptions::default().max_memory(budget))
}

/// A text that repeats a line, and is not in memory.
struct Repeated<'a> {
    line: &'a [u8],
    at: usize,
    left: usize,
}

impl Read for Repeated<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.line[self.at..];
        let n = rest.len().min(into.len()).min(self.left);
        into[..n].copy_from_slice(&rest[..n]);
        self.at = (self.at + n) % self.line.len();
        self.left -= n;
        Ok(n)
    }
}

fn one_string(len: usize, device: &Device) -> Result<Tensor> {
    HostTensor::dense(&[1], HostValues::Str(vec![vec![b'a'; len]])).to_device(device)
}

#[test]
fn host_steps_grow_within_the_budget() -> Result<()> {
    if ran_in_child("host_results::host_steps_grow_within_the_budget") {
        return Ok(());
    }
    let device = device(64 * MIB);
    let x = one_string(1 << 20, &device)?;
    // 1 GiB of text.
    let by = "y".repeat(1 << 10);
    refused_within("a replacement", 80 * MIB, || x.regex_replace("a", &by));
    // 700 MB of text, in many tasks.
    let floats = RaggedTensor::from_nested(vec![1e300f64; 300_000], &device)?;
    let format = NumberFormat::default().precision(2000);
    refused_within("texts of floats", 96 * MIB, || floats.erased().as_string_with(&format));
    // Of rows that only the device knows, whose layout is read too.
    let some = RaggedTensor::from_nested(vec![1e300f64; 100_000], &device)?;
    let some = some.boolean_mask(&some.greater(0.0)?)?;
    refused_within("texts of device-known rows", 96 * MIB, || some.erased().as_string_with(&format));
    assert_eq!(x.regex_replace("^aaaa", "")?.string_length()?.to_host()?.values, HostValues::I32(vec![(1 << 20) - 4]));
    assert_eq!(some.erased().slice(ragged::s![..2])?.as_string()?.to_host()?.values.len(), 2);
    Ok(())
}

#[test]
fn a_text_of_many_empty_rows_takes_no_memory() -> Result<()> {
    if ran_in_child("host_results::a_text_of_many_empty_rows_takes_no_memory") {
        return Ok(());
    }
    let empty = HostTensor::dense(&[1 << 28, 0], HostValues::I32(Vec::new())).to_device(&device(MIB))?;
    let text = empty.string_format("{}")?.to_host()?;
    let shown: &[u8] = b"[[], [], [], ..., [], [], []]";
    assert_eq!(text.values, HostValues::Str(vec![shown.to_vec()]));
    let peak = crate::child::status("VmHWM");
    assert!(peak < 200 * MIB, "{peak} bytes");
    Ok(())
}

#[test]
fn nested_lists_are_counted_before_they_are_flattened() -> Result<()> {
    if ran_in_child("host_results::nested_lists_are_counted_before_they_are_flattened") {
        return Ok(());
    }
    let device = device(8 * MIB);
    // One row, many times: 1 GiB of values from 64 KiB.
    let row = vec![1.5f32; 1 << 14];
    let rows = vec![row.as_slice(); 1 << 14];
    refused_within("from_nested", 8 * MIB, || RaggedTensor::from_nested(&rows, &device));
    let text = "t".repeat(1 << 14);
    let texts = vec![text.as_str(); 1 << 14];
    refused_within("from_nested of strings", 8 * MIB, || RaggedTensor::<ragged::Str>::from_nested(&texts, &device));
    refused_within("dense strings", 8 * MIB, || RaggedTensor::<ragged::Str>::dense(&texts, &[1 << 14], &device));
    let few = RaggedTensor::from_nested(&rows[..8], &device)?;
    assert_eq!(few.reduce_max(1)?.to_vec()?, [1.5; 8]);
    let nested: Nested = vec![1i64; 1 << 21].into();
    // Reading the list takes about as much memory as the list itself.
    refused_within("a constant", 72 * MIB, || Tensor::constant(&nested, &ConstantOptions::default(), &device));
    Ok(())
}

#[test]
fn records_of_json_are_counted_as_they_are_read() -> Result<()> {
    if ran_in_child("host_results::records_of_json_are_counted_as_they_are_read") {
        return Ok(());
    }
    let device = device(24 * MIB);
    // Numbers of 2 bytes of text and 8 bytes each, in many lines and in one.
    let line = format!("{{\"x\": [{}0]}}\n", "0,".repeat(1 << 10));
    let line = line.as_bytes();
    let lines = |n: usize| Repeated { line, at: 0, left: n * line.len() };
    refused_within("many lines", 96 * MIB, || JsonLines::new(lines(1 << 14)).read(&device));
    let long = "{\"x\": [0".as_bytes().chain(std::io::repeat(b'1').take(1 << 30));
    refused_within("a line without an end", 96 * MIB, || JsonLines::new(long).read(&device));
    // In batches it fits.
    let mut reader = JsonLines::new(lines(1 << 12)).batch_bytes(1 << 18);
    let batches = reader.batches(&device).collect::<Result<Vec<StructuredTensor>>>();
    assert!(matches!(batches, Err(Error::Limit { .. })), "all batches are held");
    let mut reader = JsonLines::new(lines(1 << 12)).batch_bytes(1 << 18);
    let rows: usize = reader.batches(&device).map(|batch| batch.unwrap().shape()[0].unwrap_or(0)).sum();
    assert_eq!(rows, 1 << 12);
    Ok(())
}

#[test]
fn json_values_of_a_read_are_counted() -> Result<()> {
    if ran_in_child("host_results::json_values_of_a_read_are_counted") {
        return Ok(());
    }
    let device = device(16 * MIB);
    let x = RaggedTensor::dense(vec![1u8; 1 << 20], &[1 << 20], &device)?;
    let records = StructuredTensor::from_fields([("a", &x)], [1 << 20])?;
    refused_within("to_value", 24 * MIB, || records.to_value());
    let few = RaggedTensor::dense(vec![1u8; 2], &[2], &device)?;
    let records = StructuredTensor::from_fields([("a", &few)], [2])?;
    assert_eq!(records.to_value()?.to_string(), r#"[{"a":1},{"a":1}]"#);
    Ok(())
}

#[test]
fn results_that_exceed_the_address_space_are_errors() -> Result<()> {
    if !is_child() {
        output("host_results::results_that_exceed_the_address_space_are_errors", "ulimit -v 786432");
        return Ok(());
    }
    let device = Device::cpu();
    let x = one_string(1 << 20, &device)?;
    let by = "y".repeat(1 << 11);
    refused_within("a replacement", 768 * MIB, || x.regex_replace("a", &by));
    let row = vec![1.5f32; 1 << 14];
    let rows = vec![row.as_slice(); 1 << 15];
    refused_within("from_nested", 8 * MIB, || RaggedTensor::from_nested(&rows, &device));
    let x = RaggedTensor::dense(vec![1u8; 1 << 25], &[1 << 25], &device)?;
    refused_within("to_nested", 80 * MIB, || x.to_nested());
    let records = StructuredTensor::from_fields([("a", &x)], [1 << 25])?;
    refused_within("to_value", 80 * MIB, || records.to_value());
    assert_eq!(x.reduce_max(0)?.item()?, 1);
    Ok(())
}
