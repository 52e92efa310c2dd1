//! Derivatives of expressions: from the cotangent of a value to those of the elements that it reads.

use super::call;
use super::scalar::{self, Derivative, zero};
use crate::error::Result;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::{Expr, ExprKind};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// An element that an expression reads, and its cotangent; both are expressions in the position of the value.
pub(super) struct Read {
    pub(super) node: Node,
    pub(super) index: Expr,
    pub(super) ct: Expr,
}

/// The elements that `value` reads of arrays that are `wanted`, with their cotangents, where `ct` is that of the value in
/// the positions below `count`.
///
/// The derivative is symbolic, and chooses between branches as the value does.
///
/// # Errors
/// A function without a derivative.
pub(super) fn reads(
    rec: Recorder<'_>,
    value: &Expr,
    (ct, count): (Expr, &Extent),
    wanted: impl Fn(&Node) -> bool,
) -> Result<Vec<Read>> {
    let order = operands_first(value, &wanted);
    let mut cts: DigestMap<Expr> = DigestMap::default();
    let depends: DigestSet = order.iter().map(Expr::digest).collect();
    cts.insert(value.digest(), ct);
    let mut out = Vec::new();
    for e in order.iter().rev() {
        let Some(ct) = cts.get(&e.digest()).cloned() else { continue };
        let mut give = |operand: &Expr, ct: Expr| {
            if depends.contains(&operand.digest()) {
                let sum = match cts.remove(&operand.digest()) {
                    Some(before) => before.add(ct),
                    None => ct,
                };
                cts.insert(operand.digest(), sum);
            }
        };
        let missing =
            |function: &str| rec.unsupported(e.dtype(), format!("it has no gradient: {function} is not implemented"));
        let mut give_if = |operand: &Expr, derivative: Derivative| -> Result<()> {
            match derivative {
                Derivative::Zero => {}
                Derivative::Is(ct) => give(operand, ct),
                Derivative::Missing(function) if depends.contains(&operand.digest()) => return Err(missing(function)),
                Derivative::Missing(_) => {}
            }
            Ok(())
        };
        match e.kind() {
            ExprKind::Load(node, index) => out.push(Read { node: node.clone(), index: index.clone(), ct }),
            ExprKind::Unary(op, a) => give_if(a, scalar::unary(*op, a, e, &ct))?,
            ExprKind::Binary(op, a, b) => {
                let [of_a, of_b] = scalar::binary(*op, [a, b], e, &ct);
                give_if(a, of_a)?;
                give_if(b, of_b)?;
            }
            ExprKind::Select(condition, a, b) => {
                let none = zero(e.dtype());
                give(a, condition.clone().select(ct.clone(), none.clone()));
                give(b, condition.clone().select(none, ct));
            }
            ExprKind::Cast(a) => {
                let from = a.as_rounded_to_odd().unwrap_or(a);
                if from.dtype().is_float() {
                    give(from, ct.cast(from.dtype()));
                }
            }
            ExprKind::Checked(_, _, value) => give(value, ct),
            ExprKind::Call(f, arguments) => {
                let by = arguments.iter().enumerate().filter(|(_, argument)| depends.contains(&argument.digest()));
                for (k, argument) in by {
                    give(argument, scalar::times(call::by_argument(rec, f, k, arguments, count)?, &ct));
                }
            }
            // Bits, positions and constants.
            ExprKind::Register(..)
            | ExprKind::Bitcast(_)
            | ExprKind::Index
            | ExprKind::Scalar(_)
            | ExprKind::Param(_)
            | ExprKind::Size(_)
            | ExprKind::RowOf(..)
            | ExprKind::Within(..) => {}
        }
    }
    Ok(out)
}

/// The float subexpressions that read wanted arrays at their own level, each after its operands.
fn operands_first(value: &Expr, wanted: &impl Fn(&Node) -> bool) -> Vec<Expr> {
    let (mut out, mut seen, mut depends) = (Vec::new(), DigestSet::default(), DigestSet::default());
    let mut stack = vec![(value.clone(), false)];
    while let Some((e, is_ready)) = stack.pop() {
        if !is_ready {
            if e.dtype().is_float() && e.is_differentiable() && seen.insert(e.digest()) {
                stack.push((e.clone(), true));
                stack.extend(differentiated(&e).into_iter().map(|operand| (operand.clone(), false)));
            }
            continue;
        }
        let reads = match e.kind() {
            ExprKind::Load(node, _) => wanted(node),
            _ => differentiated(&e).iter().any(|operand| depends.contains(&operand.digest())),
        };
        if reads {
            depends.insert(e.digest());
            out.push(e);
        }
    }
    out
}

/// The operands through which a derivative is taken.
pub(super) fn differentiated(e: &Expr) -> Vec<&Expr> {
    match e.kind() {
        ExprKind::Load(..) => Vec::new(),
        ExprKind::Select(_, a, b) => vec![a, b],
        ExprKind::Checked(_, _, value) => vec![value],
        ExprKind::Cast(a) => vec![a.as_rounded_to_odd().unwrap_or(a)],
        _ => e.operands().collect(),
    }
}

/// The arrays of floats of which an expression has derivatives.
pub(super) fn arrays(value: &Expr) -> Vec<Node> {
    operands_first(value, &|_| true)
        .iter()
        .filter_map(|e| if let ExprKind::Load(node, _) = e.kind() { Some(node.clone()) } else { None })
        .filter(Node::is_differentiable)
        .collect()
}
