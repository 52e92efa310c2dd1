#![doc = include_str!("../README.md")]

mod engine;
mod expression;
mod fault;
mod functions;
mod samples;
mod statement;
mod tables;
mod types;
mod udf;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::ScalarUDF;
use ragged::Device;

use engine::Engine;
use udf::{OfOperation, ProgramFunction};

pub use fault::message;
pub use statement::{complete_arguments, complete_arguments_of};

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
    for function in Functions::new(device).all {
        registry.register_udf(function)?;
    }
    Ok(())
}

/// The functions `ragged_*` and `ragged_program` of a device. They share tables and compiled programs, which are kept as
/// long as a function is.
#[derive(Debug, Clone)]
pub struct Functions {
    engine: Arc<Engine>,
    all: Vec<Arc<ScalarUDF>>,
}

impl Functions {
    /// The functions, which compute on the device.
    ///
    /// ```
    /// let functions = ragged_sql::Functions::new(&ragged::Device::cpu());
    /// let softmax = functions.all().iter().find(|function| function.name() == "ragged_softmax").expect("a function");
    /// assert_eq!(softmax.documentation().expect("a page").syntax_example, "ragged_softmax(x, axis?)");
    /// ```
    pub fn new(device: &Device) -> Self {
        let engine = Arc::new(Engine::new(device));
        let program = Arc::new(ScalarUDF::new_from_impl(ProgramFunction::new(&engine)));
        let of_operation = |function| Arc::new(ScalarUDF::new_from_impl(OfOperation::new(function, &engine, &program)));
        let all = functions::functions().iter().map(of_operation).chain([program.clone()]).collect();
        Self { engine, all }
    }

    /// Each function, for registries of any kind.
    ///
    /// ```
    /// use datafusion::prelude::SessionContext;
    /// let session = SessionContext::new();
    /// for function in ragged_sql::Functions::new(&ragged::Device::cpu()).all() {
    ///     session.register_udf(function.as_ref().clone());
    /// }
    /// ```
    pub fn all(&self) -> &[Arc<ScalarUDF>] {
        &self.all
    }

    /// How many values the functions have been given so far: the innermost values of all columns.
    ///
    /// ```
    /// assert_eq!(ragged_sql::Functions::new(&ragged::Device::cpu()).values(), 0);
    /// ```
    pub fn values(&self) -> u64 {
        self.engine.values()
    }
}
