//! Columns: rows of tensors in host memory, with strings as one buffer of bytes.

use ragged::{DType, Device, HostTensor, HostValues, Result, RowPartition, Tensor, to_host};

use super::fault::Call;

/// Flat values in host memory. Strings are one buffer, so that a string costs no allocation.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Numbers and bools; never `HostValues::Str`.
    Numbers(HostValues),
    /// String `i` is `bytes[splits[i]..splits[i + 1]]`.
    Strings { splits: Vec<u32>, bytes: Vec<u8> },
}

/// A tensor in host memory. Its rows are those of the outermost dimension.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// The splits of each partition, outermost first; valid.
    pub(crate) splits: Vec<Vec<u32>>,
    /// The uniform row length of each partition, where it has one.
    pub(crate) uniform: Vec<Option<u32>>,
    /// The shape of the flat values.
    pub(crate) inner: Vec<usize>,
    pub(crate) values: Values,
}

/// Calls the expression with the vector of numbers, whatever their type, and gives them the same type again.
macro_rules! each_number {
    ($values:expr, $v:ident => $e:expr) => {
        match $values {
            HostValues::Bool($v) => $e,
            HostValues::U8($v) => $e,
            HostValues::I8($v) => $e,
            HostValues::U16($v) => $e,
            HostValues::I16($v) => $e,
            HostValues::I32($v) => $e,
            HostValues::U32($v) => $e,
            HostValues::I64($v) => $e,
            HostValues::U64($v) => $e,
            HostValues::F16($v) => $e,
            HostValues::BF16($v) => $e,
            HostValues::F32($v) => $e,
            HostValues::F64($v) => $e,
            _ => unreachable!("bug: strings are no numbers"),
        }
    };
}
pub(crate) use each_number;

/// Calls the expression with both vectors of numbers of one dtype; `$other` if the dtypes differ.
macro_rules! both_numbers {
    ($a:expr, $b:expr, $x:ident, $y:ident => $e:expr, else $other:expr) => {
        match ($a, $b) {
            (HostValues::Bool($x), HostValues::Bool($y)) => $e,
            (HostValues::U8($x), HostValues::U8($y)) => $e,
            (HostValues::I8($x), HostValues::I8($y)) => $e,
            (HostValues::U16($x), HostValues::U16($y)) => $e,
            (HostValues::I16($x), HostValues::I16($y)) => $e,
            (HostValues::I32($x), HostValues::I32($y)) => $e,
            (HostValues::U32($x), HostValues::U32($y)) => $e,
            (HostValues::I64($x), HostValues::I64($y)) => $e,
            (HostValues::U64($x), HostValues::U64($y)) => $e,
            (HostValues::F16($x), HostValues::F16($y)) => $e,
            (HostValues::BF16($x), HostValues::BF16($y)) => $e,
            (HostValues::F32($x), HostValues::F32($y)) => $e,
            (HostValues::F64($x), HostValues::F64($y)) => $e,
            _ => $other,
        }
    };
}
pub(crate) use both_numbers;

impl Values {
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Numbers(values) => values.dtype(),
            Self::Strings { .. } => DType::Str,
        }
    }

    /// No values of the dtype of these.
    pub(crate) fn emptied(&self) -> Self {
        match self {
            Self::Strings { .. } => Self::Strings { splits: vec![0], bytes: Vec::new() },
            Self::Numbers(values) => Self::Numbers(match values {
                HostValues::Bool(_) => HostValues::Bool(Vec::new()),
                HostValues::U8(_) => HostValues::U8(Vec::new()),
                HostValues::I8(_) => HostValues::I8(Vec::new()),
                HostValues::U16(_) => HostValues::U16(Vec::new()),
                HostValues::I16(_) => HostValues::I16(Vec::new()),
                HostValues::I32(_) => HostValues::I32(Vec::new()),
                HostValues::U32(_) => HostValues::U32(Vec::new()),
                HostValues::I64(_) => HostValues::I64(Vec::new()),
                HostValues::U64(_) => HostValues::U64(Vec::new()),
                HostValues::F16(_) => HostValues::F16(Vec::new()),
                HostValues::BF16(_) => HostValues::BF16(Vec::new()),
                HostValues::F32(_) => HostValues::F32(Vec::new()),
                _ => HostValues::F64(Vec::new()),
            }),
        }
    }

    /// Bytes of the values in a range of positions; of strings with their splits.
    pub(crate) fn bytes_in(&self, at: std::ops::Range<usize>) -> u64 {
        match self {
            Self::Numbers(values) => at.len() as u64 * values.dtype().size() as u64,
            Self::Strings { splits, .. } => u64::from(splits[at.end] - splits[at.start]) + 4 * at.len() as u64,
        }
    }
}

/// The splits as such, and as positions in a limit of u32.
pub(crate) fn end_u32(call: Call, end: u64) -> Result<u32> {
    const MOST: u64 = u32::MAX as u64 - 1;
    if end > MOST {
        return Err(call.limit(call.op, end, "values", MOST, "a tensor"));
    }
    Ok(end as u32)
}

impl Column {
    /// One string: a scalar.
    #[cfg(feature = "dataset")]
    pub(crate) fn string(call: Call, bytes: Vec<u8>) -> Result<Self> {
        let end = end_u32(call, bytes.len() as u64)?;
        let values = Values::Strings { splits: vec![0, end], bytes };
        Ok(Self { splits: Vec::new(), uniform: Vec::new(), inner: Vec::new(), values })
    }

    /// Number of rows; none of a scalar.
    pub(crate) fn nrows(&self) -> Option<usize> {
        self.splits.first().map(|s| s.len() - 1).or(self.inner.first().copied())
    }

