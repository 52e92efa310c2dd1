//! Rewrites a kernel's WGSL so that it can access arrays that exceed one binding.
//!
//! Templates and generated code know an array by one name and index it by element position. An array may take several
//! bindings, or be bound only in part. For these arrays a final pass rewrites the kernel's text, so that no earlier
//! stage needs to know:
//!
//! ```wgsl
//! @group(0) @binding(1) var<storage, read> b0: array<f32>;      // becomes b0_w0, b0_w1, ...
//! x = b0[i + 1u];                                               // becomes x = b0_load(i + 1u);
//! out[i] = x;                                                   // becomes out_store(i, x);
//! atomicOr(&out[i], x);                                         // becomes out_atomicOr(i, x);
//! ```
//!
//! A window holds a power of two of elements: the upper bits of a position select the window, the lower bits the
//! element in it. The rewritten text no longer declares the arrays' own names, so an access that the pass missed is a
//! compile error (an undeclared name).
//!
//! Where arrays are bound in part, the kernel gets further parameters after its own. The first is the first tile of the
//! dispatch, to which the workgroup's index is added. For each such array follow the first bound element and the number
//! of bound elements.

use std::fmt::Write;

use super::layout::layout;
use super::map::MAP_TILE;

/// How the rewritten text accesses an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Unchanged: the array fits one binding.
    Whole,
    /// All windows of the array, this many.
    Windows(u32),
    /// One window: the positions that the dispatch covers. A storage word holds `lanes` elements.
    Own { lanes: u32 },
    /// A part of the array, in `windows` windows. A store outside the part is dropped; a load outside it gives 0.
    Part { windows: u32, fetched: Fetched },
}

/// Which loads outside the bound part of an array mark the invocation as *missed*. An invocation that missed stores
/// nothing, unless the kernel handles misses itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fetched {
    /// None.
    Never,
    /// The latest load only.
    Latest,
    /// Every load.
    All,
}

impl Fetched {
    /// Whether a load may mark the invocation as missed.
    pub(super) fn may_miss(self) -> bool {
        self != Self::Never
    }
}

/// The kernel's text with each array accessed as `reaches` says.
///
/// With `stores_all`, an invocation stores even if it missed a load.
pub(super) fn changed(kernel: &str, reaches: &[Reach], max_binding: u64, stores_all: bool) -> String {
    let mut arrays = Vec::new();
    let mut text = String::with_capacity(kernel.len() * 2);
    let mut accessors = String::new();
    let mut body = String::with_capacity(kernel.len());
    let mut place = 0;
    let mut vector = own_vectors(kernel);
    let in_parts = reaches.iter().any(|r| matches!(r, Reach::Part { .. }));
    let fetches = reaches.iter().any(|r| matches!(r, Reach::Part { fetched, .. } if fetched.may_miss()));
    if in_parts {
        writeln!(accessors, "fn rg_first_tile() -> u32 {{\n    return p.scalars[{vector}].x;\n}}").expect("text");
    }
    // Entry points share the module's functions, so one that fetches nothing may still need this declaration.
    if fetches || kernel.contains("rg_missed") {
        accessors.push_str("var<private> rg_missed: bool;\n");
    }
    for line in kernel.lines() {
        let Some(declared) = Declaration::parse(line) else {
            body.push_str(line);
            body.push('\n');
            continue;
        };
        let Declaration { access, name, ty, binding } = declared;
        let mut declare = |name: &str| {
            place += 1;
            writeln!(text, "@group(0) @binding({place}) var<storage, {access}> {name}: {ty};").expect("text");
        };
        let reach = reaches[binding - 1];
        match reach {
            Reach::Whole | Reach::Own { .. } => declare(name),
            Reach::Windows(n) => {
                (0..n).for_each(|k| declare(&format!("{name}_w{k}")));
                declared.accessors(n, max_binding, kernel, &mut accessors);
            }
            Reach::Part { windows, fetched } => {
                (0..windows).for_each(|k| declare(&format!("{name}_w{k}")));
                vector += 1;
                declared.part_accessors(
                    (windows, fetched),
                    (vector, fetches && !stores_all),
                    max_binding,
                    kernel,
                    &mut accessors,
                );
            }
        }
        if reach != Reach::Whole {
            arrays.push((name, reach));
        }
    }
    if in_parts {
        let vectors = |n: usize| format!("scalars: array<vec4<u32>, {n}>");
        body = body.replacen(&vectors(own_vectors(kernel)), &vectors(vector + 1), 1);
        body = body.replace("wid.x + wid.y * ", "rg_first_tile() + wid.x + wid.y * ");
    }
    rewrite(&body, &arrays, &mut text);
    text.push_str(&accessors);
    text
}

