//! The rules that a program keeps: those of every recording, checked where a program comes from a file.

mod recurrence;

use std::collections::HashSet;

use super::order::Item;
use super::{ArrayDef, ArrayId, ByNumber, ExprDef, ExprId, Program, ScalarId, SizeDef, SizeId};
use crate::dtype::DType;
use crate::graph::expr::ExprKind;
use crate::graph::opcode::{BinaryOp, HashOp, ReduceOp, UnaryOp};
use crate::graph::primitive::tile_fold::MAX_SLOTS;
use crate::graph::primitive::top_k::MAX_K;
use crate::graph::primitive::{Product, Recipe, RowDomain, Rows};
use crate::graph::reducer::Reducer;
use crate::graph::refs::Reference;

/// A rule that is broken.
type Fault = String;

/// The greatest height of an expression, and of a size with the bounds of its counts. Some code that walks over them is
/// recursive.
const MAX_HEIGHT: u32 = 1 << 10;

fn holds(ok: bool, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
    if ok { Ok(()) } else { Err(fault()) }
}

impl Program {
    /// Checks that every reference is to an existing definition, that no definition refers to itself, and that dtypes
    /// fit. The program may still compute nonsense; its runs then give that, or an error.
    ///
    /// # Errors
    /// The first definition that breaks a rule.
    pub(crate) fn check(&self, checks: usize, scalars: usize, bounds: &[(SizeId, SizeId)]) -> Result<(), Fault> {
        holds(scalars == self.scalars.len(), || format!("{scalars} scalars, not {}", self.scalars.len()))?;
        self.check_references(checks, bounds)?;
        let order = self.order(bounds).map_err(|item| format!("{item:?} refers to itself"))?;
        self.check_heights(&order, bounds)?;
        self.check_registers()?;
        (0u32..)
            .zip(&self.exprs)
            .try_for_each(|(k, def)| self.check_expr(def).map_err(|fault| format!("expression {k}: {fault}")))?;
        (0u32..)
            .zip(&self.sizes)
            .try_for_each(|(k, def)| self.check_size(def).map_err(|fault| format!("size {k}: {fault}")))?;
        (0u32..)
            .zip(&self.arrays)
            .try_for_each(|(k, def)| self.check_array(def).map_err(|fault| format!("array {k}: {fault}")))
    }

    fn check_references(&self, checks: usize, bounds: &[(SizeId, SizeId)]) -> Result<(), Fault> {
        let array = |a: ArrayId| holds(a.index() < self.arrays.len(), || format!("there is no array {}", a.0));
        let size = |s: SizeId| holds(s.index() < self.sizes.len(), || format!("there is no size {}", s.0));
        let expr = |e: ExprId| holds(e.index() < self.exprs.len(), || format!("there is no expression {}", e.0));
        let check = |c: u32| holds((c as usize) < checks, || format!("there is no check {c}"));
        for def in &self.sizes {
            match def {
                SizeDef::Const(_) | SizeDef::Input => {}
                SizeDef::Len(a) => array(*a)?,
                SizeDef::Count { array: a, at } => array(*a).and(size(*at))?,
                SizeDef::Op(_, a, b) => size(*a).and(size(*b))?,
            }
        }
        for ExprDef { kind, .. } in &self.exprs {
            match kind {
                ExprKind::Load(a, _) | ExprKind::RowOf(a, _) | ExprKind::Within(a, ..) => array(*a)?,
                ExprKind::Size(s) => size(*s)?,
                ExprKind::Param(p) => {
                    holds((p.0 as usize) < self.scalars.len(), || format!("there is no scalar {}", p.0))?;
                }
                ExprKind::Call(f, _) => {
                    holds((f.0 as usize) < self.functions.len(), || format!("there is no function {}", f.0))?;
                }
                ExprKind::Checked(c, ..) => check(c.0)?,
                _ => {}
            }
            kind.operands().try_for_each(|e| expr(*e))?;
        }
        for def in &self.arrays {
            let ArrayDef::Computed { op, extent, asserts, recipe, .. } = def else { continue };
            holds((op.0 as usize) < self.names.len(), || format!("there is no name {}", op.0))?;
            size(extent.size)?;
            asserts.iter().try_for_each(|a| array(*a))?;
            let mut found = Ok(());
            recipe.visit(&mut |part| {
                let outcome = match part {
                    Reference::Expr(e) => expr(*e),
                    Reference::Array(a) => array(*a),
                    Reference::Extent(x) => size(x.size),
                    Reference::Size(s) => size(*s),
                    Reference::Check(c) => check(c.0),
                };
                found = std::mem::replace(&mut found, Ok(())).and(outcome);
            });
            found?;
            if let Recipe::RowHash(hash) = &**recipe {
                self.check_keys(&hash.op)?;
            }
        }
        self.outputs.iter().try_for_each(|a| array(*a))?;
        for (count, bound) in bounds {
            size(*count).and(size(*bound))?;
            let is_count = matches!(self.sizes[count.index()], SizeDef::Count { .. });
            holds(is_count, || format!("size {} is no count, and has a bound", count.0))?;
        }
        holds(bounds.is_sorted_by_key(|(count, _)| count.0), || "the bounds are not in order".into())?;
        let unbounded = |(k, def): (usize, &SizeDef)| {
            matches!(def, SizeDef::Count { .. }) && bounds.binary_search_by_key(&k, |(count, _)| count.index()).is_err()
        };
        match self.sizes.iter().enumerate().position(unbounded) {
            Some(k) => Err(format!("the count of size {k} has no bound")),
            None => Ok(()),
        }
    }

