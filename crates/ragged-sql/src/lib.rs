#![doc = include_str!("../README.md")]

mod engine;
mod expression;
mod fault;
mod functions;
mod tables;
mod udf;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::ScalarUDF;
use ragged::Device;

use engine::Engine;
use udf::{OfOperation, ProgramFunction};

/// Gives a session the functions `ragged_*`, which compute on the device.
///
/// # Errors
/// A registry that takes no functions.
///
/// ```
/// use datafusion::prelude::SessionContext;
/// let mut session = SessionContext::new();
/// ragged_sql::register(&mut session, &ragged::Device::cpu())?;
/// assert!(session.state().scalar_functions().contains_key("ragged_reduce_mean"));
/// # Ok::<(), datafusion::common::DataFusionError>(())
/// ```
pub fn register(registry: &mut dyn FunctionRegistry, device: &Device) -> Result<()> {
    for function in functions(device) {
        registry.register_udf(function)?;
    }
    Ok(())
}

/// The functions `ragged_*` and `ragged_program`, which share tables and programs, for registries of other kinds.
///
/// ```
/// let functions = ragged_sql::functions(&ragged::Device::cpu());
/// assert!(functions.iter().any(|function| function.name() == "ragged_softmax"));
/// ```
pub fn functions(device: &Device) -> Vec<Arc<ScalarUDF>> {
    let engine = Arc::new(Engine::new(device));
    let program = Arc::new(ScalarUDF::new_from_impl(ProgramFunction::new(&engine)));
    let of_operation = |function| Arc::new(ScalarUDF::new_from_impl(OfOperation::new(function, &engine, &program)));
    let mut all: Vec<Arc<ScalarUDF>> = functions::functions().iter().map(of_operation).collect();
    all.push(program.clone());
    all
}
