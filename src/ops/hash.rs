//! Hashes of byte strings.

use crate::dtype::DType;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::HashOp;
use crate::tensor::{RaggedTensor, Tensor};

/// The seed that TensorFlow's `to_hash_bucket` hashes with.
const TF_SEED: u64 = 0xDE_CAFC_AFFE;

impl Tensor {
    /// FarmHash's Fingerprint64 of each string.
    ///
    /// The layout stays; u64. The empty string has a fingerprint too (it is not 0).
    ///
    /// # Errors
    /// The tensor holds no strings.
    ///
    /// # Cost
    /// One dispatch, an invocation a string; cheap operations that made the strings are fused into its loads. No wait.
    ///
    /// An invocation goes through no more than 4 MiB at a time (256 KiB on software adapters). Where a string may be longer
    /// there are two more dispatches, and one for each such leg of the longest. Of strings that are made on the device, any
    /// may be as long as all together.
    ///
    /// # Source
    /// `farmhash::Fingerprint64`, whose values are fixed for good.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// let words = HostTensor::dense(&[2], HostValues::Str(vec![b"a".to_vec(), b"cat".to_vec()]));
    /// let x = words.to_device(&Device::cpu())?.fingerprint64()?.to_host()?;
    /// assert_eq!(x.values, HostValues::U64(vec![12917804110809363939, 15118465453979963096]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn fingerprint64(&self) -> Result<Self> {
        self.hashed("fingerprint64", HashOp::Fingerprint)
    }

    /// Fingerprint64 of each string, modulo `buckets`: the row of an embedding table, say.
    ///
    /// The layout stays; i64, in `0..buckets`.
    ///
    /// # Errors
    /// `buckets < 1`; the tensor holds no strings.
    ///
    /// # Cost
    /// As [`Tensor::fingerprint64`]; the remainder is fused into whatever reads it.
    ///
    /// # Source
    /// `tf.strings.to_hash_bucket_fast`.
    ///
    /// ```
    /// # use ragged::{Device, HostTensor, HostValues};
    /// let words = HostTensor::dense(&[2], HostValues::Str(vec![b"".to_vec(), b"cat".to_vec()]));
    /// let x = words.to_device(&Device::cpu())?.to_hash_bucket_fast(100)?.to_host()?;
    /// assert_eq!(x.values, HostValues::I64(vec![63, 96]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_hash_bucket_fast(&self, buckets: i64) -> Result<Self> {
        self.bucketed("to_hash_bucket_fast", HashOp::Fingerprint, buckets)
    }

    /// SipHash-2-4 of each string under a key, modulo `buckets`: collisions cannot be made without the key.
    ///
    /// Layout, dtype, errors and cost as [`Tensor::to_hash_bucket_fast`].
    ///
    /// # Source
    /// `tf.strings.to_hash_bucket_strong`.
    #[track_caller]
    pub fn to_hash_bucket_strong(&self, buckets: i64, key: [u64; 2]) -> Result<Self> {
        self.bucketed("to_hash_bucket_strong", HashOp::Sip { key }, buckets)
    }

    /// MurmurHash64A of each string, modulo `buckets`: what TensorFlow's older models were trained with.
    ///
    /// Layout, dtype, errors and cost as [`Tensor::to_hash_bucket_fast`].
    ///
    /// # Source
    /// `tf.strings.to_hash_bucket`.
    #[track_caller]
    pub fn to_hash_bucket(&self, buckets: i64) -> Result<Self> {
        self.bucketed("to_hash_bucket", HashOp::Murmur { seed: TF_SEED }, buckets)
    }

    #[track_caller]
    fn hash_node(&self, name: &'static str, op: HashOp) -> Result<Node> {
        let (strings, bytes) = self.strings(name)?;
        let rows = (strings.rows().clone(), strings.nrows_extent().clone());
        let bytes = (Expr::load(bytes, Expr::index()), bytes.extent().clone());
        Ok(Node::hash(self.backend(), name, op, rows, bytes))
    }

    #[track_caller]
    fn hashed(&self, name: &'static str, op: HashOp) -> Result<Self> {
        self.with_value_node(self.hash_node(name, op)?)
    }

    #[track_caller]
    fn bucketed(&self, name: &'static str, op: HashOp, buckets: i64) -> Result<Self> {
        if buckets < 1 {
            return Err(Error::argument(name, format!("the number of buckets is {buckets}, but must be at least 1")));
        }
        let hash = self.hash_node(name, op)?;
        let bucket = Expr::load(&hash, Expr::index()).remainder(Expr::scalar(buckets as u64)).cast(DType::I64);
        self.with_value_node(Node::map(self.backend(), name, hash.extent().clone(), bucket, &[]))
    }
}

impl RaggedTensor<Str> {
    /// As [`Tensor::fingerprint64`].
    #[track_caller]
    pub fn fingerprint64(&self) -> Result<RaggedTensor<u64>> {
        self.erased().fingerprint64()?.try_into()
    }

    /// As [`Tensor::to_hash_bucket_fast`].
    #[track_caller]
    pub fn to_hash_bucket_fast(&self, buckets: i64) -> Result<RaggedTensor<i64>> {
        self.erased().to_hash_bucket_fast(buckets)?.try_into()
    }

    /// As [`Tensor::to_hash_bucket_strong`].
    #[track_caller]
    pub fn to_hash_bucket_strong(&self, buckets: i64, key: [u64; 2]) -> Result<RaggedTensor<i64>> {
        self.erased().to_hash_bucket_strong(buckets, key)?.try_into()
    }

    /// As [`Tensor::to_hash_bucket`].
    #[track_caller]
    pub fn to_hash_bucket(&self, buckets: i64) -> Result<RaggedTensor<i64>> {
        self.erased().to_hash_bucket(buckets)?.try_into()
    }
}
