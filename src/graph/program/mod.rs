//! Programs: the computation of a recording, as flat lists of definitions.
//!
//! A [`Program`] is the graph below the requested arrays with numbers in place of references. Arrays, expressions,
//! sizes and scalar parameters are numbered in traversal order from the outputs. A program contains no node, digest,
//! input value, number of the user, or text and source location of a check, so that recordings of one computation over
//! other inputs are equal programs. The program is the key of the plan cache on both
//! backends, and the input of the planner.
//!
//! ```text
//! recording (Node, Expr, Size)  --trace-->  Program + Bindings  --plan-->  steps
//! ```
//!
//! [`Bindings`] hold the state of one run: the input arrays, and the table of their lengths, of all sizes and of the
//! scalar parameters. [`Locations`] beside it hold the checks of the recording, with their texts and source locations.
//!
//! [`Recipe`] and [`ExprKind`] are generic over their references ([`Refs`]): nodes in a recording, numbers in a program, and
//! the definitions of a plan ([`planned`](super::planned)), which continue those of its program.

mod ids;
mod liveness;
mod locations;
#[cfg(feature = "saved")]
pub(crate) mod names;
mod order;
mod print;
mod replay;
mod run_table;
mod trace;
#[cfg(feature = "saved")]
mod valid;
#[cfg(feature = "saved")]
mod written;

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(crate) use ids::{ArrayId, CheckId, ExprId, FunctionId, NameId, ScalarId, SizeId};
pub(crate) use locations::Locations;
pub(in crate::graph) use order::Item;
pub(crate) use replay::{ReplayInputs, Replayed};
#[cfg(test)]
pub(crate) use trace::trace_on_device;
pub(crate) use trace::{Bindings, Frozen, freeze, program_of, trace};

use super::digest::word_hasher::WordHasher;
use super::expr::ExprKind;
use super::extent::Extent;
use super::function::FunctionDef;
use super::handles::Handles;
use super::node::InputForm;
use super::primitive::Recipe;
use super::refs::{Reference, Refs};
use super::scalar::param::ScalarDef;
use super::size::{RunTable, SizeOp};
use crate::dtype::DType;

impl ExtentDef {
    /// The extent of that size.
    pub(crate) fn of(size: SizeId) -> Self {
        Self { size, whole: false }
    }

    pub(crate) fn size(self) -> SizeId {
        self.size
    }

    /// The extent in a recording or a plan, where its size is that one.
    pub(crate) fn extent<R: Handles>(self, size: R::Size) -> Extent<R> {
        if self.whole { Extent::whole_of(size) } else { Extent::of(size) }
    }
}

impl ArrayDef {
    /// Size and dtype of a computed array; `None` for an input.
    pub(crate) fn computed(&self) -> Option<(SizeId, DType)> {
        match self {
            Self::Computed { extent, dtype, .. } => Some((extent.size, *dtype)),
            Self::Input(_) => None,
        }
    }
}

/// A size of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum SizeDef {
    /// A constant.
    Const(u32),
    /// A parameter, given with the inputs.
    Input,
    /// Length of an array as allocated.
    Len(ArrayId),
    /// Element `at` of an array that a kernel computes.
    Count { array: ArrayId, at: SizeId },
    /// Arithmetic.
    Op(SizeOp, SizeId, SizeId),
}

/// The place of a count in its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountPlace {
    At(u32),
    /// The last entry.
    Last,
    /// Any other index.
    Computed,
}

/// Number of elements of an array: see [`Extent`](super::extent::Extent).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) struct ExtentDef {
    size: SizeId,
    whole: bool,
}

/// The references of a program: numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ByNumber;

impl Refs for ByNumber {
    type Expr = ExprId;
    type Array = ArrayId;
    type Extent = ExtentDef;
    type Size = SizeId;
    type Param = ScalarId;
    type Check = CheckId;
    type Function = FunctionId;
}

/// An expression of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) struct ExprDef {
    pub(in crate::graph) kind: ExprKind<ByNumber>,
    pub(in crate::graph) dtype: DType,
}

