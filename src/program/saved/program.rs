//! Programs in a file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::Location;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};

use super::captured::CapturedArrays;
use super::file::{ArrayBytes, File};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::digest::Digest;
use crate::graph::expr::Check;
use crate::graph::function::Function;
use crate::graph::node::{Node, Rows};
use crate::graph::program::names::{check_name, interned};
use crate::graph::program::{self, ArrayDef, ArrayId, ExtentDef, Locations, ReplayInputs, SizeDef, SizeId};
use crate::graph::saved_list;
use crate::graph::scalar::bits::ScalarBits;
use crate::graph::size::Size;
use crate::ops::SavedFunction;
use crate::program::layout::{FlatValues, Layout, Level};
use crate::program::parts::forms;
use crate::program::traced::Traced;
use crate::program::{ArrayOrigin, Place, Program, SizeOrigin, TensorSpec};
use crate::tensor::Tensor;

/// A program in a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedProgram {
    #[serde(deserialize_with = "specs")]
    inputs: Vec<TensorSpec>,
    #[serde(deserialize_with = "saved_list::deserialize")]
    outputs: Vec<Layout>,
    code: program::Program,
    /// Where the arrays come from that the program does not compute.
    #[serde(deserialize_with = "saved_list::deserialize")]
    arrays: Vec<Option<Box<SavedArray>>>,
    /// Where the sizes come from that follow from nothing else.
    #[serde(deserialize_with = "saved_list::deserialize")]
    sizes: Vec<Option<SavedSize>>,
    #[serde(deserialize_with = "saved_list::deserialize")]
    bounds: Vec<(SizeId, SizeId)>,
    #[serde(deserialize_with = "saved_list::deserialize")]
    scalars: Vec<ScalarBits>,
    #[serde(deserialize_with = "saved_list::deserialize")]
    checks: Vec<SavedCheck>,
    #[serde(deserialize_with = "saved_list::deserialize")]
    functions: Vec<SavedFunction>,
}

/// A specification in a file.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
struct SavedSpec {
    dtype: DType,
    #[serde(deserialize_with = "saved_list::short")]
    shape: Vec<Option<u32>>,
    ragged_rank: usize,
}

