//! The arrays that programs captured.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::file::{ArrayBytes, File};
use super::tensors::{row_splits_name, string_splits_name};
use crate::error::Result;
use crate::graph::backend::{Part, Wait};
use crate::graph::digest::DigestMap;
use crate::graph::node::{Node, Rows};
use crate::graph::run::diagnosis;
use crate::tensor::{Tensor, Values};

/// The captured arrays of all programs: equal ones are written once.
pub(super) struct CapturedArrays {
    names: DigestMap<Box<str>>,
    /// The arrays of named tensors that may be the captured ones of these digests.
    named: DigestMap<String>,
    written: usize,
}

impl CapturedArrays {
    /// No arrays yet of a model whose file was `file`.
    pub(super) fn new(file: &File) -> Self {
        Self { names: DigestMap::default(), named: file.captured_names(), written: 0 }
    }

    /// A tensor that is written under that name.
    pub(super) fn named(&mut self, name: &str, x: &Tensor) {
        for (k, p) in x.partitions().iter().enumerate() {
            if let Rows::Splits(splits) = p.rows() {
                self.named.insert(splits.digest(), row_splits_name(name, k));
            }
        }
        let values = match x.values_ref() {
            Values::Numbers(numbers) => numbers,
            Values::Strings { strings, bytes } => {
                if let Rows::Splits(splits) = strings.rows() {
                    self.named.insert(splits.digest(), string_splits_name(name));
                }
                bytes
            }
        };
        self.named.insert(values.digest(), name.to_owned());
    }

    /// The name of an array, which is read the first time, and added to `arrays` unless a named tensor has it.
    pub(super) fn name(&mut self, node: &Node, arrays: &mut BTreeMap<String, ArrayBytes<'_>>) -> Result<Box<str>> {
        if let Some(known) = self.names.get(&node.digest()) {
            return Ok(known.clone());
        }
        let read = diagnosis::read_parts(node.backend(), vec![Part::whole(node.clone())], Wait::Blocking);
        let bytes = pollster::block_on(read)?.swap_remove(0).to_vec();
        let has = |array: &ArrayBytes<'_>| array.dtype == node.dtype() && *array.bytes == *bytes;
        let named = self.named.get(&node.digest()).filter(|name| arrays.get(*name).is_some_and(has));
        let name = named.cloned().unwrap_or_else(|| {
            let mut name = format!("captured.{}", self.written);
            while arrays.contains_key(&name) {
                name.push('_');
            }
            self.written += 1;
            let shape = vec![bytes.len() / node.dtype().size()];
            arrays.insert(name.clone(), ArrayBytes { dtype: node.dtype(), shape, bytes: Cow::Owned(bytes) });
            name
        });
        let name: Box<str> = name.into();
        self.names.insert(node.digest(), name.clone());
        Ok(name)
    }
}