/// An input array of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) struct InputDef {
    pub(crate) dtype: DType,
    /// Whether the array depends on conditions.
    #[cfg_attr(feature = "saved", serde(skip))]
    pub(crate) fallible: bool,
    /// Whether the array's GPU storage extends to a multiple of 16 bytes.
    #[cfg_attr(feature = "saved", serde(skip))]
    pub(crate) is_vector_padded: bool,
}

impl InputDef {
    fn with_extent(&self, extent: Extent) -> InputForm {
        InputForm { dtype: self.dtype, extent, fallible: self.fallible, vector_padded: self.is_vector_padded }
    }
}

/// An array of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum ArrayDef {
    /// An input array.
    Input(InputDef),
    /// A computed array.
    Computed {
        dtype: DType,
        /// The operation that recorded it.
        op: NameId,
        /// Whether the array depends on conditions.
        #[cfg_attr(feature = "saved", serde(skip))]
        fallible: bool,
        extent: ExtentDef,
        /// Conditions that must hold for the array.
        #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
        asserts: Box<[ArrayId]>,
        /// Boxed, as files may have many inputs, which are small.
        recipe: Box<Recipe<ByNumber>>,
    },
}

/// The computation of a recording, without the values of its sizes and of the user's numbers, and without data.
#[derive(Debug, Default)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) struct Program {
    /// Hash of the following fields, computed once.
    #[cfg_attr(feature = "saved", serde(skip))]
    hash: u64,
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(in crate::graph) sizes: Vec<SizeDef>,
    /// The scalar parameters. Each use of a number is one, so that a program does not depend on which numbers are equal.
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(in crate::graph) scalars: Vec<ScalarDef>,
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(in crate::graph) exprs: Vec<ExprDef>,
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    pub(in crate::graph) arrays: Vec<ArrayDef>,
    /// The functions of the user.
    #[cfg_attr(feature = "saved", serde(skip))]
    pub(in crate::graph) functions: Vec<Arc<FunctionDef>>,
    /// The names of the operations that recorded arrays.
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    names: Vec<Box<str>>,
    #[cfg_attr(feature = "saved", serde(deserialize_with = "crate::graph::saved_list::deserialize"))]
    outputs: Vec<ArrayId>,
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.outputs == other.outputs
            && self.sizes == other.sizes
            && self.scalars == other.scalars
            && self.exprs == other.exprs
            && self.arrays == other.arrays
            && self.functions == other.functions
            && self.names == other.names
    }
}
impl Eq for Program {}
impl Hash for Program {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Program {
    /// The outputs, in the order of the request.
    pub(crate) fn outputs(&self) -> &[ArrayId] {
        &self.outputs
    }

    /// All arrays.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = (ArrayId, &ArrayDef)> {
        (0..).map(ArrayId).zip(&self.arrays)
    }

    /// Size, dtype and extent of a computed array; `None` for an input.
    pub(crate) fn computed(&self, array: ArrayId) -> Option<(SizeId, DType, ExtentDef)> {
        match &self.arrays[array.index()] {
            ArrayDef::Computed { extent, dtype, .. } => Some((extent.size, *dtype, *extent)),
            ArrayDef::Input(_) => None,
        }
    }

    /// All sizes.
    pub(crate) fn sizes(&self) -> &[SizeDef] {
        &self.sizes
    }

    /// The numbers of the sizes that are counts.
    pub(crate) fn counts(&self) -> Vec<SizeId> {
        let is_count = |(_, def): &(SizeId, &SizeDef)| matches!(def, SizeDef::Count { .. });
        (0..).map(SizeId).zip(&self.sizes).filter(is_count).map(|(id, _)| id).collect()
    }

    /// Recomputes the sizes that are arithmetic over other sizes.
    pub(crate) fn recompute(&self, run: &mut RunTable) {
        for (k, def) in self.sizes.iter().enumerate() {
            if let SizeDef::Op(op, a, b) = def {
                let (a, b) = (run.value(a.index()), run.value(b.index()));
                run.sizes[k].bound = op.apply_noting(a, b, &mut run.saturates);
            }
        }
    }

