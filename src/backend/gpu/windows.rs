//! Arrays larger than a binding may be: bound as several windows, side by side.
//!
//! A template and what is generated for it know an array by one name and index it by positions. Where the array takes
//! several bindings, the kernel's text is changed in this last step, so that nothing above needs to know:
//!
//! ```wgsl
//! @group(0) @binding(1) var<storage, read> b0: array<f32>;      // becomes b0_w0, b0_w1, ...
//! x = b0[i + 1u];                                               // becomes x = b0_load(i + 1u);
//! out[i] = x;                                                   // becomes out_store(i, x);
//! atomicOr(&out[i], x);                                         // becomes out_atomicOr(i, x);
//! ```
//!
//! Windows hold a power of two of elements: the window of a position is its upper bits, its place in there the lower ones.
//! The arrays' own names are gone afterwards, so that an access which was missed is an undeclared name, and no kernel.
//!
//! A map goes through its positions in order. It is cut into several dispatches, each for the positions of one window, so
//! that its output and what it reads at its own position alone take one binding each.
//!
//! Every window takes one of the storage buffers that a kernel may bind, of which there are 8 at the least, and far more on
//! most adapters. The planner counts them, and stores intermediate results where a kernel would bind too many.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use super::codegen::{Binding, elements_per_word};
use super::launch::Launch;
use super::map;
use crate::dtype::DType;
use crate::graph::node::Recipe;
use crate::graph::plan::Step;

/// What is bound at one place: one of the launch's bindings, all of it or the window of these bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of the binding in the launch.
    pub(super) binding: usize,
    pub(super) window: Option<Range<u64>>,
}

/// A launch, or a part of it, with its arrays in windows.
#[derive(Debug)]
pub(super) struct Windowed {
    pub(super) text: Arc<str>,
    /// What to bind, from binding 1 on.
    pub(super) places: Vec<Place>,
    pub(super) params: Vec<u32>,
    pub(super) workgroups: u32,
}

/// How an array is reached in the changed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// As before: it fits a binding.
    Whole,
    /// Its windows side by side.
    Windows(u32),
    /// One window, of the positions that the dispatch goes through: so many words of storage a tile.
    Own { words: u32 },
}

/// The step's launch for arrays of `bytes` bytes each, in the order of its bindings, in several launches where it can be
/// cut. `None` if each array fits a binding.
pub(super) fn split(step: &Step, launch: &Launch, bytes: &[u64]) -> Option<Vec<Windowed>> {
    let limits = step.limits;
    if bytes.iter().all(|&b| limits.windows(b) == 1) {
        return None;
    }
    let at_own = step.at_own_position();
    let map_tile = map::tile(step, launch.params[0]);
    let own_dtype = |b: &Binding| match b {
        Binding::Read(n) => at_own.contains(&n.digest()).then(|| n.dtype()),
        Binding::Output(_) => matches!(step.recipe, Recipe::Map { .. }).then(|| step.out.dtype()),
        _ => None,
    };
    let mut widest = 0;
    let reach = |(b, &bytes): (&Binding, &u64)| match (limits.windows(bytes), own_dtype(b)) {
        (1, _) => Reach::Whole,
        (_, Some(dtype)) => {
            widest = widest.max(dtype.size());
            Reach::Own { words: map_tile / elements_per_word(dtype) }
        }
        (n, None) => Reach::Windows(n),
    };
    let reaches: Vec<Reach> = launch.bindings.iter().zip(bytes).map(reach).collect();
    let window = limits.window_bytes();
    let text: Arc<str> = changed(&launch.text, &reaches, window).into();
    // Tiles of a map that fit a window, whatever the array.
    let tiles = match widest {
        0 => launch.workgroups,
        size => (window / (u64::from(map_tile) * size as u64)) as u32,
    };
    let part = |first: u32| {
        let workgroups = tiles.min(launch.workgroups - first);
        let mut places = Vec::new();
        for (binding, (reach, &bytes)) in reaches.iter().zip(bytes).enumerate() {
            let range = |from: u64, len: u64| Some(from..bytes.min(from + len));
            match *reach {
                Reach::Whole => places.push(Place { binding, window: None }),
                Reach::Windows(n) => {
                    let all = (0..u64::from(n)).map(|k| Place { binding, window: range(k * window, window) });
                    places.extend(all);
                }
                Reach::Own { .. } => {
                    let dtype = own_dtype(&launch.bindings[binding]).map_or(4, DType::size) as u64;
                    let tile = u64::from(map_tile) * dtype;
                    let window = range(u64::from(first) * tile, u64::from(workgroups) * tile);
                    places.push(Place { binding, window });
                }
            }
        }
        let mut params = launch.params.clone();
        if widest > 0 {
            params[FIRST_TILE] = first;
        }
        Windowed { text: text.clone(), places, params, workgroups }
    };
    Some((0..launch.workgroups).step_by(tiles.max(1) as usize).map(part).collect())
}

