//! The stages of a step, from the nodes that it recorded.

mod reduction;

use super::Placeholders;
use crate::error::Result;
use crate::graph::canonical_order::product::GROUP;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::{Expr, ExprKind, Register};
use crate::graph::extent::{Extent, upper_bound};
use crate::graph::node::{Node, Product, Recipe};
use crate::graph::primitive::{Stage, StageValue};
use crate::graph::recorder::Recorder;
use crate::graph::size::{Size, SizeKind, SizeOp};
use crate::graph::walk::{for_each_expr, for_each_node};

/// Cost up to which a map is repeated in each of its readers.
const CHEAP: u32 = 4;

/// Greatest height of an expression that is repeated in its only reader.
const HIGH: u32 = 64;

/// Most numbers of a register, and most terms of a product.
pub(crate) const MOST_NUMBERS: u32 = 1 << 16;

// Kernels of recurrences add the terms of one group of the canonical order.
const _: () = assert!(MOST_NUMBERS <= GROUP);

/// The stages of a step.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) stages: Vec<Stage>,
    /// The register of each result.
    pub(crate) results: Vec<u32>,
    /// Conditions of the step.
    pub(crate) asserts: Vec<Node>,
}

impl Step {
    /// The stages that compute `results` of each of the `elements` from the states, which have `widths` numbers each.
    ///
    /// # Errors
    /// An operation on a state that does not treat each element alone, or that a recurrence does not have.
    pub(crate) fn of(
        rec: Recorder<'_>,
        states: &Placeholders,
        (elements, widths): (&Extent, &[u32]),
        results: &[Node],
    ) -> Result<Self> {
        let order = dependent(states.scan, results);
        let mut out = Recording {
            rec,
            scan: states.scan,
            elements,
            dependent: order.iter().map(Node::digest).collect(),
            reads: reads(&order, results),
            registers: DigestMap::default(),
            factors: DigestMap::default(),
            repeated: DigestMap::default(),
            widths: widths.to_vec(),
            step: Self { stages: Vec::new(), results: Vec::new(), asserts: Vec::new() },
        };
        for (number, node) in (0..).zip(&states.nodes) {
            out.registers.insert(node.digest(), number);
        }
        for node in &order {
            out.add(node, results.contains(node))?;
        }
        for result in results {
            let register = out.register_of(result)?;
            out.step.results.push(register);
        }
        Ok(out.step)
    }
}

/// The nodes that depend on registers of the recurrence, each after those that it reads.
fn dependent(scan: u32, results: &[Node]) -> Vec<Node> {
    let (mut out, mut seen, mut found) = (Vec::new(), DigestSet::default(), DigestSet::default());
    let mut stack: Vec<(Node, bool)> = results.iter().rev().map(|node| (node.clone(), false)).collect();
    while let Some((node, is_ready)) = stack.pop() {
        let Some(recipe) = node.recipe() else { continue };
        let (mut own, mut below) = (false, Vec::new());
        for e in recipe.exprs() {
            for_each_expr(e, &mut |e| own |= matches!(e.kind(), ExprKind::Register(of, _) if of.scan == scan));
            for_each_node(e, &mut |n| below.push(n.clone()));
        }
        below.extend(recipe.array().cloned());
        below.extend(node.asserts().iter().cloned());
        if is_ready {
            if own || below.iter().any(|n| found.contains(&n.digest())) {
                found.insert(node.digest());
                out.push(node);
            }
        } else if seen.insert(node.digest()) {
            stack.push((node, true));
            stack.extend(below.into_iter().rev().map(|n| (n, false)));
        }
    }
    out
}

/// The number of loads of each node in the others, and one more for a result.
fn reads(order: &[Node], results: &[Node]) -> DigestMap<u32> {
    let mut out: DigestMap<u32> = DigestMap::default();
    for recipe in order.iter().filter_map(Node::recipe) {
        for e in recipe.exprs() {
            for_each_node(e, &mut |n| *out.entry(n.digest()).or_default() += 1);
        }
    }
    for result in results {
        *out.entry(result.digest()).or_default() += 1;
    }
    out
}

