//! Factors of cotangents that are computed once for all elements of a recurrence, and stored.
//!
//! The cotangent of a number that a function reads is the derivative of the function times the cotangent of its result.
//! The step of a reverse recurrence and the pass over all elements after it have the same derivatives. The elementary
//! functions in these depend on no cotangent, so that both read their values from one array: a column per function and
//! number.

use std::cell::RefCell;

use crate::error::Result;
use crate::graph::digest::{Digest, DigestMap};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::recorder::Recorder;
use crate::graph::step::cost::MAX_REPEATED_COST;
use crate::record::recurrence::numbers_per_element;

/// Most functions whose values are in one array. Bounds the expression that selects among them.
const MOST_FUNCTIONS: usize = 16;

/// A function, and the numbers of an element that it is evaluated at.
#[derive(Clone)]
struct Function {
    value: Expr,
    width: u32,
}

/// The functions of a derivative, and where their values are stored.
pub(super) struct Factors {
    elements: Extent,
    /// The functions that a pass found, while none is stored.
    found: RefCell<Vec<Function>>,
    /// The stored value of each function, by the function and the numbers of an element.
    stored: Option<DigestMap<Expr>>,
}

impl Factors {
    /// No functions, of a pass that finds those of so many elements.
    pub(super) fn to_find(elements: &Extent) -> Self {
        Self { elements: elements.clone(), found: RefCell::default(), stored: None }
    }

    /// Stores the functions that a pass found, unless they are so few that kernels would compute them again.
    pub(super) fn stored(self, rec: Recorder<'_>) -> Result<Self> {
        let mut stored = DigestMap::default();
        let found = self.found.take();
        for functions in found.chunks(MOST_FUNCTIONS) {
            let all: u32 = functions.iter().map(|of| of.width).sum();
            let (value, mut first) = (selected(functions, 0, all), 0);
            if value.cost() <= MAX_REPEATED_COST {
                continue;
            }
            let node = rec.map(rec.times(&self.elements, all)?, value, &[]);
            for of in functions {
                stored.insert(of.key(), Expr::load(&node, column(of.width, all, first)));
                first += of.width;
            }
        }
        Ok(Self { stored: Some(stored), ..self })
    }

    /// The cotangent `e` of a number that a value reads, with loads in place of the functions that do not depend on `ct`,
    /// the cotangent of the value; `count` is the number of values.
    pub(super) fn replaced(&self, e: &Expr, ct: &Expr, count: &Extent) -> Expr {
        match numbers_per_element(count, &self.elements) {
            Some(width) => Replacing { factors: self, ct: ct.digest(), width, known: DigestMap::default() }.go(e).0,
            None => e.clone(),
        }
    }
}

impl Function {
    fn key(&self) -> Digest {
        Digest::of("factor", (self.value.digest(), self.width))
    }
}

/// The position of a column of `width` numbers from `first` on, of `all` numbers of an element.
fn column(width: u32, all: u32, first: u32) -> Expr {
    let (element, number) = (Expr::index().div(Expr::u32(width)), Expr::index().rem(Expr::u32(width)));
    element.mul(Expr::u32(all)).add(Expr::u32(first)).add(number)
}

/// The number at a position of `all` numbers of an element, the first of which of these functions is number `first`.
fn selected(functions: &[Function], first: u32, all: u32) -> Expr {
    let (element, number) = (Expr::index().div(Expr::u32(all)), Expr::index().rem(Expr::u32(all)));
    match functions {
        [] => unreachable!("bug: an array of no functions"),
        [of] => of.value.at(&element.mul(Expr::u32(of.width)).add(number.sub(Expr::u32(first)))),
        _ => {
            let (low, high) = functions.split_at(functions.len() / 2);
            let middle = first + low.iter().map(|of| of.width).sum::<u32>();
            number.lt(Expr::u32(middle)).select(selected(low, first, all), selected(high, middle, all))
        }
    }
}

/// Whether an operation costs more than a load.
fn is_elementary(e: &Expr) -> bool {
    let is_function = match e.kind() {
        ExprKind::Unary(UnaryOp::Math(_), _) | ExprKind::Call(..) => true,
        ExprKind::Binary(op, ..) => matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2),
        _ => false,
    };
    is_function && e.dtype().is_float() && e.reads() && !e.has_conditions() && !e.has_registers()
}

