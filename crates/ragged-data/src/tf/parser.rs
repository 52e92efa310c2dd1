//! The parser of examples: from serialized messages to columns.

use std::collections::HashMap;
use std::sync::Arc;

use ragged::{DType, Device, Error, HostValues, Result, Tensor};
use rayon::prelude::*;

use super::columns::{Flat, Misfit, Parsed};
use super::features::Feature;
use super::partition::{batched, single};
use super::wire::{Broken, LENGTH, Reader};
use crate::item::{Call, Column, Item, SparseColumn, Value};

/// A feature of the messages that is parsed.
#[derive(Debug)]
struct Key {
    name: Arc<str>,
    dtype: DType,
    /// The number of values of each example, and what stands for missing ones.
    fixed: Option<(usize, Option<Flat>)>,
}

/// What is made of parsed features.
#[derive(Debug)]
struct Output {
    name: Arc<str>,
    feature: Feature,
    key: usize,
    /// The keys of the partitions that have one.
    partitions: Vec<Option<usize>>,
}

/// A parser of serialized `tf.train.Example` messages, for certain features.
///
/// Messages are decoded straight into columns of a whole batch, in parallel, without an object per message. Values of
/// lists may be packed or not. Of several features with one name the last counts, unknown fields are skipped, and an
/// empty feature is a missing one. Where a message has several lists in one feature, they are joined, as protobuf
/// demands; TensorFlow reads the first.
///
/// TensorFlow: `tf.io.parse_example`, `tf.io.parse_single_example`.
///
/// ```
/// use ragged::{DType, Device};
/// use ragged_data::tf::{Example, ExampleParser, RaggedFeature};
/// let records = [
///     Example::new().strings("colors", ["red", "blue"]).ints("lengths", [7]).to_bytes(),
///     Example::new().strings("colors", ["orange"]).to_bytes(),
/// ];
/// let parser = ExampleParser::new([
///     ("colors", RaggedFeature::new(DType::Str)),
///     ("lengths", RaggedFeature::new(DType::I64)),
/// ])?;
/// let batch = parser.parse(&records)?;
/// let lengths = batch.field("lengths")?.tensor(&Device::cpu())?;
/// assert_eq!(lengths.to_string(), "<ragged.RaggedTensor [[7], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug)]
pub struct ExampleParser {
    keys: Vec<Key>,
    by_name: HashMap<Arc<str>, usize>,
    outputs: Vec<Output>,
}

/// Construction and parsing.
impl ExampleParser {
    /// A parser of these features, by the names that they have in its results.
    ///
    /// # Errors
    /// A dtype other than f32, i64 and strings; one feature of the messages as values of two dtypes, or both of fixed
    /// and of any length; a default of another dtype, or of neither one value nor those of the shape; rows of a uniform
    /// length of 0; a name given twice.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{ExampleParser, RaggedFeature};
    /// assert!(ExampleParser::new([("x", RaggedFeature::new(DType::F64))]).is_err());
    /// ```
    #[track_caller]
    pub fn new<N: Into<Arc<str>>, F: Into<Feature>>(features: impl IntoIterator<Item = (N, F)>) -> Result<Self> {
        let call = Call::here("ExampleParser::new");
        let mut parser = Self { keys: Vec::new(), by_name: HashMap::new(), outputs: Vec::new() };
        for (name, feature) in features {
            let (name, feature) = (name.into(), feature.into());
            if parser.outputs.iter().any(|o| o.name == name) {
                return Err(call.argument(format!("feature {name:?} is given twice")));
            }
            parser.add(call, name, feature)?;
        }
        Ok(parser)
    }

