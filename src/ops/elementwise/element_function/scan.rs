//! Lexical scan of WGSL: removes comments, and finds the names that a text declares at module scope.

use std::collections::BTreeSet;

use super::fault::Fault;

/// A token, or white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'t> {
    text: &'t str,
    kind: Kind,
    line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A name or keyword.
    Word,
    Number,
    /// A space, or a line feed for a line break, in place of white space or a comment.
    Space,
    /// One character.
    Symbol(char),
}

/// Maximum depth of a statement: of nested brackets, and of operators and branches that follow one another, in tokens.
/// Measured: naga 30 without optimization overflows a stack of 2 MiB between 250 and 500 operators, 250 and 500 indices, 50
/// and 60 branches, and 50 and 80 blocks.
const MAX_DEPTH: usize = 256;

/// Depth of a block.
const BLOCK_DEPTH: usize = 6;

/// Maximum number of functions and constants.
const MAX_DECLARATIONS: usize = 256;

/// A text without comments.
#[derive(Debug)]
pub(super) struct Scanned<'t> {
    tokens: Vec<Token<'t>>,
}

impl<'t> Scanned<'t> {
    /// Scans a text.
    ///
    /// # Errors
    /// A character outside ASCII, except white space and in comments; a comment without an end.
    pub(super) fn new(text: &'t str) -> Result<Self, Fault> {
        Ok(Self { tokens: tokens(text)? })
    }

