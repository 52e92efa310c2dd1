//! Declares the storage arrays of a kernel, and the functions that access their elements.
//!
//! Templates and generated code access an array `x` through functions only. The array's variables have other names, so
//! that no other text can index them directly:
//!
//! ```wgsl
//! load_x(i)       // element i
//! store_x(i, v)   // unless the array is only read
//! or_x(i, v)      // arrays of atomics: atomic `or`, `max` and `add`, instead of loads and stores
//! max_x(i, v)
//! add_x(i, v)
//! ```
//!
//! How a dispatch binds the array ([`Windowing`]) changes only the declaration and the bodies of these functions. For
//! an array in one binding the body is the indexed variable. A *window* holds a power of two of elements: the upper
//! bits of a position select the window, the lower bits the element in it.
//!
//! A dispatch may cover a part of the tiles of a launch. Templates therefore take the index of their workgroup from
//! `workgroup_index(wid, groups)`, which adds the first tile of the dispatch.
//!
//! A load outside the bound range of an array is a *miss*: it returns 0, and `rg_missed()` returns true afterwards. An
//! invocation stores nothing after a miss, unless the kernel handles misses itself.
//!
//! If arrays are bound in part, the kernel has additional parameter vectors: one with the first tile of the dispatch,
//! and one per array with [`Windowing::Range`], with the first bound element and the number of bound elements.

use std::fmt::Write;

use super::storage::StorageArray;

/// How a dispatch binds a storage array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Windowing {
    /// One binding that holds the whole array.
    Whole,
    /// `count` windows of `1 << bits` elements each that hold the whole array.
    Windows { count: u32, bits: u32 },
    /// One binding that starts at the dispatch's first tile. `tile` elements per tile.
    Tiles { tile: u32 },
    /// `count` windows of `1 << bits` elements each that hold a range of the array. A store outside the range is
    /// dropped; a load outside it returns 0.
    Range { count: u32, bits: u32, misses: Misses },
}

/// Which loads outside the bound range of an array are misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Misses {
    /// None.
    Never,
    /// The latest load only.
    Latest,
    /// Every load.
    All,
}

impl Misses {
    /// Whether a load may be a miss.
    pub(crate) fn are_possible(self) -> bool {
        self != Self::Never
    }
}

/// Declarations of a kernel that depend on how its arrays are bound.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declarations<'a> {
    /// WGSL type of `Elem`.
    pub(crate) elem: &'a str,
    /// Vectors of the kernel's own parameters, after the template's two.
    pub(crate) vectors: usize,
    pub(crate) arrays: &'a [StorageArray],
    /// One per array.
    pub(crate) windowings: &'a [Windowing],
    /// Whether an invocation stores even if it missed a load.
    pub(crate) stores_after_misses: bool,
}

