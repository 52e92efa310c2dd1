//! Generates the functions that store elements of an output, one by one or packed into words.

use super::ModuleBuilder;
use super::types::elements_per_word;
use crate::dtype::DType;

impl ModuleBuilder<'_> {
    /// Adds `place` and `store` of a map into `out`, of that dtype.
    pub(crate) fn map_output(&mut self, dtype: DType) {
        let lanes = elements_per_word(dtype);
        if lanes == 1 {
            self.push(
                "fn place(tile: u32, t: u32, k: u32) -> u32 {\n    return tile * MAP_TILE + k * 256u + t;\n}\n\
                 fn store(i: u32, row: u32, v: Elem) {\n    store_out(i, v);\n}",
            );
            return;
        }
        let bits = packed_bits(dtype);
        let (last, width, shift) = (lanes - 1, 32 / lanes, lanes.trailing_zeros());
        self.push(&format!(
            "fn place(tile: u32, t: u32, k: u32) -> u32 {{\n    \
             return tile * MAP_TILE + (k >> {shift}u) * {stride}u + t * {lanes}u + (k & {last}u);\n}}",
            stride = 256 * lanes,
        ));
        if self.fetched.is_some() {
            // Several dispatches store the elements of a word.
            let mask = u32::MAX >> (32 - width);
            return self.push(&format!(
                "fn store(i: u32, row: u32, v: Elem) {{\n    let shift = (i & {last}u) * {width}u;\n    \
                 let others = load_out(i >> {shift}u) & ~({mask}u << shift);\n    \
                 store_out(i >> {shift}u, others | ({bits} << shift));\n}}"
            ));
        }
        self.push(&format!(
            "var<private> word: u32;\n\
             /// Called for the elements of a word in order; the last live element stores the word.\n\
             fn store(i: u32, row: u32, v: Elem) {{\n    let lane = i & {last}u;\n    \
             word = select(word, 0u, lane == 0u) | ({bits} << (lane * {width}u));\n    \
             if (lane == {last}u || i + 1u == live()) {{\n        store_out(i >> {shift}u, word);\n    }}\n}}",
        ));
    }

    /// Adds `store` of a compaction into `out`, of that dtype. The elements of a packed word may come from several
    /// workgroups, in any order, so each sets its own bits of a word that was 0.
    pub(crate) fn compact_output(&mut self, dtype: DType) {
        let lanes = elements_per_word(dtype);
        if lanes == 1 {
            self.push("fn store(i: u32, v: Elem) {\n    store_out(i, v);\n}");
            return;
        }
        let bits = packed_bits(dtype);
        let (shift, mask, width) = (lanes.trailing_zeros(), lanes - 1, 32 / lanes);
        self.push(&format!(
            "fn store(i: u32, v: Elem) {{\n    \
             or_out(i >> {shift}u, {bits} << ((i & {mask}u) * {width}u));\n}}",
        ));
    }

    /// Adds `place` and `store` of a check, which reports the first failing position to the status block.
    pub(crate) fn assert_output(&mut self, slot: u32) {
        self.uses_status = true;
        let k = self.scalar(slot);
        let word = Self::word(k);
        self.push(&format!(
            "fn place(tile: u32, t: u32, k: u32) -> u32 {{\n    return tile * MAP_TILE + k * 256u + t;\n}}\n\
             fn store(i: u32, row: u32, v: Elem) {{\n    \
             if (!v) {{\n        max_status({word}, ~i);\n    }}\n}}",
        ));
    }
}

/// The value `v` of a packed dtype as the low bits of a word.
pub(super) const fn packed_bits(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "select(0u, 1u, v)",
        DType::I8 => "(bitcast<u32>(v) & 0xffu)",
        DType::I16 => "(bitcast<u32>(v) & 0xffffu)",
        _ => "v",
    }
}