    fn check_heights(&self, order: &[Item], bounds: &[(SizeId, SizeId)]) -> Result<(), Fault> {
        let (mut exprs, mut arrays) = (vec![0u32; self.exprs.len()], vec![0u32; self.arrays.len()]);
        let mut sizes = vec![0u32; self.sizes.len()];
        let mut contain_counts = vec![false; self.sizes.len()];
        for item in order {
            let height = match *item {
                Item::Array(a) => {
                    let size = self.arrays[a.index()].computed().map(|(size, _)| size);
                    arrays[a.index()] = size.map_or(0, |size| sizes[size.index()]);
                    continue;
                }
                Item::Expr(e) => {
                    let kind = &self.exprs[e.index()].kind;
                    exprs[e.index()] = 1 + kind.operands().map(|o| exprs[o.index()]).max().unwrap_or(0);
                    exprs[e.index()]
                }
                Item::Size(s) => {
                    let height = match &self.sizes[s.index()] {
                        SizeDef::Count { at, .. } if contain_counts[at.index()] => {
                            return Err(format!("size {}: the index of a count contains a count", s.0));
                        }
                        SizeDef::Const(_) | SizeDef::Input => 0,
                        SizeDef::Len(array) => 1 + arrays[array.index()],
                        SizeDef::Count { at, .. } => {
                            let bound = bounds.binary_search_by_key(&s, |(count, _)| *count).map(|k| bounds[k].1);
                            let height = |size: SizeId| sizes[size.index()];
                            1 + height(*at).max(bound.map_or(0, height))
                        }
                        SizeDef::Op(_, a, b) => 1 + sizes[a.index()].max(sizes[b.index()]),
                    };
                    contain_counts[s.index()] = match &self.sizes[s.index()] {
                        SizeDef::Op(_, a, b) => contain_counts[a.index()] || contain_counts[b.index()],
                        SizeDef::Count { .. } => true,
                        SizeDef::Const(_) | SizeDef::Input | SizeDef::Len(_) => false,
                    };
                    sizes[s.index()] = height;
                    height
                }
            };
            holds(height <= MAX_HEIGHT, || format!("{item:?} is nested more than {MAX_HEIGHT} times"))?;
        }
        Ok(())
    }

