//! What must hold of the recurrences of a program that is not trusted, and of registers.

use std::collections::HashSet;

use super::{ArrayDef, ByNumber, ExprId, ExprKind, Fault, Program, Recipe, holds};
use crate::dtype::DType;
use crate::graph::primitive::{ScanRows, StageValue};

/// Most numbers of a register, and most registers.
const MOST: u32 = 1 << 16;

impl Program {
    /// The dtype of the array that a recurrence computes, whose stages fit.
    pub(super) fn recurrence_dtype(&self, p: &ScanRows<ByNumber>) -> Result<DType, Fault> {
        let dtype = self.exprs[p.initial.index()].dtype;
        let width = |k: u32| {
            let k = k as usize;
            p.states.get(k).copied().or_else(|| p.stages.get(k.checked_sub(p.states.len())?).map(|stage| stage.width))
        };
        let numbers = p.states.iter().map(|&width| u64::from(width)).sum::<u64>();
        let kept: Option<u64> = p.kept.iter().map(|&k| width(k).map(u64::from)).sum();
        let all = kept.map_or(0, |kept| numbers + kept);
        let fits = all == u64::from(p.on.inner) && numbers > 0;
        holds(fits, || format!("states and kept registers of {all} numbers, not {}", p.on.inner))?;
        let fits = p.states.iter().all(|width| (1..=MOST).contains(width)) && dtype.computes_in() == dtype;
        holds(fits && dtype != DType::Bool, || format!("states of {:?} numbers of {dtype}", p.states))?;
        holds(p.next.len() == p.states.len(), || format!("{} states of {}", p.next.len(), p.states.len()))?;
        holds(p.stages.len() < MOST as usize, || format!("{} stages", p.stages.len()))?;
        let mut dtypes = vec![dtype; p.states.len()];
        for (k, stage) in p.stages.iter().enumerate() {
            holds((1..=MOST).contains(&stage.width), || format!("stage {k} has {} numbers", stage.width))?;
            let of = match &stage.value {
                StageValue::Map(value) => self.reads_registers(*value, &dtypes)?,
                StageValue::Product { left, right, terms, .. } => {
                    let (left, right) = (self.reads_registers(*left, &dtypes)?, self.reads_registers(*right, &[])?);
                    let product = u64::from(*terms) * u64::from(stage.width);
                    holds(left == right, || format!("stage {k}: a product of {left} and {right}"))?;
                    let is_number = left.computes_in() == left && left != DType::Bool;
                    holds(is_number, || format!("stage {k}: a product of {left}"))?;
                    holds((1..=MOST).contains(terms) && product < 1 << 32, || format!("stage {k}: {terms} terms"))?;
                    left
                }
            };
            dtypes.push(of);
        }
        self.reads_registers(p.initial, &[])?;
        for (k, next) in p.next.iter().enumerate() {
            let found = dtypes.get(*next as usize).copied();
            let fits = found == Some(dtype) && width(*next) == p.states.get(k).copied();
            holds(fits, || format!("state {k} is register {next}, which it does not equal"))?;
        }
        for k in &p.kept {
            let found = dtypes.get(*k as usize).copied();
            holds(found == Some(dtype), || format!("kept register {k} does not hold {dtype}"))?;
        }
        Ok(dtype)
    }

    /// Whether all registers that the expression reads are of these dtypes; gives the dtype of the expression.
    fn reads_registers(&self, e: ExprId, registers: &[DType]) -> Result<DType, Fault> {
        self.reads_registers_beyond(e, registers, &mut HashSet::new())
    }

    /// As [`Self::reads_registers`], besides the expressions that were seen.
    fn reads_registers_beyond(
        &self,
        e: ExprId,
        registers: &[DType],
        seen: &mut HashSet<ExprId>,
    ) -> Result<DType, Fault> {
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            let def = &self.exprs[e.index()];
            if let ExprKind::Register(register, _) = &def.kind {
                let found = registers.get(register.number as usize).copied();
                let fits = register.scan == 0 && found == Some(def.dtype);
                holds(fits, || format!("register {} of {} is not there", register.number, def.dtype))?;
            }
            stack.extend(def.kind.operands().copied());
        }
        Ok(self.exprs[e.index()].dtype)
    }

    /// No other array reads registers.
    pub(super) fn check_registers(&self) -> Result<(), Fault> {
        if !self.exprs.iter().any(|def| matches!(def.kind, ExprKind::Register(..))) {
            return Ok(());
        }
        let mut seen = HashSet::new();
        for def in &self.arrays {
            if let ArrayDef::Computed { recipe, .. } = def
                && !matches!(**recipe, Recipe::ScanRows(_))
            {
                recipe
                    .exprs()
                    .into_iter()
                    .try_for_each(|e| self.reads_registers_beyond(*e, &[], &mut seen).map(|_| ()))?;
            }
        }
        Ok(())
    }
}
