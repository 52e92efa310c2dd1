//! Actions on the nodes of a program: records, reads, evaluations, prints and drops, each compared with the wanted outcomes.

use std::collections::HashMap;

use ragged::{HostTensor, Result, Tensor};

use super::material::Leaves;
use super::outcome::{Outcome, digest, may_be_same, text};
use super::program::{Node, Program};
use super::rows::rows_of;
use crate::random::Random;

/// An action on the tensors of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Records the node from the newest tensors of its operands.
    Record(usize),
    /// Records the node and all that it depends on, from the arrays of the materials.
    RecordAll(usize),
    Evaluate(usize),
    EvaluateBoth(usize, usize),
    Explain(usize),
    Print(usize),
    Read(usize),
    ReadBoth(usize, usize),
    /// Reads rows from a part of all rows, in 256ths, and their number.
    ReadRows(usize, u8, u8),
    Check(usize),
    Shape(usize),
    Clone(usize),
    /// Drops the oldest tensor of the node.
    Drop(usize),
    /// Drops all tensors of the node.
    DropAll(usize),
}

impl Action {
    fn random(random: &mut Random, nodes: usize) -> Self {
        let (k, j) = (random.below(nodes), random.below(nodes));
        match random.below(20) {
            0 | 1 => Self::Record(k),
            2..=4 => Self::RecordAll(k),
            5 | 6 => Self::Evaluate(k),
            7 => Self::EvaluateBoth(k, j),
            8 => Self::Explain(k),
            9 => Self::Print(k),
            10 | 11 => Self::Read(k),
            12 => Self::ReadBoth(k, j),
            13 | 14 => Self::ReadRows(k, random.below(256) as u8, random.of(&[1, 1, 1, 3, 100])),
            15 => Self::Check(k),
            16 => Self::Shape(k),
            17 => Self::Clone(k),
            18 => Self::Drop(k),
            _ => Self::DropAll(k),
        }
    }

    /// Random actions, then a read of every node in random order.
    pub fn sequence(random: &mut Random, nodes: usize) -> Vec<Self> {
        let mut out: Vec<Self> = (0..random.below(4 + 2 * nodes)).map(|_| Self::random(random, nodes)).collect();
        let mut left: Vec<usize> = (0..nodes).collect();
        while !left.is_empty() {
            out.push(Self::Read(left.swap_remove(random.below(left.len()))));
        }
        out
    }

    /// The nodes that the action is on.
    pub fn nodes(self) -> Vec<usize> {
        match self {
            Self::EvaluateBoth(k, j) | Self::ReadBoth(k, j) => vec![k, j],
            Self::Record(k) | Self::RecordAll(k) | Self::Evaluate(k) | Self::Explain(k) | Self::Print(k) => vec![k],
            Self::Read(k) | Self::ReadRows(k, ..) | Self::Check(k) | Self::Shape(k) | Self::Clone(k) => vec![k],
            Self::Drop(k) | Self::DropAll(k) => vec![k],
        }
    }
}

/// The tensors of a program on a device.
pub struct Replay<'a> {
    program: &'a Program,
    leaves: &'a [Leaves],
    /// Per node its tensors, newest last.
    tensors: Vec<Vec<Tensor>>,
}

/// A difference from the wanted outcome.
type Fault = String;

impl<'a> Replay<'a> {
    pub fn new(program: &'a Program, leaves: &'a [Leaves]) -> Self {
        Self { program, leaves, tensors: vec![Vec::new(); program.nodes.len()] }
    }

    /// Makes a tensor the newest one of a node.
    pub fn share(&mut self, k: usize, x: Tensor) {
        self.tensors[k].push(x);
    }

    /// The newest tensors, with their nodes.
    pub fn into_tensors(self) -> Vec<(usize, Tensor)> {
        self.tensors.into_iter().enumerate().filter_map(|(k, mut all)| Some((k, all.pop()?))).collect()
    }

    /// The newest tensor of a node, recorded if there is none. None where the node is not to be recorded.
    fn newest(&mut self, k: usize) -> Result<Option<Tensor>, Fault> {
        if self.tensors[k].is_empty() {
            self.record(k)?;
        }
        Ok(self.tensors[k].last().cloned())
    }

