//! Validation of the user's WGSL, and renaming of its declarations for use inside generated kernels.
//!
//! A kernel contains the text of each function that it calls. The text must therefore be a module of its own that
//! declares functions and constants only: complete declarations, which cannot change the meaning of the text around
//! them. Comments are removed, since one without an end would hide the rest of the kernel. Names are prefixed by a hash
//! of the text without comments, so that they are equal in every process, also for a text that comes back from a file
//! ([`without_prefix`]), and clash with no other name.
//!
//! The validation itself is naga's, and part of the feature `gpu` ([`validator`]).

use super::fault::Fault;
use super::scan::Scanned;
#[cfg(not(feature = "gpu"))]
use super::unvalidated as validator;
#[cfg(feature = "gpu")]
use super::validator;
use crate::dtype::DType;
use crate::graph::digest::Digest;
use crate::graph::function::WgslFunction;

/// Maximum length of a text, in bytes.
const MAX_LEN: usize = 1 << 16;
/// Assumed iterations of a loop, for the cost.
const ITERATIONS: u32 = 16;

/// The function `name` of the text, with names that may occur in any kernel.
///
/// # Errors
/// Invalid WGSL; declarations other than functions and constants; no function of that name, or one of another
/// signature; functions that are restricted to some kinds of shaders, such as barriers.
pub(super) fn validated(name: &str, text: &str, parameters: &[DType], result: DType) -> Result<WgslFunction, Fault> {
    if text.len() > MAX_LEN {
        return Err(Fault::new(format!("the text has {} bytes; {MAX_LEN} are allowed", text.len())));
    }
    let scanned = Scanned::new(text)?;
    scanned.check_depth()?;
    // The user's own text first: its errors have the user's names.
    validator::check_text(text)?;
    scanned.check_declarations()?;
    let plain = scanned.with_prefix("");
    let prefix = format!("user_{}_", Digest::of("wgsl", plain.trim_end()).short());
    let renamed = format!("{}\n", scanned.with_prefix(&prefix).trim_end());
    // All else is checked in the text of the kernels, which may differ from the user's by a fault of the scan.
    let once = validator::checked_cost(&renamed, &scanned, (&prefix, name), parameters, result)?;
    let cost = if scanned.loops() { once * ITERATIONS } else { once };
    Ok(WgslFunction { text: renamed, entry: format!("{prefix}{name}"), cost })
}

