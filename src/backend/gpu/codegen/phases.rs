//! The phases of a recurrence's step: stages that one barrier follows.

use crate::dtype::DType;
use crate::graph::canonical_order::product::{BLOCK, RUN};
use crate::graph::expr::Register;
use crate::graph::opcode::{BinaryOp, UnaryOp};
use crate::graph::planned::{Expr, ExprKind, InPlan};
use crate::graph::primitive::{ScanRows, Stage, StageValue};
use crate::graph::walk::for_each_expr;

/// Iterations of a search for a row.
const SEARCH: u64 = looped(32, 0);

/// Iterations of a mathematical function.
const FUNCTION: u64 = 40;

/// Iterations per store of a number to a register: shifts of 64-bit integers.
pub(crate) const STORE: u64 = 2;

/// Stages whose registers have one width. An invocation computes a column of all of them, and each reads columns of its
/// own only of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phase {
    pub(crate) width: u32,
    /// The numbers of the registers.
    pub(crate) registers: Vec<u32>,
    /// Iterations of loops per column.
    pub(crate) iterations: u64,
}

/// A register of the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RegisterDef {
    pub(super) dtype: DType,
    pub(super) width: u32,
    /// Its first word in those of a row.
    pub(super) offset: u64,
    /// Whether other invocations or other phases read it.
    pub(super) is_stored: bool,
}

/// The step of a recurrence, as a kernel computes it: divided into phases, each followed by a barrier. The next states are
/// registers of stages: a stage of its own copies a state that becomes another one.
#[derive(Debug)]
pub(crate) struct Phases {
    pub(super) stages: Vec<Stage<InPlan>>,
    /// First the states, then the stages.
    pub(super) registers: Vec<RegisterDef>,
    pub(super) next: Vec<u32>,
    pub(crate) phases: Vec<Phase>,
    /// Words of the registers of a row.
    pub(crate) row_words: u64,
}

impl Phases {
    pub(crate) fn of(scan: &ScanRows<InPlan>) -> Self {
        let dtype = scan.initial.dtype();
        let states = scan.states.len() as u32;
        let mut stages = scan.stages.to_vec();
        let mut next = scan.next.to_vec();
        for next in &mut next {
            if *next < states {
                let value = Expr::register(Register { scan: 0, number: *next }, dtype, Expr::index());
                stages.push(Stage { width: scan.width(*next), value: StageValue::Map(value) });
                *next = states + stages.len() as u32 - 1;
            }
        }
        let register = |dtype, width| RegisterDef { dtype, width, offset: 0, is_stored: false };
        let mut registers: Vec<RegisterDef> = scan.states.iter().map(|&width| register(dtype, width)).collect();
        registers.extend(stages.iter().map(|stage| match &stage.value {
            StageValue::Map(e) | StageValue::Product { left: e, .. } => register(e.dtype(), stage.width),
        }));
        let phases = divided(&stages, states);
        // Registers that no other phase reads stay with their invocation.
        next.iter().for_each(|&k| registers[k as usize].is_stored = true);
        registers.iter_mut().take(states as usize).for_each(|register| register.is_stored = true);
        for phase in &phases {
            for &k in &phase.registers {
                let stage = &stages[(k - states) as usize];
                for_each_register(stage, &mut |number, at| {
                    let is_bound = phase.registers.contains(&number) && at.is_index();
                    registers[number as usize].is_stored |= !is_bound;
                });
            }
        }
        let mut row_words = 0;
        for register in registers.iter_mut().filter(|register| register.is_stored) {
            register.offset = row_words;
            row_words += u64::from(register.width) * words(register.dtype);
        }
        Self { stages, registers, next, phases, row_words }
    }

    /// The stage of a register.
    pub(super) fn stage(&self, register: u32) -> &Stage<InPlan> {
        &self.stages[register as usize - (self.registers.len() - self.stages.len())]
    }
}

/// Words of a number in a register.
pub(super) fn words(dtype: DType) -> u64 {
    if dtype.size() == 8 { 2 } else { 1 }
}

/// Divides the stages into phases, in order.
fn divided(stages: &[Stage<InPlan>], states: u32) -> Vec<Phase> {
    let mut out: Vec<Phase> = Vec::new();
    for (number, stage) in (states..).zip(stages) {
        let iterations = iterations(stage);
        match out.last_mut().filter(|phase| joins(stage, phase)) {
            Some(phase) => {
                phase.registers.push(number);
                phase.iterations += iterations;
            }
            None => out.push(Phase { width: stage.width, registers: vec![number], iterations }),
        }
    }
    out
}

/// Whether the stage can be computed in the phase, after the stages of it.
fn joins(stage: &Stage<InPlan>, phase: &Phase) -> bool {
    let mut fits = stage.width == phase.width;
    let is_map = matches!(stage.value, StageValue::Map(_));
    for_each_register(stage, &mut |number, at| {
        fits &= !phase.registers.contains(&number) || (is_map && at.is_own_position());
    });
    fits
}

/// Calls `f` with the registers that the stage reads, and the indices.
fn for_each_register(stage: &Stage<InPlan>, f: &mut impl FnMut(u32, &Expr)) {
    for e in stage.exprs() {
        for_each_expr(e, &mut |e| {
            if let ExprKind::Register(register, at) = e.kind() {
                f(register.number, at);
            }
        });
    }
}

/// Iterations of a loop and of those in it; drivers count the one that ends a loop too.
pub(crate) const fn looped(iterations: u64, each: u64) -> u64 {
    iterations.saturating_mul(1 + each).saturating_add(1)
}

/// Upper bound of the iterations of loops per column. Mesa's software driver counts returns within branches as loops.
fn iterations(stage: &Stage<InPlan>) -> u64 {
    match &stage.value {
        StageValue::Map(e) => STORE + iterations_of(e),
        StageValue::Product { left, right, terms, .. } => {
            let runs = terms.div_ceil(if *terms <= BLOCK { BLOCK } else { RUN });
            // Each run has an iteration that ends its loop.
            STORE + looped((*terms).into(), iterations_of(left) + iterations_of(right)) + looped(runs.into(), 1)
        }
    }
}

/// Upper bound of the iterations of loops in the functions that an expression calls.
fn iterations_of(e: &Expr) -> u64 {
    let mut all = 0;
    for_each_expr(e, &mut |e| {
        all += match e.kind() {
            ExprKind::RowOf(..) => SEARCH,
            ExprKind::Unary(UnaryOp::Math(_), _) | ExprKind::Call(..) => FUNCTION,
            ExprKind::Binary(BinaryOp::Pow | BinaryOp::Atan2, ..) => FUNCTION,
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => 0,
            ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Cast(_) => 4,
            _ => 0,
        };
    });
    all
}
