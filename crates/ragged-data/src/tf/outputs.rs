//! From the values of features to the record of tensors that is asked for.

use std::sync::Arc;

use ragged::Result;

use super::columns::Parsed;
use super::features::Feature;
use super::parser::ExampleParser;
use super::partition::{batched, single};
use crate::item::{Call, Column, Item, SparseColumn, Value};

impl ExampleParser {
    /// The record of the outputs.
    pub(super) fn item(&self, call: Call, columns: Vec<Parsed>, batch: Option<usize>) -> Result<Item> {
        let mut fields = Vec::with_capacity(self.outputs.len());
        // A feature that one output needs is moved into it, others are copied.
        let mut uses = vec![0; columns.len()];
        for output in &self.outputs {
            output.partitions.iter().flatten().chain([&output.key]).for_each(|&key| uses[key] += 1);
        }
        let mut columns: Vec<Option<Parsed>> = columns.into_iter().map(Some).collect();
        for output in &self.outputs {
            let partitions: Vec<Option<Parsed>> =
                output.partitions.iter().map(|key| key.and_then(|key| columns[key].clone())).collect();
            let own = match uses[output.key] {
                1 => columns[output.key].take(),
                _ => columns[output.key].clone(),
            };
            let own = own.unwrap_or_else(|| unreachable!("bug: a feature is moved once"));
            let value = match &output.feature {
                Feature::Ragged(feature) => {
                    let parts = feature.partitions.iter().zip(&partitions).rev();
                    let column = match batch {
                        Some(_) => batched(call, &output.name, own.into_ragged(), parts)?,
                        None => single(call, &output.name, own, parts)?,
                    };
                    Value::column(column)
                }
                Feature::FixedLen(feature) => {
                    let inner = batch.into_iter().chain(feature.shape.iter().copied()).collect();
                    let values = own.flat.into_values();
                    Value::column(Column { splits: Vec::new(), uniform: Vec::new(), inner, values })
                }
                Feature::VarLen(_) => Value::HostSparse(Arc::new(sparse(own, batch))),
            };
            fields.push((output.name.clone(), Item::of(value)));
        }
        Ok(Item::record(fields))
    }
}

/// A sparse tensor with a row per example, or of one example.
fn sparse(parsed: Parsed, batch: Option<usize>) -> SparseColumn {
    let widest = parsed.ends.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    let rows = parsed.ends.windows(2).enumerate();
    let (indices, dense_shape) = match batch {
        Some(n) => {
            let all = rows.flat_map(|(row, w)| (0..w[1] - w[0]).flat_map(move |i| [row as i64, i.into()]));
            (all.collect(), vec![n as u64, widest.into()])
        }
        None => ((0..i64::from(widest)).collect(), vec![widest.into()]),
    };
    let inner = vec![parsed.flat.len()];
    let values = Column { splits: Vec::new(), uniform: Vec::new(), inner, values: parsed.flat.into_values() };
    SparseColumn { indices, values, dense_shape }
}
