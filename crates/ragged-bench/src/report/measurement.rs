//! Measurements in the format of this program and of the scripts for other libraries.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::lengths::Sweep;

/// One operation of one library on rows of one distribution. Other fields of a record are ignored.
#[derive(Debug, Clone, Deserialize)]
pub struct Measurement {
    /// The library.
    pub peer: String,
    /// The device, if the library names one.
    #[serde(default)]
    pub device: String,
    /// The distribution of row lengths.
    pub dist: String,
    /// The operation.
    pub op: String,
    /// Values of all rows.
    pub values: u64,
    /// The time.
    pub ms: f64,
    /// Bytes that the kernels moved.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Lower bound on the bytes that any implementation moves.
    #[serde(default)]
    pub least_bytes: Option<u64>,
    /// Bandwidth of a copy on that device.
    #[serde(default)]
    pub copy_gb_s: Option<f64>,
    /// The cell of a sweep.
    #[serde(default)]
    pub sweep: Option<Sweep>,
    /// Whether the result equalled that of ragged, if both were compared.
    #[serde(default)]
    pub equal: Option<bool>,
    /// Index of the source file.
    #[serde(skip)]
    pub file: usize,
}

impl Measurement {
    /// The library, and the device if that adds information.
    pub fn device_name(&self) -> String {
        match self.device.as_str() {
            "" => self.peer.clone(),
            "cpu" if self.peer.ends_with("cpu") => self.peer.clone(),
            device => format!("{} on {device}", self.peer),
        }
    }

    /// Whether the library is this engine.
    pub fn is_own(&self) -> bool {
        self.peer.starts_with("ragged-")
    }

    /// Lower bound on the bytes per time.
    pub fn gb_s(&self) -> Option<f64> {
        self.least_bytes.map(|b| b as f64 / self.ms / 1e6).filter(|g| g.is_finite() && *g > 0.0)
    }
}

/// Parses lists of measurements, or one measurement per line.
///
/// # Errors
/// The text is neither, or has no measurements.
pub fn parse(text: &str, file: usize) -> Result<Vec<Measurement>> {
    let mut out = Vec::new();
    for entry in serde_json::Deserializer::from_str(text).into_iter() {
        let entries = match entry? {
            Value::Array(list) => list,
            one => vec![one],
        };
        for one in entries {
            let measurement = Measurement::deserialize(one).context("not a measurement")?;
            out.push(Measurement { file, ..measurement });
        }
    }
    ensure!(!out.is_empty(), "no measurements");
    Ok(out)
}

/// Groups items by key, in the order in which the keys first occur.
pub fn by<'a, T, K: PartialEq>(all: impl IntoIterator<Item = &'a T>, key: impl Fn(&T) -> K) -> Vec<(K, Vec<&'a T>)> {
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for one in all {
        let key = key(one);
        match groups.iter_mut().find(|(k, _)| *k == key) {
            Some((_, group)) => group.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}
