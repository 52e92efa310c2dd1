//! Calls of functions within each other: what becomes one program.

mod bind;
mod evaluate;
mod literal;
mod parse;
mod rows;
mod text;

use std::sync::Arc;

use crate::functions::Function;

pub(crate) use bind::{Given, bind};
pub(crate) use evaluate::Inputs;
pub(crate) use literal::Literal;
pub(crate) use rows::Rows;

/// What one program computes from columns.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    /// A column, by its position.
    Column(usize),
    /// A value that the query says.
    Literal(Literal),
    /// The table of a file: `table.safetensors#name`.
    Table(Arc<str>),
    /// A function, with a value for each of its parameters.
    Call(&'static Function, Vec<Argument>),
    /// A program that was saved in a file.
    Saved(Arc<str>, Vec<Expression>),
}

/// What a parameter is given: one expression, or several columns.
#[derive(Debug, Clone)]
pub(crate) enum Argument {
    One(Expression),
    Several(Vec<Expression>),
}

impl Argument {
    pub(crate) fn expressions(&self) -> &[Expression] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(all) => all,
        }
    }
    fn expressions_mut(&mut self) -> &mut [Expression] {
        match self {
            Self::One(one) => std::slice::from_mut(one),
            Self::Several(all) => all,
        }
    }
}

impl Expression {
    /// The expression with each column replaced.
    pub(crate) fn with_columns(mut self, replaced: &mut impl FnMut(usize) -> usize) -> Self {
        self.renumber(replaced);
        self
    }

    fn renumber(&mut self, replaced: &mut impl FnMut(usize) -> usize) {
        match self {
            Self::Column(k) => *k = replaced(*k),
            Self::Literal(_) | Self::Table(_) => {}
            Self::Call(_, arguments) => {
                for expression in arguments.iter_mut().flat_map(Argument::expressions_mut) {
                    expression.renumber(replaced);
                }
            }
            Self::Saved(_, inputs) => inputs.iter_mut().for_each(|input| input.renumber(replaced)),
        }
    }

    /// The function or saved program that is given the column.
    pub(crate) fn reader_of(&self, column: usize) -> Option<&str> {
        let (name, arguments): (&str, Vec<&Self>) = match self {
            Self::Call(function, arguments) => {
                (function.name, arguments.iter().flat_map(Argument::expressions).collect())
            }
            Self::Saved(place, inputs) => (place, inputs.iter().collect()),
            Self::Column(_) | Self::Literal(_) | Self::Table(_) => return None,
        };
        match arguments.iter().any(|argument| matches!(argument, Self::Column(k) if *k == column)) {
            true => Some(name),
            false => arguments.into_iter().find_map(|argument| argument.reader_of(column)),
        }
    }

    /// The calls within each other, at most.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Column(_) | Self::Literal(_) | Self::Table(_) => 0,
            Self::Call(_, arguments) => 1 + deepest(arguments.iter().flat_map(Argument::expressions)),
            Self::Saved(_, inputs) => 1 + deepest(inputs),
        }
    }
}

fn deepest<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> usize {
    expressions.into_iter().map(Expression::depth).max().unwrap_or(0)
}
