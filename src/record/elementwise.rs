//! Maps over the elements of one or several tensors, shared by the unary and the binary operations.

use std::panic::Location;
use std::sync::Arc;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::backend::BackendRef;
use crate::graph::expr::{Check, CheckedStrings, Expr};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::opcode::UnaryOp;
use crate::graph::recorder::Recorder;
use crate::graph::scalar::Scalar;
use crate::math::MathFn;
use crate::record::operand::Operand;
use crate::shape::{Dims, Place, RaggedShape, UniformRows, broadcast};
use crate::tensor::{Fill, Tensor, Values};

/// An operation and the location of the user's call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) op: &'static str,
    location: &'static Location<'static>,
}

impl Site {
    #[track_caller]
    pub(crate) fn new(op: &'static str) -> Self {
        Self { op, location: caller() }
    }

    /// The site of the recorder's call.
    pub(crate) fn of(rec: Recorder<'_>) -> Self {
        Self { op: rec.op, location: rec.location }
    }

    /// `value` with a device-side check that `ok` holds.
    pub(crate) fn checked(&self, what: &str, ok: Expr, value: Expr) -> Expr {
        self.checked_strings(what, ok, value, None)
    }

    /// As [`Self::checked`], of a condition about strings.
    pub(crate) fn checked_strings(&self, what: &str, ok: Expr, value: Expr, strings: Option<CheckedStrings>) -> Expr {
        let check = Check { strings, ..Check::at(self.op, what.into(), self.location) };
        value.checked(Arc::new(check), ok)
    }
}

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
    pub(crate) backend: &'a BackendRef,
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
    /// Broadcasts operands of one dtype, at least one of which must be a tensor.
    ///
    /// # Errors
    /// Different dtypes or devices; shapes that do not fit.
    #[track_caller]
    pub(crate) fn new(op: &'static str, operands: &[Operand<'a>]) -> Result<Self> {
        for other in operands {
            if other.dtype() != operands[0].dtype() {
                return Err(Error::DTypes { op, lhs: operands[0].dtype(), rhs: other.dtype(), location: caller() });
            }
        }
        Self::of_any_dtypes(op, operands)
    }

    /// Broadcasts operands of any dtypes, at least one of which must be a tensor.
    ///
    /// # Errors
    /// Different devices; shapes that do not fit.
    #[track_caller]
    pub(crate) fn of_any_dtypes(op: &'static str, operands: &[Operand<'a>]) -> Result<Self> {
        let tensors: Vec<&'a Tensor> = operands.iter().filter_map(Operand::tensor).collect();
        let Some(first) = tensors.first() else {
            return Err(Error::argument(op, "it needs a tensor"));
        };
        let rec = Recorder::new(first.backend(), op);
        for t in &tensors {
            Device::check_same(op, first.backend(), t.backend())?;
        }
        let layouts: Vec<&RaggedShape> = tensors.iter().map(|t| t.ragged_shape()).collect();
        let shared = broadcast(rec, &layouts, UniformRows::Once)?;
        let count = match &shared.outer {
            None => Extent::known(1),
            Some(outer) => rec.times_size(&outer, &shared.inner.width())?,
        };
        let mut found = shared.places.into_iter();
        let places = operands.iter().map(|o| o.tensor().and_then(|_| found.next()).unwrap_or(Place::First));
        Ok(Self {
            backend: first.backend(),
            places: places.collect(),
            partitions: shared.partitions,
            outer: shared.outer,
            inner: shared.inner,
            count,
            asserts: shared.asserts,
        })
    }

    /// The tensor of that layout with these values.
    #[track_caller]
    pub(crate) fn with(self, values: Values) -> Result<Tensor> {
        Tensor::new(self.backend, self.partitions, self.outer, self.inner, values)
    }
}

/// Evaluates `value` in the type that these floats are computed in, and rounds the result once. In f16 or bf16 every
/// step would round, and an intermediate step could overflow although the type can represent the result.
pub(crate) fn rounded_once<const N: usize>(x: [Expr; N], value: impl FnOnce([Expr; N]) -> Expr) -> Expr {
    let Some(own) = x.first().map(Expr::dtype).filter(|d| d.is_float()) else { return value(x) };
    value(x.map(|x| x.cast(own.computes_in()))).cast(own)
}

/// Applies `value` to the numbers of the operands, which have one dtype, element by element.
#[track_caller]
pub(crate) fn map_together(
    op: &'static str,
    operands: &[Operand<'_>],
    value: impl FnOnce(Vec<Expr>) -> Expr,
) -> Result<Tensor> {
    map_all(op, Together::new(op, operands)?, operands, value)
}

/// Applies `value` to the numbers of the operands, which may have any dtypes, element by element.
#[track_caller]
pub(crate) fn map_of_any_dtypes(
    op: &'static str,
    operands: &[Operand<'_>],
    value: impl FnOnce(Vec<Expr>) -> Expr,
) -> Result<Tensor> {
    map_all(op, Together::of_any_dtypes(op, operands)?, operands, value)
}

#[track_caller]
fn map_all(
    op: &'static str,
    together: Together<'_>,
    operands: &[Operand<'_>],
    value: impl FnOnce(Vec<Expr>) -> Expr,
) -> Result<Tensor> {
    let rec = Recorder::new(together.backend, op);
    let mut numbers = Vec::with_capacity(operands.len());
    for (operand, place) in operands.iter().zip(&together.places) {
        numbers.push(match operand {
            Operand::Tensor(t) => Expr::load(t.numbers(op)?, place.expr()),
            Operand::Value(Fill::Number(s)) => Expr::number(*s),
            Operand::Value(Fill::String(_)) => return Err(Error::unsupported(op, DType::Str, "")),
        });
    }
    let node = rec.map(together.count.clone(), value(numbers), &together.asserts);
    together.with(Values::Numbers(node))
}

impl Tensor {
    /// Applies `value` to every number; the layout stays.
    #[track_caller]
    pub(crate) fn map_numbers(&self, op: &'static str, value: impl FnOnce(Expr) -> Expr) -> Result<Self> {
        let rec = Recorder::new(self.backend(), op);
        let number = Expr::load(rec.numbers(self)?, Expr::index());
        self.with_value_node(rec.map(self.count()?, value(number), &[]))
    }
}