    /// Number of values in one element of the innermost row dimension.
    pub(crate) fn width(&self) -> usize {
        self.inner.iter().skip(1).product()
    }

    /// Reads tensors, evaluated together, with one wait per kind of dtype: strings, and numbers.
    pub(crate) fn read(tensors: &[&Tensor]) -> Result<Vec<Self>> {
        let plain = tensors.iter().map(|x| match x.dtype() {
            DType::Str => x.string_to_bytes(),
            _ => Ok((*x).clone()),
        });
        let plain = plain.collect::<Result<Vec<Tensor>>>()?;
        let hosts = to_host(plain.iter().collect::<Vec<_>>())?;
        Ok(hosts.into_iter().zip(tensors).map(|(host, x)| Self::of(host, x)).collect())
    }

    /// The column of a read of `x`, or of its bytes.
    fn of(host: HostTensor, x: &Tensor) -> Self {
        let HostTensor { mut nested_row_splits, mut uniform_row_lengths, inner_shape, values } = host;
        let values = match (x.dtype(), values) {
            (DType::Str, HostValues::U8(bytes)) => {
                let splits = match x.rank() {
                    0 => vec![0, bytes.len() as u32],
                    _ => nested_row_splits.pop().unwrap_or_else(|| vec![0]),
                };
                Values::Strings { splits, bytes }
            }
            (_, values) => Values::Numbers(values),
        };
        let inner = match &values {
            Values::Numbers(_) => inner_shape,
            Values::Strings { splits, .. } => {
                // The uniform dimensions of strings became partitions of their bytes.
                let sizes = x.shape();
                let below = x.ragged_rank() + 1;
                let rest: Vec<usize> = sizes.iter().skip(below).map(|d| d.unwrap_or(0)).collect();
                let (count, width) = (splits.len() - 1, rest.iter().product::<usize>());
                let outer = match x.ragged_rank() {
                    0 => sizes.first().copied().flatten(),
                    rank => nested_row_splits.get(rank - 1).and_then(|s| s.last()).map(|&n| n as usize),
                };
                let outer = outer.unwrap_or(count / width.max(1));
                match x.rank() {
                    0 => Vec::new(),
                    _ => [outer].into_iter().chain(rest).collect(),
                }
            }
        };
        nested_row_splits.truncate(x.ragged_rank());
        uniform_row_lengths.truncate(x.ragged_rank());
        Self { splits: nested_row_splits, uniform: uniform_row_lengths, inner, values }
    }

    /// Uploads the tensor.
    pub(crate) fn upload(&self, device: &Device) -> Result<Tensor> {
        self.clone().into_tensor(device)
    }

    /// Uploads the tensor.
    pub(crate) fn into_tensor(self, device: &Device) -> Result<Tensor> {
        let (splits, bytes) = match self.values {
            Values::Numbers(values) => {
                let host = HostTensor {
                    nested_row_splits: self.splits,
                    uniform_row_lengths: self.uniform,
                    inner_shape: self.inner,
                    values,
                };
                return host.to_device(device);
            }
            Values::Strings { splits, bytes } => (splits, bytes),
        };
        let flat = HostTensor::from_row_splits(splits, HostValues::U8(bytes)).to_device(device)?.bytes_to_string()?;
        let flat = match self.inner.len() {
            1 => flat,
            _ => flat.reshape(self.inner.iter().map(|&d| d as i64).collect::<Vec<i64>>())?,
        };
        let partitions = self.splits.iter().zip(&self.uniform).map(|(splits, uniform)| match uniform {
            Some(len) => {
                let nvals = splits.last().copied().unwrap_or(0);
                let rows = ragged::opt::with_nrows(*len, splits.len() - 1);
                RowPartition::from_uniform_row_length(rows, nvals, device)
            }
            None => RowPartition::from_row_splits(splits, device),
        });
        Tensor::from_row_partitions(&flat, &partitions.collect::<Result<Vec<_>>>()?)
    }
}

/// The column of a tensor in host memory, whose splits are validated.
pub(crate) fn checked(call: Call, host: HostTensor) -> Result<Column> {
    let HostTensor { nested_row_splits: splits, uniform_row_lengths: uniform, inner_shape: inner, values } = host;
    if inner.iter().try_fold(1usize, |n, &d| n.checked_mul(d)) != Some(values.len()) {
        return Err(call.argument(format!("a shape of {inner:?} does not hold {} values", values.len())));
    }
    end_u32(call, inner.iter().fold(values.len(), |most, &d| most.max(d)) as u64)?;
    let below = splits.iter().skip(1).map(|s| s.len().saturating_sub(1)).chain(inner.first().copied());
    for (k, (own, below)) in splits.iter().zip(below.chain([usize::MAX])).enumerate() {
        let ends_there = own.last().is_some_and(|&end| end as usize == below);
        if own.first() != Some(&0) || !own.is_sorted() || !ends_there {
            return Err(call.partition(format!("the row splits of dimension {} are none of {below} elements", k + 1)));
        }
        let uneven = |len: u32| own.windows(2).any(|w| w[1] - w[0] != len);
        if uniform.len() != splits.len() || uniform[k].is_some_and(uneven) {
            return Err(call.partition(format!("the rows of dimension {} do not have the uniform row length", k + 1)));
        }
    }
    let values = match values {
        HostValues::Str(all) => {
            let mut ends = vec![0];
            let mut bytes = Vec::new();
            for one in &all {
                bytes.extend_from_slice(one);
                ends.push(end_u32(call, bytes.len() as u64)?);
            }
            Values::Strings { splits: ends, bytes }
        }
        numbers => Values::Numbers(numbers),
    };
    Ok(Column { splits, uniform, inner, values })
}
