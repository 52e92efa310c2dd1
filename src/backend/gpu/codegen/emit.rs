//! Emits an expression as the body of a WGSL function, with one line per operation.
//!
//! Values are named `t0`, `t1`, ... in order. A common subexpression is emitted once per scope. The branches of a lazy
//! `select` are emitted as scopes, so that only the taken branch loads.

use std::fmt::Write;

use super::{ModuleBuilder, arithmetic, convert, elements_per_word, value_type};
use crate::dtype::DType;
use crate::graph::digest::DigestMap;
use crate::graph::opcode::UnaryOp;
use crate::graph::planned::{Expr, ExprKind};
use crate::graph::walk::for_each_expr;

/// Maximum cost at which both branches of a `select` without loads are evaluated.
const SELECT_COST: u32 = 8;

/// The element of a packed dtype that begins at bit `shift` of the word.
pub(super) fn unpacked(dtype: DType, word: &str, shift: &str) -> String {
    match dtype {
        DType::Bool => format!("((({word} >> ({shift})) & 0xffu) != 0u)"),
        DType::U8 => format!("(({word} >> ({shift})) & 0xffu)"),
        // Sign extension: the element moves to the top of the word and back.
        DType::I8 => format!("(bitcast<i32>({word} << (24u - {shift})) >> 24u)"),
        DType::I16 => format!("(bitcast<i32>({word} << (16u - {shift})) >> 16u)"),
        _ => format!("(({word} >> ({shift})) & 0xffffu)"),
    }
}

/// Whether a branch of a `select` is evaluated only when taken. `known`: whether the value of an expression is.
pub(super) fn is_lazy(e: &Expr, known: &impl Fn(&Expr) -> bool) -> bool {
    if known(e) {
        return false;
    }
    let mut reads = false;
    for_each_expr(e, &mut |e| {
        reads |= match e.kind() {
            ExprKind::Load(..) | ExprKind::RowOf(..) | ExprKind::Within(..) => !known(e),
            ExprKind::Checked(..) => true,
            _ => false,
        };
    });
    reads || e.cost() > SELECT_COST
}

pub(crate) struct Emitter<'m, 'a> {
    module: &'m mut ModuleBuilder<'a>,
    lines: String,
    indent: usize,
    names: u32,
    scopes: Vec<DigestMap<String>>,
}

impl<'m, 'a> Emitter<'m, 'a> {
    pub(crate) fn new(module: &'m mut ModuleBuilder<'a>) -> Self {
        Self { module, lines: String::new(), indent: 1, names: 0, scopes: vec![DigestMap::default()] }
    }

    /// Binds the name of an already computed value to an expression, which is then not emitted again.
    pub(crate) fn with_value(mut self, e: &Expr, name: String) -> Self {
        self.scopes[0].insert(e.digest(), name);
        self
    }

    /// As [`Self::with_value`], between values.
    pub(super) fn bind(&mut self, e: &Expr, name: String) {
        self.scopes[0].insert(e.digest(), name);
    }

    /// The name of the guarded value of an expression, whose lines follow.
    pub(super) fn guarded(&mut self, e: &Expr) -> String {
        let value = self.value(e);
        if !e.dtype().is_float() || value_type(e.dtype()) == "u32" {
            return value;
        }
        let text = arithmetic::guard(self.module, e.dtype(), &value);
        self.define(&text)
    }

    /// Defines a name.
    pub(super) fn define(&mut self, text: &str) -> String {
        let name = self.fresh();
        self.line(&format!("let {name} = {text};"));
        name
    }

    /// Adds a statement.
    pub(super) fn statement(&mut self, text: &str) {
        self.line(text);
    }

    /// The lines of the body.
    pub(super) fn lines(self) -> String {
        self.lines
    }

    /// The lines of the body, and the name of the result.
    pub(crate) fn function(mut self, e: &Expr) -> (String, String) {
        let result = self.value(e);
        (self.lines, result)
    }

