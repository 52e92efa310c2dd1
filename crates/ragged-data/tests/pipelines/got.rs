//! Results of cases in host memory, as the comparison of the conformance families takes them.
#![allow(dead_code, reason = "other families give the rest")]

use ragged::HostTensor;
use serde_json::Value as Json;

use crate::case::Sparse;

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
}

#[derive(Debug, Clone)]
pub struct Records {
    pub shape: Vec<Option<u64>>,
    pub row_partitions: Vec<Vec<u32>>,
    pub nrows: Option<HostTensor>,
    pub fields: Vec<(String, Read)>,
    pub pyval: Option<Json>,
}