/// A text without the prefix of its names, of which [`validated`] makes the same function again.
#[cfg(feature = "saved")]
pub(super) fn without_prefix(name: &str, wgsl: &WgslFunction) -> String {
    wgsl.entry.strip_suffix(name).map_or_else(|| wgsl.text.clone(), |prefix| wgsl.text.replace(prefix, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ELSE: &str = " else if (x > 2.0) { return 2.0; }";
    const F32: &[DType] = &[DType::F32];

    fn fault(text: &str) -> Fault {
        validated("f", text, F32, DType::F32).map(|f| f.text).expect_err(text)
    }

    #[test]
    fn functions_and_constants_are_renamed() {
        let text =
            "const k = 2.0; // a comment\nfn f(x: f32) -> f32 { return g(x); }\nfn g(x: f32) -> f32 { return k * x; }";
        let f = validated("f", text, F32, DType::F32).expect("valid");
        assert!(f.entry.starts_with("user_") && f.entry.ends_with("_f"), "{}", f.entry);
        assert!(f.text.contains(&format!("fn {}(", f.entry)) && !f.text.contains("comment"), "{}", f.text);
        assert_eq!(f.text.matches("user_").count(), 5, "{}", f.text);
        let again = validated("g", text, F32, DType::F32).expect("valid");
        assert_eq!(f.text, again.text, "two functions of one text share it");
    }

    #[test]
    fn loops_cost_more() {
        let once = "fn f(x: f32) -> f32 { var y = x; { y = y * y; } return y; }";
        let often = "fn f(x: f32) -> f32 { var y = x; for (var i = 0; i < 9; i++) { y = y * y; } return y; }";
        let cost = |text| validated("f", text, F32, DType::F32).expect("valid").cost;
        assert!(cost(once) > 1 && cost(often) > 8 * cost(once));
    }

    #[test]
    fn faults_have_lines() {
        for (line, word, text) in [
            (2, "y", "fn f(x: f32) -> f32 {\n    return y;\n}"),
            (1, "expected", "fn f(x: f32) -> f32 { return x }"),
            (2, "another type", "\nfn f(x: vec2f) -> f32 { return x.x; }"),
            (1, "takes (i32) and gives f32", "fn f(x: i32) -> f32 { return f32(x); }"),
            (1, "gives u32", "fn f(x: f32) -> u32 { return u32(x); }"),
            (1, "gives nothing", "fn f(x: f32) { }"),
            (1, "takes (f32, f32)", "fn f(x: f32, y: f32) -> f32 { return x + y; }"),
            (
                2,
                "barriers",
                "fn f(x: f32) -> f32 { return g(x); }\nfn g(x: f32) -> f32 { workgroupBarrier(); return x; }",
            ),
            (1, "barriers", "fn f(x: f32) -> f32 { return dpdx(x); }"),
            (1, "barriers", "fn f(x: f32) -> f32 { discard; return x; }"),
            (1, "var", "var<private> n: f32;\nfn f(x: f32) -> f32 { n += 1.0; return n; }"),
            (
                1,
                "attributes",
                "@group(0) @binding(0) var<storage> n: array<f32>;\nfn f(x: f32) -> f32 { return n[0]; }",
            ),
            (2, "attributes", "fn f(x: f32) -> f32 { return x; }\n@compute @workgroup_size(1) fn main() {}"),
            (1, "struct", "struct S { x: f32 }\nfn f(x: f32) -> f32 { return S(x).x; }"),
            (1, "too long", &format!("fn f(x: f32) -> f32 {{ return {}x; }}", "(".repeat(9999))),
            (1, "too long", &format!("fn f(x: f32) -> f32 {{ return x{}; }}", "+x".repeat(9999))),
            (1, "too long", &format!("fn f(x: f32) -> f32 {{ return {}x; }}", "- ".repeat(9999))),
            (1, "too long", &format!("fn f(x: f32) -> f32 {{ return x{}; }}", "[0]".repeat(9999))),
            (
                2,
                "too long",
                &format!("fn f(x: f32) -> f32 {{ if (x > 1.0) {{ return x; }}\n{} return x; }}", ELSE.repeat(999)),
            ),
        ] {
            let fault = fault(text);
            assert_eq!(fault.line, Some(line), "{text}: {}", fault.what);
            assert!(fault.what.contains(word), "{text}: {}", fault.what);
        }
        assert!(fault("fn g(x: f32) -> f32 { return x; }").what.contains("declares: g"));
        let many: String = (0..999).map(|k| format!("const c{k} = {k};\n")).collect();
        assert!(fault(&many).what.contains("declarations"));
        let large = "fn f(x: f32) -> f32 { var a = array<f32, 100000000>(); return a[0] + x; }";
        assert!(fault(large).what.contains("8192 bytes"));
        // 8000 bytes per variable, in one function or in two.
        let var = |k: u32| format!("var a{k} = array<f32, 2000>(); a{k}[u32(x)] = x;");
        let two = format!("fn f(x: f32) -> f32 {{ {} {} return a0[1] + a1[1]; }}", var(0), var(1));
        assert!(fault(&two).what.contains("16000 bytes; 8192 are allowed"));
        let apart = format!(
            "fn g(x: f32) -> f32 {{ {} return a0[1]; }}\nfn f(x: f32) -> f32 {{ {} return g(x) + a1[1]; }}",
            var(0),
            var(1)
        );
        assert!(fault(&apart).what.contains("16000 bytes"));
        let one = format!("fn f(x: f32) -> f32 {{ {} return a0[1]; }}", var(0));
        assert!(validated("f", &one, F32, DType::F32).is_ok());
        assert!(fault(&" ".repeat(MAX_LEN + 1)).what.contains("bytes"));
    }

    #[test]
    fn what_a_kernel_cannot_contain_is_refused() {
        for text in [
            // Recursion.
            "fn f(x: f32) -> f32 { return f(x); }",
            // Optional features.
            "fn f(x: f32) -> f32 { return f32(f64(x)); }",
            "fn f(x: f32) -> f32 { return f32(i64(x)); }",
            "enable f16;\nfn f(x: f32) -> f32 { return f32(f16(x)); }",
            "fn f(x: f32) -> f32 { return subgroupAdd(x); }",
            // Names of generated kernels.
            "fn f(x: f32) -> f32 { return f32(p.scalars[0].x) + x; }",
            "fn f(x: f32) -> f32 { return guard_f32(x); }",
            // Unbalanced texts.
            "fn f(x: f32) -> f32 { return x; } }",
            "fn f(x: f32) -> f32 { return x;",
            "return x; } fn f(x: f32) -> f32 { return x;",
        ] {
            fault(text);
        }
    }

    #[test]
    fn the_end_of_a_comment_is_never_missing() {
        // The parser accepts a comment without an end.
        let text = "fn f(x: f32) -> f32 { return x; } /* open";
        if let Ok(f) = validated("f", text, F32, DType::F32) {
            assert!(!f.text.contains("/*"), "{}", f.text);
        }
    }
}
