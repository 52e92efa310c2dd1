//! Hashes of byte strings.

use crate::dtype::DType;
use crate::element::Str;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::node::Node;
use crate::graph::opcode::HashOp;
use crate::integer::Integer;
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Hashes of byte strings.
    const OPERATIONS: family "Hashes and crosses" on RaggedTensor<Str>;

    /// FarmHash's Fingerprint64 of each string.
    ///
    /// Gives u64; the layout stays. The fingerprint of the empty string is not 0. The values are those of
    /// `farmhash::Fingerprint64`, which are permanently fixed. TensorFlow writes the 8 bytes of each as a row of u8.
    ///
    /// # Errors
    /// The tensor holds no strings.
    ///
    /// # Cost
    /// One dispatch with one invocation per string; cheap operations that produce the strings are fused into its loads.
    /// No wait.
    ///
    /// An invocation hashes at most 4 MiB per dispatch. On software adapters that end long loops the limit is 3 MiB,
    /// and 256 KiB for the other hashes. Where a string may be longer, the hash takes two more dispatches, plus one per
    /// chunk of that size of the longest string. A string that is made on the device may be as long as all strings
    /// together.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let words = RaggedTensor::from_nested([vec!["a", "cat"], vec![]], &Device::cpu())?;
    /// assert_eq!(words.fingerprint64()?.to_vec()?, [12917804110809363939, 15118465453979963096]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn fingerprint64(&self) -> u64;
    alias "farm_hash", "farmhash";
    tensorflow "tf.fingerprint";
    gradient none "the result holds hashes";

    /// Fingerprint64 of each string, modulo the number of buckets: for example, the row of an embedding table.
    ///
    /// Gives i64 in `0..buckets`; the layout stays. The hash is that of [`Tensor::fingerprint64`].
    ///
    /// # Errors
    /// `buckets < 1`; the tensor holds no strings.
    ///
    /// # Cost
    /// One dispatch with one invocation per string, and more of them for strings of several MiB; the remainder is fused
    /// into its consumer. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let words = RaggedTensor::from_nested([vec!["", "cat"], vec![]], &Device::cpu())?;
    /// assert_eq!(words.to_hash_bucket_fast(100)?.to_string(), "<ragged.RaggedTensor [[63, 96], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn to_hash_bucket_fast(&self, buckets: impl Integer as integer) -> i64;
    alias "hashing_trick";
    tensorflow "tf.strings.to_hash_bucket_fast";
    gradient none "the result holds hashes";

    /// SipHash-2-4 of each string under a key, modulo the number of buckets.
    ///
    /// Gives i64 in `0..buckets`; the layout stays. Collisions cannot be constructed without the key.
    ///
    /// # Errors
    /// `buckets < 1`; the tensor holds no strings.
    ///
    /// # Cost
    /// One dispatch with one invocation per string, and more of them for strings of several MiB; the remainder is fused
    /// into its consumer. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["dog", ""], &Device::cpu())?;
    /// assert_eq!(x.to_hash_bucket_strong(1000, [104, 957])?.to_vec()?, [283, 686]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn to_hash_bucket_strong(&self, buckets: impl Integer as integer, key: [u64; 2]) -> i64;
    alias "siphash";
    tensorflow "tf.strings.to_hash_bucket_strong";
    gradient none "the result holds hashes";

    /// MurmurHash64A of each string, modulo the number of buckets: the hash that TensorFlow's older models were trained
    /// with.
    ///
    /// Gives i64 in `0..buckets`; the layout stays.
    ///
    /// # Errors
    /// `buckets < 1`; the tensor holds no strings.
    ///
    /// # Cost
    /// One dispatch with one invocation per string, and more of them for strings of several MiB; the remainder is fused
    /// into its consumer. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["foo bar", "cat"], &Device::cpu())?;
    /// assert_eq!(x.to_hash_bucket(1000)?.to_vec()?, [495, 335]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn to_hash_bucket(&self, buckets: impl Integer as integer) -> i64;
    alias "murmurhash";
    tensorflow "tf.strings.to_hash_bucket";
    gradient none "the result holds hashes";
}

#[track_caller]
fn fingerprint64(x: &Tensor) -> Result<Tensor> {
    x.hashed("fingerprint64", HashOp::Fingerprint)
}

#[track_caller]
fn to_hash_bucket_fast(x: &Tensor, buckets: impl Integer) -> Result<Tensor> {
    let buckets = buckets.saturating_i64();
    x.bucketed("to_hash_bucket_fast", HashOp::Fingerprint, buckets)
}

#[track_caller]
fn to_hash_bucket_strong(x: &Tensor, buckets: impl Integer, key: [u64; 2]) -> Result<Tensor> {
    let buckets = buckets.saturating_i64();
    x.bucketed("to_hash_bucket_strong", HashOp::Sip { key }, buckets)
}

#[track_caller]
fn to_hash_bucket(x: &Tensor, buckets: impl Integer) -> Result<Tensor> {
    let buckets = buckets.saturating_i64();
    x.bucketed("to_hash_bucket", HashOp::Murmur { seed: TF_SEED }, buckets)
}

/// Seed of TensorFlow's `to_hash_bucket`.
const TF_SEED: u64 = 0xDE_CAFC_AFFE;

impl Tensor {
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
        let bucket = Expr::load(&hash, Expr::index()).remainder(Expr::number(buckets as u64)).cast(DType::I64);
        self.with_value_node(Node::map(self.backend(), name, hash.extent().clone(), bucket, &[]))
    }
}