    /// The arrays that are used as row splits.
    pub(crate) fn splits(&self) -> HashSet<ArrayId> {
        let of_expr = |def: &ExprDef| match def.kind {
            ExprKind::RowOf(splits, _) | ExprKind::Within(splits, ..) => Some(splits),
            _ => None,
        };
        // The arrays besides those of expressions: splits, except the bitmap of a compaction and the base of a scatter.
        let of_array = |def: &ArrayDef| match def {
            ArrayDef::Computed { recipe, .. } if !matches!(**recipe, Recipe::Compact(_) | Recipe::UniqueScatter(_)) => {
                recipe.array().copied()
            }
            _ => None,
        };
        self.exprs.iter().filter_map(of_expr).chain(self.arrays.iter().filter_map(of_array)).collect()
    }

    /// The dtype of an array that can be read.
    pub(crate) fn dtype(&self, array: ArrayId) -> Result<DType, Fault> {
        match &self.arrays[array.index()] {
            ArrayDef::Input(form) => Ok(form.dtype),
            ArrayDef::Computed { recipe, .. } if matches!(**recipe, Recipe::Assert(_)) => {
                Err(format!("array {} is a condition, which has no values", array.0))
            }
            ArrayDef::Computed { dtype, .. } => Ok(*dtype),
        }
    }

    fn is(&self, what: &str, e: ExprId, want: DType) -> Result<(), Fault> {
        let found = self.exprs[e.index()].dtype;
        holds(found == want, || format!("{what} is of {found}, not {want}"))
    }

    fn holds_positions(&self, array: ArrayId) -> Result<(), Fault> {
        let found = self.dtype(array)?;
        holds(found == DType::U32, || format!("array {} is of {found}, not u32", array.0))
    }

    fn check_size(&self, def: &SizeDef) -> Result<(), Fault> {
        let SizeDef::Count { array, .. } = def else { return Ok(()) };
        self.holds_positions(*array)
    }

    fn check_expr(&self, ExprDef { kind, dtype }: &ExprDef) -> Result<(), Fault> {
        use ExprKind as K;
        let of = |e: &ExprId| self.exprs[e.index()].dtype;
        let gives = |found: DType| holds(found == *dtype, || format!("it gives {found}, not {dtype}"));
        match kind {
            K::Index | K::Size(_) => gives(DType::U32),
            K::Scalar(s) => gives(s.dtype()),
            K::Param(p) => gives(self.scalars[p.0 as usize].dtype),
            K::Load(a, at) => self.is("an index", *at, DType::U32).and(gives(self.dtype(*a)?)),
            K::Register(_, at) => self.is("an index", *at, DType::U32),
            K::RowOf(a, at) => {
                self.holds_positions(*a).and(self.is("a position", *at, DType::U32)).and(gives(DType::U32))
            }
            K::Within(a, row, offset) => {
                self.holds_positions(*a)?;
                self.is("a row", *row, DType::U32).and(self.is("an offset", *offset, DType::U32))?;
                gives(DType::U32)
            }
            K::Unary(op, a) => {
                let result = unary(*op, of(a)).ok_or_else(|| format!("{op:?} is not defined for {}", of(a)))?;
                gives(result)
            }
            K::Binary(op, a, b) => {
                holds(of(a) == of(b), || format!("{op:?} of {} and {}", of(a), of(b)))?;
                holds(is_defined(*op, of(a)), || format!("{op:?} is not defined for {}", of(a)))?;
                gives(op.result(of(a)))
            }
            K::Select(condition, a, b) => {
                self.is("a condition", *condition, DType::Bool)?;
                gives(of(a)).and(gives(of(b)))
            }
            K::Cast(_) => holds(*dtype != DType::Str, || "a cast to strings".into()),
            K::Bitcast(a) => {
                let fits = of(a).size() == dtype.size() && ![of(a), *dtype].contains(&DType::Bool);
                holds(fits && *dtype != DType::Str, || format!("the bits of {} as {dtype}", of(a)))
            }
            K::Call(f, arguments) => {
                let def = &self.functions[f.0 as usize];
                let fits = arguments.iter().map(of).eq(def.parameters.iter().copied());
                holds(fits, || format!("{} has other parameters", def.name))?;
                gives(def.result)
            }
            K::Checked(_, ok, value) => self.is("a condition", *ok, DType::Bool).and(gives(of(value))),
        }
    }