impl Declarations<'_> {
    /// Appends the WGSL.
    pub(crate) fn push(&self, out: &mut String) {
        let is_range = |w: &&Windowing| matches!(w, Windowing::Range { .. });
        let ranges = self.windowings.iter().filter(is_range).count();
        let has_first_tile = ranges > 0 || self.windowings.iter().any(|w| matches!(w, Windowing::Tiles { .. }));
        let own = self.vectors;
        let vectors = own + usize::from(has_first_tile) + ranges;
        let elem = self.elem;
        write!(
            out,
            "struct Params {{\n    head: array<vec4<u32>, 2>,\n    scalars: array<vec4<u32>, {vectors}>,\n}}\n\
             @group(0) @binding(0) var<uniform> p: Params;\n\
             var<private> rg_nothing: u32;\n\
             fn rg_begin() {{\n    rg_nothing = p.head[1].w;\n}}\n\
             /// Zero, opaque to compilers.\n\
             fn rg_zero() -> u32 {{\n    return rg_nothing;\n}}\n\
             alias Elem = {elem};\n"
        )
        .expect("a string takes text");
        if has_first_tile {
            writeln!(out, "fn rg_first_tile() -> u32 {{\n    return p.scalars[{own}].x;\n}}")
                .expect("a string takes text");
        }
        let first = if has_first_tile { "rg_first_tile() + " } else { "" };
        writeln!(
            out,
            "fn workgroup_index(wid: vec3<u32>, groups: vec3<u32>) -> u32 {{\n    \
             return {first}wid.x + wid.y * groups.x;\n}}"
        )
        .expect("a string takes text");
        let misses = self.miss_functions(out);
        let is_guarded = misses && !self.stores_after_misses;
        let (mut binding, mut vector) = (0, own);
        for (array, &windowing) in self.arrays.iter().zip(self.windowings) {
            if let Windowing::Range { .. } = windowing {
                vector += 1;
            }
            Accessors { array, windowing, vector, is_guarded }.push(&mut binding, out);
        }
    }

    /// Appends the functions that report and set misses. Returns whether misses are possible.
    fn miss_functions(&self, out: &mut String) -> bool {
        let may_miss = |w: &Windowing| matches!(w, Windowing::Range { misses, .. } if misses.are_possible());
        let may_miss = self.windowings.iter().any(may_miss);
        let (variable, value, set) = if may_miss {
            ("var<private> rg_miss: bool;\n", "rg_miss", "rg_miss = is_miss;")
        } else {
            ("", "false", "")
        };
        write!(out, "{variable}fn rg_missed() -> bool {{\n    return {value};\n}}\n").expect("a string takes text");
        if self.arrays.iter().any(|a| a.has_range) {
            writeln!(out, "fn rg_set_missed(is_miss: bool) {{\n    {set}\n}}").expect("a string takes text");
        }
        may_miss
    }
}

/// The accessors of one array.
struct Accessors<'a> {
    array: &'a StorageArray,
    windowing: Windowing,
    /// For a range: the parameter vector that holds its first element and its length.
    vector: usize,
    /// Whether a store is dropped after a miss.
    is_guarded: bool,
}