struct Replacing<'a> {
    factors: &'a Factors,
    ct: Digest,
    width: u32,
    /// Each expression with loads, and whether it depends on the cotangent.
    known: DigestMap<(Expr, bool)>,
}

impl Replacing<'_> {
    fn go(&mut self, e: &Expr) -> (Expr, bool) {
        if e.digest() == self.ct {
            return (e.clone(), true);
        }
        if let Some(known) = self.known.get(&e.digest()) {
            return known.clone();
        }
        let operands: Vec<(Expr, bool)> = e.operands().map(|operand| self.go(operand)).collect();
        let depends = operands.iter().any(|(_, depends)| *depends);
        let stored = if depends || !is_elementary(e) { None } else { self.load(e) };
        let out = stored.unwrap_or_else(|| e.with_operands(operands.into_iter().map(|(operand, _)| operand)));
        self.known.insert(e.digest(), (out.clone(), depends));
        (out, depends)
    }

    /// The load of a function, if its values are stored.
    fn load(&self, e: &Expr) -> Option<Expr> {
        let of = Function { value: e.clone(), width: self.width };
        if let Some(stored) = &self.factors.stored {
            return stored.get(&of.key()).cloned();
        }
        let mut found = self.factors.found.borrow_mut();
        if found.iter().all(|known| known.key() != of.key()) {
            found.push(of);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::node::Node;
    use crate::graph::plan::PlanOf;
    use crate::graph::walk::for_each_expr;
    use crate::tensor::Tensor;
    use crate::{Device, RaggedTensor, s};

    const UNITS: usize = 32;

    /// The sum of all outputs of an LSTM cell.
    fn lstm(z: &Tensor, u: &Tensor, zero: &Tensor) -> Result<Tensor> {
        let out = z.scan_rows([zero, zero], |states, z| {
            let z = (&states[0].matmul(u)? + z)?;
            let gate = |k: usize| z.slice(s![(k * UNITS) as i64..((k + 1) * UNITS) as i64]);
            let cell = (&gate(1)?.sigmoid()? * &states[1])?;
            let cell = (&cell + &(&gate(0)?.sigmoid()? * &gate(2)?.tanh()?)?)?;
            let state = (&gate(3)?.sigmoid()? * &cell.tanh()?)?;
            Ok((vec![state.clone(), cell], vec![state]))
        })?;
        out.outputs[0].square()?.reduce_sum(..)
    }

    /// The elementary functions of each kernel of the gradients of an LSTM cell, by name, in numbers per unit.
    #[test]
    fn the_elementary_functions_of_a_gradient_are_evaluated_once() -> Result<()> {
        let device = Device::cpu();
        let dense = |shape: &[usize]| {
            let numbers = (0..shape.iter().product()).map(|k: usize| (k % 16) as f32 / 16.0 - 0.5);
            RaggedTensor::dense(numbers.collect::<Vec<_>>(), shape, &device)
        };
        let z = RaggedTensor::from_row_lengths(&dense(&[9, 4 * UNITS])?, [5u32, 0, 4], &device)?;
        let (u, zero) = (dense(&[UNITS, 4 * UNITS])?, dense(&[1, UNITS])?);
        let gradients = crate::grad(|x| lstm(&x[0], &x[1], zero.erased()), [z.erased(), u.erased()])?;
        let roots: Vec<Node> = gradients.iter().map(|of| of.numbers("test").cloned()).collect::<Result<_>>()?;
        let plan = PlanOf::new(&roots, device.backend().plan_limits());
        let functions = |e: &crate::graph::planned::Expr| {
            let mut count = 0;
            for_each_expr(e, &mut |e| {
                count += u32::from(matches!(e.kind(), ExprKind::Unary(UnaryOp::Math(_), _)));
            });
            count
        };
        let counts = plan.steps.iter().map(|step| {
            let count: u32 = step.recipe.exprs().into_iter().map(functions).sum();
            (step.recipe.family(), count)
        });
        let found: Vec<(&str, u32)> = counts.filter(|(_, count)| *count > 0).collect();
        assert_eq!(found, [("scan_rows", 5), ("map", 8)], "the forward recurrence, and the stored functions");
        Ok(())
    }
}
