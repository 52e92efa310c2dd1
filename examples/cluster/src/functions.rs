//! The functions that client, scheduler and executors know.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::registry::MemoryFunctionRegistry;
use ragged::Device;

use crate::gate;

/// Functions `ragged_*`, which compute on one device.
///
/// A plan names a function and has its literals; each process finds the name among its own functions. So no code is sent,
/// and every process must be of the same build.
#[derive(Debug, Clone)]
pub struct Functions(Vec<Arc<ScalarUDF>>);

impl Functions {
    /// Those of the device; with `gate`, the function of tests that waits for a file in that folder.
    ///
    /// # Errors
    /// Those of DataFusion.
    pub fn new(device: &Device, gate: Option<&Path>) -> Result<Self> {
        let mut registry = MemoryFunctionRegistry::new();
        ragged_sql::register(&mut registry, device)?;
        // In one order in all processes, since of two functions with one alias the last is found.
        let names: BTreeSet<String> = registry.udfs().into_iter().collect();
        let mut all = names.iter().map(|name| registry.udf(name)).collect::<Result<Vec<_>>>()?;
        all.extend(gate.map(gate::function));
        Ok(Self(all))
    }

    /// Adds them to those of a session.
    ///
    /// # Errors
    /// A registry that takes no functions.
    pub fn register(&self, registry: &mut dyn FunctionRegistry) -> Result<()> {
        self.0.iter().try_for_each(|function| registry.register_udf(function.clone()).map(drop))
    }
}
