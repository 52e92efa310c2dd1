//! The result of a case.

use ragged::{Device, FieldValue, HostTensor, Result, StructuredTensor, Tensor};
use serde_json::Value as Json;

use crate::case::Sparse;

/// The result of a case.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "families use what they need")]
#[allow(clippy::large_enum_variant, reason = "one per case")]
pub enum Got {
    Tensor(Tensor),
    /// A tensor of indices, sizes or splits: integers of any dtype, compared by value.
    Index(Tensor),
    /// A tensor that was computed on the host, which counts as a host step.
    Host(HostTensor),
    List(Vec<Got>),
    /// A plain value; also compared with a dense tensor of the same numbers.
    Json(Json),
    /// A shape, with `None` for a ragged dimension; also compared with a dense tensor of the same numbers.
    Shape(Vec<Option<u64>>),
    RaggedShape {
        row_splits: Vec<Vec<u32>>,
        uniform: Vec<bool>,
        inner_shape: Vec<i64>,
    },
    RowPartition {
        splits: Vec<u32>,
    },
    Sparse {
        indices: Tensor,
        values: Tensor,
        dense_shape: Vec<i64>,
    },
    /// Records, with their values as JSON.
    Records(StructuredTensor),
    /// The operation is not supported: the reason.
    Unsupported(String),
}

impl From<Tensor> for Got {
    fn from(t: Tensor) -> Self {
        Self::Tensor(t)
    }
}
impl From<StructuredTensor> for Got {
    fn from(records: StructuredTensor) -> Self {
        Self::Records(records)
    }
}
impl From<FieldValue> for Got {
    fn from(value: FieldValue) -> Self {
        match value {
            FieldValue::Tensor(tensor) => Self::Tensor(tensor),
            FieldValue::Records(records) => Self::Records(records),
            other => panic!("{other:?} of another kind"),
        }
    }
}

/// A `Got` in host memory.
#[derive(Debug, Clone)]
pub enum Read {
    Tensor { tensor: HostTensor, index: bool },
    List(Vec<Read>),
    Json(Json),
    Shape(Vec<Option<u64>>),
    RaggedShape { row_splits: Vec<Vec<u32>>, uniform: Vec<bool>, inner_shape: Vec<i64> },
    RowPartition { splits: Vec<u32> },
    Sparse(Sparse),
    Records(Records),
    Unsupported(String),
}

/// Records in host memory.
#[derive(Debug, Clone)]
pub struct Records {
    pub shape: Vec<Option<u64>>,
    pub row_partitions: Vec<Vec<u32>>,
    pub nrows: Option<HostTensor>,
    pub fields: Vec<(String, Read)>,
    /// The records as JSON; none without the feature `json`.
    pub pyval: Option<Json>,
}

/// Reads records and their fields.
fn read_records(records: &StructuredTensor) -> Result<Read> {
    let partitions = records.row_partitions().iter();
    let splits = partitions.map(|p| Ok(crate::case::ints(&p.row_splits(&records.device())?.to_host()?)));
    let splits = splits.collect::<Result<Vec<Vec<i64>>>>()?;
    let fields = records.fields().map(|(name, value)| Ok((name.to_owned(), Got::from(value.clone()).read()?)));
    Ok(Read::Records(Records {
        shape: records.shape().iter().map(|size| size.map(|n| n as u64)).collect(),
        row_partitions: splits.iter().map(|s| s.iter().map(|&n| n as u32).collect()).collect(),
        nrows: records.nrows()?.map(|n| n.to_host()).transpose()?,
        fields: fields.collect::<Result<_>>()?,
        #[cfg(feature = "json")]
        pyval: Some(records.to_value()?),
        #[cfg(not(feature = "json"))]
        pyval: None,
    }))
}

impl Got {
    /// The result of an operation that is not supported yet.
    pub fn unsupported(op: &str) -> Result<Self> {
        Ok(Self::Unsupported(format!("no {op}")))
    }

