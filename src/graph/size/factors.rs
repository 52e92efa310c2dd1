//! Sizes as products.

use super::op::SizeOp;
use super::{Size, SizeKind};

/// `(a + k) - k`.
fn less<'a>(sum: &'a Size, k: &Size) -> Option<&'a Size> {
    match sum.kind() {
        Some(SizeKind::Op(SizeOp::Add, a, b)) if b == k => Some(a),
        Some(SizeKind::Op(SizeOp::Add, a, b)) if a == k => Some(b),
        _ => None,
    }
}

/// The factors of a size: a constant, and sizes that are no products.
///
/// Sizes are those of dimensions, of which none is 0 where an element exists: `max(n, 1)` has the factors of `n`.
#[derive(Debug, Clone)]
pub(crate) struct Factors {
    constant: u64,
    sizes: Vec<Size>,
}

impl Factors {
    pub(crate) fn of(size: &Size) -> Self {
        let mut out = Self { constant: 1, sizes: Vec::new() };
        let mut stack = vec![size];
        while let Some(size) = stack.pop() {
            match size.kind() {
                None => out.constant = out.constant.saturating_mul(size.as_const().unwrap_or(1).max(1).into()),
                Some(SizeKind::Op(SizeOp::Mul, a, b)) => stack.extend([a, b]),
                Some(SizeKind::Op(SizeOp::Max, a, Size::Const(1)) | SizeKind::Op(SizeOp::Max, Size::Const(1), a)) => {
                    stack.push(a);
                }
                Some(SizeKind::Op(SizeOp::Sub, a, k)) if less(a, k).is_some() => stack.extend(less(a, k)),
                Some(_) => out.sizes.push(size.clone()),
            }
        }
        out
    }

    /// The constant, and the product of the other factors.
    pub(crate) fn parts(&self) -> (u64, Size) {
        (self.constant, self.sizes.iter().fold(Size::Const(1), |product, size| product.mul(size)))
    }

    /// Numbers by which products are ordered such that each comes after those that it is a multiple of.
    pub(crate) fn order(&self) -> (usize, u64) {
        (self.sizes.len(), self.constant)
    }

    /// The quotient, if the product contains all factors of `by`.
    pub(crate) fn exact(&self, by: &Size) -> Option<Size> {
        let by = Self::of(by);
        let mut sizes = self.sizes.clone();
        for size in &by.sizes {
            let at = sizes.iter().position(|own| own == size)?;
            sizes.swap_remove(at);
        }
        let constant = self.constant.is_multiple_of(by.constant).then_some(self.constant / by.constant)?;
        let constant = Size::Const(u32::try_from(constant).ok()?);
        Some(sizes.iter().fold(constant, |product, size| product.mul(size)))
    }

    /// Whether both products have the same factors.
    pub(crate) fn are_same(a: &Size, b: &Size) -> bool {
        Self::of(a).exact(b) == Some(Size::Const(1))
    }
}
