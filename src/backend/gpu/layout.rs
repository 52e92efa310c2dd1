//! Sizes of array elements, derived from the types that a kernel's text names.

/// Bytes per window for elements of that size: the largest power of two of elements that fits one binding.
pub(super) fn window_bytes(max_binding: u64, element: u64) -> u64 {
    element << (max_binding / element.max(1)).max(1).ilog2()
}

/// Size and alignment of a value in storage, in bytes, by the name of its type.
pub(super) fn layout(ty: &str, text: &str) -> (u64, u64) {
    let after = |head: String| text.split_once(&head).map(|(_, rest)| rest);
    match ty {
        "u64" | "i64" | "f64" | "vec2<u32>" | "vec2<f32>" => return (8, 8),
        "u32" | "i32" | "f32" => return (4, 4),
        _ => {}
    }
    if let Some((of, _)) = after(format!("alias {ty} = ")).and_then(|rest| rest.split_once(';')) {
        return if of == ty { (4, 4) } else { layout(of, text) };
    }
    let Some((fields, _)) = after(format!("struct {ty} {{")).and_then(|rest| rest.split_once('}')) else {
        return (4, 4);
    };
    let types = fields.lines().filter_map(|l| Some(l.split_once(": ")?.1.trim_end_matches(',')));
    let (end, align) = types.fold((0u64, 4), |(end, most), ty| {
        let (size, align) = layout(ty, text);
        (end.next_multiple_of(align) + size, most.max(align))
    });
    (end.next_multiple_of(align), align)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_measured_by_their_types() {
        let size = |ty: &str| {
            let structs =
                "struct Pair {\n    a: u64,\n    b: u32,\n}\nstruct State {\n    c0: f32,\n    c1: Pair,\n}\n";
            layout(ty, &format!("alias Elem = u64;\n{structs}")).0
        };
        assert_eq!(["Elem", "vec2<u32>", "f32", "Pair", "State"].map(size), [8, 8, 4, 16, 24]);
        assert_eq!([4, 8, 12].map(|size| window_bytes(8192, size)), [8192, 8192, 6144]);
    }
}
