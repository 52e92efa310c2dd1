//! Arithmetic on sizes.

/// Arithmetic on sizes: u32, saturating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "saved",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case", deny_unknown_fields)
)]
pub(crate) enum SizeOp {
    Add,
    /// 0 where the second operand is larger.
    Sub,
    Mul,
    /// Rounds down; 0 for a divisor of 0.
    Div,
    Min,
    Max,
}

impl SizeOp {
    /// Applies the operation.
    pub(crate) fn apply(self, a: u32, b: u32) -> u32 {
        self.apply_noting(a, b, &mut false)
    }

    /// As [`Self::apply`]; sets `saturates` if the result saturates.
    pub(crate) fn apply_noting(self, a: u32, b: u32, saturates: &mut bool) -> u32 {
        u32::try_from(self.apply_u64(a.into(), b.into())).unwrap_or_else(|_| {
            *saturates = true;
            u32::MAX
        })
    }
}

impl SizeOp {
    /// The result for constants and identity elements. Each size is given with its value as a constant.
    pub(in crate::graph) fn folded<S: Clone + Eq + From<u32>>(
        self,
        (a, x): (&S, Option<u32>),
        (b, y): (&S, Option<u32>),
    ) -> Option<S> {
        Some(match (self, x, y) {
            (_, Some(x), Some(y)) => self.apply(x, y).into(),
            (Self::Add, Some(0), _) | (Self::Mul, Some(1), _) => b.clone(),
            (Self::Add | Self::Sub, _, Some(0)) | (Self::Mul | Self::Div, _, Some(1)) => a.clone(),
            (Self::Mul, Some(0), _) | (Self::Mul, _, Some(0)) => 0.into(),
            (Self::Min | Self::Max, ..) if a == b => a.clone(),
            _ => return None,
        })
    }

    /// Whether the result is 0 if one of the operands is, whatever the other one is.
    const fn keeps_zero(self) -> bool {
        matches!(self, Self::Mul | Self::Min)
    }

    /// Applies the operation to values as far as they are known.
    pub(in crate::graph) fn apply_known(self, a: Option<u32>, b: Option<u32>) -> Option<u32> {
        match (a, b) {
            (Some(0), _) | (_, Some(0)) if self.keeps_zero() => Some(0),
            (a, b) => Some(self.apply(a?, b?)),
        }
    }

    /// Applies the operation without a limit of 32 bits.
    pub(in crate::graph) fn apply_u64(self, a: u64, b: u64) -> u64 {
        match self {
            Self::Add => a.saturating_add(b),
            Self::Sub => a.saturating_sub(b),
            Self::Mul => a.saturating_mul(b),
            Self::Div => a.checked_div(b).unwrap_or(0),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}

/// Methods for these operations on sizes.
macro_rules! size_operations {
    ($size:ty: $($name:ident $op:ident),*) => {
        impl $size {
            $(pub(crate) fn $name(&self, other: impl Into<Self>) -> Self {
                Self::op(SizeOp::$op, self, &other.into())
            })*
        }
    };
}
pub(in crate::graph) use size_operations;