/// The parameter word in which a map's kernel is told its first tile.
const FIRST_TILE: usize = 4;

/// The text of a kernel with its arrays reached as said.
fn changed(kernel: &str, reaches: &[Reach], window_bytes: u64) -> String {
    let mut arrays = Vec::new();
    let mut text = String::with_capacity(kernel.len() * 2);
    let mut accessors = String::new();
    let mut body = String::with_capacity(kernel.len());
    let mut place = 0;
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
                declared.accessors(n, window_bytes, kernel, &mut accessors);
            }
        }
        if reach != Reach::Whole {
            arrays.push((name, reach));
        }
    }
    rewrite(&body, &arrays, &mut text);
    text.push_str(&accessors);
    text
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

    /// The functions by which the array's elements are reached.
    fn accessors(&self, windows: u32, window_bytes: u64, text: &str, out: &mut String) {
        let Self { name, ty, .. } = *self;
        let element = ty.strip_prefix("array<").and_then(|t| t.strip_suffix('>')).unwrap_or("u32");
        let value = element.strip_prefix("atomic<").and_then(|t| t.strip_suffix('>')).unwrap_or(element);
        let bits = (window_bytes / element_bytes(value, text)).ilog2();
        let mut function = |head: &str, first: &str, each: &dyn Fn(&str) -> String, last: &str| {
            let mask = (1u64 << bits) - 1;
            write!(out, "{head} {{\n{first}    let at = i & {mask}u;\n    switch (i >> {bits}u) {{\n").expect("text");
            for w in 0..windows {
                let case = if w + 1 == windows { "default".into() } else { format!("case {w}u") };
                writeln!(out, "        {case}: {{ {} }}", each(&format!("{name}_w{w}[at]"))).expect("text");
            }
            writeln!(out, "    }}\n{last}}}").expect("text");
        };
        if element != value {
            for f in ["atomicStore", "atomicOr"] {
                let head = format!("fn {name}_{f}(i: u32, v: {value})");
                function(&head, "", &|x| format!("{f}(&{x}, v);"), "");
            }
            return;
        }
        let load = format!("fn {name}_load(i: u32) -> {value}");
        let declared = format!("    var v: {value};\n");
        function(&load, &declared, &|x| format!("v = {x};"), "    return v;\n");
        if self.access == "read_write" {
            function(&format!("fn {name}_store(i: u32, v: {value})"), "", &|x| format!("{x} = v;"), "");
        }
    }
}

/// Bytes of an element in storage, by the name of its type. `Elem` is an alias in the text.
fn element_bytes(ty: &str, text: &str) -> u64 {
    let alias = |name: &str| {
        let (_, rest) = text.split_once(&format!("alias {name} = "))?;
        Some(rest.split_once(';')?.0)
    };
    match ty {
        "u64" | "i64" | "f64" | "vec2<u32>" | "vec2<f32>" => 8,
        "u32" | "i32" | "f32" => 4,
        other => alias(other).map_or(4, |of| element_bytes(of, "")),
    }
}

/// Appends the text to `out` with every access of `arrays` changed.
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
        if let Reach::Own { words } = reach {
            write!(out, "{name}[(").expect("text");
            rewrite(index, arrays, out);
            write!(out, ") - p.head[1].x * {words}u]").expect("text");
        } else if let Some(head) = out.strip_suffix("(&") {
            // The rest of the call's arguments follows as it is.
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
    /// An element of the array of that name.
    Element(&'a str, Reach),
    Comment,
}

/// Where the next access of one of the arrays, or the next comment, starts.
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

/// Where the bracket that the text begins with is closed.
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
        let reaches = [Reach::Windows(2), Reach::Own { words: 1024 }, Reach::Windows(2), Reach::Windows(3)];
        let text = changed(KERNEL, &reaches, 8 << 10);
        assert!(text.contains("    // out[i] is b0[i]\n"), "{text}");
        assert!(text.contains("out_store(b0_load(i) + 1u, f(b0_load(i + b0_load(2u)), out_of[i]));\n"), "{text}");
        assert!(text.contains("packed_atomicOr(b1[(i) - p.head[1].x * 1024u] >> 2u, b0_load(0u) << 3u);\n"), "{text}");
        assert!(text.contains("@group(0) @binding(3) var<storage, read> b1: array<Elem>;"), "{text}");
        assert!(text.contains("@group(0) @binding(8) var<storage, read_write> packed_w2: array<atomic<u32>>;"));
        assert!(text.contains("default: { atomicOr(&packed_w2[at], v); }"), "{text}");
        // 8 KiB are 2,048 words.
        assert!(text.contains("let at = i & 2047u;\n    switch (i >> 11u) {"), "{text}");
    }

    #[test]
    fn elements_are_measured_by_their_alias() {
        assert_eq!(element_bytes("Elem", KERNEL), 8);
        assert_eq!(element_bytes("vec2<u32>", KERNEL), 8);
        assert_eq!(element_bytes("f32", KERNEL), 4);
    }
}