    fn add(&mut self, call: Call, name: Arc<str>, feature: Feature) -> Result<()> {
        let mut partitions = Vec::new();
        let key = match &feature {
            Feature::Ragged(ragged) => {
                for partition in &ragged.partitions {
                    if *partition == super::Partition::UniformRowLength(0) {
                        return Err(call.argument(format!("feature {name:?}: rows need a uniform length of 1 or more")));
                    }
                    let key = partition.key().map(|key| self.key(call, key, DType::I64, None));
                    partitions.push(key.transpose()?);
                }
                self.key(call, ragged.value_key.as_ref().unwrap_or(&name), ragged.dtype, None)?
            }
            Feature::VarLen(var) => self.key(call, &name, var.dtype, None)?,
            Feature::FixedLen(fixed) => {
                let count = fixed.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
                let count = count.filter(|&n| n < u32::MAX as usize).ok_or_else(|| {
                    call.argument(format!("feature {name:?}: a shape of {:?} is too large", fixed.shape))
                })?;
                let default = fixed.default.as_ref().map(|given| default(call, &name, given, fixed.dtype, count));
                self.key(call, &name, fixed.dtype, Some((count, default.transpose()?)))?
            }
        };
        self.outputs.push(Output { name, feature, key, partitions });
        Ok(())
    }

    /// The position of a feature of the messages, which is added if it is new.
    fn key(
        &mut self,
        call: Call,
        name: &Arc<str>,
        dtype: DType,
        fixed: Option<(usize, Option<Flat>)>,
    ) -> Result<usize> {
        if !matches!(dtype, DType::F32 | DType::I64 | DType::Str) {
            return Err(call.unsupported(dtype, "examples hold f32, i64 and strings: cast the parsed tensor"));
        }
        if let Some(&known) = self.by_name.get(name) {
            let other = &self.keys[known];
            if other.dtype != dtype {
                let what = format!("feature {name:?} is asked for as {} and as {dtype}", other.dtype);
                return Err(call.argument(what));
            }
            if fixed.is_some() || other.fixed.is_some() {
                let what = format!("feature {name:?} of fixed length is asked for a second time");
                return Err(call.argument(what));
            }
            return Ok(known);
        }
        self.by_name.insert(name.clone(), self.keys.len());
        self.keys.push(Key { name: name.clone(), dtype, fixed });
        Ok(self.keys.len() - 1)
    }

