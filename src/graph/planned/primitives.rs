//! The primitives of plans.

use super::InPlan;
use crate::graph::primitive;

/// What computes an array of a plan.
pub(crate) type Recipe = primitive::Recipe<InPlan>;
/// The rows of a primitive of a plan.
pub(crate) type Rows = primitive::Rows<InPlan>;
/// The rows that a primitive of a plan iterates over.
pub(crate) type RowDomain = primitive::RowDomain<InPlan>;
