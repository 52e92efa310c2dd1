//! Numbers of the definitions of a program.

/// The number of an array in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ArrayId(pub(in crate::graph) u32);

/// The number of an expression in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ExprId(pub(in crate::graph) u32);

/// The number of a size in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SizeId(pub(in crate::graph) u32);

/// The number of a scalar parameter in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ScalarId(pub(in crate::graph) u32);

/// The number of a check in a program, and in its [`Locations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct CheckId(pub(in crate::graph) u32);

/// The number of a function of the user in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct FunctionId(pub(in crate::graph) u32);

/// The number of a name in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "saved", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct NameId(pub(in crate::graph) u32);

impl ArrayId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl ExprId {
    pub(in crate::graph) fn index(self) -> usize {
        self.0 as usize
    }
}

impl SizeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl ScalarId {
    pub(in crate::graph) fn index(self) -> usize {
        self.0 as usize
    }
}

impl FunctionId {
    pub(in crate::graph) fn index(self) -> usize {
        self.0 as usize
    }
}

impl CheckId {
    pub(in crate::graph) fn index(self) -> usize {
        self.0 as usize
    }
}