    /// Whether all tensors of the result are on `device`.
    pub fn is_on(&self, device: &Device) -> bool {
        match self {
            Self::Tensor(t) | Self::Index(t) => t.device() == *device,
            Self::Sparse { indices, values, .. } => indices.device() == *device && values.device() == *device,
            Self::List(all) => all.iter().all(|g| g.is_on(device)),
            Self::Records(records) => {
                records.device() == *device
                    && records.fields().all(|(_, value)| Self::from(value.clone()).is_on(device))
            }
            Self::Host(_) | Self::Unsupported(_) => false,
            Self::Json(_) | Self::Shape(_) | Self::RaggedShape { .. } | Self::RowPartition { .. } => true,
        }
    }

    /// Checks that the program of the result, recorded again, is the same program.
    pub fn assert_replayed(&self) -> Result<()> {
        let tensors: Vec<&Tensor> = match self {
            Self::Tensor(t) | Self::Index(t) => vec![t],
            Self::Sparse { indices, values, .. } => vec![indices, values],
            Self::List(all) => return all.iter().try_for_each(Self::assert_replayed),
            _ => return Ok(()),
        };
        // Results on the host, or parts of it on several devices, have no common program.
        if tensors.iter().any(|t| t.device() != tensors[0].device()) {
            return Ok(());
        }
        let program = ragged::Program::trace(&[], |_| Ok(tensors))?;
        let difference = program.replay_difference()?;
        assert!(difference.is_none(), "the program is replayed as another one: {}", difference.unwrap_or_default());
        #[cfg(feature = "saved")]
        assert_saved(&program)?;
        Ok(())
    }

    /// Reads the result to the host.
    pub fn read(self) -> Result<Read> {
        Ok(match self {
            Self::Tensor(t) => Read::Tensor { tensor: t.to_host()?, index: false },
            Self::Index(t) => Read::Tensor { tensor: t.to_host()?, index: true },
            Self::Host(tensor) => Read::Tensor { tensor, index: false },
            Self::List(all) => Read::List(all.into_iter().map(Self::read).collect::<Result<_>>()?),
            Self::Json(v) => Read::Json(v),
            Self::Shape(v) => Read::Shape(v),
            Self::RaggedShape { row_splits, uniform, inner_shape } => {
                Read::RaggedShape { row_splits, uniform, inner_shape }
            }
            Self::RowPartition { splits } => Read::RowPartition { splits },
            Self::Sparse { indices, values, dense_shape } => Read::Sparse(Sparse {
                indices: crate::case::ints(&indices.to_host()?),
                values: values.to_host()?.values,
                dense_shape,
            }),
            Self::Records(records) => read_records(&records)?,
            Self::Unsupported(why) => Read::Unsupported(why),
        })
    }
}

/// Checks that the program, written and read again, is the same program and gives the same results.
#[cfg(feature = "saved")]
fn assert_saved(program: &ragged::Program) -> Result<()> {
    let bytes = ragged::SavedModel::new().with_program("it", program).to_bytes()?;
    let model = ragged::SavedModel::from_bytes(bytes.clone())?;
    assert!(bytes == model.to_bytes()?, "the program is read as another one");
    let (want, got) = (program.run(&[] as &[Tensor]), model.program("it")?.run(&[] as &[Tensor]));
    // A condition may fail in the run or in the read.
    let read = |outputs: Result<Vec<Tensor>>| outputs?.iter().map(Tensor::to_host).collect::<Result<Vec<_>>>();
    match (read(want), read(got)) {
        (Ok(want), Ok(got)) => assert!(same_bits(&want, &got), "{want:?} is read again as {got:?}"),
        (Err(_), Err(_)) => {}
        (want, got) => panic!("{want:?} is read again as {got:?}"),
    }
    Ok(())
}

/// Whether tensors are equal, with NaN equal to NaN.
#[cfg(feature = "saved")]
fn same_bits(want: &[HostTensor], got: &[HostTensor]) -> bool {
    format!("{want:?}") == format!("{got:?}")
}
