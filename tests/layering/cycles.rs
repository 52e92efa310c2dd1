//! No import cycles between files.
//!
//! A file imports another one if it names an item that the other one defines. A re-exported item belongs to the file
//! that defines it, and the re-export itself is no import. Imports between a parent module and its children are exempt
//! in both directions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::paths::{Import, Paths};
use crate::source::{code, crates, files, read};

/// Path of a module: the crate, then the names of the modules down to it.
type ModulePath = Vec<String>;

/// Path of the module in a file of the folder `src` of a crate.
fn module_of(krate: &str, inside: &Path) -> ModulePath {
    let names = inside.with_extension("");
    let names = names.components().map(|c| c.as_os_str().to_string_lossy().into_owned());
    let mut path: Vec<String> = std::iter::once(krate.to_owned()).chain(names).collect();
    if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        path.pop();
    }
    path
}

/// A module: its file, and the paths in it.
struct Module {
    file: String,
    paths: Paths,
}

/// The modules by their paths.
struct Modules(BTreeMap<ModulePath, Module>);

/// Result of a look-up: a module itself, or an item of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Module(ModulePath),
    Item(ModulePath),
}

impl Modules {
    /// Resolves a path that occurs in `module`; `None` if it leads out of the crate, or to a local name.
    fn resolve(&self, module: &[String], path: &[String]) -> Option<Target> {
        // Longer chains of re-exports do not occur; a name that leads back to itself is a name of another crate.
        self.resolve_within(module, path, 8)
    }

    fn resolve_within(&self, module: &[String], path: &[String], depth: u32) -> Option<Target> {
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => vec![module[0].clone()],
            "self" => module.to_vec(),
            "super" => module[..module.len() - 1].to_vec(),
            _ => match self.name(module, first, depth)? {
                Target::Module(path) => path,
                item => return Some(item),
            },
        };
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                at.pop();
            } else {
                match self.name(&at, next, depth).unwrap_or_else(|| Target::Item(at.clone())) {
                    Target::Module(path) => at = path,
                    item => return Some(item),
                }
            }
            rest = after;
        }
        Some(Target::Module(at))
    }

    /// The child module or import of that name.
    fn name(&self, module: &[String], name: &str, depth: u32) -> Option<Target> {
        let mut child = module.to_vec();
        child.push(name.to_owned());
        if self.0.contains_key(&child) {
            return Some(Target::Module(child));
        }
        let import = self.0.get(module)?.paths.imports.iter().find(|i| i.name == name)?;
        self.resolve_within(module, &import.path, depth.checked_sub(1)?)
    }

    /// For each module the modules that define the items it names, each with one of those names.
    fn imports(&self) -> Imports {
        let imports_of = |module: &ModulePath, paths: &Paths| {
            let is_used = |i: &&Import| !i.is_public || paths.words.contains(&i.name);
            let imported = paths.imports.iter().filter(is_used).map(|Import { path, .. }| path);
            let mut out = BTreeMap::new();
            for path in imported.chain(&paths.names) {
                // The import of a module is no dependency; the names that are used from it are.
                let target = match self.resolve(module, path) {
                    Some(Target::Item(target)) => target,
                    _ => continue,
                };
                let is_related = target.starts_with(module) && target.len() == module.len() + 1
                    || module.starts_with(&target) && module.len() == target.len() + 1;
                if target != *module && target.len() > 1 && !is_related {
                    out.entry(target).or_insert_with(|| path.join("::"));
                }
            }
            out
        };
        // The root of a crate names the items that the crate exports; no file depends on that.
        let is_root = |module: &ModulePath| module.len() == 1;
        let modules = self.0.iter().filter(|(module, _)| !is_root(module));
        modules.map(|(path, module)| (path.clone(), imports_of(path, &module.paths))).collect()
    }
}

/// What each module imports: the modules that define the items, each with the path of one item.
type Imports = BTreeMap<ModulePath, BTreeMap<ModulePath, String>>;

