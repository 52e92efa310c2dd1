//! Fused multiply-adds in the assembly of a pipeline.

/// The multiply-adds of a pipeline.
#[derive(Default)]
pub(super) struct Fused {
    /// Number of those that convert an integer, exactly.
    pub(super) exact: usize,
    /// All others.
    pub(super) others: Vec<String>,
}

/// Whether the instruction multiplies and adds floats.
fn is_multiply_add(name: &str) -> bool {
    let name = name.trim_start_matches("v_").trim_start_matches("dual_").trim_start_matches("pk_");
    let Some((operation, ty)) = name.split_once('_') else { return false };
    let is_float = ["f16", "f32", "f64", "legacy", "mix"].iter().any(|t| ty.starts_with(t));
    is_float && ["fma", "fmac", "fmaak", "fmamk", "mad", "mac", "madak", "madmk"].contains(&operation)
}

/// The multiply-adds of an assembly text.
pub(super) fn fused(assembly: &str) -> Fused {
    let mut out = Fused::default();
    for line in assembly.lines().map(|line| line.split(';').next().unwrap_or_default()) {
        let names = line.split_whitespace().filter(|word| word.starts_with("v_"));
        for _ in names.filter(|name| is_multiply_add(name)) {
            // The halves of an integer: `high * 65536 + low`, rounded once in either way.
            if line.contains("0x47800000") {
                out.exact += 1;
            } else {
                out.others.push(line.trim().to_owned());
            }
        }
    }
    out
}
