//! The public functions of `src`, with their documentation.
//!
//! A function that a macro defines is listed once per name that the macro is invoked with.

use std::path::Path;

use ragged::Operation;
use ragged::operation::Owner;

use crate::source::{files, read, src};

/// A public function.
#[derive(Debug)]
pub struct Function {
    /// File and line.
    pub place: String,
    /// The type whose method it is; empty for a free function.
    pub owner: String,
    pub name: String,
    /// Documentation and attributes, without slashes.
    pub doc: String,
    /// Names of its arguments but for `self`. One that begins with `$` is an argument of the macro that makes it.
    pub arguments: Vec<String>,
    /// The type after `->`; empty if there is none.
    pub result: String,
    /// Whether it is called on a value.
    pub is_method: bool,
}

impl Function {
    /// The words of the result type.
    pub fn result_words(&self) -> impl Iterator<Item = &str> {
        words(&self.result)
    }
}

/// Identifiers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The public functions of the files in a folder of `src`, or of one file.
pub fn functions(inside: &str) -> Vec<Function> {
    let mut out = written(inside);
    if inside == "ops" {
        out.extend(declared());
    }
    out
}

/// The same, without the methods that declarations of operations make.
pub fn written(inside: &str) -> Vec<Function> {
    let path = src().join(inside);
    let files = if path.is_dir() { files(&path) } else { vec![path] };
    files.iter().flat_map(|file| of_file(file)).collect()
}

/// The methods that declarations of operations make.
fn declared() -> impl Iterator<Item = Function> {
    let by_hand = ["by_hand.rs", "beside_sparse.rs", "functions.rs"]
        .map(|file| read(&src().join("ops/declarations").join(file)))
        .concat();
    let is_made = move |operation: &&Operation| {
        ["(", "<"].iter().all(|after| !by_hand.contains(&format!("    fn {}{after}", operation.name)))
    };
    ragged::operations().filter(is_made).flat_map(|operation| {
        // Methods of other types are written by hand.
        let made = |owner: &Owner| [Owner::Tensor, Owner::RaggedTensor, Owner::Row].contains(owner);
        operation.owners.iter().filter(made).map(|owner| Function {
            place: format!("operation of the family {:?}", operation.family),
            owner: owner.name().to_owned(),
            name: operation.name.to_owned(),
            // The macro adds the attribute. Methods by hand have documentation of their own.
            doc: format!("{}\n#[track_caller]", operation.doc),
            arguments: operation.arguments.iter().map(|argument| argument.name.to_owned()).collect(),
            result: "Result<Tensor>".to_owned(),
            is_method: operation.is_method,
        })
    })
}

/// Documentation of the types that the files define: name and text.
pub fn types() -> Vec<(String, String)> {
    let mut out = Vec::new();
    for file in files(&src()) {
        let text = read(&file);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let declared = ["pub struct ", "pub enum "].iter().find_map(|start| line.trim_start().strip_prefix(start));
            if let Some(name) = declared.and_then(|rest| words(rest).next()) {
                out.push((name.to_owned(), doc_above(&lines, at)));
            }
        }
    }
    out
}

fn of_file(file: &Path) -> Vec<Function> {
    let text = read(file);
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let (mut owner, mut macro_name) = (String::new(), None);
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        match code.strip_prefix("macro_rules! ") {
            Some(rest) => macro_name = words(rest).next(),
            None if *line == "}" => (macro_name, owner) = (None, String::new()),
            None => {}
        }
        if let Some(rest) = code.strip_prefix("$(impl").or_else(|| code.strip_prefix("impl")) {
            owner = owner_of(rest);
        }
        let declared = ["pub fn ", "pub async fn ", "pub const fn "].iter().find_map(|s| code.strip_prefix(s));
        let Some(name) = declared.map(|d| d.split(['(', '<']).next().unwrap_or_default()) else { continue };
        let entries = match (name.starts_with('$'), macro_name) {
            (true, Some(name)) => arguments(text, name),
            _ => vec![Entry { name: name.to_owned(), doc: String::new() }],
        };
        let signature: String = lines[at..].iter().take_while(|l| !l.trim().is_empty()).copied().collect();
        let signature = signature.split(" {").next().unwrap_or_default();
        let place = format!("{}:{}", file.strip_prefix(src()).unwrap_or(file).display(), at + 1);
        let doc = doc_above(&lines, at);
        out.extend(entries.into_iter().map(|entry| Function {
            place: place.clone(),
            owner: owner.clone(),
            doc: format!("{}{}", entry.doc, doc.replace(name, &entry.name)),
            name: entry.name,
            arguments: names_of_arguments(signature),
            result: signature.rsplit_once("->").map(|(_, result)| result.to_owned()).unwrap_or_default(),
            is_method: is_method(signature),
        }));
    }
    out
}

/// Whether the first parameter of a signature is `self`.
fn is_method(signature: &str) -> bool {
    let signature = signature.replace([' ', '\n'], "");
    let begins = |first: &&str| [",", ")"].iter().any(|end| signature.contains(&format!("({first}{end}")));
    ["&self", "self", "mutself", "&mutself", "&'aself"].iter().any(begins)
}

/// The type of an `impl`, from the text after that word: `<T: Element> RaggedTensor<T> {` gives `RaggedTensor`.
pub fn owner_of(rest: &str) -> String {
    let mut depth = 0;
    let end = rest.find(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c.is_whitespace()
    });
    let of = &rest[end.unwrap_or(0)..];
    words(of.rsplit(" for ").next().unwrap_or_default()).next().unwrap_or_default().to_owned()
}

