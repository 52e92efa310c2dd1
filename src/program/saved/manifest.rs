//! The manifest: what a file holds besides arrays, in JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::file::SignedManifest;
use super::header::cut;
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
    pub(super) programs: BTreeMap<String, Box<SavedProgram>>,
    pub(super) tensors: BTreeMap<String, Box<SavedTensor>>,
}

/// The entries that the manifests of all formats have.
#[derive(Deserialize)]
struct Version {
    format: u32,
    engine: String,
}

impl Manifest {
    pub(super) fn new(
        programs: BTreeMap<String, Box<SavedProgram>>,
        tensors: BTreeMap<String, Box<SavedTensor>>,
    ) -> Self {
        Self { format: FORMAT, engine: env!("CARGO_PKG_VERSION").into(), programs, tensors }
    }

    pub(super) fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|e| e.to_string())
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// A newer format; a manifest or arrays that were changed after they were written; anything that no manifest has.
    pub(super) fn read(signed: &SignedManifest) -> Result<Self, String> {
        let json = signed.json();
        let of = |e: serde_json::Error| format!("its manifest cannot be read: {}", cut(e));
        let Version { format, engine } = serde_json::from_str(json).map_err(of)?;
        if format == 0 || format > FORMAT {
            return Err(format!(
                "it has format {format}, written by ragged {engine}; this version reads up to {FORMAT}"
            ));
        }
        if !signed.is_intact {
            return Err("it is damaged: its checksum is another one".into());
        }
        serde_json::from_str(json).map_err(of)
    }
}
