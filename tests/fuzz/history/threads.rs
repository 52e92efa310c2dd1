//! Threads that share tensors: each records and reads on its own, and must get what one thread gets.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

use ragged::Tensor;

use super::action::{Action, Replay};
use super::material::Leaves;
use super::outcome::Outcome;
use super::pairs::{Pair, Pairs};
use super::program::Program;
use crate::random::Random;

/// Two threads: each records and reads one operation of a pair per round, on one source. The first wrong result.
pub fn run_pair(pairs: &mut Pairs, pair: &Pair, rounds: usize) -> Option<String> {
    let wants = [pairs.reference(pair, pair.first), pairs.reference(pair, pair.second)];
    let (device, knows_all) = (pairs.device.clone(), pairs.knows_all);
    let leaves = Leaves::new(pair.material, &device);
    let shared = (pair.source.build)(&leaves).expect("a source is recorded");
    let barrier = Barrier::new(2);
    let work = |which: usize| {
        let (step, want) = ([pair.first, pair.second][which], &wants[which]);
        for round in 0..rounds {
            barrier.wait();
            let read = || {
                let x = if pair.again { (pair.source.build)(&leaves) } else { Ok(shared.clone()) };
                Outcome::of(x.and_then(|x| (step.run)(&x, &x)))
            };
            let fault = match catch_unwind(AssertUnwindSafe(read)) {
                Ok(got) => match got.fault(want, knows_all) {
                    Some(fault) => format!("`{}` of round {round}: {fault}", step.name),
                    None => continue,
                },
                Err(_) => format!("[panic] `{}` of round {round}", step.name),
            };
            // The other thread waits for as many rounds.
            (round + 1..rounds).for_each(|_| {
                barrier.wait();
            });
            return Some(fault);
        }
        None
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| work(1));
        let own = work(0);
        own.or(other.join().expect("panics are caught"))
    })
}

/// Threads that do random actions on the nodes of one program, of which some tensors are shared.
pub fn run_program(program: &Program, leaves: &[Leaves], random: &mut Random) -> Option<String> {
    const THREADS: usize = 3;
    let nodes = program.nodes.len();
    let mut first = Replay::new(program, leaves);
    // Recorded before the threads start, and neither evaluated nor read.
    for k in 0..nodes {
        if random.once_in(2)
            && let Err(fault) = first.act(Action::Record(k))
        {
            return Some(fault);
        }
    }
    let shared: Vec<(usize, Tensor)> = first.into_tensors();
    let actions: Vec<_> = (0..THREADS).map(|_| Action::sequence(random, nodes)).collect();
    let barrier = Barrier::new(THREADS);
    let work = |actions: &[Action]| -> Option<String> {
        let mut replay = Replay::new(program, leaves);
        shared.iter().for_each(|(k, x)| replay.share(*k, x.clone()));
        barrier.wait();
        actions.iter().find_map(|&action| match catch_unwind(AssertUnwindSafe(|| replay.act(action))) {
            Ok(result) => result.err().map(|fault| format!("{action:?}: {fault}")),
            Err(_) => Some(format!("[panic] {action:?}")),
        })
    };
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = actions.iter().map(|actions| scope.spawn(move || work(actions))).collect();
        threads.into_iter().filter_map(|thread| thread.join().expect("panics are caught")).next()
    })
}
