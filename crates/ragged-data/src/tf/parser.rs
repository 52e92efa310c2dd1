//! The parser of examples: from serialized messages to columns.

use std::collections::HashMap;
use std::sync::Arc;

use ragged::{DType, Device, HostValues, Result, Tensor};

use super::columns::Flat;
use super::features::Feature;
use crate::item::{Call, Column, Item, Value};

/// A feature of the messages that is parsed.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: Arc<str>,
    pub(super) dtype: DType,
    /// The number of values of each example, and what stands for missing ones.
    pub(super) fixed: Option<(usize, Option<Flat>)>,
}

/// What is made of parsed features.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) name: Arc<str>,
    pub(super) feature: Feature,
    pub(super) key: usize,
    /// The keys of the partitions that have one.
    pub(super) partitions: Vec<Option<usize>>,
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
    pub(super) keys: Vec<Key>,
    pub(super) by_name: HashMap<Arc<str>, usize>,
    pub(super) outputs: Vec<Output>,
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
        Self::of(Call::here("ExampleParser::new"), features)
    }

    /// As [`new`](Self::new), for another call.
    pub(super) fn of<N: Into<Arc<str>>, F: Into<Feature>>(
        call: Call,
        features: impl IntoIterator<Item = (N, F)>,
    ) -> Result<Self> {
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
        let item = messages(call, records)?;
        let all: Vec<&[u8]> = item.strings()?.collect();
        let columns = self.columns(call, &all)?;
        self.item(call, columns, (records.rank() == 1).then_some(all.len()))
    }
}

/// The messages of a vector of strings, or of one string.
pub(super) fn messages(call: Call, records: &Tensor) -> Result<Item> {
    if records.dtype() != DType::Str || records.rank() > 1 {
        let what = format!("it needs a vector of strings, not {} of rank {}", records.dtype(), records.rank());
        return Err(call.argument(what));
    }
    let column = ragged::operation::named(call.op, || Column::read(&[records]))?.remove(0);
    Ok(Item::of(Value::column(column)))
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
