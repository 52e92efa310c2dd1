//! Flat values: numbers or byte strings, and their common rearrangement (gather, select, fill).

use std::sync::Arc;

use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::backend::BackendRef;
use crate::graph::digest::Digest;
use crate::graph::expr::Expr;
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::graph::size::{RecordedSize, Size};
use crate::shape::RowPartition;

/// The flat values of a tensor.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// An array of numbers.
    Numbers(Node),
    /// Byte strings in Arrow's layout: string `i` is `bytes[strings.start(i)..strings.start(i + 1)]`.
    Strings {
        /// The partition of the bytes into strings.
        strings: RowPartition,
        /// The bytes; u8.
        bytes: Node,
    },
}

/// A fill value for missing elements.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fill {
    /// A number.
    Number(Scalar),
    /// A byte string.
    String(Arc<[u8]>),
}

/// Dtype.
impl Fill {
    /// The dtype of the value.
    ///
    /// ```
    /// use ragged::arguments::Fill;
    /// use ragged::DType;
    /// assert_eq!((Fill::from(0.5f32).dtype(), Fill::from("a").dtype()), (DType::F32, DType::Str));
    /// ```
    pub fn dtype(&self) -> DType {
        match self {
            Self::Number(s) => s.dtype(),
            Self::String(_) => DType::Str,
        }
    }

    /// The value in this dtype.
    ///
    /// # Errors
    /// A number that the dtype cannot represent; a number for strings, a string for numbers.
    #[track_caller]
    pub(crate) fn of_dtype(self, op: &'static str, dtype: DType) -> Result<Self> {
        match self {
            Self::String(_) if dtype == DType::Str => Ok(self),
            Self::Number(number) if dtype != DType::Str => match number.converted(dtype) {
                Some(number) => Ok(Self::Number(number)),
                None => {
                    let what = format!("{number} is not a value of {dtype}; cast the tensor to a dtype that has it");
                    Err(Error::argument(op, what))
                }
            },
            other => Err(Error::DTypes { op, lhs: dtype, rhs: other.dtype(), location: caller() }),
        }
    }

    /// The default fill value: 0, false, or the empty string.
    ///
    /// ```
    /// use ragged::arguments::Fill;
    /// use ragged::DType;
    /// assert_eq!(Fill::zero(DType::I32), Fill::from(0));
    /// ```
    pub fn zero(dtype: DType) -> Self {
        match dtype {
            DType::Str => Self::String(Arc::from([])),
            d => Self::Number(Scalar::from_i64(d, 0)),
        }
    }
}

impl<S: Into<Scalar>> From<S> for Fill {
    fn from(s: S) -> Self {
        Self::Number(s.into())
    }
}
impl From<&str> for Fill {
    fn from(s: &str) -> Self {
        Self::String(s.as_bytes().into())
    }
}

/// Source of an element of a rearrangement, as a function of its position (`Index`).
#[derive(Debug, Clone)]
pub(crate) enum Pick<'a> {
    /// The element of the values at the position.
    From(&'a Values, Expr),
    /// A constant.
    Fill(Fill),
    /// The first source where the condition holds, else the second.
    If(Expr, Box<Pick<'a>>, Box<Pick<'a>>),
}

impl<'a> Pick<'a> {
    /// `a` where the condition holds, else `b`.
    pub(crate) fn either(condition: Expr, a: Self, b: Self) -> Self {
        Self::If(condition, Box::new(a), Box::new(b))
    }

    /// The expression at position `at`: the expressions of the leaves, selected by the conditions.
    fn expr(&self, at: &Expr, leaf: &mut dyn FnMut(&Leaf<'_>) -> Expr) -> Expr {
        match self {
            Self::From(values, i) => leaf(&Leaf::From(values, i.at(at))),
            Self::Fill(fill) => leaf(&Leaf::Fill(fill)),
            Self::If(c, a, b) => {
                let (a, b) = (a.expr(at, leaf), b.expr(at, leaf));
                c.at(at).select(a, b)
            }
        }
    }
}

enum Leaf<'a> {
    From(&'a Values, Expr),
    Fill(&'a Fill),
}

/// Total number of bytes of the strings of a rearrangement.
#[derive(Debug, Clone)]
pub(crate) enum BytesBound {
    /// Exactly this many, known from the sources.
    Exactly(Extent),
    /// At most this many.
    AtMost(Size),
    /// Known on the device only, without a useful bound.
    Unknown,
}

impl BytesBound {
    /// An upper bound of `n` bytes.
    pub(crate) fn at_most(n: u64) -> Self {
        Self::AtMost(upper_bound(n).into())
    }
}

impl Values {
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Numbers(n) => n.dtype(),
            Self::Strings { .. } => DType::Str,
        }
    }

