//! The paths in Rust source text: those of `use` declarations, and qualified names.

use std::collections::BTreeSet;

/// A name that a `use` declaration brings into scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The name in scope: the last segment of the path, or its alias. `*` for all names of a module.
    pub name: String,
    pub path: Vec<String>,
    /// Whether the declaration is public, if only within the crate.
    pub is_public: bool,
}

/// The paths of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Paths {
    pub imports: Vec<Import>,
    /// Names of two or more segments outside of `use` declarations.
    pub names: Vec<Vec<String>>,
    /// All words outside of `use` declarations.
    pub words: BTreeSet<String>,
}

impl Paths {
    /// Paths of source text without comments.
    pub fn of(code: &str) -> Self {
        let tokens = tokens(code);
        let mut out = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            let after = tokens.get(at + 1).map(String::as_str);
            if tokens[at] == "use" && after != Some("<") {
                let is_public = at > 0 && ["pub", ")"].contains(&tokens[at - 1].as_str());
                at += 1;
                out.import(&tokens, &mut at, &[], is_public);
            } else if is_name(&tokens[at]) && after == Some("::") {
                let mut path = vec![tokens[at].clone()];
                out.words.insert(tokens[at].clone());
                while tokens.get(at + 1).is_some_and(|t| t == "::") && tokens.get(at + 2).is_some_and(|t| is_name(t)) {
                    path.push(tokens[at + 2].clone());
                    at += 2;
                }
                at += 1;
                out.names.extend((path.len() > 1).then_some(path));
            } else {
                out.words.insert(tokens[at].clone());
                at += 1;
            }
        }
        out
    }

    /// Reads the tree of a `use` declaration from token `at` on, below the path `above`.
    fn import(&mut self, tokens: &[String], at: &mut usize, above: &[String], is_public: bool) {
        let mut path = above.to_vec();
        let mut alias = None;
        while let Some(token) = tokens.get(*at) {
            match token.as_str() {
                "::" => {}
                "as" => {
                    *at += 1;
                    alias = tokens.get(*at).cloned();
                }
                "{" => {
                    *at += 1;
                    while tokens.get(*at).is_some_and(|t| t != "}") {
                        self.import(tokens, at, &path, is_public);
                        if tokens.get(*at).is_some_and(|t| t == ",") {
                            *at += 1;
                        }
                    }
                    *at += 1;
                    return;
                }
                // A leaf ends here.
                "," | "}" | ";" => break,
                name => path.push(name.to_owned()),
            }
            *at += 1;
        }
        // `use a::{self}` names the module `a`.
        if path.len() > 1 && path.last().is_some_and(|s| s == "self") {
            path.pop();
        }
        if let Some(name) = alias.or_else(|| path.last().cloned()) {
            self.imports.push(Import { name, path, is_public });
        }
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Splits code into names, `::` and single characters. Texts of literals are left out.
fn tokens(code: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let mut len = c.len_utf8();
        if c.is_alphanumeric() || c == '_' {
            len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            out.push(rest[..len].to_owned());
        } else if rest.starts_with("::") {
            len = 2;
            out.push("::".to_owned());
        } else if c == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            len = end.map_or(rest.len(), |end| end + 2);
        } else if c == '\'' && rest[1..].starts_with(['"', '{', '}', ',', ';']) {
            len = 3;
        } else if !c.is_whitespace() {
            out.push(c.to_string());
        }
        rest = &rest[len.min(rest.len())..];
    }
    out
}

#[test]
fn paths_are_found_in_every_form() {
    let code = "pub(crate) use a::{b::{C, D as E}, self, f::*};\nuse g;\nlet x = h::i::j(\"k::l\", '{', <M>::n, o.p::<q::R>());";
    let found = Paths::of(code);
    let imports: Vec<String> = found.imports.iter().map(|i| format!("{} = {}", i.name, i.path.join("::"))).collect();
    assert_eq!(imports, ["C = a::b::C", "E = a::b::D", "a = a", "* = a::f::*", "g = g"]);
    let names: Vec<String> = found.names.iter().map(|n| n.join("::")).collect();
    assert_eq!(names, ["h::i::j", "q::R"]);
}
