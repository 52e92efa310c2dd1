//! The structure of an expression: its form, and how often its value changes with the position.

use std::sync::OnceLock;

use super::Access;
use super::digit::{Counter, Grain};
use super::form::{Form, MAX_CHOICES, Sum, form_of, own_row};
use crate::dtype::DType;
use crate::graph::Expr;
use crate::graph::expr::ExprKind;
use crate::graph::handles::Handles;

/// The form and the grain of an expression, computed at the first question.
#[derive(Debug)]
pub(in crate::graph) struct Structure<R: Handles> {
    /// `None` if the form is the expression itself, as one term.
    form: Option<Form<R>>,
    grain: Grain<R>,
    /// Of a load.
    access: OnceLock<Access<R>>,
}

impl<R: Handles> Structure<R> {
    /// The structure of the expression.
    fn of(e: &Expr<R>) -> Self {
        let mut form = if e.dtype() == DType::U32 { form_of(e) } else { None };
        if matches!(&form, Some(form) if form.choices() > MAX_CHOICES) {
            form = None;
        }
        let operands = e.operands().fold(Grain::Constant, |grain, operand| grain.and(operand.grain()));
        let grain = match &form {
            Some(Form::Sum(sum)) => {
                let digits = sum.digits.iter().fold(Grain::Constant, |grain, (_, digit)| grain.and(&digit.grain()));
                sum.terms.iter().fold(digits, |grain, term| grain.and(term.value.grain()))
            }
            _ => match own_row(e) {
                Some(rows) => Grain::Row(rows),
                None => operands,
            },
        };
        Self { form, grain, access: OnceLock::new() }
    }
}

impl<R: Handles> Expr<R> {
    /// The splits and the numbers per element, if the value is the row of the own element.
    pub(crate) fn own_row(&self) -> Option<(&R::Array, u32)> {
        let ExprKind::RowOf(splits, at) = self.kind() else { return None };
        Some((splits, at.position_divisor()?))
    }

    /// The divisor, if the value is the position divided by a constant.
    pub(in crate::graph) fn position_divisor(&self) -> Option<u32> {
        if self.is_index() {
            return Some(1);
        }
        let Some(Form::Sum(sum)) = &self.structure().form else { return None };
        let digit = sum.as_digit().filter(|d| d.of == Counter::Position && d.modulus.is_none())?;
        u32::try_from(digit.divisor.as_known()?).ok()
    }

    /// Whether a load at this index reads the element at the own position.
    pub(crate) fn is_own_position(&self) -> bool {
        self.is_index() || matches!(&self.structure().form, Some(Form::Sum(sum)) if sum.is_position())
    }

    /// The structure, computed from that of the operands without recursion.
    fn structure(&self) -> &Structure<R> {
        let cell = self.structure_cell();
        if let Some(known) = cell.get() {
            return known;
        }
        let mut stack = vec![self];
        while let Some(&e) = stack.last() {
            let open = stack.len();
            stack.extend(e.operands().filter(|operand| operand.structure_cell().get().is_none()));
            if stack.len() == open {
                stack.pop();
                e.structure_cell().get_or_init(|| Box::new(Structure::of(e)));
            }
        }
        cell.get_or_init(|| Box::new(Structure::of(self)))
    }

    /// The access of a load; `None` for any other expression.
    pub(crate) fn load_access(&self) -> Option<&Access<R>> {
        let ExprKind::Load(_, at) = self.kind() else { return None };
        Some(self.structure().access.get_or_init(|| at.access()))
    }

    /// The form of a u32 expression.
    pub(super) fn form(&self) -> Form<R> {
        match &self.structure().form {
            Some(form) => form.clone(),
            None => Form::Sum(Sum::of_value(self.clone(), false)),
        }
    }

    /// How often the value changes with the position.
    pub(super) fn grain(&self) -> &Grain<R> {
        &self.structure().grain
    }
}