fn specs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<TensorSpec>, D::Error> {
    let specs: Vec<SavedSpec> = saved_list::deserialize(from)?;
    let spec = |SavedSpec { dtype, shape, ragged_rank }| TensorSpec { dtype, shape, ragged_rank };
    Ok(specs.into_iter().map(spec).collect())
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SavedArray {
    Input(Place),
    /// The name of an array of the file.
    Captured(Box<str>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum SavedSize {
    Input(Place),
    Known(u32),
}

#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCheck {
    op: Box<str>,
    what: Box<str>,
    is_of_index: bool,
}

impl SavedProgram {
    /// A program, whose captured arrays are added to those of the file.
    pub(super) fn of(
        program: &Program,
        captured: &mut CapturedArrays,
        arrays: &mut BTreeMap<String, ArrayBytes<'_>>,
    ) -> Result<Self> {
        let code = &*program.0;
        let trace = &code.traced.trace;
        let mut array = |origin: &Option<ArrayOrigin>| {
            let array = match origin {
                None => return Ok(None),
                Some(ArrayOrigin::Input(place)) => SavedArray::Input(*place),
                Some(ArrayOrigin::Captured(of)) => SavedArray::Captured(captured.name(&of.node, arrays)?),
            };
            Ok(Some(Box::new(array)))
        };
        let size = |origin: &SizeOrigin| match origin {
            SizeOrigin::Input(place) => SavedSize::Input(*place),
            SizeOrigin::Known(n) => SavedSize::Known(*n),
        };
        let check = |check: &Arc<Check>| SavedCheck {
            op: check.op.into(),
            what: check.what.as_str().into(),
            is_of_index: check.is_of_index,
        };
        Ok(Self {
            inputs: code.inputs.clone(),
            outputs: code.outputs.clone(),
            arrays: code.arrays.iter().map(&mut array).collect::<Result<_>>()?,
            sizes: code.sizes.iter().map(|origin| origin.as_ref().map(size)).collect(),
            bounds: code.bounds.clone(),
            scalars: trace.run.scalars.iter().map(|&s| s.into()).collect(),
            checks: trace.locations.checks().iter().map(check).collect(),
            functions: trace.locations.functions().iter().map(SavedFunction::of).collect(),
            code: code.traced.program.copied(),
        })
    }

    pub(super) fn inputs(&self) -> &[TensorSpec] {
        &self.inputs
    }

    /// Checks what a reader of the file checks of the code.
    pub(super) fn check(&self) -> Result<(), String> {
        self.code.check(self.checks.len(), self.scalars.len(), &self.bounds)?;
        self.check_names()?;
        if self.inputs.iter().any(|spec| spec.rank() > saved_list::MAX_RANK) {
            return Err(format!("an input has more than {} dimensions", saved_list::MAX_RANK));
        }
        Ok(())
    }

    /// Makes the functions part of the program, and checks everything that its recording relies on.
    #[track_caller]
    pub(super) fn checked(mut self, file: &File, known: &[Function]) -> Result<CheckedProgram, String> {
        let mut functions = Vec::new();
        for function in &self.functions {
            functions.push(function.function(known)?);
        }
        let defs = functions.iter().map(|f| f.def().clone()).collect();
        self.code = std::mem::take(&mut self.code).with_functions(defs);
        self.code.check(self.checks.len(), self.scalars.len(), &self.bounds)?;
        let mut scalars = Vec::new();
        for (k, (bits, def)) in self.scalars.iter().zip(self.code.scalars()).enumerate() {
            let value = bits.scalar().filter(|&value| def.accepts(value));
            scalars.push(value.ok_or_else(|| format!("scalar {k} has a value that its definition excludes"))?);
        }
        if let Some(fault) = self.inputs.iter().find_map(TensorSpec::fault) {
            return Err(fault);
        }
        self.check_origins(file)?;
        self.check_places()?;
        self.outputs
            .iter()
            .enumerate()
            .try_for_each(|(k, layout)| self.check_layout(layout).map_err(|fault| format!("output {k}: {fault}")))?;
        self.check_names()?;
        Ok(CheckedProgram { saved: self, scalars, functions, location: caller() })
    }

    /// Checks the names of operations.
    fn check_names(&self) -> Result<(), String> {
        let mut names = self.code.names().iter().chain(self.checks.iter().map(|check| &check.op));
        names.try_for_each(|name| check_name(name))
    }

    /// The checks of a program that was loaded at `location`.
    fn made_checks(&self, location: &'static Location<'static>) -> Vec<Arc<Check>> {
        let mut seen = HashMap::new();
        let check = |check| {
            let SavedCheck { op, what, is_of_index }: &SavedCheck = check;
            let duplicate = *seen.entry(check).and_modify(|n| *n += 1).or_insert(0);
            let (what, is_of_index) = (what.to_string(), *is_of_index);
            Arc::new(Check { duplicate, is_of_index, ..Check::at(interned(op), what, location) })
        };
        self.checks.iter().map(check).collect()
    }

    fn check_origins(&self, file: &File) -> Result<(), String> {
        let is_input = |def: &ArrayDef| matches!(def, ArrayDef::Input(_));
        let arrays = self.code.arrays().map(|(_, def)| is_input(def));
        if !arrays.eq(self.arrays.iter().map(Option::is_some)) {
            return Err("the origins of the arrays are not those of its inputs".into());
        }
        let sizes = self.code.sizes().iter().map(|def| matches!(def, SizeDef::Input));
        if !sizes.eq(self.sizes.iter().map(Option::is_some)) {
            return Err("the origins of the sizes are not those of its inputs".into());
        }
        let mut seen = HashSet::new();
        for ((_, def), origin) in self.code.arrays().zip(&self.arrays) {
            if let (ArrayDef::Input(form), Some(SavedArray::Captured(name))) = (def, origin.as_deref()) {
                let array = file.array(name)?;
                let numbers = file.bytes(array).len() / array.dtype.size();
                if array.dtype != form.dtype || numbers >= u32::MAX as usize {
                    return Err(format!("array {name:?} of {} is no array of {}", array.dtype, form.dtype));
                }
                let is_flags = form.dtype == DType::Bool && seen.insert(name);
                if is_flags && file.bytes(array).iter().any(|&byte| byte > 1) {
                    return Err(format!("array {name:?} has truth values that are neither 0 nor 1"));
                }
            }
        }
        for splits in self.splits() {
            // An output may still refer to nothing: its layout is checked later.
            if let Some(SavedArray::Captured(name)) = self.arrays.get(splits.index()).and_then(Option::as_deref)
                && seen.insert(name)
            {
                let words = file.words(name)?;
                if words.first() != Some(&0) || !words.is_sorted() {
                    return Err(format!("array {name:?} holds no row splits"));
                }
            }
        }
        Ok(())
    }

    /// Checks that the parts of inputs exist.
    fn check_places(&self) -> Result<(), String> {
        let input = |place: &Place| self.inputs.get(place.input as usize).map(forms);
        for ((k, def), origin) in self.code.arrays().zip(&self.arrays) {
            if let (ArrayDef::Input(form), Some(SavedArray::Input(place))) = (def, origin.as_deref()) {
                let found = input(place).and_then(|(mut arrays, _)| arrays.nth(place.part as usize));
                if found != Some(form.dtype) {
                    return Err(format!("array {} is no part of an input", k.index()));
                }
            }
        }
        let is_part = |origin: &Option<SavedSize>| match origin {
            Some(SavedSize::Input(place)) => input(place).is_some_and(|(_, sizes)| (place.part as usize) < sizes),
            _ => true,
        };
        match self.sizes.iter().position(|origin| !is_part(origin)) {
            Some(k) => Err(format!("size {k} is no part of an input")),
            None => Ok(()),
        }
    }

    /// The arrays that are used as row splits, in the code or in an output.
    fn splits(&self) -> HashSet<ArrayId> {
        self.code.splits().into_iter().chain(self.outputs.iter().flat_map(Layout::splits)).collect()
    }

    fn check_layout(&self, layout: &Layout) -> Result<(), String> {
        let has_array = |array: ArrayId| array.index() < self.arrays.len();
        let has_size = |size: SizeId| size.index() < self.sizes.len();
        if !layout.arrays().all(has_array) || !layout.extents().map(ExtentDef::size).all(has_size) {
            return Err("a reference to nothing".into());
        }
        let dtype = |array: ArrayId| self.code.dtype(array);
        let level = |level: &Level| match level.rows {
            Rows::Splits(splits) if dtype(splits)? != DType::U32 => Err("row splits of another dtype".to_owned()),
            _ => Ok(()),
        };
        layout.levels.iter().try_for_each(level)?;
        if layout.outer.is_none() && (!layout.levels.is_empty() || !layout.inner.is_empty()) {
            return Err("a scalar with dimensions".into());
        }
        match &layout.values {
            FlatValues::Numbers(numbers) => dtype(*numbers).map(|_| ()),
            FlatValues::Strings { strings, bytes } => {
                level(strings)?;
                if dtype(*bytes)? == DType::U8 { Ok(()) } else { Err("strings of other bytes".into()) }
            }
        }
    }
}

/// A program of a file that keeps the rules.
#[derive(Debug)]
pub(super) struct CheckedProgram {
    saved: SavedProgram,
    scalars: Vec<crate::Scalar>,
    functions: Vec<Function>,
    /// Where the program was loaded.
    location: &'static Location<'static>,
}

impl CheckedProgram {
    pub(super) fn inputs(&self) -> &[TensorSpec] {
        self.saved.inputs()
    }

    /// Records the program, with its captured arrays on the CPU.
    #[track_caller]
    pub(super) fn program(&self, op: &'static str, file: &File) -> Result<Program> {
        let damaged = |what: String| Error::argument(op, what);
        let saved = &self.saved;
        let traced = Traced::of(op, &saved.inputs)?;
        let device = Device::of_traces();
        let splits = saved.splits();
        let names = saved.code.names().iter().map(|name| interned(name)).collect();
        let checks = saved.made_checks(self.location);
        let locations = Locations::of_file(checks, self.functions.clone(), names);
        let mut arrays: Vec<Option<Node>> = Vec::new();
        for ((k, _), origin) in saved.code.arrays().zip(&saved.arrays) {
            arrays.push(match origin.as_deref() {
                None => None,
                Some(SavedArray::Input(place)) => place.array(&traced.parts).cloned(),
                Some(SavedArray::Captured(name)) => {
                    let array = file.array(name).map_err(damaged)?;
                    Some(file.captured(name, array, splits.contains(&k))?)
                }
            });
        }
        let mut sizes: Vec<Option<Size>> = Vec::new();
        for (k, origin) in saved.sizes.iter().enumerate() {
            sizes.push(match origin {
                None => None,
                Some(SavedSize::Known(n)) => Some(Size::input(Digest::of("captured size", (traced.number, k)), *n)),
                Some(SavedSize::Input(place)) => place.size(&traced.parts).cloned(),
            });
        }
        let of = saved.code.replay(ReplayInputs {
            backend: device.backend(),
            arrays,
            sizes,
            bounds: &saved.bounds,
            scalars: &self.scalars,
            locations: &locations,
        });
        let outputs: Vec<Tensor> =
            saved.outputs.iter().map(|layout| layout.tensor(device.backend(), &of)).collect::<Result<_>>()?;
        Ok(traced.program(&saved.inputs, &outputs.iter().collect::<Vec<_>>(), true))
    }
}
