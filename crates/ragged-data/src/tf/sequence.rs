//! The parser of sequence examples: a context, and lists of features.

use std::sync::Arc;

use ragged::{Device, Result, Tensor};

use super::columns::{Misfit, Parsed};
use super::features::{Feature, RaggedFeature};
use super::parser::{ExampleParser, Key, messages};
use super::wire::{Broken, LENGTH, Reader};
use crate::item::{Call, Column, Item, Value};

/// A list of features that is parsed.
#[derive(Debug)]
struct Sequence {
    name: Arc<str>,
    key: Key,
}

/// A parser of serialized `tf.train.SequenceExample` messages: features of the context as [`ExampleParser`] parses them, and
/// lists of features, whose rows are the features of the list.
///
/// A list that is missing is an empty row, and a feature of a list without values is an empty row within. The number of steps is
/// that of the rows: TensorFlow's third result, the lengths, is `row_lengths(1)`. Dense results, those of
/// `FixedLenSequenceFeature`, are `to_tensor` of the ragged ones.
///
/// TensorFlow: `tf.io.parse_sequence_example`, `tf.io.parse_single_sequence_example`.
///
/// ```
/// use ragged::{DType, Device};
/// use ragged_data::tf::{RaggedFeature, SequenceExampleParser, VarLenFeature};
/// let parser = SequenceExampleParser::new(
///     [("id", VarLenFeature::new(DType::I64))],
///     [("words", RaggedFeature::new(DType::Str))],
/// )?;
/// let item = parser.parse(&[b"", b""])?;
/// let words = item.field("sequences")?.field("words")?.tensor(&Device::cpu())?;
/// assert_eq!(words.to_string(), "<ragged.RaggedTensor [[], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug)]
pub struct SequenceExampleParser {
    context: ExampleParser,
    sequences: Vec<Sequence>,
}

/// Construction and parsing.
impl SequenceExampleParser {
    /// A parser of these features of the context, and of these lists of features, by the names that they have in its results.
    ///
    /// # Errors
    /// Those of [`ExampleParser::new`], of the lists as well; partitions of lists.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{Partition, RaggedFeature, SequenceExampleParser};
    /// let context = [("id", RaggedFeature::new(DType::I64))];
    /// let divided = RaggedFeature::new(DType::I64).partition(Partition::UniformRowLength(2));
    /// assert!(SequenceExampleParser::new(context, [("x", divided)]).is_err());
    /// ```
    #[track_caller]
    pub fn new<N: Into<Arc<str>>, F: Into<Feature>, M: Into<Arc<str>>>(
        context: impl IntoIterator<Item = (N, F)>,
        sequences: impl IntoIterator<Item = (M, RaggedFeature)>,
    ) -> Result<Self> {
        let call = Call::here("SequenceExampleParser::new");
        let context = ExampleParser::of(call, context)?;
        let mut all: Vec<Sequence> = Vec::new();
        for (name, feature) in sequences {
            let name = name.into();
            if all.iter().any(|other| other.name == name) {
                return Err(call.argument(format!("list {name:?} is given twice")));
            }
            if !feature.partitions.is_empty() {
                let what = format!("list {name:?}: its features are its rows, and partitions of them are not parsed");
                return Err(call.argument(what));
            }
            // The rules for dtypes are those of features.
            let key = feature.value_key.clone().unwrap_or_else(|| name.clone());
            let mut checked = ExampleParser::of(call, [(key, RaggedFeature::new(feature.dtype))])?;
            all.push(Sequence { name, key: checked.keys.remove(0) });
        }
        Ok(Self { context, sequences: all })
    }

