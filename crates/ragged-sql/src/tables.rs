//! Tables and programs of files, each loaded once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ragged::{Device, Program, Result, SavedModel, Tensor};
use ragged_data::{npy, safetensors};

use crate::fault;

/// The tables and programs that queries have named.
#[derive(Debug)]
pub(crate) struct Tables {
    device: Device,
    tables: Mutex<HashMap<Arc<str>, Tensor>>,
    programs: Mutex<HashMap<Arc<str>, Program>>,
}

impl Tables {
    pub(crate) fn new(device: &Device) -> Self {
        Self { device: device.clone(), tables: Mutex::default(), programs: Mutex::default() }
    }

    /// The table of a file: `PATH` of an npy file, `PATH#NAME` of an npz or safetensors file. A file of one table needs no name.
    ///
    /// # Errors
    /// A file of another kind, that cannot be read, or without that table.
    pub(crate) fn table(&self, place: &Arc<str>) -> Result<Tensor> {
        loaded(&self.tables, place, |path, name| {
            let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
            let all = match extension.as_str() {
                "npy" if name.is_none() => return npy::read(path, &self.device),
                "npz" => npy::read_npz(path, &self.device)?,
                "safetensors" => safetensors::read(path, &self.device)?,
                _ => {
                    return Err(fault::argument(format!(
                        "{place:?} is no table: it must be FILE.npy, FILE.npz#NAME or FILE.safetensors#NAME"
                    )));
                }
            };
            one_of(path, name, all.into_iter().collect(), "tables")
        })
    }

    /// The program of a file: `PATH#NAME`, without a name if there is one.
    ///
    /// # Errors
    /// A file that cannot be read, or without that program.
    pub(crate) fn program(&self, place: &Arc<str>) -> Result<Program> {
        loaded(&self.programs, place, |path, name| {
            let model = SavedModel::load(path)?;
            let names: Vec<String> = model.programs().map(String::from).collect();
            let name = one_of(path, name, names.into_iter().map(|name| (name.clone(), name)).collect(), "programs")?;
            model.program(&name)
        })
    }
}

fn loaded<T: Clone>(
    known: &Mutex<HashMap<Arc<str>, T>>,
    place: &Arc<str>,
    load: impl FnOnce(&str, Option<&str>) -> Result<T>,
) -> Result<T> {
    let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(one) = known().get(place) {
        return Ok(one.clone());
    }
    let (path, name) = place.split_once('#').map_or((&**place, None), |(path, name)| (path, Some(name)));
    let one = load(path, name)?;
    // Others went on meanwhile; of two that loaded the same, one is kept.
    Ok(known().entry(place.clone()).or_insert(one).clone())
}

fn one_of<T>(path: &str, name: Option<&str>, mut all: Vec<(String, T)>, what: &str) -> Result<T> {
    let at = match name {
        Some(name) => all.iter().position(|(known, _)| known == name),
        None => (all.len() == 1).then_some(0),
    };
    match at {
        Some(at) => Ok(all.swap_remove(at).1),
        None => {
            let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            let asked = name.map_or(String::from("more than one"), |name| format!("no {name:?} among the"));
            Err(fault::argument(format!("{path} has {asked} {what}: {}", names.join(", "))))
        }
    }
}
