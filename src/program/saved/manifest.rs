//! The manifest: what a file holds besides arrays, in JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::program::SavedProgram;
use super::tensors::SavedTensor;

/// The version of the format that is written. A reader knows all versions up to its own.
pub(super) const FORMAT: u32 = 1;

/// The manifest of a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: u32,
    /// The version of the crate that wrote the file.
    engine: String,
    pub(super) programs: BTreeMap<String, SavedProgram>,
    pub(super) tensors: BTreeMap<String, SavedTensor>,
}

/// What every version of the manifest begins with.
#[derive(Deserialize)]
struct Version {
    format: u32,
    engine: String,
}

impl Manifest {
    pub(super) fn new(programs: BTreeMap<String, SavedProgram>, tensors: BTreeMap<String, SavedTensor>) -> Self {
        Self { format: FORMAT, engine: env!("CARGO_PKG_VERSION").into(), programs, tensors }
    }

    pub(super) fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| e.to_string())
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// A newer format; anything that no manifest has.
    pub(super) fn read(json: &str) -> Result<Self, String> {
        let of = |e: serde_json::Error| format!("its manifest cannot be read: {e}");
        let Version { format, engine } = serde_json::from_str(json).map_err(of)?;
        if format == 0 || format > FORMAT {
            return Err(format!(
                "it has format {format}, written by ragged {engine}; this version reads up to {FORMAT}"
            ));
        }
        serde_json::from_str(json).map_err(of)
    }
}