    /// Parses a batch of messages into a record of tensors, in host memory, with a row per message.
    ///
    /// # Errors
    /// A message that breaks the format, with the byte; a feature of another kind; a missing feature of fixed length
    /// without a default, or another number of values; partitions that do not fit their values; more values than a
    /// tensor can have. The error names the message, counted from 0, and the feature.
    ///
    /// # Cost
    /// One pass over the messages, on all threads of rayon's pool, and one copy of the values.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{ExampleParser, FixedLenFeature};
    /// let parser = ExampleParser::new([("label", FixedLenFeature::new(DType::I64, []))])?;
    /// let error = parser.parse(&[b""]).unwrap_err().to_string();
    /// assert!(error.contains("[0].label: it is missing, and has no default"), "{error}");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn parse<B: AsRef<[u8]> + Sync>(&self, records: &[B]) -> Result<Item> {
        let call = Call::here("ExampleParser::parse");
        let columns = self.columns(call, records)?;
        self.item(call, columns, Some(records.len()))
    }

    /// Parses one message into a record of tensors, in host memory, without a dimension of messages.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    ///
    /// # Cost
    /// One pass over the message.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{Example, ExampleParser, RaggedFeature};
    /// let parser = ExampleParser::new([("ids", RaggedFeature::new(DType::I64))])?;
    /// let item = parser.parse_single(&Example::new().ints("ids", [3, 4]).to_bytes())?;
    /// assert_eq!(item.field("ids")?.values::<i64>()?, [3, 4]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn parse_single(&self, record: &(impl AsRef<[u8]> + ?Sized)) -> Result<Item> {
        let call = Call::here("ExampleParser::parse_single");
        let columns = self.columns(call, &[record.as_ref()])?;
        self.item(call, columns, None)
    }

    /// Parses the messages of an item: a vector of strings, or one string.
    ///
    /// # Errors
    /// An item that is neither, or that is on a device; as [`parse`](Self::parse).
    ///
    /// # Cost
    /// As [`parse`](Self::parse).
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::item::Item;
    /// use ragged_data::tf::{ExampleParser, RaggedFeature};
    /// let parser = ExampleParser::new([("ids", RaggedFeature::new(DType::I64))])?;
    /// assert!(parser.parse_item(&Item::from(*b""))?.field("ids")?.is_empty()?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn parse_item(&self, records: &Item) -> Result<Item> {
        let call = Call::here("ExampleParser::parse_item");
        let all: Vec<&[u8]> =
            records.strings().map_err(|_| call.argument("it needs strings in host memory"))?.collect();
        let columns = self.columns(call, &all)?;
        self.item(call, columns, records.len().ok().map(|_| all.len()))
    }

    /// Reads the messages of a vector of strings, or of one string, and parses them.
    ///
    /// # Errors
    /// A tensor of numbers, or of more than one dimension; as [`parse`](Self::parse).
    ///
    /// # Cost
    /// A read of the tensor; then as [`parse`](Self::parse). Waits for the device.
    ///
    /// ```
    /// use ragged::{DType, Device, RaggedTensor};
    /// use ragged_data::tf::{ExampleParser, RaggedFeature};
    /// let parser = ExampleParser::new([("ids", RaggedFeature::new(DType::I64))])?;
    /// let records = RaggedTensor::from_nested(["", ""], &Device::cpu())?;
    /// assert_eq!(parser.parse_tensor(&records)?.field("ids")?.len()?, 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn parse_tensor(&self, records: &impl AsRef<Tensor>) -> Result<Item> {
        let (call, records) = (Call::here("ExampleParser::parse_tensor"), records.as_ref());
        if records.dtype() != DType::Str || records.rank() > 1 {
            let what = format!("it needs a vector of strings, not {} of rank {}", records.dtype(), records.rank());
            return Err(call.argument(what));
        }
        let column = ragged::operation::named(call.op, || Column::read(&[records]))?.remove(0);
        let item = Item::of(Value::column(column));
        let all: Vec<&[u8]> = item.strings()?.collect();
        let columns = self.columns(call, &all)?;
        self.item(call, columns, (records.rank() == 1).then_some(all.len()))
    }

    /// The parsed features of all messages.
    fn columns<B: AsRef<[u8]> + Sync>(&self, call: Call, records: &[B]) -> Result<Vec<Parsed>> {
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

    fn misfit(&self, call: Call, misfit: &Misfit, record: Option<usize>, key: Option<&Key>) -> Error {
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

    /// The record of the outputs.
    fn item(&self, call: Call, columns: Vec<Parsed>, batch: Option<usize>) -> Result<Item> {
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

/// The default of a feature, for one example.
fn default(call: Call, name: &str, given: &HostValues, dtype: DType, count: usize) -> Result<Flat> {
    if given.dtype() != dtype {
        let what = format!("feature {name:?} of {dtype} has a default of {}", given.dtype());
        return Err(call.argument(what));
    }
    Flat::of_default(given, count).ok_or_else(|| {
        let n = given.len();
        call.argument(format!("feature {name:?} needs 1 or {count} default values of f32, i64 or strings, not {n}"))
    })
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

/// An error of a feature of a message.
fn record_error(call: Call, record: Option<usize>, key: Option<&Key>, what: String) -> Error {
    let place = record.map(|record| format!("[{record}]"));
    let name = key.map(|key| key.name.to_string());
    let path = place.into_iter().chain(name).collect::<Vec<_>>().join(".");
    Error::Record { op: call.op, line: None, path, what, location: call.line }
}

/// Parses a vector of serialized messages, or one message, and uploads the results: [`ExampleParser::parse_tensor`],
/// then [`Item::to_device`].
///
/// # Errors
/// Those of both.
///
/// # Cost
/// Those of both.
///
/// ```
/// use ragged::{DType, Device, RaggedTensor};
/// use ragged_data::tf::{RaggedFeature, parse_example};
/// let device = Device::cpu();
/// let records = RaggedTensor::from_nested(["", ""], &device)?;
/// let parsed = parse_example(&records, [("ids", RaggedFeature::new(DType::I64))], &device)?;
/// assert_eq!(parsed.field("ids")?.tensor(&device)?.to_string(), "<ragged.RaggedTensor [[], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn parse_example<N: Into<Arc<str>>, F: Into<Feature>>(
    records: &impl AsRef<Tensor>,
    features: impl IntoIterator<Item = (N, F)>,
    device: &Device,
) -> Result<Item> {
    let parser = ExampleParser::new(features)?;
    parser.parse_tensor(records)?.to_device(device)
}
