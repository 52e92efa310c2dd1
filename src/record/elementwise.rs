//! Maps over the elements of one or several tensors, shared by the unary and the binary operations.

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::record::operand::Operand;
use crate::shape::{Dims, Place, RaggedShape, UniformRows, broadcast};
use crate::tensor::{Fill, Tensor, Values};

/// The dtypes that an operation is defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Integers and floats.
    Numbers,
    Floats,
    Integers,
    Bools,
    /// Everything but strings.
    NumbersAndBools,
}

impl Takes {
    /// # Errors
    /// The dtype is none of these.
    #[track_caller]
    pub(crate) fn check(self, op: &'static str, dtype: DType) -> Result<()> {
        let (ok, hint) = match self {
            Self::Numbers => (dtype.is_float() || dtype.is_integer(), "it needs numbers"),
            Self::Floats => (dtype.is_float(), "it needs floats, cast first"),
            Self::Integers => (dtype.is_integer(), "it needs integers"),
            Self::Bools => (dtype == DType::Bool, "it needs bools"),
            Self::NumbersAndBools => (dtype != DType::Str, "it needs numbers or bools"),
        };
        if ok { Ok(()) } else { Err(Error::unsupported(op, dtype, hint)) }
    }
}

/// The constant `v` of that dtype.
pub(crate) fn number(dtype: DType, v: f64) -> Expr {
    Expr::scalar(Scalar::from_f64(dtype, v))
}

/// The number `v` of the user, in that dtype: a parameter.
pub(crate) fn parameter(dtype: DType, v: f64) -> Expr {
    Expr::number(Scalar::from_f64(dtype, v))
}

/// Applies a function of `crate::math`.
pub(crate) fn math(f: MathFn, x: Expr) -> Expr {
    x.unary(UnaryOp::Math(f))
}

/// Operands broadcast to one layout.
pub(crate) struct Together<'a> {
    pub(crate) rec: Recorder<'a>,
    partitions: Vec<crate::shape::RowPartition>,
    outer: Option<Extent>,
    inner: Dims,
    /// Size of the result, in numbers (or strings).
    pub(crate) count: Extent,
    /// For each operand the position of its number (or string).
    pub(crate) places: Vec<Place>,
    pub(crate) asserts: Vec<Node>,
}

impl<'a> Together<'a> {
    /// Broadcasts operands of one dtype.
    ///
    /// # Errors
    /// Different dtypes or devices; shapes that do not fit.
    pub(crate) fn new(rec: Recorder<'a>, operands: &[Operand<'a>]) -> Result<Self> {
        for other in operands {
            let (lhs, rhs) = (operands[0].dtype(), other.dtype());
            if lhs != rhs {
                return Err(Error::DTypes { op: rec.op, lhs, rhs, location: rec.location });
            }
        }
        Self::of_any_dtypes(rec, operands)
    }

    /// Broadcasts operands of any dtypes.
    ///
    /// # Errors
    /// Different devices; shapes that do not fit.
    pub(crate) fn of_any_dtypes(rec: Recorder<'a>, operands: &[Operand<'a>]) -> Result<Self> {
        let tensors: Vec<&'a Tensor> = operands.iter().filter_map(Operand::tensor).collect();
        for t in &tensors {
            rec.at(Device::check_same(rec.op, rec.backend, t.backend()))?;
        }
        let layouts: Vec<&RaggedShape> = tensors.iter().map(|t| t.ragged_shape()).collect();
        let shared = broadcast(rec, &layouts, UniformRows::Once)?;
        let count = match &shared.outer {
            None => Extent::known(1),
            Some(outer) => rec.times_size(outer, &shared.inner.width())?,
        };
        let mut found = shared.places.into_iter();
        let places = operands.iter().map(|o| o.tensor().and_then(|_| found.next()).unwrap_or(Place::First));
        Ok(Self {
            rec,
            places: places.collect(),
            partitions: shared.partitions,
            outer: shared.outer,
            inner: shared.inner,
            count,
            asserts: shared.asserts,
        })
    }

    /// The tensor of that layout with these values.
    pub(crate) fn with(self, values: Values) -> Result<Tensor> {
        self.rec.tensor(self.partitions, self.outer, self.inner, values)
    }
}

/// Evaluates `value` in the type that these floats are computed in, and rounds the result once. In f16 or bf16 every
/// step would round, and an intermediate step could overflow although the type can represent the result.
pub(crate) fn rounded_once<const N: usize>(x: [Expr; N], value: impl FnOnce([Expr; N]) -> Expr) -> Expr {
    let Some(own) = x.first().map(Expr::dtype).filter(|d| d.is_float()) else { return value(x) };
    value(x.map(|x| x.cast(own.computes_in()))).cast(own)
}

/// Applies `value` to the numbers of the operands, which have one dtype, element by element.
pub(crate) fn map_together<'a>(
    rec: Recorder<'a>,
    operands: &[Operand<'a>],
    value: impl FnOnce(Vec<Expr>) -> Expr,
) -> Result<Tensor> {
    map_all(Together::new(rec, operands)?, operands, value)
}

/// Applies `value` to the numbers of the operands, which may have any dtypes, element by element.
pub(crate) fn map_of_any_dtypes<'a>(
    rec: Recorder<'a>,
    operands: &[Operand<'a>],
    value: impl FnOnce(Vec<Expr>) -> Expr,
) -> Result<Tensor> {
    map_all(Together::of_any_dtypes(rec, operands)?, operands, value)
}

fn map_all(together: Together<'_>, operands: &[Operand<'_>], value: impl FnOnce(Vec<Expr>) -> Expr) -> Result<Tensor> {
    let rec = together.rec;
    let mut numbers = Vec::with_capacity(operands.len());
    for (operand, place) in operands.iter().zip(&together.places) {
        numbers.push(match operand {
            Operand::Tensor(t) => Expr::load(rec.numbers(t)?, place.expr()),
            Operand::Value(Fill::Number(s)) => Expr::number(*s),
            Operand::Value(Fill::String(_)) => return Err(rec.unsupported(DType::Str, "")),
        });
    }
    let node = rec.map(together.count.clone(), value(numbers), &together.asserts);
    together.with(Values::Numbers(node))
}

impl Tensor {
    /// Applies `value` to every number; the layout stays.
    pub(crate) fn map_numbers(&self, rec: Recorder<'_>, value: impl FnOnce(Expr) -> Expr) -> Result<Self> {
        let number = Expr::load(rec.numbers(self)?, Expr::index());
        rec.at(self.with_value_node(rec.map(rec.at(self.count())?, value(number), &[])))
    }
}
