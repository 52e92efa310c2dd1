//! The features that are asked of examples.

use std::sync::Arc;

use ragged::{DType, HostValues};

/// A feature to parse: [`RaggedFeature`], [`FixedLenFeature`] or [`VarLenFeature`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Feature {
    /// Values of any number, as a ragged tensor.
    Ragged(RaggedFeature),
    /// Values of one number, as a dense tensor.
    FixedLen(FixedLenFeature),
    /// Values of any number, as a sparse tensor.
    VarLen(VarLenFeature),
}

impl From<RaggedFeature> for Feature {
    fn from(feature: RaggedFeature) -> Self {
        Self::Ragged(feature)
    }
}
impl From<FixedLenFeature> for Feature {
    fn from(feature: FixedLenFeature) -> Self {
        Self::FixedLen(feature)
    }
}
impl From<VarLenFeature> for Feature {
    fn from(feature: VarLenFeature) -> Self {
        Self::VarLen(feature)
    }
}

/// A row partition of the values of one example, encoded by a feature of integers, or by one length.
///
/// TensorFlow: `tf.io.RaggedFeature.RowSplits` and its siblings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Partition {
    /// Where rows begin, and the end of the last row.
    RowSplits(Arc<str>),
    /// The number of values of each row.
    RowLengths(Arc<str>),
    /// Where rows begin.
    RowStarts(Arc<str>),
    /// Where rows end.
    RowLimits(Arc<str>),
    /// The row of each value.
    ValueRowIds(Arc<str>),
    /// All rows have this number of values.
    UniformRowLength(u32),
}

impl Partition {
    /// The feature that encodes the partition.
    pub(crate) fn key(&self) -> Option<&Arc<str>> {
        match self {
            Self::RowSplits(key)
            | Self::RowLengths(key)
            | Self::RowStarts(key)
            | Self::RowLimits(key)
            | Self::ValueRowIds(key) => Some(key),
            Self::UniformRowLength(_) => None,
        }
    }
}

/// Values of any number per example, as a ragged tensor: a missing feature is an empty row.
///
/// Partitions divide the values of each example further, outermost first. They are always validated; positions in row
/// splits are u32, so that TensorFlow's `row_splits_dtype` has no counterpart. TensorFlow: `tf.io.RaggedFeature`.
///
/// ```
/// use ragged::DType;
/// use ragged_data::tf::{Partition, RaggedFeature};
/// let sentences = RaggedFeature::new(DType::Str).value_key("words").partition(Partition::RowLengths("lengths".into()));
/// # let _ = sentences;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RaggedFeature {
    pub(crate) dtype: DType,
    pub(crate) value_key: Option<Arc<str>>,
    pub(crate) partitions: Vec<Partition>,
}

/// Construction.
impl RaggedFeature {
    /// A feature of f32, i64 or strings, whose values have the name of the feature.
    ///
    /// ```
    /// use ragged::DType;
    /// let feature = ragged_data::tf::RaggedFeature::new(DType::I64);
    /// # let _ = feature;
    /// ```
    pub fn new(dtype: DType) -> Self {
        Self { dtype, value_key: None, partitions: Vec::new() }
    }

    /// Takes the values from the feature of another name.
    ///
    /// ```
    /// use ragged::DType;
    /// let feature = ragged_data::tf::RaggedFeature::new(DType::I64).value_key("ids");
    /// # let _ = feature;
    /// ```
    pub fn value_key(mut self, key: impl Into<Arc<str>>) -> Self {
        self.value_key = Some(key.into());
        self
    }

    /// Adds a partition below those added before.
    ///
    /// ```
    /// use ragged::DType;
    /// use ragged_data::tf::{Partition, RaggedFeature};
    /// let pairs = RaggedFeature::new(DType::I64).partition(Partition::UniformRowLength(2));
    /// # let _ = pairs;
    /// ```
    pub fn partition(mut self, partition: Partition) -> Self {
        self.partitions.push(partition);
        self
    }
}

/// Values of one number per example, as a dense tensor. TensorFlow: `tf.io.FixedLenFeature`.
///
/// ```
/// use ragged::{DType, HostValues};
/// use ragged_data::tf::FixedLenFeature;
/// let label = FixedLenFeature::new(DType::I64, []).default_value(HostValues::I64(vec![0]));
/// # let _ = label;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FixedLenFeature {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) default: Option<HostValues>,
}

/// Construction.
impl FixedLenFeature {
    /// A feature of f32, i64 or strings, with this shape in each example; `[]` for one value.
    ///
    /// ```
    /// use ragged::DType;
    /// let box_corners = ragged_data::tf::FixedLenFeature::new(DType::F32, [2, 2]);
    /// # let _ = box_corners;
    /// ```
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> Self {
        Self { dtype, shape: shape.into(), default: None }
    }

    /// Values for examples without the feature: one for all, or one per value of the shape. Without it, such an example
    /// is an error.
    ///
    /// ```
    /// use ragged::{DType, HostValues};
    /// use ragged_data::tf::FixedLenFeature;
    /// let weight = FixedLenFeature::new(DType::F32, []).default_value(HostValues::F32(vec![1.0]));
    /// # let _ = weight;
    /// ```
    pub fn default_value(mut self, default: HostValues) -> Self {
        self.default = Some(default);
        self
    }
}

/// Values of any number per example, as a sparse tensor. TensorFlow: `tf.io.VarLenFeature`.
///
/// ```
/// use ragged::DType;
/// let tags = ragged_data::tf::VarLenFeature::new(DType::Str);
/// # let _ = tags;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VarLenFeature {
    pub(crate) dtype: DType,
}

/// Construction.
impl VarLenFeature {
    /// A feature of f32, i64 or strings.
    ///
    /// ```
    /// use ragged::DType;
    /// let tags = ragged_data::tf::VarLenFeature::new(DType::Str);
    /// # let _ = tags;
    /// ```
    pub fn new(dtype: DType) -> Self {
        Self { dtype }
    }
}