/// Number of parameter vectors of the kernel, after the template's own.
fn own_vectors(kernel: &str) -> usize {
    let number = |(_, rest): (&str, &str)| rest.split_once('>')?.0.parse().ok();
    kernel.split_once("scalars: array<vec4<u32>, ").and_then(number).unwrap_or(0)
}

/// A storage array as [`Module::finish`](super::codegen::Module::finish) declares it.
#[derive(Debug, Clone, Copy)]
struct Declaration<'a> {
    binding: usize,
    access: &'a str,
    name: &'a str,
    /// `array<element>`.
    ty: &'a str,
}

impl<'a> Declaration<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let rest = line.strip_prefix("@group(0) @binding(")?;
        let (binding, rest) = rest.split_once(") var<storage, ")?;
        let (access, rest) = rest.split_once("> ")?;
        let (name, ty) = rest.strip_suffix(';')?.split_once(": ")?;
        Some(Self { binding: binding.parse().ok()?, access, name, ty })
    }

    /// Types of the elements and of their values; they differ for atomics.
    fn element(&self) -> (&'a str, &'a str) {
        let element = self.ty.strip_prefix("array<").and_then(|t| t.strip_suffix('>')).unwrap_or("u32");
        (element, element.strip_prefix("atomic<").and_then(|t| t.strip_suffix('>')).unwrap_or(element))
    }

    /// The statement that applies `each` to element `at`, in whichever window holds it.
    fn choice(&self, windows: u32, max_binding: u64, text: &str, each: &dyn Fn(&str) -> String) -> String {
        let name = self.name;
        if windows == 1 {
            return each(&format!("{name}_w0[at]"));
        }
        let bits = (max_binding / layout(self.element().1, text).0).ilog2();
        let mask = (1u64 << bits) - 1;
        let mut out = format!("switch (at >> {bits}u) {{\n");
        for w in 0..windows {
            let case = if w + 1 == windows { "default".into() } else { format!("case {w}u") };
            writeln!(out, "        {case}: {{ {} }}", each(&format!("{name}_w{w}[at & {mask}u]"))).expect("text");
        }
        out.push_str("    }");
        out
    }

    /// Adds the functions that access the array's elements.
    fn accessors(&self, windows: u32, max_binding: u64, text: &str, out: &mut String) {
        let (name, (element, value)) = (self.name, self.element());
        let choice = |each: &dyn Fn(&str) -> String| self.choice(windows, max_binding, text, each);
        let mut add = |function: String| out.push_str(&function);
        if element != value {
            for f in ["atomicStore", "atomicOr"] {
                let body = choice(&|x| format!("{f}(&{x}, v);"));
                add(format!("fn {name}_{f}(at: u32, v: {value}) {{\n    {body}\n}}\n"));
            }
            return;
        }
        let body = choice(&|x| format!("v = {x};"));
        add(format!("fn {name}_load(at: u32) -> {value} {{\n    var v: {value};\n    {body}\n    return v;\n}}\n"));
        if self.access == "read_write" {
            let body = choice(&|x| format!("{x} = v;"));
            add(format!("fn {name}_store(at: u32, v: {value}) {{\n    {body}\n}}\n"));
        }
    }

    /// As [`Self::accessors`], for an array that is bound in part. Parameter vector `vector` holds the part's first
    /// element and its length.
    fn part_accessors(
        &self,
        (windows, fetched): (u32, Fetched),
        (vector, is_guarded): (usize, bool),
        max_binding: u64,
        text: &str,
        out: &mut String,
    ) {
        let (name, (_, value)) = (self.name, self.element());
        let choice = |each: &dyn Fn(&str) -> String| self.choice(windows, max_binding, text, each);
        let mut add = |function: String| out.push_str(&function);
        let (first, len) = (format!("p.scalars[{vector}].x"), format!("p.scalars[{vector}].y"));
        add(format!("fn {name}_first() -> u32 {{\n    return {first};\n}}\n"));
        add(format!("fn {name}_len() -> u32 {{\n    return {len};\n}}\n"));
        let note = match fetched {
            Fetched::Never => String::new(),
            Fetched::Latest => format!("    rg_missed = at >= {len};\n"),
            Fetched::All => format!("    rg_missed = rg_missed || at >= {len};\n"),
        };
        let body = choice(&|x| format!("v = {x};"));
        add(format!(
            "fn {name}_load(i: u32) -> {value} {{\n    let at = i - {first};\n{note}    var v: {value};\n    \
             if (at < {len}) {{\n    {body}\n    }}\n    return v;\n}}\n"
        ));
        if self.access == "read_write" {
            let found = if is_guarded { " && !rg_missed" } else { "" };
            let body = choice(&|x| format!("{x} = v;"));
            add(format!(
                "fn {name}_store(i: u32, v: {value}) {{\n    let at = i - {first};\n    \
                 if (at < {len}{found}) {{\n    {body}\n    }}\n}}\n"
            ));
        }
    }
}