    /// The tokens without white space.
    fn code(&self) -> impl Iterator<Item = &Token<'t>> {
        self.tokens.iter().filter(|t| t.kind != Kind::Space)
    }

    /// Number of tokens without white space.
    #[cfg(not(feature = "gpu"))]
    pub(super) fn len(&self) -> usize {
        self.code().count()
    }

    /// Checks that parsers, which are recursive, do not run out of stack.
    ///
    /// # Errors
    /// A statement that is too deep.
    pub(super) fn check_depth(&self) -> Result<(), Fault> {
        // The depth where each open bracket is, and where the text begins.
        let (mut depth, mut open) = (0, vec![0]);
        let mut code = self.code().peekable();
        while let Some(token) = code.next() {
            depth += if token.text == "{" { BLOCK_DEPTH } else { 1 };
            let outer = open.last().copied().unwrap_or(0);
            match token.kind {
                Kind::Symbol('(' | '[' | '{') => open.push(depth),
                Kind::Symbol(',' | ';') => depth = outer,
                Kind::Symbol(')' | ']') => depth = open.pop().unwrap_or(0),
                Kind::Symbol('}') => {
                    depth = open.pop().unwrap_or(0);
                    // A chain of branches is one statement; any other block ends one.
                    if code.peek().is_none_or(|next| next.text != "else") {
                        depth = open.last().copied().unwrap_or(0);
                    }
                }
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err(Fault::at(token.line, "the statement is too long or nested too deeply"));
            }
        }
        Ok(())
    }

    /// Checks the declarations of a text that is valid WGSL.
    ///
    /// # Errors
    /// An attribute; a declaration of anything but functions and constants; too many declarations.
    pub(super) fn check_declarations(&self) -> Result<(), Fault> {
        if let Some(at) = self.code().find(|t| t.kind == Kind::Symbol('@')) {
            return Err(Fault::at(at.line, "attributes are not allowed"));
        }
        let mut count = 0;
        for (keyword, _) in self.declarations() {
            if !matches!(keyword.text, "fn" | "const") {
                let what = format!("the text may declare functions and constants only, not `{}`", keyword.text);
                return Err(Fault::at(keyword.line, what));
            }
            count += 1;
        }
        if count > MAX_DECLARATIONS {
            return Err(Fault::new(format!("{count} declarations; {MAX_DECLARATIONS} are allowed")));
        }
        Ok(())
    }

    /// The first two tokens of each declaration at module scope: its keyword and, of functions and constants, its name.
    fn declarations(&self) -> Vec<(Token<'t>, Token<'t>)> {
        let (mut out, mut depth) = (Vec::new(), 0u32);
        let mut code = self.code().peekable();
        while let Some(&first) = code.next() {
            if first.kind == Kind::Symbol(';') {
                continue;
            }
            out.push((first, code.peek().map_or(first, |&&second| second)));
            // A function ends with its body, any other declaration with a semicolon.
            let end = if first.text == "fn" { '}' } else { ';' };
            for token in code.by_ref() {
                match token.kind {
                    Kind::Symbol('(' | '[' | '{') => depth += 1,
                    Kind::Symbol(')' | ']' | '}') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 && token.kind == Kind::Symbol(end) {
                    break;
                }
            }
        }
        out
    }

    /// The names of all declarations.
    pub(super) fn names(&self) -> BTreeSet<&'t str> {
        self.declarations().into_iter().map(|(_, name)| name.text).collect()
    }

    /// Whether the text contains loops.
    pub(super) fn loops(&self) -> bool {
        self.tokens.iter().any(|t| t.kind == Kind::Word && matches!(t.text, "for" | "while" | "loop"))
    }

    /// The text without comments, on the same lines, which end with line feeds. All names that it declares at module
    /// scope begin with `prefix`.
    ///
    /// A local name that equals one of these is renamed too, which changes nothing. Names after a dot are members of
    /// the results of built-in functions.
    pub(super) fn with_prefix(&self, prefix: &str) -> String {
        let (names, mut out) = (self.names(), String::new());
        let mut after_dot = false;
        for token in &self.tokens {
            if token.kind == Kind::Word && !after_dot && names.contains(token.text) {
                out.push_str(prefix);
            }
            out.push_str(token.text);
            if token.kind != Kind::Space {
                after_dot = token.kind == Kind::Symbol('.');
            }
        }
        out
    }
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Fault> {
    let (mut out, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(c) = rest.chars().next() {
        let comment = comment_len(rest).ok_or_else(|| Fault::at(line, "the comment has no end"))?;
        let (kind, len) = match c {
            _ if comment > 0 => (Kind::Space, comment),
            c if is_space(c) => (Kind::Space, break_len(rest).max(c.len_utf8())),
            c if c.is_ascii_alphabetic() || c == '_' => (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
            c if c.is_ascii_digit() => (Kind::Number, number_len(rest)),
            c if c.is_ascii() && !c.is_ascii_control() => (Kind::Symbol(c), 1),
            c => return Err(Fault::at(line, format!("{c:?} is allowed in comments only"))),
        };
        let (token, after) = rest.split_at(len);
        let breaks = line_breaks(token);
        if kind == Kind::Space {
            // Tokens beside a comment stay apart, and lines keep their numbers.
            if comment > 0 || breaks == 0 {
                out.push(Token { text: " ", kind, line });
            }
            out.extend(std::iter::repeat_n(Token { text: "\n", kind, line }, breaks as usize));
        } else {
            out.push(Token { text: token, kind, line });
        }
        line += breaks;
        rest = after;
    }
    Ok(out)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a character is white space of WGSL: `Pattern_White_Space` of Unicode.
fn is_space(c: char) -> bool {
    matches!(c, '\t' | ' ' | '\u{200e}' | '\u{200f}') || is_break(c)
}

/// Whether a character breaks a line of WGSL.
fn is_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Length of the line break at the start of the text, of which a carriage return before a line feed is a part; 0 if
/// there is none.
fn break_len(text: &str) -> usize {
    match text.chars().next() {
        Some('\r') if text.starts_with("\r\n") => 2,
        Some(c) if is_break(c) => c.len_utf8(),
        _ => 0,
    }
}

/// Number of line breaks in a text.
pub(super) fn line_breaks(text: &str) -> u32 {
    text.chars().filter(|&c| is_break(c)).count() as u32 - text.matches("\r\n").count() as u32
}

/// Length of the comment at the start of the text; 0 if there is none, `None` if it has no end.
fn comment_len(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find(is_break).unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return Some(0);
    }
    // Block comments nest.
    let (mut depth, mut at) = (0u32, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        at += if rest.starts_with(b"/*") {
            depth += 1;
            2
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            2
        } else {
            1
        };
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Length of the number at the start of the text, with its suffix.
fn number_len(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let is_exponent = |c: char| if is_hex { matches!(c, 'p' | 'P') } else { matches!(c, 'e' | 'E') };
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        let is_sign = matches!(c, '+' | '-') && is_exponent(last);
        if !is_word(c) && c != '.' && !is_sign {
            return at;
        }
        last = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(text: &str) -> String {
        Scanned::new(text).unwrap_or_else(|e| panic!("{}", e.what)).with_prefix("p_")
    }

    #[test]
    fn declared_names_get_the_prefix() {
        assert_eq!(
            renamed("const k = 2.0;\nfn f(x: f32) -> f32 { return g(x) * k; }\nfn g(x: f32) -> f32 { return x; }"),
            "const p_k = 2.0;\nfn p_f(x: f32) -> f32 { return p_g(x) * p_k; }\nfn p_g(x: f32) -> f32 { return x; }"
        );
        assert_eq!(renamed("fn fract(x: f32) -> f32 { return modf(x) . fract + fract(x); }"), {
            "fn p_fract(x: f32) -> f32 { return modf(x) . fract + p_fract(x); }"
        });
        assert_eq!(renamed("const e = 1;\nfn f() -> f32 { return 1.5e+3 - 0x1p-2f - e; }"), {
            "const p_e = 1;\nfn p_f() -> f32 { return 1.5e+3 - 0x1p-2f - p_e; }"
        });
        assert_eq!(renamed("const f = array(1, 2);\nconst g = 2;;"), "const p_f = array(1, 2);\nconst p_g = 2;;");
    }

    #[test]
    fn comments_become_white_space_of_as_many_lines() {
        assert_eq!(renamed("fn f/* a /* b\n */ c\n*/(x: u32) -> u32 { return x; } // ä fn"), {
            "fn p_f \n\n(x: u32) -> u32 { return x; }  "
        });
        assert_eq!(renamed("fn f() -> u32 { return 4 //*\n / 2; }"), "fn p_f() -> u32 { return 4  \n / 2; }");
        let fault = Scanned::new("fn f() -> u32 {\r\n/* open /* */ ").expect_err("no end");
        assert_eq!(fault.line, Some(2));
        assert_eq!(renamed("const a = 4 / /**/ / 2;"), "const p_a = 4 /   / 2;", "no comment is left");
    }

    #[test]
    fn lines_end_with_line_feeds() {
        for at in ["\n", "\u{b}", "\u{c}", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"] {
            let text = format!("fn f() -> u32 {{ // one{at}{at}/* {at}*/return 1;{at}}}");
            assert_eq!(renamed(&text), "fn p_f() -> u32 {  \n\n \nreturn 1;\n}", "{at:?}");
            assert_eq!(line_breaks(&text), 4, "{at:?}");
        }
        assert_eq!(line_breaks("\r\r\n\n\r"), 4);
        assert_eq!(renamed("fn f()\t->\u{200e}u32 { }"), "fn p_f() -> u32 { }");
    }

    #[test]
    fn depth_is_that_of_one_statement() {
        let check = |text: &str| Scanned::new(text).and_then(|s| s.check_depth()).map_err(|fault| fault.line);
        let statements = "y = y + x; if (y > x) { y = x; } for (;;) { break; }".repeat(500);
        assert_eq!(check(&format!("fn f(x: f32) -> f32 {{ var y = x; {statements} return y; }}")), Ok(()));
        assert_eq!(check(&format!("const a = array({});", "1 + 1, ".repeat(5000))), Ok(()));
        assert_eq!(check(&format!("const a = 1{};", "\n + 1".repeat(125))), Ok(()));
        assert_eq!(check(&format!("const a = 1{};", "\n + 1".repeat(300))), Err(Some(128)));
        assert_eq!(check(&"if (a) { } else ".repeat(25)), Ok(()));
        assert_eq!(check(&"if (a) { } else ".repeat(50)), Err(Some(1)));
        assert_eq!(check(&"f(1 + 1, ".repeat(100)), Ok(()));
        assert_eq!(check(&"f(1 + 1, ".repeat(200)), Err(Some(1)));
        assert_eq!(check(")]}}}"), Ok(()));
    }

    #[test]
    fn other_declarations_are_refused_with_their_line() {
        for (line, text) in [
            (2, "fn f() {}\nvar<private> x: f32;"),
            (1, "struct S { x: f32 }"),
            (1, "alias T = f32;"),
            (1, "override x = 1;"),
            (3, "/*\n*/\n@compute @workgroup_size(1) fn f() {}"),
            (1, "fn f(@builtin(position) x: vec4f) {}"),
            (1, "enable f16;"),
            (1, "const_assert true;"),
            (1, "} fn g() {}"),
            (2, "fn f() {}\n\u{e4}"),
            (1, "fn f() {\0}"),
        ] {
            let fault = Scanned::new(text).and_then(|s| s.check_declarations()).expect_err(text);
            assert_eq!(fault.line, Some(line), "{text}: {}", fault.what);
        }
    }
}