    /// Compares what was recorded with what is wanted.
    fn recorded(&self, k: usize, result: Result<Tensor>) -> Result<Option<Tensor>, Fault> {
        let want = &self.program.wants[k];
        match (result, want) {
            (Ok(x), Outcome::Read(seen)) => {
                if x.ragged_rank() != seen.ragged_rank || !may_be_same(&x.shape(), &seen.shape) {
                    return Err(format!(
                        "[rank] {k} is recorded as {:?}, ragged rank {}, not {want}",
                        x.shape(),
                        x.ragged_rank()
                    ));
                }
                Ok(Some(x))
            }
            (Ok(x), Outcome::Failed(_)) => Ok(Some(x)),
            (Ok(x), _) => Err(format!("[success] {k} is recorded as {:?}, not {want}", x.shape())),
            (Err(e), Outcome::Refused(_)) if Outcome::Refused(e.clone()).difference(want, false).is_none() => Ok(None),
            (Err(e), _) => Err(format!("[success] {k} is refused: {e}\n    not {want}")),
        }
    }

    fn record(&mut self, k: usize) -> Result<(), Fault> {
        let result = match self.program.nodes[k].operands() {
            None => self.program.record(k, self.leaves, None),
            Some([a, b]) => {
                let (Some(x), Some(y)) = (self.newest(a)?, self.newest(b)?) else { return Ok(()) };
                self.program.record(k, self.leaves, Some([&x, &y]))
            }
        };
        let recorded = self.recorded(k, result)?;
        self.tensors[k].extend(recorded);
        Ok(())
    }

    /// The node and all that it depends on, recorded again.
    fn record_all(&self, k: usize, made: &mut HashMap<usize, Option<Tensor>>) -> Result<Option<Tensor>, Fault> {
        if let Some(x) = made.get(&k) {
            return Ok(x.clone());
        }
        let result = match self.program.nodes[k].operands() {
            None => Some(self.program.record(k, self.leaves, None)),
            Some([a, b]) => match (self.record_all(a, made)?, self.record_all(b, made)?) {
                (Some(x), Some(y)) => Some(self.program.record(k, self.leaves, Some([&x, &y]))),
                _ => None,
            },
        };
        let x = result.map_or(Ok(None), |result| self.recorded(k, result))?;
        made.insert(k, x.clone());
        Ok(x)
    }

    fn read(&self, k: usize, x: &Tensor) -> Result<(), Fault> {
        let got = Outcome::of_read(x, x.to_host().as_ref());
        let want = &self.program.wants[k];
        got.fault(want, false).map_or(Ok(()), |fault| Err(format!("{k} is read as {fault}")))
    }

