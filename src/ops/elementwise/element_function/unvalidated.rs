//! WGSL of element functions in a build without GPU backend: nothing runs it, and only its declarations are checked.

use super::fault::Fault;
use super::scan::Scanned;
use crate::dtype::DType;

/// Tokens of a text per operation, for the cost.
const TOKENS: usize = 8;

/// Accepts any text.
pub(super) fn check_text(_: &str) -> Result<(), Fault> {
    Ok(())
}

/// Estimated operations of one call, from the length of the text.
///
/// # Errors
/// No function or constant of that name.
pub(super) fn checked_cost(
    _: &str,
    scanned: &Scanned<'_>,
    (_, name): (&str, &str),
    _: &[DType],
    _: DType,
) -> Result<u32, Fault> {
    let names = scanned.names();
    if !names.contains(name) {
        let names: Vec<&str> = names.into_iter().collect();
        return Err(Fault::new(format!("the text declares no function {name}; it declares: {}", names.join(", "))));
    }
    Ok((scanned.len() / TOKENS).clamp(1, 1 << 16) as u32)
}