    fn check_array(&self, def: &ArrayDef) -> Result<(), Fault> {
        let ArrayDef::Computed { dtype, recipe, .. } = def else {
            let ArrayDef::Input(form) = def else { return Ok(()) };
            return holds(form.dtype != DType::Str, || "an array of strings".into());
        };
        let found = self.recipe_dtype(recipe)?;
        holds(found == *dtype, || format!("it gives {found}, not {dtype}"))
    }

    /// The dtype of the array that a recipe computes, whose operands fit.
    fn recipe_dtype(&self, recipe: &Recipe<ByNumber>) -> Result<DType, Fault> {
        let of = |e: &ExprId| self.exprs[e.index()].dtype;
        let (word, byte, flag) = (DType::U32, DType::U8, DType::Bool);
        let number = |e: &ExprId| {
            let dtype = of(e);
            holds(dtype.computes_in() == dtype && dtype != flag, || format!("a fold of {dtype}")).map(|()| dtype)
        };
        match recipe {
            Recipe::Map(p) => {
                holds(!p.whole || of(&p.value) == word, || "splits that are no positions".into())?;
                Ok(of(&p.value))
            }
            Recipe::Append(p) => {
                let first = p.parts.first().ok_or("no parts")?;
                p.parts.iter().try_for_each(|(value, _)| self.is("a part", *value, of(&first.0)))?;
                Ok(of(&first.0))
            }
            Recipe::Reduce(p) => {
                self.check_rows(&p.on)?;
                let dtype = number(&p.value)?;
                let fits = match p.reducer {
                    Reducer::Op(ReduceOp::Min | ReduceOp::Max) => !dtype.is_float(),
                    Reducer::Op(_) => true,
                    Reducer::Extreme(op, _) => dtype.is_float() && matches!(op, ReduceOp::Min | ReduceOp::Max),
                    Reducer::Greatest | Reducer::SumOfExps | Reducer::Deviations => dtype.is_float(),
                };
                holds(fits, || format!("{:?} is not defined for {dtype}", p.reducer)).map(|()| dtype)
            }
            Recipe::Product(p) => self.product_dtype(p),
            Recipe::Scan(p) => self.is("a number", p.value, word).map(|()| word),
            Recipe::Histogram(p) => self.is("a key", p.key, word).map(|()| word),
            Recipe::RowScan(p) => {
                self.check_rows(&p.on)?;
                p.decay.map_or(Ok(()), |decay| self.is("a decay", decay, of(&p.value)))?;
                holds(p.decay.is_none() || p.op == ReduceOp::Sum, || format!("a decay of {:?}", p.op))?;
                number(&p.value)
            }
            Recipe::ScanRows(p) => self.check_rows(&p.on).and_then(|()| self.recurrence_dtype(p)),
            Recipe::Sort(p) => {
                holds(p.bits <= 32, || format!("keys of {} bits", p.bits))?;
                self.is("a key", p.key, word).map(|()| word)
            }
            Recipe::RowSort(p) => {
                holds(p.bits <= 32, || format!("keys of {} bits", p.bits))?;
                self.check_elements(&p.on)?;
                self.is("a key", p.key, word).map(|()| word)
            }
            Recipe::TopK(p) => {
                self.check_elements(&p.on)?;
                holds((1..=MAX_K).contains(&p.k), || format!("{} keys of each row", p.k))?;
                let dtype = of(&p.key);
                holds(dtype == word || dtype == DType::U64, || format!("keys of {dtype}")).map(|()| word)
            }
            Recipe::RowHash(p) => self.check_elements(&p.on).and(self.is("a byte", p.byte, byte)).map(|()| DType::U64),
            Recipe::Mark(p) => self.is("a condition", p.keep, flag).map(|()| word),
            Recipe::Compact(p) => {
                self.holds_positions(p.bitmap)?;
                Ok(of(&p.value))
            }
            Recipe::TileFold(p) => {
                holds(p.slots <= MAX_SLOTS, || format!("{} slots", p.slots))?;
                self.is("a slot", p.key, word)?;
                number(&p.value)
            }
            Recipe::UniqueScatter(p) => {
                self.is("an index", p.at, word)?;
                let dtype = of(&p.value);
                let fits = p.base.map_or(Ok(dtype), |base| self.dtype(base))? == dtype && dtype.size() >= 4;
                holds(fits, || format!("a scatter of {dtype}")).map(|()| dtype)
            }
            Recipe::Assert(p) => self.is("a condition", p.ok, flag).map(|()| flag),
        }
    }

