//! Byte strings as rows of u8, and rows of u8 as byte strings.

use crate::dtype::DType;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::record::by_key::one_row;
use crate::shape::RowPartition;
use crate::tensor::{Tensor, Values};

operations! {
    /// Byte strings as rows of u8.
    const OF_STRINGS: family "Strings" on RaggedTensor<Str>;

    /// The bytes of each string, as u8.
    ///
    /// `[..]` of strings gives `[.., (bytes)]`: one more ragged dimension; a scalar gives a vector. An empty string gives
    /// an empty row. [`bytes_to_string`](crate::RaggedTensor::bytes_to_string) is the inverse;
    /// [`bytes_split`](Self::bytes_split) gives strings of one byte. TensorFlow's `decode_raw` needs strings of one
    /// length.
    ///
    /// # Errors
    /// The tensor does not hold strings.
    ///
    /// # Cost
    /// Nothing: the bytes and the positions of the strings are shared. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["ACGT", "", "TA"], &Device::cpu())?;
    /// let bytes: RaggedTensor<u8> = x.string_to_bytes()?;
    /// assert_eq!(bytes.to_nested_vec::<Vec<Vec<u8>>>()?, [b"ACGT".to_vec(), vec![], b"TA".to_vec()]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn string_to_bytes(&self) -> u8;
    alias "as_bytes", "to_bytes", "encode", "view";
    tensorflow "tf.io.decode_raw(…, tf.uint8)";
    polars "Expr.cast";
    gradient none "it takes strings";
}

operations! {
    /// Rows of u8 as byte strings.
    const OF_BYTES: family "Strings" on RaggedTensor<u8>;

    /// The rows of the innermost dimension, as byte strings.
    ///
    /// `[.., (bytes)]` of u8 gives `[..]` of strings; a vector gives a scalar. Rows may be ragged or uniform; an empty
    /// row gives an empty string. The bytes need not be UTF-8. [`string_to_bytes`](crate::RaggedTensor::string_to_bytes)
    /// is the inverse; [`unicode_encode`](crate::Tensor::unicode_encode) takes code points.
    ///
    /// # Errors
    /// A dtype other than u8; a scalar.
    ///
    /// # Cost
    /// Nothing: the bytes and the positions of the rows are shared. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let rows = RaggedTensor::from_nested([vec![0x68u8, 0x69], vec![]], &Device::cpu())?;
    /// assert_eq!(rows.bytes_to_string()?.to_strings()?, ["hi", ""]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn bytes_to_string(&self) -> Str;
    alias "from_bytes", "from_utf8", "decode", "view";
    polars "Expr.cast";
    gradient none "it takes integers";
    row vector;
}

#[track_caller]
fn string_to_bytes(x: &Tensor) -> Result<Tensor> {
    let (strings, bytes) = x.strings("string_to_bytes")?;
    let (count, values) = (strings.nvals_extent().clone(), Values::Numbers(bytes.clone()));
    if x.rank() == 0 {
        return Tensor::new(x.backend(), Vec::new(), Some(count), [], values);
    }
    let mut partitions = x.inner_to_partitions(x.inner().len())?.partitions().to_vec();
    partitions.push(strings.clone());
    Tensor::new(x.backend(), partitions, Some(count), [], values)
}

#[track_caller]
fn bytes_to_string(x: &Tensor) -> Result<Tensor> {
    const OP: &str = "bytes_to_string";
    if x.dtype() != DType::U8 {
        return Err(Error::unsupported(OP, x.dtype(), "it needs bytes: cast to u8"));
    }
    let (backend, bytes) = (x.backend(), x.numbers(OP)?.clone());
    if let Some((_, inner)) = x.inner().sizes().split_last() {
        let rows = x.inner_to_partitions(x.inner().len())?;
        let strings = rows.partitions()[rows.ragged_rank() - 1].clone();
        let values = Values::Strings { strings, bytes };
        return Tensor::new(backend, x.partitions().to_vec(), x.outer().cloned(), inner.to_vec(), values);
    }
    if let Some((strings, above)) = x.partitions().split_last() {
        let values = Values::Strings { strings: strings.clone(), bytes };
        return Tensor::new(backend, above.to_vec(), Some(strings.nrows_extent().clone()), [], values);
    }
    let Some(count) = x.outer() else {
        return Err(Error::argument(OP, "a scalar is no row of bytes; give a vector of at least one dimension"));
    };
    let row = one_row(Recorder::new(backend, OP), count)?;
    let strings = RowPartition::of_parts(row.rows, row.nrows, row.nvals, None);
    Tensor::new(backend, Vec::new(), None, [], Values::Strings { strings, bytes })
}