/// The groups of modules that import each other, each as text: a shortest cycle, then the other modules of the group.
fn cycles(modules: &Modules) -> Vec<String> {
    let imports = modules.imports();
    let reached: BTreeMap<&ModulePath, BTreeMap<&ModulePath, &ModulePath>> =
        imports.keys().map(|module| (module, reached_from(&imports, module))).collect();
    let mut reported: BTreeSet<&ModulePath> = BTreeSet::new();
    let mut out = Vec::new();
    for module in imports.keys() {
        let group: Vec<&ModulePath> =
            reached[module].keys().filter(|m| reached[*m].contains_key(module)).copied().collect();
        if group.is_empty() || reported.contains(module) {
            continue;
        }
        reported.extend(&group);
        let chains = group.iter().map(|m| chain(&reached[m], m));
        let shortest = chains.min_by_key(Vec::len).expect("a group of at least one module");
        let file = |module: &ModulePath| modules.0[module].file.as_str();
        let next = shortest.iter().cycle().skip(1);
        let line = |(from, to): (&&ModulePath, &&ModulePath)| {
            format!("  {} imports {} of {}", file(from), imports[*from][*to], file(to))
        };
        let mut lines: Vec<String> = shortest.iter().zip(next).map(line).collect();
        let others: Vec<&str> = group.iter().filter(|m| !shortest.contains(m)).map(|m| file(m)).collect();
        lines.extend((!others.is_empty()).then(|| format!("  in cycles with them: {}", others.join(", "))));
        out.push(lines.join("\n"));
    }
    out
}

/// The modules that `start` imports, directly or not, each with the module before it on a shortest chain of imports.
fn reached_from<'a>(imports: &'a Imports, start: &'a ModulePath) -> BTreeMap<&'a ModulePath, &'a ModulePath> {
    let mut before = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for next in imports[module].keys() {
            before.entry(next).or_insert_with(|| {
                queue.push_back(next);
                module
            });
        }
    }
    before
}

/// The shortest chain of imports from a module back to itself, without its second occurrence.
fn chain<'a>(before: &BTreeMap<&'a ModulePath, &'a ModulePath>, start: &'a ModulePath) -> Vec<&'a ModulePath> {
    let mut chain = vec![before[start]];
    while let Some(last) = chain.last().filter(|last| **last != start) {
        chain.push(before[*last]);
    }
    chain.reverse();
    chain
}

#[test]
fn files_do_not_import_each_other() {
    let mut modules = BTreeMap::new();
    for (krate, src) in crates() {
        let module = |file: &std::path::PathBuf| {
            let inside = file.strip_prefix(&src).expect("a file of src");
            let name = format!("{krate}: {}", inside.display());
            (module_of(&krate, inside), Module { file: name, paths: Paths::of(&code(&read(file))) })
        };
        let before = modules.len();
        modules.extend(files(&src).iter().map(module));
        assert!(modules.len() > before, "no file in {krate}");
    }
    let cycles = cycles(&Modules(modules));
    assert!(cycles.is_empty(), "{} import cycles:\n{}", cycles.len(), cycles.join("\n\n"));
}

#[test]
fn cycles_are_found_through_re_exports() {
    let module = |path: &str, code: &str| {
        let module = Module { file: path.replace("::", "/"), paths: Paths::of(code) };
        (path.split("::").map(str::to_owned).collect(), module)
    };
    let mut modules = Modules(BTreeMap::from([
        module("c", "pub use a::A; use b::g;"),
        module("c::a", "mod d; pub(crate) use d::e::E; use crate::b; fn f() { b::g() }"),
        module("c::a::d", "mod e; use super::A;"),
        module("c::a::d::e", "use crate::a::A;"),
        module("c::b", "fn g() {}"),
    ]));
    assert_eq!(cycles(&modules), Vec::<String>::new());
    modules.0.extend([module("c::b", "use crate::A;")]);
    assert_eq!(cycles(&modules), ["  c/a imports b::g of c/b\n  c/b imports crate::A of c/a"]);
    modules.0.extend([module("c::b", "use crate::a::E;"), module("c::a::d::e", "use crate::b::g;")]);
    assert_eq!(cycles(&modules), ["  c/a/d/e imports crate::b::g of c/b\n  c/b imports crate::a::E of c/a/d/e"]);
}