/// Bytes per element of each array that a kernel declares, in binding order.
pub(super) fn element_sizes(kernel: &str) -> Vec<u64> {
    let declared = kernel.lines().filter_map(Declaration::parse);
    declared.map(|d| layout(d.element().1, kernel).0).collect()
}

/// Appends the text to `out` with every access to `arrays` rewritten.
fn rewrite(text: &str, arrays: &[(&str, Reach)], out: &mut String) {
    let mut rest = text;
    while let Some((at, what)) = next_access(rest, arrays) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let Access::Element(name, reach) = what else {
            let end = tail.find('\n').unwrap_or(tail.len());
            out.push_str(&tail[..end]);
            rest = &tail[end..];
            continue;
        };
        let open = name.len();
        let close = open + closing(&tail[open..]);
        let (index, after) = (&tail[open + 1..close], &tail[close + 1..]);
        rest = after;
        if let Reach::Own { lanes } = reach {
            write!(out, "{name}[(").expect("text");
            rewrite(index, arrays, out);
            write!(out, ") - p.head[1].x * {}u]", MAP_TILE / lanes).expect("text");
        } else if let Some(head) = out.strip_suffix("(&") {
            // The call's remaining arguments follow unchanged.
            let f = head.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |k| k + 1);
            let f = head[f..].to_owned();
            out.truncate(out.len() - 2 - f.len());
            write!(out, "{name}_{f}(").expect("text");
            rewrite(index, arrays, out);
        } else if let Some(assigned) = after.strip_prefix(" = ") {
            let end = assigned.find(';').unwrap_or(assigned.len());
            write!(out, "{name}_store(").expect("text");
            rewrite(index, arrays, out);
            out.push_str(", ");
            rewrite(&assigned[..end], arrays, out);
            out.push(')');
            rest = &assigned[end..];
        } else {
            write!(out, "{name}_load(").expect("text");
            rewrite(index, arrays, out);
            out.push(')');
        }
    }
    out.push_str(rest);
}

enum Access<'a> {
    /// An element of the named array.
    Element(&'a str, Reach),
    Comment,
}

/// Offset of the next access to one of the arrays, or of the next comment.
fn next_access<'a>(text: &str, arrays: &[(&'a str, Reach)]) -> Option<(usize, Access<'a>)> {
    let is_name = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"//") {
            return Some((at, Access::Comment));
        }
        if is_name(bytes[at]) {
            let len = bytes[at..].iter().take_while(|c| is_name(**c)).count();
            let name = &text[at..at + len];
            if bytes.get(at + len) == Some(&b'[')
                && let Some(&(name, reach)) = arrays.iter().find(|a| a.0 == name)
            {
                return Some((at, Access::Element(name, reach)));
            }
            at += len;
        } else {
            at += 1;
        }
    }
    None
}

/// Offset of the bracket that closes the one at the start of the text.
fn closing(text: &str) -> usize {
    let mut depth = 0u32;
    for (at, c) in text.bytes().enumerate() {
        match c {
            b'[' => depth += 1,
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "\
fn main(i: u32) {
    // out[i] is b0[i]
    out[b0[i] + 1u] = f(b0[i + b0[2u]], out_of[i]);
    atomicOr(&packed[b1[i] >> 2u], b0[0u] << 3u);
}
alias Elem = u64;
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<Elem>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@group(0) @binding(4) var<storage, read_write> packed: array<atomic<u32>>;
";

    #[test]
    fn accesses_become_calls_and_comments_stay() {
        let reaches = [Reach::Windows(2), Reach::Own { lanes: 1 }, Reach::Windows(2), Reach::Windows(3)];
        let text = changed(KERNEL, &reaches, 8 << 10, true);
        assert!(text.contains("    // out[i] is b0[i]\n"), "{text}");
        assert!(text.contains("out_store(b0_load(i) + 1u, f(b0_load(i + b0_load(2u)), out_of[i]));\n"), "{text}");
        assert!(text.contains("packed_atomicOr(b1[(i) - p.head[1].x * 1024u] >> 2u, b0_load(0u) << 3u);\n"), "{text}");
        assert!(text.contains("@group(0) @binding(3) var<storage, read> b1: array<Elem>;"), "{text}");
        assert!(text.contains("@group(0) @binding(8) var<storage, read_write> packed_w2: array<atomic<u32>>;"));
        assert!(text.contains("default: { atomicOr(&packed_w2[at & 2047u], v); }"), "{text}");
        // 8 KiB are 2,048 words.
        assert!(text.contains("switch (at >> 11u) {\n        case 0u: { v = b0_w0[at & 2047u]; }"), "{text}");
    }

    #[test]
    fn arrays_say_what_they_hold() {
        assert_eq!(element_sizes(KERNEL), [4, 8, 4, 4]);
    }
}