    /// The lines of the body, and the names of several results.
    pub(crate) fn functions(mut self, all: &[&Expr]) -> (String, Vec<String>) {
        let results = all.iter().map(|e| self.value(e)).collect();
        (self.lines, results)
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.lines.push_str("    ");
        }
        self.lines.push_str(text);
        self.lines.push('\n');
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names - 1)
    }

    fn known(&self, e: &Expr) -> Option<&String> {
        self.scopes.iter().rev().find_map(|s| s.get(&e.digest()))
    }

    /// The text of a value: a name, literal or parameter. Emits the definition of a name on first use.
    fn value(&mut self, e: &Expr) -> String {
        match e.kind() {
            ExprKind::Index => return "i".into(),
            ExprKind::Scalar(s) => return self.module.number(*s),
            ExprKind::Param(p) => return self.module.param(p),
            ExprKind::Size(size) => return self.module.size(size),
            _ => {}
        }
        if let Some(name) = self.known(e) {
            return name.clone();
        }
        let text = match e.kind() {
            ExprKind::Index | ExprKind::Scalar(_) | ExprKind::Param(_) | ExprKind::Size(_) => {
                unreachable!("handled above")
            }
            ExprKind::Load(node, at) => {
                let at = self.value(at);
                self.load(node, &at)
            }
            ExprKind::Register(register, at) => {
                let at = if at.is_index() { None } else { Some(self.value(at)) };
                self.module.register(register.number, at.as_deref())
            }
            ExprKind::RowOf(splits, at) => {
                let own = self.module.row_context.clone();
                if own.is_some() && e.own_row().is_some_and(|(s, k)| own == Some((s.clone(), k))) {
                    return "row".into();
                }
                let at = self.value(at);
                self.search(splits, &at)
            }
            ExprKind::Within(splits, row, offset) => {
                let start = Expr::load(splits, row.clone());
                let (start, offset) = (self.value(&start), self.value(offset));
                format!("{start} + {offset}")
            }
            ExprKind::Unary(UnaryOp::Math(f), a) => {
                let name = self.module.math(*f, a.dtype());
                let a = self.value(a);
                format!("{name}({a})")
            }
            ExprKind::Unary(op, a) => {
                let dtype = a.dtype();
                let a = self.value(a);
                arithmetic::unary(self.module, *op, dtype, &a)
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a), self.value(b));
                let nonzero = match b.kind() {
                    ExprKind::Scalar(s) => s.bits() != 0,
                    ExprKind::Param(p) => p.def().is_nonzero,
                    _ => false,
                };
                arithmetic::binary(self.module, *op, a.dtype(), &x, &y, nonzero)
            }
            ExprKind::Cast(a) => {
                let x = self.value(a);
                convert::cast(self.module, a.dtype(), e.dtype(), &x)
            }
            ExprKind::Bitcast(a) => {
                let x = self.value(a);
                convert::bitcast(self.module, a.dtype(), e.dtype(), &x)
            }
            ExprKind::Call(f, arguments) => {
                let mut values: Vec<String> = arguments.iter().map(|a| self.value(a)).collect();
                for (k, (value, a)) in values.iter_mut().zip(arguments).enumerate() {
                    *value = arithmetic::guard_argument(self.module, a.dtype(), value, k);
                }
                self.module.user_function(f.wgsl());
                let call = format!("{}({})", f.wgsl().entry, values.join(", "));
                arithmetic::guard_argument(self.module, e.dtype(), &call, 0)
            }
            ExprKind::Select(c, a, b) => return self.select(e, c, a, b),
            ExprKind::Checked(check, ok, v) => {
                let ok = self.value(ok);
                let slot = self.module.slot(*check);
                let slot = self.module.scalar(slot);
                let word = ModuleBuilder::word(slot);
                self.line(&format!("if (!{ok}) {{"));
                self.line(&format!("    max_status({word}, ~i);"));
                self.line("}");
                return self.value(v);
            }
        };
        let name = self.fresh();
        self.line(&format!("let {name} = {text};"));
        self.scopes.last_mut().expect("a scope").insert(e.digest(), name.clone());
        name
    }

    fn select(&mut self, e: &Expr, c: &Expr, a: &Expr, b: &Expr) -> String {
        let c = self.value(c);
        let is_known = |e: &Expr| self.known(e).is_some();
        let (lazy_a, lazy_b) = (is_lazy(a, &is_known), is_lazy(b, &is_known));
        let name = self.fresh();
        if !lazy_a && !lazy_b {
            let (a, b) = (self.value(a), self.value(b));
            self.line(&format!("let {name} = select({b}, {a}, {c});"));
        } else {
            self.line(&format!("var {name}: {};", value_type(e.dtype())));
            self.line(&format!("if ({c}) {{"));
            self.branch(&name, a);
            self.line("} else {");
            self.branch(&name, b);
            self.line("}");
        }
        self.scopes.last_mut().expect("a scope").insert(e.digest(), name.clone());
        name
    }

    fn branch(&mut self, name: &str, e: &Expr) {
        self.scopes.push(DigestMap::default());
        self.indent += 1;
        let value = self.value(e);
        self.line(&format!("{name} = {value};"));
        self.indent -= 1;
        self.scopes.pop();
    }

    fn load(&mut self, node: &crate::graph::planned::Node, at: &str) -> String {
        if let Some(product) = self.module.recomputed(node) {
            return format!("{product}({at})");
        }
        let k = self.module.array(node);
        match elements_per_word(node.dtype()) {
            4 => unpacked(node.dtype(), &format!("load_b{k}({at} >> 2u)"), &format!("({at} & 3u) * 8u")),
            2 => unpacked(node.dtype(), &format!("load_b{k}({at} >> 1u)"), &format!("({at} & 1u) * 16u")),
            _ => format!("load_b{k}({at})"),
        }
    }

    /// Binary search in sorted splits for the row of a position other than the element's own.
    fn search(&mut self, splits: &crate::graph::planned::Node, at: &str) -> String {
        let k = self.module.array(splits);
        let rows = self.module.size(&splits.extent().size().max(1).sub(1));
        if self.module.fetched == Some(splits) {
            self.module.ranges.insert(k);
            // Groups of windows are dispatched in order: a later match overwrites the result of an earlier group.
            self.module.helper(format!(
                "/// The last bound row that starts at or before `at`. A miss if there is none, except in the first group.\n\
                 fn search_{k}(at: u32, rows: u32) -> u32 {{\n    let first = first_b{k}();\n    \
                 let end = min(first + len_b{k}(), max(rows, 1u));\n    var a = first;\n    \
                 var b = max(end, first + 1u) - 1u;\n    \
                 while (a < b) {{\n        let mid = a + ((b - a + 1u) >> 1u);\n        \
                 if (load_b{k}(mid) <= at) {{\n            a = mid;\n        }} else {{\n            \
                 b = mid - 1u;\n        }}\n    }}\n    \
                 let start = load_b{k}(a);\n    rg_set_missed(first > 0u && (first >= end || start > at));\n    return a;\n}}"
            ));
            return format!("search_{k}({at}, {rows})");
        }
        let mut text = String::new();
        write!(
            text,
            "/// The last row that starts at or before `at`.\n\
             fn search_{k}(at: u32, rows: u32) -> u32 {{\n    var a = 0u;\n    var b = max(rows, 1u) - 1u;\n    \
             while (a < b) {{\n        let mid = a + ((b - a + 1u) >> 1u);\n        \
             if (load_b{k}(mid) <= at) {{\n            a = mid;\n        }} else {{\n            b = mid - 1u;\n        }}\n    \
             }}\n    return a;\n}}"
        )
        .expect("a string takes text");
        self.module.helper(text);
        format!("search_{k}({at}, {rows})")
    }
}