    fn check_keys(&self, op: &HashOp<ScalarId>) -> Result<(), Fault> {
        let keys: &[ScalarId] = match op {
            HashOp::Fingerprint => &[],
            HashOp::Sip { key } => key,
            HashOp::Murmur { seed } => std::slice::from_ref(seed),
        };
        let is_key = |k: &ScalarId| self.scalars.get(k.0 as usize).is_some_and(|def| def.dtype == DType::U64);
        holds(keys.iter().all(is_key), || "the key of a hash is no scalar of u64".into())
    }

    fn product_dtype(&self, p: &Product<ByNumber>) -> Result<DType, Fault> {
        p.sizes.iter().chain(&p.starts).try_for_each(|e| self.is("a size", *e, DType::U32))?;
        self.check_splits(&p.tiles)?;
        holds(p.tile > 0 && p.tile.is_multiple_of(8) && p.tile <= 128, || format!("tiles of {}", p.tile))?;
        let dtype = self.exprs[p.operands[0].index()].dtype;
        self.is("an operand", p.operands[1], dtype)?;
        holds(dtype.computes_in() == dtype && dtype.size() >= 4, || format!("a product of {dtype}")).map(|()| dtype)
    }

    fn check_splits(&self, rows: &Rows<ByNumber>) -> Result<(), Fault> {
        match rows {
            Rows::Splits(splits) => self.holds_positions(*splits),
            Rows::Uniform(_) => Ok(()),
        }
    }

    fn check_rows(&self, on: &RowDomain<ByNumber>) -> Result<(), Fault> {
        self.check_splits(&on.rows)
    }

    /// Rows of elements of one number.
    fn check_elements(&self, on: &RowDomain<ByNumber>) -> Result<(), Fault> {
        holds(on.inner == 1, || format!("elements of {} numbers", on.inner))?;
        self.check_rows(on)
    }
}

/// The dtype of the result, if the operation is defined.
fn unary(op: UnaryOp, dtype: DType) -> Option<DType> {
    let is_computed = dtype.computes_in() == dtype && dtype != DType::Str;
    let is_number = is_computed && dtype != DType::Bool;
    let is_float = is_computed && dtype.is_float();
    match op {
        UnaryOp::Neg | UnaryOp::Abs => is_number.then_some(dtype),
        UnaryOp::Not => (is_computed && !is_float).then_some(dtype),
        UnaryOp::CountOnes => (dtype == DType::U32).then_some(dtype),
        UnaryOp::SortKey if dtype == DType::F64 => Some(DType::U64),
        UnaryOp::SortKey => (dtype == DType::F32).then_some(DType::U32),
        UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite => is_float.then_some(DType::Bool),
        UnaryOp::Math(_) => is_float.then_some(dtype),
    }
}

fn is_defined(op: BinaryOp, dtype: DType) -> bool {
    use BinaryOp as B;
    let is_computed = dtype.computes_in() == dtype && dtype != DType::Str;
    let is_number = is_computed && dtype != DType::Bool;
    match op {
        B::Add | B::Sub | B::Mul | B::Div | B::Rem | B::Min | B::Max | B::Lt | B::Le | B::Pow => is_number,
        B::IndexDiv | B::IndexRem => dtype == DType::U32,
        B::And | B::Or | B::Xor => is_computed && !dtype.is_float(),
        B::Shl | B::Shr => is_number && dtype.is_integer(),
        B::Eq | B::Ne => is_computed,
        B::Atan2 | B::MulNoNan => is_computed && dtype.is_float(),
    }
}
