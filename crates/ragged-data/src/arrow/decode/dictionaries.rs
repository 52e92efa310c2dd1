//! Dictionaries: values, gathered by their keys.

use std::sync::Arc;

use arrow_array::{AnyDictionaryArray, Array};
use arrow_buffer::NullBuffer;
use ragged::arguments::Fill;
use ragged::{FieldValue, RaggedTensor, Result, Tensor};

use super::{Decoder, Level, Policy};
use crate::fault::argument;
use crate::memory::{Numbers, room};

impl Decoder<'_> {
    /// The values at the keys.
    pub(super) fn dictionary(
        &self,
        array: &dyn AnyDictionaryArray,
        nulls: Option<&NullBuffer>,
        level: &Level,
    ) -> Result<Tensor> {
        let n = array.len();
        if array.values().is_empty() && n > 0 {
            let what = format!("{}all {n} values are nulls of a dictionary without values", level.named());
            return Err(argument(what));
        }
        // A null of the values is one of the array, where a key refers to it.
        let values = Self { policy: Policy::Empty, ..*self }.value(array.values(), level)?.value;
        let FieldValue::Tensor(values) = values else {
            return Err(argument(format!("{}a dictionary of structs; cast the column before", level.named())));
        };
        let mut keys: Vec<u32> = room("keys of an Arrow dictionary", n)?;
        if n > 0 {
            let normalized = array.normalized_keys();
            keys.extend(normalized.into_iter().map(|key| key as u32));
        }
        let keys = RaggedTensor::<u32>::from_shared(Arc::new(Numbers(keys)), &[n], self.device)?;
        let found = values.gather(&keys)?;
        match self.emptied(nulls) {
            Some(nulls) if found.rank() == 1 => {
                let valid = self.bytes_of_bits(nulls.inner(), None)?;
                match Fill::zero(found.dtype()) {
                    Fill::Number(zero) => valid.select(&found, zero),
                    _ => valid.select(&found, ""),
                }
            }
            Some(_) => {
                Err(argument(format!("{}nulls in a dictionary of lists; cast the column before", level.named())))
            }
            None => Ok(found),
        }
    }
}