/// The names before the colons of the arguments of a signature.
fn names_of_arguments(signature: &str) -> Vec<String> {
    let (mut depth, mut angles, mut names, mut name) = (0, 0, Vec::new(), String::new());
    let mut before = ' ';
    for c in signature.replace("::", " ").chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '<' => angles += 1,
            '>' if before != '-' => angles -= 1,
            ':' if depth == 1 && angles == 0 => names.push(name.clone()),
            _ => {}
        }
        match c {
            '$' | '_' => name.push(c),
            _ if c.is_alphanumeric() => name.push(c),
            _ => name.clear(),
        }
        if c == ')' && depth == 0 && angles == 0 {
            break;
        }
        before = c;
    }
    names
}

/// Documentation and attributes directly above a line. An attribute may take several lines.
fn doc_above(lines: &[&str], at: usize) -> String {
    let mut above = Vec::new();
    let mut in_attribute = false;
    for line in lines[..at].iter().rev().map(|line| line.trim()) {
        let begins = line.starts_with("#[");
        in_attribute = !begins && (in_attribute || (line.ends_with(")]") && !line.starts_with("///")));
        if !(begins || in_attribute || line.starts_with("///")) {
            break;
        }
        above.push(line.strip_prefix("///").unwrap_or(line).trim());
    }
    above.reverse();
    above.join("\n").replace("\", stringify!(", "").replace("), \"", "")
}

/// What an invocation of a macro says about one function.
struct Entry {
    name: String,
    doc: String,
}

/// The functions in the invocations of a macro: of each entry the lower-case identifiers before its first string.
fn arguments(text: &str, name: &str) -> Vec<Entry> {
    let mut out = Vec::new();
    for open in [" {", "("] {
        for (at, start) in text.match_indices(&format!("\n{name}!{open}")) {
            for (doc, code) in entries(&text[at + start.len()..]) {
                let head = code.split('"').next().unwrap_or_default();
                let names = words(&outside_of_brackets(head)).map(str::to_owned).collect::<Vec<_>>();
                let names = names.into_iter().filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
                out.extend(names.map(|name| Entry { name, doc: doc.clone() }));
            }
        }
    }
    out
}

/// The text without what is in parentheses and brackets: names of arguments, facts.
fn outside_of_brackets(text: &str) -> String {
    let mut depth = 0;
    text.chars()
        .filter(|c| {
            depth += i32::from("([".contains(*c)) - i32::from(")]".contains(*c));
            depth == 0
        })
        .collect()
}

/// The entries of an invocation up to its closing bracket: documentation and code. Semicolons outside of brackets and
/// strings separate them.
fn entries(body: &str) -> Vec<(String, String)> {
    let (mut out, mut entry, mut depth) = (Vec::new(), (String::new(), String::new()), 0);
    let mut in_string = false;
    for line in body.lines() {
        if let Some(doc) = line.trim_start().strip_prefix("///") {
            entry.0 += doc;
            entry.0.push('\n');
            continue;
        }
        let mut before = ' ';
        for c in line.chars() {
            match c {
                '"' if before != '\\' => in_string = !in_string,
                '{' | '(' | '[' if !in_string => depth += 1,
                '}' | ')' | ']' if !in_string => depth -= 1,
                _ => {}
            }
            before = c;
            if depth < 0 {
                out.push(entry);
                return out;
            }
            if c == ';' && depth == 0 && !in_string {
                out.push(std::mem::take(&mut entry));
            } else {
                entry.1.push(c);
            }
        }
        entry.1.push('\n');
    }
    out
}

#[test]
fn functions_and_macros_are_found() {
    let all = functions("ops");
    let found = |owner: &str, name: &str| all.iter().any(|f| f.owner == owner && f.name == name);
    for name in ["reduce_sum", "abs", "bitwise_invert", "add", "left_shift", "segment_mean", "unsorted_segment_sum"] {
        assert!(found("Tensor", name), "Tensor::{name}");
    }
    for name in ["reduce_sum", "abs", "add", "cumsum", "string_upper"] {
        assert!(found("RaggedTensor", name), "RaggedTensor::{name}");
    }
    assert!(found("Row", "sort") && found("", "along") && !found("Tensor", "along"));
    assert!(functions("tensor").iter().any(|f| f.name == "from_nested_row_splits_unchecked"));
}

#[test]
fn arguments_are_found() {
    let names = |signature| names_of_arguments(signature).join(" ");
    assert_eq!(
        names("pub fn f<'a, L: Into<X>>(&self, a: &[u8], b: impl FnOnce(&Row) -> Result<Row>) -> Result<Self>"),
        "a b"
    );
    assert_eq!(names("pub fn f(x: a::B<C>, $given: impl Into<D>) -> E"), "x $given");
    assert_eq!(names("pub fn f(&self) -> E"), "");
    assert!(is_method("pub fn f<T>(    &self, a: A) -> E") && !is_method("pub fn f(selfish: A) -> E"));
}

#[test]
fn documentation_is_found() {
    let text = "///! not\n\n/// One.\n#[doc = concat!(\n    \"two\"\n)]\n/// Three.\n#[track_caller]\npub fn f()";
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(doc_above(&lines, 8), "One.\n#[doc = concat!(\n\"two\"\n)]\nThree.\n#[track_caller]");
    assert_eq!(owner_of("<T: Into<U>> RaggedTensor<T> {"), "RaggedTensor");
    assert_eq!(owner_of(" Tensor {"), "Tensor");
}