    /// The counts that a size contains.
    pub(crate) fn counts_in(&self, size: SizeId) -> Vec<SizeId> {
        let (mut out, mut stack, mut seen) = (Vec::new(), vec![size], HashSet::new());
        while let Some(size) = stack.pop() {
            match self.sizes[size.index()] {
                SizeDef::Count { .. } if !out.contains(&size) => out.push(size),
                SizeDef::Op(_, a, b) if seen.insert(size) => stack.extend([a, b]),
                _ => {}
            }
        }
        out
    }

    /// The array that holds a count, and its place there.
    pub(crate) fn count_location(&self, count: SizeId) -> Option<(ArrayId, CountPlace)> {
        let SizeDef::Count { array, at } = self.sizes[count.index()] else { return None };
        let size = |id: SizeId| &self.sizes[id.index()];
        let place = match size(at) {
            SizeDef::Const(at) => CountPlace::At(*at),
            SizeDef::Op(SizeOp::Sub, len, one)
                if (size(*len), size(*one)) == (&SizeDef::Len(array), &SizeDef::Const(1)) =>
            {
                CountPlace::Last
            }
            _ => CountPlace::Computed,
        };
        Some((array, place))
    }

    /// The direct inputs of an array.
    pub(crate) fn inputs(&self, array: ArrayId) -> Vec<ArrayId> {
        let ArrayDef::Computed { extent, asserts, recipe, .. } = &self.arrays[array.index()] else {
            return Vec::new();
        };
        let mut out = asserts.to_vec();
        let (mut sizes, mut exprs) = (vec![extent.size], Vec::new());
        recipe.visit(&mut |part| match part {
            Reference::Expr(e) => exprs.push(*e),
            Reference::Array(a) => out.push(*a),
            Reference::Extent(x) => sizes.push(x.size),
            Reference::Size(s) => sizes.push(*s),
            Reference::Check(_) => {}
        });
        let mut seen = HashSet::new();
        while let Some(e) = exprs.pop() {
            if !seen.insert(e) {
                continue;
            }
            let kind = &self.exprs[e.0 as usize].kind;
            match kind {
                ExprKind::Load(a, _) | ExprKind::RowOf(a, _) | ExprKind::Within(a, ..) => out.push(*a),
                ExprKind::Size(s) => sizes.push(*s),
                _ => {}
            }
            exprs.extend(kind.operands());
        }
        let mut shared = HashSet::new();
        while let Some(size) = sizes.pop() {
            match self.sizes[size.index()] {
                SizeDef::Count { array, at } => {
                    out.push(array);
                    sizes.push(at);
                }
                SizeDef::Len(array) => out.push(array),
                SizeDef::Op(_, a, b) if shared.insert(size) => sizes.extend([a, b]),
                SizeDef::Op(..) => {}
                SizeDef::Const(_) | SizeDef::Input => {}
            }
        }
        out
    }

    /// The array, and its direct and indirect inputs.
    pub(crate) fn needed_for(&self, array: ArrayId) -> HashSet<ArrayId> {
        let (mut seen, mut stack) = (HashSet::new(), vec![array]);
        while let Some(array) = stack.pop() {
            if seen.insert(array) {
                stack.extend(self.inputs(array));
            }
        }
        seen
    }

    /// Whether the array and its direct and indirect inputs are at most `most` arrays.
    pub(crate) fn needs_at_most(&self, array: ArrayId, most: usize) -> bool {
        let (mut seen, mut stack) = (HashSet::new(), vec![array]);
        while let Some(array) = stack.pop() {
            if seen.insert(array) {
                if seen.len() > most {
                    return false;
                }
                stack.extend(self.inputs(array));
            }
        }
        true
    }

    /// Computes the hash: fast, without resistance to chosen inputs. Programs whose hashes collide are distinguished by
    /// comparison.
    fn hashed(mut self) -> Self {
        let mut hash = 0u64;
        let mut hasher = WordHasher(|word: u64| {
            hash = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        });
        (&self.sizes, &self.scalars, &self.exprs, &self.arrays, &self.functions, &self.names, &self.outputs)
            .hash(&mut hasher);
        self.hash = hash;
        self
    }
}
