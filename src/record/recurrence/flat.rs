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

/// The registers of all elements as arrays: the states, then what the stages compute from them; those that are `given` are
/// not computed.
pub(crate) fn flat(
    rec: Recorder<'_>,
    elements: &Extent,
    stages: &[Stage],
    states: Vec<Node>,
    given: &[(u32, Node)],
) -> Result<Vec<Node>> {
    let mut registers = states;
    for stage in stages {
        let number = registers.len() as u32;
        if let Some((_, node)) = given.iter().find(|(given, _)| *given == number) {
            registers.push(node.clone());
            continue;
        }
        let numbers = rec.times(elements, stage.width)?;
        let node = match &stage.value {
            StageValue::Map(value) => rec.map(numbers, loaded(value, &registers), &[]),
            StageValue::Product { left, right, terms, transposed } => {
                let (left, right) = (loaded(left, &registers), right.clone());
                product(rec, (elements, &numbers), [left, right], [*terms, stage.width], *transposed)?
            }
        };
        registers.push(node);
    }
    Ok(registers)
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
