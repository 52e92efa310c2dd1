//! TensorFlow's messages and files: `tf.train.Example`, and files of records.
//!
//! [`ExampleParser`] decodes serialized examples into columns, [`SequenceExampleParser`] those with lists of features, [`Example`]
//! writes examples, [`RecordReader`] and [`RecordWriter`] read and write files of records with checksums.
//!
//! Not covered: `FixedLenSequenceFeature` and `SparseFeature`.

mod columns;
mod decode;
mod example;
mod features;
mod outputs;
mod parser;
mod partition;
mod records;
mod sequence;
mod wire;

pub use example::Example;
pub use features::{Feature, FixedLenFeature, Partition, RaggedFeature, VarLenFeature};
pub use parser::{ExampleParser, parse_example};
pub use records::{Compression, Damage, RecordReader, RecordWriter};
pub use sequence::{SequenceExampleParser, parse_sequence_example};
