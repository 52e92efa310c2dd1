//! From serialized messages to the values of their features.

use ragged::{DType, Error, Result};
use rayon::prelude::*;

use super::columns::{Misfit, Parsed};
use super::parser::{ExampleParser, Key};
use super::wire::{Broken, LENGTH, Reader};
use crate::item::Call;

impl ExampleParser {
    /// The parsed features of all messages.
    pub(super) fn columns<B: AsRef<[u8]> + Sync>(&self, call: Call, records: &[B]) -> Result<Vec<Parsed>> {
        /// Messages that one thread parses at once.
        const LEAST: usize = 64;
        let threads = rayon::current_num_threads();
        let size = records.len().div_ceil(threads.max(1) * 2).max(LEAST);
        if records.len() <= size {
            return self.chunk(call, records, 0);
        }
        let chunks = records.par_chunks(size).enumerate().map(|(k, part)| self.chunk(call, part, k * size));
        let chunks = chunks.collect::<Result<Vec<_>>>()?;
        let mut by_key: Vec<Vec<Parsed>> = self.keys.iter().map(|_| Vec::with_capacity(chunks.len())).collect();
        for chunk in chunks {
            by_key.iter_mut().zip(chunk).for_each(|(all, part)| all.push(part));
        }
        let joined = by_key
            .into_par_iter()
            .zip(&self.keys)
            .map(|(parts, key)| Parsed::join(parts).map_err(|misfit| self.misfit(call, &misfit, None, Some(key))));
        joined.collect()
    }

    /// The parsed features of some messages, the first of which has a number.
    fn chunk<B: AsRef<[u8]>>(&self, call: Call, records: &[B], first: usize) -> Result<Vec<Parsed>> {
        let mut columns: Vec<Parsed> = self.keys.iter().map(|key| Parsed::new(key.dtype)).collect();
        let mut found: Vec<Option<Reader<'_>>> = vec![None; self.keys.len()];
        let mut order = Vec::new();
        for (i, record) in records.iter().enumerate() {
            found.fill(None);
            let at = Some(first + i);
            self.find(record.as_ref(), &mut found, &mut order)
                .map_err(|broken| self.misfit(call, &Misfit::Broken(broken), at, None))?;
            for ((key, feature), column) in self.keys.iter().zip(&found).zip(&mut columns) {
                let start = column.flat.len();
                let present = feature.map_or(Ok(false), |feature| column.flat.append(feature));
                let present = present.map_err(|misfit| self.misfit(call, &misfit, at, Some(key)))?;
                if let Some((count, default)) = &key.fixed {
                    if !present {
                        if default.is_none() {
                            return Err(record_error(call, at, Some(key), "it is missing, and has no default".into()));
                        }
                        let added = column.append_default(default.as_ref());
                        added.map_err(|misfit| self.misfit(call, &misfit, at, Some(key)))?;
                    }
                    let given = column.flat.len() - start;
                    if given != *count {
                        let what = format!("it has {given} values, but its fixed shape holds {count}");
                        return Err(record_error(call, at, Some(key), what));
                    }
                }
                column.end_row().map_err(|misfit| self.misfit(call, &misfit, at, Some(key)))?;
            }
        }
        Ok(columns)
    }

    /// Finds the last value of each key. `order` has the keys of the features of the message before, since messages of
    /// one file mostly have theirs in one order.
    fn find<'a>(
        &self,
        record: &'a [u8],
        found: &mut [Option<Reader<'a>>],
        order: &mut Vec<(Vec<u8>, Option<usize>)>,
    ) -> Result<(), Broken> {
        let mut at = 0;
        let mut example = Reader::new(record);
        while !example.is_at_end() {
            let (1, LENGTH) = example.tag().and_then(|(field, wire)| {
                if (field, wire) != (1, LENGTH) {
                    example.skip(wire)?;
                }
                Ok((field, wire))
            })?
            else {
                continue;
            };
            let mut features = example.delimited()?;
            while !features.is_at_end() {
                let (field, wire) = features.tag()?;
                if (field, wire) != (1, LENGTH) {
                    features.skip(wire)?;
                    continue;
                }
                let (mut name, mut value) = (&[][..], None);
                let mut entry = features.delimited()?;
                while !entry.is_at_end() {
                    match entry.tag()? {
                        (1, LENGTH) => name = entry.delimited()?.bytes,
                        (2, LENGTH) => value = Some(entry.delimited()?),
                        (_, wire) => entry.skip(wire)?,
                    }
                }
                let key = match order.get(at) {
                    Some((last, key)) if last == name => *key,
                    _ => {
                        let key = std::str::from_utf8(name).ok().and_then(|name| self.by_name.get(name)).copied();
                        // A message of many features, all different, must not keep memory.
                        if at < 1024 && name.len() < 256 {
                            order.truncate(at);
                            order.push((name.to_vec(), key));
                        }
                        key
                    }
                };
                at += 1;
                if let Some(key) = key {
                    found[key] = value;
                }
            }
        }
        Ok(())
    }

    /// The error of a feature.
    pub(super) fn misfit(&self, call: Call, misfit: &Misfit, record: Option<usize>, key: Option<&Key>) -> Error {
        let what = match misfit {
            Misfit::Broken(Broken { what, at }) => format!("the message is broken at byte {at}: {what}"),
            Misfit::Kind { given } => {
                let asked = key.map_or(DType::Str, |key| key.dtype);
                format!("it has values of {given}, but {asked} is asked for")
            }
            Misfit::TooMany => {
                let what = format!("{} of feature {:?}", call.op, key.map_or("", |key| &*key.name));
                let most = u64::from(u32::MAX) - 1;
                return call.limit(what, most + 1, "values or bytes", most, "a tensor: parse smaller batches");
            }
        };
        record_error(call, record, key, what)
    }
}

/// An error of a feature of a message.
fn record_error(call: Call, record: Option<usize>, key: Option<&Key>, what: String) -> Error {
    let place = record.map(|record| format!("[{record}]"));
    let name = key.map(|key| key.name.to_string());
    let path = place.into_iter().chain(name).collect::<Vec<_>>().join(".");
    Error::Record { op: call.op, line: None, path, what, location: call.line }
}
