//! Origins of the elements of a join, as expressions in their positions.

use std::collections::HashSet;

use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::walk::for_each_node;
use crate::tensor::Pick;

/// An element's origin: the first piece whose condition holds, or the last piece.
#[derive(Debug, Clone)]
pub(super) struct Pieces {
    /// The condition of each piece but the last.
    pub(super) conditions: Vec<Expr>,
    /// The source and the position in it.
    pub(super) pieces: Vec<(usize, Expr)>,
}

impl Pieces {
    /// Selects the result of `value` for the piece of an element. `value` takes the index, source and position of a
    /// piece.
    pub(super) fn choose(&self, mut value: impl FnMut(usize, usize, &Expr) -> Expr) -> Expr {
        let mut of = |k: usize| {
            let (source, at) = &self.pieces[k];
            value(k, *source, at)
        };
        let last = of(self.conditions.len());
        let earlier = self.conditions.iter().enumerate().rev();
        earlier.fold(last, |otherwise, (k, condition)| condition.clone().select(of(k), otherwise))
    }

    /// As [`Self::choose`], for values.
    pub(super) fn pick<'a>(&self, mut value: impl FnMut(usize, &Expr) -> Pick<'a>) -> Pick<'a> {
        let mut of = |k: usize| {
            let (source, at) = &self.pieces[k];
            value(*source, at)
        };
        let last = of(self.conditions.len());
        let earlier = self.conditions.iter().enumerate().rev();
        earlier.fold(last, |otherwise, (k, condition)| Pick::either(condition.clone(), of(k), otherwise))
    }

    /// Number of distinct arrays that the pieces read.
    pub(super) fn arrays(&self) -> usize {
        let mut found = HashSet::new();
        for e in self.conditions.iter().chain(self.pieces.iter().map(|(_, at)| at)) {
            for_each_node(e, &mut |n| {
                found.insert(n.digest());
            });
        }
        found.len()
    }
}

/// How the source of an element and its position there are one origin number.
pub(super) enum Numbering {
    /// The position times the number of sources, plus the number of the source. What the parts are follows by arithmetic.
    Alternating(u32),
    /// The position plus the base of the source, which exceeds all numbers of earlier sources.
    Appended(Vec<Expr>),
}

impl Numbering {
    fn number(&self, source: usize, at: &Expr) -> Expr {
        match self {
            Self::Alternating(n) => at.clone().mul(Expr::u32(*n)).add(Expr::u32(source as u32)),
            Self::Appended(_) if source == 0 => at.clone(),
            Self::Appended(bases) => bases[source].clone().add(at.clone()),
        }
    }

    /// Decodes an origin number into pieces, one per source.
    fn split(&self, from: &Expr) -> Pieces {
        let (conditions, positions): (Vec<Expr>, Vec<Expr>) = match self {
            Self::Alternating(n) => {
                let source = from.clone().rem(Expr::u32(*n));
                let is_source = |k: u32| source.clone().eq(Expr::u32(k));
                let at = from.clone().div(Expr::u32(*n));
                ((0..n - 1).map(is_source).collect(), vec![at; *n as usize])
            }
            Self::Appended(bases) => {
                let position = |(source, base): (usize, &Expr)| match source {
                    0 => from.clone(),
                    _ => from.clone().sub(base.clone()),
                };
                let conditions = bases[1..].iter().map(|base| from.clone().lt(base.clone()));
                (conditions.collect(), bases.iter().enumerate().map(position).collect())
            }
        };
        Pieces { conditions, pieces: positions.into_iter().enumerate().collect() }
    }
}

/// The elements of a level of the result.
pub(super) struct Joined {
    pub(super) count: Extent,
    /// The origin number of each element, as an expression in its position.
    pub(super) from: Expr,
    /// The same origins as pieces, one per operand: here the position in a source exposes the row that contains it.
    pub(super) pieces: Pieces,
    numbering: Numbering,
}

impl Joined {
    pub(super) fn new(count: Extent, pieces: Pieces, numbering: Numbering) -> Self {
        let from = pieces.choose(|_, source, at| numbering.number(source, at));
        Self { count, from, pieces, numbering }
    }

    /// Decodes an origin number into pieces, one per source.
    pub(super) fn split(&self, from: &Expr) -> Pieces {
        self.numbering.split(from)
    }
}
