//! Validation of the WGSL of element functions by naga.

use naga::valid::{Capabilities, ShaderStages, ValidationFlags, Validator};
use naga::{Module, ScalarKind, SourceLocation, TypeInner};

use super::fault::Fault;
use super::scan::{Scanned, line_breaks};
use crate::dtype::DType;

/// Maximum size of a type in bytes: WGSL's limit for the variables of a function.
const MAX_TYPE: u32 = 8192;

/// Checks the user's own text, so that errors have the user's names.
///
/// # Errors
/// Invalid WGSL; functions that are restricted to some kinds of shaders, such as barriers.
pub(super) fn check_text(text: &str) -> Result<(), Fault> {
    parsed(text).map(|_| ())
}

/// Checks the text of the kernels, whose names begin with `prefix`. Returns the estimated operations of one call, from the
/// expressions of all functions of the text.
///
/// # Errors
/// Invalid WGSL; declarations other than functions and constants; no function of that name, or one of another
/// signature; a value or variables beyond the limits.
pub(super) fn checked_cost(
    renamed: &str,
    scanned: &Scanned<'_>,
    (prefix, name): (&str, &str),
    parameters: &[DType],
    result: DType,
) -> Result<u32, Fault> {
    let module = parsed(renamed)?;
    check_names(&module, prefix, scanned.names().len())?;
    check_sizes(&module)?;
    check_signature(&module, (prefix, name), renamed, parameters, result)?;
    let expressions: usize = module.functions.iter().map(|(_, f)| f.expressions.len()).sum();
    // About half of the expressions are arguments, literals and variables.
    Ok((expressions / 2).clamp(1, 1 << 16) as u32)
}

/// Parses and validates a text, for any kind of shader and without optional features.
fn parsed(text: &str) -> Result<Module, Fault> {
    let module = naga::front::wgsl::parse_str(text).map_err(|e| {
        let notes: Vec<&str> = e.labels().map(|(_, note)| note).filter(|note| !note.is_empty()).collect();
        let what =
            if notes.is_empty() { e.message().to_owned() } else { format!("{}: {}", e.message(), notes.join(", ")) };
        Fault { line: e.location(text).map(|at| line_of(text, at)), what }
    })?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).map_err(|e| {
        let mut what = e.as_inner().to_string();
        let mut cause = std::error::Error::source(e.as_inner());
        while let Some(e) = cause {
            what.push_str(&format!(": {e}"));
            cause = e.source();
        }
        Fault { line: e.location(text).map(|at| line_of(text, at)), what }
    })?;
    for (handle, function) in module.functions.iter() {
        if info[handle].available_stages != ShaderStages::all() {
            let name = function.name.as_deref().unwrap_or_default();
            let what =
                format!("{name} uses barriers, derivatives or other operations that are not functions of elements");
            return Err(Fault::at(line_of(text, module.functions.get_span(handle).location(text)), what));
        }
    }
    Ok(module)
}

/// The line of a place in the text; naga counts line feeds only.
fn line_of(text: &str, at: SourceLocation) -> u32 {
    1 + text.get(..at.offset as usize).map_or(0, line_breaks)
}

/// Checks that no variable or constant is too large for a kernel.
fn check_sizes(module: &Module) -> Result<(), Fault> {
    let size = |inner: &TypeInner| inner.try_size(module.to_ctx()).unwrap_or(u32::MAX);
    match module.types.iter().find(|(_, ty)| size(&ty.inner) > MAX_TYPE) {
        None => {}
        Some(_) => return Err(Fault::new(format!("a value takes more than {MAX_TYPE} bytes"))),
    }
    // A call is inlined, so that the variables of all functions may exist at once in each invocation.
    let variables = module.functions.iter().flat_map(|(_, function)| function.local_variables.iter());
    let bytes: u64 = variables.map(|(_, variable)| u64::from(size(&module.types[variable.ty].inner))).sum();
    if bytes > u64::from(MAX_TYPE) {
        let what = format!("the variables of all functions take {bytes} bytes; {MAX_TYPE} are allowed");
        return Err(Fault::new(what));
    }
    Ok(())
}

/// The dtype of a WGSL type.
fn dtype(module: &Module, ty: naga::Handle<naga::Type>) -> Option<DType> {
    let TypeInner::Scalar(scalar) = module.types[ty].inner else { return None };
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Some(DType::Bool),
        (ScalarKind::Sint, 4) => Some(DType::I32),
        (ScalarKind::Uint, 4) => Some(DType::U32),
        (ScalarKind::Float, 4) => Some(DType::F32),
        _ => None,
    }
}

/// Checks that the text, whose names begin with `prefix`, declares a function `name` of that signature.
fn check_signature(
    module: &Module,
    (prefix, name): (&str, &str),
    text: &str,
    parameters: &[DType],
    result: DType,
) -> Result<(), Fault> {
    let own_name = |f: &naga::Function| f.name.as_deref().and_then(|n| n.strip_prefix(prefix)).unwrap_or("").to_owned();
    let named = module.functions.iter().find(|(_, f)| own_name(f) == name);
    let Some((handle, function)) = named else {
        let names: Vec<String> = module.functions.iter().map(|(_, f)| own_name(f)).collect();
        return Err(Fault::new(format!("the text declares no function {name}; it declares: {}", names.join(", "))));
    };
    let own: Vec<Option<DType>> = function.arguments.iter().map(|a| dtype(module, a.ty)).collect();
    let own_result = function.result.as_ref().and_then(|r| dtype(module, r.ty));
    if own.iter().copied().eq(parameters.iter().map(|&d| Some(d))) && own_result == Some(result) {
        return Ok(());
    }
    let names = |types: Vec<Option<DType>>| {
        let name = |d: Option<DType>| d.map_or("another type", DType::name);
        types.into_iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let what = format!(
        "the function takes ({}) and gives {}; the Rust function takes ({}) and gives {result}",
        names(own),
        function.result.as_ref().map_or("nothing", |_| own_result.map_or("another type", DType::name)),
        names(parameters.iter().map(|&d| Some(d)).collect()),
    );
    Err(Fault::at(line_of(text, module.functions.get_span(handle).location(text)), what))
}

/// Checks that a renamed text declares functions and constants with the prefix, and nothing else.
fn check_names(module: &Module, prefix: &str, declarations: usize) -> Result<(), Fault> {
    let functions = module.functions.iter().map(|(_, f)| f.name.as_deref());
    let constants = module.constants.iter().map(|(_, c)| c.name.as_deref());
    let names: Vec<&str> = functions.chain(constants).flatten().collect();
    let has_others =
        !module.global_variables.is_empty() || !module.overrides.is_empty() || !module.entry_points.is_empty();
    if has_others || names.len() > declarations || !names.iter().all(|name| name.starts_with(prefix)) {
        return Err(Fault::new("the text declares more than functions and constants"));
    }
    Ok(())
}
