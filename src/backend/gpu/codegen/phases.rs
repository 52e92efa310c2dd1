//! The phases of a recurrence's step: stages that one barrier follows.

use super::loops::{STORE, iterations_of, looped};
use crate::dtype::DType;
use crate::graph::canonical_order::product::{BLOCK, RUN};
use crate::graph::expr::Register;
use crate::graph::plan::Float64Repr;
use crate::graph::planned::{Expr, ExprKind, InPlan, Node, Rows};
use crate::graph::primitive::{ScanRows, Stage, StageValue};
use crate::graph::walk::for_each_expr;

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
    /// Its columns among the numbers of an element that are stored for others, by the first of each.
    pub(super) kept: Vec<u32>,
}

/// The step of a recurrence, as a kernel computes it: divided into phases, each followed by a barrier. The next states are
/// registers of stages: a stage of its own copies a state that becomes another one, or that is kept. What is kept is stored
/// when it is computed.
#[derive(Debug)]
pub(crate) struct Phases {
    pub(super) stages: Vec<Stage<InPlan>>,
    /// First the states, then the stages.
    pub(super) registers: Vec<RegisterDef>,
    pub(super) next: Vec<u32>,
    pub(crate) phases: Vec<Phase>,
    /// Iterations of loops per initial number.
    pub(crate) initial_iterations: u64,
    /// Words of the registers of a row.
    pub(crate) row_words: u64,
    /// Numbers of all states.
    pub(crate) state_numbers: u32,
    /// Numbers of an element that are stored.
    pub(super) stored_numbers: u32,
}

impl Phases {
    pub(crate) fn of(scan: &ScanRows<InPlan>, float64: Float64Repr) -> Self {
        let dtype = scan.initial.dtype();
        let states = scan.states.len() as u32;
        let mut stages = scan.stages.to_vec();
        let mut next = scan.next.to_vec();
        let mut kept = scan.kept.to_vec();
        for next in next.iter_mut().chain(&mut kept) {
            if *next < states {
                let value = Expr::register(Register { scan: 0, number: *next }, dtype, Expr::index());
                stages.push(Stage { width: scan.width(*next), value: StageValue::Map(value) });
                *next = states + stages.len() as u32 - 1;
            }
        }
        let register = |dtype, width| RegisterDef { dtype, width, offset: 0, is_stored: false, kept: Vec::new() };
        let mut registers: Vec<RegisterDef> = scan.states.iter().map(|&width| register(dtype, width)).collect();
        registers.extend(stages.iter().map(|stage| match &stage.value {
            StageValue::Map(e) | StageValue::Product { left: e, .. } => register(e.dtype(), stage.width),
        }));
        let state_numbers = scan.state_numbers();
        let mut column = state_numbers;
        for k in kept {
            let register = &mut registers[k as usize];
            register.kept.push(column);
            column += register.width;
        }
        let rows = if let Rows::Splits(splits) = &scan.on.rows { Some(splits) } else { None };
        let phases = divided(&stages, &registers[states as usize..], states, (rows, float64));
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
        let initial_iterations = iterations_of(&scan.initial, None, float64);
        let stored_numbers = column;
        Self { stages, registers, next, phases, initial_iterations, row_words, state_numbers, stored_numbers }
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
fn divided(
    stages: &[Stage<InPlan>],
    registers: &[RegisterDef],
    states: u32,
    (rows, float64): (Option<&Node>, Float64Repr),
) -> Vec<Phase> {
    let mut out: Vec<Phase> = Vec::new();
    for ((number, stage), register) in (states..).zip(stages).zip(registers) {
        let iterations = iterations(stage, rows, float64).saturating_add(STORE * register.kept.len() as u64);
        match out.last_mut().filter(|phase| joins(stage, phase)) {
            Some(phase) => {
                phase.registers.push(number);
                phase.iterations = phase.iterations.saturating_add(iterations);
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

/// Upper bound of the iterations of loops per column.
fn iterations(stage: &Stage<InPlan>, rows: Option<&Node>, float64: Float64Repr) -> u64 {
    let of = |e: &Expr, width: u32| iterations_of(e, rows.map(|splits| (splits, width)), float64);
    match &stage.value {
        StageValue::Map(e) => STORE + of(e, stage.width),
        StageValue::Product { left, right, terms, .. } => {
            let of_term = of(left, *terms).saturating_add(iterations_of(right, None, float64));
            let runs = if *terms > BLOCK { looped(terms.div_ceil(RUN).into(), 1) } else { 0 };
            STORE.saturating_add(looped((*terms).into(), of_term)).saturating_add(runs)
        }
    }
}
