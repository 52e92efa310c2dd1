//! The expression graph: recorded computations, independent of the backend that runs them.
//!
//! Operations record [`node`]s: arrays with a recipe, the [`primitive`] that computes them, over expressions ([`expr`])
//! and symbolic sizes ([`size`]). A read traces the nodes below it into a flat [`program`], in which sizes and the
//! numbers of the user are parameters. The program is the key of each backend's plan cache. On a miss [`plan`] fuses the
//! program's arrays into steps, which backends run. The definitions of a plan ([`planned`]) continue those of its program:
//! the planner reads the program and appends arrays; it records nothing.
//!
//! ```text
//! node, expr, size ──trace──> program + bindings ──plan──> steps ──backend──> results, for the recorded nodes
//! ```
//!
//! Recordings and plans build and rewrite expressions by the same code, over [`handles`].
//!
//! A plan is immutable, and all threads that run the program share it. The sizes of a run are in its own table
//! ([`size::RunTable`]): the planner and the backends ask the [`planned::SizeView`] of the run for the value of a size.
//!
//! [`mod@step`] has the steps of plans: what they read and cost, which limits of a device they observe, and why they are not
//! one. [`run::driver`] runs a plan on any backend, step by step; [`run::stage`] selects the sizes that are read back before
//! the rest is computed.
//!
//! [`primitive`] says what a new primitive takes.
//!
//! Terms, besides those of the crate's glossary:
//!
//! - *Count*: a size that a kernel computes, such as the number of elements that a mask keeps.
//! - *Capacity*: the upper bound of an extent that the device computes; the size of its buffer.
//! - *Recipe*: the primitive that computes an array (a map, a row reduction, a scan, a sort, …) with its expressions.
//! - *Program*: the recorded arrays below a read, without their sizes and data: the key of the plan cache.
//! - *Step*: a recipe after fusion, which runs as one kernel, or as a few that pass partial results.
//! - *Condition*: a check on data that a kernel makes; a failed one is an error of every read that depends on it.
//! - *Stage*: the steps of a plan up to a wait for counts, whose upper bounds would take too much memory.
//!
//! Arrays, expressions and sizes refer to one another: an array has a size and a recipe of expressions, an expression
//! reads arrays, and a size may be an element of an array. Their types are therefore defined here, and their methods in
//! the files of the same names.

pub(crate) mod access;
pub(crate) mod backend;
pub(crate) mod canonical_order;
pub(crate) mod conditions;
pub(crate) mod digest;
mod drops;
pub(crate) mod expr;
pub(crate) mod extent;
pub(crate) mod function;
pub(crate) mod handles;
pub(crate) mod node;
pub(crate) mod opcode;
pub(crate) mod plan;
pub(crate) mod planned;
pub(crate) mod primitive;
pub(crate) mod program;
pub(crate) mod recorder;
pub(crate) mod reducer;
pub(crate) mod refs;
mod row_fusion;
pub(crate) mod row_lengths;
pub(crate) mod run;
#[cfg(feature = "saved")]
pub(crate) mod saved_list;
pub(crate) mod scalar;
pub(crate) mod scope;
pub(crate) mod shared_slice;
pub(crate) mod size;
pub(crate) mod step;
mod stored;
pub(crate) mod walk;

use std::sync::Arc;

pub(crate) use primitive::{append, rank_bitmap, tile_fold, top_k};

/// A backend, shared by its nodes.
pub(crate) type BackendRef = Arc<dyn backend::Backend>;

/// A one-dimensional array of numbers on one backend; cheap to clone, compared by structure.
#[derive(Clone)]
pub(crate) struct Node(Arc<node::NodeData>);

/// A node that is not kept alive.
#[derive(Debug, Clone)]
pub(crate) struct WeakNode(std::sync::Weak<node::NodeData>);

/// A scalar expression: the value of one element as a function of its position. Cheap to clone, immutable, compared by
/// structure.
#[derive(Debug)]
pub(crate) struct Expr<R: handles::Handles = refs::Recorded>(Arc<expr::ExprData<R>>);

/// A symbolic size; cheap to clone, compared by structure and not by value.
#[derive(Debug, Clone)]
pub(crate) enum Size {
    /// A constant of the program.
    Const(u32),
    /// Any other size.
    Symbol(Arc<size::Symbol>),
}

/// Number of elements of an array: a [`Size`], of which either all elements or those below its device-side counts are
/// live.
///
/// A data-dependent size (the words of a text, the values that a mask keeps) contains a count that a kernel computes,
/// so that the host need not wait: buffers and grids are sized for an upper bound, the *capacity*, and kernels stop at
/// the count. Where the host knows the count, as on the CPU backend always, capacity and count are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Extent<R: refs::Refs = refs::Recorded> {
    size: R::Size,
    /// All elements up to the capacity are live, regardless of the counts.
    whole: bool,
}