impl Accessors<'_> {
    /// Appends the variables, from binding `*binding + 1` on, and the functions.
    fn push(&self, binding: &mut u32, out: &mut String) {
        let name = &self.array.name;
        let ty = &self.array.element.ty;
        let access = if self.array.binding.is_read_only() { "read" } else { "read_write" };
        let element = if self.array.element.is_atomic { format!("atomic<{ty}>") } else { ty.to_string() };
        let windows = match self.windowing {
            Windowing::Whole | Windowing::Tiles { .. } => 1,
            Windowing::Windows { count, .. } | Windowing::Range { count, .. } => count,
        };
        for k in 0..windows {
            *binding += 1;
            writeln!(out, "@group(0) @binding({binding}) var<storage, {access}> {name}_w{k}: array<{element}>;")
                .expect("a string takes text");
        }
        if let Windowing::Range { .. } = self.windowing {
            let vector = self.vector;
            self.range_functions(&format!("p.scalars[{vector}].x"), &format!("p.scalars[{vector}].y"), out);
        } else if self.array.has_range {
            self.range_functions("0u", &format!("arrayLength(&{name}_w0)"), out);
        }
        if self.array.element.is_atomic {
            for (function, atomic) in [("or", "atomicOr"), ("max", "atomicMax"), ("add", "atomicAdd")] {
                self.update(function, &|x| format!("{atomic}(&{x}, v);"), out);
            }
            return;
        }
        self.load(out);
        if !self.array.binding.is_read_only() {
            self.update("store", &|x| format!("{x} = v;"), out);
        }
    }

    /// Functions that return the first bound element and the number of bound elements.
    fn range_functions(&self, first: &str, len: &str, out: &mut String) {
        let name = &self.array.name;
        write!(
            out,
            "fn first_{name}() -> u32 {{\n    return {first};\n}}\nfn len_{name}() -> u32 {{\n    return {len};\n}}\n"
        )
        .expect("a string takes text");
    }

    fn load(&self, out: &mut String) {
        let (name, ty) = (&self.array.name, &self.array.element.ty);
        let body = match self.windowing {
            Windowing::Range { misses, .. } => {
                let note = match misses {
                    Misses::Never => String::new(),
                    Misses::Latest => format!("    rg_miss = at >= len_{name}();\n"),
                    Misses::All => format!("    rg_miss = rg_miss || at >= len_{name}();\n"),
                };
                let element = self.element("at", &|x| format!("v = {x};"));
                format!(
                    "    let at = i - first_{name}();\n{note}    var v: {ty};\n    \
                     if (at < len_{name}()) {{\n    {element}\n    }}\n    return v;"
                )
            }
            Windowing::Windows { count: 2.., .. } => {
                let element = self.element("i", &|x| format!("v = {x};"));
                format!("    var v: {ty};\n    {element}\n    return v;")
            }
            _ => format!("    {}", self.element("i", &|x| format!("return {x};"))),
        };
        writeln!(out, "fn load_{name}(i: u32) -> {ty} {{\n{body}\n}}").expect("a string takes text");
    }

    /// The function that applies `update`, a statement over an element and `v`.
    fn update(&self, function: &str, update: &dyn Fn(&str) -> String, out: &mut String) {
        let (name, ty) = (&self.array.name, &self.array.element.ty);
        let body = if let Windowing::Range { .. } = self.windowing {
            let hit = if self.is_guarded { " && !rg_miss" } else { "" };
            let element = self.element("at", update);
            format!("    let at = i - first_{name}();\n    if (at < len_{name}(){hit}) {{\n    {element}\n    }}")
        } else {
            format!("    {}", self.element("i", update))
        };
        writeln!(out, "fn {function}_{name}(i: u32, v: {ty}) {{\n{body}\n}}").expect("a string takes text");
    }

    /// The statement that applies `each` to element `at` of the bound elements, in the window that holds the element.
    fn element(&self, at: &str, each: &dyn Fn(&str) -> String) -> String {
        let name = &self.array.name;
        let (windows, bits) = match self.windowing {
            Windowing::Tiles { tile } => return each(&format!("{name}_w0[{at} - rg_first_tile() * {tile}u]")),
            Windowing::Windows { count: count @ 2.., bits } | Windowing::Range { count: count @ 2.., bits, .. } => {
                (count, bits)
            }
            _ => return each(&format!("{name}_w0[{at}]")),
        };
        let mask = (1u64 << bits) - 1;
        let mut out = format!("switch ({at} >> {bits}u) {{\n");
        for w in 0..windows {
            let case = if w + 1 == windows { "default".into() } else { format!("case {w}u") };
            writeln!(out, "        {case}: {{ {} }}", each(&format!("{name}_w{w}[{at} & {mask}u]")))
                .expect("a string takes text");
        }
        out.push_str("    }");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::storage::{Binding, Element};
    use super::*;

    fn array(name: &'static str, element: Element, binding: Binding) -> StorageArray {
        StorageArray::new(name, element, binding)
    }

    /// Declarations of three arrays: one read, one read and written, one of atomics.
    fn declared(windowings: [Windowing; 3]) -> String {
        let arrays = [
            array("x", Element::new("Elem", 8), Binding::ScratchRead(0)),
            array("out", Element::WORD, Binding::Output(0)),
            array("packed", Element::ATOMIC, Binding::Output(1)),
        ];
        let (arrays, windowings) = (&arrays, &windowings);
        let mut text = String::new();
        Declarations { elem: "vec2<u32>", vectors: 2, arrays, windowings, stores_after_misses: false }.push(&mut text);
        let used = "@compute @workgroup_size(64)\nfn main(@builtin(workgroup_id) wid: vec3<u32>,\n\
                    @builtin(num_workgroups) groups: vec3<u32>) {\n    let i = workgroup_index(wid, groups);\n    \
                    store_out(i, load_x(i).x + load_out(i + 1u));\n    or_packed(i, 1u);\n    \
                    max_packed(i, u32(rg_missed()));\n}\n";
        let text = format!("{used}{text}");
        let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), Default::default());
        validator.validate(&module).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        text
    }

    #[test]
    fn an_array_in_one_binding_is_indexed_directly() {
        let text = declared([Windowing::Whole; 3]);
        for part in [
            "scalars: array<vec4<u32>, 2>",
            "@group(0) @binding(1) var<storage, read> x_w0: array<Elem>;",
            "fn load_x(i: u32) -> Elem {\n    return x_w0[i];\n}",
            "fn store_out(i: u32, v: u32) {\n    out_w0[i] = v;\n}",
            "var<storage, read_write> packed_w0: array<atomic<u32>>;",
            "fn or_packed(i: u32, v: u32) {\n    atomicOr(&packed_w0[i], v);\n}",
            "    return wid.x + wid.y * groups.x;",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("fn store_x") && !text.contains("fn load_packed"), "{text}");
    }

    #[test]
    fn the_upper_bits_of_a_position_select_the_window() {
        let windows = |count, bits| Windowing::Windows { count, bits };
        let text = declared([windows(2, 10), windows(1, 11), windows(3, 11)]);
        for part in [
            "switch (i >> 10u) {\n        case 0u: { v = x_w0[i & 1023u]; }\n        default: { v = x_w1[i & 1023u]; }",
            "fn store_out(i: u32, v: u32) {\n    out_w0[i] = v;\n}",
            "@group(0) @binding(6) var<storage, read_write> packed_w2: array<atomic<u32>>;",
            "default: { atomicOr(&packed_w2[i & 2047u], v); }",
            "scalars: array<vec4<u32>, 2>",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_binding_may_start_at_the_first_tile() {
        let text = declared([Windowing::Tiles { tile: 1024 }, Windowing::Tiles { tile: 256 }, Windowing::Whole]);
        for part in [
            "scalars: array<vec4<u32>, 3>",
            "fn rg_first_tile() -> u32 {\n    return p.scalars[2].x;",
            "return rg_first_tile() + wid.x + wid.y * groups.x;",
            "return x_w0[i - rg_first_tile() * 1024u];",
            "out_w0[i - rg_first_tile() * 256u] = v;",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn accesses_outside_a_range_have_no_effect() {
        let range = |count, misses| Windowing::Range { count, bits: 9, misses };
        let text = declared([range(2, Misses::Latest), range(1, Misses::Never), range(2, Misses::Never)]);
        for part in [
            "scalars: array<vec4<u32>, 6>",
            "fn first_x() -> u32 {\n    return p.scalars[3].x;",
            "fn len_out() -> u32 {\n    return p.scalars[4].y;",
            "rg_miss = at >= len_x();",
            "if (at < len_out() && !rg_miss) {\n    out_w0[at] = v;",
            "default: { atomicMax(&packed_w1[at & 511u], v); }",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let text = declared([range(1, Misses::All), Windowing::Whole, Windowing::Whole]);
        assert!(text.contains("rg_miss = rg_miss || at >= len_x();"), "{text}");
        let text = declared([range(1, Misses::Never), range(1, Misses::Never), Windowing::Whole]);
        assert!(!text.contains("rg_miss ="), "{text}");
        assert!(text.contains("if (at < len_out()) {"), "{text}");
    }

    #[test]
    fn a_kernel_may_query_the_bound_range() {
        let mut x = array("x", Element::WORD, Binding::ScratchRead(0));
        x.has_range = true;
        let text = |windowing| {
            let (arrays, windowings) = (&[x.clone()], &[windowing]);
            let mut text = String::new();
            Declarations { elem: "u32", vectors: 1, arrays, windowings, stores_after_misses: true }.push(&mut text);
            text
        };
        let whole = text(Windowing::Whole);
        assert!(whole.contains("return arrayLength(&x_w0);") && whole.contains("fn rg_set_missed"), "{whole}");
        let range = text(Windowing::Range { count: 1, bits: 9, misses: Misses::Latest });
        assert!(range.contains("rg_miss = is_miss;") && range.contains("return p.scalars[2].x;"), "{range}");
    }
}