struct Recording<'a> {
    rec: Recorder<'a>,
    scan: u32,
    elements: &'a Extent,
    dependent: DigestSet,
    reads: DigestMap<u32>,
    /// The register of each node that has one.
    registers: DigestMap<u32>,
    /// The register of each vector of a product that has one.
    factors: DigestMap<u32>,
    /// The expressions over registers of the other nodes, which their readers repeat.
    repeated: DigestMap<Expr>,
    /// Numbers of each register.
    widths: Vec<u32>,
    step: Step,
}

impl Recording<'_> {
    /// Adds the stage of a node that depends on states, unless its readers repeat it.
    fn add(&mut self, node: &Node, is_result: bool) -> Result<()> {
        if self.registers.contains_key(&node.digest()) {
            return Ok(());
        }
        for assert in node.asserts() {
            if self.dependent.contains(&assert.digest()) {
                return Err(self.refused(node, "has a condition of its own"));
            }
            if !self.step.asserts.contains(assert) {
                self.step.asserts.push(assert.clone());
            }
        }
        let Some(recipe) = node.recipe() else { return Err(self.refused(node, "was computed in the step")) };
        match &*recipe {
            Recipe::Map(map) => {
                let width = self.width(node)?;
                let value = self.converted(node, &map.value, width)?;
                if is_result || !self.is_repeated(node, &value) {
                    return self.push(node, width, StageValue::Map(value));
                }
                self.repeated.insert(node.digest(), value);
                Ok(())
            }
            Recipe::Product(product) => self.add_product(node, product),
            Recipe::Reduce(reduce) => self.add_reduction(node, reduce),
            _ => Err(self.refused(node, "is no operation of a recurrence")),
        }
    }

    /// Whether a map is computed where it is read.
    fn is_repeated(&self, node: &Node, value: &Expr) -> bool {
        let reads = self.reads.get(&node.digest()).copied().unwrap_or(0);
        let is_small = reads <= 1 && value.height() <= HIGH || value.cost() <= CHEAP;
        is_small && !value.has_conditions()
    }

    fn add_product(&mut self, node: &Node, product: &Product) -> Result<()> {
        let [left, right] = &product.operands;
        let known = |e: &Expr| e.as_known();
        let starts_at_0 = product.starts.iter().all(|start| known(start) == Some(0));
        let one = product.batches.as_known() == Some(1);
        let ([_, terms, width], true, true) = (&product.sizes, starts_at_0, one) else {
            return Err(self.refused(node, "is a product of several matrices"));
        };
        let (Some(terms), Some(width)) = (known(terms), known(width)) else {
            return Err(self.refused(node, "is a product of a size that is known only when it runs"));
        };
        if self.reads_state(right) || product.transposed[0] || self.width(node)? != width {
            return Err(self.refused(node, "multiplies states by each other"));
        }
        let left = self.converted(node, left, terms)?;
        let left = self.factor(node, left, terms)?;
        let [_, transposed] = product.transposed;
        self.push(node, width, StageValue::Product { left, right: right.clone(), terms, transposed })
    }

    /// The vector of a product as a register: a kernel reads it once per column of the matrix.
    fn factor(&mut self, node: &Node, left: Expr, terms: u32) -> Result<Expr> {
        if matches!(left.kind(), ExprKind::Register(_, at) if at.is_index()) {
            return Ok(left);
        }
        let (dtype, digest) = (left.dtype(), left.digest());
        let number = match self.factors.get(&digest) {
            Some(&number) if self.widths[number as usize] == terms => number,
            _ => self.stage(node, terms, StageValue::Map(left))?,
        };
        self.factors.insert(digest, number);
        Ok(Expr::register(Register { scan: 0, number }, dtype, Expr::index()))
    }

    /// Adds the stage that computes a node.
    fn push(&mut self, node: &Node, width: u32, value: StageValue) -> Result<()> {
        let register = self.stage(node, width, value)?;
        self.registers.insert(node.digest(), register);
        Ok(())
    }

    /// Adds a stage, and gives its register.
    fn stage(&mut self, node: &Node, width: u32, value: StageValue) -> Result<u32> {
        let terms = if let StageValue::Product { terms, .. } = &value { *terms } else { 1 };
        if width.max(terms) > MOST_NUMBERS || self.widths.len() >= MOST_NUMBERS as usize {
            return Err(self.refused(node, &format!("has more than {MOST_NUMBERS} numbers per element")));
        }
        self.widths.push(width);
        self.step.stages.push(Stage { width, value });
        Ok(self.widths.len() as u32 - 1)
    }

    /// The register that holds a result: of its own, or of a stage that copies what depends on no state.
    fn register_of(&mut self, result: &Node) -> Result<u32> {
        if let Some(&register) = self.registers.get(&result.digest()) {
            return Ok(register);
        }
        let width = self.width(result)?;
        self.push(result, width, StageValue::Map(Expr::load(result, Expr::index())))?;
        Ok(self.widths.len() as u32 - 1)
    }

    fn reads_state(&self, e: &Expr) -> bool {
        let mut found = false;
        for_each_node(e, &mut |n| found |= self.dependent.contains(&n.digest()));
        for_each_expr(e, &mut |e| found |= matches!(e.kind(), ExprKind::Register(of, _) if of.scan == self.scan));
        found
    }

    /// The expression over registers, at positions of elements of `width` numbers.
    fn converted(&self, node: &Node, e: &Expr, width: u32) -> Result<Expr> {
        let out = self.substituted(e, &mut DigestMap::default());
        let mut fault = None;
        for_each_expr(&out, &mut |e| match e.kind() {
            ExprKind::RowOf(n, _) | ExprKind::Within(n, ..) | ExprKind::Load(n, _)
                if self.dependent.contains(&n.digest()) =>
            {
                fault.get_or_insert("uses a state as positions");
            }
            _ => {}
        });
        if fault.is_none() && out.register_reads(width, |register| self.widths[register.number as usize]).is_none() {
            fault = Some("does not treat each element alone");
        }
        match fault {
            None => Ok(out),
            Some(why) => Err(self.refused(node, why)),
        }
    }

    /// The expression with registers in place of nodes that depend on states.
    fn substituted(&self, e: &Expr, known: &mut DigestMap<Expr>) -> Expr {
        if let Some(known) = known.get(&e.digest()) {
            return known.clone();
        }
        let operands: Vec<Expr> = e.operands().map(|operand| self.substituted(operand, known)).collect();
        let mut out = e.with_operands(operands.into_iter());
        match out.kind() {
            ExprKind::Register(register, at) if register.scan == self.scan => {
                out = Expr::register(Register { scan: 0, ..*register }, e.dtype(), at.in_program());
            }
            ExprKind::Load(n, at) if self.dependent.contains(&n.digest()) => {
                if let Some(&number) = self.registers.get(&n.digest()) {
                    out = Expr::register(Register { scan: 0, number }, n.dtype(), at.in_program());
                } else if let Some(repeated) = self.repeated.get(&n.digest()) {
                    out = repeated.at(&at.in_program());
                }
            }
            _ => {}
        }
        known.insert(e.digest(), out.clone());
        out
    }

    /// Numbers of an element of the node.
    fn width(&self, node: &Node) -> Result<u32> {
        let width = numbers_per_element(node.extent(), self.elements);
        width.ok_or_else(|| self.refused(node, "does not treat each element alone"))
    }

    fn refused(&self, node: &Node, why: &str) -> crate::error::Error {
        self.rec.argument(format!("`{}` of a state {why}", node.op()))
    }
}