    /// The wanted host tensor, if the node can be read.
    fn host(&self, k: usize) -> Option<&'a HostTensor> {
        self.program.hosts[k].as_ref()
    }

    /// An evaluation succeeds, unless one of its results exceeds a limit, or cannot be computed since its condition fails.
    fn evaluated(&self, nodes: &[usize], result: Result<()>) -> Result<(), Fault> {
        let is_limit = |e: &ragged::Error| matches!(e, ragged::Error::Limit { .. });
        let Err(e) = result else { return Ok(()) };
        let is_wanted = |k: &usize| match &self.program.wants[*k] {
            Outcome::Failed(want) if is_limit(&e) => is_limit(want),
            want @ Outcome::Failed(_) => Outcome::Failed(e.clone()).difference(want, false).is_none(),
            _ => false,
        };
        if nodes.iter().any(is_wanted) {
            return Ok(());
        }
        Err(format!("[success] an evaluation of {nodes:?} fails: {e}"))
    }

    /// Does an action: the fault that it shows.
    pub fn act(&mut self, action: Action) -> Result<(), Fault> {
        match action {
            Action::Record(k) => return self.record(k),
            Action::RecordAll(k) => {
                let x = self.record_all(k, &mut HashMap::new())?;
                self.tensors[k].extend(x);
                return Ok(());
            }
            Action::Drop(k) => {
                if !self.tensors[k].is_empty() {
                    self.tensors[k].remove(0);
                }
                return Ok(());
            }
            Action::DropAll(k) => {
                self.tensors[k].clear();
                return Ok(());
            }
            _ => {}
        }
        let nodes = action.nodes();
        let mut found = Vec::new();
        for &k in &nodes {
            let Some(x) = self.newest(k)? else { return Ok(()) };
            found.push(x);
        }
        let (k, x) = (nodes[0], &found[0]);
        let readable = nodes.iter().all(|&k| self.host(k).is_some());
        // An error where a result is wanted, or the reverse.
        let is_expected = |what: &str, error: Option<ragged::Error>, may_fail: bool| match error {
            None if may_fail => Err(format!("[success] {what} of {nodes:?} succeeds, not {}", self.program.wants[k])),
            Some(e) if !may_fail => Err(format!("[success] {what} of {nodes:?} fails: {e}")),
            _ => Ok(()),
        };
        match action {
            // Checks are reported by reads only, and limits by evaluations too.
            Action::Evaluate(_) => self.evaluated(&nodes, x.eval()),
            Action::EvaluateBoth(..) => self.evaluated(&nodes, ragged::eval((x, &found[1]))),
            Action::Explain(_) => is_expected("an explanation", x.explain().err(), false),
            Action::Check(_) => is_expected("a check", x.check().err(), !readable),
            Action::Print(_) => match self.host(k) {
                Some(host) if host.values.len() <= 3000 => {
                    let (got, want) = (x.to_string(), host.to_string());
                    if got.contains(&want) {
                        Ok(())
                    } else {
                        Err(format!("[values] {k} is printed as {got:.300}\n    not {want:.300}"))
                    }
                }
                _ => self.read(k, x),
            },
            Action::Read(_) => self.read(k, x),
            Action::ReadBoth(_, j) => match ragged::to_host((x, &found[1])) {
                Err(e) => is_expected("a read", Some(e), !readable),
                Ok(_) if !readable => is_expected("a read", None, true),
                Ok(hosts) => [k, j].into_iter().zip(&found).zip(&hosts).try_for_each(|((k, x), host)| {
                    let (got, want) = (Outcome::of_read(x, Ok(host)), &self.program.wants[k]);
                    got.fault(want, false).map_or(Ok(()), |fault| Err(format!("{k} is read as {fault}")))
                }),
            },
            Action::ReadRows(_, part, count) => {
                let Some((host, nrows)) = self.host(k).and_then(|host| Some((host, nrows(host)?))) else {
                    return Ok(());
                };
                let from = nrows * usize::from(part) / 256;
                let rows = from..(from + usize::from(count)).min(nrows);
                let got = x.rows_to_host(rows.clone());
                let want = rows_of(host, rows.clone());
                match got {
                    Ok(got) if digest(&got) == digest(&want) => Ok(()),
                    Ok(got) => {
                        Err(format!("[values] rows {rows:?} of {k} are {}\n    not {}", text(&got), text(&want)))
                    }
                    Err(e) => Err(format!("[success] rows {rows:?} of {k}: {e}\n    not {}", text(&want))),
                }
            }
            Action::Shape(_) => {
                let shape = x.shape();
                match &self.program.wants[k] {
                    Outcome::Read(seen) if !may_be_same(&shape, &seen.shape) => {
                        Err(format!("[shape] {k} has the shape {shape:?}, not {:?}", seen.shape))
                    }
                    _ => Ok(()),
                }
            }
            Action::Clone(_) => {
                let x = x.clone();
                self.tensors[k].push(x);
                Ok(())
            }
            Action::Record(_) | Action::RecordAll(_) | Action::Drop(_) | Action::DropAll(_) => Ok(()),
        }
    }
}

/// The number of rows of a tensor of rank 1 or more.
fn nrows(host: &HostTensor) -> Option<usize> {
    host.nested_row_splits.first().map(|splits| splits.len() - 1).or_else(|| host.inner_shape.first().copied())
}

/// The nodes that a node depends on, and itself.
pub fn dependencies(nodes: &[Node], k: usize, out: &mut Vec<bool>) {
    if !std::mem::replace(&mut out[k], true)
        && let Some(of) = nodes[k].operands()
    {
        of.into_iter().for_each(|k| dependencies(nodes, k, out));
    }
}
