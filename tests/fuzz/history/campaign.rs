//! Programs with histories on a device, and the shortest list of actions that shows a fault.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ragged::{Device, Tensor};

use super::action::{Action, Replay, dependencies};
use super::judges::fresh;
use super::material::Leaves;
use super::program::{Bounds, Program};
use crate::random::Random;

/// Figures of a run.
#[derive(Default, Debug)]
pub struct Figures {
    pub programs: u64,
    pub runs: u64,
    pub nodes: u64,
    pub actions: u64,
    pub values: u64,
}

/// A device with a history of many programs.
pub struct Campaign {
    device: Device,
    /// Opens a device without a history, of the same kind.
    open: Box<dyn Fn() -> Device>,
    bounds: Bounds,
    /// Arrays that programs share.
    leaves: VecDeque<Vec<Leaves>>,
    /// Results of earlier programs, which stay alive.
    kept: VecDeque<Tensor>,
    pools: Vec<rayon::ThreadPool>,
    pub figures: Figures,
}

impl Campaign {
    pub fn new(open: impl Fn() -> Device + 'static, bounds: Bounds) -> Self {
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads start");
        Self {
            device: open(),
            open: Box::new(open),
            bounds,
            leaves: VecDeque::new(),
            kept: VecDeque::new(),
            pools: [1, 2, 4].map(pool).into(),
            figures: Figures::default(),
        }
    }

    /// Runs the program of a seed: the description of a fault.
    pub fn run(&mut self, seed: u64) -> Option<String> {
        let bounds = self.bounds;
        let Ok(program) = catch_unwind(AssertUnwindSafe(|| Program::random(seed, bounds))) else {
            return Some(format!("seed {seed}: [panic] on a device without a history"));
        };
        self.figures.programs += 1;
        self.figures.nodes += program.nodes.len() as u64;
        if !program.faults.is_empty() {
            return Some(format!("seed {seed}: {}\n{}", program.faults.join("\n"), program.text(|_| true)));
        }
        let mut random = Random(seed ^ 0xac71_0115);
        for run in 0..2 {
            let actions = Action::sequence(&mut random, program.nodes.len());
            self.figures.runs += 1;
            self.figures.actions += actions.len() as u64;
            self.figures.values += program.hosts.iter().flatten().map(|host| host.values.len() as u64).sum::<u64>();
            let pool = random.below(self.pools.len());
            let fault = match run {
                // A device of its own, or the shared one with arrays and results of earlier programs.
                0 if self.device.is_cpu() => self.on_fresh(&program, &actions, pool),
                _ => self.on_shared(&program, &actions, pool),
            };
            if let Some(fault) = fault {
                return Some(self.shrunk(&program, actions, pool, &fault));
            }
        }
        None
    }

    fn on_fresh(&self, program: &Program, actions: &[Action], pool: usize) -> Option<String> {
        let leaves = program.leaves(&if self.device.is_cpu() { fresh() } else { (self.open)() });
        self.pools[pool].install(|| replay(program, &leaves, actions)).err()
    }

    fn on_shared(&mut self, program: &Program, actions: &[Action], pool: usize) -> Option<String> {
        let same =
            |leaves: &Vec<Leaves>| leaves.iter().map(|leaves| leaves.material).eq(program.materials.iter().copied());
        let found = self.leaves.iter().position(same);
        let leaves = found.and_then(|at| self.leaves.remove(at)).unwrap_or_else(|| program.leaves(&self.device));
        let result = self.pools[pool].install(|| replay(program, &leaves, actions));
        self.leaves.push_back(leaves);
        let small = self.leaves.len() > 32 || program.materials.iter().any(|m| m.size > 20_000);
        if small {
            self.leaves.pop_front();
        }
        match result {
            Ok(tensors) => {
                self.kept.extend(tensors.into_iter().take(2).map(|(_, x)| x));
                let excess = self.kept.len().saturating_sub(16);
                self.kept.drain(..excess);
                None
            }
            Err(fault) => Some(fault),
        }
    }

    /// A description with the shortest list of actions found that shows a fault on a device without a history.
    fn shrunk(&self, program: &Program, actions: Vec<Action>, pool: usize, fault: &str) -> String {
        let seed = program.seed;
        let Some(mut last) = self.on_fresh(program, &actions, pool) else {
            return format!(
                "seed {seed}: only after earlier programs: {fault}\n{}  {actions:?}",
                program.text(|_| true)
            );
        };
        let mut left = actions;
        let mut size = left.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < left.len() {
                let mut fewer = left.clone();
                fewer.drain(at..(at + size).min(left.len()));
                match self.on_fresh(program, &fewer, pool) {
                    Some(fault) => (left, last) = (fewer, fault),
                    None => at += size,
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        let mut used = vec![false; program.nodes.len()];
        left.iter().flat_map(|action| action.nodes()).for_each(|k| dependencies(&program.nodes, k, &mut used));
        format!("seed {seed}: {last}\n{}  {left:?}", program.text(|k| used[k]))
    }
}

/// Does the actions: the tensors that are left, or the first fault.
pub fn replay(program: &Program, leaves: &[Leaves], actions: &[Action]) -> Result<Vec<(usize, Tensor)>, String> {
    let mut replay = Replay::new(program, leaves);
    for (at, &action) in actions.iter().enumerate() {
        match catch_unwind(AssertUnwindSafe(|| replay.act(action))) {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => return Err(format!("action {at}, {action:?}: {fault}")),
            Err(_) => return Err(format!("action {at}, {action:?}: [panic]")),
        }
    }
    Ok(replay.into_tensors())
}
