//! A step on all elements at once, where the states before each are known.

use crate::error::Result;
use crate::graph::digest::DigestMap;
use crate::graph::expr::{Expr, ExprKind, Register};
use crate::graph::extent::Extent;
use crate::graph::node::{Node, Product};
use crate::graph::primitive::{Stage, StageValue};
use crate::graph::recorder::Recorder;
use crate::graph::size::Size;
use crate::record::matrices::tabled;
use crate::record::product_tiles::Tiles;

/// Arrays of registers that are known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    /// Registers that are not computed.
    pub(crate) given: &'a [(u32, Node)],
    /// Registers that other stages read as these arrays, though they are computed.
    pub(crate) read: &'a [(u32, Node)],
}

/// The registers of all elements as arrays.
#[derive(Debug)]
pub(crate) struct Registers {
    /// As they are computed.
    pub(crate) computed: Vec<Node>,
    /// As stages read them.
    pub(crate) read: Vec<Node>,
}

/// The registers of all elements: the states, then what the stages compute from them.
pub(crate) fn flat(
    rec: Recorder<'_>,
    elements: &Extent,
    stages: &[Stage],
    states: Vec<Node>,
    known: Known<'_>,
) -> Result<Registers> {
    let (mut read, mut computed) = (states.clone(), states);
    let find = |among: &[(u32, Node)], number: u32| {
        among.iter().find(|(known, _)| *known == number).map(|(_, node)| node.clone())
    };
    for stage in stages {
        let number = computed.len() as u32;
        let numbers = rec.times(elements, stage.width)?;
        let node = match (&stage.value, find(known.given, number)) {
            (_, Some(given)) => given,
            (StageValue::Map(value), None) => rec.map(numbers, loaded(value, &read), &[]),
            (StageValue::Product { left, right, terms, transposed }, None) => {
                let (left, right) = (loaded(left, &read), right.clone());
                product(rec, (elements, &numbers), [left, right], [*terms, stage.width], *transposed)?
            }
        };
        read.push(find(known.read, number).unwrap_or_else(|| node.clone()));
        computed.push(node);
    }
    Ok(Registers { computed, read })
}

/// The expression with loads of arrays in place of registers.
fn loaded(e: &Expr, registers: &[Node]) -> Expr {
    fn go(e: &Expr, registers: &[Node], known: &mut DigestMap<Expr>) -> Expr {
        if !e.has_registers() {
            return e.clone();
        }
        if let Some(known) = known.get(&e.digest()) {
            return known.clone();
        }
        let operands: Vec<Expr> = e.operands().map(|operand| go(operand, registers, known)).collect();
        let mut out = e.with_operands(operands.into_iter());
        if let ExprKind::Register(Register { number, .. }, at) = out.kind() {
            out = Expr::load(&registers[*number as usize], at.clone());
        }
        known.insert(e.digest(), out.clone());
        out
    }
    go(e, registers, &mut DigestMap::default())
}

/// The product of a vector of each element and one matrix.
fn product(
    rec: Recorder<'_>,
    (elements, numbers): (&Extent, &Extent),
    operands: [Expr; 2],
    [terms, width]: [u32; 2],
    transposed: bool,
) -> Result<Node> {
    let batches = Extent::known(1);
    let zero = Expr::u32(0);
    let (m, k, n) = (elements.expr(), Expr::u32(terms), Expr::u32(width));
    let columns = Size::from(width);
    let Tiles { tiles, tile_capacity, tile } =
        Tiles::new(rec, &batches, [&m, &n], numbers.size(), [elements.size(), &columns])?;
    let fields = [m, k, n, zero.clone(), zero.clone(), zero];
    let [m, k, n, left, right, start] = tabled(rec, &batches, fields)?;
    let product = Product {
        batches,
        sizes: [m, k, n],
        starts: [left, right, start],
        operands,
        capacities: [elements.size().mul(Size::from(terms)), Size::from(terms * width)],
        terms: Size::from(terms),
        transposed: [false, transposed],
        tiles,
        tile_capacity,
        tile,
        has_gaps: false,
    };
    Ok(rec.product(numbers.clone(), product, &[]))
}
