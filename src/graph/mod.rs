//! The expression graph: recorded computations, independent of the backend that runs them.
//!
//! Operations record [`node`]s: arrays with a [`recipe`], the primitive that computes them, over expressions ([`expr`])
//! and symbolic sizes ([`size`]). A read traces the nodes below it into a flat [`program`], in which sizes are
//! parameters. The program is the key of each backend's plan cache. On a miss the program is lifted to nodes of its
//! own, and [`plan`] fuses them into steps, which backends run:
//!
//! ```text
//! node, expr, size ──trace──> program + bindings ──cache──> plan ──backend──> results, for the recorded nodes
//!                                    └──lift──> planned nodes ──plan──> steps ┘
//! ```
//!
//! [`stage`] selects the sizes that are read back before the rest is computed.
//!
//! A new primitive touches ten files: `recipe.rs` (the variant with its visitor, and how its kernel evaluates
//! expressions), `node.rs` (its constructor), `bindings.rs` (the buffers that its kernel binds), `traffic.rs` (the
//! bytes that it moves), `legalize` (its legalization over arrays that exceed a binding), `backend/cpu/mod.rs` and the
//! file of its loop, `backend/gpu/lower.rs` and the file of its grids, and its shader.

pub(crate) mod backend;
mod bindings;
pub(crate) mod canonical_order;
pub(crate) mod conditions;
mod convert;
pub(crate) mod cost;
pub(crate) mod digest;
pub(crate) mod epilogue;
pub(crate) mod expr;
pub(crate) mod extent;
mod fold;
pub(crate) mod fusion_barrier;
mod legalize;
pub(crate) mod many_dispatches;
pub(crate) mod node;
pub(crate) mod opcode;
pub(crate) mod plan;
pub(crate) mod program;
pub(crate) mod rank_bitmap;
pub(crate) mod recipe;
pub(crate) mod recording;
pub(crate) mod reducer;
mod row_fusion;
pub(crate) mod row_kernel;
pub(crate) mod row_lengths;
pub(crate) mod scalar;
pub(crate) mod size;
pub(crate) mod stage;
mod step;
pub(crate) mod traffic;
pub(crate) mod walk;
mod words;
