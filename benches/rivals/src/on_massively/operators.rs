//! Operators that massively's kernels are compiled with.

use cubecl::prelude::*;
use massively::op::{BinaryPredicateOp, ExpandOp, PredicateOp, ReductionOp, UnaryOp};
use massively::{MFlag, flag};

pub struct Add;
#[cubecl::cube]
impl ReductionOp<f32> for Add {
    fn apply(lhs: f32, rhs: f32) -> f32 {
        lhs + rhs
    }
}

pub struct AddFour;
#[cubecl::cube]
impl ReductionOp<(f32, f32, f32, f32)> for AddFour {
    fn apply(lhs: (f32, f32, f32, f32), rhs: (f32, f32, f32, f32)) -> (f32, f32, f32, f32) {
        (lhs.0 + rhs.0, lhs.1 + rhs.1, lhs.2 + rhs.2, lhs.3 + rhs.3)
    }
}

pub struct AddWords;
#[cubecl::cube]
impl ReductionOp<u32> for AddWords {
    fn apply(lhs: u32, rhs: u32) -> u32 {
        lhs + rhs
    }
}

pub struct Max;
#[cubecl::cube]
impl ReductionOp<f32> for Max {
    fn apply(lhs: f32, rhs: f32) -> f32 {
        lhs.max(rhs)
    }
}

/// A sum divided by the number of values. The inputs are the sum and the row's start and end.
pub struct Mean;
#[cubecl::cube]
impl UnaryOp<(f32, u32, u32)> for Mean {
    type Output = f32;

    fn apply(input: (f32, u32, u32)) -> f32 {
        input.0 / f32::cast_from(input.2 - input.1)
    }
}

pub struct Affine;
#[cubecl::cube]
impl UnaryOp<f32> for Affine {
    type Output = f32;

    fn apply(input: f32) -> f32 {
        input * 2.0 + 1.0
    }
}

pub struct AddPair;
#[cubecl::cube]
impl UnaryOp<(f32, f32)> for AddPair {
    type Output = f32;

    fn apply(input: (f32, f32)) -> f32 {
        input.0 + input.1
    }
}

pub struct ExpOfDifference;
#[cubecl::cube]
impl UnaryOp<(f32, f32)> for ExpOfDifference {
    type Output = f32;

    fn apply(input: (f32, f32)) -> f32 {
        (input.0 - input.1).exp()
    }
}

pub struct Quotient;
#[cubecl::cube]
impl UnaryOp<(f32, f32)> for Quotient {
    type Output = f32;

    fn apply(input: (f32, f32)) -> f32 {
        input.0 / input.1
    }
}

/// The positions of a row's last eight values, from its start and end.
pub struct LastEight;
#[cubecl::cube]
impl ExpandOp<(u32, u32)> for LastEight {
    type Output = u32;

    fn count(input: (u32, u32)) -> u32 {
        (input.1 - input.0).min(8u32)
    }

    fn generate(input: (u32, u32), local_index: u32) -> u32 {
        input.1 - (input.1 - input.0).min(8u32) + local_index
    }
}

/// All positions of a row.
pub struct Whole;
#[cubecl::cube]
impl ExpandOp<(u32, u32)> for Whole {
    type Output = u32;

    fn count(input: (u32, u32)) -> u32 {
        input.1 - input.0
    }

    fn generate(input: (u32, u32), local_index: u32) -> u32 {
        input.0 + local_index
    }
}

/// All positions of a row, twice.
pub struct Twice;
#[cubecl::cube]
impl ExpandOp<(u32, u32)> for Twice {
    type Output = u32;

    fn count(input: (u32, u32)) -> u32 {
        (input.1 - input.0) * 2u32
    }

    fn generate(input: (u32, u32), local_index: u32) -> u32 {
        input.0 + local_index % (input.1 - input.0)
    }
}

/// The position of a column in a row, from the row's start and end; arbitrary if the row has no such column.
pub struct PlaceOrFirst;
#[cubecl::cube]
impl UnaryOp<(u32, u32, u32)> for PlaceOrFirst {
    type Output = u32;

    fn apply(input: (u32, u32, u32)) -> u32 {
        select(input.0 + input.2 < input.1, input.0 + input.2, 0u32)
    }
}

/// Whether the row has the column.
pub struct IsInside;
#[cubecl::cube]
impl UnaryOp<(u32, u32, u32)> for IsInside {
    type Output = u32;

    fn apply(input: (u32, u32, u32)) -> u32 {
        select(input.0 + input.2 < input.1, 1u32, 0u32)
    }
}

pub struct ValueOrZero;
#[cubecl::cube]
impl UnaryOp<(f32, u32)> for ValueOrZero {
    type Output = f32;

    fn apply(input: (f32, u32)) -> f32 {
        select(input.1 == 1u32, input.0, 0.0f32)
    }
}

pub struct AboveHalf;
#[cubecl::cube]
impl PredicateOp<f32> for AboveHalf {
    fn apply(input: f32) -> MFlag {
        flag::from_bool(input > 0.5)
    }
}

pub struct Above511;
#[cubecl::cube]
impl UnaryOp<u32> for Above511 {
    type Output = MFlag;

    fn apply(input: u32) -> MFlag {
        flag::from_bool(input > 511u32)
    }
}

pub struct Less;
#[cubecl::cube]
impl BinaryPredicateOp<f32> for Less {
    fn apply(lhs: f32, rhs: f32) -> MFlag {
        flag::from_bool(lhs < rhs)
    }
}

pub struct LessWords;
#[cubecl::cube]
impl BinaryPredicateOp<u32> for LessWords {
    fn apply(lhs: u32, rhs: u32) -> MFlag {
        flag::from_bool(lhs < rhs)
    }
}
