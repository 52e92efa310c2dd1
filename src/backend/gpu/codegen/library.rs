//! Tree shaking of the libraries of 64-bit types in `shaders/lib/`: a module receives only the definitions that it
//! references, directly or through other definitions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::graph::plan::Int64Repr;

/// Indices of definitions, keyed by the address and the length of the template that names them.
type ByTemplate = HashMap<(usize, usize), Arc<[usize]>>;

/// The files of pairs of words, which are one library.
const PAIRS_TEXT: &str = concat!(
    include_str!("../../../../shaders/lib/pairs.wgsl"),
    "\n",
    include_str!("../../../../shaders/lib/doubles.wgsl"),
    "\n",
    include_str!("../../../../shaders/lib/doubles_convert.wgsl"),
    "\n",
    include_str!("../../../../shaders/lib/function_f64.wgsl"),
);

/// A library, divided into its definitions.
struct Library {
    /// The definitions in file order: the text, and the indices of the definitions that it names.
    definitions: Vec<(&'static str, Vec<usize>)>,
    numbers: HashMap<&'static str, usize>,
    /// Cache of the definitions that each template names, since templates are long.
    of_templates: Mutex<ByTemplate>,
}

/// The library of 64-bit types.
fn longs(kind: Int64Repr) -> &'static Library {
    static NATIVE: OnceLock<Library> = OnceLock::new();
    static PAIRS: OnceLock<Library> = OnceLock::new();
    match kind {
        Int64Repr::Native => NATIVE.get_or_init(|| Library::new(include_str!("../../../../shaders/lib/longs.wgsl"))),
        Int64Repr::Pairs => PAIRS.get_or_init(|| Library::new(PAIRS_TEXT)),
    }
}

/// Appends to `text` the definitions of 64-bit types that it, the templates and the names of `types` need.
pub(super) fn complete<'t>(
    templates: &[&'static str],
    types: impl Iterator<Item = &'t str>,
    text: &mut String,
    kind: Int64Repr,
) {
    let library = longs(kind);
    let mut open: Vec<usize> = Vec::new();
    templates.iter().for_each(|template| open.extend(&*library.named_by_template(template)));
    types.for_each(|ty| open.extend(library.named(ty)));
    // Fast path: names of definitions that are referenced from outside the library contain "64".
    if text.contains("64") {
        open.extend(library.named(text));
    }
    let mut taken = vec![false; library.definitions.len()];
    while let Some(k) = open.pop() {
        if !taken[k] {
            taken[k] = true;
            open.extend(&library.definitions[k].1);
        }
    }
    for ((definition, _), taken) in library.definitions.iter().zip(taken) {
        if taken {
            text.push_str(definition);
            text.push('\n');
        }
    }
}

impl Library {
    fn new(piece: &'static str) -> Self {
        let defined = |text| {
            let mut words = words(text);
            words.find(|w| matches!(*w, "fn" | "alias" | "struct" | "const")).and(words.next())
        };
        let texts: Vec<_> = piece.split("\n\n").filter_map(|text| Some((defined(text)?, text.trim_end()))).collect();
        let numbers = texts.iter().enumerate().map(|(k, (name, _))| (*name, k)).collect();
        let mut library = Self { definitions: Vec::new(), numbers, of_templates: Mutex::default() };
        library.definitions = texts.iter().map(|(_, text)| (*text, library.named(text).collect())).collect();
        library
    }

    /// Indices of the definitions that the template names; searched once per process.
    fn named_by_template(&self, template: &'static str) -> Arc<[usize]> {
        let mut known = self.of_templates.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (template.as_ptr() as usize, template.len());
        known.entry(place).or_insert_with(|| self.named(template).collect()).clone()
    }

    /// Indices of the definitions that the text names.
    fn named<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        words(text).filter_map(|word| self.numbers.get(word).copied())
    }
}

/// The words of the text that begin with a letter, without comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gets_the_definitions_that_it_references() {
        let mut text = "fn f(a: U64) -> U64 {\n    return mul64(a, a); // not pow_u64\n}\n".to_owned();
        complete(&[], [].into_iter(), &mut text, Int64Repr::Pairs);
        for (name, count) in
            [("alias U64", 1), ("fn mul64", 1), ("fn wide_product", 1), ("fn add64", 0), ("fn pow_u64", 0)]
        {
            assert_eq!(text.matches(name).count(), count, "{name} in {text}");
        }
        // A function may be named without its type.
        let mut narrow = "fn f(a: f32) -> u32 {\n    return low64(u64_of_f32(a));\n}\n".to_owned();
        complete(&[], [].into_iter(), &mut narrow, Int64Repr::Pairs);
        assert!(narrow.contains("fn u64_of_f32") && narrow.contains("fn low64"), "{narrow}");
        let mut other = "fn f(a: u32) -> u32 {\n    return a;\n}\n".to_owned();
        complete(&["fn g(a: f32) -> f32 {\n    return a;\n}\n"], [].into_iter(), &mut other, Int64Repr::Pairs);
        assert!(!other.contains("vec2"), "no library without 64-bit integers");
        complete(
            &["fn f(a: U64) -> U64 {\n    return add64(a, a);\n}\n"],
            [].into_iter(),
            &mut other,
            Int64Repr::Pairs,
        );
        assert!(other.contains("fn add64") && other.contains("alias U64"), "{other}");
    }

    #[test]
    fn both_libraries_declare_the_same() {
        let signature = |text: &'static str| text.lines().find(|line| line.starts_with("fn ")).map(str::to_owned);
        let (native, pairs) = (longs(Int64Repr::Native), longs(Int64Repr::Pairs));
        assert!(native.definitions.len() >= 10 && pairs.definitions.len() >= 30);
        for (name, &k) in &native.numbers {
            let twin = pairs.numbers.get(name).unwrap_or_else(|| panic!("pairs.wgsl has no {name}"));
            assert_eq!(signature(native.definitions[k].0), signature(pairs.definitions[*twin].0));
        }
    }
}
