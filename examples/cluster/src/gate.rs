//! `cluster_gate(x)`: a function of tests that holds a query until a file exists.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

/// The name of the function.
const NAME: &str = "cluster_gate";

/// The file that ends the waiting.
const OPEN: &str = "open";

/// A folder that `cluster_gate` waits at: a process that computes it creates a file named by its id, and continues when the
/// file `open` exists.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Gate {
    folder: PathBuf,
    signature: Signature,
}

/// The function, which returns its argument.
pub(crate) fn function(folder: &Path) -> Arc<ScalarUDF> {
    // Volatile: it is not moved to another place of the plan.
    let signature = Signature::any(1, Volatility::Volatile);
    Arc::new(ScalarUDF::new_from_impl(Gate { folder: folder.into(), signature }))
}

/// Whether the process computes `cluster_gate`, or did.
pub fn is_reached(folder: &Path, process: u32) -> bool {
    folder.join(process.to_string()).exists()
}

/// Ends the waiting of all processes.
///
/// # Errors
/// The folder is not writable.
pub fn open(folder: &Path) -> std::io::Result<()> {
    fs::write(folder.join(OPEN), "")
}

impl ScalarUDFImpl for Gate {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(types[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        fs::write(self.folder.join(std::process::id().to_string()), "")?;
        while !self.folder.join(OPEN).exists() {
            sleep(Duration::from_millis(10));
        }
        Ok(args.args[0].clone())
    }
}