    /// The number of rows of an upload at a level of the tensor, as an input size identified by the upload.
    pub(crate) fn rows(&self, level: usize, n: u32) -> Extent {
        let node = match self {
            Self::Numbers(node) => node,
            Self::Strings { bytes, .. } => bytes,
        };
        if n <= 1 { Extent::known(n) } else { Extent::input(Digest::of("rows", (node.digest(), level)), n) }
    }

    /// Upper bound of the bytes of all strings; 0 for numbers.
    pub(crate) fn bytes_capacity(&self) -> u64 {
        match self {
            Self::Numbers(_) => 0,
            Self::Strings { bytes, .. } => u64::from(bytes.extent().capacity()),
        }
    }

    /// The number of bytes of all strings as a size; 0 for numbers.
    pub(crate) fn bytes_size(&self) -> Size {
        match self {
            Self::Numbers(_) => Size::Const(0),
            Self::Strings { strings, .. } => strings.nvals_extent().size().clone(),
        }
    }

    /// New values of the given extent, each from the source that `pick` selects. All sources have the same dtype.
    ///
    /// Records one map for numbers. For strings, records the lengths, their prefix sum, and a map over the bytes.
    pub(crate) fn rearranged(
        rec: Recorder<'_>,
        extent: &Extent,
        pick: &Pick<'_>,
        bound: BytesBound,
        asserts: &[Node],
    ) -> Result<Self> {
        let mut is_string = false;
        let number = pick.expr(&Expr::index(), &mut |leaf| match leaf {
            Leaf::From(Self::Numbers(n), i) => Expr::load(n, i.clone()),
            Leaf::Fill(Fill::Number(s)) => Expr::number(*s),
            Leaf::From(Self::Strings { .. }, _) | Leaf::Fill(Fill::String(_)) => {
                is_string = true;
                Expr::u32(0)
            }
        });
        if !is_string {
            return Ok(Self::Numbers(rec.map(extent.clone(), number, asserts)));
        }
        let mut length = pick.expr(&Expr::index(), &mut |leaf| match leaf {
            Leaf::From(Self::Strings { strings, .. }, i) => strings.length_of_existing(i.clone()),
            Leaf::Fill(Fill::String(s)) => Expr::u32(s.len() as u32),
            _ => Expr::u32(0),
        });
        if !asserts.is_empty() {
            // The checks are attached to the lengths, which everything else depends on.
            length = Expr::load(&rec.map(extent.clone(), length, asserts), Expr::index());
        }
        let strings = |bound: Size| RowPartition::from_lengths(rec, extent, length, bound);
        let strings = match bound {
            BytesBound::Exactly(bytes) => strings(bytes.size().clone())?.with_nvals(bytes),
            BytesBound::AtMost(bytes) => strings(bytes)?,
            BytesBound::Unknown => strings(upper_bound(u64::MAX).into())?,
        };
        let at = Expr::index();
        let (row, offset) = (strings.row_of(at.clone()), strings.offset_of(at));
        let mut failure = None;
        let byte = pick.expr(&row, &mut |leaf| match leaf {
            Leaf::From(Self::Strings { strings, bytes }, i) => {
                Expr::load(bytes, strings.within(i.clone(), offset.clone()))
            }
            Leaf::Fill(Fill::String(s)) if s.len() <= 1 => Expr::number(s.first().copied().unwrap_or(0)),
            Leaf::Fill(Fill::String(s)) => match rec.uploaded(DType::U8, s) {
                Ok(fill) => Expr::load(&fill, offset.clone()),
                Err(e) => {
                    failure = Some(e);
                    Expr::scalar(0u8)
                }
            },
            _ => Expr::scalar(0u8),
        });
        if let Some(e) = failure {
            return Err(e);
        }
        let bytes = rec.map(strings.nvals_extent().clone(), byte, &[]);
        Ok(Self::Strings { strings, bytes })
    }

    /// The nodes to read for the values: the numbers, or the splits and the bytes of the strings.
    #[track_caller]
    pub(crate) fn nodes(&self, backend: &BackendRef) -> Result<Vec<Node>> {
        Ok(match self {
            Self::Numbers(n) => vec![n.clone()],
            Self::Strings { strings, bytes } => vec![strings.splits_node(backend)?, bytes.clone()],
        })
    }
}
