//! One file per family: maps a case's op to the public call.

use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// How a family's cases are run.
pub struct Family {
    pub run: fn(&Case, &Device) -> Result<Got>,
    /// Whether every case must pass.
    pub claimed: bool,
}

macro_rules! families {
    ($($name:ident)*) => {
        $(mod $name;)*

        /// The family of that name; `None` if it is not supported yet.
        pub fn family(name: &str) -> Option<Family> {
            match name {
                $(stringify!($name) => Some(Family { run: $name::run, claimed: $name::CLAIMED }),)*
                _ => None,
            }
        }
    };
}

families! {
    accessors
    binary
    bincount
    concat
    construct
    convert
    cross
    cumsum
    gather
    getitem
    grad
    hash
    lod
    mask
    matmul
    range
    reduce
    shape_ops
    softmax
    sparse
    strings
    structured
    tile
    segment
    unary
    unicode
}

/// Whether the case's operation runs on the host.
pub fn is_host_step(family: &str, case: &Case) -> bool {
    family == "strings" && strings::is_host_step(case)
}
