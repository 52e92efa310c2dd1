//! Examples: messages that are written.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::wire::{delimited_len, put_delimited, put_varint, varint_len};

/// The list of a feature.
#[derive(Debug, Clone, PartialEq)]
enum List {
    Strings(Vec<Vec<u8>>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
}

/// A `tf.train.Example` to write: named lists of strings, f32 or i64.
///
/// TensorFlow: `tf.train.Example(...).SerializeToString(deterministic=True)`, which gives the same bytes.
///
/// ```
/// use ragged_data::tf::Example;
/// let bytes = Example::new().strings("colors", ["red", "blue"]).ints("lengths", [7]).to_bytes();
/// assert_eq!(&bytes[..12], b"\n+\n\x17\n\x06colors");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Example {
    features: BTreeMap<Arc<str>, List>,
}

/// Construction and bytes.
impl Example {
    /// An example without features.
    ///
    /// ```
    /// assert!(ragged_data::tf::Example::new().to_bytes().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a feature of byte strings.
    ///
    /// ```
    /// let example = ragged_data::tf::Example::new().strings("colors", ["red"]);
    /// # let _ = example;
    /// ```
    pub fn strings<S: Into<Vec<u8>>>(mut self, name: impl Into<Arc<str>>, all: impl IntoIterator<Item = S>) -> Self {
        self.features.insert(name.into(), List::Strings(all.into_iter().map(Into::into).collect()));
        self
    }

    /// Sets a feature of f32.
    ///
    /// ```
    /// let example = ragged_data::tf::Example::new().floats("weights", [0.5, 1.5]);
    /// # let _ = example;
    /// ```
    pub fn floats(mut self, name: impl Into<Arc<str>>, all: impl IntoIterator<Item = f32>) -> Self {
        self.features.insert(name.into(), List::Floats(all.into_iter().collect()));
        self
    }

    /// Sets a feature of i64.
    ///
    /// ```
    /// let example = ragged_data::tf::Example::new().ints("ids", [3, 1, 4]);
    /// # let _ = example;
    /// ```
    pub fn ints(mut self, name: impl Into<Arc<str>>, all: impl IntoIterator<Item = i64>) -> Self {
        self.features.insert(name.into(), List::Ints(all.into_iter().collect()));
        self
    }

    /// The serialized message: numbers packed, features in the order of their names.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{Example, ExampleParser, RaggedFeature};
    /// let bytes = Example::new().ints("ids", [3, -1]).to_bytes();
    /// let parser = ExampleParser::new([("ids", RaggedFeature::new(DType::I64))])?;
    /// assert_eq!(parser.parse_single(&bytes)?.field("ids")?.values::<i64>()?, [3, -1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.features.is_empty() {
            return out;
        }
        let entry_len =
            |(name, list): (&Arc<str>, &List)| delimited_len(name.len()) + delimited_len(delimited_len(list.len()));
        let features_len = self.features.iter().map(|f| delimited_len(entry_len(f))).sum();
        put_delimited(&mut out, 1, features_len);
        for (name, list) in &self.features {
            put_delimited(&mut out, 1, entry_len((name, list)));
            put_delimited(&mut out, 1, name.len());
            out.extend_from_slice(name.as_bytes());
            put_delimited(&mut out, 2, delimited_len(list.len()));
            list.put(&mut out);
        }
        out
    }
}

impl List {
    fn packed_len(&self) -> usize {
        match self {
            Self::Strings(_) => 0,
            Self::Floats(all) => 4 * all.len(),
            Self::Ints(all) => all.iter().map(|&n| varint_len(n as u64)).sum(),
        }
    }

    /// Bytes of the list's message.
    fn len(&self) -> usize {
        match self {
            Self::Strings(all) => all.iter().map(|s| delimited_len(s.len())).sum(),
            _ => match self.packed_len() {
                0 => 0,
                n => delimited_len(n),
            },
        }
    }

    fn put(&self, out: &mut Vec<u8>) {
        let field = match self {
            Self::Strings(_) => 1,
            Self::Floats(_) => 2,
            Self::Ints(_) => 3,
        };
        put_delimited(out, field, self.len());
        if !matches!(self, Self::Strings(_)) && self.packed_len() > 0 {
            put_delimited(out, 1, self.packed_len());
        }
        match self {
            Self::Strings(all) => all.iter().for_each(|s| {
                put_delimited(out, 1, s.len());
                out.extend_from_slice(s);
            }),
            Self::Floats(all) => all.iter().for_each(|f| out.extend_from_slice(&f.to_le_bytes())),
            Self::Ints(all) => all.iter().for_each(|&n| put_varint(out, n as u64)),
        }
    }
}