    /// Parses a batch of messages into a record in host memory: `context` and `sequences`, records of tensors with a row per
    /// message. The rows of `sequences` have a row per feature of the list.
    ///
    /// # Errors
    /// Those of [`ExampleParser::parse`]; a feature of a list of another kind.
    ///
    /// # Cost
    /// A pass over the messages for the context, one for the lists, and one copy of the values.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{RaggedFeature, SequenceExampleParser};
    /// let parser = SequenceExampleParser::new(
    ///     [("id", RaggedFeature::new(DType::I64))],
    ///     [("x", RaggedFeature::new(DType::F32))],
    /// )?;
    /// let error = parser.parse(&[b"\x12"]).unwrap_err().to_string();
    /// assert!(error.contains("[0]: the message is broken at byte 1"), "{error}");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn parse<B: AsRef<[u8]> + Sync>(&self, records: &[B]) -> Result<Item> {
        self.item(Call::here("SequenceExampleParser::parse"), records, true)
    }

    /// Parses one message into a record in host memory, without a dimension of messages.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    ///
    /// # Cost
    /// As [`parse`](Self::parse).
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{RaggedFeature, SequenceExampleParser};
    /// let parser = SequenceExampleParser::new(
    ///     [("id", RaggedFeature::new(DType::I64))],
    ///     [("x", RaggedFeature::new(DType::I64))],
    /// )?;
    /// let item = parser.parse_single(b"\x12\x14\x0a\x12\x0a\x01x\x12\x0d\x0a\x05\x1a\x03\x0a\x01\x07\x0a\x04\x1a\x02\x0a\x00")?;
    /// assert_eq!(item.field("sequences")?.field("x")?.len()?, 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn parse_single(&self, record: &(impl AsRef<[u8]> + ?Sized)) -> Result<Item> {
        self.item(Call::here("SequenceExampleParser::parse_single"), &[record.as_ref()], false)
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
    /// use ragged_data::tf::{RaggedFeature, SequenceExampleParser};
    /// let parser = SequenceExampleParser::new(
    ///     [("id", RaggedFeature::new(DType::I64))],
    ///     [("x", RaggedFeature::new(DType::F32))],
    /// )?;
    /// let records = RaggedTensor::from_nested(["", ""], &Device::cpu())?;
    /// assert_eq!(parser.parse_tensor(&records)?.field("context")?.field("id")?.len()?, 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn parse_tensor(&self, records: &impl AsRef<Tensor>) -> Result<Item> {
        let (call, records) = (Call::here("SequenceExampleParser::parse_tensor"), records.as_ref());
        let item = messages(call, records)?;
        let all: Vec<&[u8]> = item.strings()?.collect();
        self.item(call, &all, records.rank() == 1)
    }

    fn item<B: AsRef<[u8]> + Sync>(&self, call: Call, records: &[B], is_batch: bool) -> Result<Item> {
        let columns = self.context.columns(call, records)?;
        let context = self.context.item(call, columns, is_batch.then_some(records.len()))?;
        let mut lists: Vec<(Vec<u32>, Parsed)> =
            self.sequences.iter().map(|sequence| (vec![0], Parsed::new(sequence.key.dtype))).collect();
        let mut found = vec![None; self.sequences.len()];
        for (i, record) in records.iter().enumerate() {
            found.fill(None);
            let failed = |misfit: &Misfit, key| self.context.misfit(call, misfit, Some(i), key);
            self.find(record.as_ref(), &mut found).map_err(|broken| failed(&Misfit::Broken(broken), None))?;
            for ((sequence, list), (ends, parsed)) in self.sequences.iter().zip(&found).zip(&mut lists) {
                if let Some(list) = *list {
                    append(list, parsed).map_err(|misfit| failed(&misfit, Some(&sequence.key)))?;
                }
                // The features are fewer than the values of a tensor may be, as `end_row` checks.
                ends.push((parsed.ends.len() - 1) as u32);
            }
        }
        let column = |(ends, parsed): (Vec<u32>, Parsed)| {
            let splits = if is_batch { vec![ends, parsed.ends] } else { vec![parsed.ends] };
            let inner = vec![parsed.flat.len()];
            Column { uniform: vec![None; splits.len()], splits, inner, values: parsed.flat.into_values() }
        };
        let named = self.sequences.iter().zip(lists);
        let sequences: Vec<(Arc<str>, Item)> =
            named.map(|(sequence, list)| (sequence.name.clone(), Item::of(Value::column(column(list))))).collect();
        Ok(Item::record([("context", context), ("sequences", Item::record(sequences))]))
    }

    /// Finds the last list of each name.
    fn find<'a>(&self, record: &'a [u8], found: &mut [Option<Reader<'a>>]) -> std::result::Result<(), Broken> {
        let mut message = Reader::new(record);
        while !message.is_at_end() {
            let (field, wire) = message.tag()?;
            if (field, wire) != (2, LENGTH) {
                message.skip(wire)?;
                continue;
            }
            let mut lists = message.delimited()?;
            while !lists.is_at_end() {
                let (field, wire) = lists.tag()?;
                if (field, wire) != (1, LENGTH) {
                    lists.skip(wire)?;
                    continue;
                }
                let (mut name, mut value) = (&[][..], None);
                let mut entry = lists.delimited()?;
                while !entry.is_at_end() {
                    match entry.tag()? {
                        (1, LENGTH) => name = entry.delimited()?.bytes,
                        (2, LENGTH) => value = Some(entry.delimited()?),
                        (_, wire) => entry.skip(wire)?,
                    }
                }
                for (sequence, found) in self.sequences.iter().zip(found.iter_mut()) {
                    if sequence.key.name.as_bytes() == name {
                        *found = value;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Parses a vector of serialized sequence examples, or one message, and uploads the results:
/// [`SequenceExampleParser::parse_tensor`], then [`Item::to_device`].
///
/// # Errors
/// Those of both.
///
/// # Cost
/// Those of both.
///
/// ```
/// use ragged::{DType, Device, RaggedTensor};
/// use ragged_data::tf::{RaggedFeature, parse_sequence_example};
/// let device = Device::cpu();
/// let records = RaggedTensor::from_nested(["", ""], &device)?;
/// let context = [("id", RaggedFeature::new(DType::I64))];
/// let parsed = parse_sequence_example(&records, context, [("x", RaggedFeature::new(DType::I64))], &device)?;
/// let x = parsed.field("sequences")?.field("x")?.tensor(&device)?;
/// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[], []]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[track_caller]
pub fn parse_sequence_example<N: Into<Arc<str>>, F: Into<Feature>, M: Into<Arc<str>>>(
    records: &impl AsRef<Tensor>,
    context: impl IntoIterator<Item = (N, F)>,
    sequences: impl IntoIterator<Item = (M, RaggedFeature)>,
    device: &Device,
) -> Result<Item> {
    let parser = SequenceExampleParser::new(context, sequences)?;
    parser.parse_tensor(records)?.to_device(device)
}

/// Appends the features of a list, each as a row.
fn append(mut list: Reader<'_>, parsed: &mut Parsed) -> std::result::Result<(), Misfit> {
    while !list.is_at_end() {
        match list.tag()? {
            (1, LENGTH) => {
                parsed.flat.append(list.delimited()?)?;
                parsed.end_row()?;
                // Features without values are rows as well.
                if parsed.ends.len() >= u32::MAX as usize {
                    return Err(Misfit::TooMany);
                }
            }
            (_, wire) => list.skip(wire)?,
        }
    }
    Ok(())
}