/// The number of numbers of each of the elements, if it is a constant.
pub(crate) fn numbers_per_element(numbers: &Extent, elements: &Extent) -> Option<u32> {
    if numbers.is_same(elements) {
        return Some(1);
    }
    if let Some(factor) = factor_of(numbers.size(), elements.size()) {
        return Some(factor);
    }
    // Constants of the program.
    let all = numbers.as_known()?;
    if all == 0 {
        return Some(0);
    }
    let each = elements.as_known()?;
    (each > 0 && all % each == 0).then(|| all / each)
}

/// The constant that a size is the product of with `of`, through exact quotients.
fn factor_of(size: &Size, of: &Size) -> Option<u32> {
    if size == of {
        return Some(1);
    }
    let Some(SizeKind::Op(op, a, b)) = size.kind() else { return None };
    let (next, by) = match (a.as_known(), b.as_known()) {
        (_, Some(by)) => (a, by),
        (Some(by), _) if *op != SizeOp::Div => (b, by),
        _ => return None,
    };
    let factor = factor_of(next, of)?;
    match op {
        SizeOp::Mul => factor.checked_mul(by),
        SizeOp::Div => (by > 0 && factor % by == 0).then(|| factor / by),
        // No array is longer.
        SizeOp::Min if by == upper_bound(u64::MAX) => Some(factor),
        _ => None,
    }
}
