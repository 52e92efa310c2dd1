//! The cotangents of arrays.

use super::access;
use super::expr::{self, Read};
use super::factors::Factors;
use super::given::Given;
use super::own_columns::OwnColumns;
use super::unique_rows::UniqueRows;
use crate::error::Result;
use crate::graph::digest::{DigestMap, DigestSet};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// Number of contributions that one map adds.
const ADDED_AT_ONCE: usize = 8;

/// The pass from results and their cotangents to inputs, through the step of a recurrence.
pub(super) type Pass = fn(Recorder<'_>, Vec<(Node, Expr)>, &[Node], StepArrays<'_>) -> Result<Vec<Option<Node>>>;

/// What passes over the step of a recurrence read of its arrays.
#[derive(Clone, Copy)]
pub(super) struct StepArrays<'a> {
    /// Factors of cotangents that are stored.
    pub(super) factors: &'a Factors,
    /// Arrays that are read, each with the node that computes the same numbers and has their cotangents.
    pub(super) stored: &'a [(Node, Node)],
    pub(super) columns: &'a OwnColumns,
}

/// The cotangents of arrays.
pub(super) struct Cotangents<'a> {
    pub(super) rec: Recorder<'a>,
    /// The pass, for primitives whose steps are differentiated.
    pub(super) pass: Pass,
    /// The contributions to each array so far, as expressions in its position.
    of: DigestMap<Vec<Expr>>,
    /// The arrays that the inputs are reached from.
    reaching: DigestSet,
    /// Inputs whose cotangents may be those of rows.
    looked_up: DigestSet,
    /// The reads of these: the cotangents, and the index.
    reads: DigestMap<Vec<(Given<'a>, Expr)>>,
    /// In the passes over the step of a recurrence.
    pub(super) of_step: Option<StepArrays<'a>>,
}

impl<'a> Cotangents<'a> {
    /// No cotangents, of arrays that the inputs are reached from; the cotangents of those `looked_up` may be rows.
    pub(super) fn new(rec: Recorder<'a>, pass: Pass, (reaching, looked_up): (DigestSet, DigestSet)) -> Self {
        let (of, reads) = (DigestMap::default(), DigestMap::default());
        Self { rec, pass, of, reaching, looked_up, reads, of_step: None }
    }

    /// Whether the inputs are reached from the array.
    pub(super) fn wants(&self, node: &Node) -> bool {
        self.reaching.contains(&node.digest())
    }

    /// Adds a contribution to the cotangent of an array.
    pub(super) fn add(&mut self, node: &Node, ct: Expr) {
        if self.wants(node) {
            self.of.entry(node.digest()).or_default().push(ct);
        }
    }

    /// Adds what the positions below `count` contribute, where `ct` is the cotangent of `value`; both are expressions in
    /// the position.
    pub(super) fn pull(&mut self, value: &Expr, ct: Expr, count: &Extent) -> Result<()> {
        let reads = expr::reads(self.rec, value, (ct.clone(), count), |node| self.wants(node))?;
        for Read { node, index, ct: of_read } in reads {
            let ct = match self.of_step {
                Some(step) => step.factors.replaced(&of_read, &ct, count),
                None => of_read,
            };
            let given = Given { rec: self.rec, ct, count: count.clone() };
            if self.looked_up.contains(&node.digest()) {
                self.reads.entry(node.digest()).or_default().push((given, index));
                continue;
            }
            let of_columns = match self.of_step {
                Some(step) => step.columns.adjoint(&given, (&node, &index))?,
                None => None,
            };
            let all = of_columns.map_or_else(|| access::adjoint(given, &index, node.extent()), Ok)?;
            all.into_iter().for_each(|ct| self.add(&node, ct));
        }
        Ok(())
    }

    /// The cotangent of an input that one look-up reads, and nothing else. Adds those of other reads.
    pub(super) fn rows(&mut self, node: &Node) -> Result<Option<UniqueRows>> {
        let reads = self.reads.remove(&node.digest()).unwrap_or_default();
        if let ([(given, index)], false) = (&reads[..], self.of.contains_key(&node.digest()))
            && let Some(rows) = access::rows_looked_up(given.clone(), index, node.extent())?
        {
            return Ok(Some(rows));
        }
        for (given, index) in reads {
            for ct in access::adjoint(given, &index, node.extent())? {
                self.add(node, ct);
            }
        }
        Ok(None)
    }

    /// The cotangent of an array, as an array; `None` if nothing contributes to it.
    pub(super) fn total(&mut self, node: &Node) -> Option<Node> {
        let mut parts = self.of.remove(&node.digest())?;
        let rec = Recorder { op: node.op(), ..self.rec };
        loop {
            let sums = parts.chunks(ADDED_AT_ONCE).map(|parts| {
                let sum = parts.iter().cloned().reduce(Expr::add);
                let sum = sum.unwrap_or_else(|| unreachable!("bug: a chunk without elements"));
                match sum.own_load() {
                    Some(array) if is_extent_of(array.extent(), node) => array.clone(),
                    _ => rec.map(node.extent().clone(), sum, &[]),
                }
            });
            let sums: Vec<Node> = sums.collect();
            match &sums[..] {
                [sum] => return Some(sum.clone()),
                _ => parts = sums.iter().map(|sum| Expr::load(sum, Expr::index())).collect(),
            }
        }
    }
}

/// Whether an array of that extent is one of the extent of `node`, whatever the sizes of the inputs are.
fn is_extent_of(extent: &Extent, node: &Node) -> bool {
    let is_const = extent.size().as_const().is_some();
    extent == node.extent() || is_const && extent.is_same(node.extent())
}
